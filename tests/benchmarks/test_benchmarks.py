"""The benchmarks are run by hand: here only that each can be loaded, that all of them are run, and what measures for them."""

from __future__ import annotations

import runpy
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
HELPERS = {
    "run.py",
    "terminal.py",
    "figures.py",
    "group.py",
    "answers.py",
    "by_hand.py",
    "day_store.py",
    "corpus.py",
    "prometheus.py",
}


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script finds what stands beside it."""
    monkeypatch.syspath_prepend(FOLDER)
    for module in FOLDER.glob("*.py"):
        monkeypatch.delitem(sys.modules, module.stem, raising=False)


def loaded(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name), run_name="loaded")


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.py")))
def test_every_script_loads(name: str) -> None:
    """What a benchmark imports exists, so a renamed function is noticed before somebody measures."""
    namespace = loaded(name)
    assert name in HELPERS - {"run.py"} or callable(namespace["main"])


def test_all_are_run() -> None:
    """``make bench`` leaves no benchmark out."""
    assert {each.script for each in loaded("run.py")["ORDER"]} == {path.name for path in FOLDER.glob("*.py")} - HELPERS


def test_the_corpus_of_the_store() -> None:
    """Its polls are its series, about 74 of 100 values are those of the poll before, and few objects are alike."""
    found = loaded("corpus.py")
    corpus, metrics = found["Corpus"](60, 2), found["METRICS"]
    polls = [rows for hour in range(2) for _, rows in corpus.polls(hour)]
    columns = [corpus.series(number, metric) for number in range(60) for metric in metrics]
    assert [tuple(cell) for cell in zip(*columns, strict=True)] == [sum(rows, ()) for rows in polls]
    same = [before == after for column in columns for before, after in pairwise(column)]
    assert 0.72 < sum(same) / len(same) < 0.76
    assert len(set(map(tuple, columns))) > len(columns) // 2
    assert corpus.values == sum(map(len, columns))
    assert min(map(min, columns)) >= 0


def test_the_screen_shows_what_a_terminal_would() -> None:
    """Moves, wide characters, colours of the ground and text over text come out where a terminal has them."""
    screen = loaded("terminal.py")["Screen"](8, 4)
    screen.feed(
        "\x1b[?2026h\x1b[2;3H\x1b[38;2;48;7;49mab\x1b[1;1H中x\x1b[3;1H\x1b[1;48;2;1;2;3mmark\x1b[0m\r\nend\x1b]0;title\x07"
    )
    assert [screen.line(y) for y in range(4)] == ["中x     ", "  ab    ", "mark    ", "end     "]
    assert screen.marked(0, 4) == "mark    "


def test_nothing_is_marked_on_one_ground() -> None:
    """Where all lines look alike no line is taken for the cursor's."""
    screen = loaded("terminal.py")["Screen"](4, 3)
    screen.feed("\x1b[2;1H\x1b[31mred\x1b[0m")
    assert screen.marked(0, 3) == ""


def test_figures_of_this_process() -> None:
    """CPU time and memory come from the right fields: at least what the interpreter itself tells, in its units."""
    import os
    import resource

    taken = loaded("figures.py")["taken"](os.getpid())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    assert abs(taken.cpu_s - usage.ru_utime - usage.ru_stime) < 0.5
    assert 5 < taken.rss_mb <= usage.ru_maxrss / 1024 + 1
    assert taken.pss_mb is None or 0 < taken.pss_mb <= taken.rss_mb + 1

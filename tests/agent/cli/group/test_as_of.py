"""``--at``: what status, alerts list and show print as of a past moment."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mqvitals_agent.commandline.as_of import past_moment
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.errors import Failure
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_rules.timestamps import iso

NOW = 1795176590000  # 2026-11-20 12:09:50 UTC


def _no_zone() -> None:
    raise AssertionError("no zone is needed")


@pytest.mark.parametrize(("text", "ago"), [("40m", 40), ("-40m", 40), ("2h", 120), ("40m ago", 40), ("- 1h ago", 60)])
def test_so_long_ago(text: str, ago: int) -> None:
    """A length of time is so long ago, with a sign, a word, or neither."""
    assert past_moment("--at", text, _no_zone, NOW) == NOW - ago * 60_000  # type: ignore[arg-type]


def test_what_is_to_come_is_refused() -> None:
    """A moment of the future is no past moment."""
    with pytest.raises(Failure, match="still to come"):
        past_moment("--at", "2026-11-20T12:09:51Z", _no_zone, NOW)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def incident(replayed: Callable[[str], Path]) -> tuple[Path, list[int]]:
    """A replayed incident, and the ends of its cycles, newest first."""
    path = replayed("incident")
    ends: list[int] = []
    with StoreReader.open(path) as reader:
        at = reader.step(None, TimeStep.CYCLE, on=False)
        while at is not None:
            ends.append(at)
            at = reader.step(at, TimeStep.CYCLE, on=False)
    return path, ends


def test_status_is_that_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything went wrong the group was OK; exit code, JSON and the first line say as of when."""
    path, ends = incident
    first, last = ends[-1], ends[0]
    codes = []
    for at in (first, last):
        codes.append(main(["status", "--store", str(path), "--at", iso(at)]))
        out = capsys.readouterr().out
        assert re.match(r"AS OF 2026-11-20 12:0\d:\d\d UTC \(.* ago\)\n", out), out
        assert "The past" not in out
        main(["status", "--store", str(path), "--at", iso(at), "--json"])
        assert json.loads(capsys.readouterr().out)["at"] == iso(at)
    assert codes[0] < codes[1] == 2


def test_alerts_list_is_that_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Each listed alert had begun by then, and none had ended."""
    path, ends = incident
    counted = []
    for at in ends[::12]:
        assert main(["alerts", "list", "--store", str(path), "--at", iso(at), "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert all(each["started"] <= iso(at) and each["ended"] is None for each in listed)
        counted.append(len(listed))
    assert counted[-1] == 0 < counted[0]
    assert main(["alerts", "list", "--store", str(path), "--at", iso(ends[0]), "--why"]) != 0
    assert "is not kept" in capsys.readouterr().err


def test_words_state_the_figures_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """The pool that drains is shown with the share that was free then, not with the last one."""
    path, ends = incident
    shown = {}
    with StoreReader.open(path) as reader:
        for at in ends:
            then = reader.as_of(at)
            for stored in then.alerts():
                if stored.alert.key.rule in ("BP-02", "BP-03"):
                    name = stored.alert.key.object
                    shown[at] = (name, then.current(name)["worst_free_pct"].value)
    assert len({free for _, free in shown.values()}) > 2
    for at, (name, free) in shown.items():
        main(["alerts", "list", "--store", str(path), "--at", iso(at)])
        listed = capsys.readouterr().out
        assert re.search(rf"{name.name}\n.*\b{free:g} %", listed), (at, free, listed)


def test_an_object_is_shown_as_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Its page begins with the moment; an unknown object is refused with near names."""
    path, ends = incident
    assert main(["show", "QM01/buffer_pool/3", "--store", str(path), "--at", iso(ends[5])]) == 0
    out = capsys.readouterr().out
    assert out.startswith("AS OF 2026-11-20 12:0")
    assert "QM01 buffer pool 3" in out
    assert main(["show", "QM01/buffer_pool/99", "--store", str(path)]) == 2
    assert "did you mean QM01/buffer_pool/" in capsys.readouterr().err


def test_before_the_store_begins(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody stored is no empty group: the command says when the store begins."""
    path, _ = incident
    assert main(["status", "--store", str(path), "--at", "2026-11-20T11:00:00Z"]) == 3
    assert "the store begins at 2026-11-20 12:00:0" in capsys.readouterr().err

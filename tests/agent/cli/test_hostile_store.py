"""A store with names that the door refuses today (of an older version, or damaged): every command prints, and steers no terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

START = 1_795_176_000_000
OWNERS = ("QM01", "/", "a/b", "\x1b[2J", "Q\nM", "x" * 200)
NAMES = (
    "",
    "/",
    "//",
    "\x1b[2J",
    "A\r\nB",
    "\0",
    "*",
    "?",
    "[/x]",
    "$x{0}%s",
    "-x",
    "=1+1",
    "\u202eX",
    "y" * 3000,
    "ä漢",
)
TYPED = tuple(name for name in NAMES if "\0" not in name)
"""Names that a command line can hold: a NUL ends an argument."""
KIND_NAMES = ("queue", "channel", "buffer_pool", "cf_structure", "queue_manager", "page_set")


def values(kind: str) -> dict[str, Reported]:
    """Figures that some rules complain of, and texts that nobody should print as they are."""
    return {
        metric.name: "T\x1b]0;x\x07\n" if metric.type is MetricType.TEXT else 1 if number % 3 else Absence.NOT_RETURNED
        for number, metric in enumerate(KINDS[kind].metrics)
        if not metric.declared
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "s.db"
    with Store.open(path) as store:
        for cycle in (1, 2):
            for owner in OWNERS:
                ts = START + cycle * 10_000
                readings = tuple(
                    Reading(ObjectName(owner, kind, name), KINDS[kind].poll or "X", ts, values(kind), 10_000)
                    for kind in KIND_NAMES
                    for name in (NAMES if owner == "QM01" else NAMES[:4])
                )
                store.write(Snapshot(owner, False, cycle, ts, readings), Evaluation((), ()))
    return path


COMMANDS = [
    ["status"],
    ["status", "--full"],
    ["status", "--json"],
    ["alerts", "list", "--all"],
    ["alerts", "list", "--all", "--json"],
    ["review"],
    ["review", "--markdown"],
    ["review", "--json"],
    *(["report", "--last", "9999d", "--format", form] for form in ("text", "markdown", "html", "json")),
    ["messages"],
    *(["trend", "depth", "--json", f"QM01/queue/{name}"] for name in TYPED),
    *(["trend", "depth", f"{owner}/queue/*"] for owner in OWNERS),
    *(["rules", "explain", "Q-03", f"QM01/queue/{name}"] for name in TYPED[1:5]),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:60].encode("unicode_escape").decode())
def test_every_command_prints(store: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """No mistake of ours, no control characters; what is for programs can be read by them."""
    try:
        code = main([*words, "--store", str(store)])
    except SystemExit as error:
        code = int(error.code or 0)
    assert code in (0, 1, 2, 3)
    told = capsys.readouterr()
    for text in told:
        for line in text.split("\n"):
            assert line.isprintable(), ascii(line)
    if "--json" in words and told.out:
        json.loads(told.out)

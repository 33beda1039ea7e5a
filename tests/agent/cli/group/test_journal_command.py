"""``mqvitals journal`` over the store of a simulated run in which an operator alters a queue."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader

PAYMENTS = "QM01/queue/PAYMENTS.IN"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journal")
    words = ["--scenario", "definition-altered", "--for", "40m", "--interval", "5m", "--speed", "max"]
    assert main(["record", str(folder / "r.jsonl.gz"), *words, "--store", str(folder / "live.db")]) == 0
    return folder / "live.db"


def journal(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> str:
    capsys.readouterr()
    assert main(["journal", "--store", str(store), *words]) == 0
    return capsys.readouterr().out


def test_a_change_and_the_agents_start(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The change is one entry with its old and new value; JSON, CSV and text have the same entries."""
    told = json.loads(journal(capsys, store, "--json"))
    *_, found = (each for each in told if each["object"] == PAYMENTS and each["what"] == "max_depth")
    assert (found["kind"], found["old"], found["new"], found["source"]) == ("definition", 5000, 50000, "poll")
    assert found["seen_before"] < found["seen"]
    assert [each["seen"] for each in told] == sorted(each["seen"] for each in told)
    rows = list(csv.DictReader(io.StringIO(journal(capsys, store, "--csv"))))
    assert [(row["seen"], row["words"]) for row in rows] == [(each["seen"], each["words"]) for each in told]
    lines = " ".join(journal(capsys, store, "--all").split())
    assert all(" ".join(each["words"].split()) in lines for each in told)


def test_filters(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By object, by kind, by time, by number; without any match it says so."""
    told = json.loads(journal(capsys, store, "--json"))
    wanted = [each for each in told if each["kind"] == "definition"]
    assert json.loads(journal(capsys, store, "--json", "--kind", "definition")) == wanted
    of_queues = [each for each in told if (each["object"] or "").startswith("QM01/queue/")]
    assert json.loads(journal(capsys, store, "--json", "--object", "QM01/queue/*")) == of_queues
    assert json.loads(journal(capsys, store, "--json", "--limit", "1")) == told[-1:]
    *_, change = (each for each in told if each["what"] == "max_depth")
    before = json.loads(journal(capsys, store, "--json", "--from", change["seen_before"], "--to", change["seen"]))
    assert change in before
    assert all(change["seen_before"] <= each["seen"] <= change["seen"] for each in before)
    assert journal(capsys, store, "--object", "QM09/*") == "nothing in the journal\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kind", "nonsense"), "invalid choice"),
        (("--last", "1h", "--from", "12:00"), "both say where to begin"),
        (("--limit", "0"), "--limit"),
    ],
)
def test_what_cannot_be_asked(
    store: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    capsys.readouterr()
    try:
        code = main(["journal", "--store", str(store), *words])
    except SystemExit as left:
        code = int(str(left.code))
    assert code == 2
    assert said in capsys.readouterr().err


def test_the_changes_of_the_journal_are_those_of_changes(store: Path) -> None:
    """One list of changes: the journal refers to it."""
    with StoreReader.open(store) as reader:
        changes = reader.changes(limit=1000)
        entries = [each for each in reader.journal(0, limit=10_000) if each.change is not None]
    assert [each.change for each in entries] == list(changes)

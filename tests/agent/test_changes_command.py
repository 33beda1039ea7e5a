"""``mqvitals changes``, and what an object's screen shows of them: a simulated operator alters a queue."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.changes import change_json, change_list_lines
from mqvitals_rules.snapshot import ObjectName

PAYMENTS = "QM01/queue/PAYMENTS.IN"


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recording and of the store that the same run wrote."""
    folder = tmp_path_factory.mktemp("altered")
    words = ["--scenario", "definition-altered", "--for", "40m", "--interval", "5m", "--speed", "max"]
    assert main(["record", str(folder / "r.jsonl.gz"), *words, "--store", str(folder / "live.db")]) == 0
    return folder


def changes(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> str:
    capsys.readouterr()
    assert main(["changes", "--store", str(store), *words]) == 0
    return capsys.readouterr().out


def test_a_raised_maxdepth(altered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is one change, with the attribute by its MQSC name, both values, and when it was altered."""
    store = altered / "live.db"
    *_, found = json.loads(changes(capsys, store, "--object", PAYMENTS, "--json"))
    assert (found["object"], found["attribute"], found["old"], found["new"]) == (PAYMENTS, "MAXDEPTH", 5000, 50000)
    assert found["altered_moved"]
    assert found["watched"]
    assert not found["security"]
    assert found["seen_before"] < found["seen"]
    text = " ".join(changes(capsys, store).split())
    assert f"QM01 PAYMENTS.IN MAXDEPTH 5,000 msgs -> 50,000 msgs, altered at {found['altered']}" in text
    *_, row = csv.DictReader(io.StringIO(changes(capsys, store, "--csv")))
    assert (row["object"], row["attribute"], row["old"], row["new"]) == (PAYMENTS, "MAXDEPTH", "5000", "50000")
    assert changes(capsys, store, "--object", "QM02/*") == "no changes\n"
    assert len(json.loads(changes(capsys, store, "--limit", "1", "--json"))) == 1


def test_a_replay_finds_the_same(altered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The changes of a recording are those of the run that wrote it, row for row."""
    again = altered / "replayed.db"
    assert main(["replay", str(altered / "r.jsonl.gz"), "--store", str(again), "--speed", "max"]) == 0
    rows = []
    for path in (altered / "live.db", again):
        with closing(sqlite3.connect(path)) as db:
            rows.append(
                db.execute("SELECT owner, kind, name, metric, old, new, ts, altered, moved FROM change").fetchall()
            )
    assert rows[0] == rows[1]
    assert rows[0]
    assert "MAXDEPTH" in changes(capsys, again)


def test_wrong_words(altered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit below 1 and a duration that is none are refused with a sentence."""
    for words in (["--limit", "0"], ["--since", "soon"]):
        assert main(["changes", "--store", str(altered / "live.db"), *words]) == 2
        assert words[0] in capsys.readouterr().err


CHANNEL = ObjectName("QM01", "channel", "CLIENTS")
DAY, TS = 86_400_000, 1_795_176_000_000


def shown(**change: Any) -> tuple[str, Tone]:
    made = Change(
        **{"name": CHANNEL, "metric": "ssl_client_auth", "old": 0, "new": 1, "ts": TS, "before": TS - DAY, **change}
    )
    (line,) = change_list_lines([made], TS, 200)
    assert json.dumps(change_json(made))
    return line.text, line.spans[-1].tone


def test_words() -> None:
    """States by name, blank texts in quotes; security is marked, and a change during a long pause has two moments."""
    text, tone = shown()
    assert "SSLCAUTH REQUIRED -> OPTIONAL, security" in text
    assert tone is Tone.WARNING
    text, tone = shown(old=1, new=0)
    assert "security" not in text
    assert tone is Tone.PLAIN
    text, _ = shown(metric="ssl_cipher_defined", old="ANY_TLS12", new="  ", moved=False, altered="2026-11-20 12.00.00")
    assert "SSLCIPH ANY_TLS12 -> '', security, without a new ALTDATE (2026-11-20 12.00.00)" in text
    assert shown(before=TS - DAY - 1)[0].startswith("between ")
    assert (
        "altered at 2026-11-20 12.00.00, nothing that is watched"
        in shown(metric="alteration_ts", old="2026-11-19 12.00.00", new="2026-11-20 12.00.00")[0]
    )
    assert "\x1b" not in shown(metric="description", old="a", new="\x1b[2Jred")[0]


def test_the_reader_reads_them(altered: Path) -> None:
    """By object, the newest first to be kept by a limit."""
    with StoreReader.open(altered / "live.db") as reader:
        every = reader.changes(limit=100)
        assert reader.changes(limit=1, objects=[ObjectName.parse(PAYMENTS)]) == every[-1:]

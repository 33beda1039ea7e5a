"""``mqvitals changes``, and what an object's screen shows of them: a simulated operator alters a queue."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.store.rows.messages import EventQueueRow, StoredMessage, message
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.frame import DETAIL, FrameRequest, read_frame
from mqvitals_agent.view.history.changes import change_json, change_list_lines, object_change_lines, read_changes_of
from mqvitals_agent.view.lists.related import RelatedObjects
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_agent.view.trend.chart import chart_of
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.config import load_rule_config
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


def test_the_screen_of_an_object(altered: Path) -> None:
    """It lists the changes of the object's definition, the newest first; another object's screen has no such part."""
    rules = load_rule_config(Settings())
    with StoreReader.open(altered / "live.db") as reader:
        now = reader.last_ts() or 0

        def text(name: str) -> str:
            frame = read_frame(reader, now, FrameRequest(DETAIL, name=ObjectName.parse(name)), rules)
            return "\n".join(line.text for line in detail_lines(frame, 160))

        shown = text(PAYMENTS)
        _, _, part = shown.partition("Changes of its definition")
        assert part.index("MAXDEPTH 5,000 msgs -> 50,000 msgs") < part.index("-> 5,000 msgs")
        assert "Changes of its definition" not in text("QM02/queue/PAYMENTS.IN")


@pytest.mark.parametrize(("hours_before", "seen"), [(1, True), (23, True), (25, False), (-1, False)])
def test_changes_before_an_alert(altered: Path, hours_before: int, seen: bool) -> None:
    """Beside an open alert stands what changed of related objects in the day before it began, and nothing else."""
    queue = ObjectName.parse(PAYMENTS)
    related = [RelatedObjects("queues on it", ((queue, Health.OK, None),))]
    with StoreReader.open(altered / "live.db") as reader:
        (last,) = reader.changes(objects=[queue], limit=1)
        began = last.ts + hours_before * 3_600_000
        name = ObjectName("QM01", "page_set", "3")
        warning = Severity.WARNING
        alert = Alert(
            AlertKey("PS-01", name), name, "operational", "", AlertState.FIRING, warning, warning, began, began, "full",
            began,
        )  # fmt: skip
        found = read_changes_of(reader, name, related, [alert], began)
        assert (last in found.before_alerts) is seen
        assert read_changes_of(reader, name, related, [replace(alert, ended=began)], began).before_alerts == ()
        assert found.own == ()
    assert (
        "Changed in the day before" in "".join(line.text for line in object_change_lines(found, began, 120))
    ) is bool(found.before_alerts)


def test_a_change_that_is_seen_after_the_alert(altered: Path) -> None:
    """Definitions are asked for less often than figures: what may have changed before the alert is shown with it, with
    the time in which it happened; what was still as before when the alert began is not."""
    queue = ObjectName.parse(PAYMENTS)
    related = [RelatedObjects("queues on it", ((queue, Health.OK, None),))]
    name = ObjectName("QM01", "page_set", "3")
    with StoreReader.open(altered / "live.db") as reader:
        (last,) = reader.changes(objects=[queue], limit=1)
        assert last.before < last.ts
        for began, seen in ((last.before, True), (last.before - 1, False)):
            alert = Alert(
                AlertKey("PS-01", name), name, "operational", "", AlertState.FIRING, Severity.WARNING,
                Severity.WARNING, began, began, "full", began,
            )  # fmt: skip
            found = read_changes_of(reader, name, related, [alert], last.ts)
            assert (last in found.before_alerts) is seen
            words = [line.text.strip() for line in object_change_lines(found, last.ts, 160)]
            assert any(each.startswith("between ") and "-> 50,000" in each for each in words) is seen


def test_a_trend_marks_them(altered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The time axis has a mark where the definition changed, and a line below says what."""
    capsys.readouterr()
    assert main(["trend", "depth", PAYMENTS, "--store", str(altered / "live.db"), "--width", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (axis,) = [each for each in lines if "└" in each]
    named = [each for each in lines if each.startswith("▲")]
    assert 1 <= axis.count("▲") <= len(named)
    assert any("MAXDEPTH 5,000 msgs -> 50,000 msgs" in each for each in named)
    assert main(["trend", "depth", "QM02/queue/PAYMENTS.IN", "--store", str(altered / "live.db")]) == 0
    assert "▲" not in capsys.readouterr().out


def test_the_chart_of_an_object_marks_them(altered: Path) -> None:
    """The chart has the changes of its own time only."""
    rules = load_rule_config(Settings())
    with StoreReader.open(altered / "live.db") as reader:
        now = reader.last_ts() or 0
        frame = read_frame(reader, now, FrameRequest(DETAIL, name=ObjectName.parse(PAYMENTS)), rules)
        assert frame.detail is not None
        assert frame.detail.trend is not None
        marks = chart_of([frame.detail.trend]).marks
        assert [ts for ts, _ in marks] == [each.ts for each in frame.detail.changes.own]
        assert "MAXDEPTH" in marks[-1][1]
        span = TimeRange(now - 1, now)
        assert chart_of([replace(frame.detail.trend, span=span)]).marks == ()


def test_the_reader_reads_them(altered: Path) -> None:
    """By object, the newest first to be kept by a limit."""
    with StoreReader.open(altered / "live.db") as reader:
        every = reader.changes(limit=100)
        assert reader.changes(limit=1, objects=[ObjectName.parse(PAYMENTS)]) == every[-1:]


def test_an_event_tells_who_made_a_change(altered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the events about the object near in time the one that names the attribute; others, and none, tell nothing."""
    store = tmp_path / "x.db"
    with closing(sqlite3.connect(altered / "live.db")) as db, closing(sqlite3.connect(store)) as copy:
        db.backup(copy)
    with StoreReader.open(store) as reader:
        (last,) = reader.changes(objects=[ObjectName.parse(PAYMENTS)], limit=1)
    *_, before = json.loads(changes(capsys, store, "--json"))
    assert (before["by"], before["user"]) == (None, None)

    def told(reason: int, at: int, named: str, name: str = "PAYMENTS.IN") -> StoredMessage:
        text = f"event:{reason} MQRC_X: words; {named}"
        return message("QM01", f"event:{reason}", at, text, kind="queue", name=name)

    who = "user={}, application=CSQOREXX, origin=console"
    with Store.open(store) as writer:
        row = EventQueueRow("QM01", "SYSTEM.ADMIN.CONFIG.EVENT", "QM01", ts=last.ts)
        events = [
            told(2368, last.before - 3_600_000, f"{who.format('EARLY')}, changed=MAXDEPTH 1 -> 2"),
            told(2368, last.ts - 20_000, f"{who.format('OPER1')}, changed=MAXDEPTH 5000 -> 50000"),
            told(2412, last.ts - 10_000, f"{who.format('OPER2')}, command=ALTER QLOCAL(PAYMENTS.IN) PUT(DISABLED)"),
            told(2368, last.ts - 5_000, f"{who.format('OPER3')}, changed=MAXDEPTH 5000 -> 50000", "OTHER"),
        ]
        writer.messages.add_events(row, events)
    *_, found = json.loads(changes(capsys, store, "--object", PAYMENTS, "--json"))
    assert found["user"] == "OPER1"
    assert (found["by"]["origin"], found["by"]["application"]) == ("console", "CSQOREXX")
    assert "50,000 msgs" in (text := " ".join(changes(capsys, store).split()))
    assert text.endswith("by OPER1 (console, CSQOREXX)")
    *_, line = csv.DictReader(io.StringIO(changes(capsys, store, "--csv")))
    assert line["user"] == "OPER1"
    with StoreReader.open(store) as reader:
        now = reader.last_ts() or 0
        request = FrameRequest(DETAIL, name=ObjectName.parse(PAYMENTS))
        frame = read_frame(reader, now, request, load_rule_config(Settings()))
        screen = " ".join("\n".join(line.text for line in detail_lines(frame, 160)).split())
    assert "by OPER1 (console, CSQOREXX)" in screen
    assert "needs console messages" in screen
    assert "event:2412 MQRC_X: words" in screen


def test_a_rule_is_explained_with_the_changes_before_its_alert(
    altered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rules explain` of an open alert shows what changed of its object in the day before; nothing that is older."""
    store = tmp_path / "x.db"
    with closing(sqlite3.connect(altered / "live.db")) as db, closing(sqlite3.connect(store)) as copy:
        db.backup(copy)
        rule, owner, name, since = copy.execute(
            "SELECT rule, scope_owner, scope_name, since FROM alert WHERE state = 'firing' AND scope_kind = 'channel'"
        ).fetchone()
        for batch, hours in ((50, 2), (20, 30)):
            values = (
                owner,
                "channel",
                name,
                "batchsz_defined",
                100,
                batch,
                since - hours * 3_600_000,
                since - DAY * 2,
                "",
                None,
            )
            copy.execute(f"INSERT INTO change VALUES(NULL{', ?' * len(values)})", values)
        copy.commit()
    capsys.readouterr()
    assert main(["rules", "explain", rule, f"{owner}/channel/{name}", "--store", str(store)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Changed between " in text
    assert "BATCHSZ 100 msgs -> 50 msgs" in text
    assert "-> 20 msgs" not in text

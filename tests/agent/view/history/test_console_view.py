"""Console messages on the screen of an object, and as a list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.console.event_watch import QueueProgress
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.messages import ConsoleRow, EventQueueRow, message
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.history.console import CRITICAL, NEEDED, console_lines, read_console, tone_of_code
from mqvitals_agent.view.screens.agent import agent_lines
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName, Snapshot

NOW = 1795176590000  # 2026-11-20 12:09:50 UTC
POOL = ObjectName("QM01", "buffer_pool", "1")
ROW = ConsoleRow("/console", 1, 1, "mark", "{}", "", NOW)
SMALL = "CSQP020E QM01 CSQP1RSW Buffer pool 1 is too small"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "samples.db"
    with Store.open(path, created=NOW) as store:
        for owner, group in (("QM01", False), ("QSG1", True)):
            store.write(Snapshot(owner, group, 1, NOW, ()), Evaluation((), ()))
        store.messages.add(
            ROW,
            [
                *(
                    message("QM01", "CSQP020E", NOW - 60_000 + n, SMALL, kind="buffer_pool", name="1")
                    for n in range(12)
                ),
                message("QM01", "CSQP019I", NOW - 50_000, "other pool", kind="buffer_pool", name="2"),
                message("QM01", "CSQJ111A", NOW - 40_000, "CSQJ111A QM01 OUT OF SPACE IN ACTIVE LOG DATA SETS"),
                message("QM02", "CSQP020E", NOW - 30_000, "other member", kind="buffer_pool", name="1"),
                message("QM01", "CSQX209E", NOW - 86_500_000, "yesterday \x1b[2J", kind="channel", name="TO.A"),
                message("QM01", "CSQE038E", NOW - 1000, "CSQE038E full", kind="cf_structure", name="APPL1"),
            ],
            ["QM01"],
        )
    return path


def words(store: Path, name: ObjectName, *alerts: Alert, width: int = 100) -> list[str]:
    with StoreReader.open(store) as reader:
        console = read_console(reader, name, alerts, NOW)
    lines = [line.text for line in console_lines(console, name.kind, NOW, width)]
    assert all(cells(line) <= width for line in lines)
    assert not lines or lines[0].startswith("Console ")
    return lines[1:]


def alert_of(name: ObjectName, began: int) -> Alert:
    state, severity = AlertState.FIRING, Severity.CRITICAL
    return Alert(AlertKey("BP-03", name), name, "operational", "", state, severity, severity, began, began, "", began)


def test_what_names_the_object(store: Path) -> None:
    """With the time, how often, and the words; not what is about another."""
    assert words(store, POOL) == [f"  12:08:50 12 times  {SMALL}"]
    assert words(store, ObjectName("QM01", "buffer_pool", "7")) == ["  no message about it in the last day"]
    assert words(store, ObjectName("QSG1", "cf_structure", "APPL1")) == ["  12:09:49  CSQE038E full"]


def test_what_came_when_its_alert_began(store: Path) -> None:
    """Trouble of that time that is not about another of its kind."""
    near = words(store, POOL, alert_of(POOL, NOW - 20_000))
    assert [line.split()[1] if "times" not in line else "12" for line in near] == ["12", "CSQJ111A", "CSQE038E"]
    assert len(words(store, POOL, alert_of(POOL, NOW - 3_600_000))) == 1


def test_what_z_os_says_of_the_reason_is_shown_with_the_alert(store: Path) -> None:
    """IEC070I and ICH408I within two minutes of an alert's start say why, though their letter is I."""
    texts = ("IEC070I 034(004)-220,QM01MSTR,QM01MSTR,,,,MQ.QM01.PSID04", "ICH408I USER(U) QM01.PAY.IN CL(MQQUEUE )")
    with Store.open(store, created=NOW) as written:
        rows = [message("QM01", each[:7], NOW - 130_000 * place, each) for place, each in enumerate(texts)]
        written.messages.add(ROW, rows, ["QM01"])
    page_set = ObjectName("QM01", "page_set", "4")
    assert any("IEC070I" in line for line in words(store, page_set, alert_of(page_set, NOW - 20_000)))
    assert not any("ICH408I" in line for line in words(store, page_set, alert_of(page_set, NOW - 5_000)))


def test_a_component_has_its_own(store: Path) -> None:
    assert [line.split()[1] for line in words(store, ObjectName("QM01", "log"))] == ["CSQJ111A"]
    assert len(words(store, ObjectName("QM01", "queue_manager"))) == 4


def test_without_a_console_it_says_what_it_needs(store: Path) -> None:
    """Of what a console tells about; of nothing else, and not where there is none."""
    assert words(store, ObjectName("QM02", "buffer_pool", "1")) == [f"  {NEEDED}"]
    assert words(store, ObjectName("QM02", "adapter", "1")) == []
    with StoreReader.open(store) as reader:
        console = read_console(reader, ObjectName("QM02", "queue", "A"), (), NOW)
    assert list(console_lines(console, "queue", NOW, 80, zos=False)) == []


def test_text_is_harmless(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal; as JSON it is as it was written."""
    with StoreReader.open(store) as reader:
        console = read_console(reader, ObjectName("QM01", "channel", "TO.A"), (), NOW + 0)
    assert [line.text for line in console_lines(console, "channel", NOW, 100)][1:] == [
        "  no message about it in the last day"
    ]
    assert main(["messages", "--store", str(store), "--since", "999d", "--id", "csqx209e"]) == 0
    out = capsys.readouterr().out
    assert "␛[2J" in out
    assert "\x1b" not in out


def test_the_letter_is_not_the_weight() -> None:
    assert tone_of_code("CSQE239I") is Tone.CRITICAL
    assert tone_of_code("CSQX209E") is Tone.WARNING
    assert tone_of_code("CSQP019I") is Tone.PLAIN
    assert tone_of_code("$HASP373") is Tone.PLAIN


def listed(capsys: pytest.CaptureFixture[str], store: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["messages", "--store", str(store), "--json", "--since", "9999d", *options]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_the_command(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All, oldest first; of a queue manager, an id, the newest few."""
    every = listed(capsys, store)
    assert [each["id"] for each in every] == ["CSQX209E", "CSQP020E", "CSQP019I", "CSQJ111A", "CSQP020E", "CSQE038E"]
    assert every[1] == {
        "at": "2026-11-20T12:08:50.000Z",
        "last_at": "2026-11-20T12:08:50.011Z",
        "times": 12,
        "queue_manager": "QM01",
        "id": "CSQP020E",
        "kind": "buffer_pool",
        "object": "1",
        "system": None,
        "job": None,
        "text": SMALL,
    }
    assert [each["text"] for each in listed(capsys, store, "--queue-manager", "QM02")] == ["other member"]
    assert len(listed(capsys, store, "--id", "CSQP020E", "--id", "CSQJ111A")) == 3
    assert [each["id"] for each in listed(capsys, store, "--limit", "2")] == ["CSQP020E", "CSQE038E"]
    assert main(["messages", "--store", str(store), "--since", "9999d", "--id", "CSQJ111A"]) == 0
    assert "12:09:10  QM01  CSQJ111A QM01 OUT OF SPACE" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--since", "5"], ["--limit", "0"], ["--queue-manager", "QM09"]])
def test_mistakes(store: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["messages", "--store", str(store), *options]) == 2
    assert options[0].strip("-").replace("-", " ") in capsys.readouterr().err


def test_nothing_to_list(tmp_path: Path, capsys: pytest.CaptureFixture[str], make_empty: Callable[[], Path]) -> None:
    assert main(["messages", "--store", str(make_empty())]) == 0
    assert "mqvitals help console" in capsys.readouterr().out


def test_a_file_that_cannot_be_followed(
    make_empty: Callable[[], Path], capsys: pytest.CaptureFixture[str], judging: RuleConfig
) -> None:
    """The list and the agent's screen say which and why, without any control character; one that can be is not named."""
    path = make_empty()
    with Store.open(path) as store:
        store.write(Snapshot("QM01", False, 1, NOW, ()), Evaluation((), ()))
        store.messages.add(ROW, [], ["QM01"])
        store.messages.add(ConsoleRow("/sys\x1blog", 0, 0, "", "", "it is not there", 0), [], [])
    assert main(["messages", "--store", str(path)]) == 0
    shown = capsys.readouterr().out
    with StoreReader.open(path) as reader:
        lines = [line.text for line in agent_lines(read_frame(reader, NOW, FrameRequest("agent"), judging), 80)]
    (line,) = [line for line in lines if "cannot be followed" in line]
    assert line.startswith("▲ WARNING   /sys")
    assert "log cannot be followed: it is not there" in line
    assert "log cannot be followed: it is not there\n" in shown
    assert "\x1b" not in line + shown
    assert ROW.path not in "".join(lines) + shown


def test_what_there_is_to_say_about_event_queues(
    make_empty: Callable[[], Path], capsys: pytest.CaptureFixture[str], judging: RuleConfig
) -> None:
    """The list and the agent's screen name queues that cannot be read, what could not be decoded, and what is emptied."""
    path = make_empty()
    channel, depth = "SYSTEM.ADMIN.CHANNEL.EVENT", "SYSTEM.ADMIN.PERFM.EVENT"
    taken = QueueProgress(taken=True, unreadable=3, why="at byte 40: expected \x1bmore").to_json()
    with Store.open(path) as store:
        store.write(Snapshot("QM01", False, 1, NOW, ()), Evaluation((), ()))
        store.messages.add_events(EventQueueRow("QM01", depth, "QM01", taken, ts=NOW), [])
        event = message("QM01", "event:2053", NOW, "event:2053 MQRC_Q_FULL: full; queue=A", kind="queue", name="A")
        store.messages.add_events(EventQueueRow("QM01", channel, "QM01", "{}", "MQRC_NOT_AUTHORIZED", NOW), [event])
    assert main(["messages", "--store", str(path), "--since", "3650d", "--id", "event:2053"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    with StoreReader.open(path) as reader:
        frame = read_frame(reader, NOW, FrameRequest("agent"), judging)
    screen = " ".join(" ".join(line.text.split()) for line in agent_lines(frame, 300))
    assert "QM01 event:2053 MQRC_Q_FULL: full; queue=A" in shown
    for words in (
        f"event queue {channel} of QM01 cannot be read: MQRC_NOT_AUTHORIZED",
        f"event queue {depth} of QM01: 3 of its messages could not be read, the last of them: at byte 40: expected",
        f"messages are removed from {depth} when they are read (polling.events.read: get), on QM01",
    ):
        assert words in shown
        assert words in screen
    assert "\x1b" not in shown + screen
    assert (tone_of_code("event:2053"), tone_of_code("event:2224"), tone_of_code("event:2368")) == (
        Tone.CRITICAL,
        Tone.WARNING,
        Tone.PLAIN,
    )


@pytest.fixture
def make_empty(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        path = tmp_path / "empty.db"
        Store.open(path, created=NOW).close()
        return path

    return make


def test_messages_whose_alert_is_critical_are_shown_so() -> None:
    """Of rules that are critical from the start, and wait for nothing but the message itself."""
    rules = load_rule_config(Settings()).rules
    by_value = {"CSQJ032E", "CSQE243I", "CSQE244I"}
    """Of these an insert decides."""
    for rule in rules.rules:
        if rule.severity is Severity.CRITICAL:
            codes = {code for use in rules.compiled[str(rule.id)].awaited for code in use.ids} - by_value
            assert codes <= CRITICAL, rule.id

"""The screens of alerts and of the agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import Frame, FrameRequest, StorePosition, read_frame
from mqvitals_agent.view.screens.agent import agent_lines, engine_lines, receiver_lines, server_lines, store_lines
from mqvitals_agent.view.screens.alerts import alert_lines
from mqvitals_agent.view.status import StatusData, status_of
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

Golden = Callable[[str, Callable[[int], Sequence[Line]]], None]


def frame_of(data: StatusData) -> Frame:
    ended = replace(data.alerts[0], ended=data.now - 5000) if data.alerts else None
    alerts = (*data.alerts, *((ended,) if ended else ()))
    return Frame(
        FrameRequest("alerts"),
        StorePosition(),
        data.now,
        data.now,
        data,
        status_of(data),
        alerts=alerts,
    )


def test_alerts(ill: StatusData, golden: Golden) -> None:
    """Open ones worst first, then ended ones, and advice by itself."""
    frame = frame_of(ill)
    golden("alerts-incident", lambda width: alert_lines(frame, width))


def test_no_alerts(healthy: StatusData) -> None:
    """Nothing wrong is said, but not where not everything can be seen."""
    assert "✓ no alerts" in [line.text for line in alert_lines(frame_of(healthy), 80)]
    blind = replace(healthy, past=False, now=healthy.now + 10**7)
    assert "✓ no alerts" not in [line.text for line in alert_lines(frame_of(blind), 80)]


def test_alerts_are_found_by_what_is_typed(ill: StatusData) -> None:
    """By rule, object, severity, state and words of the summary."""

    def keys(text: str) -> set[str]:
        return {line.key for line in alert_lines(frame_of(ill), 200, text) if line.key}

    assert keys("bp-03") == {"QM01/buffer_pool/3"}
    assert keys("severity:critical") == {"QM02/queue_manager", "QM01/buffer_pool/3"}
    assert keys("retrying state:firing") == {"QM01/channel/TO.BANK"}
    assert keys("state:ended") == {"QM01/channel/TO.BANK"}
    assert keys("no such words") == set()


def test_hostile_words_in_alerts(ill: StatusData) -> None:
    """What stands in an alert cannot steer the terminal."""
    name = ObjectName("QM01", "queue", "\x1b[2J" + "漢" * 48)
    alert = replace(ill.alerts[0], key=ill.alerts[0].key._replace(object=name), scope=name, summary="[/x] \x1b[31m")
    for width in (80, 120, 200):
        lines = alert_lines(frame_of(replace(ill, alerts=(alert,))), width)
        assert "\x1b" not in "".join(line.text for line in lines)
        assert max(cells(line.text) for line in lines) <= width


def test_the_agent(stored: StoreReader, judging: RuleConfig, golden: Golden) -> None:
    """Each queue manager with what its commands cost; the commands themselves are items of a table."""
    frame = read_frame(stored, 0, FrameRequest("agent"), judging)
    assert [item.name.name for item in frame.items] == ["INQUIRE_USAGE"]
    golden("agent", lambda width: agent_lines(frame, width))


NOW = 1795176590000
CALM = ReceiverRow("ops", NOW - 86_400_000, NOW - 3_600_000, None, "", 0, None, 0, 0, "")


def test_who_is_told(stored: StoreReader, judging: RuleConfig, golden: Golden) -> None:
    """Those that are not told as they should be stand before the queue managers, the others after them."""
    down = "http://alerts.example.com:8443 cannot be reached (Connection refused)"
    receivers = (
        CALM,
        replace(CALM, name="new", accepted=None),
        replace(CALM, name="down", failing=NOW - 252_000, error=down, waiting=1200, oldest=NOW - 240_000),
        replace(
            CALM,
            name="picky",
            waiting=1,
            oldest=NOW - 41_000,
            refused=1,
            refusal="http://a.example answered 400: no field x",
        ),
        replace(CALM, name="done", given_up=3, refusal="http://a.example answered 413"),
    )
    frame = replace(read_frame(stored, 0, FrameRequest("agent"), judging), receivers=receivers)
    golden("agent-receivers", lambda width: agent_lines(frame, width))


@pytest.mark.parametrize(
    ("receiver", "health"),
    [
        (CALM, "✓ OK"),
        (replace(CALM, accepted=None), "? UNKNOWN"),
        (replace(CALM, failing=NOW), "▲ WARNING"),
        (replace(CALM, refused=1), "▲ WARNING"),
        (replace(CALM, given_up=1), "◆ INFO"),
    ],
)
def test_how_a_receiver_does(receiver: ReceiverRow, health: str) -> None:
    """Before it has taken anything nobody knows; and nobody knows once the agent has fallen silent."""
    assert receiver_lines(receiver, NOW, 80)[0].text.startswith(f"{health} ")
    (first, *_) = receiver_lines(receiver, NOW, 80, stale=True)
    assert first.text.startswith("? UNKNOWN")
    assert "stale" in first.text
    assert first.spans[1].tone is Tone.STALE


def test_receivers_come_from_the_store(
    stored: StoreReader, judging: RuleConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's screen reads them, and no other does."""
    monkeypatch.setattr(StoreReader, "receivers", lambda _: (CALM,))
    assert read_frame(stored, 0, FrameRequest("agent"), judging).receivers == (CALM,)
    assert read_frame(stored, 0, FrameRequest("alerts"), judging).receivers == ()


def test_hostile_words_of_receivers() -> None:
    """A receiver's name and answer cannot steer the terminal, and no line is too long."""
    words = "\x1b[2J[/x]" + "漢" * 48
    receiver = replace(
        CALM, name=words, failing=NOW, error=words, refused=1, given_up=1, refusal=words, waiting=1, oldest=0
    )
    for width in (80, 120, 200):
        lines = receiver_lines(receiver, NOW, width)
        assert "\x1b" not in "".join(line.text for line in lines)
        assert max(cells(line.text) for line in lines) <= width


def store_of(**values: Reported) -> Item:
    """The store as it was measured 41 seconds before."""
    told = {
        "used_bytes": 1288490189,
        "limit_bytes": 5 * 1024**3,
        "limit_used_pct": 24.0,
        "keep_s": 30 * 86_400,
        "held_s": 12 * 86_400 + 4 * 3600,
        "growth_bytes_per_h": 40.0 * 1024**2,
        "limit_ahead": 1,
        "limit_reached_s": 4 * 86_400 + 7200,
        "disk_free_bytes": 120 * 1024**3,
        "disk_free_pct": 40.0,
        "disk_full_s": 90.0 * 86_400,
        **values,
    }
    current = {name: CurrentValue(value, NOW - 41_000, "STORE", NOW, None) for name, value in told.items()}
    return Item(ObjectName("PRDQSG", "store"), Health.OK, current)


def test_the_store(stored: StoreReader, judging: RuleConfig, golden: Golden) -> None:
    """How large it is, how long it keeps, how fast it grows and until when: each with its unit, and how long ago that was measured."""
    frame = replace(read_frame(stored, 0, FrameRequest("agent"), judging), store=store_of())
    golden("agent-store", lambda width: agent_lines(frame, width))


def test_what_is_not_known_of_the_store() -> None:
    """Growth that is not known yet is no growth of nothing; without bounds there is nothing to reach."""
    unknown = dict.fromkeys(("growth_bytes_per_h", "limit_ahead", "limit_reached_s", "disk_full_s"), Absence.WINDOW)
    (line,) = store_lines(store_of(**unknown), NOW, 400)
    assert "; growth: not enough history; disk: 120 GiB free (40 %); measured 41 s ago" in line.text
    bounds = dict.fromkeys(("limit_bytes", "limit_used_pct", "keep_s"), Absence.NOTHING_TO_TELL)
    (line,) = store_lines(store_of(**bounds, limit_ahead=0, growth_bytes_per_h=-1.0), NOW, 400)
    assert "1.2 GiB, no limit; the oldest sample is 12 d 4 h old, everything is kept; does not grow; disk" in line.text
    lost = dict.fromkeys(("disk_free_bytes", "disk_free_pct", "disk_full_s"), Absence.NO_ANSWER)
    assert "; disk: no answer; measured" in store_lines(store_of(**lost), NOW, 400)[0].text
    assert store_lines(None, NOW, 80) == ()


def test_a_file_that_was_set_aside() -> None:
    """What happened to the store stands below it for as long as that is news, harmless to a terminal."""
    words = "the store x.db is damaged: it is set aside as x.db.damaged-1\x1b[2J; a new store replaces it"
    lines = store_lines(store_of(begun_anew=1, incident=words), NOW, 120)
    told = "".join(line.text for line in lines)
    assert "store: the store x.db is damaged: it is set aside as x.db.damaged-1" in told
    assert "\x1b" not in told
    assert "set aside" not in "".join(
        line.text for line in store_lines(store_of(begun_anew=0, incident=words), NOW, 120)
    )


def test_a_store_with_an_alert_comes_first(stored: StoreReader, judging: RuleConfig) -> None:
    """What is wrong stands before what is well."""
    frame = replace(
        read_frame(stored, 0, FrameRequest("agent"), judging), store=store_of()._replace(health=Health.WARNING)
    )
    lines = agent_lines(frame, 200)
    assert lines[0].text.startswith("▲ WARNING")
    assert "store: 1.2 GiB" in lines[0].text
    assert lines[0].key == "PRDQSG/store"


def test_a_cluster_of_which_one_member_fails() -> None:
    """It is told, and someone should look at that member."""
    partly = replace(CALM, error="http://am2:9093 cannot be reached (Connection refused)")
    (shown,) = receiver_lines(partly, NOW, 200)
    assert shown.text == (
        "▲ WARNING   receiver ops: http://am2:9093 cannot be reached (Connection refused); last accepted 1 h 0 m ago; nothing pending"
    )


def engine_of(**values: float | str) -> Item:
    """An engine of remote write with these figures."""
    name = ObjectName("PRDQSG", "remote_write", "victoria")
    found = {"failing_s": 0, "pending": 0, "accepted_ago_s": 3, **values}
    return Item(
        name,
        Health.OK,
        {key: CurrentValue(value, NOW, "REMOTE_WRITE", NOW, None) for key, value in found.items()},
        False,
    )


def test_how_an_engine_does() -> None:
    """What waits and what fails is told; nothing in its answer steers the terminal."""
    (well,) = engine_lines(engine_of(), 200)
    assert well.text.endswith("remote write victoria: last taken 3 s ago; nothing pending")
    away = engine_of(failing_s=600, pending=1200, oldest_pending_s=605, trouble="\x1b[2Jrefused", samples_missed=7)
    (away_line,) = engine_lines(away, 300)
    assert "failing for 10m00s, " in away_line.text
    assert "1.2 k samples pending, the oldest of 10m05s" in away_line.text
    assert "7 samples deleted before they were sent" in away_line.text
    assert "\x1b" not in away_line.text
    assert away_line.text.startswith("▲ WARNING")


def server_of(**values: float | str) -> Item:
    """The small server with these figures."""
    found = {"failing_s": 0, "series": 4985, **values}
    return Item(
        ObjectName("PRDQSG", "server"),
        Health.OK,
        {key: CurrentValue(value, NOW, "SERVER", NOW, None) for key, value in found.items()},
        False,
    )


def test_where_the_server_listens_or_why_it_does_not() -> None:
    """Nothing in the words of the operating system steers the terminal."""
    (well,) = server_lines(server_of(address="127.0.0.1:9157", series_left_out=0), 200)
    assert well.text.endswith("server: at 127.0.0.1:9157; 5 k series")
    away = server_of(failing_s=600, trouble="cannot serve at 127.0.0.1:9157: \x1b[2Jaddress in use", refused=7)
    (away_line,) = server_lines(away, 300)
    assert away_line.text.startswith("▲ WARNING")
    assert "address in use, for 10m00s" in away_line.text
    assert "7 requests refused" in away_line.text
    assert "\x1b" not in away_line.text

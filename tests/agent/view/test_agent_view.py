"""The screens of alerts and of the agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.receiver_row import ReceiverRow
from mqvitals_agent.view.agent_view import agent_lines, receiver_lines
from mqvitals_agent.view.alert_list import alert_lines
from mqvitals_agent.view.frame import Frame, Seq, Want, read_frame
from mqvitals_agent.view.situation import Situation
from mqvitals_agent.view.status import status_of
from mqvitals_agent.view.table import Line, Tone
from mqvitals_agent.view.text import cells
from mqvitals_rules.check import Judging
from mqvitals_rules.snapshot import ObjectName

Golden = Callable[[str, Sequence[Line]], None]


def frame_of(situation: Situation) -> Frame:
    ended = replace(situation.alerts[0], ended=situation.now - 5000) if situation.alerts else None
    alerts = (*situation.alerts, *((ended,) if ended else ()))
    return Frame(Want("alerts"), Seq(), situation.now, situation.now, situation, status_of(situation), alerts=alerts)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_alerts(ill: Situation, golden: Golden, width: int) -> None:
    """Open ones worst first, then ended ones, and advice by itself."""
    lines = alert_lines(frame_of(ill), width)
    assert max(cells(line.text) for line in lines) <= width
    golden(f"alerts-incident-{width}", lines)


def test_no_alerts(healthy: Situation) -> None:
    """Nothing wrong is said, but not where not everything can be seen."""
    assert "✓ no alerts" in [line.text for line in alert_lines(frame_of(healthy), 80)]
    blind = replace(healthy, past=False, now=healthy.now + 10**7)
    assert "✓ no alerts" not in [line.text for line in alert_lines(frame_of(blind), 80)]


def test_alerts_are_found_by_what_is_typed(ill: Situation) -> None:
    """By rule, object, severity, state and words of the summary."""

    def keys(text: str) -> set[str]:
        return {line.key for line in alert_lines(frame_of(ill), 200, text) if line.key}

    assert keys("bp-03") == {"QM01/buffer_pool/3"}
    assert keys("severity:critical") == {"QM02/queue_manager", "QM01/buffer_pool/3"}
    assert keys("retrying state:firing") == {"QM01/channel/TO.BANK"}
    assert keys("state:ended") == {"QM01/channel/TO.BANK"}
    assert keys("no such words") == set()


def test_hostile_words_in_alerts(ill: Situation) -> None:
    """What stands in an alert cannot steer the terminal."""
    name = ObjectName("QM01", "queue", "\x1b[2J" + "漢" * 48)
    alert = replace(ill.alerts[0], key=ill.alerts[0].key._replace(object=name), scope=name, summary="[/x] \x1b[31m")
    for width in (80, 120, 200):
        lines = alert_lines(frame_of(replace(ill, alerts=(alert,))), width)
        assert "\x1b" not in "".join(line.text for line in lines)
        assert max(cells(line.text) for line in lines) <= width


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_agent(stored: StoreReader, judging: Judging, golden: Golden, width: int) -> None:
    """Each queue manager with what its commands cost; the commands themselves are items of a table."""
    frame = read_frame(stored, 0, Want("agent"), judging)
    assert [item.name.name for item in frame.items] == ["INQUIRE_USAGE"]
    golden(f"agent-{width}", agent_lines(frame, width))


NOW = 1795176590000
CALM = ReceiverRow("ops", NOW - 86_400_000, NOW - 3_600_000, None, "", 0, None, 0, 0, "")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_who_is_told(stored: StoreReader, judging: Judging, golden: Golden, width: int) -> None:
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
    frame = replace(read_frame(stored, 0, Want("agent"), judging), receivers=receivers)
    lines = agent_lines(frame, width)
    assert max(cells(line.text) for line in lines) <= width
    golden(f"agent-receivers-{width}", lines)


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


def test_receivers_come_from_the_store(stored: StoreReader, judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent's screen reads them, and no other does."""
    monkeypatch.setattr(StoreReader, "receivers", lambda _: (CALM,))
    assert read_frame(stored, 0, Want("agent"), judging).receivers == (CALM,)
    assert read_frame(stored, 0, Want("alerts"), judging).receivers == ()


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

"""When questions are due, and how their intervals follow the time that answers take."""

from __future__ import annotations

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.queries import (
    BACKUP,
    DEFAULT_INTERVALS_MS,
    USAGE,
    IntervalStretch,
    configured_ms,
    for_any_member,
    is_due,
    stretched_interval,
    zos_queries,
)
from mqvitals_config.sections.collection import PollingSettings


def test_usual_intervals() -> None:
    """At the usual base interval every question has its own."""
    assert {question: configured_ms(question, 30_000) for question in DEFAULT_INTERVALS_MS} == DEFAULT_INTERVALS_MS
    assert (
        DEFAULT_INTERVALS_MS["INQUIRE_Q_STATUS"],
        DEFAULT_INTERVALS_MS["INQUIRE_Q"],
        DEFAULT_INTERVALS_MS[BACKUP],
    ) == (30_000, 900_000, 300_000)


@pytest.mark.parametrize(
    ("question", "base", "wanted"),
    [
        ("INQUIRE_Q_STATUS", 2_000, 2_000),
        ("INQUIRE_QSG", 2_000, 4_000),
        ("INQUIRE_Q_MGR", 2_000, 20_000),
        ("INQUIRE_Q", 2_000, 60_000),
        ("INQUIRE_SYSTEM", 2_000, 240_000),
        ("INQUIRE_Q_STATUS", 120_000, 120_000),
        ("INQUIRE_QSG", 120_000, 120_000),
        ("INQUIRE_Q", 120_000, 900_000),
    ],
)
def test_base_interval_scales(question: str, base: int, wanted: int) -> None:
    """A shorter base interval shortens all in proportion; a longer one lengthens only what is shorter than it."""
    assert configured_ms(question, base) == wanted


def test_usage_has_a_floor() -> None:
    """DISPLAY USAGE comes at most once a minute, whatever is configured, unless the floor itself is lower."""
    assert configured_ms(USAGE, 2_000) == 60_000
    assert configured_ms(USAGE, 2_000, {USAGE: 10_000}) == 60_000
    assert configured_ms(USAGE, 2_000, usage_floor_ms=0) == 4_000
    assert configured_ms(USAGE, 30_000, {USAGE: 300_000}) == 300_000


def test_own_intervals() -> None:
    """What the site sets holds as it is."""
    assert configured_ms("INQUIRE_Q", 30_000, {"INQUIRE_Q": 3_600_000}) == 3_600_000


@pytest.mark.parametrize(
    ("moment", "asked", "due"),
    [(0, None, True), (60_000, 0, True), (59_999, 0, False)],
)
def test_due(moment: int, asked: int | None, *, due: bool) -> None:
    """Never asked, or an interval of elapsed time ago."""
    assert is_due(moment, asked, 60_000) is due


def test_long_answers_double_the_interval() -> None:
    """More than a tenth of the interval in force doubles it, until it is not more than a tenth."""
    first, why = stretched_interval(IntervalStretch(), 30_000, 7_000)
    assert (first.doubled, why) == (
        1,
        "the answer took 7 s, more than a tenth of the interval: asked every 60 s",
    )
    second, _ = stretched_interval(first, 30_000, 7_000)
    assert second.of(30_000) == 120_000
    assert stretched_interval(second, 30_000, 7_000) == (IntervalStretch(2), "")


def test_three_quick_answers_halve_it() -> None:
    """Less than a twentieth of the interval, three times in a row, brings it back by one step; one slower begins anew."""
    stretch = IntervalStretch(1)
    stretch, why = stretched_interval(stretch, 30_000, 2_000)
    stretch, why = stretched_interval(stretch, 30_000, 2_999)
    assert (stretch, why) == (IntervalStretch(1, 2), "")
    again, _ = stretched_interval(stretch, 30_000, 3_000)
    assert again == IntervalStretch(1)
    stretch, why = stretched_interval(stretch, 30_000, 100)
    assert (stretch, why) == (IntervalStretch(), "the answers come quickly again: asked every 30 s")
    assert stretched_interval(stretch, 30_000, 100) == (IntervalStretch(), "")


def test_silence_stretches_less() -> None:
    """Without an answer an interval grows to four times: the wait says nothing about how long an answer takes."""
    stretch = IntervalStretch()
    for _ in range(5):
        stretch, _ = stretched_interval(stretch, 30_000, 30_000, silent=True)
    assert stretch == IntervalStretch(2)


def test_no_interval_grows_beyond_an_hour() -> None:
    """Doubling ends where a question would come less than hourly; one that is rarer anyway stays as it is."""
    stretch = IntervalStretch()
    for _ in range(20):
        stretch, _ = stretched_interval(stretch, 30_000, 10_000_000)
    assert stretch.of(30_000) == 1_920_000
    assert stretched_interval(IntervalStretch(), 3_600_000, 3_600_000) == (IntervalStretch(), "")


def test_what_any_member_can_be_sent() -> None:
    """The questions about the group and those about another member, whatever objects an answer holds."""
    for query in zos_queries(PollingSettings(), ("QM09",)):
        assert for_any_member(query.command, query.scope) is query.of_group, query.question
    assert not for_any_member(mq.MQCMD_INQUIRE_CHANNEL_STATUS, "*")

"""Numbers, ages, states and absent values as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mqvitals_agent.text.figure import (
    age,
    clock,
    day,
    figure,
    metric_words,
    moment,
    number,
    objects_of_kind,
    percent,
    quantity,
    short_age,
    size,
    times_in,
    told_in_zone,
    whole_percent,
    zone_name,
)
from mqvitals_rules.message_summary import end_words
from mqvitals_rules.ruleset.quantity import format_value
from mqvitals_rules.vocabulary.metric import NO_LIMIT, Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS, metric

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0, "messages", "0 msgs"),
        (1234, "messages", "1.2 k msgs"),
        (11214, "messages", "11.2 k msgs"),
        (4, "pct", "4 %"),
        (93.08, "pct", "93.1 %"),
        (120, "us", "120 us"),
        (0, "us", "0 us"),
        (0, "ms", "0 ms"),
        (0, "s", "0 s"),
        (0.0, "days", "0 s"),
        (3400, "us", "3.4 ms"),
        (88726, "us", "88.7 ms"),
        (250, "ms", "250 ms"),
        (41, "s", "41 s"),
        (252, "s", "4m12s"),
        (7800, "s", "2 h 10 m"),
        (-1, "s", "-1 s"),
        (90, "minutes", "1 h 30 m"),
        (3, "days", "3 d 0 h"),
        (1610612736, "bytes", "1.5 GiB"),
        (65536, "KB", "64 MiB"),
        (8, "count", "8"),
        (12.345, "per_s", "12.35 /s"),
        (2.5, "MB/s", "2.5 MB/s"),
        (12004, "buffers", "12 k buffers"),
        (float("nan"), "pct", "not a number"),
        (float("inf"), "us", "not a number"),
    ],
)
def test_quantity(value: float, unit: str, shown: str) -> None:
    """Every unit of the vocabulary has its short form."""
    assert quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (999, "999"),
        (999.999, "1 k"),
        (1000, "1 k"),
        (99_949, "99.9 k"),
        (999_499, "999 k"),
        (999_500, "1 M"),
        (10**15, "1 P"),
        (10**20, "1.00e+20"),
        (-1234, "-1.2 k"),
        (0.25, "0.25"),
        (0.001, "0.001"),
        (0, "0"),
    ],
)
def test_number(value: float, shown: str) -> None:
    """Numbers are scaled so that they stay short, and never round into the next step's digits."""
    assert number(value) == shown


@given(st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(2**63), 2**63))
def test_numbers_stay_short(value: float) -> None:
    """No number that a store can hold makes a column burst."""
    assert all(len(text) <= 12 for text in (number(value), size(value), quantity(value, "us").removesuffix(" h")))


def test_shares_that_are_not_quite() -> None:
    """Nearly nothing is not nothing, nearly everything not everything."""
    assert [percent(value) for value in (0, 0.02, 99.97, 100)] == ["0 %", "< 0.1 %", "> 99.9 %", "100 %"]
    assert [whole_percent(value) for value in (0, 0.02, 62.5, 99.97, 100)] == ["0 %", "1 %", "62 %", "99 %", "100 %"]


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (-5, "0 s"),
        (999, "0 s"),
        (41 * SECOND, "41 s"),
        (4 * MINUTE + 12 * SECOND, "4m12s"),
        (9 * MINUTE + SECOND, "9m01s"),
        (2 * HOUR + 10 * MINUTE, "2 h 10 m"),
        (3 * DAY + 4 * HOUR, "3 d 4 h"),
    ],
)
def test_age(ms: int, shown: str) -> None:
    """Ages name the two units that matter."""
    assert age(ms) == shown
    assert short_age(ms) == shown.replace(" ", "")


def test_moments() -> None:
    """Moments are told in UTC; one that no calendar holds does not fail."""
    assert moment(1795176000007) == "2026-11-20 12:00:00"
    assert clock(1795176590000) == "12:09:50"
    assert day(1795176590000) == "2026-11-20"
    assert day(10**18) == "9999-12-31"
    assert day(-1) == "1970-01-01"


def test_states() -> None:
    """A state is told by its name, a number without a name by itself."""
    status = metric("channel", "status")
    assert figure(5, status) == "RETRYING"
    assert figure(99, status) == "99 (no name)"


@pytest.mark.parametrize("absence", Absence)
@pytest.mark.parametrize("name", ["free_pct", "location"])
def test_absent_is_never_zero(absence: Absence, name: str) -> None:
    """An absent value is its reason in words, whatever the metric's type."""
    assert figure(absence, metric("buffer_pool", name)) == absence.value


def test_texts() -> None:
    """Texts of MQ are made safe, and an empty one is still seen."""
    text = Metric("description", "", MetricType.TEXT, "what it is for")
    assert figure("\x1b[2J[/x]", text) == "␛[2J[/x]"
    assert figure("", text) == "(blank)"


def test_every_unit_is_known() -> None:
    """A unit that the vocabulary brings and this page does not know would be shown bare: there is none so far."""
    known = {
        "",
        "count",
        "number",
        "messages",
        "bytes",
        "bytes/h",
        "pages",
        "buffers",
        "blocks",
        "per_s",
        "MB/s",
        "messages/s",
        "pages/s",
    }
    known |= {"s", "us", "ms", "minutes", "days", "pct", "KB", "MB", "GB"}
    assert {each.unit for kind in KINDS.values() for each in kind.metrics} <= known


@pytest.mark.parametrize(
    ("kind", "name", "value", "word"),
    [
        ("queue", "max_depth", NO_LIMIT, "no limit"),
        ("channel", "longrty", NO_LIMIT, "no limit"),
        ("channel", "maxinst", NO_LIMIT, "no limit"),
        ("channel", "batchlim_kb", 0, "no limit"),
        ("channel", "discint_s", 0, "off"),
        ("channel", "kaint_s", -1, "auto"),
        ("queue_manager", "expiry_interval_s", 0, "off"),
        ("queue_manager", "authority_event", 0, "off"),
        ("queue_manager", "monq", -1, "off for all"),
        ("queue", "monq", 0, "off"),
        ("queue", "trigger", 0, "off"),
        ("queue", "backout_threshold", 0, "off"),
        ("channel", "xmitq_msgs", 999, "999 or more"),
    ],
)
def test_what_is_off_or_without_limit_is_told_so(kind: str, name: str, value: int, word: str) -> None:
    """A number that stands for something else is shown by what it means; of a state also where MQ's word is another."""
    of = metric(kind, name)
    assert figure(value, of) == word
    if of.type is MetricType.GAUGE:
        assert format_value(of, value) == word


@pytest.mark.parametrize("of", [metric("queue", "depth"), metric("channel", "batchsz")])
@given(value=st.integers(0, NO_LIMIT - 1))
def test_an_amount_is_never_told_as_a_word(of: Metric, value: int) -> None:
    """Nothing but the greatest number is without limit, and 0 of an amount is 0."""
    assert figure(value, of)[0].isdigit()
    assert format_value(of, value)[0].isdigit()


ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]).map(ZoneInfo)


@given(told=st.integers(2 * DAY, 2_000_000_000_000), ago=st.integers(0, 3 * DAY), zone=ZONES)
def test_times_that_a_rule_said_are_in_the_zone_of_the_screen(told: int, ago: int, zone: ZoneInfo) -> None:
    """Whatever the moment: the words name the same one, and UTC no more."""
    at = max(told - ago, 0) // MINUTE * MINUTE
    words = f"log: 4 ms, SMF interval until {end_words(at, told)}"
    assert told_in_zone(words, told) == words
    with times_in(zone):
        face = clock(at) if told - at < DAY else moment(at)
        assert told_in_zone(words, told) == f"log: 4 ms, SMF interval until {face[:-3]} {zone_name(at)}"


@given(told=st.integers(2 * DAY, 2_000_000_000_000), spread=st.integers(0, HOUR), zone=ZONES)
def test_two_times_that_a_rule_said(told: int, spread: int, zone: ZoneInfo) -> None:
    """One zone after both, unless clocks changed between them."""
    last, first = told // SECOND * SECOND, (told - spread) // SECOND * SECOND
    words = f"X ended (CSQX489E 4 times, first {clock(first)}, last {clock(last)} UTC)"
    with times_in(zone):
        between = "" if zone_name(first) == zone_name(last) else f" {zone_name(first)}"
        expected = f"X ended (CSQX489E 4 times, first {clock(first)}{between}, last {clock(last)} {zone_name(last)})"
        assert told_in_zone(words, told) == expected


@pytest.mark.parametrize(
    "words",
    ["99:99 UTC", "MOVED.TO.UTC: depth 7", "since 12:00", "PAY.12:00", "2026-99-99T12:00:00Z", "line 1:12:00 UTC"],
)
def test_other_words_of_a_rule_stay(words: str) -> None:
    """Names and digits that are no time in UTC are left alone."""
    with times_in(ZoneInfo("Europe/Berlin")):
        assert told_in_zone(words, 10 * DAY) == words


def test_a_text_that_tells_a_moment() -> None:
    """The text of such a metric is shown in the zone, another text as it is."""
    first = metric("dead_letter", "first_ts")
    at = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()) * 1000
    assert figure("2026-11-20 12:00:00", first) == f"{moment(at)} UTC"
    with times_in(ZoneInfo("Europe/Berlin")):
        assert figure("2026-11-20 12:00:00", first) == "2026-11-20 13:00:00 CET"
        assert figure("2026-11-20T12:00:00Z", metric("log", "io_max_ts")) == "2026-11-20 13:00:00 CET"
        assert figure("2026-11-20 12:00:00 UTC", metric("log", "io_max_ts")) == "2026-11-20 13:00:00 CET"
        assert figure("unreadable", first) == "unreadable"
        assert figure("2026-11-20 12:00:00", metric("dead_letter", "destination")) == "2026-11-20 12:00:00"


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("qtime_us_long", "qtime long-term"),
        ("qtime_us_short", "qtime"),
        ("avg_cpu_us", "avg cpu"),
        ("uow_span_mb", "uow span"),
        ("used_pct", "used"),
        ("msgs_per_s", "msgs"),
        ("depth", "depth"),
    ],
)
def test_what_a_figure_is_called(metric: str, words: str) -> None:
    """Its name without the unit, which its value has; the long-term half of a pair says so."""
    assert metric_words(metric) == words


@given(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["us", "ms", "s", "pct", "bytes", "msgs", "KB"])
)
@example(1.797693134862316e305, "ms")
def test_figures_need_ascii_alone(value: float, unit: str) -> None:
    """They are spelled alike in every locale."""
    assert quantity(value, unit).isascii()


def test_several_objects_of_any_kind_have_a_noun() -> None:
    """Also of kinds whose word leads to a name: ``connection to``, ``subscriptions on``."""
    for kind in KINDS:
        last = objects_of_kind(kind).split()[-1]
        assert last.endswith("s"), kind
        assert not last.endswith("ss"), kind
        assert last not in {"ons", "tos"}, kind
    assert objects_of_kind("smds_connection") == "SMDS connections"

"""Maintenance windows: what they mute and until when, what follows from a queue manager that is planned down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.configured import alerting_problems, calendar_of
from mqvitals_agent.alerting.decision import DecisionReason
from mqvitals_agent.alerting.disposition import Disposition
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import SiteCalendar, moment_text, partners_of, spans_of
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.alerting.routing import every_receiver
from mqvitals_config.decoding.decoder import decode
from mqvitals_config.receivers.http import webhook_of
from mqvitals_config.settings import Settings, contradictions
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity
from mqvitals_rules.snapshot import ObjectName

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
Make = Callable[..., Alert]


def ms(text: str) -> int:
    """A moment in ISO 8601, ms UTC; without an offset it is in UTC."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) * 1000


def calendar(text: str) -> SiteCalendar:
    """The calendar of settings with these maintenance windows, one a line."""
    entries = "\n".join(f"  - {{{line.strip()}}}" for line in text.strip().splitlines())
    settings = decode("x.yaml", f"time_zone: Europe/Berlin\nmaintenance:\n{entries}\n", Settings)
    assert [*contradictions(settings), *alerting_problems(settings)] == []
    return calendar_of(settings)


IPL = 'name: weekly IPL, reason: IPL of SYS3, weekdays: [sunday], times: [{start_time: "02:00", end_time: "06:00"}]'
DOWN = f"{IPL}, queue_managers: [QM03], planned_down: true"
SUNDAY = ms("2026-11-22T03:00+01:00")
"""An hour after the window begins."""


def of(name: ObjectName, make: Make, *, at: int = SUNDAY, cause: Alert | None = None, rule: str = "R-1") -> Alert:
    """An alert about an object, which began at a time."""
    found = make(rule, name=name, started=at, family="", cause=None if cause is None else cause.key)
    return replace(found, since=at)


def decided(
    site: SiteCalendar, *alerts: Alert, now: int = SUNDAY, values: Mapping[tuple[ObjectName, str], object] | None = None
) -> list[Disposition]:
    """About alerts of the group PRDQSG."""
    known = values or {}
    receiver = webhook_of("https://ops.example/", name="ops")
    made = Pipeline(
        Labeller("PRDQSG", {"PRDQSG"}), every_receiver(["ops"], {"ops": Severity.WARNING}), {"ops": receiver}, {}, site
    )
    state = PipelineState(value_of=lambda name, metric: known.get((name, metric)))
    return made.dispositions(list(enumerate(alerts, 1)), list(alerts), state, now)


def why(found: Disposition) -> str:
    """Why it is in maintenance; else what excludes it, or that nothing does."""
    if found.excluded is DecisionReason.MAINTENANCE:
        return found.results[-1].text
    return "told" if found.excluded is None else found.excluded.name


def test_a_planned_outage_is_no_alert_and_the_rest_of_the_group_is(pool: Make) -> None:
    """The queue manager, channels to it, the missing member, and what follows; also where the cause has ended."""
    down = of(ObjectName("QM03", "queue_manager"), pool, rule="AGENT-01")
    to_it, other = ObjectName("QM01", "channel", "TO.QM03"), ObjectName("QM01", "channel", "QM01.TO.PARTNER")
    retrying = of(to_it, pool, rule="CHL-16")
    waits = of(ObjectName("QM01", "queue", "QM03"), pool, cause=retrying, rule="OPS-101")
    waits_elsewhere = of(ObjectName("QM02", "queue", "BATCH"), pool, cause=waits)
    missing = of(ObjectName("PRDQSG", "qsg"), pool, cause=down, rule="OPS-113")
    others = [of(ObjectName("QM01", "queue", "PAY.IN"), pool), of(ObjectName("PRDQSG", "qsg"), pool)]
    own = of(ObjectName("QM03", "queue", "PAY.IN"), pool)
    elsewhere = of(other, pool)
    values = {(other, "remote_queue_manager"): "QM07"}
    site = calendar(DOWN)
    found = decided(site, down, own, retrying, waits, waits_elsewhere, *others, elsewhere, values=values)
    it, follows = "QM03 is planned down", "it follows from QM03, which is planned down"
    words = [f"maintenance 'weekly IPL' until 06:00 CET: {each}; IPL of SYS3" for each in (it, follows)]
    assert [why(each) for each in found] == [words[0], words[0], words[1], "INHIBITED", "INHIBITED", *["told"] * 3]
    worse = replace(waits, cause=None)
    assert [why(each) for each in decided(site, worse)] == ["told"]
    transmission = {(worse.scope, "usage"): 1}
    assert [why(each) for each in decided(site, worse, values=transmission)] == [words[1]]
    fills = of(ObjectName("QM01", "page_set", "2"), pool, cause=waits, rule="PS-07")
    found = decided(site, down, replace(waits, severity=Severity.WARNING, cause=down.key), fills)
    assert [why(each) for each in found] == [words[0], "INHIBITED", "told"], "it is worse than what explains it"
    assert [why(each) for each in decided(site, missing)] == ["told"]


def test_when_the_window_ends_what_is_still_down_is_told_and_its_effects_are_not(pool: Make) -> None:
    """Nobody could look at the cause before, so that an effect that began late is none of its own."""
    down = of(ObjectName("QM03", "queue_manager"), pool, rule="AGENT-01")
    late = of(ObjectName("QM01", "qmgr", "X"), pool, at=SUNDAY + 2 * HOUR, cause=down)
    later = of(ObjectName("QM01", "qmgr", "Y"), pool, at=SUNDAY + 4 * HOUR, cause=down)
    site = calendar(DOWN)
    assert [why(each)[:11] for each in decided(site, down, late, now=SUNDAY + 2 * HOUR)] == ["maintenance"] * 2
    assert [why(each) for each in decided(site, down, late, now=SUNDAY + 3 * HOUR)] == ["told", "INHIBITED"]
    after = decided(site, down, late, later, now=SUNDAY + 4 * HOUR)
    assert [why(each) for each in after] == ["told", "INHIBITED", "told"]
    channel = of(ObjectName("QM01", "channel", "TO.QM03"), pool, at=SUNDAY + MINUTE, cause=down)
    of_channel = of(ObjectName("QM01", "queue", "QM03"), pool, at=SUNDAY + 2 * HOUR, cause=channel)
    found = decided(site, down, channel, of_channel, now=SUNDAY + 3 * HOUR)
    assert [why(each) for each in found] == ["told", "INHIBITED", "INHIBITED"]
    nothing_planned = decided(SiteCalendar(), down, late, now=SUNDAY + 3 * HOUR)
    assert [why(each) for each in nothing_planned] == ["told", "told"]


def test_without_planned_down_only_what_is_named_is_meant(pool: Make) -> None:
    """The queue manager's own alerts, objects by pattern, and only what matches."""
    down = of(ObjectName("QM03", "queue_manager"), pool, rule="AGENT-01")
    effect = of(ObjectName("QM01", "channel", "TO.QM03"), pool)
    pay, group = of(ObjectName("QM02", "queue", "PAY.IN"), pool), of(ObjectName("PRDQSG", "queue", "PAY.IN"), pool)
    plain = calendar(f"{IPL}, queue_managers: ['QM*']")
    found = decided(plain, down, group)
    assert [why(each) for each in found] == ["maintenance 'weekly IPL' until 06:00 CET: IPL of SYS3", "told"]
    assert [why(each) for each in decided(calendar(f"{IPL}, queue_managers: [QM03]"), effect)] == ["told"]
    by_pattern = calendar(f'{IPL}, objects: ["*/queue/PAY.*"], matchers: [severity!=critical]')
    found = decided(by_pattern, pay, replace(pay, severity=Severity.WARNING), group)
    assert [why(each)[:11] for each in found] == ["told", "maintenance", "told"]
    everything = calendar(f'{IPL}, objects: ["*/*"]')
    assert [why(each)[:11] for each in decided(everything, group)] == ["maintenance"]


def test_the_calendar_changes_when_a_window_does() -> None:
    """Exactly then, and at least once a day it is looked at again."""
    site = calendar(DOWN)
    begins, ends = ms("2026-11-22T02:00+01:00"), ms("2026-11-22T06:00+01:00")
    assert site.next_change(begins - HOUR) == begins
    assert not site.active(begins - 1)
    assert list(site.active(begins).values()) == [ends]
    assert site.next_change(begins) == site.next_change(ends - 1) == ends
    assert not site.active(ends)
    assert site.next_change(ends) == ends + DAY
    assert site.active(begins + 1)
    assert SiteCalendar().next_change(0) is None
    nights = decode(
        "x.yaml",
        "time_intervals: [{name: nights, time_intervals: [{times: [{start_time: '20:00', end_time: '24:00'}]}]}]",
        Settings,
    )
    assert calendar_of(nights).next_change(ms("2026-11-22T03:00")) == ms("2026-11-22T20:00")
    assert calendar_of(nights).within("nights", ms("2026-11-22T20:00"))


def shown(site: SiteCalendar, start: str, end: str) -> list[str]:
    """Windows by name with their times in UTC."""
    return [
        f"{each.name} {datetime.fromtimestamp(each.span.start / 1000, UTC):%d. %H:%M}"
        f" {datetime.fromtimestamp(each.span.end / 1000, UTC):%d. %H:%M}"
        for each in spans_of(site.windows, ms(start), ms(end))
    ]


def test_windows_of_one_name_that_overlap_or_touch_are_one() -> None:
    """Of other names they stay apart. What touches the end of the time that is looked at belongs to it."""
    site = calendar("""
        name: IPL, reason: x, queue_managers: [QM01], time_zone: UTC, weekdays: [sunday], times: [{start_time: "22:00", end_time: "02:00"}]
        name: IPL, reason: late, queue_managers: [QM02], time_zone: UTC, from: 2026-11-23 02:00, to: 2026-11-23 04:00
        name: IPL, reason: early, queue_managers: [QM01], time_zone: UTC, cron: "30 21 22 11 *", for: 1h
        name: other, reason: x, queue_managers: [QM01], time_zone: UTC, from: 2026-11-22 23:00, to: 2026-11-22 23:30
    """)
    both = ["IPL 22. 21:30 23. 04:00", "other 22. 23:00 22. 23:30"]
    assert shown(site, "2026-11-22", "2026-11-24") == both
    assert shown(site, "2026-11-22T23:10", "2026-11-22T23:11") == both
    assert shown(site, "2026-11-23T02:00", "2026-11-23T02:01") == both[:1]
    assert shown(site, "2026-11-23T04:00", "2026-11-29T21:00") == []
    # What an alert is told of is the end of the windows that are about it.
    first, second = (each for each in site.active(ms("2026-11-22T22:10")).items())
    assert {first[1], second[1]} == {ms("2026-11-23T02:00")}


def test_a_night_is_as_long_as_the_wall_clock_makes_it() -> None:
    """From Saturday 22:00 to Sunday 06:00: seven hours in March and nine in October; one by cron lasts eight."""
    nights = calendar("""
        name: night, reason: x, queue_managers: [QM01], weekdays: [saturday], times: [{start_time: "22:00", end_time: "06:00"}]
        name: cron, reason: x, queue_managers: [QM01], cron: "0 22 * * SAT", for: 8h
    """)
    found = {}
    for start in ("2027-03-20", "2027-03-27", "2027-10-30"):
        for each in spans_of(nights.windows, ms(start), ms(start) + 2 * DAY):
            found[each.name, start[5:]] = (each.span.end - each.span.start) / HOUR
    hours = {("night", "03-20"): 8, ("night", "03-27"): 7, ("night", "10-30"): 9}
    assert found == hours | {("cron", day): 8 for _, day in hours}


def test_moments_in_words() -> None:
    """The day is named where it is another one there."""
    zone = calendar(DOWN).windows[0].zone
    assert moment_text(ms("2026-11-22T05:00"), zone, SUNDAY) == "06:00 CET"
    assert moment_text(ms("2026-11-22T23:00"), zone, SUNDAY) == "2026-11-23 00:00 CET"


@pytest.mark.parametrize(
    ("about", "values", "expected"),
    [
        (ObjectName("QM01", "channel", "A"), {"remote_queue_manager": "QM03 ", "xmitq": "QM04"}, ("QM03",)),
        (ObjectName("QM01", "channel", "TO.QM03"), {"remote_queue_manager": " "}, ("QM03",)),
        (ObjectName("QM01", "channel", "A"), {"xmitq": "QM04"}, ("QM04",)),
        (ObjectName("QM01", "channel", "A"), {}, ()),
        (ObjectName("QM01", "queue", "QM03"), {"usage": 1}, ("QM03",)),
        (ObjectName("QM01", "queue", "QM03"), {"usage": 0}, ()),
        (ObjectName("QM01", "cluster_queue_manager", "CLUS/QM03"), {}, ("QM03",)),
        (ObjectName("QM01", "log"), {}, ()),
    ],
)
def test_where_objects_lead(about: ObjectName, values: dict[str, Any], expected: tuple[str, ...]) -> None:
    """As the rules have it of channels, transmission queues and entries of the cluster cache."""
    assert partners_of(about, lambda _, metric: values.get(metric)) == expected


@pytest.mark.parametrize("page", ["maintenance.md", "routes.md"])
def test_the_examples_of_the_pages_can_be_used(page: str) -> None:
    """Each block of YAML is a part of settings."""
    text = (Path(__file__).parents[3] / "docs" / page).read_text("utf-8")
    blocks = [each for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if not each.startswith("route:")]
    assert blocks
    for block in blocks:
        settings = decode(page, block, Settings)
        assert [*contradictions(settings), *alerting_problems(settings)] == []
        found = calendar_of(settings)
        year = spans_of(found.windows, ms("2026-12-01"), ms("2027-12-01"))
        assert {each.name for each in year} == {str(each.name) for each in settings.maintenance}


def test_a_circle_of_causes_ends(pool: Make) -> None:
    """Whatever a store holds."""
    one, other = (ObjectName("QM01", "queue", name) for name in "AB")
    first = replace(of(one, pool), cause=AlertKey("R-1", other))
    second = replace(of(other, pool), cause=AlertKey("R-1", one))
    assert len(decided(calendar(DOWN), first, second)) == 2


def window_of(draw: st.DrawFn, name: str) -> str:
    """A window near the end of March, in one of the forms."""
    zone = draw(st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]))
    head = f"name: {name}, reason: x, queue_managers: [QM0{draw(st.integers(1, 2))}], time_zone: {zone}"
    clock = f"{draw(st.integers(0, 23)):02}:{draw(st.sampled_from([0, 15, 30])):02}"
    match draw(st.integers(0, 2)):
        case 0:
            return f"{head}, from: 2027-03-27 {clock}, to: 2027-03-29 00:30"
        case 1:
            weekday = draw(st.sampled_from(["*", "SUN", "SAT,MON"]))
            lasts = draw(st.sampled_from(["45m", "3h", "20h"]))
            return f'{head}, cron: "{int(clock[3:])} {int(clock[:2])} * * {weekday}", for: {lasts}'
    weekday = draw(st.sampled_from(["saturday", "sunday:monday"]))
    times = f'{{start_time: "{clock}", end_time: "{draw(st.integers(0, 23)):02}:10"}}'
    return f"{head}, weekdays: ['{weekday}'], times: [{times}]"


@st.composite
def sites(draw: st.DrawFn) -> SiteCalendar:
    """A site with some windows, names among them twice."""
    return calendar("\n".join(window_of(draw, draw(st.sampled_from("ab"))) for _ in range(draw(st.integers(1, 4)))))


@given(sites(), st.integers(0, 72 * 60))
def test_what_is_on_changes_only_when_it_is_said_to(site: SiteCalendar, minute: int) -> None:
    """What is on is what the spans say, it stays so until the next change, and ends are those of the merged spans."""
    now = ms("2027-03-26T12:00") + minute * MINUTE + 7
    on = {each for each in site.windows if any(span.start <= now < span.end for span in each.spans(now, now + 1))}
    assert site.active(now).keys() == on
    change = site.next_change(now)
    assert change is not None
    assert now < change <= now + DAY
    for ts in (*range(now, change, 5 * MINUTE), change - 1):
        assert calendar_like(site).active(ts).keys() == on
    assert (
        change == now + DAY or calendar_like(site).active(change).keys() != on or change in ends_and_starts(site, now)
    )
    for each in spans_of(site.windows, now, now + 1):
        assert each.span.start <= now < each.span.end
        assert all(site.active(now)[window] <= each.span.end for window in each.windows if window in on)


def calendar_like(site: SiteCalendar) -> SiteCalendar:
    """The same, which knows nothing yet."""
    return SiteCalendar(site.intervals, site.windows)


def ends_and_starts(site: SiteCalendar, now: int) -> set[int]:
    """The moments at which a window begins or ends: one may end when an equal one begins."""
    return {moment for each in site.windows for span in each.spans(now, now + DAY) for moment in span}

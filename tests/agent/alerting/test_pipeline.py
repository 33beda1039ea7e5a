"""The stages by which alerts go to receivers: in their order, each with its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.action import Acknowledgement, Silence
from mqvitals_agent.alerting.calendar import TimeInterval, TimeSpan
from mqvitals_agent.alerting.decision import LATE_EFFECT_MS, DecisionReason, LastNotification, NotificationStatus
from mqvitals_agent.alerting.disposition import Disposition, Stage
from mqvitals_agent.alerting.grouping import AlertGroup
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import MaintenanceWindow, SiteCalendar
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.alerting.plan import plan_notifications
from mqvitals_agent.alerting.routing import Route, every_receiver, group_key
from mqvitals_config.receivers.http import WebhookSettings, webhook_of
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_config.sections.time_intervals import ClockRange
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName

NOW = 1_795_176_000_000
MINUTE, HOUR = 60_000, 3_600_000
CRITICAL, WARNING = Severity.CRITICAL, Severity.WARNING
FIRING, RESOLVED = NotificationStatus.FIRING, NotificationStatus.RESOLVED
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]
R = DecisionReason
ALWAYS = (TimeInterval(UTC),)
NEVER: tuple[TimeInterval, ...] = ()


def pipeline(*receivers: WebhookSettings, root: Route | None = None, wait: int = 0, **functions: Any) -> Pipeline:
    """Of receivers, each of which gets everything unless there is a tree."""
    by_name = {str(each.name): each for each in receivers}
    least = {name: Severity[each.min_severity.upper()] for name, each in by_name.items()}
    root = root or every_receiver(tuple(by_name), least)
    root = replace(root, wait=wait, routes=tuple(replace(each, wait=wait) for each in root.routes))
    return Pipeline(Labeller("PRDQSG"), root, by_name, {"BP-03": 2, "BP-01": 1}, **functions)


def intervals(entries: dict[str, tuple[TimeInterval, ...]]) -> SiteCalendar:
    """Time intervals, by name."""
    return SiteCalendar(entries)


def decided(made: Pipeline, *alerts: Alert, now: int = NOW, **state: Any) -> list[Disposition]:
    """About alerts, which are numbered from 1."""
    firing = [each for each in alerts if each.state is AlertState.FIRING]
    return made.dispositions(list(enumerate(alerts, 1)), firing, PipelineState(**state), now)


def one(made: Pipeline, alert: Alert, now: int = NOW, **state: Any) -> Disposition:
    (found,) = decided(made, alert, now=now, **state)
    return found


def stopped(found: Disposition) -> tuple[Stage, str]:
    """The stage that did not let an alert pass, and what it says."""
    (last,) = [each for each in found.results if not each.passes]
    assert last == found.results[-1]
    assert [each.stage for each in found.results] == list(Stage)[: len(found.results)]
    return last.stage, last.text


def test_an_alert_passes_all_stages(pool: Pool, webhook: Webhook) -> None:
    """In their order, each with a sentence; a new alert is told after the wait of its group."""
    made = pipeline(webhook(), wait=30_000)
    new = one(made, pool(started=NOW - 1000))
    (delivery,) = new.deliveries
    assert [each.stage.value for each in (*new.results, *delivery.results)] == [
        *("cause", "family", "maintenance", "silence", "acknowledged", "route", "group")
    ]
    assert all(each.text for each in (*new.results, *delivery.results))
    assert (new.excluded, delivery.reason, delivery.is_news) == (None, R.GROUP_WAITS, True)
    assert delivery.results[-1].text.endswith("is notified at 2026-11-20T12:00:30.000Z")
    groups = {("ops", delivery.key): AlertGroup("ops", delivery.key, waiting=NOW - 30_000)}
    (delivery,) = one(made, pool(started=NOW - MINUTE), groups=groups).deliveries
    assert (delivery.reason, delivery.results[-1].stage, delivery.results[-1].passes) == (R.STARTED, Stage.DEDUP, True)


def test_cause_and_family(pool: Pool, webhook: Webhook) -> None:
    """What another alert stands for is not told; what is worse than its cause, or begins long after it, is."""
    made = pipeline(webhook())
    cause = pool("LOG-08", family="", started=NOW - HOUR)
    effect = pool("Q-02", family="", cause=cause.key, started=NOW - HOUR)
    mild = pool("BP-01", severity=WARNING, started=NOW - HOUR)
    bad = pool("BP-03", started=NOW - HOUR)
    first, explained, covered, worst = decided(made, cause, effect, mild, bad)
    assert stopped(explained) == (Stage.CAUSE, "LOG-08 QM01/buffer_pool/3 explains it")
    assert stopped(covered) == (Stage.FAMILY, "BP-03 QM01/buffer_pool/3 is worse and stands for it")
    assert [each.excluded for each in (first, explained, covered, worst)] == [None, R.INHIBITED, R.INHIBITED, None]
    assert [each.reason for each in explained.deliveries] == [R.INHIBITED]
    late = replace(effect, started=NOW + LATE_EFFECT_MS)
    assert decided(made, cause, late)[1].excluded is None


def test_maintenance_silence_and_acknowledgement_mute(pool: Pool, webhook: Webhook) -> None:
    """The first of them that is in force is named. Each ends by the clock."""
    silence = Silence(7, (parse_matcher("kind=buffer_pool"),), "ann", "noisy", NOW, NOW, NOW + HOUR)
    made = Acknowledgement(1, 1, "bob", NOW, CRITICAL, "mine", NOW + HOUR)
    pools = (ObjectPattern.parse("*/buffer_pool"),)
    window = MaintenanceWindow("weekly IPL", "as ever", UTC, TimeSpan(NOW - HOUR, NOW + HOUR), objects=pools)
    planned = pipeline(webhook(), calendar=SiteCalendar(windows=(window,)))
    plain = pipeline(webhook())
    alert = pool(started=NOW - HOUR)
    muted: dict[str, Any] = {"silences": [silence], "acknowledgements": {1: [made]}}
    assert stopped(one(planned, alert, **muted)) == (
        Stage.MAINTENANCE,
        "maintenance 'weekly IPL' until 13:00 UTC: as ever",
    )
    assert stopped(one(plain, alert, **muted)) == (
        Stage.SILENCE,
        "silence 7 of ann until 2026-11-20T13:00:00.000Z: noisy",
    )
    acknowledged = one(plain, alert, acknowledgements={1: [made]})
    assert stopped(acknowledged) == (
        Stage.ACKNOWLEDGED,
        "bob has acknowledged it until 2026-11-20T13:00:00.000Z: mine",
    )
    assert acknowledged.excluded is R.ACKNOWLEDGED
    assert R.ACKNOWLEDGED.mutes
    for each in (planned, plain):
        found = one(each, alert, now=NOW + HOUR, **muted)
        assert (found.excluded, found.deliveries[0].reason) == (None, R.STARTED)


def test_a_worse_alert_asks_anew(pool: Pool, webhook: Webhook) -> None:
    """Its acknowledgement was about a warning."""
    made = Acknowledgement(1, 1, "bob", NOW, WARNING)
    last = {(1, "ops"): LastNotification(FIRING, WARNING, 1)}
    known: dict[str, Any] = {"acknowledgements": {1: [made]}, "last": last}
    assert one(pipeline(webhook()), pool(started=1, severity=WARNING), **known).excluded is R.ACKNOWLEDGED
    worse = one(pipeline(webhook()), replace(pool(started=1), updated=NOW - MINUTE), **known)
    assert (worse.excluded, worse.deliveries[0].reason) == (None, R.SEVERITY_CHANGED)


def test_what_a_receiver_knows_is_told_its_end(pool: Pool, webhook: Webhook) -> None:
    """Also while the alert is silenced, its route is muted, or no way leads there any more; not when it is unwanted."""
    ended = replace(pool(state=AlertState.RESOLVED, started=1), ended=NOW - MINUTE)
    last = {(1, "ops"): LastNotification(FIRING, CRITICAL, 1, "route:{}")}
    silence = Silence(7, (), "ann", "", 0, 0, NOW + HOUR)
    groups = {("ops", "route:{}"): AlertGroup("ops", "route:{}", told=NOW - HOUR)}
    muted = Route("route", "ops", muted=("sundays",))
    elsewhere = Route("route", "chat")
    for root in (muted, elsewhere):
        made = pipeline(webhook(), webhook(name="chat"), root=root, calendar=intervals({"sundays": ALWAYS}))
        (delivery,) = [
            each
            for each in one(made, ended, last=last, groups=groups, silences=[silence]).deliveries
            if each.receiver == "ops"
        ]
        assert (delivery.reason, delivery.key) == (R.ENDED, "route:{}")
    unwanted = one(pipeline(webhook(send_resolved=False)), ended, last=last, groups=groups)
    assert [each.reason for each in unwanted.deliveries] == [R.RESOLVED_NOT_WANTED]


def test_routes(pool: Pool, webhook: Webhook) -> None:
    """Severity, time and matchers choose; an alert that arrives at a receiver twice is told once."""
    night = Route("route.routes[1]", "pager", min_severity=CRITICAL, muted=("office",), active=("week",), goes_on=True)
    root = Route("route", "ops", routes=(Route("route.routes[0]", "ops", goes_on=True), night, Route("r2", "ops")))
    times = {"office": NEVER, "week": ALWAYS}

    def reasons(severity: Severity = CRITICAL) -> dict[str, DecisionReason]:
        made = pipeline(webhook(), webhook(name="pager"), root=root, calendar=intervals(times))
        found = one(made, pool(started=1, severity=severity)).deliveries
        assert len(found) == 2
        return {each.receiver: each.reason for each in found}

    assert reasons() == {"ops": R.STARTED, "pager": R.STARTED}
    assert reasons(WARNING) == {"ops": R.STARTED, "pager": R.TOO_MILD}
    times["office"] = ALWAYS
    assert reasons()["pager"] is R.ROUTE_MUTED
    times |= {"office": NEVER, "week": NEVER}
    assert reasons()["pager"] is R.ROUTE_MUTED
    nowhere = one(pipeline(webhook(), root=Route("route")), pool(started=1))
    assert (nowhere.excluded, nowhere.deliveries) == (R.NO_ROUTE, ())
    assert stopped(nowhere) == (Stage.ROUTE, "no route leads to a receiver")


def test_a_muted_way_closes_no_other(pool: Pool, webhook: Webhook) -> None:
    """Of several ways to a receiver the first that is open counts; where none is, the first says why."""
    office = Route("office", "ops", min_severity=WARNING, muted=("nights",), goes_on=True)
    always = Route("always", "ops", min_severity=CRITICAL)
    night = {"nights": NEVER}

    def told(severity: Severity) -> tuple[str, DecisionReason]:
        root = Route("route", "ops", routes=(office, always))
        made = pipeline(webhook(), root=root, calendar=intervals(night))
        (delivery,) = one(made, pool(started=1, severity=severity)).deliveries
        return delivery.route.path, delivery.reason

    assert [told(each) for each in (CRITICAL, WARNING)] == [("office", R.STARTED), ("office", R.STARTED)]
    night["nights"] = ALWAYS
    assert [told(each) for each in (CRITICAL, WARNING)] == [("always", R.STARTED), ("office", R.ROUTE_MUTED)]


def test_a_known_alert_stays_in_its_group(pool: Pool, webhook: Webhook) -> None:
    """Though its severity, by which the route groups, is another one now: what began in a group ends in it."""
    root = Route("route", "ops", group_by=("severity",))
    before = group_key((root,), {"severity": "warning"})
    state: dict[str, Any] = {
        "last": {(1, "ops"): LastNotification(FIRING, WARNING, 1, before)},
        "groups": {("ops", before): AlertGroup("ops", before, told=NOW - HOUR, labels={"severity": "warning"})},
    }
    worse = replace(pool(started=1), updated=NOW - MINUTE)
    (delivery,) = one(pipeline(webhook(), root=root), worse, **state).deliveries
    assert (delivery.reason, delivery.key, delivery.labels) == (R.SEVERITY_CHANGED, before, {"severity": "warning"})


def test_the_end_of_a_mute_tells_again(pool: Pool, webhook: Webhook) -> None:
    """What the receiver knew before, until it was told once more."""
    alert = pool(started=1)
    (delivery,) = one(
        pipeline(webhook()), alert, last={(1, "ops"): LastNotification(FIRING, CRITICAL, 5)}, unmuted={1: 5}
    ).deliveries
    assert delivery.is_news
    (delivery,) = one(
        pipeline(webhook()), alert, last={(1, "ops"): LastNotification(FIRING, CRITICAL, 6)}, unmuted={1: 5}
    ).deliveries
    assert delivery.reason is R.ALREADY_SENT


def test_repeats(pool: Pool, webhook: Webhook) -> None:
    """After the route's interval, and never when it has none."""
    alert, last = pool(started=1), {(1, "ops"): LastNotification(FIRING, CRITICAL, 5, "route:{}")}
    for repeat, passed, reason in (
        (HOUR, HOUR, R.REPEATED),
        (HOUR, MINUTE, R.ALREADY_SENT),
        (None, HOUR, R.ALREADY_SENT),
    ):
        made = pipeline(webhook(), root=Route("route", "ops", repeat=repeat))
        groups = {("ops", "route:{}"): AlertGroup("ops", "route:{}", told=NOW - passed)}
        (delivery,) = one(made, alert, last=last, groups=groups).deliveries
        assert delivery.reason is reason
        assert delivery.results[-1].stage is Stage.REPEAT


def planned(
    made: Pipeline, *alerts: Alert, now: int = NOW, **state: Any
) -> tuple[list[tuple[int, ...]], Any, int | None]:
    """The numbers of the alerts of each notification, the groups after it, and when to look again."""
    plan = plan_notifications(decided(made, *alerts, now=now, **state), state.get("groups", {}), now)
    return [tuple(each.number for each in due.told) for due in plan.due], plan.groups, plan.next


def test_a_group_is_told_together(pool: Pool, webhook: Webhook) -> None:
    """After its wait, from the first alert on; what comes later waits for the interval, unless it is critical."""
    made = pipeline(webhook(), wait=30_000)
    first = pool("A-1", family="", severity=WARNING, started=NOW)
    second = pool("A-2", family="", severity=WARNING, started=NOW + 20_000)
    found, groups, again = planned(made, first, now=NOW)
    assert (found, again) == ([], NOW + 30_000)
    found, groups, again = planned(made, first, second, now=NOW + 30_000, groups=groups)
    assert found == [(1, 2)]
    assert again == NOW + 30_000 + 4 * HOUR
    last = {(number, "ops"): LastNotification(FIRING, WARNING, number, next(iter(groups))[1]) for number in (1, 2)}
    third = pool("A-3", family="", severity=WARNING, started=NOW + MINUTE)
    found, _, again = planned(made, first, second, third, now=NOW + MINUTE, groups=groups, last=last)
    assert (found, again) == ([], NOW + 330_000)
    worse = replace(third, severity=CRITICAL)
    found, waiting, again = planned(made, first, second, worse, now=NOW + MINUTE, groups=groups, last=last)
    assert (found, again) == ([], NOW + MINUTE + 30_000)
    assert planned(made, first, second, worse, now=NOW + 90_000, groups=waiting, last=last)[0] == [(3,)]


def test_a_group_that_is_over_is_forgotten(pool: Pool, webhook: Webhook) -> None:
    """What ends before it is told is not told; after the end of all the next one waits as in a new group."""
    made = pipeline(webhook(), wait=30_000)
    alert = pool(severity=WARNING, started=NOW)
    _, groups, _ = planned(made, alert, now=NOW)
    assert groups
    ended = replace(alert, state=AlertState.RESOLVED, ended=NOW + 10_000)
    assert planned(made, ended, now=NOW + 10_000, groups=groups) == ([], {}, None)
    _, groups, _ = planned(made, alert, now=NOW + 30_000, groups=groups)
    last = {(1, "ops"): LastNotification(FIRING, WARNING, 1, next(iter(groups))[1])}
    assert planned(made, ended, now=NOW + HOUR, groups=groups, last=last) == ([(1,)], {}, None)


def test_a_clock_that_was_set_back_delays_nothing(pool: Pool, webhook: Webhook) -> None:
    """What a group waits for counts from now at the latest."""
    made = pipeline(webhook(), wait=30_000)
    alert = pool(severity=WARNING, started=NOW + HOUR)
    _, groups, _ = planned(made, alert, now=NOW + HOUR)
    found, groups, again = planned(made, alert, now=NOW, groups=groups)
    assert (found, again) == ([], NOW + 30_000)
    assert planned(made, alert, now=NOW + 30_000, groups=groups)[0] == [(1,)]


STEPS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from(["fire", "end", "worse", "silence", "speak"]),
        st.integers(0, 400_000),
    ),
    max_size=60,
)


@given(STEPS)
def test_whatever_happens_each_receiver_ends_up_knowing_what_is(steps: list[tuple[int, str, int]]) -> None:
    """A simulated receiver: never told of what is silenced, in order, and at the end it knows exactly what fires."""
    made = pipeline(webhook_of("http://127.0.0.1:1/", name="ops"), wait=30_000)
    alerts: dict[int, Alert] = {}
    number, now, silenced = 0, NOW, set[str]()
    unmuted: dict[int, int] = {}
    current: dict[str, int] = {}
    last: dict[tuple[int, str], LastNotification] = {}
    groups: Any = {}
    told = 0

    def evaluate() -> int | None:
        nonlocal groups, told
        silences = [Silence(1, (parse_matcher(f"name={name}"),), "a", "", 0, 0, NOW * 2) for name in sorted(silenced)]
        state = PipelineState(last=last, groups=groups, silences=silences, unmuted=unmuted)
        firing = [each for each in alerts.values() if each.state is AlertState.FIRING]
        found = made.dispositions(alerts.items(), firing, state, now)
        plan = plan_notifications(found, groups, now)
        groups = plan.groups
        for due in plan.due:
            for each in due.told:
                told += 1
                known = last.get((each.number, "ops"))
                if each.alert.state is AlertState.FIRING:
                    assert each.labels["name"] not in silenced
                    assert known is None or known.status is FIRING
                    last[each.number, "ops"] = LastNotification(FIRING, each.alert.severity, told, due.key)
                else:
                    assert known is not None
                    assert known.status is FIRING
                    last[each.number, "ops"] = LastNotification(RESOLVED, each.alert.severity, told, due.key)
        return plan.next

    for step, what, passed in [*steps, *((each, "speak", 10_000_000) for each in range(10))]:
        now += passed
        name = str(step)
        present = alerts.get(current.get(name, 0))
        match what:
            case "fire" if present is None:
                number += 1
                current[name] = number
                alerts[number] = _alert(name, now)
            case "worse" if present is not None:
                alerts[current[name]] = replace(present, severity=CRITICAL, updated=now)
            case "end" if present is not None:
                alerts[current.pop(name)] = replace(present, state=AlertState.RESOLVED, ended=now, updated=now)
            case "silence":
                silenced.add(name)
            case "speak" if name in silenced:
                silenced.discard(name)
                if present is not None:
                    unmuted[current[name]] = told
        again = evaluate()
        while again is not None and again - now < 400_000:
            assert again > now
            now = again
            again = evaluate()
    for known, alert in alerts.items():
        latest = last.get((known, "ops"))
        if alert.state is AlertState.FIRING:
            assert latest is not None
            assert (latest.status, latest.severity) == (FIRING, alert.severity)
        else:
            assert latest is None or latest.status is RESOLVED


def _alert(name: str, now: int) -> Alert:
    about = ObjectName("QM01", "buffer_pool", name)
    key = AlertKey("BP-01", about)
    return Alert(key, about, "operational", "", AlertState.FIRING, WARNING, WARNING, now, now, "4 % free", now)


def test_a_muted_route_says_until_when(webhook: Webhook) -> None:
    """Where that is within two weeks; of routes that are active at times, when the next of these begins."""
    evening, sunday = TimeInterval(UTC, (ClockRange(18 * 60, 1440),)), TimeInterval(UTC, weekdays=frozenset({6}))
    january = TimeInterval(UTC, months=frozenset({1}))
    noon = (TimeInterval(UTC, (ClockRange(720, 780),)),)
    made = pipeline(
        webhook(), calendar=intervals({"noon": noon, "evening": (evening,), "sunday": (sunday,), "january": (january,)})
    )

    def why(muted: tuple[str, ...] = (), active: tuple[str, ...] = ()) -> str:
        return made.muted_now(Route("r", "ops", muted=muted, active=active), NOW)

    assert why(muted=("january", "noon")) == "r is muted during noon, until 13:00 UTC"
    assert why(active=("evening", "sunday")) == "r is active only during evening and sunday, next from 18:00 UTC"
    assert why(active=("sunday",)) == "r is active only during sunday, next from 2026-11-22 00:00 UTC"
    assert why(active=("january",)) == "r is active only during january"
    assert why(("january",), ("noon",)) == ""

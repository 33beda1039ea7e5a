"""Reads a handover from a store, beside a running agent or after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from mqvitals_agent.alerting.action import Acknowledgement, Note, Silence
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import (
    NO_CALENDAR,
    MaintenanceWindow,
    SiteCalendar,
    ValueOf,
    leads_to,
    spans_of,
)
from mqvitals_agent.handover.quality import read_quality
from mqvitals_agent.handover.report import EndedAlerts, Handover, Mute, OpenAlert
from mqvitals_agent.handover.trends import read_forecasts, read_store_forecasts, read_trends, read_ways
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.view.alerts.actions import Handling, handling_of
from mqvitals_agent.view.alerts.dispositions import value_in
from mqvitals_agent.view.alerts.maintenance import mutings
from mqvitals_agent.view.alerts.words import AlertAdvice, began_ts, read_advice, worst_first
from mqvitals_agent.view.history.changes import read_authors
from mqvitals_config.sections.matcher import matchers_text
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, overshadowed
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


def silence_mutes(
    silences: Sequence[Silence], alerts: Sequence[Alert], labeller: Labeller, span: TimeRange
) -> Iterator[Mute]:
    """The silences in force at some time of ``span``, the newest first."""
    for silence in sorted(silences, key=lambda each: (-each.starts, -each.id)):
        shown = TimeRange(max(silence.starts, span.since), min(silence.ends, span.until))
        if shown.since < shown.until:
            hid = [alert for alert in alerts if _fires_in(alert, shown) and silence.matches(labeller.labels_of(alert))]
            words = f"silence {silence.id} by {silence.author}, {matchers_text(silence.matchers)}: {silence.reason}"
            yield Mute(words, shown, tuple(worst_first(hid)))


def maintenance_mutes(
    calendar: SiteCalendar, alerts: Sequence[Alert], labeller: Labeller, span: TimeRange, value_of: ValueOf
) -> Iterator[Mute]:
    """The maintenance windows in ``span``, in the order in which they began. ``value_of`` is as of now."""
    for each in spans_of(calendar.windows, span.since, span.until):
        shown = TimeRange(max(each.span.start, span.since), min(each.span.end, span.until))
        hid = [
            alert for alert in alerts if _fires_in(alert, shown) and _is_meant(alert, each.windows, labeller, value_of)
        ]
        reasons = "; ".join(dict.fromkeys(window.reason for window in each.windows))
        about = "; ".join(dict.fromkeys(window.about_text for window in each.windows))
        yield Mute(f"maintenance '{each.name}', {about}: {reasons}", shown, tuple(worst_first(hid)))


def _is_meant(alert: Alert, windows: Sequence[MaintenanceWindow], labeller: Labeller, value_of: ValueOf) -> bool:
    """Whether a window is about an alert, or a queue manager to which it leads is down as planned."""
    labels, groups = labeller.labels_of(alert), labeller.groups
    if any(window.covers(alert.key.object, labels, groups) for window in windows):
        return True
    if not any(window.planned_down for window in windows):
        return False
    owners = leads_to(alert, _causes(alert), value_of)
    return any(window.down_of(owners, groups) is not None for window in windows)


def _causes(alert: Alert) -> tuple[AlertKey, ...]:
    return () if alert.cause is None else (alert.cause,)


def _fires_in(alert: Alert, span: TimeRange) -> bool:
    return began_ts(alert) < span.until and (alert.ended is None or alert.ended > span.since)


_EARLIER_MS: Final = 120_000
"""An effect may be seen this long before its cause: they are polled at different times."""


class PossibleCauses:
    """Finds the alert from which others may have followed, among those that ``fired`` in a time."""

    def __init__(self, rules: RuleSet, fired: Iterable[Alert], value_of: ValueOf) -> None:
        self._causes: Mapping[str, frozenset[str]] = rules.causes
        self._partner_causes: Mapping[str, frozenset[str]] = rules.partner_causes
        self._value_of = value_of
        self._of_object: dict[tuple[str, ObjectName], list[Alert]] = {}
        self._of_owner: dict[tuple[str, str], list[Alert]] = {}
        for alert in fired:
            self._of_object.setdefault((alert.key.rule, alert.scope), []).append(alert)
            self._of_owner.setdefault((alert.key.rule, alert.scope.owner), []).append(alert)

    def of(self, alerts: Sequence[Alert]) -> AlertKey | None:
        """The alert that fired at the beginning of each of ``alerts``, all of one rule and object, and can cause it by
        its rule: of the same object, of its queue manager, or of the queue manager at the other end. None without one.
        """
        first = alerts[0]
        near = dict.fromkeys((first.scope, ObjectName(first.scope.owner, "queue_manager")))
        possible = [
            self._of_object.get((rule, name), [])
            for rule in sorted(self._causes.get(first.key.rule, ()))
            for name in near
        ]
        if partner_causes := self._partner_causes.get(first.key.rule):
            partners = leads_to(first, (), self._value_of)[1:]
            possible += [self._of_owner.get((rule, name), []) for rule in sorted(partner_causes) for name in partners]
        for found in possible:
            for key in dict.fromkeys(each.key for each in found if each.key != first.key):
                times = [each for each in found if each.key == key]
                if all(any(_covers(each, one) for each in times) for one in alerts):
                    return key
        return None


def _covers(cause: Alert, effect: Alert) -> bool:
    """Whether a cause fired when its effect began."""
    began = began_ts(effect)
    return began_ts(cause) - _EARLIER_MS <= began and (cause.ended is None or cause.ended > began)


_Made = TypeVar("_Made", Acknowledgement, Note)

MOST_ADVISED: Final = 30
"""Open alerts, the worst, whose rule is asked what to do."""
MOST_CHANGES: Final = 100
MOST_ACTIONS: Final = 200


@dataclass(frozen=True, slots=True)
class HandoverRequest:
    """The time of a handover, the owners it is about (none: all), and the mildest severity that it reports.

    ``calendar`` has the maintenance windows of the site.
    """

    span: TimeRange
    owners: tuple[str, ...] = ()
    least: Severity = Severity.INFO
    calendar: SiteCalendar = NO_CALENDAR


PARTS: Final = ("alerts", "causes and changes", "figures near a limit", "trends and forecasts", "data that are missing")
"""What a handover is read in, in this order."""


def read_handover(
    reader: StoreReader,
    request: HandoverRequest,
    config: RuleConfig,
    labeller: Labeller,
    began: Callable[[str], None] = lambda _: None,
) -> Handover:
    """Everything that a handover tells. ``began`` is told which of ``PARTS`` comes now. Raises StoreError."""
    alerts, causes, near, trends, missing = PARTS
    began(alerts)
    span, rules, meta = request.span, config.rules, reader.meta()
    owners = [each for each in reader.owners() if not each.unwatched and _wanted(each.name, request.owners)]
    actions = _until(reader.actions(), span.until)
    within = [
        stored
        for stored in reader.alerts_within(span.since, span.until)
        if _wanted(stored.alert.key.object.owner, request.owners) and stored.alert.worst >= request.least
    ]
    muted = mutings(reader, request.calendar, labeller, span.until)
    handled = {
        stored.id: handling_of(stored, labeller.labels_of(stored.alert), actions, span.until, muted.get(stored.id))
        for stored in within
    }
    opened = [
        (_as_of(reader, stored, span.until), handled[stored.id]) for stored in within if _open(stored.alert, span)
    ]
    ended = [stored for stored in within if not _open(stored.alert, span)]
    began(causes)
    opened_alerts = _opened(reader, opened, rules)
    value_of = partial(value_in, reader)
    fired = [stored.alert for stored in within]
    possible = PossibleCauses(rules, fired, value_of)
    ended_alerts = _ended(ended, handled, rules, span, possible.of)
    changes = reader.changes(since=span.since, until=span.until, limit=MOST_CHANGES + 1)
    changed = [each for each in changes if _wanted(each.name.owner, request.owners)][-MOST_CHANGES:]
    audit = reader.audit(since=span.since, until=span.until, limit=MOST_ACTIONS + 1)
    began(near)
    ways = read_ways(reader, rules, span, request.owners)
    figures = [*(each.alert for each in opened_alerts), *(each.worst for each in ended_alerts)]
    names = [each.name for each in owners]
    watching, watched = _watch(reader, rules, request.owners)
    began(trends)
    worst_trends = read_trends(reader, rules, figures, ways, span)
    forecasts = (*read_forecasts(reader, ways, span), *read_store_forecasts(reader, names))
    began(missing)
    quality = read_quality(reader, owners, span)
    return Handover(
        group=meta.group,
        origin=meta.origin,
        span=span,
        past=meta.past,
        rules=watching,
        objects=watched,
        least=request.least,
        owners=request.owners,
        opened=tuple(opened_alerts),
        ended=tuple(ended_alerts),
        mutes=(
            *silence_mutes(actions.silences, fired, labeller, span),
            *maintenance_mutes(request.calendar, fired, labeller, span, value_of),
        ),
        changes=tuple(reversed(changed)),
        authors=read_authors(reader, changed),
        actions=tuple(sorted(audit, key=lambda each: (-each.ts, -each.id))[:MOST_ACTIONS]),
        trends=worst_trends,
        forecasts=forecasts,
        quality=quality,
        more_changes=len(changes) > MOST_CHANGES,
        more_actions=len(audit) > MOST_ACTIONS,
    )


def _wanted(owner: str, owners: Collection[str]) -> bool:
    return not owners or owner in owners


def _open(alert: Alert, span: TimeRange) -> bool:
    return alert.ended is None or alert.ended > span.until


def _until(actions: Actions, until: int) -> Actions:
    """What people had done by then."""

    def early(found: Mapping[int, tuple[_Made, ...]]) -> dict[int, tuple[_Made, ...]]:
        return {number: tuple(each for each in made if each.made <= until) for number, made in found.items()}

    silences = tuple(each for each in actions.silences if each.made <= until)
    return replace(
        actions, acknowledgements=early(actions.acknowledgements), notes=early(actions.notes), silences=silences
    )


def _as_of(reader: StoreReader, stored: StoredAlert, until: int) -> Alert:
    """An open alert as it was at the end of the time: later changes of its severity are taken back."""
    alert = stored.alert
    if alert.updated <= until:
        return alert
    severity = alert.severity
    for each in reader.transitions(stored.id):
        if each.ts <= until:
            severity = each.severity
    return replace(alert, state=AlertState.FIRING, ended=None, severity=severity)


def _opened(reader: StoreReader, opened: Sequence[tuple[Alert, Handling]], rules: RuleSet) -> list[OpenAlert]:
    """Worst first; those that another one stands for are counted there."""
    handled = {alert.key: handling for alert, handling in opened}
    covered = overshadowed((alert for alert, _ in opened), rules.ranks)
    explains = Counter(covered.values())
    heads = worst_first(alert for alert, _ in opened if alert.key not in covered)
    return [
        OpenAlert(
            alert,
            handled[alert.key],
            read_advice(reader, alert, rules) if place < MOST_ADVISED else AlertAdvice(),
            explains[alert.key],
        )
        for place, alert in enumerate(heads)
    ]


def _ended(
    ended: Iterable[StoredAlert],
    handled: Mapping[int, Handling],
    rules: RuleSet,
    span: TimeRange,
    follows: Callable[[Sequence[Alert]], AlertKey | None],
) -> list[EndedAlerts]:
    """By rule and object, the most severe first, then what fired longest; what may follow from another comes last."""
    by_key: dict[AlertKey, list[StoredAlert]] = {}
    for stored in ended:
        by_key.setdefault(stored.alert.key, []).append(stored)
    found = [_of_key(stored, handled, rules, span, follows) for stored in by_key.values()]
    return sorted(found, key=lambda each: (each.follows is not None, -each.worst.worst, -each.fired_ms, each.worst.key))


def _of_key(
    stored: Sequence[StoredAlert],
    handled: Mapping[int, Handling],
    rules: RuleSet,
    span: TimeRange,
    follows: Callable[[Sequence[Alert]], AlertKey | None],
) -> EndedAlerts:
    alerts = [each.alert for each in stored]
    ends = [alert.updated if alert.ended is None else alert.ended for alert in alerts]
    times = [min(end, span.until) - max(began_ts(alert), span.since) for alert, end in zip(alerts, ends, strict=True)]
    worst = max(alerts, key=lambda alert: (alert.worst, began_ts(alert)))
    told = [handled[each.id] for each in stored]
    return EndedAlerts(
        worst,
        len(alerts),
        sum(max(each, 0) for each in times),
        min(map(began_ts, alerts)),
        max(ends),
        _worst_value(alerts, rules) or worst.worst_value,
        follows(alerts),
        tuple(each for each in told if each.acknowledgements or each.notes),
    )


def _worst_value(alerts: Sequence[Alert], rules: RuleSet) -> str:
    """The figure at its worst of all times; empty where it is not known which way is worse."""
    rule = rules.rule(alerts[0].key.rule)
    compiled = None if rule is None else rules.rule_for(rule, alerts[0].scope)
    known = [alert for alert in alerts if alert.worst_number is not None]
    if compiled is None or compiled.figure is None or compiled.figure.low_is_bad is None or not known:
        return ""
    pick = min if compiled.figure.low_is_bad else max
    return pick(known, key=lambda alert: alert.worst_number or 0.0).worst_value


def _watch(reader: StoreReader, rules: RuleSet, owners: Collection[str]) -> tuple[int, int]:
    """How many operational rules watch how many objects."""
    kinds = Counter(each.name.kind for each in reader.objects() if _wanted(each.name.owner, owners))
    ids: set[str] = set()
    objects = 0
    for kind, count in kinds.items():
        of_kind = {
            str(rule.id)
            for rule in rules.rules
            if rule.kind is RuleKind.OPERATIONAL and rule.scope == kind and rule.id not in rules.disabled
        }
        ids |= of_kind
        objects += count if of_kind else 0
    return len(ids), objects

"""Alerts of several runs beside each other: which are the same one, and what the runs come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from mqvitals_agent.text.chart import TimeRange
from mqvitals_rules.lifecycle.alert import Alert, AlertKey


class WhereFired(StrEnum):
    """Whether an alert fired then, in a run over history, or both."""

    BOTH = "both"
    ONLY_NOW = "only now"
    ONLY_THEN = "only then"


class AlertRow(NamedTuple):
    """One alert by key and time: as it fired then, and in each run; None where it did not."""

    then: Alert | None
    now: tuple[Alert | None, ...]

    @property
    def any(self) -> Alert:
        """The one that fired then, else the first."""
        found = next((each for each in (self.then, *self.now) if each is not None), None)
        assert found is not None, "a row has an alert"
        return found

    def found(self, run: int) -> WhereFired | None:
        """Where it fired, of then and one run; None: in neither."""
        here = self.now[run] is not None
        if self.then is not None:
            return WhereFired.BOTH if here else WhereFired.ONLY_THEN
        return WhereFired.ONLY_NOW if here else None


class FiringTotals(NamedTuple):
    """What a run comes to: its alerts, the objects that they are about, and how long they fired together (ms)."""

    alerts: int
    objects: int
    firing_ms: int


def firing_span(alert: Alert, span: TimeRange) -> TimeRange:
    """When an alert was firing within ``span``."""
    assert alert.started is not None, "it has fired"
    ended = span.until if alert.ended is None else min(alert.ended, span.until)
    return TimeRange(min(max(alert.started, span.since), span.until), max(ended, span.since))


def firing_ms(alert: Alert, span: TimeRange) -> int:
    """For how long an alert was firing within ``span``."""
    begin, end = firing_span(alert, span)
    return max(end - begin, 0)


def totals(alerts: Iterable[Alert], span: TimeRange) -> FiringTotals:
    """What these alerts come to."""
    listed = list(alerts)
    return FiringTotals(
        len(listed), len({each.scope for each in listed}), sum(firing_ms(each, span) for each in listed)
    )


def side_by_side(then: Sequence[Alert], now: Sequence[Sequence[Alert]], span: TimeRange) -> tuple[AlertRow, ...]:
    """Every alert once, by its beginning. Those of different runs are the same where they have one key and overlap in time;
    of several the ones that overlap longest.
    """
    runs = (then, *now)
    by_key: dict[AlertKey, list[list[Alert | None]]] = {}
    for run, alerts in enumerate(runs):
        own: dict[AlertKey, list[Alert]] = {}
        for alert in alerts:
            own.setdefault(alert.key, []).append(alert)
        for key, of_key in own.items():
            _place(of_key, run, by_key.setdefault(key, []), len(runs), span)
    found = [AlertRow(row[0], tuple(row[1:])) for rows in by_key.values() for row in rows]
    return tuple(sorted(found, key=lambda row: (firing_span(row.any, span).since, row.any.key)))


def _place(alerts: Sequence[Alert], run: int, rows: list[list[Alert | None]], runs: int, span: TimeRange) -> None:
    """Put the alerts of one run and key into the rows of that key, the longest overlap first; the rest into new ones."""
    overlaps = [
        (_longest(alert, row, span), number, place)
        for number, alert in enumerate(alerts)
        for place, row in enumerate(rows)
    ]
    rest = dict(enumerate(alerts))
    for length, number, place in sorted(overlaps, key=lambda each: (-each[0], each[1], each[2])):
        if length >= 0 and number in rest and rows[place][run] is None:
            rows[place][run] = rest.pop(number)
    rows.extend([alert if each == run else None for each in range(runs)] for alert in rest.values())


def _longest(alert: Alert, row: Iterable[Alert | None], span: TimeRange) -> int:
    """How long an alert overlaps the others of a row, ms; negative: not at all."""
    return max((_overlap(alert, other, span) for other in row if other is not None), default=-1)


def _overlap(one: Alert, other: Alert, span: TimeRange) -> int:
    first, second = firing_span(one, span), firing_span(other, span)
    return min(first.until, second.until) - max(first.since, second.since)

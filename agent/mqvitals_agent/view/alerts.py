"""Alerts as lists and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mqvitals_agent.text.figure import age, clock, day, object_words
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.paint import Painter
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity, Why
from mqvitals_rules.moment import iso

INDENT = 4

WIDE, LEAST_SUMMARY = 120, 40
"""Cells: from which width summaries stand beside their alerts, and the least that they need there."""


def worst_first(alerts: Iterable[Alert]) -> list[Alert]:
    """Open alerts before ended ones, then by severity, then the newest first."""
    return sorted(
        alerts, key=lambda alert: (alert.ended is not None, -shown_severity(alert), -begin_of(alert), alert.key)
    )


def in_chains(alerts: Iterable[Alert], covered: Mapping[AlertKey, AlertKey]) -> list[Alert]:
    """Worst first, and behind each open alert those that it stands for (``covered``: alert -> what stands for it)."""
    listed = worst_first(alerts)
    keys = {alert.key for alert in listed if alert.ended is None}
    under: dict[AlertKey, list[Alert]] = {}
    heads = []
    for alert in listed:
        stands = covered.get(alert.key) if alert.ended is None else None
        if stands in keys and stands != alert.key:
            under.setdefault(stands, []).append(alert)
        else:
            heads.append(alert)
    return [each for alert in heads for each in (alert, *(under.get(alert.key, ()) if alert.ended is None else ()))]


def at_least(alerts: Iterable[Alert], severity: Severity) -> list[Alert]:
    """Those as severe as ``severity``, or worse, at their worst: by the severity that ``as_json`` gives."""
    return [alert for alert in alerts if alert.worst >= severity]


def summary(alert: Alert) -> str:
    """What is wrong, in words; of several alerts about one object it says which one it is."""
    instance = alert.key.instance
    if not instance or instance in alert.summary:
        return alert.summary
    return f"{instance}: {alert.summary}"


def named(alert: Alert) -> str:
    """What is wrong, in words that name the owner too, for where nothing else does: ``QM01: buffer pool 3: 4 % free``."""
    text, owner = told_summary(alert), alert.key.object.owner
    stands = re.search(rf"(?<![\w./%]){re.escape(owner)}(?![\w./%])", text)
    return text if stands or not owner else f"{owner}: {text}"


def outcome(alert: Alert) -> str:
    """An ended alert in words: how it ended, after how long, at which value, and what it was."""
    lasting = lasted(alert, alert.updated)
    if alert.why is Why.CLEARED:
        figures = [f"{alert.value_now} now"] if alert.value_now else []
        figures += [f"{alert.worst_value} at worst"] if alert.worst_value else []
        within = f" ({', '.join(figures)})" if figures else ""
        return f"over after {lasting}{within}; it was: {named(alert)}"
    return f"ended after {lasting}, {alert.why.value}; it was: {named(alert)}"


def full_json(alert: Alert) -> dict[str, Any]:
    """The object of ``mqvitals alerts list --json --full``: ``as_json``, and the rule's figure at its worst and as it is since the condition no longer holds."""
    return {
        **as_json(alert),
        "worst_value": alert.worst_value or None,
        "value_now": alert.value_now or None,
    }


def as_json(alert: Alert) -> dict[str, Any]:
    """An alert in ``mqvitals status --json`` and ``alerts list --json``. Severity is the worst while it was open, times ISO 8601 in UTC."""
    name = alert.key.object
    return {
        "rule": alert.key.rule,
        "severity": alert.worst.name.lower(),
        "state": alert.state.value,
        "queue_manager": name.owner,
        "kind": name.kind,
        "object": str(name),
        "started": iso(begin_of(alert)),
        "ended": None if alert.ended is None else iso(alert.ended),
        "summary": summary(alert),
    }


def since(ts: int, now: int) -> str:
    """When something began: the time of day, with the date when that is another day's."""
    return clock(ts) if day(ts) == day(now) else f"{day(ts)} {clock(ts)[:5]}"


def entries(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    painter: Painter,
    *,
    covered: Mapping[AlertKey, AlertKey] | None = None,
    silent: Mapping[str, int] | None = None,
    one_line: bool = False,
) -> list[list[str]]:
    """Each alert as lines: how bad, for how long, since when, which rule, on what; beside or below it its summary.

    ``covered`` says which firing alerts another one stands for (a worse one of their family, or what brought them about), ``silent`` of which owners only the
    last known state is shown, and as of when (ms UTC). With ``one_line`` a summary is cut to one line, and what an
    alert brought about is left out.
    """
    silent, covered = silent or {}, covered or {}
    # Milder stages of the same trouble need not be counted.
    families = {alert.key: alert.family for alert in alerts}
    stages = {
        alert.key
        for alert in alerts
        if alert.key in covered and (alert.cause is None or _same_family(alert, covered[alert.key], families))
    }
    brought: dict[AlertKey, list[str]] = {}
    for key, stands in covered.items():
        if key not in stages and not one_line:
            brought.setdefault(stands, []).append(key.rule)
    told = [
        _Entry(
            health_of(shown_severity(alert)),
            lasted(alert, silent.get(alert.key.object.owner, now)),
            _when(alert, now),
            safe(alert.key.rule),
            " ".join(
                (object_words(alert.key.object), *_notes(alert, covered, stages, brought.get(alert.key, ()), silent))
            ),
            safe(short_summary(alert)),
            alert.ended is None,
        )
        for alert in alerts
    ]
    # What is over has longer times: its columns are its own.
    groups = {is_open: [each for each in told if each.is_open is is_open] for is_open in (True, False)}
    columns = {is_open: _Columns.of(group, width) for is_open, group in groups.items()}
    if any(group and not columns[is_open].summary for is_open, group in groups.items()):
        columns = {is_open: each._replace(summary=0) for is_open, each in columns.items()}
    return [_lines(each, columns[each.is_open], width, painter, one_line=one_line) for each in told]


class _Entry(NamedTuple):
    health: Health
    lasted: str
    when: str
    rule: str
    words: str
    summary: str
    is_open: bool


class _Columns(NamedTuple):
    """How wide the columns are; ``summary`` is where the summary begins beside its alert, 0 when it stands below."""

    lasted: int
    rule: int
    summary: int

    @classmethod
    def of(cls, told: Sequence[_Entry], width: int) -> _Columns:
        lasted = max((cells(each.lasted) for each in told), default=0)
        rule = max((cells(each.rule) for each in told), default=0)
        plain = cls(lasted, rule, 0)
        heads = [cells(_head(each, plain)) + 2 for each in told]
        if width < WIDE:
            widest = max((head + cells(each.words) for head, each in zip(heads, told, strict=True)), default=0)
            return plain if widest <= width else cls(lasted, 0, 0)
        # A few long names keep their summaries below; were they many, the list would be neither one thing nor the other.
        ends = [head + cells(each.words) + 2 for head, each in zip(heads, told, strict=True)]
        fitting = [end for end in ends if width - end >= LEAST_SUMMARY]
        return cls(lasted, rule, max(fitting) if 2 * len(fitting) > len(ends) else 0)


def _head(told: _Entry, columns: _Columns) -> str:
    return (
        f"{fit(str(told.health), WIDEST)}  {fit(told.lasted, columns.lasted)}  {told.when}  "
        f"{told.rule}{' ' * (columns.rule - cells(told.rule))}"
    )


def _lines(told: _Entry, columns: _Columns, width: int, painter: Painter, *, one_line: bool) -> list[str]:
    head, rest = _head(told, columns), " " * INDENT
    first = f"{head}  {told.words}"
    beside = bool(columns.summary) and cells(first) + 2 <= columns.summary
    if beside:
        first = fit(first, columns.summary)
        column = " " * columns.summary
        lines = [(first + cut(told.summary, width - columns.summary)).rstrip()] if one_line else []
        lines = lines or wrap(told.summary, width, first=first, rest=column)
    else:
        if cells(first) <= width:
            lines = [first]
        else:
            # The sign stays whole however narrow it is: it is what colour and eye look for.
            head = head.rstrip()
            heads = [head] if cells(head) <= width else wrap(head[WIDEST:], width, first=head[:WIDEST] + " ", rest=rest)
            lines = [*heads, *wrap(told.words, width, first=rest, rest=rest)]
        below = rest + told.summary
        lines += [cut(below, width)] if one_line else wrap(told.summary, width, first=rest, rest=rest)
    if told.is_open:
        lines[0] = painter.line(lines[0], told.health)
    return lines


def listing(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    painter: Painter,
    covered: Mapping[AlertKey, AlertKey] | None = None,
    silent: Mapping[str, int] | None = None,
) -> list[str]:
    """The lines of ``mqvitals alerts list``; ``covered`` and ``silent`` as for ``entries``."""
    if not alerts:
        return [painter.line(f"{Health.OK}  no alerts", Health.OK)]
    listed = in_chains(alerts, covered or {})
    return [line for lines in entries(listed, now, width, painter, covered=covered, silent=silent) for line in lines]


ENDS = {
    Why.UNKNOWN: "ended: unknown",
    Why.GONE: "ended: gone",
    Why.UNWATCHED: "ended: unwatched",
    Why.RULE_REMOVED: "ended: no rule",
}
"""An end that is no recovery says so."""


def shown_severity(alert: Alert) -> Severity:
    """As it is while open; what it was at worst when it is over."""
    return alert.severity if alert.ended is None else alert.worst


def begin_of(alert: Alert) -> int:
    """When it began firing, or while it is pending when its condition first held; ms UTC."""
    return alert.since if alert.started is None else alert.started


def lasted(alert: Alert, now: int) -> str:
    """For how long it has been, or was, firing."""
    return age((now if alert.ended is None else alert.ended) - begin_of(alert))


def _when(alert: Alert, now: int) -> str:
    begin = since(begin_of(alert), now)
    if alert.ended is None:
        return f"since {begin}"
    return f"{begin} - {since(alert.ended, now)} {ENDS.get(alert.why, 'ended')}"


def _notes(
    alert: Alert,
    covered: Mapping[AlertKey, AlertKey],
    stages: Collection[AlertKey],
    brought: Sequence[str],
    silent: Collection[str],
) -> list[str]:
    """What else to know, in brackets: nothing, or one word of a line."""
    if alert.ended is not None:
        figures = [f"{alert.worst_value} at worst"] if alert.worst_value else []
        figures += [f"{alert.value_now} at its end"] if alert.value_now else []
        return [f"({', '.join(map(safe, figures))})"] if figures else []
    notes = []
    if alert.worst > alert.severity:
        notes.append(f"was {alert.worst.name.lower()}")
    if alert.key in covered:
        stands = covered[alert.key]
        notes.append(
            f"covered by {safe(stands.rule)}" if alert.key in stages else f"brought about by {safe(stands.rule)}"
        )
    elif brought:
        words = [f"{safe(rule)} x {count}" if count > 1 else safe(rule) for rule, count in Counter(brought).items()]
        notes.append(f"brought about {', '.join(words)}")
    if alert.key.object.owner in silent:
        notes.append("last known")
    return [f"({note})" for note in notes]


def _same_family(alert: Alert, stands: AlertKey, families: Mapping[AlertKey, str]) -> bool:
    return bool(alert.family) and stands.object == alert.key.object and families.get(stands) == alert.family


def short_summary(alert: Alert) -> str:
    """The summary beside the object's name, which it need not begin with: ``queue X: depth 7`` is ``depth 7``."""
    text, name = summary(alert), alert.key.object.name
    subject, colon, rest = text.partition(": ")
    return _as_it_is(alert, rest if colon and rest and name and subject.endswith(f" {name}") else text)


def told_summary(alert: Alert) -> str:
    """The summary as an open alert may tell it: of one whose condition ceased to hold as something that was."""
    return _as_it_is(alert, summary(alert))


def _as_it_is(alert: Alert, text: str) -> str:
    """The words are those of the last poll on which the condition held: what has changed since stands before them, for their end may be cut off."""
    if alert.ended is not None:
        return text
    now = f"now {alert.value_now}" if alert.value_now else ""
    said = ", ".join(part for part in ("clearing" if alert.good_polls else "", now) if part)
    return f"{said}, was: {text}" if said else text

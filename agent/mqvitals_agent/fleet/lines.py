"""The groups of a fleet as styled lines: how many of each state, and one line a group, the worst first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from mqvitals_agent.fleet.ranking import RankedGroup
from mqvitals_agent.fleet.summary import AlertSummary, GroupSummary, OwnerSummary, short_source
from mqvitals_agent.text.figure import age, clock, number, number_of, rough_age, short_age, zone_name
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_rules.lifecycle.alert import Severity

_WIDE: Final = 110
"""From this width on there is room for rules, for times of day and for ages to the second,"""
_WIDER: Final = 150
"""and from this one on for where each group is read."""
_NAMES: Final = ("QMs", "●/▲", "For", "Since", "Worst", "Age", "Read from")
_GAP: Final = 1


def fleet_header(groups: Sequence[RankedGroup], now: int, width: int) -> tuple[Line, ...]:
    """How many groups and queue managers there are, and how many groups are in each state, at ``now`` (ms UTC)."""
    healths = Counter(each.group.health for each in groups)
    members = sum(len(each.group.queue_managers) for each in groups)
    counts = f"{number_of(len(groups), 'group')}  {number_of(members, 'queue manager')}"
    when = f"{clock(now)} {zone_name(now)}"
    lefts = (
        f"mqvitals  fleet  {counts}  {when}",
        f"fleet  {counts}  {when}",
        f"fleet  {number(len(groups))} groups  {number(members)} QM  {when}",
        f"fleet  {number(len(groups))} groups  {when}",
        f"fleet  {number(len(groups))} groups",
        "fleet",
    )
    for short in (False, True):
        spans: list[Span] = []
        for health in sorted(Health, reverse=True):
            count = healths[health]
            if not count and health in (Health.INFO, Health.UNKNOWN):
                continue
            word = "" if short else f" {'OK' if health is Health.OK else health.word}"
            spans += [Span("  ")] if spans else []
            spans.append(Span(f"{health.glyph} {number(count)}{word}", tone_of(health) if count else Tone.FAINT))
        size = sum(cells(span.text) for span in spans)
        for left in lefts:
            if cells(left) + 2 + size <= width:
                return (Line((Span(left, Tone.STRONG), Span(" " * (width - cells(left) - size)), *spans)),)
    return (Line(tuple(spans)), line(cut(lefts[-1], width), Tone.STRONG))


class _GroupRow(NamedTuple):
    """The cells of a group, each of spans: name, queue managers, alerts, lasting, since, words, age, where it is read."""

    group: GroupSummary
    cells: tuple[tuple[Span, ...], ...]


def fleet_table(groups: Sequence[RankedGroup], now: int, width: int) -> list[Line]:
    """A line a group at ``now`` (ms UTC) below a line of titles, in ``width`` cells. Each line's key is the group's."""
    if not groups:
        return [line("No group is configured: list them under fleet, see 'mqvitals help screen'", Tone.UNKNOWN)]
    wide = width >= _WIDE
    rows = [_GroupRow(each.group, _cells_of(each, now, width)) for each in groups]
    titles = ("Group", *_NAMES)
    shown = [0, 1, 2, 3, *((4,) if wide else ()), 5, 6, *((7,) if width >= _WIDER else ())]
    widths = {
        place: max(cells(titles[place]), *(sum(cells(span.text) for span in row.cells[place]) for row in rows))
        for place in shown
    }
    widths[0] = min(widths[0], 24 if wide else 12)
    if 7 in widths:
        widths[7] = min(widths[7], width // 4)
    # The words get what the others leave.
    taken = WIDEST + sum(_GAP + size for place, size in widths.items() if place != 5)
    widths[5] = max(width - taken - _GAP, 8)
    right = {2, 3, 6}
    head = [Span(" " * WIDEST)]
    for place in shown:
        head += [Span(" " * _GAP), Span(fit(titles[place], widths[place], right=place in right), Tone.FAINT)]
    lines = [Line(tuple(head))]
    for row in rows:
        health = row.group.health
        spans = [Span(fit(str(health), WIDEST), tone_of(health))]
        for place in shown:
            spans += [Span(" " * _GAP), *_fitted(row.cells[place], widths[place], right=place in right)]
        lines.append(Line(tuple(spans), row.group.key))
    return lines


def _fitted(spans: Sequence[Span], width: int, *, right: bool) -> list[Span]:
    """Spans in exactly ``width`` cells."""
    left, fitting = width, list[Span]()
    for span in spans:
        text = cut(span.text, left)
        fitting.append(span._replace(text=text))
        left -= cells(text)
        if text != span.text:
            break
    pad = [Span(" " * left)] if left > 0 else []
    return [*pad, *fitting] if right else [*fitting, *pad]


def _cells_of(ranked: RankedGroup, now: int, width: int) -> tuple[tuple[Span, ...], ...]:
    group = ranked.group
    stale = Tone.STALE if group.stale else Tone.PLAIN
    worst = None if group.problem else next(iter(group.alerts), None)
    # Whether one of the past still lasts is not known.
    lasting = None if worst is None or group.is_stale(worst) else worst
    lasts = _lasts(group, lasting, now)
    since = None if lasting is None else lasting.started
    aged = short_age if width >= _WIDE else rough_age
    return (
        (Span(safe(group.name), Tone.STRONG),),
        _strip(group, 8 if width < _WIDE else 16 if width < _WIDER else 32),
        _alert_counts(group),
        (Span("" if lasts is None else aged(lasts), stale),),
        (Span("" if since is None else since_words(since, now), stale),),
        _words(ranked, worst, wide=width >= _WIDE),
        (_age(group, aged),),
        (Span(", ".join(_from(group)), Tone.FAINT),),
    )


def _strip(group: GroupSummary, most: int) -> tuple[Span, ...]:
    """The queue managers as glyphs, the worst first, and their number; where they are many, how many of each."""
    members = group.queue_managers
    if not members:
        return (Span("none" if group.read_at is not None else "", Tone.ABSENT),)
    counts = Counter(each.health for each in members)
    spans: list[Span] = []
    for health in sorted(counts, reverse=True):
        glyphs = health.glyph * counts[health] if len(members) <= most else f"{health.glyph}{number(counts[health])} "
        spans.append(Span(glyphs, tone_of(health)))
    return (*spans, Span(f" {len(members)}" if len(members) <= most else "", Tone.FAINT))


def _alert_counts(group: GroupSummary) -> tuple[Span, ...]:
    """Critical alerts and warnings."""
    spans: list[Span] = []
    for severity in (Severity.CRITICAL, Severity.WARNING):
        count = group.count(severity)
        tone = tone_of(health_of(severity)) if count else Tone.FAINT
        if count is None:
            tone = Tone.UNKNOWN
        elif group.stale:
            tone = Tone.STALE
        spans += [Span("/", Tone.FAINT)] if spans else []
        spans.append(Span(Health.UNKNOWN.glyph if count is None else number(count).replace(" ", ""), tone))
    return tuple(spans)


def _lasts(group: GroupSummary, lasting: AlertSummary | None, now: int) -> int | None:
    """How long it has been as the words say, ms; None: not known."""
    if group.problem:
        return None if group.read_at is None else max(now - group.read_at, 0)
    return None if lasting is None else lasting.lasts_ms


def _words(ranked: RankedGroup, worst: AlertSummary | None, *, wide: bool) -> tuple[Span, ...]:
    """The worst thing in words: why it cannot be read, its worst alert, or what is not known."""
    group, reason = ranked
    if group.problem:
        return (Span(safe(without_source(group)), Tone.UNKNOWN),)
    if group.read_at is None:
        return (Span("asking …", Tone.FAINT),)
    if worst is None:
        if group.health > Health.INFO:
            words = group.notes[0] if group.notes else _silent_words(group) or reason
            return (Span(safe(words), tone_of(group.health)),)
        both = ", ".join(f"{_host(each.source)} {each.role}".rstrip() for each in group.agents)
        return (Span(both if len(group.agents) > 1 else reason, Tone.FAINT),)
    words = alert_words(group, worst)
    if group.is_stale(worst):
        lead = group.notes[0] if group.notes else "stale"
        return (Span(f"{safe(lead)}; was: ", Tone.UNKNOWN), Span(words, Tone.STALE))
    rule = (Span(f"{safe(worst.rule)} ", Tone.FAINT),) if wide else ()
    bold = worst.mark == "*" or None
    return (*rule, Span(words, tone_of(worst.health) if worst.health is Health.CRITICAL else Tone.PLAIN, bold))


def _host(source: str) -> str:
    """The machine of an agent without its domain, where it has a name; the file of a store. Safe for a terminal."""
    short = short_source(source)
    host = short.partition(".")[0]
    return safe(short if "://" not in source or host.isdigit() or not host else host)


def _silent_words(group: GroupSummary) -> str:
    """Which queue managers are unknown, where others are not."""
    unknown = [each for each in group.queue_managers if each.health is Health.UNKNOWN]
    if not unknown or len(unknown) == len(group.queue_managers):
        return ""
    more = f", and {number(len(unknown) - 1)} more" if len(unknown) > 1 else ""
    return f"{unknown[0].name} {seen_words(unknown[0])}{more}"


def seen_words(owner: OwnerSummary) -> str:
    """How a queue manager stands beside its health, and since when."""
    ago = "" if owner.age_ms is None else f" for {age(owner.age_ms)}"
    if owner.stale:
        return f"stale, nothing new{ago}"
    if owner.reachable is False:
        return "not reachable"
    if owner.age_ms is None:
        return "of unknown age"
    seen = f"seen {age(owner.age_ms)} ago"
    return seen if owner.reachable else f"{seen}, perhaps not reachable"


def without_source(group: GroupSummary) -> str:
    """Why a group cannot be read, without where it is read, which stands beside it."""
    return group.problem.removeprefix(f"{group.source} ").removeprefix(f"{group.source}: ")


def alert_words(group: GroupSummary, alert: AlertSummary) -> str:
    """An alert of a group in words that name its queue manager, if it is one's. Safe for a terminal."""
    text = alert.words or alert.rule or "an alert"
    of_group = any(each.is_group and each.name == alert.owner for each in group.owners)
    named = not alert.owner or of_group or re.search(rf"(?<![\w./%]){re.escape(alert.owner)}(?![\w./%])", text)
    return safe(text if named else f"{alert.owner}: {text}")


def _age(group: GroupSummary, aged: Callable[[int], str]) -> Span:
    """The age of what is known."""
    if group.age_ms is None:
        return Span(Health.UNKNOWN.glyph if group.read_at is not None else "", Tone.UNKNOWN)
    return Span(aged(group.age_ms), Tone.STALE if group.stale else Tone.FAINT)


def _from(group: GroupSummary) -> list[str]:
    """Where it is read: hosts and files, with the part of each of two agents."""
    return [
        f"{safe(short_source(each.source))}{f' ({each.role})' if each.role else ''}{' ?' if each.problem else ''}"
        for each in group.agents
    ]


def stale_words(group: GroupSummary) -> str:
    """That nothing which is known of a group describes the present, and how old it is; empty: it does."""
    if not group.stale or group.read_at is None:
        return ""
    return "all of it is of the past" if group.age_ms is None else f"all of it is {age(group.age_ms)} old"

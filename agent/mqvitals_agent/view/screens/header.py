"""The header of every screen and of ``mqvitals status``: which group, as of when, how bad, and what limits the rest."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median_low
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, clock, day, moment, number, number_of, zone_name
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, safe, wrap
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_agent.view.status import (
    GroupStatus,
    counts,
    interval_words,
    new_counts,
    refused_words,
    role_words,
    standby_words,
    troubling,
    unstored_words,
    without_answer,
)
from mqvitals_rules.lifecycle.alert import Severity

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame


UNKNOWN_SIGN = Health.UNKNOWN.glyph
"""How the number of unknown verdicts begins in the first line."""

_INDENT = "  "
_WIDE = 140
"""From this width on the header has room for the new warnings too."""
_ASKING = "Is the agent running? 'mqvitals agent' starts it; its log shows why it ended. "


def header_lines(frame: Frame, width: int, *, asking: bool = True) -> tuple[Line, ...]:
    """The header in ``width`` cells: one line, and further ones for what must be known (the past, stale, empty).

    ``asking``: when all is stale the header asks whether the agent runs, and shows the command that starts one.
    """
    view = frame.status
    signs = _signs(view, warnings=width >= _WIDE)
    for short in (False, True):
        right = _joined(signs, short=short)
        size = sum(cells(span.text) for span in right)
        for left in _lefts(view):
            if cells(left) + 2 + size <= width:
                gap = " " * (width - cells(left) - size)
                return (Line((Span(left, Tone.STRONG), Span(gap), *right)), *_notes(view, width, asking=asking))
    # Where names are too long, the counts come first.
    return (Line(tuple(right)), line(cut(_lefts(view)[-1], width), Tone.STRONG), *_notes(view, width, asking=asking))


def _lefts(view: GroupStatus) -> list[str]:
    """Group, interval and time: the longest first."""
    data = view.data
    who = ["mqvitals", *([safe(data.group)] if data.group else []), *([role] if (role := role_words(data)) else [])]
    many = number_of(len(view.queue_managers), "queue manager")
    newest = max((member.last_ts for member in data.members), default=None)
    if newest is None:
        return ["  ".join([*who, "no data stored yet"]), "mqvitals"]
    distances = [member.interval_ms for member in data.members if not member.is_group]
    every = f"every {interval_words(median_low(distances))}" if distances else ""
    ago = age(data.now - newest)
    if data.as_of is not None:
        when = short = f"{clock(newest)} {zone_name(newest)}"
    elif data.past:
        when, short = f"{moment(newest)} {zone_name(newest)}, the past", f"{clock(newest)} {zone_name(newest)} (past)"
    elif day(newest) == day(data.now):
        when = short = f"{clock(newest)} {zone_name(newest)} ({ago} ago)"
    else:
        when, short = f"{moment(newest)} {zone_name(newest)} ({ago} ago)", f"{day(newest)} ({ago} ago)"
    brief = f"{number(len(view.queue_managers))} QM"
    return [
        "  ".join(part for part in parts if part)
        for parts in (
            (*who, many, every, when),
            (*who, many, every, short),
            (*who, brief, every, short),
            (*who, brief, short),
            (*who, short),
            (who[-1], short),
            ("mqvitals", short),
        )
    ]


_Sign = tuple[Health, int, str, int, Tone]


def _signs(view: GroupStatus, *, warnings: bool) -> list[_Sign]:
    """The counts of each severity: glyph, number, word, how many of them nobody has looked at, tone.

    Those that nobody has looked at are counted where they are critical, and with ``warnings`` also where these are. None where nothing was ever stored:
    that is not OK.
    """
    signs: list[_Sign] = []
    if not view.data.members:
        return signs
    stale = all(member.stale for member in view.queue_managers)
    new, least = new_counts(view), Severity.WARNING if warnings else Severity.CRITICAL
    for severity, count in counts(view.alerts):
        if severity is Severity.INFO and not count:
            continue
        health = health_of(severity)
        # When all is stale, these were the alerts; whether they still fire is unknown.
        tone = Tone.STALE if stale else tone_of(health) if count else Tone.FAINT
        signs.append((health, count, health.word, new.get(severity, 0) if severity >= least else 0, tone))
    total = sum(count for _, count in troubling(view.unknown))
    silent = sum(member.health is Health.UNKNOWN for member in view.queue_managers)
    if total or silent:
        signs.append((Health.UNKNOWN, total or silent, "unknown", 0, Tone.UNKNOWN))
    return signs


def _joined(signs: list[_Sign], *, short: bool) -> list[Span]:
    if not signs:
        return [Span(str(Health.UNKNOWN), Tone.UNKNOWN)]
    spans: list[Span] = []
    for health, count, word, new, tone in signs:
        if spans:
            spans.append(Span("  "))
        of_them = f" ({number(new)} new)" if new else ""
        spans.append(Span(f"{health.glyph} {number(count)}{'' if short else f' {word}'}{of_them}", tone))
    return spans


def _notes(view: GroupStatus, width: int, *, asking: bool) -> list[Line]:
    """What limits the rest: the past, stale or missing data."""
    data = view.data
    if waits := standby_words(data):
        return wrapped(waits, width, Tone.STALE, rest=_INDENT)
    if not data.members:
        text = (
            "No data stored yet. Is the agent running, and can it reach a queue manager? "
            "Start it with 'mqvitals agent', or see 'mqvitals demo'"
        )
        return wrapped(text, width, Tone.UNKNOWN, rest=_INDENT)
    newest = max(member.last_ts for member in data.members)
    if data.past and data.as_of is None:
        source = safe(data.origin)
        words = f"past: {source}, ended {moment(newest)} {zone_name(newest)}"
        return wrapped(words, width, Tone.STALE, rest=_INDENT)
    members = view.owners
    stale = [member for member in members if member.stale]
    if not stale:
        return []
    if len(stale) == len(members):
        youngest = min(member.age_ms for member in stale)
        text = f"stale: no new data for {age(youngest)}. {_ASKING if asking else ''}The values are the last known ones"
    else:
        names = ", ".join(f"{safe(member.name)} for {age(member.age_ms)}" for member in stale)
        text = f"stale: no new data from {names}; the current state is unknown"
    return wrapped(text, width, Tone.STALE, rest=_INDENT)


def as_of_words(at: int, clock_ms: int) -> str:
    """The first line of whatever is shown as of a past moment ``at``; ``clock_ms`` is now. Both are ms UTC."""
    when = clock(at) if day(at) == day(clock_ms) else moment(at)
    return f"AS OF {when} {zone_name(at)} ({age(clock_ms - at)} ago)"


def status_header(view: GroupStatus, width: int, *, lacking: bool = True) -> list[Line]:
    """The lines of the header; ``lacking``: also the verdicts that need data which is not collected."""
    data = view.data
    newest = max((member.last_ts for member in data.members), default=None)
    parts = [
        "mqvitals",
        *([safe(data.group)] if data.group else []),
        *([role] if (role := role_words(data)) else []),
        number_of(len(view.queue_managers), "queue manager"),
    ]
    if newest is None:
        parts.append("no data yet")
    elif data.past:
        parts.append(f"{moment(newest)} {zone_name(newest)}")
    else:
        when = clock(newest) if day(newest) == day(data.now) else moment(newest)
        parts.append(f"{when} {zone_name(newest)} ({age(data.now - newest)} ago)")
    left, signs = "  ".join(parts), _header_signs(view)
    fitting = [sign for sign in signs if cells(left) + 2 + cells(sign) <= width]
    if fitting:
        gap = " " * (width - cells(left) - cells(fitting[0]))
        lines = [Line((Span(left, Tone.STRONG), Span(gap), Span(fitting[0], tone_of(view.health))))]
    else:
        sign = next((sign for sign in signs if cells(sign) <= width), signs[-1])
        lines = [line(sign, tone_of(view.health)), *wrapped(left, width)]
    if data.past and data.as_of is None and newest is not None:
        first = min(member.first_ts for member in data.members)
        until = clock(newest) if day(first) == day(newest) else moment(newest)
        lines += wrapped(
            f"The past: {safe(data.origin)}, {moment(first)} to {until} {zone_name(newest)}", width, rest=_INDENT
        )
    lines += _header_notes(view, width)
    return [*lines, _numbers(view, width), *_unknown(view, width, lacking=lacking)]


def _header_signs(view: GroupStatus) -> list[str]:
    """Severity and duration: the longest first."""
    sign = str(view.health)
    bad = {member.name for member in view.owners if member.health is view.health}
    begun = [
        alert.started
        for alert in view.alerts
        if alert.started is not None and alert.key.object.owner in bad and health_of(alert.severity) is view.health
    ]
    if not begun:
        return [sign]
    now, first = view.data.now, min(begun)
    lasted, began = age(now - first), since_words(first, now)
    return [f"{sign} for {lasted}, since {began}", f"{sign} for {lasted}", f"{sign} {lasted}", sign]


def _numbers(view: GroupStatus, width: int) -> Line:
    new = new_counts(view)
    with_new, without = _counted(view, new), _counted(view, {})
    return with_new if cells(with_new.text) <= width else without


def _counted(view: GroupStatus, new: Mapping[Severity, int]) -> Line:
    """The number of alerts of each severity, and how many of them are ``new``."""
    spans: list[Span] = []
    for severity, count in counts(view.alerts):
        health = health_of(severity)
        spans += [Span("  ")] if spans else []
        of_them = f" ({number(new[severity])} new)" if new.get(severity) else ""
        spans.append(
            Span(f"{health.glyph} {number(count)} {health.word}{of_them}", tone_of(health) if count else Tone.PLAIN)
        )
    return Line(tuple(spans))


def _header_notes(view: GroupStatus, width: int) -> list[Line]:
    unstored = unstored_words(view.data)
    if unstored:
        return wrapped(unstored, width, rest=_INDENT)
    if waits := standby_words(view.data):
        return wrapped(f"{waits[:1].upper()}{waits[1:]}", width, rest=_INDENT)
    members = view.owners
    stale = [member for member in members if member.stale]
    if not stale:
        refused = refused_words(view.data)
        return wrapped(refused, width, rest=_INDENT) if refused else []
    if len(stale) == len(members):
        youngest = min(member.age_ms for member in stale)
        words = f"Stale: no new data for {age(youngest)}. Is the agent running? All values are that old"
        return wrapped(words, width, rest=_INDENT)
    names = ", ".join(f"{safe(member.name)} for {age(member.age_ms)}" for member in stale)
    return wrapped(f"Stale: no new data from {names}; the current state is unknown", width, rest=_INDENT)


def _unknown(view: GroupStatus, width: int, *, lacking: bool) -> list[Line]:
    words = without_answer(view.unknown) if lacking else ""
    for_good = wrapped(words, width, Tone.FAINT, rest=_INDENT) if words else []
    trouble = troubling(view.unknown)
    total = sum(count for _, count in trouble)
    if not total:
        return for_good
    reasons = ", ".join(f"{number(count)} {reason.value}" for reason, count in trouble)
    word = "verdict" if total == 1 else "verdicts"
    lines = wrap(f"{Health.UNKNOWN.glyph} {number(total)} {word} unknown: {reasons}", width, rest=_INDENT)
    return [line(lines[0], Tone.UNKNOWN), *map(line, lines[1:]), *for_good]

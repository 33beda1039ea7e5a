"""The list of verdicts that are unknown, with what to do about each reason; and the line of the overview that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, clock, counted, day, moment, number_of, object_words, zone_name
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, wrapped
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.view.object.unknown_verdicts import UnknownObject, UnknownVerdicts
from mqvitals_agent.view.status import TO_DO, GroupStatus, OwnerStatus, troubling, without_answer
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

UNKNOWN_KEY = "?"
"""The key of a line that leads to this list: no object has such a name."""

_INDENT, _REST = "  ", "      "


def unknown_hint(view: GroupStatus, width: int) -> tuple[Line, ...]:
    """The line of the overview that says how many verdicts are unknown, and leads to the list; none where none is."""
    total, silent = sum(count for _, count in troubling(view.unknown)), len(_silent(view))
    if not total and not silent:
        return ()
    what = number_of(total, "verdict") if total else number_of(silent, "queue manager")
    words = f"{Health.UNKNOWN.glyph} {what} unknown: Enter lists which, since when and what to do"
    return (Line((Span(cut(words, width), Tone.UNKNOWN),), UNKNOWN_KEY),)


def unknown_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """The list in ``width`` cells: by reason what to do, then each rule with its objects, which Enter opens.

    Below it stand, in a sentence, the verdicts that nobody can do anything about within the hour.
    """
    found = frame.unknown
    total = sum(each.count for each in found)
    lines: list[Line] = [heading(f"Unknown, and to be done: {counted(total, 'verdict')}", width)]
    if frame.request.at is not None:
        lines += wrapped(f"{Absence.NOT_KEPT.value}: what was unknown then", width, Tone.ABSENT)
    elif not found and not _silent(frame.status):
        lines.append(line(f"{Health.OK.glyph} none", Tone.OK))
    for member in _silent(frame.status):
        lines += _silent_lines(member, width)
    for reason, group in groupby(found, key=lambda each: each.reason):
        lines += _group(reason, list(group), frame.now, width)
    if lacking := without_answer(frame.status.unknown):
        lines += [heading("Unknown, and nobody's task", width), *wrapped(lacking, width, Tone.FAINT)]
    return tuple(lines)


def _silent(view: GroupStatus) -> tuple[OwnerStatus, ...]:
    """The queue managers about which nothing is known now, as the first line counts them."""
    return tuple(member for member in view.queue_managers if member.health is Health.UNKNOWN)


def _silent_lines(member: OwnerStatus, width: int) -> Iterator[Line]:
    if member.stale:
        words, to_do = f"no new data for {age(member.age_ms)}", "see whether the agent runs: 'mqvitals status'"
    else:
        words, to_do = "it cannot be reached, or never was", TO_DO[Absence.UNREACHABLE]
    sign = f"{Health.UNKNOWN.glyph} {safe(member.name)}: {words}"
    yield from wrapped(sign, width, Tone.UNKNOWN, rest=_REST, key=f"{member.name}/queue_manager")
    yield from wrapped(f"to do: {to_do}", width, Tone.STRONG, first=_INDENT, rest=_REST)


def _group(reason: Absence, verdicts: list[UnknownVerdicts], now: int, width: int) -> Iterator[Line]:
    count = sum(each.count for each in verdicts)
    yield line(cut(f"{Health.UNKNOWN.glyph} {reason.value}: {counted(count, 'verdict')}", width), Tone.UNKNOWN)
    yield from wrapped(f"to do: {TO_DO[reason]}", width, Tone.STRONG, first=_INDENT, rest=_REST)
    for each in verdicts:
        if not each.rule:
            (name, since), *_ = each.objects
            words = f"{object_words(name)}: {counted(each.count, 'verdict')} of {counted(each.rules, 'rule')}"
            yield from _object_line(words, UnknownObject(name, since), now, width, _INDENT)
            continue
        head = f"{safe(each.rule)}  {safe(one_line(each.title))}: {counted(each.count, 'object')} of {safe(each.owner)}"
        yield from wrapped(head, width, first=_INDENT, rest=_REST)
        for unknown in each.objects:
            yield from _object_line(object_words(unknown.name), unknown, now, width, _INDENT * 2)
        more = each.count - len(each.objects)
        if more > 0:
            yield line(cut(f"{_INDENT * 2}{'and ' if each.objects else ''}{more:,} more", width), Tone.FAINT)


def _object_line(words: str, unknown: UnknownObject, now: int, width: int, lead: str) -> Iterator[Line]:
    """One object; Enter opens it."""
    text = f"{words}, {_since(unknown.since, now)}"
    yield from wrapped(text, width, first=lead, rest=_REST, key=str(unknown.name))


def _since(ts: int | None, now: int) -> str:
    if ts is None:
        return "it is not kept since when"
    when = clock(ts) if day(ts) == day(now) else moment(ts)
    return f"unknown since {when} {zone_name(ts)} ({age(now - ts)})"

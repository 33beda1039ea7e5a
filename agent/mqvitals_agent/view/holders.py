"""Who has a queue open, for a person: of each queue manager a summary, then its handles, those that look alike in one row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mqvitals_agent.text.figure import age, duration_us, number
from mqvitals_agent.text.severity import Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, safe, wrap
from mqvitals_agent.view.holder_row import UNKNOWN, HolderRow, counted, health_of_unit, holder_rows
from mqvitals_agent.view.table import Cell
from mqvitals_agent.who.holder import Holder, Holders, MemberHolders
from mqvitals_rules.snapshot import ObjectName

_INDENT = "  "
_GAP = "  "
_OLD_MS = 60_000
"""Applications open and close queues all the time: what was told so long ago need not be so any more."""

_LEAST = 8
"""Cells that the widest column keeps, however narrow the terminal is."""

_FURTHER = ("Via", "Unit of work", "Job", "User", "Type")
"""Columns that go below the rows where there is no room for them beside the others, this one first."""


def holders_lines(holders: Holders, now: int, width: int) -> tuple[Line, ...]:
    """The lines for ``width`` cells, as of ``now`` (ms since 1970 UTC). Several queue managers have a line on top for all.

    The line of handles that came through a channel has the channel's whole name as its key.
    """
    several = len(holders.members) > 1
    lines = [*_together(holders, width)] if several else []
    long = several
    for member in holders.members:
        told = [*_member(member, now, width)]
        if lines and (long or len(told) > 2):
            lines.append(line())
        # Those of which there is little to say stand together.
        long = len(told) > 2
        lines += told
    if not holders.members:
        lines += _wrapped(f"{UNKNOWN}: no queue manager was asked", width, Tone.UNKNOWN)
    if any(_has_times(member.holders) for member in holders.members):
        lines += [line(), *_wrapped("Times are those of the queue manager's own clock.", width, Tone.FAINT)]
    return tuple(lines)


def _has_times(holders: Iterable[Holder]) -> bool:
    return any(
        (each.instance is not None and each.instance.last_message)
        or (each.connection is not None and each.connection.unit_of_work is not None)
        for each in holders
    )


def _together(holders: Holders, width: int) -> Iterator[Line]:
    told = [member for member in holders.members if not member.problem]
    silent = [safe(member.queue_manager) for member in holders.members if member.problem]
    where = [member for member in told if member.holders]
    count = sum(len(member.holders) for member in told)
    asked = f"the {counted(len(told), 'queue manager')}{' that told' if silent else ''}"
    if not told:
        words = "no queue manager told who has it open"
    elif count:
        words = f"{counted(count, 'handle')} on {number(len(where))} of {asked}"
    else:
        words = f"no handle is open on {asked}"
    yield from _wrapped(f"{safe(holders.queue.name)}: {words}", width, Tone.STRONG)
    if silent:
        yield from _wrapped(f"{Health.UNKNOWN}  {UNKNOWN} of {', '.join(silent)}", width, Tone.UNKNOWN)


def _member(member: MemberHolders, now: int, width: int) -> Iterator[Line]:
    name = safe(member.queue_manager)
    asked = f"; asked {age(now - member.at)} ago"
    tone = Tone.STALE if now - member.at >= _OLD_MS else Tone.FAINT
    if member.problem:
        words = f"{Health.UNKNOWN}  {name}: {UNKNOWN} who has it open: {safe(member.problem).rstrip('.')}{asked}"
        yield from _wrapped(words, width, Tone.UNKNOWN)
    else:
        count = len(member.holders)
        words = (
            f"{name}: {counted(count, 'handle')}: {_uses(member.holders)}" if count else f"no handle is open on {name}"
        )
        yield from _headline(words, f"{asked}, answered in {duration_us(member.took_ms * 1000)}", tone, width)
    yield from _in_doubt(member.holders, width)
    for note in member.notes:
        yield from _wrapped(f"{Health.UNKNOWN.glyph} {safe(note)}", width, Tone.UNKNOWN)
    yield from _rows(holder_rows(member.holders), member.queue_manager, width)


def _in_doubt(holders: Sequence[Holder], width: int) -> Iterator[Line]:
    """That units of work are in doubt, and the MQSC command to look at them with."""
    bad = [health for health in map(health_of_unit, holders) if health is not Health.OK]
    if not bad:
        return
    health = worst(bad)
    state = "UNRESOLVED" if health is Health.CRITICAL else "PREPARED"
    words = f"{health}  {counted(len(bad), 'handle')} with a unit of work in doubt: nobody else gets what it holds until it is resolved"
    yield from _wrapped(words, width, tone_of(health))
    command = f"MQSC: DISPLAY CONN(*) WHERE(UOWSTATE EQ {state}) ALL"
    yield from _wrapped(command, width, Tone.STRONG, first=_INDENT, rest=_INDENT * 2)


def _headline(words: str, asked: str, tone: Tone, width: int) -> Iterator[Line]:
    if cells(words) + cells(asked) <= width:
        yield Line((Span(words, Tone.STRONG), Span(asked, tone)))
        return
    yield from _wrapped(words, width, Tone.STRONG)
    yield from _wrapped(asked.removeprefix("; "), width, tone, first=_INDENT)


def _uses(holders: Sequence[Holder]) -> str:
    """What they are open for. A handle that is open for two things counts with both."""
    alone = sum(each.input == "EXCL" for each in holders)
    shared = sum(each.input == "SHARED" for each in holders)
    kinds = [(alone, "exclusive"), (shared, "shared")]
    reading = [word if alone + shared == count else f"{number(count)} {word}" for count, word in kinds if count]
    parts = [f"{number(alone + shared)} input ({', '.join(reading)})" if reading else "none for input"]
    parts += [
        f"{number(count)} {word}"
        for word, count in (
            ("output", sum(bool(each.output) for each in holders)),
            ("browse", sum(bool(each.browse) for each in holders)),
        )
        if count
    ]
    untold = sum(each.input not in ("NO", "EXCL", "SHARED") or each.output is None for each in holders)
    if untold:
        parts = [each for each in parts if each != "none for input"]
        parts.append(f"{number(untold)} not told for what")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its title, what it says of each row, and whether it stands at the right side."""

    title: str
    told: tuple[Cell, ...]
    right: bool = False

    @property
    def width(self) -> int:
        return max(cells(self.title), *(cells(cell.text) for cell in self.told))


def _rows(rows: Sequence[HolderRow], owner: str, width: int) -> Iterator[Line]:
    if not rows:
        return
    columns = [
        _Column("Handles", tuple(Cell(number(row.count)) for row in rows), right=True),
        _Column("Application", tuple(Cell(row.application, Tone.STRONG) for row in rows)),
        _Column("Type", tuple(Cell(row.type) for row in rows)),
        _Column("Job", tuple(Cell(row.job) for row in rows)),
        _Column("User", tuple(Cell(row.user) for row in rows)),
        _Column("Open for", tuple(row.how for row in rows)),
        _Column("Via", tuple(Cell(row.via) for row in rows)),
        _Column("Unit of work", tuple(row.unit_of_work for row in rows)),
    ]
    columns = [each for each in columns if any(cell.text for cell in each.told)]
    untold = all(row.unit_of_work.tone is Tone.ABSENT for row in rows)
    if untold:
        # Once below, and not once a row.
        columns = [each for each in columns if each.title != "Unit of work"]
    below: list[_Column] = []
    for title in _FURTHER:
        if _size(columns) <= width:
            break
        gone = [each for each in columns if each.title == title]
        below = [*gone, *below] if title in ("Type", "User", "Job") else [*below, *gone]
        columns = [each for each in columns if each.title != title]
    widths = _widths(columns, width)
    titles = [Cell(each.title, Tone.FAINT) for each in columns]
    yield _line(columns, titles, widths)
    lead = " " * (cells(_INDENT) + widths[0] + cells(_GAP))
    for index, row in enumerate(rows):
        yield _line(columns, [each.told[index] for each in columns], widths, _channel(owner, row))
        for column in below:
            yield from _further(column.title, column.told[index], lead, width)
    if untold:
        yield from _wrapped(f"units of work: {UNKNOWN}", width, Tone.ABSENT, first=_INDENT, rest=_INDENT * 2)


def _channel(owner: str, row: HolderRow) -> str:
    """The whole name of the channel, empty where there is none, or where nobody could read the name back."""
    name = ObjectName(owner, "channel", row.channel)
    # A name that MQ would never give may not be one that can be written.
    return str(name) if row.channel and owner and "/" not in owner else ""


def _further(title: str, cell: Cell, lead: str, width: int) -> Iterator[Line]:
    """A cell that has no room in its column: below its row, with the column's title before it."""
    if not cell.text:
        return
    label = f"{lead}{title.lower()} "
    first, *rest = wrap(cell.text, width, first=label, rest=f"{lead}{_INDENT}")
    yield Line((Span(label, Tone.FAINT), Span(first[len(label) :], cell.tone)))
    for each in rest:
        yield line(each, cell.tone)


def _size(columns: Sequence[_Column]) -> int:
    return cells(_INDENT) + sum(each.width for each in columns) + cells(_GAP) * (len(columns) - 1)


def _widths(columns: Sequence[_Column], width: int) -> list[int]:
    """How wide each column is: the widest of them give way where all together have no room."""
    widths = [each.width for each in columns]
    while (over := cells(_INDENT) + sum(widths) + cells(_GAP) * (len(widths) - 1) - width) > 0:
        widest = max(widths)
        if widest <= _LEAST:
            break
        widths[widths.index(widest)] = max(widest - over, _LEAST)
    return widths


def _line(columns: Sequence[_Column], told: Sequence[Cell], widths: Sequence[int], key: str = "") -> Line:
    spans = []
    gap = _INDENT
    for column, cell, size in zip(columns, told, widths, strict=True):
        text = cut(cell.text, size)
        room = " " * (size - cells(text))
        spans += [Span(gap + room), Span(text, cell.tone)] if column.right else [Span(gap), Span(text, cell.tone)]
        gap = _GAP if column.right else room + _GAP
    while spans and not spans[-1].text.strip():
        spans.pop()
    return Line(tuple(spans), key)


def _wrapped(text: str, width: int, tone: Tone, *, first: str = "", rest: str = _INDENT) -> Iterator[Line]:
    for each in wrap(text, width, first=first, rest=rest):
        yield line(each, tone)

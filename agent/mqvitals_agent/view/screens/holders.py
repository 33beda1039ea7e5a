"""The handles that applications have open on a queue, by queue manager; handles that look alike share a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mqvitals_agent.text.figure import age, duration_us, number, number_of
from mqvitals_agent.text.severity import Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, safe
from mqvitals_agent.view.figures.folding import table_lines, text_columns
from mqvitals_agent.view.figures.table import Cell
from mqvitals_agent.who.holder import HandleInstance, Holder, Holders, MemberHolders
from mqvitals_rules.snapshot import ObjectName

UNKNOWN = "not known"

IN_DOUBT = {"UNRESOLVED": Health.CRITICAL, "PREPARED": Health.WARNING}
"""States of a unit of work in doubt: it holds its locks until its coordinator has decided.

PREPARED usually resolves by itself; UNRESOLVED waits for a coordinator that is not available.
"""


_TITLES = ("Handles", "Application", "Type", "Job", "User", "Open for", "Via", "Unit of work")


class _HolderRow(NamedTuple):
    """Handles that look alike: a cell for each of ``_TITLES``, and the name of the channel of handles through one."""

    cells: tuple[Cell, ...]
    channel: str


def _holder_rows(holders: Iterable[Holder]) -> tuple[_HolderRow, ...]:
    """Units of work in doubt first, then exclusive input, input, output."""
    alike: dict[Holder, list[Holder]] = {}
    for each in holders:
        alike.setdefault(_looks(each), []).append(each)
    ordered = sorted(alike.items(), key=lambda item: _order(item[0], len(item[1])))
    return tuple(_row(looks, group) for looks, group in ordered)


def _looks(each: Holder) -> Holder:
    """A handle without what may differ within a row: task, region, thread, state of the call."""
    connection = None if each.connection is None else replace(each.connection, identifier="")
    return replace(each, task="", region="", thread=None, state="", connection=connection)


def _order(each: Holder, count: int) -> tuple[int, int, int, int, str, str, str, str, str]:
    begins = (
        "" if each.connection is None or each.connection.unit_of_work is None else each.connection.unit_of_work.began
    )
    return (
        -health_of_unit(each),
        each.input != "EXCL",
        each.input in ("", "NO"),
        -count,
        each.application,
        each.user,
        each.channel,
        each.connection_name,
        begins,
    )


def health_of_unit(each: Holder) -> Health:
    """The health of its unit of work: OK unless it is in doubt."""
    unit = None if each.connection is None else each.connection.unit_of_work
    return Health.OK if unit is None else IN_DOUBT.get(unit.state, Health.OK)


def _row(each: Holder, group: Sequence[Holder]) -> _HolderRow:
    application = safe(each.application) or "(no name)"
    if each.description and each.description != each.application:
        application += f" ({safe(each.description)})"
    found = (
        Cell(number(len(group))),
        Cell(application, Tone.STRONG),
        Cell(safe(each.application_type)),
        Cell(_job(each, group)),
        Cell(safe(each.user)),
        _how(each, group),
        Cell(_via(each)),
        _unit_of_work(group[0] if len(group) == 1 else each),
    )
    return _HolderRow(found, each.channel)


def _job(each: Holder, group: Sequence[Holder]) -> str:
    parts = []
    if each.transaction:
        parts.append(safe(each.transaction))
    parts.append(_several(sorted({one.task for one in group if one.task}), "task"))
    if each.psb:
        parts.append(f"PSB {safe(each.psb)}")
    parts.append(_several(sorted({one.region for one in group if one.region}), "region"))
    if each.asid:
        parts.append(f"ASID {safe(each.asid)}")
    if each.process is not None:
        parts.append(f"process {each.process}")
        parts.append(_several(sorted({str(one.thread) for one in group if one.thread is not None}), "thread"))
    return ", ".join(filter(None, parts))


def _several(names: Sequence[str], word: str) -> str:
    if len(names) > 1:
        return number_of(len(names), word)
    return f"{word} {safe(names[0])}" if names else ""


def _how(each: Holder, group: Sequence[Holder]) -> Cell:
    """The open options in the words of DISPLAY QSTATUS, and calls in progress."""
    parts = [] if each.input == "NO" else [f"IN {safe(each.input)}" if each.input else f"IN {UNKNOWN}"]
    flags = (("OUT", each.output), ("BROWSE", each.browse), ("INQUIRE", each.inquire), ("SET", each.set))
    parts += [word for word, flag in flags if flag]
    words = ", ".join(parts) or ("nothing" if not any(flag is None for _, flag in flags) else UNKNOWN)
    active = sum(one.state == "ACTIVE" for one in group)
    if active:
        words += "; in a call" if len(group) == 1 else f"; {number(active)} in a call"
    if each.async_state not in ("", "NONE"):
        words += f"; async {safe(each.async_state)}"
    return Cell(words, Tone.STRONG if each.input == "EXCL" else Tone.PLAIN)


def _via(each: Holder) -> str:
    """The channel, its partner, and the channel's instance."""
    words = " from ".join(filter(None, (safe(each.channel), safe(each.connection_name))))
    if not words:
        return ""
    if each.instance is None:
        return f"{words}: instance {UNKNOWN}"
    return f"{words}: {_instance(each.instance)}"


def _instance(each: HandleInstance) -> str:
    parts = [" ".join(filter(None, (safe(each.status), safe(each.substate)))) or f"status {UNKNOWN}"]
    parts.append(f"msgs {UNKNOWN}" if each.msgs is None else number_of(each.msgs, "msg"))
    if each.last_message:
        parts.append(f"last {safe(each.last_message)}")
    if each.remote_application:
        parts.append(safe(each.remote_application))
    if each.user:
        parts.append(f"user {safe(each.user)}")
    words = ", ".join(parts)
    return words if each.count == 1 else f"{number_of(each.count, 'instance')}, the newest: {words}"


def _unit_of_work(each: Holder) -> Cell:
    connection = each.connection
    if connection is None:
        return Cell(UNKNOWN, Tone.ABSENT)
    unit = connection.unit_of_work
    if unit is None:
        return Cell("")
    words = safe(unit.state) or f"state {UNKNOWN}"
    if unit.type:
        words += f" ({safe(unit.type)})"
    words += f" since {safe(unit.began)}" if unit.began else f", start time {UNKNOWN}"
    if unit.log_began and unit.log_began != unit.began:
        words += f", in the log since {safe(unit.log_began)}"
    if connection.count > 1:
        words += f" (the oldest of {number_of(connection.count, 'connection')} that it may be)"
    health = health_of_unit(each)
    if health is Health.OK:
        return Cell(words)
    if connection.identifier:
        words += f", CONN {safe(connection.identifier)}"
    return Cell(f"{health.glyph} IN DOUBT: {words}", tone_of(health))


_INDENT = "  "
OLD_MS = 60_000
"""An older answer is stale: applications open and close queues all the time."""

_FURTHER = ("Via", "Unit of work", "Job", "User", "Type")
"""Columns that move below the rows where they do not fit, the first one first."""


def holders_lines(holders: Holders, now: int, width: int) -> tuple[Line, ...]:
    """The lines for ``width`` cells, as of ``now`` (ms since 1970 UTC).

    For several queue managers the first line is about all.

    The line of handles that came through a channel has the channel's whole name as its key.
    """
    several = len(holders.members) > 1
    lines = [*_together(holders, width)] if several else []
    long = several
    for member in holders.members:
        part = [*_member(member, now, width)]
        if lines and (long or len(part) > 2):
            lines.append(line())
        # Queue managers with short answers are not separated by blank lines.
        long = len(part) > 2
        lines += part
    if not holders.members:
        lines += _text(f"{UNKNOWN}: no queue manager was asked", width, Tone.UNKNOWN)
    if any(_has_times(member.holders) for member in holders.members):
        lines += [line(), *_text("Times are those of the queue manager's own clock.", width, Tone.FAINT)]
    return tuple(lines)


def _has_times(holders: Iterable[Holder]) -> bool:
    return any(
        (each.instance is not None and each.instance.last_message)
        or (each.connection is not None and each.connection.unit_of_work is not None)
        for each in holders
    )


def _together(holders: Holders, width: int) -> Iterator[Line]:
    answered = [member for member in holders.members if not member.problem]
    silent = [safe(member.queue_manager) for member in holders.members if member.problem]
    where = [member for member in answered if member.holders]
    count = sum(len(member.holders) for member in answered)
    asked = f"the {number_of(len(answered), 'queue manager')}{' that answered' if silent else ''}"
    if not answered:
        words = "no queue manager answered"
    elif count:
        words = f"{number_of(count, 'handle')} on {number(len(where))} of {asked}"
    else:
        words = f"no handle is open on {asked}"
    yield from _text(f"{safe(holders.queue.name)}: {words}", width, Tone.STRONG)
    if silent:
        yield from _text(f"{Health.UNKNOWN}  {UNKNOWN} of {', '.join(silent)}", width, Tone.UNKNOWN)


def _member(member: MemberHolders, now: int, width: int) -> Iterator[Line]:
    name = safe(member.queue_manager)
    asked = f"; asked {age(now - member.at)} ago"
    tone = Tone.STALE if now - member.at >= OLD_MS else Tone.FAINT
    if member.problem:
        words = f"{Health.UNKNOWN}  {name}: {UNKNOWN} who has it open: {safe(member.problem).rstrip('.')}{asked}"
        yield from _text(words, width, Tone.UNKNOWN)
    else:
        count = len(member.holders)
        words = (
            f"{name}: {number_of(count, 'handle')}: {_uses(member.holders)}"
            if count
            else f"no handle is open on {name}"
        )
        yield from _headline(words, f"{asked}, answered in {duration_us(member.took_ms * 1000)}", tone, width)
    yield from _in_doubt(member.holders, width)
    for note in member.notes:
        yield from _text(f"{Health.UNKNOWN.glyph} {safe(note)}", width, Tone.UNKNOWN)
    yield from _rows(_holder_rows(member.holders), member.queue_manager, width)


def _in_doubt(holders: Sequence[Holder], width: int) -> Iterator[Line]:
    """Units of work in doubt, and the MQSC command that displays them."""
    bad = [health for health in map(health_of_unit, holders) if health is not Health.OK]
    if not bad:
        return
    health = worst(bad)
    state = "UNRESOLVED" if health is Health.CRITICAL else "PREPARED"
    words = f"{health}  {number_of(len(bad), 'handle')} with a unit of work in doubt: its messages stay locked until it is resolved"
    yield from _text(words, width, tone_of(health))
    command = f"MQSC: DISPLAY CONN(*) WHERE(UOWSTATE EQ {state}) ALL"
    yield from _text(command, width, Tone.STRONG, first=_INDENT, rest=_INDENT * 2)


def _headline(words: str, asked: str, tone: Tone, width: int) -> Iterator[Line]:
    if cells(words) + cells(asked) <= width:
        yield Line((Span(words, Tone.STRONG), Span(asked, tone)))
        return
    yield from _text(words, width, Tone.STRONG)
    yield from _text(asked.removeprefix("; "), width, tone, first=_INDENT)


def _uses(holders: Sequence[Holder]) -> str:
    """Counts by open option. A handle with two options counts for both."""
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
    unknown = sum(each.input not in ("NO", "EXCL", "SHARED") or each.output is None for each in holders)
    if unknown:
        parts = [each for each in parts if each != "none for input"]
        parts.append(f"{number(unknown)} with options {UNKNOWN}")
    return ", ".join(parts)


def _rows(rows: Sequence[_HolderRow], owner: str, width: int) -> Iterator[Line]:
    if not rows:
        return
    columns = text_columns(_TITLES, [row.cells for row in rows], right=("Handles",))
    unknown = all(row.cells[-1].tone is Tone.ABSENT for row in rows)
    if unknown:
        # Once below, and not once a row.
        columns = [each for each in columns if each.title != "Unit of work"]
    keys = [_channel(owner, row) for row in rows]
    yield from table_lines(columns, keys, width, folded=_FURTHER, first=("Type", "User", "Job"))
    if unknown:
        yield from _text(f"units of work: {UNKNOWN}", width, Tone.ABSENT, first=_INDENT, rest=_INDENT * 2)


def _channel(owner: str, row: _HolderRow) -> str:
    """The whole name of the channel; empty where there is none, or where it could not be parsed."""
    name = ObjectName(owner, "channel", row.channel)
    # An invalid name may not have a whole name that can be parsed.
    return str(name) if row.channel and owner and "/" not in owner else ""


def _text(text: str, width: int, tone: Tone, *, first: str = "", rest: str = _INDENT) -> list[Line]:
    return wrapped(text, width, tone, first=first, rest=rest)

"""Handles that look alike as one row of words: who they are, what they have the queue open for, and how they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mqvitals_agent.text.figure import number
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone, tone_of
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.table import Cell
from mqvitals_agent.who.holder import HandleInstance, Holder

UNKNOWN = "not known"

_IN_DOUBT = {"UNRESOLVED": Health.CRITICAL, "PREPARED": Health.WARNING}
"""States of a unit of work that is in doubt: nobody else gets what it holds before its coordinator has decided.

PREPARED passes by itself as a rule; UNRESOLVED waits for a coordinator that is not there.
"""


@dataclass(frozen=True, slots=True)
class HolderRow:
    """``count`` handles in words that are safe for a terminal; ``via`` is empty of a local application,
    ``channel`` is the channel's bare name.

    ``unit_of_work`` is empty where there is none. ``health`` is OK but for a unit of work in doubt.
    """

    count: int
    application: str
    type: str
    job: str
    user: str
    how: Cell
    channel: str
    via: str
    unit_of_work: Cell
    health: Health


def holder_rows(holders: Iterable[Holder]) -> tuple[HolderRow, ...]:
    """Those that look alike together: what is in doubt first, then who keeps others out, who reads, who writes."""
    alike: dict[Holder, list[Holder]] = {}
    for each in holders:
        alike.setdefault(_looks(each), []).append(each)
    ordered = sorted(alike.items(), key=lambda item: _order(item[0], len(item[1])))
    return tuple(_row(looks, group) for looks, group in ordered)


def counted(count: int, one: str, many: str = "") -> str:
    """``1 handle``, ``2 handles``."""
    return f"{number(count)} {one if count == 1 else many or f'{one}s'}"


def _looks(each: Holder) -> Holder:
    """What handles have in common that stand in one row: not the task, nor the region, nor whether a call is in progress just now."""
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
    """How bad its unit of work is: OK unless it is in doubt."""
    unit = None if each.connection is None else each.connection.unit_of_work
    return Health.OK if unit is None else _IN_DOUBT.get(unit.state, Health.OK)


def _row(each: Holder, group: Sequence[Holder]) -> HolderRow:
    application = safe(each.application) or "(no name)"
    if each.description and each.description != each.application:
        application += f" ({safe(each.description)})"
    return HolderRow(
        len(group),
        application,
        safe(each.application_type),
        _job(each, group),
        safe(each.user),
        _how(each, group),
        each.channel,
        _via(each),
        _unit_of_work(group[0] if len(group) == 1 else each),
        health_of_unit(each),
    )


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
        return counted(len(names), word)
    return f"{word} {safe(names[0])}" if names else ""


def _how(each: Holder, group: Sequence[Holder]) -> Cell:
    """What it was opened for, in the words of DISPLAY QSTATUS, and what it does with it now."""
    parts = [] if each.input == "NO" else [f"IN {safe(each.input)}" if each.input else "IN not told"]
    flags = (("OUT", each.output), ("BROWSE", each.browse), ("INQUIRE", each.inquire), ("SET", each.set))
    parts += [word for word, flag in flags if flag]
    words = ", ".join(parts) or ("nothing" if not any(flag is None for _, flag in flags) else "not told")
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
    parts.append("msgs not told" if each.msgs is None else counted(each.msgs, "msg"))
    if each.last_message:
        parts.append(f"last {safe(each.last_message)}")
    if each.remote_application:
        parts.append(safe(each.remote_application))
    if each.user:
        parts.append(f"user {safe(each.user)}")
    words = ", ".join(parts)
    return words if each.count == 1 else f"{counted(each.count, 'instance')}, the newest: {words}"


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
    words += f" since {safe(unit.began)}" if unit.began else f", since when is {UNKNOWN}"
    if unit.log_began and unit.log_began != unit.began:
        words += f", in the log since {safe(unit.log_began)}"
    if connection.count > 1:
        words += f" (the oldest of {counted(connection.count, 'connection')} that it may be)"
    health = health_of_unit(each)
    if health is Health.OK:
        return Cell(words)
    if connection.identifier:
        words += f", CONN {safe(connection.identifier)}"
    return Cell(f"{health.glyph} IN DOUBT: {words}", tone_of(health))

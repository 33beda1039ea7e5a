"""The agent screen: what became of the commands that were sent to each queue manager, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqvitals_agent.view.figure import age, number, size
from mqvitals_agent.view.severity import WIDEST, Health, worst
from mqvitals_agent.view.table import Item, Line, Span, Tone, line, tone_of
from mqvitals_agent.view.text import cells, fit, safe, wrap
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

_WELL = (Outcome.OK.value, Outcome.NOT_FOUND.value)


def agent_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """A line for each queue manager; the table below them has ``columns("agent")`` over ``frame.items``."""
    if not frame.status.queue_managers:
        return (line("No queue manager has been asked yet", Tone.UNKNOWN),)
    owners: dict[str, list[Item]] = {}
    for item in frame.items:
        owners.setdefault(item.name.owner, []).append(item)
    intervals = {member.name: member.interval_ms for member in frame.situation.members}
    name_width = min(max(cells(safe(member.name)) for member in frame.status.queue_managers), 20)
    lines = []
    for member in frame.status.queue_managers:
        items = owners.get(member.name, [])
        key = f"{member.name}/queue_manager"
        reach = {True: "connected", False: "not reachable", None: "never reached"}[member.reachable]
        health = worst(
            [item.health for item in items] + [Health.OK if member.reachable and not member.stale else Health.UNKNOWN]
        )
        head = f"{fit(str(health), WIDEST)}  {fit(safe(member.name), name_width)}"
        words = (
            f"{'stale' if member.stale else reach}, seen {age(member.age_ms)} ago, a snapshot every "
            f"{age(intervals[member.name])}; {_counted(items)}"
        )
        first, *rest = wrap(words, width, first=f"{head}  ", rest=" " * (WIDEST + 2))
        tone = Tone.STALE if member.stale else Tone.PLAIN
        lines.append(Line((Span(first[:WIDEST], tone_of(health)), Span(first[WIDEST:], tone)), key))
        lines += [line(each, tone, key) for each in rest]
    return tuple(lines)


def _counted(items: Iterable[Item]) -> str:
    items = list(items)
    if not items:
        return "nothing has been asked of it"
    failed = sum(_value(item, "outcome") not in _WELL for item in items)
    fine = "all answered" if not failed else f"{number(failed)} not answered as they should be"
    replies, data, took = (
        sum(_value(item, name) or 0 for item in items) for name in ("replies", "bytes", "elapsed_ms")
    )
    return (
        f"{number(len(items))} command{'' if len(items) == 1 else 's'}, {fine}; "
        f"when last asked: {number(replies)} messages, {size(data)}, {number(took / 1000)} s"
    )


def _value(item: Item, name: str) -> float | None:
    told = item.values.get(name)
    return None if told is None or isinstance(told.value, Absence | str) else told.value

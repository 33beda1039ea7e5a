"""The tasks of channel initiators in their newest SMF interval: how busy each adapter, dispatcher, TLS and DNS task
was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import number
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import fit, safe, wrap
from mqvitals_agent.view.figures.table import Cell, Item, short_absence, short_figure, value_cell
from mqvitals_agent.view.figures.values import (
    Values,
    natural_order,
    newest_record,
    number_in,
    record_words,
    trace_words,
)
from mqvitals_agent.view.lists.items import health_by_object, health_of_item
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

TASKS = ("adapter", "dispatcher", "ssl_task", "dns_task")
"""The kinds of tasks, in the order in which they are shown."""

_PLURAL = {"adapter": "adapters", "dispatcher": "dispatchers", "ssl_task": "TLS tasks", "dns_task": "DNS task"}
_STARTED = {"adapter": "adapters", "dispatcher": "dispatchers", "ssl_task": "ssltasks"}
"""How the channel initiator's own metrics of a kind of task begin."""

_TITLES = {
    "busy_pct": "Busy",
    "cpu_pct": "CPU",
    "requests": "Requests",
    "avg_elapsed_us": "Time/req",
    "avg_cpu_us": "CPU/req",
    "channels": "Channels",
    "longest_us": "Longest",
}
"""The columns: metrics and their titles. Only dispatchers have channels, only TLS and DNS tasks a longest request."""

_WIDTH = 8
_WIDE = 96
"""From which width on there is room for the last column."""

_LEAD = 6
"""Cells before the bar: a mark and the task's number."""

_BAR, _MOST_BAR = 10, 30
_SET_MS = 1_000
"""Many tasks take several records, whose ends may differ by this, ms."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


def read_tasks(reader: StoreReader, status: GroupStatus, owners: Sequence[str]) -> tuple[Item, ...]:
    """The tasks of the channel initiators of ``owners`` in the newest record of each. Raises StoreError."""
    by_object = health_by_object(status.alerts)
    items: list[Item] = []
    for owner in owners:
        stale = owner in status.stale
        for kind in TASKS:
            found = reader.current_by_kind(owner, kind, [name for name in _TITLES if KINDS[kind].metric(name)])
            ends = [latest.ts for values in found.values() if (latest := values.get("requests")) and latest.ts]
            # A task that is not in the newest record no longer exists.
            kept = {
                name: values for name, values in found.items() if (_end(values) or 0) + _SET_MS >= max(ends, default=0)
            }
            items += [
                Item(name, health_of_item(name, values, by_object, stale=stale), values, stale)
                for name, values in sorted(kept.items(), key=lambda pair: natural_order(pair[0]))
            ]
    return tuple(items)


def with_tasks(initiators: Sequence[Item], tasks: Sequence[Item]) -> tuple[Item, ...]:
    """The channel initiators, each with the health of its worst task, the worst first."""
    worst: dict[str, Health] = {}
    for item in tasks:
        if item.health >= Health.WARNING:
            worst[item.name.owner] = max(worst.get(item.name.owner, Health.OK), item.health)
    shown = [item._replace(health=max(item.health, worst.get(item.name.owner, item.health))) for item in initiators]
    return tuple(sorted(shown, key=lambda item: -item.health))


def task_lines(initiator: Item, tasks: Sequence[Item], now: int, width: int) -> tuple[Line, ...]:
    """The tasks of ``initiator`` that are among ``tasks``, a part for each kind and a line for each task; its key
    opens it.

    Without tasks, their number as far as it is known, and how to collect records.
    """
    lines: list[Line] = []
    titled = False
    for kind in TASKS:
        items = [item for item in tasks if item.name.owner == initiator.name.owner and item.name.kind == kind]
        if items or kind in ("adapter", "dispatcher"):
            lines.append(heading(_title(kind, items, initiator, now), width))
        if items:
            lines += [] if titled else [_columns(width)]
            lines += [_row(item, width) for item in items]
            titled = True
        elif kind in ("adapter", "dispatcher"):
            how = f": {trace_words(initiator.name.kind)}" if kind == "adapter" else ""
            words = wrap(f"{Absence.NEEDS_SMF.value}{how}", width, first="  ", rest="    ")
            lines += [line(each, Tone.ABSENT) for each in words]
    return tuple(lines)


def _title(kind: str, items: Sequence[Item], initiator: Item, now: int) -> str:
    """``QM01 adapters: 8 of 8 started, unused 2 (SMF 12:00, 14m05s ago)``."""
    parts = [_started(kind, initiator.values)]
    if items and not parts[0] and kind != "dns_task":
        parts[0] = number(len(items))
    if items and kind != "dns_task":
        parts.append(f"unused {number(sum(_value(item, 'requests') == 0 for item in items))}")
    counts = ", ".join(filter(None, parts))
    record = newest_record(items[0].values, ("requests",)) if items else None
    when = "" if record is None else f" ({record_words(record, now)})"
    return f"{safe(initiator.name.owner)} {_PLURAL[kind]}{f': {counts}' if counts else ''}{when}"


def _shown(width: int) -> tuple[str, ...]:
    return tuple(_TITLES)[: None if width >= _WIDE else -1]


def _bar_cells(width: int) -> int:
    """The cells that the columns leave, within limits."""
    return min(max(width - _LEAD - (2 + _WIDTH) * len(_shown(width)), _BAR), _MOST_BAR)


def _columns(width: int) -> Line:
    titles = "".join(f"  {fit(_TITLES[name], _WIDTH, right=True)}" for name in _shown(width))
    return line(f"{' ' * (_LEAD + _bar_cells(width))}{titles}", Tone.FAINT)


def _row(item: Item, width: int) -> Line:
    mark = item.health.glyph if item.health >= Health.WARNING else " "
    spans = [Span(f"{mark} ", tone_of(item.health)), Span(f"{fit(safe(item.name.name), 3, right=True)} ", Tone.STRONG)]
    room = _bar_cells(width)
    if _value(item, "requests") == 0:
        spans.append(Span(fit("unused", room), Tone.FAINT))
    else:
        tone = _cell(item, "busy_pct").tone
        spans.append(Span(fit(bar(_value(item, "busy_pct"), room), room), tone))
    for name in _shown(width):
        cell = _cell(item, name)
        spans += [Span("  "), Span(fit(cell.text, _WIDTH, right=True), cell.tone)]
    return Line(tuple(spans), item.key)


def bar(share: float | None, width: int) -> str:
    """A bar of at most ``width`` cells for a percentage; a small share has at least an eighth of a cell."""
    if share is None:
        return ""
    eighths = round(min(max(share, 0.0), 100.0) / 100 * width * 8)
    whole, rest = divmod(max(eighths, 1) if share > 0 else eighths, 8)
    return ("█" * whole + _EIGHTHS[rest]).rstrip()


def _cell(item: Item, name: str) -> Cell:
    metric = KINDS[item.name.kind].metric(name)
    latest = item.values.get(name)
    if metric is None:
        return Cell("")
    if latest is not None and (
        latest.value is Absence.NOTHING_TO_TELL or (name == "longest_us" and _value(item, "requests") == 0)
    ):
        # An unused task has no request that could have taken time.
        return Cell(short_absence(Absence.NOTHING_TO_TELL), Tone.FAINT)
    return value_cell(latest, lambda each: short_figure(each.value, metric), item, main=name == "busy_pct")


def _value(item: Item, name: str) -> float | None:
    return number_in(item.values.get(name))


def _end(values: Values) -> int | None:
    requests = values.get("requests")
    return None if requests is None else requests.ts


def _started(kind: str, values: Values) -> str:
    """``8 of 8 started``; empty where that is not known."""
    begin = _STARTED.get(kind)
    if begin is None:
        return ""
    started, most = (_plain(values.get(f"{begin}_{end}")) for end in ("started", "max"))
    return "" if started is None else f"{started} of {most or '?'} started"


def _plain(latest: CurrentValue | None) -> str | None:
    value = number_in(latest)
    return None if value is None else number(value)

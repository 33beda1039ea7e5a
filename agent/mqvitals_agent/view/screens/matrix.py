"""Lists as matrices: what there is as rows, queue managers as columns, a meter or a word in each cell.

A matrix answers at a glance what a list answers line by line: which queue manager is unlike the others. Every cell with
something in it is a part of its line, so that Enter opens it. Queue managers that do not fit beside each other follow
below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.text.figure import figure, short_age
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Part, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.figures.meter_columns import with_meter
from mqvitals_agent.view.figures.table import Cell, Column, Item, cell_spans, metric_column, value_cell
from mqvitals_agent.view.figures.values import natural_order
from mqvitals_agent.view.lists.columns import COLUMNS, fitted
from mqvitals_agent.view.lists.columns import GAP as COLUMN_GAP
from mqvitals_agent.view.lists.items import matching
from mqvitals_agent.view.lists.tasks import TASKS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

_LEAST_CELL, _LEAST_WORD, _WIDEST_CELL = 15, 12, 30
"""Cells of a column: with fewer a meter has no room, or a word."""
_LONGEST_LABEL: Final = 20
_WELL: Final = "ACTIVE"
_GAP: Final = 1


class _MatrixCell(NamedTuple):
    """What stands in one place of a matrix, and the object that it is about; ``signed``: with the sign of its state."""

    item: Item
    cell: Cell
    signed: bool = True


@dataclass(frozen=True, slots=True)
class MatrixSection:
    """Rows of a matrix: their labels, in order, and what stands in each, by the name of the column."""

    title: str
    rows: Mapping[str, Mapping[str, _MatrixCell]]


def storage_matrix(frame: Frame, width: int, text: str = "") -> tuple[Line, ...]:
    """Buffer pools by what is free, and page sets by what is used, of each queue manager."""
    items = matching(frame.items, text)
    free, used = (_column("storage", name) for name in ("free_pct", "used"))
    return _matrix(
        frame,
        (
            _section("Buffer pools, free", items, "buffer_pool", free, frame.now, "pool"),
            _section("Page sets, used", items, "page_set", used, frame.now, "page set"),
        ),
        width,
        text,
    )


def structure_matrix(frame: Frame, width: int, text: str = "") -> tuple[Line, ...]:
    """Structures by the connection of each queue manager; below them their data sets and who has these open, and what each
    structure holds, when it is full, and how it is recovered.
    """
    items = matching(frame.items, text)
    structures = [each for each in items if each.name.kind == "cf_structure"]
    entries = _column("cf_structure", "entries_pct")
    rows: dict[str, dict[str, _MatrixCell]] = {}
    for item in sorted(structures, key=lambda each: natural_order(each.name)):
        row = rows.setdefault(safe(item.name.name), {})
        row[ENTRIES] = _MatrixCell(item, entries.cell(item, frame.now))
        connections = item.values.get("connections")
        for owner, word in _connections(item).items():
            tone = Tone.PLAIN if word == _WELL else Tone.STRONG
            # Stale where the structure is.
            shown = value_cell(connections, lambda _: "", item, main=False)._replace(text=safe(word))
            shown = shown._replace(tone=tone) if shown.tone is Tone.PLAIN else shown
            # The state is that of the structure, not of each connection.
            row[owner] = _MatrixCell(item, shown, signed=item.stale)
    used = _column("smds", "used_pct")
    status = _word("smds_connection", "status")
    lines = _matrix(
        frame,
        (
            MatrixSection("Structures, connections", rows),
            _section("Shared message data sets, used", items, "smds", used, frame.now, owner_in_name=True),
            _section("Their connections", items, "smds_connection", status, frame.now),
        ),
        width,
        text,
        _LEAST_WORD,
    )
    return (*lines, *_table("Structures, contents and recovery", structures, width, frame.now))


_ABOVE: Final = frozenset({"entries_pct", "age"})
"""Columns of the list of structures that their matrix has."""


def _table(title: str, structures: Sequence[Item], width: int, now: int) -> Iterable[Line]:
    """A line for each structure with the columns of their list, as many as there is room for."""
    if not structures:
        return
    shown = [each for each in COLUMNS["cf_structure"] if each.id not in _ABOVE]
    # Room that nothing needs stays at the right: the names of structures are short.
    longest = max(cells(item.name.name) for item in structures)
    columns = [
        replace(each, width=min(each.width, max(longest, cells(each.title)))) if each.id == "name" else each
        for each in fitted(shown, width)
    ]
    gap = " " * COLUMN_GAP
    yield heading(title, width)
    titles = (fit(each.title, each.width, right=each.right) for each in columns)
    yield line(gap.join(titles), Tone.FAINT)
    for item in sorted(structures, key=lambda each: natural_order(each.name)):
        spans: list[Span] = []
        for column in columns:
            spans += cell_spans(column.cell(item, now), column)
            spans.append(Span(gap))
        size = sum(cells(span.text) for span in spans[:-1])
        yield Line(tuple(spans[:-1]), str(item.name), parts=(Part(0, size, str(item.name)),))


ENTRIES: Final = "entries"
"""The column of what the group itself has of a structure."""


def task_matrix(frame: Frame, width: int, text: str = "") -> tuple[Line, ...]:
    """The channel initiators' instances and tasks: how many run, and how busy each was in its newest SMF interval."""
    items = matching(frame.items, text)
    columns = {each.id: each for each in COLUMNS["channel_initiator"]}
    started = {
        title: columns[name]
        for title, name in (
            ("instances", "current"),
            ("adapters", "adapters_started"),
            ("  unused", "adapters_unused"),
            ("dispatchers", "dispatchers_started"),
            ("TLS tasks", "ssltasks_started"),
        )
    }
    rows = {
        title: {item.name.owner: _MatrixCell(item, column.cell(item, frame.now)) for item in items}
        for title, column in started.items()
    }
    here = {item.name.owner for item in items}
    tasks = [item for item in frame.tasks if item.name.owner in here]
    sections = [MatrixSection("Channel initiators, in use or started of configured", rows)]
    for kind in TASKS:
        busy = with_meter(metric_column(kind, "busy_pct", "Busy", 8, True), 6)  # noqa: FBT003 - a main figure
        word = kind.replace("_", " ").replace("ssl", "TLS").replace("dns", "DNS")
        sections.append(_section(f"{word}s, busy", tasks, kind, busy, frame.now, word))
    return _matrix(frame, sections, width, text)


def _column(kind: str, name: str) -> Column:
    return next(each for each in COLUMNS[kind] if each.id == name)


def _word(kind: str, name: str) -> Column:
    """A column of the word of a state."""
    metric = metric_of(kind, name)
    column = metric_column(kind, name, "", _LEAST_CELL)
    return replace(
        column,
        cell=lambda item, _: value_cell(
            item.values.get(name), lambda each: figure(each.value, metric), item, main=True
        ),
    )


def _connections(item: Item) -> dict[str, str]:
    """Queue manager -> the status of its connection to a structure: ``QM01 ACTIVE, QM02 FAILED-PERSISTENT``."""
    latest = item.values.get("connections")
    if latest is None or not isinstance(latest.value, str):
        return {}
    pairs = (each.strip().partition(" ") for each in latest.value.split(","))
    return {owner: word for owner, _, word in pairs if word}


def _section(
    title: str,
    items: Iterable[Item],
    kind: str,
    column: Column,
    now: int,
    prefix: str = "",
    *,
    owner_in_name: bool = False,
) -> MatrixSection:
    """The objects of a kind: a row for each name, a column for each owner.

    ``owner_in_name``: the owner is the group, and the name ends in the queue manager.
    """
    rows: dict[str, dict[str, _MatrixCell]] = {}
    for item in sorted((each for each in items if each.name.kind == kind), key=lambda each: natural_order(each.name)):
        name, owner = item.name.name, item.name.owner
        if owner_in_name:
            name, _, owner = name.rpartition("/")
        label = safe(f"{prefix} {name}".strip())
        rows.setdefault(label, {})[owner] = _MatrixCell(item, column.cell(item, now))
    return MatrixSection(title, rows)


def _matrix(
    frame: Frame, sections: Sequence[MatrixSection], width: int, text: str, least: int = _LEAST_CELL
) -> tuple[Line, ...]:
    """The sections below each other, in columns of at least ``least`` cells."""
    sections = [each for each in sections if any(each.rows.values())]
    if not sections:
        return (line("Nothing matches the filter" if text and frame.items else "None is known", Tone.FAINT),)
    found = {owner for section in sections for row in section.rows.values() for owner in row}
    owners = [ENTRIES] if ENTRIES in found else []
    owners += [each.name for each in frame.data.members if each.name in found]
    owners += sorted(found - set(owners))
    labels = max(cells(label) for section in sections for label in section.rows)
    label = min(labels, _LONGEST_LABEL)
    beside = max((width - label) // (least + _GAP), 1)
    bands = [owners[at : at + beside] for at in range(0, len(owners), beside)]
    size = min((width - label) // len(bands[0]) - _GAP, _WIDEST_CELL)
    lines: list[Line] = []
    for band in bands:
        lines.append(_head(frame, band, label, size))
        for section in sections:
            rows = {name: row for name, row in section.rows.items() if any(owner in row for owner in band)}
            if rows:
                lines.append(heading(section.title, width))
                lines += (_line(name, row, band, label, size) for name, row in rows.items())
    return tuple(lines)


def _head(frame: Frame, band: Sequence[str], label: int, size: int) -> Line:
    """The queue managers, each with its sign and the age of what it reported last."""
    health = {each.name: each for each in frame.status.queue_managers}
    spans = [Span(" " * label)]
    for owner in band:
        known = health.get(owner)
        sign = "" if known is None else f"{known.health.glyph} "
        age = "" if known is None else f" {short_age(known.age_ms)}"
        tone = Tone.FAINT if known is None else tone_of(known.health)
        name = cut(safe(owner), max(size - cells(sign) - cells(age), 1))
        rest = size - cells(sign) - cells(name) - cells(age)
        spans += [Span(" " * _GAP), Span(sign, tone), Span(name, Tone.STRONG), Span(f"{age}{' ' * rest}", Tone.FAINT)]
    return Line(tuple(spans))


def _line(name: str, row: Mapping[str, _MatrixCell], band: Sequence[str], label: int, size: int) -> Line:
    worst = max(entry.item.health for entry in row.values())
    spans = [Span(fit(name, label), tone_of(worst) if worst >= Health.WARNING else Tone.STRONG)]
    parts: list[Part] = []
    x = label
    for owner in band:
        spans.append(Span(" " * _GAP))
        x += _GAP
        entry = row.get(owner)
        if entry is None:
            spans.append(Span(" " * size))
        else:
            spans += _cell(entry, size)
            parts.append(Part(x, x + size, str(entry.item.name)))
        x += size
    return Line(tuple(spans), parts[0].key, parts=tuple(parts))


def _cell(entry: _MatrixCell, size: int) -> Iterable[Span]:
    """The sign of what is ill or unknown, and the cell: its meter, or its text at the left."""
    health = entry.item.health
    sign = health.glyph if entry.signed and health >= Health.UNKNOWN else " "
    shape = replace(_SHAPE, width=size - 2, right=entry.cell.fill is not None)
    return (Span(f"{sign} ", tone_of(health)), *cell_spans(entry.cell, shape))


_SHAPE: Final = _column("storage", "used")
"""The column that gives cells their shape."""

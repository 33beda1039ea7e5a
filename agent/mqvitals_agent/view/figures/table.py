"""A table as data: items, and columns that show and sort them. Cells are made only for the lines in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure, moment, number, quantity, rough_age, short_age, told_moment, whole
from mqvitals_agent.text.meter import LEAST_WIDTH, Fill
from mqvitals_agent.text.severity import WIDEST, Health
from mqvitals_agent.text.styled import Span, Tone, tone_of
from mqvitals_agent.text.terminal import cells, cut_middle, fit, safe
from mqvitals_agent.view.figures.values import MAIN_METRIC, PER_SECOND, RATE, natural_order, number_in, plain_number
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import MINUTE_MS
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import metric as metric_of


class Cell(NamedTuple):
    """One cell's text (safe for a terminal) and its tone; ``fill``: the meter before it, as wide as there is room."""

    text: str
    tone: Tone = Tone.PLAIN
    fill: Fill | None = None


Serving = Mapping[tuple[str, str], Sequence[tuple[ObjectName, CurrentValue]]]
"""(owner, transmission queue) -> its channels, each with its status."""


_NO_CHANNELS: Final[Serving] = {}


class Item(NamedTuple):
    """One object of a list: its name, its health and its latest values. ``stale``: its owner is stale. ``serving``: the
    channels of all transmission queues, in a list of queues. ``rules``: those in force for the object, of which meters take
    their ticks.
    """

    name: ObjectName
    health: Health
    values: Mapping[str, CurrentValue]
    stale: bool = False
    serving: Serving = _NO_CHANNELS
    rules: tuple[CompiledRule, ...] = ()

    @property
    def key(self) -> str:
        """The whole name, by which a cursor follows the item."""
        return str(self.name)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: title with the unit, width in cells, and its cell for an item as of ``now``.

    ``order`` gives a key to sort by, the smallest first; absent values come last either way (None). ``metrics`` are
    those that it needs: kind and name. ``both_ends``: a text that is too long loses its middle, not its end.
    ``widest``: the cells that it takes where there is room, for a longer meter; 0: no more than ``width``. ``figure``: the
    cells of its text beside a meter.
    """

    id: str
    title: str
    width: int
    cell: Callable[[Item, int], Cell]
    order: Callable[[Item], float | str | None]
    right: bool = False
    metrics: tuple[tuple[str, str], ...] = ()
    both_ends: bool = False
    widest: int = 0
    figure: int = 0


_SHORT = {
    Absence.NOT_COLLECTED: "off",
    Absence.NOT_ON_ZOS: "not z/OS",
    Absence.NOT_ON_DISTRIBUTED: "z/OS only",
    Absence.NOT_AUTHORISED: "refused",
    Absence.NOT_ASKED: "not asked",
    Absence.NOT_RETURNED: "missing",
    Absence.NO_ANSWER: "no answer",
    Absence.UNREACHABLE: "unreachable",
    Absence.STALE: "stale",
    Absence.AWAITED: "awaited",
    Absence.NEEDS_SMF: "needs SMF",
    Absence.NEEDS_STATISTICS: "needs stats",
    Absence.NEEDS_CONSOLE: "no console",
    Absence.NEEDS_EVENTS: "no events",
    Absence.NOT_DECLARED: "undeclared",
    Absence.NOT_LIVE: "not live",
    Absence.TIME_ZONE_UNKNOWN: "time zone?",
    Absence.FIRST_READING: "first",
    Absence.RESET: "reset",
    Absence.RESTARTED: "restarted",
    Absence.NOT_KEPT: "not kept",
    Absence.SATURATED: "saturated",
    Absence.OUT_OF_RANGE: "range",
    Absence.INACTIVE: "inactive",
    Absence.OFFLINE: "offline",
    Absence.NOT_IN_USE: "not in use",
    Absence.NOTHING_TO_TELL: "none",
    Absence.WINDOW: "too short",
}
"""The reason of an absence where there is little room."""


def short_absence(absence: Absence) -> str:
    """The reason of an absence in at most eleven cells."""
    return _SHORT[absence]


def value_cell(latest: CurrentValue | None, text: Callable[[CurrentValue], str], item: Item, *, main: bool) -> Cell:
    """A figure, or why there is none; a ``main`` figure takes the tone of an item with an alert."""
    if latest is None:
        return Cell(_SHORT[Absence.NOT_ASKED], Tone.ABSENT)
    if isinstance(latest.value, Absence):
        lost = latest.value in (Absence.UNREACHABLE, Absence.NO_ANSWER, Absence.STALE)
        return Cell(_SHORT[latest.value], Tone.UNKNOWN if lost else Tone.ABSENT)
    if item.stale or latest.unanswered is not None:
        return Cell(text(latest), Tone.STALE)
    if main and item.health >= Health.WARNING:
        return Cell(text(latest), tone_of(item.health))
    return Cell(text(latest))


_COUNTED = frozenset({"messages", "count", "number", "buffers", "pages", "blocks", "per_s"})
"""Units that are in the title, so that a cell is only the number."""


def short_figure(value: Reported, metric: Metric) -> str:
    """A figure for a narrow column: without the unit where the title has it; a moment without its zone, which the
    header names."""
    if isinstance(value, str) and (told := told_moment(value, metric)) is not None:
        return moment(told)
    if isinstance(value, int | float) and (word := metric.word_of(value)):
        return word
    if metric.name == "max_depth" and isinstance(value, int | float):
        return whole(value)
    if isinstance(value, int | float) and metric.type in (MetricType.GAUGE, MetricType.COUNTER):
        if metric.unit in _COUNTED:
            return number(value)
        if metric.unit == "s":
            return short_age(round(1000 * value))
        if metric.unit == "ms":
            return short_age(round(value)) if value >= 1000 else f"{number(value)} ms"
    return figure(value, metric)


STATE = Column(
    "health",
    "State",
    WIDEST,
    lambda item, _: Cell(str(item.health), tone_of(item.health)),
    lambda item: -int(item.health),
)
"""The health of an object, the worst first."""


def name_column(title: str, width: int) -> Column:
    """The object's name; where it has none, its owner's."""
    return Column(
        "name",
        title,
        width,
        lambda item, _: Cell(safe(item.name.name or item.name.owner), Tone.STRONG),
        lambda item: "\x00".join(f"{part:>10}" if isinstance(part, int) else part for part in natural_order(item.name)),
    )


OWNER = Column("owner", "Queue manager", 13, lambda item, _: Cell(safe(item.name.owner)), lambda item: item.name.owner)
"""The queue manager or group that holds it."""


_AGE = 6


def _newest(item: Item) -> int | None:
    main = item.values.get(MAIN_METRIC[item.name.kind])
    if main is not None and main.ts is not None:
        return main.ts
    return max((latest.ts for latest in item.values.values() if latest.ts is not None), default=None)


def _age_cell(item: Item, now: int) -> Cell:
    ts = _newest(item)
    if ts is None:
        return Cell("never", Tone.ABSENT)
    old = short_age(now - ts)
    return Cell(old if cells(old) <= _AGE else rough_age(now - ts), Tone.STALE if item.stale else Tone.FAINT)


def _age_order(item: Item) -> float | None:
    ts = _newest(item)
    return None if ts is None else -float(ts)


AGE = Column("age", "Age", _AGE, _age_cell, _age_order, right=True)
"""How old the object's main figure is."""

_SENDING = frozenset({"xmitq_msgs", "nettime_us_short"})
"""Metrics that only channels with a transmission queue have."""

_RECEIVING = frozenset(CHANNEL_TYPE[word] for word in ("RCVR", "RQSTR", "CLUSRCVR", "SVRCONN") if word in CHANNEL_TYPE)


def _only_receives(item: Item, name: str) -> bool:
    latest, kind = item.values.get(name), item.values.get("type")
    lacks = latest is None or latest.value in (Absence.NOT_RETURNED, Absence.NOT_ASKED)
    return lacks and kind is not None and kind.value in _RECEIVING


def metric_column(kind: str, name: str, title: str, width: int, main: bool = False) -> Column:  # noqa: FBT001, FBT002
    """A column of one metric of one kind; items of another kind leave it empty.

    A ``main`` figure takes the tone of an item with an alert.
    """
    metric = metric_of(kind, name)
    words = metric.type in (MetricType.STATE, MetricType.TEXT)

    def cell(item: Item, _: int) -> Cell:
        if item.name.kind != kind:
            return Cell("")
        if kind == "channel" and name in _SENDING and _only_receives(item, name):
            return Cell("n/a", Tone.FAINT)
        return value_cell(item.values.get(name), lambda latest: short_figure(latest.value, metric), item, main=main)

    def order(item: Item) -> float | str | None:
        latest = item.values.get(name) if item.name.kind == kind else None
        if latest is None or isinstance(latest.value, Absence):
            return None
        return figure(latest.value, metric) if words else latest.value

    return Column(name, title, width, cell, order, right=not words, metrics=((kind, name),))


def cell_spans(cell: Cell, column: Column) -> tuple[Span, ...]:
    """A cell as it is shown, in exactly the column's width: its text, after a meter where it has one and there is room."""
    fill = cell.fill
    room = column.width - max(column.figure, cells(cell.text)) - 1
    if fill is None or room < LEAST_WIDTH:
        words = cut_middle(cell.text, column.width) if column.both_ends else cell.text
        return (Span(fit(words, column.width, right=column.right), cell.tone),)
    figure_span = Span(f" {fit(cell.text, column.width - room - 1, right=True)}", cell.tone)
    return (*fill.spans(room), figure_span)


def least_column(kind: str, name: str, least: str, title: str, width: int) -> Column:
    """A column of a number; where that is not known but another metric has what it is at least: ``4+``."""
    column = metric_column(kind, name, title, width)
    metric = metric_of(kind, least)

    def cell(item: Item, now: int) -> Cell:
        at_least = item.values.get(least)
        if at_least is None or isinstance(at_least.value, Absence):
            return column.cell(item, now)
        return value_cell(at_least, lambda latest: f"{short_figure(latest.value, metric)}+", item, main=False)

    return replace(column, cell=cell, metrics=((kind, name), (kind, least)))


def record_column(kind: str, name: str, title: str, width: int) -> Column:
    """A column of a metric of SMF records, with the age of the record: ``4 % 14m``, or that it needs SMF."""
    column = metric_column(kind, name, title, width)
    metric = metric_of(kind, name)

    def cell(item: Item, now: int) -> Cell:
        latest = item.values.get(name)
        if item.name.kind == kind and latest is None:
            return Cell(_SHORT[Absence.NEEDS_SMF], Tone.ABSENT)
        shown = column.cell(item, now)
        if latest is None or latest.ts is None or isinstance(latest.value, Absence | str):
            return shown
        value, old = short_figure(latest.value, metric), rough_age(now - latest.ts)
        if metric.unit == "pct" and cells(f"{value} {old}") > width:
            # Rounded down: the lowest value never looks greater than the current one.
            value = f"{int(latest.value)} %"
        return shown._replace(text=f"{value} {old}")

    return replace(column, cell=cell)


def pair_column(kind: str, name: str, of: str, title: str, width: int, *, main: bool = False) -> Column:
    """A column of a figure and its limit: ``8/8``, ``10 of 3 k``. Sorted by the difference."""

    def cell(item: Item, _: int) -> Cell:
        if item.name.kind != kind:
            return Cell("")
        limit = plain_number(item.values.get(of))
        return value_cell(item.values.get(name), lambda latest: _of(plain_number(latest), limit), item, main=main)

    def order(item: Item) -> float | None:
        value, most = number_in(item.values.get(name)), number_in(item.values.get(of))
        return None if value is None or most is None else most - value

    return Column(name, title, width, cell, order, right=True, metrics=((kind, name), (kind, of)))


def _of(value: str, limit: str) -> str:
    # A scaled number contains a blank: a slash would read as if it scaled both.
    return f"{value} of {limit}" if " " in f"{value}{limit}" else f"{value}/{limit}"


def rate_column(kind: str, title: str, width: int, unit: str) -> Column:
    """The increase of a kind's counter a second."""

    def cell(item: Item, _: int) -> Cell:
        return value_cell(
            item.values.get(PER_SECOND),
            lambda latest: _per_second(latest.value, unit) if isinstance(latest.value, int | float) else "",
            item,
            main=False,
        )

    def order(item: Item) -> float | None:
        return number_in(item.values.get(PER_SECOND))

    return Column(PER_SECOND, title, width, cell, order, right=True, metrics=((kind, RATE[kind]),))


REPLY_CPU_US: Final = 50
"""What a reply is assumed to cost the queue manager, in microseconds of processor time of its address space (MSTR)."""


def a_minute(item: Item, metric: str) -> float | None:
    """A figure of each sending of a command, for each minute at the interval in force; None where one is unknown."""
    each, every = number_in(item.values.get(metric)), number_in(item.values.get("every_ms"))
    return None if each is None or not every else each * MINUTE_MS / every


def cpu_column(title: str, width: int) -> Column:
    """The processor time a minute that the replies to a command are assumed to cost the queue manager."""

    def order(item: Item) -> float | None:
        replies = a_minute(item, "replies")
        return None if replies is None else replies * REPLY_CPU_US

    def cell(item: Item, _: int) -> Cell:
        return value_cell(
            item.values.get("every_ms"),
            lambda _: "" if (cost := order(item)) is None else quantity(cost, "us"),
            item,
            main=False,
        )

    return Column("cpu", title, width, cell, order, right=True, metrics=(("agent", "replies"), ("agent", "every_ms")))


def _per_second(value: float, unit: str) -> str:
    return quantity(value if unit == "bytes" else round(value, 1 if value < 10 else None), unit)


_STORAGE_WORDS = {"buffer_pool": "buffer pool", "page_set": "page set"}

STORAGE_NAME = replace(
    name_column("Pool, page set", 14),
    cell=lambda item, _: Cell(f"{_STORAGE_WORDS[item.name.kind]} {safe(item.name.name)}", Tone.STRONG),
)
"""The name of a buffer pool or page set, with its kind."""


def _client_words(item: Item) -> str:
    """A client's address; what others sum up is counted."""
    parts = item.name.name.split("/", 2)
    if len(parts) > 1:
        return safe(parts[1])
    count = number_in(item.values.get("clients"))
    return safe(item.name.name) if count is None else f"{number(count)} {safe(item.name.name)}"


CLIENT_NAME = replace(
    name_column("Client", 18),
    cell=lambda item, _: Cell(_client_words(item), Tone.STRONG),
    order=_client_words,
    metrics=(("client", "clients"),),
)
"""The address of a client."""


def size_column() -> Column:
    """The size of a pool or page set in bytes: its buffers or pages take 4 KB each."""

    def size_of(item: Item) -> CurrentValue | None:
        return item.values.get("total" if item.name.kind == "buffer_pool" else "total_pages")

    def cell(item: Item, _: int) -> Cell:
        return value_cell(
            size_of(item),
            lambda latest: quantity(4096 * latest.value, "bytes") if isinstance(latest.value, int | float) else "",
            item,
            main=False,
        )

    def order(item: Item) -> float | None:
        return number_in(size_of(item))

    metrics = (("buffer_pool", "total"), ("page_set", "total_pages"))
    return Column("size", "Size", 8, cell, order, right=True, metrics=metrics)

"""What the agent knows now as a page of OpenMetrics, or of the older text format.

A metric whose values and labels are those of the last page is not rendered again: most do not change from one scrape
to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Any

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.openmetrics.labels import LabelTexts
from mqvitals_agent.openmetrics.names import INHERITED_PREFIX, Exposed, Family, families_of
from mqvitals_agent.openmetrics.segments import Segment
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.tables import KINDS


class Format(Enum):
    """A form of the page, by its content type."""

    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    TEXT = "text/plain; version=0.0.4; charset=utf-8"


END = {Format.OPENMETRICS: b"# EOF\n", Format.TEXT: b""}
"""How a page ends."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much pages hold: at most ``limit`` series; ``definitions``: also what definitions say and mq_prometheus has not."""

    limit: int
    definitions: bool = True


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page holds: its series, and those that were left out as they are beyond the limit, with their metrics."""

    series: int = 0
    left_out: int = 0
    metrics_left_out: tuple[str, ...] = ()


class Exposition:
    """The current values of ``live``. Use it in one thread at a time.

    ``now`` is the time of the agent, ms UTC; None while its cycles do not go on: then nothing is current.
    """

    def __init__(
        self, live: LiveState, extent: Extent, now: Callable[[], int | None], kinds: Mapping[str, Kind] = KINDS
    ) -> None:
        self._live = live
        self._now = now
        self._texts = {name: LabelTexts(kind) for name, kind in kinds.items()}
        self._queue_managers = LabelTexts(QUEUE_MANAGER_KIND)
        self._metrics = {name: _metrics_of(kind) for name, kind in kinds.items()}
        self.extent = extent
        """May be replaced by another one between two pages."""

    def samples(self, form: Format) -> tuple[list[Segment], PageContent]:
        """All families that have samples now, in the order of the vocabulary."""
        now = self._now()
        states = {} if now is None else self._live.states()
        owners = self._queue_managers.owners(states.get(QUEUE_MANAGER_KIND.name, ()))
        groups = self._live.groups
        rendered: list[_Rendered] = []
        for kind, metrics in self._metrics.items():
            there = states.get(kind, [])
            labels = self._texts[kind].of(there, owners, groups)
            values = [fresh_values(state, now or 0) for state in there]
            for metric in metrics:
                if self.extent.definitions or not metric.is_definition:
                    column = self._column(metric, there, values)
                    for family in metric.families:
                        family.take(labels, column)
                    rendered += metric.families
        kept, content = within_limit(rendered, self.extent.limit)
        return [part for family in kept for part in (family.heads[form], family.segment)], content

    def _column(self, metric: _ExportedMetric, states: list[LatestState], values: list[Mapping[str, Any]]) -> list[Any]:
        """The value of a metric for each object, or what else is known of it."""
        name = metric.name
        column = [known.get(name) for known in values]
        if metric.is_declared:
            # A fact is no sample; what was measured in its place is one.
            return [value if name in state.from_records else None for value, state in zip(column, states, strict=True)]
        if metric.is_counter and not _NUMBERS.isdisjoint(map(type, column)):
            totals = self._live.totals
            return [
                totals.of(state.name).get(name) if type(value) in _NUMBERS else None
                for value, state in zip(column, states, strict=True)
            ]
        return column


_NUMBERS = frozenset({int, float})


class _ExportedMetric:
    """A metric and its families."""

    __slots__ = ("families", "is_counter", "is_declared", "is_definition", "name")

    def __init__(self, kind: Kind, metric: Metric, families: Sequence[Family]) -> None:
        self.name = metric.name
        self.is_counter = metric.type is MetricType.COUNTER
        self.is_declared = metric.declared
        inherited = families[0].name.startswith(INHERITED_PREFIX)
        recorded = RECORDED.get(kind.name, {}).values()
        self.is_definition = not inherited and any(self.name in metrics for metrics in recorded)
        self.families = [_Rendered(family, last=self.is_definition) for family in families]


def _metrics_of(kind: Kind) -> list[_ExportedMetric]:
    return [_ExportedMetric(kind, metric, found) for metric in kind.metrics if (found := families_of(kind, metric))]


class _Rendered:
    """The samples of a family as they were rendered last; ``last``: beyond a limit it is left out before others."""

    __slots__ = ("_column", "_labels", "family", "heads", "last", "segment", "series")

    def __init__(self, family: Family, *, last: bool) -> None:
        self.family = family
        self.last = last
        self.heads = {form: Segment.of(head_of(family, form)) for form in Format}
        self._column: list[Any] = []
        self._labels: list[str] = []
        self.series = 0
        self.segment = Segment.of(b"")

    def take(self, labels: list[str], column: list[Any]) -> None:
        """Use these values and labels, which have an element for each object."""
        if self._column == column and self._labels == labels:
            return
        self._column, self._labels = column, labels
        lines = sample_lines(self.family, labels, column)
        self.series = len(lines)
        self.segment = Segment.of("".join(lines).encode("utf-8", "replace"))


def fresh_values(state: LatestState, now: int) -> Mapping[str, Any]:
    """What is known of an object, without records that are stale at ``now`` (ms UTC): rules look at those of an object that is
    not polled only when the next one comes."""
    if now <= state.deadline or not state.from_records:
        return state.values
    recorded, from_records = state.recorded, state.from_records
    stale = {metric for metric in from_records if metric in recorded and recorded[metric].fresh_until < now}
    if not stale:
        return state.values
    return {metric: value for metric, value in list(state.values.items()) if metric not in stale}


def sample_lines(family: Family, labels: Sequence[str], column: Sequence[Any]) -> list[str]:
    """A line for each element of ``column`` that is an amount; ``labels`` are those of its object."""
    name = family.sample
    plain = not family.numbers and not family.no_amounts and family.scale == 1
    if plain and float not in map(type, column):
        return [
            f"{name}{label} {value}\n" for label, value in zip(labels, column, strict=True) if value.__class__ is int
        ]
    lines = []
    for label, value in zip(labels, column, strict=True):
        if value.__class__ is int or value.__class__ is float:
            exported = family.value_of(value)
            if exported is not None and isfinite(exported):
                lines.append(f"{name}{label} {exported}\n")
    return lines


def head_of(family: Family, form: Format) -> bytes:
    """The lines before the samples of a family."""
    text = family.help.replace("\\", "\\\\").replace("\n", "\\n")
    if form is Format.OPENMETRICS:
        text = text.replace('"', '\\"')
        name, kind = family.name, family.exposed.value
    else:
        name, kind = family.sample, "untyped" if family.exposed is Exposed.UNKNOWN else family.exposed.value
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n".encode()


def within_limit(rendered: Iterable[_Rendered], limit: int) -> tuple[list[_Rendered], PageContent]:
    """The families that have samples, as many as ``limit`` allows; those of definitions are left out first."""
    present = [family for family in rendered if family.series]
    left_out, series = set[int](), 0
    for place, family in sorted(enumerate(present), key=lambda each: (each[1].last, each[0])):
        if series + family.series > limit:
            left_out.add(place)
        else:
            series += family.series
    kept = [family for place, family in enumerate(present) if place not in left_out]
    beyond = [present[place] for place in sorted(left_out)]
    names = tuple(family.family.sample for family in beyond)
    return kept, PageContent(series, sum(family.series for family in beyond), names)

"""Which metrics of which objects ``mqvitals trend`` is about, and their series, read from a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from mqvitals_agent.commandline.arguments import object_name
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import shown_zone
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.buckets import Parts, bucket_edges, refusal
from mqvitals_agent.view.figures.trend import Aggregate, Trend, trend_of
from mqvitals_agent.view.trend.hours import Hours, figure_of_hours, figures_with_hours, seam_of, tells, with_hours
from mqvitals_agent.view.trend.top import TopList, top_of_hours
from mqvitals_config.decoding.problem import suggestion
from mqvitals_rules.lifecycle.alert import Alert, Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import StoredObject

_MOST_CHANGES: Final = 200
"""The number of changes of the definition that are marked, the newest."""
_SHORT_MS: Final = 3 * HOUR_MS
"""Of a shorter time samples tell who stands out, where they are kept: the hours at its ends, which it does not hold as a whole,
would leave little of it, or nothing.
"""
_WILD: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects with the metrics wanted of each, in the order in which they were asked for.

    ``several``: what was asked for may be more than one metric of one object.
    """

    objects: tuple[tuple[ObjectName, tuple[Metric, ...]], ...]
    several: bool

    @property
    def count(self) -> int:
        """The number of series."""
        return sum(len(metrics) for _, metrics in self.objects)

    @property
    def single(self) -> tuple[ObjectName, Metric] | None:
        """The one series that was asked for; None: it may be several."""
        return None if self.several else (self.objects[0][0], self.objects[0][1][0])

    @property
    def metrics(self) -> tuple[tuple[str, Metric], ...]:
        """The metrics with their kinds, each once."""
        found = {(name.kind, each.name): each for name, metrics in self.objects for each in metrics}
        return tuple((kind, metric) for (kind, _), metric in found.items())


def parts_of(span: TimeRange, every_ms: int | None, agg: str | None) -> Parts | None:
    """How ``--every`` (ms) and ``--agg`` part the time by the clock of the zone that is shown; None: they do not.

    Raises Failure.
    """
    aggregate = None if agg is None else Aggregate(agg)
    if every_ms is None:
        if aggregate is not None:
            raise Failure("--agg is about the parts of --every", hint=f"write --every 5m --agg {aggregate.value}")
        return None
    try:
        edges = bucket_edges(span, every_ms, shown_zone())
    except ValueError as error:
        raise Failure(f"--every: {error}") from error
    return Parts(edges, every_ms, aggregate)


def hourly_parts(reader: StoreReader, chosen: Selection, span: TimeRange) -> Parts | None:
    """The hours of a time of which some of the samples are gone, and hours are known; None: samples tell of it as far as
    anything does. Raises StoreError.
    """
    if reader.samples_from(*span) <= span.since:
        return None
    parts = parts_of(span, HOUR_MS, None)
    assert parts is not None
    seams = (seam_of(reader, kind, (metric,), parts) for kind, metric in chosen.metrics)
    return parts if any(seam > parts.edges[0] for seam in seams) else None


def refuse_figures(parts: Parts | None, chosen: Selection) -> None:
    """Raises Failure for a figure that one of the metrics does not have."""
    if parts is None or parts.aggregate is None:
        return
    for _, metric in chosen.metrics:
        if reason := refusal(parts.aggregate, metric):
            raise Failure(f"--agg {parts.aggregate.value}: {reason}")


def select(reader: StoreReader, metrics: str | None, patterns: Sequence[str], span: TimeRange) -> Selection:
    """The objects that names or patterns (as file names have them) mean, and their metrics, given with commas between them;
    None: every number and state that the kinds of these objects have.

    Of a pattern those count that were there in ``span`` and have one of the metrics. Raises Failure where nothing is meant,
    or no object has one of the metrics, and StoreError.
    """
    wanted = tuple(dict.fromkeys(each.strip() for each in (metrics or "").split(",") if each.strip()))
    if not wanted and metrics is not None:
        raise Failure("no metric is named", hint="'mqvitals metrics' lists them all")
    names: dict[ObjectName, bool] = {}
    several = len(wanted) > 1 or len(patterns) > 1
    for text in patterns:
        if not _is_pattern(reader, text):
            names[object_name(text)] = True
            continue
        several = True
        matching = [
            each.name for each in reader.objects(text, gone=True) if each.name.kind in KINDS and was_there(each, span)
        ]
        if not matching:
            refuse_pattern(reader, text)
        for name in matching:
            names.setdefault(name, False)
    kinds = dict.fromkeys(name.kind for name in names)
    if metrics is None:
        every = {kind: tuple(each for each in KINDS[kind].metrics if each.in_history) for kind in kinds}
        return Selection(tuple((name, every[name.kind]) for name in names), several=True)
    for text in wanted:
        if any(_found(KINDS[kind], text) for kind in kinds):
            continue
        if len(kinds) > 1:
            raise Failure(
                f"none of these has a metric {text!r}: {', '.join(kinds)}", hint="'mqvitals metrics' lists them"
            )
        metric_of(next(iter(names)), text)
    named = {kind: tuple(found for each in wanted if (found := _found(KINDS[kind], each))) for kind in kinds}
    for name, exact in names.items():
        if exact and not named[name.kind]:
            metric_of(name, wanted[0])
    for kind, found_metrics in named.items():
        for metric in found_metrics:
            _refuse_text(kind, metric)
    return Selection(tuple((name, named[name.kind]) for name in names if named[name.kind]), several)


def _is_pattern(reader: StoreReader, text: str) -> bool:
    """Whether ``text`` is a pattern: it may also be the name of an object that has such characters."""
    if _WILD.isdisjoint(text):
        return False
    try:
        name = ObjectName.parse(text)
    except ValueError:
        return True
    return name.kind not in KINDS or not reader.has(name)


def was_there(stored: StoredObject, span: TimeRange) -> bool:
    """Whether an object was there at some moment of a time."""
    return stored.first_ts <= span.until and (stored.gone or span.until) >= span.since


def refuse_pattern(reader: StoreReader, text: str) -> NoReturn:
    """Raises Failure for a pattern that no object matches: a kind that there is not, else the names that are nearest; and
    StoreError.
    """
    kind = (*text.split("/"), "")[1]
    if kind and kind not in KINDS and _WILD.isdisjoint(kind):
        raise Failure(
            f"there is no kind of object {kind!r}", hint=suggestion(kind, KINDS) or f"the kinds are {', '.join(KINDS)}"
        )
    near = ", ".join(reader.closest(text.replace("*", "")))
    raise Failure(
        f"no object of this time matches {text!r}",
        hint=f"the nearest names are {near}" if near else "patterns are written as QM0*/queue/PAY*",
    )


def _found(kind: Kind, text: str) -> Metric | None:
    prefix, dot, plain = text.rpartition(".")
    return None if dot and prefix != kind.name else kind.metric(plain)


def metric_of(name: ObjectName, text: str) -> Metric:
    """The metric of an object that was meant, which may be written with its kind; raises Failure with the nearest names."""
    kind = KINDS[name.kind]
    prefix, dot, plain = text.rpartition(".")
    if dot and prefix != kind.name:
        raise Failure(f"{text} is no metric of {name}, which is a {kind.name}", hint=f"write {kind.name}.METRIC")
    metric = kind.metric(plain)
    if metric is None:
        meant = suggestion(plain, [each.name for each in kind.metrics])
        raise Failure(f"a {kind.name} has no metric {plain!r}", hint=meant or "'mqvitals metrics' lists them all")
    _refuse_text(kind.name, metric)
    return metric


def _refuse_text(kind: str, metric: Metric) -> None:
    if metric.type is MetricType.TEXT:
        raise Failure(
            f"{kind}.{metric.name} is a text, of which only the newest is kept; numbers and states have a trend"
        )


def read_trends(reader: StoreReader, chosen: Selection, span: TimeRange, parts: Parts | None = None) -> Iterator[Trend]:
    """The series, of which any number is read in a few queries: without changes and reasons; in ``parts`` of the time, None:
    each sample. Raises StoreError.
    """
    for each in read_seamed(reader, chosen, span, parts):
        yield each.view if parts is None else each.shown(parts)


class SeamedTrend(NamedTuple):
    """A series: its samples, and what ``hours`` tell of the time before ``seam`` (ms UTC), None: samples tell of all."""

    view: Trend
    hours: Hours | None
    seam: int

    def shown(self, parts: Parts) -> Trend:
        """The series in parts of the time."""
        if self.hours is None:
            return parts.of(self.view)
        return with_hours(parts.since(self.seam).of(self.view), self.hours, parts, self.seam)

    @property
    def figures(self) -> Mapping[Aggregate, float]:
        """The figures of all of the time."""
        span = self.view.span
        # The first sample is about the time before it, of which hours tell.
        young = replace(self.view, span=span._replace(since=max(span.since, self.seam)))
        return figures_with_hours(young, self.hours or ())


def read_seamed(reader: StoreReader, chosen: Selection, span: TimeRange, parts: Parts | None) -> Iterator[SeamedTrend]:
    """The series of ``read_trends``, of each the samples and the hours apart. Raises StoreError."""
    alerts = read_alerts_of(reader, span)
    restarts = {owner: read_restarts(reader, owner, span) for owner in {name.owner for name, _ in chosen.objects}}
    by_kind: dict[str, list[ObjectName]] = {}
    for name, _ in chosen.objects:
        by_kind.setdefault(name.kind, []).append(name)
    wanted = dict(chosen.objects)
    for names in by_kind.values():
        metrics = wanted[names[0]]
        listed = [each.name for each in metrics]
        seam = span.since if parts is None else seam_of(reader, names[0].kind, metrics, parts)
        for name, series in reader.trends_of(names, listed, max(span.since, seam), span.until):
            hours = reader.hour_figures(name, listed, span.since, seam) if seam > span.since else {}
            for metric in metrics:
                view = trend_of(
                    name,
                    metric,
                    series[metric.name],
                    span,
                    restarts=restarts[name.owner],
                    alerts=alerts.get(name, ()),
                )
                told = hours.get(metric.name)
                yield SeamedTrend(view, None if told is None else told.hours, seam)


def read_top_of_hours(
    reader: StoreReader, chosen: Selection, span: TimeRange, by: Aggregate, most: int
) -> list[TopList] | None:
    """The objects that stand out in a time that begins before days that are rolled up, by the hours that began in it; None
    where samples are to tell, as of a short time, or hours do not know the figure. Raises StoreError.
    """
    kept_from = reader.meta().kept_from
    if span.until - span.since < _SHORT_MS and (kept_from is None or kept_from <= span.since):
        return None
    for kind, metric in chosen.metrics:
        if not tells(by, metric) or reader.rolled_until(kind, metric.name) <= span.since:
            return None
    found = []
    for kind, metric in chosen.metrics:
        names = {name for name, metrics in chosen.objects if name.kind == kind and metric in metrics}

        def told_at(name: ObjectName, value: float, metric: Metric = metric) -> int | None:
            hours = reader.hour_figures(name, (metric.name,), *span)[metric.name].hours
            if by is Aggregate.LAST:
                return hours[-1][0] if hours else None
            return next((ts for ts, each in hours if figure_of_hours(each, by, metric) == value), None)

        spans = reader.spans_of_kind(kind, metric.name, *span)
        found.append(top_of_hours(kind, metric, by, most, spans, names, told_at))
    return found


def read_told_trend(
    reader: StoreReader, name: ObjectName, metric: Metric, span: TimeRange, parts: Parts | None = None
) -> Trend:
    """A series with what a chart says of it: why it is absent, changes of the definition, restarts, alerts; in ``parts`` of
    the time, None: each sample. Raises StoreError.
    """
    meta = reader.meta()
    seam = span.since if parts is None else seam_of(reader, name.kind, (metric,), parts)
    series = reader.trend(name, metric.name, max(span.since, seam), span.until)
    current = reader.current(name).get(metric.name)
    why = current.value.value if current is not None and isinstance(current.value, Absence) else ""
    if current is not None and current.unanswered is not None:
        why = current.unanswered.value
    if metric.needs_smf and not why:
        why = Absence.NEEDS_SMF.value
    if metric.needs_statistics and not why:
        why = Absence.NEEDS_STATISTICS.value
    note = f"The past: {safe(meta.origin)}" if meta.ended else ""
    changes = reader.changes(objects=[name], since=span.since, until=span.until, limit=_MOST_CHANGES)
    restarts, alerts = read_restarts(reader, name.owner, span), read_alerts_of(reader, span).get(name, ())
    view = trend_of(name, metric, series, span, why, note, changes, restarts=restarts, alerts=alerts)
    if parts is None:
        return view
    hours = reader.hour_figures(name, (metric.name,), span.since, seam) if seam > span.since else {}
    told = hours.get(metric.name)
    return SeamedTrend(view, None if told is None else told.hours, seam).shown(parts)


def read_alerts_of(reader: StoreReader, span: TimeRange) -> Mapping[ObjectName, Sequence[Alert]]:
    """The alerts that fired as warnings or worse in a time, by the objects that they are about or whose rules they are
    of, in the order they arose. Raises StoreError.
    """
    found: dict[ObjectName, list[Alert]] = {}
    for stored in reader.alerts_within(*span):
        alert = stored.alert
        if alert.severity >= Severity.WARNING and alert.started is not None:
            for name in {alert.key.object, alert.scope}:
                found.setdefault(name, []).append(alert)
    return found


def read_restarts(reader: StoreReader, owner: str, span: TimeRange) -> tuple[int, ...]:
    """When a queue manager was seen to have been started again, ms UTC, oldest first. Raises StoreError."""
    found = reader.journal(*span, owners=[owner], kinds=(EntryKind.RESTART,), limit=_MOST_CHANGES)
    return tuple(each.ts for each in found)

"""The past of metrics in a store, for evaluating rules of a few objects: what was read is kept as long as this is.

The rules of a page look at the same metrics again and again, each with windows of its own, and a word of an explanation may go
through hundreds of members. So the metrics of an object that rules look equally far back at are read together, once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mqvitals_agent.ingest.messages import MessageWindow
from mqvitals_rules.expression.functions import WindowUse
from mqvitals_rules.history import ObjectMessage, Point, Polls, ZoneOf, covered_values, covering, hours, middle, no_zone
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.samples.sample import PollColumns

_SHORT_MS: Final = 600_000
"""Windows up to this long are read together: of hundreds of members each read costs more than its rows."""
_MANY: Final = 64
"""After so many objects of a kind all of them are read at once: reading hundreds one by one takes twice as long."""
_NEVER: Final = -(1 << 62)
"""The time of the poll before one that had none before it."""

MOST_KEPT: Final = 1_000_000
"""Values kept at once: then all are let go, as a review goes through thousands of objects."""

_Read = tuple[int, Polls]
"""From when on (ms UTC) all polls are there, and they."""

_Records = tuple[int, Mapping[Source, Sequence[Point]]]


class StoredPast:
    """Implements ``mqvitals_rules.history.MetricHistory`` over a store, as the agent's windows do over memory.

    ``windows`` are those of the rules to evaluate, so that each metric is read as far back as any of them looks; others
    are read as far as asked for. What the store takes in meanwhile is not seen. Its methods raise StoreError.
    """

    def __init__(
        self, reader: StoreReader, now: int, zone_of: ZoneOf = no_zone, windows: Iterable[WindowUse] = ()
    ) -> None:
        self._reader = reader
        self._now = now
        self._zone_of = zone_of
        self._messages = MessageWindow(reader)
        self._longest: dict[str, dict[str, int]] = {}
        for use in windows:
            if use.window_ms:
                of_kind = self._longest.setdefault(use.kind, {})
                of_kind[use.metric] = max(use.window_ms, of_kind.get(use.metric, 0), _SHORT_MS)
        self._polls: dict[tuple[ObjectName, str], _Read] = {}
        self._records: dict[tuple[ObjectName, str], _Records] = {}
        self._newest: dict[tuple[ObjectName, str, int], Sequence[Point]] = {}
        self._baselines: dict[tuple[ObjectName, str, int], float | None] = {}
        self._sources: dict[ObjectName, tuple[Source, ...]] = {}
        self._asked: Counter[str] = Counter()
        """Of how many objects of a kind the sources were asked for; of many the others follow."""
        self._recorded: dict[str, frozenset[ObjectName]] = {}
        self._kept = 0
        self._alike: Counter[tuple[str, str, int, tuple[str, ...]]] = Counter()
        """How many objects of an owner and kind were read alone, the same metrics from the same time on."""

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll, or record, with ts > ``since``, oldest first. The store has no past of a text."""
        known = metric_of(object_name.kind, metric)
        if not known.in_history:
            return ()
        polls = self._polls_after(object_name, known, since)
        sources = self._sources_of(object_name) if _is_recorded(known) else ()
        if not sources:
            return polls
        recorded = self._records_after(object_name, metric, since, sources)
        found = {
            source: points
            for source, every in recorded.items()
            if (points := every[bisect_right(every, since, key=lambda point: point.ts) :])
        }
        return covering({Source.POLL: polls, **found}, since)[1] if found else polls

    def covered(self, object_name: ObjectName, metric: str, since: int, window_ms: int) -> Sequence[float]:
        """The values of a window that they cover."""
        return covered_values(self.points(object_name, metric, since), since, window_ms)

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first."""
        key = object_name, metric, count
        found = self._newest.get(key)
        if found is None:
            source, samples = self._reader.covering_samples(object_name, metric, newest_of=count)
            own = source is not Source.POLL or metric_of(object_name.kind, metric).type is MetricType.COUNTER
            points: list[Point] = []
            for sample in samples:
                interval = sample.interval_ms if own else sample.ts - points[-1].ts if points else None
                points.append(Point(sample.ts, sample.value, interval))
            found = self._newest[key] = points
        return found

    def baseline(self, object_name: ObjectName, metric: str, now: int, counter: bool) -> float | None:  # noqa: ARG002, FBT001
        """The usual value of the metric at this weekday and hour."""
        begun = hours(now, self._zone_of(object_name.owner))
        key = object_name, metric, begun[0]
        if key not in self._baselines:
            means = self._reader.hour_means(object_name.kind, metric, begun, object_name)
            self._baselines[key] = middle(means.get(object_name, ()))
        return self._baselines[key]

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The console messages of an owner with ts > ``since``, oldest first; None: no console of it is followed."""
        return self._messages.messages(owner, ids, since)

    def _polls_after(self, name: ObjectName, metric: Metric, since: int) -> Sequence[Point]:
        if not _is_polled(metric):
            return ()
        key = name, metric.name
        read = self._polls.get(key)
        if read is None or since < read[0]:
            self._read_polls(name, metric.name, since)
            read = self._polls[key]
        polls = read[1]
        times = polls.ts
        start = bisect_right(times, since)
        if not start:
            return polls
        intervals = None if polls.intervals is None else polls.intervals[start:]
        return Polls(times[start:], polls.values[start:], intervals, times[start - 1])

    def _read_polls(self, name: ObjectName, metric: str, since: int) -> None:
        longest = self._longest.get(name.kind, {})
        wanted = longest.get(metric, 0)
        together = [
            each for each, window in longest.items() if window == wanted and _is_polled(metric_of(name.kind, each))
        ]
        since = min(since, self._now - wanted)
        before = since - max(self._now - since, HOUR_MS)
        metrics = together or [metric]
        alike = name.owner, name.kind, since, tuple(metrics)
        self._alike[alike] += 1
        # Where the last moment needed many of them, this one does.
        known = self._alike[alike] == 1 and self._reader.has_columns_of_all(name.owner, name.kind, metrics, since + 1)
        if known:
            self._alike[alike] = _MANY
        if self._alike[alike] == _MANY:
            # The others follow.
            most = MOST_KEPT // (len(metrics) + 2)
            every = self._reader.poll_columns_of_all(
                name.owner, name.kind, metrics, first=since + 1, before=before, most=most
            )
            for other, columns in every.items():
                self._take(other, metrics, since, columns)
            if name in every and (name, metric) in self._polls:
                return
        self._take(name, metrics, since, self._reader.poll_columns(name, metrics, first=since + 1, before=before))

    def _take(self, name: ObjectName, metrics: Sequence[str], since: int, found: PollColumns) -> None:
        self._keep(len(found.ts) * (len(metrics) + 2))
        earlier = _NEVER if found.before is None else found.before
        for each in metrics:
            counter = metric_of(name.kind, each).type is MetricType.COUNTER
            polls = Polls(found.ts, found.values[each], found.intervals if counter else None, earlier)
            read = self._polls.get((name, each))
            if read is None or since < read[0]:
                self._polls[name, each] = since, polls

    def _records_after(
        self, name: ObjectName, metric: str, since: int, sources: Iterable[Source]
    ) -> Mapping[Source, Sequence[Point]]:
        key = name, metric
        read = self._records.get(key)
        if read is None or since < read[0]:
            since = min(since, self._now - self._longest.get(name.kind, {}).get(metric, 0))
            found = {
                source: [
                    Point(sample.ts, sample.value, sample.interval_ms)
                    for sample in self._reader.samples(name, metric, source, first=since + 1)
                ]
                for source in sources
            }
            self._keep(3 * sum(map(len, found.values())))
            read = self._records[key] = since, found
        return read[1]

    def _sources_of(self, name: ObjectName) -> tuple[Source, ...]:
        found = self._sources.get(name)
        if found is None:
            kind = name.kind
            self._asked[kind] += 1
            if self._asked[kind] == _MANY:
                self._recorded[kind] = self._reader.recorded_objects(kind)
            known = self._recorded.get(kind)
            found = () if known is not None and name not in known else self._reader.record_sources(name)
            self._sources[name] = found
        return found

    def _keep(self, values: int) -> None:
        self._kept += values
        if self._kept > MOST_KEPT:
            for kept in (self._polls, self._records, self._newest, self._baselines, self._sources):
                kept.clear()
            self._kept = values


def _is_polled(metric: Metric) -> bool:
    """Whether polls can hold a metric's past."""
    return metric.in_history and not (metric.needs_smf or metric.needs_statistics or metric.declared)


def _is_recorded(metric: Metric) -> bool:
    """Whether records can hold a metric."""
    return bool(metric.smf or metric.statistics) or metric.measured or not metric.pcf

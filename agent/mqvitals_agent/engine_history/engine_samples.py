"""The samples of objects as an engine has them: asked for in pieces, so that each answer is short, and remembered a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mqvitals_agent.engine_history.answer import AnsweredSeries, EngineError
from mqvitals_agent.engine_history.client import TooLargeError
from mqvitals_agent.engine_history.samples import increases, merged, recorded_values, stored_values
from mqvitals_agent.engine_history.series_names import MetricSeries, SeriesNames, literal, poll_metric
from mqvitals_agent.openmetrics.names import object_of_labels
from mqvitals_agent.store.result import BySource
from mqvitals_agent.store.rows.samples.sample import SampleColumns
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS, MINUTE_MS
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS

PAUSE_S: Final = 30.0
"""So long an engine that has not answered is not asked again."""
_REMEMBERED_S: Final = 300.0
_MOST_REMEMBERED: Final = 64
_AT_ONCE: Final = 200_000
"""About how many samples an answer has at most."""
_DENSEST_MS: Final = 5_000
"""Polls are hardly closer than this."""
_SELECTOR_LENGTH: Final = 6_000
"""Characters of names in a selector: VictoriaMetrics takes queries of 16,384 bytes."""
_SHORTEST_MS: Final = MINUTE_MS
_BEFORE_MS: Final = 15 * MINUTE_MS
"""So long before a time the total of a counter is looked for first."""
_LONGEST_MS: Final = 400 * DAY_MS

Samples = Mapping[ObjectName, BySource]


class Asks(Protocol):
    """Asks an engine."""

    @property
    def engine(self) -> str:
        """What messages call it."""
        ...

    def ask(self, query: str, at: int) -> tuple[AnsweredSeries, ...]:
        """The series of an instant query as of ``at`` (ms UTC). Raises TooLargeError, EngineError."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class PatientClient:
    """Asks an engine, and after a failure not again for a while: whoever waits for a screen waits once.

    Use it from one thread.
    """

    def __init__(self, client: Asks, *, steady_s: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._steady_s = steady_s
        self._failed: EngineError | None = None
        self._again_s = 0.0

    @property
    def engine(self) -> str:
        """What messages call it."""
        return self._client.engine

    @property
    def pausing(self) -> bool:
        """Whether it is not asked now."""
        return self._failed is not None and self._steady_s() < self._again_s

    def ask(self, query: str, at: int) -> tuple[AnsweredSeries, ...]:
        """As of the client; during the pause what it raised last. Raises TooLargeError, EngineError."""
        if self._failed is not None and self.pausing:
            raise self._failed
        try:
            found = self._client.ask(query, at)
        except TooLargeError:
            self._failed = None
            raise
        except EngineError as error:
            self._failed = error
            self._again_s = self._steady_s() + PAUSE_S
            raise
        self._failed = None
        return found

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


@dataclass(slots=True)
class _Gathered:
    """The exported samples of the series of one object, metric and source, in the order in which they were answered."""

    parts: list[tuple[Sequence[int], Sequence[float]]] = field(default_factory=list)


_Key = tuple[ObjectName, str, Source]


class EngineSamples:
    """Reads from an engine what the store would have. Use it from one thread; ``close`` it."""

    def __init__(
        self,
        client: PatientClient,
        names: SeriesNames,
        *,
        kinds: Mapping[str, Kind] = KINDS,
        steady_s: Callable[[], float] = time.monotonic,
        at_once: int = _AT_ONCE,
    ) -> None:
        """``at_once``: about how many samples are asked for at once."""
        self._client = client
        self._names = names
        self._kinds = kinds
        self._steady_s = steady_s
        self._at_once = at_once
        self._remembered: dict[object, tuple[float, Samples]] = {}

    @property
    def engine(self) -> str:
        """What messages call the engine."""
        return self._client.engine

    @property
    def pausing(self) -> bool:
        """Whether the engine has failed just now, and is not asked."""
        return self._client.pausing

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def read(
        self,
        names: Sequence[ObjectName],
        metrics: Sequence[str],
        first: int,
        last: int,
        began: Mapping[ObjectName, int],
    ) -> Samples:
        """The samples of some metrics of objects of one kind and owner with ``first`` <= ts <= ``last`` (ms UTC), by object,
        source and metric; an object without any is left out.

        ``began`` is when the store saw each object first (ms UTC): a counter whose series begins later began at nothing.
        Raises EngineError.
        """
        if not names or first > last:
            return {}
        # From the begin of an hour: a chart whose time moves on asks for the same again.
        begin = first - first % HOUR_MS
        key = tuple(names), tuple(metrics), begin, last
        now = self._steady_s()
        kept = self._remembered.get(key)
        if kept is None or now - kept[0] > _REMEMBERED_S:
            kept = now, self._read(names, metrics, begin, last, began)
            self._remember(key, kept)
        return _within(kept[1], first, last)

    def _remember(self, key: object, found: tuple[float, Samples]) -> None:
        self._remembered.pop(key, None)
        self._remembered[key] = found
        while len(self._remembered) > 1 and (
            len(self._remembered) > _MOST_REMEMBERED
            or sum(_count(samples) for _, samples in self._remembered.values()) > 2 * self._at_once
        ):
            del self._remembered[next(iter(self._remembered))]

    def _read(
        self,
        names: Sequence[ObjectName],
        metrics: Sequence[str],
        first: int,
        last: int,
        began: Mapping[ObjectName, int],
    ) -> Samples:
        kind = self._kinds[names[0].kind]
        asked = list(self._names.metrics(kind.name, metrics))
        counters = {each.metric for each in asked if each.total}
        begin = first - _BEFORE_MS if counters else first
        anchor = poll_metric(kind) if counters else None
        if anchor is not None and anchor not in metrics:
            asked += self._names.metrics(kind.name, (anchor,))
        gathered: dict[_Key, _Gathered] = {}
        for part in _parts(names, max(self._at_once // max(len(asked), 1), 1)):
            step = max(self._at_once * _DENSEST_MS // (len(part) * max(len(asked), 1)), HOUR_MS)
            since = begin
            while since <= last:
                until = min(since + step - 1, last)
                count = self._gather(gathered, part, asked, since, until)
                since = until + 1
                if count < self._at_once // 8:
                    # Polls are farther apart, or there are none: years of nothing are a few questions.
                    step *= 4
                elif count > self._at_once:
                    step = max(step // 4, HOUR_MS)
        points = {key: merged(each.parts) for key, each in gathered.items()}
        before = self._totals_before(asked, points, first, began)
        found: dict[ObjectName, dict[Source, dict[str, SampleColumns]]] = {}
        wanted = set(metrics)
        for key, of_series in points.items():
            name, metric, source = key
            if metric not in wanted:
                continue
            series = next(each for each in asked if each.metric == metric)
            if source is not Source.POLL:
                columns = recorded_values(of_series, series.family)
            elif series.total:
                times = set(of_series)
                if anchor is not None and _of_command(kind, metric):
                    times.update(points.get((name, anchor, source), ()))
                columns = increases(of_series, before.get(key), sorted(times), series.family, first)
            else:
                columns = stored_values(of_series, series.family)
            found.setdefault(name, {}).setdefault(source, {})[metric] = columns
        return _within(found, first, last)

    def _gather(
        self,
        gathered: dict[_Key, _Gathered],
        names: Sequence[ObjectName],
        metrics: Sequence[MetricSeries],
        first: int,
        last: int,
    ) -> int:
        """Add what the series of objects have from ``first`` to ``last``; of an answer that is too large a half, then the other.

        Returns how many samples were answered.
        """
        if not metrics:
            return 0
        # One ms more: whether the first moment belongs to a range differs from engine to engine.
        query = f"{self._names.selector(names, metrics)}[{last - first + 1}ms]"
        try:
            answered = self._client.ask(query, last)
        except TooLargeError:
            if last - first >= 2 * _SHORTEST_MS:
                middle = (first + last) // 2
                count = self._gather(gathered, names, metrics, first, middle)
                return count + self._gather(gathered, names, metrics, middle + 1, last)
            if len(names) > 1:
                half = len(names) // 2
                count = self._gather(gathered, names[:half], metrics, first, last)
                return count + self._gather(gathered, names[half:], metrics, first, last)
            raise
        asked = frozenset(names)
        for series in answered:
            subject = self._names.subject(names[0].kind, series, metrics)
            if subject is None or subject.object not in asked:
                continue
            within = [(ts, value) for ts, value in zip(series.ts, series.values, strict=True) if first <= ts <= last]
            if within:
                of = gathered.setdefault((subject.object, subject.metric.metric, subject.source), _Gathered())
                of.parts.append(([ts for ts, _ in within], [value for _, value in within]))
        return sum(len(series.ts) for series in answered)

    def _totals_before(
        self,
        metrics: Sequence[MetricSeries],
        points: Mapping[_Key, Mapping[int, float]],
        first: int,
        began: Mapping[ObjectName, int],
    ) -> Mapping[_Key, float]:
        """The total before the first sample of each counter that has none in the time that was read: 0 where its series
        begins there; those of which it is not known are left out.
        """
        found: dict[_Key, float] = {}
        begin = first - _BEFORE_MS
        for series in metrics:
            if not series.total:
                continue
            # Where a sample lies before the time, that is the total before.
            missing = {
                name: began[name]
                for (name, metric, source), each in points.items()
                if metric == series.metric
                and source is Source.POLL
                and next(iter(each), first) >= first
                and began.get(name, _LONGEST_MS << 20) <= next(iter(each), 0)
            }
            for look_ms in (DAY_MS, _LONGEST_MS):
                older = [name for name, since in missing.items() if since < begin]
                for part in _parts(older, self._at_once):
                    query = f"last_over_time({self._names.selector(part, (series,), polled=True)}[{look_ms}ms])"
                    totals: dict[ObjectName, set[float]] = {}
                    for each in self._client.ask(query, begin):
                        name = object_of_labels(part[0].kind, each.labels)
                        if name in missing and each.values:
                            totals.setdefault(name, set()).add(each.values[-1])
                    for name, values in totals.items():
                        missing.pop(name)
                        # Of several series nobody knows which came last.
                        if len(values) == 1:
                            found[name, series.metric, Source.POLL] = next(iter(values))
            found.update({(name, series.metric, Source.POLL): 0.0 for name in missing})
        return found


def _of_command(kind: Kind, metric: str) -> bool:
    """Whether a metric comes with the polls of its kind."""
    known = kind.metric(metric)
    return known is not None and known.command == kind.poll


def _parts(names: Sequence[ObjectName], most: int) -> Iterator[Sequence[ObjectName]]:
    """Names in parts of at most ``most``, whose selectors are not too long."""
    part: list[ObjectName] = []
    length = 0
    for name in names:
        own = len(literal(name.name).encode()) + 1
        if part and (len(part) == most or length + own > _SELECTOR_LENGTH):
            yield part
            part, length = [], 0
        part.append(name)
        length += own
    if part:
        yield part


def _within(found: Samples, first: int, last: int) -> Samples:
    """The samples from ``first`` to ``last``; without what has none."""
    clipped: dict[ObjectName, dict[Source, dict[str, SampleColumns]]] = {}
    for name, by_source in found.items():
        for source, by_metric in by_source.items():
            for metric, columns in by_metric.items():
                places = [place for place, ts in enumerate(columns.ts) if first <= ts <= last]
                if places:
                    own = columns[places[0] : places[-1] + 1]
                    clipped.setdefault(name, {}).setdefault(source, {})[metric] = own
    return clipped


def _count(found: Samples) -> int:
    return sum(
        len(columns)
        for by_source in found.values()
        for by_metric in by_source.values()
        for columns in by_metric.values()
    )

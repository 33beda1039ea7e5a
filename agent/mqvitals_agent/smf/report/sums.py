"""What the intervals of an object come to together: sums of what was counted, highest and lowest, means by weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported


def number(values: Mapping[str, Reported], metric: str) -> float | None:
    """The value of a metric where it is a number that is there."""
    value = values.get(metric)
    return None if value is None or isinstance(value, str | Absence) else value


@dataclass(slots=True)
class Sums:
    """Of one object. ``intervals`` counts its records and ``length_ms`` adds up the lengths of those that have one.

    Everything is None where no record told it: that is not zero.
    """

    intervals: int = 0
    length_ms: int = 0
    _sums: dict[str, float] = field(default_factory=dict)
    _high: dict[str, tuple[float, int]] = field(default_factory=dict)
    _low: dict[str, tuple[float, int]] = field(default_factory=dict)
    _last: dict[str, Reported] = field(default_factory=dict)
    _means: dict[str, tuple[float, float]] = field(default_factory=dict)

    def count(self, reading: Reading) -> None:
        """One more interval."""
        self.intervals += 1
        self.length_ms += reading.interval_ms or 0

    def add(self, values: Mapping[str, Reported], *metrics: str) -> None:
        """Add counters."""
        for metric in metrics:
            value = number(values, metric)
            if value is not None:
                self._sums[metric] = self._sums.get(metric, 0) + value

    def extremes(self, values: Mapping[str, Reported], ts: int, *metrics: str) -> None:
        """Compare gauges; of equal ones the first counts."""
        for metric in metrics:
            value = number(values, metric)
            if value is None:
                continue
            if metric not in self._high or value > self._high[metric][0]:
                self._high[metric] = value, ts
            if metric not in self._low or value < self._low[metric][0]:
                self._low[metric] = value, ts

    def keep(self, values: Mapping[str, Reported], *metrics: str) -> None:
        """Keep what was told last."""
        for metric in metrics:
            value = values.get(metric)
            if value is not None and not isinstance(value, Absence):
                self._last[metric] = value

    def weigh(self, values: Mapping[str, Reported], metric: str, weight: float | None) -> None:
        """Let a gauge count for its mean."""
        value = number(values, metric)
        if value is not None and weight:
            total, weights = self._means.get(metric, (0.0, 0.0))
            self._means[metric] = total + value * weight, weights + weight

    def sum(self, *metrics: str) -> float | None:
        """The sum of counters that were told, together."""
        told = [self._sums[metric] for metric in metrics if metric in self._sums]
        return sum(told) if told else None

    def highest(self, metric: str) -> tuple[float, int] | None:
        """The highest value and the end of its interval, ms UTC."""
        return self._high.get(metric)

    def lowest(self, metric: str) -> tuple[float, int] | None:
        """The lowest value and the end of its interval, ms UTC."""
        return self._low.get(metric)

    def last(self, metric: str) -> Reported | None:
        """What was told last."""
        return self._last.get(metric)

    def last_number(self, metric: str) -> float | None:
        """What was told last, where it is a number."""
        return number(self._last, metric)

    def mean(self, metric: str) -> float | None:
        """The mean by weight."""
        found = self._means.get(metric)
        return found[0] / found[1] if found and found[1] else None

    def share_of_time(self, metric: str) -> float | None:
        """A counter of microseconds as a percentage of all intervals."""
        value = self.sum(metric)
        return None if value is None or not self.length_ms else value / self.length_ms / 10

    def per_second(self, metric: str) -> float | None:
        """A counter by the seconds of all intervals."""
        value = self.sum(metric)
        return None if value is None or not self.length_ms else value * 1000 / self.length_ms

    def each(self, metric: str, by: str) -> float | None:
        """A counter divided by another."""
        one, other = self.sum(metric), self.sum(by)
        return None if one is None or not other else one / other

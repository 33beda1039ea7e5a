"""A short-term and a long-term moving average, as MQ keeps of its times and batch sizes."""

from __future__ import annotations

from dataclasses import dataclass

_SHORT, _LONG = 0.2, 0.002
"""The weight of one second's value: half of a change shows after three seconds, and after six minutes."""


@dataclass(slots=True)
class Average:
    """Both averages; None before the first value."""

    short: float | None = None
    long: float = 0.0

    def add(self, value: float, count: int = 1) -> None:
        """Take a second's value in; ``count`` measurements, of which none changes nothing."""
        if count <= 0:
            return
        if self.short is None:
            self.short = self.long = value
            return
        self.short += (value - self.short) * _SHORT
        self.long += (value - self.long) * _LONG

    @property
    def pair(self) -> tuple[int, int] | None:
        """Both as whole numbers."""
        return None if self.short is None else (round(self.short), round(self.long))

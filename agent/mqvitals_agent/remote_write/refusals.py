"""What becomes of samples that an engine refuses: a request is split until they are alone, and their neighbours get through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.remote_write.outgoing import Batch
from mqvitals_agent.remote_write.protocol import Series, decode_request, halves_of

NAMED: Final = 5
"""So many refused series of a round are named in the log."""

_TOO_OLD: Final = re.compile(r"out of bounds|too old|too far in the past|before.{0,20}retention", re.IGNORECASE)
"""What engines say of samples that are refused for their age whatever their series is."""
_HAS_IT: Final = re.compile(r"duplicate|out[ -]of[ -]order|already", re.IGNORECASE)
"""What they say of those that they have, or have later ones of the same series."""


def says_too_old(text: str) -> bool:
    """Whether an engine refuses samples because of their age alone."""
    return _TOO_OLD.search(text) is not None


def says_it_has_it(text: str) -> bool:
    """Whether an engine refuses samples because it has them, or later ones."""
    return _HAS_IT.search(text) is not None


@dataclass(slots=True)
class Refusals:
    """The samples of a round that an engine has refused.

    ``samples`` is their number, ``named`` the first of them with the reason. Those up to ``too_old`` (ms UTC) are refused
    without being sent: the engine has refused one as old as that for its age.
    """

    samples: int = 0
    named: list[str] = field(default_factory=list)
    too_old: int | None = None

    def note(self, series: Series, text: str) -> None:
        """The engine has refused these samples, and says why."""
        self.samples += series.samples
        if says_too_old(text):
            self.too_old = series.last if self.too_old is None else max(self.too_old, series.last)
        if len(self.named) < NAMED:
            (decoded,) = decode_request(series.data)
            self.named.append(f"{decoded.name} ({text})")

    def rest(self, batch: Batch) -> Batch:
        """The part of a batch that is not too old; the other one is noted."""
        bound = self.too_old
        if bound is None or all(each.first > bound for each in batch.series):
            return batch
        kept: list[Series] = []
        for series in batch.series:
            kept.extend(self._newer(series, bound))
        return Batch(tuple(kept))

    def _newer(self, series: Series, bound: int) -> Sequence[Series]:
        """What of a series was taken after ``bound``, in parts."""
        if series.first > bound:
            return (series,)
        if series.last <= bound:
            self.samples += series.samples
            return ()
        return [kept for part in halves_of(series) for kept in self._newer(part, bound)]


def parts_of(batch: Batch) -> tuple[Batch, Batch]:
    """A batch as two; of what is one object's, the part with the earlier samples first. Raises ValueError for a single sample."""
    if len(batch.series) > 1:
        middle = len(batch.series) // 2
        return Batch(batch.series[:middle]), Batch(batch.series[middle:])
    older, newer = halves_of(batch.series[0])
    return Batch((older,)), Batch((newer,))

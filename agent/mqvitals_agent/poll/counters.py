"""Running totals to increases: what a counter grew by from one answer to the next."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from mqvitals_rules.vocabulary.metric import Absence, Reported, within_range

SATURATED_AT = 999_999_999
"""Channel counters stop, or wrap, here."""

_Key = TypeVar("_Key", bound=Hashable)
Totals = Mapping[str, Reported]
"""Metric name to the running total, or why it is absent."""


class Counters:
    """Running totals to increases: what a counter grew by since the previous answer that holds it.

    A channel's counters begin again with each start of it, stick at 999,999,999 or wrap past it. So the previous totals
    are kept for each instance, known by its key (which holds its start), and a decrease does not show how much was
    counted meanwhile. An instance's increase is absent when

    * its total is absent, for that reason;
    * the object has no reading before this: first reading; the object has, but not this instance: reset;
    * its total is pinned at ``saturated_at``: saturated;
    * its total is below the previous one, for it was reset or has wrapped: reset.

    An object with several instances has the sum of the increases of those that were there before; absent as soon as
    one of them is absent. An instance that is new beside others counts from its next reading on, for its first total
    proves nothing about this interval. When all are new: reset.
    """

    def __init__(self, metrics: Sequence[str], *, saturated_at: int | None = None) -> None:
        self._metrics = tuple(metrics)
        self._saturated_at = saturated_at
        self._previous: dict[Hashable, Mapping[Any, Totals]] = {}

    def increases(
        self, owner: Hashable, instances: Mapping[_Key, Totals]
    ) -> tuple[dict[str, Reported], dict[_Key, dict[str, Reported]]]:
        """The increases of all counters of the object ``owner``, together and by instance.

        ``instances`` are the current ones' totals by instance key, remembered for the next call. Without instances (an
        inactive channel) there are no increases, but that the object was there is remembered: its next instance is new.
        """
        before = self._previous.get(owner)
        self._previous[owner] = dict(instances)
        if not instances:
            return {}, {}
        new = Absence.FIRST_READING if before is None else Absence.RESET
        each = {
            key: {
                metric: self._increase(None if before is None else before.get(key), metric, totals, new)
                for metric in self._metrics
            }
            for key, totals in instances.items()
        }
        if len(each) == 1:
            (only,) = each.values()
            return only, each
        if before is None:
            return dict.fromkeys(self._metrics, Absence.FIRST_READING), each
        there = [increases for key, increases in each.items() if key in before]
        fresh = [totals for key, totals in instances.items() if key not in before]
        return {metric: self._sum(metric, there, fresh) for metric in self._metrics}, each

    def forget(self, owner: Hashable) -> None:
        """The object is gone; should its name return, it is another."""
        self._previous.pop(owner, None)

    def _increase(self, before: Totals | None, metric: str, totals: Totals, new: Absence) -> Reported:
        now = totals.get(metric)
        if type(now) is not int:
            return now if isinstance(now, Absence) else Absence.NOT_RETURNED
        if before is None:
            return new
        if now == self._saturated_at:
            return Absence.SATURATED
        old = before.get(metric)
        if type(old) is not int:
            return Absence.FIRST_READING
        return within_range(now - old) if now >= old else Absence.RESET

    def _sum(self, metric: str, there: Sequence[Totals], fresh: Sequence[Totals]) -> Reported:
        if self._saturated_at is not None and any(totals.get(metric) == self._saturated_at for totals in fresh):
            return Absence.SATURATED
        steps = [increases[metric] for increases in there]
        absent = [step for step in steps if isinstance(step, Absence)]
        if absent:
            return Absence.SATURATED if Absence.SATURATED in absent else absent[0]
        return within_range(sum(step for step in steps if type(step) is int)) if steps else Absence.RESET

"""Running totals to increases: what a counter grew by since the previous answer that told it.

A channel's counters begin again with each start of it, stick at 999,999,999 or wrap past it. So the previous totals are kept
for each instance, known by its key (which holds its start), and a decrease says nothing of how much was counted meanwhile.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from mqvitals_rules.vocabulary.metric import Absence, Reported

SATURATED_AT = 999_999_999
"""Channel counters stop, or wrap, here."""

Totals = Mapping[str, Reported]
"""Metric name to the running total, or why it is absent."""


class Counters:
    """The previous totals of every object's instances.

    Rules for the increase of an object's counter, in this order:

    * the object never told one before: absent, first reading;
    * any instance's total is absent: absent for that reason;
    * any instance's total is pinned at 999,999,999: absent, saturated;
    * any instance's total is below its previous one (reset or wrap): absent, reset;
    * no instance was there before (all are new): absent, reset;
    * else the sum of the increases of the instances that were there before. An instance that is new beside others counts
      from its next reading on: its first total proves nothing about this interval.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = tuple(metrics)
        self._previous: dict[Hashable, dict[Hashable, Totals]] = {}

    def increases(self, owner: Hashable, instances: Mapping[Hashable, Totals]) -> dict[str, Reported]:
        """The increases of all counters of the object ``owner``, whose current instances' totals are given by instance key.

        Remembers the totals for the next call. Without instances (an inactive channel) nothing is returned, but that the
        object was there is remembered: its next instance is a new one.
        """
        before = self._previous.get(owner)
        self._previous[owner] = dict(instances)
        if not instances:
            return {}
        if before is None:
            return dict.fromkeys(self._metrics, Absence.FIRST_READING)
        if len(instances) == 1:
            ((key, totals),) = instances.items()
            old = before.get(key)
            if old is None:
                return dict.fromkeys(self._metrics, Absence.RESET)
            return {metric: _increase(old.get(metric), totals.get(metric)) for metric in self._metrics}
        return {metric: self._sum(metric, before, instances) for metric in self._metrics}

    def forget(self, owner: Hashable) -> None:
        """The object is gone; should its name return, it is another."""
        self._previous.pop(owner, None)

    @staticmethod
    def _sum(metric: str, before: Mapping[Hashable, Totals], instances: Mapping[Hashable, Totals]) -> Reported:
        total: int | None = None
        absent: Absence | None = None
        for key, totals in instances.items():
            now = totals.get(metric, Absence.NOT_RETURNED)
            if isinstance(now, Absence):
                absent = now
                continue
            old = before.get(key)
            if old is None:
                if now == SATURATED_AT:
                    return Absence.SATURATED
                continue
            step = _increase(old.get(metric), now)
            if isinstance(step, Absence):
                if step is Absence.SATURATED:
                    return step
                absent = step
            elif isinstance(step, int):
                total = step if total is None else total + step
        if absent is not None:
            return absent
        return Absence.RESET if total is None else total


def _increase(old: Reported | None, now: Reported | None) -> Reported:
    if type(now) is not int:
        return now if isinstance(now, Absence) else Absence.NOT_RETURNED
    if now == SATURATED_AT:
        return Absence.SATURATED
    if type(old) is not int:
        return Absence.FIRST_READING
    return now - old if now >= old else Absence.RESET

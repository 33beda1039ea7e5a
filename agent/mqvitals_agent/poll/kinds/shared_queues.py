"""Shared queues: one object of the group, made of what its members report.

Every member reports the same depth, and its own handles and times. The handles are known once every member that the
group calls ACTIVE has answered in this cycle, or lately enough; until then it is known how many there are at least.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from mqvitals_agent.poll.kinds.queue import DEFINITION, HANDLES, STATUS, STATUS_TIMES
from mqvitals_agent.poll.probe import ObjectRow, ProbePart
from mqvitals_rules.vocabulary.metric import Absence, Reported

PARTS = (STATUS, DEFINITION)
"""The parts that answer about shared queues."""

_INTERVALS = 1.5
"""An answer counts for so many of its member's usual intervals: one may fail, the second that fails is missed."""

Age = Callable[[ObjectRow, int], Reported]
"""How long ago a local time of a row's queue manager was, s, or why that is not known."""


@dataclass(slots=True)
class _Pace:
    """When a member was last asked about shared queues, and its usual interval, ms; None while it is not known."""

    at: int
    usual_ms: int | None = None

    def note(self, at: int) -> None:
        interval = at - self.at
        if interval > 0:
            # One outage must not make the next one invisible.
            before = self.usual_ms
            self.at, self.usual_ms = at, interval if before is None or interval < 2 * before else 2 * before

    def counts(self, row: ObjectRow, now: int) -> bool:
        """Whether a row is young enough at ``now``."""
        return self.usual_ms is not None and now - row.at <= _INTERVALS * self.usual_ms


class SharedQueues:
    """What must be known of shared queues from one cycle to the next: the members' last answers.

    ``active`` are the members that the group calls ACTIVE, None while it has not told: then those count that ever
    reported a shared queue.
    """

    def __init__(self) -> None:
        self.active: Collection[str] | None = None
        self._rows: dict[str, dict[str, ObjectRow]] = {}
        self._paces: dict[str, _Pace] = {}

    def combined(
        self, part: ProbePart, objects: Mapping[str, Mapping[str, ObjectRow]], age: Age
    ) -> dict[str, ObjectRow]:
        """The queues of a cycle, each as one row."""
        if part is not STATUS:
            # Every member has the same definition: the newest.
            return {name: max(members.values(), key=lambda row: row.at) for name, members in objects.items()}
        self._note(objects)
        now = max(pace.at for pace in self._paces.values())
        wanted = self._paces.keys() if self.active is None else self.active
        before, self._rows = self._rows, {}
        found = {}
        for name, members in objects.items():
            rows = self._rows[name] = {
                **{each: row for each, row in before.get(name, {}).items() if self._paces[each].counts(row, now)},
                **members,
            }
            found[name] = _combine_status(rows, [each for each in wanted if each not in rows], age)
        return found

    def shift(self, by_ms: int) -> None:
        """The clock was set by ``by_ms``."""
        for pace in self._paces.values():
            pace.at += by_ms
        for row in {id(row): row for rows in self._rows.values() for row in rows.values()}.values():
            row.at += by_ms

    def _note(self, objects: Mapping[str, Mapping[str, ObjectRow]]) -> None:
        asked: dict[str, int] = {}
        for members in objects.values():
            for name, row in members.items():
                asked[name] = max(asked.get(name, 0), row.at)
        for name, at in asked.items():
            if name in self._paces:
                self._paces[name].note(at)
            else:
                self._paces[name] = _Pace(at)


def _combine_status(members: Mapping[str, ObjectRow], missing: Collection[str], age: Age) -> ObjectRow:
    """One row: the newest depth, the sum of the handles unless a member is missing, the newest times.

    Members may live in different time zones: the ages decide which time is the newest. Only where no zone is known the
    times themselves are compared.
    """
    rows = sorted(members.values(), key=lambda row: row.at)
    newest = rows[-1]
    if len(rows) == 1 and not missing:
        return newest
    values = dict(newest.values)
    for name, least in HANDLES.items():
        numbers = [number for row in rows if type(number := row.values.get(name)) is int]
        if not missing and len(numbers) == len(rows):
            values[name] = sum(numbers)
        else:
            values[name] = Absence.NO_ANSWER
            values[least] = sum(numbers) if numbers else Absence.NO_ANSWER
    if missing:
        values["handles_unknown_of"] = ", ".join(sorted(missing))
    for times in STATUS_TIMES:
        found = [(age(row, ms), ms, row) for row in rows if (ms := row.local.get(times.age)) is not None]
        if not found:
            continue
        known = [(-old, ms, row) for old, ms, row in found if type(old) is int]
        _, ms, row = max(known or [(0, ms, row) for _, ms, row in found], key=lambda triple: triple[:2])
        values[times.text] = row.values[times.text]
        # An answer of an earlier cycle is older than the ages that it told.
        values[times.age] = age(replace(row, now=max(row.now, newest.now)), ms)
    return replace(newest, values=values, local={})

"""A part of a sample: the fields of one object and interval, in a form that merges in any order.

A channel has several instances, a structure several members, an application many tasks, and records arrive in any order.
So the raw fields are kept and each is merged by its kind: counters add up, extremes are compared, and of the rest the
newest record counts. Merging is commutative and associative.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from mqvitals_agent.smf.layout.field import Value
from mqvitals_rules.snapshot import ObjectName


class MergeRule(Enum):
    """How two values of a field become one."""

    SUM = "sum"
    HIGHEST = "highest"
    LOWEST = "lowest"
    NEWEST = "newest"


MERGE_RULES: Final[Mapping[str, MergeRule]] = {
    "D": MergeRule.SUM,
    "HW": MergeRule.HIGHEST,
    "TS": MergeRule.HIGHEST,
    "LW": MergeRule.LOWEST,
}
"""By the kind of a field; all others: the newest."""

Recency = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class PartialSample:
    """What is known of ``object`` in the interval that ended at ``ts`` (ms UTC).

    ``spans`` are the intervals (microseconds) that were added up, by who told them and when each ended. ``stamp``: the greater,
    the newer. ``joint``: other records may tell more of the same. ``member`` is the queue manager that told.
    ``restarted``: it, or one of those that told, was started again shortly before.
    """

    object: ObjectName
    group: bool
    probe: str
    ts: int
    member: str
    spans: Mapping[tuple[str, int], int]
    stamp: Recency
    fields: Mapping[str, Value | None]
    joint: bool = False
    restarted: bool = False

    @property
    def key(self) -> tuple[ObjectName, str, int]:
        """Totals with the same key belong together."""
        return self.object, self.probe, self.ts

    @property
    def interval_us(self) -> int | None:
        """The longest time that one teller's intervals cover together; None: unknown."""
        covered: dict[str, int] = {}
        for (teller, _), span in self.spans.items():
            covered[teller] = covered.get(teller, 0) + span
        return max(covered.values(), default=None)

    def plus(self, other: PartialSample, ways: Mapping[str, MergeRule]) -> PartialSample:
        """Both together; ``ways`` by field."""
        newer = self if self.stamp >= other.stamp else other
        spans = dict(self.spans)
        for key, span in other.spans.items():
            spans[key] = max(span, spans.get(key, 0))
        fields = {
            key: _one(
                ways.get(key, MergeRule.NEWEST), self.fields.get(key), other.fields.get(key), newer.fields.get(key)
            )
            for key in self.fields.keys() | other.fields.keys()
        }
        member = min(self.member, other.member)
        return replace(
            newer,
            spans=spans,
            fields=fields,
            member=member,
            joint=self.joint or other.joint,
            restarted=self.restarted or other.restarted,
        )

    def of_group(self, name: str) -> PartialSample:
        """The same as the thing of a group."""
        return replace(self, object=self.object._replace(owner=name))

    def data(self) -> str:
        """All but the key, as JSON."""
        spans = sorted([teller, end, span] for (teller, end), span in self.spans.items())
        found = {"group": self.group, "member": self.member, "spans": spans, "stamp": self.stamp, "fields": self.fields}
        if self.restarted:
            found["restarted"] = True
        return json.dumps(found, sort_keys=True, separators=(",", ":"))

    @classmethod
    def of_data(cls, name: ObjectName, probe: str, ts: int, data: str) -> PartialSample:
        """What ``data`` gave. Raises ValueError, KeyError or TypeError for anything else."""
        found = json.loads(data)
        end_us, rank, rest = found["stamp"]
        return cls(
            name,
            bool(found["group"]),
            probe,
            ts,
            str(found["member"]),
            {(str(teller), int(end)): int(span) for teller, end, span in found["spans"]},
            (int(end_us), int(rank), str(rest)),
            dict(found["fields"]),
            joint=True,
            restarted=bool(found.get("restarted")),
        )


def _one(way: MergeRule, one: Value | None, other: Value | None, newer: Value | None) -> Value | None:
    if way is MergeRule.NEWEST:
        return newer
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, str) or isinstance(other, str):
        return max(str(one), str(other))
    if way is MergeRule.SUM:
        return one + other
    return max(one, other) if way is MergeRule.HIGHEST else min(one, other)


class GroupNames:
    """Group names by queue manager. ``named`` are given and count first, ``default`` counts for all others that tell of a group."""

    def __init__(self, named: Mapping[str, str] | None = None, default: str | None = None) -> None:
        self._named = dict(named or {})
        self._default = default
        self._told: dict[str, str] = {}

    def learn(self, queue_manager: str, name: str) -> None:
        """A record told the group of a queue manager; empty: it is in none, or the record does not say."""
        if name:
            self._told[queue_manager] = name

    def of(self, queue_manager: str) -> str | None:
        """The name under which the group's things stand; None: not known."""
        return self._named.get(queue_manager) or self._default or self._told.get(queue_manager)

    def placed(self, total: PartialSample) -> PartialSample | None:
        """``total`` under its group, where it is a thing of one; None when the group is not known yet."""
        if not total.group or total.object.owner:
            return total
        name = self.of(total.member)
        return None if name is None else total.of_group(name)

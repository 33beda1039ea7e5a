"""A part of a sample: the fields of one object and interval, in a form that merges in any order.

A channel has several instances, a structure several members, an application many tasks, and records arrive in any
order. So the raw fields are kept and each is merged by its kind: counters add up, extremes are compared, and of the
rest the newest record counts. Merging is commutative and associative.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
"""By the kind of a field; of all others the newest value counts."""

Recency = tuple[int, int, str]
"""End of the interval (microseconds), rank, and a text that orders records of the same time and rank."""


@dataclass(frozen=True, slots=True)
class PartialSample:
    """What records report of ``object`` for the interval that ended at ``ts`` (ms UTC).

    ``spans`` are the lengths (microseconds) of the merged intervals, by queue manager and end. The sample with the
    greater ``stamp`` is the newer. ``joint``: other records may hold other parts of the sample. ``member`` is the queue
    manager that wrote the record. ``restarted``: a queue manager that reported it was started shortly before.
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
        """Parts with the same key are parts of one sample."""
        return self.object, self.probe, self.ts

    @property
    def interval_us(self) -> int | None:
        """The time that the intervals of one queue manager cover, of several the longest; None: unknown."""
        covered: dict[str, int] = {}
        for (queue_manager, _), span in self.spans.items():
            covered[queue_manager] = covered.get(queue_manager, 0) + span
        return max(covered.values(), default=None)

    def merge(self, other: PartialSample, rules: Mapping[str, MergeRule]) -> PartialSample:
        """Both as one; ``rules`` by field."""
        newer = self if self.stamp >= other.stamp else other
        spans = dict(self.spans)
        for key, span in other.spans.items():
            spans[key] = max(span, spans.get(key, 0))
        fields: dict[str, Value | None] = {}
        for name in self.fields.keys() | other.fields.keys():
            rule = rules.get(name, MergeRule.NEWEST)
            if rule is MergeRule.NEWEST:
                fields[name] = newer.fields.get(name)
            else:
                fields[name] = merged(rule, self.fields.get(name), other.fields.get(name))
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
        """The same, with the group ``name`` as the owner of its object."""
        return replace(self, object=self.object._replace(owner=name))

    def to_json(self) -> str:
        """All but the key, as JSON."""
        spans = sorted([queue_manager, end, span] for (queue_manager, end), span in self.spans.items())
        found = {"group": self.group, "member": self.member, "spans": spans, "stamp": self.stamp, "fields": self.fields}
        if self.restarted:
            found["restarted"] = True
        return json.dumps(found, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, name: ObjectName, probe: str, ts: int, data: str) -> PartialSample:
        """The sample that ``to_json`` wrote. Raises ValueError, KeyError or TypeError for other texts."""
        found = json.loads(data)
        end_us, rank, rest = found["stamp"]
        return cls(
            name,
            bool(found["group"]),
            probe,
            ts,
            str(found["member"]),
            {(str(queue_manager), int(end)): int(span) for queue_manager, end, span in found["spans"]},
            (int(end_us), int(rank), str(rest)),
            dict(found["fields"]),
            joint=True,
            restarted=bool(found.get("restarted")),
        )


def merged(rule: MergeRule, one: Value | None, other: Value | None) -> Value | None:
    """Two values as one, by another rule than ``NEWEST``."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, str) or isinstance(other, str):
        return max(str(one), str(other))
    if rule is MergeRule.SUM:
        return one + other
    return max(one, other) if rule is MergeRule.HIGHEST else min(one, other)


class GroupNames:
    """The names of queue-sharing groups by queue manager.

    ``named`` come from the configuration and count first; ``default`` counts for all other queue managers.
    """

    def __init__(self, named: Mapping[str, str] | None = None, default: str | None = None) -> None:
        self._named = dict(named or {})
        self._default = default
        self._learned: dict[str, str] = {}

    def learn(self, queue_manager: str, name: str) -> None:
        """Note the group that a record names; empty: the queue manager is in none, or the record does not say."""
        if name:
            self._learned[queue_manager] = name

    def named(self) -> Iterator[tuple[str, str]]:
        """The groups that records named: the name in MQ, and what the group is called here."""
        for queue_manager, name in self._learned.items():
            yield name, self.of(queue_manager) or name

    def of(self, queue_manager: str) -> str | None:
        """The group of a queue manager; None: unknown."""
        return self._named.get(queue_manager) or self._default or self._learned.get(queue_manager)

    def assign(self, sample: PartialSample) -> PartialSample | None:
        """The sample with its group as owner, where its object belongs to one; None: the group is not known yet."""
        if not sample.group or sample.object.owner:
            return sample
        name = self.of(sample.member)
        return None if name is None else sample.of_group(name)

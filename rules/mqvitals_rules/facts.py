"""Facts: what no answer tells and the configuration declares, such as what a buffer pool is for or that a queue is a batch queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mqvitals_rules.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Value

POOL_PURPOSES: Mapping[str, str] = {"0": "system", "1": "system_shallow", "2": "system_deep"}
"""What the first buffer pools are for unless declared otherwise, by their number."""


ACTIVE = ("active_volumes_copy1", "active_volumes_copy2")
OTHERS = ("archive_volumes", "page_set_volumes")
VOLUMES = (*ACTIVE, *OTHERS)
"""Facts about a log that name volumes."""
SHARED_VOLUMES = "shared_volumes"
"""What is worked out from them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One declared metric of the objects that a pattern selects. A state's value is its number."""

    objects: ObjectPattern
    metric: str
    value: Value


class Facts:
    """Declared values by object. Of several facts that select an object the last one counts; without any, the vocabulary's default."""

    def __init__(self, kinds: Mapping[str, Kind], facts: Iterable[Fact] = ()) -> None:
        self._by_kind: dict[str, list[Fact]] = {}
        for fact in facts:
            self._by_kind.setdefault(fact.objects.kind, []).append(fact)
        self._defaults: dict[str, dict[str, Value]] = {
            kind.name: {
                metric.name: metric.default for metric in kind.metrics if metric.declared and metric.default is not None
            }
            for kind in kinds.values()
        }
        purpose = kinds["buffer_pool"].metric("purpose") if "buffer_pool" in kinds else None
        self._purposes = {pool: purpose.values[word] for pool, word in POOL_PURPOSES.items()} if purpose else {}

    def of(self, name: ObjectName) -> Mapping[str, Value]:
        """The declared metrics of an object, defaults included."""
        defaults = self._defaults.get(name.kind, {})
        facts = self._by_kind.get(name.kind)
        if name.kind == "buffer_pool" and name.name in self._purposes:
            defaults = {**defaults, "purpose": self._purposes[name.name]}
        if not facts:
            return defaults  # shared by all objects of the kind: there may be very many
        found = defaults | {fact.metric: fact.value for fact in facts if fact.objects.matches(name)}
        shared = shared_volumes(found) if name.kind == "log" else None
        return found if shared is None else found | {SHARED_VOLUMES: shared}


def shared_volumes(log: Mapping[str, Value]) -> str | None:
    """The volumes of active logs on which something else of ``OTHERS`` is too, in order; None where too little is declared to tell.

    ``log`` holds volumes as texts, blanks between them.
    """
    volumes = {metric: frozenset(str(log[metric]).upper().split()) for metric in VOLUMES if metric in log}
    active = [volumes[metric] for metric in ACTIVE if metric in volumes]
    if not active or len(volumes) < 2:
        return None
    others = [volumes[metric] for metric in OTHERS if metric in volumes]
    both = active[0] & active[1] if len(active) > 1 else frozenset[str]()
    return " ".join(sorted(both | (frozenset().union(*active) & frozenset().union(*others))))

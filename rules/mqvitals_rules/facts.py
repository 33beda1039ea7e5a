"""Facts: what no command reports and the site declares, such as what a buffer pool is for.

``Facts`` gives the declared values of an object. ``declaration_of`` and ``facts_as_yaml`` give what a site has to
declare before a rule can be evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import NamedTuple

from mqvitals_config.facts import FactSettings
from mqvitals_config.node import ScalarNode, compose
from mqvitals_config.problem import LocatedText, Problem, did_you_mean
from mqvitals_rules.pattern import ObjectPattern, pattern_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType, Value
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.world import World

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


_FACT_KINDS: Mapping[str, str] = {
    "buffer_pools": "buffer_pool",
    "page_sets": "page_set",
    "logs": "log",
    "queues": "queue",
    "channels": "channel",
    "cf_structures": "cf_structure",
    "queue_managers": "queue_manager",
    "channel_initiators": "channel_initiator",
    "groups": "qsg",
    "applications": "application",
}
"""The sections of ``facts`` and the kind of object each is about."""


def declared_facts(settings: FactSettings) -> tuple[list[Fact], list[Problem]]:
    """The declared facts, and what is wrong with their patterns and words."""
    facts: list[Fact] = []
    problems: list[Problem] = []
    for section, kind_name in _FACT_KINDS.items():
        kind = KINDS[kind_name]
        for index, entry in enumerate(getattr(settings, section)):
            key = f"facts.{section}[{index}]"
            pattern, found = pattern_of(entry.objects, f"{key}.objects", kind_name, f"facts.{section} declares")
            problems += found
            for name, word in _entry_values(entry):
                try:
                    value = declared_value(kind, name, word)
                except ValueError as error:
                    assert isinstance(word, LocatedText)
                    problems.append(Problem(word.place, f"{key}.{name}", str(error)))
                else:
                    if pattern is not None:
                        facts.append(Fact(pattern, name, value))
    return facts, problems


def fact_section(kind: str) -> str | None:
    """The section of ``facts`` that is about objects of a kind; None when nothing is declared of them."""
    return next((section for section, about in _FACT_KINDS.items() if about == kind), None)


def _entry_values(entry: object) -> Iterator[tuple[str, str | float]]:
    for item in fields_of(entry):  # type: ignore[arg-type]
        value = getattr(entry, item.name)
        if item.name != "objects" and value is not None:
            yield item.name, " ".join(value) if isinstance(value, tuple) else value


def declared_value(kind: Kind, name: str, word: str | float) -> Value:
    """The value of a declared metric from what a person wrote: a state's number from its name.

    Raises ValueError when the metric is not one that is declared, or the word is no value of it.
    """
    metric = kind.metric(name)
    if metric is None or not metric.declared:
        known = [each.name for each in kind.metrics if each.declared]
        meant = did_you_mean(name, known) or f"; there is {', '.join(known) or 'nothing'} to declare"
        raise ValueError(f"{name!r} is no fact about a {kind.name}{meant}")
    if metric.type is MetricType.TEXT:
        return str(word)
    if metric.type is MetricType.STATE:
        if word not in metric.values:
            meant = did_you_mean(str(word), metric.values) or f"; there is {', '.join(metric.values)}"
            raise ValueError(f"{word!r} is no {name} of a {kind.name}{meant}")
        return metric.values[str(word)]
    if not isinstance(word, str):
        return word
    raise ValueError(f"{name} is a number, not {word!r}")


_MOST_OBJECTS = 5
"""More objects than these are written as one pattern."""


class Declaration(NamedTuple):
    """A fact that is missing: of the objects that a pattern selects, in a section of ``facts``.

    ``written`` are the facts that it is worked out from; without any it is written itself.
    """

    section: str
    objects: str
    metric: Metric
    written: tuple[Metric, ...] = ()


def declaration_of(name: ObjectName, missing: str, kinds: Mapping[str, Kind], world: World) -> Declaration | None:
    """What to declare where the judging of ``name`` misses a metric, ``metric``, ``kind.metric`` or ``pair.metric``; None: it is no fact."""
    of, dot, metric_name = missing.rpartition(".")
    if of == "pair":
        # Without a declared pair there is nothing of it to be known.
        of, metric_name = name.kind, "pair"
    kind = kinds.get(of if dot else name.kind)
    metric = None if kind is None else kind.metric(metric_name)
    if kind is None or metric is None or not metric.declared:
        return None
    section = fact_section(kind.name)
    return (
        None if section is None else Declaration(section, _objects(name, kind, world), metric, _written(kind, metric))
    )


def usable_facts(names: Iterable[tuple[str, str]], kinds: Mapping[str, Kind]) -> Iterator[Declaration]:
    """What can be declared of the (kind, metric) that conditions name, for all objects."""
    for kind_name, metric_name in sorted(names):
        kind = kinds[kind_name]
        metric, section = kind.metric(metric_name), fact_section(kind_name)
        if metric is not None and metric.declared and section is not None:
            objects = f"*/{kind_name}" if kind.single else f"*/{kind_name}/*"
            yield Declaration(section, objects, metric, _written(kind, metric))


def facts_as_yaml(declarations: Iterable[Declaration]) -> Iterator[str]:
    """The lines to put under the configuration's other keys. Of every value it says what it can be: what is so only the site knows."""
    sections: dict[str, dict[str, dict[str, Metric]]] = {}
    for each in declarations:
        for metric in each.written or (each.metric,):
            sections.setdefault(each.section, {}).setdefault(metric.name, {})[each.objects] = metric
    if sections:
        yield "facts:"
    for section, metrics in sections.items():
        yield f"  {section}:"
        for name, objects in metrics.items():
            yield f"    # {name}: {_values(next(iter(objects.values())))}"
            value = "[...]" if name in VOLUMES else "..."
            for pattern in _patterns(tuple(objects)):
                yield f"    - {{objects: {json.dumps(pattern, ensure_ascii=False)}, {name}: {value}}}"


def _written(kind: Kind, metric: Metric) -> tuple[Metric, ...]:
    if metric.name != SHARED_VOLUMES:
        return ()
    return tuple(each for each in kind.metrics if each.name in VOLUMES)


def _objects(name: ObjectName, kind: Kind, world: World) -> str:
    if kind.name == name.kind:
        return str(name)
    state = world.state(name)
    related = None if state is None else world.related(state, kind.name)
    if related is not None:
        return str(related.name)
    # Of a group there is no one queue manager: each of its members may be meant.
    owner = name.owner if world.state(ObjectName(name.owner, kind.name)) or not kind.single else "*"
    return f"{owner}/{kind.name}" if kind.single else f"{owner}/{kind.name}/*"


def _patterns(objects: tuple[str, ...]) -> tuple[str, ...]:
    """The objects themselves; of many a pattern that selects them all, to be divided as the site knows best.

    What another of the patterns selects too is not said twice.
    """
    names = {each: name for each in objects if (name := _parsed(each)) is not None}
    wide = [ObjectPattern.parse(each) for each in names if "*" in each]
    objects = tuple(
        each for each, name in names.items() if not any(wider.text != each and wider.matches(name) for wider in wide)
    )
    if len(objects) <= _MOST_OBJECTS:
        return objects
    owners: dict[str, None] = {}
    for each in objects:
        name = names[each]
        owners[str(name._replace(name="*")) if name.name else each] = None
    return tuple(owners)


def _parsed(text: str) -> ObjectName | None:
    """None for an object of an older store whose name can be written nowhere: nothing can be declared of it."""
    try:
        return ObjectName.parse(text)
    except ValueError:
        return None


def _values(metric: Metric) -> str:
    if metric.type is MetricType.STATE:
        return f"{metric.meaning}: {', '.join(map(_as_text, metric.values))}"
    if metric.name in VOLUMES:
        return f"{metric.meaning} (serials)"
    kind = "text" if metric.type is MetricType.TEXT else metric.unit or "number"
    return f"{metric.meaning} ({kind})"


def _as_text(word: str) -> str:
    """A word as YAML takes it for a text: some mean yes and no."""
    root, _ = compose("", word)
    return word if isinstance(root, ScalarNode) and root.tag == "str" else json.dumps(word)

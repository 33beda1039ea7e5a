"""Facts: what no command reports and the site declares, such as what a buffer pool is for.

``Facts`` gives the declared values of an object. ``declaration_of`` and ``facts_as_yaml`` give what a site has to
declare before a rule can be evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, NamedTuple

from mqvitals_config.decoding.node import ScalarNode, compose
from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean
from mqvitals_config.sections.facts import FactSettings
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.ruleset.pattern import ObjectPattern, pattern_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.log import VOLUMES
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType, Value
from mqvitals_rules.vocabulary.tables import KINDS


@dataclass(frozen=True, slots=True)
class Fact:
    """One declared metric of the objects that a pattern selects. A state's value is its number."""

    objects: ObjectPattern
    metric: str
    value: Value


class Facts:
    """Declared values by object. Of several facts the last one counts; without any the vocabulary's default."""

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
        self._defaults_by_name: dict[tuple[str, str], dict[str, Value]] = {}
        for kind in kinds.values():
            for metric in kind.metrics:
                for name, value in metric.defaults.items():
                    self._defaults_by_name.setdefault((kind.name, name), {})[metric.name] = value
        self._layouts: dict[str, dict[str, Mapping[Value, Mapping[str, Value]]]] = {}
        for kind in kinds.values():
            for metric in kind.metrics:
                if metric.layouts:
                    self._layouts.setdefault(kind.name, {})[metric.name] = metric.layouts
        self._derived = {
            kind.name: tuple((metric.name, metric.derive) for metric in kind.metrics if metric.derive is not None)
            for kind in kinds.values()
        }

    def of(self, name: ObjectName) -> Mapping[str, Value]:
        """The declared metrics of an object, defaults included."""
        defaults = self._defaults.get(name.kind, {})
        facts = self._by_kind.get(name.kind)
        special = self._defaults_by_name.get((name.kind, name.name))
        if special is not None:
            defaults = defaults | special
        if name.kind in self._layouts:
            defaults = defaults | self._by_layout(name)
        if not facts:
            return defaults  # shared by all objects of the kind: there may be very many
        found = defaults | {fact.metric: fact.value for fact in facts if fact.objects.matches(name)}
        derived = {metric: derive(found) for metric, derive in self._derived[name.kind]}
        return found | {metric: value for metric, value in derived.items() if value is not None}

    def declared(self, kind: str, metric: str) -> frozenset[Value]:
        """Every value that a metric is declared to have, of whatever objects of the kind."""
        return frozenset(fact.value for fact in self._by_kind.get(kind, ()) if fact.metric == metric)

    def _by_layout(self, name: ObjectName) -> dict[str, Value]:
        """The defaults that the declared layout of the queue manager gives to an object."""
        layout = self.of(ObjectName(name.owner, "queue_manager")).get("pool_layout", 0)
        found = {metric: layouts.get(layout, {}).get(name.name) for metric, layouts in self._layouts[name.kind].items()}
        return {metric: value for metric, value in found.items() if value is not None}


def declared_facts(settings: FactSettings) -> tuple[list[Fact], list[Problem]]:
    """The declared facts, and what is wrong with their patterns and words."""
    facts: list[Fact] = []
    problems: list[Problem] = []
    for kind in KINDS.values():
        for index, entry in enumerate(getattr(settings, kind.facts) if kind.facts else ()):
            key = f"facts.{kind.facts}[{index}]"
            pattern, found = pattern_of(entry.objects, f"{key}.objects", kind.name, f"facts.{kind.facts} declares")
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


def _entry_values(entry: object) -> Iterator[tuple[str, str | float]]:
    for item in fields_of(entry):  # type: ignore[arg-type]
        value = getattr(entry, item.name)
        if item.name != "objects" and value is not None:
            yield item.name, _as_value(value)


def _as_value(value: Any) -> str | float:
    """What a metric can hold: of a list its entries, of a mapping each key and its value (``entries_of``)."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {each}" for key, each in value.items())
    found: str | float = " ".join(value) if isinstance(value, tuple) else value
    return found


def entries_of(declared: str) -> tuple[tuple[str, str], ...]:
    """The keys of a declared mapping, each with its value, from the text that a metric holds of it.

    No key holds a ``;``, and no value a blank.
    """
    parted = (each.rpartition(" ") for each in declared.split("; ") if each)
    return tuple((key, value) for key, _, value in parted)


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


_FORMS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(VOLUMES, ("serials", "[...]")),
    "certificates": ("date", "{LABEL: ...}"),
    "supported_until": ("date", "..."),
}
"""Texts of another form than a word: what to write, and how."""

_MOST_OBJECTS = 5
"""More objects than these are written as one pattern."""


class Declaration(NamedTuple):
    """A missing fact of the objects that a pattern selects, in a section of ``facts``.

    ``written`` are the facts that it is derived from; without any it is written itself.
    """

    section: str
    objects: str
    metric: Metric
    written: tuple[Metric, ...] = ()


def declaration_of(
    name: ObjectName, missing: str, kinds: Mapping[str, Kind], latest: LatestValues
) -> Declaration | None:
    """What to declare where a rule misses a metric of ``name``; None where that is no fact.

    ``missing`` is written ``metric``, ``kind.metric`` or ``pair.metric``.
    """
    of, dot, metric_name = missing.rpartition(".")
    if of == "pair":
        # Without a declared pair none of its metrics is known.
        of, metric_name = name.kind, "pair"
    kind = kinds.get(of if dot else name.kind)
    metric = None if kind is None else kind.metric(metric_name)
    if kind is None or metric is None or not metric.declared:
        return None
    return Declaration(kind.facts, _objects(name, kind, latest), metric, _written(kind, metric)) if kind.facts else None


def usable_facts(names: Iterable[tuple[str, str]], kinds: Mapping[str, Kind]) -> Iterator[Declaration]:
    """What can be declared of the (kind, metric) that conditions name, for all objects."""
    for kind_name, metric_name in sorted(names):
        kind = kinds[kind_name]
        metric = kind.metric(metric_name)
        if metric is not None and metric.declared and kind.facts:
            objects = f"*/{kind_name}" if kind.single else f"*/{kind_name}/*"
            yield Declaration(kind.facts, objects, metric, _written(kind, metric))


def facts_as_yaml(declarations: Iterable[Declaration]) -> Iterator[str]:
    """Lines of YAML to add to the configuration. Comments give the possible values; the site knows the right one."""
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
            _, value = _FORMS.get(name, ("", "..."))
            for pattern in _patterns(tuple(objects)):
                yield f"    - {{objects: {json.dumps(pattern, ensure_ascii=False)}, {name}: {value}}}"


def _written(kind: Kind, metric: Metric) -> tuple[Metric, ...]:
    return tuple(each for each in kind.metrics if each.name in metric.derived_from)


def _objects(name: ObjectName, kind: Kind, latest: LatestValues) -> str:
    if kind.name == name.kind:
        return str(name)
    state = latest.state(name)
    related = None if state is None else latest.related(state, kind.name)
    if related is not None:
        return str(related.name)
    # A group has no one queue manager: any of its members may be meant.
    owner = name.owner if latest.state(ObjectName(name.owner, kind.name)) or not kind.single else "*"
    return f"{owner}/{kind.name}" if kind.single else f"{owner}/{kind.name}/*"


def _patterns(objects: tuple[str, ...]) -> tuple[str, ...]:
    """The objects themselves; of many one pattern that selects them all.

    An object that another pattern selects too is left out.
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
    """None for an object of an older store whose name cannot be written: nothing can be declared of it."""
    try:
        return ObjectName.parse(text)
    except ValueError:
        return None


def _values(metric: Metric) -> str:
    if metric.type is MetricType.STATE:
        return f"{metric.meaning}: {', '.join(map(_as_text, metric.values))}"
    if metric.name in _FORMS:
        return f"{metric.meaning} ({_FORMS[metric.name][0]})"
    kind = "text" if metric.type is MetricType.TEXT else metric.unit or "number"
    return f"{metric.meaning} ({kind})"


def _as_text(word: str) -> str:
    """A word, quoted where YAML takes it for something else than a text."""
    root, _ = compose("", word)
    return word if isinstance(root, ScalarNode) and root.tag == "str" else json.dumps(word)

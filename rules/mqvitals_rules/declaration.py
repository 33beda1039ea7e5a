"""What to write into the configuration so that a rule can be judged: the facts that it misses, as lines of YAML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mqvitals_config.node import ScalarNode, compose
from mqvitals_rules.facts import SHARED_VOLUMES, VOLUMES, fact_section
from mqvitals_rules.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType
from mqvitals_rules.world import World

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


def declaration(name: ObjectName, missing: str, kinds: Mapping[str, Kind], world: World) -> Declaration | None:
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


def usable(names: Iterable[tuple[str, str]], kinds: Mapping[str, Kind]) -> Iterator[Declaration]:
    """What can be declared of the (kind, metric) that conditions name, for all objects."""
    for kind_name, metric_name in sorted(names):
        kind = kinds[kind_name]
        metric, section = kind.metric(metric_name), fact_section(kind_name)
        if metric is not None and metric.declared and section is not None:
            objects = f"*/{kind_name}" if kind.single else f"*/{kind_name}/*"
            yield Declaration(section, objects, metric, _written(kind, metric))


def yaml_lines(declarations: Iterable[Declaration]) -> Iterator[str]:
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

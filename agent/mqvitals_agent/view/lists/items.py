"""The items of a list: read from the store, ordered, and filtered by what is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.figures.forecast import FILLING, with_full_in
from mqvitals_agent.view.figures.table import Column, Item, Serving
from mqvitals_agent.view.figures.values import MAIN_METRIC, RATE, natural_order, natural_places, number_in, with_rates
from mqvitals_agent.view.lists.columns import kinds_of, metrics_of
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.agent import REMOTE_WRITE_KIND, SERVER_KIND
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet

_SIZED: Final = "client"
"""The kind whose objects are ordered by their size."""

_UNANSWERED = frozenset(
    {Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE, Absence.NOT_AUTHORISED, Absence.NOT_ASKED}
)


def read_items(reader: StoreReader, status: GroupStatus, kind: str, rules: RuleSet | None = None) -> tuple[Item, ...]:
    """The objects of a list, worst first, then by name; clients with the most instances first. Raises StoreError.

    Objects whose owner is stale are unknown, all alike: among them those stand first that were worst when last seen.
    ``rules`` give the meters of the list their ticks.
    """
    data = status.data
    by_object = health_by_object(status.firing)
    stale = status.stale
    if kind == "agent":
        # Outcomes of earlier commands are not current for a queue manager that cannot be asked now.
        stale |= {member.name for member in status.queue_managers if member.reachable is False}
    items: list[Item] = []
    filled: list[int] = []
    serving = _serving_channels(reader, status) if kind == "queue" else {}
    for each in kinds_of(kind):
        for member in data.members:
            found: Mapping[ObjectName, Mapping[str, CurrentValue]]
            found = reader.current_by_kind(member.name, each, metrics_of(each))
            if each in RATE:
                found = with_rates(reader, each, found)
            is_stale = member.name in stale
            of_kind = () if rules is None else rules.rules_of(each)
            main, filling = MAIN_METRIC[each], FILLING.get(each)
            for name, values in found.items():
                latest = values.get(main)
                health = Health.UNKNOWN if is_stale else _health(by_object.get(name, Health.OK), latest)
                own = rules.rules_for(name) if of_kind is None and rules is not None else of_kind or ()
                # Most of ten thousand queues are empty: they are not looked at again.
                if filling and (filling.metric != main or (latest is not None and latest.value)):
                    filled.append(len(items))
                items.append(Item(name, health, values, is_stale, serving, own))
    return _in_order(with_full_in(reader, items, filled, data.now), by_object)


def _in_order(items: Sequence[Item], by_object: Mapping[ObjectName, Health]) -> tuple[Item, ...]:
    """The worst first, then by name: most of ten thousand items are alike in all but their names."""
    alike: dict[tuple[int, int, float], list[Item]] = {}
    levels = {health: (-health, -health, 0.0) for health in Health}
    for place in natural_places(tuple([item.name for item in items])):
        item = items[place]
        key = levels[item.health]
        if item.stale or item.name.kind == _SIZED:
            last = health_of_item(item.name, item.values, by_object, stale=False) if item.stale else item.health
            key = -item.health, -last, -_size(item)
        if key in alike:
            alike[key].append(item)
        else:
            alike[key] = [item]
    return tuple(chain.from_iterable(alike[key] for key in sorted(alike)))


def _size(item: Item) -> float:
    """What puts the greatest clients first; other lists are ordered by name."""
    return number_in(item.values.get("instances")) or 0.0 if item.name.kind == _SIZED else 0.0


def _serving_channels(reader: StoreReader, status: GroupStatus) -> Serving:
    """The channels of every transmission queue; of the group's queues those of all its queue managers."""
    groups = [member.name for member in status.data.members if member.is_group]
    found: dict[tuple[str, str], list[tuple[ObjectName, CurrentValue]]] = {}
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, "channel", ("xmitq", "status")).items():
            queue = values.get("xmitq")
            if queue is None or not isinstance(queue.value, str) or not queue.value:
                continue
            latest = values.get("status")
            if latest is not None:
                for owner in (member.name, *groups):
                    found.setdefault((owner, queue.value), []).append((name, latest))
    return found


def read_store(reader: StoreReader, status: GroupStatus) -> Item | None:
    """The agent's store as last measured; None where no agent has measured it. Raises StoreError."""
    kind = KINDS["store"]
    by_object = health_by_object(status.firing)
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, kind.name).items():
            stale = name.owner in status.stale
            return Item(name, health_of_item(name, values, by_object, stale=stale), values, stale)
    return None


def read_server(reader: StoreReader, status: GroupStatus) -> Item | None:
    """The agent's small server as last measured; None while there is none. Raises StoreError."""
    by_object = health_by_object(status.firing)
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, SERVER_KIND.name).items():
            stale = name.owner in status.stale
            return Item(name, health_of_item(name, values, by_object, stale=stale), values, stale)
    return None


def read_engines(reader: StoreReader, status: GroupStatus) -> tuple[Item, ...]:
    """The engines that samples are sent to as last measured, by name. Raises StoreError."""
    by_object = health_by_object(status.firing)
    found = []
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, REMOTE_WRITE_KIND.name).items():
            stale = name.owner in status.stale
            found.append(Item(name, health_of_item(name, values, by_object, stale=stale), values, stale))
    return tuple(sorted(found, key=lambda item: natural_order(item.name)))


def health_by_object(alerts: Iterable[Alert]) -> Mapping[ObjectName, Health]:
    """The worst alert about each object, and of each object that an alert's rule evaluates."""
    worst: dict[ObjectName, Health] = {}
    for alert in alerts:
        health = health_of(alert.severity)
        for name in (alert.key.object, alert.scope):
            worst[name] = max(worst.get(name, Health.OK), health)
    return worst


def health_of_item(
    name: ObjectName, values: Mapping[str, CurrentValue], by_object: Mapping[ObjectName, Health], *, stale: bool
) -> Health:
    """The health by its alerts; unknown when its owner is silent, or when its main metric was not answered."""
    if stale:
        return Health.UNKNOWN
    return _health(by_object.get(name, Health.OK), values.get(MAIN_METRIC[name.kind]))


def _health(health: Health, latest: CurrentValue | None) -> Health:
    if latest is None or latest.unanswered is not None or latest.value in _UNANSWERED:
        return max(health, Health.UNKNOWN)
    return health


def ordered(items: Iterable[Item], column: Column, *, reverse: bool = False) -> tuple[Item, ...]:
    """The items sorted by a column; those with equal values stay as they are, those without any come last either
    way."""
    present: list[tuple[float | str, Item]] = []
    absent: list[Item] = []
    order = column.order
    for item in items:
        value = order(item)
        if value is None:
            absent.append(item)
        else:
            present.append((value, item))
    present.sort(key=lambda pair: pair[0], reverse=reverse)
    return (*(item for _, item in present), *absent)


def matching(items: Sequence[Item], text: str) -> tuple[Item, ...]:
    """The items in which every word of ``text`` occurs in the whole name, upper and lower case alike.

    A word ``severity:critical`` selects by how an item is, ``state:retrying`` by its status, ``depth:0`` by any other
    metric of the list as its figure begins; any other text before a colon is part of a name.
    """
    found = items
    for word in text.casefold().split():
        test = _test(word, found)
        found = [item for item in found if test(item)]
    return tuple(found)


def _test(word: str, items: Sequence[Item]) -> Callable[[Item], bool]:
    field, colon, wanted = word.partition(":")
    if colon and field in ("severity", "health"):
        return lambda item: item.health.word.startswith(wanted)
    metric = "status" if field == "state" else field
    if colon and any(metric in item.values for item in items):
        return lambda item: _figure(item, metric).startswith(wanted)
    return lambda item: word in item.key.casefold()


def _figure(item: Item, name: str) -> str:
    latest = item.values.get(name)
    metric = KINDS[item.name.kind].metric(name)
    if latest is None or metric is None:
        return ""
    return figure(latest.value, metric).casefold()

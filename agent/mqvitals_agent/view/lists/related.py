"""The objects that belong to another one: storage, channels, clients, partners, queues that name each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.figures.values import MAIN_METRIC, Values, number_in
from mqvitals_agent.view.lists.items import health_by_object, health_of_item
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


MOST = 12
"""Objects of one relation that are named; of more there is only a number."""


class RelatedObjects(NamedTuple):
    """Objects in one relation to another: the relation in words, and the first of them.

    ``more`` counts the others. Without objects, ``text`` is what is known instead (a partner's name).
    """

    words: str
    objects: tuple[tuple[ObjectName, Health, CurrentValue | None], ...] = ()
    more: int = 0
    text: str = ""


def read_related(
    reader: StoreReader, status: GroupStatus, name: ObjectName, values: Values
) -> tuple[RelatedObjects, ...]:
    """What belongs to an object, as far as the store knows it. Raises StoreError."""
    reads = _Reads(reader, status, name)
    match name.kind:
        case "queue":
            found = _of_queue(reads, values)
        case "channel":
            found = _of_channel(reads, values)
        case "page_set":
            found = [
                reads.one("its buffer pool", "buffer_pool", _word(values, "buffer_pool")),
                reads.pointing("queues on it", "queue", "page_set"),
            ]
        case "buffer_pool":
            found = [
                reads.pointing("page sets that use it", "page_set", "buffer_pool"),
                reads.pointing("queues in it", "queue", "buffer_pool"),
            ]
        case "cf_structure":
            found = [
                reads.pointing("shared queues in it", "queue", "cf_structure"),
                reads.beginning("its shared message data sets", "smds"),
            ]
        case "client":
            found = [
                reads.one("its channel", "channel", _word(values, "channel_name")),
                reads.one("its channel initiator", "channel_initiator", ""),
            ]
        case "smds":
            structure = name.name.partition("/")[0]
            found = [
                reads.one("its structure", "cf_structure", structure),
                reads.pointing("connections to it", "smds_connection", "data_set"),
            ]
        case "cluster_queue_manager":
            known = name.name.partition("/")[2]
            found = [
                reads.one("the channel to it", "channel", _word(values, "channel")),
                reads.one("the queue manager", "queue_manager", "", owner=known),
                reads.one("who knows it", "queue_manager", ""),
            ]
        case "subscription":
            found = [
                reads.one("the queue", "queue", name.name),
                reads.one("its queue manager", "queue_manager", ""),
            ]
        case "smds_connection":
            found = [
                reads.one("its data set", "smds", name.name),
                reads.one("its structure", "cf_structure", name.name.partition("/")[0]),
                reads.one("its queue manager", "queue_manager", ""),
            ]
        case "dead_letter":
            found = [
                reads.one("its destination", "queue", name.name.partition("/")[2]),
                reads.dead_letter_queue(),
                reads.one("its queue manager", "queue_manager", ""),
            ]
        case "queue_manager":
            found = [
                reads.all("its dead letters", "dead_letter"),
                reads.leading_here(),
                reads.one("its log", "log", ""),
                reads.one("its channel initiator", "channel_initiator", ""),
                reads.all("its buffer pools", "buffer_pool"),
                reads.all("its page sets", "page_set"),
                reads.own_entries(),
                reads.all("queues of its durable subscriptions", "subscription"),
            ]
        case "qsg":
            found = [reads.all("its structures", "cf_structure"), reads.members("its queue managers")]
        case "adapter" | "dispatcher" | "ssl_task" | "dns_task":
            found = [reads.one("its channel initiator", "channel_initiator", "")]
        case _:
            found = [reads.one("its queue manager", "queue_manager", "")]
    return tuple(each for each in found if each is not None and (each.objects or each.text))


def _of_queue(reads: _Reads, values: Values) -> list[RelatedObjects | None]:
    storage = _word(values, "storage_class")

    def some(metric: str) -> bool:
        """Whether other queues name it: to find them takes a look at all of them."""
        return _word(values, metric).strip() not in ("", "0")

    return [
        RelatedObjects("its storage class", text=storage) if storage else None,
        reads.one("its page set", "page_set", _word(values, "page_set")),
        reads.one("its buffer pool", "buffer_pool", _word(values, "buffer_pool")),
        reads.one("its structure", "cf_structure", _word(values, "cf_structure")),
        reads.pointing("channels that send from it", "channel", "xmitq"),
        reads.led_to(_word(values, "usage")),
        reads.one("its initiation queue", "queue", _word(values, "initiation_queue")),
        reads.pointing("queues that it triggers for", "queue", "initiation_queue") if some("initiation_of") else None,
        reads.one("the queue for its copies", "queue", _word(values, "stream_queue")),
        reads.pointing("queues whose copies it gets", "queue", "stream_queue") if some("stream_of") else None,
        reads.one("where applications put aside its messages", "queue", _word(values, "backout_queue")),
        reads.pointing("queues whose messages are put aside here", "queue", "backout_queue")
        if some("backout_of")
        else None,
        reads.ending("its dead letters", "dead_letter"),
        reads.all("dead letters on it", "dead_letter") if _word(values, "dead_letter") == _YES else None,
        reads.pointing("subscriptions that fill it", "subscription", "destination"),
    ]


def _of_channel(reads: _Reads, values: Values) -> list[RelatedObjects | None]:
    partner = _word(values, "remote_queue_manager")
    at = _word(values, "conname") or _word(values, "conname_defined")
    known = reads.one("its partner", "queue_manager", "", owner=partner) if partner else None
    words = " at ".join(part for part in (partner, at) if part)
    return [
        reads.one("its transmission queue", "queue", _word(values, "xmitq")),
        known if known is not None and known.objects else RelatedObjects("its partner", text=words) if words else None,
        reads.other_end(partner),
        reads.beginning("its clients", "client"),
        reads.pointing("where its cluster has it", "cluster_queue_manager", "channel"),
        reads.one("its channel initiator", "channel_initiator", ""),
    ]


def _word(values: Values, metric: str) -> str:
    """A name or number as the last part of an object's name; empty when it is not known."""
    latest = values.get(metric)
    if latest is None or isinstance(latest.value, Absence):
        return ""
    return latest.value if isinstance(latest.value, str) else str(int(latest.value))


_YES, _XMITQ = (
    str(int(metric_of("queue", name).values[word])) for name, word in (("dead_letter", "YES"), ("usage", "XMITQ"))
)
"""As ``_word`` gives them."""


class _Reads:
    """Finds related objects, their health and their main metric."""

    def __init__(self, reader: StoreReader, status: GroupStatus, name: ObjectName) -> None:
        self._reader = reader
        self._status = status
        self._name = name
        self._health = health_by_object(status.firing)
        self._stale = status.stale
        self._owners = [member.name for member in status.owners]
        self._group = status.group.name if status.group else ""

    def one(self, words: str, kind: str, rest: str, *, owner: str = "") -> RelatedObjects | None:
        """The object of a kind that is called ``rest``, of the same owner or else of the group."""
        single = kind in ("log", "channel_initiator", "queue_manager")
        if not rest and not single:
            return None
        for holder in dict.fromkeys((owner or self._name.owner, *(() if owner else (self._group,)))):
            wanted = ObjectName(holder, kind, rest)
            if holder and self._reader.has(wanted):
                return RelatedObjects(words, (self._related(wanted, self._reader.current(wanted)),))
        return RelatedObjects(words, text=rest) if rest else None

    def other_end(self, partner: str) -> RelatedObjects | None:
        """The channels at the other end: both ends of a channel have one name.

        They are the channels of its name at its partners, those that lead here and the one to which it leads.
        """
        found: dict[ObjectName, Values] = {}
        for owner in self._owners:
            name = ObjectName(owner, "channel", self._name.name)
            if owner != self._name.owner and self._reader.has(name):
                values = self._reader.current(name)
                if owner == partner or _word(values, "remote_queue_manager") == self._name.owner:
                    found[name] = values
        return self._several("its other end", found)

    def pointing(self, words: str, kind: str, metric: str) -> RelatedObjects | None:
        """The objects of a kind whose ``metric`` names this one."""
        owners = self._owners if self._name.owner == self._group else [self._name.owner]
        found = {
            name: values
            for owner in owners
            for name, values in self._reader.current_naming(
                owner, kind, (metric, self._name.name), (metric, MAIN_METRIC[kind])
            ).items()
            if _word(values, metric) == self._name.name
        }
        return self._several(words, found)

    def beginning(self, words: str, kind: str) -> RelatedObjects | None:
        """The objects of a kind whose names begin with this one's."""
        found = self._reader.current_by_kind(self._name.owner, kind, (MAIN_METRIC[kind],))
        begin = f"{self._name.name}/"
        return self._several(words, {name: values for name, values in found.items() if name.name.startswith(begin)})

    def all(self, words: str, kind: str) -> RelatedObjects | None:
        """All objects of a kind of the same owner."""
        return self._several(words, self._reader.current_by_kind(self._name.owner, kind, (MAIN_METRIC[kind],)))

    def ending(self, words: str, kind: str) -> RelatedObjects | None:
        """The objects of a kind whose names end with this one's."""
        found = self._reader.current_by_kind(self._name.owner, kind, (MAIN_METRIC[kind],))
        end = f"/{self._name.name}"
        return self._several(words, {name: values for name, values in found.items() if name.name.endswith(end)})

    def led_to(self, usage: str) -> RelatedObjects | None:
        """The queue managers to which the channels of a transmission queue lead; without channels the one of its name."""
        if usage != _XMITQ:
            return None
        owners = self._owners if self._name.owner == self._group else [self._name.owner]
        partners = {
            _word(values, "remote_queue_manager")
            for owner in owners
            for values in self._reader.current_by_kind(owner, "channel", ("xmitq", "remote_queue_manager")).values()
            if _word(values, "xmitq") == self._name.name
        } or {self._name.name}
        return self._queue_managers("where it leads", partners)

    def leading_here(self) -> RelatedObjects | None:
        """The channels of other queue managers that lead to this one."""
        found: dict[ObjectName, Values] = {}
        for owner in self._owners:
            channels = self._reader.current_by_kind(owner, "channel", ("remote_queue_manager", MAIN_METRIC["channel"]))
            if owner != self._name.owner:
                found |= {
                    name: values
                    for name, values in channels.items()
                    if _word(values, "remote_queue_manager") == self._name.owner
                }
        return self._several("channels of others to it", found)

    def own_entries(self) -> RelatedObjects | None:
        """What a queue manager knows of itself in its clusters."""
        found = self._reader.current_by_kind(
            self._name.owner, "cluster_queue_manager", (MAIN_METRIC["cluster_queue_manager"],)
        )
        own = {name: values for name, values in found.items() if name.name.endswith(f"/{self._name.owner}")}
        return self._several("its clusters", own)

    def dead_letter_queue(self) -> RelatedObjects | None:
        """The dead-letter queue of the queue manager."""
        found = self._reader.current_by_kind(self._name.owner, "queue", ("dead_letter", MAIN_METRIC["queue"]))
        own = {name: values for name, values in found.items() if _word(values, "dead_letter") == _YES}
        return self._several("the queue that it is on", own)

    def _queue_managers(self, words: str, names: Iterable[str]) -> RelatedObjects | None:
        """These queue managers, as far as the store has them."""
        metric = MAIN_METRIC["queue_manager"]
        found: dict[ObjectName, Values] = {}
        for owner in sorted(set(names) & set(self._owners)):
            found |= self._reader.current_by_kind(owner, "queue_manager", (metric,))
        return self._several(words, found)

    def members(self, words: str) -> RelatedObjects | None:
        """The queue managers."""
        return self._queue_managers(words, self._owners)

    def _several(self, words: str, found: Mapping[ObjectName, Values]) -> RelatedObjects | None:
        objects = sorted((self._related(name, values) for name, values in found.items()), key=_worst_and_greatest)
        return RelatedObjects(words, tuple(objects[:MOST]), max(len(objects) - MOST, 0)) if objects else None

    def _related(self, name: ObjectName, values: Values) -> tuple[ObjectName, Health, CurrentValue | None]:
        health = health_of_item(name, values, self._health, stale=name.owner in self._stale)
        return name, health, values.get(MAIN_METRIC[name.kind])


def _worst_and_greatest(related: tuple[ObjectName, Health, CurrentValue | None]) -> tuple[int, float, ObjectName]:
    name, health, main = related
    value = number_in(main)
    return (-health, 1.0 if value is None else -value, name)

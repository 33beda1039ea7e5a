"""What belongs to an object: the way from a queue to its page set and pool, from a channel to its queue, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.listing import health_by_object, health_of_item
from mqvitals_agent.view.remedy import TREND
from mqvitals_agent.view.status import StatusView
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

MOST = 12
"""Objects of one relation that are named; of more there is only a number."""

Values = Mapping[str, CurrentValue]


class Related(NamedTuple):
    """Objects that stand in one relation to another: in words what they are to it, and the first of them.

    ``more`` counts those that are left out. Without objects, ``text`` says what is known instead (a partner's name).
    """

    words: str
    objects: tuple[tuple[ObjectName, Health, CurrentValue | None], ...] = ()
    more: int = 0
    text: str = ""


def read_related(reader: StoreReader, status: StatusView, name: ObjectName, values: Values) -> tuple[Related, ...]:
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
        case "smds":
            structure = name.name.partition("/")[0]
            found = [reads.one("its structure", "cf_structure", structure)]
        case "queue_manager":
            found = [
                reads.one("its log", "log", ""),
                reads.one("its channel initiator", "channel_initiator", ""),
                reads.all("its buffer pools", "buffer_pool"),
                reads.all("its page sets", "page_set"),
            ]
        case "qsg":
            found = [reads.all("its structures", "cf_structure"), reads.members("its queue managers")]
        case "adapter" | "dispatcher" | "ssl_task" | "dns_task":
            found = [reads.one("its channel initiator", "channel_initiator", "")]
        case _:
            found = [reads.one("its queue manager", "queue_manager", "")]
    return tuple(each for each in found if each is not None and (each.objects or each.text))


def _of_queue(reads: _Reads, values: Values) -> list[Related | None]:
    storage = _word(values, "storage_class")
    return [
        Related("its storage class", text=storage) if storage else None,
        reads.one("its page set", "page_set", _word(values, "page_set")),
        reads.one("its buffer pool", "buffer_pool", _word(values, "buffer_pool")),
        reads.one("its structure", "cf_structure", _word(values, "cf_structure")),
        reads.pointing("channels that send from it", "channel", "xmitq"),
    ]


def _of_channel(reads: _Reads, values: Values) -> list[Related | None]:
    partner = _word(values, "remote_queue_manager")
    at = _word(values, "conname") or _word(values, "conname_defined")
    known = reads.one("its partner", "queue_manager", "", owner=partner) if partner else None
    words = " at ".join(part for part in (partner, at) if part)
    return [
        reads.one("its transmission queue", "queue", _word(values, "xmitq")),
        known if known is not None and known.objects else Related("its partner", text=words) if words else None,
        reads.one("its channel initiator", "channel_initiator", ""),
    ]


def _word(values: Values, metric: str) -> str:
    """A name or number as the last part of an object's name; empty when it is not known."""
    told = values.get(metric)
    if told is None or isinstance(told.value, Absence):
        return ""
    return told.value if isinstance(told.value, str) else str(int(told.value))


class _Reads:
    """Finds related objects, their health and their main figure."""

    def __init__(self, reader: StoreReader, status: StatusView, name: ObjectName) -> None:
        self._reader = reader
        self._status = status
        self._name = name
        self._health = health_by_object(status.firing)
        members = status.owners
        self._stale = {member.name for member in members if member.stale}
        self._owners = [member.name for member in members]
        self._group = status.group.name if status.group else ""

    def one(self, words: str, kind: str, rest: str, *, owner: str = "") -> Related | None:
        """The object of a kind that is called ``rest``, of the same owner or else of the group."""
        single = kind in ("log", "channel_initiator", "queue_manager")
        if not rest and not single:
            return None
        for holder in dict.fromkeys((owner or self._name.owner, *(() if owner else (self._group,)))):
            wanted = ObjectName(holder, kind, rest)
            if holder and self._reader.has(wanted):
                return Related(words, (self._told(wanted, self._reader.current(wanted)),))
        return Related(words, text=rest) if rest else None

    def pointing(self, words: str, kind: str, metric: str) -> Related | None:
        """The objects of a kind whose ``metric`` names this one."""
        owners = self._owners if self._name.owner == self._group else [self._name.owner]
        found = {
            name: values
            for owner in owners
            for name, values in self._reader.current_by_kind(owner, kind, (metric, TREND[kind])).items()
            if _word(values, metric) == self._name.name
        }
        return self._several(words, found)

    def beginning(self, words: str, kind: str) -> Related | None:
        """The objects of a kind whose names begin with this one's."""
        found = self._reader.current_by_kind(self._name.owner, kind, (TREND[kind],))
        begin = f"{self._name.name}/"
        return self._several(words, {name: told for name, told in found.items() if name.name.startswith(begin)})

    def all(self, words: str, kind: str) -> Related | None:
        """All objects of a kind of the same owner."""
        return self._several(words, self._reader.current_by_kind(self._name.owner, kind, (TREND[kind],)))

    def members(self, words: str) -> Related | None:
        """The queue managers."""
        found: dict[ObjectName, Values] = {}
        for owner in self._owners:
            found |= self._reader.current_by_kind(owner, "queue_manager", (TREND["queue_manager"],))
        return self._several(words, found)

    def _several(self, words: str, found: Mapping[ObjectName, Values]) -> Related | None:
        told = sorted((self._told(name, values) for name, values in found.items()), key=_worst_and_greatest)
        return Related(words, tuple(told[:MOST]), max(len(told) - MOST, 0)) if told else None

    def _told(self, name: ObjectName, values: Values) -> tuple[ObjectName, Health, CurrentValue | None]:
        health = health_of_item(name, values, self._health, stale=name.owner in self._stale)
        return name, health, values.get(TREND[name.kind])


def _worst_and_greatest(told: tuple[ObjectName, Health, CurrentValue | None]) -> tuple[int, float, ObjectName]:
    name, health, main = told
    value = -1.0 if main is None or isinstance(main.value, Absence | str) else float(main.value)
    return (-health, -value, name)

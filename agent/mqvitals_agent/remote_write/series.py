"""What of the store is sent, and as which series: metrics of each kind in order, and the labels of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.openmetrics.names import Family, families_of, label_metrics, label_texts, labels_of, owner_texts
from mqvitals_agent.remote_write.protocol import encode_labels
from mqvitals_agent.store.reading.stored_order import StoredOrderReader
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Kind, MetricType
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND

_NAME: Final = "__name__"
_SOURCE: Final = "source"
_FRESH_MS: Final = 60_000
"""So long the texts of labels are used before they are read again."""


@dataclass(frozen=True, slots=True)
class SentFamily:
    """A family, and the label of its name as it is sent."""

    family: Family
    head: bytes

    @property
    def plain(self) -> bool:
        """Whether values are sent as they are stored."""
        return self.family.scale == 1 and not self.family.numbers and not self.family.no_amounts


@dataclass(frozen=True, slots=True)
class SentMetric:
    """A metric of the store: its families as polls, and as the records of intervals.

    ``total``: the store keeps increases. ``of_poll``: each poll of its kind asks for it, so one without a value says that
    there is none now.
    """

    kind: str
    name: str
    polled: tuple[SentFamily, ...]
    recorded: tuple[SentFamily, ...]
    total: bool
    of_poll: bool


def sent_metrics(kind: Kind) -> tuple[SentMetric, ...]:
    """The metrics of a kind that have a series, in the order of the vocabulary.

    Records come late, and in any order: of what they count the increase in their own interval is sent, under a name that says
    so.
    """
    found = []
    for metric in kind.metrics:
        families = families_of(kind, metric) if metric.in_history else ()
        if not families:
            continue
        total = metric.type is MetricType.COUNTER
        found.append(
            SentMetric(
                kind.name,
                metric.name,
                tuple(SentFamily(each, _head(each.sample)) for each in families),
                tuple(SentFamily(each, _head(f"{each.name}_increase" if total else each.sample)) for each in families),
                total,
                metric.command == kind.poll,
            )
        )
    return tuple(found)


def _head(name: str) -> bytes:
    return encode_labels(((_NAME, name),))


@dataclass(frozen=True, slots=True)
class LabelsAround:
    """The labels of an object's series that sort before the name, and those behind it."""

    before: bytes
    behind: bytes


class SentLabels:
    """The labels of objects as they are sent, read from the newest texts of the store at times. Use it from one thread.

    ``external`` are labels of all series, where they have none of that name.
    """

    def __init__(self, kinds: Mapping[str, Kind], external: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._external = external
        self._of_owners: dict[str, dict[str, str]] = {}
        self._groups: frozenset[str] = frozenset()
        self._around: dict[int, LabelsAround] = {}
        self._texts: dict[str, dict[int, dict[str, str]]] = {}
        self._read: dict[str, int] = {}

    def refresh(
        self, reader: StoredOrderReader, objects: Mapping[int, ObjectName], now: int
    ) -> dict[int, LabelsAround]:
        """Read the texts of each kind again of which those that are known are old at ``now`` (ms UTC), or an object is new.

        Returns the former labels of objects whose labels have changed. Raises StoreError.
        """
        new = {objects[number].kind for number in objects.keys() - self._around.keys()}
        kinds = {
            kind
            for kind in self._kinds
            if kind in new or kind not in self._read or not 0 <= now - self._read[kind] < _FRESH_MS
        }
        if not kinds:
            return {}
        queue_manager = QUEUE_MANAGER_KIND.name
        self._groups = reader.groups()
        for kind in sorted(kinds, key=lambda each: each != queue_manager):
            values = reader.newest(kind, label_metrics(kind))
            self._texts[kind] = {number: label_texts(self._kinds[kind], each) for number, each in values.items()}
            self._read[kind] = now
        of_owner = {
            objects[number].owner: owner_texts(texts)
            for number, texts in self._texts.get(queue_manager, {}).items()
            if number in objects
        }
        # What is said of a queue manager stands in the labels of all that it has.
        every = of_owner != self._of_owners
        self._of_owners = of_owner
        before = self._around
        self._around = {
            number: self._made(number, name) if every or name.kind in kinds else before[number]
            for number, name in objects.items()
        }
        return {
            number: around
            for number, around in before.items()
            if number in self._around and self._around[number] != around
        }

    def around(self, number: int) -> LabelsAround:
        """The labels of an object's polls. Raises KeyError for one that is unknown."""
        return self._around[number]

    def recorded(self, number: int, name: ObjectName, source: int) -> LabelsAround:
        """The labels of what records of a source say of an object."""
        return self._made(number, name, Source(source).name.lower())

    def _made(self, number: int, name: ObjectName, source: str = "") -> LabelsAround:
        texts = {**self._of_owners.get(name.owner, {}), **self._texts.get(name.kind, {}).get(number, {})}
        labels = dict(self._external)
        labels.update(labels_of(name, texts, self._groups))
        if source:
            labels[_SOURCE] = source
        ordered = sorted((label, value) for label, value in labels.items() if value)
        return LabelsAround(
            encode_labels(each for each in ordered if each[0] < _NAME),
            encode_labels(each for each in ordered if each[0] > _NAME),
        )


def of_kinds(kinds: Mapping[str, Kind]) -> dict[str, tuple[SentMetric, ...]]:
    """The metrics that are sent of each kind."""
    return {name: sent_metrics(kind) for name, kind in kinds.items()}

"""The past as OpenMetrics with times, which an engine can be filled with: ``promtool tsdb create-blocks-from openmetrics``.

All samples of a family stand together, and in it all of a series in order of time, as the format wants it. The store gives
an object with all its metrics at once: lines wait in a file for each family of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Final

from mqvitals_agent.openmetrics.exposition import END, Format, head_of
from mqvitals_agent.openmetrics.labels import text_of
from mqvitals_agent.openmetrics.names import Family, families_of, label_metrics, label_texts, labels_of, owner_texts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType, Value
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import Series

_BLOCK: Final = 1 << 20

Chosen = Sequence[tuple[ObjectName, Sequence[Metric]]]
"""Objects, each with the metrics of it that are wanted; those of a kind have the same ones."""


def backfill(
    reader: StoreReader, chosen: Chosen, since: int, until: int, folder: Path | None, progress: Callable[[int], None]
) -> Iterator[str]:
    """The samples of these objects from ``since`` to ``until`` (ms UTC, both included), in pieces of text.

    Labels are those of now. A counter is the total of its increases from ``since`` on. ``folder`` takes temporary files (None: the
    usual one of the system); ``progress`` is called with the number of objects that are read. Raises StoreError and OSError.
    """
    texts = _LabelsOfNow(reader)
    done = 0
    for kind in dict.fromkeys(name.kind for name, _ in chosen):
        of_kind = [(name, metrics) for name, metrics in chosen if name.kind == kind]
        families = [(metric, family) for metric in of_kind[0][1] for family in families_of(KINDS[kind], metric)]
        if not families:
            continue
        with TemporaryDirectory(dir=folder, prefix=".mqvitals-") as place, ExitStack() as opened:
            files = [
                opened.enter_context((Path(place) / family.name).open("w+", encoding="utf-8", errors="replace"))
                for _, family in families
            ]
            wanted = list(dict.fromkeys(metric.name for metric, _ in families))
            for name, series in reader.trends_of([name for name, _ in of_kind], wanted, since, until):
                labels = texts.of(name)
                for (metric, family), file in zip(families, files, strict=True):
                    file.writelines(sample_lines(family, labels, series[metric.name]))
                done += 1
                progress(done)
            for (_, family), file in zip(families, files, strict=True):
                yield from _family(family, file)
    yield END[Format.OPENMETRICS].decode()


def sample_lines(family: Family, labels: str, series: Series) -> Iterator[str]:
    """A line for each point that has a value: with its time, seconds since 1970."""
    name, total = family.sample, 0.0
    running = family.type is MetricType.COUNTER
    for ts, value in series.points:
        if value is None:
            continue
        if running:
            total += value
        exported = family.value_of(total if running else value)
        if exported is not None and isfinite(exported):
            yield f"{name}{labels} {exported} {ts // 1000}.{ts % 1000:03d}\n"


def _family(family: Family, file: IO[str]) -> Iterator[str]:
    """The lines of a family; nothing where it has no samples."""
    if not file.tell():
        return
    yield head_of(family, Format.OPENMETRICS).decode()
    file.seek(0)
    while piece := file.read(_BLOCK):
        yield piece


class _LabelsOfNow:
    """The labels of objects as their texts are now."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._groups = frozenset(owner.name for owner in reader.owners() if owner.is_group)
        self._owners: dict[str, Mapping[str, str]] = {}
        self._kinds: dict[tuple[str, str], Mapping[ObjectName, Mapping[str, Value]]] = {}

    def of(self, name: ObjectName) -> str:
        """The labels of an object as they stand in a line."""
        if name.owner not in self._owners:
            manager = ObjectName(name.owner, QUEUE_MANAGER_KIND.name)
            words = label_texts(QUEUE_MANAGER_KIND, self._values(manager.owner, QUEUE_MANAGER_KIND).get(manager, {}))
            self._owners[name.owner] = owner_texts(words)
        kind = KINDS[name.kind]
        words = label_texts(kind, self._values(name.owner, kind).get(name, {}))
        return text_of(labels_of(name, {**self._owners[name.owner], **words}, self._groups))

    def _values(self, owner: str, kind: Kind) -> Mapping[ObjectName, Mapping[str, Value]]:
        metrics = label_metrics(kind.name)
        if not metrics:
            return {}
        found = self._kinds.get((owner, kind.name))
        if found is None:
            found = self._kinds[owner, kind.name] = {
                name: {
                    metric: each.value for metric, each in values.items() if isinstance(each.value, int | float | str)
                }
                for name, values in self._reader.current_by_kind(owner, kind.name, metrics).items()
            }
        return found

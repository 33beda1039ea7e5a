"""The texts of definitions at each moment of a past time: those of its beginning, and what changed after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from mqvitals_agent.backtest.inputs import FROM_OTHERS
from mqvitals_agent.poll.kinds.queue_pointers import QueuePointers
from mqvitals_agent.poll.probe import GROUP, ObjectRow
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.changes import MOST_CHANGES, Change
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

_QUEUE: Final = "queue"
_NOTHING: Final[Mapping[str, Reported]] = {}


class PastDefinitions:
    """The texts of definitions, as of a moment that moves on with ``advance``.

    ``texts`` are those wanted, by kind; ``groups`` says of each owner whether it is a group. What one queue's definition
    says of another, and history keeps at the first one, is worked out from all of them.
    """

    def __init__(self, reader: StoreReader, texts: Mapping[str, frozenset[str]], groups: Mapping[str, bool]) -> None:
        self._reader = reader
        self._texts = texts
        self._groups = groups
        self._pointed = tuple(
            metric for kind, metric in FROM_OTHERS if kind == _QUEUE and metric in texts.get(kind, ())
        )
        self._known: dict[ObjectName, dict[str, Reported]] = {}
        self._changes: deque[Change] = deque()
        self._pointers: QueuePointers | None = None
        self._made: dict[ObjectName, Mapping[str, Reported]] = {}
        """Of queues, what ``of`` returns until a definition changes."""

    def read_changes(self, since: int, until: int) -> None:
        """Read what changed after ``since`` until ``until``, ms UTC. Raises StoreError."""
        wanted = {(kind, metric) for kind, metrics in self._texts.items() for metric in metrics}
        if wanted:
            changes = self._reader.changes(since=since + 1, until=until, limit=MOST_CHANGES)
            self._changes.extend(each for each in changes if (each.name.kind, each.metric) in wanted)

    def note(self, name: ObjectName, values: Mapping[str, CurrentValue]) -> None:
        """Take in what was known of an object, where nothing is known of it yet."""
        known = self._known.setdefault(name, {})
        for metric in self._texts.get(name.kind, ()):
            value = values.get(metric)
            if value is not None and value.value is not Absence.NOT_KEPT:
                known.setdefault(metric, value.value)
        self._pointers = None

    def advance(self, ts: int, owner: str, names: Iterable[ObjectName]) -> None:
        """The moment is ``ts`` (ms UTC), at which ``owner`` reports these objects: new ones are looked up. Raises StoreError."""
        while self._changes and self._changes[0].ts <= ts:
            change = self._changes.popleft()
            self._known.setdefault(change.name, {})[change.metric] = change.new
            self._pointers = None
        new: dict[str, list[ObjectName]] = {}
        for name in names if self._texts else ():
            if name.kind in self._texts and name not in self._known:
                new.setdefault(name.kind, []).append(name)
        for kind, of_kind in new.items():
            self._look_up(ts, owner, kind, of_kind)

    def forget(self, name: ObjectName) -> None:
        """An object is gone."""
        if self._known.pop(name, None) is not None:
            self._pointers = None

    def of(self, name: ObjectName) -> Mapping[str, Reported]:
        """The texts of an object's definition now."""
        known = self._known.get(name, _NOTHING)
        if not self._pointed or name.kind != _QUEUE:
            return known
        if self._pointers is None:
            self._pointers, self._made = self._read_pointers(), {}
        made = self._made.get(name)
        if made is None:
            found = self._pointers.metrics(GROUP if self._groups.get(name.owner) else name.owner, name.name)
            made = self._made[name] = {**known, **{metric: found[metric] for metric in self._pointed}}
        return made

    def _look_up(self, ts: int, owner: str, kind: str, names: Collection[ObjectName]) -> None:
        found = self._reader.as_of(ts).current_of(owner, kind, names, self._texts[kind])
        for name in names:
            self.note(name, found.get(name, {}))

    def _read_pointers(self) -> QueuePointers:
        rows: dict[str, dict[str, ObjectRow]] = {}
        for name, values in self._known.items():
            if name.kind == _QUEUE:
                owner = GROUP if self._groups.get(name.owner) else name.owner
                rows.setdefault(owner, {})[name.name] = ObjectRow(
                    dict(values), whole=True, own=True, at=0, now=0, member=""
                )
        pointers = QueuePointers()
        for owner, of_owner in rows.items():
            pointers.learn(owner, of_owner, ())
        return pointers

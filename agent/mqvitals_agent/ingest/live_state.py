"""What a running agent knows now, for those who read it in other threads: values, alerts, running totals of counters.

The thread of the store writes it. Others only take whole references and copy lists, each of which is one step of the
interpreter; a reader may see a snapshot half taken over, as it would see two queue managers of different cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from mqvitals_rules.engine import Engine
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS


class RunningTotals:
    """The sums of the increases of counters since the agent began. An absence adds nothing."""

    def __init__(self, kinds: Mapping[str, Kind] = KINDS) -> None:
        counters = {
            name: [metric for metric in kind.metrics if metric.type is MetricType.COUNTER]
            for name, kind in kinds.items()
        }
        self._recorded = {name: tuple(metric.name for metric in found) for name, found in counters.items()}
        self._polled = {
            name: tuple(metric.name for metric in found if not (metric.needs_smf or metric.needs_statistics))
            for name, found in counters.items()
        }
        self._totals: dict[ObjectName, dict[str, int | float]] = {}
        self._newest: dict[ObjectName, dict[str, int]] = {}
        """Of records, by probe, the end of the newest that counted: one that is read again is not counted again."""
        self._since: int | None = None

    def add(self, snapshot: Snapshot) -> None:
        """Count the increases of a stored snapshot; of an object that is gone nothing is left.

        Records of the time before the first snapshot do not count.
        """
        if self._since is None:
            self._since = snapshot.ts
        for reading in snapshot.readings:
            if reading.gone:
                self._totals.pop(reading.object, None)
                self._newest.pop(reading.object, None)
            elif counters := self._counting(reading, self._since):
                self._count(reading, counters)

    def _counting(self, reading: Reading, since: int) -> tuple[str, ...]:
        """The counters of a reading that may have increased."""
        name = reading.object
        if reading.source is Source.POLL:
            return self._polled.get(name.kind, ())
        newest = self._newest.setdefault(name, {})
        if reading.ts <= newest.get(reading.probe, since):
            return ()
        newest[reading.probe] = reading.ts
        return self._recorded.get(name.kind, ())

    def _count(self, reading: Reading, counters: tuple[str, ...]) -> None:
        values, known = reading.values, self._totals.get(reading.object)
        for metric in counters:
            value = values.get(metric)
            if type(value) is int or type(value) is float:
                if known is None:
                    known = self._totals[reading.object] = {}
                known[metric] = known.get(metric, 0) + value

    def of(self, name: ObjectName) -> Mapping[str, int | float]:
        """The totals of an object by metric, as far as there are any."""
        return self._totals.get(name, {})


class LiveState:
    """What the agent knows now."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self.totals = RunningTotals()

    def follow(self, engine: Engine) -> None:
        """Use the values and alerts of this engine from now on, as at the start and after each reload."""
        self._engine = engine

    def note(self, snapshot: Snapshot) -> None:
        """A snapshot has been evaluated and stored."""
        self.totals.add(snapshot)

    @property
    def groups(self) -> frozenset[str]:
        """The owners that are queue-sharing groups."""
        return frozenset() if self._engine is None else frozenset(self._engine.latest.groups)

    def alerts(self) -> tuple[Alert, ...]:
        """The alerts that are pending or firing."""
        return () if self._engine is None else self._engine.open_alerts

    def states(self) -> Mapping[str, list[LatestState]]:
        """The objects by kind, each kind in the order in which they came."""
        if self._engine is None:
            return {}
        found: dict[str, list[LatestState]] = {}
        # Objects of a kind mostly came together.
        for kind, states in groupby(self._engine.latest.all(), key=lambda state: state.name.kind):
            found.setdefault(kind, []).extend(states)
        return found

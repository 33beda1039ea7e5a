"""Values of an object for formulas, without a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from mqvitals_agent.plan_inputs.reading import KnownMetric, KnownValue, ObjectValues
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.history import Point
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS


class MadeUpValues(ObjectValues):
    """The values of an object by ``metric``, of another one by ``kind.metric``; those of its one queue begin with
    ``queues.``, and a counter has one increase."""

    def __init__(self, kind: str, values: Mapping[str, KnownMetric], *, answered_only: bool = False) -> None:
        super().__init__(cast("StoreReader", None), ObjectName("QM01", kind, "A"), Facts(KINDS), 10_000)
        self._values = values
        self._answered_only = answered_only

    def known(self, kind: str, metric: str) -> KnownMetric:
        """The value, or why there is none."""
        return self._value(metric if kind == self.name.kind else f"{kind}.{metric}")

    def points(self, kind: str, metric: str, since: int) -> list[Point]:
        """The value as one increase in a second."""
        known = self.known(kind, metric)
        return [Point(known.ts or 0, float(known.value), 1000)] if isinstance(known, KnownValue) else []

    def members(self, kind: str, metrics: Collection[str]) -> list[Mapping[str, KnownMetric]]:
        """One member."""
        return [{metric: self._value(f"{kind}s.{metric}") for metric in metrics}]

    def _value(self, name: str) -> KnownMetric:
        known = self._values.get(name, Absence.NOT_ASKED)
        return Absence.NO_ANSWER if self._answered_only and isinstance(known, KnownValue) and known.silent else known

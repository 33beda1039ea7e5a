"""Reads the inputs of a formula from what a store and the declared facts hold of an object, for ``plan --from``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_rules.expression.evaluation import Missing
from mqvitals_rules.expression.expression import Calculation, Expression, compile_expression, compile_value
from mqvitals_rules.history import Point
from mqvitals_rules.instant_context import InstantContext, NoMembers
from mqvitals_rules.plan.formula import Formula, Given, Input, PlanError
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.expression.context import Context
    from mqvitals_rules.ruleset.facts import Facts
from mqvitals_agent.plan_inputs.sources import INPUT_SOURCES, InputSource


class KnownValue(NamedTuple):
    """The number or text of a metric as of ``ts`` (ms UTC; None: declared); ``silent``: why no newer value came."""

    value: float | str
    ts: int | None
    silent: str = ""


KnownMetric = KnownValue | Absence
"""The value of a metric, or why it is absent."""


class ObjectValues:
    """What a store and the declared facts hold of an object and of what belongs to it, at ``now`` (ms UTC).

    ``answered_only``: a value that was asked for since without an answer is absent. Its methods raise StoreError.
    """

    def __init__(
        self, reader: StoreReader, name: ObjectName, facts: Facts, now: int, *, answered_only: bool = False
    ) -> None:
        self.name = name
        self.now = now
        self._reader = reader
        self._facts = facts
        self._answered_only = answered_only
        self._current: dict[str, Mapping[str, CurrentValue]] = {}

    def known(self, kind: str, metric: str) -> KnownMetric:
        """The latest value of a metric of the object, or of the single object of another kind of the same owner."""
        name = self._named(kind)
        declared = self._facts.of(name).get(metric)
        if isinstance(declared, (int, float)):
            return KnownValue(declared, None)
        of = metric_of(kind, metric)
        if of.declared:
            return Absence.NOT_DECLARED
        if kind not in self._current:
            self._current[kind] = self._reader.current(name) if self._reader.has(name) else {}
        current = self._current[kind].get(metric)
        if self._answered_only and current is not None and current.unanswered is not None:
            return current.unanswered
        return _known(current, of)

    def points(self, kind: str, metric: str, since: int) -> list[Point]:
        """The increases of a counter after ``since`` (ms UTC), oldest first."""
        name = self._named(kind)
        if not self._reader.has(name):
            return []
        samples = self._reader.covering_samples(name, metric, first=since + 1, last=self.now)[1]
        return [Point(each.ts, each.value, each.interval_ms) for each in samples if each.value is not None]

    def members(self, kind: str, metrics: Collection[str]) -> list[Mapping[str, KnownMetric]]:
        """The ``metrics`` of each object of ``kind`` that belongs to the object."""
        link = self.name.kind
        rows = self._reader.current_by_kind(self.name.owner, kind, {*metrics, link})
        return [
            {metric: _known(values.get(metric), metric_of(kind, metric)) for metric in metrics}
            for values in rows.values()
            if (named := values.get(link)) is not None and str(named.value) == self.name.name
        ]

    def _named(self, kind: str) -> ObjectName:
        return self.name if kind == self.name.kind else ObjectName(self.name.owner, kind)


def _known(current: CurrentValue | None, metric: Metric) -> KnownMetric:
    if current is None:
        if metric.needs_smf:
            return Absence.NEEDS_SMF
        return Absence.NEEDS_STATISTICS if metric.needs_statistics else Absence.NOT_ASKED
    if isinstance(current.value, Absence):
        return current.value
    return KnownValue(current.value, current.ts, current.unanswered.value if current.unanswered is not None else "")


def _noted(known: KnownMetric, read: list[KnownValue]) -> Reported:
    if isinstance(known, Absence):
        return known
    read.append(known)
    return known.value


class _SourceContext(InstantContext):
    """The context of one expression. It notes of each value that is read when it was reported, and why not since."""

    def __init__(self, values: ObjectValues, member_metrics: Collection[str]) -> None:
        read: list[KnownValue] = []
        # A method of its own would refer back to it, and keep what was read until a full garbage collection.
        super().__init__(lambda kind, metric: _noted(values.known(kind, metric), read), values.now, values.name.name)
        self._values = values
        self._member_metrics = sorted(member_metrics)
        self._members: dict[str, _Members] = {}
        self.read = read

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        """The increases of a counter, oldest first."""
        points = self._values.points(kind, metric, since_ms)
        if points:
            known = self._values.known(kind, metric)
            silent = known.silent if isinstance(known, KnownValue) else ""
            self.read.append(KnownValue(points[-1].value or 0, points[-1].ts, silent))
        return points

    def members(self, kind: str) -> NoMembers:
        """The members of which all metrics of the expression are known, so that a quotient is that of the same ones."""
        if kind not in self._members:
            self._members[kind] = self._read_members(kind)
        return self._members[kind]

    def _read_members(self, kind: str) -> _Members:
        members = self._values.members(kind, self._member_metrics)
        complete = [each for each in members if not any(isinstance(known, Absence) for known in each.values())]
        if complete:
            return _Members(
                [{metric: _noted(known, self.read) for metric, known in each.items()} for each in complete], self.now
            )
        # One member without values carries the reason.
        reasons = (known for each in members for known in each.values() if isinstance(known, Absence))
        absence = next(reasons, Absence.NOTHING_TO_TELL)
        return _Members([dict.fromkeys(self._member_metrics, absence)], self.now)


class _Members(NoMembers):
    def __init__(self, members: Sequence[Mapping[str, Reported]], now: int) -> None:
        super().__init__()
        self._members = members
        self._now = now

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        for values in self._members:
            yield InstantContext(partial(_of_member, values), self._now), values


def _of_member(values: Mapping[str, Reported], _: str, metric: str) -> Reported:
    return values[metric]


class FoundInput(NamedTuple):
    """An input that was not given: its value, the calculation in words and its oldest timestamp; or why there
    is no value.
    """

    input: Input
    value: Given | None
    words: str
    ts: int | None = None
    silent: str = ""


def find_inputs(formula: Formula, values: ObjectValues, given: Collection[str] = ()) -> tuple[FoundInput, ...]:
    """Each input that is not ``given`` and has a source in objects of this kind, or is required and has none.

    The first source that gives an allowed value counts. Raises StoreError.
    """
    sources = INPUT_SOURCES.get(formula.name, {}).get(values.name.kind, ())
    found = []
    for each in formula.inputs:
        if each.name in given or any(other in given for other in each.instead_of):
            continue
        tried: list[FoundInput] = []
        for source in sources:
            if source.input == each.name and not (tried and tried[-1].value is not None):
                tried.append(_found(each, source, values))
        if tried:
            found.append(tried[-1] if tried[-1].value is not None else tried[0])
        elif each.default is None and not each.instead_of:
            found.append(FoundInput(each, None, "no metric has it"))
    return tuple(found)


def _found(each: Input, source: InputSource, values: ObjectValues) -> FoundInput:
    if source.text:
        return _found_text(each, source, values)
    compiled = compiled_source(source, values.name.kind)
    context = _SourceContext(values, {metric for use in compiled.members for _, metric in use.names})
    value, missing = _evaluated(compiled, source, context)
    if value is None:
        # What is missing is a metric, or the text of a division by 0.
        name, absence = missing[0]
        return FoundInput(
            each, None, f"{source.described} has no value now" if " " in name else f"{name}: {absence.value}"
        )
    try:
        checked = each.checked(value if each.fraction or isinstance(value, str) else round(value))
    except PlanError as error:
        return FoundInput(each, None, f"{source.described}: {error}")
    moments = [one.ts for one in context.read if one.ts is not None]
    silent = next((one.silent for one in context.read if one.silent), "")
    return FoundInput(each, checked, source.described, min(moments, default=None), silent)


def _found_text(each: Input, source: InputSource, values: ObjectValues) -> FoundInput:
    known = values.known(values.name.kind, source.expression)
    if isinstance(known, Absence):
        return FoundInput(each, None, f"{source.described}: {known.value}")
    try:
        return FoundInput(each, each.checked(str(known.value)), source.described, known.ts, known.silent)
    except PlanError as error:
        return FoundInput(each, None, f"{source.described}: {error}")


@cache
def compiled_source(source: InputSource, kind: str) -> Calculation | Expression:
    """The expression of a source for objects of a kind. Raises ExpressionError."""
    return (compile_expression if source.choices else compile_value)(source.expression, KINDS[kind], KINDS)


def _evaluated(
    compiled: Calculation | Expression, source: InputSource, context: Context
) -> tuple[Given | None, tuple[Missing, ...]]:
    """The value of a source, None with what is missing."""
    if isinstance(compiled, Calculation):
        number = compiled.number(context)
        return number, compiled.missing(context) if number is None else ()
    explanation = compiled.explain(context)
    if explanation.truth is None or source.choices is None:
        return None, explanation.missing
    return source.choices[0 if explanation.truth else 1], ()

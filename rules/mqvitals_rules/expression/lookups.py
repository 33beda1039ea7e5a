"""The lookups of written code: the code that reads values, and the names it keeps them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any as Whatever

from mqvitals_rules.expression.names import Type, type_of
from mqvitals_rules.expression.node import (
    Condition,
    Constant,
    MetricValue,
    Rising,
    Unchanged,
    Window,
    walk,
    walk_outside,
)
from mqvitals_rules.vocabulary.metric import Absence

NUMBERS = frozenset((int, float))
TEXTS = frozenset((str,))
PRESENT = NUMBERS | TEXTS
"""The classes of present values. Everything else is absent."""

_MANY = 3
"""What so many conditions read is tested once for all of them."""

Read = frozenset[str]
"""The locals that hold looked-up values for certain."""


class Tests:
    """What must hold, in this order, so that the operands of a term are present; in ``first`` what the
    first looks up.
    """

    __slots__ = ("first", "parts", "present", "read")

    def __init__(self, read: Read) -> None:
        self.read = read
        self.parts: list[str] = []
        self.present: set[str] = set()
        self.first: Read = frozenset()


class Lookups:
    """Writes the code that looks values up, and gives names to metrics, constants, functions and locals.

    ``table`` is what the code finds by name; it begins with what all code calls. With ``unreported`` the object's own
    metrics are not asked of the context: ``v`` hands out all of them, and the local ``a`` notes the first absence met,
    unless the context met one before.
    """

    def __init__(self, calls: Mapping[str, Whatever], unreported: Mapping[str, Absence] | None = None) -> None:
        self._unreported = unreported
        self.asks = False
        """Whether the condition being written asks the context anything, which may note an absence."""
        self._present_as: dict[tuple[str, str], str] = {}
        """(local, classes) -> the local that says whether its value is of these classes, for what many conditions read."""
        self._fetched: frozenset[str] = frozenset()
        self._looks: dict[tuple[object, ...], str] = {}
        self.table: dict[str, Whatever] = dict(calls)
        self._constants: dict[tuple[type, object], str] = {}
        self._metrics: dict[tuple[str, str, str], str] = {}
        self._locals = 0

    @property
    def noting(self) -> bool:
        """Whether the code notes absences itself, as that of conditions that are evaluated together does."""
        return self._unreported is not None

    def present(self, metric: MetricValue, tests: Tests) -> str:
        """The local of a metric that is present once ``tests`` hold."""
        local = self.metric(metric)
        if local in tests.present:
            return local
        classes = classes_of(metric)
        if local in tests.read:
            part = self._present_as.get((local, classes)) or f"{local}.__class__ in {classes}"
        else:
            part = f"({self.tested(metric, classes)})"
        if not tests.parts:
            tests.first = frozenset((local,))
        tests.parts.append(part)
        tests.present.add(local)
        return local

    def value(self, metric: MetricValue, read: Read) -> str:
        """The code of a metric's value, which looks it up unless that has been done."""
        local = self.metric(metric)
        if local in read:
            return local
        if metric.own and self.noting:
            return f"({self._own(metric)}.__class__ is A and {self.noted(local)} and {local})"
        return f"({local} := {self.whose(metric)}.value({self.address(metric)}))"

    def tested(self, metric: MetricValue, classes: str) -> str:
        """The code that looks a metric up and tests whether it has a value of these classes."""
        local = self.metric(metric)
        if metric.own and self.noting:
            there = self._present_as.get((local, classes)) or f"{self._own(metric)}.__class__ in {classes}"
            return f"{there} or {self.noted(local)} is L"
        asked = f"({local} := {self.whose(metric)}.value({self.address(metric)})).__class__ in {classes}"
        if metric.own:
            return f"({local} := v({self.constant(metric.metric.name)})).__class__ in {classes} or {asked}"
        return asked

    def _own(self, metric: MetricValue) -> str:
        """The code of the value that ``v`` returns of a metric of the object itself."""
        local = self.metric(metric)
        return local if local in self._fetched else f"({local} := {self._handed_out(metric)})"

    def value_anew(self, metric: MetricValue) -> str:
        """The code of a metric's value as ``v`` or the context has it, whatever has been looked up before it."""
        if not (metric.own and self.noting):
            return f"{self.whose(metric)}.value({self.address(metric)})"
        local = self.metric(metric)
        return local if local in self._fetched else self._handed_out(metric)

    def _handed_out(self, metric: MetricValue) -> str:
        assert self._unreported is not None, "else v does not know all metrics"
        name = metric.metric.name
        return f"v({self.constant(name)}, {self.constant(self._unreported[name])})"

    def fetch_shared(self, roots: Sequence[Condition]) -> list[str]:
        """The code that looks up, before all conditions, the object's own metrics that several of them read, and tests
        once which of those that many read have a value.
        """
        uses: Counter[str] = Counter()
        metrics: dict[str, MetricValue] = {}
        for root in roots:
            looked_back = {id(each.metric) for each in walk(root) if isinstance(each, Window | Rising | Unchanged)}
            own = {
                self.metric(each): each
                for each in walk_outside(root)
                if isinstance(each, MetricValue) and each.own and id(each) not in looked_back
            }
            uses.update(own.keys())
            metrics.update(own)
        self._fetched = frozenset(local for local, count in uses.items() if count > 1)
        lines = [f"{local} = {self._handed_out(metrics[local])}" for local in metrics if local in self._fetched]
        for local, metric in metrics.items():
            if uses[local] >= _MANY:
                classes = classes_of(metric)
                self._present_as[local, classes] = f"p{local}"
                lines.append(f"p{local} = {local}.__class__ in {classes}")
        return lines

    def share_looks(self, roots: Sequence[Condition]) -> Sequence[str]:
        """The locals of looks back that several conditions share: the first that asks for one keeps its result."""
        uses = Counter(
            look_of(each) for root in roots for each in walk_outside(root) if isinstance(each, Window | Rising)
        )
        shared = [look for look, count in uses.items() if look and count > 1]
        self._looks = {look: f"w{place}" for place, look in enumerate(shared)}
        return list(self._looks.values())

    def shared_look(self, node: Window | Rising) -> str | None:
        """The local of a look back that conditions share; None: this one makes it alone."""
        return self._looks.get(look_of(node))

    def asked(self, of: str = "") -> str:
        """The code of the context of the object itself (empty) or of what it belongs to."""
        self.asks = True
        return f"c.{of}" if of else "c"

    def whose(self, metric: MetricValue) -> str:
        """The code of the context that a metric is looked up in."""
        return self.asked(metric.of)

    def first_absence(self, otherwise: str) -> str:
        """The code of the first absence met so far, by the condition or by its context, which it notes; else of
        ``otherwise``."""
        return f"(a := {'a or c.absence' if self.asks else 'a'} or {otherwise})"

    def noted(self, local: str) -> str:
        """The code that notes that a metric is absent; it evaluates to the first absence met."""
        return self.first_absence(f"{local}.__class__ is A and {local} or None")

    # Names in the written code

    def address(self, metric: MetricValue) -> str:
        """Kind and name of a metric, as arguments."""
        return f"{self.constant(metric.kind)}, {self.constant(metric.metric.name)}"

    def metric(self, metric: MetricValue) -> str:
        """The local of a metric."""
        return self._metrics.setdefault((metric.of, metric.kind, metric.metric.name), f"m{len(self._metrics)}")

    def local(self) -> str:
        """A new local."""
        self._locals += 1
        return f"t{self._locals}"

    def held(self, function: Callable[..., Whatever]) -> str:
        """The name of a function that the code calls."""
        name = f"f{len(self.table)}"
        self.table[name] = function
        return name

    def constant(self, value: object) -> str:
        """The name of a constant; the same for the same value."""
        name = self._constants.setdefault((type(value), value), f"k{len(self._constants)}")
        self.table[name] = value
        return name


def once(local: str, call: str) -> str:
    """The code of the result of a call that is made once."""
    return f"({local} if {local} is not U else ({local} := {call}))"


def look_of(node: Window | Rising) -> tuple[object, ...]:
    """What is the same of two looks back that have the same result; empty where that takes more than a comparison.

    A share notes what is absent among all objects, for each condition anew.
    """
    metric = node.metric
    if metric.of:
        return ()
    if isinstance(node, Rising):
        return "rising", metric.kind, metric.metric.name, node.rises
    limit: object
    match node.limit:
        case None:
            limit = None
        case Constant(value=value):
            limit = value
        case MetricValue(of="", kind=kind, metric=of):
            limit = kind, of.name
        case _:
            return ()
    return () if node.function == "share" else (node.function, metric.kind, metric.metric.name, node.window_ms, limit)


def classes_of(metric: MetricValue) -> str:
    """The name of the classes that a present value of a metric has."""
    return "T" if type_of(metric) is Type.TEXT else "N"

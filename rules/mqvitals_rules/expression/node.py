"""The checked form of an expression: a tree in which every name is resolved and every type is right.

``start`` and ``end`` are the characters of the text that a node stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqvitals_rules.vocabulary.metric import Metric, MetricType

THIS = "this"
"""Inside a function of members: the object that the rule evaluates."""

PAIR = "pair"
"""The other queue of a declared pair."""


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A number or text as written, a parameter's value, or a state's number with all ``values`` of that state."""

    start: int
    end: int
    value: float | str
    values: Mapping[str, int] | None = None
    parameter: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MetricValue:
    """The latest value of a metric. ``own``: of the object itself, not of a related one. ``name`` is as written.

    ``of`` is THIS or PAIR for a metric of that object.
    """

    start: int
    end: int
    kind: str
    metric: Metric
    own: bool
    of: str = ""

    @property
    def name(self) -> str:
        """``metric``, or ``kind.metric`` for another kind's."""
        return self.metric.name if self.own else f"{self.of or self.kind}.{self.metric.name}"

    @property
    def optional(self) -> bool:
        """True for a fact that need not be declared and has no default, so that a comparison with it is left out.

        Of a pair nothing is left out: a rule that speaks of it is about it.
        """
        metric = self.metric
        return metric.declared and metric.default is None and not metric.needed and self.of != PAIR

    @property
    def values(self) -> Mapping[str, int] | None:
        """The names of a state's values; None for numbers and texts."""
        return self.metric.values if self.metric.type is MetricType.STATE else None


@dataclass(frozen=True, slots=True, eq=False)
class NameText:
    """The object's own name: the last part of it. ``of`` is THIS for that object's."""

    start: int
    end: int
    of: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Negation:
    """``-x``."""

    start: int
    end: int
    operand: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Absolute:
    """``abs(x)``."""

    start: int
    end: int
    operand: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """``left operator right`` with ``+ - * /``."""

    start: int
    end: int
    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """``min`` or ``max`` of several numbers."""

    start: int
    end: int
    function: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A number about a metric's recent past.

    ``limit`` is what ``eta`` looks for. ``values``: of a state's least or greatest.
    """

    start: int
    end: int
    function: str
    metric: MetricValue
    window_ms: int
    limit: Operand | None = None
    values: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MemberTally:
    """``count``, ``sum``, ``most`` or ``least`` over members.

    ``alike``: it is the same for all objects with the same members.
    """

    start: int
    end: int
    function: str
    kind: str
    body: Condition | Operand
    alike: bool


@dataclass(frozen=True, slots=True, eq=False)
class Elapsed:
    """``elapsed("CSQR003I", "CSQR006I", "1d")``: seconds between two console messages."""

    start: int
    end: int
    first: str
    second: str
    window_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """``times("CSQX777E", "10m")``: how many console messages with one of these ids there were.

    ``quiet``: those written while their queue manager started or stopped do not count.
    """

    start: int
    end: int
    messages: tuple[str, ...]
    window_ms: int
    quiet: bool


@dataclass(frozen=True, slots=True, eq=False)
class Latest:
    """``latest("CSQJ110E", "pct")``: an insert of the newest console message with this id, as number or ``as_text``."""

    start: int
    end: int
    message: str
    insert: str
    as_text: bool


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """``left operator right`` with ``== != < <= > >=``. A chain becomes several of them."""

    start: int
    end: int
    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """``operand in (...)``."""

    start: int
    end: int
    operand: Operand
    members: frozenset[float | str]
    negated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Present:
    """``present(metric)``: never unknown."""

    start: int
    end: int
    metric: MetricValue


@dataclass(frozen=True, slots=True, eq=False)
class Rising:
    """``rising(metric, rises)``."""

    start: int
    end: int
    metric: MetricValue
    rises: int


@dataclass(frozen=True, slots=True, eq=False)
class Unchanged:
    """``unchanged(metric, "5m")``: the metric had one value over the whole window."""

    start: int
    end: int
    metric: MetricValue
    window_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Affix:
    """``startswith(text, affix)`` or ``endswith``."""

    start: int
    end: int
    function: str
    text: Operand
    affix: Operand


@dataclass(frozen=True, slots=True, eq=False)
class AnyMember:
    """``any(kind, condition)``. ``alike``: it is the same for all objects with the same members."""

    start: int
    end: int
    kind: str
    body: Condition
    alike: bool


@dataclass(frozen=True, slots=True, eq=False)
class MembersKnown:
    """``present(kind)``: it is known which members of the kind there are, if only that there are none."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """``seen("CSQP020E", "10m")``: there was a console message with one of these ids. ``quiet`` as of ``Times``."""

    start: int
    end: int
    messages: tuple[str, ...]
    window_ms: int
    quiet: bool


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """``open("CSQJ004I", "CSQJ005I")``: no message of ``ends`` came after the newest message ``begin``.

    ``quiet`` as of ``Times``: such a message begins nothing, but it ends what is open.
    """

    start: int
    end: int
    begin: str
    ends: tuple[str, ...]
    quiet: bool


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """``not x``."""

    start: int
    end: int
    operand: Condition


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """``a and b and ...``."""

    start: int
    end: int
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Any:
    """``a or b or ...``."""

    start: int
    end: int
    operands: tuple[Condition, ...]


Operand = (
    Constant
    | MetricValue
    | NameText
    | Negation
    | Absolute
    | Arithmetic
    | Extreme
    | Window
    | MemberTally
    | Elapsed
    | Times
    | Latest
)
Term = Comparison | Membership | Present | Rising | Unchanged | Affix | AnyMember | MembersKnown | Seen | Open
Condition = Term | Not | All | Any
Node = Operand | Condition


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order of the text."""
    match node:
        case Constant() | MetricValue() | NameText() | MembersKnown():
            return ()
        case Elapsed() | Times() | Latest() | Seen() | Open():
            return ()
        case Negation() | Absolute() | Not() | Membership():
            return (node.operand,)
        case Arithmetic() | Comparison():
            return (node.left, node.right)
        case Affix():
            return (node.text, node.affix)
        case Extreme() | All() | Any():
            return node.operands
        case Window():
            return (node.metric,) if node.limit is None else (node.metric, node.limit)
        case Present() | Rising() | Unchanged():
            return (node.metric,)
        case AnyMember() | MemberTally():
            return (node.body,)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in the order of the text."""
    yield node
    for child in children(node):
        yield from walk(child)


def walk_outside(node: Node) -> Iterator[Node]:
    """The node and everything below it without what is about members, but with what is about the evaluated object."""
    yield node
    for child in children(node):
        if isinstance(node, AnyMember | MemberTally):
            yield from (each for each in walk(child) if isinstance(each, MetricValue) and each.of == THIS)
        else:
            yield from walk_outside(child)


def read_now(term: Node) -> Iterator[MetricValue]:
    """The metrics whose latest value a term or operand reads: not those it only asks about, looks back on, or asks
    members for.
    """
    match term:
        case MetricValue():
            yield term
        case Window():
            if term.limit is not None:
                yield from read_now(term.limit)
        case Present() | Rising() | Unchanged() | AnyMember() | MemberTally():
            return
        case _:
            for child in children(term):
                yield from read_now(child)


def messages_of(root: Node) -> frozenset[str]:
    """The ids of the console messages that a tree looks for."""
    found: set[str] = set()
    for node in walk(root):
        if isinstance(node, Seen | Times):
            found.update(node.messages)
        elif isinstance(node, Open):
            found.update((node.begin, *node.ends))
        elif isinstance(node, Latest):
            found.add(node.message)
        elif isinstance(node, Elapsed):
            found.update((node.first, node.second))
    return frozenset(found)


def limit_metrics(limit: Operand) -> tuple[MetricValue, ...]:
    """The metrics of a limit whose past shows when it changed: gauges and states that are not declared, each once."""
    metrics = {
        each.name: each
        for each in read_now(limit)
        if not each.metric.declared and each.metric.type in (MetricType.GAUGE, MetricType.STATE)
    }
    return tuple(metrics.values())

"""Compiles a checked tree to one Python function.

The function is written from the tree alone: values and names of metrics are in a table of constants, and it calls only
the functions of the language. No text of a rule gets into it.

Its parameters are ``c``, the context, and ``v``, which returns the value of a metric of the object itself where it is
present; other values come from the context. The function returns True, False or None. It raises ArithmeticError when a
calculation overflows. A ``safe`` function takes the result of such a calculation as unknown, and calls a function for
each operator.

Conditions on the same objects can also become one function (``compile_together``), which looks up once what several of
them read.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import nan
from types import CodeType, FunctionType
from typing import Any as Whatever
from typing import NamedTuple, Protocol

from mqvitals_rules.expression.context import Context, any_called, any_member, any_named, tally
from mqvitals_rules.expression.functions import (
    EXTREMES,
    WINDOW_FUNCTIONS,
    elapsed,
    is_open,
    latest,
    latest_text,
    rising,
    seen,
    times,
    unchanged,
)
from mqvitals_rules.expression.names import Type, type_of
from mqvitals_rules.expression.node import (
    THIS,
    Absolute,
    Affix,
    All,
    Any,
    AnyMember,
    Arithmetic,
    Comparison,
    Condition,
    Constant,
    Elapsed,
    Extreme,
    Latest,
    Membership,
    MembersKnown,
    MemberTally,
    MetricValue,
    NameText,
    Negation,
    Node,
    Not,
    Open,
    Operand,
    Present,
    Rising,
    Seen,
    Times,
    Unchanged,
    Window,
    children,
    limit_metrics,
    messages_of,
    read_now,
    walk,
    walk_outside,
)
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Absence, Reported

Evaluate = Callable[[Context, Callable[[str], Reported | None]], bool | None]

Verdict = tuple[int, bool | None, Absence | None, Absence | None]
"""The place of a condition among those that are evaluated together and what it comes to; where that is None, the first
absence met, and the absence that makes it unknown, None where only a detailed look can tell.
"""

Settled = Sequence[object]
"""By place, the verdict that is settled: False, or, of an unknown one, the first absence met. Anything else: none is.
"""


class NotingContext(Context, Protocol):
    """A context that notes the first absence met since ``absence`` was last set to None."""

    absence: Absence | None

    @property
    def unheard(self) -> bool:
        """Whether no messages about the object are known at all."""
        ...


EvaluateTogether = Callable[[NotingContext, Callable[[str, Absence], Reported], Settled], list[Verdict]]

NUMBERS = frozenset((int, float))
TEXTS = frozenset((str,))
PRESENT = NUMBERS | TEXTS
"""The classes of present values. Everything else is absent."""

LEFT_OUT = object()
"""The result of a term on an optional fact that is not declared."""

_UNASKED = object()
"""Stands for a look back that conditions share, before the first of them has asked for it."""

_Read = frozenset[str]
"""The locals that hold looked-up values for certain."""


_UNTOLD = "None"
"""The code of a reason that only a detailed look finds."""


class _Code(NamedTuple):
    """The Python expression of a condition, whether it may be left out, and what has been looked up for
    certain after it.

    ``why`` is that of the absence that makes it unknown, to be evaluated right after ``text`` has come to None.
    """

    text: str
    leaves: bool
    read: _Read
    why: str = _UNTOLD


def compile_condition(root: Condition, *, safe: bool = False) -> Evaluate:
    """The function that evaluates a condition."""
    writer = _Writer(safe=safe)
    code = writer.condition(root, frozenset())
    text = f"(None if (t := {code.text}) is L else t)" if code.leaves else code.text
    return _function(text, writer)


def compile_part(root: Condition) -> Callable[..., Whatever]:
    """The safe function that evaluates a part of a condition: ``LEFT_OUT`` where a fact is not declared."""
    writer = _Writer(safe=True)
    return _function(writer.condition(root, frozenset()).text, writer)


def compile_operand(root: Operand, *, safe: bool = False) -> Callable[..., Whatever]:
    """The function that calculates an operand: None where it is unknown."""
    writer = _Writer(safe=safe)
    tests = _Tests(frozenset())
    value = writer.settled(root, tests)
    return _function(f"({value} if {' and '.join(tests.parts)} else None)" if tests.parts else value, writer)


def compile_together(roots: Sequence[tuple[int, Condition]], unreported: Mapping[str, Absence]) -> EvaluateTogether:
    """One function for conditions on objects of one kind, each with its place: it returns the verdicts that are not
    ``Settled``.

    ``unreported``: by metric of that kind, what the context says of one that it has no value of. The function must
    get the context's own values, and raises ArithmeticError when any calculation overflows.
    """
    writer = _Writer(unreported)
    lines = ["def evaluate(c, v, s):", " found = []"]
    lines += [f" {local} = {code}" for local, code in writer.fetch_shared([root for _, root in roots]).items()]
    lines += [f" {local} = U" for local in writer.share_looks([root for _, root in roots])]
    if any(messages_of(root) for _, root in roots):
        lines.append(" q = c.unheard")
    if any(isinstance(each, NameText) for _, root in roots for each in walk_outside(root)):
        lines.append(" n = c.name")
    for place, root in roots:
        code = writer.condition(root, frozenset())
        text = f"(None if (t := {code.text}) is L else t)" if code.leaves else code.text
        lines += (
            " c.absence = a = None",
            f" if (r := {text}) is None:",
            f"  if (a := a or c.absence) is not s[{place}]: found.append(({place}, None, a, {code.why}))",
            f" elif r is not s[{place}]: found.append(({place}, r, None, None))",
        )
    return _defined("\n".join((*lines, " return found", "")), writer.table)


def _function(text: str, writer: _Writer) -> Evaluate:
    """The same function for the same code: so what one rule found of members is known when another asks for it."""
    held = tuple((name, type(value), value) for name, value in writer.table.items() if name not in _COMMON)
    return _compiled(text, held)


@lru_cache(4096)
def _compiled(text: str, held: tuple[tuple[str, type, object], ...]) -> Evaluate:
    table = {**_COMMON, **{name: value for name, _, value in held}}
    return _defined(f"def evaluate(c, v):\n return {text}\n", table)


def _defined(text: str, table: dict[str, Whatever]) -> Callable[..., Whatever]:
    module = compile(text, "<rule>", "exec")
    body = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    return FunctionType(body, table, "evaluate")


_COMMON: Mapping[str, Whatever] = {
    "__builtins__": {},
    "N": NUMBERS,
    "T": TEXTS,
    "P": PRESENT,
    "D": Absence.NOT_DECLARED,
    "L": LEFT_OUT,
    "U": _UNASKED,
    "A": Absence,
    "E": Absence.NOT_ASKED,
    "absolute": abs,
    "least": EXTREMES["min"],
    "greatest": EXTREMES["max"],
    "rising": rising,
    "any_member": any_member,
    "any_named": any_named,
    "any_called": any_called,
    "tally": tally,
    "seen": seen,
    "elapsed": elapsed,
    "is_open": is_open,
    "times": times,
    "latest": latest,
    "latest_text": latest_text,
    "unchanged": unchanged,
}
"""What written code calls by these names."""


class _Writer:
    """Writes Python expressions. That of a condition evaluates to True, False, None, or L for what is left out.

    With ``unreported`` the object's own metrics are not asked of the context: ``v`` hands out all of them, and the
    local ``a`` notes the first absence met, unless the context met one before.
    """

    def __init__(self, unreported: Mapping[str, Absence] | None = None, *, safe: bool = False) -> None:
        self._unreported = unreported
        self._safe = safe
        self._fetched: frozenset[str] = frozenset()
        self._looks: dict[tuple[object, ...], str] = {}
        self.table: dict[str, Whatever] = dict(_COMMON)
        self._constants: dict[tuple[type, object], str] = {}
        self._metrics: dict[tuple[str, str, str], str] = {}
        self._locals = 0

    def condition(self, node: Condition, read: _Read) -> _Code:
        """The code of a condition that stands where ``read`` has been looked up."""
        match node:
            case All() | Any():
                return self._joined(node, read)
            case Not():
                code = self.condition(node.operand, read)
                local = self._local()
                kept = f" or {local} is L" if code.leaves else ""
                return code._replace(text=f"({local} if ({local} := {code.text}) is None{kept} else not {local})")
            case Present():
                return _Code(f"({self._tested(node.metric, 'P')})", leaves=False, read=read)
            case MembersKnown():
                return _Code(f"(c.members({self._constant(node.kind)}).doubt is None)", leaves=False, read=read)
            case Rising():
                call = f"rising({_whose(node.metric)}, {self._address(node.metric)}, {self._constant(node.rises)})"
                shared = self._looks.get(_look_of(node))
                text = call if shared is None else _once(shared, call)
                return _Code(text, leaves=False, read=read, why=self._why_past(node.metric))
            case AnyMember():
                body, kind = self._held(compile_condition(node.body, safe=self._safe)), self._constant(node.kind)
                match _named_by(node.body):
                    case None:
                        text = f"any_member(c, {kind}, {body}, {self._constant(node.alike)})"
                    case Constant(value=name):
                        text = f"any_called(c, {kind}, {body}, {self._constant(name)})"
                    case named:
                        text = f"any_named(c, {kind}, {body}, {self._address(named)})"
                return _Code(text, leaves=False, read=read)
            case Seen():
                ids, window = self._constant(frozenset(node.messages)), self._constant(node.window_ms)
                return self._heard(f"seen(c, {ids}, {window}, {self._constant(node.quiet)})", node, read)
            case Open():
                begin, ends = self._constant(frozenset((node.begin,))), self._constant(frozenset(node.ends))
                return self._heard(f"is_open(c, {begin}, {ends}, {self._constant(node.quiet)})", node, read)
            case Unchanged():
                address = f"{_whose(node.metric)}, {self._address(node.metric)}"
                text = f"unchanged({address}, {self._constant(node.window_ms)})"
                return _Code(text, leaves=False, read=read, why=self._why_past(node.metric))
            case Comparison() | Membership() | Affix():
                return self._term(node, read)

    def _heard(self, call: str, node: Seen | Open, read: _Read) -> _Code:
        """The code of a condition about messages, which looks for none where there are none at all."""
        text = call if self._unreported is None else f"(None if {self._unheard(node)} else {call})"
        return _Code(text, leaves=False, read=read, why=self._constant(lacking(messages_of(node))))

    def _joined(self, node: All | Any, read: _Read) -> _Code:
        """``and`` and ``or`` stop as soon as one operand decides; else the whole is unknown if an operand is."""
        decides = "False" if isinstance(node, All) else "True"
        steps, locals_, reasons, after, left = [], [], [], read, True
        for index, operand in enumerate(node.operands):
            code = self.condition(operand, read)
            read = code.read
            if index == 0:
                after = read  # of the others it is not certain that they are evaluated
            left = left and code.leaves
            locals_.append(self._local())
            reasons.append(code.why)
            steps.append(f"({locals_[-1]} := {code.text}) is {decides}")
        unknown = " or ".join(f"{local} is None" for local in locals_)
        otherwise = "True" if isinstance(node, All) else "False"
        if left:
            otherwise = f"(L if {' and '.join(f'{local} is L' for local in locals_)} else {otherwise})"
        text = f"({decides} if {' or '.join(steps)} else None if {unknown} else {otherwise})"
        # The first operand that is unknown; where there is none, all are left out.
        first = "".join(f"{why} if {local} is None else " for why, local in zip(reasons, locals_, strict=True))
        return _Code(text, left, after, f"({first}{'D' if left else _UNTOLD})")

    def _term(self, node: Comparison | Membership | Affix, read: _Read) -> _Code:
        optional = list({self._metric(each): each for each in read_now(node) if each.optional}.values())
        undeclared = []
        after = read
        for index, metric in enumerate(optional):
            undeclared.append(f"{self._lookup(metric, read)} is D")
            read |= {self._metric(metric)}
            if index == 0:
                after = read
        tests = _Tests(read)
        if isinstance(node, Comparison):
            value = f"{self.settled(node.left, tests)} {node.operator} {self.settled(node.right, tests)}"
        elif isinstance(node, Affix):
            value = f"{self.settled(node.text, tests)}.{node.function}({self.settled(node.affix, tests)})"
        else:
            word = "not in" if node.negated else "in"
            value = f"{self.settled(node.operand, tests)} {word} {self._constant(node.members)}"
        text = f"({value} if {' and '.join(tests.parts)} else None)" if tests.parts else f"({value})"
        if undeclared:
            text = f"(L if {' or '.join(undeclared)} else {text})"
        else:
            after = read | tests.first
        return _Code(text, bool(undeclared), after, _UNTOLD if undeclared else self._why_term(node))

    def _why_term(self, node: Comparison | Membership | Affix) -> str:
        """The code of the first absence among the metrics of a term."""
        why: list[str] = []
        for operand in children(node):
            match operand:
                case Window(limit=None | Constant(), metric=metric) if isinstance(node, Comparison):
                    return self._why_past(metric) if not why and isinstance(node.right, Constant) else _UNTOLD
                case _:
                    metrics = compared(operand)
                    if metrics is None:
                        return _UNTOLD
            for metric in metrics:
                local = self._metric(metric)
                why.append(f"{_absence(local)} if {local}.__class__ not in {_classes(metric)} else ")
        return f"({''.join(why)}{_UNTOLD})"

    def _why_past(self, metric: MetricValue) -> str:
        """The code of why there is no result of a look back: no value now either, or too short a history."""
        if self._unreported is None:
            return _UNTOLD
        local = self._local()
        value = f"{_whose(metric)}.value({self._address(metric)})"
        if metric.own:
            value = self._metric(metric) if self._metric(metric) in self._fetched else self._handed_out(metric)
        return f"({self._constant(Absence.WINDOW)} if ({local} := {value}).__class__ in P else {_absence(local)})"

    # Operands

    def settled(self, node: Operand, tests: _Tests) -> str:
        """The code of an operand that is known to be a number, state or text once ``tests`` hold."""
        text = self._operand(node, tests)
        if not _may_be_nan(node):
            return text
        local = self._local()
        tests.parts.append(f"({local} := {text}) == {local}")  # infinity less infinity equals nothing, not even itself
        return local

    def _operand(self, node: Operand, tests: _Tests) -> str:
        match node:
            case Constant():
                return self._constant(node.value)
            case MetricValue():
                return self._present(node, tests)
            case NameText():
                return "n" if self._unreported is not None and not node.of else f"{_context(node.of)}.name"
            case Negation():
                return f"(-{self._operand(node.operand, tests)})"
            case Absolute():
                return f"absolute({self._operand(node.operand, tests)})"
            case Extreme():
                function = "least" if node.function == "min" else "greatest"
                return f"{function}({', '.join(self.settled(each, tests) for each in node.operands)})"
            case Arithmetic():
                left = self._operand(node.left, tests)
                right = self._operand(node.right, tests)
                if node.operator == "/":
                    local = self._local()
                    tests.parts.append(f"({local} := {right}) != 0")
                    right = local
                if self._safe:
                    return f"{self._held(_OPERATORS[node.operator])}({left}, {right})"
                return f"({left} {node.operator} {right})"
            case Window():
                return self._looked_back(node, tests)
            case MemberTally():
                compiled: Callable[..., Whatever] = compile_condition if node.function == "count" else compile_operand
                body = self._held(compiled(node.body, safe=self._safe))
                kind, function, alike = map(self._constant, (node.kind, node.function, node.alike))
                called = self._held(_or(None, tally)) if self._safe else "tally"
                return self._found(f"{called}(c, {kind}, {body}, {function}, {alike})", tests)
            case Elapsed():
                first, second, window = map(self._constant, (node.first, node.second, node.window_ms))
                return self._found_of_messages(f"elapsed(c, {first}, {second}, {window})", node, tests)
            case Times():
                ids, window = self._constant(frozenset(node.messages)), self._constant(node.window_ms)
                return self._found_of_messages(f"times(c, {ids}, {window}, {self._constant(node.quiet)})", node, tests)
            case Latest():
                function = "latest_text" if node.as_text else "latest"
                code, insert = self._constant(node.message), self._constant(node.insert)
                return self._found_of_messages(f"{function}(c, {code}, {insert})", node, tests)

    def _looked_back(self, node: Window, tests: _Tests) -> str:
        limit = ""
        if node.limit is not None:
            parts = "".join(f"({_whose(each)}, {self._address(each)}), " for each in limit_metrics(node.limit))
            limit = f", {self.settled(node.limit, tests)}, ({parts})"
        function = WINDOW_FUNCTIONS[node.function].look(node.metric.metric.type)
        look = self._held(_or(None, function) if self._safe else function)
        address = f"{_whose(node.metric)}, {self._address(node.metric)}"
        call = f"{look}({address}, {self._constant(node.window_ms)}{limit})"
        shared = self._looks.get(_look_of(node))
        if shared is None:
            return self._found(call, tests)
        tests.parts.append(f"{_once(shared, call)} is not None")
        return shared

    def _unheard(self, node: Condition | Operand) -> str:
        """The code that tests whether there are no messages at all; what is needed for them is then noted as an absence."""
        return f"q and (a := a or c.absence or {self._constant(lacking(messages_of(node)))})"

    def _found_of_messages(self, call: str, node: Elapsed | Times | Latest, tests: _Tests) -> str:
        if self._unreported is not None:
            tests.parts.append(f"not ({self._unheard(node)})")
        return self._found(call, tests)

    def _found(self, call: str, tests: _Tests) -> str:
        """The local that holds the result of a call, which is tested to be not None."""
        local = self._local()
        tests.parts.append(f"({local} := {call}) is not None")
        return local

    def _present(self, metric: MetricValue, tests: _Tests) -> str:
        local = self._metric(metric)
        if local in tests.present:
            return local
        classes = _classes(metric)
        part = f"{local}.__class__ in {classes}" if local in tests.read else f"({self._tested(metric, classes)})"
        if not tests.parts:
            tests.first = frozenset((local,))
        tests.parts.append(part)
        tests.present.add(local)
        return local

    def _lookup(self, metric: MetricValue, read: _Read) -> str:
        """The code of a metric's value, which looks it up unless that has been done."""
        local = self._metric(metric)
        if local in read:
            return local
        if metric.own and self._unreported is not None:
            return f"({self._own(metric)}.__class__ is A and {_noted(local)} and {local})"
        return f"({local} := {_whose(metric)}.value({self._address(metric)}))"

    def _tested(self, metric: MetricValue, classes: str) -> str:
        """The code that looks a metric up and tests whether it has a value of these classes."""
        local = self._metric(metric)
        if metric.own and self._unreported is not None:
            return f"{self._own(metric)}.__class__ in {classes} or {_noted(local)} is L"
        asked = f"({local} := {_whose(metric)}.value({self._address(metric)})).__class__ in {classes}"
        if metric.own:
            return f"({local} := v({self._constant(metric.metric.name)})).__class__ in {classes} or {asked}"
        return asked

    def _own(self, metric: MetricValue) -> str:
        """The code of the value that ``v`` returns of a metric of the object itself."""
        local = self._metric(metric)
        return local if local in self._fetched else f"({local} := {self._handed_out(metric)})"

    def _handed_out(self, metric: MetricValue) -> str:
        assert self._unreported is not None, "else v does not know all metrics"
        name = metric.metric.name
        return f"v({self._constant(name)}, {self._constant(self._unreported[name])})"

    def fetch_shared(self, roots: Sequence[Condition]) -> dict[str, str]:
        """Local -> code of the object's own metrics that several conditions read: to be looked up before
        all of them.
        """
        uses: Counter[str] = Counter()
        metrics: dict[str, MetricValue] = {}
        for root in roots:
            looked_back = {id(each.metric) for each in walk(root) if isinstance(each, Window | Rising | Unchanged)}
            own = {
                self._metric(each): each
                for each in walk_outside(root)
                if isinstance(each, MetricValue) and each.own and id(each) not in looked_back
            }
            uses.update(own.keys())
            metrics.update(own)
        self._fetched = frozenset(local for local, count in uses.items() if count > 1)
        return {local: self._handed_out(metrics[local]) for local in metrics if local in self._fetched}

    def share_looks(self, roots: Sequence[Condition]) -> Sequence[str]:
        """The locals of looks back that several conditions share: the first that asks for one keeps its result."""
        uses = Counter(
            _look_of(each) for root in roots for each in walk_outside(root) if isinstance(each, Window | Rising)
        )
        shared = [look for look, count in uses.items() if look and count > 1]
        self._looks = {look: f"w{place}" for place, look in enumerate(shared)}
        return list(self._looks.values())

    # Names in the written code

    def _address(self, metric: MetricValue) -> str:
        return f"{self._constant(metric.kind)}, {self._constant(metric.metric.name)}"

    def _metric(self, metric: MetricValue) -> str:
        return self._metrics.setdefault((metric.of, metric.kind, metric.metric.name), f"m{len(self._metrics)}")

    def _local(self) -> str:
        self._locals += 1
        return f"t{self._locals}"

    def _held(self, function: Callable[..., Whatever]) -> str:
        """The name of a function that the code calls."""
        name = f"f{len(self.table)}"
        self.table[name] = function
        return name

    def _constant(self, value: object) -> str:
        name = self._constants.setdefault((type(value), value), f"k{len(self._constants)}")
        self.table[name] = value
        return name


def _or(otherwise: float | None, function: Callable[..., Whatever]) -> Callable[..., Whatever]:
    """The function; where a calculation overflows, it returns ``otherwise``."""

    def guarded(*arguments: Whatever) -> Whatever:
        try:
            return function(*arguments)
        except ArithmeticError:
            return otherwise

    return guarded


_OPERATORS: Mapping[str, Callable[..., Whatever]] = {
    "+": _or(nan, operator.add),
    "-": _or(nan, operator.sub),
    "*": _or(nan, operator.mul),
    "/": _or(nan, operator.truediv),
}
"""The operators of safe functions. Where the result overflows it is NaN, for which every calculation is tested."""


class _Tests:
    """What must hold, in this order, so that the operands of a term are present; in ``first`` what the
    first looks up.
    """

    __slots__ = ("first", "parts", "present", "read")

    def __init__(self, read: _Read) -> None:
        self.read = read
        self.parts: list[str] = []
        self.present: set[str] = set()
        self.first: _Read = frozenset()


def _may_be_nan(node: Operand) -> bool:
    match node:
        case Arithmetic():
            return True
        case Negation() | Absolute():
            return _may_be_nan(node.operand)
    return False


def _look_of(node: Window | Rising) -> tuple[object, ...]:
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


def _once(local: str, call: str) -> str:
    """The code of the result of a call that is made once."""
    return f"({local} if {local} is not U else ({local} := {call}))"


def _named_by(body: Condition) -> MetricValue | Constant | None:
    """What names the member for which a condition can hold: a metric of the evaluated object, or a text.

    The condition is then ``name == this.metric`` or ``name == "..."``, or begins with that and ``and``.
    """
    match body.operands[0] if isinstance(body, All) else body:
        case Comparison(operator="==", left=NameText(of=""), right=MetricValue() as named) if named.of == THIS:
            return None if named.optional else named
        case Comparison(operator="==", left=NameText(of=""), right=Constant(value=str()) as named):
            return named
    return None


def _context(of: str) -> str:
    return f"c.{of}" if of else "c"


def _classes(metric: MetricValue) -> str:
    return "T" if type_of(metric) is Type.TEXT else "N"


def compared(operand: Node) -> tuple[MetricValue, ...] | None:
    """The metrics of an operand that has a value wherever they have one; None: it may lack one nevertheless."""
    match operand:
        case MetricValue():
            return (operand,)
        case Constant() | NameText():
            return ()
        case Arithmetic(operator="*" | "+" | "-", left=Constant(), right=MetricValue() as metric):
            return (metric,)
        case Arithmetic(operator="*" | "+" | "-", left=MetricValue() as metric, right=Constant()):
            return (metric,)
    return None


def _absence(local: str) -> str:
    """The code of why a local has no value: what is no absence either is nothing that was asked for."""
    return f"({local} if {local}.__class__ is A else E)"


def _noted(local: str) -> str:
    """The code that notes that a metric is absent; it evaluates to the first absence met."""
    return f"(a := a or c.absence or {local}.__class__ is A and {local} or None)"


def _whose(metric: MetricValue) -> str:
    """The code of the context that a metric is looked up in."""
    return _context(metric.of)

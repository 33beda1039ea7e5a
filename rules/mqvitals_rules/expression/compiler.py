"""Compiles a checked tree to one Python function.

The function is written from the tree alone: values and names of metrics are in a table of constants, and it calls only
the functions of the language. No text of a rule gets into it.

Its parameters are ``c``, the context, and ``v``, which returns the value of a metric of the object itself where it is
present; other values come from the context. The function returns True, False or None. It raises ArithmeticError when a
calculation overflows. A ``safe`` function takes the result of such a calculation as unknown, and calls a function for
each operator.

Conditions on the same objects can also become one function (``compile_together``), which looks up once what several of
them read.

This module writes conditions; ``operand_code`` their operands, ``lookups`` how values are read, ``absence_code`` why a
condition is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any as Whatever
from typing import NamedTuple, Protocol

from mqvitals_rules.expression.absence_code import UNTOLD, unheard, why_joined, why_past, why_term
from mqvitals_rules.expression.context import Context, any_called, any_member, any_named, tally
from mqvitals_rules.expression.functions import (
    EXTREMES,
    elapsed,
    is_open,
    latest,
    latest_text,
    rising,
    seen,
    times,
    unchanged,
)
from mqvitals_rules.expression.lookups import (
    NUMBERS,
    PRESENT,
    TEXTS,
    Lookups,
    Read,
    Tests,
    once,
)
from mqvitals_rules.expression.node import (
    THIS,
    Affix,
    All,
    Any,
    AnyMember,
    Comparison,
    Condition,
    Constant,
    Membership,
    MembersKnown,
    MemberTally,
    MetricValue,
    NameText,
    Not,
    Open,
    Operand,
    Present,
    Rising,
    Seen,
    Unchanged,
    messages_of,
    read_now,
    walk_outside,
)
from mqvitals_rules.expression.operand_code import OperandWriter
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

LEFT_OUT = object()
"""The result of a term on an optional fact that is not declared."""

_UNASKED = object()
"""Stands for a look back that conditions share, before the first of them has asked for it."""


class _Code(NamedTuple):
    """The Python expression of a condition, whether it may be left out, and what has been looked up for
    certain after it.

    ``why`` is that of the absence that makes it unknown, to be evaluated right after ``text`` has come to None.
    """

    text: str
    leaves: bool
    read: Read
    why: str = UNTOLD


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
    tests = Tests(frozenset())
    value = writer.operands.settled(root, tests)
    return _function(f"({value} if {' and '.join(tests.parts)} else None)" if tests.parts else value, writer)


def compile_together(roots: Sequence[tuple[int, Condition]], unreported: Mapping[str, Absence]) -> EvaluateTogether:
    """One function for conditions on objects of one kind, each with its place: it returns the verdicts that are not
    ``Settled``.

    ``unreported``: by metric of that kind, what the context says of one that it has no value of. The function must
    get the context's own values, and raises ArithmeticError when any calculation overflows.
    """
    writer = _Writer(unreported)
    lines = ["def evaluate(c, v, s):", " found = []"]
    lines += [f" {line}" for line in writer.lookups.fetch_shared([root for _, root in roots])]
    lines += [f" {local} = U" for local in writer.lookups.share_looks([root for _, root in roots])]
    if any(messages_of(root) for _, root in roots):
        lines.append(" q = c.unheard")
    if any(isinstance(each, NameText) for _, root in roots for each in walk_outside(root)):
        lines.append(" n = c.name")
    for place, root in roots:
        writer.lookups.asks = False
        code = writer.condition(root, frozenset())
        text = f"(None if (t := {code.text}) is L else t)" if code.leaves else code.text
        # Most conditions read values of the object alone, of which the context notes nothing.
        begin, first = (" c.absence = a = None", "(a := a or c.absence)") if writer.lookups.asks else (" a = None", "a")
        lines += (
            begin,
            f" if (r := {text}) is None:",
            f"  if {first} is not s[{place}]: found.append(({place}, None, a, {code.why}))",
            f" elif r is not s[{place}]: found.append(({place}, r, None, None))",
        )
    return _defined("\n".join((*lines, " return found", "")), writer.lookups.table)


def _function(text: str, writer: _Writer) -> Evaluate:
    """The same function for the same code: so what one rule found of members is known when another asks for it."""
    held = tuple((name, type(value), value) for name, value in writer.lookups.table.items() if name not in _COMMON)
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
        self._safe = safe
        self.lookups = Lookups(_COMMON, unreported)
        self.operands = OperandWriter(self.lookups, self._tallied, safe=safe)

    def condition(self, node: Condition, read: Read) -> _Code:
        """The code of a condition that stands where ``read`` has been looked up."""
        constant = self.lookups.constant
        match node:
            case All() | Any():
                return self._joined(node, read)
            case Not():
                code = self.condition(node.operand, read)
                local = self.lookups.local()
                kept = f" or {local} is L" if code.leaves else ""
                return code._replace(text=f"({local} if ({local} := {code.text}) is None{kept} else not {local})")
            case Present():
                return _Code(f"({self.lookups.tested(node.metric, 'P')})", leaves=False, read=read)
            case MembersKnown():
                return _Code(
                    f"({self.lookups.asked()}.members({constant(node.kind)}).doubt is None)", leaves=False, read=read
                )
            case Rising():
                address = f"{self.lookups.whose(node.metric)}, {self.lookups.address(node.metric)}"
                call = f"rising({address}, {constant(node.rises)})"
                shared = self.lookups.shared_look(node)
                text = call if shared is None else once(shared, call)
                return _Code(text, leaves=False, read=read, why=why_past(self.lookups, node.metric))
            case AnyMember():
                body = self.lookups.held(compile_condition(node.body, safe=self._safe))
                kind = constant(node.kind)
                match _named_by(node.body):
                    case None:
                        text = f"any_member({self.lookups.asked()}, {kind}, {body}, {constant(node.alike)})"
                    case Constant(value=name):
                        text = f"any_called({self.lookups.asked()}, {kind}, {body}, {constant(name)})"
                    case named:
                        text = f"any_named({self.lookups.asked()}, {kind}, {body}, {self.lookups.address(named)})"
                return _Code(text, leaves=False, read=read)
            case Seen():
                ids, window = constant(frozenset(node.messages)), constant(node.window_ms)
                return self._heard(f"seen({self.lookups.asked()}, {ids}, {window}, {constant(node.quiet)})", node, read)
            case Open():
                begin, ends = constant(frozenset((node.begin,))), constant(frozenset(node.ends))
                return self._heard(
                    f"is_open({self.lookups.asked()}, {begin}, {ends}, {constant(node.quiet)})", node, read
                )
            case Unchanged():
                address = f"{self.lookups.whose(node.metric)}, {self.lookups.address(node.metric)}"
                text = f"unchanged({address}, {constant(node.window_ms)})"
                return _Code(text, leaves=False, read=read, why=why_past(self.lookups, node.metric))
            case Comparison() | Membership() | Affix():
                return self._term(node, read)

    def _tallied(self, node: MemberTally) -> Callable[..., Whatever]:
        """The function of what is counted or summed up of each member."""
        counted = node.function == "count"
        compiled: Callable[..., Callable[..., Whatever]] = compile_condition if counted else compile_operand
        return compiled(node.body, safe=self._safe)

    def _heard(self, call: str, node: Seen | Open, read: Read) -> _Code:
        """The code of a condition about messages, which looks for none where there are none at all."""
        text = call if not self.lookups.noting else f"(None if {unheard(self.lookups, node)} else {call})"
        return _Code(text, leaves=False, read=read, why=self.lookups.constant(lacking(messages_of(node))))

    def _joined(self, node: All | Any, read: Read) -> _Code:
        """``and`` and ``or`` stop as soon as one operand decides; else the whole is unknown if an operand is."""
        decides = "False" if isinstance(node, All) else "True"
        steps, locals_, reasons, after, left = [], [], [], read, True
        for index, operand in enumerate(node.operands):
            code = self.condition(operand, read)
            read = code.read
            if index == 0:
                after = read  # of the others it is not certain that they are evaluated
            left = left and code.leaves
            locals_.append(self.lookups.local())
            reasons.append(code.why)
            steps.append(f"({locals_[-1]} := {code.text}) is {decides}")
        unknown = " or ".join(f"{local} is None" for local in locals_)
        otherwise = "True" if isinstance(node, All) else "False"
        if left:
            otherwise = f"(L if {' and '.join(f'{local} is L' for local in locals_)} else {otherwise})"
        text = f"({decides} if {' or '.join(steps)} else None if {unknown} else {otherwise})"
        return _Code(text, left, after, why_joined(reasons, locals_, left_out=left))

    def _term(self, node: Comparison | Membership | Affix, read: Read) -> _Code:
        optional = list({self.lookups.metric(each): each for each in read_now(node) if each.optional}.values())
        undeclared = []
        after = read
        for index, metric in enumerate(optional):
            undeclared.append(f"{self.lookups.value(metric, read)} is D")
            read |= {self.lookups.metric(metric)}
            if index == 0:
                after = read
        tests = Tests(read)
        if isinstance(node, Comparison):
            value = (
                f"{self.operands.settled(node.left, tests)} {node.operator} {self.operands.settled(node.right, tests)}"
            )
        elif isinstance(node, Affix):
            value = (
                f"{self.operands.settled(node.text, tests)}.{node.function}({self.operands.settled(node.affix, tests)})"
            )
        else:
            word = "not in" if node.negated else "in"
            value = f"{self.operands.settled(node.operand, tests)} {word} {self.lookups.constant(node.members)}"
        text = f"({value} if {' and '.join(tests.parts)} else None)" if tests.parts else f"({value})"
        if undeclared:
            text = f"(L if {' or '.join(undeclared)} else {text})"
        else:
            after = read | tests.first
        return _Code(text, bool(undeclared), after, UNTOLD if undeclared else why_term(self.lookups, node))


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

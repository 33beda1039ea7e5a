"""Checks calls of the functions of the language: windows, members, messages; what each takes, and of which type."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping

from mqvitals_config.decoding.problem import did_you_mean, shown
from mqvitals_config.decoding.scalars import parse_duration
from mqvitals_rules.expression.functions import (
    CONDITION_FUNCTIONS,
    EXTREMES,
    FUNCTIONS,
    LONGEST_WINDOW_MS,
    MEMBER_FUNCTIONS,
    MOST_RISES,
    SHORTEST_WINDOW_MS,
    USUAL_WINDOW,
    WINDOW_FUNCTIONS,
    WindowFunction,
)
from mqvitals_rules.expression.node import (
    THIS,
    Absolute,
    Affix,
    AnyMember,
    Condition,
    Constant,
    Elapsed,
    Extreme,
    Latest,
    MembersKnown,
    MemberTally,
    MetricValue,
    NameText,
    Node,
    Open,
    Operand,
    Present,
    Rising,
    Seen,
    Times,
    Unchanged,
    Window,
    walk,
)
from mqvitals_rules.expression.operands import OperandChecker, every, is_text
from mqvitals_rules.expression.syntax import RefusedExpressionError
from mqvitals_rules.vocabulary.event import is_event
from mqvitals_rules.vocabulary.metric import MetricType

INSERT = re.compile(r"[a-z][a-z0-9_]{0,40}")
# Of the messages of z/OS itself, those that the agent keeps. ``event:2283:8``: an event message, by reason and qualifier.
MESSAGE_ID = re.compile(
    r"event:[0-9]{4}(?::[0-9]{1,4})?|CSQ[0-9A-Z][0-9]{3}[A-Z]|ICH408I|IEC070I|IRA200E|IVT5592I|IXC585E|IXC586I|IXL013I|IXL014I"
)


class CallChecker(OperandChecker):
    """Checks operands and the calls among them. Its methods raise RefusedExpressionError."""

    __slots__ = ()

    def call(self, node: ast.Call) -> Operand:
        """A call that must be a number."""
        name = self._function(node)
        if name in CONDITION_FUNCTIONS:
            raise self.refused(node, f"expected a number, and {name}(...) is a condition")
        if name in MEMBER_FUNCTIONS:
            kind, body, alike = self._of_members(node, name)
            return MemberTally(*self.span(node), name, kind, body, alike)
        if name == "elapsed":
            usage = 'elapsed("CSQR003I", "CSQR006I", "1d")'
            (first, second), window_ms = self._messages(node, usage, 2)
            if first == second:
                raise self.refused(node.args[1], "elapsed is about two different messages")
            return Elapsed(*self.span(node), first, second, window_ms)
        if name == "times":
            return Times(*self.span(node), *self._any_messages(node, 'times("CSQX777E", "10m")'), self.names.quiet)
        if name in ("latest", "latest_text"):
            return self._latest(node, name)
        if name == "abs":
            if len(node.args) != 1:
                raise self.refused(node, "abs takes one number: abs(x)")
            return Absolute(*self.span(node), self.number(node.args[0]))
        if name in EXTREMES and len(node.args) > 1 and not is_text(node.args[1]):
            return Extreme(*self.span(node), name, every(self.number, node.args))
        return self._window(node, WINDOW_FUNCTIONS[name])

    def condition_call(self, node: ast.Call) -> Condition | None:
        """A call that is true or false; None when it calls something else."""
        if not isinstance(node.func, ast.Name) or node.func.id not in CONDITION_FUNCTIONS:
            return None
        name = self._function(node)
        checks: Mapping[str, Callable[[ast.Call, str], Condition]] = {
            "present": self._present,
            "rising": self._rising,
            "any": self._any,
            "unchanged": self._unchanged,
            "seen": self._seen,
            "open": self._open,
            "startswith": self._affix,
            "endswith": self._affix,
        }
        return checks[name](node, name)

    def _function(self, node: ast.Call) -> str:
        """The name of the function that a call calls, with arguments of a form that a function can have."""
        if not isinstance(node.func, ast.Name):
            raise self.refused(node, "the only functions are those of the rule language")
        name = node.func.id
        if name not in FUNCTIONS:
            known = did_you_mean(name, FUNCTIONS) or f"; there are {', '.join(FUNCTIONS)}"
            raise self.refused(node, f"there is no function {shown(name)}{known}")
        if node.keywords:
            raise self.refused(node, "arguments have no names here")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.refused(argument, "'*' is not part of the rule language")
        return name

    # The latest values and the last polls

    def _present(self, node: ast.Call, _: str) -> Present | MembersKnown:
        asked = node.args[0] if len(node.args) == 1 else None
        if isinstance(asked, ast.Name) and self.names.is_kind(asked.id):
            if self.names.outer is not None:
                raise self.refused(node, f"present({asked.id}) cannot stand inside a function of members")
            return MembersKnown(*self.span(node), asked.id)
        metric, _argument = self._metric_first(node, "present(metric)", 1)
        return Present(*self.span(node), metric)

    def _rising(self, node: ast.Call, _: str) -> Rising:
        usage = f"rising(gauge, n) with n from 1 to {MOST_RISES}"
        metric, rises = self._metric_first(node, usage, 2)
        if metric.metric.type is not MetricType.GAUGE:
            raise _wrong_type("rising", (MetricType.GAUGE,), metric)
        _check_past(metric)
        value = rises.value if isinstance(rises, ast.Constant) else None
        if type(value) is not int or not 1 <= value <= MOST_RISES:
            raise self.refused(rises, f"expected {usage}, written out")
        return Rising(*self.span(node), metric, value)

    def _unchanged(self, node: ast.Call, _: str) -> Unchanged:
        usage = 'unchanged(metric, "5m")'
        if not 1 <= len(node.args) <= 2:
            raise self.refused(node, f"expected {usage}")
        metric = self._metric(node.args[0], usage)
        if metric.metric.type is MetricType.COUNTER:
            raise RefusedExpressionError.at(
                metric.start, f"{metric.name} is a counter, so it counts on; write delta({metric.name}) == 0"
            )
        _check_past(metric)
        return Unchanged(*self.span(node), metric, self._duration(node, 1, usage))

    def _affix(self, node: ast.Call, name: str) -> Affix:
        if len(node.args) != 2:
            raise self.refused(node, f'expected {name}(text, "A")')
        text, affix = every(self.text, node.args)
        if isinstance(affix, Constant) and not affix.value:
            raise self.refused(node.args[1], f"{name} holds for every text when it looks for an empty one")
        return Affix(*self.span(node), name, text, affix)

    # Windows

    def _window(self, node: ast.Call, function: WindowFunction) -> Window:
        if not node.args:
            raise self.refused(node, f"expected {function.usage}")
        metric = self._metric(node.args[0], function.usage)
        type_ = metric.metric.type
        switch = function.on_switches and type_ is MetricType.STATE and set(metric.metric.values.values()) == {0, 1}
        if type_ not in function.looks and not switch:
            raise _wrong_type(function.name, function.looks, metric)
        looks_back = function.name != "share" or type_ is MetricType.COUNTER
        if looks_back:
            _check_past(metric)
        timeless = type_ in function.timeless
        least = 1 + function.takes_limit
        if not least <= len(node.args) <= least + (not timeless):
            raise self.refused(node, f"expected {function.usage}")
        limit = self.number(node.args[1]) if function.takes_limit else None
        window_ms = 0 if timeless else self._duration(node, least, function.usage)
        return Window(*self.span(node), function.name, metric, window_ms, limit, metric.values if switch else None)

    def _duration(self, node: ast.Call, place: int, usage: str) -> int:
        """The window that is a call's argument at ``place``, ms; the usual one where there is no such argument.

        It is written out, or a parameter in seconds.
        """
        if len(node.args) <= place:
            return parse_duration(USUAL_WINDOW)
        argument = node.args[place]
        window_ms = self._seconds(argument) if isinstance(argument, ast.Name) else None
        if window_ms is None:
            text = argument.value if isinstance(argument, ast.Constant) else None
            if not isinstance(text, str):
                raise self.refused(argument, f"expected a window written out, as in {usage}")
            try:
                window_ms = parse_duration(text)
            except ValueError as error:
                raise self.refused(argument, f"{shown(text)} is no window: {error}") from None
        if not SHORTEST_WINDOW_MS <= window_ms <= LONGEST_WINDOW_MS:
            raise self.refused(argument, "a window is 1s to 366d long")
        return window_ms

    def _seconds(self, node: ast.Name) -> int | None:
        """The value of a parameter in seconds, ms; None for what is no parameter."""
        found = self.names.find(node.id, *self.span(node))
        if not isinstance(found, Constant) or isinstance(found.value, str):
            return None
        if not node.id.endswith("_s"):
            raise self.refused(node, f"{node.id} is no window: a parameter that is one is in seconds, and ends in _s")
        return round(found.value * 1000)

    def _metric_first(self, node: ast.Call, usage: str, count: int) -> tuple[MetricValue, ast.expr]:
        """The metric that is a call's first of ``count`` arguments, and the last argument."""
        if len(node.args) != count:
            raise self.refused(node, f"expected {usage}")
        return self._metric(node.args[0], usage), node.args[-1]

    def _metric(self, node: ast.expr, usage: str) -> MetricValue:
        operand = self.operand(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if not isinstance(operand, MetricValue):
            raise self.refused(node, f"expected the name of a metric: {usage}")
        return operand

    # Members

    def _any(self, node: ast.Call, name: str) -> AnyMember:
        kind, body, alike = self._of_members(node, name)
        assert not isinstance(body, Constant), "the body of any is a condition"
        return AnyMember(*self.span(node), kind, body, alike)  # type: ignore[arg-type]

    def _of_members(self, node: ast.Call, name: str) -> tuple[str, Condition | Operand, bool]:
        """The kind of members, the part about each, and whether it is the same for all objects with the
        same members.
        """
        usage = MEMBER_FUNCTIONS[name]
        if self.names.outer is not None:
            raise self.refused(node, f"{name}(...) cannot stand inside another function of members")
        if len(node.args) != 2 or not isinstance(node.args[0], ast.Name):
            raise self.refused(node, f"expected {usage}, with a kind of object such as queue")
        kind, each = node.args
        assert isinstance(kind, ast.Name)
        inside = type(self)(self.syntax, self.names.inside(kind.id, self.syntax.start(kind)))
        body = inside.condition(each) if name in ("any", "count") else inside.number(each)
        return kind.id, body, not any(_is_this(each) for each in walk(body))

    # Console messages

    def _seen(self, node: ast.Call, _: str) -> Seen:
        return Seen(*self.span(node), *self._any_messages(node, 'seen("CSQP020E", "10m")'), self.names.quiet)

    def _open(self, node: ast.Call, _: str) -> Open:
        if len(node.args) < 2:
            raise self.refused(node, 'expected open("CSQJ004I", "CSQJ005I"): a message, and those that end it')
        begin, *ends = self._alike(node, len(node.args))
        if begin in ends:
            raise self.refused(node.args[0], "open is about a message and others that end it")
        return Open(*self.span(node), begin, tuple(ends), self.names.quiet)

    def _latest(self, node: ast.Call, name: str) -> Latest:
        if len(node.args) != 2:
            raise self.refused(node, f'expected {name}("CSQJ110E", "pct"): a message, and one of its inserts')
        insert = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        if not isinstance(insert, str) or not INSERT.fullmatch(insert):
            raise self.refused(node.args[1], f'expected the name of an insert, as in {name}("CSQJ110E", "pct")')
        return Latest(*self.span(node), self._message(node.args[0]), insert, name == "latest_text")

    def _any_messages(self, node: ast.Call, usage: str) -> tuple[tuple[str, ...], int]:
        """The ids of messages that are all of a call's arguments, but for the window after them."""
        if not node.args:
            raise self.refused(node, f"expected {usage}")
        last = node.args[-1].value if isinstance(node.args[-1], ast.Constant) else None
        has_window = len(node.args) > 1 and not (isinstance(last, str) and not last[:1].isdigit())
        count = len(node.args) - has_window
        window_ms = self._duration(node, count, usage)
        return self._alike(node, count), window_ms

    def _messages(self, node: ast.Call, usage: str, count: int) -> tuple[tuple[str, ...], int]:
        """The ids of messages that are a call's first ``count`` arguments, and the window after them."""
        if not count <= len(node.args) <= count + 1:
            raise self.refused(node, f"expected {usage}")
        window_ms = self._duration(node, count, usage)
        return self._alike(node, count), window_ms

    def _alike(self, node: ast.Call, count: int) -> tuple[str, ...]:
        """The ids that are the first ``count`` arguments: of console messages, or of events."""
        found = every(self._message, node.args[:count])
        if len({is_event(each) for each in found}) > 1:
            raise self.refused(node, "console messages and events come separately: write a call for each, joined by or")
        return found

    def _message(self, node: ast.expr) -> str:
        text = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(text, str):
            raise self.refused(node, 'expected the id of a console message: "CSQP020E"')
        if not MESSAGE_ID.fullmatch(text):
            upper = text.upper()
            meant = f"; did you mean '{upper}'?" if MESSAGE_ID.fullmatch(upper) else ", such as CSQP020E"
            raise self.refused(node, f"{shown(text)} is no id of a message of MQ on z/OS{meant}")
        return text


def _is_this(node: Node) -> bool:
    return isinstance(node, MetricValue | NameText) and node.of == THIS


def _wrong_type(function: str, wanted: Iterable[MetricType], metric: MetricValue) -> RefusedExpressionError:
    needed = " or a ".join(each.value for each in wanted)
    message = f"{function} needs a {needed}, and {metric.name} is a {metric.metric.type.value}"
    if metric.metric.type is MetricType.COUNTER:
        message += f'; rate and delta look back on it: rate({metric.name}, "5m")'
    return RefusedExpressionError.at(metric.start, message)


def _check_past(metric: MetricValue) -> None:
    if metric.metric.declared:
        raise RefusedExpressionError.at(
            metric.start, f"{metric.name} is declared in the configuration and has no history"
        )

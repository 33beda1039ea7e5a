"""Whatever is written and whatever the values are: refused with a sentence, or evaluated without raising, and rightly so."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import Problem
from mqvitals_rules.expression import Context, Expression, ExpressionError, compile_expression, functions
from mqvitals_rules.expression.context import MemberSet, Unplaced
from mqvitals_rules.history import ObjectMessage, Point, covered_values
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

NOW = 1_700_000_000_000
STATES = {"A": 0, "B": 1, "C": 7}
SWITCH = {"NO": 0, "YES": 1}
LEFT = "left out"

KIND = Kind(
    "thing",
    "a thing",
    "INQUIRE_Q",
    (
        *(Metric(name, "count", MetricType.GAUGE, name) for name in ("g1", "g2", "g3")),
        *(Metric(name, "count", MetricType.COUNTER, name) for name in ("c1", "c2")),
        Metric("s1", "", MetricType.STATE, "s1", values=STATES),
        Metric("s2", "", MetricType.STATE, "s2", values=STATES),
        Metric("w1", "", MetricType.STATE, "w1", values=SWITCH),
        Metric("t1", "", MetricType.TEXT, "t1"),
        Metric("t2", "", MetricType.TEXT, "t2"),
        *(Metric(name, "us", MetricType.GAUGE, name, declared=True) for name in ("o1", "o2")),
        Metric("o3", "", MetricType.STATE, "o3", values=STATES, declared=True),
        Metric("d1", "us", MetricType.GAUGE, "d1", declared=True, default=3),
        Metric("pair", "", MetricType.TEXT, "pair", declared=True),
    ),
    sets={"SET": ("s1", ("A", "C"))},
)
OTHER = Kind("other", "another thing", "INQUIRE_Q", (Metric("r1", "count", MetricType.GAUGE, "r1"),))
KINDS = {"thing": KIND, "other": OTHER}
PARAMETERS = {"p1": 3.0, "p2": -1, "p3": 0}

NUMBERS = ["g1", "g2", "c1", "o1", "o2", "d1", "other.r1", "thing.g3", "p1", "p3", "0", "3", "2.5", "1e18", "10"]
NUMBER_METRICS = ["g1", "g2", "g3", "c1", "c2", "o1", "o2", "d1", "r1"]


def numbers() -> st.SearchStrategy[str]:
    """Numeric expressions."""
    leaves = st.one_of(
        st.sampled_from(NUMBERS),
        st.sampled_from(
            [
                'rate(c1, "5m")',
                'delta(c2, "3m")',
                'avg(g1, "5m")',
                'min(g1, "2m")',
                'max(other.r1, "4m")',
                'eta(g2, 10, "10m")',
                'eta(g2, o1 / g1, "10m")',
                "rate(c2)",
                'median(g1, "5m")',
                "baseline(g1)",
                "baseline(c1)",
                "share(g2)",
                'share(c2, "3m")',
                "pair.g1",
                "pair.o1",
                'avg(pair.g2, "5m")',
                "count(other, r1 > 2)",
                "count(other, r1 > this.g1 and present(this.o1))",
                "sum(other, r1 * this.g2)",
                "sum(other, r1 / (r1 - p1))",
                "most(thing, g1 + o1)",
                "least(thing, pair.g1 - this.d1)",
                'elapsed("CSQR003I", "CSQR006I", "1h")',
                'times("CSQR003I", "30m")',
                'times("CSQR003I", "CSQP020E", "1h")',
                'latest("CSQP020E", "pct")',
            ]
        ),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"),
            inner.map(lambda text: f"-{text}"),
            inner.map(lambda text: f"abs({text})"),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda x: f"{x[0]}({x[1]}, {x[2]})"),
        ),
        max_leaves=4,
    )


def terms() -> st.SearchStrategy[str]:
    """Comparisons and the like."""
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    number = numbers()
    member = st.sampled_from(["in", "not in"])
    return st.one_of(
        st.tuples(number, order, number).map(" ".join),
        st.tuples(number, order, number, order, number).map(" ".join),
        st.tuples(number, member, st.sampled_from(["(1, 2)", "(0, -3, 2.5)", "(p1, 3)"])).map(" ".join),
        st.sampled_from(
            [
                "s1 == A",
                "B != s2",
                "s1 == s2",
                "s1 in SET",
                "s2 not in (B, C)",
                "w1 == YES",
                'min(w1, "5m") == YES',
                "o3 == C",
                "o3 in (A, B)",
                't1 == "x"',
                "t1 != t2",
                't2 in ("x", "y")',
                "present(g1)",
                "present(o1)",
                "present(t1)",
                "present(other.r1)",
                "rising(g1, 2)",
                "rising(g3, 4)",
                "rising(other.r1, 1)",
                "rising(pair.g1, 1)",
                "present(pair.g1)",
                "pair.s1 in SET",
                "pair.o3 == C",
                "any(other, r1 > 2)",
                "any(thing, g1 > this.g2 or o1 < 3)",
                'any(thing, s1 == A and avg(g1, "5m") > avg(this.g1, "3m"))',
                "any(thing, o1 > 3)",
                "any(thing, name == this.name or t1 == this.t1)",
                "any(thing, name == this.t1 and o1 < 3)",
                "any(other, name == this.t1)",
                'startswith(name, "M")',
                "startswith(t1, t2)",
                'endswith(name, "1") and g1 > g2',
                'seen("CSQR003I", "30m")',
                'seen("CSQR006I", "CSQP020E", "30m")',
                'open("CSQR003I", "CSQR006I")',
                'open("CSQP020E", "CSQR006I", "CSQR003I")',
                'latest_text("CSQP020E", "pct") == t1',
                'latest_text("CSQP020E", "pct") in ("x", "7")',
                'unchanged(g1, "5m")',
                'unchanged(s1, "2m")',
                'unchanged(t1, "3m")',
                'unchanged(pair.t1, "3m")',
                "unchanged(other.r1)",
            ]
        ),
    )


def conditions() -> st.SearchStrategy[str]:
    """Whole expressions."""
    return st.recursive(
        terms(),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
            st.lists(inner, min_size=2, max_size=4).map(" and ".join).map("({})".format),
            st.lists(inner, min_size=2, max_size=4).map(" or ".join).map("({})".format),
            inner.map(lambda text: f"not ({text})"),
        ),
        max_leaves=8,
    )


VALUES = st.one_of(
    st.integers(-4, 12),
    st.sampled_from([2.5, 0.0, -0.0, 1e308, float("inf"), float("-inf"), 10**400, -(10**400), 2**63, 5e-324]),
)
ABSENT = st.sampled_from([Absence.NOT_COLLECTED, Absence.NOT_DECLARED, Absence.NO_ANSWER, Absence.NEEDS_SMF])
PASTS = st.lists(
    st.tuples(st.one_of(st.none(), VALUES), st.sampled_from([None, 60_000, 60_000, 60_000, 0, 500, 3_600_000])),
    max_size=12,
)


def sample(values: st.SearchStrategy[Reported]) -> st.SearchStrategy[Reported | None]:
    """A value, an absence, or nothing at all."""
    return st.one_of(values, values, values, ABSENT, st.none())


THINGS = st.fixed_dictionaries(
    {
        **{name: sample(VALUES) for name in NUMBER_METRICS},
        **{name: sample(st.sampled_from([0, 1, 7, 7.0, 99])) for name in ("s1", "s2", "w1", "o3")},
        **{name: sample(st.sampled_from(["x", "y", ""])) for name in ("t1", "t2")},
    }
)
TOLD = st.lists(
    st.tuples(
        st.integers(0, 4_000),
        st.sampled_from(["CSQR003I", "CSQR006I", "CSQP020E"]),
        st.sampled_from([1, 1, 3]),
        st.sampled_from([(), (("pct", "7"),), (("pct", "2.5"),), (("pct", "x"), ("rc", "1"))]),
    ),
    max_size=6,
)
WORLDS = st.builds(
    lambda own, members, pair, usual, told: {**own, "": (members, pair, usual, told)},
    THINGS,
    st.fixed_dictionaries({"other": st.lists(THINGS, max_size=7), "thing": st.lists(THINGS, max_size=3)}),
    st.one_of(st.none(), THINGS),
    st.dictionaries(st.sampled_from(["g1", "c1", "total"]), st.sampled_from([0, 2.5, 7, 10**400, float("inf")])),
    st.one_of(st.none(), TOLD),
)
HISTORY = ("g1", "g2", "g3", "c1", "c2", "r1", "w1", "s1", "t1")
HISTORIES = st.fixed_dictionaries(dict.fromkeys(HISTORY, PASTS))


class World:
    """A context with random values and polls, one a minute."""

    def __init__(self, values: Mapping[str, Any], past: Mapping[str, Sequence[tuple[Any, int | None]]]) -> None:
        self.now = NOW
        self.name = "M1"
        self.this: Context = self
        self.notes: dict[object, Any] = {}
        self.values: dict[str, Reported] = {name: value for name, value in values.items() if name and value is not None}
        members, pair, self.usual, told = values.get("", ({}, None, {}, None))
        self.company = {kind: [World(each, past) for each in each_kind] for kind, each_kind in members.items()}
        for number, member in enumerate(each for of_kind in self.company.values() for each in of_kind):
            member.name, member.this = f"M{number}", self
        self.told = (
            None
            if told is None
            else [
                ObjectMessage(NOW - 1000 * ago, code, None, count, inserts)
                for ago, code, count, inserts in sorted(told, reverse=True)
            ]
        )
        self.beside = None if pair is None else World(pair, past)
        self.past = {
            name: [Point(NOW - 60_000 * (len(points) - 1 - i), value, gap) for i, (value, gap) in enumerate(points)]
            for name, points in past.items()
        }

    def value(self, kind: str, metric: str) -> Reported:
        return self.values.get(metric, Absence.NOT_DECLARED if metric in ("o1", "o2", "o3") else Absence.NOT_ASKED)

    @property
    def pair(self) -> Context:
        return self.beside or InstantContext(lambda *_: Absence.NOT_DECLARED, NOW)

    def members(self, kind: str) -> MemberSet:
        return Members(self.company.get(kind, []), self.notes)

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:
        found: float | None = self.usual.get(metric)
        return found

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:
        found: float | None = self.usual.get("total")
        return found

    def messages(self, ids: frozenset[str], since_ms: int, *, quiet: bool = False) -> Sequence[ObjectMessage] | None:
        return None if self.told is None else [each for each in self.told if each.id in ids and each.ts > since_ms]

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        return [point for point in self.past[metric] if point.ts > since_ms]

    def covered(self, kind: str, metric: str, window_ms: int) -> Sequence[float]:
        since = self.now - window_ms
        return covered_values(self.points(kind, metric, since), since, window_ms)

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        return self.past[metric][-n:]


class Members:
    """Worlds as members of another."""

    def __init__(self, worlds: Sequence[World], notes: dict[object, Any]) -> None:
        self.worlds = worlds
        self.notes = notes
        self.doubt: Absence | None = None if len(worlds) < 6 else Absence.NOT_ASKED
        self.unplaced: Sequence[Unplaced] = (Unplaced("queue.page_set", Absence.STALE),) if len(worlds) == 4 else ()

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        for world in self.worlds:
            yield world, world.values

    def named(self, name: str) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        return ((world, world.values) for world in self.worlds if world.name == name)


class Reference:
    """The language as a person would define it: over Python's own tree, one rule after another, slow and plain."""

    def __init__(self, world: World) -> None:
        self.world = world

    def verdict(self, text: str) -> bool | None:
        found = self.condition(ast.parse(text, mode="eval").body)
        return None if found is LEFT or found is None else bool(found)

    def condition(self, node: ast.expr) -> bool | str | None:
        if isinstance(node, ast.BoolOp):
            deciding = isinstance(node.op, ast.Or)
            return self.joined([self.condition(each) for each in node.values], deciding)
        if isinstance(node, ast.UnaryOp):
            found = self.condition(node.operand)
            return found if found is None or found is LEFT else not found
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            links = [self.link(*each) for each in zip(operands, node.ops, operands[1:], strict=False)]
            return links[0] if len(links) == 1 else self.joined(links, deciding=False)
        assert isinstance(node, ast.Call)
        function = ast.unparse(node.func)
        if function == "any":
            members = [None if each is LEFT else each for each in self.of_members(node)]
            return True if True in members else None if None in members else False
        if function == "seen":
            told = self.told(node.args)
            return None if told is None else bool(told)
        if function == "open":
            return self.open([ast.literal_eval(each) for each in node.args])
        if function in ("startswith", "endswith"):
            text, affix = (self.operand(each) for each in node.args)
            return None if text is None or affix is None else getattr(text, function)(affix)
        name = self.name(node.args[0])
        world = self.whose(node.args[0])
        if function == "unchanged":
            minutes = int(ast.literal_eval(node.args[1])[:-1]) if len(node.args) > 1 else 5
            since = NOW - minutes * 60_000
            points = world.points("", name, since)
            if len({point.value for point in points} - {None}) > 1:
                return False
            return True if covered_values(points, since, minutes * 60_000) else None
        if function == "present":
            return not isinstance(world.value("", name), Absence)
        rises = ast.literal_eval(node.args[1])
        points = world.last("", name, rises + 1)
        present = [point.value for point in points if point.value is not None]
        if any(present[i + 1] <= present[i] for i in range(len(present) - 1)):
            return False
        return True if len(present) == rises + 1 else None

    def of_members(self, node: ast.Call) -> list[Any]:
        """What each member comes to."""
        kind, body = node.args
        members = self.world.members(ast.unparse(kind))
        if members.doubt:
            return [None]
        found: list[Any] = [None] * len(members.unplaced)
        for world in self.world.company.get(ast.unparse(kind), []):
            member = Reference(world)
            condition = ast.unparse(node.func) in ("any", "count")
            found.append(member.condition(body) if condition else member.operand(body))
        return found

    def open(self, ids: list[str]) -> bool | None:
        """Whether nothing that ends the first message came at its time or later."""
        told = self.world.messages(frozenset(ids), -1)
        if told is None:
            return None
        last = {each.id: each.ts for each in told}
        return ids[0] in last and all(last.get(end, -1) < last[ids[0]] for end in ids[1:])

    def told(self, arguments: list[ast.expr]) -> Sequence[ObjectMessage] | None:
        """The messages of the ids, in the window after them."""
        *ids, window = (ast.literal_eval(each) for each in arguments)
        since = NOW - {"30m": 1_800_000, "1h": 3_600_000}[window]
        return self.world.messages(frozenset(ids), since)

    def whose(self, node: ast.expr) -> Any:
        """The world that a name is about."""
        of = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
        return self.world.this if of == "this" else self.world.pair if of == "pair" else self.world

    @staticmethod
    def joined(found: Sequence[bool | str | None], deciding: bool) -> bool | str | None:
        counted = [each for each in found if each is not LEFT]
        if not counted:
            return LEFT
        if deciding in counted:
            return deciding
        return None if None in counted else not deciding

    def link(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> bool | str | None:
        facts = [name for side in (left, right) for name in self.facts(side)]
        if any(self.world.value("", name) is Absence.NOT_DECLARED for name in facts):
            return LEFT
        first = self.operand(left)
        if isinstance(sign, ast.In | ast.NotIn):
            if first is None:
                return None
            if isinstance(right, ast.Tuple):
                members = [self.operand(each) for each in right.elts]
            else:
                members = [STATES[name] for name in KIND.sets["SET"][1]]
            return (first in members) is isinstance(sign, ast.In)
        second = self.operand(right)
        if first is None or second is None:
            return None
        operators: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
            ast.Lt: operator.lt,
            ast.LtE: operator.le,
            ast.Gt: operator.gt,
            ast.GtE: operator.ge,
            ast.Eq: operator.eq,
            ast.NotEq: operator.ne,
        }
        return operators[type(sign)](first, second)

    def facts(self, node: ast.expr) -> list[str]:
        """The optional facts whose value an operand needs: not those asked of members."""
        if isinstance(node, ast.Name) and node.id in ("o1", "o2", "o3"):
            return [node.id]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("count", "sum", "most", "least"):
            return []
        return [
            name for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for name in self.facts(child)
        ]

    @staticmethod
    def name(node: ast.expr) -> str:
        return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)

    def operand(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name | ast.Attribute):
            name = self.name(node)
            if name in PARAMETERS:
                return PARAMETERS[name]
            if name in STATES or name in SWITCH:
                return {**STATES, **SWITCH}[name]
            world = self.whose(node)
            if name == "name":
                return world.name
            value = world.value("", name)
            return None if isinstance(value, Absence) else value
        try:
            if isinstance(node, ast.UnaryOp):
                found = self.operand(node.operand)
                return None if found is None else -found
            if isinstance(node, ast.BinOp):
                sign = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
                pair = (self.operand(node.left), self.operand(node.right))
                found = None if None in pair else sign[type(node.op)](*pair)
                return found if found == found else None
            assert isinstance(node, ast.Call)
            return self.call(ast.unparse(node.func), node.args)
        except ArithmeticError:
            return None

    def call(self, function: str, arguments: list[ast.expr]) -> Any:
        if function == "abs":
            found = self.operand(arguments[0])
            return None if found is None else abs(found)
        if function in ("count", "sum", "most", "least"):
            found = self.of_members(ast.Call(ast.Name(function), arguments, []))
            known = [each for each in found if each is not None and each is not LEFT]
            if len(known) < 0.8 * len(found):
                return None
            if function in ("count", "sum"):
                total = sum(known)
                return total if total == total else None
            return (max if function == "most" else min)(known, default=None)
        if function == "elapsed":
            told = [(each.id, each.ts) for each in self.told(arguments) or ()]
            for place in range(len(told) - 1, 0, -1):
                if (told[place - 1][0], told[place][0]) == ("CSQR003I", "CSQR006I"):
                    return (told[place][1] - told[place - 1][1]) / 1000
            return None
        if function == "times":
            counted = self.told(arguments)
            return None if counted is None else sum(each.times for each in counted)
        if function in ("latest", "latest_text"):
            code, insert = map(ast.literal_eval, arguments)
            inserts = [each.inserts for each in self.world.messages(frozenset((code,)), -1) or ()]
            found = dict(inserts[-1]).get(insert) if inserts else None
            return found if function == "latest_text" else {None: None, "x": None, "7": 7, "2.5": 2.5}[found]
        if function == "baseline":
            return self.world.usual.get(self.name(arguments[0]))
        if function == "share" and len(arguments) == 1:
            own, total = self.operand(arguments[0]), self.world.usual.get("total")
            return None if own is None or not total or own / total != own / total else own / total
        plain = len(arguments) > 1 and not ast.unparse(arguments[1]).startswith("'")
        if function in ("min", "max") and plain:
            found = [self.operand(each) for each in arguments]
            return None if None in found else (min if function == "min" else max)(found)
        minutes = 5
        if len(arguments) > 1:
            minutes = int(ast.literal_eval(arguments[-1])[:-1])
        since = NOW - minutes * 60_000
        points = self.whose(arguments[0]).points("", self.name(arguments[0]), since)
        if function == "eta":
            limit = self.operand(arguments[1])
            return None if limit is None else functions.eta(points, limit, NOW)
        if function == "share":
            own, total = functions.delta(points), self.world.usual.get("total")
            return None if own is None or not total or own / total != own / total else own / total
        if function in ("rate", "delta"):
            return {"rate": functions.rate, "delta": functions.delta}[function](points)
        calculations: dict[str, functions.Calculate] = {
            "avg": functions.mean,
            "median": functions.middle,
            "min": min,
            "max": max,
        }
        values = covered_values(points, since, minutes * 60_000)
        return calculations[function](values) if values else None


def compiled(text: str) -> Expression | None:
    """The expression, or None when it is refused; nothing else may happen."""
    try:
        return compile_expression(text, KIND, KINDS, PARAMETERS)
    except ExpressionError as error:
        check(text, error.problems)
        return None


def check(text: str, problems: Sequence[Problem]) -> None:
    """A refusal has a sentence, and a column of the text."""
    assert problems
    for problem in problems:
        assert problem.message
        assert 1 <= problem.place.column <= max(len(text), 1)


@given(conditions(), WORLDS, HISTORIES)
def test_compiled_as_defined(text: str, values: Mapping[str, Any], past: Mapping[str, Any]) -> None:
    """The compiled function, with and without values given along, and the explanation agree with the plain definition."""
    expression = compiled(text)
    if expression is None:
        return  # too long, too deep, or without a metric
    world = World(values, past)
    expected = Reference(world).verdict(text)
    assert expression.truth(world) is expected
    assert expression.truth(world, world.values) is expected
    explanation = expression.explain(world)
    assert explanation.truth is expected
    assert bool(explanation.missing) is (expected is None)
    assert explanation.filled == expression.filled(world)


WORDS = """
    g1 g2 c1 s1 w1 o1 t1 A B YES SET p1 other thing other.r1 thing.g1 rate delta avg min max eta rising abs present
    any count sum most least this pair name startswith endswith seen open times latest latest_text unchanged elapsed median baseline share "CSQP020E" this.g1
    and or not in is if else lambda for None True __import__ print < <= > >= == != = := + - * / // ** % ~ & | ^ ( ) [ ]
    { } , . ; : # ' " 0 1 5 1.5 1e999 2j '5m' "1h" '30s' 'x' b'x' f'{g1}' 99999999999999999999 é ∞
"""
TOKENS = st.sampled_from([*WORDS.split(), "\x00", "\n", "\t", "\\", '""" '])


@given(st.lists(TOKENS, max_size=25), st.sampled_from(["", " "]), WORLDS, HISTORIES)
def test_any_words(words: Sequence[str], between: str, values: Mapping[str, Any], past: Mapping[str, Any]) -> None:
    """Words in any order are refused with a sentence, or are a condition that can be evaluated."""
    evaluate(between.join(words), World(values, past))


@given(st.text(max_size=600))
def test_any_text(text: str) -> None:
    """So is any text."""
    evaluate(text, World({}, dict.fromkeys(HISTORY, ())))


@given(conditions(), st.data(), WORLDS, HISTORIES)
def test_damaged_expressions(
    text: str, data: st.DataObject, values: Mapping[str, Any], past: Mapping[str, Any]
) -> None:
    """And so is a good expression with a piece cut out and another put in."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    piece = data.draw(st.one_of(TOKENS, st.text(max_size=3)))
    evaluate(text[:start] + piece + text[end:], World(values, past))


def evaluate(text: str, world: World) -> None:
    """Evaluate in every way what is not refused."""
    expression = compiled(text)
    if expression is None:
        return
    context: Context = world
    verdict = expression.truth(context)
    assert verdict in (True, False, None)
    assert expression.truth(context, world.values) is verdict
    explanation = expression.explain(context)
    assert explanation.truth is verdict
    first = explanation.missing[0].absence if verdict is None else None
    assert expression.reason(context) is first
    assert expression.reason(context, world.values) is first
    for problem in expression.doubts():
        assert problem.message

"""Templates of alert summaries and MQSC commands.

``{metric}`` is a metric of the object, ``{kind.metric}`` one of a related object, ``{metric|metric}`` the first that
has a value, ``{parameter}`` a threshold; ``{name}`` and ``{owner}`` are the parts of the object's name. ``[[...,
{metric}]]`` is left out unless it shows a value that differs from those before it. ``{any channel: <name> is
<status>|WORDS}`` shows the object's members of a kind, or WORDS where it has none; ``{any channel if status == STOPPED:
...}`` only those that fulfil a condition on their values now. ``{one depth: waits|wait}`` is the first word where the
number is 1, else the second. ``{end of low_pct}`` is when the record that has a value ended. ``{CSQJ110E.pct}`` is what a console message names,
``{CSQJ032E.rba|CSQI047E.rba}`` what the first of several names. The result is plain text without control characters; in
an MQSC command names, and texts that stand for one, are quoted where MQSC needs it. A command that needs a value which
is absent is no command, and so empty; in advice ``<metric>`` stands for the value, which a person fills in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean
from mqvitals_rules.expression.expression import Expression, compile_expression
from mqvitals_rules.expression.operands import INSERT, MESSAGE_ID
from mqvitals_rules.expression.syntax import ExpressionError
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.latest import relates
from mqvitals_rules.members import has_members
from mqvitals_rules.ruleset.quantity import digits, format_quantity, format_value, unit_of_one
from mqvitals_rules.ruleset.rule import RuleParameter
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

_FIELD = re.compile(r"\{([^{}]*)\}")

_UNFOLDED = re.compile(r"[A-Z0-9._/%]+")
"""Names that MQSC takes as they are; it folds others to upper case, or ends them, unless they are quoted."""

_NAMES = ("{name}", "{owner}")

Lookup = Callable[[str, str], Reported]
"""(kind, metric) -> the value now."""

MemberValues = Sequence[tuple[ObjectName, Mapping[str, Reported]]]
Members = Callable[[str], MemberValues | Absence]
"""Kind -> the object's members of it with their values, or why they are not known."""

_MEMBERS = re.compile(r"any (\w+)(?: if ([^:|]+))?: ([^|]+)\|([^|]+)")
"""``any channel: <name> is <status>|no channel serves it``; ``any channel if status == STOPPED: <name>|none``."""
_MEMBER_NAMES = frozenset({"name", "owner"})
_MEMBER_FIELD = re.compile(r"<(\w+)>")
Ends = Callable[[str], str]
"""Metric of the object -> when the record that has its value ended, in words; empty where no record has it."""
Inserts = Callable[[str, str], str | None]
"""(id of a console message, insert) -> what the newest such message behind the alert names; None: nothing."""

_END = re.compile(r"end of (\w+)")
"""``end of low_pct``."""

_NUMBER = re.compile(r"one ([^:]+): ([^|]+)\|([^|]+)")
"""``one depth: waits|wait``."""

_INSERT = re.compile(rf"({MESSAGE_ID.pattern})\.({INSERT.pattern})")

_MOST_MEMBERS = 3
"""Members that are shown; of more there is a number."""

_MARK = re.compile(r"\{([^{}]*)\}|\[\[|\]\]")
"""A field, or where an aside begins or ends."""


class _MetricField(NamedTuple):
    """A metric's value, to be looked up when the words are needed."""

    kind: str
    metric: Metric
    others: tuple[Metric, ...] = ()
    """Metrics of the object to show instead, where the first has no value."""
    is_name: bool = False
    """It stands alone in the brackets of a command: ``DISPLAY QLOCAL({stream_queue})``."""


class _MembersField(NamedTuple):
    """The members of a kind. ``parts`` is the text of one, with metrics of its own and ``<name>`` or ``<owner>``."""

    kind: str
    parts: tuple[str | Metric, ...]
    without: str
    """The text where there are none."""
    condition: Expression | None = None
    """Only members for which it holds now are shown."""


class _InsertField(NamedTuple):
    """What a console message names: the first of these (id, insert) that there is."""

    inserts: tuple[tuple[str, str], ...]

    def text(self, lookup: Inserts) -> str | None:
        """The words; None where there are none."""
        return next((found for each in self.inserts if (found := lookup(*each)) is not None), None)


class _NumberField(NamedTuple):
    """A word that agrees with a number: ``one`` where it is 1, else ``more``."""

    of: _MetricField | _InsertField
    one: str
    more: str

    def word(self, lookup: Lookup, inserts: Inserts) -> str:
        """The word for the value now; of an absent one ``more``."""
        if isinstance(self.of, _InsertField):
            return self.one if self.of.text(inserts) == "1" else self.more
        value = _shown_value(self.of, lookup)[1]
        return self.one if not isinstance(value, Absence | str) and digits(value) == "1" else self.more


class _EndField(NamedTuple):
    """When the record ended that has a metric of the object."""

    metric: str


_Part = str | _MetricField | _MembersField | _InsertField | _NumberField | _EndField


class _Aside(NamedTuple):
    """A part that is shown only where a value in it differs from those before it."""

    parts: tuple[_Part, ...]


class _Sources(NamedTuple):
    """Where the words of the parts come from."""

    lookup: Lookup
    inserts: Inserts
    ends: Ends


class Template:
    """A compiled text. Build it with ``compile_template``."""

    __slots__ = ("_advice", "_limits", "_mqsc", "_parts", "_places", "shows_members")

    def __init__(self, parts: tuple[_Part | _Aside, ...], *, mqsc: bool = False, advice: bool = False) -> None:
        self._parts = parts
        self._limits = tuple(_limit_of(parts[place : place + 3]) for place in range(len(parts)))
        """Of each part the figure that it is told as a part of."""
        self._mqsc = mqsc
        self._advice = advice
        every = [inner for part in parts for inner in (part.parts if isinstance(part, _Aside) else (part,))]
        shown = [part.of if isinstance(part, _NumberField) else part for part in every]
        self._places = tuple(part for part in shown if isinstance(part, _MetricField))
        self.shows_members = any(isinstance(part, _MembersField) for part in every)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of object whose metrics it shows."""
        return frozenset(place.kind for place in self._places)

    @property
    def metrics(self) -> tuple[tuple[str, Metric], ...]:
        """The metrics it shows, each with its kind of object, in the order of the text."""
        return tuple((place.kind, metric) for place in self._places for metric in (place.metric, *place.others))

    @property
    def inserts(self) -> frozenset[tuple[str, str]]:
        """The (id, insert) of the console messages that it shows."""
        inner = (each for part in self._parts for each in (part.parts if isinstance(part, _Aside) else (part,)))
        shown = (each.of if isinstance(each, _NumberField) else each for each in inner)
        return frozenset(pair for each in shown if isinstance(each, _InsertField) for pair in each.inserts)

    def fill(
        self,
        name: ObjectName,
        lookup: Lookup,
        members: Members = lambda _: Absence.NOT_ASKED,
        inserts: Inserts = lambda *_: None,
        ends: Ends = lambda _: "",
    ) -> str:
        """The text for one object; empty for a command that lacks a value."""
        if self._mqsc and not self._advice and any(_lacks(part, lookup) for part in self._parts):
            return ""
        words: list[str] = []
        seen: set[str] = set()
        sources = _Sources(lookup, inserts, ends)
        for part, limit in zip(self._parts, self._limits, strict=True):
            if isinstance(part, _Aside):
                words += self._aside(part, name, sources, seen)
            elif isinstance(part, _MembersField):
                words.append(_members_text(part, name, members(part.kind)))
            else:
                word = self._word(part, name, sources, seen)
                words.append(word if limit is None else _beside_limit(word, _field_text(limit, lookup)))
        return printable("".join(words))

    def _word(self, part: _Part, name: ObjectName, sources: _Sources, seen: set[str]) -> str:
        lookup, inserts, ends = sources
        if isinstance(part, _InsertField):
            return part.text(inserts) or "unknown"
        if isinstance(part, _NumberField):
            return part.word(lookup, inserts)
        if isinstance(part, _EndField):
            return ends(part.metric) or "unknown"
        if isinstance(part, _MetricField):
            if self._advice and _lacks(part, lookup):
                return f"<{part.metric.name}>"
            word = _field_text(part, lookup)
            if part.is_name and part.metric.type is MetricType.TEXT:
                word = mqsc_name(word)
            seen.add(word)
            return word
        assert isinstance(part, str), "members stand in no aside"
        if part in _NAMES:
            text = name.name if part == "{name}" else name.owner
            return mqsc_name(text) if self._mqsc else text
        return part

    def _aside(self, aside: _Aside, name: ObjectName, sources: _Sources, seen: set[str]) -> list[str]:
        lookup, inserts, _ = sources
        new = False
        if self._mqsc and any(_lacks(part, lookup) for part in aside.parts):
            return []
        for part in aside.parts:
            if isinstance(part, _InsertField):
                new = new or part.text(inserts) is not None
            if isinstance(part, _MetricField) and not isinstance(lookup(part.kind, part.metric.name), Absence):
                text = _field_text(part, lookup)
                new = new or (text.strip() != "" and text not in seen)
        return [self._word(part, name, sources, seen) for part in aside.parts] if new else []


def compile_template(
    text: LocatedText,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, RuleParameter],
    values: Mapping[str, float],
    *,
    mqsc: bool = False,
) -> tuple[Template, list[Problem]]:
    """Compile a template and check its names.

    ``values`` are the values of the parameters; ``mqsc``: the text is a command.
    """
    whole: list[_Part | _Aside] = []
    within: list[_Part] = []
    # Of the whole text, or of the aside under way, which begins at ``begun``.
    parts: list[Any] = whole
    begun = None
    problems = []
    end = 0
    for match in _MARK.finditer(text):
        parts.append(str(text[end : match.start()]))
        end = match.end()
        field = match[1]
        if match[0] in ("[[", "]]"):
            if (match[0] == "[[") is (begun is not None):
                problems.append(
                    Problem(
                        text.at(match.start()),
                        "",
                        f"{match[0]} out of place: an aside is [[...]], and none stands in another",
                    )
                )
            elif begun is None:
                begun, within = match.start(), []
                parts = within
            else:
                whole.append(_Aside(tuple(part for part in within if part)))
                begun, parts = None, whole
        elif match[0] in _NAMES:
            parts.append(match[0])
            if mqsc and text[: match.start()].endswith("'"):
                message = f"write {match[0]} without quotes: they are put where the name needs them"
                problems.append(Problem(text.at(match.start()), "", message))
        elif field in parameters:
            parts.append(format_quantity(values[field], parameters[field].unit))
        else:
            shown: _Part | None = _metric_field(field, scope, kinds)
            if shown is None and begun is None and not mqsc:
                shown = _members_field(field, scope, kinds)
            if shown is None and not mqsc:
                shown = _insert_field(field) or _number_field(field, scope, kinds) or _end_field(field, scope)
            if shown is not None:
                parts.append(shown)
            else:
                message = _unknown_field(field, scope, parameters)
                problems.append(Problem(text.at(match.start(1)), "", message))
    parts.append(str(text[end:]))
    if begun is not None:
        problems.append(Problem(text.at(begun), "", "an aside begins here and does not end: add ]]"))
    whole = [part for part in whole if part]
    return Template(_with_names(whole) if mqsc else tuple(whole), mqsc=mqsc), [*problems, *_single_braces(text)]


def compile_advice(
    text: str,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, RuleParameter],
    values: Mapping[str, float],
) -> Template:
    """Compile the advice of a rule, whose commands name the object: ``START CHANNEL({name})``.

    Names are quoted as in a command, and for an absent value stands the name of its metric: ``<xmitq>``. Braces with anything else
    stay as they are: a site's own advice may hold some.
    """
    parts: list[_Part | _Aside] = []
    end = 0
    for match in _FIELD.finditer(text):
        field = match[1]
        shown = _metric_field(field, scope, kinds) or _number_field(field, scope, kinds)
        if match[0] not in _NAMES and field not in parameters and shown is None:
            continue
        parts.append(str(text[end : match.start()]))
        end = match.end()
        if shown is not None:
            parts.append(shown)
        elif match[0] in _NAMES:
            parts.append(match[0])
        else:
            parts.append(format_quantity(values[field], parameters[field].unit))
    return Template(_with_names((*parts, str(text[end:]))), mqsc=True, advice=True)


def _with_names(parts: Sequence[_Part | _Aside]) -> tuple[_Part | _Aside, ...]:
    """The parts of a text with commands; which of its fields stand for a name is known by the brackets around them."""
    around = ["", *(part if isinstance(part, str) else "" for part in parts), ""]
    return tuple(
        part._replace(is_name=before.endswith("(") and after.startswith(")"))
        if isinstance(part, _MetricField)
        else part
        for before, part, after in zip(around, parts, around[2:], strict=False)
    )


def _insert_field(field: str) -> _InsertField | None:
    found = [_INSERT.fullmatch(each) for each in field.split("|")]
    return _InsertField(tuple((each[1], each[2]) for each in found if each)) if all(found) else None


def _number_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> _NumberField | None:
    match = _NUMBER.fullmatch(field)
    of = (_metric_field(match[1], scope, kinds) or _insert_field(match[1])) if match else None
    return None if match is None or of is None else _NumberField(of, match[2], match[3])


def _end_field(field: str, scope: Kind) -> _EndField | None:
    match = _END.fullmatch(field)
    metric = scope.metric(match[1]) if match else None
    return _EndField(metric.name) if metric is not None and metric.smf else None


def _unknown_field(field: str, scope: Kind, parameters: Mapping[str, RuleParameter]) -> str:
    if field.startswith("any "):
        return (
            f"{field!r} shows no members of a {scope.name}: write {{any KIND: <name> is <METRIC>|TEXT WITHOUT MEMBERS}}"
        )
    if field.startswith("one "):
        return f"{field!r} agrees with no number of a {scope.name}: write {{one METRIC: WORD FOR ONE|WORD FOR MORE}}"
    if field.startswith("end of "):
        return f"{field!r} is in no record of a {scope.name}: write {{end of METRIC}} with a metric of SMF records"
    known = [*(metric.name for metric in scope.metrics), *parameters, "name", "owner"]
    meant = did_you_mean(field, known)
    return f"{field!r} is no metric of {scope.name} and no parameter of this rule{meant}"


def _single_braces(text: LocatedText) -> Iterator[Problem]:
    # With blanks in place of the fields only braces that belong to none are left.
    rest = _FIELD.sub(lambda match: " " * len(match[0]), text)
    for match in re.finditer("[{}]", rest):
        yield Problem(text.at(match.start()), "", f"a {match[0]} alone: write {{metric}}, with both braces")


def _metric_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> _MetricField | None:
    first, *others = field.split("|")
    kind_name, dot, metric_name = first.rpartition(".")
    kind = kinds.get(kind_name) if dot else scope
    metric = kind.metric(metric_name) if kind and relates(scope, kind) else None
    instead = [scope.metric(name) for name in others]
    found = tuple(each for each in instead if each is not None)
    if kind is None or metric is None or len(found) < len(instead) or (others and kind is not scope):
        return None
    return _MetricField(kind.name, metric, found)


def _members_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> _MembersField | None:
    match = _MEMBERS.fullmatch(field)
    kind = kinds.get(match[1]) if match else None
    if match is None or kind is None or not has_members(scope, kind):
        return None
    words = _MEMBER_FIELD.split(match[3])
    parts: list[str | Metric] = list(words)
    for place, name in list(enumerate(words))[1::2]:
        metric = kind.metric(name)
        if metric is None and name not in _MEMBER_NAMES:
            return None
        parts[place] = metric or f"<{name}>"
    try:
        condition = compile_expression(match[2], kind, kinds) if match[2] else None
    except ExpressionError:
        return None
    if condition is not None and (
        any(other != kind.name for other, _ in condition.names)
        or any((condition.windows, condition.members, condition.messages, condition.pairs, condition.shares))
    ):
        return None
    return _MembersField(kind.name, tuple(parts), match[4], condition)


def _members_text(place: _MembersField, of: ObjectName, members: MemberValues | Absence) -> str:
    if isinstance(members, Absence):
        return f"{place.kind} unknown ({members.value})"
    ordered = sorted((each for each in members if _shown(place, *each)), key=lambda member: member[0])
    texts = [_member_text(place, of, *member) for member in ordered[:_MOST_MEMBERS]]
    if len(ordered) > _MOST_MEMBERS:
        texts.append(f"{len(ordered) - _MOST_MEMBERS} more")
    return ", ".join(texts) or place.without


def _shown(place: _MembersField, name: ObjectName, values: Mapping[str, Reported]) -> bool:
    if place.condition is None:
        return True
    context = InstantContext(lambda _, metric: values.get(metric, Absence.NOT_ASKED), 0, name.name)
    return place.condition.truth(context) is True


def _member_text(place: _MembersField, of: ObjectName, name: ObjectName, values: Mapping[str, Reported]) -> str:
    # A member of a shared object belongs to one queue manager.
    own = name.name if name.owner == of.owner else f"{name.name} of {name.owner}"
    named = {"<name>": own, "<owner>": name.owner}
    return "".join(
        format_value(part, values.get(part.name, Absence.NOT_ASKED))
        if isinstance(part, Metric)
        else named.get(part, part)
        for part in place.parts
    )


def _lacks(part: _Part | _Aside, lookup: Lookup) -> bool:
    """Whether a part shows a metric that has no value now, or only blanks."""
    if not isinstance(part, _MetricField):
        return False
    value = _shown_value(part, lookup)[1]
    return isinstance(value, Absence) or (isinstance(value, str) and not value.strip())


_OF_A_LIMIT = frozenset({" of ", " of at most "})


def _limit_of(parts: Sequence[_Part | _Aside]) -> _MetricField | None:
    """The limit of a figure, whose unit stands for both: ``{depth} of at most {max_depth}``."""
    match parts:
        case [_MetricField() as figure, str(between), _MetricField() as limit] if between in _OF_A_LIMIT:
            return limit if figure.metric.unit == limit.metric.unit else None
    return None


def _beside_limit(word: str, limit: str) -> str:
    """A figure before its limit: without its unit where the limit has the same."""
    number, _, unit = word.partition(" ")
    _, _, other = limit.partition(" ")
    return number if number[:1].isdigit() and unit and unit_of_one(unit) == unit_of_one(other) else word


def _field_text(place: _MetricField, lookup: Lookup) -> str:
    return format_value(*_shown_value(place, lookup))


def _shown_value(place: _MetricField, lookup: Lookup) -> tuple[Metric, Reported]:
    """The metric that is shown, and its value: the first that has one."""
    value = lookup(place.kind, place.metric.name)
    if isinstance(value, Absence):
        for metric in place.others:
            other = lookup(place.kind, metric.name)
            if not isinstance(other, Absence):
                return metric, other
    return place.metric, value


def mqsc_name(name: str) -> str:
    """A name as an MQSC command takes it: in quotes where they are needed, a quote in it doubled."""
    if _UNFOLDED.fullmatch(name):
        return name
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def printable(text: str) -> str:
    """``text`` with each control or other unprintable character replaced by a blank."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)

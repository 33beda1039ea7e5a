"""The fields of templates: what each of them shows, how its text is read, and its words for an object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mqvitals_config.decoding.problem import did_you_mean
from mqvitals_rules.expression.calls import INSERT, MESSAGE_ID
from mqvitals_rules.expression.expression import Expression, compile_expression
from mqvitals_rules.expression.syntax import ExpressionError
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.latest import relates
from mqvitals_rules.members import has_members
from mqvitals_rules.ruleset.quantity import digits, format_value
from mqvitals_rules.ruleset.rule import RuleParameter
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, Reported

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


class MetricField(NamedTuple):
    """A metric's value, to be looked up when the words are needed."""

    kind: str
    metric: Metric
    others: tuple[Metric, ...] = ()
    """Metrics of the object to show instead, where the first has no value."""
    is_name: bool = False
    """It stands alone in the brackets of a command: ``DISPLAY QLOCAL({stream_queue})``."""


class MembersField(NamedTuple):
    """The members of a kind. ``parts`` is the text of one, with metrics of its own and ``<name>`` or ``<owner>``."""

    kind: str
    parts: tuple[str | Metric, ...]
    without: str
    """The text where there are none."""
    condition: Expression | None = None
    """Only members for which it holds now are shown."""


class InsertField(NamedTuple):
    """What a console message names: the first of these (id, insert) that there is."""

    inserts: tuple[tuple[str, str], ...]

    def text(self, lookup: Inserts) -> str | None:
        """The words; None where there are none."""
        return next((found for each in self.inserts if (found := lookup(*each)) is not None), None)


class NumberField(NamedTuple):
    """A word that agrees with a number: ``one`` where it is 1, else ``more``."""

    of: MetricField | InsertField
    one: str
    more: str

    def word(self, lookup: Lookup, inserts: Inserts) -> str:
        """The word for the value now; of an absent one ``more``."""
        if isinstance(self.of, InsertField):
            return self.one if self.of.text(inserts) == "1" else self.more
        value = shown_value(self.of, lookup)[1]
        return self.one if not isinstance(value, Absence | str) and digits(value) == "1" else self.more


class EndField(NamedTuple):
    """When the record ended that has a metric of the object."""

    metric: str


def insert_field(field: str) -> InsertField | None:
    """What a console message names; None: the text is no such field."""
    found = [_INSERT.fullmatch(each) for each in field.split("|")]
    return InsertField(tuple((each[1], each[2]) for each in found if each)) if all(found) else None


def number_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> NumberField | None:
    """A word that agrees with a number; None: the text is no such field."""
    match = _NUMBER.fullmatch(field)
    of = (metric_field(match[1], scope, kinds) or insert_field(match[1])) if match else None
    return None if match is None or of is None else NumberField(of, match[2], match[3])


def end_field(field: str, scope: Kind) -> EndField | None:
    """When a record ended; None: the text is no such field."""
    match = _END.fullmatch(field)
    metric = scope.metric(match[1]) if match else None
    return EndField(metric.name) if metric is not None and metric.smf else None


def unknown_field(field: str, scope: Kind, parameters: Mapping[str, RuleParameter]) -> str:
    """What is wrong with a text that is no field at all, in words."""
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


def metric_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> MetricField | None:
    """A metric of the object or of a related one; None: the text is no such field."""
    first, *others = field.split("|")
    kind_name, dot, metric_name = first.rpartition(".")
    kind = kinds.get(kind_name) if dot else scope
    metric = kind.metric(metric_name) if kind and relates(scope, kind) else None
    instead = [scope.metric(name) for name in others]
    found = tuple(each for each in instead if each is not None)
    if kind is None or metric is None or len(found) < len(instead) or (others and kind is not scope):
        return None
    return MetricField(kind.name, metric, found)


def members_field(field: str, scope: Kind, kinds: Mapping[str, Kind]) -> MembersField | None:
    """The object's members of a kind; None: the text is no such field."""
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
    return MembersField(kind.name, tuple(parts), match[4], condition)


def members_text(place: MembersField, of: ObjectName, members: MemberValues | Absence) -> str:
    """The words for the members of an object."""
    if isinstance(members, Absence):
        return f"{place.kind} unknown ({members.value})"
    ordered = sorted((each for each in members if _shown(place, *each)), key=lambda member: member[0])
    texts = [_member_text(place, of, *member) for member in ordered[:_MOST_MEMBERS]]
    if len(ordered) > _MOST_MEMBERS:
        texts.append(f"{len(ordered) - _MOST_MEMBERS} more")
    return ", ".join(texts) or place.without


def _shown(place: MembersField, name: ObjectName, values: Mapping[str, Reported]) -> bool:
    if place.condition is None:
        return True
    context = InstantContext(lambda _, metric: values.get(metric, Absence.NOT_ASKED), 0, name.name)
    return place.condition.truth(context) is True


def _member_text(place: MembersField, of: ObjectName, name: ObjectName, values: Mapping[str, Reported]) -> str:
    # A member of a shared object belongs to one queue manager.
    own = name.name if name.owner == of.owner else f"{name.name} of {name.owner}"
    named = {"<name>": own, "<owner>": name.owner}
    return "".join(
        format_value(part, values.get(part.name, Absence.NOT_ASKED))
        if isinstance(part, Metric)
        else named.get(part, part)
        for part in place.parts
    )


def field_text(place: MetricField, lookup: Lookup) -> str:
    """The words for a metric's value now."""
    return format_value(*shown_value(place, lookup))


def shown_value(place: MetricField, lookup: Lookup) -> tuple[Metric, Reported]:
    """The metric that is shown, and its value: the first that has one."""
    value = lookup(place.kind, place.metric.name)
    if isinstance(value, Absence):
        for metric in place.others:
            other = lookup(place.kind, metric.name)
            if not isinstance(other, Absence):
                return metric, other
    return place.metric, value

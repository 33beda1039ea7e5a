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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mqvitals_config.decoding.problem import LocatedText, Problem
from mqvitals_rules.ruleset.quantity import format_quantity, unit_of_one
from mqvitals_rules.ruleset.rule import RuleParameter
from mqvitals_rules.ruleset.template_fields import (
    EndField,
    Ends,
    InsertField,
    Inserts,
    Lookup,
    Members,
    MembersField,
    MetricField,
    NumberField,
    end_field,
    field_text,
    insert_field,
    members_field,
    members_text,
    metric_field,
    number_field,
    shown_value,
    unknown_field,
)
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType

_FIELD = re.compile(r"\{([^{}]*)\}")

_UNFOLDED = re.compile(r"[A-Z0-9._/%]+")
"""Names that MQSC takes as they are; it folds others to upper case, or ends them, unless they are quoted."""

_NAMES = ("{name}", "{owner}")

_MARK = re.compile(r"\{([^{}]*)\}|\[\[|\]\]")
"""A field, or where an aside begins or ends."""


_Part = str | MetricField | MembersField | InsertField | NumberField | EndField


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

    __slots__ = ("_advice", "_limits", "_mqsc", "_parts", "_places", "inserts", "shows_members")

    def __init__(self, parts: tuple[_Part | _Aside, ...], *, mqsc: bool = False, advice: bool = False) -> None:
        self._parts = parts
        self._limits = tuple(_limit_of(parts[place : place + 3]) for place in range(len(parts)))
        """Of each part the figure that it is told as a part of."""
        self._mqsc = mqsc
        self._advice = advice
        every = [inner for part in parts for inner in (part.parts if isinstance(part, _Aside) else (part,))]
        shown = [part.of if isinstance(part, NumberField) else part for part in every]
        self._places = tuple(part for part in shown if isinstance(part, MetricField))
        self.shows_members = any(isinstance(part, MembersField) for part in every)
        self.inserts = frozenset(pair for part in shown if isinstance(part, InsertField) for pair in part.inserts)
        """The (id, insert) of the console messages that it shows."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of object whose metrics it shows."""
        return frozenset(place.kind for place in self._places)

    @property
    def metrics(self) -> tuple[tuple[str, Metric], ...]:
        """The metrics it shows, each with its kind of object, in the order of the text."""
        return tuple((place.kind, metric) for place in self._places for metric in (place.metric, *place.others))

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
            elif isinstance(part, MembersField):
                words.append(members_text(part, name, members(part.kind)))
            else:
                word = self._word(part, name, sources, seen)
                words.append(word if limit is None else _beside_limit(word, field_text(limit, lookup)))
        return printable("".join(words))

    def _word(self, part: _Part, name: ObjectName, sources: _Sources, seen: set[str]) -> str:
        lookup, inserts, ends = sources
        if isinstance(part, InsertField):
            return part.text(inserts) or "unknown"
        if isinstance(part, NumberField):
            return part.word(lookup, inserts)
        if isinstance(part, EndField):
            return ends(part.metric) or "unknown"
        if isinstance(part, MetricField):
            if self._advice and _lacks(part, lookup):
                return f"<{part.metric.name}>"
            word = field_text(part, lookup)
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
            if isinstance(part, InsertField):
                new = new or part.text(inserts) is not None
            if isinstance(part, MetricField) and not isinstance(lookup(part.kind, part.metric.name), Absence):
                text = field_text(part, lookup)
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
            shown: _Part | None = metric_field(field, scope, kinds)
            if shown is None and begun is None and not mqsc:
                shown = members_field(field, scope, kinds)
            if shown is None and not mqsc:
                shown = insert_field(field) or number_field(field, scope, kinds) or end_field(field, scope)
            if shown is not None:
                parts.append(shown)
            else:
                message = unknown_field(field, scope, parameters)
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
        shown = metric_field(field, scope, kinds) or number_field(field, scope, kinds)
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
        part._replace(is_name=before.endswith("(") and after.startswith(")")) if isinstance(part, MetricField) else part
        for before, part, after in zip(around, parts, around[2:], strict=False)
    )


def _single_braces(text: LocatedText) -> Iterator[Problem]:
    # With blanks in place of the fields only braces that belong to none are left.
    rest = _FIELD.sub(lambda match: " " * len(match[0]), text)
    for match in re.finditer("[{}]", rest):
        yield Problem(text.at(match.start()), "", f"a {match[0]} alone: write {{metric}}, with both braces")


def _lacks(part: _Part | _Aside, lookup: Lookup) -> bool:
    """Whether a part shows a metric that has no value now, or only blanks."""
    if not isinstance(part, MetricField):
        return False
    value = shown_value(part, lookup)[1]
    return isinstance(value, Absence) or (isinstance(value, str) and not value.strip())


_OF_A_LIMIT = frozenset({" of ", " of at most "})


def _limit_of(parts: Sequence[_Part | _Aside]) -> MetricField | None:
    """The limit of a figure, whose unit stands for both: ``{depth} of at most {max_depth}``."""
    match parts:
        case [MetricField() as figure, str(between), MetricField() as limit] if between in _OF_A_LIMIT:
            return limit if figure.metric.unit == limit.metric.unit else None
    return None


def _beside_limit(word: str, limit: str) -> str:
    """A figure before its limit: without its unit where the limit has the same."""
    number, _, unit = word.partition(" ")
    _, _, other = limit.partition(" ")
    return number if number[:1].isdigit() and unit and unit_of_one(unit) == unit_of_one(other) else word


def mqsc_name(name: str) -> str:
    """A name as an MQSC command takes it: in quotes where they are needed, a quote in it doubled."""
    if _UNFOLDED.fullmatch(name):
        return name
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def printable(text: str) -> str:
    """``text`` with each control or other unprintable character replaced by a blank."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)

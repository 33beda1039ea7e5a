"""Settings of alerting: labels of the site's own, and the tree of routes by which alerts come to receivers.

The form of patterns is checked by ``mqvitals_rules``, which knows the kinds of objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, Place, Problem, did_you_mean, listing, repeated, shown
from mqvitals_config.decoding.scalars import parse_duration
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.receivers.receiver import OWN_LABELS, LeastSeverity, label_name, label_value
from mqvitals_config.sections.matcher import Matcher, Operator, parse_matcher

ALL_LABELS: Final = "..."
"""In ``group_by``: every alert is a group of its own."""

NEVER: Final = 0
"""The ``repeat_interval`` of a route that repeats nothing."""

DEEPEST_ROUTE: Final = 10
"""Routes within routes, the root included."""

_LONGEST_MS: Final = 365 * 86_400_000
_SEVERITIES: Final = ("critical", "warning", "info")
_REPEAT_FORM: Final = "a duration such as 4h or 1d, or never"


def parse_repeat(text: str) -> int:
    """``4h`` as milliseconds, ``never`` as NEVER. Raises ValueError."""
    if text.strip().lower() == "never":
        return NEVER
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise ValueError(str(error) if "needs a unit" in str(error) else f"expected {_REPEAT_FORM}") from None
    if not 1000 <= duration <= _LONGEST_MS:
        raise ValueError("must be from 1s to 365d; write never for no repetition")
    return duration


def matcher_text(text: LocatedText) -> LocatedText:
    """``text`` itself when it is a matcher; raises ValueError."""
    parse_matcher(text)
    return text


MatcherText = Annotated[LocatedText, Convert(matcher_text, "a matcher such as severity=critical")]
"""A matcher of labels, which ``parse_matcher`` reads."""


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """Labels that the site gives to objects."""

    objects: Annotated[
        LocatedText,
        Doc(
            "A pattern of the objects, such as `*/queue/PAY.*`; `QM01/*` for all of a queue manager. Where several entries that"
            " fit an object set a label, the last one counts."
        ),
    ]
    set: Annotated[
        Mapping[Annotated[str, label_name], Annotated[str, label_value]],
        Doc("The labels, such as `{team: payments}`. They stand beside the alert's own, and hide none of them."),
    ]

    def __post_init__(self) -> None:
        if not self.set:
            raise ValueError("there is no label in set")


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """A route, as in Alertmanager's configuration."""

    receiver: Annotated[
        LocatedText | None,
        Doc(
            "The name of the receiver of what arrives here and is taken by no route below. Required in the first one.",
            default="that of the route above",
        ),
    ] = None
    matchers: Annotated[
        tuple[MatcherText, ...],
        Doc(
            "What an alert must match to come here, all of them: a label, `=`, `!=`, `=~` or `!~`, and a value, such as"
            " `severity=critical`. Regular expressions are RE2's and match whole values. The first route has none.",
        ),
    ] = ()
    group_by: Annotated[
        tuple[LocatedText, ...] | None,
        Doc(
            "The labels by which alerts are grouped: those that have the same values are notified together. `[...]` groups"
            " nothing, an empty list everything.",
            default="that of the route above, in the first one `[group, owner]`",
        ),
    ] = None
    group_wait: Annotated[
        Annotated[int, duration_within(0, _LONGEST_MS, "must be at most 365d")] | None,
        Doc(
            "How long the first notification of a group waits for further alerts.",
            default="that of the route above, in the first one 30s",
        ),
    ] = None
    group_interval: Annotated[
        Annotated[int, duration_within(1000, _LONGEST_MS, "must be from 1s to 365d")] | None,
        Doc(
            "The least time from a notification of a group to the next when something in it changes. What becomes critical"
            " waits for `group_wait` alone.",
            default="that of the route above, in the first one 5m",
        ),
    ] = None
    repeat_interval: Annotated[
        Annotated[int, Convert(parse_repeat, _REPEAT_FORM, raw=True)] | None,
        Doc(
            "The time after which what still fires is notified again, or never.",
            default="that of the route above, in the first one 4h",
        ),
    ] = None
    min_severity: Annotated[
        LeastSeverity | None,
        Doc(
            "The least severity of the alerts that are notified from here. The receiver's own `min_severity` holds too: the"
            " higher of both counts.",
            default="that of the route above, else that of the receiver",
        ),
    ] = None
    mute_time_intervals: Annotated[
        tuple[LocatedText, ...],
        Doc("Names of `time_intervals` during which nothing is notified from here. Not for the first route."),
    ] = ()
    active_time_intervals: Annotated[
        tuple[LocatedText, ...],
        Doc(
            "Names of `time_intervals`: outside of all of them nothing is notified from here. Not for the first route.",
            default="at any time",
        ),
    ] = ()
    goes_on: Annotated[
        bool,
        Doc("Whether an alert that came here is tried with the next routes beside this one too.", default="false"),
    ] = field(default=False, metadata={"key": "continue"})
    routes: Annotated[
        tuple[RouteSettings, ...],
        Doc(
            f"Routes below, in the order in which they are tried, each with the same keys; at most {DEEPEST_ROUTE} deep."
        ),
    ] = ()


@dataclass(frozen=True, slots=True)
class RouteNames:
    """What routes may name: receivers, labels, time intervals; and where each key stands in the file.

    ``others`` are receivers that take no alerts.
    """

    receivers: Collection[str]
    labels: Collection[str]
    intervals: Collection[str]
    places: Mapping[str, Place] = field(default_factory=dict)
    others: Collection[str] = ()

    def place(self, key: str) -> Place:
        """Where the value of a dotted key stands."""
        return self.places.get(key, Place("the settings"))


def known_labels(site: Sequence[LabelSettings]) -> tuple[str, ...]:
    """Every label that an alert can have: its own, and the site's."""
    return tuple(dict.fromkeys((*OWN_LABELS, *(name for entry in site for name in entry.set))))


def route_contradictions(route: RouteSettings, names: RouteNames) -> Iterator[Problem]:
    """What is wrong with a tree of routes whose parts are each well-formed, in the order of the tree."""
    key = "route"
    if route.receiver is None:
        message = "the first route needs a receiver: it gets every alert that no route below takes"
        yield Problem(names.place(key), key, message)
    for word, given in (
        ("matchers", route.matchers),
        ("continue", route.goes_on),
        ("mute_time_intervals", route.mute_time_intervals),
        ("active_time_intervals", route.active_time_intervals),
    ):
        if given:
            message = "the first route takes every alert at any time; write this in a route below it"
            yield Problem(names.place(f"{key}.{word}"), f"{key}.{word}", message)
    yield from _problems(route, key, names, (), 1)


def _problems(
    route: RouteSettings, key: str, names: RouteNames, way: tuple[Matcher, ...], depth: int
) -> Iterator[Problem]:
    """The problems of a route and those below; ``way`` are the matchers of the routes above."""
    if depth > DEEPEST_ROUTE:
        yield Problem(names.place(key), key, f"routes are nested more than {DEEPEST_ROUTE} deep")
        return
    if route.receiver is not None and route.receiver not in names.receivers:
        if route.receiver in names.others:
            message = f"{route.receiver} is a heartbeat, which takes no alerts"
        else:
            message = f"there is no receiver {shown(route.receiver)}{did_you_mean(route.receiver, names.receivers)}"
        yield Problem(route.receiver.place, f"{key}.receiver", message)
    yield from _group_by_problems(route.group_by or (), f"{key}.group_by", names)
    matchers = tuple(map(parse_matcher, route.matchers))
    yield from matcher_problems(route.matchers, f"{key}.matchers", names, way)
    for word, intervals in (
        ("mute_time_intervals", route.mute_time_intervals),
        ("active_time_intervals", route.active_time_intervals),
    ):
        for index, name in enumerate(intervals):
            if name not in names.intervals:
                message = f"there is no time interval {shown(name)}{did_you_mean(name, names.intervals)}"
                yield Problem(name.place, f"{key}.{word}[{index}]", message)
    takes: dict[str, frozenset[Matcher]] = {}
    for index, child in enumerate(route.routes):
        below = f"{key}.routes[{index}]"
        own = frozenset(map(parse_matcher, child.matchers))
        for earlier, taken in takes.items():
            if taken <= own:
                line = names.place(earlier).line
                what = "every alert" if not taken else "all that it matches"
                message = f"no alert comes here: {earlier} (line {line}) takes {what}, and has no continue"
                yield Problem(names.place(below), below, message)
                break
        if not child.goes_on:
            takes[below] = own
        yield from _problems(child, below, names, (*way, *matchers), depth + 1)


def matcher_problems(
    texts: Sequence[LocatedText], key: str, names: RouteNames, way: Sequence[Matcher] = ()
) -> Iterator[Problem]:
    """Matchers that no alert can match, together and with those of ``way``; ``key`` is that of their list."""
    matchers = tuple(map(parse_matcher, texts))
    for index, (text, matcher) in enumerate(zip(texts, matchers, strict=True)):
        if (why := _never(matcher, (*way, *matchers[:index]), names)) is not None:
            yield Problem(text.place, f"{key}[{index}]", why)


def _group_by_problems(group_by: Sequence[LocatedText], key: str, names: RouteNames) -> Iterator[Problem]:
    for index, name in enumerate(group_by):
        if name != ALL_LABELS and name not in names.labels:
            yield Problem(name.place, f"{key}[{index}]", _no_label(name, names))
        if name == ALL_LABELS and len(group_by) > 1:
            yield Problem(name.place, f"{key}[{index}]", f"{ALL_LABELS} groups by every label; it stands alone")
    for index, name, first in repeated(group_by):
        yield Problem(name.place, f"{key}[{index}]", f"{name} occurs twice, first on line {first.place.line}")


def _never(matcher: Matcher, others: Sequence[Matcher], names: RouteNames) -> str | None:
    """Why a matcher is a mistake; None when it is none. ``others`` must match too."""
    label, value = matcher.label, matcher.value
    if label not in names.labels:
        return _no_label(label, names)
    if label == "severity" and not matcher.operator.is_regex and value not in _SEVERITIES:
        return f"no alert has the severity {shown(value)}: there is {listing(_SEVERITIES)}{did_you_mean(value, _SEVERITIES)}"
    if matcher.operator is Operator.EQUAL:
        for other in others:
            if other.label == label and other.operator is Operator.EQUAL and other.value != value:
                return f"no alert matches both {other} and {matcher}"
    return None


def _no_label(name: str, names: RouteNames) -> str:
    meant = did_you_mean(name, names.labels)
    return f"no alert has a label {shown(name)}{meant or f'; there is {listing(names.labels)}'}"

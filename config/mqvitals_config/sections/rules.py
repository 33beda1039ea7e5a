"""Settings of rules: files of the site's own, which rules are in force, and what is tuned about them for which objects.

Ids, parameters and patterns are checked by ``mqvitals_rules``, which knows the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from mqvitals_config.decoding.problem import LocatedNumber, LocatedText
from mqvitals_config.decoding.scalars import DURATION_FORM, parse_duration, resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, Duration

MOST_POLLS: Final = 1000
MOST_OF: Final = 60
"""The most polls of which some must hold: the alert keeps one bit for each."""

LONGEST_REASON: Final = 200

CAUSE_SHARE: Final = 0.2


def _check_polls(polls: int | None) -> None:
    if polls is not None and not 1 <= polls <= MOST_POLLS:
        raise ValueError(f"polls must be 1 to {MOST_POLLS}, not {polls}")


@dataclass(frozen=True, slots=True)
class HoldSettings:
    """``hold: {polls: 2}``, ``hold: {polls: 3, of: 5}``, ``hold: {polls: 2, records: 1}`` or ``hold: {for: 5m}``.

    Rule files write it so too.
    """

    polls: Annotated[int | None, Doc("The number of polls in a row on which the condition must hold.")] = None
    duration: Annotated[Duration | None, Doc("How long it must hold, instead of a number of polls.")] = field(
        default=None, metadata={"key": "for"}
    )
    records: Annotated[
        int | None, Doc("The number where records are counted instead of polls.", default="that of polls")
    ] = None
    of: Annotated[
        int | None, Doc("It must hold on `polls` of so many polls, and not on `polls` in a row.", default="in a row")
    ] = None

    def __post_init__(self) -> None:
        if (self.polls is None) is (self.duration is None):
            raise ValueError("a hold is either polls or for")
        if self.records is not None and self.polls is None:
            raise ValueError("records is only for a hold that counts polls")
        if self.of is not None and (self.polls is None or not self.polls <= self.of <= MOST_OF):
            raise ValueError(f"a hold of polls: n, of: m needs n of m polls, and m at most {MOST_OF}")
        _check_polls(self.polls)
        _check_polls(self.records)


@dataclass(frozen=True, slots=True)
class ClearSettings:
    """``clear: {polls: 5}`` or ``clear: {for: 10m}``: how long the clear condition must hold."""

    polls: Annotated[int | None, Doc("The number of polls in a row on which the clear condition must hold.")] = None
    records: Annotated[
        int | None, Doc("The number where records are counted instead of polls.", default="that of polls")
    ] = None
    duration: Annotated[Duration | None, Doc("How long it must hold, instead of a number of polls.")] = field(
        default=None, metadata={"key": "for"}
    )

    def __post_init__(self) -> None:
        if self.duration is not None and (self.polls is not None or self.records is not None):
            raise ValueError("a clear is either polls or for")
        _check_polls(self.polls)
        _check_polls(self.records)


HowLong = Annotated[int, Convert(parse_duration, DURATION_FORM, raw=True)]
"""A duration, ms."""


def stated_reason(text: LocatedText) -> LocatedText:
    """``text`` itself when it can stand beside an alert; raises ValueError."""
    if not text.strip():
        raise ValueError("the reason is empty; say why, for those who wonder next year")
    if not text.isprintable() or len(text) > LONGEST_REASON:
        raise ValueError(f"a reason is one line of at most {LONGEST_REASON} characters, without control characters")
    return text


@dataclass(frozen=True, slots=True)
class ThresholdSettings:
    """Another value for a parameter of a rule."""

    rule: Annotated[LocatedText, Doc("The rule's id, such as BP-01.")]
    parameter: Annotated[LocatedText, Doc("The parameter's name; `mqvitals rules explain` lists those of a rule.")]
    value: Annotated[LocatedNumber, Doc("The value, in the parameter's own unit.")]
    objects: Annotated[
        LocatedText | None,
        Doc(
            "A pattern of the objects it holds for, such as `QM01/buffer_pool/*`. The last entry that fits an object"
            " counts.",
            default="every object",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """What a site changes about rules for some objects, and why."""

    rule: Annotated[
        LocatedText | None,
        Doc(
            "The id of the rule, such as Q-03, or a pattern of ids, such as `CSQX-*`. Rules, families or objects are named,"
            " or several of them.",
            default="every rule",
        ),
    ] = None
    family: Annotated[
        LocatedText | None, Doc("The family of the rules, or a pattern of families.", default="every family")
    ] = None
    objects: Annotated[
        LocatedText | None,
        Doc(
            "A pattern of the objects, such as `*/queue/AUDIT.*`; `QM01/*` for all of a queue manager.",
            default="every object",
        ),
    ] = None
    off: Annotated[
        bool | None,
        Doc(
            "`true`: the rules are not evaluated for these objects, and their alerts end. `false`: they are, whatever stands"
            " before this entry, in `disabled`, or in the rule itself.",
            default="as before",
        ),
    ] = None
    severity: Annotated[
        Literal["critical", "warning", "info"] | None,
        Doc("The severity of their alerts, in place of the rule's own and of its cases.", default="the rule's own"),
    ] = None
    hold: Annotated[
        HoldSettings | HowLong | None,
        Doc("How long the condition must hold first: a duration, or as rule files write it.", default="the rule's own"),
    ] = None
    clear: Annotated[
        ClearSettings | HowLong | None,
        Doc(
            "How long the clear condition must hold until the alert ends: a duration, or as rule files write it.",
            default="the rule's own",
        ),
    ] = None
    parameters: Annotated[
        Mapping[LocatedText, LocatedNumber],
        Doc("Other values of parameters, each in its own unit, such as `{least_free: 5}`."),
    ] = field(default_factory=dict)
    reason: Annotated[
        Annotated[LocatedText, Convert(stated_reason)],
        Doc("Why, in a sentence: `mqvitals rules list --changed`, explanations and ended alerts show it."),
    ]

    def __post_init__(self) -> None:
        if self.rule is None and self.family is None and self.objects is None:
            raise ValueError("name rules (rule), a family or objects: this would change every rule for every object")
        others = self.severity or self.hold is not None or self.clear is not None or self.parameters
        if self.off is None and not others:
            raise ValueError("this changes nothing; there is off, severity, hold, clear and parameters")
        if self.clear == ClearSettings():
            raise ValueError("clear needs polls, records or for")
        if self.off and others:
            raise ValueError("a rule that is off has nothing to tune; write off: true alone")

    @property
    def selector(self) -> LocatedText:
        """The first key that says what it is about, for messages about the whole entry."""
        return next(each for each in (self.rule, self.family, self.objects) if each is not None)


FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """Which rules are in force, and how they are tuned."""

    files: Annotated[
        tuple[FilePath, ...],
        Doc("Rule files of your own, beside the shipped ones. Relative paths are beside this file."),
    ] = ()
    disabled: Annotated[tuple[LocatedText, ...], Doc("Ids of rules that are switched off.")] = ()
    enabled: Annotated[
        tuple[LocatedText, ...],
        Doc(
            "Ids of rules that are off unless they are named here, such as OPS-291; 'mqvitals rules list' shows them as off."
        ),
    ] = ()
    thresholds: Annotated[
        tuple[ThresholdSettings, ...],
        Doc("Other values for parameters of rules: the short form of `tuning`, whose entries count after these."),
    ] = ()
    tuning: Annotated[
        tuple[TuningSettings, ...],
        Doc(
            "What is different about rules for some objects. Of several entries that fit a rule and an object, the last one"
            " that has a key counts for that key; of `parameters`, for each parameter."
        ),
    ] = ()
    cause_share: Annotated[
        float,
        Doc(
            "The share, 0 to 1, that a queue's messages must have of the used pages of a page set, of the used buffers of"
            " a buffer pool, or of the used entries of a structure, so that an alert of the queue explains theirs."
            " With a smaller or unknown share both are sent."
        ),
    ] = CAUSE_SHARE

    def __post_init__(self) -> None:
        if not 0 <= self.cause_share <= 1:
            raise ValueError("cause_share must be between 0 and 1")

"""A rule as data: decoded from a pack's file, not yet compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_rules.lifecycle.alert import Severity


class RuleKind(Enum):
    """What an alert of the rule is for."""

    OPERATIONAL = "operational"  # somebody should act; counts for status and exit codes
    REVIEW = "review"  # advice on the configuration
    APPLICATION = "application"  # how applications use MQ, from accounting records
    DATA_QUALITY = "data_quality"  # the data make other verdicts doubtful


class Origin(Enum):
    """Where a parameter's shipped value comes from."""

    DOCUMENT = "document"  # the number stands in the cited document
    DEFAULT = "default"  # the document gives the idea, the number is this product's


@dataclass(frozen=True, slots=True)
class RuleParameter:
    """A named threshold that the configuration may override."""

    name: str
    value: float
    unit: str
    origin: Origin
    meaning: str


@dataclass(frozen=True, slots=True)
class Hold:
    """How long the condition must hold before the alert fires: a number of polls, or a duration in ms.

    ``of``: on ``polls`` of the last ``of`` polls; None: in a row.
    ``records``: the number where records are counted instead of polls; None: the same.
    """

    polls: int = 1
    duration_ms: int | None = None
    records: int | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """When the alert ends: after ``polls`` polls on which ``when`` held, or without it the rule's condition did not.

    ``duration_ms``: how long that must hold, instead of a number of polls.
    ``records``: the number where records are counted instead of polls; None: the same.
    """

    when: LocatedText | None = None
    polls: int = 3
    records: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SeverityCase:
    """``{when: used_pct >= 95, severity: critical}``: while the condition holds, the alert is this severe."""

    when: LocatedText
    severity: Severity


@dataclass(frozen=True, slots=True)
class MqscCase:
    """Another MQSC command than the rule's usual one, and when it shows the object.

    ``{when: qsg_disp == SHARED, mqsc: "DISPLAY QSTATUS({name}) CMDSCOPE(*)"}``
    """

    when: LocatedText
    mqsc: LocatedText


@dataclass(frozen=True, slots=True)
class Citation:
    """The document behind a rule, by its title, and the section or slide in it."""

    document: str
    section: str


@dataclass(frozen=True, slots=True)
class Family:
    """Rules of one family are stages of one fault: of those that fire for an object only the worst is notified."""

    name: str
    rank: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``topic`` is the stem of its file.

    - ``scope``: the kind of object it evaluates; ``about``: the kind its alert is about, where that differs (a single
      kind of the same owner).
    - ``when``, the clear condition and the conditions of the severity and MQSC cases are expressions.
    - ``summary`` and ``mqsc`` are templates: ``{metric}``, ``{kind.metric}``, ``{parameter}``, ``{name}``, ``{owner}``;
      in ``mqsc`` the two names are quoted where MQ would fold them. A summary can name members (``ruleset/template.py``).
    - ``needs``: the replies and records it is evaluated from. ``tier``: their sort, P for PCF replies, S for SMF
      records, M for console messages, D for declared facts, A for the agent itself, with ``>`` (better with), ``+``
      (and) or ``|`` (or) between.
    - ``caused_by``: the rules whose alert, about the same object or one it depends on, explains this one's;
      ``caused_by_partner``: those whose alert about the queue manager at the other end of the channel, or of the transmission queue, does;
      ``same_incident``: those that report the same from other data, so that either may explain the other.
    - ``off``: evaluated only where the configuration switches it on.
    - ``plain_state``: its condition has no figure that a site could want to change.
    - ``quiet_restarts``: console messages written while their queue manager starts or stops do not count.
    """

    id: LocatedText
    topic: str
    title: str
    kind: RuleKind
    scope: str
    about: str
    family: Family | None
    when: LocatedText
    clear: Clear
    hold: Hold
    severity: Severity
    severity_if: tuple[SeverityCase, ...]
    parameters: Mapping[str, RuleParameter]
    summary: LocatedText
    advice: str
    caveat: str
    sources: tuple[Citation, ...]
    needs: tuple[str, ...]
    mqsc: LocatedText | None
    mqsc_if: tuple[MqscCase, ...] = ()
    tier: str = ""
    caused_by: tuple[LocatedText, ...] = ()
    caused_by_partner: tuple[LocatedText, ...] = ()
    same_incident: tuple[LocatedText, ...] = ()
    quiet_restarts: bool = False
    off: bool = False
    plain_state: bool = False

    @property
    def causes(self) -> tuple[LocatedText, ...]:
        """Every rule whose alert can explain this one's."""
        return self.caused_by + self.caused_by_partner + self.same_incident


def causes_of(rules: Iterable[Rule]) -> dict[str, frozenset[str]]:
    """Rule id -> the rules whose alerts explain its own; of the same incident each explains the other."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        for cause in (*rule.caused_by, *rule.same_incident):
            found.setdefault(str(rule.id), set()).add(str(cause))
        for other in rule.same_incident:
            found.setdefault(str(other), set()).add(str(rule.id))
    return {rule: frozenset(causes) for rule, causes in found.items()}


def partner_causes_of(rules: Iterable[Rule]) -> dict[str, frozenset[str]]:
    """Rule id -> the rules whose alerts about the queue manager at the other end explain its own."""
    return {str(rule.id): frozenset(map(str, rule.caused_by_partner)) for rule in rules if rule.caused_by_partner}

"""What rules lack on a first day: which cannot be evaluated, and which fact, trace or permission would help most.

A *remedy* is one thing that a site can do. It unlocks a check where nothing else is missing for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any, Final

from mqvitals_agent.doctor.finding import grants, to_display
from mqvitals_agent.poll.command_form import display_command
from mqvitals_agent.review.evaluation import RuleEvaluator
from mqvitals_agent.review.store_review import loaded_latest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.document import Block, Heading, Items, Listing, Paragraph
from mqvitals_agent.text.figure import counted
from mqvitals_agent.view.object.stored_past import StoredPast
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.expression.evaluation import Missing
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Declaration, declaration_of, facts_as_yaml
from mqvitals_rules.ruleset.rule import Rule, RuleKind
from mqvitals_rules.vocabulary.metric import Absence, Metric
from mqvitals_rules.vocabulary.tables import KINDS

_SAMPLES: Final = 3
"""The checks of one queue manager and rule that lack a value for the same reason: so many are explained."""

_STATISTICS: Final = "START TRACE(STAT) CLASS(1)"
_QUEUE_STATISTICS: Final = "START TRACE(STAT) CLASS(5)"
_CHANNEL_INITIATOR: Final = "START TRACE(STAT) CLASS(4)"
_CHANNEL_ACCOUNTING: Final = "START TRACE(ACCTG) CLASS(4)"
_ACCOUNTING: Final = "START TRACE(ACCTG) CLASS(3)"
_TRACES: Final[Mapping[str, str]] = {
    "application": _ACCOUNTING,
    "channel": _CHANNEL_ACCOUNTING,
    "queue": _QUEUE_STATISTICS,
    "channel_initiator": _CHANNEL_INITIATOR,
    "adapter": _CHANNEL_INITIATOR,
    "dispatcher": _CHANNEL_INITIATOR,
    "ssl_task": _CHANNEL_INITIATOR,
    "dns_task": _CHANNEL_INITIATOR,
}
"""The trace that writes the SMF records of a kind; other kinds are in class 1 of the statistics trace."""
_SELECTED: Final[Mapping[str, str]] = {
    _QUEUE_STATISTICS: " (from 9.3, for the queues that STATQ selects)",
    _CHANNEL_ACCOUNTING: " (for the channels that STATCHL selects)",
}
_MONITORING: Final[Mapping[str, str]] = {"queue": "MONQ", "channel": "MONCHL"}
_RECORDS_ONLY: Final = ("application", "adapter", "dispatcher", "ssl_task", "dns_task")
"""Kinds whose objects are known from SMF records alone: without records there is not even an object."""


class RemedyKind(Enum):
    """What a site does about an absence."""

    DECLARE = "declare"
    TRACE = "trace"
    MONITOR = "monitor"
    PERMIT = "permit"
    CONSOLE = "console"
    EVENTS = "events"
    STATISTICS = "statistics"
    TIME_ZONE = "time_zone"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do. ``subject`` tells remedies of one kind apart: a fact, a trace, a keyword."""

    kind: RemedyKind
    subject: str


@dataclass(slots=True)
class Unlocked:
    """What a remedy unlocks: by rule the checks that lack nothing else (``alone``) or something else too (``beside``).

    ``gravest`` are the titles of the gravest problems that no object can be checked for without it, with their rules;
    ``figures`` the metrics of imported records that are known with it, whether or not a rule reads them.
    """

    remedy: Remedy
    alone: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    owners: dict[str, None] = field(default_factory=dict)
    declarations: dict[tuple[str, str], Declaration] = field(default_factory=dict)
    gravest: tuple[str, ...] = ()
    figures: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FirstDay:
    """``remedies`` come in the order of what they unlock.

    ``blind`` are the rules that can be evaluated for no object, with the reasons; ``waiting`` those of them that need only time.
    ``evaluated`` is the number of rules that can be evaluated for at least one object, ``rules`` that of all with an object or a remedy.
    """

    remedies: tuple[Unlocked, ...]
    blind: Mapping[str, tuple[Absence, ...]]
    waiting: frozenset[str]
    evaluated: int
    rules: int


def first_day(
    reader: StoreReader, config: RuleConfig, wanted: Collection[str] = (), *, objects_of_kind: int | None = None
) -> FirstDay:
    """Evaluate every rule for every object of the owners ``wanted`` (none: of all), at most ``objects_of_kind`` of a
    kind and owner. Raises StoreError.
    """
    latest = loaded_latest(reader, config)
    examined = _Examined(config, latest)
    for owner in reader.owners():
        if not owner.unwatched and (not wanted or owner.name in wanted):
            evaluator = RuleEvaluator(KINDS, latest, StoredPast(reader, owner.last_ts, config.zone_of))
            examined.take(owner.name, owner.last_ts, evaluator, objects_of_kind)
    return examined.result()


class _Examined:
    """Collects what checks lack."""

    def __init__(self, config: RuleConfig, latest: LatestValues) -> None:
        self._rules = config.rules
        self._latest = latest
        self._seen: set[str] = set()
        self._known: set[str] = set()
        self._unknown: dict[str, dict[Absence, None]] = {}
        self._helped: set[str] = set()
        self._unlocked: dict[Remedy, Unlocked] = {}
        self._operational = {str(rule.id) for rule in config.rules.rules if rule.kind is RuleKind.OPERATIONAL}

    def take(self, owner: str, now: int, evaluator: RuleEvaluator, objects_of_kind: int | None) -> None:
        """Evaluate the rules for the objects of an owner as of ``now``."""
        unknown: dict[tuple[str, Absence], list[tuple[LatestState, CompiledRule]]] = {}
        context = evaluator.context
        counts: Counter[str] = Counter()
        for state in list(self._latest):
            if state.name.owner != owner:
                continue
            counts[state.name.kind] += 1
            self._seen.add(state.name.kind)
            if objects_of_kind is not None and counts[state.name.kind] > objects_of_kind:
                continue
            context.enter(state, now)
            self._note_figures(state)
            for compiled in self._rules.rules_for(state.name):
                context.absence = None
                if compiled.when.truth(context) is None:
                    unknown.setdefault((compiled.id, context.absence or Absence.WINDOW), []).append((state, compiled))
                else:
                    self._known.add(compiled.id)
        for (rule, reason), checks in unknown.items():
            self._unknown.setdefault(rule, {})[reason] = None
            samples = [self._needs(owner, state, compiled, evaluator, now) for state, compiled in checks[:_SAMPLES]]
            for number in range(len(checks)):
                self._note(rule, samples[min(number, len(samples) - 1)], owner)

    def _note_figures(self, state: LatestState) -> None:
        """What records have of an object, and nobody knows as a fact is not declared."""
        missing = {
            metric.by_fact: metric
            for metric in KINDS[state.name.kind].metrics
            if metric.by_fact and metric.in_history and state.values.get(metric.name) is Absence.NOT_DECLARED
        }
        declarations = [declaration_of(state.name, fact, KINDS, self._latest) for fact in missing]
        found = [each for each in declarations if each is not None]
        if not found:
            return
        facts = ", ".join(each.metric.name for each in found)
        remedy = Remedy(RemedyKind.DECLARE, f"{found[0].section}: {facts}")
        unlocked = self._unlocked.setdefault(remedy, Unlocked(remedy))
        unlocked.owners[state.name.owner] = None
        unlocked.declarations |= {(each.objects, each.metric.name): each for each in found}
        unlocked.figures |= dict.fromkeys(
            metric.name for metric in KINDS[state.name.kind].metrics if metric.by_fact in missing and metric.in_history
        )

    def _needs(
        self, owner: str, state: LatestState, compiled: CompiledRule, evaluator: RuleEvaluator, now: int
    ) -> tuple[dict[Remedy, Declaration | None], bool]:
        """The remedies that a check needs, and whether it also lacks something that no remedy gives."""
        evaluator.context.enter(state, now)
        found: dict[Remedy, Declaration | None] = {}
        more = False
        for missing in compiled.when.explain(evaluator.context).missing:
            declaration = (
                declaration_of(state.name, missing.name, KINDS, self._latest)
                if missing.absence is Absence.NOT_DECLARED
                else None
            )
            remedy = remedy_for(missing, state.name.kind, owner, declaration)
            if remedy is None:
                more = True
            else:
                found[remedy] = declaration
        return found, more

    def _note(self, rule: str, needs: tuple[Mapping[Remedy, Declaration | None], bool], owner: str) -> None:
        remedies, more = needs
        for remedy, declaration in remedies.items():
            unlocked = self._unlocked.setdefault(remedy, Unlocked(remedy))
            (unlocked.alone if len(remedies) == 1 and not more else unlocked.beside)[rule] += 1
            unlocked.owners[owner] = None
            if declaration is not None:
                unlocked.declarations[declaration.objects, declaration.metric.name] = declaration
        if remedies:
            self._helped.add(rule)

    def _without_objects(self) -> Iterator[Rule]:
        """Rules about kinds of which SMF records would bring the first object."""
        for rule in self._rules.rules:
            if rule.scope in _RECORDS_ONLY and rule.scope not in self._seen and rule.id not in self._rules.switched_off:
                yield rule

    def result(self) -> FirstDay:
        """What was found."""
        for rule in self._without_objects():
            remedy = Remedy(RemedyKind.TRACE, _TRACES[rule.scope])
            self._unlocked.setdefault(remedy, Unlocked(remedy)).alone[str(rule.id)] += 1
            self._unknown.setdefault(str(rule.id), {})[Absence.NEEDS_SMF] = None
            self._helped.add(str(rule.id))
        for unlocked in self._unlocked.values():
            unlocked.gravest = self._gravest(unlocked)
        blind = {rule: tuple(reasons) for rule, reasons in sorted(self._unknown.items()) if rule not in self._known}
        return FirstDay(
            tuple(sorted(self._unlocked.values(), key=self._worth)),
            blind,
            frozenset(rule for rule in blind if rule not in self._helped),
            len(self._known),
            len(self._known | self._unknown.keys()),
        )

    def _gravest(self, unlocked: Unlocked) -> tuple[str, ...]:
        new = (self._rules.rule(rule) for rule in unlocked.alone if rule not in self._known)
        ranks = {
            (
                -rule.severity,
                -max([rule.severity, *(case.severity for case in rule.severity_if)]),
                str(rule.id),
            ): rule.title
            for rule in new
            if rule is not None and rule.kind is RuleKind.OPERATIONAL
        }
        return tuple(f"{ranks[rank]} ({rank[-1]})" for rank in sorted(ranks)[:_GRAVEST])

    def _worth(self, unlocked: Unlocked) -> tuple[int, int, int, int, str]:
        """The most rules first, and of these the operational ones; rules that already work elsewhere count less."""
        new = [rule for rule in unlocked.alone if rule not in self._known]
        operational = sum(rule in self._operational for rule in new)
        return -operational, -len(new), -len(unlocked.alone), -len(unlocked.beside), unlocked.remedy.subject


def remedy_for(missing: Missing, scope: str, owner: str, declaration: Declaration | None) -> Remedy | None:
    """What a site can do about a missing value of an object of kind ``scope``; None: nothing but waiting, or looking why."""
    of, dot, name = missing.name.rpartition(".")
    kind = KINDS.get(of if dot and of != "pair" else scope)
    metric = None if kind is None else kind.metric(name)
    about = kind.name if kind is not None else scope
    match missing.absence:
        case Absence.NOT_DECLARED:
            return (
                None
                if declaration is None
                else Remedy(RemedyKind.DECLARE, f"{declaration.section}: {_facts(declaration)}")
            )
        case Absence.NEEDS_SMF:
            return Remedy(RemedyKind.TRACE, _TRACES.get(about, _STATISTICS))
        case Absence.NOT_COLLECTED:
            return Remedy(RemedyKind.MONITOR, _MONITORING[about]) if about in _MONITORING else None
        case Absence.NOT_AUTHORISED:
            return None if metric is None or not metric.command else Remedy(RemedyKind.PERMIT, _keyword(metric, owner))
        case Absence.NEEDS_CONSOLE:
            return Remedy(RemedyKind.CONSOLE, "console.follow")
        case Absence.NEEDS_EVENTS:
            return Remedy(RemedyKind.EVENTS, "polling.events")
        case Absence.NEEDS_STATISTICS:
            return Remedy(RemedyKind.STATISTICS, "statistics_queue")
        case Absence.TIME_ZONE_UNKNOWN:
            return Remedy(RemedyKind.TIME_ZONE, "time_zone")
    return None


def _facts(declaration: Declaration) -> str:
    return ", ".join(each.name for each in declaration.written or (declaration.metric,))


def _keyword(metric: Metric, owner: str) -> str:
    return f"{display_command(metric.command)} on {owner}"


def _sentence(unlocked: Unlocked) -> str:
    subject = unlocked.remedy.subject
    match unlocked.remedy.kind:
        case RemedyKind.DECLARE:
            section, _, names = subject.partition(": ")
            return f"Declare {names} under facts.{section}"
        case RemedyKind.TRACE:
            return f"{subject}{_SELECTED.get(subject, '')}, and let mqvitals read the SMF records (smf.watch, or 'mqvitals smf import')"
        case RemedyKind.MONITOR:
            return f"ALTER QMGR {subject}(MEDIUM)"
        case RemedyKind.PERMIT:
            return f"Permit {subject}"
        case RemedyKind.CONSOLE:
            return "Name the files of console messages under console.follow"
        case RemedyKind.EVENTS:
            return "Let event queues be browsed (polling.events)"
        case RemedyKind.STATISTICS:
            return "Name the queue of statistics messages as statistics_queue of the queue manager"
        case RemedyKind.TIME_ZONE:
            return "Set time_zone of the queue manager"


def lines_of(unlocked: Unlocked) -> tuple[str, ...]:
    """Lines to copy: facts for the configuration, or the commands that permit a DISPLAY command."""
    if unlocked.declarations:
        return tuple(facts_as_yaml(_for_all_owners(unlocked.declarations.values())))
    if unlocked.remedy.kind is RemedyKind.PERMIT:
        keyword, _, owner = unlocked.remedy.subject.removeprefix("DISPLAY ").partition(" on ")
        return tuple(line for grant in grants(to_display(owner, "", keyword)) for line in (*grant.racf, *grant.mqsc))
    return ()


def _for_all_owners(declarations: Collection[Declaration]) -> Iterator[Declaration]:
    """The declarations with one pattern for all owners where several have the same one."""
    owners = Counter(each.objects.partition("/")[2] for each in declarations)
    for each in declarations:
        rest = each.objects.partition("/")[2]
        yield each._replace(objects=f"*/{rest}") if owners[rest] > 1 else each


_NAMED: Final = 12
_GRAVEST: Final = 3


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def remedy_text(unlocked: Unlocked) -> str:
    """A remedy and what it unlocks, as one sentence."""
    where = (
        f" ({', '.join(unlocked.owners)})" if unlocked.owners and unlocked.remedy.kind is not RemedyKind.PERMIT else ""
    )
    parts = []
    if unlocked.alone:
        checks = unlocked.alone.total()
        parts.append(f"unlocks {counted(checks, 'check')} of {_listed(sorted(unlocked.alone))}")
    if others := sorted(unlocked.beside.keys() - unlocked.alone.keys()):
        parts.append(f"is one of several things that {_listed(others)} {'lack' if len(others) > 1 else 'lacks'}")
    if unlocked.figures:
        parts.append(f"shows {_listed(list(unlocked.figures))}")
    return f"{_sentence(unlocked)}{where}: {'; '.join(parts)}."


def first_day_blocks(found: FirstDay) -> Iterator[Block]:
    """The report of ``mqvitals review --first-day``."""
    yield Heading(1, "What the rules lack")
    yield Paragraph(
        f"{found.evaluated} of {found.rules} rules can be evaluated for at least one object. A check is a rule applied to one object."
    )
    yield Heading(2, "What would help most")
    if found.remedies:
        yield Paragraph(
            "In the order of the rules that it unlocks: first those that report problems and work for no object yet, then advice. The rules are explained by"
            " 'mqvitals rules explain RULE'."
        )
    if not found.remedies:
        yield Paragraph("Nothing: no fact, trace, monitoring or permission is missing.")
    for number, each in enumerate((each for each in found.remedies if each.alone), start=1):
        problems = f" Problems that it shows: {'; '.join(each.gravest)}." if each.gravest else ""
        yield Paragraph(f"{number}. {remedy_text(each)}{problems}")
        if lines := lines_of(each):
            yield Listing(lines, "yaml" if each.declarations else "")
    together = [each for each in found.remedies if each.beside and not each.alone]
    if together:
        yield Heading(2, "Needed together with others")
        yield Items(tuple(map(remedy_text, together)))
    figures = [each for each in found.remedies if each.figures and not each.alone and not each.beside]
    if figures:
        yield Heading(2, "Figures that imported records have")
        for each in figures:
            yield Paragraph(remedy_text(each))
            yield Listing(lines_of(each), "yaml")
    blind = {rule: reasons for rule, reasons in found.blind.items() if rule not in found.waiting}
    if blind:
        yield Heading(2, f"Rules that can be evaluated for no object: {len(blind)}")
        yield Items(tuple(_blind(blind)))
    if found.waiting:
        yield Paragraph(f"These wait for time or for an event, and need nothing: {', '.join(sorted(found.waiting))}.")


def _blind(blind: Mapping[str, tuple[Absence, ...]]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for rule, reasons in blind.items():
        by_reason.setdefault(", ".join(sorted(reason.value for reason in reasons)), []).append(rule)
    for words, rules in sorted(by_reason.items()):
        yield f"{words}: {', '.join(rules)}"


def first_day_json(found: FirstDay) -> dict[str, Any]:
    """The object of ``mqvitals review --first-day --json``."""
    return {
        "rules": found.rules,
        "evaluated": found.evaluated,
        "remedies": [
            {
                "action": each.remedy.kind.value,
                "subject": each.remedy.subject,
                "text": remedy_text(each),
                "unlocks": dict(sorted(each.alone.items())),
                "needed_with_others": dict(sorted(each.beside.items())),
                "figures": list(each.figures),
                "queue_managers": list(each.owners),
                "lines": list(lines_of(each)),
            }
            for each in found.remedies
        ],
        "blind": {rule: [reason.value for reason in reasons] for rule, reasons in found.blind.items()},
        "waiting": sorted(found.waiting),
    }


def most_helpful(found: FirstDay, most: int) -> tuple[str, ...]:
    """The texts of the remedies that unlock most, for the log."""
    return tuple(remedy_text(each) for each in islice((each for each in found.remedies if each.alone), most))

"""Tests of rules, written in YAML: what objects say poll by poll, and which alerts must then be firing.

Run by pytest for the shipped packs. ``run_tests`` plays each test through a real engine, with the rules as they are in force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from mqvitals_config.decoder import decode
from mqvitals_config.duration import FORM, format_duration, parse_duration
from mqvitals_config.problem import ConfigError, LocatedText, Problem
from mqvitals_config.settings import FactSettings, RuleSettings
from mqvitals_config.settings import Threshold as ThresholdEntry
from mqvitals_config.shape import Convert
from mqvitals_config.suggestion import did_you_mean
from mqvitals_rules.check import facts_of, thresholds_of
from mqvitals_rules.derived import with_derived
from mqvitals_rules.engine import Engine, UnknownCount
from mqvitals_rules.facts import Fact, Facts
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.ruleset import RuleSet, Threshold
from mqvitals_rules.series import MOST_POLLS, parse_series
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

BEGIN = 1_767_225_600_000
"""When every test begins: 2026-01-01T00:00:00Z."""

_RECORD = "SMF"
"""The probe of the records of a test."""
_NO_RECORD = (Absence.NO_ANSWER, Absence.NEEDS_SMF)
"""Of what a record would tell: that no record came."""

Duration = Annotated[int, Convert(parse_duration, expected=FORM)]


def _as_written(text: LocatedText) -> LocatedText:
    return text


Series = Annotated[LocatedText, Convert(_as_written, expected="a series of values", raw=True)]


@dataclass(frozen=True, slots=True)
class FiringEntry:
    """An alert that must be firing. ``object`` is what the alert is about, or what its rule judges."""

    rule: LocatedText
    object: LocatedText
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class ExpectEntry:
    """What must hold after the poll at ``at``.

    ``firing``, when given, names every alert that is firing; ``not_firing`` rules that have none; ``unknown`` rules that cannot be judged for some
    object; ``known`` those that can be judged for all.
    """

    at: Duration
    firing: tuple[FiringEntry, ...] | None = None
    not_firing: tuple[LocatedText, ...] = ()
    unknown: tuple[LocatedText, ...] = ()
    known: tuple[LocatedText, ...] = ()


@dataclass(frozen=True, slots=True)
class TestEntry:
    """One test. A series that is shorter than the longest of its test goes on with its last value.

    What only SMF tells comes as the SMF record of the interval that ends at the poll; with ``records`` also what polls could tell, and an
    object without anything else is not polled.
    """

    __test__ = False

    name: LocatedText
    interval: Duration
    series: Mapping[LocatedText, Mapping[LocatedText, Series]]
    expect: tuple[ExpectEntry, ...]
    facts: FactSettings = field(default_factory=FactSettings)
    thresholds: tuple[ThresholdEntry, ...] = ()
    records: bool = False


@dataclass(frozen=True, slots=True)
class TestFile:
    """The whole file."""

    __test__ = False

    tests: tuple[TestEntry, ...]


@dataclass(frozen=True, slots=True)
class PackTest:
    """A test ready to run."""

    name: str
    interval_ms: int
    objects: Mapping[ObjectName, Mapping[str, tuple[Reported, ...]]]
    expect: tuple[ExpectEntry, ...]
    facts: tuple[Fact, ...]
    thresholds: tuple[Threshold, ...]
    records: bool = False

    @property
    def polls(self) -> int:
        """How many polls it takes to see everything."""
        longest = max((len(values) for metrics in self.objects.values() for values in metrics.values()), default=1)
        return max([longest, *(expected.at // self.interval_ms + 1 for expected in self.expect)])


def decode_tests(path: str, text: str, rules: RuleSet) -> tuple[PackTest, ...]:
    """The tests of a file. Raises ConfigError with everything that is wrong with it."""
    known = {str(rule.id): rule for rule in rules.rules}
    tests: list[PackTest] = []
    problems: list[Problem] = []
    for index, entry in enumerate(decode(path, text, TestFile).tests):
        key = f"tests[{index}]"
        objects: dict[ObjectName, Mapping[str, tuple[Reported, ...]]] = {}
        for name_text, metrics in entry.series.items():
            name, found = _object(name_text, key, rules.kinds)
            problems += found
            if name is not None:
                objects[name], found = _series(rules.kinds[name.kind], metrics, key)
                problems += found
        facts, found = facts_of(entry.facts)
        problems += found
        thresholds, found = thresholds_of(RuleSettings(thresholds=entry.thresholds), known)
        problems += found
        problems += _expectations(entry, key, known, rules.kinds)
        tests.append(
            PackTest(str(entry.name), entry.interval, objects, entry.expect, tuple(facts), thresholds, entry.records)
        )
    if problems:
        raise ConfigError(problems)
    return tuple(tests)


def run_test(test: PackTest, rules: RuleSet) -> list[str]:
    """Play one test; a sentence for every expectation that does not hold."""
    history = MemoryHistory()
    ruleset = replace(rules, thresholds=(*rules.thresholds, *test.thresholds))
    engine = Engine(ruleset, Facts(rules.kinds, test.facts), history)
    unknown: dict[str, tuple[UnknownCount, ...]] = {}
    failures = []
    for poll in range(test.polls):
        for snapshot in _snapshots(test, rules.kinds, poll):
            history.add(snapshot)
            unknown[snapshot.owner] = engine.evaluate(snapshot).unknown
        for expected in test.expect:
            if expected.at // test.interval_ms == poll:
                firing = [alert for alert in engine.open_alerts if alert.state is AlertState.FIRING]
                counts = {count.rule for owner in unknown.values() for count in owner}
                when = f"{test.name}, after {format_duration(expected.at)}"
                failures += [f"{when}: {failure}" for failure in _compare(expected, firing, counts)]
    return failures


def run_tests(path: str, text: str, rules: RuleSet) -> list[str]:
    """Play every test of a file; what fails. Raises ConfigError as ``decode_tests``."""
    return [failure for test in decode_tests(path, text, rules) for failure in run_test(test, rules)]


def _compare(expected: ExpectEntry, firing: list[Alert], unknown: set[str]) -> Iterator[str]:
    left = list(firing)
    for entry in expected.firing or ():
        alert = next(
            (
                alert
                for alert in left
                if alert.key.rule == entry.rule and entry.object in (str(alert.key.object), str(alert.scope))
            ),
            None,
        )
        if alert is None:
            yield f"{entry.rule} on {entry.object} should be firing and is not"
            continue
        left.remove(alert)
        if entry.severity is not None and alert.severity is not entry.severity:
            yield f"{entry.rule} on {entry.object} should be {entry.severity.name.lower()} and is {alert.severity.name.lower()}"
    if expected.firing is not None:
        yield from (f"{alert.key.rule} on {alert.scope} is firing and not expected: {alert.summary}" for alert in left)
    for rule in expected.not_firing:
        yield from (
            f"{rule} on {alert.scope} is firing and should not be" for alert in firing if alert.key.rule == rule
        )
    for rule in expected.unknown:
        if rule not in unknown:
            yield f"{rule} should be unknown for some object and is not"
    for rule in expected.known:
        if rule in unknown:
            yield f"{rule} is unknown for some object and should not be"


def _snapshots(test: PackTest, kinds: Mapping[str, Kind], poll: int) -> Iterator[Snapshot]:
    ts = BEGIN + poll * test.interval_ms
    for owner in dict.fromkeys(name.owner for name in test.objects):
        readings: list[Reading] = []
        group = False
        for name, metrics in test.objects.items():
            if name.owner != owner:
                continue
            kind = kinds[name.kind]
            group = group or kind.of_group
            told = {metric: values[min(poll, len(values) - 1)] for metric, values in metrics.items()}
            recorded = {metric for metric in told if _from_record(kind, metric, test)}
            polled = {metric: value for metric, value in told.items() if metric not in recorded}
            if polled:
                answered = any(value is not Absence.NO_ANSWER for value in polled.values())
                interval = test.interval_ms if poll else None
                readings.append(
                    Reading(name, kind.poll, ts, with_derived(name.kind, polled), interval, answered=answered)
                )
            values = {metric: told[metric] for metric in recorded if told[metric] not in _NO_RECORD}
            if values:
                # The record of the interval that ends at this poll.
                readings.append(
                    Reading(
                        name,
                        _RECORD,
                        ts,
                        with_derived(name.kind, values),
                        test.interval_ms,
                        poll=False,
                        source=Source.SMF,
                    )
                )
        yield Snapshot(owner, group, poll + 1, ts, tuple(readings))


def _from_record(kind: Kind, name: str, test: PackTest) -> bool:
    metric = kind.metric(name)
    return metric is not None and (metric.needs_smf or (test.records and bool(metric.smf)))


def _object(text: LocatedText, key: str, kinds: Mapping[str, Kind]) -> tuple[ObjectName | None, list[Problem]]:
    try:
        name = ObjectName.parse(text)
    except ValueError as error:
        return None, [Problem(text.place, f"{key}.series", str(error))]
    kind = kinds.get(name.kind)
    if kind is None:
        message = f"there is no kind of object {name.kind!r}{did_you_mean(name.kind, kinds)}"
        return None, [Problem(text.place, f"{key}.series", message)]
    if kind.single is bool(name.name):
        form = f"owner/{kind.name}" if kind.single else f"owner/{kind.name}/name"
        return None, [Problem(text.place, f"{key}.series", f"an object of kind {kind.name} is written {form}")]
    return name, []


def _series(
    kind: Kind, metrics: Mapping[LocatedText, LocatedText], key: str
) -> tuple[dict[str, tuple[Reported, ...]], list[Problem]]:
    values: dict[str, tuple[Reported, ...]] = {}
    problems = []
    for name, text in metrics.items():
        metric = kind.metric(name)
        if metric is None:
            meant = did_you_mean(name, [each.name for each in kind.metrics])
            problems.append(Problem(name.place, f"{key}.series", f"{name!r} is no metric of {kind.name}{meant}"))
            continue
        try:
            values[metric.name] = parse_series(text, metric)
        except ValueError as error:
            problems.append(Problem(text.place, f"{key}.series", str(error)))
    return values, problems


def _expectations(
    entry: TestEntry, key: str, rules: Mapping[str, object], kinds: Mapping[str, Kind]
) -> Iterator[Problem]:
    if entry.interval <= 0:
        yield Problem(entry.name.place, f"{key}.interval", "the interval must be longer than 0s")
        return
    for index, expected in enumerate(entry.expect):
        inner = f"{key}.expect[{index}]"
        if expected.at % entry.interval or expected.at // entry.interval >= MOST_POLLS:
            form = format_duration(entry.interval)
            yield Problem(
                entry.name.place,
                f"{inner}.at",
                f"must be one of the first {MOST_POLLS} multiples of the interval, {form}",
            )
        named = [each.rule for each in expected.firing or ()]
        for rule in [*named, *expected.not_firing, *expected.unknown, *expected.known]:
            if rule not in rules:
                yield Problem(rule.place, inner, f"there is no rule {rule!r}{did_you_mean(rule, rules)}")
        for each in expected.firing or ():
            _, found = _object(each.object, inner, kinds)
            yield from found

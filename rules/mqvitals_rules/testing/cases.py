"""Rule tests: the form of their files, and the cases decoded from them with every problem at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Annotated

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place, Problem, did_you_mean
from mqvitals_config.decoding.scalars import DURATION_FORM, format_duration, parse_duration
from mqvitals_config.decoding.schema import Convert, Duration
from mqvitals_config.sections.facts import FactSettings
from mqvitals_config.sections.rules import RuleSettings, TuningSettings
from mqvitals_config.sections.rules import ThresholdSettings as ThresholdEntry
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.facts import Fact, declared_facts
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.ruleset.tuning_settings import tuning_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

MOST_POLLS = 10_000
MOST_TIMES = 10_000

_BLANK = "''"

_NUMBER = r"-?\d{1,18}(?:\.\d{1,18})?"
_STEPS = re.compile(rf"(?P<first>{_NUMBER})(?P<step>[+-]\d{{1,18}}(?:\.\d{{1,18}})?)?x(?P<times>\d{{1,5}})")
_REPEAT = re.compile(r"(?P<word>.+)x(?P<times>\d{1,5})")


def parse_series(text: str, metric: Metric) -> tuple[Reported, ...]:
    """The values of a metric, one a poll: ``25 18 60+5x10 _ stale``. Raises ValueError that names the wrong word.

    - ``4`` is a value, ``RUNNING`` the name of a state
    - ``60+5x10`` the value 60 and ten more, each 5 greater (``-`` likewise); ``4x3`` the value 4 and three more
    - ``_`` a poll without an answer; any reason of absence by its name: ``stale``, ``needs_smf``
    - the last ones repeat too: ``_x2``. A blank text is written ``''``
    """
    values: list[Reported] = []
    for word in text.split():
        values += _word(word, metric)
        if len(values) > MOST_POLLS:
            raise ValueError(f"more than {MOST_POLLS} polls")
    if not values:
        raise ValueError("a series needs at least one value")
    return tuple(values)


def _word(word: str, metric: Metric) -> list[Reported]:
    single = _single(word, metric)
    if single is not None:
        return [single]
    steps = _STEPS.fullmatch(word)
    if steps and metric.type is not MetricType.TEXT:
        first, step = _number(steps["first"]), _number(steps["step"] or "0")
        return [first + step * count for count in range(int(steps["times"]) + 1)]
    repeat = _REPEAT.fullmatch(word)
    single = _single(repeat["word"], metric) if repeat else None
    if repeat and single is not None:
        return [single] * (int(repeat["times"]) + 1)
    kind = f"one of {', '.join(metric.values)}" if metric.values else "a number"
    raise ValueError(
        f"{word!r} is no value of {metric.name}: expected {kind}, 60+5x10, _ or a reason of absence such as stale"
    )


def _single(word: str, metric: Metric) -> Reported | None:
    if word == "_":
        return Absence.NO_ANSWER
    if word in metric.values:
        return metric.values[word]
    if word.upper() in Absence.__members__ and word == word.lower():
        return Absence[word.upper()]
    if metric.type is MetricType.TEXT:
        return "" if word == _BLANK else word
    return _number(word) if re.fullmatch(_NUMBER, word) else None


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of a test, in ms since its beginning, and where it is written."""

    ms: int
    place: Place


def _moment(text: LocatedText) -> Moment:
    return Moment(parse_duration(text), text.place)


def _as_written(text: LocatedText) -> LocatedText:
    return text


At = Annotated[Moment, Convert(_moment, expected=DURATION_FORM)]
Insert = Annotated[LocatedText, Convert(_as_written, expected="the text of an insert", raw=True)]
WrittenSeries = Annotated[LocatedText, Convert(_as_written, expected="a series of values", raw=True)]


@dataclass(frozen=True, slots=True)
class FiringEntry:
    """An alert that must be firing.

    ``object`` is what the alert is about, or what its rule evaluates; without it any counts.

    ``cause`` is the rule whose alert must explain it.
    """

    rule: LocatedText
    object: LocatedText | None = None
    severity: Severity | None = None
    cause: LocatedText | None = None


@dataclass(frozen=True, slots=True)
class ExpectEntry:
    """What must hold after the poll at ``at``. What is not named is not checked.

    ``firing`` names alerts that are firing, every one of them if ``exact`` (empty: nothing is firing); ``not_firing``
    rules without a firing alert; ``unknown`` rules whose verdict is unknown for some object; ``known`` those with a
    verdict for all.
    """

    at: At
    firing: tuple[FiringEntry, ...] | None = None
    not_firing: tuple[LocatedText, ...] = ()
    unknown: tuple[LocatedText, ...] = ()
    known: tuple[LocatedText, ...] = ()
    exact: bool | None = None

    def __post_init__(self) -> None:
        if self.firing is None and not (self.not_firing or self.unknown or self.known):
            raise ValueError("this expects nothing; give firing, not_firing, unknown or known")

    @property
    def rules(self) -> tuple[LocatedText, ...]:
        """Every rule it names, as often as it does."""
        return (*(each.rule for each in self.firing or ()), *self.not_firing, *self.unknown, *self.known)


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """A console message: ``{at: 20s, id: CSQE213I, object: QSG1/cf_structure/APPL1, inserts: {pct: 90}}``.

    ``object``: what it names, if anything. ``times``: so many of them at that time. ``inserts``: what its words name.
    """

    at: At
    id: LocatedText
    object: LocatedText | None = None
    times: int = 1
    inserts: Mapping[LocatedText, Insert] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.times <= MOST_TIMES:
            raise ValueError(f"times must be 1 to {MOST_TIMES}")


@dataclass(frozen=True, slots=True)
class TestEntry:
    """One test. A series that is shorter than the longest of its test goes on with its last value.

    Metrics of SMF alone come as the record of the interval that ends at the poll; with ``records`` also those that
    polls have too, and an object without any other is not polled. ``console`` holds the messages of each owner whose
    console is followed; where events are among them, its event queues are read, and its console only with a console message. ``exact`` is the default of the expectations.
    """

    __test__ = False

    name: LocatedText
    interval: Duration
    series: Mapping[LocatedText, Mapping[LocatedText, WrittenSeries]]
    expect: tuple[ExpectEntry, ...]
    facts: FactSettings = field(default_factory=FactSettings)
    thresholds: tuple[ThresholdEntry, ...] = ()
    tuning: tuple[TuningSettings, ...] = ()
    records: bool = False
    console: Mapping[LocatedText, tuple[MessageEntry, ...]] = field(default_factory=dict)
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class TestFile:
    """The whole file. ``exact`` is the default of the tests."""

    __test__ = False

    tests: tuple[TestEntry, ...]
    exact: bool = False


BEGIN = 1_767_225_600_000
"""When every test begins: 2026-01-01T00:00:00Z."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold after one poll, counted from 0.

    ``exact``: no other alert than those that ``entry`` names may be firing.
    """

    poll: int
    entry: ExpectEntry
    exact: bool


@dataclass(frozen=True, slots=True)
class RuleTest:
    """A test ready to run. ``messages`` has the owners whose console is followed."""

    name: str
    place: Place
    interval_ms: int
    objects: Mapping[ObjectName, Mapping[str, tuple[Reported, ...]]]
    expectations: tuple[Expectation, ...]
    facts: tuple[Fact, ...]
    tuning: tuple[Tuning, ...]
    records: bool = False
    messages: Mapping[str, tuple[ObjectMessage, ...]] = field(default_factory=dict)

    @property
    def polls(self) -> int:
        """How many polls it takes to see everything."""
        longest = max((len(values) for metrics in self.objects.values() for values in metrics.values()), default=1)
        return max([longest, *(expected.poll + 1 for expected in self.expectations)])

    @property
    def rules(self) -> frozenset[str]:
        """The rules that it names."""
        return frozenset(str(rule) for expected in self.expectations for rule in expected.entry.rules)

    @property
    def expect(self) -> tuple[ExpectEntry, ...]:
        """What must hold, as written."""
        return tuple(expected.entry for expected in self.expectations)


def decode_tests(path: str, text: str, rules: RuleSet) -> tuple[RuleTest, ...]:
    """The tests of a file. Raises ConfigError with everything that is wrong with it."""
    known = {str(rule.id): rule for rule in rules.rules}
    file = decode(path, text, TestFile)
    tests: list[RuleTest] = []
    problems: list[Problem] = []
    for index, entry in enumerate(file.tests):
        reader = _CaseReader(f"tests[{index}]", known, rules.kinds)
        tests.append(reader.test(entry, exact=file.exact if entry.exact is None else entry.exact))
        problems += reader.problems
    if problems:
        raise ConfigError(problems)
    return tuple(tests)


class _CaseReader:
    """Reads one test; what is wrong with it is in ``problems``."""

    def __init__(self, key: str, rules: Mapping[str, Rule], kinds: Mapping[str, Kind]) -> None:
        self._key = key
        self._rules = rules
        self._kinds = kinds
        self.problems: list[Problem] = []

    def test(self, entry: TestEntry, *, exact: bool) -> RuleTest:
        objects: dict[ObjectName, Mapping[str, tuple[Reported, ...]]] = {}
        for text, metrics in entry.series.items():
            name = self._object(text, f"{self._key}.series")
            if name is not None:
                objects[name] = self._series(self._kinds[name.kind], metrics)
        facts, found = declared_facts(entry.facts)
        self.problems += found
        tuning, found = tuning_of(RuleSettings(thresholds=entry.thresholds, tuning=entry.tuning), dict(self._rules))
        self.problems += found
        messages = {
            str(owner): tuple(filter(None, map(self._message, messages))) for owner, messages in entry.console.items()
        }
        if entry.interval <= 0:
            self._refuse(entry.name.place, f"{self._key}.interval", "the interval must be longer than 0s")
        return RuleTest(
            str(entry.name),
            entry.name.place,
            entry.interval,
            objects,
            tuple(self._expectations(entry, exact=exact)) if entry.interval > 0 else (),
            tuple(facts),
            tuning,
            entry.records,
            messages,
        )

    def _refuse(self, place: Place, key: str, message: str) -> None:
        self.problems.append(Problem(place, key, message))

    def _object(self, text: LocatedText, key: str) -> ObjectName | None:
        try:
            name = ObjectName.parse(text)
        except ValueError as error:
            self._refuse(text.place, key, str(error))
            return None
        kind = self._kinds.get(name.kind)
        if kind is None:
            meant = did_you_mean(name.kind, self._kinds)
            self._refuse(text.place, key, f"there is no kind of object {name.kind!r}{meant}")
            return None
        if kind.single is bool(name.name):
            expected = f"owner/{kind.name}" if kind.single else f"owner/{kind.name}/name"
            self._refuse(text.place, key, f"an object of kind {kind.name} is written {expected}")
            return None
        return name

    def _series(self, kind: Kind, metrics: Mapping[LocatedText, LocatedText]) -> dict[str, tuple[Reported, ...]]:
        values: dict[str, tuple[Reported, ...]] = {}
        for name, text in metrics.items():
            metric = kind.metric(name)
            key = f"{self._key}.series"
            if metric is None:
                meant = did_you_mean(name, [each.name for each in kind.metrics])
                self._refuse(name.place, key, f"{name!r} is no metric of {kind.name}{meant}")
                continue
            try:
                values[metric.name] = parse_series(text, metric)
            except ValueError as error:
                self._refuse(text.place, key, str(error))
        return values

    def _message(self, entry: MessageEntry) -> ObjectMessage | None:
        name = None
        if entry.object is not None:
            name = self._object(entry.object, f"{self._key}.console")
            if name is None:
                return None
        inserts = tuple((str(insert), str(text)) for insert, text in entry.inserts.items())
        return ObjectMessage(BEGIN + entry.at.ms, str(entry.id), name, entry.times, inserts)

    def _expectations(self, entry: TestEntry, *, exact: bool) -> Iterator[Expectation]:
        for index, expected in enumerate(entry.expect):
            key = f"{self._key}.expect[{index}]"
            poll, rest = divmod(expected.at.ms, entry.interval)
            if rest or poll >= MOST_POLLS:
                every = format_duration(entry.interval)
                message = f"must be one of the first {MOST_POLLS} multiples of the interval, {every}"
                self._refuse(expected.at.place, f"{key}.at", message)
            causes = tuple(each.cause for each in expected.firing or () if each.cause is not None)
            for rule in (*expected.rules, *causes):
                if rule not in self._rules:
                    self._refuse(rule.place, key, f"there is no rule {rule!r}{did_you_mean(rule, self._rules)}")
            for each in expected.firing or ():
                if each.object is not None:
                    self._object(each.object, key)
            yield Expectation(poll, expected, exact if expected.exact is None else expected.exact)


SUFFIX = ".test.yaml"
"""The suffix of files of tests; before it is the name of the pack, or the stem of the file of rules."""


def shipped_tests() -> dict[str, tuple[str, str]]:
    """Pack -> file name and text of its tests, in order of name."""
    folder = files("mqvitals_rules") / "packs"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(SUFFIX))
    return {name.removesuffix(SUFFIX): (name, (folder / name).read_text("utf-8")) for name in names}

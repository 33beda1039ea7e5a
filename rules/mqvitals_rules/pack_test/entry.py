"""What a file of tests may hold, as its author writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from mqvitals_config.facts import FactSettings
from mqvitals_config.problem import LocatedText, Place
from mqvitals_config.scalars import DURATION_FORM, parse_duration
from mqvitals_config.schema import Convert
from mqvitals_config.settings import ThresholdSettings as ThresholdEntry
from mqvitals_rules.lifecycle.alert import Severity


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of a test, in ms since its beginning, and where it is written."""

    ms: int
    place: Place


def _moment(text: LocatedText) -> Moment:
    return Moment(parse_duration(text), text.place)


def _as_written(text: LocatedText) -> LocatedText:
    return text


Duration = Annotated[int, Convert(parse_duration, expected=DURATION_FORM)]
At = Annotated[Moment, Convert(_moment, expected=DURATION_FORM)]
Series = Annotated[LocatedText, Convert(_as_written, expected="a series of values", raw=True)]


@dataclass(frozen=True, slots=True)
class FiringEntry:
    """An alert that must be firing. ``object`` is what the alert is about, or what its rule judges; without it any will do.

    ``cause`` is the rule whose alert must explain it.
    """

    rule: LocatedText
    object: LocatedText | None = None
    severity: Severity | None = None
    cause: LocatedText | None = None


@dataclass(frozen=True, slots=True)
class ExpectEntry:
    """What must hold after the poll at ``at``. What is not named is not judged.

    ``firing`` names alerts that are firing, every one of them if ``exact`` (and when it is written and empty: nothing is firing);
    ``not_firing`` rules that have none; ``unknown`` rules that cannot be judged for some object; ``known`` those that can be judged for all.
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
    """A console message: ``{at: 20s, id: CSQP020E, object: QM01/buffer_pool/3}``. ``object``: what it names, if anything."""

    at: At
    id: LocatedText
    object: LocatedText | None = None


@dataclass(frozen=True, slots=True)
class TestEntry:
    """One test. A series that is shorter than the longest of its test goes on with its last value.

    What only SMF tells comes as the SMF record of the interval that ends at the poll; with ``records`` also what polls could tell, and an
    object without anything else is not polled. ``console`` holds the messages of each owner whose console is followed. ``exact`` is for
    the expectations that do not say.
    """

    __test__ = False

    name: LocatedText
    interval: Duration
    series: Mapping[LocatedText, Mapping[LocatedText, Series]]
    expect: tuple[ExpectEntry, ...]
    facts: FactSettings = field(default_factory=FactSettings)
    thresholds: tuple[ThresholdEntry, ...] = ()
    records: bool = False
    console: Mapping[LocatedText, tuple[MessageEntry, ...]] = field(default_factory=dict)
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class TestFile:
    """The whole file. ``exact`` is for the tests that do not say."""

    __test__ = False

    tests: tuple[TestEntry, ...]
    exact: bool = False

"""What a test expects against what is: every difference with its place, and why it is so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mqvitals_config.problem import LocatedText, Place
from mqvitals_config.scalars import format_duration
from mqvitals_rules.finding import Finding
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.pack_test.entry import FiringEntry
from mqvitals_rules.pack_test.game import Game
from mqvitals_rules.pack_test.test_case import Expectation
from mqvitals_rules.snapshot import ObjectName

_TRUTH = {True: "true", False: "false", None: "unknown"}

MOST_REASONS = 3
"""So many objects of a rule are explained in one failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that does not hold: of which test, ``at`` how many ms of it, what was expected, what was, and why that was so."""

    place: Place
    test: str
    at: int
    expected: str
    actual: str
    why: str

    def __str__(self) -> str:
        why = f"; {self.why}" if self.why else ""
        return (
            f"{self.place}: {self.test}, after {format_duration(self.at)}: "
            f"expected {self.expected}, but {self.actual}{why}"
        )


class Comparison:
    """One expectation of a test at its moment."""

    def __init__(self, test: str, expected: Expectation, game: Game) -> None:
        self._test = test
        self._expected = expected
        self._game = game

    def failures(self) -> Iterator[Failure]:
        """Every difference."""
        entry = self._expected.entry
        left = [alert for alert in self._game.alerts if alert.state is AlertState.FIRING]
        firing = tuple(left)
        for each in entry.firing or ():
            alert = _found(each, left)
            if alert is None:
                yield self._not_firing(each)
                continue
            left.remove(alert)
            if each.severity is not None and alert.severity is not each.severity:
                yield self._severity(each, alert)
            if each.cause is not None and (alert.cause is None or alert.cause.rule != each.cause):
                by = "nothing" if alert.cause is None else f"{alert.cause.rule} on {alert.cause.object}"
                expected = f"{each.rule} on {alert.scope} to be explained by {each.cause}"
                yield self._failure(each.cause.place, expected, f"it is explained by {by}", self._why_not(each, alert))
        if entry.firing == () or (entry.firing is not None and self._expected.exact):
            others = "nothing firing" if not entry.firing else "nothing else firing"
            yield from (self._firing(entry.at.place, others, alert) for alert in left)
        for rule in entry.not_firing:
            expected = f"{rule} not firing"
            yield from (self._firing(rule.place, expected, alert) for alert in firing if alert.key.rule == rule)
        for rule in entry.unknown:
            if rule not in self._game.unknown:
                yield self._known(rule)
        for rule in entry.known:
            if rule in self._game.unknown:
                yield self._unknown(rule)

    def _failure(self, place: Place, expected: str, actual: str, why: str) -> Failure:
        return Failure(place, self._test, self._expected.entry.at.ms, expected, actual, why)

    def _not_firing(self, each: FiringEntry) -> Failure:
        where = "" if each.object is None else f" on {each.object}"
        alerts = [alert for alert in self._game.alerts if _is_of(each, alert)]
        actual = "it is not firing"
        if alerts and alerts[0].state is AlertState.PENDING:
            alert = alerts[0]
            actual = f"it is pending, after {alert.true_polls} poll{'s' * (alert.true_polls != 1)} that counted"
        findings = self._game.judged(each.rule)
        rule = self._game.rules.rule(each.rule)
        if each.object is not None and rule is not None:
            findings = (
                found
                for found in findings
                if each.object in (str(found.name), str(ObjectName(found.name.owner, rule.about)))
            )
        of = each.object or "an object that it judges"
        why = _why(findings) or f"at this poll the test tells nothing of {of}"
        return self._failure(each.rule.place, f"{each.rule} firing{where}", actual, why)

    def _why_not(self, each: FiringEntry, alert: Alert) -> str:
        """Why no alert of the rule that should explain this one does."""
        rule = self._game.rules.rule(each.rule)
        if rule is not None and each.cause not in rule.causes:
            return f"{each.rule} does not name {each.cause} under caused_by"
        firing = {other.key.rule for other in self._game.alerts if other.state is AlertState.FIRING}
        if each.cause not in firing:
            return f"{each.cause} is not firing"
        return (
            f"nothing that {each.cause} fires about is told to belong to {alert.scope}" if alert.cause is None else ""
        )

    def _severity(self, each: FiringEntry, alert: Alert) -> Failure:
        assert each.severity is not None
        expected = f"{each.rule} on {alert.scope} to be {each.severity.name.lower()}"
        return self._failure(
            each.rule.place, expected, f"it is {alert.severity.name.lower()}", _why(self._of(alert), severity=True)
        )

    def _firing(self, place: Place, expected: str, alert: Alert) -> Failure:
        actual = f"{alert.key.rule} on {alert.scope} is firing ({alert.summary})"
        return self._failure(place, expected, actual, _why(self._of(alert)))

    def _known(self, rule: LocatedText) -> Failure:
        return self._failure(
            rule.place,
            f"{rule} unknown for some object",
            "it is known for all",
            _why(self._game.judged(rule)) or "it judges none of the objects",
        )

    def _unknown(self, rule: LocatedText) -> Failure:
        findings = [found for found in self._game.judged(rule) if found.when.truth is None]
        return self._failure(rule.place, f"{rule} known for all objects", "it is unknown for some", _why(findings))

    def _of(self, alert: Alert) -> Iterator[Finding]:
        return (found for found in self._game.judged(alert.key.rule) if found.name == alert.scope)


def _found(entry: FiringEntry, alerts: Iterable[Alert]) -> Alert | None:
    """The alert that an entry means: of several the one of the right severity, if there is one."""
    fitting = [alert for alert in alerts if _is_of(entry, alert)]
    right = (alert for alert in fitting if entry.severity in (None, alert.severity))
    return next(right, fitting[0] if fitting else None)


def _is_of(entry: FiringEntry, alert: Alert) -> bool:
    return alert.key.rule == entry.rule and (
        entry.object is None or entry.object in (str(alert.key.object), str(alert.scope))
    )


def _why(findings: Iterable[Finding], *, severity: bool = False) -> str:
    """The condition with its values, and what it comes to, of the first objects."""
    texts: list[str] = []
    for found in findings:
        if len(texts) == MOST_REASONS:
            texts.append("and others")
            break
        text = f"{found.name}: {' '.join(found.when.filled.split())} is {_TRUTH[found.when.truth]}"
        if found.when.truth is None and found.when.missing:
            text += " for " + ", ".join(f"{name} ({absence.value})" for name, absence in found.when.missing)
        if severity and found.severity is None:
            text += ", and its severity unknown"
        texts.append(text)
    return "; ".join(texts)

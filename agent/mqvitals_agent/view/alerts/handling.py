"""Who has an alert, what silences it, and whether somebody should look at it: for every list of alerts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mqvitals_agent.alerting.action import Acknowledgement, AckState, Note, Silence, acknowledgement_of
from mqvitals_agent.alerting.configured import calendar_of, site_labels
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.maintenance import NO_CALENDAR, Muting, SiteCalendar
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.actions import Handling
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity
from mqvitals_rules.ruleset.rule import RuleKind

Incident = tuple[AlertKey, int | None]
"""An alert from its beginning to its end: its key, and when it began to fire (ms UTC)."""

NEW, ACKNOWLEDGED, SILENCED, IN_MAINTENANCE, NO_MARK = "*", "a", "s", "m", " "
"""Marks of alerts, one ASCII character each, so that they are read without colours and weights too."""

MARK_WORDS: Mapping[str, str] = {
    NEW: "not acknowledged",
    ACKNOWLEDGED: "acknowledged",
    SILENCED: "silenced",
    IN_MAINTENANCE: "in maintenance",
}
"""The legend of the marks."""


@dataclass(frozen=True, slots=True)
class AlertActions:
    """What people did about an alert, by its number in the store; ``silences`` match it and had not ended when read, ``muting`` is the maintenance it is in."""

    number: int
    acknowledgements: tuple[Acknowledgement, ...] = ()
    notes: tuple[Note, ...] = ()
    silences: tuple[Silence, ...] = ()
    muting: Muting | None = None

    def at(self, alert: Alert, now: int) -> Handling:
        """What that means at ``now`` (ms UTC)."""
        active = [each for each in self.silences if each.active(now)]
        silence = max(active, key=lambda each: (each.ends, each.id), default=None)
        acknowledged = acknowledgement_of(alert, self.acknowledgements, now)
        return Handling(self.number, acknowledged, silence, self.acknowledgements, self.notes, self.muting)


@dataclass(frozen=True, slots=True)
class Handlings:
    """What people did about the alerts of a store, as of ``now`` (ms UTC) by the machine's clock.

    A ``past`` store asks nobody for anything.
    """

    actions: Mapping[Incident, AlertActions] = field(default_factory=lambda: MappingProxyType({}))
    now: int = 0
    past: bool = False

    def of(self, alert: Alert) -> Handling | None:
        """What people did about an alert; None for one that the store does not hold."""
        found = self.actions.get((alert.key, alert.started))
        return None if found is None else found.at(alert, self.now)

    def number(self, alert: Alert) -> int:
        """The number of an alert in the store, 0 for one that it does not hold."""
        found = self.actions.get((alert.key, alert.started))
        return 0 if found is None else found.number

    def asks(self, alert: Alert) -> bool:
        """Whether somebody should look at an alert: nobody has acknowledged or silenced it. Advice asks nobody."""
        if self.past or alert.kind_of_rule != RuleKind.OPERATIONAL.value:
            return False
        found = self.of(alert)
        if found is None:
            return alert.ended is None
        if alert.ended is not None and alert.worst < Severity.WARNING:
            return False
        return found.asks

    def is_acknowledged(self, alert: Alert) -> bool:
        """Whether somebody has acknowledged an alert, advice too."""
        found = None if self.past else self.of(alert)
        return found is not None and not found.acknowledged.state.asks

    def mark(self, alert: Alert) -> str:
        """One of the marks: whether somebody should look at an alert, or why nobody need."""
        if self.asks(alert):
            return NEW
        found = None if self.past or alert.kind_of_rule != RuleKind.OPERATIONAL.value else self.of(alert)
        if found is None or found.asks:
            return NO_MARK
        if not found.acknowledged.state.asks:
            return ACKNOWLEDGED
        return SILENCED if found.silence is not None else IN_MAINTENANCE

    def bold(self, alert: Alert) -> bool | None:
        """Whether an alert stands out on a list; None where that is left to its severity."""
        if self.past or alert.kind_of_rule != RuleKind.OPERATIONAL.value:
            return None
        return self.asks(alert)


@dataclass(frozen=True, slots=True)
class AlertSite:
    """What a site says of its alerts: their labels, and when maintenance is planned."""

    labeller: Labeller = field(default_factory=Labeller)
    calendar: SiteCalendar = NO_CALENDAR

    @classmethod
    def of(cls, settings: Settings, groups: Collection[str]) -> AlertSite:
        """For a store with these groups."""
        labeller = Labeller.of_store(settings.name, groups, site_labels(settings.labels))
        return cls(labeller, calendar_of(settings))


def read_alert_actions(
    alerts: Iterable[StoredAlert],
    actions: Actions,
    labeller: Labeller,
    people: int,
    muted: Mapping[int, Muting] = MappingProxyType({}),
) -> dict[Incident, AlertActions]:
    """What people did about these alerts; ``people`` is the machine's time, ms UTC, ``muted`` as of ``mutings``."""
    silences = tuple(each for each in actions.silences if each.ends > people)
    found = {}
    for number, alert in alerts:
        labels = labeller.labels_of(alert) if silences and alert.ended is None else {}
        matching = tuple(each for each in silences if each.matches(labels)) if labels else ()
        found[alert.key, alert.started] = AlertActions(
            number, actions.acknowledgements_of(number), actions.notes_of(number), matching, muted.get(number)
        )
    return found


def brief_words(handling: Handling | None, now: int) -> str:
    """Who has an alert or what silences it, for one line beside its summary: ``anna has it``; may be empty."""
    if handling is None:
        return ""
    made, silence = handling.acknowledged.by, handling.silence
    words = []
    if made is not None and handling.acknowledged.state is AckState.ACKNOWLEDGED:
        words.append(f"{safe(made.author)} has it")
    elif made is not None and handling.acknowledged.state is AckState.WORSE:
        words.append(f"worse than when {safe(made.author)} acknowledged it")
    if silence is not None:
        words.append(f"silenced until {since_words(silence.ends, now)}")
    elif handling.muting is not None:
        words.append(f"maintenance until {since_words(handling.muting.end, now)}")
    return ", ".join(words)


def legend(marks: Iterable[str]) -> str:
    """The meaning of the marks that occur: ``* not acknowledged, a acknowledged``; empty without any."""
    there = set(marks)
    return ", ".join(f"{mark} {words}" for mark, words in MARK_WORDS.items() if mark in there)

"""What people say about alerts: that they have one, that some are not wanted for a while, and notes.

They are rows of the store (``store/rows/alerts/actions.py``); here is what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import Final

from mqvitals_config.sections.matcher import Matcher, match
from mqvitals_rules.lifecycle.alert import Alert, Severity

_NOTES: Final = 3


def fingerprint(alert: Alert) -> str:
    """Identifies an incident: a digest of the alert's key and its start, 16 hex digits."""
    facts = json.dumps([alert.key.rule, *alert.key.object, alert.key.instance, alert.began_as])
    return blake2b(facts.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """``author`` has the alert: it needs no one else, and is not repeated.

    ``alert`` is the alert's number in the store, ``made`` and ``until`` are ms UTC (None: until the alert ends),
    ``severity`` is what the alert had then, ``undone`` when someone took it back.
    """

    id: int
    alert: int
    author: str
    made: int
    severity: Severity
    note: str = ""
    until: int | None = None
    undone: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of ``author`` about an alert, by its number in the store, at ``made`` (ms UTC)."""

    id: int
    alert: int
    author: str
    made: int
    text: str


@dataclass(frozen=True, slots=True)
class Silence:
    """Alerts that all ``matchers`` match are not notified from ``starts`` to ``ends`` (ms UTC, the end excluded)."""

    id: int
    matchers: tuple[Matcher, ...]
    author: str
    reason: str
    made: int
    starts: int
    ends: int

    def active(self, now: int) -> bool:
        """Whether it is in force at ``now`` (ms UTC)."""
        return self.starts <= now < self.ends

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether it is about an alert with these labels."""
        return match(self.matchers, labels)


class AckState(Enum):
    """Whether an alert is acknowledged, and if not, why it asks for it."""

    NEW = "no one has acknowledged it"
    ACKNOWLEDGED = "it is acknowledged"
    EXPIRED = "the acknowledgement was until a time that is over"
    WORSE = "it is worse than when it was acknowledged"
    UNDONE = "the acknowledgement was taken back"

    @property
    def asks(self) -> bool:
        """True when someone should look at the alert: it is shown bold, and notified."""
        return self is not AckState.ACKNOWLEDGED


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The state of an alert, and the acknowledgement behind it; None where there was none."""

    state: AckState
    by: Acknowledgement | None = None


def acknowledgement_of(alert: Alert, made: Sequence[Acknowledgement], now: int) -> Acknowledged:
    """What the acknowledgements ``made`` of an alert mean at ``now`` (ms UTC).

    The first that is in force counts, and is named; one that someone else adds later is kept beside it. Where none is
    in force, the newest says why. An alert that ends and begins again is another one, so it asks anew.
    """
    newest = Acknowledged(AckState.NEW)
    for each in sorted(made, key=lambda one: (one.made, one.id)):
        state = _state(alert, each, now)
        if state is AckState.ACKNOWLEDGED:
            return Acknowledged(state, each)
        newest = Acknowledged(state, each)
    return newest


def _state(alert: Alert, made: Acknowledgement, now: int) -> AckState:
    if made.undone is not None:
        return AckState.UNDONE
    if made.until is not None and now >= made.until:
        return AckState.EXPIRED
    return AckState.WORSE if alert.severity > made.severity else AckState.ACKNOWLEDGED


def silence_of(labels: Mapping[str, str], silences: Iterable[Silence], now: int) -> Silence | None:
    """The silence in force at ``now`` (ms UTC) that matches and ends last; None without one."""
    found = (each for each in silences if each.active(now) and each.matches(labels))
    return max(found, key=lambda each: (each.ends, each.id), default=None)


def last_own_action(
    author: str,
    acknowledgements: Iterable[Acknowledgement],
    silences: Iterable[Silence],
    ended: Collection[int],
    now: int,
) -> Acknowledgement | Silence | None:
    """What ``author`` did last and can still take back at ``now`` (ms UTC); None: nothing.

    That is an acknowledgement in force of an alert whose number is not among those ``ended``, or a silence that has not
    ended. Notes stay.
    """
    own: list[Acknowledgement | Silence] = [
        each
        for each in acknowledgements
        if each.author == author
        and each.undone is None
        and each.alert not in ended
        and (each.until is None or each.until > now)
    ]
    own += [each for each in silences if each.author == author and each.ends > now]
    return max(own, key=lambda each: each.made, default=None)


def made_together(
    last: Acknowledgement, acknowledgements: Iterable[Acknowledgement], ended: Collection[int]
) -> tuple[Acknowledgement, ...]:
    """The acknowledgements that an author made at once with the ``last`` one, and has not taken back, itself among them.

    One of each alert whose number is not among those ``ended``, in order of these numbers.
    """
    found = {
        each.alert: each
        for each in acknowledgements
        if (each.author, each.made, each.undone) == (last.author, last.made, None) and each.alert not in ended
    }
    return tuple(found[number] for number in sorted(found))


def action_annotations(
    acknowledged: Acknowledged, made: Sequence[Acknowledgement], notes: Sequence[Note]
) -> dict[str, str]:
    """What payloads say of people: ``acknowledged_by`` while it is, and ``note``, the last three, as ``anna: looking``.

    ``made`` and ``notes`` are all of the alert; the note of an acknowledgement is one, too.
    """
    found: dict[str, str] = {}
    if acknowledged.by is not None and not acknowledged.state.asks:
        found["acknowledged_by"] = acknowledged.by.author
    words = [(each.made, f"{each.author}: {each.note}") for each in made if each.note]
    words += [(each.made, f"{each.author}: {each.text}") for each in notes]
    if words:
        found["note"] = "; ".join(text for _, text in sorted(words, key=lambda each: each[0])[-_NOTES:])
    return found

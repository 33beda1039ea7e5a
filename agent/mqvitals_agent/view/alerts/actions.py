"""What people did about alerts, in words and as JSON: who has an alert, notes, silences, and who did what when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mqvitals_agent.alerting.action import (
    Acknowledged,
    Acknowledgement,
    AckState,
    Note,
    Silence,
    acknowledgement_of,
    silence_of,
)
from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.maintenance import Muting
from mqvitals_agent.store.rows.alerts.actions import Actions, AuditEntry
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.text.figure import age, counted, moment
from mqvitals_agent.text.styled import Line, Tone, line, wrapped
from mqvitals_agent.text.terminal import fit, safe
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_config.sections.matcher import matchers_text
from mqvitals_rules.timestamps import iso

NOTES_SHOWN = 3
"""The newest notes of an alert are shown; all of them in JSON."""


@dataclass(frozen=True, slots=True)
class Handling:
    """What people did about an alert, as of a moment: who has it, the silence that matches it, notes oldest first.

    ``muting`` is the maintenance window that mutes it, None also where the configuration was not looked at.
    """

    number: int
    acknowledged: Acknowledged
    silence: Silence | None
    acknowledgements: tuple[Acknowledgement, ...]
    notes: tuple[Note, ...]
    muting: Muting | None = None
    """The maintenance window that it is in."""

    @property
    def asks(self) -> bool:
        """Whether somebody should look at the alert: it is neither acknowledged, silenced, nor in maintenance."""
        return self.acknowledged.state.asks and self.silence is None and self.muting is None


def handling_of(
    stored: StoredAlert, labels: Labels, actions: Actions, now: int, muting: Muting | None = None
) -> Handling:
    """What people did about an alert with these labels, at ``now`` (ms UTC); ``muting`` is as of ``read_muted``."""
    made = actions.acknowledgements_of(stored.id)
    silence = None if stored.alert.ended is not None else silence_of(labels, actions.silences, now)
    acknowledged, notes = acknowledgement_of(stored.alert, made, now), actions.notes_of(stored.id)
    return Handling(stored.id, acknowledged, silence, made, notes, muting)


def handling_texts(handling: Handling, now: int) -> list[str]:
    """Who has the alert, what mutes it, and its newest notes, one text each; none where nobody did anything."""
    muting = "" if handling.muting is None else safe(handling.muting.text(now))
    texts = [acknowledged_words(handling.acknowledged, now), silenced_words(handling.silence, now), muting]
    return [text for text in texts if text] + list(note_texts(handling, now))


def acknowledged_words(found: Acknowledged, now: int) -> str:
    """``anna has it since 03:12:05, until 06:00:00``; empty where nobody has acknowledged it."""
    made = found.by
    if made is None:
        return ""
    author = safe(made.author)
    match found.state:
        case AckState.ACKNOWLEDGED:
            until = "" if made.until is None else f", until {since_words(made.until, now)}"
            return f"{author} has it since {since_words(made.made, now)}{until}"
        case AckState.WORSE:
            return f"it is worse than when {author} acknowledged it at {since_words(made.made, now)}"
        case AckState.EXPIRED if made.until is not None:
            return f"{author} had it until {since_words(made.until, now)}"
    return f"{author} had it; that was taken back"


def silenced_words(silence: Silence | None, now: int) -> str:
    """``silenced until 06:00:00 by ben (silence 3): batch run``; empty for None."""
    if silence is None:
        return ""
    return (
        f"silenced until {since_words(silence.ends, now)} by {safe(silence.author)} (silence {silence.id}):"
        f" {safe(silence.reason)}"
    )


def note_texts(handling: Handling, now: int) -> Iterator[str]:
    """The newest notes, those of acknowledgements among them, oldest first: ``ben 03:14:00: the reader is down``."""
    notes = [(each.made, each.author, each.note) for each in handling.acknowledgements if each.note]
    notes += [(each.made, each.author, each.text) for each in handling.notes]
    notes.sort(key=lambda each: each[0])
    if len(notes) > NOTES_SHOWN:
        yield counted(len(notes) - NOTES_SHOWN, "earlier note")
    for made, author, text in notes[-NOTES_SHOWN:]:
        yield f"{safe(author)} {since_words(made, now)}: {safe(text)}"


def handling_json(handling: Handling) -> dict[str, Any]:
    """What ``mqvitals alerts list --json`` adds to an alert: its number, who has it, silence, maintenance, all notes."""
    made, silence, muting = handling.acknowledged.by, handling.silence, handling.muting
    held = None
    if made is not None and not handling.acknowledged.state.asks:
        held = {"by": made.author, "at": iso(made.made), "until": None if made.until is None else iso(made.until)}
    notes = [(each.made, each.author, each.note) for each in handling.acknowledgements if each.note]
    notes += [(each.made, each.author, each.text) for each in handling.notes]
    return {
        "id": handling.number,
        "acknowledged": held,
        "silence": None if silence is None else silence.id,
        "maintenance": None
        if muting is None
        else {"name": muting.window.name, "until": iso(muting.end), "why": muting.why},
        "notes": [{"at": iso(at), "by": by, "text": text} for at, by, text in sorted(notes, key=lambda each: each[0])],
    }


def silence_state(silence: Silence, now: int) -> str:
    """``active``, ``pending`` or ``expired`` at ``now`` (ms UTC)."""
    if silence.active(now):
        return "active"
    return "pending" if silence.starts > now and silence.ends > silence.starts else "expired"


def shown_silences(silences: Iterable[Silence], now: int, *, expired: bool) -> list[Silence]:
    """Active ones first, then pending ones, then, if wanted, ``expired`` ones; the one that ends or begins next first."""
    listed = [each for each in silences if expired or silence_state(each, now) != "expired"]
    order = {"active": 0, "pending": 1, "expired": 2}

    def key(each: Silence) -> tuple[int, int, int]:
        state = silence_state(each, now)
        moments = {"active": each.ends, "pending": each.starts, "expired": -each.ends}
        return order[state], moments[state], each.id

    return sorted(listed, key=key)


def silence_lines(silence: Silence, now: int, width: int, matching: int = 0) -> list[Line]:
    """A silence in words; ``matching`` is how many alerts that fire now it matches."""
    state = silence_state(silence, now)
    match state:
        case "active":
            when = f"until {since_words(silence.ends, now)}, for {age(silence.ends - now)}"
        case "pending":
            when = f"from {since_words(silence.starts, now)} until {since_words(silence.ends, now)}"
        case _:
            when = f"ended {since_words(silence.ends, now)}"
    count = f"; {counted(matching, 'alert')} now" if state == "active" else ""
    first, indent = f"{fit(str(silence.id), 3, right=True)}  {fit(state, 7)}  ", " " * 5
    return [
        *wrapped(f"{when}, by {safe(silence.author)}{count}", width, first=first, rest=indent),
        *wrapped(safe(matchers_text(silence.matchers)), width, first=indent, rest=indent),
        *wrapped(safe(silence.reason), width, Tone.FAINT, first=indent, rest=indent),
    ]


def silence_json(silence: Silence, now: int, matching: Sequence[int]) -> dict[str, Any]:
    """A silence in ``mqvitals alerts silences --json``; ``matching`` are the numbers of the alerts that fire now."""
    return {
        "id": silence.id,
        "state": silence_state(silence, now),
        "matchers": [str(each) for each in silence.matchers],
        "author": silence.author,
        "reason": silence.reason,
        "made": iso(silence.made),
        "starts": iso(silence.starts),
        "ends": iso(silence.ends),
        "alerts": list(matching),
    }


def audit_lines(entries: Iterable[AuditEntry], width: int) -> list[Line]:
    """Who did what when, one entry after another."""
    found: list[Line] = []
    for each in entries:
        words = f"{safe(each.author)}: {safe(each.action)}, {safe(each.about)}"
        detail = f"; {safe(each.detail)}" if each.detail else ""
        found += wrapped(f"{words}{detail}", width, first=f"{moment(each.ts)}  ", rest=" " * 21)
    return found or [line("nobody did anything in this time")]


def audit_json(entry: AuditEntry) -> dict[str, Any]:
    """An entry in ``mqvitals alerts audit --json``."""
    return {
        "id": entry.id,
        "at": iso(entry.ts),
        "author": entry.author,
        "action": entry.action,
        "about": entry.about,
        "detail": entry.detail,
    }

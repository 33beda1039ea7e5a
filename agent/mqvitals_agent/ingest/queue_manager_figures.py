"""Figures of a queue manager that take the calendar: how long its release is supported, and which certificates expire."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from mqvitals_agent.ingest.messages import NewestMessage
from mqvitals_agent.store.older import PastReader
from mqvitals_rules.releases import CD, LTS, Support, release_table, version_words
from mqvitals_rules.ruleset.facts import Facts, entries_of
from mqvitals_rules.snapshot import Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported, Value
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.tables import metric

_KIND: Final = QUEUE_MANAGER_KIND.name
_PROBE: Final = "INQUIRE_Q_MGR"
_ZOS: Final = metric(_KIND, "platform").values["ZOS"]
_TYPES: Final = metric(_KIND, "release_type").values

_STARTING: Final = "CSQY000I"
_ANNOUNCED = re.compile(r"\bV(\d+\.\d+\.\d+)\S* (LTSR|CDR)\b")

_MOST_NAMED: Final = 3
"""So many certificates are named, those that expire first."""


class QueueManagerFigures:
    """Adds the figures to the attributes of queue managers. ``older`` has the console messages."""

    def __init__(self, facts: Facts, older: PastReader | None) -> None:
        self._facts = facts
        self._of_start = NewestMessage(older, _STARTING)

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the figures of its queue manager. Raises StoreError."""
        found = [
            place
            for place, reading in enumerate(snapshot.readings)
            if reading.object.kind == _KIND and _has_attributes(reading)
        ]
        if not found:
            return snapshot
        readings = list(snapshot.readings)
        for place in found:
            reading = readings[place]
            readings[place] = replace(reading, values={**reading.values, **self._figures(reading)})
        return replace(snapshot, readings=tuple(readings))

    def _figures(self, reading: Reading) -> Mapping[str, Reported]:
        facts = self._facts.of(reading.object)
        today = datetime.fromtimestamp(reading.ts / 1000, UTC).date()
        return {**self._support(reading, facts, today), **certificate_figures(facts.get("certificates"), today)}

    def _support(self, reading: Reading, facts: Mapping[str, Value], today: date) -> Mapping[str, Reported]:
        level = reading.values.get("command_level", Absence.NOT_RETURNED)
        if not isinstance(level, int):
            reason = level if isinstance(level, Absence) else Absence.OUT_OF_RANGE
            return dict.fromkeys(("release_type", "release_support_days_left", "release_support"), reason)
        zos = reading.values.get("platform") == _ZOS
        support = self._table(reading, level, zos=zos)
        declared = facts.get("supported_until")
        if isinstance(declared, str):
            support = _as_declared(declared, level, support)
        if support is None:
            support = Support(None, None, f"{version_words(level)}: not in the table of {release_table().as_of}")
        lacking = Absence.NEEDS_CONSOLE if zos else Absence.NOT_DECLARED
        return {
            "release_type": _TYPES[support.type] if support.type else lacking,
            "release_support_days_left": (support.until - today).days if support.until else Absence.NOT_DECLARED,
            "release_support": support.words,
        }

    def _table(self, reading: Reading, level: int, *, zos: bool) -> Support | None:
        """What the table of releases says; on z/OS the newest start tells LTS and CD of one number apart."""
        said = self._said(reading.object.owner, reading.ts) if zos else None
        announced = said[1] if said is not None and said[0] == version_words(level) else None
        return release_table().support(level, zos=zos, announced=announced)

    def _said(self, owner: str, now: int) -> tuple[str, str] | None:
        """Version and type as the newest CSQY000I has them, which comes at the start. Raises StoreError."""
        found = _ANNOUNCED.search(self._of_start.text(owner, now))
        return None if found is None else (found[1], LTS if found[2] == "LTSR" else CD)


def _as_declared(until: str, level: int, support: Support | None) -> Support:
    known = None if support is None else support.type
    day = date.fromisoformat(until)
    release = f"{version_words(level)} {known}" if known else version_words(level)
    return Support(known, day, f"{release}: supported until {day}, as declared")


def certificate_figures(declared: object, today: date) -> Mapping[str, Reported]:
    """Of the declared certificates: days until the first of them expires, and which these are."""
    entries = entries_of(declared) if isinstance(declared, str) else ()
    found = sorted((date.fromisoformat(until), label) for label, until in entries)
    if not found:
        return dict.fromkeys(("certificate_days_left", "certificate_next"), Absence.NOT_DECLARED)
    named = [f"{label} on {until}" for until, label in found[:_MOST_NAMED]]
    more = len(found) - len(named)
    words = ", ".join([*named, f"{more} later"] if more else named)
    return {"certificate_days_left": (found[0][0] - today).days, "certificate_next": words}


def _has_attributes(reading: Reading) -> bool:
    return reading.probe == _PROBE and reading.source is Source.POLL and reading.answered and not reading.gone

"""Increases as rates: what a counter grew by, over the time that it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

RATE: Mapping[str, str] = {"channel": "msgs", "log": "written_bytes"}
"""The counter of each kind that lists show as a rate."""

PER_SECOND = "per_second"
"""Where the rate stands among an object's values."""

Values = Mapping[str, CurrentValue]


def with_rates(reader: StoreReader, kind: str, found: Mapping[ObjectName, Values]) -> dict[ObjectName, Values]:
    """The objects of one owner with their rates added. Raises StoreError."""
    counter = RATE[kind]
    covered = _interval_ms(reader, counter, found)
    return {
        name: {**values, PER_SECOND: _rate(values[counter], covered)} if counter in values else values
        for name, values in found.items()
    }


def _rate(told: CurrentValue, interval_ms: int | None) -> CurrentValue:
    if told.source is not Source.POLL:
        interval_ms = told.interval_ms
    if isinstance(told.value, Absence | str):
        return told
    if not interval_ms:
        return told._replace(value=Absence.FIRST_READING)
    return told._replace(value=1000 * told.value / interval_ms)


def _interval_ms(reader: StoreReader, counter: str, found: Mapping[ObjectName, Values]) -> int | None:
    """What the newest increase covers; one answer brings those of all objects of an owner, so one of them tells it."""
    told = {
        name: values[counter].ts or 0
        for name, values in found.items()
        if counter in values
        and values[counter].source is Source.POLL
        and not isinstance(values[counter].value, Absence)
    }
    if not told:
        return None
    newest = max(told, key=lambda name: told[name])
    # Polls after it brought no answer, and so no increase.
    samples = reader.samples(newest, counter, first=told[newest], last=told[newest])
    return samples[-1].interval_ms if samples else None

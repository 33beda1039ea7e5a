"""Ways through the past of a store: each gives the moment where it ends, from the one where it begins.

They run in the feed's thread, beside the reader. A moment is ms UTC; None is now: the store as it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import Final, NamedTuple

from textual.message import Message

from mqvitals_agent.commandline.as_of import kept_moment
from mqvitals_agent.errors import Failure
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.text.figure import moment, times_in, zone_name

SPEEDS: Final = (1, 10, 60)
"""How many times as fast as it was the past is played."""


class Arrival(NamedTuple):
    """Where a way ended, and a sentence for who took it, empty: where it was to end."""

    at: int | None
    words: str = ""


Way = Callable[[StoreReader, int | None], Arrival]
"""From a moment to another; raises StoreError."""


class Travelled(Message):
    """Ways were taken: the last one ended at ``at``. ``feed`` is the one that took them."""

    def __init__(self, at: int | None, words: str, feed: object = None) -> None:
        super().__init__()
        self.at = at
        self.words = words
        self.feed = feed


class Player:
    """Whether the past is played, how fast, and whether what is shown is ``away`` from now, or about to be."""

    def __init__(self) -> None:
        self.playing = False
        self.away = False
        self.speed = SPEEDS[0]

    @property
    def words(self) -> str:
        """What there is to say: ``playing x10``; empty: nothing."""
        if self.playing:
            return f"playing x{self.speed}"
        return "" if self.speed == SPEEDS[0] else f"x{self.speed}"

    def faster(self) -> None:
        """The next speed; after the last one the first."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]

    def arrive(self, at: int | None) -> None:
        """A way ended at ``at``; None: it is now, where nothing is played."""
        self.away = at is not None
        self.playing = self.playing and self.away


def one_step(step: TimeStep, *, on: bool) -> Way:
    """One cycle, or one transition of an alert, back or ``on``; beyond the newest one it is now."""

    def way(reader: StoreReader, at: int | None) -> Arrival:
        if at is None and on:
            return Arrival(None, "This is now: [ and { lead back from here")
        found = reader.step(at, step, on=on)
        newest = reader.last_ts() if on else None
        if found is not None and (newest is None or found < newest):
            return Arrival(found)
        if found is not None:
            # The newest cycle is what is shown now.
            return Arrival(None)
        if on:
            return Arrival(None, f"There is no later {step.value}: this is now again")
        return Arrival(at, f"The store has no earlier {step.value}")

    return way


def to_moment(wanted: int, zone: tzinfo) -> Way:
    """To a moment, ms UTC, where the store has something by then; ``zone`` is that of the words."""

    def way(reader: StoreReader, at: int | None) -> Arrival:
        try:
            with times_in(zone):
                kept = kept_moment(reader, "The moment", wanted)
        except Failure as failure:
            return Arrival(at, f"{failure.message}; {failure.hint}" if failure.hint else failure.message)
        # A time is written to the second: the cycle that began in it belongs to it.
        return Arrival(reader.end_of_cycle(kept))

    return way


def to_alert(number: int) -> Way:
    """To the cycle in which the alert with this number began to fire."""

    def way(reader: StoreReader, at: int | None) -> Arrival:
        stored = reader.alert(number)
        if stored is None:
            return Arrival(at, f"The store has no alert {number}")
        started = stored.alert.started
        if started is None:
            return Arrival(at, f"Alert {number} has not begun to fire")
        return Arrival(reader.end_of_cycle(started))

    return way


def played(ms: int) -> Way:
    """Go on by so many ms; where the store ends it is now."""

    def way(reader: StoreReader, at: int | None) -> Arrival:
        if at is None:
            return Arrival(None)
        newest = reader.last_ts()
        if newest is None or at + ms >= newest:
            return Arrival(None, "The past has been played to its end: this is now again")
        return Arrival(at + ms)

    return way


def to_now(_: StoreReader, at: int | None) -> Arrival:
    """To now."""
    return Arrival(None, "This is now already" if at is None else "")


def refusal(what: str, at: int, zone: tzinfo) -> str:
    """Why nothing is done in the past; ``what`` is what works only now."""
    with times_in(zone):
        return f"This is the past, {moment(at)} {zone_name(at)}: {what} only now. l leads back to now"

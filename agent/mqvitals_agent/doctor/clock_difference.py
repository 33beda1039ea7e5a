"""How far a queue manager's clock and ours are apart, and what its local times say of its time zone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

TOLERATED_MS = 5_000
"""Beyond it ages are visibly wrong, and a time zone cannot be derived."""
_HUNDREDTH = 10  # ms: what the queue manager's put time is cut to


class Sighting(NamedTuple):
    """A reply's put time by the queue manager's clock, and by ours when its request was put and the answer had come; ms UTC."""

    put: int
    asked: int
    answered: int


class Told(NamedTuple):
    """What the clocks or the zone look like: in words, for programs, and whether something is to be done."""

    text: str
    facts: dict[str, object]
    advised: bool = False


@dataclass(frozen=True, slots=True)
class NewestTime:
    """The newest local time (ms since 1970 on the local clock face) in an answer asked for at ``at`` that took ``took`` ms."""

    local: int
    at: int
    took: int


def difference_ms(sightings: Iterable[Sighting]) -> int | None:
    """How far the queue manager's clock is ahead of ours (negative: behind), at least; None without put times.

    A reply is put between its request and its arrival, so each says how small and how great the difference can be; all
    together narrow it down. 0 when there need be none.
    """
    seen = list(sightings)
    if not seen:
        return None
    least = max(put - answered for put, _, answered in seen)
    most = min(put + _HUNDREDTH - asked for put, asked, _ in seen)
    if least > most:
        # The clocks did not go alike meanwhile: the middle is as good as anything.
        return (least + most) // 2
    if least > 0:
        return least
    return min(most, 0)


def clocks(difference: int) -> Told:
    """What a difference between the clocks (ms) means."""
    facts: dict[str, object] = {"difference_ms": difference}
    if abs(difference) <= TOLERATED_MS:
        apart = f"The clocks are {_length(difference)} apart." if difference else "The clocks agree."
        return Told(apart, facts)
    where = "ahead of" if difference > 0 else "behind"
    text = (
        f"The queue manager's clock is {_length(difference)} {where} ours. Ages such as the time since the last get are wrong"
        " by as much, and no time zone can be derived from its local times. Set the clock here by NTP; a z/OS system takes"
        " its time from STP."
    )
    return Told(text, facts, advised=True)


def zone(declared: str | None, where: tzinfo | None, newest: NewestTime | None) -> Told:
    """What is known of the zone of the local times. ``where`` is the zone ``declared``; ``newest`` None: no answer told one.

    One answer's newest time proves no zone: the agent takes three polls that agree. So none is guessed here.
    """
    if declared is None or where is None:
        text = (
            "No time zone is declared. The agent derives it once three polls with newer and newer times agree, and of an"
            " idle queue manager never. Until it is known, ages (of messages, gets, puts, backups) are absent, and rules about"
            " them do not judge. Declare time_zone in the settings."
        )
        return Told(text, {"time_zone": "not declared"}, advised=True)
    facts: dict[str, object] = {"time_zone": declared}
    if newest is None:
        return Told(f"{declared} is declared. No local time was told to compare it with.", facts)
    told = datetime.fromtimestamp(newest.local / 1000, UTC).replace(tzinfo=where)
    ahead = int(told.timestamp() * 1000) - newest.at - newest.took
    if ahead <= TOLERATED_MS:
        return Told(f"{declared} is declared.", facts)
    text = (
        f"{declared} is declared, but with it the newest local time of the answers lies {_length(ahead)} in the future:"
        " the zone is another one, or the clocks differ. Ages are wrong with it."
    )
    return Told(text, {**facts, "ahead_ms": ahead}, advised=True)


def _length(ms: int) -> str:
    seconds = abs(ms) / 1000
    # Beyond two minutes hours and minutes read better.
    return f"{seconds:.1f} s" if seconds < 120 else str(timedelta(seconds=round(seconds)))

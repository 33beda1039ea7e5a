"""The places of the main screen: their keys, their names, and what each wants to be read."""

from __future__ import annotations

from typing import NamedTuple

from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import AGENT, ALERTS, LIST, OVERVIEW, FrameRequest
from mqvitals_agent.view.lists import STORAGE


class Place(NamedTuple):
    """A place: the key that leads there, its title, a shorter one for narrow terminals, and what it wants."""

    id: str
    key: str
    title: str
    short: str
    want: FrameRequest

    @property
    def columns(self) -> str:
        """What its table's columns are called, empty for a place without a table."""
        return self.want.kind or ("agent" if self.want.screen == AGENT else "")


PLACES = (
    Place("overview", "1", "Overview", "Overview", FrameRequest(OVERVIEW)),
    Place("channels", "2", "Channels", "Channels", FrameRequest(LIST, "channel")),
    Place("queues", "3", "Queues", "Queues", FrameRequest(LIST, "queue")),
    Place("storage", "4", "Storage", "Storage", FrameRequest(LIST, STORAGE)),
    Place("structures", "5", "Coupling facility", "CF", FrameRequest(LIST, "cf_structure")),
    Place("chinit", "6", "Channel initiator", "Chinit", FrameRequest(LIST, "channel_initiator")),
    Place("logs", "7", "Logs", "Logs", FrameRequest(LIST, "log")),
    Place("alerts", "8", "Alerts", "Alerts", FrameRequest(ALERTS)),
    Place("agent", "0", "Agent", "Agent", FrameRequest(AGENT)),
)

DATA_SETS = Place("data_sets", "", "Shared message data sets", "SMDS", FrameRequest(LIST, "smds"))
"""Lies behind the structures that use them: it has no digit of its own, and the row marks theirs."""

STRUCTURES = next(place for place in PLACES if place.id == "structures")

CHINIT = next(place for place in PLACES if place.id == "chinit")

QUEUES = next(place for place in PLACES if place.id == "queues")

BEHIND = {DATA_SETS.id: STRUCTURES, STRUCTURES.id: DATA_SETS}
"""Where the key of a place leads who is there already."""

BY_ID = {place.id: place for place in (*PLACES, DATA_SETS)}


def place_row(current: str, width: int) -> tuple[Line, tuple[tuple[int, int, str], ...]]:
    """The row of places with the ``current`` one marked, in ``width`` cells if it can be; and where each is (from, to, id)."""
    if current == DATA_SETS.id:
        current = STRUCTURES.id
    for gap, short in (("   ", False), ("  ", False), ("  ", True), (" ", True)):
        spans: list[Span] = []
        where: list[tuple[int, int, str]] = []
        x = 0
        for place in PLACES:
            words = place.short if short else place.title
            lead = gap if spans else " "
            text = f"{place.key} {words}"
            if place.id == current:
                # The mark stands in the gap, so that nothing moves when the place changes.
                spans += [Span(lead[:-1]), Span("›", Tone.INFO), Span(text, Tone.STRONG)]
            else:
                spans += [Span(lead), Span(text, Tone.FAINT)]
            where.append((x + cells(lead), x + cells(lead) + cells(text), place.id))
            x += cells(lead) + cells(text)
        if x <= width:
            break
    return Line(tuple(spans)), tuple(where)

"""The incident that an alert is part of, on the screen of its object."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_agent.text.figure import number, object_words
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.view.status import StatusView
from mqvitals_rules.lifecycle.alert import Alert

MOST_EFFECTS = 5
"""So many of the alerts that one brought about are named."""


def incident_lines(alert: Alert, status: StatusView, indent: int, width: int) -> Iterator[Line]:
    """Which alert brought this one about, and which ones it brought about; the key of each line is that one's object.

    Those about the same object stand on the same screen anyway.
    """
    lead = " " * indent
    own = alert.key.object
    cause = status.explained.get(alert.key)
    told = [] if cause is None or cause.object == own else [("brought about by", cause)]
    effects = [
        each.key for each in status.firing if status.explained.get(each.key) == alert.key and each.key.object != own
    ]
    told += [("brought about", key) for key in effects[:MOST_EFFECTS]]
    for words, key in told:
        text = cut(f"{lead}{words} {safe(key.rule)} {object_words(key.object)}", width)
        yield Line((Span(text, Tone.FAINT),), str(key.object))
    if len(effects) > MOST_EFFECTS:
        yield line(f"{lead}brought about {number(len(effects) - MOST_EFFECTS)} more", Tone.FAINT)

"""Which alerts belong to one incident, on the screen of an object."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mqvitals_agent.view.screens.object.page import MOST_EFFECTS, incident_lines
from mqvitals_agent.view.status import StatusData, status_of
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM02", "queue", "BATCH.FEED")
PAGE_SET = ObjectName("QM02", "page_set", "4")


def test_the_cause_and_what_it_brought_about(healthy: StatusData, group: Any) -> None:
    """Each says the other one's rule and object, and Enter leads there; an alert alone says nothing, nor does one about the same object."""
    cause = group.alert("Q-03", QUEUE, Severity.CRITICAL)
    effect = replace(group.alert("PS-01", PAGE_SET, Severity.WARNING), cause=cause.key)
    alone = group.alert("CHL-16", ObjectName("QM01", "channel", "TO.QM02"), Severity.WARNING)
    same = replace(group.alert("Q-01", QUEUE, Severity.WARNING), cause=cause.key)
    status = status_of(replace(healthy, alerts=(cause, effect, alone, same)))
    told = {each: [(line.text, line.key) for line in incident_lines(each, status, 4, 80)] for each in status.firing}
    assert told == {
        cause: [("    caused PS-01 QM02 page set 4", str(PAGE_SET))],
        effect: [("    caused by Q-03 QM02 BATCH.FEED", str(QUEUE))],
        alone: [],
        same: [],
    }


def test_of_many_the_rest_is_counted(healthy: StatusData, group: Any) -> None:
    """The screen has room for a few; no line is wider than it."""
    cause = group.alert("LOG-04", ObjectName("QM01", "log"), Severity.CRITICAL)
    effects = [
        replace(group.alert("CHL-06", ObjectName("QM01", "channel", f"TO.{n}"), Severity.WARNING), cause=cause.key)
        for n in range(MOST_EFFECTS + 7)
    ]
    lines = list(incident_lines(cause, status_of(replace(healthy, alerts=(cause, *effects))), 4, 24))
    assert len(lines) == MOST_EFFECTS + 1
    assert lines[-1].text == "    caused 7 more"
    assert all(len(line.text) <= 24 for line in lines)

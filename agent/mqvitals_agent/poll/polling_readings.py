"""Readings about the polling itself: whether each queue manager can be reached, what it did with each form of command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqvitals_agent.connection.connection import MqiCalls
from mqvitals_agent.poll.command_form import display_command
from mqvitals_agent.poll.cycle import CycleData, KnownObject
from mqvitals_rules.snapshot import ObjectName, Reading
from mqvitals_rules.vocabulary.agent import AGENT_KIND as AGENT
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND as QUEUE_MANAGER

_NO_INTERVAL: Mapping[str, Reported] = {"every_ms": Absence.NOT_RETURNED, "stretched": Absence.NOT_RETURNED}
"""The interval in force where it is unknown, as in a recording."""


class PollingReadings:
    """Makes these readings, and keeps what they need from one cycle to the next."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], KnownObject] = {}
        self._intervals: dict[tuple[str, str], dict[str, Reported]] = {}
        self._calls: dict[str, MqiCalls] = {}
        self._hung: dict[str, int] = {}
        self._unanswered: set[tuple[str, str]] = set()
        """Queue managers and forms of command that another member may answer instead."""

    def remember(self, queue_manager: str, form: str) -> None:
        """This form of command was sent to the queue manager in an earlier run."""
        self._unanswered.add((queue_manager, form))

    def shift(self, by_ms: int) -> None:
        """The clock that dates exchanges was set by ``by_ms`` between two cycles."""
        for known in self._known.values():
            known.shift(by_ms)

    def set_interval(self, queue_manager: str, form: str, interval_ms: int, doubled: int = 0) -> None:
        """This form of command is sent to the queue manager every ``interval_ms``, doubled ``doubled`` times."""
        self._intervals[queue_manager, form] = {"every_ms": interval_ms, "stretched": doubled}

    def set_calls(self, queue_manager: str, calls: MqiCalls) -> None:
        """So many calls of MQ hung so far, and hang now."""
        self._calls[queue_manager] = calls

    def connection(self, owner: str, cycle: CycleData) -> Reading:
        """Whether a queue manager can be reached."""
        ts = cycle.time_of(owner)
        contact = cycle.contacts.get(owner)
        name = self._known_as(owner, "", QUEUE_MANAGER.name)
        if contact is None and owner not in cycle.first:
            names = ("reachable", "reason", "unknown_ccsid", "hung_calls", "hanging_calls")
            values: dict[str, Reported] = dict.fromkeys(names, Absence.NOT_ASKED)
            # No attempt was made: neither good nor bad.
            return Reading(name.object, "CONNECTION", ts, values, poll=False, answered=False)
        reason = 0 if contact is None else contact.reason
        values = {
            "reachable": int(reason == 0),
            "reason": reason,
            "unknown_ccsid": cycle.unknown_ccsids.get(owner, 0),
            **self._hung_calls(owner),
        }
        interval = name.answered(ts if contact is None else contact.at)
        return Reading(name.object, "CONNECTION", ts, values, interval)

    def _hung_calls(self, owner: str) -> dict[str, Reported]:
        calls = self._calls.get(owner)
        if calls is None:
            return {"hung_calls": Absence.NOT_LIVE, "hanging_calls": Absence.NOT_LIVE}
        before = self._hung.get(owner, 0)
        self._hung[owner] = calls.hung
        # Another connector, after settings were read again, counts from none.
        return {"hung_calls": calls.hung - (before if before <= calls.hung else 0), "hanging_calls": calls.hanging}

    def _known_as(self, owner: str, name: str, kind: str = AGENT.name) -> KnownObject:
        known = self._known.get((owner, name))
        if known is None:
            known = self._known[owner, name] = KnownObject(ObjectName(owner, kind, name))
        return known

    def commands(self, owner: str, cycle: CycleData) -> Iterator[Reading]:
        """What a queue manager did with each form of command.

        One that it did not answer is gone once another member answers it: it is not sent to this one any more, and
        whether it would answer now is not known.
        """
        ts = cycle.time_of(owner)
        commands = cycle.commands.get(owner, {})
        for form in sorted(form for name, form in self._unanswered if name == owner and form not in commands):
            if cycle.answered_elsewhere(form, owner):
                self._unanswered.discard((owner, form))
                known = self._known_as(owner, form)
                del self._known[owner, form]
                yield Reading(known.object, "COMMAND", ts, {}, known.answered(ts), gone=True)
        for form, tally in commands.items():
            if owner in cycle.for_any.get(form, ()) and not tally.answered:
                self._unanswered.add((owner, form))
            else:
                self._unanswered.discard((owner, form))
            known = self._known_as(owner, form)
            values = {
                **tally.values(),
                "mqsc": display_command(form),
                **self._intervals.get((owner, form), _NO_INTERVAL),
            }
            yield Reading(known.object, "COMMAND", ts, values, known.answered(ts))

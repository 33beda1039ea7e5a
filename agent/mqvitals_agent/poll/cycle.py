"""What one cycle collected: rows, the results of its queries, the outcome of each form of command; increases of counters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, READ_EVENTS
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.poll.probe import CycleRows, ProbePart, RequestSelection
from mqvitals_agent.poll.statistics import StatisticsRecord
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTERS
from mqvitals_rules.vocabulary.metric import Absence, Reported, within_range

NO_INTERVAL: Mapping[str, Reported] = {"every_ms": Absence.NOT_RETURNED, "stretched": Absence.NOT_RETURNED}
"""The interval in force where it is unknown, as in a recording."""


_QUESTIONS: Mapping[int, str] = {BROWSE_DEAD_LETTERS: DEAD_LETTERS, READ_EVENTS: "EVENTS"}
"""Questions that are no commands of MQ."""


def command_form(command: int, scope: str = "") -> str:
    """``INQUIRE_ARCHIVE``, ``INQUIRE_CHANNEL_STATUS CMDSCOPE(*)``; the number where the command has no known name."""
    name = _QUESTIONS.get(command) or command_name(command) or f"COMMAND {command}"
    return f"{name} CMDSCOPE({scope})" if scope else name


_DISPLAY: Mapping[str, str] = {
    "INQUIRE_Q_MGR": "QMGR",
    "INQUIRE_Q_MGR_STATUS": "QMSTATUS",
    "INQUIRE_Q": "QUEUE",
    "INQUIRE_Q_STATUS": "QSTATUS",
    "INQUIRE_CHANNEL": "CHANNEL",
    "INQUIRE_CHANNEL_STATUS": "CHSTATUS",
    "INQUIRE_CLUSTER_Q_MGR": "CLUSQMGR",
    "INQUIRE_CONNECTION": "CONN",
    "INQUIRE_CF_STRUC": "CFSTRUCT",
    "INQUIRE_CF_STRUC_STATUS": "CFSTATUS",
    "INQUIRE_SMDS": "SMDS",
    "INQUIRE_SMDSCONN": "SMDSCONN",
    "INQUIRE_USAGE": "USAGE",
    "INQUIRE_CHANNEL_INIT": "CHINIT",
    "INQUIRE_LOG": "LOG",
    "INQUIRE_ARCHIVE": "ARCHIVE",
    "INQUIRE_SYSTEM": "SYSTEM",
    "INQUIRE_QSG": "GROUP",
    "INQUIRE_STG_CLASS": "STGCLASS",
    "INQUIRE_SECURITY": "SECURITY",
    "INQUIRE_PUBSUB_STATUS": "PUBSUB",
    "INQUIRE_SUBSCRIPTION": "SUB",
    "INQUIRE_THREAD": "THREAD",
    "INQUIRE_TRACE": "TRACE",
}
"""What each command displays in MQSC; the profile in class MQCMDS that protects it has the same keyword."""


def display_command(form_name: str) -> str:
    """``DISPLAY CHSTATUS`` for ``INQUIRE_CHANNEL_STATUS`` in any form; the command itself where MQSC has none."""
    command = form_name.partition(" CMDSCOPE(")[0]
    keyword = _DISPLAY.get(command)
    return f"DISPLAY {keyword}" if keyword else command


@dataclass(slots=True)
class CommandTally:
    """What one queue manager did with one form of command in a cycle.

    ``outcome`` is the worst (the greatest number), ``reason`` belongs to it; the rest are sums.
    """

    outcome: Outcome = Outcome.OK
    reason: int = 0
    commands: int = 0
    replies: int = 0
    bytes: int = 0
    elapsed_ms: int = 0

    def note(self, outcome: Outcome, reason: int) -> None:
        """Take one more outcome into account."""
        if outcome.value > self.outcome.value:
            self.outcome, self.reason = outcome, reason

    def values(self) -> dict[str, Reported]:
        """The metrics of kind ``agent`` that count something."""
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "commands": self.commands,
            "replies": self.replies,
            "bytes": self.bytes,
            "elapsed_ms": self.elapsed_ms,
        }


@dataclass(slots=True)
class QueryResult:
    """One question that was put to an owner, and what of its answer: ``absence`` None means that it came whole.

    ``failed`` are the objects that the answer names without attributes.
    """

    selection: RequestSelection
    absence: Absence | None
    failed: frozenset[str] = frozenset()


@dataclass(slots=True)
class ConnectAttempt:
    """The last attempt of the cycle to talk to a queue manager: ``reason`` is 0 when it could be reached."""

    reason: int
    at: int


@dataclass(slots=True)
class CycleData:
    """Everything that the exchanges of one cycle hold.

    ``first`` is when the first request for each owner was put, ``began`` the first of all; ``clock`` the queue
    managers' own clocks at their last reply; ``unknown_ccsids`` the CCSIDs of their answers that are not known here.
    """

    rows: CycleRows = field(default_factory=CycleRows)
    asked: dict[tuple[ProbePart, str], list[QueryResult]] = field(default_factory=dict)
    commands: dict[str, dict[str, CommandTally]] = field(default_factory=dict)
    contacts: dict[str, ConnectAttempt] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    clock: dict[str, int] = field(default_factory=dict)
    unknown_ccsids: dict[str, int] = field(default_factory=dict)
    began: int | None = None
    records: list[StatisticsRecord] = field(default_factory=list)
    """From statistics messages."""

    def tally(self, owner: str, form: str) -> CommandTally:
        """The tally of a form of command at a queue manager."""
        forms = self.commands.setdefault(owner, {})
        tally = forms.get(form)
        if tally is None:
            tally = forms[form] = CommandTally()
        return tally

    def ask(self, part: ProbePart, owner: str, asked: QueryResult) -> None:
        """Note a question."""
        self.asked.setdefault((part, owner), []).append(asked)

    def time_of(self, owner: str) -> int:
        """When the first request for this owner was put, else when the cycle began."""
        return self.first.get(owner, self.began or 0)

    def touch(self, owner: str, at: int) -> None:
        """Note that a request for this owner was put."""
        self.first.setdefault(owner, at)


_HALVES = 2


def missing_reason(
    name: str, questions: Sequence[QueryResult], default: Absence | None, *, client: bool | None = None
) -> Absence | None:
    """Why an object is missing: None when a complete answer would hold it; NOT_ASKED without a query.

    ``client``: whether a channel is a server connection, None where that is not known or makes no difference. Then only
    answers about both halves prove that it is not there.
    """
    found = default or Absence.NOT_ASKED
    whole: set[bool | None] = set()
    for asked in questions:
        if name in asked.failed:
            return asked.absence or Absence.NO_ANSWER
        half = asked.selection.clients
        if not asked.selection.selects(name) or (half is not None and client is not None and half is not client):
            continue
        if asked.absence is None:
            whole.add(half)
        elif found is not Absence.UNREACHABLE:
            found = asked.absence
    return None if None in whole or (client in whole if client is not None else len(whole) == _HALVES) else found


SATURATED_AT = 999_999_999
"""Channel counters stop, or wrap, here."""

_Key = TypeVar("_Key", bound=Hashable)
Totals = Mapping[str, Reported]
"""Metric name to the running total, or why it is absent."""


class Counters:
    """Running totals to increases: what a counter grew by since the previous answer that holds it.

    A channel's counters begin again with each start of it, stick at 999,999,999 or wrap past it. So the previous totals
    are kept for each instance, known by its key (which holds its start), and a decrease does not show how much was
    counted meanwhile. An instance's increase is absent when

    * its total is absent, for that reason;
    * the object has no reading before this: first reading; the object has, but not this instance: reset;
    * its total is pinned at ``saturated_at``: saturated;
    * its total is below the previous one, for it was reset or has wrapped: reset.

    An object with several instances has the sum of the increases of those that were there before; absent as soon as
    one of them is absent. An instance that is new beside others counts from its next reading on, for its first total
    proves nothing about this interval. When all are new: reset.
    """

    def __init__(self, metrics: Sequence[str], *, saturated_at: int | None = None) -> None:
        self._metrics = tuple(metrics)
        self._saturated_at = saturated_at
        self._previous: dict[Hashable, Mapping[Any, Totals]] = {}

    def increases(
        self, owner: Hashable, instances: Mapping[_Key, Totals]
    ) -> tuple[dict[str, Reported], dict[_Key, dict[str, Reported]]]:
        """The increases of all counters of the object ``owner``, together and by instance.

        ``instances`` are the current ones' totals by instance key, remembered for the next call. Without instances (an
        inactive channel) there are no increases, but that the object was there is remembered: its next instance is new.
        """
        before = self._previous.get(owner)
        self._previous[owner] = dict(instances)
        if not instances:
            return {}, {}
        new = Absence.FIRST_READING if before is None else Absence.RESET
        each = {
            key: {
                metric: self._increase(None if before is None else before.get(key), metric, totals, new)
                for metric in self._metrics
            }
            for key, totals in instances.items()
        }
        if len(each) == 1:
            (only,) = each.values()
            return only, each
        if before is None:
            return dict.fromkeys(self._metrics, Absence.FIRST_READING), each
        there = [increases for key, increases in each.items() if key in before]
        fresh = [totals for key, totals in instances.items() if key not in before]
        return {metric: self._sum(metric, there, fresh) for metric in self._metrics}, each

    def forget(self, owner: Hashable) -> None:
        """The object is gone; should its name return, it is another."""
        self._previous.pop(owner, None)

    def _increase(self, before: Totals | None, metric: str, totals: Totals, new: Absence) -> Reported:
        now = totals.get(metric)
        if type(now) is not int:
            return now if isinstance(now, Absence) else Absence.NOT_RETURNED
        if before is None:
            return new
        if now == self._saturated_at:
            return Absence.SATURATED
        old = before.get(metric)
        if type(old) is not int:
            return Absence.FIRST_READING
        return within_range(now - old) if now >= old else Absence.RESET

    def _sum(self, metric: str, there: Sequence[Totals], fresh: Sequence[Totals]) -> Reported:
        if self._saturated_at is not None and any(totals.get(metric) == self._saturated_at for totals in fresh):
            return Absence.SATURATED
        steps = [increases[metric] for increases in there]
        absent = [step for step in steps if isinstance(step, Absence)]
        if absent:
            return Absence.SATURATED if Absence.SATURATED in absent else absent[0]
        return within_range(sum(step for step in steps if type(step) is int)) if steps else Absence.RESET

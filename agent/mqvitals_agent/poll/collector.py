"""Exchanges in, snapshots out: one for each queue manager and cycle, and one for the group.

What belongs to whom. A reply's items belong to the queue manager that names itself in it, whichever connection it
came over. Structures, shared message data sets and the queue-sharing group belong to the group, as do queues of
disposition SHARED.

One reading an object, probe and cycle. When several answers of a cycle hold one object, the queue manager's own
(unscoped) answer goes before a scoped one, then the newest, metric by metric. For shared queues see
``kinds/shared_queues``, for channels with several instances ``kinds/channel``, for counters ``counters``, for local
times ``local_time``.

An answer counts only for what its request selected, and only when it came whole:

* an object known before, selected by a whole answer and not in it, is gone: it gets one last reading. "Not found"
  is a whole answer without objects. A channel is not gone but inactive, as is one that is defined and has no status;
* an object known before, selected by a query whose answer failed or is incomplete, and in no message of the cycle,
  gets an unanswered reading with the reason: no answer, not authorised, unreachable;
* when a queue manager cannot be reached in a cycle, every object whose poll belongs to it and that no message holds
  gets such a reading, whether its probe could still be asked or not; for the group's things that is the queue manager
  that answered for them last. A probe that was not due gives nothing;
* a query with a filter proves nothing about objects that are not in its answer.

Every queue manager, also one that is silent, has a snapshot with a reading of its connection. It is unreachable when
the last exchange with it in the cycle failed for want of a connection; a wait that ended without a reply is no such
failure.

Every form of command, with or without a probe, has a reading of kind ``agent`` at each queue manager that answered
it, or should have: its outcome, how much came back and how long it took.

Statistics messages, which are taken from a queue and answer nothing, become readings of their own source: see
``kinds/statistics``.

Pairs of short-term and long-term averages are read in the order of the platform that INQUIRE_Q_MGR reported last;
until then in that of distributed queue managers when the answer is of classic responses, which z/OS never gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo

from mqvitals_agent.connection import answer as outcomes
from mqvitals_agent.connection.answer import read_answer
from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, OF_QUEUES, Answer, Exchange
from mqvitals_agent.pcf.answer import DecodedReply, MemberAnswer
from mqvitals_agent.pcf.constants import MQCC_FAILED, MQCFT_RESPONSE
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.poll import events
from mqvitals_agent.poll.command_form import command_form
from mqvitals_agent.poll.cycle import CommandTally, ConnectAttempt, CycleData
from mqvitals_agent.poll.kinds import dead_letters, shared_queues, statistics
from mqvitals_agent.poll.probe import GROUP, MemberReport, ObjectRow, Probe, ProbePart
from mqvitals_agent.poll.queries import PROBES, for_any_member
from mqvitals_agent.poll.selection import QueryResult, RequestSelection, selection_of, unreadable_selection
from mqvitals_agent.poll.snapshot_builder import SnapshotBuilder
from mqvitals_rules.snapshot import Outcome, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

_REQUESTS_KEPT = 4096
_MOST_UNPROBED = 50
OTHERS = "others"
"""What counts the commands without a probe beyond the first fifty kinds."""

_ABSENCE = {
    Outcome.OK: None,
    Outcome.NOT_FOUND: None,
    Outcome.REFUSED: Absence.NOT_AUTHORISED,
    Outcome.UNREACHABLE: Absence.UNREACHABLE,
}
"""What an outcome means for objects that were asked for and are missing; None: the answer is complete."""


class Collector:
    """Turns the exchanges of each cycle into snapshots, and keeps what must be known from one cycle to the next.

    ``group`` is the site's name for the group, else the queue-sharing group's own name is used as soon as it is
    known. ``queue_managers`` have a snapshot even before their first exchange. ``zone_of`` returns the configured
    time zone of a queue manager; where there is none, the zone is derived. Feed the exchanges in order and call
    ``end_cycle`` when a cycle is over.

    ``exchanges``, ``replies``, ``damaged`` (messages that could not be decoded), ``unprobed`` (commands without a
    probe, and messages of other kinds than statistics, by name) and ``strange`` (statistics of a queue manager that
    is not monitored) count everything fed. ``builder`` takes what is known otherwise: objects of an earlier run,
    intervals, calls that hang, a clock that was set.
    """

    def __init__(
        self,
        group: str = "",
        queue_managers: Iterable[str] = (),
        zone_of: Callable[[str], tzinfo | None] = lambda _: None,
    ) -> None:
        self._decoder = Decoder(lenient=True)
        self._selections: dict[bytes, RequestSelection] = {}
        self.builder = SnapshotBuilder(group, queue_managers, zone_of)
        self._cycle = CycleData()
        self._number = 0
        self.exchanges = 0
        self.replies = 0
        self.damaged = 0
        self.strange = 0
        self.unprobed: Counter[str] = Counter()

    def feed(self, exchange: Exchange) -> None:
        """Take one exchange into account. Damaged messages and requests are counted, never raised."""
        cycle = self._cycle
        self.exchanges += 1
        self.replies += len(exchange.replies)
        if cycle.began is None:
            cycle.began = exchange.at
        asked = exchange.queue_manager
        self.builder.meet(asked)
        cycle.touch(asked, exchange.at)
        self._note_contact(exchange)
        if exchange.command is None:
            return
        if exchange.command in OF_QUEUES:
            self._take_messages(exchange)
            return
        selection = self._selection(exchange)
        probe = PROBES.get(exchange.command)
        name = command_form(exchange.command, selection.scope)
        if probe is not None:
            answer = read_answer(exchange, self._decoder, probe.wanted, probe.key)
        elif self._pass_over(exchange.command):
            answer = read_answer(exchange, self._decoder)
        else:
            return
        self._count(answer, name)
        damaged = answer.damaged
        whole = answer.complete and not damaged and exchange.error is None
        by_member = {member.queue_manager or asked: member for member in answer.members}
        self._note_outcome(exchange, name, by_member, damaged=damaged, whole=whole)
        if for_any_member(exchange.command, selection.scope):
            cycle.for_any.setdefault(name, set()).add(asked)
        if probe is None:
            return
        for member_name, member in by_member.items():
            self._read(exchange, probe, selection, member_name, member, damaged=damaged)
        self._note_silent(exchange, probe, selection, by_member, whole=whole)

    def end_cycle(self, number: int | None = None) -> tuple[Snapshot, ...]:
        """The snapshots of the cycle ``number`` (default: the next one), the group's last; a new cycle begins."""
        self._number = self._number + 1 if number is None else number
        cycle, self._cycle = self._cycle, CycleData()
        return self.builder.snapshots(cycle, self._number)

    def _pass_over(self, command: int) -> bool:
        """Count a command that nothing reads; returns whether it has its own name in the count."""
        name = command_form(command)
        few = name in self.unprobed or len(self.unprobed) < _MOST_UNPROBED
        self.unprobed[name if few else OTHERS] += 1
        return few

    def _take_messages(self, exchange: Exchange) -> None:
        """Take messages of a queue into account."""
        if exchange.command == statistics.COMMAND:
            self._take_statistics(exchange)
        elif exchange.command == BROWSE_DEAD_LETTERS:
            self._take_dead_letters(exchange)
        else:
            # What events say has been stored by the one that reads their queue.
            self._tally_messages(exchange, events.form_of(self._selection(exchange).name))

    def _take_statistics(self, exchange: Exchange) -> None:
        """Messages are gone from the queue, even those before an error: all that can be read is kept."""
        cycle = self._cycle
        asked = exchange.queue_manager
        found = statistics.read(exchange, self._decoder)
        unknown = self._decoder.take_unknown()
        if unknown:
            cycle.unknown_ccsids[asked] = unknown
        self.damaged += found.damaged
        for command in found.unknown:
            self._pass_over(command)
        for record in found.records:
            if record.key.queue_manager in self.builder.owners:
                cycle.records.append(record)
                cycle.touch(record.key.queue_manager, exchange.at)
            else:
                self.strange += 1
        tally = self._tally_messages(exchange, command_form(statistics.COMMAND))
        if found.damaged:
            tally.note(Outcome.DAMAGED, 0)
        if exchange.error is None:
            self.builder.reads_statistics(asked)

    def _take_dead_letters(self, exchange: Exchange) -> None:
        """After a whole look, reasons that no message has any more are gone."""
        asked = exchange.queue_manager
        tally = self._tally_messages(exchange, command_form(BROWSE_DEAD_LETTERS))
        absence = None
        if exchange.error is not None:
            absence = _ABSENCE.get(tally.outcome) or Absence.NO_ANSWER
        found, whole = dead_letters.read(exchange)
        for name, values in found.items():
            row = ObjectRow(values, whole=whole, own=True, at=exchange.at, now=exchange.at, member=asked)
            self._cycle.rows.put(dead_letters.PART, asked, name, row)
        selection = RequestSelection(BROWSE_DEAD_LETTERS, partial=not whole)
        self._cycle.ask(dead_letters.PART, asked, QueryResult(selection, absence))

    def _tally_messages(self, exchange: Exchange, form: str) -> CommandTally:
        """Count an exchange that holds messages of a queue instead of an answer."""
        tally = self._cycle.tally(exchange.queue_manager, form)
        tally.commands += 1
        tally.elapsed_ms += exchange.elapsed_ms
        tally.replies += len(exchange.replies)
        tally.bytes += sum(len(reply.data) for reply in exchange.replies)
        error = exchange.error
        if error is not None:
            outcome = outcomes.outcome_of_call(error.reason)
            # A queue that is not there is no answer without objects.
            tally.note(Outcome.FAILED if outcome is Outcome.NOT_FOUND else outcome, error.reason)
        return tally

    def _selection(self, exchange: Exchange) -> RequestSelection:
        command = exchange.command or 0
        request = exchange.request
        if request is None:
            return unreadable_selection(command)
        found = self._selections.get(request)
        if found is None:
            try:
                found = selection_of(self._decoder.decode(request, REQUEST_CCSID))
            except PcfError:
                found = unreadable_selection(command)
            if len(self._selections) >= _REQUESTS_KEPT:
                self._selections.clear()
            self._selections[request] = found
        return found

    def _note_contact(self, exchange: Exchange) -> None:
        error = exchange.error
        failed = error is not None and (exchange.command is None or error.reason in outcomes.CONNECTION_FAILURES)
        self._cycle.contacts[exchange.queue_manager] = ConnectAttempt(
            error.reason if failed and error else 0, exchange.at
        )

    def _count(self, answer: Answer, name: str) -> None:
        cycle = self._cycle
        self.damaged += answer.damaged
        for sender, total in answer.totals.items():
            tally = cycle.tally(sender, name)
            tally.replies += total.replies
            tally.bytes += total.bytes
            if total.unknown_ccsid:
                cycle.unknown_ccsids[sender] = total.unknown_ccsid
            if total.put is not None:
                cycle.clock[sender] = total.put

    def _note_outcome(
        self, exchange: Exchange, name: str, by_member: Mapping[str, MemberAnswer], *, damaged: int, whole: bool
    ) -> None:
        """Note the outcome of the command for each queue manager concerned."""
        cycle = self._cycle
        asked = exchange.queue_manager
        for member_name, member in by_member.items():
            self.builder.meet(member_name)
            cycle.touch(member_name, exchange.at)
            tally = cycle.tally(member_name, name)
            tally.commands += 1
            tally.elapsed_ms += exchange.elapsed_ms
            tally.note(_outcome(member), member.reason)
            if not member.complete and not damaged:
                tally.note(Outcome.INCOMPLETE, outcomes.NO_REPLY)
        tally = cycle.tally(asked, name)
        if asked not in by_member:
            tally.commands += 1
            tally.elapsed_ms += exchange.elapsed_ms
        if damaged:
            tally.note(Outcome.DAMAGED, 0)
        error = exchange.error
        if error is not None and error.reason != outcomes.NO_REPLY:
            tally.note(outcomes.outcome_of_call(error.reason), error.reason)
        elif not whole and not damaged and all(member.complete for member in by_member.values()):
            # Something is missing, and every answer that came is complete.
            tally.note(Outcome.INCOMPLETE, outcomes.NO_REPLY)

    def _read(
        self,
        exchange: Exchange,
        probe: Probe,
        selection: RequestSelection,
        name: str,
        member: MemberAnswer,
        *,
        damaged: int,
    ) -> None:
        cycle = self._cycle
        now = max(exchange.at, cycle.clock.get(name, exchange.at))
        if member.items and member.items[0].type == MQCFT_RESPONSE:
            self.builder.answers_classically(name, cycle)
        answer = MemberReport(
            name,
            selection,
            member.items,
            exchange.at,
            now,
            exchange.elapsed_ms,
            not selection.scope,
            self.builder.distributed(name, cycle),
            member.complete and not damaged,
        )
        absence = _ABSENCE.get(_outcome(member), Absence.NO_ANSWER)
        if absence is None and (not member.complete or damaged):
            absence = Absence.NO_ANSWER
        if member.items or (probe.of_none and absence is None):
            probe.read(answer, cycle.rows)
        failed = _failed(probe, member.failed)
        result = QueryResult(selection, absence, failed)
        self._note_result(exchange, probe, name, result, via=exchange.queue_manager)

    def _note_result(
        self, exchange: Exchange, probe: Probe, name: str, result: QueryResult, *, via: str | None = None
    ) -> None:
        """Note what a query came to for the objects of a queue manager, and ``via`` which one the group answered."""
        for part in probe.parts(result.selection):
            for owner in _owners(part, name, result.selection):
                self._cycle.ask(part, owner, result)
                if owner == GROUP:
                    self._cycle.touch(GROUP, exchange.at)
                    if via is not None:
                        self.builder.asked_via(part, via)

    def _note_silent(
        self,
        exchange: Exchange,
        probe: Probe,
        selection: RequestSelection,
        by_member: Mapping[str, MemberAnswer],
        *,
        whole: bool,
    ) -> None:
        """Queue managers that should have answered and did not."""
        if whole:
            return
        silent = self.builder.owners if selection.scope == "*" else (selection.scope or exchange.queue_manager,)
        error = exchange.error
        failure = None if error is None else outcomes.outcome_of_call(error.reason)
        absence = (None if failure is None else _ABSENCE.get(failure)) or Absence.NO_ANSWER
        for name in silent:
            if name not in by_member:
                self._note_result(exchange, probe, name, QueryResult(selection, absence))


def _owners(part: ProbePart, queue_manager: str, selection: RequestSelection) -> Sequence[str]:
    """Whose objects an answer of this queue manager holds."""
    if part.kind.of_group:
        return (GROUP,)
    if part in shared_queues.PARTS:
        private = (queue_manager,) if selection.private_queues else ()
        return (*private, GROUP) if selection.shared_queues else private
    return (queue_manager,)


def _outcome(member: MemberAnswer) -> Outcome:
    """A warning comes with its items and is no failure."""
    return outcomes.outcome_of_answer(member.reason) if member.comp_code == MQCC_FAILED else Outcome.OK


def _failed(probe: Probe, messages: Sequence[DecodedReply]) -> frozenset[str]:
    names = (message.get(probe.key) for message in messages) if probe.key else ()
    return frozenset(name for name in names if type(name) is str and name)

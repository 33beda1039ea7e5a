"""The answer to one command: which messages belong together, when it is complete, and what each member answered.

An answer is one or more response sets, each a run of messages with one identifier whose last has Control = LAST. Sets
may come interleaved, and a set may be announced before or after it arrives. A command with CMDSCOPE is first
acknowledged, then answered by every member, then reported completed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Message, MessageValues, ParameterLayout

TRACKED: Final = frozenset(
    {
        mq.MQBACF_RESPONSE_ID,
        mq.MQBACF_RESPONSE_SET,
        mq.MQCACF_RESPONSE_Q_MGR_NAME,
        mq.MQIACF_COMMAND_INFO,
        mq.MQIACF_CMDSCOPE_Q_MGR_COUNT,
    }
)
"""The parameters that the tracker needs: add them to the wanted ones."""

MOST_SETS: Final = 4096
"""How many response sets one answer may have. A group has at most 32 members, with a few sets each."""

DecodedReply: TypeAlias = Message | MessageValues

_SCOPE: Final = frozenset({mq.MQCMDI_CMDSCOPE_ACCEPTED, mq.MQCMDI_CMDSCOPE_GENERATED, mq.MQCMDI_CMDSCOPE_COMPLETED})
_OF_ANSWER: Final = {mq.MQBACF_RESPONSE_SET, mq.MQIACF_COMMAND_INFO, mq.MQIACF_CMDSCOPE_Q_MGR_COUNT}
_ITEMS: Final = frozenset({mq.MQCFT_XR_ITEM, mq.MQCFT_RESPONSE})
_RESPONSES: Final = _ITEMS | {mq.MQCFT_XR_MSG, mq.MQCFT_XR_SUMMARY}
_RANK: Final = {mq.MQCC_OK: 0, mq.MQCC_UNKNOWN: 1, mq.MQCC_WARNING: 2, mq.MQCC_FAILED: 3}


@dataclass(frozen=True, slots=True)
class MemberAnswer:
    """What one queue manager answered.

    ``items`` are the messages that describe one object or instance each; ``failed`` those that only name an object
    whose attributes could not be returned. ``reason`` is 0 or the first specific reason: 3008, "command
    failed", only when no other came. ``comp_code`` is the worst. ``complete`` is false when a response set of this
    queue manager did not end, or has gaps.
    """

    queue_manager: str
    items: tuple[DecodedReply, ...]
    reason: int
    comp_code: int
    complete: bool
    failed: tuple[DecodedReply, ...] = ()


@dataclass(slots=True)
class _WorstOutcome:
    """The worst completion code so far, and the first specific reason of that rank."""

    comp_code: int = mq.MQCC_OK
    reason: int = 0
    _reason_rank: int = 0

    def note(self, comp_code: int, reason: int) -> None:
        rank = _rank(comp_code)
        if rank > _rank(self.comp_code):
            self.comp_code = comp_code
        if rank and reason not in {0, mq.MQRCCF_COMMAND_FAILED} and rank > self._reason_rank:
            self.reason = reason
            self._reason_rank = rank


@dataclass(slots=True)
class _Set:
    """One response set as far as it has come."""

    queue_manager: str = ""
    items: list[DecodedReply] = field(default_factory=list)
    failed: list[DecodedReply] = field(default_factory=list)
    fault: _WorstOutcome = field(default_factory=_WorstOutcome)
    messages: int = 0
    length: int = 0  # the sequence number of the last message; 0 as long as that has not come
    scope: bool = False  # acknowledges a scoped command or reports its completion

    def add(self, reply: DecodedReply) -> None:
        """Take the next message of this set into account."""
        if reply.type in _RESPONSES:
            self.messages += 1
        if reply.last:
            self.length = reply.sequence
        name = reply.get(mq.MQCACF_RESPONSE_Q_MGR_NAME)
        if not self.queue_manager and isinstance(name, str):
            self.queue_manager = name
        if reply.get(mq.MQIACF_COMMAND_INFO) in _SCOPE:
            self.scope = True
        self.fault.note(reply.comp_code, reply.reason)
        if reply.type in _ITEMS:
            if reply.comp_code != mq.MQCC_FAILED:
                self.items.append(reply)
            elif reply.type == mq.MQCFT_XR_ITEM:
                self.failed.append(reply)

    @property
    def whole(self) -> bool:
        """True when the last message has come and none before it is missing."""
        return 0 < self.length <= self.messages

    @property
    def only_scope(self) -> bool:
        """True when it holds no objects, only the progress of the scoped command."""
        return self.scope and not self.items and not self.failed


class AnswerTracker:
    """Follows one answer, message by message in the order of arrival.

    A reply that could not be decoded is not added: the set that it belongs to then has a gap, and its queue manager's
    answer is not complete.
    """

    def __init__(self) -> None:
        self._sets: dict[bytes, _Set] = {}
        self._pending: set[bytes] = set()
        self._finished: set[bytes] = set()
        self._overflow = False
        self._scope_begun = False
        self._scope_completed = False
        self._members: int | None = None

    def add(self, reply: DecodedReply) -> None:
        """Take the next message into account. Decoded Values must include the ``TRACKED`` parameters."""
        if isinstance(reply, MessageValues) and reply.layout is not None:
            # Nearly every message describes one more object.
            place = _identifier_place(reply.layout)
            if place is not None and reply.type == mq.MQCFT_XR_ITEM and not reply.last and not reply.comp_code:
                under_way = self._sets.get(reply.column[place])  # type: ignore[arg-type]
                if under_way is not None and under_way.queue_manager:
                    under_way.messages += 1
                    under_way.items.append(reply)
                    return
        identifier = reply.get(mq.MQBACF_RESPONSE_ID)
        if not isinstance(identifier, bytes):
            identifier = b""  # classic answers carry none: all of them are one set
        self._expect(identifier)
        for announced in reply.all(mq.MQBACF_RESPONSE_SET):
            if isinstance(announced, bytes):
                self._expect(announced)
        response_set = self._sets.get(identifier)
        if response_set is None:
            if len(self._sets) >= MOST_SETS:
                return
            response_set = self._sets[identifier] = _Set()
        response_set.add(reply)
        self._note_scope(reply)
        if reply.last:
            self._pending.discard(identifier)
            self._finished.add(identifier)

    @property
    def complete(self) -> bool:
        """True when nothing more is to come."""
        if not self._sets or self._pending or self._overflow:
            return False
        if not self._scope_begun:
            return True
        return self._scope_completed and (self._members is None or self._answered() >= self._members)

    def answers(self) -> tuple[MemberAnswer, ...]:
        """What each queue manager has answered so far, in the order of their first messages.

        A member of which nothing came is not among them; then ``complete`` is false.
        """
        by_name: dict[str, list[_Set]] = {}
        for response_set in self._sets.values():
            if not response_set.only_scope or response_set.fault.reason:
                by_name.setdefault(response_set.queue_manager, []).append(response_set)
        return tuple(self._answer(name, sets) for name, sets in by_name.items())

    def _answer(self, name: str, sets: list[_Set]) -> MemberAnswer:
        fault = _WorstOutcome()
        for response_set in sets:
            fault.note(response_set.fault.comp_code, response_set.fault.reason)
        reason = fault.reason
        if not reason and fault.comp_code == mq.MQCC_FAILED:
            reason = mq.MQRCCF_COMMAND_FAILED
        return MemberAnswer(
            queue_manager=name,
            items=tuple(item for response_set in sets for item in response_set.items),
            reason=reason,
            comp_code=fault.comp_code,
            complete=not self._overflow and all(response_set.whole for response_set in sets),
            failed=tuple(item for response_set in sets for item in response_set.failed),
        )

    def _expect(self, identifier: bytes) -> None:
        """A set that will come, is coming, or has come already."""
        if identifier in self._finished or identifier in self._pending:
            return
        if len(self._pending) + len(self._finished) >= MOST_SETS:
            self._overflow = True
            return
        self._pending.add(identifier)

    def _note_scope(self, reply: DecodedReply) -> None:
        info = reply.get(mq.MQIACF_COMMAND_INFO)
        if info in {mq.MQCMDI_CMDSCOPE_ACCEPTED, mq.MQCMDI_CMDSCOPE_GENERATED}:
            self._scope_begun = True
        elif info == mq.MQCMDI_CMDSCOPE_COMPLETED:
            self._scope_completed = True
        count = reply.get(mq.MQIACF_CMDSCOPE_Q_MGR_COUNT)
        if isinstance(count, int) and self._members is None:
            self._members = count

    def _answered(self) -> int:
        """How many queue managers have answered, with those that the receiving one reports as lost."""
        answered = {
            response_set.queue_manager
            for identifier, response_set in self._sets.items()
            if identifier in self._finished and not response_set.only_scope
        }
        lost = sum(1 for response_set in self._sets.values() if response_set.only_scope and response_set.fault.reason)
        return len(answered) + lost


@lru_cache(maxsize=2048)
def _identifier_place(layout: ParameterLayout) -> int | None:
    """The place of the set's identifier in messages of this layout; None where a message also describes the answer."""
    place = layout.places.get(mq.MQBACF_RESPONSE_ID)
    if place is None or layout.types[place] != mq.MQCFT_BYTE_STRING or layout.places.keys() & _OF_ANSWER:
        return None
    return place


def _rank(comp_code: int) -> int:
    return _RANK.get(comp_code, _RANK[mq.MQCC_FAILED])

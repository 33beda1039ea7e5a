"""The command server of a simulated queue manager: a request as bytes in, an answer as messages out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID, string
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.walk import read_header
from mqvitals_agent.simulator.answer import (
    CCSID,
    RESPONSE_ID_LENGTH,
    Structures,
    accepted_set,
    completed_set,
    failure_set,
    item_set,
)
from mqvitals_agent.simulator.answers.asked import Asked, Item, RefusedError
from mqvitals_agent.simulator.answers.commands import Command
from mqvitals_agent.simulator.answers.condition import only, selected
from mqvitals_agent.simulator.answers.queue_manager import active
from mqvitals_agent.simulator.answers.request import asked
from mqvitals_agent.simulator.state import Fault, Group, Member


class Answer(NamedTuple):
    """The messages that come, and whether these are all: when not, one waits for the rest in vain."""

    messages: list[bytes]
    whole: bool


class CommandServer:
    """Answers for the queue manager ``name``, and passes on what is meant for other members of the group."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._decoder = Decoder()
        self._structures = Structures()
        self._sets = 0

    def answer(self, request: bytes, group: Group) -> Answer:
        """The answer to a request put now. KeyError when the group has no member of this name.

        A request that is no message at all is never answered; one that has a header and no sound body is refused.
        """
        member = group.members[self.name]
        try:
            number = read_header(request, 0).command
        except PcfError:
            return Answer([], whole=False)
        try:
            command, wanted = asked(self._decoder.decode(request, REQUEST_CCSID))
        except PcfError:
            return Answer(self._failed(self.name, number, self._set_id(), mq.MQRCCF_MSG_LENGTH_ERROR), whole=True)
        except RefusedError as refusal:
            return Answer(self._failed(self.name, number, self._set_id(), refusal.reason, refusal.named), whole=True)
        if command.name in group.faults.get(self.name, Fault()).silent:
            return Answer([], whole=False)
        if wanted.scope:
            return self._scoped(command, wanted, group)
        return self._own(command, wanted, group, member, self._set_id())

    def _scoped(self, command: Command, wanted: Asked, group: Group) -> Answer:
        """Accepted, then each member's answer, then completed."""
        scope = wanted.scope
        members = [
            member for name, member in sorted(group.members.items()) if scope in ("*", name) and active(group, member)
        ]
        if not members:
            named = (string(mq.MQCACF_COMMAND_SCOPE, scope),)
            failed = self._failed(self.name, wanted.command, self._set_id(), mq.MQRCCF_COMMAND_SCOPE_ERROR, named)
            return Answer(failed, whole=True)
        first, closing = self._set_id(), self._set_id()
        sets = [self._set_id() for _ in members]
        found = accepted_set(self._structures, self.name, wanted.command, first, [*sets, closing], len(members))
        whole = True
        for member, set_id in zip(members, sets, strict=True):
            own = self._own(command, wanted, group, member, set_id)
            found += own.messages
            whole = whole and own.whole
        if whole:
            found += completed_set(self._structures, self.name, wanted.command, closing)
        return Answer(found, whole)

    def _own(self, command: Command, wanted: Asked, group: Group, member: Member, set_id: bytes) -> Answer:
        """What one member says, or what comes of it."""
        fault = group.faults.get(member.name, Fault())
        if command.name in fault.silent:
            return Answer([], whole=False)
        if command.name in fault.refuse:
            messages = self._failed(member.name, wanted.command, set_id, mq.MQRC_NOT_AUTHORIZED)
        else:
            try:
                items = self._items(command, wanted, group, member)
                messages = item_set(self._structures, member.name, wanted.command, set_id, items)
            except RefusedError as refusal:
                messages = self._failed(member.name, wanted.command, set_id, refusal.reason, refusal.named)
        if command.name in fault.truncate:
            return Answer(messages[: len(messages) // 2], whole=False)
        return Answer(messages, whole=True)

    def _items(self, command: Command, wanted: Asked, group: Group, member: Member) -> Iterable[Item]:
        items: list[Item] = list(command.tell(wanted, group, member))
        for number, condition in wanted.filters:
            items = selected(items, number, condition, command.sometimes)
        if not items:
            reason = command.missing(wanted, group, member)
            if reason:
                raise RefusedError(reason, [string(number, wanted.text(number)) for number in command.needs[-1:]])
        return only(items, wanted.values.get(command.attributes), command.always)

    def _failed(self, name: str, command: int, set_id: bytes, reason: int, named: Item = ()) -> list[bytes]:
        return failure_set(self._structures, name, command, set_id, reason, named)

    def _set_id(self) -> bytes:
        """An identifier that no set of this queue manager had before, of the form that z/OS gives them."""
        self._sets += 1
        page = codec(CCSID)
        who = page.encode("CSQ ") + page.encode(self.name[:4].ljust(4))
        return (who + self._sets.to_bytes(8, "big")).ljust(RESPONSE_ID_LENGTH, b"\0")

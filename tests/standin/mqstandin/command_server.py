"""The command server of a stand-in queue manager: requests from its command queue, replies to the queues they name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mqstandin import descriptor
from mqstandin import numbers as mq
from mqstandin.descriptor import NO_ID, Stored
from mqstandin.distributed import DistributedServer
from mqstandin.ordered_world import Moving
from mqstandin.platform import Platform
from mqstandin.queues import Queue, Selection
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.pcf.structures import read_header
from mqvitals_agent.simulator.answer import RESPONSE_ID_LENGTH, failure_set
from mqvitals_agent.simulator.connector import CommandServer
from mqvitals_agent.simulator.state import Fault, GroupState

_ANY: Final = Selection()
_INTEGERS: Final = 0x0F
_REVERSED: Final = 2


class Reader:
    """Reads the command queue and answers. ``now`` is the queue manager's clock, ms since 1970 UTC.

    ``refused`` are commands that it refuses for another reason than 2035, which is the world's to say.
    """

    def __init__(
        self,
        name: str,
        platform: Platform,
        world: Moving,
        clock: Callable[[], int],
        now: Callable[[], int],
        queues: dict[str, Queue],
        new_id: Callable[[], bytes],
    ) -> None:
        self.running = True
        self.refused: dict[str, int] = {}
        self.dead_letters: list[str] = []
        self._name = name
        self._platform = platform
        self._world = world
        self._clock = clock
        self._now = now
        self._queues = queues
        self._new_id = new_id
        self._distributed = DistributedServer(name)
        self._server = CommandServer(name) if platform.number == mq.MQPL_ZOS else self._distributed
        self._late: set[asyncio.TimerHandle] = set()

    @property
    def complaints(self) -> list[str]:
        """Messages that were no requests, and what a distributed queue manager was asked and does not know."""
        return self.dead_letters + self._distributed.refused

    def read(self) -> None:
        """Answer everything that is on the command queue, if the command server runs."""
        if not self.running:
            return
        loop = asyncio.get_running_loop()
        queue = self._queues[self._platform.command_queue]
        while (place := queue.find(_ANY, loop.time())) is not None:
            self._answer(queue.take(place), loop)

    def stop(self) -> None:
        """Leave requests where they are, and forget answers that are still to come."""
        self.running = False
        self.forget()

    def forget(self) -> None:
        """Forget answers that are still to come."""
        for timer in self._late:
            timer.cancel()
        self._late.clear()

    def _answer(self, request: Stored, loop: asyncio.AbstractEventLoop) -> None:
        wrong = self._wrong(request)
        if wrong:
            self.dead_letters.append(wrong)
            return
        group = self._world.advance(self._clock())
        fault = group.faults.get(self._name) or Fault()
        messages = self._messages(request.data, group)
        delay = fault.slow_ms / 1000
        if not delay:
            self._reply(request, messages)
            return

        def late() -> None:
            self._late.discard(timer)
            self._reply(request, messages)

        timer = loop.call_later(delay, late)
        self._late.add(timer)

    def _wrong(self, request: Stored) -> str:
        """Why no answer to the request is possible; empty when one is."""
        fields = request.descriptor
        if fields.format != mq.MQFMT_ADMIN:
            return f"a message of format {fields.format!r} on the command queue"
        if fields.kind != mq.MQMT_REQUEST or not fields.reply_to:
            return "a message on the command queue that is no request, or names no reply queue"
        try:
            order = read_header(request.data, 0).order
        except PcfError as error:
            return f"a request that is no PCF: {error}"
        if (order == "<") != (fields.encoding & _INTEGERS == _REVERSED):
            return f"a request whose MQMD says encoding {fields.encoding}, which its data are not in"
        return ""

    def _messages(self, data: bytes, group: GroupState) -> list[bytes]:
        number = read_header(data, 0).command
        reason = self.refused.get(command_name(number) or "")
        if reason is None:
            return self._server.answer(data, group).messages
        response_id = self._new_id()[:RESPONSE_ID_LENGTH]
        return failure_set(self._name, number, response_id, reason, ())

    def _reply(self, request: Stored, messages: list[bytes]) -> None:
        asked = request.descriptor
        queue = self._queues.get(asked.reply_to)
        loop_now = asyncio.get_running_loop().time()
        if not queue or queue.kind == "model" or (request.expires is not None and request.expires <= loop_now):
            return  # as with MQRO_DISCARD_MSG: nobody is there to read it
        correl_id = asked.correl_id if asked.report & mq.MQRO_PASS_CORREL_ID else request.msg_id
        expires = request.expires if asked.report & mq.MQRO_PASS_DISCARD_AND_EXPIRY else None
        pattern = descriptor.new(
            kind=mq.MQMT_REPLY,
            format=mq.MQFMT_ADMIN,
            encoding=self._platform.encoding,
            ccsid=self._platform.ccsid,
            msg_id=NO_ID,
            correl_id=correl_id,
            persistence=asked.persistence,
            user="CSQ1MSTR",
            application=f"{self._name}MSTR",
            moment=self._now(),
        )
        fields = descriptor.Descriptor.read(pattern)
        before, after = pattern[:48], pattern[72:]
        found: list[Stored] = []
        for data in messages:
            if queue.cannot_take(len(data), asked.persistence) or len(queue.messages) + len(found) >= queue.max_depth:
                break
            msg_id = request.msg_id if asked.report & mq.MQRO_PASS_MSG_ID else self._new_id()
            found.append(Stored(before + msg_id + after, data, msg_id, correl_id, expires, fields))
        queue.put(found)

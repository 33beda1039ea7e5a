"""A stand-in queue manager: its queues, its sessions, and the orders it follows."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

from mqstandin import descriptor
from mqstandin import numbers as mq
from mqstandin.command_server import Reader
from mqstandin.conversion import Converter
from mqstandin.descriptor import Stored
from mqstandin.ordered_world import OrderedWorld
from mqstandin.orders import ORDERS, Connected, State
from mqstandin.platform import Platform
from mqstandin.queues import Queue
from mqvitals_agent.pcf.codepage import codec

AHEAD: Final = 32
"""Messages that an MQGET may bring beside its own, if they are for the same asker."""
_NAME_LENGTH: Final = 48
_UNIQUE: Final = 16
"""Characters that a dynamic queue's name gets in place of the asterisk."""


class Session(Protocol):
    """A connection of a client, as its queue manager sees it."""

    @property
    def handles(self) -> int:
        """Open object handles."""
        ...

    @property
    def waits(self) -> bool:
        """An MQGET of it waits."""
        ...

    def abort(self) -> None:
        """Break it."""
        ...

    def end_wait(self, reason: int, options: int) -> None:
        """End a wait that has one of those options."""
        ...


@dataclass(slots=True)
class Refusal:
    """What a verb is answered with, for that object or any, so many more times or for ever."""

    verb: str
    reason: int
    object: str
    times: int | None
    warn: bool


class QueueManager:
    """One queue manager. Lives in one event loop; only ``order`` and the sessions change it.

    ``clock`` is the world's time, ms since 1970 UTC. ``ahead`` 0: every MQGET brings its own message only.
    """

    def __init__(
        self,
        name: str,
        group: str,
        platform: Platform,
        world: OrderedWorld,
        clock: Callable[[], int],
        *,
        reply_queues: tuple[str, ...] = ("MQVITALS.REPLY",),
        ahead: int = AHEAD,
    ) -> None:
        self.name = name
        self.group = group
        self.platform = platform
        self.world = world
        self.clock = clock
        self.ahead = ahead
        self.converter = Converter()
        self.sessions: set[Session] = set()
        self.calls: Counter[str] = Counter()
        self.violations: list[str] = []
        self.connected: list[Connected] = []
        self.quiescing = False
        self.listening = True
        self.left: int | None = None
        """Messages still to be delivered before a connection breaks; None: it does not."""
        self._refusals: list[Refusal] = []
        self._hanging: list[tuple[str, str]] = []
        self._hung: list[Callable[[], None]] = []
        self._clock_ms = 0
        self._numbers = count(1)
        # As z/OS makes them: the product, the queue manager, a moment; then a number of ours.
        self._id_head = codec(platform.ccsid).encode(f"CSQ {name:<4.4}") + clock().to_bytes(8, "big")
        self.queues: dict[str, Queue] = {
            platform.command_queue: Queue(platform.command_queue, max_depth=1_000, inputs=1),
            **{name: Queue(name, "model", shareable) for name, shareable in platform.models},
            **{name: Queue(name) for name in (*reply_queues, *platform.queues)},
        }
        self.commands = Reader(name, platform, world, clock, self.now, self.queues, self.new_id)

    def now(self) -> int:
        """The queue manager's clock, ms since 1970 UTC."""
        return self.clock() + self._clock_ms

    def new_id(self) -> bytes:
        """A message identifier that no other message has, 24 bytes."""
        return self._id_head + next(self._numbers).to_bytes(8, "big")

    def dynamic(self, model: Queue, prefix: str) -> Queue | int:
        """A new queue made from the model, or the reason why not."""
        head, star, _ = prefix.partition("*")
        if not head or head.startswith(" ") or (star and len(head) > _NAME_LENGTH - _UNIQUE + 1):
            return mq.MQRC_DYNAMIC_Q_NAME_ERROR
        name = f"{head}{self.clock() & 0xFFFFFFFF:08X}{next(self._numbers):08X}" if star else head
        if name in self.queues:
            return mq.MQRC_DYNAMIC_Q_NAME_ERROR
        queue = Queue(name, "temporary", model.shareable, model.max_depth, model.max_length)
        self.queues[name] = queue
        return queue

    def refusal(self, verb: str, objects: tuple[str, ...] = ()) -> Refusal | None:
        """The refusal that an order holds for that verb of one of these objects; it is used up a little by asking."""
        for refusal in self._refusals:
            if refusal.verb == verb and (not refusal.object or refusal.object in objects):
                if refusal.times is not None:
                    refusal.times -= 1
                    if refusal.times <= 0:
                        self._refusals.remove(refusal)
                return refusal
        return None

    def hangs(self, verb: str, objects: tuple[str, ...], later: Callable[[], None]) -> bool:
        """True when that call is to hang; ``later`` carries it out when it is released."""
        if not any(each == verb and (not name or name in objects) for each, name in self._hanging):
            return False
        self._hung.append(later)
        return True

    def may_read_ahead(self) -> int:
        """How many messages an MQGET may bring beside its own: none while an order could concern each single one."""
        if any(refusal.verb == "get" for refusal in self._refusals) or any(verb == "get" for verb, _ in self._hanging):
            return 0
        return self.ahead

    def inquire(self, selector: int) -> int | str | None:
        """An attribute of the queue manager; None when it has none of that number."""
        member = self.world.advance(self.clock()).members.get(self.name)
        values: dict[int, int | str] = {
            mq.MQIA_CODED_CHAR_SET_ID: self.platform.ccsid,
            mq.MQIA_COMMAND_LEVEL: member.command_level if member else 940,
            mq.MQIA_PLATFORM: self.platform.number,
            mq.MQIA_MAX_MSG_LENGTH: 104_857_600,
            mq.MQCA_COMMAND_INPUT_Q_NAME: self.platform.command_queue,
            mq.MQCA_Q_MGR_NAME: self.name,
            mq.MQCA_Q_MGR_DESC: "",
            mq.MQCA_QSG_NAME: self.group,
        }
        return values.get(selector)

    def follow_world(self) -> None:
        """Be down when the world says so."""
        if self.down:
            self._lose()

    @property
    def down(self) -> bool:
        """Nobody can connect: stopped by order, or by the world."""
        fault = self.world.advance(self.clock()).faults.get(self.name)
        return bool(fault and fault.down)

    def order(self, name: str, arguments: dict[str, Any]) -> Any:
        """Carry out an order of ``orders.Orders``. ValueError for one that there is not, or wrong arguments."""
        if name not in ORDERS:
            raise ValueError(f"no such order: {name!r}")
        try:
            return getattr(self, f"_{name}")(**arguments)
        except TypeError as error:
            raise ValueError(f"{name}: {error}") from None

    def _refuse(self, verb: str, reason: int, object: str = "", times: int | None = None, warn: bool = False) -> None:  # noqa: A002
        if verb not in mq.VERBS.values():
            raise ValueError(f"no such verb: {verb!r}")
        self._refusals.append(Refusal(verb, reason, object, times, warn))

    def _allow(self) -> None:
        self._refusals.clear()
        self.commands.refused.clear()
        self.world.forget_commands(self.name)

    def _hang(self, verb: str, object: str = "") -> None:  # noqa: A002
        if verb not in mq.VERBS.values():
            raise ValueError(f"no such verb: {verb!r}")
        self._hanging.append((verb, object))

    def _release(self) -> None:
        self._hanging.clear()
        hung, self._hung = self._hung, []
        for carry_out in hung:
            carry_out()

    def _break_after(self, replies: int) -> None:
        self.left = replies

    def _break_connections(self) -> None:
        for session in tuple(self.sessions):
            session.abort()
        self._hung.clear()

    def _quiesce(self) -> None:
        self.quiescing = True
        for session in tuple(self.sessions):
            session.end_wait(mq.MQRC_Q_MGR_QUIESCING, mq.FAIL_IF_QUIESCING)

    def _stop(self, listener: bool = True) -> None:
        self.world.ordered(self.name).down = True
        self.listening = listener
        self._lose()

    def _start(self) -> None:
        self.world.ordered(self.name).down = self.quiescing = False
        self.listening = True

    def _stop_command_server(self) -> None:
        self.commands.stop()

    def _start_command_server(self) -> None:
        self.commands.running = True
        self.commands.read()

    def _slow(self, ms: int) -> None:
        self.world.ordered(self.name).slow_ms = ms

    def _refuse_command(self, command: str, reason: int = mq.MQRC_NOT_AUTHORIZED) -> None:
        if reason == mq.MQRC_NOT_AUTHORIZED:
            self.world.ordered(self.name).refuse |= {command}
        else:
            self.commands.refused[command] = reason

    def _silence_command(self, command: str) -> None:
        self.world.ordered(self.name).silent |= {command}

    def _truncate_command(self, command: str) -> None:
        self.world.ordered(self.name).truncate |= {command}

    def _limit(self, queue: str, max_depth: int, max_length: int) -> None:
        limited = self._queue(queue)
        limited.max_depth, limited.max_length = max_depth, max_length

    def _offset_clock(self, ms: int) -> None:
        self._clock_ms = ms

    def _plant(self, queue: str, count: int, correl_id: str, data: str) -> None:
        target = self._queue(queue)
        found = []
        for _ in range(count):
            msg_id, correl = self.new_id(), bytes.fromhex(correl_id)[:24].ljust(24, b"\0")
            md = descriptor.new(
                kind=mq.MQMT_REPLY,
                format=mq.MQFMT_ADMIN,
                encoding=self.platform.encoding,
                ccsid=self.platform.ccsid,
                msg_id=msg_id,
                correl_id=correl,
                moment=self.now(),
            )
            found.append(Stored(md, bytes.fromhex(data), msg_id, correl, None, descriptor.Descriptor.read(md)))
        target.put(found)

    def _queue(self, name: str) -> Queue:
        if name not in self.queues:
            raise ValueError(f"{self.name} has no queue {name!r}")
        return self.queues[name]

    def _state(self) -> State:
        return State(
            calls=dict(self.calls),
            connections=len(self.sessions),
            handles=sum(session.handles for session in self.sessions),
            waiting=sum(session.waits for session in self.sessions),
            hung=len(self._hung),
            violations=self.violations + self.commands.complaints,
            connected=list(self.connected),
            depths={name: len(queue.messages) for name, queue in self.queues.items() if queue.kind != "model"},
        )

    def _lose(self) -> None:
        """End all connections; messages here are not persistent, so they are gone with them."""
        self._break_connections()
        self.commands.forget()
        for queue in self.queues.values():
            queue.messages.clear()

    async def ticking(self, interval_s: float = 0.1) -> None:
        """Look at the world from time to time, for ever."""
        while True:
            await asyncio.sleep(interval_s)
            self.follow_world()

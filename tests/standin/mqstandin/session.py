"""One client connection: calls of the MQI in, results out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mqstandin import numbers as mq
from mqstandin.descriptor import NO_ID, Descriptor, Stored, name, padded, put_context
from mqstandin.inquiry import attributes
from mqstandin.orders import Connected
from mqstandin.queue_manager import QueueManager
from mqstandin.queues import Queue, Selection
from mqstandin.wire import LENGTH, LONGEST, Call, WireError, read_call, result

_AHEAD_ROOM: Final = 8_192
"""The longest message that is sent ahead, bytes."""
_ANYONE: Final = "CLIENT"
_SHARING: Final = 32 | 64 | 128
"""MQCNO_HANDLE_SHARE_NONE, BLOCK, NO_BLOCK."""
_OBJECT_TYPE, _OBJECT_NAME, _DYNAMIC_NAME, _RESOLVED = 8, 12, 108, 248


@dataclass(slots=True)
class Handle:
    """An open object: a queue, or the queue manager itself (None). ``asked`` is the name in the MQOPEN."""

    queue: Queue | None
    options: int
    asked: str

    @property
    def names(self) -> tuple[str, ...]:
        """What orders may call it."""
        return (self.asked,) if self.queue is None else (self.asked, self.queue.name)


@dataclass(slots=True)
class Wait:
    """An MQGET that waits for its message."""

    queue: Queue
    look: Callable[[], None]
    options: int
    timer: asyncio.TimerHandle | None = None


class ClientSession(asyncio.Protocol):
    """Serves one client. A client has one call under way at a time; what waits or hangs is just not answered yet."""

    def __init__(self, queue_manager: QueueManager) -> None:
        self._manager = queue_manager
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._input = bytearray()
        self._handles: dict[int, Handle] = {}
        self._last = 0
        self._user = self._application = ""
        self._ahead: list[Stored] = []
        self._ahead_of: Queue | None = None
        self._wait: Wait | None = None
        self._verbs: dict[str, Callable[[Call], None]] = {
            "connect": self._connect,
            "disconnect": self._disconnect,
            "open": self._open,
            "close": self._close,
            "put": self._put,
            "put1": self._put1,
            "get": self._get,
            "inquire": self._inquire,
            "commit": self._unit_of_work,
            "back_out": self._unit_of_work,
        }

    @property
    def handles(self) -> int:
        """Open object handles."""
        return len(self._handles)

    @property
    def waits(self) -> bool:
        """An MQGET waits."""
        return self._wait is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected; one whose queue manager is down is sent away."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._manager.down:
            transport.close()
            return
        self._manager.sessions.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, and what it had open with it."""
        self._manager.sessions.discard(self)
        self._transport = None
        self._stop_waiting()
        self._ahead.clear()  # it may have had them; they are not persistent
        for handle in tuple(self._handles.values()):
            self._shut(handle)
        self._handles.clear()

    def abort(self) -> None:
        """Break the connection now."""
        if self._transport:
            self._transport.abort()
        self.connection_lost(None)

    def data_received(self, data: bytes) -> None:
        """Carry out the calls that are complete."""
        buffer = self._input
        buffer += data
        while len(buffer) >= LENGTH.size:
            (size,) = LENGTH.unpack_from(buffer)
            end = LENGTH.size + size
            if size > LONGEST:
                self.abort()
                return
            if len(buffer) < end:
                return
            body = bytes(buffer[LENGTH.size : end])
            del buffer[:end]
            try:
                self._receive(read_call(body))
            except WireError:
                self.abort()
                return

    def end_wait(self, reason: int, options: int) -> None:
        """End a waiting MQGET that has one of these options."""
        if self._wait and self._wait.options & options:
            self._stop_waiting()
            self._answer(mq.MQCC_FAILED, reason)

    def _receive(self, call: Call) -> None:
        manager = self._manager
        verb = mq.VERBS.get(call.verb)
        if verb is None:
            raise WireError(f"verb {call.verb}")
        manager.calls[verb] += 1
        self._settle(call.taken)
        handle = self._handles.get(call.hobj)
        objects = handle.names if handle else (self._object_of(call),)
        if not manager.hangs(verb, objects, lambda: self._perform(verb, call, objects)):
            self._perform(verb, call, objects)

    def _perform(self, verb: str, call: Call, objects: tuple[str, ...]) -> None:
        if self._transport is None:
            return  # it hung, and its client did not stay
        if verb != "get":
            refusal = self._manager.refusal(verb, objects)
            if refusal:
                self._answer(mq.MQCC_WARNING if refusal.warn else mq.MQCC_FAILED, refusal.reason)
                return
        self._verbs[verb](call)

    def _object_of(self, call: Call) -> str:
        return name(call.blobs[0][_OBJECT_NAME : _OBJECT_NAME + 48]) if mq.VERBS[call.verb] in ("open", "put1") else ""

    def _settle(self, taken: int) -> None:
        """The client took so many of the messages sent ahead; the others go back to where they were."""
        if not self._ahead:
            return
        self._manager.calls["get"] += taken
        left, queue = self._ahead[taken:], self._ahead_of
        self._ahead = []
        if left and queue:
            queue.put_back(left)

    def _answer(self, cc: int, rc: int, blobs: tuple[bytes, ...] = (), *, handle: int = 0, length: int = 0) -> None:
        if self._transport:
            self._transport.write(result(cc, rc, blobs, handle=handle, length=length))

    def _fail(self, reason: int) -> None:
        self._answer(mq.MQCC_FAILED, reason)

    def _connect(self, call: Call) -> None:
        manager = self._manager
        texts = [blob.decode("utf-8", "replace") for blob in call.blobs]
        wanted = texts[0].removeprefix("*")
        sharing = call.options & _SHARING
        if sharing & (sharing - 1):
            self._fail(mq.MQRC_OPTIONS_ERROR)  # MQ takes one of them
        elif manager.quiescing:
            self._fail(mq.MQRC_Q_MGR_QUIESCING)
        elif wanted not in ("", manager.name, manager.group):
            self._fail(mq.MQRC_Q_MGR_NAME_ERROR)
        else:
            self._user = texts[3].upper() or _ANYONE
            self._application = texts[4] or "client"
            manager.connected.append(
                Connected(
                    queue_manager=texts[0],
                    channel=texts[1],
                    addresses=texts[2],
                    user=texts[3],
                    application=texts[4],
                    cipher=texts[5],
                    peer=texts[6],
                    key_repository=texts[7],
                    certificate_label=texts[8],
                    ccdt_url=texts[9],
                    options=call.options,
                    has_password=bool(call.length),
                )
            )
            self._answer(mq.MQCC_OK, 0)

    def _disconnect(self, call: Call) -> None:
        self._answer(mq.MQCC_OK, 0)
        for handle in tuple(self._handles.values()):
            self._shut(handle)
        self._handles.clear()
        self._manager.sessions.discard(self)
        if self._transport:
            self._transport.close()

    def _open(self, call: Call) -> None:
        manager, od = self._manager, call.blobs[0]
        asked = name(od[_OBJECT_NAME : _OBJECT_NAME + 48])
        if self._quiescing(call.options):
            return
        if int.from_bytes(od[_OBJECT_TYPE : _OBJECT_TYPE + 4], "little") == mq.MQOT_Q_MGR:
            self._opened(Handle(None, call.options, manager.name), od)
            return
        queue = manager.queues.get(asked)
        if queue is None:
            self._fail(mq.MQRC_UNKNOWN_OBJECT_NAME)
            return
        if queue.kind == "model":
            made = manager.dynamic(queue, name(od[_DYNAMIC_NAME : _DYNAMIC_NAME + 48]))
            if isinstance(made, int):
                self._fail(made)
                return
            queue = made
        reason = queue.cannot_open(call.options)
        if reason:
            self._fail(reason)
            return
        queue.inputs += bool(call.options & mq.MQOO_INPUT)
        queue.outputs += bool(call.options & mq.MQOO_OUTPUT)
        queue.exclusive = queue.exclusive or queue.alone(call.options)
        changed = bytearray(od)
        changed[_OBJECT_NAME : _OBJECT_NAME + 48] = padded(queue.name, 48)
        if len(od) > _RESOLVED:
            changed[_RESOLVED : _RESOLVED + 96] = padded(queue.name, 48) + padded(manager.name, 48)
        self._opened(Handle(queue, call.options, asked), bytes(changed))

    def _opened(self, handle: Handle, od: bytes) -> None:
        self._last += 1
        self._handles[self._last] = handle
        self._answer(mq.MQCC_OK, 0, (od,), handle=self._last)

    def _close(self, call: Call) -> None:
        handle = self._handles.pop(call.hobj, None)
        if handle is None:
            self._fail(mq.MQRC_HOBJ_ERROR)
            return
        self._shut(handle)
        self._answer(mq.MQCC_OK, 0)

    def _shut(self, handle: Handle) -> None:
        queue = handle.queue
        if queue is None:
            return
        queue.inputs -= bool(handle.options & mq.MQOO_INPUT)
        queue.outputs -= bool(handle.options & mq.MQOO_OUTPUT)
        if queue.alone(handle.options):
            queue.exclusive = False
        made_here = handle.asked != queue.name
        if queue.kind == "temporary" and made_here:
            self._manager.queues.pop(queue.name, None)

    def _put(self, call: Call) -> None:
        handle = self._handles.get(call.hobj)
        if handle is None:
            self._fail(mq.MQRC_HOBJ_ERROR)
        elif handle.queue is None or not handle.options & mq.MQOO_OUTPUT:
            self._fail(mq.MQRC_NOT_OPEN_FOR_OUTPUT)
        else:
            self._store(handle.queue, call.blobs[0], call.blobs[1], call.blobs[2])

    def _put1(self, call: Call) -> None:
        queue = self._manager.queues.get(self._object_of(call))
        self._manager.violations.append("MQPUT1 used")
        if queue is None:
            self._fail(mq.MQRC_UNKNOWN_OBJECT_NAME)
        else:
            self._store(queue, call.blobs[1], call.blobs[2], call.blobs[3])

    def _store(self, queue: Queue, md: bytes, pmo: bytes, data: bytes) -> None:
        manager = self._manager
        options = int.from_bytes(pmo[8:12], "little")
        if self._quiescing(options):
            return
        if not options & mq.NO_SYNCPOINT:
            manager.violations.append(f"MQPUT to {queue.name} without MQPMO_NO_SYNCPOINT")
        fields = Descriptor.read(md)
        reason = queue.cannot_take(len(data), fields.persistence)
        if reason:
            self._fail(reason)
            return
        fresh = options & mq.MQPMO_NEW_MSG_ID or fields.msg_id == NO_ID
        msg_id = manager.new_id() if fresh else fields.msg_id
        correl_id = manager.new_id() if options & mq.MQPMO_NEW_CORREL_ID else fields.correl_id
        changed = put_context(md, msg_id, correl_id, self._user, self._application, manager.now())
        expires = self._loop.time() + fields.expiry / 10 if fields.expiry > 0 else None
        names = padded(queue.name, 48) + padded(manager.name, 48)
        self._answer(mq.MQCC_OK, 0, (md[:8] + changed[8 : len(md)], names))
        queue.put([Stored(changed, data, msg_id, correl_id, expires, Descriptor.read(changed))])
        if queue.name == manager.platform.command_queue:
            manager.commands.read()

    def _get(self, call: Call) -> None:
        handle = self._handles.get(call.hobj)
        md, gmo = call.blobs
        options, interval = (int.from_bytes(gmo[at : at + 4], "little", signed=True) for at in (8, 12))
        if handle is None:
            self._fail(mq.MQRC_HOBJ_ERROR)
            return
        if handle.queue is None or not handle.options & mq.MQOO_INPUT:
            self._fail(mq.MQRC_NOT_OPEN_FOR_INPUT)
            return
        if self._quiescing(options):
            return
        queue = handle.queue
        if not options & mq.NO_SYNCPOINT:
            self._manager.violations.append(f"MQGET from {queue.name} without MQGMO_NO_SYNCPOINT")
        match = int.from_bytes(gmo[72:76], "little") if gmo[4] > 1 else mq.MQMO_MATCH_MSG_ID | mq.MQMO_MATCH_CORREL_ID
        selection = Selection.of(match, md[48:72], md[72:96])
        refusal = self._manager.refusal("get", handle.names)
        if refusal and not refusal.warn:
            self._fail(refusal.reason)
            return
        warning = refusal.reason if refusal else 0

        def look() -> None:
            place = queue.find(selection, self._loop.time())
            if place is None:
                return
            self._stop_waiting()
            self._deliver(call, queue, place, selection, options, warning)

        if self._manager.left == 0:
            self._manager.left = None
            self.abort()
            return
        place = queue.find(selection, self._loop.time())
        if place is not None:
            self._deliver(call, queue, place, selection, options, warning)
        elif options & mq.MQGMO_WAIT and interval:
            self._wait = Wait(queue, look, options)
            queue.waiting.append(look)
            if interval > 0:
                self._wait.timer = self._loop.call_later(interval / 1000, self._give_up)
        else:
            self._fail(mq.MQRC_NO_MSG_AVAILABLE)

    def _deliver(self, call: Call, queue: Queue, place: int, selection: Selection, options: int, warning: int) -> None:
        manager, now = self._manager, self._loop.time()
        message = queue.messages[place]
        data, encoding, ccsid, reason = message.data, message.descriptor.encoding, message.descriptor.ccsid, warning
        if options & mq.MQGMO_CONVERT and not warning:
            wanted = Descriptor.read(call.blobs[0])
            data, encoding, ccsid, reason = manager.converter.convert(
                data, message.descriptor, wanted.encoding, wanted.ccsid
            )
        length = len(data)
        cc = mq.MQCC_WARNING if reason else mq.MQCC_OK
        taken = True
        if length > call.length:
            taken = bool(options & mq.MQGMO_ACCEPT_TRUNCATED_MSG)
            cc = mq.MQCC_WARNING
            reason = mq.MQRC_TRUNCATED_MSG_ACCEPTED if taken else mq.MQRC_TRUNCATED_MSG_FAILED
            data = data[: call.length]
        if taken:
            queue.take(place)
            if manager.left is not None:
                manager.left -= 1
        blobs = [padded(queue.name, 48), message.described(now, encoding, ccsid), data]
        ahead: list[Stored] = []
        if cc == mq.MQCC_OK and place == 0 and selection.correl_id and options & mq.NO_SYNCPOINT:
            ahead = self._run(queue, selection, now)
        for each in ahead:
            got = each.data
            encoding, ccsid = each.descriptor.encoding, each.descriptor.ccsid
            if options & mq.MQGMO_CONVERT:
                got, encoding, ccsid, _ = manager.converter.convert(got, each.descriptor, wanted.encoding, wanted.ccsid)
            blobs += (each.described(now, encoding, ccsid), got)
        self._ahead, self._ahead_of = ahead, queue
        if self._transport:
            self._transport.write(result(cc, reason, tuple(blobs), length=length, ahead=len(ahead)))

    def _run(self, queue: Queue, selection: Selection, now: float) -> list[Stored]:
        most = self._manager.may_read_ahead()
        if self._manager.left is not None:
            most = 0
        return queue.take_run(selection, now, most, _AHEAD_ROOM)

    def _give_up(self) -> None:
        self._stop_waiting()
        self._fail(mq.MQRC_NO_MSG_AVAILABLE)

    def _stop_waiting(self) -> None:
        wait, self._wait = self._wait, None
        if wait is None:
            return
        if wait.look in wait.queue.waiting:
            wait.queue.waiting.remove(wait.look)
        if wait.timer:
            wait.timer.cancel()

    def _inquire(self, call: Call) -> None:
        handle = self._handles.get(call.hobj)
        if handle is None:
            self._fail(mq.MQRC_HOBJ_ERROR)
        elif not handle.options & mq.MQOO_INQUIRE:
            self._fail(mq.MQRC_NOT_OPEN_FOR_INQUIRE)
        else:
            found = attributes(self._manager, handle.queue, call.blobs[0], call.length)
            if found is None:
                self._fail(mq.MQRC_SELECTOR_ERROR)
            else:
                self._answer(mq.MQCC_OK, 0, found)

    def _unit_of_work(self, call: Call) -> None:
        self._manager.violations.append(f"{mq.VERBS[call.verb]} used")
        self._answer(mq.MQCC_OK, 0)

    def _quiescing(self, options: int) -> bool:
        """True, and the call is answered, when the queue manager ends and the caller wants to know."""
        if self._manager.quiescing and options & mq.FAIL_IF_QUIESCING:
            self._fail(mq.MQRC_Q_MGR_QUIESCING)
            return True
        return False

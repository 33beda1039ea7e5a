"""What the tests let the agent's own connections do over a real binding, in a child process. ``m`` is the binding."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mqstandin.control import send_order
from mqvitals_agent.clock import SystemClock
from mqvitals_agent.connection.connection import ConnectError, Exchange, Query
from mqvitals_agent.connection.conversation import Conversation, TimeSource
from mqvitals_agent.connection.link import MqiError, RouteError
from mqvitals_agent.connection.mqi import load_binding
from mqvitals_agent.connection.mqi_connector import MqiConnector
from mqvitals_agent.connection.route import CommandRoute, Tls
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import request, string
from mqvitals_config.decoding.secret import Secret

_ASKED: Final = request(mq.MQCMD_INQUIRE_Q, (string(mq.MQCA_Q_NAME, "*"),))
_WARM: Final = 20


def route(address: str, **fields: Any) -> CommandRoute:
    """A route to QM01; ``password`` and ``tls`` are given plainly."""
    password, tls = fields.pop("password", None), fields.pop("tls", None)
    return CommandRoute(
        "QM01",
        fields.pop("channel", "MQVITALS.SVRCONN"),
        fields.pop("connection_name", address),
        tls=None if tls is None else Tls(**tls),
        password=None if password is None else Secret.in_environment("P", {"P": password}),
        **fields,
    )


def clocks() -> TimeSource:
    """This machine's."""
    return TimeSource(SystemClock().now, lambda: time.monotonic_ns() // 1_000_000)


def introduce(m: Any, address: str, **fields: Any) -> str:
    """Connect and leave; what was wrong with the route, if anything."""
    try:
        load_binding(m.__name__).connect(route(address, **fields)).disconnect()
    except RouteError as error:
        return str(error)
    return ""


def converse(m: Any, address: str, asks: int = 1, wait_ms: int = 3_000, **fields: Any) -> dict[str, Any]:
    """Connect, ask so often for all queues, leave: what failed on the way there, or what came."""
    way = route(address, **fields)
    try:
        link = load_binding(m.__name__).connect(way)
    except MqiError as error:
        return {"call": error.call, "comp": error.comp, "reason": error.reason, "queue": error.queue}
    try:
        talk = Conversation(link, way, clocks(), lambda: False)
    except MqiError as error:
        link.disconnect()
        return {"call": error.call, "comp": error.comp, "reason": error.reason, "queue": error.queue}
    answers = [_told(talk.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), wait_ms)) for _ in range(asks)]
    found = {"queue": talk.identity.reply_queue, "drained": talk.identity.drained, "answers": answers}
    talk.close()
    return found


def _told(exchange: Exchange) -> dict[str, Any]:
    first = exchange.replies[0] if exchange.replies else None
    return {
        "count": len(exchange.replies),
        "error": exchange.error,
        "encoding": first and first.encoding,
        "ccsid": first and first.ccsid,
        "put": first and first.put,
    }


def too_late(m: Any, address: str, control_port: int) -> dict[str, Any]:
    """Give up an answer that is slow, and ask again when it has come: what lay there between, and how both ended."""
    way = route(address, reply_queue="MQVITALS.REPLY")
    talk = Conversation(load_binding(m.__name__).connect(way), way, clocks(), lambda: False)
    send_order(control_port, "QM01", "slow", {"ms": 400})
    first = _told(talk.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 200))
    send_order(control_port, "QM01", "slow", {"ms": 0})
    end = time.monotonic() + 20
    while not (lay := send_order(control_port, "QM01", "state", {})["depths"]["MQVITALS.REPLY"]):
        assert time.monotonic() < end
        time.sleep(0.02)
    second = _told(talk.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000))
    left = send_order(control_port, "QM01", "state", {})["depths"]["MQVITALS.REPLY"]
    talk.close()
    return {"first": first, "second": second, "lay": lay, "left": left}


def long_message(m: Any, address: str) -> list[Any]:
    """Get what was planted with a CorrelId of ``big``, with too little room and then with what was reported."""
    link = load_binding(m.__name__).connect(route(address))
    queue = link.open_queue("MQVITALS.REPLY", mq.MQOO_INPUT_SHARED)
    wanted = b"big".ljust(24, b"\0")
    try:
        link.get(queue, wanted, 0, 65_536)
        found: list[Any] = []
    except MqiError as error:
        found = [error.reason, error.length]
    got = link.get(queue, wanted, 0, found[1])
    link.disconnect()
    return [*found, len(got.data), got.data[:4].hex(), got.data[-4:].hex()]


def after_the_end(m: Any, address: str) -> list[Any]:
    """Calls on a link whose connection has ended, and ending it again: reasons, and nothing is raised by the end."""
    link = load_binding(m.__name__).connect(route(address))
    queue = link.open_queue("MQVITALS.REPLY", mq.MQOO_INPUT_SHARED)
    link.disconnect()
    link.disconnect()
    found = []
    for call in (
        lambda: link.get(queue, None, 0, 100),
        lambda: link.close(queue),
        lambda: link.open_queue("MQVITALS.REPLY", mq.MQOO_INPUT_SHARED),
    ):
        try:
            call()
        except MqiError as error:
            found.append(error.reason)
    return found


def other_thread(m: Any, address: str) -> dict[str, Any]:
    """While one thread waits in MQGET, another one calls: its reason and how long it took, ms."""
    link = load_binding(m.__name__).connect(route(address))
    queue = link.open_queue("MQVITALS.REPLY", mq.MQOO_INPUT_SHARED)

    def wait() -> None:
        with suppress(MqiError):
            link.get(queue, None, 900, 100)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    began = time.monotonic()
    reason = 0
    try:
        link.close(queue)
    except MqiError as error:
        reason = error.reason
    took = round((time.monotonic() - began) * 1000)
    thread.join()
    link.disconnect()
    return {"reason": reason, "ms": took}


def imported(m: Any) -> dict[str, Any]:
    """What loading the binding left behind: the top-level modules from its folder, and entries of the search path."""
    folder = str(Path(m.__file__).parent)
    tops = [
        name
        for name, module in sys.modules.items()
        if "." not in name and name != m.__name__ and str(getattr(module, "__file__", "") or "").startswith(folder)
    ]
    return {"modules": sorted(tops), "path": [entry for entry in sys.path if entry.startswith(folder)]}


def loaded(m: Any) -> dict[str, Any]:
    """The binding's name and version."""
    binding = load_binding(m.__name__)
    return {"name": binding.name, "version": binding.version}


class _Hasty(SystemClock):
    """Ten seconds of its sleep are a quarter of one."""

    async def sleep(self, ms: float) -> None:
        await asyncio.sleep(ms / 40_000)


def hung_put(m: Any, address: str, control_port: int) -> dict[str, Any]:
    """Ask while MQPUT hangs, connect anew and ask again while the old call still hangs, then let it come back."""

    async def run() -> dict[str, Any]:
        connector = MqiConnector(load_binding(m.__name__), route(address), _Hasty(), clocks())
        first = await connector.connect()
        await asyncio.to_thread(send_order, control_port, "QM01", "hang", {"verb": "put"})
        lost = await first.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000)
        again = await first.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000)
        with suppress(TimeoutError):
            await asyncio.wait_for(first.close(), 0.2)
        while_hung = threading.active_count()
        second = await connector.connect()
        release = asyncio.to_thread(send_order, control_port, "QM01", "release", {})
        await release
        found = await second.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000)
        await second.close()
        end = time.monotonic() + 20
        while _agents_threads():
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        return {
            "lost": lost.error,
            "again": again.error,
            "hung": connector.calls.hung,
            "while_hung": while_hung,
            "found": _told(found),
        }

    return asyncio.run(run())


def _agents_threads() -> int:
    return sum(thread.name.startswith("mqvitals-mq") for thread in threading.enumerate())


def _held() -> dict[str, int]:
    """The agent's threads, open descriptors, and the memory (KB) of this process."""
    gc.collect()
    return {
        "threads": _agents_threads(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "kb": int(Path("/proc/self/statm").read_text().split()[1]) * 4,
    }


def reconnects(m: Any, address: str, control_port: int, count: int, reply_queue: str) -> dict[str, Any]:
    """Connections that break while they are asked, so many, after a few to warm up; what was left each time.

    Every third attempt is refused when it connects, every third breaks in the middle of an answer, and every third between
    two commands. Memory is what the process holds, bytes; the growth is measured from the first half to the end.
    """

    async def once(place: int) -> str:
        connector = MqiConnector(load_binding(m.__name__), way, clock, ticks)
        kind = place % 3
        if kind == 0:
            await order("refuse", verb="open", reason=2035, times=1)
            try:
                await connector.connect()
            except ConnectError as error:
                return f"refused {error.failure.reason}"
            return "let in"
        connection = await connector.connect()
        if kind == 1:
            await order("break_after", replies=3)
        else:
            await connection.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000)
            await order("break_connections")
        exchange = await connection.ask(Query(mq.MQCMD_INQUIRE_Q, _ASKED), 3_000)
        await connection.close()
        return f"{'middle' if kind == 1 else 'between'} {exchange.error and exchange.error.reason}"

    async def order(name: str, **arguments: Any) -> None:
        await asyncio.to_thread(send_order, control_port, "QM01", name, arguments)

    async def run() -> dict[str, Any]:
        found: dict[str, int] = {}
        before = half = {}
        for place in range(_WARM + count):
            if place == _WARM:
                before = await held()
            if place == _WARM + count // 2:
                half = await held()
            kind = await once(place)
            if place >= _WARM:
                found[kind] = found.get(kind, 0) + 1
        return {"before": before, "half": half, "after": await held(), "found": found}

    async def held() -> dict[str, int]:
        end = time.monotonic() + 20
        while _agents_threads():
            assert time.monotonic() < end, "threads were left"
            await asyncio.sleep(0.01)
        return _held()

    clock, ticks = SystemClock(), clocks()
    way = route(address, reply_queue=reply_queue, user="mon", password="secret", tls=_TLS)
    return asyncio.run(run())


_TLS: Final = {"cipher": "ANY_TLS12_OR_HIGHER", "peer_name": "CN=QM01", "certificate_label": "monitor"}

"""The stand-in queue managers of a simulated group, each on a port of its own, in this process or in one of their own.

As a process: ``python -m mqstandin.server --scenario quiet``. Its first line says where everything listens, as JSON:
``{"queue_managers": {"QM01": 40001, ...}, "control": 40005}``. It ends with its standard input.

The control port takes lines of JSON, ``{"queue_manager": "QM01", "order": "hang", "arguments": {"verb": "get"}}``, and
answers each with ``{"ok": true, "result": null}`` or ``{"ok": false, "error": "..."}``; ``orders`` lists the orders.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from mqstandin.ordered_world import Moving, OrderedWorld
from mqstandin.orders import Orders
from mqstandin.platform import UNIX, ZOS, Platform
from mqstandin.queue_manager import AHEAD, QueueManager
from mqstandin.session import ClientSession
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario

_HOST: Final = "127.0.0.1"
_PATIENCE_S: Final = 30.0


def system_time() -> int:
    """Now, ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


class Listeners:
    """The queue managers and their ports, inside one event loop."""

    def __init__(self, managers: Iterable[QueueManager]) -> None:
        self.managers = {manager.name: manager for manager in managers}
        self.ports: dict[str, int] = {}
        self.control_port = 0
        self._servers: dict[str, asyncio.Server] = {}
        self._control: asyncio.Server | None = None
        self._tickers: list[asyncio.Task[None]] = []

    async def open(self, control_port: int = 0, first_port: int = 0) -> None:
        """Listen: from ``first_port`` on, or on whichever ports are free."""
        for place, (name, manager) in enumerate(self.managers.items()):
            await self._listen(name, first_port + place if first_port else 0)
            self._tickers.append(asyncio.create_task(manager.ticking()))
        self._control = await asyncio.start_server(self._serve_control, _HOST, control_port)
        self.control_port = self._control.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Break all connections and listen no more."""
        for manager in self.managers.values():
            manager.order("stop", {})
        for server in (*self._servers.values(), self._control):
            if server:
                server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:  # the tickers, and those that serve the control port
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # connections that were broken are told so in the loop's next turn

    async def order(self, queue_manager: str, name: str, arguments: dict[str, Any]) -> Any:
        """Carry out an order; ValueError when it is none."""
        manager = self.managers.get(queue_manager)
        if manager is None:
            raise ValueError(f"no such queue manager: {queue_manager!r}")
        result = manager.order(name, arguments)
        server = self._servers.get(queue_manager)
        if not manager.listening and server:
            self._servers.pop(queue_manager)
            server.close()
        elif manager.listening and not server:
            await self._listen(queue_manager, self.ports[queue_manager])
        return result

    async def _listen(self, name: str, port: int) -> None:
        manager = self.managers[name]
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: ClientSession(manager), _HOST, port, backlog=1024)
        self._servers[name] = server
        self.ports[name] = server.sockets[0].getsockname()[1]

    async def _serve_control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                try:
                    wanted = json.loads(line)
                    found = await self.order(wanted["queue_manager"], wanted["order"], wanted.get("arguments", {}))
                    said: dict[str, Any] = {"ok": True, "result": found}
                except (ValueError, KeyError, TypeError) as error:
                    said = {"ok": False, "error": f"{type(error).__name__}: {error}"}
                writer.write(json.dumps(said).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass  # the test is over
        finally:
            writer.close()


class StandIn:
    """The group in a thread of this process. Use it in a ``with``, or ``start`` and ``close`` it."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stand-in", daemon=True)

    def __enter__(self) -> StandIn:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        self._run(self._listeners.open())

    def close(self) -> None:
        """Break all connections, and end."""
        self._run(self._listeners.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE_S)
        self._loop.close()

    @property
    def queue_managers(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._listeners.managers)

    @property
    def control_port(self) -> int:
        """Where it takes orders from other processes."""
        return self._listeners.control_port

    def address(self, queue_manager: str) -> str:
        """Its connection name, ``127.0.0.1(40001)``."""
        return f"{_HOST}({self._listeners.ports[queue_manager]})"

    def at(self, queue_manager: str) -> Orders:
        """The orders to that queue manager."""
        return Orders(lambda name, arguments: self._run(self._listeners.order(queue_manager, name, arguments)))

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE_S)


def stand_in(
    scenario: str = "quiet",
    *,
    world: Moving | None = None,
    clock: Callable[[], int] = system_time,
    seed: int = 1,
    queues: int = 0,
    channels: int = 0,
    only: tuple[str, ...] = (),
    reply_queues: tuple[str, ...] = ("MQVITALS.REPLY",),
    ahead: int = AHEAD,
    platform: Platform = ZOS,
    distributed: tuple[str, ...] = (),
) -> StandIn:
    """The group of that scenario, or of ``world``; all its queue managers or ``only`` some. Not started yet.

    ``distributed`` are queue managers beside the group that do not run on z/OS.
    ``clock`` gives the world's time, ms since 1970 UTC. ``queues`` and ``channels`` more than the site has.
    """
    return StandIn(
        _listeners(scenario, world, clock, seed, queues, channels, only, reply_queues, ahead, platform, distributed)
    )


def _listeners(
    scenario: str,
    world: Moving | None,
    clock: Callable[[], int],
    seed: int,
    queues: int,
    channels: int,
    only: tuple[str, ...],
    reply_queues: tuple[str, ...],
    ahead: int,
    platform: Platform,
    distributed: tuple[str, ...] = (),
) -> Listeners:
    now = clock()
    moving = OrderedWorld(
        world or SimulatedGroup(load_scenario(scenario), now, seed=seed, queues=queues, channels=channels)
    )
    group = moving.advance(now)
    kinds = [(name, group.name, platform) for name in (only or sorted(group.members))]
    kinds += [(name, "", UNIX) for name in distributed]
    return Listeners(
        QueueManager(name, whose, kind, moving, clock, reply_queues=reply_queues, ahead=ahead)
        for name, whose, kind in kinds
    )


async def _serve(arguments: argparse.Namespace) -> None:
    listeners = _listeners(
        arguments.scenario,
        None,
        system_time,
        arguments.seed,
        arguments.queues,
        arguments.channels,
        tuple(arguments.only or ()),
        tuple(arguments.reply_queue or ("MQVITALS.REPLY",)),
        arguments.ahead,
        ZOS,
    )
    await listeners.open(arguments.control_port, arguments.port)
    where = {"queue_managers": listeners.ports, "control": listeners.control_port}
    sys.stdout.write(json.dumps(where) + "\n")
    sys.stdout.flush()
    try:
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await listeners.close()


def main(words: list[str] | None = None) -> None:
    """Run the stand-in until the standard input ends."""
    parser = argparse.ArgumentParser(prog="mqstandin", description="Stand-in queue managers for tests.")
    parser.add_argument("--scenario", default="quiet")
    parser.add_argument("--port", type=int, default=0, help="of the first queue manager; 0: any free ones")
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queues", type=int, default=0, help="so many more than the site has")
    parser.add_argument("--channels", type=int, default=0)
    parser.add_argument("--only", action="append", help="this queue manager (may be repeated)")
    parser.add_argument("--reply-queue", action="append", help="a permanent reply queue (may be repeated)")
    parser.add_argument("--ahead", type=int, default=AHEAD, help="messages that an MQGET may bring beside its own")
    asyncio.run(_serve(parser.parse_args(words)))


if __name__ == "__main__":
    main()

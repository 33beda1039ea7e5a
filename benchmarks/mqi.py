"""How fast answers come from MQGET to decoded messages, against ibmmq's own PCFExecute on the same queue manager, in the same run.

No queue manager is at hand: a stand-in of the tests answers, behind the real ``ibmmq`` package and a stand-in for IBM's client
library. Every figure here rests on it: what IBM's library and a network cost comes on top, for both alike. "full" makes
every value of every message, as PCFExecute does; "asked" is gathering the answer alone, which decodes no more than its end.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "standin"))

from mqstandin import library  # noqa: E402 - found through the line above
from mqstandin.control import StandInProcess  # noqa: E402

QUEUES = 8_000
ROUNDS = 5
TARGET = 5
WAIT_MS = 10_000


def ours(binding: str, address: str) -> tuple[Callable[[], int], Callable[[], int]]:
    """Ask for all queues and decode every reply to its last value, or only ask; both return how many replies came."""
    from mqvitals_agent.clock import SystemClock
    from mqvitals_agent.connection.connection import Query
    from mqvitals_agent.connection.conversation import Conversation, TimeSource
    from mqvitals_agent.connection.mqi import load_binding
    from mqvitals_agent.connection.route import CommandRoute
    from mqvitals_agent.pcf import constants as mq
    from mqvitals_agent.pcf.decoder import Decoder
    from mqvitals_agent.pcf.encoder import request, string

    route = CommandRoute("QM01", "MQVITALS.SVRCONN", address, reply_queue="MQVITALS.REPLY")
    ticks = TimeSource(SystemClock().now, lambda: time.monotonic_ns() // 1_000_000)
    talk = Conversation(load_binding(binding).connect(route), route, ticks, lambda: False)
    asked = request(mq.MQCMD_INQUIRE_Q, (string(mq.MQCA_Q_NAME, "*"),))
    decoder = Decoder()

    def ask() -> int:
        exchange = talk.ask(Query(mq.MQCMD_INQUIRE_Q, asked), WAIT_MS)
        assert exchange.error is None, exchange.error
        return len(exchange.replies)

    def full() -> int:
        exchange = talk.ask(Query(mq.MQCMD_INQUIRE_Q, asked), WAIT_MS)
        assert exchange.error is None, exchange.error
        return sum(bool(decoder.decode(each.data, each.ccsid).values) for each in exchange.replies)

    return full, ask


def theirs(address: str) -> Callable[[], int]:
    """PCFExecute of ibmmq, converting, as its documentation shows it; returns how many replies came."""
    module: Any = importlib.import_module("ibmmq")
    definition = module.CD()
    definition.ChannelName, definition.ConnectionName = b"MQVITALS.SVRCONN", address.encode()
    definition.ChannelType, definition.TransportType = 6, 2  # MQCHT_CLNTCONN, MQXPT_TCP
    manager = module.QueueManager(None)
    manager.connect_with_options("QM01", cd=definition)
    execute = module.PCFExecute(
        manager, command_queue_name=b"SYSTEM.COMMAND.INPUT", convert=True, response_wait_interval=WAIT_MS
    )
    return lambda: len(execute.MQCMD_INQUIRE_Q({module.CMQC.MQCA_Q_NAME: b"*"}))


def rates(runs: dict[str, Callable[[], int]]) -> dict[str, list[float]]:
    """Replies a second of each in every round, one after another in turn; a first round is not counted."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for place in range(ROUNDS + 1):
        for name, run in runs.items():
            began = time.perf_counter()
            count = run()
            took = time.perf_counter() - began
            if place:
                found[name].append(count / took)
    return found


def measure(address: str) -> int:
    """Measure in this process, which finds the bindings; print, and return 1 when the target is missed."""
    peer = theirs(address)
    full, ask = ours("ibmmq", address)
    found = rates({"asked": ask, "full": full, "ibmmq": peer})
    count = ask()
    print(f"all queues of a member, over the stand-in: {count} replies, {ROUNDS} rounds")
    missed = False
    for name, each in found.items():
        line = f"  {name:6} {median(each):9,.0f} replies/s"
        if name != "ibmmq":
            ratio = median(our / their for our, their in zip(each, found["ibmmq"], strict=True))
            line += f"  {ratio:6.1f} x ibmmq" + (f" (aim: {TARGET})" if name == "full" else "")
            missed = missed or (name == "full" and ratio < TARGET)
        print(line)
    print("  ibmmq: its PCFExecute; all of it over the stand-in, not over IBM's client library and a network")
    return 1 if missed else 0


def main() -> int:
    """Build the stand-in, start it, and measure in a process that finds it."""
    parser = argparse.ArgumentParser(description="replies per second over the stand-in")
    parser.add_argument("--address", help=argparse.SUPPRESS)
    address = parser.parse_args().address
    if address:
        return measure(address)
    if library.compiler() is None:
        print(f"  no measurement: {library.NO_COMPILER}")
        return 0
    named = os.environ.get("MQVITALS_STANDIN_CACHE")
    cache = Path(named) if named else Path(tempfile.gettempdir()) / f"mqvitals-standin-{os.getuid()}"
    cache.mkdir(parents=True, exist_ok=True)
    bindings = library.install_bindings(cache, library.build(cache))
    if "ibmmq" in bindings.missing:
        print(f"  no measurement: pip could not install ibmmq: {bindings.missing['ibmmq']}")
        return 0
    with StandInProcess("--only", "QM01", "--queues", str(QUEUES)) as running:
        environment = bindings.environment("ibmmq")
        environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
        command = [sys.executable, __file__, "--address", running.address("QM01")]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

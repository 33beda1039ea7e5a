"""Replies of 10,000 queues and 2,000 channels, from bytes to stored samples and verdicts: CPU seconds and peak memory.

Cycles of one queue manager through the real way (collector, windows, engine, store). The first creates the objects; in those of the next
five minutes advice on each is evaluated for the first time; the last ones are typical of a day.
With ``--definitions`` the first cycle also has the definitions of the queues, as an agent asks for them: without them
most rules about queues are unknown, which takes longer than to see that they do not apply.
The peer of the same run is the mere decoding of the same replies by a plain walk over the structures with struct.
All of it is done several times, each with a new store; what cycles cost is compared in sum, as the speed of a machine
that others use changes within a cycle.
"""

from __future__ import annotations

import argparse
import gc
import resource
import struct
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from mqvitals_agent.connection.connection import Exchange, Reply
from mqvitals_agent.gc_tuning import MANY_THRESHOLDS, fewer_collections, freeze_long_lived
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.pcf import constants as c
from mqvitals_agent.pcf.encoder import integer, integers, request, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.simulator.answer import CCSID, answer
from mqvitals_agent.store.writer import Store
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config

QUEUES, CHANNELS, CYCLES = 10_000, 2_000, 17
RUNS = 3
USUAL = 6
"""So many of the last cycles are those that come all day."""
BEGIN, INTERVAL_MS = 1_795_000_000_000, 30_000


def queue_name(position: int) -> str:
    """One queue of a hundred is the transmission queue of a channel."""
    if position % 100 == 7:
        return f"PARTNER.{position // 100:05d}"
    return f"APPL.{position % 97:02d}.REQUEST.{position:05d}"


def queue(position: int, cycle: int) -> list[Parameter]:
    """What QSTATUS says of one queue."""
    return [
        string(c.MQCA_Q_NAME, queue_name(position).ljust(48)),
        integer(c.MQIACF_Q_STATUS_TYPE, c.MQIACF_Q_STATUS),
        integer(c.MQIA_CURRENT_Q_DEPTH, (position * 7 + cycle * 3) % 900),
        integer(c.MQIA_OPEN_INPUT_COUNT, position % 3 * 2),
        integer(c.MQIA_OPEN_OUTPUT_COUNT, position % 5),
        integer(c.MQIACF_UNCOMMITTED_MSGS, 0),
        string(c.MQCACF_LAST_GET_DATE, "2026-11-18  "),
        string(c.MQCACF_LAST_GET_TIME, f"09.{position % 60:02d}.{cycle:02d}"),
        string(c.MQCACF_LAST_PUT_DATE, "2026-11-18  "),
        string(c.MQCACF_LAST_PUT_TIME, f"09.{position % 60:02d}.{cycle:02d}"),
        integer(c.MQIACF_OLDEST_MSG_AGE, position % 300),
        integers(c.MQIACF_Q_TIME_INDICATOR, (2_000 + position, 1_900)),
        integer(c.MQIA_MONITORING_Q, c.MQMON_MEDIUM),
        integer(c.MQIA_QSG_DISP, c.MQQSGD_Q_MGR),
    ]


def queue_definition(position: int) -> list[Parameter]:
    """What QLOCAL says of one queue: two of a hundred trigger, one names a queue for backouts."""
    transmits, triggers = position % 100 == 7, position % 100 in (7, 20, 60)
    return [
        string(c.MQCA_Q_NAME, queue_name(position).ljust(48)),
        integer(c.MQIA_Q_TYPE, c.MQQT_LOCAL),
        integer(c.MQIA_QSG_DISP, c.MQQSGD_Q_MGR),
        integer(c.MQIA_CURRENT_Q_DEPTH, position % 900),
        integer(c.MQIA_MAX_Q_DEPTH, 999_999_999 if position % 3 else 5_000),
        integer(c.MQIA_MAX_MSG_LENGTH, 4_194_304),
        integer(c.MQIA_USAGE, c.MQUS_TRANSMISSION if transmits else c.MQUS_NORMAL),
        integer(c.MQIA_INHIBIT_GET, 0),
        integer(c.MQIA_INHIBIT_PUT, 0),
        integer(c.MQIA_Q_SERVICE_INTERVAL, 999_999_999),
        integer(c.MQIA_Q_SERVICE_INTERVAL_EVENT, 0),
        integer(c.MQIA_MONITORING_Q, c.MQMON_Q_MGR),
        integer(c.MQIA_INDEX_TYPE, 0),
        string(c.MQCA_STORAGE_CLASS, "REMOTE" if transmits else "DEFAULT"),
        integer(c.MQIA_PAGESET_ID, 3 if transmits else 4),
        integer(c.MQIA_TRIGGER_CONTROL, c.MQTC_ON if triggers else c.MQTC_OFF),
        integer(c.MQIA_TRIGGER_TYPE, c.MQTT_FIRST if triggers else c.MQTT_NONE),
        integer(c.MQIA_TRIGGER_DEPTH, 1),
        string(c.MQCA_INITIATION_Q_NAME, "SYSTEM.CHANNEL.INITQ" if transmits else ""),
        string(c.MQCA_BACKOUT_REQ_Q_NAME, queue_name(position + 1) if position % 100 == 30 else ""),
        string(c.MQCA_CREATION_DATE, "2022-01-20"),
        string(c.MQCA_CREATION_TIME, "08.00.00"),
        string(c.MQCA_ALTERATION_DATE, "2022-01-20"),
        string(c.MQCA_ALTERATION_TIME, "08.00.00"),
    ]


def channel(position: int, cycle: int) -> list[Parameter]:
    """What CHSTATUS says of one channel."""
    return [
        string(c.MQCACH_CHANNEL_NAME, f"TO.PARTNER.{position:05d}".ljust(20)),
        integer(c.MQIACH_CHANNEL_DISP, c.MQCHLD_PRIVATE),
        integer(c.MQIACH_CHANNEL_INSTANCE_TYPE, c.MQOT_CURRENT_CHANNEL),
        integer(c.MQIACH_CHANNEL_TYPE, c.MQCHT_SENDER),
        string(c.MQCACH_CONNECTION_NAME, f"10.1.{position // 250}.{position % 250}(1414)".ljust(264)),
        string(c.MQCACH_XMIT_Q_NAME, f"PARTNER.{position:05d}".ljust(48)),
        string(c.MQCA_REMOTE_Q_MGR_NAME, f"PARTNER.{position:05d}".ljust(48)),
        integer(c.MQIACH_CHANNEL_STATUS, c.MQCHS_RUNNING),
        integer(c.MQIACH_CHANNEL_SUBSTATE, c.MQCHSSTATE_IN_MQGET),
        integer(c.MQIACH_INDOUBT_STATUS, 0),
        string(c.MQCACH_CHANNEL_START_DATE, "2026-11-01  "),
        string(c.MQCACH_CHANNEL_START_TIME, "04.15.30"),
        string(c.MQCACH_LAST_MSG_DATE, "2026-11-18  "),
        string(c.MQCACH_LAST_MSG_TIME, f"09.{position % 60:02d}.{cycle:02d}"),
        integer(c.MQIACH_MSGS, cycle * 1_000 + position),
        integer(c.MQIACH_BYTES_SENT, cycle * 1_000_000 + position),
        integer(c.MQIACH_BYTES_RCVD, cycle * 9_000 + position),
        integer(c.MQIACH_BUFFERS_SENT, cycle * 800 + position),
        integer(c.MQIACH_BUFFERS_RCVD, cycle * 80 + position),
        integer(c.MQIACH_BATCHES, cycle * 90 + position),
        integer(c.MQIACH_BATCH_SIZE, 50),
        integer(c.MQIACH_SHORT_RETRIES_LEFT, 10),
        integer(c.MQIACH_LONG_RETRIES_LEFT, 999_999_999),
        integers(c.MQIACH_NETWORK_TIME_INDICATOR, (140, 142)),
        integers(c.MQIACH_XMITQ_TIME_INDICATOR, (900, 880)),
        integers(c.MQIACH_BATCH_SIZE_INDICATOR, (11, 12)),
        integers(c.MQIACH_EXIT_TIME_INDICATOR, (0, 0)),
        integer(c.MQIACH_XMITQ_MSGS_AVAILABLE, position % 40),
    ]


def exchanges(cycle: int, *, definitions: bool = False) -> list[Exchange]:
    """One cycle's two answers; with ``definitions`` those of the queues before them."""
    at = BEGIN + (cycle - 1) * INTERVAL_MS
    asked = [
        (
            c.MQCMD_INQUIRE_Q_STATUS,
            [
                string(c.MQCA_Q_NAME, "*"),
                integer(c.MQIACF_Q_STATUS_TYPE, c.MQIACF_Q_STATUS),
                integer(c.MQIA_QSG_DISP, c.MQQSGD_ALL),
            ],
            [queue(position, cycle) for position in range(QUEUES)],
        ),
        (
            c.MQCMD_INQUIRE_CHANNEL_STATUS,
            [string(c.MQCACH_CHANNEL_NAME, "*"), integer(c.MQIACH_CHANNEL_INSTANCE_TYPE, c.MQOT_CURRENT_CHANNEL)],
            [channel(position, cycle) for position in range(CHANNELS)],
        ),
    ]
    if definitions:
        local = [
            string(c.MQCA_Q_NAME, "*"),
            integer(c.MQIA_Q_TYPE, c.MQQT_LOCAL),
            integer(c.MQIA_QSG_DISP, c.MQQSGD_ALL),
        ]
        asked.insert(0, (c.MQCMD_INQUIRE_Q, local, [queue_definition(position) for position in range(QUEUES)]))
    return [
        Exchange(
            line=0,
            at=at,
            elapsed_ms=900,
            queue_manager="QM01",
            command=command,
            request=request(command, parameters),
            replies=tuple(
                Reply(encoding=785, ccsid=CCSID, data=data, put=at)
                for data in answer("QM01", command, items, cycle * 10 + position)
            ),
            error=None,
        )
        for position, (command, parameters, items) in enumerate(asked)
    ]


def plain_walk(replies: list[bytes]) -> int:
    """The peer: every structure of every reply, one struct.unpack_from each, texts decoded; nothing else is done with them."""
    seen = 0
    for data in replies:
        offset = 36
        for _ in range(struct.unpack_from(">i", data, 32)[0]):
            kind, length, _, value = struct.unpack_from(">4i", data, offset)
            if kind == c.MQCFT_STRING:
                (size,) = struct.unpack_from(">i", data, offset + 16)
                data[offset + 20 : offset + 20 + size].decode("cp500").rstrip()
            elif kind == c.MQCFT_INTEGER_LIST:
                struct.unpack_from(f">{value}i", data, offset + 16)
            offset += length
            seen += 1
    return seen


def walked(replies: list[bytes]) -> float:
    """CPU seconds of the peer: the median of five."""
    spent = []
    for _ in range(5):
        begin = time.process_time()
        plain_walk(replies)
        spent.append(time.process_time() - begin)
    return median(spent)


class Cost(NamedTuple):
    """CPU seconds of a cycle, and of a plain walk of its replies right before and after it."""

    spent: float
    walk: float


def times(costs: Sequence[Cost]) -> float:
    """How many plain walks these cycles cost."""
    return sum(cost.spent for cost in costs) / sum(cost.walk for cost in costs)


def run(*, definitions: bool) -> list[Cost]:
    """Measure the cycles of one store, and print each."""
    found: list[Cost] = []
    with tempfile.TemporaryDirectory() as folder, fewer_collections():
        store = Store.open(Path(folder) / "bench.db", source="benchmark", group="BENCH")
        intake = Ingest(store, load_rule_config(Settings()))
        collector = Collector("BENCH", ("QM01",), lambda _: None)
        for number in range(1, CYCLES + 1):
            cycle = exchanges(number, definitions=definitions and number == 1)
            replies = [reply.data for exchange in cycle for reply in exchange.replies]
            before = walked(replies)
            begin = time.process_time()
            for exchange in cycle:
                collector.feed(exchange)
            intake.take(collector.end_cycle(number))
            spent = time.process_time() - begin
            cost = Cost(spent, (before + walked(replies)) / 2)
            found.append(cost)
            print(
                f"cycle {number}: {QUEUES:,} queues and {CHANNELS:,} channels, {len(replies):,} replies of "
                f"{sum(map(len, replies)) / 1e6:.1f} MB: {spent:.2f} s CPU, {times([cost]):.1f} times a plain walk ({cost.walk:.2f} s)",
                flush=True,
            )
            if number == 1:
                # As the agent does it when the first cycle is stored.
                freeze_long_lived(MANY_THRESHOLDS)
        store.close()
    gc.unfreeze()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="cycles of 10,000 queues and 2,000 channels")
    parser.add_argument("--definitions", action="store_true", help="with the definitions of the queues")
    parser.add_argument("--runs", type=int, default=RUNS, help="so often, each with a new store")
    arguments = parser.parse_args()
    runs = [run(definitions=arguments.definitions) for _ in range(arguments.runs)]
    usual = [cost for costs in runs for cost in costs[-USUAL:]]
    later = times(usual)
    most = max(times([cost]) for costs in runs for cost in costs[1:])
    print(
        f"a later cycle (mean of the last {USUAL} of {len(runs)} runs): {mean(cost.spent for cost in usual):.2f} s CPU, "
        f"{later:.1f} times a plain walk (runs: {', '.join(f'{times(costs[-USUAL:]):.1f}' for costs in runs)}); "
        f"any but the first: at most {most:.1f} times"
    )
    first = times([costs[0] for costs in runs])
    print(f"the first: {first:.1f} times a plain walk, {first / later:.1f} times a later one")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, the replies of a cycle included")


if __name__ == "__main__":
    main()

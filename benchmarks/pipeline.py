"""Replies of 10,000 queues and 2,000 channels, from bytes to stored samples and verdicts: CPU seconds and peak memory.

Cycles of one queue manager through the real way (collector, windows, engine, store). The first creates the objects; in those of the next
five minutes advice on each is evaluated for the first time; the last ones are typical of a day.
The peer of the same run is the mere decoding of the same replies by a plain walk over the structures with struct.
"""

from __future__ import annotations

import resource
import struct
import tempfile
import time
from pathlib import Path
from statistics import median

from mqvitals_agent.connection.connection import Exchange, Reply
from mqvitals_agent.gc_tuning import fewer_collections, freeze_long_lived
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
USUAL = 5
"""So many of the last cycles are those that come all day."""
BEGIN, INTERVAL_MS = 1_795_000_000_000, 30_000


def queue(position: int, cycle: int) -> list[Parameter]:
    """What QSTATUS says of one queue."""
    return [
        string(c.MQCA_Q_NAME, f"APPL.{position % 97:02d}.REQUEST.{position:05d}".ljust(48)),
        integer(c.MQIACF_Q_STATUS_TYPE, c.MQIACF_Q_STATUS),
        integer(c.MQIA_CURRENT_Q_DEPTH, (position * 7 + cycle * 3) % 900),
        integer(c.MQIA_OPEN_INPUT_COUNT, position % 3),
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


def exchanges(cycle: int) -> list[Exchange]:
    """One cycle's two answers."""
    at = BEGIN + (cycle - 1) * INTERVAL_MS
    asked = (
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
    )
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


def main() -> None:
    """Measure and print."""
    found: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder, fewer_collections():
        store = Store.open(Path(folder) / "bench.db", source="benchmark", group="BENCH")
        intake = Ingest(store, load_rule_config(Settings()))
        collector = Collector("BENCH", ("QM01",), lambda _: None)
        for number in range(1, CYCLES + 1):
            cycle = exchanges(number)
            replies = [reply.data for exchange in cycle for reply in exchange.replies]
            # Right before and right after: a machine that others use is not equally fast all the time.
            peer = walked(replies)
            begin = time.process_time()
            for exchange in cycle:
                collector.feed(exchange)
            intake.take(collector.end_cycle(number))
            spent = time.process_time() - begin
            peer = (peer + walked(replies)) / 2
            found.append((spent, peer))
            print(
                f"cycle {number}: {QUEUES:,} queues and {CHANNELS:,} channels, {len(replies):,} replies of "
                f"{sum(map(len, replies)) / 1e6:.1f} MB: {spent:.2f} s CPU, {spent / peer:.1f} times a plain walk ({peer:.2f} s)",
                flush=True,
            )
            if number == 1:
                # As the agent does it when the first cycle is stored.
                freeze_long_lived()
        store.close()
    later = median(spent for spent, _ in found[-USUAL:])
    times = median(spent / peer for spent, peer in found[-USUAL:])
    most = max(spent / peer for spent, peer in found[1:])
    print(
        f"a later cycle (median of the last {USUAL}): {later:.2f} s CPU, {times:.1f} times a plain walk; any but the first: at most {most:.1f} times"
    )
    first, beside = found[0]
    print(f"the first against a later one, by what a plain walk took beside each: {first / beside / times:.1f} times")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, the replies of a cycle included")


if __name__ == "__main__":
    main()

"""What remote write costs at 10,000 queues and 2,000 channels: CPU a cycle, and bytes a sample on the wire.

Cycles of a made-up group are written to a store. *order* is what the order of commits adds to a cycle: snapshots without readings written to
it and to a store that keeps none, in turn. After each cycle it is read, encoded and compressed as the sender does it (*live*); then all cycles once more as one backlog
(*backlog*), as after an outage. Nothing is posted: the network is not measured. CPU times are those of this thread.

Peer: the protobuf package alone, which makes a message for each series of the same cycle and serializes it.
Run it: python benchmarks/remote_write.py [--cycles 8] [--folder DIR]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from group import Group
from mqvitals_agent.remote_write.outgoing import Outgoing
from mqvitals_agent.remote_write.protocol import compress, decode_request, message
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import Snapshot

NAME = "engine"
MOST = 5_000
EMPTY = 200
ADDED = 0.05
"""The part of a cycle's writing that the order of commits may add."""
_T = TypeVar("_T")


def timed(function: Callable[[], _T]) -> tuple[_T, float]:
    """What a function returns, and the CPU time that it took, ms."""
    began = time.thread_time()
    result = function()
    return result, (time.thread_time() - began) * 1000


class Sent:
    """What was read and encoded: requests, samples, bytes as they were and compressed, and the bodies of one round."""

    def __init__(self) -> None:
        self.requests = self.samples = self.plain = self.compressed = 0
        self.plain_bodies: list[bytes] = []

    def round(self, outgoing: Outgoing, store: Store) -> None:
        """All that waits, as the sender does it."""
        self.plain_bodies = []
        while (found := outgoing.begin()) is not None:
            while (batch := outgoing.next()) is not None:
                series = [each.data for each in batch.series]
                body = compress(series)
                self.requests += 1
                self.samples += batch.samples
                self.plain += sum(map(len, series))
                self.compressed += len(body)
                self.plain_bodies.append(b"".join(series))
            missed = outgoing.missed()
            assert not missed
            store.remote_write.advance(NAME, found.before, found.place, missed, 0)
            outgoing.done()
        outgoing.look()


def peer(bodies: list[bytes]) -> float:
    """The CPU time, ms, in which the protobuf package makes the same requests from labels and values."""
    decoded = [decode_request(body) for body in bodies]

    def made() -> int:
        size = 0
        for request in decoded:
            built = message("WriteRequest")
            for series in request:
                one = built.timeseries.add()
                for label, value in series.labels:
                    one.labels.add(name=label, value=value)
                for ts, _ in series.samples:
                    one.samples.add(value=1.5, timestamp=ts)
            size += len(built.SerializeToString())
        return size

    return timed(made)[1]


def empty_cycle(store: Store) -> float:
    """The CPU time, ms, of a cycle of five snapshots without readings."""
    owners = [f"EMPTY{each}" for each in range(5)]
    took = []
    for cycle in range(1, EMPTY + 1):
        snapshots = [
            (Snapshot(owner, group=False, cycle=cycle, ts=cycle * 10_000, readings=()), ()) for owner in owners
        ]
        took.append(timed(lambda: store.write_together(snapshots, lambda _: None))[1])  # noqa: B023 - called at once
    return statistics.median(took)


def main() -> int:
    """Measure and print; exit code 1 when the order of commits costs too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="where to write; the default is a temporary folder")
    arguments = parser.parse_args()
    group = Group()
    writing: list[float] = []
    live: list[float] = []
    by_package: list[float] = []
    with (
        TemporaryDirectory(dir=arguments.folder) as folder,
        Store.open(Path(folder) / "ordered.db", ordered=True) as ordered,
        Store.open(Path(folder) / "plain.db") as plain,
    ):
        ordered.remote_write.register((NAME,))
        outgoing = Outgoing(Path(folder) / "ordered.db", NAME, {"site": "A"}, MOST)
        sent = Sent()
        for cycle in range(arguments.cycles + 1):
            snapshots = [(snapshot, ()) for snapshot in group.snapshots(cycle)]
            _, took = timed(lambda: ordered.write_together(snapshots, lambda _: None))  # noqa: B023 - called at once
            if cycle:
                writing.append(took)
            if cycle == 1:
                sent = Sent()
            _, took = timed(lambda: sent.round(outgoing, ordered))  # noqa: B023 - called at once
            if cycle:
                live.append(took)
                by_package.append(peer(sent.plain_bodies))
        outgoing.close()
        ordered.database.connection.execute("UPDATE remote_write SET place = 0, totals_place = 0")
        backlog = Sent()
        again = Outgoing(Path(folder) / "ordered.db", NAME, {"site": "A"}, MOST)
        _, behind = timed(lambda: backlog.round(again, ordered))
        again.close()
        added = empty_cycle(ordered) - empty_cycle(plain)
    middle = statistics.median(writing)
    cycles = arguments.cycles
    print(f"  order    {added:6.1f} ms CPU a cycle, beside {middle:.0f} ms that writing takes")
    print(
        f"  live     {statistics.median(live):6.0f} ms CPU a cycle: {sent.samples // cycles:,} samples in"
        f" {sent.requests // cycles} requests, {sent.compressed / sent.samples:.1f} bytes a sample on the wire"
        f" ({sent.plain / sent.samples:.0f} before compression)"
    )
    print(
        f"  backlog  {behind / (cycles + 1):6.0f} ms CPU a cycle: {backlog.samples:,} samples of {cycles + 1} cycles in"
        f" {backlog.requests} requests, {backlog.compressed / backlog.samples:.1f} bytes a sample on the wire"
    )
    package = statistics.median(by_package)
    print(f"  peer     {package:6.0f} ms CPU a cycle: protobuf alone, without reading and compressing")
    print(f"  ratio    {statistics.median(live) / package:6.2f} of the peer's time, for all of it")
    return int(added > middle * ADDED)


if __name__ == "__main__":
    raise SystemExit(main())

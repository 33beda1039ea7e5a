"""What a year costs: samples sealed by the store, and what reading them takes, beside Prometheus with the same samples.

    python benchmarks/store.py [size] [series] [last] [top] [month] [writing] [--objects 2000] [--hours 24] [--peer-objects 100]

The corpus is polls every 10 seconds of queues with 12 metrics, 74 of 100 values as in the poll before. It is written by the
agent's own writer and sealed by its sealer: bytes a value are those of whole pages of the file. Prometheus gets the samples of
every so many objects as blocks (of its own tool, in chunks as a scrape makes them) and answers over HTTP on this machine.

Times are CPU times: of the peer those of its process, without what asking and reading its answers takes us; where a line says
so they are what somebody waits, who on a busy machine waits for others too. The parts can be run alone; ``size`` is always
among them, as it makes the store, unless ``--store`` names one that it made before with ``--keep``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from heapq import nlargest
from itertools import chain, repeat
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from corpus import HOUR_MS, INTERVAL_MS, METRICS, OWNER, START_MS, Corpus
from figures import taken
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.store.file.schema import open_reader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader, hour_of_ts
from mqvitals_agent.store.rows.sealed.roller import Roller
from mqvitals_agent.store.rows.sealed.rollup_rows import RollupReader
from mqvitals_agent.store.rows.sealed.sealer import Sealer
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from prometheus import Peer, ask, program

PARTS = ("size", "series", "last", "top", "month", "writing")
PROBE = "INQUIRE_Q_STATUS"
DAY_MS = 24 * HOUR_MS
SEALED_MS = 30 * HOUR_MS
"""So long after its begin an hour is sealed, whatever the sealer waits for."""
_COMMIT_S = 0.02
_EVERY_S = 0.02
"""While samples are written, somebody reads so often."""
_ASKED = 40
_TIMES = 5
"""The peer's CPU time is only known to 10 ms: every question is asked so often."""
_SEED = 1


class Aims:
    """Prints figures with their aims, and remembers whether one was missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def line(self, what: str, value: float, unit: str, aim: float | None = None, more: str = "") -> None:
        good = aim is None or value <= aim
        if not good:
            self.missed.append(what)
        goal = "" if aim is None else f"   aim {aim:g}{'' if good else ': MISSED'}"
        print(f"  {what:52}{value:10.3f} {unit:12}{goal}{more}", flush=True)


def cpu_ms(work: Callable[[], object]) -> float:
    """The CPU time of a call, ms."""
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


# -- the store -------------------------------------------------------------------------------------------------------


def write_hour(store: Store, corpus: Corpus, hour: int) -> float:
    """Write the polls of an hour; returns the CPU seconds of the store."""
    names = [ObjectName(OWNER, "queue", corpus.name(number)) for number in range(corpus.objects)]
    nothing = Evaluation((), ())
    spent = 0.0
    for ts, rows in corpus.polls(hour):
        readings = tuple(
            Reading(name, PROBE, ts, dict(zip(METRICS, row, strict=True)), INTERVAL_MS)
            for name, row in zip(names, rows, strict=True)
        )
        cycle = (ts - START_MS) // INTERVAL_MS + 1
        snapshot = Snapshot(OWNER, group=False, cycle=cycle, ts=ts, readings=readings)
        begun = time.process_time()
        store.write(snapshot, nothing)
        spent += time.process_time() - begun
    return spent


@contextmanager
def transactions(connection: sqlite3.Connection) -> Iterator[Callable[[], None]]:
    """Short transactions, one after another: call what it gives where one may end."""
    begun = time.monotonic()
    connection.execute("BEGIN IMMEDIATE")

    def may_end() -> None:
        nonlocal begun
        if time.monotonic() - begun > _COMMIT_S:
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
            begun = time.monotonic()

    yield may_end
    connection.execute("COMMIT")


class Sealed(NamedTuple):
    """What sealing took: CPU seconds of the chunks, of the hours of days; chunks written."""

    chunks_s: float = 0.0
    rolled_s: float = 0.0
    chunks: int = 0


def seal(store: Store, now: int) -> Sealed:
    """Seal all hours that are due as of ``now``, ms UTC, and roll up the days of them, as an agent does between two cycles."""
    begun, chunks = time.process_time(), 0
    written, connection = store.snapshots.written, store.database.connection
    with transactions(connection) as may_end:
        for step in Sealer(store.tables, written.touched, columns=written.columns).round(connection, now):
            chunks += step.chunks
            may_end()
    sealed = time.process_time()
    with transactions(connection) as may_end:
        for _ in Roller(store.tables).round(connection, now):
            may_end()
    return Sealed(sealed - begun, time.process_time() - sealed, chunks)


def make(path: Path, corpus: Corpus, aims: Aims) -> None:
    """Write and seal the corpus."""
    written, sealed = 0.0, []
    with Store.open(path) as store:
        for hour in range(corpus.hours):
            written += write_hour(store, corpus, hour)
            sealed.append(seal(store, START_MS + (hour + 1) * HOUR_MS))
        # The day is over.
        sealed.append(seal(store, START_MS + max(corpus.hours, 24) * HOUR_MS + SEALED_MS))
    chunks, rolled = sum(each.chunks_s for each in sealed), sum(each.rolled_s for each in sealed)
    for what, spent in (("writing", written), ("sealing", chunks), ("rolling up", rolled)):
        of_hour = spent / corpus.hours
        aims.line(f"{what} an hour of data", of_hour, "s CPU", more=f"   {of_hour / 36:.3f} % of a core")
    aims.line("sealing an object's hour", chunks / sum(each.chunks for each in sealed) * 1000, "ms CPU")


def sizes(path: Path, aims: Aims) -> None:
    """The bytes a value of what is sealed."""
    tables = ("chunk", "chunk_layout", "chunk_axis")
    with closing(sqlite3.connect(path)) as connection:
        blobs, polls = connection.execute("SELECT sum(length(data)), sum(n) FROM chunk").fetchone()
        (pages,) = connection.execute(
            f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({', '.join('?' * len(tables))})", tables
        ).fetchone()
    aims.line("sealed, the chunks alone", blobs / (polls * len(METRICS)), "B a value")
    aims.line("sealed, whole pages", pages / (polls * len(METRICS)), "B a value", 0.21)


# -- questions -------------------------------------------------------------------------------------------------------


def asked(numbers: Sequence[int]) -> list[tuple[int, str]]:
    """Objects, of these ``numbers``, and metrics that are asked for, those of every use among them."""
    draw = random.Random(_SEED)
    return [(draw.choice(numbers), draw.choice(METRICS)) for _ in range(_ASKED)]


def series(path: Path, corpus: Corpus, numbers: Sequence[int], aims: Aims) -> None:
    """A metric of an object over the whole time: from the chunks, and as `mqvitals trend` and the screens ask for it."""
    first, last = START_MS, START_MS + corpus.hours * HOUR_MS - 1
    hours = range(hour_of_ts(first), hour_of_ts(last) + 1)
    questions = asked(numbers)
    with closing(open_reader(path)) as connection, StoreReader.open(path) as reader:
        objects = dict(connection.execute("SELECT name, id FROM object WHERE kind = 'queue'"))
        chunks = ChunkReader()

        def from_chunks(number: int, metric: str) -> list[object]:
            found = chunks.of_object(
                connection, objects[corpus.name(number)], OWNER, Source.POLL, hours, frozenset((metric,))
            )
            return [value for each in found for value in each.values[metric]]

        def as_asked(number: int, metric: str) -> list[object]:
            name = ObjectName(OWNER, "queue", corpus.name(number))
            return [value for _, value in reader.trend(name, metric, first, last).points]

        for what, read in (("chunks", from_chunks), ("series of the reader", as_asked)):
            if any(read(number, metric) != list(corpus.series(number, metric)) for number, metric in questions):
                print(f"  {corpus.hours} h of one series, {what}: not what was written", flush=True)
                aims.missed.append(what)
                continue
            spent = [cpu_ms(partial(read, *each)) for each in questions]
            aims.line(f"{corpus.hours} h of one series, {what}", statistics.median(spent), "ms CPU", 5.0)


def last_values(path: Path, corpus: Corpus, aims: Aims) -> None:
    """The newest value of a metric of every object: as any client of SQLite asks for it, and as the reader gives it, with name,
    age, and the reason where it is absent.
    """
    with closing(open_reader(path)) as connection:

        def rows() -> int:
            return len(
                connection.execute(
                    "SELECT o.name, c.depth FROM current_queue AS c JOIN object AS o ON o.id = c.object_id WHERE c.probe = ?",
                    (PROBE,),
                ).fetchall()
            )

        assert rows() == corpus.objects, "every object has a row"
        spent = [cpu_ms(rows) for _ in range(_ASKED)]
        aims.line(f"last value of {corpus.objects:,} objects, rows", statistics.median(spent), "ms CPU", 2.0)
    with StoreReader.open(path) as reader:

        def values() -> int:
            return len(reader.current_by_kind(OWNER, "queue", ("depth",)))

        assert values() == corpus.objects, "every object has a newest value"
        spent = [cpu_ms(values) for _ in range(_ASKED)]
    aims.line(f"last value of {corpus.objects:,} objects, the reader", statistics.median(spent), "ms CPU", 2.0)


def lengthen(path: Path, days: int) -> None:
    """Put copies of the rows of the day's hours before it, so that there are ``days``: their values repeat."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for back in range(1, days):
            # The poll at midnight is of the day before.
            connection.execute(
                "INSERT OR REPLACE INTO rollup(metric, day, object_id, source, data)"
                " SELECT metric, day - ?, object_id, source, data FROM rollup WHERE day = ? ORDER BY metric, object_id",
                (back, START_MS // DAY_MS),
            )


def top(path: Path, corpus: Corpus, aims: Aims) -> None:
    """The ten objects with the greatest value of a metric in a week: from the rows of days, and as `mqvitals trend --top`
    asks the reader for it.
    """
    days = range(START_MS // DAY_MS - 6, START_MS // DAY_MS + 1)
    with closing(open_reader(path)) as connection, StoreReader.open(path) as reader:
        names = dict(connection.execute("SELECT id, name FROM object WHERE kind = 'queue'"))
        rollups = RollupReader()

        def from_rows() -> list[tuple[float, str]]:
            found: dict[int, float] = {}
            for day in days:
                for (number, _), metric in rollups.of_kind(connection, "queue", "depth", day).items():
                    found[number] = max(found.get(number, 0), *metric.highest)
            return nlargest(10, ((value, names[number]) for number, value in found.items()))

        def as_asked() -> list[tuple[float, str]]:
            found = reader.spans_of_kind("queue", "depth", START_MS - 6 * DAY_MS, START_MS + DAY_MS)
            return nlargest(10, ((whole.highest, name.name) for name, whole in found.items()))

        values = ((max(corpus.series(number, "depth")[1:]), corpus.name(number)) for number in range(corpus.objects))
        right = nlargest(10, values)
        for what, read in (("rows of days", from_rows), ("the reader", as_asked)):
            assert read() == right, "they are those of the corpus"
            spent = statistics.median(cpu_ms(read) for _ in range(5))
            aims.line(f"top 10 of {corpus.objects:,} objects, 7 days, {what}", spent, "ms CPU", 150.0)


def month(path: Path, corpus: Corpus, aims: Aims) -> None:
    """The hours of a metric of an object in 30 days; and one hour of a metric of all objects, as a cycle reads for baselines."""
    with StoreReader.open(path) as reader:

        def hours(number: int, metric: str) -> int:
            name = ObjectName(OWNER, "queue", corpus.name(number))
            found = reader.hour_figures(name, (metric,), START_MS - 29 * DAY_MS, START_MS + DAY_MS)
            return len(found[metric].hours)

        questions = asked(range(corpus.objects))
        assert hours(*questions[0]) == 30 * min(corpus.hours, 24), "all hours of all days"
        spent = [cpu_ms(partial(hours, *each)) for each in questions]
        hour = [START_MS - 7 * DAY_MS + min(corpus.hours, 24) // 2 * HOUR_MS]
        assert len(reader.hour_means("queue", "depth", hour)) == corpus.objects, "every object has a mean"
        one_hour = [cpu_ms(lambda: reader.hour_means("queue", "depth", hour)) for _ in range(_ASKED)]
    aims.line("30 days of hours of one object", statistics.median(spent), "ms CPU", 5.0)
    # A cycle of 10,000 objects may be held up by 50 ms.
    aim = corpus.objects * 0.005
    aims.line(f"an hour of {corpus.objects:,} objects for baselines", statistics.median(one_hour), "ms CPU", aim)


def _watch(path: Path, names: Sequence[str], until: Event, results: multiprocessing.Queue[list[float]]) -> None:
    """Read as a screen does until told to end; how long each answer took, ms of wall time."""
    draw = random.Random(_SEED)
    waited = []
    with StoreReader.open(path) as reader:
        freeze_long_lived()
        while not until.is_set():
            newest = reader.last_ts() or 0
            begun = time.perf_counter()
            name = ObjectName(OWNER, "queue", draw.choice(names))
            reader.trend(name, "depth", newest - HOUR_MS, newest)
            reader.current(name)
            waited.append(1000 * (time.perf_counter() - begun))
            time.sleep(_EVERY_S)
    results.put(waited)


def writing(path: Path, corpus: Corpus, aims: Aims) -> None:
    """How long a reader waits for an hour of a series and the newest values of an object, beside polls that are written and
    an hour that is sealed, and while nothing is.
    """
    names = [corpus.name(number) for number in range(corpus.objects)]
    context = multiprocessing.get_context("spawn")

    def watched(work: Callable[[], object]) -> list[float]:
        until, results = context.Event(), context.Queue()
        process = context.Process(target=_watch, args=(path, names, until, results))
        process.start()
        work()
        until.set()
        found: list[float] = results.get()
        process.join()
        return sorted(found)

    def write() -> None:
        with Store.open(path) as store:
            write_hour(store, corpus, corpus.hours)
            seal(store, START_MS + corpus.hours * HOUR_MS + SEALED_MS)

    begun = time.monotonic()
    busy = watched(write)
    took = time.monotonic() - begun
    calm = watched(lambda: time.sleep(min(took, 10.0)))
    for what, found in (("nothing is written", calm), ("polls are written and sealed", busy)):
        aims.line(f"an hour of a series while {what}", statistics.median(found), "ms waited")
        aims.line("  99th percentile", found[int(len(found) * 0.99)], "ms waited", more=f"   of {len(found)}")


# -- the peer --------------------------------------------------------------------------------------------------------


def ask_peer(peer: Peer, corpus: Corpus, parts: Sequence[str], aims: Aims) -> None:
    """The same of Prometheus."""
    end = START_MS // 1000 + corpus.hours * 3600 - 1
    with peer.serving() as (pid, address):

        def spent(what: str, questions: Sequence[Callable[[], object]]) -> None:
            for question in questions:
                question()
            before, waited = taken(pid).cpu_s, []
            for question in chain.from_iterable(repeat(questions, _TIMES)):
                begun = time.perf_counter()
                question()
                waited.append(1000 * (time.perf_counter() - begun))
            cpu = (taken(pid).cpu_s - before) / len(waited) * 1000
            aims.line(what, cpu, "ms CPU", more=f"   {statistics.median(waited):.2f} ms waited, its answer read")

        if "series" in parts:
            span = f"{corpus.hours * 3600}s"
            asking = [
                partial(ask, address, "query", query=f'{metric}{{queue="{corpus.name(number)}"}}[{span}]', time=end)
                for number, metric in asked(peer.numbers)
            ]
            number, metric = asked(peer.numbers)[0]
            values = [int(value) for _, value in asking[0]()[0]["values"]]
            assert values == list(corpus.series(number, metric)), "what was written is what comes back"
            spent(f"peer: {corpus.hours} h of one series", asking)
        if "last" in parts:
            spent(
                f"peer: last value of {len(peer.numbers):,} objects",
                [lambda: ask(address, "query", query="depth", time=end)] * _ASKED,
            )


def main() -> int:
    """Measure and print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--objects", type=int, default=2000, help="queues (default: %(default)s)")
    parser.add_argument("--hours", type=int, default=24, help="of data (default: %(default)s)")
    parser.add_argument("--peer-objects", type=int, default=100, help="of these the peer gets (default: %(default)s)")
    parser.add_argument("--store", type=Path, help="a store of an earlier run with as many objects and hours")
    parser.add_argument("--keep", type=Path, help="where the store is made and kept")
    arguments = parser.parse_args()
    parts, aims = arguments.parts or PARTS, Aims()
    corpus = Corpus(arguments.objects, arguments.hours)
    step = max(1, corpus.objects // max(1, arguments.peer_objects))
    # One of each use: the tens of its number go on with every one.
    numbers = [(each * step // 10 * 10 + each % 10) % corpus.objects for each in range(arguments.peer_objects)]
    numbers = sorted(set(numbers))
    print(f"{corpus.objects:,} objects, {len(METRICS)} metrics, {corpus.hours} h: {corpus.values / 1e6:.1f} M values")
    with TemporaryDirectory(prefix="mqvitals-store-") as name:
        folder = Path(name)
        path: Path = arguments.store or arguments.keep or folder / "store.db"
        if arguments.store is None:
            make(path, corpus, aims)
        freeze_long_lived()
        if "size" in parts:
            sizes(path, aims)
        if "series" in parts:
            series(path, corpus, numbers, aims)
        if "last" in parts:
            last_values(path, corpus, aims)
        if "top" in parts or "month" in parts:
            lengthen(path, 30)
        if "top" in parts:
            top(path, corpus, aims)
        if "month" in parts:
            month(path, corpus, aims)
        if arguments.peer_objects and program("promtool") and program("prometheus"):
            peer = Peer(folder, corpus, numbers)
            aims.line("peer: Prometheus, its blocks", peer.bytes() / peer.values, "B a value")
            ask_peer(peer, corpus, parts, aims)
        elif arguments.peer_objects:
            print("  the peer is missing: `make .tools/prometheus` unpacks Debian's package")
        if "writing" in parts:
            writing(path, corpus, aims)
    if aims.missed:
        print(f"  missed: {', '.join(each.strip() for each in aims.missed)}")
    return 1 if aims.missed else 0


if __name__ == "__main__":
    sys.exit(main())

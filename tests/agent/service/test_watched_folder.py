"""The folder in which the agent finds SMF records."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mqsamples.rmf import Period, rmf_record, workload
from mqvitals_agent.service.watched_folder import LOOK_MS, WatchedFolder
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.record import parse
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import SmfSettings
from mqvitals_config.sections.store import StoreSettings, short_keep
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName, Snapshot, Source
from mqvitals_rules.vocabulary.tables import KINDS

_T = TypeVar("_T")

POOL = ObjectName("MQ01", "buffer_pool", "3")
LOOK = LOOK_MS + 1_000
"""Until a look and what follows from it is over."""


@pytest.fixture(scope="module")
def smf() -> Any:
    """What makes records."""
    spec = spec_from_file_location("smf_records_by_hand", Path(__file__).parents[1] / "smf" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records(smf: Any, *lows: int) -> bytes:
    """A record for each hour from noon on, of a pool with this lowest figure."""
    return b"".join(
        smf.record(115, 215, {1: [smf.pool(3, low=low)]}, start_us=smf.NOON_US + hour * 3_600_000_000)
        for hour, low in enumerate(lows)
    )


class Taker:
    """A store that takes what it is given, or fails."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.facts = Facts(KINDS)
        self.fails = False
        self.turns = 0

    def take_records(self, snapshot: Snapshot) -> None:
        if self.fails:
            raise StoreError("the disk is full")
        self.store.write(snapshot, Evaluation((), ()))

    async def run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        self.turns += 1
        return function(*arguments)


class Inline(BoundedCall):
    """Reads at once."""

    async def run(self, function: Callable[[], _T], limit_s: float) -> _T:
        return function()


@asynccontextmanager
async def watching(house: Any, folder: Path, **how: Any) -> AsyncIterator[Taker]:
    with Store.open(house.store) as store:
        taker: Any = Taker(store)
        how = {"calls": Inline, **how}
        watched = WatchedFolder(folder, taker, taker, GroupNames(), house.clock, **how)
        task = asyncio.create_task(watched.run())
        await house.clock.advance(0)
        try:
            yield taker
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def lows(house: Any) -> list[float | None]:
    with StoreReader.open(house.store) as reader:
        if not reader.has(POOL):
            return []
        return [sample.value for sample in reader.samples(POOL, "low", Source.SMF)]


async def test_a_file_is_read_when_it_lies_still(house: Any, smf: Any, tmp_path: Path) -> None:
    """Not at the first look, nor while it grows; then once, and it stays as it is."""
    folder = tmp_path / "in"
    folder.mkdir()
    file = folder / "smf.dat"
    async with watching(house, folder):
        file.write_bytes(records(smf, 600)[:100])
        await house.clock.advance(LOOK)
        assert lows(house) == []
        file.write_bytes(records(smf, 600))
        await house.clock.advance(LOOK)
        assert lows(house) == []
        await house.clock.advance(LOOK)
        assert lows(house) == [600]
        for _ in range(3):
            await house.clock.advance(LOOK)
    assert file.read_bytes() == records(smf, 600)
    assert house.log.getvalue().count("smf.read") == 1


async def test_a_file_that_grew_is_read_again(house: Any, smf: Any, tmp_path: Path) -> None:
    """Only what is new in it counts; and a new start knows what was read."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "smf.dat").write_bytes(records(smf, 600))
    async with watching(house, folder):
        await house.clock.advance(2 * LOOK)
        (folder / "smf.dat").write_bytes(records(smf, 600, 500))
        await house.clock.advance(2 * LOOK)
        assert lows(house) == [600, 500]
    assert "new records: 1, already imported: 1" in house.log.getvalue()
    house.log.truncate(0)
    async with watching(house, folder):
        await house.clock.advance(3 * LOOK)
    assert "smf.read" not in house.log.getvalue()


async def test_the_work_is_done_in_turns(house: Any, smf: Any, tmp_path: Path) -> None:
    """A long file is read a little at a time: the thread of the store is free in between."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "smf.dat").write_bytes(records(smf, *range(100, 340)))
    ticks = iter(range(1_000_000))
    async with watching(house, folder, steady=lambda: next(ticks) * 0.03) as taker:
        await house.clock.advance(2 * LOOK)
        assert len(lows(house)) == 240
        assert taker.turns > 100


class SlowStream(io.RawIOBase):
    """A record, then ``size`` bytes of ``rubbish``; reading a kilobyte takes a millisecond of its own clock."""

    def __init__(self, first: bytes, rubbish: bytes, size: int) -> None:
        self._first = first
        self._rubbish = rubbish
        self._left = size
        self.now = 0.0

    def read(self, size: int = -1) -> bytes:
        found, self._first = self._first[:size], self._first[size:]
        more = min(size - len(found), self._left)
        self._left -= more
        self.now += (len(found) + more) / 1024 * 0.001
        return found + (self._rubbish * (more // len(self._rubbish) + 2))[:more]


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\0\x40\0\0\x5e\x1e" + bytes(58),
        b"\0\x40\2\0" + bytes(60),
        b"\xff\xfe\xfd",
        b"\0\x40\0\0\x5e\x73",
        b"\0\0\0\0",
    ],
    ids=["records of another type", "segments", "no records", "false beginnings", "zeros"],
)
async def test_a_file_without_records_is_read_in_small_pieces(
    house: Any, smf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rubbish: bytes
) -> None:
    """Reading a file that holds little or nothing of MQ comes back within a second, so that it is never taken for one that hangs."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "smf.dat").write_bytes(b"stands for the stream")
    stream = SlowStream(records(smf, 600), rubbish, 3_000_000)
    monkeypatch.setattr("mqvitals_agent.service.watched_folder.open_smf", lambda path: nullcontext(stream))
    monkeypatch.setattr("mqvitals_agent.smf.framing.CHUNK", 4096)
    longest = 0.0

    class Timed:
        async def run(self, function: Callable[[], _T], limit_s: float) -> _T:
            nonlocal longest
            began = stream.now
            found = function()
            longest = max(longest, stream.now - began)
            return found

    async with watching(house, folder, steady=lambda: stream.now, calls=Timed):
        await house.clock.advance(4 * LOOK)
        assert lows(house) == [600]
    assert stream.now > 2.5
    assert longest < 1
    assert house.log.getvalue().count("smf.read") == 1


async def test_a_file_that_is_none_is_told_once(house: Any, smf: Any, tmp_path: Path) -> None:
    """The next one is read nevertheless; so is the same one when it has been copied again."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("not a dump\n" * 50)
    (folder / "b.dat").write_bytes(records(smf, 600))
    (folder / ".hidden").write_text("not even looked at\n" * 50)
    async with watching(house, folder):
        for _ in range(4):
            await house.clock.advance(LOOK)
        assert lows(house) == [600]
        log = house.log.getvalue()
        assert log.count("smf.failed") == 1
        assert "a.txt" in log
        assert ".hidden" not in log
        (folder / "a.txt").write_bytes(records(smf, 1, 500))
        await house.clock.advance(2 * LOOK)
    assert lows(house) == [1, 500]


async def test_a_file_that_does_not_answer_holds_up_no_other(house: Any, smf: Any, tmp_path: Path) -> None:
    """It is told once; the one after it is read, and it is itself once it has changed."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.dat").write_bytes(records(smf, 600))
    (folder / "b.dat").write_bytes(records(smf, 600, 500))
    os.utime(folder / "a.dat", (1, 1))
    calls: list[Any] = []

    class Calls(Inline):
        def __init__(self) -> None:
            calls.append(self)

        async def run(self, function: Callable[[], _T], limit_s: float) -> _T:
            # The first looks at the folder, the second reads the first file.
            if calls.index(self) == 1:
                raise NoAnswerError
            return function()

    async with watching(house, folder, calls=Calls):
        await house.clock.advance(4 * LOOK)
        assert lows(house) == [600, 500]
        assert house.log.getvalue().count("a.dat in") == 1
        assert "does not answer" in house.log.getvalue()
        assert len(calls) == 3
        (folder / "a.dat").touch()
        await house.clock.advance(2 * LOOK)
        assert "a.dat: new records: 0, already imported: 1" in house.log.getvalue()


async def test_a_folder_that_does_not_answer_holds_nothing_up(house: Any, smf: Any, tmp_path: Path) -> None:
    """It is looked at in a thread; the loop goes on, and so does the watch when it answers."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "smf.dat").write_bytes(records(smf, 600))
    release = threading.Event()

    class Short(BoundedCall):
        async def run(self, function: Callable[[], _T], limit_s: float) -> _T:
            def slow() -> _T:
                release.wait(60)
                return function()

            return await super().run(slow, 60 if release.is_set() else 0.01)

    async def until(true: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not true():
                await asyncio.sleep(0.001)
                await house.clock.advance(LOOK)

    async with watching(house, folder, calls=Short):
        await until(lambda: "because it does not answer" in house.log.getvalue())
        release.set()
        await until(lambda: lows(house) == [600])


async def test_damage_is_told(house: Any, smf: Any, tmp_path: Path) -> None:
    """What can be read is taken."""
    folder = tmp_path / "in"
    folder.mkdir()
    bad = bytearray(records(smf, 5))
    bad[36:40] = b"\0\1\0\0"
    (folder / "smf.dat").write_bytes(records(smf, 600) + bytes(bad) + records(smf, 600, 500))
    async with watching(house, folder):
        await house.clock.advance(2 * LOOK)
    assert lows(house) == [600, 500]
    assert "damaged records: 1, the first at offset" in house.log.getvalue()


async def test_a_folder_that_is_not_there(house: Any, smf: Any, tmp_path: Path) -> None:
    """It is told once, and once that it is there."""
    folder = tmp_path / "in"
    async with watching(house, folder):
        for _ in range(3):
            await house.clock.advance(LOOK)
        assert house.log.getvalue().count("smf.folder_failed") == 1
        folder.mkdir()
        (folder / "smf.dat").write_bytes(records(smf, 600))
        await house.clock.advance(2 * LOOK)
        assert "smf.folder_recovered" in house.log.getvalue()
        assert lows(house) == [600]


async def test_a_store_that_fails_for_a_while(house: Any, smf: Any, tmp_path: Path) -> None:
    """The file is tried again until it has been taken in, and told of once."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "smf.dat").write_bytes(records(smf, 600))
    async with watching(house, folder) as taker:
        taker.fails = True
        await house.clock.advance(4 * LOOK)
        assert lows(house) == []
        assert house.log.getvalue().count("smf.store_failed") == 1
        taker.fails = False
        await house.clock.advance(2 * LOOK)
    assert lows(house) == [600]


@pytest.fixture
def oddly_named(smf: Any, tmp_path: Path) -> Path:
    """A folder with a file whose name is no UTF-8."""
    folder = tmp_path / "odd"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\x1b.dat")).write_bytes(records(smf, 600))
    except OSError:
        # macOS refuses such a name: then no folder can hold one.
        pytest.skip("this file system knows no such names")
    return folder


async def test_names_that_are_no_text(house: Any, oddly_named: Path) -> None:
    """A file may be called anything that the operating system allows."""
    async with watching(house, oddly_named):
        await house.clock.advance(2 * LOOK)
    assert lows(house) == [600]
    assert "\x1b" not in house.log.getvalue()


async def test_the_service_watches(house: Any, smf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of a queue manager that is polled stand beside its polls; old ones make no alert of today."""
    monkeypatch.setattr("mqvitals_agent.service.service.WatchedFolder", partial(WatchedFolder, calls=Inline))
    folder = tmp_path / "in"
    folder.mkdir()
    place = Place("mqvitals.yaml", 1, 1)
    house.settings = Settings(
        smf=SmfSettings(LocatedText(str(folder), place)), store=StoreSettings(keep=short_keep(None))
    )
    data = records(smf, 0).replace(smf.ebcdic("MQ01", 4), smf.ebcdic("QM01", 4))
    async with house.running():
        (folder / "smf.dat").write_bytes(data)
        await house.clock.advance(4 * LOOK)
        with StoreReader.open(house.store) as reader:
            name = POOL._replace(owner="QM01")
            assert [each.value for each in reader.samples(name, "low", Source.SMF)] == [0]
            assert reader.alerts(include_ended=True) == ()
            owner = next(each for each in reader.owners() if each.name == "QM01")
            assert owner.last_ts >= house.clock.now() - 2 * LOOK
    assert "smf.read" in house.log.getvalue()


async def test_queue_managers_known_by_records_alone_are_not_ended(house: Any, smf: Any, tmp_path: Path) -> None:
    """The agent takes nothing away that it never watched: their pools are there after its next start."""
    with Store.open(house.store) as store:
        taker: Any = Taker(store)
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "smf.dat").write_bytes(records(smf, 600))
        watched = WatchedFolder(folder, taker, taker, GroupNames(), house.clock, calls=Inline)
        task = asyncio.create_task(watched.run())
        await house.clock.advance(2 * LOOK)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    async with house.running():
        await house.clock.advance(3 * LOOK)
    with StoreReader.open(house.store) as reader:
        assert [str(row.name) for row in reader.objects("MQ01/*")] == ["MQ01/buffer_pool/3"]


async def test_a_declared_class_that_is_not_there(house: Any, smf: Any, tmp_path: Path) -> None:
    """RMF's records are read with the facts in force, and what they do not have is told once."""
    folder = tmp_path / "in"
    folder.mkdir()
    data = records(smf, 600)
    owner, system = POOL.owner, parse(data).sysid
    async with watching(house, folder) as taker:
        pattern = ObjectPattern.parse(f"{owner}/queue_manager")
        taker.facts = Facts(KINDS, [Fact(pattern, "mstr_class", "RMSTR"), Fact(pattern, "chin_class", "RCHIM")])
        for number in range(2):
            start_us = smf.NOON_US + number * 900_000_000
            used = [rmf_record(72, 3, workload("RMSTR", [Period(90)]), start_us=start_us, system=system)]
            (folder / f"{number}.smf").write_bytes(data + b"".join(used))
            await house.clock.advance(3 * LOOK)
    with StoreReader.open(house.store) as reader:
        name = ObjectName(owner, "queue_manager")
        assert [each.value for each in reader.samples(name, "mstr_cpu_pct", Source.SMF)] == [10.0, 10.0]
    assert house.log.getvalue().count(f"{owner}: RMF's records of {system} have no class RCHIM") == 1

"""The agent follows files of console lines: stores what they say, judges it, and goes on after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import pytest

from mqvitals_agent.console.watch import FORGET_MS, LOOK_MS, MISSING_MS, SAVE_MS, ConsoleWatch
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import ConsoleSettings, FollowedFile
from mqvitals_config.settings import Settings

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

LOOK = LOOK_MS + 100
LINE = "CSQP020E {} CSQP1RSW Buffer pool 1 is too small\n"


def located(text: str) -> LocatedText:
    return LocatedText(text, Place("mqvitals.yaml", 1, 1))


def settings_of(*paths: Path, queue_manager: str = "", **others: Any) -> Settings:
    own = located(queue_manager) if queue_manager else None
    files = tuple(FollowedFile(located(str(path)), queue_manager=own, begin="start") for path in paths)
    return Settings(console=ConsoleSettings(files, **others))


class Inline(ThreadWorker):
    """Does everything at once."""

    def __init__(self) -> None:
        """No thread."""

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        return function(*arguments)

    def end(self) -> None:
        """Nothing to end."""


class Hanging(Inline):
    """Reads from a network that does not answer."""

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        await asyncio.get_running_loop().create_future()
        raise AssertionError


class Depot(ThreadWorker):
    """A store that may fail."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.fails = False
        self.jobs = 0

    async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
        self.jobs += 1
        if self.fails:
            raise StoreError("the disk is full")
        return function(*arguments)


@asynccontextmanager
async def following(
    house: Any, settings: Settings, worker: Callable[[], Any] = Inline, **how: Any
) -> AsyncIterator[Depot]:
    with Store.open(house.store) as store:
        depot = Depot(store)
        watch = ConsoleWatch(
            settings, lambda: {"QM01", "QM02"}, lambda: store, depot, house.clock, worker=worker, **how
        )
        task = asyncio.create_task(watch.run())
        await house.clock.advance(0)
        try:
            yield depot
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def told(house: Any) -> list[tuple[str, str, int]]:
    with StoreReader.open(house.store) as reader:
        return [(each.owner, each.code, each.times) for each in reader.messages()]


def followed(house: Any) -> frozenset[str]:
    with StoreReader.open(house.store) as reader:
        return reader.consoles_followed()


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.writelines(lines)


async def test_messages_are_stored(house: Any, tmp_path: Path) -> None:
    """Of those who are watched; of others it is said once that there are some."""
    path = tmp_path / "console"
    append(path, LINE.format("QM01"), LINE.format("QM77"), LINE.format("QM01"))
    async with following(house, settings_of(path)):
        await house.clock.advance(LOOK)
        assert told(house) == [("QM01", "CSQP020E", 2)]
        assert followed(house) == {"QM01"}
        append(path, LINE.format("QM02"), LINE.format("QM77"), "IRA200E AUXILIARY STORAGE SHORTAGE\n")
        await house.clock.advance(2 * LOOK)
        assert told(house)[1:] == [("QM02", "CSQP020E", 1), ("QM01", "IRA200E", 1), ("QM02", "IRA200E", 1)]
    assert house.log.getvalue().count("console.left_out") == 1
    assert "QM77" in house.log.getvalue()


async def test_what_is_about_one_system_is_told_of_its_queue_managers(house: Any, tmp_path: Path) -> None:
    """Lines of several systems may come in one file; a structure is everybody's."""
    path = tmp_path / "console"
    head = "N 4040000 {:8} 2026324 11:43:53.12 STC08037 00000090  "
    full = "IXC585E STRUCTURE QSGAAPPL1 IN COUPLING FACILITY CF01\n"
    append(path, head.format("SYSA") + LINE.format("QM01"), head.format("SYSB") + LINE.format("QM02"))
    append(path, head.format("SYSB") + "IRA200E AUXILIARY STORAGE SHORTAGE\n", head.format("SYSB") + full)
    async with following(house, settings_of(path)):
        await house.clock.advance(2 * LOOK)
    assert [each[:2] for each in told(house)][2:] == [("QM02", "IRA200E"), ("QM01", "IXC585E"), ("QM02", "IXC585E")]


async def test_a_restart_goes_on(house: Any, tmp_path: Path) -> None:
    """Nothing twice, nothing lost, also of what was written in between and of half a line."""
    path = tmp_path / "console"
    append(path, LINE.format("QM01"), LINE.format("QM02")[:20])
    async with following(house, settings_of(path)):
        await house.clock.advance(SAVE_MS + 6 * LOOK)
    append(path, LINE.format("QM02")[20:])
    async with following(house, settings_of(path)):
        await house.clock.advance(2 * LOOK)
    assert told(house) == [("QM01", "CSQP020E", 1), ("QM02", "CSQP020E", 1)]
    async with following(house, settings_of(path)):
        await house.clock.advance(2 * LOOK)
    assert len(told(house)) == 2


async def test_a_store_that_fails_loses_nothing(house: Any, tmp_path: Path) -> None:
    path = tmp_path / "console"
    append(path, LINE.format("QM01"))
    async with following(house, settings_of(path)) as depot:
        await house.clock.advance(LOOK)
        depot.fails = True
        append(path, LINE.format("QM02"))
        await house.clock.advance(5 * LOOK)
        append(path, LINE.format("QM02"))
        depot.fails = False
        await house.clock.advance(3 * LOOK)
        assert sum(times for _, _, times in told(house)) == 3
    assert house.log.getvalue().count("console.store_failed") == 1


async def test_a_missing_file_is_told_and_makes_rules_unknown(house: Any, tmp_path: Path) -> None:
    """At once when it never was there; when it was, after a minute. And it is told when it is back."""
    path = tmp_path / "console"
    async with following(house, settings_of(path, queue_manager="QM01")):
        await house.clock.advance(LOOK)
        assert followed(house) == set()
        assert house.log.getvalue().count("it is not there") == 1
        append(path, LINE.format("QM01"))
        await house.clock.advance(2 * LOOK)
        assert followed(house) == {"QM01"}
        assert "console.recovered" in house.log.getvalue()
    path.unlink()
    async with following(house, settings_of(path, queue_manager="QM01")):
        await house.clock.advance(LOOK)
        assert followed(house) == {"QM01"}
        await house.clock.advance(MISSING_MS + LOOK)
        assert followed(house) == set()
    async with following(house, Settings()):
        pass
    assert len(told(house)) == 1


async def test_one_that_hangs_does_not_hold_up_the_others(house: Any, tmp_path: Path) -> None:
    workers = iter((Hanging(), Inline()))
    append(tmp_path / "b", LINE.format("QM01"))
    async with following(house, settings_of(tmp_path / "a", tmp_path / "b"), lambda: next(workers)):
        await house.clock.advance(2 * LOOK)
        assert told(house) == [("QM01", "CSQP020E", 1)]


async def test_one_that_hangs_is_told_of(house: Any, tmp_path: Path) -> None:
    """In the log and in the store, until it answers."""
    release = asyncio.Event()

    class Slow(Inline):
        async def run(self, function: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T:
            await release.wait()
            return function(*arguments)

    append(tmp_path / "a", LINE.format("QM01"))
    async with following(house, settings_of(tmp_path / "a"), Slow, answer_s=0.01):
        async with asyncio.timeout(60):
            while "console.failed" not in house.log.getvalue():  # noqa: ASYNC110 - real time
                await asyncio.sleep(0.001)
        with StoreReader.open(house.store) as reader:
            assert [why for _, why in reader.consoles_failing()] == ["it does not answer: check its file system"]
        release.set()
        await house.clock.advance(LOOK)
        assert told(house) == [("QM01", "CSQP020E", 1)]
        with StoreReader.open(house.store) as reader:
            assert reader.consoles_failing() == ()
        assert "console.recovered" in house.log.getvalue()


async def test_lines_of_nobody_do_not_keep_the_store_busy(house: Any, tmp_path: Path) -> None:
    path = tmp_path / "console"
    append(path, LINE.format("QM01"))
    async with following(house, settings_of(path)) as depot:
        await house.clock.advance(2 * SAVE_MS)
        before = depot.jobs
        for _ in range(20):
            append(path, "IEF403I ELSE - STARTED\n")
            await house.clock.advance(LOOK_MS)
        assert depot.jobs - before <= 20 * LOOK_MS // SAVE_MS + 1


async def test_old_messages_go(house: Any, tmp_path: Path) -> None:
    path = tmp_path / "console"
    append(path, LINE.format("QM01"))
    async with following(house, settings_of(path, keep=FORGET_MS)):
        await house.clock.advance(LOOK)
        assert len(told(house)) == 1
        await house.clock.advance(2 * FORGET_MS)
        assert told(house) == []


async def test_a_message_becomes_an_alert(house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next poll of what it names; before anything came its rule is unknown."""
    monkeypatch.setattr("mqvitals_agent.service.service.ConsoleWatch", partial(ConsoleWatch, worker=Inline))
    path = tmp_path / "console"
    path.write_text("")
    house.settings = replace(house.settings, console=settings_of(path, queue_manager="QM01").console)
    async with house.running():
        await house.clock.advance(2 * house.settings.polling.interval)
        append(path, "IRA200E AUXILIARY STORAGE SHORTAGE\n")
        await house.clock.advance(2 * house.settings.polling.interval)
        with StoreReader.open(house.store) as reader:
            fired = [(str(each.alert.key.object), each.alert.key.rule) for each in reader.alerts()]
        assert [each for each in fired if each[1] == "CFG-06"] == [("QM01/queue_manager", "CFG-06")]

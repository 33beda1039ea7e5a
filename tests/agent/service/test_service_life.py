"""The end, a new beginning and a reload: nothing is lost and nothing is told twice."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_agent.view.alerts.words import ended_words
from mqvitals_agent.view.status import read_status_data
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_config.sections.rules import RuleSettings, TuningSettings
from mqvitals_rules.lifecycle.alert import Why
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName


def alerts(house: Any) -> list[tuple[str, str, str]]:
    """Every alert there was: its rule, its object and its state."""
    with StoreReader.open(house.store) as reader:
        return [
            (str(each.alert.key.rule), str(each.alert.scope), each.alert.state.value)
            for each in reader.alerts(include_ended=True)
        ]


async def test_end_stores_what_came(house: Any) -> None:
    """What was answered in the cycle under way is stored, running questions are cancelled, connections closed."""
    house.of("QM01").hung = {"INQUIRE_Q"}
    async with house.running() as service:
        await house.clock.advance(5_000)
        assert house.stored == []
        service.stop()
    assert len(house.stored) == 1
    assert [script.open for script in house.scripts] == [0, 0, 0]
    with StoreReader.open(house.store) as reader:
        assert {owner.name for owner in reader.owners()} >= {"QM01", "QM02", "QM03"}
    Store.open(house.store).close()  # nobody holds it any more


async def test_end_is_quick_whatever_hangs(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping waits for less than a second of real time in all, also while connecting and asking hang."""
    house.of("QM01").stuck = True
    house.of("QM02").hung = {"INQUIRE_Q_MGR"}
    loop: Any = asyncio.get_running_loop()
    passed = loop.time()
    idle = loop.idle

    def jump(wait_s: float | None) -> list[Any]:
        nonlocal passed
        passed += wait_s or 0
        return []

    async with house.running() as service:
        await house.clock.advance(1_000)
        began = passed
        # Nothing real is to come: what would be waited for has passed at once.
        monkeypatch.setattr(loop, "time", lambda: passed)
        monkeypatch.setattr(loop, "idle", lambda timeout, poll: idle(timeout, lambda wait_s: poll(0) or jump(wait_s)))
        service.stop()
    assert passed - began < 1


async def test_the_end_takes_no_virtual_time(house: Any) -> None:
    """Whatever else still sleeps by the clock: what came last is dated when the end was asked for."""
    house.of("QM01").took = {"INQUIRE_Q": 20_000}
    later = asyncio.create_task(house.clock.sleep(3_600_000))
    async with house.running():
        await house.clock.advance(45_000)
        asked = house.clock.now()
    assert house.clock.now() == asked
    with StoreReader.open(house.store) as reader:
        assert reader.last_ts() <= asked
    later.cancel()


async def test_restart_goes_on(house: Any, queue_depth: Any) -> None:
    """A new service on the same store keeps open alerts without raising them again, and continues the cycles' numbers."""
    house.of("QM03").down = 2059
    async with house.running():
        await house.clock.advance(65_000)
    before = alerts(house)
    assert before == [("AGENT-01", "QM03/queue_manager", "firing")]
    last = house.stored[-1].number
    async with house.running():
        await house.clock.advance(35_000)
        assert alerts(house) == before
        assert house.stored[-1].firing == 1
        house.of("QM03").down = 0
        await house.clock.advance(120_000)
    assert alerts(house) == [("AGENT-01", "QM03/queue_manager", "resolved")]
    numbers = [stored.number for stored in house.stored]
    assert numbers[numbers.index(last) + 1] == last + 1
    with StoreReader.open(house.store) as reader:
        assert len(reader.transitions(1)) == 2


async def test_windows_continue_after_restart(house: Any, queue_depth: Any) -> None:
    """Points from before the restart are in the windows of the new service."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.IN", 5)]}
    async with house.running():
        await house.clock.advance(65_000)
    async with house.running() as service:
        await house.clock.advance(1_000)
        windows = service._writer._ingest._windows
        points = windows.last(ObjectName("QM01", "queue", "APP.IN"), "depth", 10)
        assert [point.value for point in points] == [5, 5, 5, 5]


async def test_reload_keeps_alerts(house: Any) -> None:
    """New rules judge from the next cycle on; what fires stays, and what is no longer in force ends."""
    house.of("QM03").down = 2059
    async with house.running() as service:
        await house.clock.advance(35_000)
        service.reload(house.settings, load_rule_config(house.settings))
        await house.clock.advance(60_000)
        assert alerts(house) == [("AGENT-01", "QM03/queue_manager", "firing")]
        with StoreReader.open(house.store) as reader:
            assert len(reader.transitions(1)) == 1
        other = replace(house.settings, rules=RuleSettings(disabled=(LocatedText("AGENT-01", Place("mqvitals.yaml")),)))
        service.reload(other, load_rule_config(other))
        await house.clock.advance(60_000)
        assert alerts(house) == [("AGENT-01", "QM03/queue_manager", "resolved")]


async def test_reload_turns_a_rule_off_for_an_object(house: Any) -> None:
    """Its open alert ends, not as cleared but with the site's reason; alerts about other objects go on."""
    house.of("QM02").down = house.of("QM03").down = 2059
    async with house.running() as service:
        await house.clock.advance(65_000)
        place = Place("mqvitals.yaml", 3, 5)
        entry = TuningSettings(
            rule=LocatedText("AGENT-*", place),
            objects=LocatedText("QM03/*", place),
            off=True,
            reason=LocatedText("moved to another site", place),
        )
        other = replace(house.settings, rules=RuleSettings(tuning=(entry,)))
        service.reload(other, load_rule_config(other))
        await house.clock.advance(60_000)
    with StoreReader.open(house.store) as reader:
        found = {str(each.alert.scope): each.alert for each in reader.alerts(include_ended=True)}
    assert found["QM02/queue_manager"].ended is None
    ended = found["QM03/queue_manager"]
    assert (ended.why, ended.off_reason) == (Why.TURNED_OFF, "moved to another site")
    assert "turned off by the settings (moved to another site)" in ended_words(ended)


async def test_reload_changes_the_interval(house: Any) -> None:
    """Another interval holds from the next cycle on; what is not yet due by it is not asked at once."""
    async with house.running() as service:
        await house.clock.advance(35_000)
        other = replace(house.settings, polling=PollingSettings(interval=10_000))
        service.reload(other, load_rule_config(other))
        await house.clock.advance(55_000)
    assert house.of("QM02").times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000, 70_000, 80_000, 90_000]
    assert house.of("QM02").times("INQUIRE_Q") == [0]
    numbers = [stored.number for stored in house.stored]
    assert numbers == list(range(1, 7))


async def test_reload_starts_and_ends_queue_managers(house: Any) -> None:
    """A queue manager that is no longer configured is left, a new one is asked; the others keep their connections."""
    house.scripts, third = house.scripts[:2], house.scripts[2]
    first = house.scripts[0]
    async with house.running() as service:
        await house.clock.advance(5_000)
        service.reload(house.settings, load_rule_config(house.settings), [house.scripts[1], third])
        await house.clock.advance(60_000)
        assert (first.open, third.open) == (0, 1)
        assert first.times("INQUIRE_Q_STATUS") == [0]
        assert third.times("INQUIRE_Q_STATUS") == [30_000, 60_000]
        assert len(house.scripts[1].attempts) == 1
        assert house.scripts[1].times("INQUIRE_QSG") == [30_000]


async def test_second_agent_is_refused(house: Any) -> None:
    """The store of another agent is not shared: the second one says which process has it."""
    async with house.running():
        with pytest.raises(StoreError, match="is writing the store"):
            await house.make().run()


async def test_disk_full(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that cannot be stored is told once; the service goes on, and an alert of that time is not lost."""
    house.of("QM03").down = 2059
    full = True

    def failing(write: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(self: Store, *arguments: Any) -> Any:
            if full:
                raise StoreError("the disk is full")
            return write(self, *arguments)

        return wrapped

    for name in ("write", "write_together"):
        monkeypatch.setattr(Store, name, failing(getattr(Store, name)))
    async with house.running():
        await house.clock.advance(65_000)
        assert len(house.stored[-1].errors) == 1
        assert house.stored[-1].snapshots == 0
        assert house.log.getvalue().count(" store.failed ") == 1
        full = False
        await house.clock.advance(60_000)
        assert alerts(house) == [
            ("AGENT-01", "QM03/queue_manager", "firing"),
            ("AGENT-10", "QM01/store", "resolved"),
        ]


async def test_mistakes_stop_the_agent(house: Any) -> None:
    """What no queue manager and no disk can cause is raised with its traceback, and the store is closed."""

    def broken(_: object) -> None:
        raise OSError(errno.EIO, "broken")

    service = house.make()
    service._writer._tap = broken
    with pytest.raises(BaseExceptionGroup) as caught:
        await service.run()
    assert caught.group_contains(OSError)
    Store.open(house.store).close()


async def test_thread_does_the_work(house: Any) -> None:
    """With its own thread the service stores as well, in order."""
    worker = ThreadWorker(clock=house.clock)
    service = house.make()
    service._worker = worker
    task = asyncio.create_task(service.run())
    await house.clock.advance(90_000)
    service.stop()
    await task
    assert [each.number for each in house.stored] == [1, 2, 3, 4]
    assert house.stored[0].snapshots == 3
    with suppress(StoreError):
        Store.open(house.store).close()


async def test_what_vanished_while_nobody_watched_is_gone(house: Any, queue_depth: Any) -> None:
    """A queue that was deleted while the agent was down is gone at the first whole answer; its alerts end. One that a cut
    answer does not tell of is not."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5), queue_depth("APP.B", 5)]}
    async with house.running():
        await house.clock.advance(5_000)
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    house.of("QM01").silent = {"INQUIRE_Q_STATUS"}
    there = {"QM01/queue/APP.A": False, "QM01/queue/APP.B": False}
    async with house.running():
        await house.clock.advance(35_000)
        assert gone(house, "QM01/queue/*") == there
        house.of("QM01").silent = set()
        await house.clock.advance(60_000)
        assert gone(house, "QM01/queue/*") == {**there, "QM01/queue/APP.B": True}


async def test_queue_manager_that_is_no_longer_watched_leaves(house: Any, queue_depth: Any) -> None:
    """Taken out of the configuration between two runs: its alerts end, all it had is gone, the log says so once, the store tells it."""
    house.of("QM03").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(5_000)
    house.of("QM03").down = 2059
    async with house.running():
        await house.clock.advance(65_000)
    assert alerts(house) == [("AGENT-01", "QM03/queue_manager", "firing")]
    house.scripts = house.scripts[:2]
    async with house.running():
        await house.clock.advance(65_000)
    assert alerts(house) == [("AGENT-01", "QM03/queue_manager", "resolved")]
    assert set(gone(house, "QM03/*").values()) == {True}
    assert set(gone(house, "QM01/*").values()) == {False}
    assert house.log.getvalue().count("no longer monitored: QM03") == 1
    with StoreReader.open(house.store) as reader:
        assert [owner.name for owner in reader.owners() if owner.unwatched] == ["QM03"]
        assert [each.alert.why for each in reader.alerts(include_ended=True)] == [Why.UNWATCHED]
        assert [member.name for member in read_status_data(reader, house.clock.now()).members] == ["QM01", "QM02"]


async def test_queue_manager_that_comes_back_is_watched_again(house: Any) -> None:
    """Put into the configuration again, it is there again."""
    async with house.running() as service:
        await house.clock.advance(5_000)
        service.reload(house.settings, load_rule_config(house.settings), house.scripts[:2])
        await house.clock.advance(60_000)
        assert set(gone(house, "QM03/*").values()) == {True}
        service.reload(house.settings, load_rule_config(house.settings), house.scripts)
        await house.clock.advance(60_000)
        assert gone(house, "QM03/queue_manager") == {"QM03/queue_manager": False}


async def test_what_leaves_and_cannot_be_stored_leaves_later(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk keeps a queue manager that is no longer watched until there is room."""
    async with house.running():
        await house.clock.advance(5_000)
    house.scripts = house.scripts[:2]

    def full(*_: Any, **__: Any) -> None:
        raise StoreError("no room")

    for name in ("write", "write_together"):
        monkeypatch.setattr(Store, name, full)
    async with house.running():
        await house.clock.advance(35_000)
        assert set(gone(house, "QM03/*").values()) == {False}
        monkeypatch.undo()
        await house.clock.advance(60_000)
        assert set(gone(house, "QM03/*").values()) == {True}


async def test_restart_with_a_clock_that_was_set_back(house: Any, queue_depth: Any) -> None:
    """Time in the store never runs back: new samples stand after the last one, and the log says why."""
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 5)]}
    async with house.running():
        await house.clock.advance(35_000)
    house.clock.set(house.clock.now() - 3_600_000)
    before = house.stored[-1].began
    house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.A", 9)]}
    async with house.running():
        await house.clock.advance(65_000)
    assert "the clock is 59m55s behind the last sample" in house.log.getvalue()
    assert all(stored.began > before for stored in house.stored[-3:])
    with StoreReader.open(house.store) as reader:
        points = reader.trend(ObjectName("QM01", "queue", "APP.A"), "depth").points
        assert [value for _, value in points] == [5, 5, 9, 9, 9]
        assert reader.current(ObjectName("QM01", "queue", "APP.A"))["depth"].value == 9


def gone(house: Any, pattern: str) -> dict[str, bool]:
    """The objects of a pattern, and whether they are gone."""
    with StoreReader.open(house.store) as reader:
        return {str(row.name): row.gone is not None for row in reader.objects(pattern, gone=True)}


def alert_lines(house: Any) -> list[tuple[str, str]]:
    """Event and rule of each line about an alert in the log."""
    lines = (line.split(" ", 4) for line in house.log.getvalue().splitlines())
    return [(line[2], line[3]) for line in lines if line[2].startswith("alert.")]


async def test_the_log_names_alerts_once(house: Any) -> None:
    """Without any receiver, and not again by a restart."""
    house.of("QM03").down = 2059
    async with house.running():
        await house.clock.advance(65_000)
    assert alert_lines(house) == [("alert.firing", "AGENT-01")]
    async with house.running():
        await house.clock.advance(35_000)
        assert alert_lines(house) == [("alert.firing", "AGENT-01")]
        house.of("QM03").down = 0
        await house.clock.advance(120_000)
    assert alert_lines(house) == [("alert.firing", "AGENT-01"), ("alert.resolved", "AGENT-01")]


ADVICE = """\
rules:
  - id: MY-01
    title: It is there
    kind: review
    scope: queue_manager
    when: reachable == YES
    severity: warning
    summary: "{owner} is there"
    advice: Nothing.
    caveat: None.
    source: {document: Our own handbook, section: Chapter 1}
"""


async def test_advice_is_no_alert_that_fires(house: Any, tmp_path: Path) -> None:
    """The agent counts and logs what somebody should act on: in a quiet group nothing, though there is advice."""
    (tmp_path / "ours.yaml").write_text(ADVICE, "utf-8")
    house.settings = replace(
        house.settings, rules=RuleSettings(files=(LocatedText(str(tmp_path / "ours.yaml"), Place("mqvitals.yaml")),))
    )
    async with house.running():
        await house.clock.advance(600_000)
    with StoreReader.open(house.store) as reader:
        kinds = {each.alert.kind_of_rule for each in reader.alerts(review=None)}
    assert house.stored[-1].firing == 0
    assert kinds
    assert "operational" not in kinds
    assert alert_lines(house) == []

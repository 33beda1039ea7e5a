"""Intervals of the simulated group's records: they add up, requests do not change them, a restart goes on with them."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import VERY_COSTLY
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.repetition import Repetition
from mqvitals_agent.simulator.scenario import SCENARIOS, IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.simulator.smf.channel_initiator import TaskWork, spread
from mqvitals_agent.simulator.smf.writer import KEPT, SmfWriter
from mqvitals_agent.smf.reader import ReadCounts, records
from mqvitals_agent.smf.restart import RestartDetector

BEGIN = 1_763_700_007_123
"""Not on the grid of intervals, nor on that of seconds."""
_S = 1000
_SHORT = Scenario(
    "short",
    20 * _S,
    (
        ScenarioIncident(3 * _S, 9 * _S, IncidentKind.SLOW_CONSUMER, "QM01/ORDERS.REQUEST", 0.1),
        ScenarioIncident(5 * _S, 4 * _S, IncidentKind.DOWN, "QM04"),
    ),
)


def written(here: SimulatedGroup, looks: list[int], interval_s: int) -> bytes:
    """What is written when somebody looks at these moments."""
    stream = io.BytesIO()
    writer = SmfWriter(here, stream, interval_s * _S)
    for look in sorted(looks):
        writer.write_due(look)
    return stream.getvalue()


@given(
    st.lists(st.integers(BEGIN, BEGIN + 100 * _S), max_size=12),
    st.sampled_from(SCENARIOS),
    st.sampled_from([7, 10, 30]),
    st.integers(0, 99),
)
@VERY_COSTLY
def test_who_looks_in_between_changes_no_byte(looks: list[int], name: str, interval_s: int, seed: int) -> None:
    """The same scenario, seed and interval give the same records, whether the group is asked often or seldom."""
    once, often = (SimulatedGroup(load_scenario(name), BEGIN, seed=seed, queues=20, channels=8) for _ in range(2))
    end = BEGIN + 70 * _S
    expected = written(once, [end], interval_s)
    assert written(often, [*(look for look in looks if look < end), end], interval_s) == expected
    assert expected


@given(st.sampled_from([name for name in SCENARIOS if load_scenario(name).step == _S]), st.integers(0, 99))
@VERY_COSTLY
def test_watching_changes_nothing_in_the_group(name: str, seed: int) -> None:
    """A group whose records are written moves like one whose are not, where both move in steps of a second."""
    watched, alone = (SimulatedGroup(load_scenario(name), BEGIN, seed=seed, queues=5, channels=4) for _ in range(2))
    written(watched, [BEGIN + 50 * _S, BEGIN + 90 * _S], 10)
    assert watched.advance(BEGIN + 90 * _S) == alone.advance(BEGIN + 90 * _S)


@pytest.mark.parametrize("interval_s", [10, 60])
def test_counters_of_intervals_add_up(smf: SimpleNamespace, interval_s: int) -> None:
    """What the intervals say was put, sent, written and logged is what the totals grew by, however it is divided."""
    here = SimulatedGroup(load_scenario("buffer-pool-thrash"), BEGIN, queues=30, channels=12)
    first = totals(here)
    end = (BEGIN // 60_000 + 4) * 60_000 + 123
    found = smf.read(written(here, [*range(BEGIN, end, 60_000), end], interval_s))
    last = totals(here)
    reported = [
        sum(each["getb"] + each["getd"] for (each,) in smf.fields(found, "QIST")),
        sum(each["bffl"] for (each,) in smf.fields(found, "QJST")),
        sum(each["nmsg"] for channels in smf.fields(found, "QCST") for each in channels),
        sum(each["byst"] for channels in smf.fields(found, "QCST") for each in channels),
    ]
    assert reported == [after - before for before, after in zip(first, last, strict=True)]


@pytest.mark.parametrize("section", ["QPST", "QCTADP", "QCST", "QJST"])
def test_pieces_add_up_to_the_whole(smf: SimpleNamespace, section: str) -> None:
    """Six intervals of ten seconds say together what one of a minute says, of everything that is counted."""
    counted = {
        "QPST": ("getp", "getn", "rio", "stw", "tpw", "wio", "imw", "dwt", "dmc", "stl", "sos"),
        "QCTADP": ("reqn",),
        "QCST": ("nmsg", "batc", "fuba", "bfst", "byst", "byrc"),
        "QJST": ("bffl", "logw", "ciwr", "serw", "llcp", "slptu", "iototio.1"),
    }[section]

    def summed(interval_s: int) -> list[int]:
        here = SimulatedGroup(load_scenario("buffer-pool-thrash"), smf.BEGIN)
        found = smf.fields(
            smf.read(written(here, [smf.BEGIN + 60 * _S, smf.BEGIN + 120 * _S, smf.BEGIN + 180 * _S], interval_s)),
            section,
        )
        return [sum(each[name] for sections in found for each in sections) for name in counted]

    assert summed(10) == summed(60)


def totals(here: SimulatedGroup) -> list[int]:
    """Of QM01 as it is: messages got from its own queues, control intervals of the log, messages and bytes of its channels."""
    member = here.group.members["QM01"]
    instances = [each for channel in member.channels.values() for each in channel.instances]
    return [
        sum(queue.got_total for queue in member.queues.values()),
        member.log.rba // 4096,
        sum(each.messages for each in instances),
        sum(each.bytes_sent for each in instances),
    ]


def test_intervals_follow_one_another(smf: SimpleNamespace) -> None:
    """The first is what is left of the interval in which the group begins; each ends where the next begins."""
    here = SimulatedGroup(load_scenario("quiet"), BEGIN)
    found = [
        each for each in smf.read(written(here, [BEGIN + 200 * _S], 60)) if (each.ssid, each.subtype) == ("QM02", 1)
    ]
    assert found[0].start_us == BEGIN * 1000
    assert [each.interval_us for each in found] == [53_000_000, 60_000_000, 60_000_000]
    assert [each.end_us for each in found[:-1]] == [each.start_us for each in found[1:]]


def test_a_queue_manager_that_is_down_writes_nothing(smf: SimpleNamespace) -> None:
    """Its interval ends when it goes down, the next begins when it is back; all that it did is in the one or the other."""
    incident = ScenarioIncident(70 * _S, 45 * _S, IncidentKind.DOWN, "QM04")
    here = SimulatedGroup(Scenario("down", 3_600_000, (incident,)), smf.BEGIN)
    before = {name: queue.put_total for name, queue in here.group.members["QM04"].queues.items()}
    found = smf.read(written(here, [smf.BEGIN + 180 * _S], 60))
    mine = [each for each in found if (each.ssid, each.subtype) == ("QM04", 2)]
    lengths = [(each.start_us // 1000 - smf.BEGIN, each.interval_us // 1000) for each in mine]
    assert lengths == [(0, 60_000), (60_000, 9_000), (114_000, 6_000), (120_000, 60_000)]
    restarts = RestartDetector()
    for each in found:
        restarts.note(each)
    assert [(each.queue_manager, each.since_us // 1000 - smf.BEGIN) for each in restarts.found] == [("QM04", 69_000)]
    puts = sum(queue.put_total - before[name] for name, queue in here.group.members["QM04"].queues.items())
    reported = sum(each["put"] for (each,) in smf.fields(found, "QMST", "QM04"))
    assert puts <= reported <= puts + sum(queue.put_total for queue in here.group.shared_queues.values())


@given(st.integers(0, 500), st.sampled_from([4, 6, 10]), st.sampled_from([0, 60, 133]))
@VERY_COSTLY
def test_a_restart_goes_on_with_the_same_records(later_s: int, interval_s: int, more_s: int) -> None:
    """A writer that begins later with the same group writes the same records as one that saw all of it, leaps or not."""
    now = BEGIN + later_s * _S
    end, step = now + more_s * _S, interval_s * _S
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repetition, "whole_rounds", lambda *_: 0)
        stepped = SimulatedGroup(_SHORT, BEGIN, queues=10, channels=4)
        expected = written(stepped, [*range(BEGIN, end, step), end], interval_s)
    anew = SimulatedGroup(_SHORT, BEGIN, queues=10, channels=4)
    found = written(anew, [*range(now, end, step), end], interval_s)
    assert expected.endswith(found)
    assert len(ends(found)) >= min(len(ends(expected)), KEPT)


def ends(data: bytes) -> list[int | None]:
    """When the intervals of QM01 ended, which is never down."""
    found = records(io.BytesIO(data), ReadCounts()) if data else ()
    return [each.end_us for each in found if (each.ssid, each.subtype) == ("QM01", 1)]


def test_many_intervals_that_nobody_asked_for_are_lost(smf: SimpleNamespace) -> None:
    """As many as are remembered are written, the last ones, each whole."""
    here, same = smf.simulation(), smf.simulation()
    data = written(here, [smf.BEGIN + 300 * _S], 10)
    assert len(ends(data)) == KEPT
    assert written(same, list(range(smf.BEGIN, smf.BEGIN + 301 * _S, 10 * _S)), 10).endswith(data)


@given(st.integers(0, 10**6), st.floats(0, 4e9), st.integers(1, 64), st.integers(1, 1800))
def test_requests_take_the_first_task_that_is_free(requests: int, busy_us: float, tasks: int, length_s: int) -> None:
    """All requests are some task's; no task is busy longer than the interval, and none busier than the one before it."""
    length_us = length_s * 1_000_000
    found = spread(TaskWork(requests, busy_us / 3, busy_us), tasks, length_us)
    assert sum(each.requests for each in found) == requests
    assert all(0 <= each.busy_us <= length_us for each in found)
    assert all(one.requests + 1 >= other.requests for one, other in pairwise(found))


def test_files_appear_whole_and_the_last_ones_stay(smf: SimpleNamespace, tmp_path: Path) -> None:
    """A file for each interval, named by its end; but for the last ten they go, and nothing else in the folder does."""
    (tmp_path / "other.dat").write_bytes(b"")
    here, same = smf.simulation(), smf.simulation()
    writer = SmfWriter(here, tmp_path, 10 * _S)
    names = []
    for minute in range(1, 5):
        names += [path.name for path in writer.write_due(smf.BEGIN + minute * smf.MINUTE)]
    assert len(names) == 24
    assert names[-1] == "SMF-20251121T044400Z.dat"
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names[-KEPT:], "other.dat"]
    together = b"".join((tmp_path / name).read_bytes() for name in names[-6:])
    assert together == written(same, [smf.BEGIN + minute * smf.MINUTE for minute in range(1, 5)], 10)[-len(together) :]
    assert not writer.write_due(smf.BEGIN + 4 * smf.MINUTE)


def test_a_restart_leaves_files_that_are_there(smf: SimpleNamespace, tmp_path: Path) -> None:
    """Only what is missing is written: the files that were read already do not change again."""
    now = smf.BEGIN + 2 * smf.MINUTE
    first = SmfWriter(smf.simulation(), tmp_path, smf.MINUTE).write_due(now)
    stamps = {path: path.stat().st_mtime_ns for path in first}
    again = SmfWriter(smf.simulation(), tmp_path, smf.MINUTE).write_due(now + smf.MINUTE)
    assert len(first) == 2
    assert len(again) == 1
    assert {path: path.stat().st_mtime_ns for path in first} == stamps


def test_a_folder_that_is_gone_is_an_error_of_the_system(smf: SimpleNamespace, tmp_path: Path) -> None:
    """It is reported as such, and the next interval is tried anew."""
    writer = SmfWriter(smf.simulation(), tmp_path / "gone", smf.MINUTE)
    with pytest.raises(FileNotFoundError):
        writer.write_due(smf.BEGIN + smf.MINUTE)
    (tmp_path / "gone").mkdir()
    assert len(writer.write_due(smf.BEGIN + 2 * smf.MINUTE)) == 1

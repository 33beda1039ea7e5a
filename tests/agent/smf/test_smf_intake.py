"""Records in a store: each once, in any order, beside what polls told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.ingest import IngestResult, RecordIngest
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import SmfError, identity_of, parse
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.status import read_status_data, status_of
from mqvitals_agent.view.status_json import status_json
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence

VERDICT: Any = Evaluation((), ())
GROUPS = {"MQ01": "PRDQSG", "MQ02": "PRDQSG"}


def take(path: Path, *data: bytes, applications: int = 2, at_once: int = 3, groups: Any = None) -> IngestResult:
    with Store.open(path) as store:
        intake = RecordIngest(
            store,
            lambda snapshot: store.write(snapshot, VERDICT),
            GroupNames(GROUPS if groups is None else groups),
            applications=applications,
            at_once=at_once,
        )
        ingest_all(intake, data)
        return intake.result


def ingest_all(intake: RecordIngest, data: Iterable[bytes]) -> None:
    for _ in chain(intake.add(parse(each) for each in data), intake.finish()):
        pass


def content(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that can be asked of a store, by names: object numbers depend on what came first."""
    connection = sqlite3.connect(path)
    names = dict(connection.execute("SELECT id, owner || '/' || kind || '/' || name FROM object").fetchall())
    found: dict[str, list[tuple[Any, ...]]] = {"object": sorted((name,) for name in names.values())}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table.startswith(("sample_", "current_")) or table in ("record", "reading"):
            # When it was asked, and since when it is so, is when we came to know it.
            columns = [
                f'"{row[1]}"'
                for row in connection.execute(f"PRAGMA table_info({table})")
                if row[1] not in ("object_id", "asked", "changed")
            ]
            rows = connection.execute(f"SELECT object_id, {', '.join(columns)} FROM {table}").fetchall()
            found[table] = sorted(((names[row[0]], *row[1:]) for row in rows), key=repr)
        elif table in ("smf_part", "smf_record", "owner"):
            found[table] = sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
    connection.close()
    return found


def application(smf: Any, job: str, cpu_us: int, *, at_us: int = 0) -> bytes:
    wtid = bytearray(smf.section(208, {8: (4, 2)}))
    wtid[12:20] = smf.ebcdic(job, 8)
    wqst = bytearray(smf.section(2800, {8: (4, 9), 216: (8, cpu_us * 4096), 224: (4, 1)}))
    wqst[80:128] = smf.ebcdic("Q", 48)
    data: bytes = smf.record(
        116, 1, {1: [bytes(wtid)], 2: [smf.section(2344)], 3: [bytes(wqst)]}, start_us=smf.NOON_US + at_us
    )
    return data


def structure(smf: Any, full: int, member: str, *, at_us: int = 0) -> bytes:
    data = bytearray(smf.section(4104, {24: (4, 1), 56: (4, full)}))
    data[8:20] = smf.ebcdic("APPL1", 12)
    record: bytes = smf.record(115, 2, {6: [bytes(data)]}, number=9, start_us=smf.NOON_US + at_us)
    return record.replace(smf.ebcdic("MQ01", 4), smf.ebcdic(member, 4))


def channel(smf: Any, messages: int, average: int) -> bytes:
    data = bytearray(
        smf.section(
            324, {37: (1, 1), 116: (4, messages), 184: (4, 0x8FFFFFFF), 204: (4, average), 208: (4, 1), 212: (4, 9)}
        )
    )
    data[16:36] = smf.ebcdic("TO.B", 20)
    record: bytes = smf.record(116, 10, {1: [bytes(data)]}, flags=0x80)
    return record


@pytest.fixture(scope="module")
def many() -> Sequence[bytes]:
    """Records of every sort that are put together, and of others."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("smf_records_by_hand", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    smf: Any = module_from_spec(spec)
    spec.loader.exec_module(smf)
    hour = 3_600_000_000
    return (
        smf.record(115, 215, {1: [smf.pool(0), smf.pool(3, low=5)]}),
        smf.record(115, 215, {1: [smf.pool(3, low=9)]}, start_us=smf.NOON_US + hour),
        structure(smf, 1, "MQ01"),
        structure(smf, 2, "MQ02", at_us=300_000),
        channel(smf, 10, 100),
        channel(smf, 30, 500),
        application(smf, "A", 10),
        application(smf, "B", 20),
        application(smf, "B", 5, at_us=hour),
        application(smf, "C", 30),
        application(smf, "D", 40, at_us=hour),
        application(smf, "A", 100, at_us=2 * hour),
        application(smf, "E", 1, at_us=24 * hour),
        application(smf, "F", 1, at_us=24 * hour),
        application(smf, "B", 1, at_us=24 * hour),
    )


@pytest.fixture(scope="module")
def once(many: Sequence[bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """What all of them come to when they come at once."""
    path = tmp_path_factory.mktemp("once") / "s.db"
    take(path, *many)
    return content(path)


@COSTLY
@given(data=st.data())
def test_any_order_and_overlap_gives_the_same_store(
    many: Sequence[bytes],
    once: dict[str, list[tuple[Any, ...]]],
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    """Records in any order, in several imports that overlap, come to the same end as all at once."""
    folder = tmp_path_factory.mktemp("order")
    shuffled = data.draw(st.permutations(many))
    cut = data.draw(st.integers(0, len(many)))
    overlap = data.draw(st.integers(0, cut))
    take(folder / "parts.db", *shuffled[:cut], at_once=data.draw(st.integers(1, 9)))
    take(folder / "parts.db", *shuffled[cut - overlap :], at_once=data.draw(st.integers(1, 9)))
    parts = content(folder / "parts.db")
    for table, rows in once.items():
        assert parts[table] == rows, table


def test_a_second_import_changes_nothing(many: Sequence[bytes], tmp_path: Path) -> None:
    """All of it is known, and no sample is written."""
    path = tmp_path / "s.db"
    assert take(path, *many).new == len(many)
    before = content(path)
    again = take(path, *many, *many)
    assert (again.new, again.known, again.readings) == (0, 2 * len(many), 0)
    assert content(path) == before


def test_what_is_put_together_is_right(many: Sequence[bytes], tmp_path: Path) -> None:
    """Members and instances are added up across imports; the rest of the applications too."""
    path = tmp_path / "s.db"
    for each in many:
        take(path, each)
    with StoreReader.open(path) as reader:
        assert reader.current(ObjectName("PRDQSG", "cf_structure", "APPL1"))["full_count"].value == 3
        told = reader.current(ObjectName("MQ01", "channel", "TO.B"))
        assert (told["interval_msgs"].value, told["nettime_avg_us"].value) == (40, 400.0)
        names = {row.name.name for row in reader.objects("MQ01/application/*")}
        # A and D were the costliest of the first day, B, E of the next one: F has as much and a later name.
        assert names == {"A/Q", "D/Q", "B/Q", "E/Q", "*/*"}
        rest = reader.trend(ObjectName("MQ01", "application", "*/*"), "cpu_us").points
        assert [value for _, value in rest] == [50, 5, 1]


def test_an_application_that_falls_behind_becomes_part_of_the_rest(many: Sequence[bytes], tmp_path: Path) -> None:
    """It was of the costliest when only it was known: what stood by itself is taken back."""
    path = tmp_path / "s.db"
    take(path, many[6], many[7])
    with StoreReader.open(path) as reader:
        assert {row.name.name for row in reader.objects("MQ01/application/*")} == {"A/Q", "B/Q"}
    take(path, many[9], many[10])
    with StoreReader.open(path) as reader:
        assert {row.name.name for row in reader.objects("MQ01/application/*")} == {"C/Q", "D/Q", "*/*"}
        assert not reader.has(ObjectName("MQ01", "application", "A/Q"))


def test_a_late_record_replaces_no_newer_poll(smf: Any, tmp_path: Path) -> None:
    """What is free now stays what the poll said after the record's end; the record's own interval is in history."""
    path, name = tmp_path / "s.db", ObjectName("MQ01", "buffer_pool", "3")
    ends = smf.NOON_US // 1000 + 1_800_000
    with Store.open(path) as store:
        poll = Reading(name, "INQUIRE_USAGE", ends + 5_000, {"free": 777})
        store.write(Snapshot("MQ01", group=False, cycle=9, ts=ends + 5_000, readings=(poll,)), VERDICT)
    take(path, smf.record(115, 215, {1: [smf.pool(3, free=9_000, low=600)]}))
    with StoreReader.open(path) as reader:
        told = reader.current(name)
        assert (told["free"].value, told["low"].value) == (777, 600)
        assert [sample.value for sample in reader.samples(name, "free", Source.SMF)] == [9_000]
        (owner,) = reader.owners()
        assert (owner.last_ts, owner.last_cycle, owner.first_ts) == (ends + 5_000, 9, ends + 5_000)
        assert reader.snapshot_times("MQ01", 5) == [ends + 5_000]


def test_records_alone_make_an_owner(smf: Any, tmp_path: Path) -> None:
    """A queue manager that nobody polls is there with the time that its records cover, and cycle 0."""
    path = tmp_path / "s.db"
    first, second = (
        smf.record(115, 215, {1: [smf.pool()]}, start_us=smf.NOON_US + hour * 3_600_000_000) for hour in (0, 1)
    )
    take(path, second)
    take(path, first)
    ends = smf.NOON_US // 1000 + 1_800_000
    with StoreReader.open(path) as reader:
        (owner,) = reader.owners()
        assert (owner.name, owner.first_ts, owner.last_ts, owner.last_cycle) == ("MQ01", ends, ends + 3_600_000, 0)
        assert not reader.meta().past


def test_a_group_that_is_not_known_yet(smf: Any, tmp_path: Path) -> None:
    """What belongs to it waits in the store and is counted; an import that knows the name shows it, without the records."""
    path = tmp_path / "s.db"
    records = [structure(smf, 1, "MQ01"), structure(smf, 2, "MQ02")]
    assert take(path, *records, groups={}).left_out == {"MQ01": 1, "MQ02": 1}
    with StoreReader.open(path) as reader:
        assert not reader.objects()
    assert take(path, *records, groups={"MQ01": "PRDQSG"}).left_out == {"MQ02": 1}
    assert take(path).left_out == {}
    with StoreReader.open(path) as reader:
        assert [str(row.name) for row in reader.objects()] == ["PRDQSG/cf_structure/APPL1"]
        assert reader.current(ObjectName("PRDQSG", "cf_structure", "APPL1"))["full_count"].value == 3
    take(tmp_path / "whole.db", *records)
    assert content(path) == content(tmp_path / "whole.db")


def test_a_group_that_a_later_record_names(smf: Any, tmp_path: Path) -> None:
    """However many samples wait for it: the last record of the file tells the group of all before it."""
    path, seconds = tmp_path / "s.db", 60_000_000
    data = bytearray(smf.section(64, {20: (4, 10)}))
    data[16:20] = smf.ebcdic("QSGA", 4)
    before = [structure(smf, 1, "MQ01", at_us=number * seconds) for number in range(30)]
    taken = take(path, *before, smf.record(115, 231, {1: [bytes(data)]}), groups={}, at_once=4)
    assert taken.left_out == {}
    with StoreReader.open(path) as reader:
        assert len(reader.samples(ObjectName("QSGA", "cf_structure", "APPL1"), "full_count", Source.SMF)) == 30


def test_a_failing_store_loses_no_record(many: Sequence[bytes], tmp_path: Path) -> None:
    """A disk that is full for a while: the same records come again, and count once."""
    path, calls = tmp_path / "s.db", 0

    def write(snapshot: Snapshot) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise StoreError("the disk is full")
        store.write(snapshot, VERDICT)

    with Store.open(path) as store:
        intake = RecordIngest(store, write, GroupNames(GROUPS), applications=2)
        with pytest.raises(StoreError):
            ingest_all(intake, many)
    take(path, *many)
    take(tmp_path / "whole.db", *many)
    assert content(path) == content(tmp_path / "whole.db")


def test_records_differ_by_all_that_they_hold(smf: Any) -> None:
    """Two of the channel initiator's with the same time and sequence are two; how a record lay in its file does not matter."""
    one, two = (smf.record(116, 10, {1: [smf.section(324, {116: (4, count)})]}, sequence=0) for count in (1, 2))
    assert identity_of(parse(one)) != identity_of(parse(two))
    assert identity_of(parse(one)) == identity_of(parse(b"\0\x10\1\0" + one[4:], 99))


def test_whatever_a_record_holds(every_section: Path, tmp_path: Path) -> None:
    """Records with some of their bytes changed, and sections full of ones, are taken in without an exception."""
    chance = Random(115)
    with open_smf(every_section) as stream:
        real = [record.data for record in records(stream, ReadCounts())][-60:]
    changed = []
    for data in real * 4:
        mutated = bytearray(data)
        first = 28 + 8 * 13
        for _ in range(chance.randrange(1, 40)):
            mutated[chance.randrange(min(first, len(data) - 1), len(data))] = chance.choice(
                (0, 255, chance.randrange(256))
            )
        changed.append(bytes(mutated))
    changed += [data[:140] + b"\xff" * (len(data) - 220) + data[-80:] for data in real]
    good = []
    for data in changed:
        with suppress(SmfError):
            parse(data)
            good.append(data)
    assert len(good) > 100
    take(tmp_path / "s.db", *good, groups={}, at_once=50)


def test_numbers_that_no_store_can_hold(smf: Any, tmp_path: Path) -> None:
    """A counter of 64 bits with its highest bit set is absent, not an error."""
    data = bytearray(smf.section(552, {128: (8, (1 << 64) - 1), 288: (8, 7)}))
    data[8:56] = smf.ebcdic("Q1", 48)
    path = tmp_path / "s.db"
    take(path, smf.record(115, 216, {1: [bytes(data)]}))
    take(path, application(smf, "A", (1 << 52) - 1))
    with StoreReader.open(path) as reader:
        told = reader.current(ObjectName("MQ01", "queue", "Q1"))
    assert (told["gets"].value, told["puts"].value) == (7, Absence.NOT_RETURNED)


def test_a_queue_manager_with_accounting_alone(smf: Any, tmp_path: Path) -> None:
    """Records that tell nothing with a place in the store still say that there is such a queue manager, and when."""
    path = tmp_path / "s.db"
    taken = take(path, smf.record(116, 0, {2: [smf.section(48)]}, t0=smf.thread_standard(3)))
    assert taken.owners == {"MQ01"}
    with StoreReader.open(path) as reader:
        (owner,) = reader.owners()
        assert (owner.name, owner.first_ts, owner.last_ts, owner.last_cycle) == ("MQ01", *[smf.NOON_US // 1000] * 2, 0)
        assert not owner.unwatched
        assert [member.name for member in read_status_data(reader, 0).members] == ["MQ01"]


def test_two_groups_in_one_store(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A structure of the same name in each: both are in status, with the group's name, for people and for programs."""
    path = tmp_path / "s.db"
    groups = {"MQ01": "QSGA", "MQ11": "QSGB"}
    take(path, structure(smf, 1, "MQ01"), structure(smf, 2, "MQ11"), groups=groups)
    with StoreReader.open(path) as reader:
        view = status_of(read_status_data(reader, smf.NOON_US // 1000))
    assert [each.name for each in view.groups] == ["QSGA", "QSGB"]
    assert [each.name for each in view.owners] == ["MQ01", "MQ11", "QSGA", "QSGB"]
    assert [each["name"] for each in status_json(view, Labeller())["groups"]] == ["QSGA", "QSGB"]
    assert main(["status", "--store", str(path)]) == 3
    words = capsys.readouterr().out
    assert "QSGA/APPL1" in words
    assert "QSGB/APPL1" in words

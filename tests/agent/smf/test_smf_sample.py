"""Records as samples, by records made by hand and by those of a simulated group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqsamples.smf import readings
from mqvitals_agent.review.smf_input import read_files, temporary_store
from mqvitals_agent.smf.ingest import stored_snapshots
from mqvitals_agent.smf.kinds import CHANNEL, transaction
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import parse
from mqvitals_agent.smf.section import sections
from mqvitals_rules.snapshot import ObjectName, Reading, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

US = 4096
NONE = 0x8FFFFFFF


def told(*data: bytes, groups: GroupNames | None = None, applications: int = 200) -> list[Reading]:
    found = readings((parse(each) for each in data), groups, applications=applications)
    return [reading for snapshot in found for reading in snapshot.readings]


def values(found: Iterable[Reading], kind: str, name: str = "") -> Mapping[str, Reported]:
    (reading,) = [each for each in found if each.object.kind == kind and each.object.name == name]
    return reading.values


def test_a_pool_at_the_end_of_its_interval(smf: Any) -> None:
    """Source, time and interval are the record's; shares are percentages; the lowest is the interval's."""
    (reading,) = told(smf.record(115, 215, {1: [smf.pool(3, buffers=50_000, low=600, free=9_000, at52=7)]}))
    assert reading.object == ObjectName("MQ01", "buffer_pool", "3")
    assert (reading.source, reading.probe, reading.poll) == (Source.SMF, "SMF 115-215", False)
    assert (reading.ts, reading.interval_ms) == (smf.NOON_US // 1000 + 1_800_000, 1_800_000)
    expected = {"total": 50_000, "free": 9_000, "free_pct": 18.0, "low": 600, "low_pct": 1.2, "dwt": 7, "sos": 0}
    assert {name: reading.values[name] for name in expected} == expected
    assert reading.values["worst_free_pct"] == 1.2
    assert (reading.values["location"], reading.values["page_class"]) == (0, 0)


def test_pools_of_an_old_release(smf: Any) -> None:
    """Before 115/215 they stood in 115/2."""
    (reading,) = told(smf.record(115, 2, {3: [smf.pool(1)]}, number=9, release="710"))
    assert (reading.object.name, reading.probe) == ("1", "SMF 115-2")


def test_mqi_calls_of_a_queue_manager(smf: Any) -> None:
    """The message, data and lock manager's sections of one record are one sample; a section that is missing is absent."""
    calls = smf.section(104, {8: (4, 100), 12: (4, 90), 16: (4, 40_000), 20: (4, 700), 24: (4, 50), 68: (4, 7)})
    data = smf.section(80, {8: (4, 900_000), 12: (4, 750), 68: (4, 11), 72: (4, 22)})
    (reading,) = told(smf.record(115, 2, {1: [calls], 2: [data]}, number=9))
    assert reading.object == ObjectName("MQ01", "queue_manager", "")
    expected = {
        "open_calls": 100,
        "get_calls": 40_000,
        "put_calls": 700,
        "data_gets": 900_000,
        "gets_from_disk": 11,
        "publications": 7,
    }
    assert {name: reading.values[name] for name in expected} == expected
    assert reading.values["mqi_call_rate"] == (100 + 90 + 40_000 + 700 + 50) / 1800
    assert reading.values["lock_requests"] is Absence.NOT_RETURNED


def test_requests_to_db2(smf: Any) -> None:
    """Averages of the requester's times, the longest of all of them, and what waited."""
    section = smf.section(
        672,
        {
            24: (4, 3), 44: (4, 2), 48: (4, 4), 52: (4, 1), 136: (8, 3_000 * US), 144: (8, 2_500 * US), 168: (8, 4_000 * US),
            176: (8, 1_500 * US), 200: (8, 700 * US), 208: (8, 700 * US), 488: (4, 5), 492: (4, 6),
        },
    )  # fmt: skip
    found = values(told(smf.record(115, 2, {5: [section]}, number=9)), "queue_manager")
    assert {name: value for name, value in found.items() if name.startswith("db2_")} == {
        "db2_read_avg_us": 1_000.0,
        "db2_list_avg_us": 1_500.0,
        "db2_update_avg_us": 700.0,
        "db2_max_us": 2_500.0,
        "db2_queue_max": 3,
        "db2_blob_requests": 11,
    }


def test_no_request_to_db2(smf: Any) -> None:
    """Without a request there is no time to tell; an older, shorter section does not return what it lacks."""
    found = values(told(smf.record(115, 2, {5: [smf.section(672)]}, number=9)), "queue_manager")
    assert {name for name, value in found.items() if value is Absence.NOTHING_TO_TELL} == {
        "db2_read_avg_us",
        "db2_list_avg_us",
        "db2_update_avg_us",
        "db2_max_us",
    }
    assert (found["db2_queue_max"], found["db2_blob_requests"]) == (0, 0)
    short = values(told(smf.record(115, 2, {5: [smf.section(100)]}, number=9)), "queue_manager")
    assert short["db2_max_us"] is Absence.NOT_RETURNED


def test_intervals_shorter_than_a_millisecond(smf: Any) -> None:
    """An interval is at least 1 ms long."""
    (reading,) = told(smf.record(115, 215, {1: [smf.pool()]}, length_us=400))
    assert reading.interval_ms == 1


def test_an_empty_pool_has_no_shares(smf: Any) -> None:
    """Nothing is divided by 0: a pool without buffers is not in use."""
    found = told(smf.record(115, 215, {1: [smf.pool(9, buffers=0, low=0, free=0)]}))
    assert values(found, "buffer_pool", "9")["low_pct"] is Absence.NOT_IN_USE


def task(smf: Any, size: int, requests: int, cpu_us: int, elapsed_us: int) -> bytes:
    data: bytes = smf.section(size, {4: (4, requests), 8: (8, cpu_us * US), 16: (8, elapsed_us * US)})
    return data


def chinit(smf: Any, adapters: list[bytes], dispatchers: list[bytes], **how: Any) -> bytes:
    qcct = smf.section(64, {20: (4, 5), 24: (4, 200), 44: (4, 14)})
    record: bytes = smf.record(115, 231, {1: [qcct], 2: dispatchers, 3: adapters}, number=6, **how)
    return record


def test_tasks_of_a_channel_initiator(smf: Any) -> None:
    """Each by its place; how many adapters were not used stands at the channel initiator itself."""
    adapters = [task(smf, 32, 100, 4_000, 90_000_000), task(smf, 32, 0, 0, 0), task(smf, 32, 0, 0, 0)]
    dispatchers = [task(smf, 36, 10, 50, 60), task(smf, 36, 20, 900_000, 900_000_000)]
    found = told(chinit(smf, adapters, dispatchers))
    busy = values(found, "adapter", "0")
    assert (busy["busy_pct"], busy["avg_cpu_us"], busy["avg_elapsed_us"]) == (5.0, 40.0, 900_000.0)
    assert (busy["wait_us"], busy["cpu_us"]) == (899_960.0, 4_000)
    assert values(found, "adapter", "1")["avg_cpu_us"] is Absence.NOTHING_TO_TELL
    whole = values(found, "channel_initiator")
    assert (whole["adapters_unused"], whole["current"], whole["storage31_kb"]) == (2, 5, 14 * 1024)
    assert (whole["dispatcher_busiest_pct"], whole["ssltasks_unused"]) == (50.0, Absence.NOTHING_TO_TELL)
    assert values(found, "dispatcher", "1")["busy_pct"] == 50.0


def test_tasks_of_two_records_are_counted_on(smf: Any) -> None:
    """A record that says that more follow: the next one's first adapter has the number after its last."""
    first = chinit(smf, [task(smf, 32, 1, 1, 1), task(smf, 32, 0, 0, 0)], [], flags=0x80)
    last = chinit(smf, [task(smf, 32, 0, 0, 0)], [])
    found = told(first, last)
    assert sorted(each.object.name for each in found if each.object.kind == "adapter") == ["0", "1", "2"]
    assert values(found, "channel_initiator")["adapters_unused"] == 2
    assert values(found, "channel_initiator")["adapter_requests"] == 1


def test_a_repeated_record_is_counted_on_once(smf: Any, tmp_path: Path) -> None:
    """A dump ends between the records of an interval, and the next one begins with the same record again."""
    first = chinit(smf, [task(smf, 32, 1, 1, 1), task(smf, 32, 0, 0, 0)], [], flags=0x80)
    last = chinit(smf, [task(smf, 32, 0, 0, 0)], [])
    (tmp_path / "one.smf").write_bytes(first)
    (tmp_path / "other.smf").write_bytes(first + last)
    with temporary_store() as store:
        read_files([str(tmp_path / "one.smf"), str(tmp_path / "other.smf")], store, GroupNames())
        found = {each.object.name for shown in stored_snapshots(store) for each in shown.readings}
    assert found == {"", "0", "1", "2"}


def instance(
    smf: Any,
    messages: int,
    average: int,
    lowest: int,
    highest: int,
    *,
    name: str = "TO.B",
    started: int = 1,
    kind: int = 1,
) -> bytes:
    data = bytearray(
        smf.section(
            324,
            {
                37: (1, kind),
                38: (1, 3),
                88: (8, smf.tod(smf.NOON_US + started)),
                116: (4, messages),
                124: (4, messages // 10),
                184: (4, NONE),
                204: (4, average),
                208: (4, lowest),
                212: (4, highest),
                216: (8, smf.tod(smf.NOON_US + highest * 1_000_000)),
            },
        )
    )
    data[16:36] = smf.ebcdic(name, 20)
    data[224:272] = smf.ebcdic("PARTNER", 48)
    return bytes(data)


def test_instances_of_a_channel_are_one(smf: Any) -> None:
    """Counts are added, averages weighed by messages, the shortest and longest compared; no figure is made of nothing."""
    found = told(
        smf.record(116, 10, {1: [instance(smf, 30, 100, 50, 900), instance(smf, 10, 500, 40, 600, started=5)]}),
    )
    channel = values(found, "channel", "TO.B")
    assert (channel["interval_msgs"], channel["batches"], channel["msgs_per_batch"]) == (40, 4, 10.0)
    assert channel["nettime_avg_us"] == 200.0
    assert (channel["nettime_min_us"], channel["nettime_max_us"]) == (40, 900)
    assert channel["nettime_max_ts"] == "2026-03-01 12:15:00 UTC"
    assert channel["exittime_min_us"] is Absence.NOTHING_TO_TELL
    assert channel["remote_queue_manager"] == "PARTNER"
    assert channel["remote_version"] is Absence.NOT_RETURNED


def test_a_record_that_comes_twice_counts_once(smf: Any) -> None:
    """Dumps overlap."""
    record = smf.record(116, 10, {1: [instance(smf, 30, 100, 50, 900)]})
    assert values(told(record, record), "channel", "TO.B")["interval_msgs"] == 30


def test_an_instance_that_measured_nothing_does_not_count(smf: Any) -> None:
    """Its zeros are no network times."""
    both = [instance(smf, 10, 400, 300, 500), instance(smf, 1000, 0, NONE, 0)]
    channel = values(told(smf.record(116, 10, {1: both})), "channel", "TO.B")
    assert (channel["nettime_avg_us"], channel["nettime_min_us"]) == (400.0, 300)
    idle = values(told(smf.record(116, 10, {1: both[1:]})), "channel", "TO.B")
    assert {idle[f"nettime_{name}"] for name in ("avg_us", "min_us", "max_us", "max_ts")} == {Absence.NOTHING_TO_TELL}


def test_a_client_is_no_queue_manager(smf: Any) -> None:
    """QCSTRQMN of a server connection is the end of the application's name."""
    channel = values(told(smf.record(116, 10, {1: [instance(smf, 1, 0, NONE, 0, kind=7)]})), "channel", "TO.B")
    assert (channel["remote_application"], channel["remote_queue_manager"]) == ("PARTNER", Absence.NOTHING_TO_TELL)


def member(data: bytes, smf: Any, name: str) -> bytes:
    """The same record of another queue manager."""
    found: bytes = data.replace(smf.ebcdic("MQ01", 4), smf.ebcdic(name, 4))
    return found


def structure(smf: Any, full: int, requests: int, time_us: int, peak: int) -> bytes:
    data = bytearray(
        smf.section(4104, {24: (4, requests), 32: (8, time_us * US), 56: (4, full), 60: (4, peak), 64: (4, 2 * peak)})
    )
    data[8:20] = smf.ebcdic("APPL1", 12)
    return bytes(data)


def test_members_of_a_group_tell_of_one_structure(smf: Any) -> None:
    """Their counts are added, though their intervals end at slightly different times; the time of a request is of all of them."""
    one = smf.record(115, 2, {6: [structure(smf, 2, 10, 1_000, 70)]}, number=9)
    two = smf.record(115, 2, {6: [structure(smf, 3, 30, 1_800, 50)]}, number=9, start_us=smf.NOON_US + 400_000)
    groups = GroupNames({"MQ01": "PRDQSG", "MQ02": "PRDQSG"})
    (reading,) = told(one, member(two, smf, "MQ02"), groups=groups)
    assert reading.object == ObjectName("PRDQSG", "cf_structure", "APPL1")
    assert (reading.ts, reading.interval_ms) == (smf.NOON_US // 1000 + 1_800_000, 1_800_000)
    assert (reading.values["full_count"], reading.values["peak_entries"], reading.values["avg_call_us"]) == (
        5,
        70,
        70.0,
    )


def test_intervals_of_one_member_in_a_minute_follow_each_other(smf: Any) -> None:
    """Two short ones are one sample of the time that both cover."""
    both = [
        smf.record(115, 2, {6: [structure(smf, 1, 1, 1, 1)]}, number=9, start_us=smf.NOON_US + at, length_us=10_000_000)
        for at in (0, 10_000_000)
    ]
    (reading,) = told(*both, groups=GroupNames({"MQ01": "PRDQSG"}))
    assert (reading.values["full_count"], reading.interval_ms) == (2, 20_000)


def test_without_a_group_there_is_no_structure(smf: Any) -> None:
    """Outside a group the section is there and means nothing; a group's name may come from a later record."""
    one = smf.record(115, 2, {6: [structure(smf, 1, 1, 1, 1)]}, number=9)
    assert told(one) == []
    qcct = bytearray(smf.section(48))
    qcct[16:20] = smf.ebcdic("QSGM", 4)
    found = told(one, smf.record(115, 231, {1: [bytes(qcct)]}, number=6))
    assert {each.object.owner for each in found if each.object.kind == "cf_structure"} == {"QSGM"}


def application(smf: Any, job: str, *queues: tuple[str, int], end_us: int = 0, **how: Any) -> bytes:
    """A 116/1: what a batch job did with queues, by the microseconds of its gets."""
    wtid = bytearray(smf.section(208, {8: (4, how.get("kind", 2))}))
    wtid[12:20] = smf.ebcdic(job, 8)
    wtid[44:56] = how.get("cori", smf.ebcdic("", 12))
    end = smf.NOON_US + 1_800_000_000 + end_us
    wtas = smf.section(2344, {488: (4, 1), 664: (8, smf.tod(end - 60_000_000)), 672: (8, smf.tod(end))})
    blocks = []
    for queue, cpu_us in queues:
        data = bytearray(smf.section(2800, {8: (4, 9), 216: (8, cpu_us * US), 224: (4, 1), 528: (4, 0x0FFFFFFF)}))
        data[32:80] = smf.ebcdic(queue, 48)
        data[80:128] = smf.ebcdic(queue, 48)
        blocks.append(bytes(data))
    start = smf.NOON_US + end_us
    record: bytes = smf.record(
        116, 1, {1: [bytes(wtid)], 2: [wtas], 3: blocks}, start_us=start, sequence=how.get("sequence", 7)
    )
    return record


def test_an_application_is_a_job_and_a_queue(smf: Any) -> None:
    """The handles of a task for a queue are one, and what the task did beside them counts once."""
    found = told(application(smf, "PAYROLL", ("PAY.IN", 40), ("PAY.IN", 2), ("PAY.OUT", 5)))
    assert [each.object.name for each in found] == ["PAYROLL/PAY.IN", "PAYROLL/PAY.OUT"]
    first = found[0]
    assert (first.probe, first.interval_ms, first.values["cpu_us"]) == ("SMF 116-1", 60_000, 42)
    assert (first.values["get_n"], first.values["commit_n"], first.values["type"]) == (2, 1, 2)


def test_a_cics_application_is_a_transaction() -> None:
    """It stands in the middle of the thread's cross-reference; others than CICS and IMS have none."""
    reference = (bytes(4) + "PAY1".encode("cp037") + bytes(4)).hex()
    assert transaction(1, reference) == "PAY1"
    assert transaction(2, reference) == ""
    assert transaction(4, "0236BC1UDOC ".encode("cp037").hex()) == "BC1UDOC"
    assert transaction(1, "00" * 12) == ""


def test_the_transaction_names_the_application(smf: Any) -> None:
    """transaction/queue."""
    cori = bytes(4) + smf.ebcdic("PAY1", 4) + bytes(4)
    found = told(application(smf, "CICSA", ("PAY.IN", 1), kind=1, cori=cori))
    assert [(each.object.name, each.values["job"]) for each in found] == [("PAY1/PAY.IN", "CICSA")]


def test_the_costliest_of_a_day_stand_by_themselves(smf: Any) -> None:
    """All others are one sum, of every interval one."""
    data = [application(smf, f"JOB{number}", ("Q", 10 * number)) for number in range(1, 6)]
    data.append(application(smf, "JOB1", ("Q", 7), end_us=600_000_000))
    found = told(*data, applications=2)
    by_name = {(each.object.name, each.ts % 3_600_000): each.values["cpu_us"] for each in found}
    assert by_name == {
        ("JOB5/Q", 1_800_000): 50,
        ("JOB4/Q", 1_800_000): 40,
        ("*/*", 1_800_000): 60,
        ("*/*", 2_400_000): 7,
    }
    rest = next(each for each in found if each.object.name == "*/*")
    assert rest.values["job"] is Absence.NOT_RETURNED


def queue(smf: Any, name: str, **more: tuple[int, int]) -> bytes:
    data = bytearray(smf.section(552, {int(key[2:]): value for key, value in more.items()}))
    data[8:56] = smf.ebcdic(name, 48)
    return bytes(data)


def test_queues_private_and_shared(smf: Any) -> None:
    """A private one stands under its queue manager; of a shared one the members' handles are added under the group."""
    private = queue(smf, "Q1", at56=(4, 0), at80=(4, 12), at60=(2, 4), at128=(8, 3600), at136=(8, 0))
    shared = [
        queue(smf, "Q2", at56=(4, 0x80000000), at60=(2, 0xFFFF), at80=(4, 12), at88=(4, handles)) for handles in (2, 3)
    ]
    one = smf.record(115, 216, {1: [private, shared[0]]})
    two = member(smf.record(115, 216, {1: [shared[1]]}), smf, "MQ02")
    found = told(one, two, groups=GroupNames({"MQ01": "QSG1", "MQ02": "QSG1"}))
    assert [str(each.object) for each in found] == ["MQ01/queue/Q1", "QSG1/queue/Q2"]
    assert (found[0].values["depth"], found[0].values["page_set"], found[0].values["put_rate"]) == (12, 4, 2.0)
    assert (found[1].values["input_handles"], found[1].values["depth"]) == (5, 12)
    assert found[1].values["page_set"] is Absence.NOTHING_TO_TELL


def test_pages_of_messages(smf: Any) -> None:
    """Of the average length: one page up to 3635 bytes; without puts there is no length, and no pages were taken."""
    long = queue(smf, "Q1", at128=(8, 900), at136=(8, 900), at176=(8, 900 * 4000), at184=(8, 900 * 4000))
    short = queue(smf, "Q2", at128=(8, 1800), at176=(8, 1800 * 3635), at216=(8, 10), at224=(8, 5))
    idle = queue(smf, "Q3")
    found = told(smf.record(115, 216, {1: [long, short, idle]}))
    told_of = {each.object.name: (each.values["avg_msg_pages"], each.values["put_page_rate"]) for each in found}
    assert told_of == {"Q1": (2, 2.0), "Q2": (1, 1.0), "Q3": (Absence.NOTHING_TO_TELL, 0.0)}
    assert values(found, "queue", "Q2")["persistent_put_bytes"] == 10


def test_the_log_of_both_copies(smf: Any) -> None:
    """Copies are told together and each for itself; what was written is that of one copy."""
    values_of = {264: (4, 10), 268: (4, 256 * 1800), 272: (8, 50 * US), 288: (8, 9 * US)}
    values_of |= {264 + 144: (4, 20), 268 + 144: (4, 256 * 1800), 272 + 144: (8, 70 * US), 288 + 144: (8, 30 * US)}
    found = told(smf.record(115, 1, {11: [smf.section(576, values_of)]}, number=12))
    log = values(found, "log")
    assert (log["io_count"], log["io_count_copy1"], log["io_count_copy2"]) == (30, 10, 20)
    assert (log["io_time_us"], log["io_max_us"], log["io_max_us_copy1"]) == (120, 30, 9)
    assert log["write_mb_s"] == 1.0


def totals() -> st.SearchStrategy[PartialSample]:
    number = st.none() | st.integers(0, 9)

    def make(values: tuple[int | None, ...], rank: int, end: int) -> PartialSample:
        fields = dict(zip(("nmsg", "ntmx", "ntmn", "chst"), values, strict=True))
        spans = {("MQ01", end): 7}
        return PartialSample(
            ObjectName("Q", "channel", "C"), False, "p", 1, "Q", spans, (end, rank, repr(values)), fields
        )

    return st.builds(make, st.tuples(number, number, number, number), st.integers(0, 2), st.integers(0, 3))


@given(totals(), totals(), totals())
def test_totals_are_put_together_in_any_order(one: PartialSample, two: PartialSample, three: PartialSample) -> None:
    """Addition is commutative and associative, and survives being written down."""
    ways = CHANNEL.merge_rules
    assert one.merge(two, ways) == two.merge(one, ways)
    left = one.merge(two, ways).merge(three, ways)
    assert left == one.merge(two.merge(three, ways), ways)
    again = PartialSample.from_json(left.object, left.probe, left.ts, left.to_json())
    assert (again.fields, again.spans, again.stamp) == (left.fields, left.spans, left.stamp)


def test_every_interval_of_every_object(every_section: Path) -> None:
    """Each section of a pool, page set, task, channel or data set is one reading, and so is each structure that is used."""
    told = Counter[str]()
    structures: set[int | str] = set()
    with open_smf(every_section) as stream:
        for record in records(stream, ReadCounts()):
            for section in sections(record):
                told[section.layout.name] += 1
                if section.layout.name == "QEST":
                    names = {value for field, value in section.fields().items() if field.startswith("str.") and value}
                    structures |= names
    with open_smf(every_section) as stream:
        found = [reading for snapshot in readings(records(stream, ReadCounts())) for reading in snapshot.readings]
    kinds = Counter(each.object.kind for each in found)
    sections_of = {
        "buffer_pool": "QPST",
        "page_set": "QIS1",
        "adapter": "QCTADP",
        "dispatcher": "QCTDSP",
        "log": "QJST",
    }
    sections_of |= {"ssl_task": "QCTSSL", "dns_task": "QCTDNS", "smds": "QESD", "channel_initiator": "QCCT"}
    assert {kind: kinds[kind] for kind in sections_of} == {kind: told[name] for kind, name in sections_of.items()}
    assert {each.object.name for each in found if each.object.kind == "cf_structure"} == structures
    assert all(kinds[kind] for kind in ("channel", "cf_structure", "queue_manager", "application", "queue"))
    assert all(each.interval_ms is None or each.interval_ms > 0 for each in found)

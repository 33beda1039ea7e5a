"""Statistics messages: figures of a real one, several instances of a channel, damage of any kind, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.pcf import Pcf
from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import encode_message, group, integer, integers, integers64, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.pcf.names import parameter_number
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.kinds import statistics
from mqvitals_agent.simulator.answer import answer
from mqvitals_rules.snapshot import Outcome, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

AT = 1_592_217_748_500  # 2020-06-15 10:42:28.5 UTC
START, END = 1_592_217_718_000, 1_592_217_748_000


def exchange(*messages: bytes, error: int = 0, put: int | None = AT - 300, name: str = "DQM") -> Exchange:
    """Messages as they come from the queue of a queue manager."""
    replies = tuple(Reply(546, 1208, data, put) for data in messages)
    failure = MqiFailure(2, error) if error else None
    return Exchange(0, AT, 7, name, statistics.COMMAND, statistics.ask("STATS"), replies, failure)


def message(command: int, *parameters: Parameter, name: str = "DQM", kind: int = mq.MQCFT_STATISTICS) -> bytes:
    """A statistics message of half a minute, as a little-endian queue manager writes it."""
    head = (
        string(mq.MQCA_Q_MGR_NAME, name, 48),
        string(mq.MQCAMO_START_DATE, "2020-06-15"),
        string(mq.MQCAMO_START_TIME, "10.41.58"),
        string(mq.MQCAMO_END_DATE, "2020-06-15"),
        string(mq.MQCAMO_END_TIME, "10.42.28"),
    )
    return encode_message(kind, command, (*head, *parameters), order="<", ccsid=1208)


def of_channel(*instances: Sequence[Parameter], name: str = "TO.QM01") -> bytes:
    """What a channel's instances did."""
    groups = [
        group(mq.MQGACF_CHL_STATISTICS_DATA, (string(mq.MQCACH_CHANNEL_NAME, name, 20), *each)) for each in instances
    ]
    return message(mq.MQCMD_STATISTICS_CHANNEL, *groups)


def ran(full: int, incomplete: int, msgs: tuple[int, int], net: tuple[int, int, int], size: int) -> list[Parameter]:
    """The figures of one instance: ``net`` is the least, the average and the longest network time."""
    return [
        integers(mq.MQIAMO_MSGS, msgs),
        integers64(mq.MQIAMO64_BYTES, (1000 * msgs[0], 1000 * msgs[1])),
        integer(mq.MQIAMO_NET_TIME_MIN, net[0]),
        integer(mq.MQIAMO_NET_TIME_AVG, net[1]),
        integer(mq.MQIAMO_NET_TIME_MAX, net[2]),
        integer(mq.MQIAMO_EXIT_TIME_MIN, 0),
        integer(mq.MQIAMO_EXIT_TIME_AVG, 0),
        integer(mq.MQIAMO_EXIT_TIME_MAX, 0),
        integer(mq.MQIAMO_FULL_BATCHES, full),
        integer(mq.MQIAMO_INCOMPLETE_BATCHES, incomplete),
        integer(mq.MQIAMO_AVG_BATCH_SIZE, size),
        integer(mq.MQIAMO_PUT_RETRIES, 1),
    ]


def of_queue(name: str = "APP", definition: int = mq.MQQDT_PREDEFINED, whose: str = "DQM") -> bytes:
    """A queue to which three messages were put."""
    members = (
        string(mq.MQCA_Q_NAME, name, 48),
        integer(mq.MQIA_DEFINITION_TYPE, definition),
        integers(mq.MQIAMO_PUTS, (2, 1)),
        integers(mq.MQIAMO_PUT1S, (0, 0)),
    )
    return message(mq.MQCMD_STATISTICS_Q, group(mq.MQGACF_Q_STATISTICS_DATA, members), name=whose)


def told(*messages: bytes, utc: Callable[[int], int | None] = lambda local: local, name: str = "DQM") -> list[Reading]:
    """The readings of messages, with a clock that shows UTC unless said otherwise."""
    found = statistics.read(exchange(*messages, name=name), Decoder())
    assert found.damaged == 0
    return [statistics.reading(record, utc) for record in found.records]


def from_statistics(snapshot: Snapshot) -> list[Reading]:
    """Its readings of that source."""
    return [each for each in snapshot.readings if each.source is Source.STATISTICS]


QUEUES = 16


@pytest.fixture(scope="module")
def whole() -> bytes:
    """A message of 16 queues as a distributed queue manager writes it, put together byte by byte."""
    pcf = Pcf("<", 1208)
    queues = [
        pcf.group(
            mq.MQGACF_Q_STATISTICS_DATA,
            pcf.string(mq.MQCA_Q_NAME, f"REPLY.{number}", 48),
            pcf.integer(mq.MQIA_Q_TYPE, 1),
            pcf.integer(mq.MQIA_DEFINITION_TYPE, mq.MQQDT_PREDEFINED),
            pcf.integer(mq.MQIAMO_Q_MIN_DEPTH, 0),
            pcf.integer(mq.MQIAMO_Q_MAX_DEPTH, 6),
            pcf.integers64(mq.MQIAMO64_AVG_Q_TIME, 1066, 0),
            pcf.integers(mq.MQIAMO_PUTS, 13, number),
            pcf.integers(mq.MQIAMO_PUT1S, 0, 0),
            pcf.integer(mq.MQIAMO_PUTS_FAILED, 0),
            pcf.integer(mq.MQIAMO_PUT1S_FAILED, 0),
            pcf.integers64(mq.MQIAMO64_PUT_BYTES, 36_432, 100 * number),
            pcf.integers(mq.MQIAMO_GETS, 13, 0),
            pcf.integer(mq.MQIAMO_GETS_FAILED, 1),
            pcf.integers64(mq.MQIAMO64_GET_BYTES, 36_432, 0),
            pcf.integers(mq.MQIAMO_BROWSES, 0, 0),
            pcf.integer(mq.MQIAMO_BROWSES_FAILED, 0),
            pcf.integers64(mq.MQIAMO64_BROWSE_BYTES, 0, 0),
            pcf.integer(mq.MQIAMO_MSGS_NOT_QUEUED, 1),
            pcf.integer(mq.MQIAMO_MSGS_EXPIRED, 0),
            pcf.integer(mq.MQIAMO_MSGS_PURGED, 0),
        )
        for number in range(QUEUES)
    ]
    return pcf.message(
        mq.MQCFT_STATISTICS,
        mq.MQCMD_STATISTICS_Q,
        pcf.string(mq.MQCA_Q_MGR_NAME, "mq_mgr1", 48),
        pcf.string(mq.MQCAMO_START_DATE, "2020-06-15", 12),
        pcf.string(mq.MQCAMO_START_TIME, "10.41.58", 8),
        pcf.string(mq.MQCAMO_END_DATE, "2020-06-15", 12),
        pcf.string(mq.MQCAMO_END_TIME, "10.42.28", 8),
        pcf.integer(mq.MQIA_COMMAND_LEVEL, 910),
        pcf.integer(mq.MQIAMO_OBJECT_COUNT, QUEUES),
        *queues,
    )


def test_a_message_to_its_last_figure(whole: bytes) -> None:
    """Sixteen queues, of which one is looked at whole; totals over all are those that were written."""
    readings = told(whole, name="mq_mgr1")
    assert len(readings) == QUEUES
    by_name = {each.object.name: each for each in readings}
    found = by_name["REPLY.0"]
    assert (found.object.owner, found.object.kind, found.probe) == ("mq_mgr1", "queue", "STATISTICS")
    assert (found.ts, found.interval_ms, found.poll, found.source) == (END, 30_000, False, Source.STATISTICS)
    assert found.values == {
        "put_rate": pytest.approx(13 / 30),
        "get_rate": pytest.approx(13 / 30),
        "depth_min": 0,
        "depth_max": 6,
        "qtime_avg_us_nonpersistent": 1066,
        "qtime_avg_us_persistent": Absence.NOTHING_TO_TELL,
        "puts": 13,
        "persistent_puts": 0,
        "failed_puts": 0,
        "put_bytes": 36432,
        "gets": 13,
        "persistent_gets": 0,
        "failed_gets": 1,
        "get_bytes": 36432,
        "browses": 0,
        "failed_browses": 0,
        "browse_bytes": 0,
        "msgs_not_queued": 1,
        "expired_msgs": 0,
        "purged_msgs": 0,
    }
    numbers = sum(range(QUEUES))
    for name, total in (
        ("puts", 13 * QUEUES + numbers),
        ("persistent_puts", numbers),
        ("put_bytes", 36_432 * QUEUES + 100 * numbers),
        ("gets", 13 * QUEUES),
        ("failed_gets", QUEUES),
        ("msgs_not_queued", QUEUES),
    ):
        assert sum(_number(each.values[name]) for each in readings) == total, name


def _number(value: Reported) -> int:
    assert type(value) is int
    return value


def test_instances_of_a_channel_are_one() -> None:
    """Counts are added, extremes are of all, averages weighed by batches; an instance that did nothing changes none."""
    (found,) = told(
        of_channel(
            ran(3, 1, (30, 10), (100, 200, 400), 10),
            ran(1, 0, (2, 0), (50, 1000, 2000), 2),
            ran(0, 0, (0, 0), (0, 0, 0), 0),
        )
    )
    assert str(found.object) == "DQM/channel/TO.QM01"
    assert found.values == {
        "full_batches": 4,
        "incomplete_batches": 1,
        "msgs_per_batch": 8,
        "nettime_avg_us": 360,
        "nettime_min_us": 50,
        "nettime_max_us": 2000,
        "exittime_avg_us": Absence.NOTHING_TO_TELL,
        "exittime_min_us": Absence.NOTHING_TO_TELL,
        "exittime_max_us": Absence.NOTHING_TO_TELL,
        "interval_msgs": 42,
        "interval_bytes": 42_000,
        "persistent_msgs": 10,
        "persistent_bytes": 10_000,
        "put_retries": 3,
    }


def test_what_nothing_happened_for_has_no_average() -> None:
    """Zeros of counts are figures, those of averages are none."""
    (found,) = told(of_channel(ran(0, 0, (0, 0), (0, 0, 0), 0)))
    assert found.values["interval_msgs"] == 0
    assert {found.values[name] for name in ("nettime_avg_us", "nettime_min_us", "msgs_per_batch")} == {
        Absence.NOTHING_TO_TELL
    }


SUMS = sorted(
    {(metric.name, metric.statistics) for kind in KINDS.values() for metric in kind.metrics if "+" in metric.statistics}
)


@pytest.mark.parametrize(("name", "formula"), SUMS)
def test_a_sum_is_that_of_its_parameters(name: str, formula: str) -> None:
    """Of whole pairs or of one half of each; without one of its parameters it is absent for that reason."""
    is_queue = KINDS["queue"].metric(name) is not None
    parameters, expected = [], 0
    for place, term in enumerate(formula.split("+")):
        number, _, half = term.partition("[")
        # Digits of their own for each number: no wrong sum is right by accident.
        pair = (10 ** (2 * place), 10 ** (2 * place + 1))
        if number.endswith("_FAILED"):
            parameters.append(integer(parameter_number(number), pair[0]))
            expected += pair[0]
        else:
            parameters.append(integers(parameter_number(number), pair))
            expected += pair[int(half[0])] if half else sum(pair)

    def value(present: Sequence[Parameter]) -> Reported:
        members = (string(mq.MQCA_Q_NAME, "APP", 48), *present)
        data = (
            message(mq.MQCMD_STATISTICS_Q, group(mq.MQGACF_Q_STATISTICS_DATA, members))
            if is_queue
            else message(mq.MQCMD_STATISTICS_MQI, *present)
        )
        (record,) = statistics.read(exchange(data), Decoder()).records
        return record.values[name]

    found = value(parameters)
    assert (found, type(found)) == (expected, int)
    assert value(parameters[1:]) is Absence.NOT_RETURNED
    uncollected = integers(parameters[1].id, (-1, 0)) if "[" not in formula else integers(parameters[1].id, (0, -1))
    assert value([parameters[0], uncollected]) is Absence.NOT_COLLECTED


def test_calls_are_those_of_the_queue_manager() -> None:
    """Lists by type of object are added up; what is not in the message is absent, what is below 0 was not collected."""
    (found,) = told(
        message(
            mq.MQCMD_STATISTICS_MQI,
            integer(mq.MQIAMO_CONNS, 5),
            integers(mq.MQIAMO_OPENS, (0, 7, 0, 0, 0, 3)),
            integers(mq.MQIAMO_PUTS, (10, 4)),
            integers(mq.MQIAMO_PUT1S, (1, 0)),
            integer(mq.MQIAMO_BACKOUTS, -1),
        )
    )
    assert str(found.object) == "DQM/queue_manager"
    values = found.values
    assert (values["mqi_connects"], values["mqi_opens"], values["mqi_puts"]) == (5, 10, 15)
    assert (values["mqi_gets"], values["mqi_backouts"]) == (Absence.NOT_RETURNED, Absence.NOT_COLLECTED)


def test_the_interval_ends_where_the_zone_says_else_when_the_message_was_put() -> None:
    """Times in messages are local; without a zone the descriptor's time is taken, without that our own."""
    (zoned,) = told(of_queue(), utc=lambda local: local - 7_200_000)
    assert (zoned.ts, zoned.interval_ms) == (END - 7_200_000, 30_000)
    (put,) = told(of_queue(), utc=lambda _: None)
    assert (put.ts, put.interval_ms) == (AT - 300, 30_000)
    (record,) = statistics.read(exchange(of_queue(), put=None), Decoder()).records
    assert statistics.reading(record, lambda _: None).ts == AT


def test_an_interval_without_times_has_no_rates() -> None:
    """Counts stay what they are."""
    members = (string(mq.MQCA_Q_NAME, "APP"), integers(mq.MQIAMO_PUTS, (2, 1)), integers(mq.MQIAMO_PUT1S, (0, 0)))
    data = encode_message(
        mq.MQCFT_STATISTICS, mq.MQCMD_STATISTICS_Q, (group(mq.MQGACF_Q_STATISTICS_DATA, members),), ccsid=500
    )
    (found,) = told(data)
    assert (found.object.owner, found.interval_ms) == ("DQM", None)
    assert (found.values["puts"], found.values["put_rate"]) == (3, Absence.NOT_RETURNED)


def test_the_collector_makes_readings_of_them() -> None:
    """Of the configured zone; damaged messages, those of other kinds and of strangers are counted and told."""
    collector = Collector("", ["DQM"], lambda _: timezone(timedelta(hours=2)))
    accounting = message(mq.MQCMD_STATISTICS_Q + 2, kind=mq.MQCFT_ACCOUNTING)
    collector.feed(exchange(of_queue(), b"\x15", accounting, of_queue(whose="OTHER")))
    (snapshot,) = collector.end_cycle()
    (found,) = from_statistics(snapshot)
    assert (found.ts, found.values["puts"]) == (END - 7_200_000, 3)
    assert (collector.damaged, collector.strange, sum(collector.unprobed.values())) == (1, 1, 1)
    (command,) = [each for each in snapshot.readings if str(each.object) == "DQM/agent/STATISTICS_Q"]
    assert command.values["outcome"] == Outcome.DAMAGED.value
    assert command.values["replies"] == 4


@pytest.mark.parametrize(
    ("reason", "outcome"), [(2035, Outcome.REFUSED), (2085, Outcome.FAILED), (2042, Outcome.FAILED)]
)
def test_what_came_before_an_error_is_kept(reason: int, outcome: Outcome) -> None:
    """It is gone from the queue; and a queue that is not there is no normal answer."""
    collector = Collector("", ["DQM"])
    collector.feed(exchange(of_queue(), error=reason))
    (snapshot,) = collector.end_cycle()
    assert len(from_statistics(snapshot)) == 1
    (command,) = [each for each in snapshot.readings if each.object.kind == "agent"]
    assert (command.values["outcome"], command.values["reason"]) == (outcome.value, reason)


def test_temporary_queues_that_no_answer_knows_are_left_out() -> None:
    """Each program makes its own, and none of them comes again."""
    collector = Collector("", ["DQM"])
    collector.feed(exchange(of_queue("AMQ.5EE748E023EA64BE", mq.MQQDT_TEMPORARY_DYNAMIC), of_queue("APP")))
    (snapshot,) = collector.end_cycle()
    assert [each.object.name for each in from_statistics(snapshot)] == ["APP"]


def test_a_queue_that_was_deleted_since_is_gone_with_the_next_answer() -> None:
    """Its last statistics come after it, and must not let it live for ever."""
    collector = Collector("", ["DQM"])
    collector.feed(exchange(of_queue("APP")))
    collector.end_cycle()
    asked = statistics_free_request()
    items = [(string(mq.MQCA_Q_NAME, "OTHER"), integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS))]
    replies = tuple(Reply(785, 500, data) for data in answer("DQM", mq.MQCMD_INQUIRE_Q_STATUS, items, 1))
    collector.feed(Exchange(0, AT + 30_000, 5, "DQM", mq.MQCMD_INQUIRE_Q_STATUS, asked, replies))
    (snapshot,) = collector.end_cycle()
    (gone,) = [each for each in snapshot.readings if each.gone]
    assert str(gone.object) == "DQM/queue/APP"


def statistics_free_request() -> bytes:
    """DISPLAY QSTATUS(*) as a distributed queue manager is asked."""
    return encode_message(
        mq.MQCFT_COMMAND_XR,
        mq.MQCMD_INQUIRE_Q_STATUS,
        (string(mq.MQCA_Q_NAME, "*"), integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS)),
        ccsid=1208,
    )


@given(data=st.data())
def test_damage_of_any_kind_is_counted_and_never_raised(whole: bytes, data: st.DataObject) -> None:
    """A message that is cut off or changed is damaged, or is read; beside it a sound one is read as ever."""
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4)) if changed else 0):
        changed[data.draw(st.integers(0, min(len(changed), 1200) - 1))] = data.draw(st.integers(0, 255))
    found = statistics.read(exchange(bytes(changed), of_queue()), Decoder())
    assert found.damaged + len(found.unknown) <= 1
    assert any(record.key.name == "APP" for record in found.records)
    for record in found.records:
        reading = statistics.reading(record, lambda local: local)
        assert reading.interval_ms is None or reading.interval_ms > 0
        assert all(isinstance(value, (int, float, Absence)) for value in reading.values.values())
    collector = Collector("", ["DQM", "mq_mgr1"])
    collector.feed(exchange(bytes(changed)))
    collector.end_cycle()


@given(st.binary(max_size=300))
def test_any_bytes_are_no_statistics(data: bytes) -> None:
    """Nothing is raised."""
    found = statistics.read(exchange(data), Decoder())
    assert found.records == () or found.damaged == 0

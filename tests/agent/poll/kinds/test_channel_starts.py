"""Starts of channels, and which of them follow an instance that broke off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.kinds.channel_starts import START_METRICS, ChannelStarts, tls_instances
from mqvitals_agent.poll.probe import InstanceRow
from mqvitals_rules.vocabulary.metric import Absence, Reported

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

RUNNING, RETRYING, STOPPED, BINDING = mq.MQCHS_RUNNING, mq.MQCHS_RETRYING, mq.MQCHS_STOPPED, mq.MQCHS_BINDING


def instance(start: str = "08.00.00", **more: Any) -> InstanceRow:
    """One current instance as an answer tells it; ``more`` replaces its values, ``conname`` is its partner."""
    values: dict[str, Reported] = {
        "status": RUNNING, "type": mq.MQCHT_SENDER, "stop_requested": 0, "indoubt": 0, "current_msgs": 0,
        "ssl_cipher": "", "security_protocol": 0, **more,
    }  # fmt: skip
    date = "2026-11-20" if start else ""
    conname = str(values.pop("conname", "10.0.0.1"))
    return InstanceRow(("QM01", conname, "QM02", "QM02", date, start), values, {})


def told(*polls: list[InstanceRow]) -> list[tuple[Reported, ...]]:
    """What is told at each of these polls of one channel."""
    starts = ChannelStarts()
    counted = [starts.count("A", poll) for poll in polls]
    return [tuple(each[metric] for metric in START_METRICS) for each in counted]


def broken(*polls: list[InstanceRow]) -> list[Reported]:
    """The broken starts at each poll after the first."""
    return [each[2] for each in told(*polls)[1:]]


def test_first_reading_proves_nothing() -> None:
    """What ran already when the agent came may have started long ago."""
    assert told([instance()], [instance()]) == [(Absence.FIRST_READING,) * 3, (0, 0, 0)]


def test_a_start_after_inactivity_counts() -> None:
    """The channel was there without an instance; then one began."""
    assert told([], [instance()], [instance("09.00.00")], [])[1:] == [(1, 0, 0), (1, 0, 0), (0, 0, 0)]


def test_clients_of_the_same_second_count_one_by_one() -> None:
    """Two instances that nothing tells apart are two."""
    client = instance(type=mq.MQCHT_SVRCONN)
    assert told([client], [client, client, client])[1] == (2, 0, 0)


def test_tls_starts_are_those_with_a_cipher() -> None:
    """One of two new instances is protected."""
    plain = instance(conname="10.0.0.2")
    secured = instance(conname="10.0.0.3", ssl_cipher="TLS_AES_256_GCM_SHA384")
    assert told([], [plain, secured])[1] == (2, 1, 0)


def test_tls_is_known_by_the_version_where_no_cipher_is_told() -> None:
    """Older levels tell one of the two; without both it is unknown."""
    untold: dict[str, Any] = {"ssl_cipher": Absence.NOT_RETURNED}
    assert told([], [instance(**untold, security_protocol=4)])[1] == (1, 1, 0)
    assert told([], [instance(**untold, security_protocol=Absence.NOT_RETURNED)])[1] == (1, Absence.NOT_RETURNED, 0)
    assert tls_instances([instance(ssl_cipher="X"), instance(**untold, security_protocol=0)]) == 1
    assert (
        tls_instances([instance(), instance(**untold, security_protocol=Absence.NOT_RETURNED)]) is Absence.NOT_RETURNED
    )


def test_retrying_and_running_again_is_a_broken_start() -> None:
    """Counted once, when it runs again, however it got there."""
    polls = [
        [instance()],
        [instance(status=RETRYING)],
        [instance("09.00.00", status=BINDING)],
        [instance("09.00.00")],
        [instance("09.00.00")],
    ]
    assert broken(*polls) == [0, 0, 1, 0]


def test_a_retry_that_never_runs_is_no_start_of_its_own() -> None:
    """Each attempt may have another time; only the one that succeeds counts."""
    attempts = [[instance(f"09.0{minute}.00", status=RETRYING)] for minute in range(5)]
    assert broken([instance()], *attempts, [instance("09.09.00")]) == [0, 0, 0, 0, 0, 1]


def test_messages_under_way_break_off() -> None:
    """From one poll to the next another instance runs, and the one before was in the middle of a batch."""
    assert broken([instance(current_msgs=3)], [instance("09.00.00")]) == [1]
    assert broken([instance(current_msgs=0)], [instance("09.00.00")]) == [0]


def test_a_channel_that_ended_for_want_of_work_has_not_broken_off() -> None:
    """It was seen at work, then without a status: the batch was completed after that poll."""
    assert broken([instance(current_msgs=3)], [], [instance("09.00.00")]) == [0, 0]


@pytest.mark.parametrize("trouble", [{"status": RETRYING}, {"indoubt": 1}])
def test_trouble_is_remembered_while_there_is_no_status(trouble: dict[str, Any]) -> None:
    """A channel that retried, or was in doubt, may be without a status until it starts again."""
    assert broken([instance()], [instance(**trouble)], [], [instance("09.00.00")]) == [0, 0, 1]


@pytest.mark.parametrize("stopped", [{"status": STOPPED}, {"status": mq.MQCHS_STOPPING}, {"stop_requested": 1}])
def test_what_somebody_stopped_has_not_broken_off(stopped: dict[str, Any]) -> None:
    """Nor has it when it was in trouble before that."""
    polls = [[instance()], [instance(status=RETRYING)], [instance(**stopped)], [instance("09.00.00")]]
    assert broken(*polls) == [0, 0, 0]


def test_partners_of_one_receiver_are_apart() -> None:
    """One partner's connection broke off; another one's that comes in is no restart of it."""
    lost = instance(type=mq.MQCHT_RECEIVER, current_msgs=5)
    other = instance("09.00.00", type=mq.MQCHT_RECEIVER, conname="10.0.0.9")
    again = instance("09.00.01", type=mq.MQCHT_RECEIVER)
    assert broken([lost], [other]) == [0]
    assert broken([lost], [other, again]) == [1]


def test_instances_that_break_off_together_are_one_broken_start() -> None:
    """As when the queue manager at the other end, or this one, was restarted."""
    both = [instance(conname=f"10.0.0.{number}", current_msgs=5) for number in (1, 2)]
    again = [instance("09.00.00", conname=f"10.0.0.{number}") for number in (1, 2)]
    assert broken(both, again) == [1]


def test_a_client_that_comes_again_is_no_restart() -> None:
    """Server connections come and go."""
    client: dict[str, Any] = {"type": mq.MQCHT_SVRCONN, "current_msgs": 5}
    assert broken([instance(**client)], [instance("09.00.00", **client)]) == [0]


def test_an_instance_without_a_start_has_not_started() -> None:
    """It counts as soon as it has one."""
    assert [each[0] for each in told([], [instance("", status=BINDING)], [instance()])[1:]] == [0, 1]


def test_a_forgotten_channel_begins_again() -> None:
    """Should its name return, it is another channel."""
    starts = ChannelStarts()
    starts.count("A", [instance()])
    starts.forget("A")
    assert starts.count("A", [instance("09.00.00")])["starts"] is Absence.FIRST_READING


def _item(start: str, sent: int, status: int = RUNNING) -> dict[int, Any]:
    return {
        mq.MQCACH_CHANNEL_NAME: "TO.QM02",
        mq.MQIACH_CHANNEL_INSTANCE_TYPE: mq.MQOT_CURRENT_CHANNEL,
        mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SENDER,
        mq.MQCACH_CONNECTION_NAME: "10.0.0.1",
        mq.MQIACH_CHANNEL_STATUS: status,
        mq.MQIACH_STOP_REQUESTED: 0,
        mq.MQIACH_INDOUBT_STATUS: 0,
        mq.MQIACH_CURRENT_MSGS: 0,
        mq.MQCACH_CHANNEL_START_DATE: "2026-11-20",
        mq.MQCACH_CHANNEL_START_TIME: start,
        mq.MQIACH_BYTES_SENT: sent,
        mq.MQIACH_BYTES_RCVD: 7,
        mq.MQIACH_BATCHES: sent // 100,
        mq.MQCACH_SSL_CIPHER_SPEC: "TLS_AES_256_GCM_SHA384",
    }


def test_what_is_made_to_be_added_up_over_channels(talk: Talk) -> None:
    """Bytes both ways, batches, TLS instances and starts; an inactive channel has none of them, which is known."""
    added = ("carried_bytes", "batch_ends", "tls_instances", "starts", "tls_starts", "broken_starts")
    found = []
    for items in ([_item("08.00.00", 100)], [_item("08.00.00", 300)], [], [_item("09.00.00", 5)]):
        talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS, items)
        values = talk.end().reading("QM01/channel/TO.QM02").values
        found.append(tuple(values[metric] for metric in added))
    first, reset = Absence.FIRST_READING, Absence.RESET
    assert found == [
        (first, first, 1, first, first, first),
        (200, 2, 1, 0, 0, 0),
        (0, 0, 0, 0, 0, 0),
        (reset, reset, 1, 1, 1, 0),
    ]


def test_a_server_connection_has_no_batches(talk: Talk) -> None:
    """So none of its batches end, whatever its answer leaves out."""
    item = {**_item("08.00.00", 100), mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SVRCONN}
    del item[mq.MQIACH_BATCHES]
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS, [item])
    assert talk.end().value("QM01/channel/TO.QM02", "batch_ends") == 0


@pytest.mark.parametrize(
    ("exits", "number"),
    [
        ({}, Absence.NOT_RETURNED),
        ({mq.MQCACH_SEC_EXIT_NAME: "", mq.MQCACH_MSG_EXIT_NAME: " "}, 0),
        ({mq.MQCACH_SEC_EXIT_NAME: "SCYX"}, 1),
        (
            {
                mq.MQCACH_SEC_EXIT_NAME: "",
                mq.MQCACH_MSG_EXIT_NAME: ("EXIT1", "EXIT2", ""),
                mq.MQCACH_MR_EXIT_NAME: "MRX",
            },
            3,
        ),
    ],
)
def test_exits_of_a_definition(talk: Talk, exits: dict[int, Any], number: Reported) -> None:
    """Names and lists of names are counted, blank ones are not."""
    definition = {
        mq.MQCACH_CHANNEL_NAME: "TO.QM02",
        mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SENDER,
        mq.MQIA_QSG_DISP: 0,
        **exits,
    }
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL, [definition])
    assert talk.end().reading("QM01/channel/TO.QM02", "INQUIRE_CHANNEL").values["exits"] == number

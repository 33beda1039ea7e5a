"""Channels: counters, instances, pairs, and those without a status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, integer_filter, request, string
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

STATUS, DEFINITION = mq.MQCMD_INQUIRE_CHANNEL_STATUS, mq.MQCMD_INQUIRE_CHANNEL
RUNNING, RETRYING, STOPPED, BINDING = mq.MQCHS_RUNNING, mq.MQCHS_RETRYING, mq.MQCHS_STOPPED, mq.MQCHS_BINDING


def status(name: str, **more: Any) -> dict[int, Any]:
    """An item of channel status; ``more`` replaces its parts by name."""
    told = {
        "status": RUNNING, "conname": "10.0.0.1", "start": ("2026-11-20", "08.00.00"), "last": ("2026-11-20", "12.59.59"), "msgs": 100,
        "bytes": 1000, "nettime": (120, 110), "monchl": mq.MQMON_MEDIUM, "indoubt": 0, "short_left": 10, "conversations": 1,
        "kind": mq.MQOT_CURRENT_CHANNEL, "xmitq_msgs": 5, **more,
    }  # fmt: skip
    return {
        mq.MQCACH_CHANNEL_NAME: name.ljust(20),
        mq.MQIACH_CHANNEL_INSTANCE_TYPE: told["kind"],
        mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SENDER,
        mq.MQCACH_CONNECTION_NAME: told["conname"],
        mq.MQCACH_XMIT_Q_NAME: "QM02",
        mq.MQCA_REMOTE_Q_MGR_NAME: "QM02",
        mq.MQIACH_CHANNEL_STATUS: told["status"],
        mq.MQIACH_INDOUBT_STATUS: told["indoubt"],
        mq.MQCACH_CHANNEL_START_DATE: told["start"][0],
        mq.MQCACH_CHANNEL_START_TIME: told["start"][1],
        mq.MQCACH_LAST_MSG_DATE: told["last"][0],
        mq.MQCACH_LAST_MSG_TIME: told["last"][1],
        mq.MQIACH_MSGS: told["msgs"],
        mq.MQIACH_BYTES_SENT: told["bytes"],
        mq.MQIACH_SHORT_RETRIES_LEFT: told["short_left"],
        mq.MQIACH_CURRENT_SHARING_CONVS: told["conversations"],
        mq.MQIACH_XMITQ_MSGS_AVAILABLE: told["xmitq_msgs"],
        mq.MQIACH_NETWORK_TIME_INDICATOR: told["nettime"],
        mq.MQIA_MONITORING_CHANNEL: told["monchl"],
    }


def definition(name: str, kind: int = mq.MQCHT_SENDER, disposition: int = 0) -> dict[int, Any]:
    """An item of INQUIRE_CHANNEL."""
    return {
        mq.MQCACH_CHANNEL_NAME: name,
        mq.MQIACH_CHANNEL_TYPE: kind,
        mq.MQIA_QSG_DISP: disposition,
        mq.MQIACH_BATCH_SIZE: 50,
    }


def test_one_instance(talk: Talk) -> None:
    """A channel with one instance has its figures, counters from the second reading on."""
    talk.ask(STATUS, [status("TO.QM02")])
    told = talk.end()
    values = told.reading("QM01/channel/TO.QM02").values
    assert (values["status"], values["instances"], values["type"]) == (RUNNING, 1, mq.MQCHT_SENDER)
    assert values["msgs"] is Absence.FIRST_READING
    assert set(values) == {m.name for m in CHANNEL_KIND.metrics if m.command == "INQUIRE_CHANNEL_STATUS"}
    assert told.instances("QM01") == []
    talk.ask(STATUS, [status("TO.QM02", msgs=150, bytes=999)])
    values = talk.end().reading("QM01/channel/TO.QM02").values
    assert values["msgs"] == 50
    assert values["bytes_sent"] is Absence.RESET
    assert values["batches"] is Absence.NOT_RETURNED


def test_counter_runs_on_over_cycles_without_an_answer(talk: Talk) -> None:
    """The increase since the previous answered reading, with the interval that belongs to it."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.fail(2009, command=STATUS)
    talk.end()
    talk.ask(STATUS, [status("A", msgs=130)])
    reading = talk.end().reading("QM01/channel/A")
    assert reading.values["msgs"] == 30
    assert reading.interval_ms == 20_000


def test_saturated_counter(talk: Talk) -> None:
    """Pinned at 999,999,999 there is nothing to tell."""
    for _ in range(2):
        talk.ask(STATUS, [status("A", bytes=999_999_999)])
        told = talk.end()
    assert told.value("QM01/channel/A", "bytes_sent") is Absence.SATURATED
    assert told.value("QM01/channel/A", "msgs") == 0


def test_restart_makes_a_new_instance_of_the_same_object(talk: Talk) -> None:
    """Another start time: the counters begin again, the object goes on."""
    talk.ask(STATUS, [status("A", msgs=5)])
    talk.end()
    talk.ask(STATUS, [status("A", msgs=900, start=("2026-11-20", "12.59.58"))])
    reading = talk.end().reading("QM01/channel/A")
    assert reading.values["msgs"] is Absence.RESET
    assert reading.interval_ms == 10_000


def test_several_instances_are_one_object(talk: Talk) -> None:
    """Summed increases, the worst status, the least retries, the greatest averages, the newest times."""
    first = [status("A", conname="10.0.0.1"), status("A", conname="10.0.0.2")]
    talk.ask(STATUS, first)
    talk.end()
    second = [
        status("A", conname="10.0.0.1", msgs=110, nettime=(1, 900), last=("2026-11-20", "13.00.01")),
        status(
            "A",
            conname="10.0.0.2",
            msgs=103,
            status=RETRYING,
            short_left=4,
            indoubt=1,
            conversations=3,
            nettime=(50, 40),
        ),
    ]
    talk.ask(STATUS, second)
    told = talk.end()
    values = told.reading("QM01/channel/A").values
    assert values["instances"] == 2
    assert values["msgs"] == 13
    assert values["status"] == RETRYING
    assert values["conname"] == "10.0.0.2"
    assert values["short_left"] == 4
    assert values["indoubt"] == 1
    assert values["conversations"] == 4
    assert (values["nettime_us_short"], values["nettime_us_long"]) == (50, 900)
    assert values["last_msg_ts"] == "2026-11-20 13.00.01"
    instances = told.instances("QM01")
    assert [str(instance.object) for instance in instances] == ["QM01/channel/A"] * 2
    assert len({instance.key for instance in instances}) == 2
    assert [instance.values["msgs"] for instance in instances] == [10, 3]
    assert [instance.values["status"] for instance in instances] == [RUNNING, RETRYING]


def test_instance_that_comes_or_goes_leaves_the_others_counting(talk: Talk) -> None:
    """A new client beside others adds nothing in its first interval, one that left takes nothing away."""
    talk.ask(STATUS, [status("A", conname="1", msgs=10), status("A", conname="2", msgs=20)])
    talk.end()
    talk.ask(STATUS, [status("A", conname="1", msgs=15), status("A", conname="3", msgs=700)])
    assert talk.end().value("QM01/channel/A", "msgs") == 5


def test_instances_that_look_alike_count_together(talk: Talk) -> None:
    """Two connections of one client begun in the same second have one key: their totals are added, in whatever order."""
    talk.ask(STATUS, [status("A", msgs=10), status("A", msgs=500)])
    talk.end()
    talk.ask(STATUS, [status("A", msgs=502), status("A", msgs=11)])
    told = talk.end()
    assert told.value("QM01/channel/A", "msgs") == 3
    assert told.value("QM01/channel/A", "instances") == 2
    assert len({instance.key for instance in told.instances("QM01")}) == 2


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ((RUNNING, STOPPED, RETRYING), STOPPED),
        ((RUNNING, BINDING), BINDING),
        ((RUNNING, 77), 77),
        ((RUNNING, RUNNING), RUNNING),
    ],
)
def test_worst_status(talk: Talk, statuses: tuple[int, ...], worst: int) -> None:
    """Stopped is worse than retrying, that than binding, that than running; an unknown number is worse than running."""
    talk.ask(STATUS, [status("A", conname=str(number), status=each) for number, each in enumerate(statuses)])
    assert talk.end().value("QM01/channel/A", "status") == worst


def test_monitoring_off_and_nothing_yet(talk: Talk) -> None:
    """-1 means not collected with MONCHL off, and nothing to tell yet with it on."""
    talk.ask(STATUS, [status("A", monchl=0, nettime=(-1, -1), xmitq_msgs=-1), status("B", nettime=(-1, -1))])
    told = talk.end()
    assert told.value("QM01/channel/A", "nettime_us_short") is Absence.NOT_COLLECTED
    assert told.value("QM01/channel/A", "xmitq_msgs") is Absence.NOT_COLLECTED
    assert told.value("QM01/channel/B", "nettime_us_long") is Absence.NOTHING_TO_TELL


@pytest.mark.parametrize(("platform", "short", "long"), [(mq.MQPL_ZOS, 7, 9), (mq.MQPL_UNIX, 9, 7)])
def test_order_of_pairs_depends_on_the_platform(talk: Talk, platform: int, short: int, long: int) -> None:
    """z/OS tells short-term first, the others long-term first."""
    distributed = platform != mq.MQPL_ZOS
    talk.ask(mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQIA_PLATFORM: platform}], distributed=distributed)
    talk.ask(STATUS, [status("A", nettime=(7, 9))], distributed=distributed)
    values = talk.end().reading("QM01/channel/A").values
    assert (values["nettime_us_short"], values["nettime_us_long"]) == (short, long)
    talk.ask(STATUS, [status("A", nettime=(7, 9))], distributed=distributed)
    assert talk.end().value("QM01/channel/A", "nettime_us_short") == short


def test_saved_status_is_not_the_present(talk: Talk) -> None:
    """Saved and short items are left out, and a question for them says nothing about current status."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    saved = QueryOptions(part=mq.MQOT_SAVED_CHANNEL)
    talk.ask(STATUS, [status("A", kind=mq.MQOT_SAVED_CHANNEL), status("B", kind=mq.MQOT_SAVED_CHANNEL)], question=saved)
    told = talk.end()
    assert told.readings("QM01/channel/A") == []
    assert told.readings("QM01/channel/B") == []


def test_channel_without_status_is_inactive(talk: Talk) -> None:
    """Defined or seen before and not in a whole answer: inactive, a poll, every figure absent for that reason."""
    talk.ask(DEFINITION, [definition("DEFINED", mq.MQCHT_RECEIVER)])
    talk.ask(STATUS, [status("SEEN"), status("OTHER")])
    talk.end()
    talk.ask(STATUS, [status("OTHER")])
    told = talk.end()
    for name in ("SEEN", "DEFINED"):
        reading = told.reading(f"QM01/channel/{name}", "INQUIRE_CHANNEL_STATUS")
        assert reading.poll
        assert reading.answered
        assert not reading.gone
        assert (reading.values["status"], reading.values["instances"]) == (mq.MQCHS_INACTIVE, 0)
        assert reading.values["nettime_us_short"] is Absence.INACTIVE
        assert reading.values["msgs"] is Absence.INACTIVE
    assert told.value("QM01/channel/DEFINED", "type") == mq.MQCHT_RECEIVER
    talk.ask(STATUS, [status("SEEN", msgs=5000)])
    assert talk.end().value("QM01/channel/SEEN", "msgs") is Absence.RESET


def test_defined_channel_is_inactive_from_its_first_cycle(talk: Talk) -> None:
    """The definition may be read after the status, in the same cycle."""
    talk.ask(STATUS, [status("OTHER")])
    talk.ask(DEFINITION, [definition("IDLE")])
    assert talk.end().reading("QM01/channel/IDLE", "INQUIRE_CHANNEL_STATUS").values["status"] == mq.MQCHS_INACTIVE


def test_an_inactive_channel_names_the_queue_where_messages_wait_for_it(talk: Talk) -> None:
    """From its definition; while it has a status, from that; a cluster-sender's definition names none."""
    sender = definition("IDLE") | {mq.MQCACH_XMIT_Q_NAME: "QM09.XMIT"}
    cluster = definition("TO.QM02", mq.MQCHT_CLUSSDR) | {mq.MQCACH_XMIT_Q_NAME: ""}
    talk.ask(DEFINITION, [sender, cluster])
    talk.ask(STATUS, [status("IDLE") | {mq.MQCACH_XMIT_Q_NAME: "OTHER.XMIT"}])
    told = talk.end()
    assert told.value("QM01/channel/IDLE", "xmitq") == "OTHER.XMIT"
    assert told.value("QM01/channel/TO.QM02", "xmitq") is Absence.INACTIVE
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    assert talk.end().value("QM01/channel/IDLE", "xmitq") == "QM09.XMIT"


def test_client_definitions_and_templates_do_not_run_here(talk: Talk) -> None:
    """CLNTCONN definitions are for clients, GROUP ones are templates."""
    talk.ask(DEFINITION, [definition("C", mq.MQCHT_CLNTCONN), definition("G", disposition=mq.MQQSGD_GROUP)])
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    assert [reading for reading in talk.end().snapshot("QM01").readings if reading.object.kind == "channel"] == []


def test_no_status_at_all_makes_all_inactive(talk: Talk) -> None:
    """3065 for * is a normal answer: no channel runs."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    assert talk.end().value("QM01/channel/A", "status") == mq.MQCHS_INACTIVE


def test_one_name_not_found_says_nothing_about_others(talk: Talk) -> None:
    """3065 for one name: that one is inactive if it is defined, nothing is made of one that is not, the rest are left alone."""
    talk.ask(DEFINITION, [definition("IDLE")])
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(STATUS, question=QueryOptions("TO.NOWHERE"), reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    talk.ask(STATUS, question=QueryOptions("IDLE"), reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    told = talk.end()
    assert told.readings("QM01/channel/TO.NOWHERE") == []
    assert told.readings("QM01/channel/A") == []
    assert told.value("QM01/channel/IDLE", "status") == mq.MQCHS_INACTIVE


def test_filter_says_nothing_about_what_it_left_out(talk: Talk) -> None:
    """With a filter on the status, a channel that is not in the answer is not inactive; a whole answer goes before it."""
    talk.ask(STATUS, [status("A"), status("B", conname="1"), status("B", conname="2")])
    talk.end()
    sent = request(
        STATUS,
        [
            string(mq.MQCACH_CHANNEL_NAME, "*"),
            integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
            integer_filter(mq.MQIACH_CHANNEL_STATUS, mq.MQCFOP_EQUAL, RETRYING),
        ],
    )
    filtered = [status("B", conname="2", status=RETRYING)]
    talk.exchange(STATUS, talk.replies(STATUS, filtered), sent=sent)
    told = talk.end()
    assert told.readings("QM01/channel/A") == []
    assert told.value("QM01/channel/B", "status") == RETRYING
    talk.ask(STATUS, [status("A"), status("B", conname="1"), status("B", conname="2")])
    talk.exchange(STATUS, talk.replies(STATUS, filtered), sent=sent)
    assert talk.end().value("QM01/channel/B", "instances") == 2


SENDERS, CLIENTS = QueryOptions(clients=False), QueryOptions(clients=True)


def client(name: str, **more: Any) -> dict[int, Any]:
    """An item of a server connection."""
    return status(name, **more) | {mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SVRCONN}


def test_an_answer_about_one_half_says_nothing_about_the_other(talk: Talk) -> None:
    """A server connection that the answer about the other channels lacks is not inactive; nor the reverse."""
    talk.ask(DEFINITION, [definition("IDLE"), definition("WEB.IDLE", mq.MQCHT_SVRCONN)])
    talk.ask(STATUS, [status("A")], question=SENDERS)
    talk.ask(STATUS, [client("WEB")], question=CLIENTS)
    first = talk.end()
    assert (first.value("QM01/channel/IDLE", "status"), first.value("QM01/channel/WEB.IDLE", "status")) == (0, 0)
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND, question=SENDERS)
    told = talk.end()
    assert told.value("QM01/channel/A", "status") == mq.MQCHS_INACTIVE
    assert told.readings("QM01/channel/WEB") == told.readings("QM01/channel/WEB.IDLE") == []
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND, question=CLIENTS)
    told = talk.end()
    assert told.value("QM01/channel/WEB", "status") == mq.MQCHS_INACTIVE
    assert told.readings("QM01/channel/A") == []


def test_a_half_without_an_answer_leaves_the_other_alone(talk: Talk) -> None:
    """Only server connections are unanswered when the question about them is refused."""
    talk.ask(STATUS, [status("A")], question=SENDERS)
    talk.ask(STATUS, [client("WEB")], question=CLIENTS)
    talk.end()
    talk.ask(STATUS, [status("A")], question=SENDERS)
    talk.ask(STATUS, question=CLIENTS, reason=mq.MQRC_NOT_AUTHORIZED)
    told = talk.end()
    assert told.value("QM01/channel/WEB", "status") is Absence.NOT_AUTHORISED
    assert told.value("QM01/channel/A", "status") == RUNNING


def test_a_channel_of_an_earlier_run_is_gone_when_both_halves_lack_it(talk: Talk) -> None:
    """Its type is not known: one half proves nothing, both together do."""
    talk.collector.builder.remember([ObjectName("QM01", "channel", "OLD")])
    talk.ask(DEFINITION, [definition("A")])
    talk.ask(STATUS, [status("A")], question=SENDERS)
    assert talk.end().readings("QM01/channel/OLD") == []
    talk.ask(STATUS, [status("A")], question=SENDERS)
    talk.ask(STATUS, [client("WEB")], question=CLIENTS)
    (reading,) = talk.end().readings("QM01/channel/OLD")
    assert reading.gone


def test_what_is_not_asked_of_a_server_connection_is_absent_for_that_reason(talk: Talk) -> None:
    """Averages are not asked; its calls, its partner and its user are."""
    talk.ask(STATUS, [client("WEB", conname="10.1.2.3"), client("WEB", conname="10.1.2.4")], question=CLIENTS)
    told = talk.end()
    assert told.value("QM01/channel/WEB", "nettime_us_short") is Absence.NOT_ASKED
    assert told.value("QM01/channel/WEB", "xmitq") is not Absence.NOT_ASKED  # else it might send from any queue
    assert told.value("QM01/channel/WEB", "conname") == "10.1.2.3"
    assert told.value("QM01/channel/WEB", "instances") == 2


def test_channel_whose_definition_was_deleted_is_gone(talk: Talk) -> None:
    """Defined before, now neither defined nor with a status: it is no more."""
    talk.ask(DEFINITION, [definition("A"), definition("B")])
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(DEFINITION, [definition("A")])
    talk.ask(STATUS, [status("A")])
    told = talk.end()
    assert told.reading("QM01/channel/B", "INQUIRE_CHANNEL_STATUS").gone
    talk.ask(STATUS, [status("A")])
    assert talk.end().readings("QM01/channel/B") == []


def test_a_queue_of_the_same_name_that_goes_does_not_keep_a_deleted_channel(talk: Talk) -> None:
    """The channel's definition is missed first, then the queue goes: the next answer about status shows the channel gone."""
    talk.ask(DEFINITION, [definition("A"), definition("B")])
    talk.ask(STATUS, [status("A")])
    talk.ask(mq.MQCMD_INQUIRE_Q_STATUS, [{mq.MQCA_Q_NAME: "B"}, {mq.MQCA_Q_NAME: "C"}])
    talk.end()
    talk.ask(DEFINITION, [definition("A")])
    talk.ask(mq.MQCMD_INQUIRE_Q_STATUS, [{mq.MQCA_Q_NAME: "C"}])
    assert talk.end().reading("QM01/queue/B").gone
    talk.ask(STATUS, [status("A")])
    assert talk.end().reading("QM01/channel/B", "INQUIRE_CHANNEL_STATUS").gone


def test_definition_is_no_poll(talk: Talk) -> None:
    """INQUIRE_CHANNEL fills the defined values and counts as no poll."""
    talk.ask(DEFINITION, [definition("A")])
    reading = talk.end().reading("QM01/channel/A", "INQUIRE_CHANNEL")
    assert not reading.poll
    assert reading.values["batchsz_defined"] == 50


def test_unreachable_queue_manager_makes_its_channels_unknown(talk: Talk) -> None:
    """Not inactive: nobody knows."""
    talk.ask(DEFINITION, [definition("IDLE")])
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.fail(2059)
    told = talk.end()
    for name in ("A", "IDLE"):
        reading = told.reading(f"QM01/channel/{name}", "INQUIRE_CHANNEL_STATUS")
        assert not reading.answered
        assert set(reading.values.values()) == {Absence.UNREACHABLE}

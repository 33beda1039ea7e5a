"""Clients: what the instances of server-connection channels add up to, by address and application."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.kinds.channel import combined_instances
from mqvitals_agent.poll.kinds.client import MOST_CLIENTS, OTHERS, address_of, client_rows
from mqvitals_agent.poll.probe import InstanceRow, ObjectRow, QueryOptions
from mqvitals_rules.latest_state import UNDECIDED
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

STATUS, DEFINITION = mq.MQCMD_INQUIRE_CHANNEL_STATUS, mq.MQCMD_INQUIRE_CHANNEL
CLIENTS, SENDERS = QueryOptions(clients=True, listed=True), QueryOptions(clients=False, listed=True)


def socket(channel: str, conname: str, application: str = "ordersapp", **more: Any) -> dict[int, Any]:
    """An instance of a server connection, with the attributes that are asked for."""
    return {
        mq.MQCACH_CHANNEL_NAME: channel.ljust(20),
        mq.MQIACH_CHANNEL_INSTANCE_TYPE: mq.MQOT_CURRENT_CHANNEL,
        mq.MQIACH_CHANNEL_TYPE: more.get("kind", mq.MQCHT_SVRCONN),
        mq.MQCACH_CONNECTION_NAME: conname,
        mq.MQCACH_REMOTE_APPL_TAG: application.ljust(28),
        mq.MQIACH_CHANNEL_STATUS: mq.MQCHS_RUNNING,
        mq.MQIACH_CURRENT_SHARING_CONVS: more.get("conversations", 0),
        mq.MQCACH_MCA_USER_ID: more.get("user", "APPUSER"),
        mq.MQCACH_CHANNEL_START_DATE: "2026-11-20",
        mq.MQCACH_CHANNEL_START_TIME: more.get("start", "08.00.00"),
        mq.MQIACH_MSGS: 100,
    }


def test_clients_are_counted_by_address_and_application(talk: Talk) -> None:
    """Without the port; an instance that shares no conversations is one; the user ids are named."""
    talk.ask(
        STATUS,
        [
            socket("WEB", "10.1.2.3(50111)", conversations=4),
            socket("WEB", "10.1.2.3(50112)", conversations=0, user="OTHER"),
            socket("WEB", "10.1.2.3(50113)", "report", conversations=1),
            socket("WEB", "10.1.2.4", ""),
            socket("BATCH", "10.1.2.3", conversations=10),
        ],
        question=CLIENTS,
    )
    told = talk.end()
    client = "QM01/client/WEB/10.1.2.3/ordersapp"
    values = {name: told.value(client, name) for name in ("instances", "conversations", "clients", "user")}
    assert values == {"instances": 2, "conversations": 5, "clients": 1, "user": "APPUSER, OTHER"}
    names = {reading.object.name for reading in told.snapshot("QM01").readings if reading.object.kind == "client"}
    assert names == {"WEB/10.1.2.3/ordersapp", "WEB/10.1.2.3/report", "WEB/10.1.2.4/-", "BATCH/10.1.2.3/ordersapp"}
    assert told.value("QM01/channel/WEB", "instances_max_client") == 3
    assert told.value("QM01/channel/WEB", "top_client") == "10.1.2.3"


def test_a_client_that_left_is_gone_only_by_an_answer_about_clients(talk: Talk) -> None:
    """The answer about the other channels proves nothing; one that failed leaves the client unanswered."""
    talk.ask(STATUS, [socket("WEB", "10.1.2.3"), socket("WEB", "10.1.2.4")], question=CLIENTS)
    talk.end()
    talk.ask(STATUS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND, question=SENDERS)
    assert [each for each in talk.end().snapshot("QM01").readings if each.object.kind == "client"] == []
    talk.ask(STATUS, reason=mq.MQRC_NOT_AUTHORIZED, question=CLIENTS)
    assert talk.end().value("QM01/client/WEB/10.1.2.3/ordersapp", "instances") is Absence.NOT_AUTHORISED
    talk.ask(STATUS, [socket("WEB", "10.1.2.4")], question=CLIENTS)
    (left,) = talk.end().readings("QM01/client/WEB/10.1.2.3/ordersapp")
    assert left.gone


def test_names_of_channels_are_asked_for_apart(talk: Talk) -> None:
    """A client of one pattern's channels is not missed in the answer to another pattern."""
    talk.ask(STATUS, [socket("WEB.A", "10.1.2.3")], question=QueryOptions("WEB.*", clients=True))
    talk.end()
    talk.ask(STATUS, [socket("APP.A", "10.1.2.9")], question=QueryOptions("APP.*", clients=True))
    assert talk.end().readings("QM01/client/WEB.A/10.1.2.3/ordersapp") == []
    talk.ask(STATUS, question=QueryOptions("WEB.*", clients=True), reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    (left,) = talk.end().readings("QM01/client/WEB.A/10.1.2.3/ordersapp")
    assert left.gone


def test_an_older_recording_holds_clients_too(talk: Talk) -> None:
    """Its one answer has all channels; clients are those of the server connections."""
    talk.ask(STATUS, [socket("WEB", "10.1.2.3"), socket("TO.QM02", "10.1.2.9(1414)", kind=mq.MQCHT_SENDER)])
    told = talk.end()
    clients = [reading.object.name for reading in told.snapshot("QM01").readings if reading.object.kind == "client"]
    assert clients == ["WEB/10.1.2.3/ordersapp"]
    assert told.value("QM01/channel/TO.QM02", "top_client") is Absence.NOTHING_TO_TELL


def test_what_is_beyond_the_limit_is_summed_up_and_counted(talk: Talk) -> None:
    """The smallest clients are one object; when there are few again it is gone."""
    many = [socket("WEB", f"10.2.{place // 250}.{place % 250}") for place in range(MOST_CLIENTS + 40)]
    talk.ask(
        STATUS, [*many, *(socket("WEB", "10.9.9.9", start=f"08.00.0{each}") for each in range(3))], question=CLIENTS
    )
    told = talk.end()
    assert [told.value(f"QM01/client/{OTHERS}", name) for name in ("instances", "conversations", "clients")] == [41] * 3
    assert told.value("QM01/client/WEB/10.9.9.9/ordersapp", "instances") == 3
    kept = [reading for reading in told.snapshot("QM01").readings if reading.object.kind == "client"]
    assert len(kept) == MOST_CLIENTS + 1
    talk.ask(STATUS, [socket("WEB", "10.9.9.9")], question=CLIENTS)
    (others,) = talk.end().readings(f"QM01/client/{OTHERS}")
    assert others.gone


def test_a_channel_without_instances_has_no_clients(talk: Talk) -> None:
    """Inactive: nobody is connected, which is a number and not unknown."""
    talk.ask(DEFINITION, [{mq.MQCACH_CHANNEL_NAME: "WEB", mq.MQIACH_CHANNEL_TYPE: mq.MQCHT_SVRCONN}])
    talk.ask(STATUS, question=CLIENTS, reason=mq.MQRCCF_CHL_STATUS_NOT_FOUND)
    assert talk.end().value("QM01/channel/WEB", "instances_max_client") == 0


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.tuples(NAMES, NAMES, st.one_of(st.integers(0, 9), st.none()), NAMES), min_size=1, max_size=40))
def test_no_instance_is_lost(sockets: list[tuple[str, str, int | None, str]]) -> None:
    """Whatever addresses, applications and users hold: the sums over all clients are those over all instances."""
    instances = [
        InstanceRow(
            ("", conname, "", "", "", ""),
            {
                "type": mq.MQCHT_SVRCONN,
                "conname": conname,
                "remote_application": application,
                "conversations": Absence.NOT_RETURNED if shared is None else shared,
                "mca_user": user,
            },
            {},
        )
        for conname, application, shared, user in sockets
    ]
    row = ObjectRow({}, whole=True, own=True, at=1, now=1, member="QM01", instances=instances)
    found = client_rows({"WEB": row})
    counted: list[Any] = [(each.values["instances"], each.values["conversations"]) for each in found.values()]
    assert sum(each[0] for each in counted) == len(sockets)
    assert sum(each[1] for each in counted) == sum(max(shared or 0, 1) for _, _, shared, _ in sockets)
    assert all(name.isprintable() for name in found)
    most = Counter(address_of(conname) for conname, _, _, _ in sockets).most_common(1)[0][1]
    assert all(each[0] <= most for each in counted)


def test_one_instance_has_an_address_too() -> None:
    """The shorter way for channels with one instance."""
    values: dict[str, Any] = {
        "type": mq.MQCHT_SVRCONN,
        "conname": "10.1.2.3(5)",
        "ssl_cipher": "",
        "security_protocol": 0,
    }
    combined, _ = combined_instances([InstanceRow(("",) * 6, dict(values), {})])
    assert (combined["instances_max_client"], combined["top_client"]) == (1, "10.1.2.3")


def test_a_server_connection_sends_from_no_queue(talk: Talk) -> None:
    """Though that is not asked: else each transmission queue might have it as its channel, and no rule could say "none"."""
    talk.ask(STATUS, [socket("APP.A", "10.1.2.9")], question=CLIENTS)
    assert talk.end().value("QM01/channel/APP.A", "xmitq") not in UNDECIDED

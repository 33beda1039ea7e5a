"""The stand-in for IBM's client library, driven by the real bindings in child processes."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mqstandin import library
from mqstandin import numbers as mq
from mqstandin.control import ControlError, StandInProcess
from mqstandin.driver import Driver
from mqstandin.library import Bindings
from mqstandin.orders import Orders
from mqstandin.server import StandIn, stand_in, system_time

from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.state import Fault, GroupState

_SHARE_BLOCK, _SHARE_NO_BLOCK = 64, 128
_CONVERT = 1 | 4 | 8192 | mq.MQGMO_CONVERT


def test_what_a_client_says_of_itself_arrives(client: Driver, address: str, qm01: Orders) -> None:
    """Channel, connection name, user, password and TLS settings come through the real structures."""
    # ibmmq has it in its MQCD of version 11; pymqi's is older unless it is told.
    client.call("introduce", address, CertificateLabel="monitor", Version=11)
    (said,) = qm01.state()["connected"]
    assert said["queue_manager"] == "QM01"
    assert said["channel"] == "MON.TLS"
    assert said["addresses"] == address
    assert said["user"] == "mon1"
    assert said["has_password"]
    assert said["cipher"] == "ANY_TLS12_OR_HIGHER"
    assert said["key_repository"] == "/var/mqm/ssl/key"
    assert said["certificate_label"] == "monitor"
    assert said["options"] & _SHARE_BLOCK


def test_the_peer_name_arrives(client: Driver, address: str, qm01: Orders) -> None:
    """The name behind SSLPeerNamePtr comes through."""
    client.call("introduce", address, SSLPeerNamePtr="CN=QM01,O=Example")
    assert qm01.state()["connected"][0]["peer"] == "CN=QM01,O=Example"


# pymqi has no field for either.
@pytest.mark.parametrize("client", ["ibmmq"], indirect=True)
def test_the_table_and_the_application_name_from_ibmmq(
    client: Driver, address: str, qm01: Orders, tmp_path: Path
) -> None:
    """CNO().CCDTUrl finds the channel by the queue manager's name, CNO().ApplName arrives."""
    url = _table(tmp_path, address)
    client.call("introduce_by_cno", url, "QM01", "mqvitals")
    (said,) = qm01.state()["connected"]
    assert (said["application"], said["ccdt_url"], said["channel"]) == ("mqvitals", url, "FROM.TABLE")
    assert (said["addresses"], said["cipher"], said["peer"]) == (address, "TLS_AES_256_GCM_SHA384", "CN=QM01")


def test_the_table_from_the_environment(
    client: Driver, bindings: Bindings, address: str, qm01: Orders, tmp_path: Path
) -> None:
    """MQCCDTURL serves when no channel definition is given; a name that is not in the table gives 2058."""
    with Driver(client.binding, bindings, MQCCDTURL=_table(tmp_path, address)) as other:
        assert other.call("connect_by_table", "QM01") == 0
        assert other.call("connect_by_table", "QM99") == mq.MQRC_Q_MGR_NAME_ERROR
    assert qm01.state()["connected"][0]["channel"] == "FROM.TABLE"


def test_connecting_in_vain(client: Driver, group: StandIn, address: str, qm01: Orders) -> None:
    """Nobody listens: 2538; the queue manager is down: 2059; wrong name: 2058; another machine is never tried."""
    assert client.call("connect_reason", "127.0.0.1(1)") == 2538
    assert client.call("connect_reason", "192.0.2.1(1414)") == 2538
    assert client.call("connect_reason", address, "QM77") == 2058
    qm01.stop()
    assert client.call("connect_reason", address) == 2059
    qm01.stop(listener=False)
    assert client.call("connect_reason", address) == 2538
    assert client.call("connect_reason", f"{address},{group.address('QM02')}", "*PRDQ") == 0
    qm01.start()
    assert client.call("connect_reason", address) == 0


def test_the_list_of_addresses_is_tried_in_order(client: Driver, group: StandIn, address: str, qm01: Orders) -> None:
    """The first that answers is taken, and a group's name is right for each member."""
    assert client.call("connect_reason", f"127.0.0.1(1), {address}") == 0
    assert client.call("connect_reason", f"127.0.0.1(1),{address},{group.address('QM02')}", "PRDQ") == 0
    assert qm01.state()["calls"]["connect"] == 2
    assert "connect" not in group.at("QM02").state()["calls"]


def test_inquiring_the_queue_manager(client: Driver, address: str, qm01: Orders) -> None:
    """MQINQ tells the command queue, the platform, the level, the group and the character set."""
    selectors = [
        mq.MQCA_COMMAND_INPUT_Q_NAME,
        mq.MQIA_PLATFORM,
        mq.MQIA_COMMAND_LEVEL,
        mq.MQCA_Q_MGR_NAME,
        mq.MQCA_QSG_NAME,
        mq.MQIA_CODED_CHAR_SET_ID,
    ]
    found = client.call("inquire", address, selectors)
    assert found == ["SYSTEM.COMMAND.INPUT", 1, 940, "QM01", "PRDQ", 500]
    assert client.call("inquire_reason", address, 1999) == mq.MQRC_SELECTOR_ERROR


@pytest.mark.parametrize(
    "queue",
    ["MQVITALS.REPLY", "SYSTEM.COMMAND.REPLY.MODEL", "SYSTEM.DEFAULT.MODEL.QUEUE"],
    ids=["own", "reply", "default"],
)
def test_a_request_and_its_answer(client: Driver, address: str, qm01: Orders, queue: str) -> None:
    """Replies come with the request's MsgId as CorrelId, in EBCDIC, and inherit what is left of its expiry."""
    before = time.time()
    found = client.call("ask", address, queue)
    assert found["reason"] == 0
    assert found["count"] > 100
    first = found["first"]
    assert first["correl_id"] == found["put"]["msg_id"] != "0" * 48
    assert (first["type"], first["format"], first["encoding"], first["ccsid"]) == (2, "MQADMIN", 785, 500)
    assert 0 < first["expiry"] <= 300
    assert found["put"]["user"] == "MON1"
    put = datetime.strptime(first["put"][:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    assert -1 <= put - before < 30
    if queue != "MQVITALS.REPLY":
        assert found["queue"].startswith("MQVITALS.")
        assert found["queue"] not in qm01.state()["depths"]
    state = qm01.state()
    assert (state["connections"], state["handles"], state["violations"]) == (0, 0, [])
    assert state["calls"]["get"] == found["count"]


def test_pass_correl_id(client: Driver, address: str) -> None:
    """With MQRO_PASS_CORREL_ID replies have the request's CorrelId, and unlimited expiry without the other option."""
    found = client.call("replies_with_own_correl_id", address)
    assert found == {"correl_id": b"mine".ljust(24, b"\0").hex(), "expiry": -1}


def test_conversion(client: Driver, address: str) -> None:
    """MQGMO_CONVERT re-encodes PCF to the caller's Encoding and CodedCharSetId."""
    plain = client.call("ask", address, most=1)["first"]
    found = client.call("ask", address, get=_CONVERT)
    assert found["reason"] == 0
    first = found["first"]
    assert (first["encoding"], first["ccsid"]) == (546, 1208)
    data = bytes.fromhex(first["data"])
    assert data[:4] == b"\x12\0\0\0"
    assert b"QM01" in data
    assert "QM01".encode("cp500") in bytes.fromhex(plain["data"])


def test_conversion_that_fails_is_a_warning(client: Driver, address: str, qm01: Orders) -> None:
    """An unknown target character set, or 2119 on order: the message comes as it was, with a warning."""
    found = client.call("ask", address, get=_CONVERT, ccsid=9999, most=2)
    assert found["warnings"] == [mq.MQRC_TARGET_CCSID_ERROR] * 2
    assert (found["first"]["encoding"], found["first"]["ccsid"]) == (785, 500)
    qm01.refuse("get", 2119, warn=True, times=1)
    found = client.call("ask", address, get=_CONVERT)
    assert found["warnings"] == [2119]
    assert found["first"]["encoding"] == 785
    assert found["reason"] == 0


def test_truncation(client: Driver, address: str) -> None:
    """2080 reports the length and leaves the message, also behind messages that were read ahead."""
    reason, length, part, again, numbers = client.call("truncated_then_whole", address)
    assert reason == mq.MQRC_TRUNCATED_MSG_FAILED
    assert length > 100
    assert part == 100
    assert again == length
    assert numbers == [1, 2]


def test_accepted_truncation(client: Driver, address: str) -> None:
    """With ACCEPT_TRUNCATED_MSG a part comes with warning 2079, and the rest is lost."""
    found = client.call("ask", address, get=1 | 4 | 8192 | mq.MQGMO_ACCEPT_TRUNCATED_MSG, room=100, most=3)
    assert found["warnings"] == [mq.MQRC_TRUNCATED_MSG_ACCEPTED] * 3
    assert found["length"] > 100


def test_waiting(client: Driver, address: str) -> None:
    """2033 comes at the end of the wait interval, not before and not much later."""
    found = client.call("wait_for_nothing", address, 300)
    assert found["reason"] == mq.MQRC_NO_MSG_AVAILABLE
    assert 290 <= found["ms"] < 3_000


def test_open_reasons(client: Driver, address: str, qm01: Orders) -> None:
    """Unknown queue 2085, somebody's exclusive queue 2042, a bad dynamic name 2011, not authorized 2035 on order."""
    assert client.call("open_reason", address, "NO.SUCH.QUEUE", 2) == 2085
    assert client.call("open_reason", address, "MQVITALS.REPLY", 2, first=4) == 2042
    assert client.call("open_reason", address, "MQVITALS.REPLY", 4, first=2) == 2042
    assert client.call("open_reason", address, "MQVITALS.REPLY", 2, first=2) == 0
    assert client.call("open_reason", address, "SYSTEM.DEFAULT.MODEL.QUEUE", 4, dynamic="*") == 2011
    qm01.refuse("open", 2035, object="MQVITALS.REPLY")
    assert client.call("open_reason", address, "MQVITALS.REPLY", 2) == 2035
    assert client.call("open_reason", address, "SYSTEM.COMMAND.INPUT", 16) == 0
    qm01.allow()
    assert client.call("open_reason", address, "MQVITALS.REPLY", 2) == 0


def test_put_reasons(client: Driver, address: str, qm01: Orders) -> None:
    """Too long 2030, persistent on a temporary queue 2048, a full queue 2053, not authorized 2035 on order."""
    assert client.call("simple_put", address, "MQVITALS.REPLY", 5_000_000) == 2030
    assert client.call("simple_put", address, "SYSTEM.DEFAULT.MODEL.QUEUE", 10, 1) == 2048
    qm01.stop_command_server()
    qm01.plant("SYSTEM.COMMAND.INPUT", count=1_000)
    assert client.call("simple_put", address, "SYSTEM.COMMAND.INPUT", 10) == 2053
    qm01.refuse("put", 2035, times=1)
    assert client.call("simple_put", address, "MQVITALS.REPLY", 10) == 2035
    assert client.call("simple_put", address, "MQVITALS.REPLY", 10) == 0


@pytest.mark.parametrize("verb", ["connect", "inquire"])
def test_refusing_other_verbs(client: Driver, address: str, qm01: Orders, verb: str) -> None:
    """2035 on order for connecting and inquiring, so many times."""
    qm01.refuse(verb, 2035, times=1)
    step = ("connect_reason", address) if verb == "connect" else ("inquire_reason", address, 32)
    assert client.call(*step) == 2035
    assert client.call(*step) == 0


def test_dead_handles(client: Driver, address: str) -> None:
    """A closed queue gives 2019, a connection that was disconnected 2018, for good."""
    assert client.call("dead_handles", address) == {"queue": 2019, "connection": 2018, "again": 2018}


def test_the_thread_rule(client: Driver, address: str) -> None:
    """Without sharing 2018, with NO_BLOCK 2219, with BLOCK the second call queues behind the first one's wait."""
    alone = client.call("other_thread", address, 0)
    assert (alone["reason"], alone["first"]) == (2018, 2033)
    busy = client.call("other_thread", address, _SHARE_NO_BLOCK)
    assert (busy["reason"], busy["first"]) == (2219, 2033)
    assert busy["ms"] < 200
    queued = client.call("other_thread", address, _SHARE_BLOCK)
    assert (queued["reason"], queued["first"]) == (0, 2033)
    assert queued["ms"] > 200


def test_a_connection_that_breaks_in_an_answer(client: Driver, address: str, qm01: Orders) -> None:
    """After so many replies 2009, then 2009 from every call, 2018 once disconnected; the next connection works."""
    qm01.break_after(7)
    found = client.call("ask", address)
    assert (found["count"], found["reason"], found["dead"], found["gone"]) == (7, 2009, 2009, 2018)
    assert client.call("ask", address)["reason"] == 0
    state = qm01.state()
    assert (state["connections"], state["handles"]) == (0, 0)


def test_a_queue_manager_that_stops_under_a_wait(client: Driver, address: str, qm01: Orders) -> None:
    """A waiting MQGET ends with 2009 at once."""
    assert not client.call("hold", address, "wait_for_nothing", 0.5)["ended"]
    assert qm01.state()["waiting"] == 1
    qm01.stop()
    found = client.call("held")
    assert found["reason"] == 2009
    assert found["ms"] < 5_000


def test_a_quiescing_queue_manager(client: Driver, address: str, qm01: Orders) -> None:
    """A wait with FAIL_IF_QUIESCING ends with 2161, and so does connecting, until it starts again."""
    assert not client.call("hold", address, "wait_for_nothing", 0.5)["ended"]
    qm01.quiesce()
    assert client.call("held")["reason"] == 2161
    assert client.call("connect_reason", address) == 2161
    qm01.start()
    assert client.call("ask", address)["reason"] == 0


@pytest.mark.parametrize("verb", ["connect", "open", "put", "get"])
def test_a_call_that_hangs(client: Driver, address: str, qm01: Orders, verb: str) -> None:
    """It is not answered until it is released, and then it is carried out."""
    qm01.hang(verb)
    assert not client.call("hold", address, "ask", 0.5)["ended"]
    assert qm01.state()["hung"] == 1
    qm01.release()
    found = client.call("held")
    assert (found["reason"], qm01.state()["hung"]) == (0, 0)


def test_a_stopped_command_server(client: Driver, address: str, qm01: Orders) -> None:
    """Requests stay on the command queue, the client sees 2033; expired requests are not answered later."""
    qm01.stop_command_server()
    found = client.call("ask", address, wait_ms=200, expiry=2)
    assert found["reason"] == 2033
    assert qm01.state()["depths"]["SYSTEM.COMMAND.INPUT"] == 1
    qm01.start_command_server()
    assert qm01.state()["depths"] == {"SYSTEM.COMMAND.INPUT": 0, "MQVITALS.REPLY": 0}
    qm01.stop_command_server()
    assert client.call("ask", address, wait_ms=50, expiry=600)["reason"] == 2033
    qm01.start_command_server()
    assert client.call("drain", address) > 100


def test_stale_replies(client: Driver, address: str, qm01: Orders) -> None:
    """Replies nobody waits for stay on the queue while others get theirs, until they are drained."""
    qm01.plant("MQVITALS.REPLY", count=5)
    assert client.call("ask", address)["reason"] == 0
    assert qm01.state()["depths"]["MQVITALS.REPLY"] == 5
    assert client.call("drain", address) == 5


def test_slow_answers(client: Driver, address: str, qm01: Orders) -> None:
    """Answers take so much longer: too long for a short wait, not for a long one."""
    qm01.slow(600)
    assert client.call("ask", address, wait_ms=100)["reason"] == 2033
    found = client.call("ask", address)
    assert found["reason"] == 0
    assert found["took"] >= 0.6


@pytest.mark.parametrize("reason", [2035, 3081])
def test_a_command_that_is_refused(client: Driver, address: str, qm01: Orders, reason: int) -> None:
    """The command server answers with the reason in an XR_MSG, then the summary with 3008."""
    qm01.refuse_command("INQUIRE_Q", reason)
    found = client.call("ask", address)
    header = bytes.fromhex(found["first"]["data"])
    assert (found["count"], int.from_bytes(header[24:28], "big"), int.from_bytes(header[28:32], "big")) == (
        2,
        2,
        reason,
    )
    qm01.allow()
    assert client.call("ask", address)["count"] > 100


def test_answers_that_do_not_end(client: Driver, address: str, qm01: Orders) -> None:
    """A command that is never answered gives nothing, one whose answer stops half way a part, and then 2033."""
    qm01.silence_command("INQUIRE_Q")
    found = client.call("ask", address, wait_ms=100)
    assert (found["count"], found["reason"]) == (0, 2033)
    qm01.allow()
    whole = client.call("ask", address)["count"]
    qm01.truncate_command("INQUIRE_Q")
    found = client.call("ask", address, wait_ms=100)
    assert (found["count"], found["reason"]) == (whole // 2, 2033)


def test_a_full_reply_queue(client: Driver, address: str, qm01: Orders) -> None:
    """Replies for which there is no room are lost."""
    qm01.limit("MQVITALS.REPLY", max_depth=9)
    found = client.call("ask", address, wait_ms=100)
    assert (found["count"], found["reason"]) == (9, 2033)


def test_the_clock_of_the_queue_manager(client: Driver, address: str, qm01: Orders) -> None:
    """PutDate and PutTime follow the queue manager's clock."""
    qm01.offset_clock(-3_600_000)
    put = client.call("ask", address)["first"]["put"]
    moment = datetime.strptime(put[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    assert 3_590 < time.time() - moment < 3_640


def test_units_of_work_are_noticed(client: Driver, address: str, qm01: Orders) -> None:
    """Puts and gets without NO_SYNCPOINT, MQPUT1 and MQCMIT are counted as violations."""
    client.call("use_unit_of_work", address)
    assert qm01.state()["violations"] == [
        "MQPUT to MQVITALS.REPLY without MQPMO_NO_SYNCPOINT",
        "MQGET from MQVITALS.REPLY without MQGMO_NO_SYNCPOINT",
        "MQPUT1 used",
        "commit used",
    ]


def test_an_untruthful_descriptor_is_noticed(client: Driver, address: str, qm01: Orders) -> None:
    """A request whose MQMD names another byte order than its data have is not answered."""
    assert client.call("ask", address, wait_ms=100, Encoding=546)["reason"] == 2033
    (violation,) = qm01.state()["violations"]
    assert "546" in violation


def test_the_own_helper_of_the_binding(client: Driver, address: str) -> None:
    """PCFExecute with conversion reads the answers, and raises for a command that the simulator does not know."""
    names, reason = client.call("execute", address, "ORDERS.*")
    assert names == ["ORDERS.REPLY", "ORDERS.REQUEST"]
    assert reason >= 3_000


def test_many_handles(client: Driver, address: str, qm01: Orders) -> None:
    """More than 1024 object handles at once, each of its own; none is left."""
    assert client.call("many_handles", address, 1_100) == [1_100, 0]
    assert qm01.state()["handles"] == 0


def test_reconnecting_leaks_nothing(client: Driver, address: str, qm01: Orders) -> None:
    """After many connections the process has no more descriptors, and no memory to speak of."""
    found = client.call("reconnect_often", address, 400)
    assert found["descriptors"] <= 0
    assert found["kb"] < 2_000
    state = qm01.state()
    assert (state["connections"], state["handles"]) == (0, 0)


def test_orders_over_the_control_port(client: Driver, apart: StandInProcess) -> None:
    """The stand-in as a process takes the same orders, and refuses what is none."""
    orders = apart.at("QM02")
    orders.refuse("open", 2035, object="MQVITALS.REPLY", times=1)
    assert apart.queue_managers == ("QM01", "QM02")
    address = apart.address("QM02")
    assert client.call("connect_reason", address, "QM02") == 0
    orders.plant("MQVITALS.REPLY", count=2)
    assert orders.state()["depths"]["MQVITALS.REPLY"] == 2
    with pytest.raises(ControlError, match="no such queue manager"):
        apart.at("QM99").state()
    with pytest.raises(ControlError, match="no such verb"):
        orders.refuse("fly", 2035)


def test_a_scenario_that_takes_a_queue_manager_down(client: Driver, bindings: Bindings) -> None:
    """When the simulated queue manager goes down its connections break and new ones get 2059; then it is back."""
    world = Falling()
    with stand_in(world=world) as running:
        address = running.address("QM01")
        assert not client.call("hold", address, "wait_for_nothing", 0.5)["ended"]
        world.down = True
        assert client.call("held")["reason"] == 2009
        assert client.call("connect_reason", address) == 2059
        world.down = False
        assert client.call("connect_reason", address) == 0


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One clear line says what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert library.compiler() is None
    with pytest.raises(library.BuildError, match="no C compiler here"):
        library.build(tmp_path)


def test_thousands_of_replies(client: Driver) -> None:
    """Every round brings all of them; how many a second is measured by benchmarks/mqi.py, beside a peer."""
    with stand_in("quiet", queues=4_000) as running:
        counts = client.call("replies_of_rounds", running.address("QM01"), 5)
    assert len(counts) == 5
    assert min(counts) == max(counts) > 1_000


class Falling:
    """A quiet group whose QM01 is down while it is told so."""

    def __init__(self) -> None:
        self.down = False
        self._world = SimulatedGroup(load_scenario("quiet"), system_time())

    def advance(self, now: int) -> GroupState:
        """The group as of now."""
        group = self._world.advance(now)
        return replace(group, faults={"QM01": Fault(down=True)}) if self.down else group


def _table(folder: Path, address: str) -> str:
    host, _, port = address.rstrip(")").partition("(")
    channels = [
        {"name": "OTHER", "clientConnection": {"connection": [{"host": "x", "port": 1}], "queueManager": "QM02"}},
        {
            "name": "FROM.TABLE",
            "type": "clientConnection",
            "clientConnection": {"connection": [{"host": host, "port": int(port)}], "queueManager": "QM01"},
            "transmissionSecurity": {"cipherSpecification": "TLS_AES_256_GCM_SHA384", "certificatePeerName": "CN=QM01"},
        },
    ]
    table = folder / "ccdt.json"
    table.write_text(json.dumps({"channel": channels}, indent=2), "utf-8")
    return table.as_uri()

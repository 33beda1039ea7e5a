"""``connection/mqi.py`` over both real bindings: what arrives, what is refused, and what fails at each call."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mqstandin.driver import Driver
from mqstandin.library import Bindings
from mqstandin.orders import Orders
from mqstandin.server import StandIn

OURS = "MQVITALS.REPLY"
MODEL = "SYSTEM.COMMAND.REPLY.MODEL"
COMMANDS = "SYSTEM.COMMAND.INPUT"
Fresh = Callable[[str, dict[str, str]], str]
SHARING = 32 | 64 | 128


def await_the_end(orders: Orders) -> None:
    """Until the queue manager has noticed that nobody is connected any more; for ten seconds at most."""
    end = time.monotonic() + 10
    while (state := orders.state())["connections"] or state["handles"]:
        assert time.monotonic() < end, state
        time.sleep(0.01)


def test_the_whole_route_arrives(client: Driver, address: str, qm01: Orders) -> None:
    """Channel, addresses, user, password and all of TLS, with either package; the application name with ibmmq."""
    tls = {
        "cipher": "TLS_AES_256_GCM_SHA384",
        "key_repository": "/etc/mqvitals/schlüssel",
        "peer_name": "CN=QM01,O=Example",
        "certificate_label": "monitor",
    }
    names = f"127.0.0.1(1),{address}"
    assert not client.call(
        "talk.introduce",
        address,
        connection_name=names,
        user="mqmon",
        password="pässword",
        application_name="vital signs",
        tls=tls,
    )
    (said,) = qm01.state()["connected"]
    assert (said["queue_manager"], said["channel"], said["addresses"]) == ("QM01", "MQVITALS.SVRCONN", names)
    assert (said["user"], said["has_password"]) == ("mqmon", True)
    assert (said["cipher"], said["key_repository"]) == (tls["cipher"], tls["key_repository"])
    assert (said["peer"], said["certificate_label"]) == (tls["peer_name"], tls["certificate_label"])
    assert said["application"] == ("vital signs" if client.binding == "ibmmq" else "")
    assert (said["options"] & SHARING).bit_count() == 1, "MQ refuses two of them with 2046"


def test_without_a_user_none_is_sent(client: Driver, address: str, qm01: Orders) -> None:
    """The channel's rules give the user then."""
    assert not client.call("talk.introduce", address)
    (said,) = qm01.state()["connected"]
    assert (said["user"], said["has_password"], said["cipher"]) == ("", False, "")


# pymqi takes a table from the environment alone: ``config check`` notes it (tests/agent/connection).
@pytest.mark.parametrize("client", ["ibmmq"], indirect=True)
def test_a_table_instead_of_a_channel(client: Driver, address: str, qm01: Orders, tmp_path: Path) -> None:
    """ibmmq takes the address of the table with the connection."""
    table = tmp_path / "ccdt.json"
    host, port = address.rstrip(")").split("(")
    table.write_text(
        '{"channel": [{"name": "FROM.TABLE", "type": "clientConnection", "clientConnection": {"connection":'
        f' [{{"host": "{host}", "port": {port}}}], "queueManager": "QM01"}}}}]}}'
    )
    assert not client.call("talk.introduce", address, channel="", connection_name="", ccdt_url=table.as_uri())
    (said,) = qm01.state()["connected"]
    assert (said["channel"], said["ccdt_url"]) == ("FROM.TABLE", table.as_uri())


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"channel": "C" * 21}, "the channel's name is 21 bytes long, and MQ takes 20"),
        ({"channel": "KANÄLE"}, "the channel's name has characters that are not ASCII"),
        ({"connection_name": "h" * 265}, "the list of connection_names is 265 bytes long, and MQ takes 264"),
        ({"tls": {"cipher": "X" * 33}}, "the cipher is 33 bytes long, and MQ takes 32"),
        ({"tls": {"cipher": "X", "key_repository": "/" + "ä" * 128}}, "the key_repository is 257 bytes long"),
        ({"tls": {"cipher": "X", "certificate_label": "l" * 65}}, "the certificate_label is 65 bytes long"),
        ({"tls": {"cipher": "X", "peer_name": "CN=Ö"}}, "the peer_name has characters that are not ASCII"),
        ({"user": "u", "password": "secret" * 171}, "the password is 1026 bytes long"),
        ({"user": "u\0v", "password": "x"}, "the user has a zero byte in it"),
    ],
)
def test_what_does_not_fit_is_refused(
    client: Driver, address: str, qm01: Orders, fields: dict[str, Any], complaint: str
) -> None:
    """And not cut: a channel of a shorter name would be another one. A secret is not quoted."""
    found = client.call("talk.introduce", address, **fields)
    assert found.startswith(complaint)
    assert "secret" not in found
    assert qm01.state()["connected"] == []


def test_a_warning_at_connect_is_no_failure(client: Driver, address: str, qm01: Orders) -> None:
    """The connection that comes with it is used."""
    qm01.refuse("connect", 2267, warn=True, times=1)
    (answer,) = client.call("talk.converse", address)["answers"]
    assert answer["error"] is None
    assert answer["count"] > 100


def test_a_warning_at_get_keeps_the_message(client: Driver, address: str, qm01: Orders) -> None:
    """2119 "not converted" at every MQGET: all replies are here, as the queue manager made them."""
    (plain,) = client.call("talk.converse", address)["answers"]
    qm01.refuse("get", 2119, warn=True)
    (answer,) = client.call("talk.converse", address, convert=True)["answers"]
    assert (answer["count"], answer["error"]) == (plain["count"], None)
    assert (answer["encoding"], answer["ccsid"]) == (785, 500)


def test_conversion_on_demand(client: Driver, address: str) -> None:
    """Answers then come in the form of this machine, in UTF-8."""
    (answer,) = client.call("talk.converse", address, convert=True)["answers"]
    assert answer["error"] is None
    assert (answer["encoding"], answer["ccsid"]) == (546, 1208)


def test_a_long_message_is_got_with_its_length(client: Driver, address: str, qm01: Orders) -> None:
    """2080 tells the length and leaves the message; so does draining get past one."""
    data = b"head" + b"x" * 199_992 + b"tail"
    qm01.plant(OURS, correl_id=b"big", data=data)
    found = client.call("talk.long_message", address)
    assert found == [2080, 200_000, 200_000, b"head".hex(), b"tail".hex()]
    qm01.plant(OURS, count=2, data=data)
    answered = client.call("talk.converse", address, reply_queue=OURS)
    assert answered["drained"] == 2
    assert answered["answers"][0]["error"] is None


@pytest.mark.parametrize(
    ("verb", "queue", "reason", "told"),
    [
        ("connect", "", 2161, ("MQCONNX", "")),
        ("connect", "", 2035, ("MQCONNX", "")),
        ("connect", "", 2059, ("MQCONNX", "")),
        ("inquire", "", 2161, ("MQINQ", "")),
        ("inquire", "", 2035, ("MQINQ", "")),
        ("open", COMMANDS, 2161, ("MQOPEN", COMMANDS)),
        ("open", COMMANDS, 2035, ("MQOPEN", COMMANDS)),
        ("open", OURS, 2161, ("MQOPEN", OURS)),
        ("open", OURS, 2035, ("MQOPEN", OURS)),
        ("open", OURS, 2042, ("MQOPEN", OURS)),
        ("get", OURS, 2016, ("MQGET", "")),
    ],
)
def test_what_fails_before_the_first_command(
    client: Driver, address: str, qm01: Orders, verb: str, queue: str, reason: int, told: tuple[str, str]
) -> None:
    """The call, the reason and the queue are told, and nothing is left open."""
    qm01.refuse(verb, reason, object=queue)
    found = client.call("talk.converse", address, reply_queue=OURS)
    assert (found["call"], found["queue"]) == told
    assert (found["comp"], found["reason"]) == (2, reason)
    await_the_end(qm01)


def test_a_quiescing_queue_manager_is_left(client: Driver, address: str, qm01: Orders) -> None:
    """Connecting is refused with 2161, not with something of ours."""
    qm01.quiesce()
    found = client.call("talk.converse", address)
    assert (found["call"], found["reason"]) == ("MQCONNX", 2161)


@pytest.mark.parametrize(
    ("verb", "reason"), [("put", 2161), ("put", 2035), ("put", 2053), ("put", 2051), ("get", 2161), ("get", 2016)]
)
def test_what_fails_in_a_command_is_data(client: Driver, address: str, qm01: Orders, verb: str, reason: int) -> None:
    """It is that exchange's error; the next command of the same connection is answered."""
    qm01.refuse(verb, reason, times=1)
    first, second = client.call("talk.converse", address, asks=2)["answers"]
    assert first["error"] == [2, reason]
    assert first["count"] == 0
    assert second["error"] is None
    assert second["count"] > 100


def test_queues_that_do_not_exist(client: Driver, address: str) -> None:
    """2085 with the name that the settings have."""
    for fields in ({"reply_queue": "NO.SUCH"}, {"reply_model": "NO.SUCH"}, {"command_queue": "NO.SUCH"}):
        found = client.call("talk.converse", address, **fields)
        assert (found["call"], found["reason"], found["queue"]) == ("MQOPEN", 2085, "NO.SUCH")


def test_a_dynamic_queue_is_gone_afterwards(client: Driver, address: str, qm01: Orders) -> None:
    """It has the name that was wished for, and is deleted by closing it."""
    found = client.call("talk.converse", address, dynamic_name="AGENT.ONE.*")
    assert found["queue"].startswith("AGENT.ONE.")
    assert found["answers"][0]["error"] is None
    assert not [name for name in qm01.state()["depths"] if name.startswith("AGENT.")]


def test_a_connection_that_breaks_keeps_what_came(client: Driver, address: str, qm01: Orders) -> None:
    """Replies before the break, then 2009; leaving such a connection raises nothing."""
    qm01.break_after(7)
    (answer,) = client.call("talk.converse", address)["answers"]
    assert (answer["count"], answer["error"]) == (7, [2, 2009])


def test_an_answer_that_comes_too_late_is_thrown_away(
    client: Driver, group: StandIn, address: str, qm01: Orders
) -> None:
    """After 2033 its replies would lie on the queue; the next command removes them and gets its own."""
    found = client.call("talk.too_late", address, group.control_port)
    assert found["first"]["error"] == [2, 2033]
    assert found["lay"] > 100
    assert found["second"]["error"] is None
    assert found["second"]["count"] > 100
    assert found["left"] == 0


def test_calls_after_the_end(client: Driver, address: str) -> None:
    """They fail with MQ's own reason, and ending twice is allowed."""
    assert client.call("talk.after_the_end", address) == [2018, 2018, 2018]


def test_another_thread_does_not_wait(client: Driver, address: str) -> None:
    """Whatever calls by accident is refused at once (2219) while the connection's own thread is in MQ."""
    found = client.call("talk.other_thread", address)
    assert found["reason"] == 2219
    assert found["ms"] < 500


def test_a_hung_call_is_left_behind_and_replaced(client: Driver, group: StandIn, address: str) -> None:
    """2009 for whoever asked, counted; a new connection works beside it, and the old thread ends when MQ comes back."""
    found = client.call("talk.hung_put", address, group.control_port)
    assert found["lost"] == found["again"] == [2, 2009]
    assert found["hung"] == 1
    assert found["found"]["error"] is None
    await_the_end(group.at("QM01"))
    assert group.at("QM01").state()["hung"] == 0


@pytest.mark.parametrize("reply_queue", [OURS, ""], ids=["own", "dynamic"])
def test_reconnecting_leaves_nothing(
    request: pytest.FixtureRequest, client: Driver, group: StandIn, address: str, reply_queue: str
) -> None:
    """Refused, broken in the middle of an answer and between two: no thread, descriptor or memory to speak of is left."""
    count = 201 if request.config.getoption("--hypothesis-profile") == "soak" else 21
    found = client.call("talk.reconnects", address, group.control_port, count, reply_queue)
    assert found["found"] == {f"{kind} {reason}": count // 3 for kind, reason in KINDS.items()}
    before, half, after = found["before"], found["half"], found["after"]
    assert after["threads"] == before["threads"] == 0
    assert after["descriptors"] <= before["descriptors"]
    assert after["kb"] - half["kb"] < 2_048
    await_the_end(group.at("QM01"))
    assert not [name for name in group.at("QM01").state()["depths"] if name not in (OURS, COMMANDS)]


KINDS = {"refused": 2035, "middle": 2009, "between": 2009}


def test_the_packages_names_do_not_stay_in_the_way(client: Driver) -> None:
    """ibmmq's folder is off the search path again, and no module in it is called like one that we import."""
    found = client.call("talk.loaded")
    assert found["name"] == client.binding
    assert found["version"].partition(".")[0].isdigit()


@pytest.fixture
def fresh() -> Fresh:
    """Runs a line of Python in a new process that has imported nothing; its output."""

    def run(code: str, environment: dict[str, str]) -> str:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (environment.get("PYTHONPATH", ""), *sys.path)))
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def test_ibmmq_leaves_the_search_path_alone(bindings: Bindings, fresh: Fresh) -> None:
    """It puts its own folder first; with generic names in it that nobody else is to find."""
    code = (
        "import sys; before = list(sys.path)\n"
        "from mqvitals_agent.connection.mqi import load_binding\n"
        "load_binding('ibmmq'); load_binding('ibmmq'); assert sys.path == before, sys.path\n"
        "folder = sys.modules['ibmmq'].__path__[0]\n"
        "print(*(n for n, m in sys.modules.items() if '.' not in n and str(getattr(m, '__file__', '')).startswith(folder)))"
    )
    names = set(fresh(code, bindings.environment("ibmmq")).split()) - {"ibmmq"}
    assert "mqlog" in names
    root = Path(__file__).resolve().parents[2]
    ours = {
        alias.name.partition(".")[0]
        for package in ("agent", "tui", "rules", "config")
        for source in (root / package).rglob("*.py")
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert "asyncio" in ours
    assert not names & (ours | set(sys.stdlib_module_names))


TELL = """
from mqvitals_agent.connection.link import BindingError
from mqvitals_agent.connection.mqi import load_binding
try:
    print('loaded', load_binding({preference!r}).name)
except BindingError as error:
    print(error)
"""


def test_a_package_without_the_client_library(bindings: Bindings, fresh: Fresh) -> None:
    """The true cause is told, which ibmmq hides, and that the library is what is missing."""
    for name in ("ibmmq", "pymqi"):
        environment = bindings.environment(name)
        environment["LD_LIBRARY_PATH"] = ""
        said = fresh(TELL.format(preference="auto"), environment)
        assert "cannot open shared object file" in said
        assert f"for {name}, it is installed, and needs IBM's MQ client" in said
        assert "\n" not in said


def test_the_other_package_is_pointed_at(bindings: Bindings, fresh: Fresh) -> None:
    """With binding: pymqi where only ibmmq is there."""
    said = fresh(TELL.format(preference="pymqi"), bindings.environment("ibmmq"))
    assert said.startswith("no connection to queue managers without pymqi (pymqi: No module named 'pymqi')")
    assert said.endswith("; ibmmq is installed, and taken with 'binding: ibmmq' or 'binding: auto'")
    assert fresh(TELL.format(preference="auto"), bindings.environment("pymqi")) == "loaded pymqi"

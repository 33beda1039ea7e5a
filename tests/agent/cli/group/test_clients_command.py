"""``mqvitals clients``: who holds the instances of a channel, from a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported

START = 1795176000000  # 2026-11-20 12:00:00 UTC
FLOOD, FEW = "CLIENTS.ORDERS", "CLIENTS.FEW"
CLIENTS = (
    (FLOOD, "10.60.0.1", "batchpool", 150),
    (FLOOD, "10.60.0.1", "reports", 10),
    (FLOOD, "10.60.0.2", "ordersapp", 3),
    (FEW, "10.60.0.9", "-", 2),
)


def client(channel: str, address: str, application: str, instances: int) -> tuple[str, dict[str, Reported]]:
    return f"client/{channel}/{address}/{application}", {
        "instances": instances,
        "conversations": 2 * instances,
        "clients": 1,
        "channel_name": channel,
        "address": address,
        "remote_application": application,
        "user": "MQCHIN",
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """QM01 has two channels with clients and some that are summed up, QM02 has none."""

    objects: dict[str, dict[str, Reported]] = dict(client(*each) for each in CLIENTS)
    objects["client/others"] = {"instances": 40, "conversations": 40, "clients": 25}
    objects[f"channel/{FLOOD}"] = {"instances": 163, "maxinst": 330, "maxinstc": 160}
    objects[f"channel/{FEW}"] = {"instances": 2, "maxinst": 999_999_999, "maxinstc": Absence.NOT_ASKED}
    path = tmp_path / "clients.db"
    with Store.open(path, group="PRDQSG", created=START, replay=True) as made:
        readings = tuple(
            Reading(ObjectName("QM01", *name.split("/", 1)), "INQUIRE_CHANNEL_STATUS", START, values, 10_000)
            for name, values in objects.items()
        )
        made.write(Snapshot("QM01", False, 1, START, readings), Evaluation((), ()))
        log = Reading(ObjectName("QM02", "log"), "INQUIRE_LOG", START, {}, 10_000)
        made.write(Snapshot("QM02", False, 1, START + 5_000, (log,)), Evaluation((), ()))
    return path


def clients(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> str:
    assert main(["clients", "--store", str(store), *words]) == 0
    return capsys.readouterr().out


def test_who_floods_a_channel(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """The channel with the most instances comes first, with the share of its limits: MAXINSTC counts an address,
    whatever the application.
    """
    text = clients(capsys, store)
    lines = text.splitlines()
    assert " ".join(lines[:2]) == (
        "● QM01 CLIENTS.ORDERS: 163 instances of MAXINST 330, 49.4 %; the most from   10.60.0.1: 160 of MAXINSTC 160,"
        " 100 % (5s ago)"
    )
    rows = [line.split() for line in lines if " batchpool " in line or " reports " in line or " ordersapp " in line]
    assert rows == [
        ["150", "100", "%", "300", "10.60.0.1", "batchpool", "MQCHIN"],
        ["10", "100", "%", "20", "10.60.0.1", "reports", "MQCHIN"],
        ["3", "1.9", "%", "6", "10.60.0.2", "ordersapp", "MQCHIN"],
    ]
    assert "QM01 CLIENTS.FEW: 2 instances with no MAXINST limit known" in text
    assert "QM01: 25 further clients with few instances each, 40 in all" in text


def test_only_what_is_asked_for(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """One channel, or all that a pattern selects; of many clients the rest is one line; none is said."""
    text = clients(capsys, store, "QM01", "--channel", FLOOD, "--limit", "1")
    assert "CLIENTS.FEW" not in text
    assert "and 2 clients with 13 instances in all" in text
    assert "CLIENTS.FEW" in clients(capsys, store, "--channel", "*FEW")
    assert clients(capsys, store, "QM02") == "no clients\n"


def test_clients_for_programs(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """One object a channel with all its clients; a limit that is none, or not known, is null."""
    flood, few = json.loads(clients(capsys, store, "--json", "--limit", "1"))
    assert (flood["queue_manager"], flood["channel"], flood["at"]) == ("QM01", FLOOD, "2026-11-20T12:00:00.000Z")
    assert (flood["instances"], flood["maxinst"], flood["maxinst_pct"], flood["maxinstc"]) == (163, 330, 49.4, 160)
    assert flood["outdated"] is False
    assert [each["application"] for each in flood["clients"]] == ["batchpool", "reports", "ordersapp"]
    assert flood["clients"][1] == {
        "address": "10.60.0.1",
        "application": "reports",
        "user": "MQCHIN",
        "instances": 10,
        "connections": 20,
        "address_instances": 160,
        "maxinstc_pct": 100.0,
    }
    assert (few["maxinst"], few["maxinst_pct"], few["maxinstc"]) == (None, None, None)
    assert few["clients"][0]["maxinstc_pct"] is None


@pytest.mark.parametrize(
    ("words", "says"), [(("QM09",), "holds no queue manager QM09"), (("--limit", "0"), "--limit must be 1 at least")]
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], store: Path, words: tuple[str, ...], says: str) -> None:
    """A mistake ends with exit code 2 and what is wrong."""
    assert main(["clients", *words, "--store", str(store)]) == 2
    assert says in capsys.readouterr().err

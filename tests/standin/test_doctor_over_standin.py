"""``doctor`` over the real bindings and the stand-in: for each refusal it is told to make, the right profile is asked for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mqstandin.library import Bindings
from mqstandin.orders import Orders

from mqsamples.pairs import alone, paired
from mqsamples.warm import run_warm

BINDINGS = ("ibmmq", "pymqi")
IBMMQ = pytest.mark.parametrize("examine", alone("ibmmq", "pymqi"), indirect=True)
PYMQI = pytest.mark.parametrize("examine", alone("pymqi", "ibmmq"), indirect=True)
"""With one binding in ``make test``: what is asked for because of a refusal does not depend on it."""
Examine = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def examine(request: pytest.FixtureRequest, bindings: Bindings, address: str, tmp_path: Path) -> Examine:
    """Run ``doctor`` with a real binding: exit code, findings by check, and what went to standard error."""
    binding: str = request.param
    bindings.require(binding)

    def run(**connection: str) -> tuple[int, dict[str, Any], str]:
        way = {"channel": "MQVITALS.SVRCONN", "binding": binding, "connection_names": [address], **connection}
        path = tmp_path / "mqvitals.yaml"
        path.write_text(json.dumps({"time_zone": "+01:00", "connection": way, "queue_managers": [{"name": "QM01"}]}))
        environment = bindings.environment(binding)
        environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
        ended = run_warm(["doctor", "--config", str(path), "--json"], env=environment)
        found = json.loads(ended.stdout) if ended.stdout else []
        return ended.returncode, {each["check"]: each for each in found}, ended.stderr

    return run


def profiles(finding: Any) -> list[str]:
    """The profiles that a finding asks for, without their classes."""
    return [each["profile"] for each in finding["ask_for"]]


@pytest.mark.parametrize("examine", BINDINGS, indirect=True)
def test_all_works_but_the_dynamic_queue_is_advised_against(examine: Examine) -> None:
    """The way to a living queue manager has its own checks."""
    code, found, err = examine()
    assert {name: each["result"] for name, each in found.items() if each["result"] != "works"} == {
        "reply queue": "advised"
    }, err
    assert code == 1
    assert {"binding", "connect", "inquire", "open command queue", "open reply queue", "put"} <= set(found)


@IBMMQ
def test_a_refused_connect(examine: Examine, qm01: Orders) -> None:
    """MQCONN, the channel initiator's profile; no queue manager was reached."""
    qm01.refuse("connect", 2035)
    code, found, _ = examine()
    assert found["connect"]["result"] == "refused"
    assert profiles(found["connect"]) == ["QM01.CHIN", "<group>.CHIN"]
    assert code == 2


@pytest.mark.parametrize(
    ("refused", "examine"),
    paired(
        (
            ("SYSTEM.COMMAND.INPUT", "open command queue", "QM01.SYSTEM.COMMAND.INPUT"),
            ("SYSTEM.COMMAND.REPLY.MODEL", "open reply queue", "QM01.SYSTEM.COMMAND.REPLY.MODEL"),
        ),
        BINDINGS,
    ),
    indirect=["examine"],
)
def test_a_refused_open(examine: Examine, qm01: Orders, refused: tuple[str, str, str]) -> None:
    """The queue's profile."""
    queue, check, profile = refused
    qm01.refuse("open", 2035, object=queue)
    _, found, _ = examine()
    assert (found[check]["result"], found[check]["reason"]) == ("refused", 2035)
    assert profile in profiles(found[check])


@PYMQI
def test_a_refused_put(examine: Examine, qm01: Orders) -> None:
    """The command queue's profile."""
    qm01.refuse("put", 2035)
    _, found, _ = examine()
    assert found["put"]["result"] == "refused"
    assert "QM01.SYSTEM.COMMAND.INPUT" in profiles(found["put"])


@IBMMQ
def test_refused_commands(examine: Examine, qm01: Orders) -> None:
    """Each the profile of its keyword, in both forms; two types of one DISPLAY need the same one."""
    refused = {"INQUIRE_ARCHIVE": "ARCHIVE", "INQUIRE_CHANNEL_STATUS": "CHSTATUS", "INQUIRE_USAGE": "USAGE"}
    for command in refused:
        qm01.refuse_command(command)
    _, found, _ = examine()
    for keyword in refused.values():
        displays = [each for check, each in found.items() if check.split()[:2] == ["DISPLAY", keyword]]
        assert len(displays) >= (1 if keyword == "ARCHIVE" else 2)
        for each in displays:
            assert profiles(each) == [f"QM01.DISPLAY.{keyword}", f"PRDQ.DISPLAY.{keyword}"]
    of_them = sum(check.split()[0] == "DISPLAY" and check.split()[1] in refused.values() for check in found)
    assert sum(each["result"] == "refused" for each in found.values()) == of_them


@PYMQI
def test_a_reply_queue_that_does_not_exist(examine: Examine) -> None:
    """2085 is no refusal."""
    _, found, _ = examine(reply_queue="NO.SUCH.QUEUE")
    assert (found["open reply queue"]["result"], found["open reply queue"]["reason"]) == ("missing", 2085)


@IBMMQ
def test_a_permanent_reply_queue_keeps_what_lies_on_it(examine: Examine, qm01: Orders) -> None:
    """An agent may be at work on it: nothing is thrown away."""
    qm01.plant("MQVITALS.REPLY", count=3)
    _, found, _ = examine(reply_queue="MQVITALS.REPLY")
    assert found["open reply queue"]["result"] == "works"
    assert qm01.state()["depths"]["MQVITALS.REPLY"] == 3
    assert found["reply queue"]["result"] != "works"


@PYMQI
def test_a_stopped_command_server(examine: Examine, qm01: Orders) -> None:
    """No answer to the first question; how to start it is told."""
    qm01.stop_command_server()
    code, found, _ = examine()
    assert found["DISPLAY QMGR"]["result"] == "no answer"
    assert "START CMDSERV" in found["DISPLAY QMGR"]["detail"]["commands"]
    assert code == 1


@IBMMQ
def test_a_clock_that_is_behind(examine: Examine, qm01: Orders) -> None:
    """The put times of the replies tell it."""
    qm01.offset_clock(-60_000)
    _, found, _ = examine()
    assert found["clock"]["result"] == "advised"
    assert -61_000 < found["clock"]["detail"]["difference_ms"] < -59_000

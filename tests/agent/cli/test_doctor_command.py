"""``mqvitals doctor``, from the command line on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqvitals_agent.cli.doctor import examine_all, exit_code
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.commandline import runner as command_line
from mqvitals_agent.connection import mqi
from mqvitals_agent.connection.binding import unsupported_settings
from mqvitals_agent.connection.connection import ConnectError, MqiFailure
from mqvitals_agent.connection.link import BindingError, Link, MqiError
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.doctor.finding import CheckResult, DoctorFinding
from mqvitals_agent.service.monitored_group import PollTargets
from mqvitals_agent.simulator.connector import SimulatedConnector
from mqvitals_agent.simulator.site import build
from mqvitals_agent.simulator.state import Fault, GroupState
from mqvitals_agent.threads import run_in_loop
from mqvitals_config.settings import Settings

BEGAN = 1795176000000

LIVING = """\
time_zone: UTC
connection: {channel: MQVITALS.SVRCONN}
queue_managers:
  - name: QM01
    connection: {connection_names: ["mvs1.example(1414)"]}
  - name: QM02
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A configuration file with one queue manager that has a connection, and one that has none."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(LIVING)
    return str(path)


class Package:
    """A binding whose connects are refused."""

    name = "ibmmq"
    version = "2.1.2"

    def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
        return ()

    def connect(self, route: CommandRoute) -> Link:
        raise MqiError("MQCONNX", 2, 2035)


class World:
    """A group that stays as it is."""

    def __init__(self) -> None:
        self.group = build(BEGAN)

    def advance(self, _: int) -> GroupState:
        return self.group


def run(*words: str) -> int:
    """Run ``mqvitals-agent doctor`` and return its exit code."""
    return command_line.main(["doctor", *words])


def test_a_healthy_simulated_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0 once the time zone is declared; a line for each check within 80 columns."""
    path = tmp_path / "x.yaml"
    path.write_text('time_zone: "+01:00"\n')
    assert run("--scenario", "quiet", "--config", str(path), "--queue-manager", "QM02") == 0
    out, err = capsys.readouterr()
    title, *rest = out.splitlines()
    checks = [line.split(maxsplit=1) for line in rest if not line.startswith("    ")]
    assert {result for result, _ in checks} == {"works"}
    assert title == f"QM02: {len(checks)} work"
    assert {"connect", "DISPLAY QSTATUS", "clock"} <= {check.partition("  ")[0] for _, check in checks}
    assert "QM01" not in out
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80


def test_something_advised_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody declared the time zone. All four queue managers are examined."""
    assert run("--scenario", "quiet", "--json") == 1
    findings = json.loads(capsys.readouterr().out)
    assert {each["queue_manager"] for each in findings} == {"QM01", "QM02", "QM03", "QM04"}
    assert {each["check"] for each in findings if each["result"] != "works"} == {"time zone"}
    for each in findings:
        assert set(each) <= {"queue_manager", "check", "result", "reason", "ask_for", "detail"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scenario", "nonsense"], "there is no scenario 'nonsense'"),
        (["--scenario", "quiet", "--queue-manager", "QM99"], "there is no queue manager 'QM99' to examine"),
        ([], "the settings have a connection to no queue manager"),
        (["--config", "/nonexistent.yaml"], "/nonexistent.yaml"),
    ],
)
def test_what_cannot_be_examined_is_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message that says why, and no output."""
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_without_a_binding_one_sentence(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what to install; exit code 2."""

    def load(preference: str) -> object:
        raise BindingError("no connection to queue managers without ibmmq or pymqi: install one")

    monkeypatch.setattr(mqi, "load_binding", load)
    assert run("--config", config) == 2
    assert capsys.readouterr() == (
        "",
        "mqvitals: no connection to queue managers without ibmmq or pymqi: install one\n",
    )


def test_when_no_queue_manager_is_reached(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The findings are printed, the one without a connection of its own is not examined; exit code 2."""
    monkeypatch.setattr(mqi, "load_binding", lambda preference: Package())
    assert run("--config", config, "--json") == 2
    findings = {(each["queue_manager"], each["check"]): each for each in json.loads(capsys.readouterr().out)}
    refused = findings["QM01", "connect"]
    assert (refused["result"], refused["reason"]) == ("refused", 2035)
    assert refused["ask_for"] == [
        {"class": "MQCONN", "profile": "QM01.CHIN", "access": "READ"},
        {"class": "MQCONN", "profile": "<group>.CHIN", "access": "READ"},
    ]
    assert findings["QM01", "binding"]["detail"]["binding"] == "ibmmq 2.1.2"
    assert findings["QM02", "connect"]["result"] == "not examined"


def test_what_the_package_cannot_do_is_advised(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence for each thing that the settings wish for, even when the connection then fails."""

    class Limited(Package):
        def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
            return tuple(each.sentence for each in unsupported_settings("pymqi", route, {}))

    wish = "connection: {application_name: vital signs, channel"
    Path(config).write_text(LIVING.replace("connection: {channel", wish))
    monkeypatch.setattr(mqi, "load_binding", lambda preference: Limited())
    assert run("--config", config, "--json") == 2
    findings = {(each["queue_manager"], each["check"]): each for each in json.loads(capsys.readouterr().out)}
    assert findings["QM01", "binding"]["result"] == "advised"
    assert "pymqi cannot give the connection an application name" in json.dumps(findings["QM01", "binding"])


def test_only_the_chosen_one_is_told_of(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever is asked on its behalf is left out."""
    monkeypatch.setattr(mqi, "load_binding", lambda preference: Package())
    assert run("--config", config, "--queue-manager", "QM02", "--json") == 2
    assert {each["queue_manager"] for each in json.loads(capsys.readouterr().out)} == {"QM02"}


def examine_world(fault: dict[str, Fault], others: tuple[str, ...], *names: str) -> tuple[list[DoctorFinding], bool]:
    """Findings of some of the simulated queue managers."""
    world = World()
    world.group.faults.update(fault)
    clock = VirtualClock(BEGAN)
    targets = PollTargets([SimulatedConnector(world, name, clock) for name in names], others)
    return run_in_loop(examine_all(targets, Settings(time_zone="+01:00"), clock), clock)


def test_a_member_without_a_connection_is_asked_through_another() -> None:
    """Of two, the one that can be reached; what it may not do there is asked for in its own name."""
    fault = {"QM01": Fault(down=True), "QM04": Fault(refuse=frozenset({"INQUIRE_Q_MGR"}))}
    findings, reached = examine_world(fault, ("QM03", "QM04"), "QM01", "QM02")
    assert reached
    third = next(each for each in findings if each.queue_manager == "QM03")
    assert (third.check, third.result) == ("DISPLAY QMGR CMDSCOPE(QM03)", CheckResult.WORKS)
    assert "through QM02" in third.text[0]
    fourth = next(each for each in findings if each.queue_manager == "QM04")
    assert fourth.result is CheckResult.REFUSED
    assert [each.profile for each in fourth.ask_for] == ["QM04.DISPLAY.QMGR", "PRDQ.DISPLAY.QMGR"]
    assert exit_code(findings, reached=reached) == 1


def test_a_member_that_is_not_active_says_so() -> None:
    """3225, with what it means."""
    findings, _ = examine_world({"QM03": Fault(down=True)}, ("QM03",), "QM01")
    third = next(each for each in findings if each.queue_manager == "QM03")
    assert (third.result, third.reason) == (CheckResult.FAILED, 3225)
    assert "not active" in third.text[1]


def test_the_groups_name_is_taken_from_another_member() -> None:
    """QM01 cannot be asked for it, QM02 tells it."""

    class Closed:
        queue_manager = "QM01"

        async def connect(self) -> object:
            raise ConnectError(MqiFailure(2, 2035), call="MQCONNX")

    world, clock = World(), VirtualClock(BEGAN)
    targets = PollTargets([Closed(), SimulatedConnector(world, "QM02", clock)])  # type: ignore[list-item]
    findings, _ = run_in_loop(examine_all(targets, Settings(), clock), clock)
    assert [each.profile for each in findings[0].ask_for] == ["QM01.CHIN", "PRDQ.CHIN"]


def test_the_others_need_no_package(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a queue manager that is not examined the package need not be there."""

    def load(preference: str) -> object:
        if preference == "pymqi":
            raise BindingError("no pymqi")
        return Package()

    third = "  - {name: QM03, connection: {binding: pymqi, channel: C, connection_names: [host(1414)]}}\n"
    Path(config).write_text(LIVING + third)
    monkeypatch.setattr(mqi, "load_binding", load)
    assert run("--config", config) == 2
    assert capsys.readouterr() == ("", "mqvitals: no pymqi\n")
    assert run("--config", config, "--queue-manager", "QM01", "--json") == 2
    assert {each["queue_manager"] for each in json.loads(capsys.readouterr().out)} == {"QM01"}

"""Groups of one to 32 queue managers, and groups with names of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.commandline import runner as command_line
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import AnswerTracker, MemberAnswer
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import SCENARIOS, Scenario, load_scenario
from mqvitals_agent.simulator.site import DEFAULT_NAMES, SimulatedNames
from mqvitals_agent.simulator.state import GroupState
from mqvitals_agent.threads import run_in_loop

BEGIN = 1_795_176_000_000
TIMED = 60_000
NAMES = st.builds(
    SimulatedNames, st.sampled_from(["PRDQ", "A", "X#9$"]), st.sampled_from(["QM", "Q", "@1"]), st.integers(1, 32)
)


def group_of(names: SimulatedNames, scenario: str = "quiet") -> SimulatedGroup:
    return SimulatedGroup(load_scenario(scenario, names), BEGIN, names=names)


def answers(names: SimulatedNames, asked_of: int, command: int, scope: str = "") -> tuple[MemberAnswer, ...]:
    """What the member with this number answers to a command."""
    clock = VirtualClock(BEGIN)
    connection = run_in_loop(connectors(group_of(names), clock)[asked_of - 1].connect(), clock)
    exchange = run_in_loop(connection.ask(PROBES[command].query(QueryOptions(scope=scope)), 10_000), clock)
    tracker, decoder = AnswerTracker(), Decoder()
    for reply in exchange.replies:
        tracker.add(decoder.decode(reply.data, reply.ccsid))
    assert tracker.complete
    return tracker.answers()


@given(NAMES, st.data())
@COSTLY
def test_each_member_answers_a_command_with_command_scope(names: SimulatedNames, data: st.DataObject) -> None:
    """CMDSCOPE(*) at any of them: one answer a member, each about itself; a name: that member's."""
    at = data.draw(st.integers(1, names.count))
    found = answers(names, at, mq.MQCMD_INQUIRE_Q_MGR, "*")
    assert tuple(sorted(answer.queue_manager for answer in found)) == names.members
    for answer in found:
        assert [item.get(mq.MQCA_Q_MGR_NAME) for item in answer.items] == [answer.queue_manager]
    other = data.draw(st.sampled_from(names.members))
    assert [answer.queue_manager for answer in answers(names, at, mq.MQCMD_INQUIRE_Q_MGR, other)] == [other]
    (members,) = answers(names, at, mq.MQCMD_INQUIRE_QSG)
    assert tuple(item.get(mq.MQCA_Q_MGR_NAME) for item in members.items) == names.members
    assert {item.get(mq.MQCA_QSG_NAME) for item in members.items} == {names.group}


def objects(group: GroupState) -> Iterator[tuple[str, set[str]]]:
    """Each member with the names of what it has."""
    for name, member in group.members.items():
        yield name, {*member.queues, *member.channels, *map(str, member.page_sets)}


@given(NAMES)
@COSTLY
def test_each_member_is_an_ordinary_one(names: SimulatedNames) -> None:
    """It has queues, page sets and channels of its own, gets from the shared queues, and its partners have the other ends of channels."""
    group = group_of(names).advance(BEGIN + TIMED)
    assert (group.site, group.name, tuple(group.members)) == (f"{names.group}SG", names.group, names.members)
    for name, member in group.members.items():
        assert all(gets > 0 for gets, _ in member.shared_handles.values())
        assert member.queues["ORDERS.REQUEST"].put_total > 0
        assert member.channels["TO.PARTNER"].instances[0].messages > 0
        for channel in member.channels.values():
            if channel.kind == "SENDER" and channel.transmission_queue != "PARTNER":
                (other_end,) = [
                    each
                    for each in group.members[channel.transmission_queue].channels[channel.name].instances
                    if each.partner == name
                ]
                assert other_end.messages == channel.instances[0].messages > 0
    assert group.structures["CSQ_ADMIN"].entries_max >= 1_000 * names.count
    addresses = {each.connection_name for member in group.members.values() for each in member.channels.values()}
    assert len(addresses - {"", "192.0.2.17(1414)"}) == (
        0 if names.count == 1 else names.count - (names.count % 4 == 1)
    )


def test_the_first_four_are_as_in_a_group_of_four() -> None:
    """Whatever the number of members: the same objects, the same links."""
    four = dict(objects(group_of(DEFAULT_NAMES).advance(BEGIN)))
    twenty = dict(objects(group_of(SimulatedNames(count=20)).advance(BEGIN)))
    assert {name: twenty[name] for name in four} == four
    assert {len(each) for each in twenty.values()} == {len(each) for each in four.values()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_about_the_members_that_are_there(name: str, soak: bool) -> None:
    """Incidents have the names of the group; those about members that it lacks are left out."""
    usual = load_scenario(name)
    renamed = load_scenario(name, SimulatedNames("PRDB", "QB", 20))
    assert [each.at for each in renamed.incidents] == [each.at for each in usual.incidents]
    assert _back(renamed.incidents) == [each.object for each in usual.incidents]
    assert _back(renamed.events) == [each.object for each in usual.events]
    for count in (1, 2, 3, 32) if soak else (1, 5):
        names = SimulatedNames("PRDB", "QB", count)
        scenario = load_scenario(name, names)
        until = BEGIN + (scenario.length if soak else min(scenario.length, 150_000))
        group = SimulatedGroup(scenario, BEGIN, names=names).advance(until)
        assert set(group.members) == set(names.members)
        assert {each.object.partition("/")[0] for each in scenario.incidents} <= {*names.members, "PRDB"}


def _back(things: tuple[object, ...]) -> list[str]:
    return [str(getattr(each, "object")).replace("QB", "QM").replace("PRDB", "PRDQ") for each in things]  # noqa: B009


def test_scenarios_without_names() -> None:
    """One that is not read from a file may be about a whole group too."""
    scenario = Scenario("test", 60_000).of_group(SimulatedNames(count=2))
    assert scenario == Scenario("test", 60_000)


def test_an_agent_doctor_and_status_with_twenty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them are polled, examined and listed, under the group's own names."""
    store, config = tmp_path / "store.db", tmp_path / "x.yaml"
    config.write_text('time_zone: "+01:00"\n', encoding="utf-8")
    group = ("--scenario", "quiet", "--members", "20", "--qsg", "PRDB", "--prefix", "QB", "--config", str(config))
    words = ("--store", str(store), "--interval", "20s", "--for", "20s", "--speed", "max")
    assert command_line.main(["agent", *group, *words]) in (0, 1)
    capsys.readouterr()
    command_line.main(["status", "--json", "--store", str(store)])
    found = json.loads(capsys.readouterr().out)
    expected = [f"QB{number:02}" for number in range(1, 21)]
    assert [each["name"] for each in found["queue_managers"]] == expected
    assert command_line.main(["doctor", "--json", *group]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert sorted({each["queue_manager"] for each in findings}) == expected
    assert command_line.main(["doctor", *group, "--queue-manager", "QM01"]) == 2
    assert "there is no queue manager 'QM01'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--members", "0"), "a group has one queue manager at least"),
        (("--members", "33"), "expected a whole number up to 32, not '33'"),
        (("--qsg", "LONGER"), "expected up to 4 of the characters"),
        (("--prefix", "qm"), "expected up to 2 of the characters"),
        (("--prefix", "9Q"), "not a digit first"),
    ],
)
def test_names_and_numbers_that_no_group_has(
    words: tuple[str, str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what is expected."""
    with pytest.raises(SystemExit):
        command_line.main(["agent", "--scenario", "quiet", *words])
    assert problem in capsys.readouterr().err


def test_names_without_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options of a simulated group are refused where none is simulated."""
    config = tmp_path / "x.yaml"
    config.write_text("queue_managers: [{name: QM01}]\n", encoding="utf-8")
    for words in (["agent", "--store", str(tmp_path / "s.db"), "--members", "20"], ["doctor", "--prefix", "QB"]):
        assert command_line.main([*words, "--config", str(config)]) == 2
        assert "is for a simulated group" in capsys.readouterr().err

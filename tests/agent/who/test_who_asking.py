"""Asking queue managers: which commands go to whom, in which order, and what becomes of those that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import Exchange, Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import FilterValue, Message
from mqvitals_agent.threads import run_in_loop
from mqvitals_agent.who.holder import Holders, MemberHolders
from mqvitals_agent.who.query import ask_holders
from mqvitals_rules.snapshot import ObjectName

STATUS, CONN, CHANNEL = mq.MQCMD_INQUIRE_Q_STATUS, mq.MQCMD_INQUIRE_CONNECTION, mq.MQCMD_INQUIRE_CHANNEL_STATUS
QUEUE = ObjectName("QM01", "queue", "PAY.IN")
Items = Sequence[Mapping[int, Any]]


class Site:
    """Queue managers that answer from a table: command to items, a reason, or an error of MQ below 0."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self.clock = VirtualClock(1_000)
        self.asked: list[tuple[str, Message]] = []
        self.scope = ""
        self.classic = False
        self.answers: dict[int, Callable[[Message], Items | int]] = {}
        self.at_once = self.most_at_once = 0

    async def put(self, queue_manager: str, build: Callable[[str], Query]) -> Exchange:
        """One exchange, 10 ms long."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self.clock.sleep(10)
        query = build(self.scope)
        command = query.command
        request = Decoder().decode(query.request, 1208)
        assert request.command == command
        self.asked.append((queue_manager, request))
        self.at_once -= 1
        answer = self.answers.get(command)
        told: Items | int = [] if answer is None else answer(request)
        member = self._make(queue_manager, classic=self.classic)
        if not isinstance(told, int):
            exchange: Exchange = member.exchange(command, told)
        elif told < 0:
            exchange = member.exchange(command, error=-told)
        else:
            exchange = member.exchange(command, reason=told)
        return exchange

    def commands(self) -> list[int]:
        """The commands in their order."""
        return [request.command for _, request in self.asked]

    def who(self, *queue_managers: str, queue: ObjectName = QUEUE) -> Holders:
        """Ask."""
        return run_in_loop(ask_holders(queue, queue_managers or ("QM01",), self.put, self.clock), self.clock)


def handle(application: str, channel: str = "", **more: int) -> dict[int, Any]:
    """A handle for shared input."""
    return {
        mq.MQCA_Q_NAME: "PAY.IN",
        mq.MQCACF_APPL_TAG: application,
        mq.MQCACH_CHANNEL_NAME: channel,
        mq.MQIACF_OPEN_INPUT_TYPE: mq.MQQSO_SHARED,
        **({mq.MQIACF_PROCESS_ID: more["process"]} if more else {}),
    }


def filtered(request: Message) -> str:
    """The application that connections are asked for."""
    wanted = request.get(mq.MQCACF_APPL_TAG)
    assert isinstance(wanted, FilterValue)
    assert isinstance(wanted.value, str)
    return wanted.value


@pytest.fixture
def site(member_of: Callable[..., Any]) -> Site:
    """A local and a client application, their connections and their channel."""
    site = Site(member_of)
    site.answers[STATUS] = lambda _: [handle("PAYBATCH"), handle("java", "APP.SVRCONN"), handle("java", "APP.SVRCONN")]
    site.answers[CONN] = lambda request: [
        {mq.MQBACF_CONNECTION_ID: bytes(24), mq.MQCACF_APPL_TAG: filtered(request), mq.MQIACF_UOW_STATE: 3}
    ]
    site.answers[CHANNEL] = lambda _: [{mq.MQCACH_CHANNEL_NAME: "APP.SVRCONN", mq.MQIACH_CHANNEL_STATUS: 3}]
    return site


def test_everything_is_asked_once(site: Site) -> None:
    """Handles, then the connections of each application, then each channel; all joined and dated."""
    (member,) = site.who().members
    assert site.commands() == [STATUS, CONN, CONN, CHANNEL]
    assert (member.queue_manager, member.at, member.took_ms) == ("QM01", 1_000, 40)
    assert (member.problem, member.notes) == ("", ())
    assert [each.application for each in member.holders] == ["PAYBATCH", "java", "java"]
    assert all(each.connection and each.connection.unit_of_work for each in member.holders)
    assert [each.instance.status if each.instance else "" for each in member.holders] == ["", "RUNNING", "RUNNING"]


def test_the_requests(site: Site) -> None:
    """What is asked for, with the command scope in every request."""
    site.scope = "QM01"
    site.who()
    status, first, _, channel = (request for _, request in site.asked)
    assert status.values == {
        mq.MQCA_Q_NAME: "PAY.IN",
        mq.MQIACF_Q_STATUS_TYPE: mq.MQIACF_Q_HANDLE,
        mq.MQIA_QSG_DISP: mq.MQQSGD_ALL,
        mq.MQCACF_COMMAND_SCOPE: "QM01",
    }
    assert first.get(mq.MQBACF_GENERIC_CONNECTION_ID) == b""
    assert first.get(mq.MQIACF_CONN_INFO_TYPE) == mq.MQIACF_CONN_INFO_CONN
    assert first.get(mq.MQCACF_APPL_TAG) == FilterValue(mq.MQCFOP_EQUAL, "PAYBATCH")
    assert first.get(mq.MQCACF_COMMAND_SCOPE) == "QM01"
    attributes = first.get(mq.MQIACF_CONNECTION_ATTRS)
    assert isinstance(attributes, tuple)
    assert {mq.MQCACF_ASID, mq.MQIACF_UOW_STATE} <= set(attributes)
    assert mq.MQIACF_PROCESS_ID not in attributes
    assert channel.values == {
        mq.MQCACH_CHANNEL_NAME: "APP.SVRCONN",
        mq.MQIACH_CHANNEL_INSTANCE_TYPE: mq.MQOT_CURRENT_CHANNEL,
        mq.MQCACF_COMMAND_SCOPE: "QM01",
    }


def test_distributed_queue_managers_are_asked_for_processes(site: Site) -> None:
    """Where handles tell a process, connections are asked for process and thread, and nothing of z/OS."""
    site.classic = True
    site.answers[STATUS] = lambda _: [handle("PAYBATCH", process=4711)]
    site.who()
    attributes = site.asked[1][1].get(mq.MQIACF_CONNECTION_ATTRS)
    assert isinstance(attributes, tuple)
    assert mq.MQIACF_THREAD_ID in attributes
    assert mq.MQCACF_ASID not in attributes


def test_a_refused_list_of_attributes(site: Site) -> None:
    """Where an attribute is not known all are asked for, from then on."""
    connections = site.answers[CONN]
    site.answers[CONN] = lambda request: (
        connections(request) if request.get(mq.MQIACF_CONNECTION_ATTRS) is None else mq.MQRCCF_CFIL_PARM_ID_ERROR
    )
    (member,) = site.who().members
    assert site.commands() == [STATUS, CONN, CONN, CONN, CHANNEL]
    assert member.notes == ()
    assert all(each.connection for each in member.holders)


def test_a_refused_disposition(site: Site) -> None:
    """Where a disposition is no parameter the handles are asked for without it."""
    handles = site.answers[STATUS]
    site.answers[STATUS] = lambda request: (
        handles(request) if request.get(mq.MQIA_QSG_DISP) is None else mq.MQRCCF_CFIN_PARM_ID_ERROR
    )
    (member,) = site.who().members
    assert len(member.holders) == 3
    assert not member.problem


def test_nobody_has_it_open(site: Site) -> None:
    """Nothing more is asked, and there is no problem."""
    site.answers[STATUS] = lambda _: mq.MQRCCF_Q_STATUS_NOT_FOUND
    assert site.who().members == (MemberHolders("QM01", 1_000, 10),)
    assert site.commands() == [STATUS]


def test_handles_that_cannot_be_had(site: Site) -> None:
    """Without handles there is a problem, and nothing more is asked."""
    site.answers[STATUS] = lambda _: mq.MQRCCF_NOT_AUTHORIZED
    (member,) = site.who().members
    assert member.problem.startswith("not authorised to DISPLAY QSTATUS")
    assert site.commands() == [STATUS]


@pytest.mark.parametrize("failure", [mq.MQRCCF_NOT_AUTHORIZED, -2033, -2009])
def test_connections_that_cannot_be_had(site: Site, failure: int) -> None:
    """The handles and instances stay, a note says what is missing, and not every application is tried."""
    site.answers[CONN] = lambda _: failure
    (member,) = site.who().members
    assert site.commands() == [STATUS, CONN, CHANNEL]
    assert len(member.holders) == 3
    assert all(each.connection is None for each in member.holders)
    assert member.holders[1].instance is not None
    (note,) = member.notes
    assert note.startswith("the connections of handles are not known: ")


def test_instances_that_cannot_be_had(site: Site) -> None:
    """The handles and connections stay, with a note."""
    site.answers[CHANNEL] = lambda _: mq.MQRCCF_NO_CHANNEL_INITIATOR
    (member,) = site.who().members
    assert all(each.connection for each in member.holders)
    (note,) = member.notes
    assert note.startswith("the channel instances of handles are not known: DISPLAY CHSTATUS needs the channel init")


def test_many_applications_and_channels(site: Site) -> None:
    """Eight of each are asked about, those of the first handles; a note counts the others."""
    site.answers[STATUS] = lambda _: [handle(f"APP{number:02}", f"CHANNEL.{number:02}") for number in range(11)]
    site.answers[CHANNEL] = lambda _: mq.MQRCCF_CHL_STATUS_NOT_FOUND
    (member,) = site.who().members
    assert site.commands() == [STATUS] + [CONN] * 8 + [CHANNEL] * 8
    assert [filtered(request) for _, request in site.asked if request.command == CONN] == [
        f"APP{number:02}" for number in range(8)
    ]
    assert member.notes == (
        "the connections of 3 more applications were not asked for",
        "the channel instances of 3 more channels were not asked for",
    )
    assert len(member.holders) == 11


def test_a_strange_channel_is_not_asked_about(site: Site) -> None:
    """A damaged name that ends in an asterisk would ask for every channel."""
    site.answers[STATUS] = lambda _: [handle("", "*")]
    (member,) = site.who().members
    assert site.commands() == [STATUS]
    assert len(member.holders) == 1


def test_side_by_side(site: Site) -> None:
    """Queue managers are asked side by side, one command at a time each, and told in the order they were named."""
    site.answers[STATUS] = lambda _: [handle("PAYBATCH")]
    found = site.who("QM03", "QM01", "QM02")
    assert [member.queue_manager for member in found.members] == ["QM03", "QM01", "QM02"]
    assert site.most_at_once == 3
    for name in ("QM01", "QM02", "QM03"):
        assert [request.command for whom, request in site.asked if whom == name] == [STATUS, CONN]


@pytest.mark.parametrize("name", ["", "*", "PAY.*", "PAY IN", "Q" * 49, "PAY\x1b"])
def test_no_name_of_a_queue(site: Site, name: str) -> None:
    """What is no whole name is not asked for: an asterisk would tell the handles of every queue."""
    (member,) = site.who(queue=ObjectName("QM01", "queue", name)).members
    assert member.problem == f"{name!r} is not the name of a queue"
    assert site.asked == []


def test_nobody_to_ask(site: Site) -> None:
    """No queue managers, no members."""
    assert run_in_loop(ask_holders(QUEUE, (), site.put, site.clock), site.clock) == Holders(QUEUE, ())

"""Examining queue managers: the simulated group, and connections that fail at every call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.connection.connection import ConnectError, Exchange, MqiFailure
from mqvitals_agent.connection.conversation import ConnectedQueueManager
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.doctor.access import ConnectionContext
from mqvitals_agent.doctor.finding import FINE, CheckResult, DoctorFinding
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.poll.command_form import command_form, display_command
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.simulator.answer import CCSID, ENCODING, answer, failure_set
from mqvitals_agent.simulator.answers.commands import COMMANDS
from mqvitals_agent.simulator.state import Fault, GroupState
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import PollingSettings, QueueSelection

Examine = Callable[..., list[DoctorFinding]]
ROUTE = CommandRoute("QM01", channel="MQVITALS.SVRCONN", reply_queue="MQVITALS.REPLY")
IDENTITY = ConnectedQueueManager("QM01", mq.MQPL_ZOS, 940, "SYSTEM.COMMAND.INPUT", "MQVITALS.REPLY", False, 0)


def one(findings: list[DoctorFinding], check: str) -> DoctorFinding:
    (found,) = (finding for finding in findings if finding.check == check)
    return found


ON_ZOS = set(PROBES) - {mq.MQCMD_INQUIRE_Q_MGR_STATUS}


def asked_for(finding: DoctorFinding) -> set[tuple[str, str, str]]:
    return {(each.class_name, each.profile, each.access) for each in finding.ask_for}


def test_a_healthy_queue_manager_works_throughout(examined: Examine) -> None:
    """Each DISPLAY of the probes is run once, and everything is fine once the time zone is declared."""
    findings = examined(known=ConnectionContext(declared_zone="+01:00"))
    assert {finding.result for finding in findings} == {CheckResult.WORKS}
    displays = [finding.check for finding in findings if finding.check.startswith("DISPLAY")]
    assert len(displays) == len(set(displays))
    assert {" ".join(check.split()[:2]) for check in displays} == {
        display_command(command_form(command)) for command in ON_ZOS
    }
    assert one(findings, "queue manager").facts == {
        "command_level": 940,
        "version": "09040000",
        "platform": "z/OS",
        "queue_sharing_group": "PRDQ",
    }


@pytest.mark.parametrize(
    ("waiting", "result"), [({}, CheckResult.WORKS), ({"CSQX511I": ("OUR-1",)}, CheckResult.ADVISED)]
)
def test_messages_that_exclmsg_suppresses(
    examined: Examine, waiting: dict[str, tuple[str, ...]], result: CheckResult
) -> None:
    """The simulated queue manager suppresses CSQX511I and CSQX512I: advised where a rule waits for one of them."""
    found = one(examined(known=ConnectionContext(waiting=waiting)), "console messages")
    assert found.result is result
    assert found.facts["excluded_messages"] == ["X511", "X512"]
    assert ("OUR-1" in found.text[0]) is bool(waiting)


@pytest.mark.parametrize("command", sorted(ON_ZOS))
def test_each_refused_command_asks_for_its_profile(examined: Examine, command: int) -> None:
    """Whatever is refused, the profile of its keyword is asked for in both forms; nothing else is refused."""
    name = COMMANDS[command].name
    findings = examined(fault=Fault(refuse=frozenset({name})), known=ConnectionContext(declared_zone="+01:00"))
    keyword = display_command(name).removeprefix("DISPLAY ")
    refused = [finding for finding in findings if finding.result is CheckResult.REFUSED]
    assert {" ".join(finding.check.split()[:2]) for finding in refused} == {f"DISPLAY {keyword}"}
    for finding in refused:
        assert finding.reason == 2035
        assert asked_for(finding) == {
            ("MQCMDS", f"QM01.DISPLAY.{keyword}", "READ"),
            ("MQCMDS", f"PRDQ.DISPLAY.{keyword}", "READ"),
        }
    assert all(finding.result in FINE | {CheckResult.REFUSED, CheckResult.NOT_EXAMINED} for finding in findings)


def test_without_a_group_name_it_is_not_invented(examined: Examine) -> None:
    """When nobody tells the group's name, a placeholder stands for it; one that another member told is taken."""
    fault = Fault(refuse=frozenset({"INQUIRE_Q_MGR", "INQUIRE_QSG"}))
    unknown = one(examined(fault=fault), "DISPLAY QMGR")
    assert ("MQCMDS", "<group>.DISPLAY.QMGR", "READ") in asked_for(unknown)
    told = one(examined(fault=fault, known=ConnectionContext(group="PRDQ")), "DISPLAY QMGR")
    assert ("MQCMDS", "PRDQ.DISPLAY.QMGR", "READ") in asked_for(told)


def test_a_stopped_command_server_is_asked_no_more(examined: Examine) -> None:
    """No answer to the first question: the rest is not examined, and the command that starts the server is told."""
    findings = examined(fault=Fault(silent=frozenset(each.name for each in COMMANDS.values())))
    silent = one(findings, "DISPLAY QMGR")
    assert (silent.result, silent.reason) == (CheckResult.NO_ANSWER, 2033)
    assert "START CMDSERV" in silent.commands
    assert silent.elapsed_ms == 10_000
    assert one(findings, "DISPLAY ARCHIVE").result is CheckResult.NOT_EXAMINED
    assert one(findings, "put").result is CheckResult.WORKS


def test_an_answer_that_stops_half_way(examined: Examine) -> None:
    """It counts as none, the rest is examined all the same."""
    findings = examined(fault=Fault(truncate=frozenset({"INQUIRE_Q"})))
    assert one(findings, "DISPLAY QUEUE").result is CheckResult.NO_ANSWER
    assert "stopped after" in one(findings, "DISPLAY QUEUE").text[0]
    assert one(findings, "DISPLAY ARCHIVE").result is CheckResult.WORKS


def test_a_queue_that_does_not_exist_is_missing(examined: Examine) -> None:
    """An exact name of the settings that nothing has; a pattern that nothing matches is no fault."""
    names = tuple(LocatedText(text, Place("x.yaml", 1, 1)) for text in ("NO.SUCH.QUEUE", "NOTHING.*"))
    findings = examined(polling=PollingSettings(queues=QueueSelection(names=names)))
    missing = one(findings, "DISPLAY QUEUE(NO.SUCH.QUEUE)")
    assert (missing.result, missing.reason) == (CheckResult.MISSING, 2085)
    assert one(findings, "DISPLAY QUEUE(NOTHING.*)").result is CheckResult.WORKS


def test_a_command_that_is_not_known_there(examined: Examine, script: Any) -> None:
    """3007 and 3212 are no faults."""

    def foreign(command: int, exchange: Exchange) -> Exchange:
        if command not in (mq.MQCMD_INQUIRE_USAGE, mq.MQCMD_INQUIRE_QSG):
            return exchange
        reason = 3007 if command == mq.MQCMD_INQUIRE_USAGE else 3212
        first = exchange.replies[0]
        failed = failure_set("QM01", command, b"1".ljust(24), reason)
        return replace(exchange, replies=tuple(replace(first, data=data) for data in failed))

    findings = examined(script(replies=foreign), known=ConnectionContext(declared_zone="+01:00"))
    assert one(findings, "DISPLAY USAGE").result is CheckResult.NOT_HERE
    assert one(findings, "DISPLAY GROUP").reason == 3212
    assert all(finding.result in FINE for finding in findings)


def test_a_refused_connect_tells_the_channels_rules_and_the_profile(examined: Examine, script: Any) -> None:
    """MQCONN hlq.CHIN in both forms, and commands to look at the channel."""
    error = ConnectError(MqiFailure(2, 2035), call="MQCONNX")
    (finding,) = examined(script(error=error), known=ConnectionContext(route=ROUTE, group="PRDQ"))
    assert (finding.check, finding.result, finding.reason) == ("connect", CheckResult.REFUSED, 2035)
    assert asked_for(finding) == {("MQCONN", "QM01.CHIN", "READ"), ("MQCONN", "PRDQ.CHIN", "READ")}
    assert "DISPLAY CHLAUTH('MQVITALS.SVRCONN') ALL" in finding.commands
    assert "CONNAUTH" in finding.text[0]


@pytest.mark.parametrize(
    ("route", "queue", "check", "profiles"),
    [
        (ROUTE, "SYSTEM.COMMAND.INPUT", "open command queue", ["SYSTEM.COMMAND.INPUT"]),
        (ROUTE, "MQVITALS.REPLY", "open reply queue", ["MQVITALS.REPLY"]),
        (
            CommandRoute("QM01"),
            "SYSTEM.COMMAND.REPLY.MODEL",
            "open reply queue",
            ["SYSTEM.COMMAND.REPLY.MODEL", "MQVITALS.**"],
        ),
    ],
)
def test_a_refused_open_asks_for_the_queues_profiles(
    examined: Examine, script: Any, route: CommandRoute, queue: str, check: str, profiles: list[str]
) -> None:
    """UPDATE in MQQUEUE and MXQUEUE, in both forms; of a dynamic queue for the model and for the generated name."""
    error = ConnectError(MqiFailure(2, 2035), "connected, but MQOPEN failed", call="MQOPEN", queue=queue)
    findings = examined(script(error=error), known=ConnectionContext(route=route, group="PRDQ"))
    assert findings[-1].check == check
    assert [finding.result for finding in findings[:-1]] == [CheckResult.WORKS] * (len(findings) - 1)
    assert findings[0].check == "connect"
    assert asked_for(findings[-1]) == {
        (class_name, f"{prefix}.{profile}", "UPDATE")
        for class_name in ("MQQUEUE", "MXQUEUE")
        for prefix in ("QM01", "PRDQ")
        for profile in profiles
    }
    # Over a channel, PUTAUT and RESLEVEL decide which user ids need it.
    assert any("PUTAUT(ONLYMCA)" in text for text in findings[-1].text) == bool(route.channel)
    assert findings[-1].commands == ((f"DISPLAY CHANNEL('{route.channel}') PUTAUT MCAUSER",) if route.channel else ())


def test_a_reply_queue_that_is_not_there_or_taken(examined: Examine, script: Any) -> None:
    """2085 is missing; 2042 fails, and says whose queue it must be."""
    for reason, result in ((2085, CheckResult.MISSING), (2042, CheckResult.FAILED)):
        error = ConnectError(MqiFailure(2, reason), "connected", call="MQOPEN", queue="MQVITALS.REPLY")
        finding = examined(script(error=error), known=ConnectionContext(route=ROUTE))[-1]
        assert (finding.check, finding.result, finding.reason) == ("open reply queue", result, reason)
        assert finding.text
        assert not finding.ask_for


def test_a_password_that_cannot_be_read_is_no_refusal(examined: Examine, script: Any) -> None:
    """No call of MQ failed, so there is nothing to ask for, and no reason code of MQ."""
    error = ConnectError(MqiFailure(2, 2035), "the secret in file /x cannot be read, or is not UTF-8 text")
    (finding,) = examined(script(error=error), known=ConnectionContext(route=ROUTE))
    assert (finding.result, finding.reason, finding.ask_for) == (CheckResult.FAILED, 0, ())
    assert finding.text == ("The secret in file /x cannot be read, or is not UTF-8 text.",)


def test_a_connect_that_does_not_end_is_given_up(examined: Examine, script: Any) -> None:
    """After its time it counts as no answer."""
    (finding,) = examined(script(hangs=True))
    assert (finding.check, finding.result) == ("connect", CheckResult.NO_ANSWER)
    assert finding.elapsed_ms == 60_000


def test_a_refused_put_asks_for_the_command_queue(examined: Examine, script: Any) -> None:
    """No DISPLAY was examined then; the connection is let go."""
    connector = script(put_fails=2035)
    findings = examined(connector, known=ConnectionContext(group="PRDQ"))
    put = one(findings, "put")
    assert ("MQQUEUE", "QM01.SYSTEM.COMMAND.INPUT", "UPDATE") in asked_for(put)
    assert ("MXQUEUE", "PRDQ.SYSTEM.COMMAND.INPUT", "UPDATE") in asked_for(put)
    assert connector.asked == connector.closed == 1
    displays = [finding for finding in findings if finding.check.startswith("DISPLAY")]
    assert len(displays) >= len(ON_ZOS)
    assert {finding.result for finding in displays} == {CheckResult.NOT_EXAMINED}


def test_a_connection_that_breaks_leaves_the_rest_unexamined(examined: Examine, script: Any) -> None:
    """The command during which it broke failed with 2009."""
    findings = examined(script(put_fails=2009, after=3))
    broken = one(findings, "DISPLAY SMDS")
    assert (broken.result, broken.reason) == (CheckResult.FAILED, 2009)
    assert one(findings, "DISPLAY CFSTRUCT").result is CheckResult.WORKS
    assert one(findings, "DISPLAY ARCHIVE").result is CheckResult.NOT_EXAMINED
    assert one(findings, "put").result is CheckResult.WORKS


def test_another_queue_manager_answers(examined: Examine, script: Any) -> None:
    """A name that leads to another member is told, with who answered."""
    finding = one(examined(script(queue_manager="PRDQ")), "queue manager")
    assert finding.result is CheckResult.ADVISED
    assert finding.facts["answered"] == "QM01"


def test_a_clock_that_is_ahead(examined: Examine, script: Any) -> None:
    """Put times a minute late show it."""
    finding = one(examined(script(late=60_000)), "clock")
    assert finding.result is CheckResult.ADVISED
    assert 59_000 <= int(str(finding.facts["difference_ms"])) <= 60_010


def test_a_permanent_reply_queue_is_looked_at(examined: Examine, script: Any) -> None:
    """Its definition and its openers are asked for by exact name, and are no findings of their own."""

    def told(command: int, exchange: Exchange) -> Exchange:
        if b"MQVITALS.REPLY" not in (exchange.request or b""):
            return exchange
        values = {
            mq.MQCMD_INQUIRE_Q: (integer(mq.MQIA_INDEX_TYPE, 0), integer(mq.MQIA_MAX_Q_DEPTH, 10)),
            mq.MQCMD_INQUIRE_Q_STATUS: (integer(mq.MQIA_OPEN_INPUT_COUNT, 2), integer(mq.MQIA_CURRENT_Q_DEPTH, 2)),
        }[command]
        item = (string(mq.MQCA_Q_NAME, "MQVITALS.REPLY"), *values)
        first = exchange.replies[0]
        messages = answer("QM01", command, [item], 1)
        replies = tuple(replace(first, data=data, ccsid=CCSID, encoding=ENCODING) for data in messages)
        return replace(exchange, replies=replies)

    findings = examined(script(told=IDENTITY, replies=told))
    finding = one(findings, "reply queue")
    assert finding.result is CheckResult.ADVISED
    assert "ALTER QLOCAL('MQVITALS.REPLY') INDXTYPE(CORRELID)" in finding.commands
    assert any(command.startswith("ALTER QLOCAL('MQVITALS.REPLY') MAXDEPTH(") for command in finding.commands)
    assert any("2 programs have" in text for text in finding.text)
    assert any("2 messages are on" in text for text in finding.text)
    assert one(findings, "inquire").facts["command_level"] == 940
    assert len([finding for finding in findings if finding.check.startswith("DISPLAY QUEUE")]) == 1


def test_a_reply_queue_that_is_not_told_of_is_not_called_good(examined: Examine, script: Any) -> None:
    """Without its definition nobody can say that it is right."""
    assert one(examined(script(told=IDENTITY)), "reply queue").result is CheckResult.NOT_EXAMINED


def test_a_dynamic_reply_queue_is_advised_against(examined: Examine, script: Any) -> None:
    """The reasons are told, and what to do instead."""
    identity = replace(IDENTITY, dynamic=True, reply_queue="MQVITALS.C1F2")
    finding = one(examined(script(told=identity)), "reply queue")
    assert finding.result is CheckResult.ADVISED
    assert "reply_queue" in finding.text[0]


def test_elsewhere_than_on_zos_no_profiles_are_asked_for(examined: Examine, script: Any) -> None:
    """There are no RACF classes on distributed platforms."""
    identity = replace(IDENTITY, platform=mq.MQPL_UNIX)
    finding = one(examined(script(told=identity, put_fails=2035)), "put")
    assert finding.result is CheckResult.REFUSED
    assert not finding.ask_for
    assert "authority records" in finding.text[0]


def test_objects_with_monitoring_off_are_named(examined: Examine) -> None:
    """A queue and a channel that are OFF themselves."""

    def off(group: GroupState) -> None:
        member = group.members["QM01"]
        next(iter(member.queues.values())).monitoring = "OFF"
        next(iter(member.channels.values())).monitoring = "OFF"

    finding = one(examined(change=off), "monitoring")
    assert finding.result is CheckResult.ADVISED
    assert [command.split("(")[0] for command in finding.commands] == ["ALTER QLOCAL", "ALTER CHANNEL"]


def test_what_a_reply_cannot_be_decoded(examined: Examine, script: Any) -> None:
    """Damage is a failure, whatever the other replies say."""

    def damaged(command: int, exchange: Exchange) -> Exchange:
        if command != mq.MQCMD_INQUIRE_LOG:
            return exchange
        return replace(exchange, replies=tuple(replace(each, data=each.data[:50]) for each in exchange.replies))

    assert one(examined(script(replies=damaged)), "DISPLAY LOG").result is CheckResult.FAILED


def _in_ccsid(ccsid: int, exchange: Exchange) -> Exchange:
    """The answer as a queue manager of another character set gives it: the names have the same bytes in both."""
    stated = (CCSID.to_bytes(4, "big"), ccsid.to_bytes(4, "big"))
    replies = tuple(replace(each, data=each.data.replace(*stated), ccsid=ccsid) for each in exchange.replies)
    return replace(exchange, replies=replies)


def test_an_unknown_character_set_is_named(examined: Examine, script: Any) -> None:
    """The queue manager is examined nevertheless: names of objects are alike in all EBCDIC pages."""
    findings = examined(script(replies=lambda _, exchange: _in_ccsid(4711, exchange)))
    finding = one(findings, "character set")
    assert finding.result is CheckResult.ADVISED
    assert "CCSID 4711" in finding.text[0]
    assert one(findings, "queue manager").facts["command_level"] == 940
    assert one(examined(script()), "character set").result is CheckResult.WORKS

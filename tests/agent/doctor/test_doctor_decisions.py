"""The doctor's decisions, each by itself: permissions, refusals, switches, clocks, the reply queue, the page."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Literal

import pytest

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, Exchange, MqiFailure
from mqvitals_agent.doctor import access, examination, remark
from mqvitals_agent.doctor.finding import (
    CheckResult,
    DoctorFinding,
    Permission,
    dynamic_profile,
    finding_lines,
    grants,
    to_connect,
    to_display,
    to_use_queues,
)
from mqvitals_agent.doctor.remark import NewestTime, ReplyQueue, ReplyTimes, Switches, difference_ms
from mqvitals_agent.pcf import constants as mq
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import EventSettings, PollingSettings

GOOD = ReplyQueue("MQVITALS.REPLY", dynamic=False, index_type=2, max_depth=100_000, shareability=1, openers=1)


def profiles(permissions: tuple[Permission, ...]) -> list[str]:
    return [each.profile for each in permissions]


def test_profiles_come_in_the_form_of_the_queue_manager_and_of_its_group() -> None:
    """Without a group only the first; unknown, with a placeholder."""
    assert profiles(to_connect("QM01", "PRDQ")) == ["QM01.CHIN", "PRDQ.CHIN"]
    assert profiles(to_display("QM01", "", "USAGE")) == ["QM01.DISPLAY.USAGE"]
    assert profiles(to_display("QM01", None, "USAGE")) == ["QM01.DISPLAY.USAGE", "<group>.DISPLAY.USAGE"]


def test_dynamic_names_become_generic_profiles() -> None:
    """What follows the prefix may have several parts."""
    assert dynamic_profile("MQVITALS.*") == "MQVITALS.**"
    assert dynamic_profile("CSQ*") == "CSQ*"


def test_the_commands_that_grant_a_display() -> None:
    """RDEFINE, PERMIT with a placeholder for the user, and the refresh of the class; nothing at the queue manager."""
    (grant,) = grants(to_display("QM01", "", "USAGE"))
    assert grant.racf == (
        "RDEFINE MQCMDS QM01.DISPLAY.USAGE UACC(NONE)",
        "PERMIT QM01.DISPLAY.USAGE CLASS(MQCMDS) ID(<user>) ACCESS(READ)",
        "SETROPTS RACLIST(MQCMDS) REFRESH",
    )
    assert grant.mqsc == ()


def test_the_commands_that_grant_queues() -> None:
    """What the queue manager has looked up before it must forget; generic profiles are refreshed as such."""
    first, second = grants(to_use_queues("QM01", "", "A.MODEL", "A.**"))
    assert (first.class_name, second.class_name) == ("MQQUEUE", "MXQUEUE")
    assert first.racf[-2:] == ("SETROPTS GENERIC(MQQUEUE) REFRESH", "SETROPTS RACLIST(MQQUEUE) REFRESH")
    assert first.mqsc == ("REFRESH SECURITY(MQQUEUE)",)


def test_connecting_is_granted_to_the_channel_initiator() -> None:
    """Its user id, not the monitor's, is checked in class MQCONN."""
    (grant,) = grants(to_connect("QM01", "PRDQ"))
    assert "PERMIT PRDQ.CHIN CLASS(MQCONN) ID(<chinit user>) ACCESS(READ)" in grant.racf


@pytest.mark.parametrize(
    ("reason", "exact", "result"),
    [
        (0, False, CheckResult.WORKS),
        (2035, False, CheckResult.REFUSED),
        (3081, True, CheckResult.REFUSED),
        (3007, False, CheckResult.NOT_HERE),
        (3212, False, CheckResult.NOT_HERE),
        (3065, True, CheckResult.WORKS),
        (3200, False, CheckResult.WORKS),
        (3200, True, CheckResult.MISSING),
        (4032, True, CheckResult.MISSING),
        (3217, False, CheckResult.FAILED),
        (9999, False, CheckResult.FAILED),
    ],
)
def test_reasons_of_answers(reason: int, exact: bool, result: CheckResult) -> None:
    """Nothing there is fine for a pattern, and for status; a reason nobody knows is a failure."""
    assert examination.result_of_display(reason, exact=exact) is result


@pytest.mark.parametrize(
    ("reason", "result"),
    [
        (2035, CheckResult.REFUSED),
        (2217, CheckResult.REFUSED),
        (2085, CheckResult.MISSING),
        (2033, CheckResult.NO_ANSWER),
        (2538, CheckResult.FAILED),
    ],
)
def test_reasons_of_calls(reason: int, result: CheckResult) -> None:
    """A call fails for what its reason says."""
    assert examination.result_of_call(reason) is result


def test_a_get_that_fails_is_no_put_that_fails() -> None:
    """2016 comes from getting, and after a reply nothing comes from putting."""
    assert examination.failed_to_put(2053, 0)
    assert not examination.failed_to_put(2016, 0)
    assert not examination.failed_to_put(2053, 1)


def test_switches_that_are_on_need_nothing() -> None:
    """Also MONACLS(QMGR), which follows MONCHL; what was not told is not judged."""
    on = Switches(mq.MQMON_MEDIUM, mq.MQMON_LOW, mq.MQMON_Q_MGR)
    assert remark.monitoring_remarks(on) == ()
    assert remark.monitoring_remarks(Switches()) == ()


@pytest.mark.parametrize("level", [mq.MQMON_OFF, mq.MQMON_NONE])
def test_switches_of_the_queue_manager_that_are_off(level: int) -> None:
    """Each has its command, and says which fields stay blank."""
    queues, channels, automatic = remark.monitoring_remarks(Switches(level, level, level))
    assert queues.commands == ("ALTER QMGR MONQ(MEDIUM)",)
    assert "MSGAGE" in queues.text
    assert channels.commands == ("ALTER QMGR MONCHL(MEDIUM)",)
    assert "XQTIME" in channels.text
    assert "started the next time" in channels.text
    assert automatic.commands == ("ALTER QMGR MONACLS(QMGR)",)


def test_none_overrides_what_objects_say() -> None:
    """Under NONE it would be no use to switch a queue on; under OFF those that are on are told."""
    (advice,) = remark.monitoring_remarks(Switches(mq.MQMON_NONE, mq.MQMON_LOW, queues_off=("A",), queues_on=3))
    assert "whatever is set" in advice.text
    off, own = remark.monitoring_remarks(Switches(mq.MQMON_OFF, mq.MQMON_LOW, queues_off=("A",), queues_on=3))
    assert "(3 are)" in off.text
    assert own.commands == ("ALTER QLOCAL('A') MONQ(QMGR)",)


def test_many_objects_that_are_off_are_counted_and_some_named() -> None:
    """Five queues: three commands, and the number for programs."""
    (advice,) = remark.monitoring_remarks(Switches(mq.MQMON_LOW, mq.MQMON_LOW, queues_off=tuple("ABCDE")))
    assert advice.text.startswith("5 queues have MONQ(OFF) for themselves, of which the first 3")
    assert len(advice.commands) == 3
    assert advice.facts == {"queues_off": 5}


WAITING = {"CSQX511I": ("A-1",), "CSQX512I": ("A-1", "A-2"), "CSQP020E": ("B-1",)}


def test_suppressed_messages_that_no_rule_waits_for_are_no_fault() -> None:
    assert remark.excluded_remarks((), WAITING) == ()
    assert remark.excluded_remarks(("  ",), WAITING) == ()
    (found,) = remark.excluded_remarks(("X500", "X501"), WAITING)
    assert not found.advised
    assert "CSQX500, CSQX501" in found.text
    (unknown,) = remark.excluded_remarks(("X511",), {})
    assert not unknown.advised


@pytest.mark.parametrize("excluded", [("X512", "X500"), ("CSQX512I", "x500"), ("X512 X500",)])
def test_rules_that_wait_for_suppressed_messages_are_named(excluded: tuple[str, ...]) -> None:
    """With the list that would let their messages through, in whatever form the ids are written."""
    (found,) = remark.excluded_remarks(excluded, WAITING)
    assert found.advised
    assert found.facts["silent_rules"] == ["A-1", "A-2"]
    assert "CSQX512I" in found.text
    assert "CSQP020E" not in found.text
    assert found.commands == ("SET SYSTEM EXCLMSG(X500)",)


def test_clocks_that_agree_as_far_as_can_be_told() -> None:
    """A reply put between request and arrival proves no difference; the clock's hundredths do not either."""
    assert difference_ms([]) is None
    assert difference_ms([ReplyTimes(1_050, 1_000, 1_100), ReplyTimes(2_990, 2_995, 3_100)]) == 0


def test_clocks_that_differ() -> None:
    """At least so much ahead, or behind; the closest sighting counts."""
    assert difference_ms([ReplyTimes(7_000, 1_000, 1_200), ReplyTimes(8_100, 2_000, 2_100)]) == 6_000
    assert difference_ms([ReplyTimes(1_000, 9_000, 9_100)]) == -7_990


def test_what_a_difference_means() -> None:
    """Five seconds are borne; more is advised against, with the direction."""
    assert not remark.clock_remark(-5_000).advised
    told = remark.clock_remark(-7_000)
    assert told.advised
    assert "7.0 s behind ours" in told.text
    assert "1:00:00 ahead" in remark.clock_remark(3_600_000).text


def test_a_zone_that_is_not_declared_is_not_guessed() -> None:
    """One newest time proves nothing: what is missing meanwhile is told."""
    told = remark.zone_remark(None, None, NewestTime(1_000_000, 1_000_000, 5))
    assert told.advised
    assert "ages" in told.text
    assert told.facts == {"time_zone": "not declared"}


def test_a_declared_zone_is_held_against_the_newest_time() -> None:
    """A time from the future shows that it is wrong; an old one shows nothing."""
    zone, hour, now = timezone(timedelta(hours=1)), 3_600_000, 1_795_176_000_000
    assert not remark.zone_remark("+01:00", zone, NewestTime(now + hour, now, 5)).advised
    assert not remark.zone_remark("+01:00", zone, NewestTime(now - 9 * hour, now, 5)).advised
    assert not remark.zone_remark("+01:00", zone, None).advised
    wrong = remark.zone_remark("+01:00", zone, NewestTime(now + 2 * hour, now, 5))
    assert wrong.advised
    assert "1:00:00 in the future" in wrong.text


def test_a_good_reply_queue_needs_nothing() -> None:
    """Indexed, deep, shareable, ours alone; on other platforms there is no index."""
    assert remark.reply_queue_remarks(GOOD) == ()
    elsewhere = ReplyQueue("R", dynamic=False, index_type=0, max_depth=5_000, shareability=1, openers=1)
    assert remark.reply_queue_remarks(elsewhere, zos=False) == ()
    assert len(remark.reply_queue_remarks(elsewhere)) == 1


@pytest.mark.parametrize(
    ("queue", "command"),
    [
        (ReplyQueue("R", dynamic=False, index_type=1), "ALTER QLOCAL('R') INDXTYPE(CORRELID)"),
        (ReplyQueue("R", dynamic=False, max_depth=999, largest_answer=500), "ALTER QLOCAL('R') MAXDEPTH(10000)"),
        (ReplyQueue("R", dynamic=False, max_depth=999, largest_answer=9_000), "ALTER QLOCAL('R') MAXDEPTH(18000)"),
        (ReplyQueue("R", dynamic=False, shareability=0), "ALTER QLOCAL('R') SHARE"),
        (ReplyQueue("R", dynamic=False, openers=2), "DISPLAY QSTATUS('R') TYPE(HANDLE) OPENTYPE(INPUT) ALL"),
    ],
)
def test_each_fault_of_a_reply_queue_has_its_command(queue: ReplyQueue, command: str) -> None:
    """One fault, one advice, one command."""
    (advice,) = remark.reply_queue_remarks(queue)
    assert advice.commands == (command,)


def test_stale_replies_and_dynamic_queues_are_told() -> None:
    """Neither has a command to type."""
    (stale,) = remark.reply_queue_remarks(ReplyQueue("R", dynamic=False, waiting=7))
    assert stale.text.startswith("7 messages")
    (dynamic,) = remark.reply_queue_remarks(ReplyQueue("MQVITALS.C1", dynamic=True, waiting=7))
    assert "dynamic" in dynamic.text


def test_the_page_puts_the_worst_first_and_keeps_commands_whole() -> None:
    """Texts are wrapped to the width, commands are not; what MQ names cannot steer the terminal."""
    long = "A" * 48
    findings = [
        DoctorFinding("QM01", "connect", CheckResult.WORKS, elapsed_ms=3),
        DoctorFinding(
            "QM01", "open reply queue", CheckResult.REFUSED, 2035, to_use_queues("QM01", "PRDQ", long), ("Why. " * 30,)
        ),
        DoctorFinding("QM\x1b[2J", "connect", CheckResult.FAILED, 2538),
    ]
    page = finding_lines(findings, 80)
    assert page[0] == "QM01: 1 refused, 1 works"
    assert page[1].split() == ["refused", "open", "reply", "queue", "2035", "MQRC_NOT_AUTHORIZED"]
    assert f"    PERMIT PRDQ.{long} CLASS(MXQUEUE) ID(<user>) ACCESS(UPDATE)" in page
    assert any("ICH408I" in line for line in page)
    assert not any("\x1b" in line for line in page)
    commands = ("RDEFINE", "PERMIT", "SETROPTS", "MQQUEUE", "MXQUEUE")
    assert all(len(line) <= 80 for line in page if not line.strip().startswith(commands))


def test_from_three_refused_displays_on_a_generic_profile_is_told() -> None:
    """Two are permitted one by one."""
    refused = [
        DoctorFinding("QM01", f"DISPLAY {word}", CheckResult.REFUSED, 2035, to_display("QM01", "", word))
        for word in ("LOG", "USAGE", "ARCHIVE")
    ]
    assert any("QM01.DISPLAY.*" in line for line in finding_lines(refused, 80))
    assert not any("QM01.DISPLAY.*" in line for line in finding_lines(refused[:2], 80))


def test_a_finding_for_programs_has_five_keys_and_details() -> None:
    """Everything else is in detail, which is left out when empty."""
    told = DoctorFinding(
        "QM01", "DISPLAY LOG", CheckResult.REFUSED, 2035, to_display("QM01", "", "LOG"), elapsed_ms=4
    ).as_json()
    assert told == {
        "queue_manager": "QM01",
        "check": "DISPLAY LOG",
        "result": "refused",
        "reason": 2035,
        "ask_for": [{"class": "MQCMDS", "profile": "QM01.DISPLAY.LOG", "access": "READ"}],
        "detail": {"reason_name": "MQRC_NOT_AUTHORIZED", "elapsed_ms": 4},
    }
    assert "detail" not in DoctorFinding("QM01", "put", CheckResult.WORKS).as_json()


@pytest.mark.parametrize(
    ("reason", "result"), [(0, CheckResult.WORKS), (2035, CheckResult.REFUSED), (2085, CheckResult.MISSING)]
)
def test_the_look_at_the_dead_letter_queue_is_checked(reason: int, result: CheckResult) -> None:
    """Where the settings want it; without READ the finding says what it takes, and the doctor goes on."""
    assert all(each.command != BROWSE_DEAD_LETTERS for each in examination.queries(PollingSettings()))
    query = examination.queries(PollingSettings(dead_letters=True))[-1]
    error = MqiFailure(2, reason) if reason else None
    exchange = Exchange(0, 0, 3, "QM01", query.command, query.request, (), error)
    answer = examination.DoctorAnswer(query, exchange, reason, (), complete=not reason, damaged=0, responder="")
    assert not answer.not_put
    found = access.display_finding("QM01", answer, "")
    assert (found.check, found.result) == ("browse the dead-letter queue", result)
    assert ("READ on the dead-letter queue" in " ".join(found.text)) == (reason == 2035)


@pytest.mark.parametrize(
    ("read", "check", "needed"),
    [("browse", "open SITE.EVENTS to browse", "READ"), ("get", "open SITE.EVENTS to get", "UPDATE")],
)
def test_event_queues_are_opened_as_they_are_read(read: Literal["browse", "get"], check: str, needed: str) -> None:
    """Where the settings name them; a refusal asks for the access that it takes; that messages are removed is said."""
    assert all(each.event is None for each in examination.queries(PollingSettings()))
    names = (LocatedText("SITE.EVENTS", Place("mqvitals.yaml", 1, 1)),)
    query = examination.queries(PollingSettings(events=EventSettings(names, read)))[-1]
    assert query == examination.queries_of_distributed(PollingSettings(events=EventSettings(names, read)))[-1]

    def found(reason: int) -> DoctorFinding:
        error = MqiFailure(2, reason) if reason else None
        exchange = Exchange(0, 0, 3, "QM01", query.command, query.request, (), error)
        answer = examination.DoctorAnswer(query, exchange, reason, (), complete=not reason, damaged=0, responder="")
        assert not answer.not_put
        return access.display_finding("QM01", answer, "")

    works = found(0)
    assert (works.check, works.result) == (check, CheckResult.WORKS)
    assert ("no other program gets them" in " ".join(works.text)) == (read == "get")
    refused = found(2035)
    assert refused.result is CheckResult.REFUSED
    assert {(each.profile, each.access) for each in refused.ask_for} >= {("QM01.SITE.EVENTS", needed)}
    missing = found(2085)
    assert (missing.result, missing.commands) == (CheckResult.MISSING, ("DISPLAY QUEUE(SITE.EVENTS) TYPE",))


def test_switches_of_events_that_are_off() -> None:
    """With the command that switches them on; command events of displays would be one for each poll."""
    assert remark.event_remarks({"CHLEV": mq.MQEVR_EXCEPTION, "PERFMEV": mq.MQEVR_ENABLED, "CMDEV": None}) == ()
    (off,) = remark.event_remarks({"CHLEV": mq.MQEVR_DISABLED, "SSLEV": mq.MQEVR_DISABLED, "CMDEV": mq.MQEVR_DISABLED})
    assert off.text.startswith("CHLEV, SSLEV, CMDEV are DISABLED: such events never come")
    assert off.commands == ("ALTER QMGR CHLEV(EXCEPTION) SSLEV(ENABLED) CMDEV(NODISPLAY)",)
    (displays,) = remark.event_remarks({"CMDEV": mq.MQEVR_ENABLED})
    assert displays.commands == ("ALTER QMGR CMDEV(NODISPLAY)",)

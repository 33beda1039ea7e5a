"""Lines of every carrier become messages: id, queue manager, object, time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.console.line import LineCalendar, LineTime, begins_message, day_of, parse_line
from mqvitals_agent.console.message import (
    MOST_TEXT,
    ConsoleMessage,
    JoinedMessage,
    MessageJoiner,
    MessageReader,
    wanted,
)
from mqvitals_agent.console.template import ZOS_IDS
from mqvitals_config.sections.collection import Carrier
from mqvitals_rules.expression.calls import MESSAGE_ID

NOON = 1_706_529_600_000  # 2024-01-29 12:00:00 UTC
HOUR = 3_600_000
WATCHED = {"ZQS2", "CSQ9", "VTS1", "QML1", "M9AD", "VKW7", "CSQ7"}


def recognised(
    text: str, *, carrier: Carrier = "auto", own: str = "", watched: set[str] = WATCHED, now: int = NOON + 24 * HOUR
) -> list[ConsoleMessage]:
    joiner, calendar, recogniser = MessageJoiner(wanted), LineCalendar(UTC), MessageReader(watched, own)
    joined: list[JoinedMessage] = []
    for each in text.strip("\n").split("\n"):
        line = parse_line(each, carrier)
        if line.day is not None:
            calendar.turn(line.day)
        joined += joiner.add(line, calendar.moment(line.stamp, now, live=True))
    joined += joiner.flush()
    found = [recogniser.read(each) for each in joined]
    return [each for each in found if each is not None]


@pytest.mark.parametrize(
    ("lines", "code", "owner", "kind", "name", "ends"),
    [
        (
            ("17.43.54 STC08037  CSQP013I ZQS2 CSQPEXTD NEW EXTENT CREATED FOR PAGE SET  521\n"
            "   521             4. NEW EXTENT WILL NOW BE FORMATTED"),
            "CSQP013I", "ZQS2", "page_set", "4", "PAGE SET 4. NEW EXTENT WILL NOW BE FORMATTED",
        ),
        (
            "CSQP013I ZQS2 CSQPEXTD NEW EXTENT CREATED FOR PAGE SET  521\n4. NEW EXTENT WILL NOW BE FORMATTED",
            "CSQP013I", "ZQS2", "page_set", "4", "PAGE SET 4. NEW EXTENT WILL NOW BE FORMATTED",
        ),
        (
            "17.43.55 STC08037  CSQI031I ZQS2 CSQIFRMT THE NEW EXTENT OF PAGE SET 4  522\n   522             HAS FORMATTED SUCCESSFULLY",
            "CSQI031I", "ZQS2", "page_set", "4", "PAGE SET 4 HAS FORMATTED SUCCESSFULLY",
        ),
        (
            ("+CSQX209E M9AD CSQXRESP Connection unexpectedly terminated, 926\n channel SYSTEM.DEF.SVRCONN\n"
            " connection 9.68.254.236 (9.68.254.236)\n (queue manager M9AD)\n TRPTYPE=TCP RC=00000000"),
            "CSQX209E", "M9AD", "channel", "SYSTEM.DEF.SVRCONN", "TRPTYPE=TCP RC=00000000",
        ),
        (
            ("CSQX206E @VTS1 CSQXRCTL Error sending data, 283\n283 00000090 channel VTS1_VTS2_0001\n283 00000090 connection 9.20.8.78\n"
            "283 00000090 (queue manager VTS2)\n283 00000090 TRPTYPE=TCP RC=00000462 (ENOBUFS) reason=76690324"),
            "CSQX206E", "VTS1", "channel", "VTS1_VTS2_0001", "reason=76690324",
        ),
        (
            "CSQ3106E %CSQ7    CSQ3EC0X - QUEUE MANAGER STOPPED. COMMAND NOT PROCESSED - %CSQ7 DISPLAY SYSTEM",
            "CSQ3106E", "CSQ7", "", "", "%CSQ7 DISPLAY SYSTEM",
        ),
        (
            ("M 4040000 SC47     2024029 17:43:53.12 STC08037 00000090  CSQE005I ZQS2 CSQECONN Structure TEST1 connected as  034\n"
            "D                                         034 00000090  CSQEQSGAZQS202, version=DE928A95A9012381 00020001"),
            "CSQE005I", "ZQS2", "cf_structure", "TEST1", "as CSQEQSGAZQS202, version=DE928A95A9012381 00020001",
        ),
        (
            "09:35:59  CSQP019I %CSQ9 CSQPDWP2 CHECKPOINT COMPLETED FOR\n09:35:59  BUFFER POOL 2, 2 PAGES WRITTEN",
            "CSQP019I", "CSQ9", "buffer_pool", "2", "CHECKPOINT COMPLETED FOR BUFFER POOL 2, 2 PAGES WRITTEN",
        ),
        (
            "RESPONSE=MQS2      CSQM293I ZQS2 CSQMDRTC 2 SMDSCONN FOUND MATCHING REQUEST\nRESPONSE=CRITERIA",
            "CSQM293I", "ZQS2", "", "", "MATCHING REQUEST CRITERIA",
        ),
        ("CSQP020E QML1 CSQP1RSW Buffer pool 1 is too small", "CSQP020E", "QML1", "buffer_pool", "1", "too small"),
        ("CSQP020E QML1 CSQP3GET Buffer pool 1 is too small", "CSQP020E", "QML1", "buffer_pool", "1", "too small"),
        ("CSQJ499I QML1 Log data set is larger than 4GB", "CSQJ499I", "QML1", "", "", "4GB"),
        ("CSQI007I @VKW7 CSQIRBLD BUILDING IN-STORAGE INDEX FOR A.B", "CSQI007I", "VKW7", "queue", "A.B", "A.B"),
        ("CSQI006I @VKW7 CSQIRBLD COMPLETED IN-STORAGE INDEX FOR QUEUE A.B", "CSQI006I", "VKW7", "queue", "A.B", "A.B"),
        (
            "CSQI004I @VTS1 CSQIMGE3 Consider indexing SYSTEM.PROTECTION.POLICY.QUEUE by CORRELID for BATCH connection VTS1AMSM, xxx messages skipped",
            "CSQI004I", "VTS1", "queue", "SYSTEM.PROTECTION.POLICY.QUEUE", "messages skipped",
        ),
        (
            "CSQE239I ZQS2 SMDS(ZQS2) CFSTRUCT(APPL1) data set X.Y has become full so new large messages can no longer be stored in it",
            "CSQE239I", "ZQS2", "smds", "APPL1/ZQS2", "stored in it",
        ),
        ("CSQR003I ZQS2 CSQRSTRT RESTART - PRIOR CHECKPOINT RBA=0000", "CSQR003I", "ZQS2", "", "", "RBA=0000"),
    ],
)  # fmt: skip
def test_lines_as_they_come(lines: str, code: str, owner: str, kind: str, name: str, ends: str) -> None:
    """The lines of the reference, in the forms of their carriers."""
    (found,) = recognised(lines)
    assert (found.id, found.queue_manager, found.kind, found.name) == (code, owner, kind, name)
    assert found.text.endswith(ends)


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("N 4040000 SC47     24029 11:43:53.12 STC08037 00000090  ", "2024-01-29 11:43:53.120"),
        ("N 4040000 SC47     2024029 11:43:53.12 STC08037 00000090  ", "2024-01-29 11:43:53.120"),
        ("N 4040000 SC47     2024366 11:43:53.12          00000090 ", "2024-12-31 11:43:53.120"),
        ("2024-01-29 11:43:53.123 SYS1 STC00011 ", "2024-01-29 11:43:53.123"),
        ("2024-01-29T13:43:53+02:00 ", "2024-01-29 11:43:53.000"),
        ("<13>1 2024-01-29T11:43:53.123Z host app - - - ", "2024-01-29 11:43:53.123"),
        ("<13>1 2024-01-29T11:43:53.123Z host app 12 ID [a b=\"c\"] ", "2024-01-29 11:43:53.123"),
        ("2024-01-29T11:43:53.123456+00:00 host syslogd[12]: ", "2024-01-29 11:43:53.123"),
        ("<13>1 2024-01-29T12:00:00Z host app - - - N 4040000 SC47     24029 11:43:53.12 STC08037 00000090  ", "2024-01-29 11:43:53.120"),
    ],
)  # fmt: skip
def test_times(line: str, moment: str) -> None:
    (found,) = recognised(line + "CSQP020E QML1 CSQP1RSW Buffer pool 1 is too small", now=NOON + 400 * 24 * HOUR)
    expected = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000
    assert found.ts == round(expected)


def test_a_job_log_goes_over_midnight() -> None:
    """By the line that tells the date, or where there is none, because it is earlier than before."""
    begin = "23.59.58 STC08037 ---- MONDAY,    29 JAN 2024 ----\n"
    message = "{} STC08037  CSQY022I ZQS2 CSQYASCP QUEUE MANAGER INITIALIZATION COMPLETE\n"
    told = "00.00.00 STC08037 ---- TUESDAY,   30 JAN 2024 ----\n"
    texts = (begin + message.format("23.59.59") + middle + message.format("00.00.01") for middle in ("", told))
    for text in texts:
        first, second = recognised(text, now=NOON + 100 * HOUR)
        assert (first.ts, second.ts) == (NOON + 12 * HOUR - 1000, NOON + 12 * HOUR + 1000)


def test_a_time_alone_is_the_last_such_time() -> None:
    """Today's, or yesterday's when that is still to come; not later than now, and a few minutes ahead are a clock's."""
    calendar = LineCalendar(timezone(timedelta(hours=2)))
    assert calendar.moment(LineTime(14 * HOUR), NOON, live=True) == NOON
    assert calendar.moment(LineTime(13 * HOUR), NOON, live=True) == NOON - HOUR
    assert calendar.moment(LineTime(14 * HOUR + 60_000), NOON, live=True) == NOON
    assert calendar.moment(LineTime(15 * HOUR), NOON, live=True) == NOON - 23 * HOUR
    assert calendar.moment(LineTime(1 * HOUR), NOON, live=True) == NOON - 13 * HOUR


def test_a_zone_is_derived_from_lines_that_are_new() -> None:
    """From three that name their date; those read later than they were written prove nothing."""
    day = day_of(2024, 1, 29)
    calendar = LineCalendar(None)
    for second in range(3):
        stamp = LineTime(14 * HOUR + second * 1000, day)
        assert calendar.moment(stamp, NOON + 2_000 + second * 1000, live=False) == NOON + 2_000 + second * 1000
    for second in range(3, 6):
        last = calendar.moment(LineTime(14 * HOUR + second * 1000, day), NOON + 2_000 + second * 1000, live=True)
    assert last == NOON + 5_000
    assert calendar.moment(LineTime(13 * HOUR, day), NOON, live=False) == NOON - HOUR


def test_messages_of_several_jobs_between_each_other() -> None:
    """By their numbers; a number at the end that nothing follows belongs to the message."""
    found = recognised(
        "17.43.53 STC00001  CSQX023I ZQS2 CSQXLSTT Listener started,   172\n"
        "17.43.53 STC00002  CSQW130I QML1 CSQWVCM1 'STAT' TRACE STARTED, ASSIGNED TRACE NUMBER 173\n"
        "17.43.53 STC00003  IEF403I ELSE - STARTED\n"
        "   172             port 1424 address *\n"
        "   999             of nobody\n"
    )
    assert sorted(each.text.split(" ", 2)[2] for each in found) == [
        "CSQWVCM1 'STAT' TRACE STARTED, ASSIGNED TRACE NUMBER 173",
        "CSQXLSTT Listener started, port 1424 address *",
    ]


def test_whose_a_message_is() -> None:
    """The prefix, also behind a special character; else the job's name; else what was declared."""
    text = " CSQP1RSW Buffer pool 1 is too small"
    for prefix in ("QML1", "!QML1", "+QML1"):
        assert [each.queue_manager for each in recognised(f"CSQP020E {prefix}{text}")] == ["QML1"]
    assert recognised(f"CSQP020E !QM77{text}") == []
    assert [each.queue_manager for each in recognised(f"CSQP020E =ABC{text}", own="QML1")] == ["QML1"]
    assert [each.queue_manager for each in recognised(f"CSQP020E ZQS2{text}", own="QML1")] == ["ZQS2"]
    job = "12.00.00 STC00007  $HASP373 QML1MSTR STARTED\n12.00.01 STC00007  CSQP020E =ABC" + text
    assert [(each.id, each.queue_manager) for each in recognised(job)] == [("$HASP373", "QML1"), ("CSQP020E", "QML1")]


def test_without_prefix_the_text_is_whole() -> None:
    (found,) = recognised("CSQP020E Buffer pool 7 is too small", own="QML1")
    assert (found.kind, found.name) == ("buffer_pool", "7")


def test_messages_of_the_system() -> None:
    """Of everybody, or of the queue manager whose job or profile they name; those of other programs are left out."""
    assert [each.queue_manager for each in recognised("IRA200E AUXILIARY STORAGE SHORTAGE")] == [""]
    (full,) = recognised("IXC585E STRUCTURE QSGAAPPL1 IN COUPLING FACILITY CF01, PHYSICAL STRUCTURE VERSION X")
    assert (full.kind, full.name, full.queue_manager) == ("cf_structure", "APPL1", "")
    assert [each.queue_manager for each in recognised("IEC070I 034(004)-220,QML1MSTR,X,A.B,,,")] == ["QML1"]
    assert recognised("IEC070I 034(004)-220,PAYROLL,X,A.B,,,") == []
    refused = "ICH408I USER(U) GROUP(G) NAME(N) {} CL(MQQUEUE ) INSUFFICIENT ACCESS AUTHORITY"
    assert [each.queue_manager for each in recognised(refused.format("QML1.ORDERS"))] == ["QML1"]
    assert recognised(refused.format("QM77.ORDERS")) == []
    assert recognised("IEF403I QML1MSTR - STARTED") == []


def test_rules_can_name_what_is_kept() -> None:
    assert all(MESSAGE_ID.fullmatch(code) for code in ZOS_IDS if not code.startswith("$"))
    assert not MESSAGE_ID.fullmatch("IEF403I")


@given(text=st.text(), carrier=st.sampled_from(get_args(Carrier)))
def test_any_line_is_a_line(text: str, carrier: Carrier) -> None:
    parse_line(text, carrier)
    begins_message(text, carrier)


@given(
    lines=st.lists(st.text(st.characters(codec="utf-8"), max_size=200), max_size=30), own=st.sampled_from(["", "QML1"])
)
def test_any_lines_are_messages_or_none(lines: list[str], own: str) -> None:
    for found in recognised("\n".join(["CSQP020E QML1 x", *lines]), own=own):
        assert len(found.text) <= MOST_TEXT


@pytest.mark.parametrize(
    "filler", [" ", "- ", "1 ", "[", "a ", "channel A connection ", "(queue manager ) ", "283 ", "CSQX206E "]
)
def test_long_messages_take_no_time(filler: str) -> None:
    """No text makes an expression search for long: the time limit of the test is the proof."""
    for code in ("CSQX206E", "CSQI004I", "ICH408I", "CSQE005I"):
        recognised(f"{code} QML1 CSQXRCTL Error sending data, " + filler * 2_000)
    for begin in (
        "",
        "D ",
        "12.00.00 STC00007  ",
        "   172 ",
        "12:00:00 ",
        "<13>1 2024-01-29T11:43:53Z h ",
        "Jan 29 11:43:53 h ",
    ):
        recognised(
            f"CSQP020E QML1 x\n{begin}{filler * 8_000}x\n{begin}{filler * 8_000} 123\n{begin}{filler * 8_000}\n123 00000090 x"
        )

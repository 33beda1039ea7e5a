"""The messages that IBM's documents print: each is recognised, and the rule that waits for it speaks, or knows better."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from functools import cache

import pytest

from mqvitals_agent.console.line import LineCalendar, parse_line
from mqvitals_agent.console.message import (
    ConsoleMessage,
    JoinedMessage,
    MessageJoiner,
    MessageReader,
    message_inserts,
    wanted,
)
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory, ObjectMessage
from mqvitals_rules.lifecycle.alert import AlertState
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS

NOON = 1_767_268_800_000
"""2026-01-01 12:00 UTC."""
Values = Mapping[str, Reported]


@cache
def shipped() -> RuleConfig:
    return load_rule_config(Settings())


def recognised(lines: str, own: str) -> list[ConsoleMessage]:
    joiner, calendar, recogniser = MessageJoiner(wanted), LineCalendar(UTC), MessageReader({own}, own)
    joined: list[JoinedMessage] = []
    for each in lines.strip().split("\n"):
        line = parse_line(each.strip(), "auto")
        joined += joiner.add(line, calendar.moment(line.stamp, NOON, live=True))
    found = map(recogniser.read, [*joined, *joiner.flush()])
    return [each for each in found if each is not None]


def firing(lines: str, judged: ObjectName, values: Values) -> dict[str, str]:
    """The rules that fire for an object a moment after the lines, with the alerts' words."""
    history = MemoryHistory()
    engine = Engine(shipped().rules, shipped().facts, history)
    history.follow(judged.owner)
    for message in recognised(lines, judged.owner):
        named = ObjectName(judged.owner, message.kind, message.name) if message.kind else None
        inserts = tuple(message_inserts(message.text).items())
        history.add_message(judged.owner, ObjectMessage(message.ts, message.id, named, 1, inserts))
    reading = Reading(judged, KINDS[judged.kind].poll, NOON, values)
    snapshot = Snapshot(judged.owner, group=False, cycle=1, ts=NOON, readings=(reading,))
    history.add(snapshot)
    engine.evaluate(snapshot)
    return {str(alert.key.rule): alert.summary for alert in engine.open_alerts if alert.state is AlertState.FIRING}


TOO_SMALL = "2026-01-01T11:59:00Z CSQP020E QML1 CSQP1RSW Buffer pool 1 is too small"
BY_A_GET = "2026-01-01T11:59:00Z CSQP020E QML1 CSQP3GET Buffer pool 1 is too small"
LARGE_LOG = "2026-01-01T11:59:00Z CSQJ499I QML1 Log data set is larger than 4GB"
BUILDING = "2026-01-01T11:50:00Z CSQI007I @VKW7 CSQIRBLD BUILDING IN-STORAGE INDEX FOR PAY.ORDERS"
BUILT = "2026-01-01T11:58:00Z CSQI006I @VKW7 CSQIRBLD COMPLETED IN-STORAGE INDEX FOR PAY.ORDERS"
INDEX_ADVICE = (
    "2026-01-01T11:59:00Z CSQI004I @VTS1 CSQIMGE3 Consider indexing {queue} by CORRELID for BATCH connection VTS1AMSM,"
    " 120 messages skipped"
)
REPLAY = """
    2026-01-01T11:00:00Z CSQR003I QML1 RECOVERY - PRIOR CHECKPOINT RBA=000000C1A000
    2026-01-01T11:30:00Z CSQR006I QML1 FORWARD RECOVERY COMPLETE
"""
SHORTAGE = "2026-01-01T11:59:00Z IRA200E AUXILIARY STORAGE SHORTAGE"
POLICIES = "SYSTEM.PROTECTION.POLICY.QUEUE"


@pytest.mark.parametrize(
    ("rule", "lines", "judged", "values", "speaks"),
    [
        ("BP-11", TOO_SMALL, "QML1/buffer_pool/1", {"free_pct": 60}, True),
        ("BP-11", BY_A_GET, "QML1/buffer_pool/1", {"free_pct": 60}, True),
        ("BP-11", TOO_SMALL, "QML1/buffer_pool/2", {"free_pct": 60}, False),
        ("LOG-01", LARGE_LOG, "QML1/log", {"used_pct": 10}, True),
        ("Q-10", BUILDING, "VKW7/queue/PAY.ORDERS", {"depth": 5}, True),
        ("Q-10", f"{BUILDING}\n{BUILT}", "VKW7/queue/PAY.ORDERS", {"depth": 5}, False),
        ("APP-04", INDEX_ADVICE.format(queue="PAY.ORDERS"), "VTS1/queue/PAY.ORDERS", {"depth": 5}, True),
        ("APP-04", INDEX_ADVICE.format(queue=POLICIES), f"VTS1/queue/{POLICIES}", {"depth": 5}, False),
        ("CFG-06", SHORTAGE, "QML1/queue_manager", {"reachable": 1}, True),
        ("LOG-16", REPLAY, "QML1/log", {"used_pct": 10}, True),
    ],
)
def test_c_22_messages_and_their_rules(rule: str, lines: str, judged: str, values: Values, *, speaks: bool) -> None:
    """Each speaks for the object that the message names, and for nothing else."""
    name = ObjectName.parse(judged)
    assert recognised(lines, name.owner)
    assert (rule in firing(lines, name, values)) is speaks


def test_c_22_security_intervals() -> None:
    """They are kept for the inventory; no rule waits for them."""
    lines = """
        2026-01-01T11:59:00Z CSQH015I MQPB Security timeout = 54 minutes
        2026-01-01T11:59:00Z CSQH016I MQPB Security interval = 12 minutes
    """
    assert [each.id for each in recognised(lines, "MQPB")] == ["CSQH015I", "CSQH016I"]
    assert firing(lines, ObjectName("MQPB", "queue_manager"), {"reachable": 1}) == {}


SMDS = "SMDS(QM01) CFSTRUCT(APPL1)"
NET = "connection mvs2 (10.1.2.3) (queue manager QM02) TRPTYPE=TCP RC=00000468"


@pytest.mark.parametrize(
    ("rule", "text", "judged", "values", "words"),
    [
        ("CSQJ-111", "CSQJ111A QM01 CSQJW307 OUT OF SPACE IN ACTIVE LOG DATA SETS", "log", {"full_logs": 4, "total_logs": 4}, "CSQJ111A at 11:59:00 UTC"),
        ("CSQJ-110", "CSQJ110E QM01 CSQJW307 LAST COPY1 ACTIVE LOG DATA SET IS 95 PERCENT FULL", "log", {"full_logs": 3, "total_logs": 4}, "95 %"),
        ("CSQJ-103", "CSQJ103E QM01 CSQJDS01 LOG ALLOCATION ERROR DSNAME=MQ.ARC.A1, ERROR STATUS=04A8000C, SMS REASON CODE=00000000", "log", {"full_logs": 1}, "MQ.ARC.A1, status 04A8000C"),
        ("CSQJ-008", "CSQJ008E QM01 3 OF 4 ACTIVE LOGS ARE FULL, QM01 NEEDS ARCHIVE SCRATCH", "log", {"full_logs": 3}, "3 of 4 active logs"),
        ("CSQI-047", "CSQJ032E QM01 CRITICAL - APPROACHING END OF THE LOG RBA RANGE OF 0000FFFFFFFFFFFF. CURRENT LOG RBA IS 0000FF9000000000.", "log", {"full_logs": 0}, "at 0000FF9000000000"),
        ("CSQP-014", "CSQP014E QM01 CSQPEXTD EXPANSION FAILED FOR PAGE SET 4. FUTURE REQUESTS TO EXTEND IT WILL BE REJECTED", "page_set/4", {"used_pct": 85, "status": 0}, "is 85 % full"),
        ("CSQV-086", "CSQV086E QM01 QUEUE MANAGER ABNORMAL TERMINATION REASON=00D93001", "queue_manager", {"reachable": 1}, "reason 00D93001"),
        ("CSQY-220", "CSQY220I QM01 CSQSCTL Queue manager storage usage: local storage: used 1700MB, free 95MB: above bar: used 2GB, free 62GB", "queue_manager", {"reachable": 1}, "95 MB are free"),
        ("CSQX-218", "CSQX218E QM01 CSQXLSTT Listener not started - unable to bind, port 1424 address * TRPTYPE=TCP INDISP=QMGR RC=00000453", "channel_initiator", {"status": 2}, "to port 1424, RC 00000453"),
        ("CSQX-202", f"CSQX202E QM01 CSQXRCTL Connection or remote listener unavailable, channel TO.QM02 {NET}", "channel/TO.QM02", {"status": 5}, "not reached: mvs2 (10.1.2.3), RC 00000468"),
        ("CSQX-489", "CSQX490E QM01 CSQXRESP Maximum client instance limit 20 exceeded, channel PAY.CLIENT connection 10.1.2.3", "channel/PAY.CLIENT", {"status": 3}, "MAXINSTC is 20, for 10.1.2.3"),
        ("OPS-161", "CSQX548E QM01 CSQXRESP Messages sent to local dead-letter queue, channel TO.QM01, reason=2192", "channel/TO.QM01", {"status": 3}, "reason 2192"),
        ("OPS-224", "CSQX777E QM01 CSQXRESP Channel PAY.CLIENT from 10.1.2.3 has been blocked due to USERSRC(NOACCESS), Detail: CLNTUSER(x)", "channel_initiator", {"status": 2}, "10.1.2.3 on PAY.CLIENT, USERSRC(NOACCESS)"),
        ("CSQE-213", f"CSQE213I QM01 CSQEDSS2 {SMDS} data set MQ.SMDS is now 92% full", "smds/APPL1/QM01", {"used_pct": 92}, "92 %"),
        ("CSQ2-011", "CSQ2011I QM01 CSQ2MEM0 DISCONNECTED FROM PARTNER, XCFGNAME=IMSGRP XCFMNAME=IMSA", "queue_manager", {"reachable": 1}, "partner IMSA"),
    ],
)  # fmt: skip
def test_a_printed_line_raises_the_alert_with_what_it_names(
    rule: str, text: str, judged: str, values: Values, words: str
) -> None:
    """From the line of a file to the words of the alert: id, object, inserts with their units."""
    found = firing(f"2026-01-01T11:59:00Z {text}", ObjectName.parse(f"QM01/{judged}"), values)
    assert rule in found
    assert words in found[rule]

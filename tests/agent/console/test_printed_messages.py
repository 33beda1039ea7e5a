"""The messages that IBM's documents print: each is recognised, and the rule that waits for it speaks, or knows better."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from functools import cache

import pytest

from mqvitals_agent.console.line import LineCalendar, parse_line
from mqvitals_agent.console.message import ConsoleMessage, JoinedMessage, MessageJoiner, MessageReader, wanted
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


def firing(lines: str, judged: ObjectName, values: Values) -> set[str]:
    """The rules that fire for an object a moment after the lines."""
    history = MemoryHistory()
    engine = Engine(shipped().rules, shipped().facts, history)
    history.follow(judged.owner)
    for message in recognised(lines, judged.owner):
        named = ObjectName(judged.owner, message.kind, message.name) if message.kind else None
        history.add_message(judged.owner, ObjectMessage(message.ts, message.id, named))
    reading = Reading(judged, KINDS[judged.kind].poll, NOON, values)
    snapshot = Snapshot(judged.owner, group=False, cycle=1, ts=NOON, readings=(reading,))
    history.add(snapshot)
    engine.evaluate(snapshot)
    return {str(alert.key.rule) for alert in engine.open_alerts if alert.state is AlertState.FIRING}


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
    assert firing(lines, ObjectName("MQPB", "queue_manager"), {"reachable": 1}) == set()

"""The text of an alert that waits for console messages: which came, how often, first and last, and what they name."""

from __future__ import annotations

import pytest

from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory, ObjectMessage
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

NOON = 1_767_268_800_000
"""2026-01-01 12:00 UTC."""
LOG = ObjectName("QM01", "log")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def text_of(when: str, summary: str, *messages: ObjectMessage) -> str:
    """The alert's text at noon, of a rule about the log with these messages; empty when it does not fire."""
    pack = f"""
rules:
  - {{id: OWN-01, title: t, kind: operational, scope: log, when: '{when}', severity: warning, summary: '{summary}', hold: {{polls: 1}},
     advice: a, caveat: c, source: {{document: d, section: s}}}}"""
    decoded, problems = decode_packs([("own.yaml", pack)], KINDS)
    assert not problems
    history = MemoryHistory()
    history.follow("QM01")
    for each in messages:
        history.add_message("QM01", each)
    engine = Engine(RuleSet(decoded, KINDS), Facts(KINDS), history)
    snapshot = Snapshot("QM01", False, 1, NOON, (Reading(LOG, "INQUIRE_LOG", NOON, {"used_pct": 5}, 10_000),))
    history.add(snapshot)
    engine.evaluate(snapshot)
    return next((alert.summary for alert in engine.open_alerts), "")


def came(ago: int, code: str, times: int = 1, **inserts: str) -> ObjectMessage:
    return ObjectMessage(NOON - ago, code, None, times, tuple(inserts.items()))


@pytest.mark.parametrize(
    ("when", "messages", "words"),
    [
        ('seen("CSQJ111A", "30m")', [came(MINUTE, "CSQJ111A")], "CSQJ111A at 11:59:00 UTC"),
        (
            'times("CSQX776E", "CSQX777E", "30m") > 0',
            [came(HOUR, "CSQX777E"), came(20 * MINUTE, "CSQX777E", 1_500), came(MINUTE, "CSQX776E")],
            "CSQX777E 1,500 times, CSQX776E once, first 11:40:00, last 11:59:00 UTC",
        ),
        (
            'open("CSQJ004I", "CSQJ005I")',
            [came(3 * DAY, "CSQJ004I"), came(2 * DAY, "CSQJ005I"), came(DAY, "CSQJ004I"), came(MINUTE, "CSQJ004I")],
            "CSQJ004I 2 times, first 2025-12-31 12:00, last 11:59:00 UTC",
        ),
        (
            'open("CSQY002I", "CSQY022I") and not seen("CSQY009I", "1m")',
            [came(2 * MINUTE, "CSQY009I"), came(2 * MINUTE, "CSQY002I")],
            "CSQY002I at 11:58:00 UTC",
        ),
        ('latest("CSQJ110E", "pct") > 50', [came(DAY, "CSQJ110E", pct="60"), came(HOUR, "CSQJ110E", pct="70")], "CSQJ110E at 11:00:00 UTC"),
        ('seen("CSQJ111A", "1h") or seen("CSQJ111A", "10m")', [came(MINUTE, "CSQJ111A")], "CSQJ111A at 11:59:00 UTC"),
    ],
)  # fmt: skip
def test_which_came_how_often_first_and_last(when: str, messages: list[ObjectMessage], words: str) -> None:
    """Those that make the condition true: of the window, or since what ended them; none after ``not``."""
    assert text_of(when, "it is so", *messages) == f"it is so ({words})"


def test_a_condition_without_messages_says_nothing_of_them() -> None:
    assert text_of('used_pct > 1 or seen("CSQJ111A", "1h")', "it is so") == "it is so"


def test_what_the_newest_message_names() -> None:
    """Of the messages behind the alert: an older one is not its reason, and its aside is left out."""
    summary = "log[[, {CSQJ110E.pct} %]][[, {CSQJ103E.dsname|CSQJ128E.dsname}]]: {CSQJ004I.copy}"
    text = text_of(
        'seen("CSQJ110E", "CSQJ128E", "CSQJ103E", "30m")',
        summary,
        came(2 * MINUTE, "CSQJ110E", pct="60"),
        came(MINUTE, "CSQJ110E", pct="65"),
        came(MINUTE, "CSQJ128E", dsname="MQ.\x1b[31mDS02"),
        came(HOUR, "CSQJ103E", dsname="TOO.OLD"),
        came(MINUTE, "CSQJ004I", copy="2"),
    )
    assert text.startswith("log, 65 %, MQ. [31mDS02: unknown (")
    long = text_of('seen("CSQJ103E", "30m")', "{CSQJ103E.dsname}", came(MINUTE, "CSQJ103E", dsname="X" * 4_000))
    assert len(long) < 200


@pytest.mark.parametrize(
    "field", ["CSQJ110E", "CSQJ110E.", "csqj110e.pct", "CSQJ110E.Pct", "CSQJ110E.pct|", "IEF403I.job"]
)
def test_an_insert_is_checked(field: str) -> None:
    pack = f"""
rules:
  - {{id: OWN-01, title: t, kind: operational, scope: log, when: used_pct > 1, severity: warning, summary: 'a {{{field}}}',
     advice: a, caveat: c, source: {{document: d, section: s}}}}"""
    _, problems = decode_packs([("own.yaml", pack)], KINDS)
    assert len(problems) == 1

"""A queue explains what holds its messages only with a share of it; who is behind a transmission queue explains that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mqvitals_config.sections.rules import RuleSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState, overshadowed
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, with_derived
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

RULE = """\
  - id: {id}
    title: A rule
    kind: operational
    scope: {scope}
    when: {when}
    {more}
    hold: {{polls: 1}}
    clear: {{polls: 1}}
    severity: {severity}
    summary: "{{name}}"
    advice: Look at it.
    caveat: None.
    source: {{document: Our own handbook, section: Rules}}
"""
XMITQ = KINDS["queue"].metric("usage").values["XMITQ"]  # type: ignore[union-attr]
RUNNING, RETRYING = (KINDS["channel"].metric("status").values[word] for word in ("RUNNING", "RETRYING"))  # type: ignore[union-attr]
SDR = KINDS["channel"].metric("type").values["SDR"]  # type: ignore[union-attr]

Values = Mapping[str, Reported]


def rule(name: str, scope: str, when: str, more: str = "caused_by: []", severity: str = "critical") -> str:
    return RULE.format(id=name, scope=scope, when=when, more=more, severity=severity)


def rules(*texts: str, **more: Any) -> RuleSet:
    found, problems = decode_packs([("own.yaml", "rules:\n" + "".join(texts))], KINDS)
    assert problems == []
    return RuleSet(tuple(found), KINDS, **more)


STORAGE = (
    rule("OWN-Q", "queue", "depth >= 20"),
    rule("OWN-PS", "page_set", "used_pct >= 95", "caused_by: [OWN-Q]"),
    rule("OWN-BP", "buffer_pool", "free_pct < 5", "caused_by: [OWN-Q]"),
    rule("OWN-CF", "cf_structure", "entries_used > 0.9 * entries_max", "caused_by: [OWN-Q]"),
)


class Site:
    """An engine over owners that are polled in turn."""

    def __init__(self, ruleset: RuleSet) -> None:
        self.history = MemoryHistory()
        self.engine = Engine(ruleset, Facts(KINDS), self.history)
        self.cycle = 0

    def poll(self, owner: str, objects: Mapping[str, Values]) -> None:
        self.cycle += 1
        ts = self.cycle * 10_000
        names = {ObjectName(owner, *word.split("/")): values for word, values in objects.items()}
        readings = tuple(
            Reading(name, KINDS[name.kind].poll, ts, with_derived(name.kind, values), 10_000)
            for name, values in names.items()
        )
        group = any(KINDS[name.kind].of_group for name in names)
        snapshot = Snapshot(owner, group, self.cycle, ts, readings)
        self.history.add(snapshot)
        self.engine.evaluate(snapshot)

    @property
    def causes(self) -> dict[str, str | None]:
        """Rule and object of each alert -> the rule and owner of what explains it."""
        return {
            f"{alert.key.rule} {alert.scope}": f"{alert.cause.rule} {alert.cause.object}" if alert.cause else None
            for alert in self.engine.open_alerts
            if alert.state is AlertState.FIRING
        }


@pytest.mark.parametrize(
    ("depth", "pages", "share", "page_set", "pool"),
    [
        (20, None, 0.2, False, False),  # share 0.00002: a back-out queue on a page set that another one fills
        (800_000, None, 0.2, True, True),  # share 0.83
        (191_999, None, 0.2, False, True),
        (192_000, None, 0.2, True, True),
        (100_000, 1.9, 0.2, False, True),
        (100_000, 2.0, 0.2, True, True),
        (19_200, None, 0.2, False, True),
        (19_199, None, 0.2, False, False),
        (20, None, 0.0, True, True),
        (800_000, None, 0.9, False, True),
        (Absence.NOT_RETURNED, 2.0, 0.2, False, False),
    ],
)
def test_a_share_of_the_pages(depth: Reported, pages: float | None, share: float, page_set: bool, pool: bool) -> None:
    """Of the 960,000 used pages of a page set of 1,000,000, and of 96,000 buffers in use of its pool."""
    site = Site(rules(STORAGE[0].replace("depth >= 20", "max_depth > 0"), *STORAGE[1:], cause_share=share))
    queue: dict[str, Reported] = {"depth": depth, "max_depth": 999_999_999, "page_set": 4}
    site.poll(
        "QM01",
        {
            "queue/PAY.IN": queue if pages is None else queue | {"avg_msg_pages": pages},
            "page_set/4": {"total_pages": 1_000_000, "unused_pages": 40_000 if pages != 2 else 0, "buffer_pool": 3},
            "buffer_pool/3": {"total": 100_000, "free": 4_000, "free_pct": 4},
        },
    )
    found = site.causes
    assert found["OWN-Q QM01/queue/PAY.IN"] is None
    assert found["OWN-PS QM01/page_set/4"] == ("OWN-Q QM01/queue/PAY.IN" if page_set else None)
    assert found["OWN-BP QM01/buffer_pool/3"] == ("OWN-Q QM01/queue/PAY.IN" if pool else None)


def test_of_several_queues_the_one_with_a_share_explains() -> None:
    site = Site(rules(*STORAGE))
    site.poll(
        "QM01",
        {
            "queue/PAY.BACKOUT": {"depth": 20, "page_set": 4},
            "queue/PAY.IN": {"depth": 800_000, "page_set": 4},
            "page_set/4": {"total_pages": 1_000_000, "unused_pages": 40_000},
        },
    )
    assert site.causes["OWN-PS QM01/page_set/4"] == "OWN-Q QM01/queue/PAY.IN"


@pytest.mark.parametrize(("depth", "explained"), [(20_000, True), (19_999, False)])
def test_a_share_of_the_entries(depth: int, explained: bool) -> None:
    site = Site(rules(*STORAGE))
    structure: Values = {"entries_used": 100_000, "entries_max": 100_500}
    site.poll("QSG1", {"cf_structure/A": structure, "queue/PAY": {"depth": depth, "cf_structure": "A"}})
    assert site.causes["OWN-CF QSG1/cf_structure/A"] == ("OWN-Q QSG1/queue/PAY" if explained else None)


def test_during_an_outage_the_cause_stays() -> None:
    """A depth that is not known makes no queue the cause, and takes none away."""
    site = Site(rules(STORAGE[0].replace("depth >= 20", "max_depth > 0"), STORAGE[1]))
    page_set: Values = {"total_pages": 1_000_000, "unused_pages": 40_000}
    for depth in (800_000, Absence.NO_ANSWER):
        queue: Values = {"depth": depth, "max_depth": 5000, "page_set": 4}
        site.poll("QM01", {"queue/PAY": queue, "page_set/4": page_set})
        assert site.causes["OWN-PS QM01/page_set/4"] == "OWN-Q QM01/queue/PAY"


def test_what_is_milder_hides_nothing() -> None:
    """The queue is only a warning: the page set, which is critical, names it and is told of beside it."""
    site = Site(rules(STORAGE[0].replace("critical", "warning"), STORAGE[1]))
    page_set: Values = {"total_pages": 1_000_000, "unused_pages": 40_000}
    site.poll("QM01", {"queue/PAY": {"depth": 800_000, "page_set": 4}, "page_set/4": page_set})
    assert site.causes["OWN-PS QM01/page_set/4"] == "OWN-Q QM01/queue/PAY"
    assert overshadowed(site.engine.open_alerts, {}) == {}


def test_the_share_is_a_setting() -> None:
    assert load_rule_config(Settings()).rules.cause_share == 0.2
    assert load_rule_config(Settings(rules=RuleSettings(cause_share=0.5))).rules.cause_share == 0.5
    with pytest.raises(ValueError, match="between 0 and 1"):
        RuleSettings(cause_share=1.5)


PARTNERS = (
    rule("OWN-DOWN", "queue_manager", "reachable == NO"),
    rule("OWN-XQ", "queue", "usage == XMITQ and depth > 0", "caused_by_partner: [OWN-DOWN]"),
    rule("OWN-CH", "channel", "status == RETRYING", "caused_by_partner: [OWN-DOWN]"),
)
DOWN = "OWN-DOWN QM07/queue_manager"


@pytest.mark.parametrize(
    ("queue", "channel", "explained"),
    [
        ("QM07", None, True),
        ("QM08", None, False),
        ("TO.THEM", None, False),
        ("TO.THEM", {"remote_queue_manager": "QM07"}, True),
        ("QM07", {"remote_queue_manager": "QM07"}, True),
        ("QM07", {"remote_queue_manager": "QM08"}, False),
        ("QM07", {"remote_queue_manager": ""}, True),
        ("TO.THEM", {"remote_queue_manager": ""}, False),
        ("TO.THEM", {"remote_queue_manager": Absence.NO_ANSWER}, False),
    ],
)
def test_a_transmission_queue_leads_to_its_partner(queue: str, channel: Values | None, explained: bool) -> None:
    """Where its channel leads; where none is known, to the queue manager of its name."""
    site = Site(rules(*PARTNERS))
    objects: dict[str, Values] = {f"queue/{queue}": {"usage": XMITQ, "depth": 40}}
    if channel is not None:
        objects["channel/C"] = {"status": RUNNING, "type": SDR, "xmitq": queue, **channel}
    site.poll("QM07", {"queue_manager": {"reachable": 0}})
    site.poll("QM02", objects)
    assert site.causes[f"OWN-XQ QM02/queue/{queue}"] == (DOWN if explained else None)


def test_one_notice_in_a_mesh() -> None:
    """Nine members lose a tenth: its alert explains the channels and queues of all, and not those to others."""
    site = Site(rules(*PARTNERS))
    site.poll("QM07", {"queue_manager": {"reachable": 0}})
    members = [f"QM{n:02}" for n in range(1, 11) if n != 7]
    for member in members:
        to = {"status": RETRYING, "type": SDR, "xmitq": "QM07", "remote_queue_manager": ""}
        site.poll(
            member,
            {
                "channel/TO.QM07": to,
                "queue/QM07": {"usage": XMITQ, "depth": 40},
                "channel/TO.QM08": to | {"xmitq": "QM08", "remote_queue_manager": "QM08"},
            },
        )
    causes = site.causes
    for member in members:
        assert causes[f"OWN-CH {member}/channel/TO.QM07"] == causes[f"OWN-XQ {member}/queue/QM07"] == DOWN
        assert causes[f"OWN-CH {member}/channel/TO.QM08"] is None


def test_a_shared_transmission_queue_has_the_channels_of_all_members() -> None:
    """Its owner is the group: a channel of any member drains it, and leads where it leads."""
    drained = rule("OWN-ON", "queue", "usage == XMITQ and any(channel, status == RUNNING)", severity="info")
    site = Site(rules(*PARTNERS, drained))
    queue: Values = {"usage": XMITQ, "depth": 40}
    site.poll("QM07", {"queue_manager": {"reachable": 0}})
    channel: dict[str, Reported] = {"type": SDR, "xmitq": "XQ", "remote_queue_manager": "QM07", "status": RETRYING}
    for status in (RETRYING, RUNNING, RETRYING):
        site.poll("QM01", {"queue_manager": {"reachable": 1, "qsg_name": "QSG1"}, "channel/A": channel})
        site.poll(
            "QM02",
            {"queue_manager": {"reachable": 1, "qsg_name": "QSG1"}, "channel/A": channel | {"status": status}},
        )
        site.poll("QSG1", {"qsg": {"members_active": 2}, "queue/XQ": queue})
        assert ("OWN-ON QSG1/queue/XQ" in site.causes) is (status == RUNNING)
        assert site.causes["OWN-XQ QSG1/queue/XQ"] == DOWN

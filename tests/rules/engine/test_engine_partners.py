"""A queue manager that cannot be reached explains the channels of others that lead to it, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState, overshadowed
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

CHANNEL = KINDS["channel"]
SDR, CLUSSDR, RCVR = (CHANNEL.metric("type").values[word] for word in ("SDR", "CLUSSDR", "RCVR"))  # type: ignore[union-attr]
RETRYING = CHANNEL.metric("status").values["RETRYING"]  # type: ignore[union-attr]
Values = Mapping[str, Reported]
DOWN: Values = {"reachable": 0, "reason": 2538}
UP: Values = {"reachable": 1, "reason": 0}
TO_QM02: dict[str, Reported] = {
    "status": RETRYING,
    "type": SDR,
    "indoubt": 0,
    "remote_queue_manager": "QM02",
    "xmitq": "QM02",
}


def rules(*chosen: str) -> RuleSet:
    """The shipped rules of an incident that a partner causes, or those of these ids."""
    every = load_rule_config(Settings()).rules
    chosen = chosen or ("AGENT-01", "CHL-16", "Q-01")
    return replace(every, rules=tuple(rule for rule in every.rules if rule.id in chosen), compiled={})


class Group:
    """Queue managers that are polled in turn, QM01 first."""

    def __init__(self, *chosen: str) -> None:
        self.history = MemoryHistory()
        self.engine = Engine(rules(*chosen), Facts(KINDS), self.history)
        self.cycle = 0

    def poll(self, **owners: Mapping[str, Values]) -> None:
        self.cycle += 1
        ts = self.cycle * 10_000
        for owner, objects in owners.items():
            readings = tuple(
                Reading(ObjectName(owner, *word.split("/", 1)), KINDS[word.split("/")[0]].poll, ts, values, 10_000)
                for word, values in objects.items()
            )
            snapshot = Snapshot(owner, False, self.cycle, ts, readings)
            self.history.add(snapshot)
            self.engine.evaluate(snapshot)

    def causes(self) -> dict[str, str | None]:
        return {
            f"{alert.key.rule} {alert.scope}": str(alert.cause.object) if alert.cause else None
            for alert in self.engine.open_alerts
            if alert.state is AlertState.FIRING
        }


def test_one_incident_with_its_effects() -> None:
    """The channel, and through it the transmission queue, of each other member; when the partner is back they stand alone."""
    full: Values = {"depth": 5000, "max_depth": 5000}
    member = {"queue_manager": UP, "channel/A": TO_QM02, "queue/QM02": full}
    group = Group()
    for _ in range(3):
        group.poll(QM01=member, QM02={"queue_manager": DOWN}, QM03=member)
    causes = group.causes()
    assert causes["AGENT-01 QM02/queue_manager"] is None
    assert causes["CHL-16 QM01/channel/A"] == causes["CHL-16 QM03/channel/A"] == "QM02/queue_manager"
    covered = overshadowed(group.engine.open_alerts, {})
    assert {key.rule for key in covered.values()} == {"AGENT-01"}
    # A full transmission queue is worse than a channel that retries, so that it is told of beside.
    assert {f"{key.rule} {key.object}" for key in covered} >= {"CHL-16 QM01/channel/A", "CHL-16 QM03/channel/A"}
    group.poll(QM01=member, QM02={"queue_manager": UP}, QM03=member)
    group.poll(QM01=member, QM02={"queue_manager": UP}, QM03=member)
    assert group.causes()["CHL-16 QM01/channel/A"] is None


@pytest.mark.parametrize(
    ("changed", "explained"),
    [
        ({}, True),
        ({"remote_queue_manager": "QM02" + " " * 44}, True),
        ({"remote_queue_manager": "QM03"}, False),
        ({"remote_queue_manager": "PRDQSG"}, False),
        ({"remote_queue_manager": ""}, True),
        ({"remote_queue_manager": Absence.NOT_RETURNED}, True),
        ({"remote_queue_manager": "", "xmitq": "OTHER"}, False),
        ({"remote_queue_manager": "", "type": RCVR}, False),
        ({"remote_queue_manager": "", "type": CLUSSDR}, False),
        ({"remote_queue_manager": Absence.NO_ANSWER}, False),
    ],
)
def test_only_channels_that_lead_to_it(changed: dict[str, Reported], explained: bool) -> None:
    group = Group()
    for _ in range(3):
        group.poll(QM02={"queue_manager": DOWN}, QM01={"channel/A": TO_QM02 | changed})
    assert (group.causes()["CHL-16 QM01/channel/A"] == "QM02/queue_manager") is explained


def test_a_cluster_sender_is_known_by_its_name_until_it_knows_its_partner() -> None:
    group = Group()
    cluster = TO_QM02 | {"type": CLUSSDR, "remote_queue_manager": "", "xmitq": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"}
    for _ in range(3):
        group.poll(QM02={"queue_manager": DOWN}, QM01={"channel/TO.QM02": cluster, "channel/TO.QM022": cluster})
    causes = group.causes()
    assert causes["CHL-16 QM01/channel/TO.QM02"] == "QM02/queue_manager"
    assert causes["CHL-16 QM01/channel/TO.QM022"] is None


def test_its_own_queue_manager_is_no_partner() -> None:
    """That the agent cannot reach QM01 does not make QM01's channels retry."""
    group = Group()
    for _ in range(3):
        group.poll(QM01={"queue_manager": DOWN, "channel/A": TO_QM02})
    assert group.causes()["CHL-16 QM01/channel/A"] is None


def test_a_restart_keeps_the_cause() -> None:
    group = Group()
    for _ in range(3):
        group.poll(QM02={"queue_manager": DOWN}, QM01={"channel/A": TO_QM02})
    again = Engine(rules(), Facts(KINDS), group.history, alerts=group.engine.open_alerts)
    assert again.evaluate(Snapshot("QM01", False, 9, 90_000, ())).transitions == ()


def test_only_channels_have_partners() -> None:
    text = """rules:
  - {id: X, title: t, kind: operational, scope: page_set, when: used_pct > 1, severity: info, summary: s, advice: a, caveat: c,
     source: {document: d, section: s}, caused_by_partner: [X]}"""
    _, [problem] = decode_packs([("own.yaml", text)], KINDS)
    assert (problem.place.line, problem.key) == (3, "caused_by_partner")
    assert (
        problem.message
        == "a page_set has no partner; only a channel, a transmission queue and a cluster queue manager have one,"
        " and a group its members"
    )


def test_what_every_member_reports_of_a_cluster_is_one_incident() -> None:
    """The first alert stands for all; when it ends, the next one does. Another cluster is another incident."""
    own: dict[str, Reported] = {
        "definition_type": _named("definition_type", "CLUSRCVR"),
        "role": _named("role", "NORMAL"),
    }

    def entry(cluster: str, name: str, **values: Reported) -> dict[str, Values]:
        return {f"cluster_queue_manager/{cluster}/{name}": own | {"cluster": cluster} | values}

    group = Group("OPS-182")
    for _ in range(3):
        group.poll(
            QM01=entry("PRD", "QM01"), QM02=entry("PRD", "QM02"), QM03=entry("PRD", "QM03") | entry("TST", "QM03")
        )
    causes = group.causes()
    first = "QM01/cluster_queue_manager/PRD/QM01"
    assert causes == {
        f"OPS-182 {first}": None,
        "OPS-182 QM02/cluster_queue_manager/PRD/QM02": first,
        "OPS-182 QM03/cluster_queue_manager/PRD/QM03": first,
        "OPS-182 QM03/cluster_queue_manager/TST/QM03": None,
    }
    full: Reported = _named("role", "REPOSITORY")
    for _ in range(2):
        group.poll(QM01=entry("PRD", "QM01", role=full), QM02=entry("PRD", "QM02"), QM03=entry("PRD", "QM03"))
    causes = group.causes()
    assert causes["OPS-182 QM02/cluster_queue_manager/PRD/QM02"] is None
    assert causes["OPS-182 QM03/cluster_queue_manager/PRD/QM03"] == "QM02/cluster_queue_manager/PRD/QM02"


def _named(metric: str, word: str) -> float:
    found = KINDS["cluster_queue_manager"].metric(metric)
    assert found is not None
    return found.values[word]


@pytest.mark.parametrize(("queue", "explained"), [("DLQ", True), ("OTHER", False)])
def test_dead_letters_explain_the_depth_of_their_queue(queue: str, explained: bool) -> None:
    """The alert by reason says more than the depth of the dead-letter queue; it is about no other queue."""
    group = Group("AGENT-05", "OPS-162", "Q-03")
    for _ in range(3):
        group.poll(
            QM01={
                "queue/DLQ": {"depth": 5, "dead_letter": 1},
                "dead_letter/2053/IN": {"messages": 5, "reason": 2053, "destination": "IN", "last_age_s": 60},
            }
        )
    latest = group.engine.latest
    about = ObjectName("QM01", "dead_letter", "2053/IN")
    assert bool(latest.touches(ObjectName("QM01", "queue", queue), about)) is explained
    assert group.causes()["AGENT-05 QM01/queue/DLQ"] == "QM01/dead_letter/2053/IN"


def test_an_initiation_queue_explains_the_queues_that_name_it() -> None:
    """Not the other way round, and no queue that names another one."""
    group = Group("OPS-191", "OPS-192")
    group.poll(QM01={"queue/IN": {"depth": 3, "initiation_queue": "INITQ"}, "queue/INITQ": {"depth": 0}})
    touches = group.engine.latest.touches
    queue, initiation = ObjectName("QM01", "queue", "IN"), ObjectName("QM01", "queue", "INITQ")
    assert touches(queue, initiation) is True
    assert touches(initiation, queue) is False
    assert touches(queue, ObjectName("QM01", "queue", "OTHER")) is False
    assert touches(ObjectName("QM01", "queue", "UNSEEN"), initiation) is None


def test_a_queue_for_copies_explains_the_queues_that_name_it() -> None:
    group = Group("OPS-261", "Q-01")
    group.poll(QM01={"queue/IN": {"depth": 3, "stream_queue": "COPY"}, "queue/COPY": {"depth": 0}})
    touches = group.engine.latest.touches
    queue, copy = ObjectName("QM01", "queue", "IN"), ObjectName("QM01", "queue", "COPY")
    assert touches(queue, copy) is True
    assert touches(copy, queue) is False

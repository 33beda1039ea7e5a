"""Objects that belong to another one: from each, Enter leads to the others, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.frame import DETAIL, FrameRequest, read_frame
from mqvitals_agent.view.object.detail import ObjectRule, _charted
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS

START = 1795176000000  # 2026-11-20 12:00:00 UTC


def state(kind: str, metric: str, word: str) -> float:
    found = KINDS[kind].metric(metric)
    assert found is not None
    return found.values[word]


Objects = Mapping[str, Mapping[str, Reported]]
QM01: Objects = {
    "queue_manager": {"reachable": 1},
    "queue/QM02": {"depth": 9, "usage": state("queue", "usage", "XMITQ")},
    "channel/TO.QM02": {"status": 3, "xmitq": "QM02", "remote_queue_manager": "QM02"},
    "cluster_queue_manager/PRDCLUS/QM02": {"role": 1, "channel": "TO.QM02"},
    "cluster_queue_manager/PRDCLUS/QM01": {"role": 1, "channel": "TO.QM01"},
    "queue/INITQ": {"depth": 0, "initiation_of": 1},
    "queue/IN": {"depth": 3, "initiation_queue": "INITQ", "stream_queue": "COPY", "backout_queue": "BACK"},
    "queue/COPY": {"depth": 1, "stream_of": "IN"},
    "queue/BACK": {"depth": 2, "backout_of": "IN"},
    "queue/DLQ": {"depth": 5, "dead_letter": state("queue", "dead_letter", "YES")},
    "dead_letter/2053/IN": {"messages": 5},
}
QM02: Objects = {"queue_manager": {"reachable": 1}, "queue/OTHER": {"depth": 1, "initiation_queue": "INITQ"}}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreReader]:
    """Two queue managers: transmission queue, initiation queue, copies, dead letters, cluster."""

    path: Path = tmp_path_factory.mktemp("related") / "store.db"
    with Store.open(path, group="PRDQSG", created=START, replay=True) as made:
        for owner, objects in (("QM01", QM01), ("QM02", QM02)):
            readings = tuple(
                Reading(ObjectName(owner, *name.split("/", 1)), KINDS[name.split("/")[0]].poll, START, values, 10_000)
                for name, values in objects.items()
            )
            made.write(Snapshot(owner, False, 1, START, readings), Evaluation((), ()))
    with StoreReader.open(path) as reader:
        yield reader


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("queue/QM02", {"channels that send from it": "QM01/channel/TO.QM02", "where it leads": "QM02/queue_manager"}),
        ("channel/TO.QM02", {"where its cluster has it": "QM01/cluster_queue_manager/PRDCLUS/QM02"}),
        (
            "queue/IN",
            {
                "its initiation queue": "QM01/queue/INITQ",
                "the queue for its copies": "QM01/queue/COPY",
                "where applications put aside its messages": "QM01/queue/BACK",
                "its dead letters": "QM01/dead_letter/2053/IN",
            },
        ),
        ("queue/INITQ", {"queues that it triggers for": "QM01/queue/IN"}),
        ("queue/COPY", {"queues whose copies it gets": "QM01/queue/IN"}),
        ("queue/BACK", {"queues whose messages are put aside here": "QM01/queue/IN"}),
        ("queue/DLQ", {"dead letters on it": "QM01/dead_letter/2053/IN"}),
        ("dead_letter/2053/IN", {"its destination": "QM01/queue/IN", "the queue that it is on": "QM01/queue/DLQ"}),
        ("queue_manager", {"its clusters": "QM01/cluster_queue_manager/PRDCLUS/QM01"}),
    ],
)
def test_enter_leads_from_one_to_the_other(stored: StoreReader, name: str, leads: Mapping[str, str]) -> None:
    """Each relation has one object here; those of another queue manager with the same name are not among them."""
    about = ObjectName("QM01", *name.split("/", 1))
    frame = read_frame(stored, 0, FrameRequest(DETAIL, name=about), load_rule_config(Settings()))
    assert frame.detail is not None
    related = {each.words: [str(of) for of, _, _ in each.objects] for each in frame.detail.related}
    assert {words: related[words] for words in leads} == {words: [of] for words, of in leads.items()}
    assert set(leads.values()) <= {line.key for line in detail_lines(frame, 80)}


def test_a_lost_queue_manager_shows_the_channels_of_others_to_it(stored: StoreReader) -> None:
    """Those are where its messages wait."""
    about = ObjectName("QM02", "queue_manager")
    frame = read_frame(stored, 0, FrameRequest(DETAIL, name=about), load_rule_config(Settings()))
    assert frame.detail is not None
    assert [
        str(of)
        for each in frame.detail.related
        if each.words == "channels of others to it"
        for of, _, _ in each.objects
    ] == ["QM01/channel/TO.QM02"]


@pytest.mark.parametrize(
    ("rule", "kind", "charted"),
    [
        ("OPS-141", "log", "uow_span_mb"),
        ("LOG-08", "log", "full_logs"),
        ("OPS-191", "queue", "depth"),
        ("DQ-01", "queue_manager", "reachable"),
        ("CHL-16", "channel", "status"),
        ("OPS-152", "channel", "instances_max_client"),
    ],
)
def test_the_chart_shows_what_the_alert_is_about(rule: str, kind: str, charted: str) -> None:
    """Its figure, unless the usual chart shows that already; never a setting that advice is about."""
    found = next(each for each in load_rule_config(Settings()).rules.rules if each.id == rule)
    key = AlertKey(rule, ObjectName("QM01", kind, "X"))
    firing, warning = AlertState.FIRING, Severity.WARNING
    alert = Alert(key, key.object, found.kind.value, "", firing, warning, warning, 1, 1, "", started=1)
    explanation: Any = None
    rules = [ObjectRule(compile_rule(found, KINDS), explanation, alert)]
    chartable = [metric.name for metric in KINDS[kind].metrics]
    assert _charted(kind, "", chartable, rules) == charted

"""What an agent sends becomes what the fleet shows, whatever it sends: absent is absent, and never OK."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.fleet import NOW, STATUSES, active, alert, data, document
from mqvitals_agent.fleet.decode import MOST_ALERTS, MOST_OWNERS, StatusError, parsed, summary_of
from mqvitals_agent.fleet.lines import fleet_header, fleet_table
from mqvitals_agent.fleet.page import group_brief, group_page
from mqvitals_agent.fleet.ranking import ranked
from mqvitals_agent.fleet.summary import GroupSummary
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.snapshot import ObjectName

WHOLE = [document(make()) for make in STATUSES.values()]
WELL = document(data("PRDG", 3))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def decoded(found: object) -> GroupSummary:
    """The group of a document."""
    return summary_of(found, key="k", name="", source="https://mq.example.com:9157", read_at=NOW)


def places(found: Any) -> list[tuple[Any, Any]]:
    """Every place in a document: the container, and the key or index in it."""
    items: list[tuple[Any, Any]] = []
    if isinstance(found, dict):
        items = [(found, key) for key in found]
    elif isinstance(found, list):
        items = [(found, index) for index in range(len(found))]
    return items + [place for container, key in items for place in places(container[key])]


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A real status of which some values are missing or are something else."""
    found = copy.deepcopy(draw(st.sampled_from(WHOLE)))
    for _ in range(draw(st.integers(1, 4))):
        where = places(found)
        if not where:
            break
        container, key = draw(st.sampled_from(where))
        if draw(st.booleans()):
            del container[key]
        else:
            container[key] = draw(JSON)
    return found


def shows(group: GroupSummary) -> None:
    """Every view of it fits its width, and none fails."""
    groups = ranked([group])
    for width in (40, 79, 120, 199):
        lines = [*fleet_header(groups, NOW, width), *fleet_table(groups, NOW, width)]
        lines += [*group_brief(groups[0], NOW, width, 8, more="Enter"), *group_page(groups[0], NOW, width)]
        assert all(text.isprintable() for each in lines for text in [each.text])
        assert all(cells(each.text) <= max(width, 72) for each in lines)


@given(damaged())
def test_damaged_answers_never_look_better(found: Any) -> None:
    """Of a damaged status nothing fails, and a group is OK only where all of it says so."""
    try:
        group = decoded(found)
    except StatusError:
        return
    if group.health <= Health.INFO:
        assert found["severity"] in ("ok", "info")
        members = found["queue_managers"]
        assert members
        for each in members:
            assert each["severity"] in ("ok", "info")
            assert each["reachable"] is True
            assert each["age_s"] >= 0
            assert each.get("stale") is not True
    shows(group)
    assert group.as_of(NOW + 3_600_000).health is Health.UNKNOWN


@given(JSON)
def test_other_documents_are_refused_or_unknown(found: Any) -> None:
    """Any JSON at all is no status, or one of which nothing is known."""
    try:
        group = decoded(found)
    except StatusError:
        return
    assert group.health is not Health.OK


@given(st.binary(max_size=200) | st.sampled_from([b"[" * 100_000, b'{"severity": 1e999}', b"NaN", b"9" * 5_000]))
def test_bytes_are_json_or_refused(body: bytes) -> None:
    """Neither depth nor digits bring anything down."""
    try:
        found = parsed(body)
    except StatusError as error:
        assert "JSON" in str(error)  # noqa: PT017 - not every body is refused
        return
    with pytest.raises(StatusError):
        decoded(found)


def test_a_whole_status() -> None:
    """All that the fleet shows comes from the status that an agent sends."""
    found = decoded(WHOLE[0])
    assert (found.name, found.group, found.health) == ("PRDA", "PRDA", Health.CRITICAL)
    assert [(each.name, each.health) for each in found.queue_managers[:3]] == [
        ("AQ02", Health.CRITICAL),
        ("AQ04", Health.WARNING),
        ("AQ05", Health.WARNING),
    ]
    assert found.counts == {Severity.CRITICAL: 1, Severity.WARNING: 2, Severity.INFO: 0}
    assert (found.age_ms, found.stale, found.role) == (4_000, False, "")
    worst = found.alerts[0]
    assert (worst.rule, worst.owner, worst.object) == ("Q-02", "AQ02", "AQ02/queue/PAYMENTS.IN")
    assert (worst.lasts_ms, worst.mark, worst.mqsc) == (41 * 60_000, "*", "DISPLAY QSTATUS(PAYMENTS.IN) ALL")
    assert found.new_critical == 1
    waiting = decoded(document(active()))
    assert (waiting.role, waiting.agents[0].standing) == ("active", "active for 2 h 0 m: it has the reply queues open")


def test_an_earlier_version_is_understood() -> None:
    """What an earlier agent does not say is absent, and the rest is as it says."""
    found = copy.deepcopy(WHOLE[0])
    for each in (*found["queue_managers"], *found["groups"]):
        each.pop("interval_s"), each.pop("stale")
    for each in found["groups"]:
        del each["alerts"]
    for each in found["alerts"]:
        each.pop("advice", None), each.pop("mqsc", None), each.pop("acknowledged"), each.pop("labels")
    group = decoded(found)
    assert (group.health, group.counts) == (decoded(WHOLE[0]).health, decoded(WHOLE[0]).counts)
    assert {each.interval_ms for each in group.owners} == {None}
    assert (group.alerts[0].advice, group.alerts[0].mark) == ("", " ")
    del found["alerts"]
    del found["queue_managers"][0]["alerts"]
    unlisted = decoded(found)
    assert (unlisted.counts, unlisted.count(Severity.CRITICAL)) == (None, None)
    assert "?/?" in "".join(line.text for line in fleet_table(ranked([unlisted]), NOW, 80))
    assert any("alerts are not known" in note for note in unlisted.notes)


def test_a_later_version_is_understood() -> None:
    """A key that is new is passed over; a severity that is new is unknown, and no alert is lost with it."""
    found = copy.deepcopy(WHOLE[0])
    found["more"] = {"of": ["it"]}
    found["alerts"][0]["labels"]["severity"] = "page"
    found["severity"] = "page"
    group = decoded(found)
    assert group.health is Health.CRITICAL
    assert len(group.alerts) == 3
    assert {each.health for each in group.alerts} == {Health.UNKNOWN, Health.WARNING}
    assert decoded({**WELL, "severity": "page"}).health is Health.UNKNOWN


def test_an_explained_alert_is_not_counted_twice() -> None:
    """It stands behind the one that explains it, and its object is ill all the same."""
    cause = alert(ObjectName("PRDA", "cf_structure", "APPL1"), Severity.CRITICAL, 60_000, "full", "CF-05")
    effect = alert(ObjectName("AQ01", "queue", "X"), Severity.CRITICAL, 30_000, "put inhibited")
    status = data("PRDA", 2, (cause, replace(effect, cause=cause.key)))
    found = document(status)
    told = {each["rule"]: each.get("explained_by") for each in found["alerts"]}
    assert told == {"CF-05": None, "Q-02": {"rule": "CF-05", "object": "PRDA/cf_structure/APPL1"}}
    group = decoded(found)
    assert [each.rule for each in group.alerts] == ["CF-05"]
    assert group.counts == {Severity.CRITICAL: 1, Severity.WARNING: 0, Severity.INFO: 0}
    assert [each.health for each in group.queue_managers] == [Health.CRITICAL, Health.OK]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"past": True}, "the past"),
        ({"unstored": "the disk is full"}, "cannot store its samples: the disk is full"),
    ],
)
def test_what_is_old_is_unknown(change: dict[str, Any], note: str) -> None:
    """A store of the past, and one that its agent cannot write, say nothing of the present."""
    group = decoded({**WELL, **change})
    assert group.health is Health.UNKNOWN
    assert any(note in each for each in group.notes)


def test_refused_settings_are_told() -> None:
    """They do not make the group unknown."""
    group = decoded({**WELL, "refused": "mqvitals.yaml:3: unknown key"})
    assert group.health is Health.OK
    assert "mqvitals.yaml:3: unknown key" in group.notes[0]


def test_more_than_anybody_reads_is_counted_only() -> None:
    """Of many alerts the worst are kept; more queue managers than a group can have are no group."""
    entry = WHOLE[0]["alerts"][0]
    found = {**WELL, "alerts": [entry] * 500, "groups": []}
    del found["queue_managers"][0]["alerts"]
    group = decoded(json.loads(json.dumps(found)))
    assert len(group.alerts) == MOST_ALERTS
    assert group.count(Severity.CRITICAL) == 500
    with pytest.raises(StatusError, match="queue managers"):
        decoded({**WELL, "queue_managers": [{}] * (MOST_OWNERS + 1)})

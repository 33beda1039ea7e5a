"""The verdict on a group: severities, reachability, staleness, JSON, exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import AgentStanding, CurrentValue, UnknownRow
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.screens.header import status_header
from mqvitals_agent.view.status import (
    DEFAULT_INTERVAL_MS,
    GroupStatus,
    OwnerData,
    StatusData,
    aged_status,
    read_status_data,
    snapshot_interval_ms,
    status_of,
)
from mqvitals_agent.view.status_json import status_json
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

POOL = ObjectName("QM01", "buffer_pool", "3")


def alert(name: ObjectName, severity: Severity, now: int, kind: str = "operational") -> Alert:
    key = AlertKey("BP-03", name)
    return Alert(key, name, kind, "", AlertState.FIRING, severity, severity, now, now, "low", now)


def health(view: GroupStatus) -> dict[str, str]:
    return {member.name: member.health.word for member in view.queue_managers}


def test_healthy(healthy: StatusData) -> None:
    """All well is OK and exit code 0."""
    view = status_of(healthy)
    assert view.health is Health.OK
    assert view.exit.code == 0
    assert health(view) == {"QM01": "ok", "QM02": "ok"}


@pytest.mark.parametrize(
    ("severity", "word", "code"),
    [(Severity.INFO, "info", 0), (Severity.WARNING, "warning", 1), (Severity.CRITICAL, "critical", 2)],
)
def test_worst_alert_decides(healthy: StatusData, severity: Severity, word: str, code: int) -> None:
    """A queue manager is as ill as the worst alert about its objects, and the group as its worst part."""
    view = status_of(replace(healthy, alerts=(alert(POOL, severity, healthy.now),)))
    assert health(view) == {"QM01": word, "QM02": "ok"}
    assert (view.health.word, view.exit.code) == (word, code)


def test_group_alert_counts(healthy: StatusData) -> None:
    """An alert about a structure of the group makes no queue manager ill, but the group."""
    structure = ObjectName("PRDQSG", "cf_structure", "APPL1")
    view = status_of(replace(healthy, alerts=(alert(structure, Severity.CRITICAL, healthy.now),)))
    assert health(view) == {"QM01": "ok", "QM02": "ok"}
    assert view.exit.code == 2


def test_what_is_explained_is_not_well(healthy: StatusData) -> None:
    """An alert that another owner's brought about is told with that one, and its own owner is ill all the same."""
    structure = ObjectName("PRDQSG", "cf_structure", "APPL1")
    cause = alert(structure, Severity.WARNING, healthy.now)
    effect = replace(alert(POOL, Severity.WARNING, healthy.now), cause=cause.key)
    view = status_of(replace(healthy, alerts=(cause, effect)))
    assert view.alerts == (cause,)
    assert health(view) == {"QM01": "warning", "QM02": "ok"}


def test_advice_does_not_count(healthy: StatusData) -> None:
    """Advice on the configuration leaves severity, counts and exit code alone."""
    view = status_of(replace(healthy, alerts=(alert(POOL, Severity.WARNING, healthy.now, "review"),)))
    assert (view.health, view.alerts, view.advice) == (Health.OK, (), 1)
    assert status_json(view, Labeller())["queue_managers"][0]["alerts"] == {"critical": 0, "warning": 0, "info": 0}


@pytest.mark.parametrize("reason", [Absence.NEEDS_SMF, Absence.NOT_DECLARED, Absence.NOT_COLLECTED])
def test_unknown_verdicts_do_not_count(healthy: StatusData, reason: Absence) -> None:
    """Verdicts unknown for want of SMF, of a declaration or of monitoring are counted and change nothing else."""
    view = status_of(replace(healthy, unknown=(UnknownRow("QM01", "R", reason, 3), UnknownRow("QM02", "R", reason, 1))))
    assert view.unknown == ((reason, 4),)
    assert view.exit.code == 0


def test_stale_is_unknown(healthy: StatusData) -> None:
    """What was not seen for more than three intervals is unknown, whatever was last known of it."""
    later = replace(healthy, past=False, now=healthy.now + 30_001, alerts=(alert(POOL, Severity.INFO, healthy.now),))
    view = status_of(later)
    assert health(view) == {"QM01": "unknown", "QM02": "unknown"}
    assert view.exit.code == 3
    assert status_of(replace(later, now=healthy.now + 30_000)).exit.code == 0


def test_stale_beside_ill(healthy: StatusData) -> None:
    """A critical alert that is known stays critical beside a queue manager that is unknown."""
    first, second, third = healthy.members
    members = (first, replace(second, last_ts=healthy.now - 60_000), third)
    view = status_of(replace(healthy, members=members, alerts=(alert(POOL, Severity.CRITICAL, healthy.now),)))
    assert health(view) == {"QM01": "critical", "QM02": "unknown"}
    assert view.exit.code == 2


@pytest.mark.parametrize("told", [None, Absence.NO_ANSWER, 0])
def test_not_reached_is_unknown(healthy: StatusData, told: Absence | int | None) -> None:
    """A queue manager that is not, or was never reached is unknown, unless an alert says it better."""
    name = ObjectName("QM02", "queue_manager")
    value = {} if told is None else {"reachable": CurrentValue(told, healthy.now, "CONNECTION", healthy.now, None)}
    data = replace(healthy, current={**healthy.current, name: value})
    view = status_of(data)
    assert health(view)["QM02"] == "unknown"
    assert view.queue_managers[1].reachable is (False if told == 0 else None)
    said = status_of(replace(data, alerts=(alert(name, Severity.CRITICAL, healthy.now),)))
    assert health(said)["QM02"] == "critical"


def test_nothing_seen_is_unknown(healthy: StatusData) -> None:
    """An empty store does not look well."""
    view = status_of(StatusData(healthy.now, False, "", "", ()))
    assert view.exit.code == 3
    assert status_json(view, Labeller())["queue_managers"] == []


def test_json(ill: StatusData) -> None:
    """The JSON has the promised keys, words and numbers."""
    shown = json.loads(json.dumps(status_json(status_of(ill), Labeller())))
    assert list(shown) == ["at", "source", "group", "severity", "queue_managers", "groups", "alerts", "past"]
    assert (shown["at"], shown["source"]) == ("2026-11-20T12:09:50.000Z", "replay of recording.jsonl.gz")
    assert (shown["group"], shown["severity"]) == ("PRDQSG", "critical")
    assert shown["queue_managers"] == [
        {
            "name": "QM01",
            "severity": "critical",
            "reachable": True,
            "age_s": 0.0,
            "interval_s": 10.0,
            "stale": False,
            "alerts": {"critical": 1, "warning": 2, "info": 0},
        },
        {
            "name": "QM02",
            "severity": "critical",
            "reachable": False,
            "age_s": 0.0,
            "interval_s": 10.0,
            "stale": False,
            "alerts": {"critical": 1, "warning": 0, "info": 0},
        },
    ]
    assert [each["rule"] for each in shown["alerts"]] == ["AGENT-01", "BP-03", "CHL-16", "AGENT-03"]
    assert status_json(status_of(replace(ill, past=False, origin="live")), Labeller())["source"] == "live"


def test_a_clock_behind_the_store(healthy: StatusData) -> None:
    """A snapshot from the future has age 0, not a negative one."""
    assert status_of(replace(healthy, now=healthy.now - 5000)).queue_managers[0].age_ms == 0


def test_interval() -> None:
    """The usual distance is the middle one, so that a pause does not count; without two snapshots it is a default."""
    assert snapshot_interval_ms([0, 10, 20, 1000, 1010]) == 10
    assert snapshot_interval_ms([5]) == snapshot_interval_ms([]) == DEFAULT_INTERVAL_MS
    assert OwnerData("QM01", False, 0, 0).interval_ms == DEFAULT_INTERVAL_MS


@given(
    told=st.lists(
        st.tuples(
            st.sampled_from(["QM01", "QM02"]), st.sampled_from(Severity), st.sampled_from(["operational", "review"])
        ),
        max_size=4,
    ),
    later=st.integers(0, 10 * DEFAULT_INTERVAL_MS),
    reported=st.integers(0, 10 * DEFAULT_INTERVAL_MS),
    ranks=st.dictionaries(st.just("BP-03"), st.integers(1, 2)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_situation_that_grows_older_is_evaluated_as_a_new_one(
    healthy: StatusData,
    told: list[tuple[str, Severity, str]],
    later: int,
    reported: int,
    ranks: dict[str, int],
) -> None:
    """Whatever fires, however much later, and whichever owner has reported since."""
    alerts = tuple(
        alert(ObjectName(owner, "buffer_pool", str(number)), severity, healthy.now, kind)
        for number, (owner, severity, kind) in enumerate(told)
    )
    before = replace(healthy, alerts=alerts)
    first, *others = healthy.members
    members = (replace(first, last_ts=first.last_ts + reported), *others)
    after = replace(before, now=before.now + later, members=members)
    assert aged_status(status_of(before, ranks), after) == status_of(after, ranks)


def test_which_of_two_agents_fills_the_store(healthy: StatusData) -> None:
    """Its role stands in the first line and in JSON; a store that waits says for whom and since when, and asks for no agent."""
    active = replace(healthy, standing=AgentStanding("active", healthy.now, "it holds", "mon2"))
    assert "  active  " in status_header(status_of(active), 120)[0].text
    assert status_json(status_of(active), Labeller())["role"] == "active"
    waiting = AgentStanding(
        "standby", healthy.now - 3_600_000, "another agent holds the reply queue", "mon2", follows=True
    )
    old = replace(healthy, now=healthy.now + 3_600_000, standing=waiting)
    view = status_of(old)
    header = " ".join(line.text.strip() for line in status_header(view, 120))
    assert "  standby  " in header
    assert "Standby of mon2 since " in header
    assert ", for 2 h" in header
    assert "its alerts are followed" in header
    assert "Is the agent running" not in header
    found = status_json(view, Labeller())
    assert found["role"] == "standby"
    assert found["standing"]["peer"] == "mon2"
    assert found["standing"]["follows"] is True
    assert "role" not in status_json(status_of(healthy), Labeller())


def test_a_store_says_who_fills_it_while_somebody_does(tmp_path: Path) -> None:
    """When its agent has ended, nobody waits."""
    standing = AgentStanding("standby", 1_000, "it waits", "mon2")
    with Store.open(tmp_path / "s.db") as store, StoreReader.open(tmp_path / "s.db") as reader:
        store.note_standing(standing)
        assert read_status_data(reader, 2_000).standing == standing
        store.note_standing(None)
        assert read_status_data(reader, 2_000).standing is None
        store.note_standing(standing)
    with StoreReader.open(tmp_path / "s.db") as reader:
        assert reader.meta().standing == standing
        assert read_status_data(reader, 2_000).standing is None

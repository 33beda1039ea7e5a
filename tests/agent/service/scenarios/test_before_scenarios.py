"""What came before an alert, on the whole path: what was done in the simulated group stands among the first lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.history.before import Before, before_lines, read_before
from mqvitals_agent.view.status import read_status_data, status_of
from mqvitals_rules.ruleset.config import load_rule_config

MINUTE_MS, CYCLE_MS = 60_000, 30_000
BEFORE_MS = 40 * MINUTE_MS
"""So long nothing is wrong."""
FIRST_LINES = 3
SEEDS = 10
BRIEFLY = ("partner-down", "altered batch size", "consumer ends")


@dataclass(frozen=True)
class Case:
    """What is done: the incidents of a scenario, as they are in its file but after a calm time; the alert to ask about (the
    first whose ``RULE object`` begins so), and what must be told: objects, each with metrics of which any will do.
    """

    scenario: str | Sequence[ScenarioIncident]
    alert: str
    told: Mapping[str, str]
    watched: Sequence[str] = ("QM01", "QM02")
    minutes: int = 12


def _incident(minute: float, what: IncidentKind, name: str, value: float = 0) -> ScenarioIncident:
    return ScenarioIncident(round(minute * MINUTE_MS), 20 * MINUTE_MS, what, name, value)


K = IncidentKind
CASES = {
    "consumer-gone": Case("consumer-gone", "Q-03", {"QM02/queue/PAYMENTS.IN": "input_handles"}),
    "slow-network": Case("slow-network", "CHL", {"QM01/channel/TO.QM02": "nettime_us_short nettime_us_long"}),
    "partner-down": Case("partner-down", "CHL-16", {"QM01/channel/TO.PARTNER": "status"}),
    "buffer-pool-thrash": Case("buffer-pool-thrash", "BP-03", {"QM01/queue/ORDERS.REQUEST": "depth qtime_us_short"}),
    "structure-filling": Case("structure-filling", "CF-05", {"PRDQ/queue/APPL1.ORDERS": "depth puts"}),
    "channel-stuck": Case("channel-stuck", "OPS-101 QM01", {"QM01/channel/TO.PARTNER": "status"}),
    "member-lost": Case(
        "member-lost",
        "",
        {"QM03/queue_manager": "reachable", "PRDQ/qsg": "members"},
        watched=("QM01", "QM02", "QM03"),
    ),
    "trigger-lost": Case("trigger-lost", "", {"QM01/queue/CICS01.INITQ": "input_handles"}),
    "copies-filling": Case("copies-filling", "", {"QM01/queue/PAYROLL.COPY": "input_handles"}),
    "log-suspended": Case("log-suspended", "OPS-111", {"QM01/log": "suspend", "QM02/log": "suspend"}),
    "rba-end": Case(
        "rba-end", "", {"QM01/log": "rba_used_pct written_bytes", "QM02/log": "rba_used_pct written_bytes"}
    ),
    "long-uow": Case(
        "long-uow", "", {"QM01/log": "oldest_uow_age_s uow_span_mb", "QM02/queue_manager": "indoubt_units"}, minutes=34
    ),
    "cluster-repository-lost": Case(
        "cluster-repository-lost",
        "OPS-182",
        {"/cluster_queue_manager/": "suspend role full_repositories", "/queue_manager": "full_repositories"},
        watched=("QM01", "QM02", "QM03", "QM04"),
        minutes=28,
    ),
    "dead-letters": Case(
        "dead-letters", "", {"QM01/queue/SYSTEM.DEAD.LETTER.QUEUE": "depth", "QM01/dead_letter/": "messages"}
    ),
    "client-flood": Case("client-flood", "OPS", {"QM01/channel/CLIENTS.ORDERS": "instances instances_max_client"}),
    "altered batch size": Case(
        [_incident(1, K.BATCH_SIZE, "QM01/TO.QM02", 1), _incident(6, K.NETWORK, "QM01/TO.QM02", 70_000)],
        "CHL",
        {"QM01/channel/TO.QM02": "batchsz_defined"},
        minutes=24,
    ),
    "consumer ends": Case(
        [_incident(1, K.CONSUMER_GONE, "QM01/ORDERS.REPLY")], "Q-", {"QM01/queue/ORDERS.REPLY": "input_handles"}
    ),
    "page set expands": Case(
        [_incident(1, K.EXPANSION, "QM02/3", 2_000), _incident(6, K.CONSUMER_GONE, "QM02/PAYMENTS.IN")],
        "Q-03",
        {"QM02/page_set/3": "total_pages"},
        minutes=24,
    ),
}


async def came_before(house: Any, case: Case, seed: int) -> Before:
    """What came before the alert of a case, as it is told a few minutes after it began."""
    base = (
        load_scenario(case.scenario)
        if isinstance(case.scenario, str)
        else Scenario("what came before", MINUTE_MS, tuple(case.scenario))
    )
    length = BEFORE_MS + case.minutes * MINUTE_MS
    incidents = tuple(replace(each, at=each.at + BEFORE_MS) for each in base.incidents)
    scenario = replace(base, length=10 * length, incidents=incidents)
    group = SimulatedGroup(scenario, house.clock.now(), seed=seed)
    house.scripts = [each for each in connectors(group, house.clock, seed=seed) if each.queue_manager in case.watched]
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=CYCLE_MS))
    began = house.clock.now() + BEFORE_MS
    async with house.running():
        for _ in range(length // CYCLE_MS):
            await house.clock.advance(CYCLE_MS)
    with StoreReader.open(house.store) as reader:
        ranks = load_rule_config(house.settings).rules.ranks
        status = status_of(read_status_data(reader, house.clock.now(), {}), ranks)
        found = [
            stored
            for stored in reader.alerts(include_ended=True, review=False)
            if stored.alert.started is not None
            and stored.alert.started >= began
            and f"{stored.alert.key.rule} {stored.alert.key.object}".startswith(case.alert)
        ]
        assert found, [str(each.alert.key) for each in reader.alerts(include_ended=True)]
        return read_before(reader, status, found[0].id)


def is_told(before: Before, case: Case) -> bool:
    """Whether what was done is among the first lines."""
    for each in before.lines[:FIRST_LINES]:
        metric = each.entry.metric if each.entry is not None else each.metric.name if each.metric is not None else ""
        if any(name in str(each.name) and metric in metrics.split() for name, metrics in case.told.items()):
            return True
    return False


@pytest.mark.parametrize(
    "name", [name if name in BRIEFLY else pytest.param(name, marks=pytest.mark.soak) for name in CASES]
)
async def test_what_was_done_stands_among_the_first_lines(house: Any, name: str, soak: bool, tmp_path: Path) -> None:
    """In at least nine of ten seeds; ``make test`` plays some of the cases once."""
    seeds = range(1, SEEDS + 1) if soak else (1,)
    missed = {}
    for seed in seeds:
        house.store = tmp_path / f"{seed}.db"
        before = await came_before(house, CASES[name], seed)
        if not is_told(before, CASES[name]):
            missed[seed] = [line.text for line in before_lines(before, before.until, 160)[:8]]
    assert len(missed) <= len(seeds) // 10, missed

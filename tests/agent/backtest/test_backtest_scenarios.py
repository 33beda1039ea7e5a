"""A backtest of what an agent has stored finds what that agent's rules have found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqsamples.sealed import seal_all
from mqvitals_agent.backtest.inputs import refusals
from mqvitals_agent.backtest.run import BacktestResult, backtest
from mqvitals_agent.backtest.variants import in_force, with_values
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.chart import TimeRange
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config

SCENARIOS = (
    "busy-morning", "buffer-pool-thrash", "consumer-gone", "client-flood", "copies-filling", "dead-letters", "log-suspended",
    "member-lost", "slow-network", "structure-filling", "trigger-lost",
)  # fmt: skip


@pytest.fixture(scope="session")
def config() -> RuleConfig:
    return load_rule_config(Settings())


@pytest.fixture(scope="session")
def answerable(config: RuleConfig) -> frozenset[str]:
    """The shipped rules in force that history can answer."""
    rules = config.rules
    return frozenset(
        str(rule.id)
        for rule in rules.rules
        if rule.id not in rules.switched_off and not refusals(compile_rule(rule, rules.kinds), rules.kinds)
    )


@pytest.fixture(scope="session")
def lived(built_once: Any, soak: bool) -> Callable[[str], Path]:
    """Stores of agents that watched a scenario. They must not be changed."""

    def store(scenario: str, seed: int = 1) -> Path:
        def build(path: Path) -> None:
            # What is sealed needs a whole hour.
            length = "70m" if scenario == "busy-morning" or soak else "40m"
            words = ("--scenario", scenario, "--seed", str(seed), "--for", length, "--interval", "1m", "--speed", "max")
            assert main(["agent", *words, "--store", str(path)]) == 0

        found: Path = built_once.built(f"lived-{scenario}-{seed}.db", build)
        return found

    return store


def whole(reader: StoreReader) -> TimeRange:
    last = reader.last_ts()
    assert last is not None
    return TimeRange(min(owner.first_ts for owner in reader.owners()), last)


def run(path: Path, config: RuleConfig, rules: frozenset[str], *settings: str, skip_ms: int = 0) -> BacktestResult:
    with StoreReader.open(path) as reader:
        span = whole(reader)
        span = TimeRange(span.since + skip_ms, span.until)
        standard = in_force(config, rules)
        variants = [standard, with_values(standard, settings)] if settings else [standard]
        return backtest(reader, variants, span, lambda _: True, lambda _: None)


def told(alerts: tuple[Alert, ...]) -> list[tuple[object, ...]]:
    """What matters of alerts: which, from when until when, how bad."""
    return sorted((each.key, each.started, each.ended, each.worst, each.worst_number, each.why) for each in alerts)


@pytest.mark.parametrize("scenario", ["busy-morning", "dead-letters"])
def test_what_fired_is_found(
    lived: Callable[[str], Path], config: RuleConfig, answerable: frozenset[str], scenario: str
) -> None:
    """All shipped rules that history can answer, over all that the agent has stored: the same alerts to the ms."""
    found = run(lived(scenario), config, answerable)
    assert any(each.kind_of_rule == "operational" for each in found.then)
    assert told(found.now[0]) == told(found.then)
    assert all(share == pytest.approx(1, abs=0.02) for share in found.covered.values())


def test_what_a_recording_holds_is_found(
    replayed: Callable[[str], Path], config: RuleConfig, answerable: frozenset[str]
) -> None:
    """The same over a recording full of trouble, in which queue managers do not answer and answers are lost."""
    found = run(replayed("incident"), config, answerable)
    assert len({each.key.rule for each in found.then}) > 10
    assert told(found.now[0]) == told(found.then)


def test_what_fired_is_found_in_many_runs(
    lived: Callable[[str, int], Path], config: RuleConfig, answerable: frozenset[str], soak: bool
) -> None:
    """The same for another scenario and seed; in ``make soak`` for all of them."""
    for scenario, seed in (
        [(each, seed) for each in SCENARIOS for seed in (2, 3, 4)] if soak else [("consumer-gone", 2)]
    ):
        found = run(lived(scenario, seed), config, answerable)
        assert told(found.now[0]) == told(found.then), (scenario, seed)
        if scenario == "consumer-gone":
            # Its rule reads which queues put messages aside, a text that is worked out from changes of definitions.
            assert "Q-03" in {each.key.rule for each in found.then}


def test_sealed_hours_are_history_too(
    lived: Callable[[str], Path], config: RuleConfig, answerable: frozenset[str], tmp_path: Path
) -> None:
    """Whether an hour stands in rows or is sealed makes no difference."""
    store = tmp_path / "sealed.db"
    store.write_bytes(lived("busy-morning").read_bytes())
    with StoreReader.open(store) as reader:
        until = whole(reader).until
    with Store.open(store) as writer:
        seal_all(writer, until)
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*) FROM chunk").fetchone()[0] > 100
    found = run(store, config, answerable)
    assert found.then
    assert told(found.now[0]) == told(found.then)


def test_part_of_the_time(lived: Callable[[str], Path], config: RuleConfig) -> None:
    """From the middle on: what goes on then has begun before, what follows begins when it did."""
    store, rules = lived("busy-morning"), frozenset({"BP-03", "AGENT-01"})
    everything, part = run(store, config, rules), run(store, config, rules, skip_ms=1_500_000)
    later = [each for each in everything.now[0] if (each.ended or part.span.until) >= part.span.since]
    assert later
    assert told(part.now[0]) == told(tuple(later)) == told(part.then)


def test_a_higher_demand_finds_less(lived: Callable[[str], Path], config: RuleConfig) -> None:
    """A threshold that is harder to reach, and a longer hold, leave fewer alerts; each of them fires less long."""
    store, rules = lived("busy-morning"), frozenset({"BP-03"})
    assert run(store, config, rules).then
    found = run(store, config, rules, "hold=30m")
    assert len(found.now[1]) < len(found.now[0]) == len(found.then)
    with StoreReader.open(store) as reader:
        counts = []
        for ratio in (0.2, 0.8, 1.0):
            standard = in_force(config, frozenset({"Q-01"}))
            variant = with_values(standard, [f"near_ratio={ratio}"])
            counts.append(len(backtest(reader, [variant], whole(reader), lambda _: True, lambda _: None).now[0]))
    assert counts == sorted(counts, reverse=True)


def test_the_command(lived: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON have the same alerts; an object pattern leaves those of others out; nothing is stored."""
    store = lived("busy-morning")
    before = store.read_bytes()
    words = ["rules", "backtest", "BP-03", "--store", str(store), "--last", "3h", "--set", "hold=30m", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["set"] for each in found["runs"]] == ["", "hold = 30m"]
    assert found["did_fire"]["alerts"] == found["runs"][0]["alerts"] == found["runs"][0]["both"] > 0
    assert found["runs"][1]["only_then"] == found["did_fire"]["alerts"] - found["runs"][1]["both"]
    assert all(each["did_fire"] == each["runs"][0] for each in found["alerts"])
    chosen = found["alerts"][0]["object"]
    assert main([*words, "--object", chosen]) == 0
    assert {each["object"] for each in json.loads(capsys.readouterr().out)["alerts"]} == {chosen}
    # A kind alone means all of its objects: these are there, and nothing fired for them.
    assert main([*words, "--object", "QM01/queue"]) == 0
    assert json.loads(capsys.readouterr().out)["alerts"] == []
    assert main([*words, "--object", "QM09/channel/*"]) == 2
    assert "no object of this time matches 'QM09/channel/*'" in capsys.readouterr().err
    assert main(words[:-1]) == 0
    shown = capsys.readouterr().out
    assert "as in force" in shown
    assert "hold = 30m" in shown
    assert store.read_bytes() == before

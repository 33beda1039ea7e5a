"""What the words of open alerts say against the newest values in the store, over cycles of the scenarios."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mqsamples.group import BEGIN, SITE, cycles
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.simulator.scenario import SCENARIOS, load_scenario
from mqvitals_agent.simulator.site import DEFAULT_NAMES
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.alerts.words import alert_json, open_summary, short_summary, summary_with_owner
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.ruleset.quantity import format_value
from mqvitals_rules.vocabulary.metric import Absence

EVERY_MS = 10_000
IN_SHORT = {"buffer-pool-thrash": 14, "busy-morning": 12}
"""The scenarios, and how many cycles of each, that every run looks at."""


@pytest.fixture(scope="module")
def judging() -> RuleConfig:
    """The shipped rules, without a configuration."""
    return load_rule_config(Settings())


def lies_of(reader: StoreReader, judging: RuleConfig, alert: Alert) -> list[str]:
    """What an open alert says that the newest values of the store contradict."""
    rule = judging.rules.rule(alert.key.rule)
    compiled = None if rule is None else judging.rules.rule_for(rule, alert.scope)
    assert compiled is not None
    (found,) = explain_object(reader, [compiled], judging.facts, alert.scope).findings
    lies = []
    words = open_summary(alert)
    if "was: " in words:
        latest = None if compiled.figure is None else reader.current(alert.scope).get(compiled.figure.metric.name)
        if compiled.figure is not None and compiled.figure.kind == alert.scope.kind and latest is not None:
            value = latest.unanswered or latest.value
            now = "unknown" if isinstance(value, Absence) else format_value(compiled.figure.metric, value)
            if f"now {now}," not in words and "now unknown," not in words:
                lies.append(f"{alert.key}: {words!r}, but it is {now}")
        if found.when.truth is True and alert.kind_of_rule == "operational" and not compiled.rule.hold.records:
            lies.append(f"{alert.key}: {words!r}, but its condition holds")
    elif words != found.summary and alert.summary != found.summary:
        lies.append(f"{alert.key}: {words!r}, but now it is {found.summary!r}")
    others = (short_summary(alert), summary_with_owner(alert), alert_json(alert)["summary"])
    if {"was: " in each for each in others} != {"was: " in words}:
        lies.append(f"{alert.key}: outputs do not agree about {words!r}")
    return lies


@pytest.mark.parametrize(
    "name", [each if each in IN_SHORT else pytest.param(each, marks=pytest.mark.soak) for each in SCENARIOS]
)
async def test_words_without_was_state_the_newest_values(
    tmp_path: Path, judging: RuleConfig, soak: bool, name: str
) -> None:
    """After each cycle every open alert says what the newest snapshot says, or that it was so; 2,000 cycles in ``make soak``."""
    count = 2_000 // len(SCENARIOS) if soak else IN_SHORT[name]
    path = tmp_path / "store.db"
    settings = replace(Settings(), name=LocatedText(SITE, Place("test")))
    writer = CycleWriter(path, settings, judging, list(DEFAULT_NAMES.members), source=f"scenario {name}")
    writer.open(BEGIN)
    looked_at, lies = 0, []
    async for batch in cycles(load_scenario(name), count * EVERY_MS, EVERY_MS, connected=True):
        assert not writer.take(batch).errors
        with StoreReader.open(path) as reader:
            for stored in reader.alerts():
                looked_at += 1
                lies += [f"cycle {batch.number}: {each}" for each in lies_of(reader, judging, stored.alert)]
    writer.close()
    assert looked_at > count
    assert lies == []

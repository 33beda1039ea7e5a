"""Rules over 10,000 queues, 2,000 channels and what belongs to them: ms a cycle and memory.

Three see the same snapshots of a made-up group (``group``), every 10 seconds, after the hour that most windows look
back on: the engine with all shipped rules, the engine with a sample of ten of them, and these ten written by hand
(``by_hand``), the peer. The ratio is that of the ten rules alone. Engine and windows are those of the agent, without a
store: take in, learn, evaluate, alerts. At the end the two with ten rules evaluate every object once more, and must name
the same ones for each rule: as those for which it holds, and as those for which that is unknown.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from dataclasses import replace
from statistics import median

from answers import INTERVAL_MS
from by_hand import RULES, Site
from figures import taken
from group import Group, facts
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.rule_state import REVIEW_MS
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

WARM_CYCLES = 365
"""So that windows of an hour are full."""
SETTLED_CYCLES = 35
"""So that every object was reviewed since the engine began, and the next reviews are spread."""
Names = dict[tuple[str, bool | None], set[ObjectName]]


class Shipped:
    """The agent's way: windows and engine."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.windows = WindowHistory(sorted({WindowedMetric.by(use) for use in rules.windows}))
        self.engine = Engine(rules, facts(), self.windows)

    def warm(self, snapshots: list[Snapshot]) -> None:
        """Learn without evaluating."""
        for snapshot in snapshots:
            self.windows.add(snapshot)
            self.engine.observe(snapshot)

    def take(self, snapshots: list[Snapshot]) -> None:
        """A cycle."""
        for snapshot in snapshots:
            self.windows.add(snapshot)
            self.engine.evaluate(snapshot)

    def said(self, now: int) -> Names:
        """Every verdict now but those that do not hold."""
        scene = EvalContext(KINDS, self.engine.latest, self.windows)
        found: Names = {}
        for state in self.engine.latest:
            scene.enter(state, now)
            for form in self.rules.rules_for(state.name):
                truth = form.when.truth(scene, state.values)
                if truth is not False:
                    found.setdefault((form.id, truth), set()).add(state.name)
        return found


class Handwritten:
    """The peer."""

    def __init__(self, rules: RuleSet) -> None:
        self.site = Site(facts(), {str(rule.id): rule.hold.polls for rule in rules.rules}, INTERVAL_MS / 1000)

    def warm(self, snapshots: list[Snapshot]) -> None:
        """Learn without evaluating."""
        for snapshot in snapshots:
            self.site.learn(snapshot)

    def take(self, snapshots: list[Snapshot]) -> None:
        """A cycle."""
        for snapshot in snapshots:
            self.site.learn(snapshot)
            self.site.evaluate(snapshot, review_ms=REVIEW_MS)

    def said(self) -> Names:
        """Every verdict now but those that do not hold."""
        found: Names = {}
        for name, rule, truth in self.site.said():
            found.setdefault((rule, truth), set()).add(name)
        return found


def differences(engine: Names, hand: Names) -> list[str]:
    """What the two say differently, in words."""
    found = []
    for rule in sorted(RULES):
        for truth, word in ((True, "holds"), (None, "unknown")):
            one, other = engine.get((rule, truth), set()), hand.get((rule, truth), set())
            for names, who in ((one - other, "the engine alone"), (other - one, "the peer alone")):
                if names:
                    shown = ", ".join(map(str, sorted(names)[:3]))
                    found.append(f"{rule} {word}: {who} names {len(names)}: {shown}")
    return found


def main() -> int:
    """Measure and print; 1 when the two do not say the same."""
    parser = argparse.ArgumentParser(description="rules at 10,000 queues and 2,000 channels")
    parser.add_argument("--cycles", type=int, default=60, help="how many are measured (default: %(default)s)")
    cycles = max(parser.parse_args().cycles, 3)
    begin = time.process_time()
    every = load_rule_config(Settings()).rules
    loading = (time.process_time() - begin) * 1000
    group = Group()
    ten = replace(every, rules=tuple(rule for rule in every.rules if rule.id in RULES), compiled={})
    engine, hand = Shipped(ten), Handwritten(ten)
    ways: dict[str, Shipped | Handwritten] = {"all rules": Shipped(every), "ten rules": engine, "by hand": hand}
    held: dict[str, float] = {}
    for what, way in ways.items():
        gc.collect()
        before = taken(os.getpid()).rss_mb
        for cycle in range(WARM_CYCLES):
            way.warm(group.snapshots(cycle))
        gc.collect()
        held[what] = taken(os.getpid()).rss_mb - before
    for cycle in range(WARM_CYCLES, WARM_CYCLES + SETTLED_CYCLES):
        snapshots = group.snapshots(cycle)
        for way in ways.values():
            way.take(snapshots)
    # As the agent does it when the first cycle is stored.
    freeze_long_lived()
    spent: dict[str, list[float]] = {what: [] for what in ways}
    for cycle in range(WARM_CYCLES + SETTLED_CYCLES, WARM_CYCLES + SETTLED_CYCLES + cycles):
        snapshots = group.snapshots(cycle)
        for what, way in ways.items():
            begin = time.process_time()
            way.take(snapshots)
            spent[what].append((time.process_time() - begin) * 1000)
    polled = sum(reading.poll for snapshot in snapshots for reading in snapshot.readings)
    print(
        f"{len(every.rules)} rules, loaded in {loading:.0f} ms CPU; {polled:,} objects a cycle, {cycles} cycles; load of"
        f" the machine {os.getloadavg()[0]:.1f}"
    )
    for what, times in spent.items():
        print(f"  {what:9} CPU {median(times):4.0f} ms a cycle median, {max(times):4.0f} worst; {held[what]:.0f} MB")
    ratio = median(spent["ten rules"]) / median(spent["by hand"])
    found = differences(engine.said(snapshots[-1].ts), hand.said())
    print(
        f"  with these {len(RULES)} rules alone the engine takes {ratio:.1f} times by hand: {', '.join(sorted(RULES))}"
    )
    for line in found:
        print(f"  {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

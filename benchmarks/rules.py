"""All shipped rules over 10,000 queues, 2,000 channels and what belongs to them: ms a cycle and memory, beside the same conditions written by hand.

Both see the same snapshots of a made-up group (``group``), every 10 seconds, after the hour that most windows look back on. Engine and windows
are those of the agent, without a store: take in, learn, judge, alerts. The peer (``by_hand``) does the same for the operational
rules of every kind and for the reviews of queues, channels, pools and page sets. At the end both are asked about every
object once more, and must name the same ones for each rule: as those for which it holds, and as those for which that is unknown.
"""

from __future__ import annotations

import argparse
import gc
import inspect
import os
import re
import sys
import time
from collections.abc import Mapping
from statistics import median

import by_hand_channels as channels
import by_hand_pools as pools
import by_hand_queues as queues
import by_hand_system as system
from answers import INTERVAL_MS
from by_hand import Judge, Site
from figures import taken
from group import Group, facts
from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.rule_state import REVIEW_MS
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

WARM_CYCLES = 365
"""So that windows of an hour are full."""
SETTLED_CYCLES = 35
"""So that every object was reviewed since the engine began, and the next reviews are spread."""
JUDGES: Mapping[str, tuple[Judge, Judge | None]] = {
    "queue": (queues.queue, queues.queue_review),
    "channel": (channels.channel, channels.channel_review),
    "buffer_pool": (pools.pool, pools.pool_review),
    "page_set": (pools.page_set, pools.page_set_review),
    "log": (system.log, None),
    "cf_structure": (system.structure, None),
    "channel_initiator": (system.initiator, None),
    "queue_manager": (system.queue_manager, None),
    "qsg": (system.group, None),
}
KEPT = {"queue": queues.KEPT, "channel": channels.KEPT, "page_set": pools.KEPT, **system.KEPT}
REVIEWED = ("queue", "channel", "buffer_pool", "page_set")
WRITTEN = frozenset(
    rule
    for module in (queues, channels, pools, system)
    for rule in re.findall(r'"([A-Z][A-Z0-9]*-\d\d)"', inspect.getsource(module))
)
Names = dict[tuple[str, bool | None], set[ObjectName]]


class Shipped:
    """The agent's way: windows and engine."""

    def __init__(self, judging: RuleConfig) -> None:
        wanted = {
            WindowedMetric(use.kind, use.metric, use.window_ms, max(1, use.polls)) for use in judging.rules.windows
        }
        self.rules = judging.rules
        self.windows = WindowHistory(sorted(wanted))
        self.engine = Engine(judging.rules, facts(), self.windows)

    def warm(self, snapshots: list[Snapshot]) -> None:
        """Learn without judging."""
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

    def __init__(self, judging: RuleConfig) -> None:
        holds = {str(rule.id): rule.hold.polls for rule in judging.rules.rules}
        self.site = Site(facts(), KEPT, JUDGES, holds, INTERVAL_MS / 1000)

    def warm(self, snapshots: list[Snapshot]) -> None:
        """Learn without judging."""
        for snapshot in snapshots:
            self.site.learn(snapshot)

    def take(self, snapshots: list[Snapshot]) -> None:
        """A cycle."""
        for snapshot in snapshots:
            self.site.learn(snapshot)
            self.site.judge(snapshot, review_ms=REVIEW_MS)

    def said(self) -> Names:
        """Every verdict now but those that do not hold."""
        found: Names = {}
        self.site.sums.clear()
        for name, thing in self.site.things.items():
            for judge in JUDGES.get(name.kind, ()):
                for rule, truth in judge(self.site, thing) if judge is not None else ():
                    found.setdefault((rule, truth), set()).add(name)
        return found


def differences(judging: RuleConfig, engine: Names, hand: Names) -> tuple[list[str], list[str]]:
    """What the two say differently, in words; and the rules that only the engine has, of those that the peer should have."""
    lacking, found = [], []
    for rule in judging.rules.rules:
        if rule.scope not in JUDGES or (rule.kind is not RuleKind.OPERATIONAL and rule.scope not in REVIEWED):
            continue
        if rule.id not in WRITTEN:
            lacking.append(str(rule.id))
            continue
        for truth, word in ((True, "holds"), (None, "unknown")):
            one, other = engine.get((rule.id, truth), set()), hand.get((rule.id, truth), set())
            for names, who in ((one - other, "the engine alone"), (other - one, "the peer alone")):
                if names:
                    shown = ", ".join(map(str, sorted(names)[:3]))
                    found.append(f"{rule.id} {word}: {who} names {len(names)}: {shown}")
    return found, lacking


def main() -> int:
    """Measure and print; 1 when the two do not say the same."""
    parser = argparse.ArgumentParser(description="all rules at 10,000 queues and 2,000 channels")
    parser.add_argument("--cycles", type=int, default=60, help="how many are measured (default: %(default)s)")
    cycles = max(parser.parse_args().cycles, 3)
    begin = time.process_time()
    judging = load_rule_config(Settings())
    loading = (time.process_time() - begin) * 1000
    group = Group()
    engine, hand = Shipped(judging), Handwritten(judging)
    ways: dict[str, Shipped | Handwritten] = {"engine": engine, "by hand": hand}
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
        f"{len(judging.rules.rules)} rules, loaded in {loading:.0f} ms CPU; {polled:,} objects a cycle, {cycles} cycles; load of"
        f" the machine {os.getloadavg()[0]:.1f}"
    )
    for what, times in spent.items():
        print(f"  {what:8} CPU {median(times):4.0f} ms a cycle median, {max(times):4.0f} worst; {held[what]:.0f} MB")
    ratio = median(spent["engine"]) / median(spent["by hand"])
    found, lacking = differences(judging, engine.said(snapshots[-1].ts), hand.said())
    print(f"  the engine takes {ratio:.1f} times by hand, with {len(WRITTEN)} rules written by hand")
    if lacking:
        print(f"  not written by hand: {', '.join(lacking)}")
    for line in found:
        print(f"  {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

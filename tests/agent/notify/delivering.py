"""The delivery of an agent as a process of its own, for tests that kill it: ``delivering.py STORE SETTINGS``.

Each line of standard input is a cycle: ``{"RULE": "critical", "OTHER": null}`` with severities of what fires, null for what has ended.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.notify.outbox import Outbox, OutboxSettings
from mqvitals_agent.store.writer import Store
from mqvitals_agent.threads import ThreadWorker
from mqvitals_config.load import load_settings
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.ruleset.pack import read_rules
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS


def changed(key: AlertKey, severity: str | None, before: Alert | None, ts: int) -> Transition:
    """An alert fires from ``ts`` (ms UTC) on, changes its severity, or ends."""
    if before is None:
        level = Severity[(severity or "info").upper()]
        before_state = Alert(
            key, key.object, "operational", "", AlertState.FIRING, level, level, ts, ts, "what is wrong", ts
        )
        return Transition(before_state, None, Why.HELD)
    if severity is None:
        return Transition(replace(before, state=AlertState.RESOLVED, updated=ts, ended=ts), before, Why.CLEARED)
    return Transition(replace(before, severity=Severity[severity.upper()], updated=ts), before, Why.HELD)


async def main(path: str, config: str) -> None:
    """Deliver until standard input ends."""
    clock, worker = SystemClock(), ThreadWorker()
    store = await worker.run(lambda: Store.open(Path(path)))
    rules = RuleSet(read_rules(KINDS)[0], KINDS)
    outbox = Outbox(
        lambda: store,
        worker,
        OutboxSettings(load_settings(config, {}, {}).settings.receivers, rules, group="PRDQSG"),
        clock.now,
    )
    notifier = Notifier(outbox, clock)
    delivery: asyncio.Task[None] | None = None

    def cycle(number: int, line: str) -> None:
        ts = clock.now()
        known = {each.alert.key: each.alert for each in store.alerts.firing()}
        keys = {AlertKey(rule, ObjectName("QM01", "queue", rule), ""): to for rule, to in json.loads(line).items()}
        transitions = tuple(
            changed(key, to, known.get(key), ts) for key, to in keys.items() if to is not None or key in known
        )
        store.write(Snapshot("QM01", False, number, ts, ()), Evaluation(transitions, ()), outbox.update)

    loop = asyncio.get_running_loop()
    number = clock.now() // 1000
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        number += 1
        await worker.run(cycle, number, line)
        # As in the agent, delivery begins with the first cycle.
        delivery = delivery or asyncio.create_task(notifier.run())
        notifier.wake()
        sys.stdout.write("stored\n")
        sys.stdout.flush()
    notifier.close()
    if delivery is not None:
        await delivery
    await worker.run(store.close)
    worker.end()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

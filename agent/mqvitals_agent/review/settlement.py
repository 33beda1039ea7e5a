"""After an import: the advice that a store keeps becomes what a review of it finds.

While records are read, rules judge each one as of its end, when much that comes behind it is not known yet. In the end the review judges
everything that was told, and the stored alerts of its kinds follow it, so that ``alerts list --review``, ``status`` and ``review`` agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from mqvitals_agent.review.examination import examine
from mqvitals_agent.smf.report.judge import Check
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.check import Judging
from mqvitals_rules.lifecycle.alert import Alert, Transition, Why
from mqvitals_rules.lifecycle.step import Policy, Verdict, begin, end, step
from mqvitals_rules.snapshot import ObjectName

_AT_ONCE: Final = Policy(hold_polls=1, clear_polls=1)


def settle(store: Store, reader: StoreReader, judging: Judging, owners: Collection[str]) -> None:
    """Bring the advice about objects of ``owners`` up to date. Raises StoreError."""
    if not owners:
        return
    known = {(alert.scope, alert.key.rule): alert for alert in store.open_alerts()}
    changes: list[Transition] = []
    for each in examine(reader, judging, owners):
        for part in each.parts:
            for check in part.checks:
                changes += _changes(check, known.get((check.object, str(check.rule.id))), judging, each.now)
    store.write_transitions(changes)


def _changes(check: Check, alert: Alert | None, judging: Judging, now: int) -> Iterator[Transition]:
    if not check.judged:
        return
    if check.worst is None:
        if alert is not None:
            yield end(alert, Why.CLEARED, now)
        return
    worst = check.worst
    if alert is None:
        form = judging.rules.form(check.rule, ObjectName(*check.object))
        if form is not None:
            yield begin(form.identity(check.object), _AT_ONCE, worst.severity, worst.summary, worst.ts)
        return
    verdict = Verdict(holds=True, clear=False, severity=worst.severity, summary=worst.summary)
    change = step(alert, _AT_ONCE, verdict, max(worst.ts, alert.updated))
    if change is not None:
        yield change

"""Runs rules over a past time of a store, with the engine of the agent and the time of each snapshot as its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.backtest.inputs import inputs_of
from mqvitals_agent.backtest.past_snapshots import PastSnapshots
from mqvitals_agent.backtest.variants import RuleVariant
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_agent.store.kept_moments import KeptMoments
from mqvitals_agent.store.moment_reader import MomentReader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.messages import NewMessages
from mqvitals_agent.text.chart import TimeRange
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.engine import Engine
from mqvitals_rules.latest_state import STALE_AFTER
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

_LEAST_RUN_UP_MS: Final = 3_600_000
"""Rules are evaluated for at least so long before the time asked for: what fires at its beginning is then known."""

Selects = Callable[[ObjectName], bool]
OnTime = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """What would have fired within ``span`` by each variant, and what did (``then``).

    ``covered`` is the share of the time, 0 to 1, in which samples of each queue manager or group stand. ``snapshots`` counts
    those that were read.
    """

    span: TimeRange
    variants: tuple[RuleVariant, ...]
    now: tuple[tuple[Alert, ...], ...]
    then: tuple[Alert, ...]
    covered: Mapping[str, float]
    snapshots: int


def backtest(
    reader: StoreReader, variants: Sequence[RuleVariant], span: TimeRange, selects: Selects, on_time: OnTime
) -> BacktestResult:
    """Run the rules of all variants over ``span``, for the objects that ``selects`` chooses.

    The variants have the same rules with other values. ``on_time`` is told how far it is (ms UTC). Raises StoreError.
    """
    rules = variants[0].config.rules
    compiled = [compile_rule(rule, rules.kinds) for rule in rules.rules]
    inputs = inputs_of(compiled, rules.kinds)
    begin = max(span.since - _run_up_ms(variants, compiled), 1)
    past = PastSnapshots(reader, inputs, begin, span.until, selects=selects, kinds=rules.kinds)
    view = PastView(reader, begin)
    groups = _groups(reader)
    runs = [_VariantRun(each, view, span, selects, groups) for each in variants]
    for snapshot in past.known():
        for run in runs:
            run.engine.observe(snapshot)
    coverage: dict[str, TimeCoverage] = {}
    count = 0
    for snapshot in past:
        count += snapshot.ts >= span.since
        if _answers(snapshot, inputs.evaluated):
            coverage.setdefault(snapshot.owner, TimeCoverage(span)).add(snapshot.ts)
        view.move_to(snapshot.ts)
        for run in runs:
            run.take(snapshot)
        on_time(snapshot.ts)
    ids = {str(rule.id) for rule in rules.rules}
    return BacktestResult(
        span,
        tuple(variants),
        tuple(run.fired() for run in runs),
        fired_then(reader, ids, span, selects),
        {owner: each.share() for owner, each in sorted(coverage.items())},
        count,
    )


def fired_then(reader: StoreReader, rules: set[str], span: TimeRange, selects: Selects) -> tuple[Alert, ...]:
    """The alerts of these rules that a store has, and that fired at some time within ``span``. Raises StoreError."""
    stored = (each.alert for each in reader.alerts(include_ended=True))
    return _within((alert for alert in stored if alert.key.rule in rules), span, selects)


def _within(alerts: Iterable[Alert], span: TimeRange, selects: Selects) -> tuple[Alert, ...]:
    found = [
        alert
        for alert in alerts
        if alert.started is not None
        and alert.started <= span.until
        and (alert.ended is None or alert.ended >= span.since)
        and (selects(alert.scope) or selects(alert.key.object))
    ]
    return tuple(sorted(found, key=lambda alert: (alert.started or 0, alert.key)))


def _run_up_ms(variants: Sequence[RuleVariant], compiled: Sequence[CompiledRule]) -> int:
    """How long before the time asked for rules are evaluated: longer than they wait before they fire."""
    holds = [each.policy.hold_ms or 0 for each in compiled]
    for variant in variants:
        holds += [entry.hold.duration_ms or 0 for entry in variant.config.rules.tuning if entry.hold is not None]
    return _LEAST_RUN_UP_MS + 2 * max(holds, default=0)


def _groups(reader: StoreReader) -> Mapping[str, str]:
    """The queue-sharing group of each queue manager, as far as it tells one."""
    found = {}
    for owner in reader.owners():
        values = reader.current_by_kind(owner.name, "queue_manager", ("qsg_name",))
        for name, each in values.items():
            value = each.get("qsg_name")
            if value is not None and isinstance(value.value, str) and value.value.strip():
                found[name.owner] = value.value.strip()
    return found


def _answers(snapshot: Snapshot, kinds: frozenset[str]) -> bool:
    """Whether a snapshot has a value of any evaluated object."""
    return any(
        value.__class__ is not Absence
        for reading in snapshot.readings
        if reading.object.kind in kinds
        for value in reading.values.values()
    )


class PastView(MomentReader):
    """A store as of a moment that moves on: what rules see of the past as they run through it.

    ``at`` is that moment (ms UTC). It uses the connection of ``reader``.
    """

    def __init__(self, reader: StoreReader, at: int) -> None:
        super().__init__(reader, at, KeptMoments())

    def move_to(self, at: int) -> None:
        """The moment is ``at`` now (ms UTC)."""
        if at != self.at:
            self.at, self._owners, self._kept = at, None, KeptMoments()

    def new_messages(self, number: int, since: int) -> NewMessages:
        """The console messages that came last after ``since`` (ms UTC), until the moment: here time tells what is new, not
        ``number``.
        """
        if since > self.at:
            return NewMessages(0, self.at)
        return NewMessages(number, self.at, self.messages(since=since))


class TimeCoverage:
    """How much of a time is covered by snapshots, given in their order: a gap of several intervals is not."""

    def __init__(self, span: TimeRange) -> None:
        self._span = span
        self._covered = 0
        self._last: int | None = None
        self._usual: int | None = None

    def add(self, ts: int) -> None:
        """There is a snapshot of ``ts`` (ms UTC)."""
        if self._last is not None and ts > self._last:
            gap = ts - self._last
            usual = gap if self._usual is None else self._usual
            # As with values: after a few intervals nothing is known.
            self._cover(ts - (gap if gap <= STALE_AFTER * usual else usual), ts)
            self._usual = min(2 * usual, gap)
        self._last = ts if self._last is None else max(self._last, ts)

    def share(self) -> float:
        """The share of the time that is covered, 0 to 1."""
        whole = self._span.until - self._span.since
        covered = self._covered
        if self._last is not None and self._usual is not None:
            rest = self._span.until - max(self._last, self._span.since)
            covered += rest if 0 < rest <= STALE_AFTER * self._usual else 0
        return min(covered / whole, 1.0) if whole > 0 else 0.0

    def _cover(self, begin: int, end: int) -> None:
        self._covered += max(min(end, self._span.until) - max(begin, self._span.since), 0)


class _VariantRun:
    """One engine with one variant of the rules."""

    def __init__(
        self, variant: RuleVariant, view: PastView, span: TimeRange, selects: Selects, groups: Mapping[str, str]
    ) -> None:
        config = variant.config
        wanted = {WindowedMetric.by(use) for use in config.rules.windows}
        self._windows = WindowHistory(sorted(wanted), older=view, zone_of=config.zone_of)
        self.engine = Engine(config.rules, config.facts, self._windows, group_of=groups.get)
        self._span, self._selects = span, selects
        self._ended: list[Alert] = []

    def take(self, snapshot: Snapshot) -> None:
        """Evaluate the rules for a snapshot, as the agent does."""
        self._windows.add(snapshot)
        for transition in self.engine.evaluate(snapshot).transitions:
            alert = transition.after
            if alert.state is AlertState.RESOLVED and alert.started is not None:
                self._ended += _within((alert,), self._span, self._selects)

    def fired(self) -> tuple[Alert, ...]:
        """The alerts that fired within the time, in the order in which they began."""
        return _within((*self._ended, *self.engine.open_alerts), self._span, self._selects)

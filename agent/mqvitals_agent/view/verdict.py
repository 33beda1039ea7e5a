"""What rules say of an object by what a store holds: the same for ``rules explain`` and for the object's screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_rules.finding import Finding, find
from mqvitals_rules.form import Form
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of
from mqvitals_rules.windows import Point
from mqvitals_rules.world import RELATIONS, Declared, World

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

_HOUR_MS = 3_600_000


class Judged(NamedTuple):
    """What each rule says of an object, as of ``now``: the object's owner's last snapshot, ms UTC."""

    now: int
    findings: tuple[Finding, ...]


def judge(reader: StoreReader, forms: Iterable[Form], facts: Declared, name: ObjectName) -> Judged:
    """Judge an object by what the store holds of it and of what belongs to it, by each of ``forms`` in turn.

    Raises UnknownNameError for an object that the store does not know, StoreError when it cannot be read.
    """
    owners = {owner.name: owner for owner in reader.owners()}
    group = next((owner.name for owner in owners.values() if owner.is_group), "")
    world = World(KINDS, facts)
    _load(reader, world, name, group)
    state = world.state(name)
    assert state is not None, "an object of the store has a state"
    now = owners[name.owner].last_ts
    past = _StoredPast(reader, now)
    loaded = {name.kind}
    findings = []
    for form in forms:
        kinds = {kind for expression in form.expressions for kind, _ in expression.names} | form.summary.kinds
        for kind in sorted(kinds - loaded):
            _load_related(reader, world, name, kind, group)
        loaded |= kinds
        findings.append(find(form, KINDS, world, past, state, now))
    return Judged(now, tuple(findings))


def _load(reader: StoreReader, world: World, name: ObjectName, group: str) -> None:
    """Tell the world what the store holds of an object. Raises UnknownNameError for one that the store does not know."""
    poll = KINDS[name.kind].poll
    values = {}
    recorded: dict[tuple[str, Source, int | None, int], dict[str, Reported]] = {}
    for metric, current in reader.current(name).items():
        if current.source is not Source.POLL and current.ts is not None:
            about = current.probe, current.source, current.interval_ms, current.ts
            recorded.setdefault(about, {})[metric] = current.value
            continue
        # What a poll asked for in vain is absent to a rule, however well the last value is remembered.
        silent = current.unanswered is not None and current.probe == poll
        values[metric] = current.unanswered if silent and current.unanswered is not None else current.value
    records = [
        Reading(name, probe, ts, told, interval, poll=False, source=source)
        for (probe, source, interval, ts), told in recorded.items()
    ]
    world.learn(Snapshot(name.owner, name.owner == group, 0, 0, (Reading(name, poll, 0, values), *records)))


def _load_related(reader: StoreReader, world: World, name: ObjectName, kind: str, group: str) -> None:
    """Tell the world of the object of another kind that belongs to ``name``, if the store holds it."""
    state = world.state(name)
    relation = RELATIONS.get((name.kind, kind))
    if relation is not None and relation[0] != name.kind:
        _load_related(reader, world, name, relation[0], group)
    rest = "" if KINDS[kind].single or relation is None or state is None else world.named(state, kind)
    for owner in dict.fromkeys((name.owner, group)):
        if owner and (rest or KINDS[kind].single):
            related = ObjectName(owner, kind, rest)
            if reader.has(related):
                _load(reader, world, related, group)
                return


class _StoredPast:
    """The past of a store, metric by metric as it is asked for."""

    def __init__(self, reader: StoreReader, now: int) -> None:
        self._reader = reader
        self._now = now

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll with ts > ``since``, oldest first."""
        # From further back, so that the first of them has one before it to measure its interval from.
        begin = since - max(self._now - since, _HOUR_MS)
        return [point for point in self._told(object_name, metric, first=begin) if point.ts > since]

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first."""
        return self._told(object_name, metric, newest_of=count)

    def _told(self, name: ObjectName, metric: str, **selection: int) -> list[Point]:
        counter = metric_of(name.kind, metric).type is MetricType.COUNTER
        points: list[Point] = []
        source, samples = self._reader.told(name, metric, **selection)
        own = counter or source is not Source.POLL
        for sample in samples:
            interval = sample.interval_ms if own else sample.ts - points[-1].ts if points else None
            points.append(Point(sample.ts, sample.value, interval))
        return points

"""What the rules find for an object with the values that a store holds: for ``rules explain`` and for the object's
screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.store.result import CurrentValue, Owner
from mqvitals_agent.store.rows.samples.moment_values import ObjectThen
from mqvitals_agent.view.object.stored_past import StoredPast
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.explanation import RuleExplanation, explain_rule
from mqvitals_rules.history import ZoneOf, no_zone
from mqvitals_rules.latest import Declared, LatestValues
from mqvitals_rules.latest_state import LINKS, RELATIONS
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.queue import QUEUE_KIND
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


def lasting_owners(reader: StoreReader) -> frozenset[str]:
    """The owners whose SMF records do not go stale: no agent polls them, so the newest record is the newest state.

    Raises StoreError.
    """
    past = reader.meta().past
    return frozenset(owner.name for owner in reader.owners() if past or not owner.last_cycle)


def latest_of(owners: Iterable[Owner], facts: Declared) -> LatestValues:
    """No values yet, but the queue-sharing groups among ``owners``."""
    latest = LatestValues(KINDS, facts)
    latest.groups.update(owner.name for owner in owners if owner.is_group)
    return latest


def load_kind(
    reader: StoreReader,
    latest: LatestValues,
    owner: str,
    kind: str,
    metrics: Collection[str] | None = None,
    lasting: Collection[str] = (),
) -> None:
    """Load the existing objects of a kind of an owner, only ``metrics`` when given.

    ``lasting`` is as ``lasting_owners`` gives it. Raises StoreError.
    """
    _load_all(latest, owner, reader.current_by_kind(owner, kind, metrics), lasting)


def load_values(
    latest: LatestValues, name: ObjectName, values: Mapping[str, CurrentValue], lasting: Collection[str] = ()
) -> None:
    """Load one object. ``lasting`` is as ``lasting_owners`` gives it."""
    _load_all(latest, name.owner, {name: values}, lasting)


def _load_all(
    latest: LatestValues,
    owner: str,
    found: Mapping[ObjectName, Mapping[str, CurrentValue]],
    lasting: Collection[str],
) -> None:
    """Load objects of one owner: thousands are learnt at once."""
    readings = tuple(each for name, values in found.items() for each in _readings(name, values, lasting))
    latest.learn(Snapshot(owner, owner in latest.groups, 0, 0, readings))


def _readings(name: ObjectName, values: Mapping[str, CurrentValue], lasting: Collection[str]) -> Iterator[Reading]:
    """What was polled, and then the records."""
    # Applications are known by accounting records alone, which may be collected for an hour a year.
    stays = name.owner in lasting or name.kind == "application"
    poll = KINDS[name.kind].poll
    if isinstance(values, ObjectThen) and (alone := values.polled()) is not None:
        # What most of thousands of objects were at a past moment is known without the time of each value.
        yield Reading(name, poll, 0, alone)
        return
    polled: dict[str, Reported] = {}
    links: dict[str, Reported] = {}
    recorded: dict[tuple[str, Source, int | None, int], dict[str, Reported]] = {}
    for metric, current in values.items():
        if current.source is not Source.POLL and current.ts is not None:
            about = current.probe, current.source, current.interval_ms, current.ts
            recorded.setdefault(about, {})[metric] = current.value
            continue
        # A metric that a poll asked for without an answer is absent to a rule, though its last value is stored.
        silent = current.unanswered is not None and current.probe == poll
        polled[metric] = current.unanswered if silent and current.unanswered is not None else current.value
        if silent and metric in LINKS.get(name.kind, ()):
            links[metric] = current.value
    # The object that it named last is still its own while it does not answer.
    if links:
        yield Reading(name, poll, 0, links)
    yield Reading(name, poll, 0, polled)
    for (probe, source, interval, ts), values_of in recorded.items():
        lasts = stays and source is Source.SMF
        yield Reading(name, probe, ts, values_of, None if lasts else interval, poll=False, source=source)


class ObjectExplanations(NamedTuple):
    """What each rule finds for an object, as of ``now``: the last snapshot of its owner, ms UTC."""

    now: int
    findings: tuple[RuleExplanation, ...]


def explain_object(
    reader: StoreReader,
    rules: Iterable[CompiledRule],
    facts: Declared,
    name: ObjectName,
    zone_of: ZoneOf = no_zone,
) -> ObjectExplanations:
    """Evaluate ``rules`` for an object with what the store holds of it and of what belongs to it.

    Raises UnknownNameError for an object that the store does not know, StoreError when it cannot be read.
    """
    owners = {owner.name: owner for owner in reader.owners()}
    latest = latest_of(owners.values(), facts)
    lasting = lasting_owners(reader)
    _load(reader, latest, name, lasting)
    state = latest.state(name)
    assert state is not None, "an object of the store has a state"
    now = owners[name.owner].last_ts
    rules = tuple(rules)
    windows = [use for rule in rules for expression in rule.expressions for use in expression.windows]
    past = StoredPast(reader, now, zone_of, windows)
    _load_members(reader, latest, name, rules, owners, lasting)
    kinds = {kind for rule in rules for each in rule.expressions for kind, _ in each.names}
    kinds |= {kind for rule in rules for kind in rule.summary.kinds}
    for kind in sorted(kinds - {name.kind}):
        _load_related(reader, latest, name, kind, lasting)
    # One context for all rules: it knows the members, and what rules have in common about them is evaluated once.
    with closing(EvalContext(KINDS, latest, past)) as context:
        context.enter(state, now)
        findings = [explain_rule(rule, KINDS, latest, past, state, now, context) for rule in rules]
    return ObjectExplanations(now, tuple(findings))


def _load(reader: StoreReader, latest: LatestValues, name: ObjectName, lasting: Collection[str]) -> None:
    """Load an object from the store. Raises UnknownNameError for one that the store does not know."""
    load_values(latest, name, reader.current(name), lasting)


def _load_members(
    reader: StoreReader,
    latest: LatestValues,
    name: ObjectName,
    rules: Iterable[CompiledRule],
    owners: Iterable[str],
    lasting: Collection[str],
) -> None:
    """Load all objects that may be members of ``name``, or its pair, as far as the rules refer to them."""
    if len(latest.groups) > 1:
        for owner in owners:
            load_kind(reader, latest, owner, "queue_manager", {"qsg_name"}, lasting)
    whose = owners if KINDS[name.kind].of_group else dict.fromkeys((name.owner, *latest.groups))
    rules = tuple(rules)
    members = _members(rules)
    naming = {kind: metric for kind in members if (metric := _naming(name.kind, kind, rules, members)) is not None}
    for owner in whose:
        for kind, metrics in members.items():
            if kind not in naming:
                load_kind(reader, latest, owner, kind, metrics, lasting)
                continue
            found = reader.current_naming(owner, kind, (naming[kind], name.name), metrics, doubtful=True)
            _load_all(latest, owner, found, lasting)


def _naming(scope: str, kind: str, rules: Iterable[CompiledRule], members: Collection[str]) -> str | None:
    """The metric by which objects of ``kind`` are members of one of ``scope``, where rules look at no others of the kind:
    those that name another object tell them nothing. None: all are needed.
    """
    between, metric = RELATIONS.get((kind, scope), ("", ""))
    known = KINDS[kind].metric(metric) if between == kind and scope != kind and not KINDS[scope].single else None
    if known is None or known.declared:
        return None
    if any(RELATIONS.get((each, scope), ("", ""))[0] == kind for each in members if each != kind):
        return None
    for expression in (each for rule in rules for each in rule.expressions):
        besides = {of for use in expression.members if use.kind != kind for of, _ in use.names}
        if kind in besides or kind in expression.shares or (expression.pairs and kind == QUEUE_KIND.name):
            return None
    return metric


def _members(rules: Iterable[CompiledRule]) -> dict[str, set[str]]:
    """The kinds of which rules refer to many objects (members, their related objects, the other queue of a pair),
    and the metrics."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        for expression in rule.expressions:
            for use in expression.members:
                found.setdefault(use.kind, set())
                for kind, metric in use.names:
                    found.setdefault(kind, set()).add(metric)
            for metric in expression.pairs:
                found.setdefault("queue", set()).add(metric)
    for holder, metric in RELATIONS.values():
        if holder in found:
            found[holder].add(metric)
    return found


def _load_related(
    reader: StoreReader, latest: LatestValues, name: ObjectName, kind: str, lasting: Collection[str]
) -> None:
    """Load the object of another kind that belongs to ``name``, if the store holds it."""
    state = latest.state(name)
    relation = RELATIONS.get((name.kind, kind))
    if relation is not None and relation[0] != name.kind:
        _load_related(reader, latest, name, relation[0], lasting)
    rest = "" if KINDS[kind].single or relation is None or state is None else latest.named(state, kind)
    for owner in dict.fromkeys((name.owner, latest.group_of(name.owner))):
        if owner and (rest or KINDS[kind].single):
            related = ObjectName(owner, kind, rest)
            if reader.has(related):
                _load(reader, latest, related, lasting)
                return

"""Members of an object: the queues of a page set, the page sets of a buffer pool, all channels of a queue manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from mqvitals_rules.expression.context import Unplaced
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import RELATIONS, UNDECIDED, LatestState
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

_Relation = tuple[str, str]
"""A kind of members, and the kind of object to which they belong."""

_NO_STATES: list[LatestState] = []
_UNPLACED = Unplaced("queue_manager.qsg_name", Absence.NOT_ASKED)


class MemberGroup:
    """The members of an object, or of several that have the same.

    ``notes`` caches results about them, and ``absence`` is the first reason of an absent value among them; both are
    dropped when anything may have changed. ``doubt`` is why the members are not known; ``unplaced`` are other objects
    that may be members too.
    """

    __slots__ = ("_by_name", "absence", "doubt", "notes", "states", "turn", "unplaced")

    def __init__(
        self, states: list[LatestState], doubt: Absence | None = None, unplaced: Sequence[Unplaced] = ()
    ) -> None:
        self.states = states
        self.doubt = doubt
        self.unplaced = unplaced
        self.turn: object = None
        self.notes: dict[object, Any] = {}
        self.absence = doubt or (unplaced[0].absence if unplaced else None)
        self._by_name: dict[str, list[LatestState]] | None = None

    def named(self, name: str) -> Sequence[LatestState]:
        """The members whose name has this last part."""
        if self._by_name is None:
            self._by_name = {}
            for state in self.states:
                self._by_name.setdefault(state.name.name, []).append(state)
        return self._by_name.get(name, ())


class _KnownHolders:
    """The holders of all objects of one owner and kind, valid as long as ``signature`` is the same.

    ``holders``: by member, a reason where it is not known. ``open``: why a member's holder is not known now, also of
    members that have the holder reported last. ``doubt``: the reason where it is known of no object now. ``unplaced``:
    the objects whose holder was never reported.
    """

    __slots__ = ("doubt", "holders", "members", "open", "signature", "turn", "unplaced")

    def __init__(self, signature: list[object], holders: dict[ObjectName, ObjectName | Absence]) -> None:
        self.signature = signature
        self.holders = holders
        self.members: dict[ObjectName, list[LatestState]] = {}
        self.open: dict[ObjectName, Absence] = {}
        self.doubt: Absence | None = None
        self.unplaced: list[Unplaced] = []
        self.turn: object = None


class _Places(NamedTuple):
    """By holder its members, of each owner that may have some; and ``none``, which all holders without any have."""

    members: Sequence[Mapping[ObjectName, list[LatestState]]]
    none: MemberGroup


class MemberIndex:
    """Finds members, and caches them as long as no object comes, goes or changes its holder. Evaluated on demand."""

    def __init__(self, kinds: Mapping[str, Kind], latest: LatestValues) -> None:
        self._kinds = kinds
        self._latest = latest
        self._turn: tuple[int, int] = (-1, -1)
        self._population: dict[str, int] = {}
        self._by_owner: dict[str, dict[str, list[LatestState]]] = {}
        self._owners: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._together: dict[tuple[str, tuple[str, ...], tuple[str, ...]], MemberGroup] = {}
        self._holders_of: dict[tuple[str, _Relation], _KnownHolders] = {}
        self._places: dict[tuple[str, str, str], _Places] = {}
        """(owner, kind, kind of members) -> where members of objects are found; of one turn."""
        self._unreported = {kind.name: _unreported(kind) for kind in kinds.values()}

    def of(self, state: LatestState, kind: str, now: int) -> MemberGroup:
        """The members of an object of a kind, as of ``now``. Empty for kinds that are not related.

        Without any they are not known, unless the kind was reported: that there is none, or members of others.
        """
        if self._turn != (self._latest.turn, now):
            self._begin(now)
        name = state.name
        places = self._places.get((name.owner, name.kind, kind))
        if places is None:
            return self._found(name, kind, now)
        return _at(places, name)

    def _found(self, name: ObjectName, kind: str, now: int) -> MemberGroup:
        """As ``of``, of an object that is the first of its owner and kind to be asked for."""
        own = self._kinds[name.kind]
        owners, perhaps = self._owners.get(name.owner) or self._owners_of(name.owner)
        if own.single:
            return self._checked(kind, owners, perhaps)
        if name.kind == kind:
            return self._checked(kind, (name.owner,), ())
        if (kind, name.kind) not in RELATIONS:
            # What belongs to the group is shared by all its queue managers: each one's log, each one's channel initiator.
            shared = own.of_group and self._kinds[kind].single
            return self._checked(kind, owners, perhaps) if shared else MemberGroup(_NO_STATES)
        return _at(self._places_of((name.owner, name.kind, kind), owners, perhaps, now), name)

    def _places_of(
        self, key: tuple[str, str, str], owners: tuple[str, ...], perhaps: tuple[str, ...], now: int
    ) -> _Places:
        _, holder, kind = key
        holders = [self._holders(owner, (kind, holder), now) for owner in owners]
        doubt = next((each.doubt for each in holders if each.doubt is not None), None) or self._never(kind, owners)
        unplaced = list(chain.from_iterable(each.unplaced for each in holders))
        if perhaps:
            unplaced += self._perhaps(kind, perhaps)
        members = [each.members for each in holders]
        found = self._places[key] = _Places(members, MemberGroup(_NO_STATES, doubt, unplaced))
        return found

    def _owners_of(self, owner: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The owners whose objects may belong to one of ``owner``: of a group its queue managers too; and those of
        which it is not known whether they are in the group.
        """
        found: tuple[tuple[str, ...], tuple[str, ...]] = (owner,), ()
        if owner in self._latest.groups:
            groups = {each: self._latest.group_of(each) for each in self._by_owner}
            found = (
                tuple(each for each, group in groups.items() if group == owner),
                tuple(each for each, group in groups.items() if group is None),
            )
        self._owners[owner] = found
        return found

    def _perhaps(self, kind: str, owners: Sequence[str]) -> list[Unplaced]:
        """The objects of these owners, which are members if their queue manager is in the group."""
        return [_UNPLACED for owner in owners for _ in self._states(owner, kind)]

    def _checked(self, kind: str, owners: tuple[str, ...], perhaps: tuple[str, ...]) -> MemberGroup:
        group = self._all(kind, owners, perhaps)
        if not group.states:
            group.doubt = self._never(kind, owners)
            group.absence = group.doubt or group.absence
        return group

    def _never(self, kind: str, owners: Sequence[str]) -> Absence | None:
        """The reason when none of these owners ever reported a kind."""
        return None if self._latest.reported(owners, kind) else self._unreported[kind]

    def alike(self, name: ObjectName, now: int) -> MemberGroup:
        """All objects of the same kind and owner, itself included."""
        if self._turn != (self._latest.turn, now):
            self._begin(now)
        return self._all(name.kind, (name.owner,))

    def _begin(self, now: int) -> None:
        """Find what changed since the last time."""
        latest = self._latest
        self._turn = (latest.turn, now)
        self._owners = {}
        self._places = {}
        if self._population == latest.population:
            return
        changed = [owner for owner, count in latest.population.items() if self._population.get(owner) != count]
        self._population = dict(latest.population)
        self._together = {}
        for owner in changed:
            self._by_owner[owner] = {}
        for state in latest:
            name = state.name
            if name.owner in changed:
                self._by_owner[name.owner].setdefault(name.kind, []).append(state)

    def _all(self, kind: str, owners: tuple[str, ...], perhaps: tuple[str, ...] = ()) -> MemberGroup:
        """All objects of a kind of these owners."""
        key = kind, owners, perhaps
        group = self._together.get(key)
        if group is None:
            states = [state for owner in owners for state in self._states(owner, kind)]
            group = self._together[key] = MemberGroup(states, unplaced=self._perhaps(kind, perhaps))
        if group.turn is not self._turn:
            group.turn = self._turn
            group.notes = {}
            group.absence = group.unplaced[0].absence if group.unplaced else None
        return group

    def _states(self, owner: str, kind: str) -> list[LatestState]:
        return self._by_owner.get(owner, {}).get(kind, _NO_STATES)

    def _holders(self, owner: str, relation: _Relation, now: int) -> _KnownHolders:
        """The holders of the objects of an owner, checked once a turn for changes."""
        known = self._holders_of.get((owner, relation))
        if known is not None and known.turn is self._turn:
            return known
        signature = self._signature(owner, relation, now)
        if known is None or known.signature != signature:
            known = self._holders_of[owner, relation] = self._assign(owner, relation, now, signature)
        known.turn = self._turn
        return known

    def _assign(self, owner: str, relation: _Relation, now: int, signature: list[object]) -> _KnownHolders:
        """Assign every object to its holder."""
        kind, of = relation
        between, metric = RELATIONS[relation]
        first = None if between == kind else self._holders(owner, (kind, between), now)
        found = _KnownHolders(signature, {})
        fact = self._kinds[between].metric(metric)
        # An object without a declaration belongs to none.
        declared = fact is not None and fact.declared
        decided = False
        # Many name the same few: each name is looked up once.
        resolved: dict[object, tuple[ObjectName | Absence | None, Absence | None]] = {}
        for state in self._states(owner, kind):
            link = state.link(metric) if first is None else first.holders.get(state.name)
            reason = _open(state, metric) if first is None else first.open.get(state.name)
            if link in resolved:
                holder, further = resolved[link]
            else:
                value = state.link(metric) if first is None else self._of_holder(link, metric)
                holder = self._named(value, of, owner)
                further = None if first is None else self._open_of_holder(link, metric)
                resolved[link] = holder, further
            reason = reason or further or (holder if isinstance(holder, Absence) else None)
            if reason is None:
                decided = True
            else:
                # The holder reported last keeps its member, but that no other holder has it is not known.
                found.open[state.name] = reason
                found.doubt = found.doubt or reason
            if holder is None:
                continue
            found.holders[state.name] = holder
            if not isinstance(holder, Absence):
                found.members.setdefault(holder, []).append(state)
            elif not declared:
                unknown = (
                    RELATIONS[kind, between] if isinstance(link, Absence) and first is not None else (between, metric)
                )
                found.unplaced.append(Unplaced(".".join(unknown), holder))
        if decided:
            found.doubt = None
        return found

    def _of_holder(self, holder: object, metric: str) -> Reported | None:
        """The metric of the object between a member and its holder, or the reason where that object is not known."""
        if not isinstance(holder, ObjectName):
            return holder if isinstance(holder, Absence) else Absence.NOTHING_TO_TELL
        state = self._latest.state(holder)
        return None if state is None else state.link(metric)

    def _open_of_holder(self, holder: object, metric: str) -> Absence | None:
        """Why the metric of the object between a member and its holder is not known now."""
        state = self._latest.state(holder) if isinstance(holder, ObjectName) else None
        return None if state is None else _open(state, metric)

    def _named(self, value: Reported | None, of: str, owner: str) -> ObjectName | Absence | None:
        """The object of the kind ``of`` that a value names; None when it names none, a reason when that is not known."""
        if value is None:
            return Absence.NOT_ASKED
        if isinstance(value, Absence):
            return value if value in UNDECIDED else None
        rest = str(int(value)) if isinstance(value, float) else str(value)
        if not rest.strip():
            return None
        own, shared = ObjectName(owner, of, rest), ObjectName(self._latest.group_of(owner) or "", of, rest)
        return shared if self._latest.state(own) is None and self._latest.state(shared) is not None else own

    def _signature(self, owner: str, relation: _Relation, now: int) -> list[object]:
        """The values that decide the holders."""
        between, metric = RELATIONS[relation]
        group = self._latest.group_of(owner) or ""
        signature: list[object] = [group, self._population.get(owner), self._population.get(group)]
        whose = (owner,) if between == relation[0] else (owner, group)
        for each in whose:
            states = self._states(each, between)
            for state in states:
                if now > state.deadline:
                    state.expire(now)
            for state in states:
                value = state.values.get(metric)
                signature.append((value, state.link(metric)) if value.__class__ is Absence else value)
        if between != relation[0]:
            signature.append(self._signature(owner, (relation[0], between), now))
        return signature


def _at(places: _Places, name: ObjectName) -> MemberGroup:
    """The members of an object at the places of its owner and kind."""
    found = [members[name] for members in places.members if name in members]
    if not found:
        return places.none
    states = found[0] if len(found) == 1 else list(chain.from_iterable(found))
    return MemberGroup(states, unplaced=places.none.unplaced)


def _open(state: LatestState, metric: str) -> Absence | None:
    """Why it is not known now which object a metric names; None when it is known, also that it names none."""
    value = state.values.get(metric, Absence.NOT_ASKED)
    return value if isinstance(value, Absence) and value in UNDECIDED else None


def _unreported(kind: Kind) -> Absence:
    """Why nothing is known of objects of a kind: only records have them, or no reply came yet."""
    observed = [metric for metric in kind.metrics if not metric.declared]
    return Absence.NEEDS_SMF if observed and all(metric.needs_smf for metric in observed) else Absence.NOT_ASKED


def has_members(scope: Kind, kind: Kind) -> bool:
    """Whether objects of ``scope`` have members of ``kind``."""
    if scope.single or scope.name == kind.name or (scope.of_group and kind.single):
        return True
    return (kind.name, scope.name) in RELATIONS

"""Which connections and channel instances a handle may belong to. Pure functions; nothing is guessed.

An answer of handles does not name the connection of each. A connection may be a handle's when everything that both tell is
equal: application, address space, user, channel, partner, CICS task and transaction, IMS region, and on distributed queue
managers process and thread. Often several fit; then their number is told, and of their units of work the most urgent one:

* units in doubt (PREPARED, UNRESOLVED) come first, whatever their age: they hold messages and locks until somebody resolves
  them, so an older ACTIVE one must not hide them;
* then states without a name, of which nobody knows whether they are harmless, then ACTIVE ones;
* among equals the one that began first, and one without a beginning last.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from mqvitals_agent.who.holder import Connection, Holder, Instance, UnitOfWork
from mqvitals_agent.who.told import ToldConnection, ToldInstance

_TRAITS: Final = 9
_IN_DOUBT: Final = frozenset({"PREPARED", "UNRESOLVED"})
_INPUT: Final = ("EXCL", "SHARED")
_LAST: Final = "~"  # after every digit

_Traits = tuple[Hashable, ...]


def joined(
    holders: Iterable[Holder], connections: Sequence[ToldConnection], instances: Sequence[ToldInstance]
) -> tuple[Holder, ...]:
    """Every handle once, with the connections and instances that it may belong to, in the order they are shown."""
    their, theirs = _Index(connections), _Instances(instances)
    return ordered(replace(each, connection=_connection(their.of(each)), instance=theirs.of(each)) for each in holders)


def ordered(holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """Who gets exclusively, who gets, who puts, then the others; of those active handles first, then by application."""
    return tuple(sorted(holders, key=_place))


def _place(each: Holder) -> tuple[object, ...]:
    rank = _INPUT.index(each.input) if each.input in _INPUT else 2 if each.output else 3
    who = each.application, each.user, each.asid, each.channel, each.connection_name, each.task, each.region
    return (rank, each.state != "ACTIVE", *who, each.process or 0, each.thread or 0)


class _Index:
    """Finds the connections that fit a handle without looking at all of them for each: there may be thousands of both."""

    def __init__(self, connections: Sequence[ToldConnection]) -> None:
        self._connections = connections
        self._tell: list[dict[Hashable, list[int]]] = [{} for _ in range(_TRAITS)]
        for number, each in enumerate(connections):
            for trait, told in zip(_traits(each), self._tell, strict=True):
                told.setdefault(trait, []).append(number)
        self._found: dict[tuple[object, ...], tuple[ToldConnection, ...]] = {}

    def of(self, holder: Holder) -> tuple[ToldConnection, ...]:
        """The connections that may be the handle's."""
        traits = _traits(holder)
        key = traits, holder.channel, holder.connection_name
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = tuple(each for each in self._candidates(traits) if _fits(holder, traits, each))
        return found

    def _candidates(self, traits: _Traits) -> Iterable[ToldConnection]:
        """Those that agree in one trait, or tell nothing of it: the trait with the fewest."""
        fewest: Sequence[int] = range(len(self._connections))
        for trait, told in zip(traits, self._tell, strict=True):
            if trait is not None:
                same, silent = told.get(trait, []), told.get(None, [])
                if len(same) + len(silent) < len(fewest):
                    fewest = sorted(same + silent)
        return (self._connections[number] for number in fewest)


class _Instances:
    """The instances of the channels, found by channel and partner."""

    def __init__(self, instances: Iterable[ToldInstance]) -> None:
        self._of: dict[str, list[ToldInstance]] = {}
        for each in instances:
            self._of.setdefault(each.channel, []).append(each)
        self._found: dict[tuple[str, str], Instance | None] = {}

    def of(self, holder: Holder) -> Instance | None:
        """What is told of those that the handle may come through."""
        if not holder.channel:
            return None
        key = holder.channel, holder.connection_name
        if key not in self._found:
            self._found[key] = _instance(
                [
                    each
                    for each in self._of.get(holder.channel, ())
                    if _same_partner(each.connection_name, holder.connection_name)
                ]
            )
        return self._found[key]


def _traits(each: Holder | ToldConnection) -> _Traits:
    """What one can look for, None where nothing is told. Of an address the port is left out, as some answers do."""
    return (
        each.application or None,
        each.user or None,
        each.asid or None,
        _host(each.connection_name) or None,
        each.transaction or None,
        each.task or None,
        each.region or None,
        each.process,
        each.thread,
    )


def _fits(holder: Holder, traits: _Traits, connection: ToldConnection) -> bool:
    """Nothing that both tell differs, and something is the same."""
    if connection.channel is not None and connection.channel != holder.channel:
        return False
    if not _same_partner(holder.connection_name, connection.connection_name):
        return False
    both = [pair for pair in zip(traits, _traits(connection), strict=True) if None not in pair]
    return bool(both) and all(one == other for one, other in both)


def _host(address: str) -> str:
    return address.partition("(")[0]


def _same_partner(one: str, other: str) -> bool:
    """True for equal addresses, and where one of them has no port, for equal hosts; also when either is not told."""
    if not one or not other:
        return True
    return one == other or (_host(one) == _host(other) and not ("(" in one and "(" in other))


def _connection(found: Sequence[ToldConnection]) -> Connection | None:
    if not found:
        return None
    units = [each.unit_of_work for each in found if each.unit_of_work is not None]
    return Connection(
        len(found), found[0].identifier if len(found) == 1 else "", min(units, key=_urgency) if units else None
    )


def _urgency(unit: UnitOfWork) -> tuple[int, str, str, str]:
    rank = 0 if unit.state in _IN_DOUBT else 2 if unit.state == "ACTIVE" else 1
    return rank, unit.began or unit.log_began or _LAST, unit.state, unit.type


def _instance(found: Sequence[ToldInstance]) -> Instance | None:
    if not found:
        return None
    newest = max(found, key=lambda each: each.began)
    return Instance(
        len(found),
        newest.status,
        newest.substate,
        newest.msgs,
        newest.last_message,
        newest.remote_application,
        newest.user,
    )

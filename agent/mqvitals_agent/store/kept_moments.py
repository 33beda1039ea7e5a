"""What was read of objects for one moment of the past, and serves others: from one step through time to the next most of it is
the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.kept_past import KeptPast
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.alerts.alerts_then import AlertsThen
from mqvitals_agent.store.rows.samples.moment import MomentQuery
from mqvitals_agent.store.rows.samples.moment_history import Looked
from mqvitals_agent.store.rows.samples.moment_links import LinksThen, ObjectLink, link_then
from mqvitals_agent.store.rows.samples.moment_sealed import OpenHours
from mqvitals_agent.store.rows.samples.moment_values import CurrentRows
from mqvitals_agent.store.rows.samples.objects import ObjectTimes, read_times
from mqvitals_rules.snapshot import ObjectName

_FEW_OF: Final = 10
"""Of a part of the objects of a kind as small as this only their own rows are read."""

_NOTHING: Final[Mapping[str, CurrentValue]] = {}

Values = Mapping[ObjectName, Mapping[str, CurrentValue]]
"""What was known of each metric of objects."""


class KindThen(NamedTuple):
    """Rows of current state of objects of a kind, and what was found of them in history as of the last moment."""

    rows: CurrentRows
    looked: Looked


class _Always(NamedTuple):
    """From when to before when (ms UTC) all objects of a kind and owner are there, and their names by number."""

    first: int
    gone: int
    names: Mapping[int, ObjectName]


class KeptMoments:
    """What was read of objects, and serves every moment before the time when it was read.

    ``hours`` are sealed hours that are open, ``past`` that of objects alone, ``notes`` what views made of it. Queries are of the moment that is asked about, and of the metrics; ``last`` is the newest snapshot
    of the owner then, ms UTC. The methods raise sqlite3.Error, TypeError and ValueError.
    """

    __slots__ = ("_always", "_kinds", "_links", "_numbers", "_objects", "_single", "alerts", "hours", "notes", "past")

    def __init__(self) -> None:
        self.alerts = AlertsThen()
        self.hours = OpenHours()
        self.past = KeptPast()
        self.notes: dict[object, Any] = {}
        self._objects: dict[tuple[str, str], Mapping[int, ObjectTimes]] = {}
        self._numbers: dict[tuple[str, str], Mapping[ObjectName, int]] = {}
        self._always: dict[tuple[str, str], _Always] = {}
        self._kinds: dict[tuple[str, str, frozenset[str]], KindThen] = {}
        self._links: dict[tuple[str, str, str], LinksThen] = {}
        self._single: dict[int, KindThen] = {}

    def objects_of(self, connection: sqlite3.Connection, owner: str, kind: str) -> Mapping[int, ObjectTimes]:
        """All objects of a kind of an owner by number, in the order of their names."""
        found = self._objects.get((owner, kind))
        if found is None:
            found = self._objects[owner, kind] = read_times(connection, owner, kind)
            self._numbers[owner, kind] = {each.name: number for number, each in found.items()}
            self._always[owner, kind] = _Always(
                max((each.first for each in found.values()), default=0),
                min((each.gone for each in found.values()), default=0),
                {number: each.name for number, each in found.items()},
            )
        return found

    def value(
        self, connection: sqlite3.Connection, query: MomentQuery, number: int, owner: str, last: int
    ) -> Mapping[str, CurrentValue]:
        """What was known of the object of ``owner`` with this number; the query is of all its metrics."""
        known = self._single.get(number)
        if known is None:
            known = self._single[number] = KindThen(query.rows(connection, "object_id = ?", (number,)), {})
        return query.of(connection, owner, last, known.rows, known.looked).get(number, _NOTHING)

    def values(
        self,
        connection: sqlite3.Connection,
        query: MomentQuery,
        owner: str,
        last: int,
        *,
        names: Collection[ObjectName] | None = None,
        numbers: Collection[int] | None = None,
    ) -> Values:
        """What was known of the objects of an owner that were there; only of those with these names or numbers."""
        kind = query.kind.name
        objects = self.objects_of(connection, owner, kind)
        asked: Collection[int] = objects if numbers is None else numbers
        if names is not None:
            known_names = self._numbers[owner, kind]
            asked = {number for name in names if (number := known_names.get(name)) is not None and number in asked}
        always = self._always[owner, kind]
        if asked is objects and always.first <= query.at < always.gone:
            there = always.names
        else:
            there = {
                number: each.name
                for number, each in objects.items()
                if number in asked and each.first <= query.at < each.gone
            }
        known = self._kinds.get((owner, kind, query.wanted))
        if known is None and len(there) * _FEW_OF <= len(objects):
            # Most of what the kind has is not asked for.
            some = query.rows(connection, "object_id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(there)),))
            found = query.of(connection, owner, last, some)
        else:
            if known is None:
                known = self._kinds[owner, kind, query.wanted] = KindThen(_rows_of(connection, query, owner), {})
            rows = known.rows if len(there) == len(objects) else known.rows.only(there)
            found = query.of(connection, owner, last, rows, known.looked)
        return {name: found.get(number, _NOTHING) for number, name in there.items()}

    def naming(
        self,
        connection: sqlite3.Connection,
        query: MomentQuery,
        owner: str,
        last: int,
        metric: str,
        word: str,
        *,
        doubtful: bool,
    ) -> set[int]:
        """The numbers of the objects that named ``word`` in a metric, the only one of the query; ``doubtful`` as of
        ``LinksThen``.
        """
        kind, poll, at = query.kind.name, query.kind.poll, query.at
        objects = self.objects_of(connection, owner, kind)
        links = self._links.get((owner, kind, metric))
        if links is None:
            rows = _rows_of(connection, query, owner)
            recorded = {number for number, _ in rows.recorded}
            links = self._links[owner, kind, metric] = LinksThen(objects, rows.polled, recorded, metric, poll)
        unsettled = links.unsettled(at)
        then: dict[int, ObjectLink] = {}
        if unsettled:
            known = self.values(connection, query, owner, last, numbers=unsettled)
            number_of = {objects[number].name: number for number in unsettled}
            then = {number_of[name]: link_then(values.get(metric), poll) for name, values in known.items()}
        there = {number for number, each in objects.items() if each.first <= at < each.gone}
        return links.naming(word, then, there, doubtful=doubtful)


def _rows_of(connection: sqlite3.Connection, query: MomentQuery, owner: str) -> CurrentRows:
    """The rows of current state of all objects of an owner of the query's kind."""
    where = "object_id IN (SELECT id FROM object WHERE owner = ? AND kind = ?)"
    return query.rows(connection, where, (owner, query.kind.name))

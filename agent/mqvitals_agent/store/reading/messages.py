"""Messages of the console and of event queues, changes of definitions, and the journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.rows.changes import Change, read_changes
from mqvitals_agent.store.rows.journal import JournalEntry, JournalQuery, read_journal
from mqvitals_agent.store.rows.messages import (
    EventQueueRow,
    NewMessages,
    StoredMessage,
    read_event_queues,
    read_failing,
    read_followed,
    read_messages,
    read_new_messages,
    read_newest_messages,
)
from mqvitals_agent.store.rows.samples.history import (
    LAST,
)
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.event import CONSOLE, categories_of
from mqvitals_rules.vocabulary.journal import EntryKind


class MessageQueries(QueryBase):
    """Messages of the console and of event queues, changes of definitions, and the journal."""

    def consoles_followed(self) -> frozenset[str]:
        """The queue managers whose console messages the followed files hold."""
        with self._query() as connection:
            return read_followed(connection)

    def event_queues(self) -> tuple[EventQueueRow, ...]:
        """The event queues that are read, by the queue manager whose events come on them and their name."""
        with self._query() as connection:
            return read_event_queues(connection)

    def sources_followed(self) -> Mapping[str, frozenset[str]]:
        """Queue manager -> the sources of messages that are followed: its console, categories of its events."""
        found = dict.fromkeys(self.consoles_followed(), frozenset((CONSOLE,)))
        for row in self.event_queues():
            if row.ts and not row.problem:
                found[row.owner] = found.get(row.owner, frozenset()) | categories_of(row.queue)
        return found

    def consoles_failing(self) -> tuple[tuple[str, str], ...]:
        """The files of console messages that cannot be followed, by path, and why."""
        with self._query() as connection:
            return read_failing(connection)

    def messages(
        self,
        *,
        owners: Sequence[str] | None = None,
        codes: Collection[str] | None = None,
        since: int = -1,
        until: int | None = None,
        about: tuple[str, str] | None = None,
        limit: int | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Console messages with ``since`` < last time and first time <= ``until``, oldest first; the newest ``limit``
        of them.

        ``about`` is kind and name of an object that they name.
        """
        with self._query() as connection:
            return tuple(
                read_messages(
                    connection, owners=owners, codes=codes, since=since, until=until, about=about, limit=limit
                )
            )

    def changes(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        possible_at: int | None = None,
        pattern: str | None = None,
        objects: Collection[ObjectName] | None = None,
        limit: int,
    ) -> tuple[Change, ...]:
        """The newest ``limit`` changes of definitions seen from ``since`` to ``until`` (ms UTC), oldest first.

        With ``possible_at`` only those that may have been made by then, also if they were seen later. ``pattern`` is as
        of ``objects()``; ``objects`` are those wanted.
        """
        with self._query() as connection:
            return read_changes(
                connection,
                since=since,
                until=until,
                possible_at=possible_at,
                pattern=pattern,
                objects=objects,
                limit=limit,
            )

    def journal(
        self,
        since: int,
        until: int = LAST,
        *,
        owners: Collection[str] | None = None,
        objects: Collection[ObjectName] | None = None,
        kinds: Collection[EntryKind] | None = None,
        pattern: str | None = None,
        limit: int,
    ) -> tuple[JournalEntry, ...]:
        """The newest ``limit`` entries of the journal from ``since`` to ``until`` (ms UTC), oldest first.

        ``owners``, ``objects`` and ``kinds`` are those wanted; ``pattern`` is as of ``objects()``.
        """
        with self._query() as connection:
            return read_journal(connection, JournalQuery(since, until, owners, objects, kinds, pattern, limit))

    def new_messages(self, number: int, since: int) -> NewMessages:
        """The console messages in rows with a higher number than ``number``, and those that came last after ``since``
        (ms UTC).
        """
        with self._query() as connection:
            return read_new_messages(connection, number, since)

    def newest_messages(self, owner: str, code: str) -> tuple[StoredMessage, ...]:
        """The newest console message of a queue manager with an id about each object."""
        with self._query() as connection:
            return read_newest_messages(connection, owner, code)

"""The journal: what happened, as one list. Only what no other table keeps has rows of its own.

Changes of definitions, transitions of alerts, actions of people and messages are read from their own tables.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import translate
from itertools import islice
from re import compile as compile_pattern
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.rows.alerts.actions import read_audit
from mqvitals_agent.store.rows.changes import Change, read_changes
from mqvitals_agent.store.rows.messages import FREQUENT
from mqvitals_agent.store.rows.tables import LAST_MOMENT, integer, moment, moment_or_none, text
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import moved_by_zone
from mqvitals_rules.vocabulary.event import CHANGE_IDS
from mqvitals_rules.vocabulary.journal import EXPANDING, FOLLOWED, EntryKind
from mqvitals_rules.vocabulary.log import LOG_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported, Value
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.tables import metric as metric_of

MOST_ENTRIES: Final = 200_000
"""The most rows of the journal that are kept, however young they are."""

FIRST_SEEN, GONE, BACK = "first seen", "gone", "back"
"""What an entry of kind ``OBJECT`` has in place of a metric."""

STARTED, RELOADED = "started", "reloaded"
ACTIVE, STANDBY = "active", "standby"
"""What an entry of kind ``AGENT`` has in place of a metric."""

POLL, RULES, PEOPLE, MESSAGES, AGENT = "poll", "rules", "people", "messages", "agent"
"""Where an entry comes from."""

FROM_OTHERS: Final = frozenset({EntryKind.DEFINITION, EntryKind.ALERT, EntryKind.ACTION, EntryKind.MESSAGE})
"""Kinds of entries that have no rows in the journal's own table."""

ROUTINE_MS: Final = 600_000
"""Of what is routine the store keeps one entry of an object and metric in this time."""

_USUAL: Final = frozenset(
    code
    for word, code in metric_of("log", "offload_status").values.items()
    # Here offload waits for somebody to mount a volume.
    if word != "ALLOCATING_ARCHIVE"
)

_START_FORM: Final = "%Y-%m-%d %H.%M.%S"
_OPERATIONAL: Final = "operational"
_COLUMNS: Final = "ts, before_ts, entry, owner, kind, name, metric, old, new"
_PARTS: Final = 200
"""Objects asked for in one statement."""

_MOST_OBJECTS: Final = 100
"""Of more objects of a kind that come or go at once there is one entry, with their number."""


class JournalEntry(NamedTuple):
    """Something that happened: seen at ``ts``, after it had not been so at ``before`` (ms UTC; None: not known).

    ``name`` is its object, with an empty kind where it has none. ``metric`` is what has the value ``new`` after ``old``
    (None: not told); of an alert the rule, of a message its id, of an action what was done, of the agent or of an object
    that comes or goes which of these. ``words`` are those of the source: an alert's summary, a message's text. ``number``
    is that of the alert in the store, ``change`` the change of a definition.
    """

    ts: int
    kind: EntryKind
    name: ObjectName
    metric: str = ""
    old: Value | None = None
    new: Value | None = None
    before: int | None = None
    words: str = ""
    source: str = POLL
    number: int = 0
    change: Change | None = None


def followed_change(
    name: ObjectName, command: str, metric: str, old: Reported | None, new: Reported, ts: int, before: int
) -> JournalEntry | None:
    """The entry for a followed metric that ``command`` reported as ``old`` at ``before`` and as ``new`` at ``ts``, if
    it is one.

    A value that is absent on either side makes none. Handles count only where the first one comes or the last one goes;
    a start counts only where another time zone does not explain it.
    """
    kind = FOLLOWED.get(name.kind, {}).get(command, {}).get(metric)
    if kind is None or old is None or isinstance(old, Absence) or isinstance(new, Absence) or old == new:
        return None
    if kind is EntryKind.USE and bool(old) == bool(new):
        return None
    if kind is EntryKind.RESTART and not _is_another_start(str(old), str(new)):
        return None
    return JournalEntry(ts, kind, name, metric, old, new, before)


def is_routine(entry: JournalEntry) -> bool:
    """Whether it happens all day in a healthy group: a log goes on in another data set, and full ones are offloaded."""
    if entry.kind is EntryKind.LOG:
        return True
    return entry.metric == "offload_status" and entry.name.kind == LOG_KIND.name and {entry.old, entry.new} <= _USUAL


def _is_another_start(old: str, new: str) -> bool:
    try:
        was, now = (datetime.strptime(each.strip(), _START_FORM).replace(tzinfo=UTC) for each in (old, new))
    except ValueError:
        return True
    return not moved_by_zone(round((now - was).total_seconds() * 1000))


def kept_entries(entries: Sequence[JournalEntry]) -> Iterator[JournalEntry]:
    """The entries of a snapshot as they are kept.

    Where a queue manager is gone, nothing else is told as gone. Of very many objects of a kind that come or go only the
    number is kept.
    """
    left = any(each.metric == GONE and each.name.kind == QUEUE_MANAGER_KIND.name for each in entries)
    counts = Counter((each.name.kind, each.metric) for each in entries if each.kind is EntryKind.OBJECT)
    told: set[tuple[str, str]] = set()
    for each in entries:
        key = each.name.kind, each.metric
        if each.kind is not EntryKind.OBJECT:
            yield each
        elif left and each.metric == GONE and each.name.kind != QUEUE_MANAGER_KIND.name:
            continue
        elif counts[key] <= _MOST_OBJECTS:
            yield each
        elif key not in told:
            told.add(key)
            yield each._replace(name=each.name._replace(name=""), new=counts[key])


def insert_entries(connection: sqlite3.Connection, entries: Iterable[JournalEntry]) -> None:
    """Write entries of the journal's own. The caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany(
        f"INSERT INTO journal({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(each.ts, each.before, each.kind.value, *each.name, each.metric, each.old, each.new) for each in entries],
    )


class JournalQuery(NamedTuple):
    """Which entries are wanted: seen from ``since`` to ``until`` (ms UTC), the newest ``limit`` of them.

    ``owners``, ``objects`` and ``kinds`` are those wanted, None for all. ``pattern`` chooses objects by whole name as
    file names are chosen (``QM01/queue/*``).
    """

    since: int
    until: int = LAST_MOMENT
    owners: Collection[str] | None = None
    objects: Collection[ObjectName] | None = None
    kinds: Collection[EntryKind] | None = None
    pattern: str | None = None
    limit: int = 1_000

    def wants(self, *kinds: EntryKind) -> bool:
        """Whether entries of any of these kinds are wanted."""
        return self.kinds is None or any(kind in self.kinds for kind in kinds)


def read_journal(connection: sqlite3.Connection, query: JournalQuery) -> tuple[JournalEntry, ...]:
    """The entries of all sources that a query wants, oldest first. Raises sqlite3.Error, and as decoding does."""
    if query.limit < 1:
        return ()
    accepts = _accepting(query)
    found = [
        entry
        for read in (_own, _definitions, _alerts, _actions, _messages)
        for entry in islice(filter(accepts, read(connection, query)), query.limit)
    ]
    # Sources are read newest first; entries of one moment stay in the order in which they were written.
    found.reverse()
    found.sort(key=lambda entry: entry.ts)
    return tuple(found[-query.limit :])


def _accepting(query: JournalQuery) -> Callable[[JournalEntry], bool]:
    owners = None if query.owners is None else frozenset(query.owners)
    objects = None if query.objects is None else frozenset(query.objects)
    kinds = None if query.kinds is None else frozenset(query.kinds)
    match = None if query.pattern is None else compile_pattern(translate(query.pattern)).match

    def accepts(entry: JournalEntry) -> bool:
        name = entry.name
        return (
            (kinds is None or entry.kind in kinds)
            and (owners is None or name.owner in owners)
            and (objects is None or name in objects)
            and (match is None or str(name) == query.pattern or match(str(name)) is not None)
        )

    return accepts


def _of_objects(
    connection: sqlite3.Connection, select: str, time: str, query: JournalQuery, *, also: str = "1"
) -> Iterator[Sequence[Any]]:
    """The rows of a query, the newest ``time`` first; where few objects or owners are wanted, only theirs."""
    where, parameters = f"{also} AND {time} BETWEEN ? AND ?", (max(query.since, 1), min(query.until, LAST_MOMENT))
    if query.objects is not None:
        names = sorted(set(query.objects))
        rows: list[Sequence[Any]] = []
        for begin in range(0, len(names), _PARTS):
            part = names[begin : begin + _PARTS]
            chosen = ", ".join(["(?, ?, ?)"] * len(part))
            rows += connection.execute(
                f"{select} WHERE (owner, kind, name) IN (VALUES {chosen}) AND {where}",
                (*(cell for name in part for cell in name), *parameters),
            )
        # Number and time are the first two columns of every query.
        yield from sorted(rows, key=lambda row: (-row[1], -row[0]))
        return
    yield from connection.execute(f"{select} WHERE {where} ORDER BY {time} DESC, 1 DESC", parameters)


def _own(connection: sqlite3.Connection, query: JournalQuery) -> Iterator[JournalEntry]:
    if query.kinds is not None and FROM_OTHERS.issuperset(query.kinds):
        return
    for _, ts, before, entry, owner, kind, name, metric, old, new in _of_objects(
        connection, f"SELECT id, {_COLUMNS} FROM journal", "ts", query
    ):
        with suppress(ValueError):  # an entry of a later version
            yield JournalEntry(
                moment(ts),
                EntryKind(text(entry)),
                ObjectName(text(owner), text(kind), text(name)),
                text(metric),
                _value(old),
                _value(new),
                moment_or_none(before),
                source=AGENT if entry == EntryKind.AGENT else POLL,
            )


def _value(cell: Any) -> Value | None:
    if cell is None or cell.__class__ in (int, float, str):
        found: Value | None = cell
        return found
    raise TypeError(f"{cell!r:.60} is no value")


def _definitions(connection: sqlite3.Connection, query: JournalQuery) -> Iterator[JournalEntry]:
    if not query.wants(EntryKind.DEFINITION, EntryKind.EXPANSION):
        return
    # A filter that the query itself cannot make must not leave too few.
    filtered = query.kinds is not None or query.owners is not None
    changes = read_changes(
        connection,
        since=query.since,
        until=query.until,
        pattern=query.pattern,
        objects=query.objects,
        limit=10**9 if filtered else query.limit,
    )
    for change in reversed(changes):
        grown = (change.name.kind, change.metric) in EXPANDING and _is_greater(change.new, change.old)
        yield JournalEntry(
            change.ts,
            EntryKind.EXPANSION if grown else EntryKind.DEFINITION,
            change.name,
            change.metric,
            change.old,
            change.new,
            change.before,
            change=change,
        )


def _is_greater(new: Value, old: Value) -> bool:
    return not isinstance(new, str) and not isinstance(old, str) and new > old


def _alerts(connection: sqlite3.Connection, query: JournalQuery) -> Iterator[JournalEntry]:
    """The transitions of operational alerts that fired: a pending one is no news."""
    if not query.wants(EntryKind.ALERT):
        return
    select = (
        "SELECT t.id, t.ts, t.state, t.severity, a.id, a.rule, a.owner, a.kind, a.name, a.summary"
        " FROM alert_transition AS t CROSS JOIN alert AS a"
        if query.objects is None
        else "SELECT t.id, t.ts, t.state, t.severity, a.id, a.rule, a.owner, a.kind, a.name, a.summary"
        " FROM alert AS a JOIN alert_transition AS t"
    )
    select += " ON a.id = t.alert_id"
    also = f"t.state <> 'pending' AND a.kind_of_rule = '{_OPERATIONAL}'"
    for _, ts, state, severity, number, rule, owner, kind, name, summary in _of_objects(
        connection, select, "t.ts", query, also=also
    ):
        yield JournalEntry(
            moment(ts),
            EntryKind.ALERT,
            ObjectName(text(owner), text(kind), text(name)),
            text(rule),
            new="ends" if state == "resolved" else text(severity),
            words=text(summary),
            source=RULES,
            number=integer(number),
        )


def _actions(connection: sqlite3.Connection, query: JournalQuery) -> Iterator[JournalEntry]:
    """What people did; of an alert with its object, which its words name."""
    if not query.wants(EntryKind.ACTION):
        return
    for row in reversed(read_audit(connection, since=query.since, until=query.until, limit=10**9)):
        number, name = _alert_of(connection, row.about)
        yield JournalEntry(
            row.ts,
            EntryKind.ACTION,
            name,
            row.action,
            words=f"{row.about}{f': {row.detail}' if row.detail else ''}",
            new=row.author,
            source=PEOPLE,
            number=number,
        )


_NO_OBJECT: Final = ObjectName("", "", "")


def _alert_of(connection: sqlite3.Connection, about: str) -> tuple[int, ObjectName]:
    """Number and object of the alert that a row of the audit is about; 0 and no object for any other."""
    head, colon, _ = about.partition(":")
    digits = head.removeprefix("alert ")
    if not colon or head == digits or not digits.isascii() or not digits.isdecimal() or len(digits) > 18:
        return 0, _NO_OBJECT
    row = connection.execute("SELECT owner, kind, name FROM alert WHERE id = ?", (int(digits),)).fetchone()
    return (0, _NO_OBJECT) if row is None else (int(digits), ObjectName(*map(text, row)))


def matters(code: str) -> bool:
    """Whether a message belongs in the journal: its type letter asks for action or tells an error, or it is an event
    that is not told by a change of a definition.
    """
    if code.startswith("event:"):
        return ":".join(code.split(":")[:2]) not in CHANGE_IDS
    return code not in FREQUENT and (code[-1:] in "EADS" or code in _TELLING) and not code.startswith("$HAS")


_TELLING: Final = frozenset(
    {
        *("CSQP017I", "CSQP013I", "CSQI031I", "CSQJ005I", "CSQJ002I", "CSQX022I", "CSQX023I", "CSQX251I", "CSQX252I"),
        *("CSQE142I", "CSQY022I", "CSQ9022I", "CSQR020I", "CSQX411I", "CSQ5014I", "CSQ5015I", "CSQI005I", "CSQP023I"),
    }
)
"""Messages that tell what an operator did or what grew, although they are informational by their id."""


def _messages(connection: sqlite3.Connection, query: JournalQuery) -> Iterator[JournalEntry]:
    if not query.wants(EntryKind.MESSAGE):
        return
    groups = {text(name) for (name,) in connection.execute("SELECT name FROM owner WHERE is_group")}
    group = min(groups, default="")
    rows = connection.execute(
        "SELECT ts, owner, code, kind, name, count, text FROM message WHERE last_ts >= ? AND ts BETWEEN ? AND ?"
        f" AND code NOT IN ({', '.join('?' * len(FREQUENT))}) ORDER BY last_ts DESC, id DESC",
        (query.since, query.since, query.until, *FREQUENT),
    )
    for ts, owner, code, kind, name, count, words in rows:
        if not matters(text(code)):
            continue
        # A structure belongs to the group, whichever member tells of it.
        holder = group if kind in ("cf_structure", "smds") and group else text(owner)
        about = ObjectName(holder, text(kind), text(name)) if kind else ObjectName(text(owner), "queue_manager", "")
        yield JournalEntry(
            moment(ts),
            EntryKind.MESSAGE,
            about,
            text(code),
            new=integer(count) if integer(count) > 1 else None,
            words=text(words),
            source=MESSAGES,
        )

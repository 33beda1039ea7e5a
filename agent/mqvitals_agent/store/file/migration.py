"""The structure of the store, step by step. Metric columns are no part of it: they follow the vocabulary.

The steps are plain SQL, so that they also make a database in memory. sqlite_utils, which takes longer to import than a
whole query, is loaded only when a store is made, or is of an older structure.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

STRUCTURES: tuple[tuple[str, ...], ...] = (
    # Objects, what was asked of them, snapshots, alerts.
    (
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
        """CREATE TABLE owner(name TEXT PRIMARY KEY, is_group INTEGER NOT NULL,
            first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL, last_cycle INTEGER NOT NULL, clock_ms INTEGER
            ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE object(id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
            first_ts INTEGER NOT NULL, gone_ts INTEGER, UNIQUE(owner, kind, name)) STRICT""",
        """CREATE TABLE reading(object_id INTEGER NOT NULL, probe TEXT NOT NULL, ts INTEGER, asked INTEGER NOT NULL,
            unanswered TEXT, PRIMARY KEY(object_id, probe)) STRICT, WITHOUT ROWID""",
        """CREATE TABLE instance(object_id INTEGER NOT NULL, key TEXT NOT NULL, ts INTEGER NOT NULL, data TEXT NOT NULL,
            absent TEXT NOT NULL, PRIMARY KEY(object_id, key)) STRICT, WITHOUT ROWID""",
        """CREATE TABLE snapshot(owner TEXT NOT NULL, ts INTEGER NOT NULL, cycle INTEGER NOT NULL,
            is_group INTEGER NOT NULL, clock_ms INTEGER, readings INTEGER NOT NULL, PRIMARY KEY(owner, ts)
            ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE alert(id INTEGER PRIMARY KEY,
            rule TEXT NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, instance TEXT NOT NULL,
            scope_owner TEXT NOT NULL, scope_kind TEXT NOT NULL, scope_name TEXT NOT NULL,
            kind_of_rule TEXT NOT NULL, family TEXT NOT NULL, state TEXT NOT NULL, severity TEXT NOT NULL,
            worst TEXT NOT NULL, since INTEGER NOT NULL, updated INTEGER NOT NULL, started INTEGER, ended INTEGER,
            why TEXT NOT NULL, summary TEXT NOT NULL,
            true_polls INTEGER NOT NULL, good_polls INTEGER NOT NULL, unknown_polls INTEGER NOT NULL) STRICT""",
        "CREATE UNIQUE INDEX alert_open ON alert(rule, owner, kind, name, instance) WHERE state <> 'resolved'",
        "CREATE INDEX alert_started ON alert(started)",
        """CREATE TABLE alert_transition(id INTEGER PRIMARY KEY, ts INTEGER NOT NULL,
            alert_id INTEGER NOT NULL REFERENCES alert(id), state TEXT NOT NULL, severity TEXT NOT NULL,
            why TEXT NOT NULL) STRICT""",
        "CREATE INDEX alert_transition_alert ON alert_transition(alert_id)",
        """CREATE TABLE unknown_count(owner TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY(owner, rule, reason)) STRICT, WITHOUT ROWID""",
    ),
    # Notifications about alerts, which receivers get.
    (
        """CREATE TABLE notice(id INTEGER PRIMARY KEY, alert_id INTEGER NOT NULL REFERENCES alert(id),
            receiver TEXT NOT NULL, status TEXT NOT NULL, severity TEXT NOT NULL, fingerprint TEXT NOT NULL,
            made_ts INTEGER NOT NULL, payload TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
            next_ts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', done_ts INTEGER, outcome TEXT) STRICT""",
        "CREATE INDEX notice_owed ON notice(receiver, id) WHERE done_ts IS NULL",
        "CREATE INDEX notice_done ON notice(done_ts) WHERE done_ts IS NOT NULL",
        "CREATE INDEX notice_alert ON notice(alert_id)",
    ),
    # Known receivers, and since when a notification has been refused.
    (
        "ALTER TABLE notice ADD COLUMN refused_ts INTEGER",
        "UPDATE notice SET refused_ts = done_ts WHERE outcome = 'refused'",
        "CREATE INDEX notice_refused ON notice(receiver, outcome) WHERE refused_ts IS NOT NULL",
        """CREATE TABLE receiver(name TEXT PRIMARY KEY, since_ts INTEGER NOT NULL, accepted_ts INTEGER,
            failing_ts INTEGER, error TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID""",
    ),
    # Requests that the agent answers.
    (
        """CREATE TABLE request(id INTEGER PRIMARY KEY, question TEXT NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL,
            name TEXT NOT NULL, asked_ts INTEGER NOT NULL, answered_ts INTEGER, answer TEXT) STRICT""",
        "CREATE INDEX request_waits ON request(asked_ts) WHERE answered_ts IS NULL",
    ),
    # Records: the ends of the samples that are not of polls, by which they are found.
    (
        """CREATE TABLE record(object_id INTEGER NOT NULL, source INTEGER NOT NULL, ts INTEGER NOT NULL,
            PRIMARY KEY(object_id, source, ts)) STRICT, WITHOUT ROWID""",
    ),
    # SMF files and records that were read, and sums of several records.
    (
        """CREATE TABLE smf_file(name TEXT PRIMARY KEY, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
            ts INTEGER NOT NULL) STRICT, WITHOUT ROWID""",
        "CREATE TABLE smf_record(id BLOB PRIMARY KEY, ts INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        """CREATE TABLE smf_part(owner TEXT NOT NULL, kind TEXT NOT NULL, ts INTEGER NOT NULL, name TEXT NOT NULL,
            probe TEXT NOT NULL, used INTEGER NOT NULL, shown INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY(owner, kind, ts, name, probe)) STRICT, WITHOUT ROWID""",
        "CREATE INDEX smf_part_object ON smf_part(owner, kind, name, ts)",
        "CREATE INDEX smf_part_new ON smf_part(owner, ts) WHERE shown <= 0",
        "CREATE INDEX smf_part_rest ON smf_part(owner, ts) WHERE shown = 2",
    ),
    # On which of its last polls a pending alert's condition held, since when a firing one's has been over, and what explains it.
    (
        "ALTER TABLE alert ADD COLUMN recent_polls INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE alert ADD COLUMN good_since INTEGER",
        "ALTER TABLE alert ADD COLUMN cause TEXT",
    ),
    # Console messages, and the files that they come from.
    (
        """CREATE TABLE message(id INTEGER PRIMARY KEY, owner TEXT NOT NULL, code TEXT NOT NULL, kind TEXT NOT NULL,
            name TEXT NOT NULL, bucket INTEGER NOT NULL, variant INTEGER NOT NULL, ts INTEGER NOT NULL,
            last_ts INTEGER NOT NULL, count INTEGER NOT NULL, system TEXT NOT NULL, job TEXT NOT NULL, text TEXT NOT NULL,
            UNIQUE(owner, code, kind, name, bucket, variant)) STRICT""",
        "CREATE INDEX message_last ON message(last_ts)",
        "CREATE INDEX message_code ON message(owner, code, last_ts)",
        "CREATE INDEX message_object ON message(kind, name, last_ts) WHERE kind <> ''",
        """CREATE TABLE console_file(path TEXT PRIMARY KEY, offset INTEGER NOT NULL, inode TEXT NOT NULL,
            mark TEXT NOT NULL, state TEXT NOT NULL, problem TEXT NOT NULL, ts INTEGER NOT NULL) STRICT, WITHOUT ROWID""",
        """CREATE TABLE console_owner(path TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY(path, owner)
            ) STRICT, WITHOUT ROWID""",
    ),
    # Means of whole hours, of the metrics whose baseline rules ask for.
    (
        """CREATE TABLE hour_mean(hour INTEGER NOT NULL, kind TEXT NOT NULL, metric TEXT NOT NULL, object_id INTEGER NOT NULL,
            mean REAL NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY(hour, kind, metric, object_id)) STRICT, WITHOUT ROWID""",
    ),
    # The figure of an alert's rule: now, and at its worst.
    (
        "ALTER TABLE alert ADD COLUMN value_now TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE alert ADD COLUMN worst_value TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE alert ADD COLUMN worst_number REAL",
    ),
    # Ways to the oldest ended alerts and SMF records, which are deleted first.
    (
        "CREATE INDEX alert_ended ON alert(ended) WHERE state = 'resolved'",
        "CREATE INDEX smf_record_ts ON smf_record(ts)",
    ),
    # The beginning by which receivers know an alert, where the clock has been corrected since.
    ("ALTER TABLE alert ADD COLUMN identity INTEGER",),
    # Changes of definitions.
    (
        """CREATE TABLE change(id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
            metric TEXT NOT NULL, old ANY NOT NULL, new ANY NOT NULL, ts INTEGER NOT NULL, before_ts INTEGER NOT NULL,
            altered TEXT NOT NULL, moved INTEGER) STRICT""",
        "CREATE INDEX change_ts ON change(ts)",
        "CREATE INDEX change_object ON change(owner, kind, name, ts)",
    ),
    # How far event queues were read; ``via`` is the queue manager on which one lies.
    (
        """CREATE TABLE event_queue(owner TEXT NOT NULL, queue TEXT NOT NULL, via TEXT NOT NULL, state TEXT NOT NULL,
            problem TEXT NOT NULL, ts INTEGER NOT NULL, PRIMARY KEY(owner, queue, via)) STRICT, WITHOUT ROWID""",
    ),
    # What people do about alerts, and who did what when.
    (
        """CREATE TABLE acknowledgement(id INTEGER PRIMARY KEY, alert_id INTEGER NOT NULL REFERENCES alert(id),
            fingerprint TEXT NOT NULL, author TEXT NOT NULL, made_ts INTEGER NOT NULL, severity TEXT NOT NULL,
            note TEXT NOT NULL, until_ts INTEGER, undone_ts INTEGER) STRICT""",
        "CREATE INDEX acknowledgement_alert ON acknowledgement(alert_id)",
        """CREATE TABLE note(id INTEGER PRIMARY KEY, alert_id INTEGER NOT NULL REFERENCES alert(id),
            fingerprint TEXT NOT NULL, author TEXT NOT NULL, made_ts INTEGER NOT NULL, text TEXT NOT NULL) STRICT""",
        "CREATE INDEX note_alert ON note(alert_id)",
        """CREATE TABLE silence(id INTEGER PRIMARY KEY, matchers TEXT NOT NULL, author TEXT NOT NULL,
            reason TEXT NOT NULL, made_ts INTEGER NOT NULL, starts_ts INTEGER NOT NULL, ends_ts INTEGER NOT NULL) STRICT""",
        "CREATE INDEX silence_ends ON silence(ends_ts)",
        """CREATE TABLE audit(id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL,
            about TEXT NOT NULL, detail TEXT NOT NULL) STRICT""",
        "CREATE INDEX audit_ts ON audit(ts)",
    ),
    # Alerts that are notified together: the rows of a notification have one number. Groups, and what is kept of an alert for
    # its receivers: whether its end is still to be told, and whether it is muted, or until which row it was.
    (
        "ALTER TABLE notice ADD COLUMN number INTEGER NOT NULL DEFAULT 0",
        "UPDATE notice SET number = id",
        "ALTER TABLE notice ADD COLUMN group_key TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notice ADD COLUMN group_labels TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE notice ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE notice ADD COLUMN tried INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX notice_waits ON notice(receiver, number, id) WHERE done_ts IS NULL",
        """CREATE TABLE alert_group(receiver TEXT NOT NULL, key TEXT NOT NULL, labels TEXT NOT NULL, waiting_ts INTEGER,
            urgent_ts INTEGER, told_ts INTEGER, PRIMARY KEY(receiver, key)) STRICT, WITHOUT ROWID""",
        "ALTER TABLE alert ADD COLUMN ending INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE alert ADD COLUMN muted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE alert ADD COLUMN unmuted INTEGER",
    ),
    # Alerts that are sent again and again while they fire, and for a while after their end: as a receiver has them.
    (
        """CREATE TABLE resent(alert_id INTEGER NOT NULL, receiver TEXT NOT NULL, identity TEXT NOT NULL,
            severity TEXT NOT NULL, ends_ts INTEGER, payload TEXT NOT NULL, PRIMARY KEY(receiver, identity)
            ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX resent_alert ON resent(alert_id)",
    ),
    # The site's reason where its settings turned off the rule of an open alert.
    ("ALTER TABLE alert ADD COLUMN off_reason TEXT NOT NULL DEFAULT ''",),
    # Reports that are sent at set times, and up to which moment each is dealt with.
    (
        """CREATE TABLE report(name TEXT NOT NULL, receiver TEXT NOT NULL, schedule TEXT NOT NULL, handled_ts INTEGER NOT NULL,
            sent_ts INTEGER, attempts INTEGER NOT NULL, next_ts INTEGER NOT NULL, error TEXT NOT NULL,
            PRIMARY KEY(name, receiver)) STRICT, WITHOUT ROWID""",
    ),
    # The journal: what no other table keeps of what happened. Transitions of alerts are found by their time too.
    (
        """CREATE TABLE journal(id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, before_ts INTEGER, entry TEXT NOT NULL,
            owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, metric TEXT NOT NULL, old ANY, new ANY) STRICT""",
        "CREATE INDEX journal_ts ON journal(ts)",
        "CREATE INDEX journal_object ON journal(owner, kind, name, ts)",
        "CREATE INDEX alert_transition_ts ON alert_transition(ts)",
    ),
    # Finished hours: the samples of an object and source as one chunk, its metrics, and the times of snapshots.
    (
        """CREATE TABLE chunk(id INTEGER PRIMARY KEY, layout INTEGER NOT NULL, on_axis INTEGER NOT NULL, n INTEGER NOT NULL,
            data BLOB NOT NULL) STRICT""",
        "CREATE TABLE chunk_layout(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, columns TEXT NOT NULL, UNIQUE(kind, columns)) STRICT",
        """CREATE TABLE chunk_axis(hour INTEGER NOT NULL, owner TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY(hour, owner)
            ) STRICT, WITHOUT ROWID""",
    ),
    # Days that are over: the 24 hours of a metric of an object as one row, and up to which day of a kind that is done.
    (
        "CREATE TABLE rollup_metric(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, metric TEXT NOT NULL, UNIQUE(kind, metric)) STRICT",
        """CREATE TABLE rollup(metric INTEGER NOT NULL, day INTEGER NOT NULL, object_id INTEGER NOT NULL, source INTEGER NOT NULL,
            data BLOB NOT NULL, PRIMARY KEY(metric, day, object_id, source)) STRICT, WITHOUT ROWID""",
        "CREATE TABLE rolled(kind TEXT PRIMARY KEY, day INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
    # The order in which samples were stored, as far as engines do not have them; how far each engine has been sent, with the
    # running totals of its counters as of a place in that order.
    (
        """CREATE TABLE stored_samples(number INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, source INTEGER NOT NULL,
            first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL, samples INTEGER NOT NULL) STRICT""",
        """CREATE TABLE remote_write(name TEXT PRIMARY KEY, place INTEGER NOT NULL, totals_place INTEGER NOT NULL,
            missed INTEGER NOT NULL, refused INTEGER NOT NULL) STRICT, WITHOUT ROWID""",
        """CREATE TABLE remote_total(name TEXT NOT NULL, kind TEXT NOT NULL, metric TEXT NOT NULL, data BLOB NOT NULL,
            PRIMARY KEY(name, kind, metric)) STRICT, WITHOUT ROWID""",
    ),
)
"""The statements of each structure."""

STRUCTURE = len(STRUCTURES)
"""The version of the tables that are not made from the vocabulary."""


def make_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Give an empty database all tables and indexes of the newest structure. Raises sqlite3.Error."""
    for statements in STRUCTURES:
        _run(connection, statements)
    return connection


def _run(database: sqlite3.Connection | Database, statements: Iterable[str]) -> None:
    for statement in statements:
        database.execute(statement)


def migrations() -> Migrations:
    """The structures as migrations, each in a transaction of its own."""
    from sqlite_utils import Migrations

    found = Migrations("mqvitals_store")
    for number, statements in enumerate(STRUCTURES, start=1):

        @found(name=f"structure_{number}")
        def step(db: Database, statements: Iterable[str] = statements) -> None:
            _run(db, statements)

    return found


def migrate(path: Path, *, application_id: int, page_size: int) -> None:
    """Bring the file at ``path`` (empty, or a store of an older structure) to ``STRUCTURE``. Raises sqlite3.Error.

    The caller holds the writer's lock. The mark that this is a store is written first: a process that dies in between
    leaves an empty file, or a store that the next writer completes.
    """
    from sqlite_utils import Database

    db = Database(path)
    try:
        # Pragmas take no parameters; these are our own integers. The page size only counts while the file is empty.
        db.conn.execute(f"PRAGMA page_size = {page_size:d}")
        db.conn.execute(f"PRAGMA application_id = {application_id:d}")
        db.conn.execute("PRAGMA journal_mode = WAL")
        migrations().apply(db)
        db.conn.execute(f"PRAGMA user_version = {STRUCTURE:d}")
    finally:
        db.close()

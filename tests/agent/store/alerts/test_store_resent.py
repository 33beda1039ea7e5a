"""What a receiver is sent again and again is in the store: in memory first, then in the file, also in a new one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.alerting.decision import LastNotification, NotificationStatus
from mqvitals_agent.store.resilient import ResilientStore
from mqvitals_agent.store.rows.alerts.notifications import NotificationChanges
from mqvitals_agent.store.rows.alerts.resent import ResentAlert, ResentChanges
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import Severity

NOW = 1_795_176_000_000
WARNING = ResentAlert(7, "am", "a1", Severity.WARNING, NOW, "{}")
CRITICAL = ResentAlert(7, "am", "a2", Severity.CRITICAL, None, "{}")
OTHER = ResentAlert(8, "other", "a1", Severity.WARNING, None, "{}")


def resent(*rows: ResentAlert, dropped: tuple[tuple[str, str], ...] = ()) -> NotificationChanges:
    return NotificationChanges(NOW, resent=ResentChanges(rows, dropped))


def in_file(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT receiver, identity, alert_id, ends_ts FROM resent ORDER BY 1, 2").fetchall()


def test_the_newest_of_an_alert_is_what_the_receiver_knows(path: Path, make: Any) -> None:
    """The one that fires before those that have ended; a new row of an identity takes the place of the old one."""
    with closing(Store.open(path, kinds=make.kinds)) as store:
        rows = store.notifications
        rows.apply(resent(WARNING, CRITICAL, OTHER))
        assert rows.resent() == (WARNING, CRITICAL, OTHER)
        assert rows.resent("am") == (WARNING, CRITICAL)
        assert rows.last([7, 9]) == {(7, "am"): LastNotification(NotificationStatus.FIRING, Severity.CRITICAL)}
        again = ResentAlert(9, "am", "a1", Severity.WARNING, None, "{}")
        rows.apply(resent(again, dropped=(CRITICAL.key,)))
        assert rows.resent("am") == (again,)
        rows.update_receivers(["other"], NOW, lambda: None)
        rows.update_receivers([], NOW, lambda: None)
        assert rows.resent() == (again,)


def test_a_receiver_that_goes_takes_its_rows_along(path: Path, make: Any) -> None:
    """And its state: it accepts, or it does not, since when and why."""
    with closing(Store.open(path, kinds=make.kinds)) as store:
        rows = store.notifications
        rows.update_receivers(["am"], NOW, lambda: None)
        rows.apply(resent(WARNING, CRITICAL))
        rows.note_receiver("am", NOW + 1, "refused", accepts=False)
        rows.note_receiver("am", NOW + 2, "timeout", accepts=False)
        (row,) = rows.receivers()
        assert (row.failing, row.error, row.waiting, row.oldest, row.accepted) == (NOW + 1, "timeout", 2, NOW + 1, None)
        rows.note_receiver("am", NOW + 3, "one member fails", accepts=True)
        (row,) = rows.receivers()
        assert (row.failing, row.error, row.waiting, row.accepted) == (None, "one member fails", 0, NOW + 3)
        rows.update_receivers([], NOW, lambda: None)
        assert (rows.resent(), rows.receivers()) == ((), ())


@pytest.mark.parametrize("lost", [False, True])
def test_the_file_follows(path: Path, make: Any, *, lost: bool) -> None:
    """Each change at once; a new file gets everything, and the next run reads it."""
    resilient = ResilientStore(lambda now, busy: Store.open(path, kinds=make.kinds, busy_ms=busy), lambda: NOW)
    with closing(resilient) as store:
        store.notifications.apply(resent(WARNING, CRITICAL, OTHER))
        assert in_file(path) == [("am", "a1", 7, NOW), ("am", "a2", 7, None), ("other", "a1", 8, None)]
        store.notifications.apply(resent(dropped=(WARNING.key,)))
        assert len(in_file(path)) == 2
        if lost:
            path.unlink()
            store.retry()
            store.retry()
        assert in_file(path) == [("am", "a2", 7, None), ("other", "a1", 8, None)]
    with closing(
        ResilientStore(lambda now, busy: Store.open(path, kinds=make.kinds, busy_ms=busy), lambda: NOW)
    ) as store:
        assert store.notifications.resent() == (CRITICAL, OTHER)

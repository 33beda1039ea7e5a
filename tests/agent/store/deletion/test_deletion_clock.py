"""By what time old rows are deleted: a clock that leaps ahead is not believed at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.deletion_clock import CONFIRM_MS, ClockLeap, DeletionClock, decide, trusted_now
from mqvitals_agent.store.file.schema import LEAP_MS
from mqvitals_agent.store.rows.alerts.notification_rows import KEEP_MS, delete_old_notifications
from mqvitals_agent.store.writer import Store

YEARS_29 = 29 * 365 * 86_400_000
NOW = 1_763_640_000_000
MINUTE = 60_000


@pytest.mark.parametrize("ahead", [-YEARS_29, 0, LEAP_MS])
def test_a_clock_that_has_not_leapt_is_followed(ahead: int) -> None:
    """One that is behind makes less old."""
    decision = decide(NOW + ahead, NOW, 0, None)
    assert (decision.now, decision.leap, decision.reason) == (NOW + ahead, None, "")


def test_a_leap_is_believed_after_hours_that_have_elapsed() -> None:
    """Not before, and not when the clock leaps again meanwhile."""
    ahead = NOW + YEARS_29
    first = decide(ahead, NOW, 0, None)
    assert (first.now, first.leap) == (NOW, ClockLeap(0, ahead, YEARS_29))
    assert "leapt ahead by 10585d" in first.reason
    just_before = CONFIRM_MS - 1
    assert decide(ahead + just_before, NOW + just_before, just_before, first.leap).now == NOW + just_before
    assert decide(ahead + CONFIRM_MS, NOW + CONFIRM_MS, CONFIRM_MS, first.leap).reason == ""
    again = decide(2 * ahead, NOW + CONFIRM_MS, CONFIRM_MS, first.leap)
    assert again.leap is not None
    assert (again.now, again.leap.seen) == (NOW + CONFIRM_MS, CONFIRM_MS)


def test_deleting_goes_on_as_if_the_clock_had_not_leapt(path: Path, make: Any) -> None:
    """By what has elapsed; once the clock is right again, by the clock; a leap that lasts is followed."""
    with Store.open(path, kinds=make.kinds) as store:
        clock = DeletionClock(store, NOW, 0)
        assert clock.as_of(NOW + MINUTE, MINUTE) == NOW + MINUTE
        assert clock.as_of(NOW + YEARS_29, 2 * MINUTE) == NOW + 2 * MINUTE
        reason = clock.decision.reason
        assert clock.as_of(NOW + YEARS_29 + MINUTE, 3 * MINUTE) == NOW + 3 * MINUTE
        assert clock.decision.reason == reason != ""
        assert clock.as_of(NOW + 4 * MINUTE, 4 * MINUTE) == NOW + 4 * MINUTE
        assert clock.decision.reason == ""
        for steady in range(5 * MINUTE, CONFIRM_MS + 5 * MINUTE, MINUTE):
            assert clock.as_of(NOW + YEARS_29 + steady, steady) == NOW + steady
        steady = CONFIRM_MS + 5 * MINUTE
        assert clock.as_of(NOW + YEARS_29 + steady, steady) == NOW + YEARS_29 + steady


def test_a_restart_by_the_wrong_clock_believes_it_no_more(path: Path, make: Any) -> None:
    """How far it was believed is in the store, also beside samples that are dated by the wrong clock."""
    with Store.open(path, kinds=make.kinds) as store:
        DeletionClock(store, NOW, 0).as_of(NOW, 0)
        store.write(replace(make.snapshot(1), ts=NOW + YEARS_29), make.verdict())
    with Store.open(path, kinds=make.kinds) as store:
        clock = DeletionClock(store, NOW + YEARS_29, 77)
        assert clock.as_of(NOW + YEARS_29, 77) == NOW
        assert trusted_now(store, NOW + YEARS_29) == NOW
        assert trusted_now(store, NOW + MINUTE) == NOW + MINUTE


def test_a_store_of_an_older_version_is_believed_up_to_its_newest_sample(path: Path, make: Any) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        clock = DeletionClock(store, NOW + YEARS_29, 0)
        assert clock.as_of(NOW + YEARS_29, 0) == make.ts(1)


def test_delivered_notices_outlive_a_leap(path: Path, make: Any) -> None:
    """They go by the clock as far as it is believed."""
    with Store.open(path, kinds=make.kinds) as store:
        DeletionClock(store, NOW, 0).as_of(NOW, 0)
        with store.deleting() as connection:
            connection.execute(
                "INSERT INTO notice(alert_id, receiver, status, severity, fingerprint, made_ts, payload, done_ts, outcome)"
                " VALUES(1, 'one', 'firing', 'warning', 'f', ?1, '{}', ?1, 'accepted')",
                {"1": NOW},
            )
            delete_old_notifications(connection, NOW + YEARS_29)
            assert connection.execute("SELECT count(*) FROM notice").fetchone() == (1,)
            store_now = NOW + KEEP_MS + MINUTE
            connection.execute("UPDATE meta SET value = ? WHERE key = 'clock_trusted'", (str(store_now),))
            delete_old_notifications(connection, store_now)
            assert connection.execute("SELECT count(*) FROM notice").fetchone() == (0,)

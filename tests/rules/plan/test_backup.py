"""Backup and recovery of structures: the document's table, and what must hold for any input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.structures import cf_backup_cpu, cf_backup_interval, cf_restore_time

RATES = st.integers(1, 10**7)
TABLE = [
    (400, 1200, 0.977, 0.97, 89.1, 90),
    (1200, 3600, 2.93, 2.9, 29.7, 30),
    (2200, 6600, 5.371, 5.3, 16.2, 16),
]


def _minutes(**inputs: float) -> float:
    value = cf_backup_interval(**inputs).value
    assert value is not None
    return value


@pytest.mark.parametrize(("longest", "three", "mb_s", "printed_mb_s", "minutes", "printed_min"), TABLE)
def test_each_row_of_the_table(
    longest: int, three: int, mb_s: float, printed_mb_s: float, minutes: float, printed_min: int
) -> None:
    answer = cf_backup_interval(msgs_per_s=longest)
    assert answer.value == pytest.approx(minutes, abs=0.05)
    assert answer.value == pytest.approx(printed_min, abs=1)
    assert answer.unit == "minutes"
    assert _minutes(msgs_per_s=three, logs=3) == pytest.approx(minutes, abs=0.05)
    row = next(each for each in answer.rows if each["msgs_per_s_longest_log"] == longest)
    assert row == {
        "msgs_per_s_longest_log": longest,
        "msgs_per_s_3_logs": three,
        "log_mb_per_s": pytest.approx(mb_s, abs=0.0005),
        "document_mb_per_s": printed_mb_s,
        "interval_min": pytest.approx(answer.value),
        "document_interval_min": printed_min,
    }
    assert row["log_mb_per_s"] == pytest.approx(printed_mb_s, abs=0.01 if longest == 400 else 0.1)


def test_the_steps_name_the_budget_and_what_the_document_prints() -> None:
    steps = cf_backup_interval(msgs_per_s=400).steps
    assert steps[0].endswith("x 3 MB/s = 5,220 MB of log that can be read")
    assert "0.97, 2.9 and 5.3 MB/s and 90, 30 and 16 minutes" in steps[-1]


def test_a_log_written_no_faster_than_read_needs_no_backup_before_the_replay_time() -> None:
    slow, fast = cf_backup_interval(msgs_per_s=1228.8), cf_backup_interval(msgs_per_s=1229)
    assert slow.value == pytest.approx(29)
    assert any("no faster than it is read backwards" in each for each in slow.steps)
    assert not any("no faster than it is read backwards" in each for each in fast.steps)


@given(RATES, RATES, st.integers(1, 32), st.integers(0, 104_857_600))
def test_more_messages_never_allow_longer_intervals(one: int, other: int, logs: int, msg_bytes: int) -> None:
    fewer, more = sorted((one, other))
    slower = _minutes(msgs_per_s=fewer, logs=logs, msg_bytes=msg_bytes)
    assert slower >= _minutes(msgs_per_s=more, logs=logs, msg_bytes=msg_bytes) > 0
    assert slower >= _minutes(msgs_per_s=fewer, logs=1, msg_bytes=msg_bytes)


@given(st.integers(2, 604_800), st.integers(2, 604_800), RATES)
def test_a_longer_recovery_never_needs_more_backups(one: int, other: int, msgs_per_s: int) -> None:
    sooner, later = sorted((one, other))
    assert _minutes(msgs_per_s=msgs_per_s, target_s=sooner, restore_s=1) <= _minutes(
        msgs_per_s=msgs_per_s, target_s=later, restore_s=1
    )


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match=r"restore-s must be less than target-s \(60 s\), not 60"):
        cf_backup_interval(msgs_per_s=1, target_s=60)
    with pytest.raises(PlanError, match="msgs-per-s must be"):
        cf_backup_interval(msgs_per_s=0)
    with pytest.raises(PlanError, match="read-mb-per-s must be"):
        cf_backup_interval(msgs_per_s=1, read_mb_per_s=0)
    with pytest.raises(PlanError, match="logs must be 1 to 32 logs, not 33"):
        cf_backup_interval(msgs_per_s=1, logs=33)


def test_backup_and_restore_of_100000_messages() -> None:
    backup, restore = cf_backup_cpu(msgs=100_000), cf_restore_time(msgs=100_000)
    assert (backup.value, backup.unit) == (2, "CPU s")
    assert (restore.value, restore.unit) == (20, "s")
    assert "order of magnitude" in backup.caveat
    assert "order of magnitude" in restore.caveat


@given(st.integers(0, 10**10), st.integers(0, 10**10))
def test_more_messages_never_take_less(one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    for each in (cf_backup_cpu, cf_restore_time):
        less, greater = each(msgs=fewer).value, each(msgs=more).value
        assert less is not None
        assert greater is not None
        assert 0 <= less <= greater


def test_fewer_than_no_messages_are_refused() -> None:
    for each in (cf_backup_cpu, cf_restore_time):
        with pytest.raises(PlanError, match="msgs must be 0 to 10,000,000,000 messages, not -1"):
            each(msgs=-1)


def test_a_restore_may_take_no_time() -> None:
    assert _minutes(msgs_per_s=1228.8, restore_s=0) == pytest.approx(30)

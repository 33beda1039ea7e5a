"""The log over an interval: what was written, in how many I/Os, how long they took (115/1)."""

from __future__ import annotations

from typing import Final
from zlib import crc32

from mqvitals_agent.simulator.smf.moment import duration, stamp
from mqvitals_agent.simulator.smf.queue_manager_tables import QJST
from mqvitals_agent.simulator.state import Log, Member

INTERVAL_BYTES: Final = 4096
"""A control interval of the log."""
_INTERVALS_A_WRITE: Final = 8
_REWRITTEN_OF: Final = 100
"""Of so many control intervals, one is on disk already when it is filled further, and is written again."""
_SINGLE_US, _MULTIPLE_US = 320, 700
_SLOWEST_US: Final = 900
"""The longest I/O of a second is longer than the others by less than this."""
_FIRST_ONLY: Final = 2
"""The first two of the four groups of I/Os are those of the first copy: of one control interval, of several."""


class LogMeter:
    """Follows a queue manager's log from now on, second by second."""

    def __init__(self, member: Member) -> None:
        self._name = member.name
        self._log = member.log
        self._began_rba = self._rba = member.log.rba
        self._full_logs = member.log.full_logs
        self._single = self._multiple = self._written = 0
        self._buffer_waits = self._offloads = 0
        self._longest = [0, 0]
        self._longest_at: list[int | None] = [None, None]

    def second(self, now: int) -> None:
        """One second has passed, until ``now``."""
        log = self._log
        made = log.rba // INTERVAL_BYTES - self._rba // INTERVAL_BYTES
        switches = log.rba // log.log_bytes - self._rba // log.log_bytes
        if log.archiving:
            self._offloads += max(0, switches - (log.full_logs - self._full_logs))
        if log.full_logs >= log.total_logs - 1:
            # No log is left to go on in when this one is full: who writes waits for a buffer.
            self._buffer_waits += made
        self._rba, self._full_logs = log.rba, log.full_logs
        if not made:
            return
        single, multiple = -(-made // _REWRITTEN_OF), -(-made // _INTERVALS_A_WRITE)
        self._single += single
        self._multiple += multiple
        self._written += made
        for kind, usual in enumerate((_SINGLE_US, _MULTIPLE_US)):
            longest = usual + crc32(f"{self._name}/{now}/{kind}".encode()) % _SLOWEST_US
            if longest > self._longest[kind]:
                self._longest[kind], self._longest_at[kind] = longest, now

    def section(self, puts: int, length_ms: int) -> bytes:
        """The section; ``puts``: persistent messages of the interval, which has ``length_ms``."""
        log = self._log
        busy_us = self._single * _SINGLE_US + self._multiple * _MULTIPLE_US
        switches = log.rba // log.log_bytes - self._began_rba // log.log_bytes
        forced = min(self._single + self._multiple, puts)
        squares = self._single * _SINGLE_US**2 + self._multiple * _MULTIPLE_US**2
        values: dict[str, int | str] = {
            "not_waited": 2 * puts,
            "forced": forced,
            "buffer_waits": self._buffer_waits,
            "bootstrap": 2 * switches,
            "intervals_made": log.rba // INTERVAL_BYTES - self._began_rba // INTERVAL_BYTES,
            "write_calls": self._single + self._multiple,
            "archives_written": self._offloads * log.copies,
            "intervals_offloaded": self._offloads * (log.log_bytes // INTERVAL_BYTES),
            "checkpoints": switches,
            "suspends": forced,
            "writes": log.copies * (self._single + self._multiple),
            "intervals_written": log.copies * (self._single + self._written),
            "serial_writes": self._single if log.copies > 1 else 0,
            "idle_us": max(length_ms * 1000 - busy_us, 0),
            "squares_high": squares >> 64,
            "squares": squares & 0xFFFFFFFF_FFFFFFFF,
            "new_logs_1": switches,
            "new_logs_2": switches if log.copies > 1 else 0,
        }
        for group in range(_FIRST_ONLY * min(log.copies, 2)):
            values |= self._group(group, log)
        return QJST.pack(values)

    def _group(self, group: int, log: Log) -> dict[str, int | str]:
        copy, kind = divmod(group, 2)
        count, usual = ((self._single, _SINGLE_US), (self._multiple, _MULTIPLE_US))[kind]
        number = log.rba // log.log_bytes % log.total_logs + 1
        found: dict[str, int | str] = {
            f"count_{group}": count,
            f"intervals_{group}": self._written if kind else self._single,
            f"time_{group}": duration(count * usual),
            f"suspended_{group}": duration(count * usual),
        }
        if self._longest_at[kind] is not None:
            found |= {
                f"longest_{group}": duration(self._longest[kind]),
                f"longest_at_{group}": stamp(self._longest_at[kind]),
                f"longest_log_{group}": f"PY{copy + 1}.DS{number:02}",
            }
        return found

"""The records of MQ in SMF data, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.frame import steps
from mqvitals_agent.smf.moment import iso
from mqvitals_agent.smf.record import ACCOUNTING, STATISTICS, Record, parse
from mqvitals_agent.smf.section import SECTIONS, tables
from mqvitals_agent.smf.tally import Tally

_DAY_US: Final = 86_400_000_000
_PASSED: Final = 64
"""So many records are passed over at most before the caller has its turn."""


def records(stream: BinaryIO, tally: Tally, now_us: int | None = None) -> Iterator[Record]:
    """The records of MQ that have sections of ours; all others are counted.

    Damage costs the record and is noted in ``tally``. ``now_us`` (microseconds since 1970 UTC) is now: a record that ended more
    than a day after it counts as damaged, unless the first record of its system in this stream did so too, as the clock of that
    system is then ahead. None: there is no such limit.

    Raises OSError, and SmfError when these are no SMF data at all.
    """
    return (record for record in records_in_steps(stream, tally, now_us) if record is not None)


def records_in_steps(stream: BinaryIO, tally: Tally, now_us: int | None = None) -> Iterator[Record | None]:
    """The same as ``records``, with None after each small piece of work that gave no record."""
    clocks = _Clocks(now_us)
    passed = 0
    try:
        for frame in steps(stream, tally.damaged):
            record = None if frame is None else _record(frame.data, frame.type, frame.offset, tally, clocks)
            passed = passed + 1 if record is None else 0
            if record is not None or frame is None or passed >= _PASSED:
                passed = 0
                yield record
    except SmfError as error:
        if error.offset is None:
            raise
        tally.damaged(error)


def _record(data: bytes, kind: int, offset: int, tally: Tally, clocks: _Clocks) -> Record | None:
    """The record, where it is one of MQ's with sections of ours; else it is counted."""
    if kind not in (STATISTICS, ACCOUNTING):
        tally.skipped[kind] += 1
        return None
    try:
        record = parse(data, offset)
        clocks.check(record)
    except SmfError as error:
        tally.damaged(error)
        return None
    key = record.type, record.subtype
    tally.records[key] += 1
    if key not in SECTIONS:
        tally.unknown[key] += 1
        return None
    for layout, triplet in tables(record):
        tally.sections[layout.name] += triplet.instances
    return record


class _Clocks:
    """Which systems' clocks are ahead of ours by more than a day."""

    def __init__(self, now_us: int | None) -> None:
        self._latest_us = None if now_us is None else now_us + _DAY_US
        self._ahead: dict[str, bool] = {}

    def check(self, record: Record) -> None:
        """Raises SmfError for a record of the future, of a system whose clock is right."""
        if self._latest_us is None:
            return
        # A record of storage has the header's time alone, which is local.
        at = record.header_us - _DAY_US if record.end_us is None else record.end_us
        ahead = at > self._latest_us
        if ahead and not self._ahead.setdefault(record.sysid, True):
            raise SmfError(
                f"{record.type}/{record.subtype} of {record.ssid}: it ended at {iso(at)}, more than a day from now:"
                f" records of {record.sysid} before it did not",
                record.offset,
            )
        if not ahead:
            self._ahead[record.sysid] = False

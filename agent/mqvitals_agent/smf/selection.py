"""Which records somebody wants to see: by queue manager and time."""

from __future__ import annotations

from collections.abc import Iterable

from mqvitals_agent.smf.record import Record


class Selection:
    """Records of these queue managers (none: of all) whose interval ended from ``begin`` to ``end``, both included.

    Times are microseconds since 1970 UTC, None where there is no limit. Records of threads go by the time at which they were made. Records
    without a time of their own go by their header's, which is local: by the offset from UTC that the system's records before it told,
    or as UTC before any did.
    """

    def __init__(self, queue_managers: Iterable[str] = (), begin: int | None = None, end: int | None = None) -> None:
        self._owners = frozenset(map(str.upper, queue_managers))
        self._begin = begin
        self._end = end
        self._ahead: dict[str, int] = {}

    def wants(self, record: Record) -> bool:
        """Whether the record is one of them; asked of every record in the order of the file."""
        if record.utc_offset_us is not None:
            self._ahead[record.sysid] = record.utc_offset_us
        if self._owners and record.ssid not in self._owners:
            return False
        if self._begin is None and self._end is None:
            return True
        at = self._moment(record)
        return (self._begin is None or at >= self._begin) and (self._end is None or at <= self._end)

    def _moment(self, record: Record) -> int:
        if record.end_us is not None:
            return record.end_us
        return record.header_us - self._ahead.get(record.sysid, 0)

"""PutDate and PutTime of a message descriptor: when the queue manager put the message, by its own clock."""

from __future__ import annotations

from datetime import UTC, datetime


class PutTime:
    """Reads them. Thousands of replies are put within one second, so the last second is remembered."""

    def __init__(self) -> None:
        self._digits = b""
        self._second: int | None = None

    def moment(self, digits: bytes) -> int | None:
        """``YYYYMMDDHHMMSSTH``, Greenwich mean time, as ms since 1970 UTC; None when it is blank or no time."""
        if digits[:14] != self._digits:
            self._digits, self._second = digits[:14], _second(digits[:14])
        hundredths = digits[14:16]
        if self._second is None or not (len(hundredths) == 2 and hundredths.isdigit()):
            return None
        return self._second + int(hundredths) * 10


def _second(digits: bytes) -> int | None:
    if len(digits) != 14 or not digits.isdigit():
        return None
    try:
        begin = datetime.strptime(digits.decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(begin.timestamp()) * 1000

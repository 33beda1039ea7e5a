"""What is wrong with SMF data: one record of it, or the whole file."""

from __future__ import annotations


class SmfError(Exception):
    """A record that cannot be read, or a file that holds no records.

    ``reason`` is a clause that says what is wrong, ``offset`` where it is in the file (bytes from its beginning, after
    decompression), None when it is about the whole file.
    """

    def __init__(self, reason: str, offset: int | None = None) -> None:
        super().__init__(reason if offset is None else f"offset {offset}: {reason}")
        self.reason = reason
        self.offset = offset

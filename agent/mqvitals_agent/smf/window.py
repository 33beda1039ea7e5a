"""A piece of a stream at a time, with room to look ahead and back a little: memory does not grow with the file."""

from __future__ import annotations

from typing import BinaryIO, Final

from mqvitals_agent.smf.error import SmfError

CHUNK: Final = 1 << 20


class Window:
    """``data`` from ``at`` on is what comes next; ``data[0]`` lies at ``base`` in the stream. What is before ``keep`` may go.

    ``damage``: why the stream ended where it did, when it could not be read on.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ended = False
        self.damage: SmfError | None = None
        self.data = b""
        self.base = 0
        self.at = 0
        self.keep = 0

    @property
    def offset(self) -> int:
        """Where in the stream ``at`` is."""
        return self.base + self.at

    def fill(self, wanted: int) -> int:
        """Read until ``wanted`` bytes lie ahead, if there are so many; returns how many do. Raises OSError."""
        ahead = len(self.data) - self.at
        if ahead >= wanted or self._ended:
            return ahead
        pieces = [self.data[self.keep :]]
        while ahead < wanted:
            try:
                piece = self._stream.read(max(CHUNK, wanted - ahead))
            except SmfError as error:
                self.damage, piece = error, b""
            if not piece:
                self._ended = True
                break
            pieces.append(piece)
            ahead += len(piece)
        self.base += self.keep
        self.at -= self.keep
        self.keep = 0
        self.data = b"".join(pieces)
        return ahead

"""Writing a recording, line by line."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mqvitals_agent.connection.exchange import Exchange, Reply
from mqvitals_agent.connection.header import FORMAT, Header, RecordingError
from mqvitals_agent.connection.lines import LONGEST_LINE
from mqvitals_rules.timestamps import iso


class Writer:
    """Writes a recording, one exchange a line and one write a line, so that a crash cuts at most the last one.

    The file is made anew, readable by its owner alone, since answers hold names, addresses and user ids; with
    ``append`` an existing recording is continued. A name that ends in ``.gz`` is compressed; every line is flushed to
    the file. Use it in a ``with`` statement, or call ``close``. Raises RecordingError when the file exists already (and
    ``append`` is false) or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], header: Header, *, append: bool = False) -> None:
        self.path = Path(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_EXCL)
        try:
            self._file = os.open(self.path, flags, 0o600)
            new = os.fstat(self._file).st_size == 0
        except FileExistsError as error:
            raise RecordingError(f"{self.path} exists already: choose another name") from error
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self._member = zlib.compressobj(wbits=31) if self.path.name.endswith(".gz") else None
        if new:
            self._write(_header_keys(header))

    def write(self, exchange: Exchange) -> None:
        """Append one exchange that has ended. Raises RecordingError when the disk is full or gone."""
        self._write(_exchange_keys(exchange))

    def close(self) -> None:
        """End the file. A second call does nothing."""
        if self._file < 0:
            return
        try:
            if self._member is not None:
                self._put(self._member.flush())
        finally:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, keys: Mapping[str, Any]) -> None:
        data = json.dumps(keys, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(data) > LONGEST_LINE:
            raise RecordingError(
                f"{self.path}: an exchange of {len(data) >> 20} MiB cannot be recorded, as a line has at most"
                f" {LONGEST_LINE >> 20} MiB: choose fewer queues or channels (polling in 'mqvitals help configuration')"
            )
        if self._member is not None:
            data = self._member.compress(data) + self._member.flush(zlib.Z_SYNC_FLUSH)
        self._put(data)

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror or error}") from error


def _header_keys(header: Header) -> dict[str, Any]:
    keys: dict[str, Any] = {"format": FORMAT, "version": header.version}
    if header.created is not None:
        keys["created"] = iso(header.created)
    optional = (
        ("source", header.source),
        ("name", header.name),
        ("queue_managers", list(header.queue_managers)),
        ("interval_s", _plain(header.interval_s)),
        ("comment", header.comment),
    )
    keys.update((key, value) for key, value in optional if value)
    return keys


def _plain(seconds: float | None) -> float | int | None:
    return int(seconds) if seconds is not None and seconds == int(seconds) else seconds


def _exchange_keys(exchange: Exchange) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "at": iso(exchange.at),
        "elapsed_ms": exchange.elapsed_ms,
        "queue_manager": exchange.queue_manager,
    }
    if exchange.command is not None:
        keys["command"] = exchange.command
    if exchange.request is not None:
        keys["request"] = exchange.request.hex()
    if exchange.replies or exchange.error is None:
        keys["replies"] = [_reply_keys(reply) for reply in exchange.replies]
    if exchange.error is not None:
        keys["error"] = {"comp": exchange.error.comp, "reason": exchange.error.reason}
    return keys


def _reply_keys(reply: Reply) -> dict[str, Any]:
    keys: dict[str, Any] = {"encoding": reply.encoding, "ccsid": reply.ccsid}
    if reply.put is not None:
        keys["put"] = f"{iso(reply.put)[:-2]}Z"  # the descriptor holds hundredths
    keys["data"] = reply.data.hex()
    return keys

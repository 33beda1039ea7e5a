"""How far a command has read its SMF files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, Final

from mqvitals_agent.smf.reader import STDIN, bytes_read, shown_name
from mqvitals_agent.text.terminal import safe

if TYPE_CHECKING:
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.smf.record import Record

_EACH: Final = 32
"""Records between two looks at the place in the file."""


class FilesProgress:
    """Called with each of ``files`` in turn, it passes the records on and shows how far they are: bytes of the files."""

    def __init__(self, files: Sequence[str], progress: Progress) -> None:
        self._progress = progress
        self._before = 0
        sizes = [_size(path) for path in files]
        self._sizes = dict(zip(files, sizes, strict=True))
        self._several = len(files) > 1
        known = [size for size in sizes if size is not None]
        what = f"reading {len(files):,} files" if self._several else f"reading {safe(_short(files[0]))}"
        progress.begin(what, sum(known) if len(known) == len(sizes) else None)

    def __call__(self, path: str, stream: BinaryIO, records: Iterable[Record]) -> Iterator[Record]:
        """The records of a file, which are read from ``stream``."""
        note = safe(_short(path)) if self._several else ""
        read = 0
        for count, record in enumerate(records):
            if count % _EACH == 0:
                read = bytes_read(stream, record)
                self._progress.at(self._before + read, note)
            yield record
        size = self._sizes.get(path)
        self._before += read if size is None else size


def _short(path: str) -> str:
    return os.path.basename(path) or shown_name(path) if path != STDIN else shown_name(path)  # noqa: PTH119 - as it was given


def _size(path: str) -> int | None:
    """Bytes of a regular file; None: nobody knows."""
    try:
        facts = os.stat(path)  # noqa: PTH116
    except OSError:
        # It counts nothing: reading it tells why.
        return None if path == STDIN else 0
    return facts.st_size or None if path != STDIN else None

"""Where samples and alerts are kept, for how long, and how large the store may become."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from mqvitals_config.doc import Doc
from mqvitals_config.duration import parse_duration
from mqvitals_config.file_mode import FORM as FILE_MODE
from mqvitals_config.file_mode import FileMode, parse_file_mode
from mqvitals_config.file_path import beside
from mqvitals_config.problem import LocatedText
from mqvitals_config.shape import Convert

KEEP_FORM = "a duration such as 30d, 12h or 90d, or forever"
SIZE_FORM = "a size such as 500MB, 5GB or 1.5TB (1KB is 1024 bytes), or none"

OWNER_ONLY = FileMode(0o600)

FOREVER = "forever"
NO_LIMIT = "none"

SHORTEST_KEEP_MS = 3_600_000
SMALLEST_SIZE = 16 * 1024**2
"""Current state and the write-ahead log of a group take several megabytes before any history does."""

_UNITS = {"KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
_SIZE = re.compile(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,3}})?) ?({'|'.join(_UNITS)})", re.IGNORECASE)
_LARGEST_SIZE = 1 << 62


def parse_keep(text: str) -> int | None:
    """``30d`` as milliseconds, ``forever`` as None. Raises ValueError for less than an hour, and for what is neither."""
    if text.strip().lower() == FOREVER:
        return None
    try:
        ms = parse_duration(text)
    except ValueError as error:
        # A number without a unit has a message of its own.
        raise ValueError(str(error) if "needs a unit" in str(error) else f"expected {KEEP_FORM}") from None
    if ms < SHORTEST_KEEP_MS:
        raise ValueError("must be 1h at least; rules look back that far")
    return ms


def parse_size(text: str) -> int | None:
    """``5GB`` as bytes, in powers of 1024; ``none`` as None. Raises ValueError for less than 16 MB, and for what is neither."""
    if text.strip().lower() == NO_LIMIT:
        return None
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        if re.fullmatch("[0-9]{1,9}", text):
            raise ValueError(f"a size needs a unit: {text}MB or {text}GB")
        raise ValueError(f"expected {SIZE_FORM}")
    size = int(float(found[1]) * _UNITS[found[2].upper()])
    if size < SMALLEST_SIZE:
        raise ValueError("must be 16MB at least")
    if size > _LARGEST_SIZE:
        raise ValueError("is more than a file can hold; write none for no limit")
    return size


def format_size(size: int) -> str:
    """Bytes in the form that ``parse_size`` reads, in the largest unit that writes them exactly."""
    for unit, length in reversed(_UNITS.items()):
        if size % length == 0:
            return f"{size // length}{unit}"
    return f"{size} bytes"


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where samples and alerts are kept, and how long."""

    path: Annotated[
        Annotated[LocatedText, Convert(beside, "the path of a file")] | None,
        Doc("The SQLite file. A relative path is beside this file.", "MQVITALS_STORE", "--store"),
    ] = None
    mode: Annotated[
        Annotated[FileMode, Convert(parse_file_mode, FILE_MODE, raw=True)],
        Doc(
            "Who may read and write the file. 0660 with `group` lets the group ask questions (`mqvitals who`) too; with 0640 it can"
            " only watch.",
            "MQVITALS_STORE_MODE",
        ),
    ] = OWNER_ONLY
    group: Annotated[
        LocatedText | None,
        Doc(
            "The operating system's group that owns the file.",
            "MQVITALS_STORE_GROUP",
            default="the group of the user who runs the agent",
        ),
    ] = None
    keep: Annotated[
        Annotated[int | None, Convert(parse_keep, KEEP_FORM, raw=True)],
        Doc(
            "How long samples, ended alerts and console messages stay in the store: at least 1h, or forever. Open alerts,"
            " notices that are owed, current state and the hourly means of baselines stay longer. Changes take effect on reload.",
            "MQVITALS_STORE_KEEP",
            default="30d",
        ),
    ] = 30 * 86_400_000
    max_size: Annotated[
        Annotated[int | None, Convert(parse_size, SIZE_FORM, raw=True)],
        Doc(
            "How much the store may hold, its write-ahead log included: at least 16MB, or none. The oldest samples go first,"
            " also when they are younger than `keep`. Changes take effect on reload.",
            "MQVITALS_STORE_MAX_SIZE",
            default="5GB",
        ),
    ] = 5 * 1024**3

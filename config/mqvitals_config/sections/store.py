"""Settings of the store: its file, how long it keeps what, and how much it may hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_config.decoding.scalars import (
    FILE_MODE_FORM,
    FileMode,
    format_duration,
    parse_duration,
    parse_file_mode,
    resolved_path,
)
from mqvitals_config.decoding.schema import Convert, Doc, WrittenAs

KEEP_FORM = "a duration such as 30d, 12h or 2y, or forever"
SIZE_FORM = "a size such as 500MB, 5GB or 1.5TB (1KB is 1024 bytes), or none"

OWNER_ONLY = FileMode(0o600)

FOREVER = "forever"
NO_LIMIT = "none"
OTHER_KINDS: Final = "default"
"""Among the kinds of ``keep.raw``: all that are not named."""

SHORTEST_KEEP_MS = 3_600_000
SMALLEST_SIZE = 16 * 1024**2
"""Current state and the write-ahead log of a group take several megabytes before any history does."""

_DAY_MS: Final = 86_400_000
_YEAR_MS: Final = 365 * _DAY_MS
_KEEP_RAW_MS: Final = 30 * _DAY_MS
_KEEP_HOURS_MS: Final = 2 * _YEAR_MS

_UNITS = {"KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
_SIZE = re.compile(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,3}})?) ?({'|'.join(_UNITS)})", re.IGNORECASE)
_LARGEST_SIZE = 1 << 62
_YEARS = re.compile("([0-9]{1,3})y(.*)")


def parse_keep(text: str) -> int | None:
    """``30d`` as milliseconds, ``2y`` as twice 365 days, ``forever`` as None.

    Raises ValueError for less than an hour, and for what is neither.
    """
    if text.strip().lower() == FOREVER:
        return None
    years = _YEARS.fullmatch(text)
    rest = text if years is None else years[2]
    try:
        ms = (0 if years is None else int(years[1]) * _YEAR_MS) + (parse_duration(rest) if rest or not years else 0)
    except ValueError as error:
        # A number without a unit has a message of its own.
        raise ValueError(str(error) if "needs a unit" in str(error) else f"expected {KEEP_FORM}") from None
    if ms < SHORTEST_KEEP_MS:
        raise ValueError("must be 1h at least; rules look back that far")
    return ms


def format_keep(keep_ms: int | None) -> str:
    """In the form that ``parse_keep`` reads, as short as it can be written exactly."""
    if keep_ms is None:
        return FOREVER
    years, rest = divmod(keep_ms, _YEAR_MS)
    return f"{years}y" if years and not rest else format_duration(keep_ms)


def parse_size(text: str) -> int | None:
    """``5GB`` as bytes, in powers of 1024; ``none`` as None.

    Raises ValueError for less than 16 MB, and for what is neither.
    """
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


Keep = Annotated[int | None, Convert(parse_keep, KEEP_FORM, raw=True)]
"""How long something is kept, ms; None: for ever."""


class RawKeep(Mapping[str, int | None]):
    """How long samples of each kind are kept, ms; None: for ever. ``default`` is said of all kinds that are not named."""

    __slots__ = ("_times",)

    def __init__(self, default: int | None = _KEEP_RAW_MS, kinds: Mapping[str, int | None] | None = None) -> None:
        self._times = {OTHER_KINDS: default, **(kinds or {})}

    def __getitem__(self, word: str) -> int | None:
        return self._times[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._times)

    def __len__(self) -> int:
        return len(self._times)

    def __hash__(self) -> int:
        return hash(frozenset(self._times.items()))

    @property
    def default(self) -> int | None:
        """That of kinds without a time of their own."""
        return self._times[OTHER_KINDS]

    @property
    def kinds(self) -> Mapping[str, int | None]:
        """Those with a time of their own; their names keep their places in the file."""
        return {kind: keep for kind, keep in self._times.items() if kind != OTHER_KINDS}

    def of(self, kind: str) -> int | None:
        """How long samples of a kind are kept."""
        return self._times.get(kind, self.default)


def raw_keep(given: int | Mapping[LocatedText, int | None] | None) -> RawKeep:
    """One time for all kinds, or by kind; without ``default`` the others are kept as long as by default."""
    if not isinstance(given, Mapping):
        return RawKeep(given)
    times: dict[str, int | None] = {kind: keep for kind, keep in given.items()}  # noqa: C416 - of any texts
    return RawKeep(times.pop(OTHER_KINDS, _KEEP_RAW_MS), times)


@dataclass(frozen=True, slots=True)
class KeepSettings:
    """How long the store keeps what."""

    raw: Annotated[
        Annotated[RawKeep, WrittenAs(Keep | Mapping[LocatedText, Keep], raw_keep)],
        Doc(
            "Samples: at least 1h, or forever. One time for all, or by kind of object, such as {queue: 14d, default: 30d}. While"
            " `hours` is longer, the samples of a day stay until its hours are made.",
            default="30d",
        ),
    ] = RawKeep()  # noqa: RUF009 - frozen
    hours: Annotated[
        Keep,
        Doc("What each hour of a metric came to: count, lowest, highest, mean or increase, last value.", default="2y"),
    ] = _KEEP_HOURS_MS
    alerts: Annotated[
        Keep,
        Doc("Ended alerts with what people did about them, the journal, and console messages.", default="2y"),
    ] = _KEEP_HOURS_MS


def short_keep(given: int | KeepSettings | None) -> KeepSettings:
    """The short form, a single time: for samples and ended alerts; hours are kept as long at least."""
    if isinstance(given, KeepSettings):
        return given
    return KeepSettings(RawKeep(given), None if given is None else max(given, _KEEP_HOURS_MS), given)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where samples and alerts are kept, and how long."""

    path: Annotated[
        Annotated[LocatedText, Convert(resolved_path, "the path of a file")] | None,
        Doc("The SQLite file. A relative path is beside this file.", "MQVITALS_STORE", "--store"),
    ] = None
    mode: Annotated[
        Annotated[FileMode, Convert(parse_file_mode, FILE_MODE_FORM, raw=True)],
        Doc(
            "Who may read and write the file. 0660 with `group` lets the group send requests (`mqvitals who`) and act on alerts too;"
            " with 0640 it can only read.",
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
        Annotated[KeepSettings, WrittenAs(Keep | KeepSettings, short_keep)],
        Doc(
            "How long samples, hours and ended alerts stay in the store. Open alerts, notifications not yet sent and current state"
            " stay longer. A single time, such as 30d, is that of samples and ended alerts. Changes take effect on reload.",
            "MQVITALS_STORE_KEEP",
            default="samples 30d, hours and alerts 2y",
        ),
    ] = KeepSettings()
    limit: Annotated[
        Annotated[int | None, Convert(parse_size, SIZE_FORM, raw=True)],
        Doc(
            "How much the store may hold, its write-ahead log included: at least 16MB, or none. The oldest samples go first,"
            " also when they are younger than `keep`; hours last. `max_size`, its former name, is read too. Changes take effect on"
            " reload.",
            "MQVITALS_STORE_LIMIT",
            default="5GB",
            former="max_size",
            former_environment="MQVITALS_STORE_MAX_SIZE",
        ),
    ] = 5 * 1024**3

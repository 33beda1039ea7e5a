"""A recording's first line, and the error that says why a file cannot be used as a recording."""

from __future__ import annotations

from dataclasses import dataclass

FORMAT = "mqvitals-recording"
VERSION = 1


class RecordingError(Exception):
    """The file cannot be used as a recording; the text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. ``name`` is the site's name for the group, ``interval_s`` the usual seconds between two cycles."""

    version: int = VERSION
    created: int | None = None
    source: str = ""
    name: str = ""
    queue_managers: tuple[str, ...] = ()
    interval_s: float | None = None
    comment: str = ""

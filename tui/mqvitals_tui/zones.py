"""The zones in which the screens show times, one at a time: one's own, UTC, and those of the queue managers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.settings import Settings

_LOCAL_TIME: Final = Path("/etc/localtime")


class ShownZone(NamedTuple):
    """A zone, and whose it is, for a person."""

    zone: tzinfo
    words: str


def terminal_zone(environ: Mapping[str, str], local_time: Path = _LOCAL_TIME) -> tzinfo:
    """The zone of the machine: that of ``TZ``, else of the file ``local_time``, else as far from UTC as its clock is now.

    The first two know when clocks change.
    """
    named = environ.get("TZ")
    if named is not None:
        try:
            return time_zone(named.removeprefix(":") or "UTC")
        except ValueError:
            pass
    else:
        try:
            with local_time.open("rb") as file:
                return ZoneInfo.from_file(file, key="local time")
        except (OSError, ValueError):
            pass
    return timezone(timedelta(seconds=time.localtime().tm_gmtoff))


def zone_choices(settings: Settings, own: tzinfo) -> tuple[ShownZone, ...]:
    """The zones among which the key changes; the first one is ``tui.time_zone``, without it ``own``, the terminal's.

    UTC follows, and each zone that the settings give queue managers. None comes twice.
    """
    named = settings.tui.time_zone
    first = ShownZone(own, "the terminal") if named is None else ShownZone(time_zone(named), "tui.time_zone")
    members: dict[str, list[str]] = {}
    for each in settings.queue_managers:
        if zone := settings.time_zone_of(each.name):
            members.setdefault(zone, []).append(each.name)
    if settings.time_zone is not None and not members:
        members[settings.time_zone] = ["the queue managers"]
    found = [first, ShownZone(UTC, "UTC"), *(ShownZone(time_zone(zone), ", ".join(members[zone])) for zone in members)]
    return tuple(each for place, each in enumerate(found) if each.zone not in [before.zone for before in found[:place]])


class ZoneSwitch:
    """The zone in which all screens show times now."""

    def __init__(self, choices: Sequence[ShownZone]) -> None:
        """``choices`` begin with the usual one."""
        self._choices = tuple(choices)
        self._place = 0

    @property
    def shown(self) -> ShownZone:
        """The zone, and whose it is."""
        return self._choices[self._place]

    @property
    def zone(self) -> tzinfo:
        """The zone."""
        return self.shown.zone

    def next(self) -> bool:
        """The next zone; False: there is only one."""
        self._place = (self._place + 1) % len(self._choices)
        return len(self._choices) > 1

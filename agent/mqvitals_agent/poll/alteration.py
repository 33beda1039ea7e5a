"""When the group's definitions were last altered: how many of them within a day.

Every member tells the same of a shared queue or of a queue for all members. What is deleted stays counted until its last alteration
is a day ago, for its end changed the group's definitions too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.columns import Values
from mqvitals_agent.poll.probe import Rows, part
from mqvitals_agent.poll.zone import local_ms
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.qsg import QSG_KIND

DAY_MS = 86_400_000
_BEHIND_MS = 12 * 3_600_000
"""No time zone is further behind UTC: what is older than a day and this is so everywhere."""
CHANGES = part(QSG_KIND, "INQUIRE_Q")

Key = tuple[str, str]
"""What sort of definition, and its name."""


class Altered(NamedTuple):
    """When a definition was altered, in the local time of the queue manager that told."""

    member: str
    local_ms: int


def note(rows: Rows, sort: str, name: str, member: str, values: Values) -> None:
    """Keep when a definition of the group was altered, where its item says so."""
    found = local_ms(values.get(mq.MQCA_ALTERATION_DATE), values.get(mq.MQCA_ALTERATION_TIME))
    if found is not None:
        rows.altered[sort, name] = (member, found)


class Alterations:
    """What was told of the group's definitions so far, as long as it is of the last day."""

    def __init__(self) -> None:
        self._recent: dict[Key, Altered] = {}

    def note(self, told: Mapping[Key, tuple[str, int]]) -> None:
        """Remember what a cycle told."""
        self._recent.update((key, Altered(*each)) for key, each in told.items())

    def count(self, now: int, utc: Callable[[str, int], int | None]) -> Reported:
        """How many were altered within a day before ``now`` (ms UTC).

        ``utc``: a queue manager's local time as UTC; None while its time zone is not known, and then nobody knows how many.
        """
        self._recent = {key: each for key, each in self._recent.items() if now - each.local_ms < DAY_MS + _BEHIND_MS}
        moments = {key: utc(*each) for key, each in self._recent.items()}
        if None in moments.values():
            return Absence.TIME_ZONE_UNKNOWN
        self._recent = {key: self._recent[key] for key, at in moments.items() if at is not None and now - at < DAY_MS}
        return len(self._recent)

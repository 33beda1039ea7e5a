"""To which queue-sharing group a queue manager belongs, as its records or the configuration tell."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_agent.smf.total import Total


class Groups:
    """Group names by queue manager. ``named`` are given and count first, ``default`` counts for all others that tell of a group."""

    def __init__(self, named: Mapping[str, str] | None = None, default: str | None = None) -> None:
        self._named = dict(named or {})
        self._default = default
        self._told: dict[str, str] = {}

    def learn(self, queue_manager: str, name: str) -> None:
        """A record told the group of a queue manager; empty: it is in none, or the record does not say."""
        if name:
            self._told[queue_manager] = name

    def of(self, queue_manager: str) -> str | None:
        """The name under which the group's things stand; None: not known."""
        return self._named.get(queue_manager) or self._default or self._told.get(queue_manager)

    def placed(self, total: Total) -> Total | None:
        """``total`` under its group, where it is a thing of one; None when the group is not known yet."""
        if not total.group or total.object.owner:
            return total
        name = self.of(total.member)
        return None if name is None else total.of_group(name)

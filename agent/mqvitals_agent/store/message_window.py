"""The console messages that rules look at: read from the store once for each snapshot that is judged."""

from __future__ import annotations

from collections.abc import Sequence

from mqvitals_agent.store.message_row import StoredMessage
from mqvitals_agent.store.older import Older
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS


class MessageWindow:
    """Implements ``messages`` of ``mqvitals_rules.history.MetricHistory`` over a store; without one no console is followed."""

    def __init__(self, reader: Older | None) -> None:
        self._reader = reader
        self._followed: frozenset[str] | None = None
        self._groups: frozenset[str] = frozenset()
        self._told: dict[tuple[str, frozenset[str]], tuple[int, Sequence[ObjectMessage]]] = {}

    def renew(self) -> None:
        """Look into the store again from now on: another snapshot is judged."""
        self._followed = None
        self._told.clear()

    def messages(self, owner: str, ids: frozenset[str], since: int) -> Sequence[ObjectMessage] | None:
        """The messages of an owner with one of ``ids`` and ts > ``since``, oldest first; None: no console of it is followed.

        Those of the group are those of its members. Raises StoreError.
        """
        if self._reader is None:
            return None
        if self._followed is None:
            self._followed = self._reader.consoles_followed()
            # Where no console is followed at all, as at most sites, it does not matter who the group is.
            owners = self._reader.owners() if self._followed else ()
            self._groups = frozenset(each.name for each in owners if each.is_group)
        of_group = owner in self._groups
        if owner not in self._followed and not (of_group and self._followed):
            return None
        known = self._told.get((owner, ids))
        if known is None or known[0] > since:
            rows = self._reader.messages(owners=None if of_group else (owner,), codes=ids, since=since)
            group = next(iter(sorted(self._groups)), "")
            told = [message for row in rows for message in _as_messages(row, group)]
            known = self._told[owner, ids] = since, sorted(told, key=lambda message: message.ts)
        return [message for message in known[1] if message.ts > since]


def _as_messages(row: StoredMessage, group: str) -> list[ObjectMessage]:
    """The first and the last of those that are counted together."""
    about = None
    if row.kind:
        kind = KINDS.get(row.kind)
        about = ObjectName(group if kind is not None and kind.of_group and group else row.owner, row.kind, row.name)
    return [ObjectMessage(ts, row.code, about) for ts in sorted({row.ts, row.last_ts})]

"""Reads a store, beside its writer or after it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.store.file.database import closed_on_error
from mqvitals_agent.store.file.schema import (
    open_reader,
)
from mqvitals_agent.store.reading.alerts import AlertQueries
from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.reading.history import HistoryQueries
from mqvitals_agent.store.reading.hours import HourQueries
from mqvitals_agent.store.reading.messages import MessageQueries
from mqvitals_agent.store.reading.objects import ObjectQueries
from mqvitals_agent.store.rows.samples.history import (
    LAST,
)
from mqvitals_agent.store.rows.samples.objects import read_last_cycles
from mqvitals_agent.store.rows.samples.steps import TimeStep, end_of_cycle, step_back, step_on
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.kept_moments import KeptMoments

QUERY_LIMIT_S: Final = 30.0
"""A query that takes longer is stopped: while it reads, the writer's log grows."""


class StoreReader(ObjectQueries, HistoryQueries, HourQueries, AlertQueries, MessageQueries):
    """A read-only view of a store. Use it from one thread; ``close`` it, or leave a ``with`` block.

    Each query sees the store as of its own moment. Every method raises StoreError when the store cannot be read, or
    when the query takes longer than ``limit_s``.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        kinds: Mapping[str, Kind],
        limit_s: float,
        like: QueryBase | None = None,
    ) -> None:
        """For ``open`` and ``as_of``."""
        super().__init__(path, connection, kinds, limit_s, like)
        self._kept_until = 0
        self._kept_moments: KeptMoments | None = None
        self._kept_mark: Mapping[str, tuple[int, int]] = {}

    @property
    def history_note(self) -> str:
        """Why answers about the past may lack samples that are kept elsewhere, as a sentence; empty: they do not."""
        return ""

    @classmethod
    def open(
        cls, path: Path | str, *, kinds: Mapping[str, Kind] = KINDS, limit_s: float = QUERY_LIMIT_S
    ) -> StoreReader:
        """Open the store at ``path``.

        Raises StoreError: no such file, no permission, no store, empty, a newer or older structure, damaged.
        """
        path = Path(path).resolve()
        with closed_on_error(open_reader(path)) as connection:
            return cls(path, connection, kinds, limit_s)

    def as_of(self, at: int) -> StoreReader:
        """A view of the store as of ``at`` (ms UTC), with the same methods; it uses the connection of this reader.

        What was read for a moment serves later calls for others, until ``forget_moments``, a moment after that reading, or
        other snapshots before it.
        """
        from mqvitals_agent.store.kept_moments import KeptMoments
        from mqvitals_agent.store.moment_reader import MomentReader

        mark = self._mark_of(self._kept_until)
        if self._kept_moments is None or self._kept_until < at or mark != self._kept_mark:
            self._kept_until, self._kept_moments = self.last_ts() or 0, KeptMoments()
            self._kept_mark = self._mark_of(self._kept_until)
        return MomentReader(self, at, self._kept_moments)

    def _mark_of(self, until: int) -> Mapping[str, tuple[int, int]]:
        """A mark that changes when the snapshots by ``until`` (ms UTC) do, as after a clock was set back."""
        with self._query() as connection:
            return read_last_cycles(connection, until)

    @property
    def notes(self) -> dict[object, Any]:
        """What views made for other moments, each under a key of its own; they add to it. Of a store as it is now nothing is
        kept.
        """
        return {}

    def forget_moments(self) -> None:
        """Release what was read for past moments."""
        self._kept_until, self._kept_moments = 0, None

    def step(self, at: int | None, step: TimeStep, *, on: bool) -> int | None:
        """The moment (ms UTC) one step before ``at``, or with ``on`` after it; ``at`` None: before the newest cycle.

        None: there is no such step.
        """
        with self._query() as connection:
            if at is None:
                return None if on else step_back(connection, LAST, step)
            return step_on(connection, at, step) if on else step_back(connection, at, step)

    def end_of_cycle(self, ts: int) -> int:
        """When the cycle ended that has a snapshot taken at ``ts``; both are ms UTC."""
        with self._query() as connection:
            return end_of_cycle(connection, ts)

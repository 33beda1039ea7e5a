"""A live state that tests fill with snapshots, without a store and without rules."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN = 1_800_000_000_000

CONFIG = load_rule_config(Settings())


class Group:
    """A group of queue managers whose snapshots are taken in, each ``interval_s`` after the one before."""

    def __init__(self, config: RuleConfig = CONFIG) -> None:
        self.ts = BEGIN
        self.live = LiveState()
        self.engine = Engine(config.rules, config.facts, MemoryHistory())
        self.live.follow(self.engine)
        self._cycle = 0

    def take(
        self,
        values: Mapping[ObjectName, Mapping[str, Reported]],
        *,
        probe: str = "",
        gone: bool = False,
        answered: bool = True,
        group: bool = False,
        source: Source = Source.POLL,
        ts: int | None = None,
        interval_ms: int | None = 10_000,
        later_s: float = 10.0,
    ) -> None:
        """One snapshot with these objects of one owner."""
        self.ts += round(later_s * 1000)
        self._cycle += 1
        owner = next(iter(values)).owner
        readings = tuple(
            Reading(
                name,
                probe or KINDS[name.kind].poll_command,
                self.ts if ts is None else ts,
                told,
                interval_ms,
                poll=source is Source.POLL,
                answered=answered,
                gone=gone,
                source=source,
            )
            for name, told in values.items()
        )
        snapshot = Snapshot(owner, group, self._cycle, self.ts, readings)
        self.engine.evaluate(snapshot)
        self.live.note(snapshot)

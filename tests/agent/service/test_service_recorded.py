"""What goes through the tap replays to what was stored."""

from __future__ import annotations

from typing import Any

import pytest

from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import ReplayCycle, ReplayPace, ReplaySummary, replay
from mqvitals_rules.snapshot import Snapshot

LIVE_ONLY = ("every_ms", "stretched", "hung_calls", "hanging_calls")


def told(snapshots: Any) -> list[Any]:
    """Everything in snapshots but what only a living agent knows."""
    return [
        (
            snapshot.owner,
            snapshot.cycle,
            snapshot.ts,
            [
                (
                    *(reading.object, reading.probe, reading.ts, reading.interval_ms, reading.poll, reading.answered),
                    *((name, value) for name, value in reading.values.items() if name not in LIVE_ONLY),
                )
                for reading in snapshot.readings
            ],
        )
        for snapshot in snapshots
    ]


async def test_recording_replays_to_the_same_snapshots(
    house: Any, queue_depth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With late answers, silence and an outage in it, the tapped exchanges make the very same snapshots again."""
    live: list[Snapshot] = []
    end_cycle = Collector.end_cycle

    def ended(self: Collector, number: int | None = None) -> tuple[Snapshot, ...]:
        snapshots = end_cycle(self, number)
        live.extend(snapshots)
        return snapshots

    with monkeypatch.context() as patched:
        patched.setattr(Collector, "end_cycle", ended)
        house.of("QM01").items = {"INQUIRE_Q_STATUS": [queue_depth("APP.IN", 5)]}
        house.of("QM01").took = {"INQUIRE_LOG": 45_000}
        house.of("QM02").silent = {"INQUIRE_USAGE"}
        async with house.running() as service:
            await house.clock.advance(100_000)
            house.of("QM03").down = 2009
            await house.clock.advance(200_000)
            header = service.header
    again: list[Snapshot] = []

    def take(cycle: ReplayCycle) -> None:
        again.extend(cycle.snapshots)

    pace = ReplayPace(None, lambda: 0.0, lambda _: None)
    collector = Collector(header.name, header.queue_managers)
    assert header.interval_s == 30
    replay(house.tapped, 30_000, collector, pace, take, ReplaySummary(), header.created)
    assert told(again) == told(live)
    assert len(live) > 30

"""What a screen takes for now while its agent lives faster than the machine's clock."""

from __future__ import annotations

from pathlib import Path

from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import Snapshot
from mqvitals_tui.child_agent import agent_clock

NOW = 1_795_176_000_000
DAY = 86_400_000
NOTHING = Evaluation((), ())


def test_the_moment_that_the_agent_has_reached(tmp_path: Path) -> None:
    """The newest snapshot's and what has passed since, at the agent's speed, and never after now."""
    path, seconds = tmp_path / "x.db", [0.0]
    moment = agent_clock(path, 60.0, machine=lambda: NOW, time_s=lambda: seconds[0])
    assert moment() == NOW  # there is no store yet
    with Store.open(path) as store:
        store.write(Snapshot("QM01", group=False, cycle=1, ts=NOW - DAY, readings=()), NOTHING)
        seconds[0] += 1
        assert moment() == NOW - DAY
        seconds[0] += 2
        assert moment() == NOW - DAY + 120_000
        store.write(Snapshot("QM01", group=False, cycle=2, ts=NOW - 60_000, readings=()), NOTHING)
        seconds[0] += 1
        assert moment() == NOW - 60_000
        seconds[0] += 5
        assert moment() == NOW


def test_at_lifes_pace_it_is_now(tmp_path: Path) -> None:
    """The store is not asked."""

    def now() -> int:
        return NOW

    assert agent_clock(tmp_path / "none.db", 1.0, machine=now) is now

"""A simulated run that is recorded and played again, by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_a_recorded_morning_replays_to_the_same_alerts(mqvitals: Callable[..., Any], tmp_path: Path) -> None:
    """Rule, object, severity and both moments of each alert are those of the agent that recorded."""
    file, lived, replayed = tmp_path / "x.jsonl.gz", tmp_path / "lived.db", tmp_path / "replayed.db"
    run = ("--scenario", "busy-morning", "--seed", "3", "--for", "5m", "--speed", "max", "--interval", "20s")
    mqvitals("record", file, "--store", lived, *run)
    mqvitals("replay", file, "--store", replayed, "--speed", "max")
    told = [
        sorted(
            (alert["rule"], alert["object"], alert["severity"], alert["started"], alert["ended"] or "")
            for alert in json.loads(mqvitals("alerts", "list", "--all", "--json", "--store", store).stdout)
        )
        for store in (lived, replayed)
    ]
    assert told[0] == told[1]
    assert {("Q-03", "QM02/queue/PAYMENTS.IN"), ("CHL-16", "QM03/channel/TO.PARTNER")} <= {
        (rule, name) for rule, name, *_ in told[0]
    }

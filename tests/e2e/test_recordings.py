"""The shared recordings, from bytes to alerts, trends and status."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Expected = Callable[[str], dict[str, Any]]

# Consecutive polls before each rule fires.
HOLD = {
    "BP-01": 2,
    "BP-02": 2,
    "BP-03": 1,
    "PS-01": 2,
    "CHL-01": 3,
    "CHL-06": 3,
    "CHL-16": 2,
    "CF-03": 2,
    "Q-02": 2,
    "Q-03": 2,
    "AGENT-01": 1,
    "AGENT-02": 1,
    "AGENT-03": 1,
}
# Names that differ between the expectations and the product.
METRICS = {"xmitq_msgs_available": "xmitq_msgs", "short_retries_left": "short_left"}
ALERT_KEYS = {"rule", "severity", "state", "queue_manager", "kind", "object", "started", "ended", "summary"}


JUSTIFIED = {
    # It filled by 165 entries a second: 35,000 free ones last less than five minutes.
    ("CF-05", "PRDQSG/cf_structure/APPL1"): 1,
    # It grew by 2.9 % of its pages a minute from the first minute on: 85 % was less than ten minutes away.
    ("PS-07", "QM02/page_set/4"): 1,
    # Its transmission queue grew from cycle 12 to 44 and messages waited twice as long as usual.
    ("CHL-23", "QM01/channel/TO.QM02"): 1,
    # One consumer came back for 11,000 messages.
    ("Q-04", "QM01/queue/ORDERS.REQUEST"): 1,
}
"""Operational alerts beyond the incidents that the expectations name, and why the catalogue's rules are right to tell them."""


def cycle_of(moment: str, expectation: dict[str, Any]) -> int:
    """The cycle of a moment, as the expectations count them."""
    first = datetime.fromisoformat(expectation["first_cycle_at"])
    return 1 + int((datetime.fromisoformat(moment) - first).total_seconds() // expectation["cycle_s"])


def alerts_of(run: Run, store: Path) -> list[dict[str, Any]]:
    """Every alert that the store remembers."""
    listed: list[dict[str, Any]] = json.loads(run("alerts", "list", "--store", store, "--all", "--json").stdout)
    return listed


def expected_alerts(expectation: dict[str, Any]) -> Iterator[tuple[str, str, int, bool]]:
    """(rule, object, first cycle, over at the end) for each incident."""
    for incident in expectation["incidents"]:
        name, metric, begin = incident["object"], incident["metric"], incident["from_cycle"]
        over = incident["to_cycle"] < expectation["cycles"]
        match metric:
            case "free_pct":
                for rule, limit in (("BP-01", "20"), ("BP-02", "15"), ("BP-03", "5")):
                    yield rule, name, incident["at_or_below"][limit][0], over
            case "used_pct":
                yield "PS-01", name, begin, over
            case "xbatchsz_short":
                yield "CHL-01", name, begin, over
            case "nettime_us_short":
                yield "CHL-06", name, begin, over
            case "status":
                yield "CHL-16", name, begin, over
            case "entries_pct":
                yield "CF-03", name, begin, over
            case "depth" if "input_handles_zero" in incident:
                yield "Q-03", name, begin, over
            case "depth" if "channel" not in incident:
                yield "Q-02", name, begin, over
            case "reachable":
                yield "AGENT-01", name, begin, over
            case "command_server":
                yield "AGENT-02", name, begin, over
            case "authority":
                yield "AGENT-03", name, begin, False
                # The scoped form of another command is refused in cycles 10 and 45 and never succeeds in between.
                yield "AGENT-03", name, 10, False
            case "depth" | "nettime_ratio":
                pass  # the backlog belongs to its channel's alert, the ratio to the one of the network time
            case _:
                pytest.fail(f"no rule is expected for {metric}")


def test_incident_alerts(mqvitals: Run, incident: Path, expected: Expected) -> None:
    """Every incident is alerted in its cycles, and nothing else is but what the catalogue justifies."""
    expectation = expected("incident")
    wanted = list(expected_alerts(expectation))
    alerts = alerts_of(mqvitals, incident)
    assert all(set(alert) == ALERT_KEYS for alert in alerts)
    found = Counter((alert["rule"], alert["object"]) for alert in alerts)
    assert found == Counter((rule, name) for rule, name, *_ in wanted) + Counter(JUSTIFIED)
    for rule, name, begin, over in wanted:
        fitting = [
            alert
            for alert in alerts
            if (alert["rule"], alert["object"]) == (rule, name)
            and begin <= cycle_of(alert["started"], expectation) <= begin + HOLD[rule]
            and (alert["ended"] is not None) is over
        ]
        assert len(fitting) == 1, (rule, name, begin, over, [a for a in alerts if a["rule"] == rule])


def test_incident_severities(mqvitals: Run, incident: Path) -> None:
    """The severity of an alert is its worst while it was open; unclassified pools are told at info."""
    severities = {(alert["rule"], alert["object"]): alert["severity"] for alert in alerts_of(mqvitals, incident)}
    assert severities["CHL-01", "QM01/channel/TO.QM02"] == "warning"
    assert severities["BP-01", "QM01/buffer_pool/3"] == severities["BP-02", "QM01/buffer_pool/3"] == "info"
    assert severities["BP-03", "QM01/buffer_pool/3"] == "critical"
    assert severities["Q-03", "QM01/queue/ORDERS.REQUEST"] == "critical"
    assert severities["PS-01", "QM02/page_set/4"] == "warning"


def test_undeclared_batch_queue(mqvitals: Run, recordings: Path, incident: Path, tmp_path: Path) -> None:
    """Without the declaration the nightly queue is alerted once, on the queue manager where it grows."""
    store = tmp_path / "undeclared.db"
    mqvitals("replay", recordings / "recording-incident.jsonl.gz", "--speed", "max", "--store", store)
    more = Counter((a["rule"], a["object"]) for a in alerts_of(mqvitals, store))
    more.subtract((a["rule"], a["object"]) for a in alerts_of(mqvitals, incident))
    assert +more == Counter({("Q-03", "QM02/queue/BATCH.FEED"): 1})
    assert not -more


def test_quiet(mqvitals: Run, quiet: Path) -> None:
    """Where nothing is wrong nothing is alerted, and status says so by its exit code."""
    assert alerts_of(mqvitals, quiet) == []
    status = json.loads(mqvitals("status", "--store", quiet, "--json", code=0).stdout)
    assert status["severity"] == "ok"
    assert status["group"] == "PRDQSG"
    assert [one["name"] for one in status["queue_managers"]] == ["QM01", "QM02", "QM03", "QM04"]
    assert all(one["reachable"] for one in status["queue_managers"])


def values_of(run: Run, store: Path, metric: str, name: str) -> list[float]:
    """A metric's values over time; in these series where every point has one, and computed ones to two decimals."""
    trend = json.loads(run("trend", metric, name, "--store", store, "--json").stdout)
    assert set(trend) == {"metric", "object", "unit", "points"}
    return [round(value, 2) if isinstance(value, float) else value for _, value in trend["points"]]


@pytest.mark.parametrize("name", ["incident", "quiet"])
def test_series(mqvitals: Run, request: pytest.FixtureRequest, expected: Expected, name: str) -> None:
    """Every expected series is told point for point."""
    store: Path = request.getfixturevalue(name)
    for title, values in expected(name)["series"].items():
        object_name, metric = title.rsplit(" ", 1)
        metric = METRICS.get(metric, metric)
        object_name = object_name.replace("/chinit", "/channel_initiator")
        points = values_of(mqvitals, store, metric, object_name)
        if metric == "bytes_sent":
            values = [None] + [b - a if b >= a else None for a, b in pairwise(values)]
        assert points == values, title


def test_incident_status(mqvitals: Run, incident: Path) -> None:
    """At the recording's end the group is at warning, and the screen says so."""
    status = json.loads(mqvitals("status", "--store", incident, "--json", code=1).stdout)
    assert status["severity"] == "warning"
    assert set(status) == {"at", "source", "group", "severity", "queue_managers", "alerts"}
    text = mqvitals("status", "--store", incident, code=1).stdout
    assert "WARNING" in text
    assert "QM02" in text
    # A command to type next names the store, whose path may be as long as it likes.
    assert max(len(line) for line in text.splitlines() if "--store" not in line) <= 80
    assert "\x1b" not in text

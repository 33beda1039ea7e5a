"""Alertmanager and heartbeats as receivers: their form in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError, Problem
from mqvitals_config.load import load_settings
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.receivers.services import AlertmanagerSettings, HeartbeatSettings

MEMBER = "addresses: ['http://am1:9093']"


def receiver_of(folder: Path, text: str, rest: str = "") -> ReceiverSettings:
    path = folder / "mqvitals.yaml"
    path.write_text(f"receivers:\n  - {{name: a, {text}}}\n{rest}", "utf-8")
    return load_settings(str(path), {}, {}).settings.receivers[0]


def problem_of(folder: Path, text: str, rest: str = "") -> Problem:
    with pytest.raises(ConfigError) as raised:
        receiver_of(folder, text, rest)
    (problem,) = raised.value.problems
    return problem


def test_what_is_not_given(tmp_path: Path) -> None:
    """Everything again each 30 seconds; a heartbeat each minute by GET."""
    found = receiver_of(tmp_path, f"type: alertmanager, {MEMBER}")
    assert isinstance(found, AlertmanagerSettings)
    assert (found.resend, found.resends, found.takes_alerts) == (30_000, True, True)
    assert repr(found.addresses) == "(http://am1:9093,)"
    beat = receiver_of(tmp_path, "type: heartbeat, url: 'https://hc.example/ping/Ssecret'")
    assert isinstance(beat, HeartbeatSettings)
    assert (beat.every, beat.method, beat.fail_address, beat.takes_alerts) == (60_000, "GET", None, False)
    assert "Ssecret" not in repr(beat)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("type: alertmanager", "this key is missing"),
        ("type: alertmanager, addresses: []", "this receiver has no address"),
        ("type: alertmanager, addresses: [am1]", "begins with http:// or https://"),
        ("type: alertmanager, addresses: ['http://am1:9093', 'http://am1:9093/']", "an address stands twice"),
        (f"type: alertmanager, {MEMBER}, resend: 31s", "must be at least 1s and at most 30s"),
        (f"type: alertmanager, {MEMBER}, send_resolved: false", "give send_resolved: false there"),
        (f"type: alertmanager, {MEMBER}, template: {{text: x}}", "Alertmanager has templates of its own"),
        (f"type: alertmanager, {MEMBER}, token_file: t, credentials_file: c", "both give the header Authorization"),
        ("type: heartbeat", "this receiver has no address"),
        ("type: heartbeat, url: 'http://x', every: 0s", "must be at least 1s and at most 1h"),
        ("type: heartbeat, url: 'http://x', method: PUT", "GET"),
        ("type: heartbeat, url: 'http://x', template: {text: x}", "a heartbeat has none"),
        ("type: heartbeat, url: 'http://x', fail_url: 'http://y', fail_url_file: z", "two addresses for failures"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, said: str) -> None:
    """Each with its line."""
    found = problem_of(tmp_path, text)
    assert said in found.message
    assert found.place.line == 2
    assert found.place.column > 0


def test_no_route_leads_to_a_heartbeat(tmp_path: Path) -> None:
    """It takes no alerts; without routes it gets none either."""
    found = problem_of(tmp_path, "type: heartbeat, url: 'http://x'", "route: {receiver: a}\n")
    assert found.message == "a is a heartbeat, which takes no alerts"
    assert (found.place.line, found.place.column) == (3, 19)

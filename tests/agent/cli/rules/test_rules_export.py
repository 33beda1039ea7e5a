"""``mqvitals rules export``: rules in the words of Prometheus."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from mqsamples.tools import needed
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.vocabulary.tables import KINDS

Said = Callable[..., str]


def alerts(text: str) -> dict[str, list[Mapping[str, Any]]]:
    """The alerting rules of a file by their names."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for group in yaml.safe_load(text)["groups"]:
        for rule in group["rules"]:
            found.setdefault(rule["alert"], []).append(rule)
    return found


def test_every_rule_is_written_or_listed_with_the_reason(said: Said) -> None:
    """None is lost without a word."""
    text = said("export", "--prometheus")
    written, listed = alerts(text), text.partition("# Not exported")[2]
    for rule in load_rules(KINDS):
        assert (str(rule.id) in written) is not (f"#   {rule.id}: " in listed)


def test_a_rule_has_an_alert_for_each_severity(said: Said) -> None:
    """With its hold and clear in time, labels and texts; what is not carried stands above it."""
    text = said("export", "--prometheus", "PS-01")
    found = alerts(text)["PS-01"]
    assert {each["labels"]["severity"] for each in found} == {"warning", "critical"}
    assert all(each["labels"]["rule_kind"] == "operational" for each in found)
    assert all("{{ $labels.pageset }}" in each["annotations"]["summary"] for each in found)
    assert all("mqvitals_page_set_used_ratio >= 0.85" in each["expr"] for each in found)
    assert "#   not carried: it ends where used_pct < " in text


def test_polls_are_intervals_of_the_settings(said: Said, tmp_path: Path) -> None:
    """Thresholds and holds for all objects are carried, and those for some are said not to be."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(
        "polling: {interval: 10s}\n"
        "rules:\n"
        "  thresholds:\n"
        "    - {rule: Q-01, parameter: near_ratio, value: 0.7}\n"
        "    - {rule: Q-01, objects: '*/queue/PAY.*', parameter: near_ratio, value: 0.5}\n",
        "utf-8",
    )
    text = said("export", "--prometheus", "queues", "--config", str(config))
    first = alerts(text)["Q-01"][0]
    assert "0.7 * ibmmq_queue_attribute_max_depth" in first["expr"]
    assert first["keep_firing_for"] == "20s"
    assert "#   not carried: it is tuned for */queue/PAY.*" in text


def test_no_such_rule(said: Said) -> None:
    """What is named must be there."""
    assert "there is no rule 'Q-99'" in said("export", "--prometheus", "Q-99", code=2)


def test_promtool_finds_nothing(said: Said, tmp_path: Path) -> None:
    """All rules parse, and no two are the same."""
    promtool = needed("promtool")
    path = tmp_path / "rules.yml"
    path.write_text(said("export", "--prometheus"), "utf-8")
    done = subprocess.run(
        [promtool, "check", "rules", "--lint-fatal", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

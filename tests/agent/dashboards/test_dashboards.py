"""The dashboards for Grafana: what they are made of exists, and is as the vocabulary and the rules have it now."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from mqvitals_agent.openmetrics.names import label_metrics, labels_of, sample_names
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

FOLDER = Path(__file__).resolve().parents[3] / "dashboards"
NAMES = ("group-overview", "buffer-pools-and-page-sets", "channels")
ALERTS = "mqvitals_alerts"
"""A series of the page that is no metric of the vocabulary, and its labels."""
LABELS_OF_ALERTS = {"alertstate", "kind", "object", "qmgr", "qsg", "rule", "severity", "type"}
FUNCTIONS = {"topk", "rate", "increase", "sum", "max", "and"}


def dashboard(name: str) -> dict[str, Any]:
    """A dashboard as it is shipped."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


PANELS = [pytest.param(panel, id=f"{name}: {panel['title']}") for name in NAMES for panel in dashboard(name)["panels"]]


def labels_by_name() -> Mapping[str, set[str]]:
    """The labels that samples of each name have."""
    found = {ALERTS: LABELS_OF_ALERTS}
    for kind in KINDS.values():
        texts = dict.fromkeys(label_metrics(kind.name), "x")
        labels = {label for label, _ in labels_of(ObjectName("QM01", kind.name, "A/B"), texts)}
        for metric in kind.metrics:
            found |= dict.fromkeys(sample_names(kind, metric), labels)
    return found


LABELS = labels_by_name()


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_is_what_the_vocabulary_and_the_rules_make_of_it(name: str) -> None:
    """``make docs`` writes it anew."""
    built = runpy.run_path(str(FOLDER / "build.py"))["text_of"](name)
    assert (FOLDER / f"{name}.json").read_text("utf-8") == built


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_has_what_grafana_needs(name: str) -> None:
    """Ids of their own, places that do not overlap, and the variables that queries use."""
    found = dashboard(name)
    assert found["uid"] == f"mqvitals-{name}"
    assert len(found["uid"]) <= 40
    assert found["title"]
    assert found["schemaVersion"] >= 36
    panels = found["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(taken)) == len(taken)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
    variables = {variable["name"]: variable for variable in found["templating"]["list"]}
    assert set(variables) == {"datasource", "qmgr", "qsg"}
    for label in ("qmgr", "qsg"):
        sample, _, of = re.fullmatch(r"label_values\((\w+)(,) (\w+)\)", variables[label]["query"]["query"]).groups()  # type: ignore[union-attr]
        assert of == label
        assert label in LABELS[sample]


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_says_what_it_shows(panel: Mapping[str, Any]) -> None:
    """With a unit, a description, thresholds in order, and the rules behind them."""
    defaults = panel["fieldConfig"]["defaults"]
    assert defaults["unit"]
    assert panel["description"].endswith(".")
    steps = defaults["thresholds"]["steps"]
    values = [step["value"] for step in steps]
    assert values[0] is None
    assert len(steps) > 1
    assert values[1:] == sorted(values[1:])
    rules = {str(rule.id) for rule in load_rules(KINDS)}
    assert set(re.findall(r"\b[A-Z]+-\d+\b", panel["description"])) <= rules


@pytest.mark.parametrize("panel", PANELS)
def test_queries_ask_for_samples_and_labels_that_exist(panel: Mapping[str, Any]) -> None:
    """Each name is one of the page; its matchers, groupings and the legend name labels of it."""
    for target in panel["targets"]:
        query = target["expr"]
        selectors = re.findall(r"\b([a-z_0-9]+)\{([^}]*)\}", query)
        assert selectors
        there = set.intersection(*(LABELS[name] for name, _ in selectors))
        for name, matchers in selectors:
            assert set(re.findall(r"(\w+)=~?\"", matchers)) <= LABELS[name]
        for grouped in re.findall(r"\bby \(([^)]*)\)", query):
            assert set(grouped.split(", ")) <= there
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= there
        bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)", "", query)
        words = set(re.findall(r"[a-z_]\w*", bare))
        assert words <= FUNCTIONS | {name for name, _ in selectors}
        assert bare.count("(") == bare.count(")")


def test_what_provisions_them_is_in_grafanas_form() -> None:
    """A data source and a folder of dashboards, each in a file of its kind."""
    sources = yaml.safe_load((FOLDER / "provisioning/datasources/mqvitals.yaml").read_text("utf-8"))
    assert sources["apiVersion"] == 1
    assert [source["type"] for source in sources["datasources"]] == ["prometheus"]
    providers = yaml.safe_load((FOLDER / "provisioning/dashboards/mqvitals.yaml").read_text("utf-8"))
    assert providers["apiVersion"] == 1
    assert all(each["type"] == "file" and each["options"]["path"] for each in providers["providers"])

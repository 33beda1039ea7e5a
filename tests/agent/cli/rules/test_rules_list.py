"""``mqvitals rules list``: the rules in force, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mqsamples.site_rules import RULES
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.tables import KINDS

Said = Callable[..., str]


def listed(text: str) -> list[str]:
    """The ids of the table's rules."""
    return [line.split()[0] for line in text.partition("\n\n")[0].splitlines()[1:]]


def test_list(said: Said, tmp_path: Path) -> None:
    """One line a rule, in the order of the files; what is switched off says so."""
    lines = said("list").splitlines()
    assert lines[0].split() == ["Rule", "Severity", "Tier", "Kind", "Scope", "Title"]
    rules = listed("\n".join(lines))
    assert len(rules) == len(set(rules)) == len(load_rules(KINDS))
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  disabled: [BP-01]\n", "utf-8")
    assert said("list", "--topic", "buffer_pools", "--config", str(config)).splitlines()[1].split()[:2] == [
        "BP-01",
        "off",
    ]


@pytest.mark.parametrize(
    ("option", "word", "there", "not_there"),
    [
        ("--topic", "queues", "Q-02", "BP-01"),
        ("--kind", "review", "CF-01", "BP-01"),
        ("--kind", "buffer_pool", "BP-01", "Q-02"),
        ("--document", "tuning AND", "BP-01", "AGENT-01"),
        ("--tier", "M", "MY-01", "PS-01"),
    ],
)
def test_list_of_some(option: str, word: str, there: str, not_there: str, said: Said, tmp_path: Path) -> None:
    """Each filter lets through what it names, and nothing else."""
    config = tmp_path / "mqvitals.yaml"
    (tmp_path / "ours.yaml").write_text(RULES.replace("    title", "    tier: M+D\n    title"), "utf-8")
    config.write_text("rules:\n  files: [ours.yaml]\n", "utf-8")
    for word_of_tier in ("M", "D", "M+D") if option == "--tier" else (word,):
        rules = listed(said("list", option, word_of_tier, "--config", str(config)))
        assert there in rules
        assert not_there not in rules


def test_list_of_nothing(said: Said) -> None:
    """A filter that lets nothing through is told what there is."""
    assert "no rule of kind revue and document cookery" in said(
        "list", "--kind", "revue", "--document", "cookery", code=2
    )


def test_list_counts(said: Said) -> None:
    """The numbers by kind, tier, document and topic: below the table, alone, and for programs."""
    found = json.loads(said("list", "--counts", "--json"))
    rules = load_rules(KINDS)
    assert found["rules"] == sum(found["kind"].values()) == sum(found["tier"].values()) == len(rules)
    assert found["topic"]["buffer_pools"] == sum(rule.topic == "buffer_pools" for rule in rules)
    title = next(iter(found["document"]))
    assert found["document"][title] == sum(any(each.document == title for each in rule.sources) for rule in rules)
    alone = said("list", "--counts")
    assert alone.splitlines()[0] == f"{len(rules)} rules"
    assert f"buffer_pools {found['topic']['buffer_pools']}" in " ".join(alone.split())
    assert said("list").endswith(alone)


def test_list_for_programs(said: Said) -> None:
    """The JSON list holds what a program needs of each rule."""
    rows = json.loads(said("list", "--json", "--topic", "page_sets"))
    assert [row["id"] for row in rows][:2] == ["PS-01", "PS-02"]
    assert rows[0]["severity_if"] == [{"when": "used_pct >= critical_pct", "severity": "critical"}]
    assert {parameter["name"]: parameter["origin"] for parameter in rows[0]["parameters"]} == {
        "used_limit_pct": "document",
        "critical_pct": "default",
        "clear_pct": "default",
    }
    assert rows[0]["source"][0]["document"].startswith("Performance Report")


def test_list_tells_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program sees which thresholds the configuration changes, for which objects, and where that is written."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(
        'rules:\n  thresholds:\n    - {rule: PS-01, parameter: used_limit_pct, value: 70, objects: "QM01/page_set/4"}\n',
        "utf-8",
    )
    assert main(["rules", "list", "--json", "--config", str(config)]) == 0
    parameters = {
        (rule["id"], each["name"]): each for rule in json.loads(capsys.readouterr().out) for each in rule["parameters"]
    }
    assert parameters["PS-01", "used_limit_pct"]["value"] == 85
    assert parameters["PS-01", "used_limit_pct"]["overrides"] == [
        {"value": 70, "objects": "QM01/page_set/4", "place": f"{config}:3:14"}
    ]
    assert parameters["BP-03", "clear_pct"]["overrides"] == []


CHANGED = """\
rules:
  disabled: [CHL-07]
  tuning:
    - {rule: BP-03, objects: "QM01/buffer_pool/3", severity: warning, reason: a pool for tests}
    - {rule: PS-*, objects: "*/page_set/4", hold: 10m, reason: it grows at each month's end}
    - {rule: Q-03, objects: "*/queue/AUDIT.*", off: true, reason: written nightly}
    - {rule: BP-01, objects: "QM01/buffer_pool/*", parameters: {stress_pct: 30}, reason: batch}
"""


def test_list_what_the_site_changed(said: Said, tmp_path: Path) -> None:
    """Each entry with its place and reason, each rule with the standard value and the site's."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(CHANGED, "utf-8")
    lines = [" ".join(line.split()) for line in said("list", "--changed", "--config", str(config)).splitlines()]
    for line in (
        "CHL-07 off on -> off",
        "BP-03 severity critical -> warning",
        "PS-01 hold 2 polls -> 10m",
        "Q-03 off on -> off",
        "BP-01 stress_pct 20 % -> 30 %",
    ):
        assert line in lines
    text = " ".join(lines)
    assert f"{config}:4:14 QM01/buffer_pool/3: a pool for tests" in text
    assert f"{config}:2:14 every object (rules.disabled)" in text
    assert "no object" not in text
    only = said("list", "--changed", "--topic", "queues", "--config", str(config))
    assert "Q-03" in only
    assert "rules by the configuration: --changed lists what, and why" in said("list", "--config", str(config))
    assert "BP-03" not in only
    config.write_text("rules:\n  disabled: []\n", "utf-8")
    assert "Nothing is changed" in said("list", "--changed", "--config", str(config))
    config.write_text("rules:\n  tuning: [{rule: PS-1, off: true, reason: x}]\n", "utf-8")
    assert "there is no rule 'PS-1'" in said("list", "--changed", "--config", str(config), code=2)


def test_list_what_matches_no_object(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With a store the entries are named whose pattern no object of it matches."""
    store = tmp_path / "store.db"
    with Store.open(store) as writer:
        names = (ObjectName("QM01", "buffer_pool", "3"), ObjectName("QM01", "queue", "APP.IN"))
        readings = tuple(Reading(name, KINDS[name.kind].poll, 1_800_000_000_000, {}, None) for name in names)
        writer.write(Snapshot("QM01", False, 1, 1_800_000_000_000, readings), Evaluation((), ()))
    config = tmp_path / "mqvitals.yaml"
    config.write_text(CHANGED, "utf-8")
    arguments = ["rules", "list", "--changed", "--config", str(config), "--store", str(store)]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("  Q-03  off  on -> off") + 1] == "  matches no object seen so far"
    assert main([*arguments, "--json"]) == 0
    found = {(each["rule"], each["key"]): each for each in json.loads(capsys.readouterr().out)}
    assert found["Q-03", "off"] == {
        "rule": "Q-03",
        "objects": "*/queue/AUDIT.*",
        "key": "off",
        "standard": "on",
        "value": "off",
        "reason": "written nightly",
        "entry": "rules.tuning[2]",
        "place": f"{config}:6:14",
        "seen": False,
    }
    assert found["BP-03", "severity"]["seen"] is True
    assert found["CHL-07", "off"]["seen"] is None

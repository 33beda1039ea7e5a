"""``mqvitals alerts route``: the tree of routes, and the way of an alert through it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main

SETTINGS = """\
name: PRDQSG
receivers:
  - {name: desk, url: "https://desk.example/"}
  - {name: pager, url: "https://pager.example/", min_severity: critical}
labels:
  - {objects: "*/queue/PAY.*", set: {team: payments}}
"""
ROUTE = """\
route:
  receiver: desk
  routes:
    - matchers: [team=payments, severity=critical]
      receiver: pager
      group_wait: 0s
      repeat_interval: never
      continue: true
    - matchers: [object=~"QM01/queue/.*"]
      group_by: []
      routes:
        - {receiver: pager}
    - matchers: [kind=channel]
      group_by: ["..."]
"""
TREE = """\
route  every alert
    to desk; warning and worse; grouped by group, owner; first after 30s, then
    at most every 5m, repeated after 4h
  routes[0]  team=payments severity=critical; continue
      to pager; critical; grouped by group, owner; first at once, then at most
      every 5m, never repeated
  routes[1]  object=~QM01/queue/.*
      to desk; warning and worse; all in one group; first after 30s, then at
      most every 5m, repeated after 4h
    routes[0]  every alert
        to pager; critical; all in one group; first after 30s, then at most
        every 5m, repeated after 4h
  routes[2]  kind=channel
      to desk; warning and worse; each alert by itself; first after 30s, then at
      most every 5m, repeated after 4h
"""
WAY = """\
An alert with {alertname="Q-03", group="PRDQSG", kind="queue", name="PAY.IN",
  object="QM01/queue/PAY.IN", owner="QM01", queue_manager="QM01", rule="Q-03",
  severity="warning", team="payments"}

route  every alert: yes, it takes the alert on to a route below
  routes[0]  team=payments severity=critical; continue: no, the alert has
      severity=warning
  routes[1]  object=~QM01/queue/.*: yes, it takes the alert on to a route below
    routes[0]  every alert: yes, the alert arrives here
  routes[2]  kind=channel: not tried, a route before it took the alert and has
      no continue

pager, by route.routes[1].routes[0]
  group     {}/{object=~QM01/queue/.*}/{}:{}
  times     first after 30s, then at most every 5m, repeated after 4h
  severity  nothing is notified: the alert is warning, the min_severity of
            receiver pager is critical
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """The path of the settings with their tree."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(SETTINGS + ROUTE)
    return str(path)


def way(config: str, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What ``--test`` prints."""
    assert main(["alerts", "route", "--config", config, "--test", *words]) == 0
    return capsys.readouterr().out


def test_the_tree(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each route with what it takes, and below it where that goes, and when."""
    assert main(["alerts", "route", "--config", config]) == 0
    assert capsys.readouterr().out == TREE


def test_a_receiver_without_a_route_is_named(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It would never be notified."""
    path = Path(config)
    path.write_text(SETTINGS + "route: {receiver: desk}\n")
    assert main(["alerts", "route", "--config", config]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "No route leads to pager."


def test_without_a_tree_every_receiver_is_a_route(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, and shows what that means."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(SETTINGS)
    assert main(["alerts", "route", "--config", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("The configuration has no route: every receiver gets what its min_severity\nallows.")
    assert "  routes[1]  every alert; continue\n      to pager; critical; grouped" in said


def test_the_way_of_an_alert(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every route that is tried and why it does not take the alert; where it arrives, and what happens there."""
    assert way(config, capsys, "rule=Q-03", "object=QM01/queue/PAY.IN", "severity=warning") == WAY


def test_two_ways_to_one_receiver_are_one_notification(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the first of them that lets it through: a muted one closes no other."""
    said = way(config, capsys, "object=QM01/queue/PAY.IN", "severity=critical")
    assert (
        'pager, by route.routes[0]\n  group     {}/{severity=critical, team=payments}:{group="PRDQSG", owner="QM01"}\n'
        in said
    )
    assert "  times     first at once, then at most every 5m, never repeated\n" in said
    assert said.endswith(
        "pager, by route.routes[1].routes[0]\n"
        "  group     {}/{object=~QM01/queue/.*}/{}:{}\n"
        "  times     first after 30s, then at most every 5m, repeated after 4h\n"
        "  only if   route.routes[0] does not let it through\n"
    )


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (
            ["rule=BP-03", "queue_manager=QM01"],
            {"alertname": "BP-03", "family": "bp_free", "kind": "buffer_pool", "owner": "QM01", "severity": "critical"},
        ),
        (["kind=log", "owner=QM01"], {"object": "QM01/log", "queue_manager": "QM01", "group": "PRDQSG"}),
        (["object=PRDQSG/cf_structure/APPL1"], {"owner": "PRDQSG", "kind": "cf_structure", "name": "APPL1"}),
        (["object=QM01/queue/PAY/1.A"], {"name": "PAY/1.A", "owner": "QM01"}),
        (["kind=queue", "owner=QM02", "name=PAY.X"], {"object": "QM02/queue/PAY.X", "team": "payments"}),
        (["team=none", "object=QM01/queue/PAY.X"], {"team": "none"}),
        (["instance=a=b"], {"instance": "a=b"}),
        (["rule=BP-03", "severity=info"], {"severity": "info"}),
    ],
)
def test_what_follows_from_a_label_is_added(
    words: list[str], labels: dict[str, str], config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Never over what is given."""
    found = json.loads(way(config, capsys, *words, "--json"))["labels"]
    assert found.items() >= labels.items()
    assert ("queue_manager" in found) is (found.get("owner", "PRDQSG") != "PRDQSG")


def test_the_way_as_json(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps in the order of the tree, and every place where the alert arrives."""
    found = json.loads(way(config, capsys, "object=QM01/queue/PAY.IN", "severity=critical", "--json"))
    assert [(each["route"], each["outcome"], each["failed"]) for each in found["steps"]] == [
        ("route", "leads_on", None),
        ("route.routes[0]", "arrives", None),
        ("route.routes[1]", "leads_on", None),
        ("route.routes[1].routes[0]", "arrives", None),
        ("route.routes[2]", "not_tried", None),
    ]
    assert found["arrivals"][0] == {
        "route": "route.routes[0]",
        "receiver": "pager",
        "group_key": '{}/{severity=critical, team=payments}:{group="PRDQSG", owner="QM01"}',
        "min_severity": "critical",
        "group_wait_ms": 0,
        "group_interval_ms": 300_000,
        "repeat_interval_ms": None,
        "mute_time_intervals": [],
        "active_time_intervals": [],
    }


@pytest.mark.parametrize(
    ("expected", "code"), [(["pager"], 0), (["desk"], 1), (["pager", "desk"], 1), (["pager", "pager"], 0)]
)
def test_a_script_can_expect_receivers(
    expected: list[str], code: int, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``amtool config routes test --verify.receivers``."""
    flags = [word for name in expected for word in ("--expect", name)]
    words = ["alerts", "route", "--config", config, *flags, "--test", "object=QM01/queue/PAY.IN", "severity=critical"]
    assert main(words) == code
    said = capsys.readouterr().err
    assert said == (f"mqvitals: it arrives at pager, not at {', '.join(sorted(set(expected)))}\n" if code else "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--test", "rule"], "--test: 'rule' is no label with a value"),
        (["--test", "rule="], "--test: 'rule=' is no label with a value"),
        (["--test", "tem=payments"], "no alert has a label 'tem'\nhint: did you mean 'team'?"),
        (["--test", "severity=crit"], "there is no severity 'crit'"),
        (["--test", "kind=queu"], "there is no kind of object 'queu'\nhint: did you mean 'queue'?"),
        (["--test", "rule=Q-3"], "there is no rule 'Q-3'"),
        (["--test", "owner=QM01", "owner=QM02"], "owner is given twice"),
        (["--test", "object=QM01/log", "kind=queue"], "object=QM01/log means kind=log, and the alert has kind=queue"),
        (["--test", "object=QM01"], "an object is written owner/kind/name"),
        (["--test", "owner=QM01", "queue_manager=QM02"], "means owner=QM02, and the alert has owner=QM01"),
        (["--expect", "desk"], "--expect and --json need --test"),
        (["--expect", "nobody", "--test"], "--expect: there is no receiver 'nobody'"),
    ],
)
def test_what_cannot_be_used_is_said(
    words: list[str], said: str, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake of the labels or flags."""
    assert main(["alerts", "route", "--config", config, *words]) == 2
    assert said in capsys.readouterr().err


def test_mistakes_of_the_settings_are_shown_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As 'config check' shows them; and without receivers there is nothing to route."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(SETTINGS + "route: {receiver: dosk}\n")
    assert main(["alerts", "route", "--config", str(path)]) == 2
    assert "mqvitals.yaml:7:19: route.receiver: there is no receiver 'dosk'; did you mean 'desk'?" in (
        capsys.readouterr().err
    )
    path.write_text(SETTINGS.replace("queue", "queu"))
    assert main(["alerts", "route", "--config", str(path)]) == 2
    assert "mqvitals.yaml:6:18: labels[0].objects: there is no kind of object 'queu'" in capsys.readouterr().err
    path.write_text("")
    assert main(["alerts", "route", "--config", str(path)]) == 2
    assert "names no receiver" in capsys.readouterr().err


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_it_fits_the_terminal(
    columns: str, config: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any width."""
    monkeypatch.setenv("COLUMNS", columns)
    main(["alerts", "route", "--config", config])
    main(["alerts", "route", "--config", config, "--test", "rule=Q-03"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= int(columns)


def test_the_severities_of_route_and_receiver_both_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The higher of both, and it says whose it is."""
    path = tmp_path / "mqvitals.yaml"
    routes = """\
route:
  receiver: desk
  routes:
    - {receiver: pager, min_severity: info, continue: true}
    - {receiver: desk, min_severity: critical}
"""
    path.write_text(SETTINGS + routes)
    said = " ".join(way(str(path), capsys, "severity=warning").split())
    assert "the alert is warning, the min_severity of receiver pager is critical" in said
    assert "the alert is warning, the min_severity of route.routes[1] is critical" in said
    found = json.loads(way(str(path), capsys, "severity=warning", "--json"))
    assert [each["min_severity"] for each in found["arrivals"]] == ["critical", "critical"]


def test_a_tuned_severity_leads_the_way(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The alert has the severity that the settings give the rule for this object."""
    path = Path(config)
    entry = '{rule: BP-03, objects: "QM01/*", severity: info, reason: a pool for tests}'
    path.write_text(f"{path.read_text('utf-8')}rules:\n  tuning:\n    - {entry}\n", "utf-8")
    assert 'severity="info"' in way(config, capsys, "rule=BP-03", "object=QM01/buffer_pool/3")
    assert 'severity="critical"' in way(config, capsys, "rule=BP-03", "object=QM02/buffer_pool/3")


@pytest.mark.parametrize(
    ("route", "object_name", "receivers"),
    [
        ("route: {receiver: desk}", "PRDQSG/receiver/desk", {"desk", "pager"}),
        ("route: {receiver: desk}", "PRDQSG/receiver/pager", {"desk"}),
        ("route: {receiver: desk, routes: [{receiver: pager}]}", "PRDQSG/receiver/desk", {"pager"}),
        ("", "PRDQSG/receiver/desk", {"desk", "pager"}),
    ],
)
def test_an_alert_about_a_failing_receiver_goes_to_others_too(
    route: str, object_name: str, receivers: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When no route leads it to one."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(SETTINGS + route + "\n")
    words = ["alerts", "route", "--config", str(path), "--test", "rule=AGENT-12", f"object={object_name}"]
    assert main([*words, "--json"]) == 0
    assert {each["receiver"] for each in json.loads(capsys.readouterr().out)["arrivals"]} == receivers
    assert main(words) == 0
    said = "receiver 'desk' is failing: told to 'pager'" in capsys.readouterr().out
    assert said == (route == "route: {receiver: desk}" and object_name.endswith("desk"))


def test_a_heartbeat_is_no_receiver_that_a_route_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It takes no alerts, with routes and without."""
    path = tmp_path / "mqvitals.yaml"
    beat = "  - {name: watch, type: heartbeat, url: 'https://hc.example/ping'}\n"
    for route in ("", "route: {receiver: desk, routes: [{receiver: pager}]}\n"):
        path.write_text(SETTINGS.replace("labels:", f"{beat}labels:") + route)
        assert main(["alerts", "route", "--config", str(path)]) == 0
        assert "watch" not in capsys.readouterr().out

"""Settings of alerting as alerts are judged by them: inheritance of routes, the site's labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.configured import label_problems, route_tree, site_labels
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.alerting.routing import DEFAULT_GROUP_BY, Route, destinations
from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.load import load_settings
from mqvitals_config.receivers.http import webhook_of
from mqvitals_config.sections.alerting import (
    RouteNames,
    RouteSettings,
    known_labels,
    matcher_text,
    route_contradictions,
)
from mqvitals_config.settings import Settings, contradictions
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.snapshot import ObjectName

RECEIVERS = """\
receivers:
  - {name: pager, url: "https://pager.example/", min_severity: critical}
  - {name: desk, url: "https://desk.example/"}
  - {name: audit, url: "https://audit.example/", min_severity: info}
"""


def settings_of(text: str) -> Settings:
    """The settings with the receivers pager, desk and audit."""
    settings = decode("x.yaml", RECEIVERS + text, Settings)
    assert list(contradictions(settings)) == []
    return settings


def tree_of(text: str, *beside: str) -> Route:
    """The tree of these settings; ``beside`` are receivers of the command line."""
    settings = settings_of(text)
    return route_tree(
        settings.route, settings.receivers, [webhook_of("https://x.example/", name=name) for name in beside]
    )


def test_without_a_route_every_receiver_gets_what_it_wants() -> None:
    """Also one of the command line."""
    found = destinations(tree_of("", "webhook-1"), {})
    assert [(each.receiver, each.route.min_severity.name) for each in found] == [
        ("pager", "CRITICAL"),
        ("desk", "WARNING"),
        ("audit", "INFO"),
        ("webhook-1", "WARNING"),
    ]


def test_the_first_route_has_defaults() -> None:
    """Alertmanager's times; the owner's alerts together."""
    tree = tree_of("route: {receiver: desk}")
    assert tree == Route("route", "desk", (), DEFAULT_GROUP_BY, 30_000, 300_000, 14_400_000, Severity.WARNING)


def test_a_route_inherits_what_it_does_not_say() -> None:
    """Receiver, groups and times; but no matchers, mute times and ``continue``."""
    tree = tree_of("""\
route:
  receiver: desk
  group_by: [rule]
  group_wait: 1s
  group_interval: 2m
  repeat_interval: 3h
  routes:
    - matchers: [kind=queue]
      continue: true
      routes:
        - {matchers: [severity=critical], receiver: pager, group_by: [], group_wait: 0s}
        - {group_by: ["..."], group_interval: 4m, repeat_interval: never}
    - repeat_interval: 1d
""")
    middle, last = tree.routes
    first, second = middle.routes
    assert middle == Route(
        "route.routes[0]",
        "desk",
        middle.matchers,
        ("rule",),
        1000,
        120_000,
        10_800_000,
        goes_on=True,
        routes=(first, second),
    )
    assert first == Route(
        "route.routes[0].routes[0]", "pager", first.matchers, (), 0, 120_000, 10_800_000, Severity.CRITICAL
    )
    assert second == Route("route.routes[0].routes[1]", "desk", (), ("...",), 1000, 240_000, None)
    assert last == Route("route.routes[1]", "desk", (), ("rule",), 1000, 120_000, 86_400_000)
    assert [list(map(str, each.matchers)) for each in (middle, first)] == [["kind=queue"], ["severity=critical"]]


def test_the_floor_of_a_route_is_the_nearest_that_is_given() -> None:
    """Else that of its own receiver."""
    tree = tree_of("""\
route:
  receiver: desk
  routes:
    - {receiver: pager, matchers: [kind=queue]}
    - receiver: audit
      min_severity: critical
      routes: [{receiver: desk, matchers: [kind=queue]}, {receiver: desk, min_severity: info}]
""")
    assert tree.min_severity is Severity.WARNING
    assert tree.routes[0].min_severity is Severity.CRITICAL
    assert [each.min_severity.name for each in (tree.routes[1], *tree.routes[1].routes)] == [
        "CRITICAL", "CRITICAL", "INFO",
    ]  # fmt: skip


def test_a_receiver_of_the_command_line_stands_beside_the_tree() -> None:
    """It gets everything, and changes no group of the tree: their paths stay."""
    text = "route: {receiver: desk, routes: [{matchers: [kind=queue], receiver: pager}]}"
    for labels, receiver in (({"kind": "queue"}, "pager"), ({"kind": "log"}, "desk")):
        (alone,) = destinations(tree_of(text), labels)
        first, second, own = destinations(tree_of(text, "webhook-1", "webhook-2"), labels)
        assert (first.receiver, second.receiver) == ("webhook-1", "webhook-2")
        assert (own.route, own.receiver) == (alone.route, receiver)
        assert len({first.route.path, second.route.path, own.route.path}) == 3


WORDS = st.sampled_from(["desk", "pager", "audit"])


def route_settings(inner: st.SearchStrategy[tuple[RouteSettings, ...]]) -> st.SearchStrategy[RouteSettings]:
    """Any route of valid settings with these below it."""
    return st.builds(
        RouteSettings,
        receiver=st.none() | WORDS.map(lambda word: LocatedText(word, Place("x"))),
        matchers=st.lists(st.sampled_from(["kind=queue", "severity!=info", "owner=~QM.*"]), max_size=1).map(
            lambda texts: tuple(matcher_text(LocatedText(text, Place("x"))) for text in texts)
        ),
        group_wait=st.none() | st.integers(0, 5000),
        min_severity=st.none() | st.sampled_from(["critical", "warning", "info"]),
        goes_on=st.booleans(),
        routes=inner,
    )


@given(
    st.recursive(
        route_settings(st.just(())), lambda below: route_settings(st.lists(below, max_size=3).map(tuple)), max_leaves=8
    ),
    st.fixed_dictionaries({"kind": st.sampled_from(["queue", "log"]), "owner": st.sampled_from(["QM01", "PRDQSG"])}),
)
def test_what_arrives_is_told_as_the_way_says(root: RouteSettings, labels: dict[str, str]) -> None:
    """The nearest route on the way that says something about it, whatever the tree."""
    tree = route_tree(root, settings_of("").receivers)
    for each in destinations(tree, labels):
        written = [root]
        for node in each.way[1:]:
            index = int(node.path.rpartition("[")[2].removesuffix("]"))
            written.append(written[-1].routes[index])
        assert each.receiver == next((str(one.receiver) for one in reversed(written) if one.receiver is not None), "")
        assert each.route.wait == next(
            (one.group_wait for one in reversed(written) if one.group_wait is not None), 30_000
        )
        assert each.route.goes_on is written[-1].goes_on


@given(
    st.recursive(
        route_settings(st.just(())), lambda below: route_settings(st.lists(below, max_size=4).map(tuple)), max_leaves=12
    ),
    st.lists(
        st.fixed_dictionaries(
            {
                "kind": st.sampled_from(["queue", "log"]),
                "owner": st.sampled_from(["QM01", "PRDQSG"]),
                "severity": st.sampled_from(["info", "critical"]),
            }
        ),
        min_size=4,
        max_size=8,
    ),
)
def test_no_alert_comes_to_a_route_that_is_refused_for_it(root: RouteSettings, alerts: list[dict[str, str]]) -> None:
    """What the check says of a tree is true of its ways."""
    names = RouteNames(["desk", "pager", "audit"], known_labels(()), ())
    refused = {each.key for each in route_contradictions(root, names) if "no alert comes here" in each.message}
    tree = route_tree(root, settings_of("").receivers)
    for labels in alerts:
        assert refused.isdisjoint(node.path for each in destinations(tree, labels) for node in each.way)


def test_the_labels_of_a_site() -> None:
    """By patterns, of one kind or of all."""
    entries = settings_of("""\
labels:
  - {objects: "*/queue/PAY.*", set: {team: payments, tier: "1"}}
  - {objects: "QM04/*", set: {tier: test}}
""").labels
    assert label_problems(entries) == []
    labeller = Labeller(site=site_labels(entries))
    assert labeller.site_labels(ObjectName("QM01", "queue", "PAY.IN")) == {"team": "payments", "tier": "1"}
    assert labeller.site_labels(ObjectName("QM04", "queue", "PAY.IN")) == {"team": "payments", "tier": "test"}
    assert labeller.site_labels(ObjectName("QM04", "log")) == {"tier": "test"}
    assert labeller.site_labels(ObjectName("QM01", "channel", "PAY.IN")) == {}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("PAY.*", "labels[0].objects: objects are written owner/kind/name, such as"),
        ("*/queu/PAY.*", "labels[0].objects: there is no kind of object 'queu'; did you mean 'queue'?"),
    ],
)
def test_a_pattern_that_is_none_is_a_problem(pattern: str, said: str, tmp_path: Path) -> None:
    """With its place; and it gives no label."""
    path = tmp_path / "x.yaml"
    path.write_text(f"labels:\n  - objects: '{pattern}'\n    set: {{a: b}}\n")
    entries = load_settings(str(path), {}, {}).settings.labels
    (problem,) = label_problems(entries)
    assert said in str(problem)
    assert problem.place.line == 2
    assert site_labels(entries) == ()

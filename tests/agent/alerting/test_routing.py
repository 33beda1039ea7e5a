"""The tree of routes: where alerts arrive, and which of them are notified together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.routing import (
    DEFAULT_GROUP_BY,
    Route,
    StepOutcome,
    braced,
    destinations,
    every_receiver,
    group_key,
    group_labels,
    steps,
)
from mqvitals_config.sections.matcher import Matcher, Operator, parse_matcher
from mqvitals_rules.lifecycle.alert import Severity


def route(name: str, *matchers: str, routes: tuple[Route, ...] = (), goes_on: bool = False) -> Route:
    """A route of this name, to a receiver of the same name."""
    return Route(name, name, tuple(map(parse_matcher, matchers)), routes=routes, goes_on=goes_on)


TREE = route(
    "root",
    routes=(
        route("audit", goes_on=True),
        route(
            "payments",
            "team=payments",
            routes=(route("pager", "severity=critical", goes_on=True), route("desk", "kind=queue")),
        ),
        route("storage", "kind=~page_set|buffer_pool", goes_on=True),
        route("pools", "kind=buffer_pool"),
    ),
)


@pytest.mark.parametrize(
    ("labels", "arrives"),
    [
        ({}, ["audit"]),
        ({"kind": "buffer_pool"}, ["audit", "storage", "pools"]),
        ({"kind": "page_set"}, ["audit", "storage"]),
        ({"team": "payments"}, ["audit", "payments"]),
        ({"team": "payments", "kind": "buffer_pool"}, ["audit", "payments"]),
        ({"team": "payments", "kind": "queue"}, ["audit", "desk"]),
        ({"team": "payments", "kind": "queue", "severity": "critical"}, ["audit", "pager", "desk"]),
        ({"team": "payments", "kind": "channel", "severity": "critical"}, ["audit", "pager"]),
    ],
)
def test_an_alert_takes_the_first_way_that_fits(labels: Mapping[str, str], arrives: list[str]) -> None:
    """And with ``continue`` the next ones too. Where nothing below fits, the route itself takes it."""
    found = destinations(TREE, labels)
    assert [each.receiver for each in found] == arrives
    assert all(each.way[0] is TREE and each.way[-1] is each.route for each in found)


def test_what_fits_nothing_arrives_at_the_root() -> None:
    """Also when there is nothing below it."""
    for tree in (route("root"), route("root", routes=(route("a", "kind=queue"),))):
        (found,) = destinations(tree, {"kind": "log"})
        assert found.route is tree
        assert found.way == (tree,)


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["x", "y", "xy"]), max_size=3)
MATCHERS = st.lists(
    st.builds(Matcher, st.sampled_from("abc"), st.sampled_from(Operator), st.sampled_from(["x", "y", "", "x|y"])),
    max_size=2,
).map(tuple)


def tree_of(children: st.SearchStrategy[tuple[Route, ...]]) -> st.SearchStrategy[Route]:
    """Routes with these children; the paths do not matter."""
    return st.builds(Route, st.just("route"), matchers=MATCHERS, routes=children, goes_on=st.booleans())


TREES = st.recursive(
    tree_of(st.just(())), lambda inner: tree_of(st.lists(inner, max_size=4).map(tuple)), max_leaves=15
).map(lambda tree: Route("route", routes=tree.routes))


def alike(matcher: Matcher, labels: Mapping[str, str]) -> bool:
    """Whether a matcher of the property test matches, decided by hand."""
    value = labels.get(matcher.label, "")
    wanted = {"x|y": ("x", "y")} if matcher.operator.is_regex else {}
    equal = value in wanted.get(matcher.value, (matcher.value,))
    return equal if matcher.operator in (Operator.EQUAL, Operator.REGEX) else not equal


def alertmanagers(node: Route, labels: Mapping[str, str]) -> list[Route]:
    """As ``Route.Match`` of Alertmanager's dispatch package has it: the nodes at which an alert arrives."""
    if not all(alike(each, labels) for each in node.matchers):
        return []
    found: list[Route] = []
    for child in node.routes:
        below = alertmanagers(child, labels)
        found += below
        if below and not child.goes_on:
            break
    return found or [node]


@given(TREES, LABELS)
def test_the_way_is_that_of_alertmanager(tree: Route, labels: dict[str, str]) -> None:
    """For any tree and any labels. Each step of a way leads to a child that matches."""
    found = destinations(tree, labels)
    expected = alertmanagers(tree, labels)
    assert len(found) == len(expected)
    assert all(one.route is other for one, other in zip(found, expected, strict=True))
    for each in found:
        for node, child in zip(each.way, each.way[1:], strict=False):
            assert any(child is one for one in node.routes)


def test_every_step_says_why() -> None:
    """Which routes were tried, which matcher failed, which were not tried any more."""
    found = steps(TREE, {"team": "payments", "kind": "queue"})
    assert [(each.route.path, each.outcome.name, each.failed and str(each.failed)) for each in found] == [
        ("root", "LEADS_ON", None),
        ("audit", "ARRIVES", None),
        ("payments", "LEADS_ON", None),
        ("pager", "NO_MATCH", "severity=critical"),
        ("desk", "ARRIVES", None),
        ("storage", "NOT_TRIED", None),
        ("pools", "NOT_TRIED", None),
    ]
    assert [each.path for each in found[4].way] == ["root", "payments", "desk"]


@given(TREES, LABELS)
def test_every_route_below_the_way_has_a_step(tree: Route, labels: dict[str, str]) -> None:
    """The one who reads them misses none."""
    found = steps(tree, labels)
    assert [each.route for each in found if len(each.way) == 2] == list(tree.routes)
    below = sum(len(each.route.routes) for each in found if each.outcome in (StepOutcome.ARRIVES, StepOutcome.LEADS_ON))
    assert len(found) == 1 + below
    for each in found:
        assert (each.failed is not None) is (each.outcome is StepOutcome.NO_MATCH)
        assert each.failed is None or not alike(each.failed, labels)


def test_a_group_is_what_group_by_names() -> None:
    """A label that the alert lacks is not in it; ``...`` makes every alert a group of its own."""
    labels = {"owner": "QM01", "rule": "BP-03", "team": 'a "b"'}
    assert group_labels(Route("r", group_by=("rule", "owner", "absent")), labels) == {"owner": "QM01", "rule": "BP-03"}
    assert group_labels(Route("r"), labels) == {}
    assert group_labels(Route("r", group_by=("...",)), labels) == labels


def matched(receiver: str, *matchers: str, path: str = "route.routes", **others: Any) -> Route:
    """A route with these matchers."""
    return Route(path, receiver, tuple(map(parse_matcher, matchers)), group_by=("owner",), **others)


def keys(root: Route, labels: dict[str, str]) -> list[str]:
    """The groups to which an alert comes."""
    return [group_key(each.way, labels) for each in destinations(root, labels)]


def test_a_group_is_named_by_matchers() -> None:
    """Those of its route and of the routes above: one that is added before it, or moved, changes no group."""
    labels = {"owner": 'Q"1', "team": "payments", "kind": "queue"}
    payments = matched("desk", "team=payments", 'kind=~"que.*"')
    root = Route("route", "ops", group_by=("owner",), routes=(payments,))
    assert keys(root, labels) == [r'{}/{kind=~que.*, team=payments}:{owner="Q\"1"}']
    before = matched("pager", "severity=critical", path="route.routes[0]")
    moved = replace(payments, path="route.routes[1]")
    assert keys(replace(root, routes=(before, moved)), labels) == keys(root, labels)
    assert keys(replace(root, routes=()), {}) == ["{}:{}"]
    # What stands beside the tree does not change its groups either.
    assert keys(Route("", "ops", routes=(root,)), labels) == keys(root, labels)


def test_routes_with_the_same_matchers_have_groups_of_their_own() -> None:
    """Two for one receiver, as for day and night, are told apart by their order; two receivers need not be."""
    day = matched("desk", "team=payments", path="day", goes_on=True)
    night, pager = replace(day, path="night"), replace(day, path="pager", receiver="pager")
    root = Route("route", "ops", routes=(day, pager, night))
    key = '{}/{team=payments}%s:{owner="QM01"}'
    assert keys(root, {"owner": "QM01", "team": "payments"}) == [key % "", key % "", key % "#2"]


@given(
    st.dictionaries(st.text("ab", min_size=1), st.text(st.characters(), max_size=5), max_size=4),
    st.dictionaries(st.text("ab", min_size=1), st.text(st.characters(), max_size=5), max_size=4),
)
def test_groups_are_the_same_only_with_the_same_labels(one: dict[str, str], other: dict[str, str]) -> None:
    """Whatever the labels hold: their text is quoted, and in ASCII."""
    assert (braced(one) == braced(other)) is (one == other)
    assert braced(one).isascii()


def test_without_a_tree_every_receiver_gets_its_share() -> None:
    """As severe as it wants, and grouped by owner."""
    tree = every_receiver(["ops", "desk"], {"desk": Severity.INFO})
    found = destinations(tree, {"severity": "warning"})
    assert [(each.receiver, each.route.path, each.route.min_severity) for each in found] == [
        ("ops", "route.routes[0]", Severity.WARNING),
        ("desk", "route.routes[1]", Severity.INFO),
    ]
    assert {each.route.group_by for each in found} == {DEFAULT_GROUP_BY}


def test_without_receivers_there_is_a_root_without_one() -> None:
    """An alert arrives there, and no one is told."""
    (found,) = destinations(every_receiver([], {}), {})
    assert found.receiver == ""

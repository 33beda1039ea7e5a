"""Routes against Alertmanager's own: amtool judges trees and finds the receivers of alerts. Needs ``make tools``."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mqsamples.tools import needed
from mqvitals_agent.alerting.routing import Route, destinations
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import load_settings
from mqvitals_config.sections.matcher import Matcher, Operator, parse_matcher

AMTOOL = needed("amtool")

TREES = 40
VALUES = ["x", "y", "xy", "a b", "a,b", 'q"q', "b\\s", "zü", "a{2}"]
PATTERNS = ["x", "x|y", "x.*", ".*", "", "[^x]", "(?i)X", "a.b", r"b\\.", "a|ab|a.*", r"\w+", 'q"q']


def amtool(*words: str) -> subprocess.CompletedProcess[str]:
    """What it says."""
    return subprocess.run([str(AMTOOL), *words], capture_output=True, text=True, check=False, timeout=60)


def tree_of(dice: random.Random, names: Iterator[int], depth: int = 0) -> Route:
    """Any tree; the root takes everything. Receivers are named as routes are."""
    matchers = tuple(matcher_of(dice) for _ in range(dice.randint(0, 2)))
    below = tuple(tree_of(dice, names, depth + 1) for _ in range(dice.randint(0, 3 if depth < 3 else 0)))
    name = f"r{next(names)}"
    found = Route(name, name, matchers, goes_on=dice.random() < 0.4, routes=below)
    return found if depth else replace(found, matchers=(), goes_on=False)


def matcher_of(dice: random.Random) -> Matcher:
    """One as its text is read."""
    operator = dice.choice(list(Operator))
    value = dice.choice(PATTERNS if operator.is_regex else ["", *VALUES])
    return parse_matcher(str(Matcher(dice.choice("abc"), operator, value)))


def written(route: Route) -> dict[str, Any]:
    """A route as a configuration of Alertmanager has it."""
    below = {"routes": [written(each) for each in route.routes]} if route.routes else {}
    return {"receiver": route.receiver, "matchers": list(map(str, route.matchers)), "continue": route.goes_on, **below}


def receivers_of(route: Route) -> list[str]:
    """Every receiver of a tree."""
    return [route.receiver, *(name for each in route.routes for name in receivers_of(each))]


def test_alerts_arrive_as_at_alertmanager(tmp_path: Path) -> None:
    """Any tree, any labels, matchers in the text that this program writes."""
    path = tmp_path / "alertmanager.yml"
    for number in range(TREES):
        dice = random.Random(number)
        root = tree_of(dice, count())
        receivers = [{"name": name} for name in receivers_of(root)]
        path.write_text(json.dumps({"route": written(root), "receivers": receivers}))
        labels = {name: dice.choice(VALUES) for name in "abc" if dice.random() < 0.7}
        words = [str(Matcher(name, Operator.EQUAL, value)) for name, value in labels.items()]
        found = amtool("config", "routes", "test", f"--config.file={path}", *words)
        assert found.stdout.strip().split(",") == [each.receiver for each in destinations(root, labels)], found.stderr


@pytest.mark.parametrize(
    "route",
    [
        "{receiver: b}",
        "{routes: [{receiver: a}]}",
        "{receiver: a, routes: [{receiver: b}]}",
        "{receiver: a, continue: true}",
        "{receiver: a, matchers: [severity=critical]}",
        "{receiver: a, matchers: [severity]}",
        "{receiver: a, routes: [{matchers: ['rule=~(']}]}",
        "{receiver: a, routes: [{matchers: ['rule=\"x']}]}",
        "{receiver: a, routes: [{matchers: ['rule=x\"y']}]}",
        "{receiver: a, routes: [{matchers: ['1=x']}]}",
        "{receiver: a, group_by: [rule, rule]}",
        "{receiver: a, group_by: [rule, '...']}",
        "{receiver: a, group_by: ['1']}",
        "{receiver: a, group_interval: 0s}",
        "{receiver: a, repeat_interval: 0s}",
        "{receiver: a, group_wait: 5}",
        "{receiver: a, group_wait: 5 minutes}",
        "{receiver: a, mute_time_intervals: [x]}",
        "{receiver: a, routes: [{mute_time_intervals: [x]}]}",
        "{receiver: a, routes: [{active_time_intervals: [x]}]}",
        "{receiver: a, rotues: []}",
    ],
)
def test_what_alertmanager_refuses_is_refused(route: str, tmp_path: Path) -> None:
    """With a line and a column, which it does not say."""
    theirs, ours = tmp_path / "alertmanager.yml", tmp_path / "mqvitals.yaml"
    theirs.write_text(f"route: {route}\nreceivers: [{{name: a}}]\n")
    ours.write_text(f"route: {route}\nreceivers: [{{name: a, url: 'https://a.example/'}}]\n")
    assert amtool("check-config", str(theirs)).returncode
    with pytest.raises(ConfigError) as caught:
        load_settings(str(ours), {}, {})
    assert all((each.place.line, each.place.column > 0) == (1, True) for each in caught.value.problems)


INTERVALS = [
    "times: [{start_time: '09:00', end_time: '24:00'}]",
    "times: [{start_time: '17:00', end_time: '09:00'}]",
    "times: [{start_time: '09:00', end_time: '09:00'}]",
    "times: [{start_time: '9:00', end_time: '10:00'}]",
    "times: [{start_time: '09:00', end_time: '24:01'}]",
    "times: [{start_time: '09:00'}]",
    "times: [{start_time: '09:60', end_time: '10:00'}]",
    "times: ['09:00']",
    "weekdays: ['monday:friday', Sunday]",
    "weekdays: ['sunday:saturday']",
    "weekdays: ['saturday:sunday']",
    "weekdays: ['monday:sunday']",
    "weekdays: [mon]",
    "weekdays: ['1:5']",
    "weekdays: [monday:tuesday:friday]",
    "days_of_month: ['1:5', '-3:-1', '31', '1:-1', '28:-1']",
    "days_of_month: ['0']",
    "days_of_month: ['32']",
    "days_of_month: ['-32:-1']",
    "days_of_month: ['5:1']",
    "days_of_month: ['-1:-3']",
    "days_of_month: ['-1:3']",
    "days_of_month: ['30:-10']",
    "days_of_month: [last]",
    "months: ['january:march', '1:3', May, '12']",
    "months: ['december:january']",
    "months: [jan]",
    "years: ['2027', '2027:2030']",
    "years: ['2030:2027']",
    "years: [next]",
    "{weekdays: [monday], location: Europe/Berlin}",
    "{weekdays: [monday], location: Europe/Berln}",
    "{weekdays: [monday], weekday: [monday]}",
]


@pytest.mark.parametrize("interval", INTERVALS)
def test_time_intervals_are_judged_alike(interval: str, tmp_path: Path) -> None:
    """What Alertmanager takes is taken, and what it refuses is refused, with a line and a column.

    Except a thirteenth month, which it takes.
    """
    theirs, ours = tmp_path / "alertmanager.yml", tmp_path / "mqvitals.yaml"
    entry = interval if interval.startswith("{") else f"{{{interval}}}"
    text = f"time_intervals: [{{name: x, time_intervals: [{entry}]}}]\n"
    theirs.write_text(text + "route: {receiver: a}\nreceivers: [{name: a}]\n")
    ours.write_text(text)
    found = amtool("check-config", str(theirs))
    if found.returncode == 0:
        load_settings(str(ours), {}, {})
        return
    with pytest.raises(ConfigError) as caught:
        load_settings(str(ours), {}, {})
    assert all((each.place.line, each.place.column > 0) == (1, True) for each in caught.value.problems)

"""An alert that an agent takes over from another: polls for which its history does not reach back do not end it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Standing
from mqvitals_rules.lifecycle.step import UNKNOWN_POLLS, HoldPolicy, Verdict, forgiven, restated, step
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM01", "queue", "APPL.1")
UNKNOWN = Verdict(None, None, None, "")
HOLDS = Verdict(True, False, Severity.WARNING, "deep")


def firing(rule: str = "Q-02", unknown: int = 0) -> Alert:
    """An alert about a queue."""
    severity = Severity.WARNING
    key = AlertKey(rule, QUEUE)
    return Alert(
        key, QUEUE, "operational", "", AlertState.FIRING, severity, severity, 1, 1, "deep", 1, unknown_polls=unknown
    )


def polls_until_end(alert: Alert, *, between: int = 0) -> int:
    """After how many polls without a verdict it ends; ``between`` of them are not counted by its rule."""
    for poll in range(1, 10_000):
        transition = step(alert, HoldPolicy(), UNKNOWN, 1_000 * poll)
        assert transition is not None
        alert = transition.after
        if alert.state is AlertState.RESOLVED:
            return poll
        for _ in range(between):
            said = restated(alert, UNKNOWN, 1_000 * poll)
            alert = alert if said is None else said.after
    raise AssertionError("it never ends")


@given(st.integers(0, 200), st.integers(0, UNKNOWN_POLLS - 1), st.integers(0, 2))
def test_so_many_polls_are_forgiven(polls: int, unknown: int, between: int) -> None:
    """Then as many as ever end it. Polls that its rule does not count make it one fewer at most, as ever."""
    alert = forgiven(firing(unknown=unknown), polls)
    rest = UNKNOWN_POLLS + polls if polls else UNKNOWN_POLLS - unknown
    assert rest - bool(between) <= polls_until_end(alert, between=between) <= rest


@given(st.integers(1, 200))
def test_a_verdict_ends_what_is_forgiven(polls: int) -> None:
    """From then on it is an alert like any other, and its standing is known."""
    alert = forgiven(firing(), polls)
    assert alert.standing is Standing.UNKNOWN
    transition = step(alert, HoldPolicy(), HOLDS, 2_000)
    assert transition is not None
    assert transition.after.standing is Standing.HOLDS
    assert polls_until_end(transition.after) == UNKNOWN_POLLS


@given(st.integers(1_000, 600_000))
def test_a_rule_looks_back_on_its_longest_window(interval: int) -> None:
    """Of every shipped rule: no more than a day, and never less than a reading with one before it."""
    rules = load_rule_config(Settings()).rules
    for rule in rules.rules:
        scope = ObjectName("QM01", rule.scope, "X")
        alert = Alert(
            AlertKey(str(rule.id), scope), scope, "", "", AlertState.FIRING, Severity.INFO, Severity.INFO, 1, 1, "", 1
        )
        compiled = rules.rule_of(alert)
        polls = rules.look_back_polls(alert, interval)
        if compiled is None:
            assert polls == 0
            continue
        longest = max((each.window_ms for one in compiled.expressions for each in one.windows), default=0)
        assert polls >= 2
        assert polls * interval >= min(longest, 86_400_000 - interval)
        assert polls * interval <= 86_400_000 + 4 * interval

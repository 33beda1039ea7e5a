"""The alert life cycle against a plain retelling of its rules, over random sequences of polls."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Standing, Transition, Why
from mqvitals_rules.lifecycle.step import AlertIdentity, HoldPolicy, Measured, Verdict, begin, restated, step
from mqvitals_rules.snapshot import ObjectName

POOL = ObjectName("QM01", "buffer_pool", "3")
IDENTITY = AlertIdentity(AlertKey("BP-01", POOL), POOL, "operational", "bp_free")
INTERVAL = 10_000

polls = st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=40)
policies = st.builds(
    HoldPolicy,
    hold_polls=st.integers(1, 4),
    hold_ms=st.none() | st.sampled_from([0, INTERVAL, 25_000]),
    clear_polls=st.integers(1, 4),
    hold_of=st.none() | st.integers(4, 7),
    clear_ms=st.none() | st.sampled_from([0, INTERVAL, 25_000]),
)


@dataclass
class Episode:
    """One alert as the retelling sees it: numbers of polls."""

    since: int
    started: int | None = None
    ended: int | None = None
    why: Why | None = None


def retell(sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy) -> list[Episode]:
    """What must happen, told without a state machine: each episode is read off the sequence from its first true poll."""
    episodes = []
    at = 0
    while at < len(sequence):
        if sequence[at][0] is not True:
            at += 1
            continue
        episode = Episode(at)
        episodes.append(episode)
        at = _live(sequence, policy, episode) + 1
    return episodes


def _live(sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy, episode: Episode) -> int:
    good: list[int] = []
    held: list[bool] = []
    for at in range(episode.since, len(sequence)):
        holds, clear = sequence[at]
        silent = [each for each, _ in sequence[max(episode.since, at - 2) : at + 1]]
        if len(silent) == 3 and silent == [None, None, None]:
            episode.ended, episode.why = at, Why.UNKNOWN
            return at
        if holds is None:
            continue
        held.append(holds)
        if holds:
            good = []
            looked_at = held if policy.hold_of is None else held[-policy.hold_of :]
            long_enough = (
                (at - episode.since) * INTERVAL >= policy.hold_ms
                if policy.hold_ms is not None
                else sum(looked_at) >= policy.hold_polls
            )
            if episode.started is None and long_enough:
                episode.started = at
        elif episode.started is None:
            if not any(held[-(policy.hold_of or 1) :]):
                episode.ended, episode.why = at, Why.CONDITION_BROKE
                return at
        elif clear:
            good.append(at)
            if (
                (at - good[0]) * INTERVAL >= policy.clear_ms
                if policy.clear_ms is not None
                else len(good) >= policy.clear_polls
            ):
                episode.ended, episode.why = at, Why.CLEARED
                return at
        elif clear is False:
            good = []
    return len(sequence)


def run(sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy) -> tuple[list[Alert], list[Transition]]:
    """Every alert in its last form, and every transition, as the real thing makes them."""
    done: list[Alert] = []
    changes: list[Transition] = []
    alert: Alert | None = None
    for at, (holds, clear) in enumerate(sequence):
        now = at * INTERVAL
        if alert is None:
            transition = begin(IDENTITY, policy, Severity.WARNING, f"poll {at}", now) if holds else None
        else:
            transition = step(alert, policy, Verdict(holds, clear, Severity.WARNING, f"poll {at}"), now)
        if transition is None:
            continue
        changes.append(transition)
        alert = transition.after
        if alert.state is AlertState.RESOLVED:
            done.append(alert)
            alert = None
    return ([*done, alert] if alert else done), changes


@settings(max_examples=2 * settings().max_examples)
@given(polls, policies)
def test_the_life_cycle_is_the_retold_one(sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy) -> None:
    """Alerts begin, fire and end on the polls, and for the reasons, that the rules in words give."""
    alerts, _ = run(sequence, policy)
    told = retell(sequence, policy)
    seen = [
        Episode(
            alert.since // INTERVAL,
            None if alert.started is None else alert.started // INTERVAL,
            None if alert.ended is None else alert.ended // INTERVAL,
            alert.why if alert.ended is not None else None,
        )
        for alert in alerts
    ]
    assert seen == told


@settings(max_examples=2 * settings().max_examples)
@given(polls, policies)
def test_transitions_are_a_chain(sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy) -> None:
    """Each transition starts from what the one before it left, changes something, and time never runs back."""
    _, changes = run(sequence, policy)
    left: Alert | None = None
    for change in changes:
        assert change.before == left
        assert change.before != change.after
        assert change.before is None or change.after.updated > change.before.updated
        left = None if change.after.state is AlertState.RESOLVED else change.after


@settings(max_examples=2 * settings().max_examples)
@given(polls, policies)
def test_people_see_each_firing_alert_begin_and_end_once(
    sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy
) -> None:
    """Of an alert of one severity exactly two transitions are visible at most: it fires, it ends; of one that never fired none."""
    alerts, changes = run(sequence, policy)
    visible = [change for change in changes if change.visible]
    fired = [alert for alert in alerts if alert.started is not None]
    assert len(visible) == len(fired) + sum(alert.ended is not None for alert in fired)


@settings(max_examples=2 * settings().max_examples)
@given(polls, policies, st.data())
def test_the_words_are_of_now_only_while_the_condition_holds(
    sequence: list[tuple[bool | None, bool | None]], policy: HoldPolicy, data: st.DataObject
) -> None:
    """Whether a poll counts or is only looked at: how a firing alert stands is what the last poll found, and so its words."""
    alert = begin(IDENTITY, policy, Severity.WARNING, "poll -1", 0).after
    for at, (holds, clear) in enumerate(sequence):
        now = (at + 1) * INTERVAL
        firing = alert.state is AlertState.FIRING
        verdict = Verdict(holds, clear, Severity.WARNING, f"poll {at}", Measured(f"{at} %", at))
        looked = firing and data.draw(st.booleans())
        transition = (
            restated(alert, verdict, now)
            if looked
            else step(alert, policy, verdict._replace(clear=None if holds else clear), now)
        )
        before, alert = alert, alert if transition is None else transition.after
        if alert.state is AlertState.RESOLVED:
            assert not looked
            return
        if not firing:
            continue
        if looked:
            assert (alert.state, alert.severity, alert.started) == (before.state, before.severity, before.started)
            assert alert.good_polls <= before.good_polls
        assert (alert.standing is Standing.HOLDS) is (holds is True)
        assert (alert.standing is Standing.UNKNOWN) is (holds is None)
        if holds:
            assert (alert.summary, alert.value_now) == (f"poll {at}", "")
        else:
            assert alert.summary == before.summary
            assert alert.value_now == ("" if holds is None else f"{at} %")

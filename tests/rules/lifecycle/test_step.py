"""Single steps of an alert's life whose outcome the random sequences do not spell out."""

from __future__ import annotations

from dataclasses import replace

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Standing, Why, overshadowed
from mqvitals_rules.lifecycle.step import AlertIdentity, HoldPolicy, Measured, Verdict, begin, end, step
from mqvitals_rules.snapshot import ObjectName

POOL = ObjectName("QM01", "buffer_pool", "3")
AT_ONCE = HoldPolicy(hold_polls=1, clear_polls=3)


def fire(
    rule: str = "PS-01", severity: Severity = Severity.WARNING, family: str = "", scope: ObjectName = POOL
) -> Alert:
    return begin(
        AlertIdentity(AlertKey(rule, scope), scope, "operational", family), AT_ONCE, severity, "as it began", 1000
    ).after


def after(alert: Alert, verdict: Verdict, now: int = 2000) -> Alert:
    transition = step(alert, AT_ONCE, verdict, now)
    assert transition is not None
    return transition.after


def test_severity_follows_and_the_worst_is_kept() -> None:
    """A firing alert takes the severity of the poll; the worst one stays on record; both changes are visible."""
    worse = step(fire(), AT_ONCE, Verdict(True, False, Severity.CRITICAL, "worse"), 2000)
    assert worse is not None
    assert (worse.after.severity, worse.after.worst, worse.why, worse.visible) == (
        Severity.CRITICAL,
        Severity.CRITICAL,
        Why.SEVERITY_CHANGED,
        True,
    )
    better = step(worse.after, AT_ONCE, Verdict(True, False, Severity.WARNING, "better"), 3000)
    assert better is not None
    assert (better.after.severity, better.after.worst, better.visible) == (Severity.WARNING, Severity.CRITICAL, True)


def test_severity_between_condition_and_clear() -> None:
    """Where neither the condition nor the clear condition holds the severity is still judged; on good polls it is left alone."""
    critical = fire(severity=Severity.CRITICAL)
    assert after(critical, Verdict(False, False, Severity.WARNING, "")).severity is Severity.WARNING
    assert after(critical, Verdict(False, True, Severity.WARNING, "")).severity is Severity.CRITICAL


def test_unknown_severity_changes_nothing() -> None:
    """A severity that cannot be judged stays what it was."""
    assert (
        after(fire(severity=Severity.CRITICAL), Verdict(True, False, None, "new words")).severity is Severity.CRITICAL
    )


def test_severity_while_waiting_does_not_count_as_the_worst() -> None:
    """What an alert would have been before it fired is not what it was while it fired."""
    policy = HoldPolicy(hold_polls=2)
    waiting = begin(
        AlertIdentity(AlertKey("PS-01", POOL), POOL, "operational", ""), policy, Severity.CRITICAL, "", 1000
    ).after
    fired = step(waiting, policy, Verdict(True, None, Severity.WARNING, ""), 2000)
    assert fired is not None
    assert (fired.after.state, fired.after.worst) == (AlertState.FIRING, Severity.WARNING)


def test_words_are_those_of_the_last_bad_poll() -> None:
    """While the condition holds the summary follows; on good polls it keeps telling how bad it was."""
    worse = after(fire(), Verdict(True, False, Severity.WARNING, "4 % free"))
    assert worse.summary == "4 % free"
    assert after(worse, Verdict(False, True, Severity.WARNING, "60 % free"), 3000).summary == "4 % free"


def test_an_unchanged_poll_is_no_transition() -> None:
    """A poll that says the same as the one before leaves nothing to write."""
    assert step(fire(), AT_ONCE, Verdict(True, False, Severity.WARNING, "as it began"), 2000) is None


def test_bookkeeping_is_not_visible() -> None:
    """A count of good polls, or new words, is kept but not shown as an event."""
    transition = step(fire(), AT_ONCE, Verdict(False, True, Severity.WARNING, ""), 2000)
    assert transition is not None
    assert not transition.visible


def test_gone_ends_pending_and_firing() -> None:
    """What ends from outside ends at once, with its reason."""
    gone = end(fire(), Why.GONE, 5000)
    assert (gone.after.state, gone.after.ended, gone.why, gone.visible) == (AlertState.RESOLVED, 5000, Why.GONE, True)


def test_unknown_clear_keeps_firing_for_good() -> None:
    """A clear condition that cannot be judged never ends an alert, and takes no good poll back."""
    alert = after(fire(), Verdict(False, True, None, ""), 2000)
    for now in range(3000, 9000, 1000):
        transition = step(alert, AT_ONCE, Verdict(False, None, None, ""), now)
        alert = transition.after if transition else alert
    assert (alert.state, alert.good_polls) == (AlertState.FIRING, 1)


def test_the_worst_of_a_family_stands_for_it() -> None:
    """The most severe member, then the highest rank, shadows the others on the same object; other objects are not touched."""
    other = ObjectName("QM02", "buffer_pool", "3")
    first, second, third = (fire(rule, family="bp_free") for rule in ("BP-01", "BP-02", "BP-03"))
    elsewhere = fire("BP-01", family="bp_free", scope=other)
    alone = fire("PS-01")
    ranks = {"BP-01": 1, "BP-02": 2, "BP-03": 3}
    assert overshadowed([first, second, elsewhere, alone], ranks) == {first.key: second.key}
    severe = fire("BP-01", Severity.CRITICAL, "bp_free")
    assert overshadowed([severe, second, third], ranks) == {second.key: severe.key, third.key: severe.key}
    assert overshadowed([first, end(second, Why.CLEARED, 2000).after], ranks) == {}
    advice = replace(third, kind_of_rule="review")
    assert overshadowed([first, second, advice], ranks) == {first.key: second.key}


def low(number: float) -> Measured:
    return Measured(f"{number:g} %", number, low_is_bad=True)


def high(number: float) -> Measured:
    return Measured(f"{number:g} %", number, low_is_bad=False)


def course(*verdicts: Verdict) -> Alert:
    """An alert that fires at once and then lives through these polls."""
    alert = fire()
    for number, verdict in enumerate(verdicts):
        alert = after(alert, verdict, 2000 + number)
    return alert


def test_the_worst_figure_is_kept() -> None:
    """The lowest where low values are bad, the highest where high ones are, but only of polls on which the condition held."""
    bad = Severity.WARNING
    for side, values in ((low, (4, 1, 3)), (high, (96, 99, 97))):
        alert = course(*(Verdict(True, False, bad, f"{value}", side(value)) for value in values))
        assert (alert.worst_value, alert.worst_number) == (f"{values[1]} %", values[1])
        beyond = Verdict(False, True, bad, "", side(0 if side is low else 100))
        assert after(alert, beyond, 3000).worst_number == values[1]


def test_a_figure_without_sides_is_that_of_the_worst_severity() -> None:
    """A state is neither more nor less than another."""
    alert = course(
        Verdict(True, False, Severity.WARNING, "", Measured("RETRYING", 5)),
        Verdict(True, False, Severity.CRITICAL, "", Measured("STOPPED", 6)),
        Verdict(True, False, Severity.WARNING, "", Measured("PAUSED", 8)),
    )
    assert alert.worst_value == "STOPPED"


def test_the_figure_of_now_stands_beside_words_of_before() -> None:
    """While the condition holds the words have it; between the bounds, on good polls and at the end it is kept apart.

    While it is unknown there is none.
    """
    held = course(Verdict(True, False, Severity.WARNING, "1 % free", low(1)))
    assert held.value_now == ""
    between = after(held, Verdict(False, False, Severity.WARNING, "", low(7)), 3000)
    assert (between.summary, between.value_now) == ("1 % free", "7 %")
    assert after(between, Verdict(True, False, Severity.WARNING, "2 % free", low(2)), 4000).value_now == ""
    unknown = after(between, Verdict(None, None, None, ""), 4000)
    assert (unknown.value_now, unknown.standing) == ("", Standing.UNKNOWN)
    unmeasured = after(between, Verdict(False, False, Severity.WARNING, ""), 4000)
    assert (unmeasured.value_now, unmeasured.standing) == ("", Standing.EASED)
    for poll, free in enumerate((30, 32, 34)):
        between = after(between, Verdict(False, True, Severity.WARNING, "", low(free)), 4000 + poll)
    assert between.state is AlertState.RESOLVED
    assert (between.value_now, between.worst_value) == ("34 %", "1 %")

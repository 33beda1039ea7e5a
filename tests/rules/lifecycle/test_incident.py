"""Which alert explains which, and what then stands for what."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, overshadowed
from mqvitals_rules.lifecycle.causes import explained
from mqvitals_rules.snapshot import ObjectName


def alert(
    rule: str, severity: Severity = Severity.WARNING, name: str = "A", started: int = 0, *, firing: bool = True
) -> Alert:
    key = AlertKey(rule, ObjectName("QM01", "queue", name))
    state = AlertState.FIRING if firing else AlertState.PENDING
    begun = started if firing else None
    return Alert(key, key.object, "operational", "", state, severity, severity, 0, 0, "", started=begun)


def everything(one: ObjectName, other: ObjectName) -> bool:
    del one, other
    return True


def same(one: ObjectName, other: ObjectName) -> bool:
    return one == other


CAUSED_BY = {"SLOW": frozenset({"FULL", "LOG"}), "FULL": frozenset({"LOG"})}


def test_the_most_severe_of_several_causes_counts_then_the_first() -> None:
    slow = alert("SLOW")
    log, full = alert("LOG", started=2), alert("FULL", started=1)
    assert explained([slow, log, full], CAUSED_BY, everything)[slow.key] == full.key
    worse = alert("LOG", Severity.CRITICAL, started=2)
    assert explained([slow, worse, full], CAUSED_BY, everything)[slow.key] == worse.key


def test_only_what_touches_and_fires_explains() -> None:
    slow = alert("SLOW", name="B")
    assert explained([slow, alert("FULL")], CAUSED_BY, same) == {}
    assert explained([slow, alert("FULL", name="B", firing=False)], CAUSED_BY, same) == {}
    assert explained([slow, alert("FULL", name="B")], CAUSED_BY, same) != {}


def test_a_chain_is_stood_for_by_its_root() -> None:
    alerts = [alert("SLOW"), alert("FULL", Severity.CRITICAL), alert("LOG", Severity.CRITICAL, started=5)]
    causes = explained(alerts, CAUSED_BY, everything)
    linked = [replace(each, cause=causes.get(each.key)) for each in alerts]
    assert overshadowed(linked, {}) == {alerts[0].key: alerts[2].key, alerts[1].key: alerts[2].key}


def test_a_milder_cause_hides_nothing() -> None:
    """Who is to be called for a critical alert is called, whatever explains it."""
    cause = alert("LOG")
    effect = replace(alert("FULL", Severity.CRITICAL), cause=cause.key)
    assert overshadowed([cause, effect], {}) == {}
    assert overshadowed([replace(cause, severity=Severity.CRITICAL), effect], {}) == {effect.key: cause.key}


def test_a_cause_that_is_over_hides_nothing() -> None:
    cause = alert("LOG")
    effect = replace(alert("FULL"), cause=cause.key)
    assert overshadowed([effect], {}) == {}


rules = st.sampled_from("ABCDE")


@given(
    st.dictionaries(rules, st.frozensets(rules)),
    st.lists(st.builds(alert, rules, st.sampled_from(Severity), started=st.integers(0, 9)), unique_by=lambda a: a.key),
)
def test_no_alert_explains_itself_in_the_end(caused_by: dict[str, frozenset[str]], alerts: list[Alert]) -> None:
    """Circles have a root; what is linked is what the rules say; a root that could be explained by all is left alone in a circle only."""
    causes = explained(alerts, caused_by, everything)
    for key, cause in causes.items():
        assert cause.rule in caused_by[key.rule]
        seen = {key}
        while cause in causes:
            assert cause not in seen
            seen.add(cause)
            cause = causes[cause]
        assert cause != key
    linked = [replace(each, cause=causes.get(each.key)) for each in alerts]
    covered = overshadowed(linked, {})
    assert all(stands not in covered for stands in covered.values())

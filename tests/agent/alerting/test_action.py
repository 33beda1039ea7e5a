"""What acknowledgements, notes and silences mean at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.action import (
    Acknowledged,
    Acknowledgement,
    AckState,
    Note,
    Silence,
    acknowledgement_of,
    action_annotations,
    silence_of,
)
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM01", "queue", "PAY.IN")


def alert(severity: Severity) -> Alert:
    key = AlertKey("Q-03", QUEUE)
    return Alert(key, QUEUE, "operational", "", AlertState.FIRING, severity, severity, 1, 1, "it fills", started=1)


def ack(number: int, author: str = "anna", severity: Severity = Severity.WARNING) -> Acknowledgement:
    return Acknowledgement(number, 1, author, number, severity)


MOMENTS = st.integers(1, 20)
SEVERITIES = st.sampled_from(Severity)
ACKNOWLEDGEMENTS = st.lists(
    st.builds(
        Acknowledgement,
        st.integers(1, 99),
        st.just(1),
        st.sampled_from(("anna", "ben")),
        MOMENTS,
        SEVERITIES,
        st.just(""),
        st.none() | MOMENTS,
        st.none() | MOMENTS,
    ),
    unique_by=lambda each: each.id,
    max_size=5,
)


@given(ACKNOWLEDGEMENTS, SEVERITIES, MOMENTS)
def test_the_first_in_force_has_the_alert(made: Sequence[Acknowledgement], severity: Severity, now: int) -> None:
    """One is in force that nobody took back, whose time is not over, and that saw the alert as severe as it is."""
    in_force = [
        each
        for each in made
        if each.undone is None and (each.until is None or now < each.until) and each.severity >= severity
    ]
    found = acknowledgement_of(alert(severity), made, now)
    assert found.state.asks is not bool(in_force)
    if in_force:
        assert found.by == min(in_force, key=lambda each: (each.made, each.id))
    elif made:
        assert found.by == max(made, key=lambda each: (each.made, each.id)), "the newest says why"
    else:
        assert found == Acknowledged(AckState.NEW)


@given(ACKNOWLEDGEMENTS, SEVERITIES, MOMENTS, MOMENTS)
def test_neither_time_nor_a_worse_severity_acknowledges(
    made: Sequence[Acknowledgement], severity: Severity, now: int, later: int
) -> None:
    if acknowledgement_of(alert(severity), made, now).state.asks:
        assert acknowledgement_of(alert(severity), made, now + later).state.asks
        assert acknowledgement_of(alert(max(Severity)), made, now).state.asks


@given(ACKNOWLEDGEMENTS.filter(lambda made: len(made) < 5), SEVERITIES, MOMENTS)
def test_the_order_of_rows_is_nothing(made: Sequence[Acknowledgement], severity: Severity, now: int) -> None:
    assert len({acknowledgement_of(alert(severity), each, now) for each in permutations(made)}) == 1


@pytest.mark.parametrize(
    ("made", "state", "author"),
    [
        ([], AckState.NEW, ""),
        ([ack(1)], AckState.ACKNOWLEDGED, "anna"),
        ([ack(1), ack(2, "ben")], AckState.ACKNOWLEDGED, "anna"),
        ([replace(ack(1), undone=3), ack(2, "ben")], AckState.ACKNOWLEDGED, "ben"),
        ([replace(ack(1), undone=3)], AckState.UNDONE, "anna"),
        ([replace(ack(1), until=5)], AckState.EXPIRED, "anna"),
        ([replace(ack(1), until=6)], AckState.ACKNOWLEDGED, "anna"),
        ([ack(1, severity=Severity.INFO)], AckState.WORSE, "anna"),
        ([ack(1, severity=Severity.INFO), ack(2, "ben")], AckState.ACKNOWLEDGED, "ben"),
    ],
)
def test_states(made: list[Acknowledgement], state: AckState, author: str) -> None:
    """At moment 5, of an alert that is a warning."""
    found = acknowledgement_of(alert(Severity.WARNING), made, 5)
    assert (found.state, found.by.author if found.by else "") == (state, author)


LABELS = {"rule": "Q-03", "queue_manager": "QM01"}
SILENCES = st.lists(
    st.builds(
        Silence,
        st.integers(1, 99),
        st.sampled_from(("rule=Q-03", "rule=Q-04", "queue_manager=~QM.*")).map(lambda each: (parse_matcher(each),)),
        st.just("anna"),
        st.just("batch"),
        st.just(1),
        MOMENTS,
        MOMENTS,
    ),
    unique_by=lambda each: each.id,
    max_size=5,
)


@given(SILENCES, MOMENTS)
def test_the_silence_that_ends_last(silences: Sequence[Silence], now: int) -> None:
    """Only one that has begun, has not ended and matches; where one was ended before it began, it never is in force."""
    matching = [each for each in silences if each.starts <= now < each.ends and each.matchers[0].value != "Q-04"]
    found = silence_of(LABELS, silences, now)
    assert (found is None) is not bool(matching)
    if found is not None:
        assert found in matching
        assert found.ends == max(each.ends for each in matching)


def test_what_payloads_say() -> None:
    """Who has it only while somebody has; the last notes, oldest first, those of acknowledgements among them."""
    mine = replace(ack(2), note="looking")
    notes = [
        Note(1, 1, "ben", 1, "first"),
        Note(2, 1, "ben", 3, "the reader is down"),
        Note(3, 1, "cy", 4, "restarted"),
    ]
    held = Acknowledged(AckState.ACKNOWLEDGED, mine)
    assert action_annotations(held, [mine], notes) == {
        "acknowledged_by": "anna",
        "note": "anna: looking; ben: the reader is down; cy: restarted",
    }
    assert action_annotations(Acknowledged(AckState.UNDONE, mine), [mine], ()) == {"note": "anna: looking"}
    assert action_annotations(held, [ack(2)], ()) == {"acknowledged_by": "anna"}
    assert action_annotations(Acknowledged(AckState.NEW), (), ()) == {}

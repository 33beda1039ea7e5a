"""Each stage of the pipeline by itself, and the decision about one transition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mqvitals_agent.notify.pipeline import Candidate, dedup, family, fired, operational, receivers, run
from mqvitals_agent.notify.reason import Reason, decide
from mqvitals_agent.store.notice_row import NoticeStatus, Told
from mqvitals_config.receiver import Receiver
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED
NOW = 5
Pool = Callable[..., Alert]
Webhook = Callable[..., Receiver]


@pytest.mark.parametrize(
    ("state", "told", "send_resolved", "reason"),
    [
        (FIRING, None, True, Reason.STARTED),
        (FIRING, Told(NoticeStatus.FIRING, Severity.CRITICAL), True, Reason.ALREADY_TOLD),
        (FIRING, Told(NoticeStatus.FIRING, Severity.WARNING), True, Reason.SEVERITY_CHANGED),
        (RESOLVED, None, True, Reason.NEVER_TOLD),
        (RESOLVED, Told(NoticeStatus.FIRING, Severity.WARNING), True, Reason.ENDED),
        (RESOLVED, Told(NoticeStatus.FIRING, Severity.WARNING), False, Reason.RESOLVED_NOT_WANTED),
        (RESOLVED, Told(NoticeStatus.RESOLVED, Severity.CRITICAL), True, Reason.ALREADY_TOLD),
        (PENDING, None, True, Reason.NEVER_FIRED),
    ],
)
def test_the_decision(pool: Pool, state: AlertState, told: Told | None, send_resolved: bool, reason: Reason) -> None:
    """By what the receiver knows, and how the alert is."""
    assert decide(pool(state=state, started=1), told, send_resolved=send_resolved) is reason
    assert reason.told is (reason in (Reason.STARTED, Reason.SEVERITY_CHANGED, Reason.ENDED))


def test_what_never_fired_is_left_out(pool: Pool) -> None:
    """A pending alert, and one that ended before it fired."""
    waiting, ended, real = (
        Candidate(1, pool(state=PENDING)),
        Candidate(2, pool(state=RESOLVED)),
        Candidate(3, pool(started=1)),
    )
    reasons = [each.reason for each in fired(NOW, [waiting, ended, real])]
    assert reasons == [Reason.NEVER_FIRED, Reason.NEVER_FIRED, Reason.OPEN]


def test_advice_is_left_out(pool: Pool) -> None:
    """Only operational rules call anybody."""
    kinds = ("review", "operational", "application", "data_quality")
    reasons = [each.reason for each in operational(NOW, [Candidate(1, pool(kind_of_rule=kind)) for kind in kinds])]
    assert reasons == [Reason.ADVICE, Reason.OPEN, Reason.ADVICE, Reason.ADVICE]


def test_a_covered_alert_is_left_out_while_it_fires(pool: Pool) -> None:
    """Its end is told like any other: the receiver may have known it before it was covered."""
    mild, bad = pool("BP-01"), pool("BP-03")
    ended = replace(mild, state=RESOLVED, ended=4)
    stage = family({mild.key: bad.key})
    reasons = [each.reason for each in stage(NOW, [Candidate(1, mild), Candidate(2, bad), Candidate(1, ended)])]
    assert reasons == [Reason.COVERED, Reason.OPEN, Reason.OPEN]


def test_one_candidate_for_each_receiver(pool: Pool, webhook: Webhook) -> None:
    """What is left out stays one, and what is open becomes as many as there are receivers."""
    ops, chat = webhook(name="ops"), webhook(name="chat")
    found = receivers([ops, chat])(NOW, [Candidate(1, pool()), Candidate(2, pool(), reason=Reason.ADVICE)])
    assert [(each.number, each.receiver) for each in found] == [(1, ops), (1, chat), (2, None)]


def test_each_receiver_is_judged_by_what_it_was_told(pool: Pool, webhook: Webhook) -> None:
    """One knows the alert, one knows it milder, one does not know it."""
    candidates = [Candidate(7, pool(), webhook(name=name)) for name in ("knows", "milder", "new")]
    told = {
        (7, "knows"): Told(NoticeStatus.FIRING, Severity.CRITICAL),
        (7, "milder"): Told(NoticeStatus.FIRING, Severity.WARNING),
        (8, "new"): Told(NoticeStatus.FIRING, Severity.CRITICAL),
    }
    reasons = [each.reason for each in dedup(told)(NOW, candidates)]
    assert reasons == [Reason.ALREADY_TOLD, Reason.SEVERITY_CHANGED, Reason.STARTED]


def test_a_stage_leaves_alone_what_is_decided(pool: Pool, webhook: Webhook) -> None:
    """Whatever its own opinion is."""
    decided = Candidate(1, pool(state=PENDING, kind_of_rule="review"), webhook(), Reason.COVERED)
    stages = (fired, operational, family({pool().key: pool("BP-01").key}), receivers([webhook()]), dedup({}))
    for stage in stages:
        assert stage(NOW, [decided]) == [decided]
    assert run(stages, NOW, [decided]) == [decided]

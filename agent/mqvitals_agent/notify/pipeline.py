"""The pipeline: stages that each decide about candidates, one after another.

A stage is a pure function: it gets the time and all candidates, and gives candidates back, those it decided about with
their reason. It leaves alone what an earlier stage has decided. The last one decides about all that are still open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mqvitals_agent.notify.reason import Reason, decide
from mqvitals_agent.store.notice_row import Told
from mqvitals_config.receiver import Receiver
from mqvitals_rules.lifecycle.alert import Alert, AlertKey

OPERATIONAL = "operational"
"""The ``kind_of_rule`` of what somebody should act on; everything else is advice."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An alert (``number`` is its number in the store) that somebody might be told of, and what was decided.

    ``receiver`` is None until the stage that makes one candidate for each of them.
    """

    number: int
    alert: Alert
    receiver: Receiver | None = None
    reason: Reason = Reason.OPEN


Stage = Callable[[int, Sequence[Candidate]], list[Candidate]]
"""(the time now in ms UTC, candidates) -> candidates."""


def run(stages: Sequence[Stage], now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """All candidates as they leave the last stage, those left out among them."""
    found = list(candidates)
    for stage in stages:
        found = stage(now, found)
    return found


def fired(now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out what has never fired: nobody heard of it and nobody needs to."""
    del now
    return _left_out(candidates, lambda each: each.alert.started is None, Reason.NEVER_FIRED)


def operational(now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out advice, of whatever kind: nobody is called for it."""
    del now
    return _left_out(candidates, lambda each: each.alert.kind_of_rule != OPERATIONAL, Reason.ADVICE)


def family(covered: Mapping[AlertKey, AlertKey]) -> Stage:
    """Leaves out what a worse alert of its family stands for. ``covered`` is what ``overshadowed`` says of all alerts."""

    def stage(now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
        del now
        # The key alone could mean an incident that ended in the same cycle as the next began.
        return _left_out(
            candidates, lambda each: each.alert.ended is None and each.alert.key in covered, Reason.COVERED
        )

    return stage


def receivers(settings: Sequence[Receiver]) -> Stage:
    """Makes one candidate for each receiver of every one that is still open."""

    def stage(now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
        del now
        return [
            one
            for each in candidates
            for one in (
                [replace(each, receiver=receiver) for receiver in settings] if each.reason is Reason.OPEN else [each]
            )
        ]

    return stage


def dedup(told: Mapping[tuple[int, str], Told]) -> Stage:
    """Decides by what each receiver was told last; ``told`` is (number of the alert, receiver) -> that."""

    def stage(now: int, candidates: Sequence[Candidate]) -> list[Candidate]:
        del now
        return [
            each
            if each.reason is not Reason.OPEN or each.receiver is None
            else replace(
                each,
                reason=decide(
                    each.alert,
                    told.get((each.number, each.receiver.name)),
                    send_resolved=each.receiver.send_resolved,
                ),
            )
            for each in candidates
        ]

    return stage


def _left_out(
    candidates: Sequence[Candidate], left_out: Callable[[Candidate], bool], reason: Reason
) -> list[Candidate]:
    return [
        replace(each, reason=reason) if each.reason is Reason.OPEN and left_out(each) else each for each in candidates
    ]

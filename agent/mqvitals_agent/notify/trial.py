"""A test of a receiver: an alert that says of itself that it is none, firing and then resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from mqvitals_agent.notify.answer import Answer, Verdict
from mqvitals_agent.notify.payload import Content, payload
from mqvitals_agent.notify.post import WebhookPost, open_session
from mqvitals_agent.store.notice_row import NoticeStatus
from mqvitals_config.receiver import Receiver


def trial_contents(now: int) -> tuple[Content, Content]:
    """The alert as firing and as resolved, at ``now`` (ms UTC); clearly marked in labels and words."""
    firing = Content(
        labels={"alertname": "MQVITALS-TEST", "severity": "info", "kind": "agent", "test": "true"},
        annotations={
            "summary": "This is a test of mqvitals: nothing is wrong",
            "advice": "Nothing is to be done. Somebody ran 'mqvitals alerts test' to see whether this arrives.",
        },
        fingerprint=blake2b(f"test {now}".encode(), digest_size=8).hexdigest(),
        starts=now,
    )
    return firing, replace(firing, ends=now)


async def try_receiver(receiver: Receiver, now: int) -> Sequence[tuple[NoticeStatus, Answer]]:
    """Post the test alert, firing and then, when that was accepted, resolved; what came back of each."""
    answers: list[tuple[NoticeStatus, Answer]] = []
    async with open_session() as session:
        post = WebhookPost(session, lambda: now)
        for content in trial_contents(now):
            answer = await post(receiver, payload(content, receiver.name, receiver.labels))
            answers.append((content.status, answer))
            if answer.verdict is not Verdict.ACCEPTED:
                break
    return answers

"""Dead letters: the messages on a queue manager's dead-letter queue, by reason and the queue they were meant for."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Kind, answer, gauge, text

DEAD_LETTERS = "DEAD_LETTERS"
"""The name of the question: no command, but browsing the headers of messages."""

DEAD_LETTER_KIND = Kind(
    name="dead_letter",
    meaning="messages on the dead-letter queue with one reason and one destination: reason, then queue",
    poll=DEAD_LETTERS,
    metrics=answer(
        DEAD_LETTERS,
        gauge("messages", "messages", "messages with this reason for this queue, among the first 200 on the dead-letter queue",
              computed="counted from their headers (MQDLH)"),
        gauge("reason", "number", "why they could not be delivered; 0: the message has no header",
              computed="Reason of the header"),
        text("reason_name", "the name of the reason", computed="from the reason"),
        text("destination", "the queue they were meant for", computed="DestQName of the header"),
        text("usually", "what usually is the matter", computed="from the reason, by the agent's table"),
        text("send_to", "who should be told", computed="from the reason, by the agent's table"),
        text("put_by", "who put the newest of them there", computed="PutApplName of the header"),
        text("first_ts", "when the oldest was put there", computed="PutDate and PutTime of the header"),
        gauge("first_age_s", "s", "how long ago the oldest was put there", computed="PutDate and PutTime of the header"),
        text("last_ts", "when the newest was put there", computed="PutDate and PutTime of the header"),
        gauge("last_age_s", "s", "how long ago the newest was put there", computed="PutDate and PutTime of the header"),
    ),
)

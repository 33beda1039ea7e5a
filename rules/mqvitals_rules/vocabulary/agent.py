"""What became of our own commands: one object for each form of command, with or without a scope."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.entry import answer, gauge, state, text
from mqvitals_rules.vocabulary.metric import Kind

KIND = Kind(
    name="agent",
    meaning="a form of command that was sent to a queue manager, such as INQUIRE_CHANNEL_STATUS CMDSCOPE(*)",
    poll="COMMAND",
    metrics=answer(
        "COMMAND",
        state("outcome", {outcome.name: outcome.value for outcome in Outcome},
              "what became of it; of several in a cycle, the worst"),
        text("mqsc", "the command in MQSC; its profile in class MQCMDS is named after it"),
        gauge("reason", "number", "MQ reason code that came back; 0: none"),
        gauge("commands", "count", "commands sent in the cycle"),
        gauge("replies", "count", "messages that came back in the cycle"),
        gauge("bytes", "bytes", "data that came back in the cycle"),
        gauge("elapsed_ms", "ms", "time until the last message came back, summed over the cycle"),
        gauge("every_ms", "ms", "time from one such command to the next that is in force; absent in a replay"),
        gauge("stretched", "count", "how many times the interval was doubled because the answers took long"),
    ),
)

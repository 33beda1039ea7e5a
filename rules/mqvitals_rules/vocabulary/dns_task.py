"""The task of the channel initiator that resolves host names."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import gauge, records, text
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.task import PROBE, WORK

_MORE = records(
    gauge("longest_us", "us", "longest request of the interval", smf="QCTLGDU"),
    text("longest_ts", "when the longest request was, UTC", smf="QCTLGTM"),
)

KIND = Kind(
    name="dns_task",
    meaning="the task of a channel initiator that resolves host names, named by its place, from 0",
    poll=PROBE,
    metrics=(*WORK, *_MORE),
)

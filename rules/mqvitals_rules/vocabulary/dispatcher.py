"""Dispatchers of the channel initiator: they do the communication of its channels."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import gauge, records
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.task import PROBE, WORK

_MORE = records(
    gauge("channels", "count", "channels that it serves when the record is made", smf="QCTCHLN"),
)

KIND = Kind(
    name="dispatcher",
    meaning="a dispatcher of a channel initiator, named by its place among them, from 0",
    poll=PROBE,
    metrics=(*WORK, *_MORE),
)

"""Adapter tasks of the channel initiator: they make the MQI calls of its channels."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.task import PROBE, WORK

KIND = Kind(
    name="adapter",
    meaning="an adapter task of a channel initiator, named by its place among them, from 0",
    poll=PROBE,
    metrics=WORK,
)

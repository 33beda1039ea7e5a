"""TLS tasks of the channel initiator: handshakes, encryption and decryption."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import gauge, records, text
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.task import PROBE, WORK

_MORE = records(
    gauge("longest_us", "us", "longest request of the interval", smf="QCTLSDU"),
    text("longest_ts", "when the longest request was, UTC", smf="QCTLSTM"),
)

KIND = Kind(
    name="ssl_task",
    meaning="a TLS task of a channel initiator, named by its place among them, from 0",
    poll=PROBE,
    metrics=(*WORK, *_MORE),
)

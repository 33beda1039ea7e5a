"""Buffers of a VSAM key-sequenced data set: what BUFFERSPACE must be for them."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

VSAM_NODES = "WebSphere Business Integration Message Broker for z/OS V5 - VSAM Nodes - Performance report"
DATA_CISIZE_BYTES = 18_432
INDEX_CISIZE_BYTES = 512
MOST_CISIZE_BYTES = 32_768
ROWS: tuple[Row, ...] = (
    {"bufferspace_bytes": 37_376, "data_cis": 2, "index_cis": 1},
    {"bufferspace_bytes": 38_400, "data_cis": 2, "index_cis": 3},
    {"bufferspace_bytes": 39_424, "data_cis": 2, "index_cis": 5},
    {"bufferspace_bytes": 76_288, "data_cis": 4, "index_cis": 5},
    {"bufferspace_bytes": 1_048_576, "data_cis": None, "index_cis": None},
)
"""The settings measured; the last is a round number beside the others, of no stated make-up."""


def _cisize(component: str, default: int) -> Input:
    meaning = f"control interval of the {component} component"
    return Input(f"{component}_cisize_bytes", "bytes", meaning, 512, MOST_CISIZE_BYTES, default=default)


@formula(
    "vsam-bufferspace",
    number="F-34",
    title="BUFFERSPACE of a VSAM data set for so many buffers",
    inputs=(
        Input("data_cis", "control intervals", "buffers for data", 2, 10_000, default=2),
        Input("index_cis", "control intervals", "buffers for the index", 1, 10_000, default=1),
        _cisize("data", DATA_CISIZE_BYTES),
        _cisize("index", INDEX_CISIZE_BYTES),
    ),
    measured_on="arithmetic; the settings were measured with Message Broker V5 on a 2084-304",
    caveat=(
        "More buffers for the index helped most, where many applications read one data set; CPU hardly changed. It works on every program that"
        " uses the data set and gives no BUFND or BUFNI. To open a data set and read one record took some 7750 CPU microseconds (2084-304)."
    ),
    source=f"{VSAM_NODES} · 2.3.2 Throughput varying BUFFERSPACE, 2.3.1 Results",
    example={"data_cis": 2, "index_cis": 5},
)
def vsam_bufferspace(data_cis: int, index_cis: int, data_cisize_bytes: int, index_cisize_bytes: int) -> Outcome:
    """Bytes; the catalogue's F-34."""
    size_bytes = data_cis * data_cisize_bytes + index_cis * index_cisize_bytes
    steps = (
        f"{data_cis:,} data x {data_cisize_bytes:,} bytes + {index_cis:,} index x {index_cisize_bytes:,} bytes = {size_bytes:,} bytes",
    )
    return Outcome(size_bytes, "bytes", steps, rows=ROWS)

"""The kinds of objects of which RMF's records tell, and how what RMF measured becomes metrics."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.smf.layout.rmf import CARD, CPU, ENGINE, REQUESTS, STORAGE
from mqvitals_agent.smf.metric_mapping import Fields, MetricFunction, MetricMapping, MetricValue
from mqvitals_agent.smf.partial_sample import MergeRule
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import kind

MEASURED_AT: Final = "at"
"""A field of RMF's samples: the end of the interval, local time, such as ``2026-03-01 03.15``."""


def _percent(key: str) -> MetricFunction:
    """A share in hundredths of a per cent as per cent; of a text it begins with that."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        value = fields.get(key)
        if isinstance(value, str):
            value = int(value.partition(" ")[0])
        return Absence.NOT_RETURNED if value is None else value / 100

    return value_of


def _measured(key: str) -> MetricFunction:
    """When and of what RMF measured a share, in words."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        value, at = fields.get(key), fields.get(MEASURED_AT)
        if value is None or not isinstance(at, str):
            return Absence.NOT_RETURNED
        of = value.partition(" ")[2] if isinstance(value, str) else ""
        return f"by RMF, {at}, {of}" if of else f"by RMF, {at}"

    return value_of


def _text(key: str) -> MetricFunction:
    return lambda fields, _: value if isinstance(value := fields.get(key), str) and value else Absence.NOT_RETURNED


PROCESSORS: Final = MetricMapping(
    kind("queue_manager"),
    (("SMF70", "", CPU),),
    {
        "cpu_busy_pct": _percent("busy"),
        "cpu_busy_measured": _measured("busy"),
        "smf_system": _text("system"),
    },
    needs=("busy", "system", MEASURED_AT),
)
CRYPTOGRAPHY: Final = MetricMapping(
    kind("queue_manager"),
    (("R7023", "", CARD),),
    {"crypto_busy_pct": _percent("busiest"), "crypto_busy_measured": _measured("busiest")},
    needs=("busiest", MEASURED_AT),
)
FACILITIES: Final = MetricMapping(
    kind("qsg"),
    (("R744", "", ENGINE), ("R744", "", STORAGE)),
    {
        "cf_busy_pct": _percent("busiest"),
        "cf_busy_measured": _measured("busiest"),
        "cf_free_pct": _percent("free"),
    },
    needs=("busiest", "free", MEASURED_AT),
    overrides={"busiest": MergeRule.HIGHEST, "free": MergeRule.LOWEST},
)
STRUCTURES: Final = MetricMapping(
    kind("cf_structure"),
    (("R744", "", REQUESTS),),
    {"cf_name": _text("cf")},
    needs=("cf",),
)
MEASURED: Final = {
    ("queue_manager", "SMF 70-1"): PROCESSORS,
    ("queue_manager", "SMF 70-2"): CRYPTOGRAPHY,
    ("qsg", "SMF 74-4"): FACILITIES,
    ("cf_structure", "SMF 74-4"): STRUCTURES,
}
"""What RMF measured, by kind and probe."""

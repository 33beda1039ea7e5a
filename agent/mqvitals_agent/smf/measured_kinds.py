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


def _of_class(key: str) -> MetricFunction:
    """A share of one processor in hundredths of a per cent as per cent; not declared where the sample has no class."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        if fields.get("class") is None:
            return Absence.NOT_DECLARED
        value = fields.get(key)
        return value / 100 if isinstance(value, int) else Absence.NOT_RETURNED

    return value_of


def _delayed(fields: Fields, _: int | None) -> MetricValue:
    """The share of samples in which a class waited for a processor."""
    if fields.get("class") is None:
        return Absence.NOT_DECLARED
    delayed, samples = fields.get("delayed"), fields.get("samples")
    if not isinstance(delayed, int) or not isinstance(samples, int):
        return Absence.NOT_RETURNED
    if not samples:
        return Absence.OUT_OF_RANGE if delayed else Absence.NOTHING_TO_TELL
    return round(100 * delayed / samples, 2) if delayed <= samples else Absence.OUT_OF_RANGE


def _class_measured(fields: Fields, _: int | None) -> MetricValue:
    """When and of which class RMF measured."""
    of, at = fields.get("class"), fields.get(MEASURED_AT)
    return Absence.NOT_DECLARED if of is None else f"by RMF, {at}, {of}"


def _address_space(space: str) -> MetricMapping:
    name = space.lower()
    return MetricMapping(
        kind("queue_manager"),
        (),  # the other address space's metrics have the same fields, of another class
        {
            f"{name}_cpu_pct": _of_class("cpu"),
            f"{name}_ziip_pct": _of_class("ziip"),
            f"{name}_cpu_delay_pct": _delayed,
            f"{name}_cpu_measured": _class_measured,
            "smf_system": _text("system"),
        },
        needs=("class", "cpu", "ziip", "delayed", "samples", "system", MEASURED_AT),
    )


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
ADDRESS_SPACES: Final = ("MSTR", "CHIN")
"""The address spaces of a queue manager; the facts ``mstr_class`` and ``chin_class`` say which class holds each."""
MEASURED: Final = {
    **{("queue_manager", f"SMF 72-3 {space}"): _address_space(space) for space in ADDRESS_SPACES},
    ("queue_manager", "SMF 70-1"): PROCESSORS,
    ("queue_manager", "SMF 70-2"): CRYPTOGRAPHY,
    ("qsg", "SMF 74-4"): FACILITIES,
    ("cf_structure", "SMF 74-4"): STRUCTURES,
}
"""What RMF measured, by kind and probe."""

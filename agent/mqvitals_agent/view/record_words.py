"""In words, of which interval a record tells, how old it is, and how to get records where there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import clock, day, rough_age, short_age
from mqvitals_rules.snapshot import Source
from mqvitals_rules.vocabulary.metric import Absence

_SOURCES = {Source.SMF: "SMF", Source.STATISTICS: "statistics"}

_DAY_MS = 86_400_000

_TRACES = {
    "channel_initiator": "STAT) CLASS(4)",
    "adapter": "STAT) CLASS(4)",
    "dispatcher": "STAT) CLASS(4)",
    "ssl_task": "STAT) CLASS(4)",
    "dns_task": "STAT) CLASS(4)",
    "channel": "ACCTG) CLASS(4)",
    "queue": "STAT) CLASS(5)",
    "application": "ACCTG) CLASS(3)",
}

Values = Mapping[str, CurrentValue]


def record_words(told: CurrentValue, now: int, *, long: bool = False) -> str:
    """Which interval a figure is of, and how long ago that ended: ``SMF 12:00, 14m05s ago``; ``long``: and its length.

    One that ended a day ago or more has its date; one that is stale says so. Of a poll it is only the age.
    """
    if told.ts is None:
        return "never told"
    old = f"{short_age(now - told.ts)} ago"
    if told.source not in _SOURCES:
        return old
    at = clock(told.ts)[:5]
    parts = [f"{_SOURCES[told.source]} {at if now - told.ts < _DAY_MS else f'{day(told.ts)} {at}'}"]
    if long and told.interval_ms:
        parts.append(f"{rough_age(told.interval_ms)} long")
    if told.unanswered is not None:
        parts.append("stale")
    return ", ".join([*parts, old])


def needs_words(kind: str) -> str:
    """Which trace makes the records that tell of a kind, and where it is said what to do with them."""
    trace = _TRACES.get(kind, "STAT) CLASS(1)")
    return f"START TRACE({trace}, smf import; see mqvitals help smf"


def on_zos(values: Values) -> bool:
    """Whether an object may be one of z/OS: none of its metrics is told to be of z/OS alone and missing here."""
    return all(told.value is not Absence.NOT_ON_DISTRIBUTED for told in values.values())


def newest_record(values: Values, names: Iterable[str]) -> CurrentValue | None:
    """The figure of the newest record among ``names``; None: no record told any of them."""
    found = (values[name] for name in names if name in values)
    told = [
        each
        for each in found
        if each.source in _SOURCES and each.ts is not None and not isinstance(each.value, Absence)
    ]
    return max(told, key=lambda each: each.ts or 0, default=None)

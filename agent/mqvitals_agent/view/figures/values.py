"""What views make of stored values: rates, the record that a value is from, the main metric of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import clock, day, figure, number, rough_age, short_age
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.metric import NO_LIMIT, Absence
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


RATE: Mapping[str, str] = {"channel": "msgs", "log": "written_bytes"}
"""The counter of each kind that lists show as a rate."""

PER_SECOND = "per_second"
"""The name of the rate among an object's values."""

Values = Mapping[str, CurrentValue]


def number_in(latest: CurrentValue | None) -> float | None:
    """The number that is stored; None for an absence, a text, or nothing stored."""
    return None if latest is None or isinstance(latest.value, Absence | str) else latest.value


def plain_number(latest: CurrentValue | None) -> str:
    """The number that is stored, ``?`` where there is none."""
    value = number_in(latest)
    return "?" if value is None else "no limit" if value == NO_LIMIT else number(value)


def figure_of(values: Values, kind: str, name: str) -> str:
    """A metric's figure with its unit, or why there is none."""
    latest = values.get(name)
    return Absence.NOT_ASKED.value if latest is None else figure(latest.value, metric(kind, name))


def with_rates(reader: StoreReader, kind: str, found: Mapping[ObjectName, Values]) -> dict[ObjectName, Values]:
    """The objects of one owner with their rates added. Raises StoreError."""
    counter = RATE[kind]
    covered = interval_ms(reader, counter, found)
    rated: dict[ObjectName, Values] = {}
    for name, values in found.items():
        latest = values.get(counter)
        # The values of a past moment are made when they are asked for, all of them at half the price of each.
        rated[name] = values if latest is None else {**dict(values.items()), PER_SECOND: rate_of(latest, covered)}
    return rated


def rate_of(latest: CurrentValue, interval_ms: int | None) -> CurrentValue:
    """An increase as a rate a second; ``interval_ms`` is that of polls, None: not known. A record has its own."""
    if latest.source is not Source.POLL:
        interval_ms = latest.interval_ms
    if isinstance(latest.value, Absence | str):
        return latest
    if not interval_ms:
        return latest._replace(value=Absence.FIRST_READING)
    return latest._replace(value=1000 * latest.value / interval_ms)


def interval_ms(reader: StoreReader, counter: str, found: Mapping[ObjectName, Values]) -> int | None:
    """The interval of the newest increase, ms; one answer reports all objects of an owner, so one of them is enough."""
    times = {
        name: latest.ts or 0
        for name, values in found.items()
        if (latest := values.get(counter)) is not None
        and latest.source is Source.POLL
        and not isinstance(latest.value, Absence)
    }
    if not times:
        return None
    newest = max(times, key=lambda name: times[name])
    # Later polls had no answer, and so no increase.
    samples = reader.samples(newest, counter, first=times[newest], last=times[newest])
    return samples[-1].interval_ms if samples else None


_SOURCES = {Source.SMF: "SMF", Source.STATISTICS: "statistics", Source.IMPORT: "imported"}


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


def record_words(latest: CurrentValue, now: int, *, long: bool = False) -> str:
    """The interval of a figure, and how long ago it ended: ``SMF 12:00, 14m05s ago``; ``long``: and its length.

    After a day it includes the date; a stale one says so. For a poll it is only the age.
    """
    if latest.ts is None:
        return "no value"
    old = f"{short_age(now - latest.ts)} ago"
    if latest.source not in _SOURCES:
        return old
    at = clock(latest.ts)[:5]
    parts = [f"{_SOURCES[latest.source]} {at if now - latest.ts < DAY_MS else f'{day(latest.ts)} {at}'}"]
    if long and latest.interval_ms:
        parts.append(f"{rough_age(latest.interval_ms)} long")
    if latest.unanswered is not None:
        parts.append("stale")
    return ", ".join([*parts, old])


def trace_words(kind: str) -> str:
    """The trace that writes the records of a kind, and where their import is described."""
    trace = _TRACES.get(kind, "STAT) CLASS(1)")
    return f"START TRACE({trace}, smf import; see mqvitals help smf"


def on_zos(values: Values) -> bool:
    """Whether an object may be on z/OS: none of its metrics is absent as z/OS only."""
    return all(latest.value is not Absence.NOT_ON_DISTRIBUTED for latest in values.values())


def newest_record(values: Values, names: Iterable[str]) -> CurrentValue | None:
    """The value of the newest record among ``names``; None: no record has any of them."""
    found = (values[name] for name in names if name in values)
    recorded = [
        each
        for each in found
        if each.source in _SOURCES and each.ts is not None and not isinstance(each.value, Absence)
    ]
    return max(recorded, key=lambda each: each.ts or 0, default=None)


MAIN_METRIC: dict[str, str] = {
    "queue_manager": "reachable",
    "qsg": "members_active",
    "channel": "status",
    "client": "instances",
    "cluster_queue_manager": "role",
    "queue": "depth",
    "dead_letter": "messages",
    "buffer_pool": "free_pct",
    "page_set": "used_pct",
    "cf_structure": "entries_pct",
    "subscription": "subscriptions",
    "smds": "used_pct",
    "smds_connection": "status",
    "log": "full_logs",
    "channel_initiator": "current",
    "adapter": "busy_pct",
    "dispatcher": "busy_pct",
    "ssl_task": "busy_pct",
    "dns_task": "busy_pct",
    "application": "cpu_us",
    "agent": "outcome",
    "store": "used_bytes",
    "receiver": "failing_s",
    "server": "failing_s",
    "remote_write": "failing_s",
}
"""The main metric, by kind of object."""


@lru_cache(maxsize=1 << 15)
def natural_order(name: ObjectName) -> tuple[str, int, str, str]:
    """A key that puts numbered objects in the order of their numbers: buffer pool 10 after 9."""
    rest = name.name
    return (name.kind, int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 10 else 0, rest, name.owner)


@lru_cache(maxsize=8)
def natural_places(names: tuple[ObjectName, ...]) -> tuple[int, ...]:
    """The places of these names in their natural order: a list of thousands has the same ones each time."""
    return tuple(sorted(range(len(names)), key=lambda place: natural_order(names[place])))

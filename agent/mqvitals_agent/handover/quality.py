"""How much of a time there are data about: when the agent was not running, gaps of queue managers, what rules lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mqvitals_agent.handover.report import DataQuality
from mqvitals_agent.store.file.store_file import trouble_of
from mqvitals_agent.store.result import Owner
from mqvitals_agent.text.chart import TimeRange, longest_distance, pauses
from mqvitals_agent.text.figure import moment, zone_name
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

_USUAL_MS: Final = 600_000
"""A longer time than this before or after a single snapshot is a pause."""
_MOMENT_MS: Final = 1_000
"""Snapshots of one cycle are less than this apart."""
_RECENT_MS: Final = 3_600_000
"""What is known of now is told of a time that ended no longer ago than this."""


def read_quality(reader: StoreReader, owners: Sequence[Owner], span: TimeRange) -> DataQuality:
    """What there are data about of ``span``. Raises StoreError."""
    times = {owner.name: reader.snapshot_span(owner.name, span.since, span.until) for owner in owners}
    begin = min((owner.first_ts for owner in owners), default=span.since)
    pauses_of = {
        owner.name: list(pauses_within(times[owner.name], TimeRange(max(span.since, owner.first_ts), span.until)))
        for owner in owners
    }
    silent = common_pauses(list(pauses_of.values()))
    gaps = [(name, gap) for name, found in pauses_of.items() for gap in found if not _within(gap, silent)]
    newest = max((owner.last_ts for owner in owners), default=0)
    recent = span.until >= newest - _RECENT_MS
    return DataQuality(
        {name: len(found) for name, found in times.items()},
        tuple(silent),
        tuple(gaps),
        tuple(_unreachable(reader, owners, span)),
        tuple(_unknown(reader, {owner.name for owner in owners})) if recent else (),
        tuple(_remarks(reader, begin, span, recent=recent)),
    )


def _unreachable(reader: StoreReader, owners: Iterable[Owner], span: TimeRange) -> Iterator[tuple[str, int, int]]:
    for owner in owners:
        name = ObjectName(owner.name, "queue_manager")
        polls = [] if owner.is_group else reader.samples(name, "reachable", first=span.since, last=span.until)
        known = [poll.value for poll in polls if poll.value is not None]
        if count := known.count(0):
            yield owner.name, count, len(known)


def pauses_within(times: Sequence[int], span: TimeRange) -> Iterator[TimeRange]:
    """The times without a snapshot, from the one before to the one after, within ``span``; ``times`` are in order."""
    if not times:
        if span.since < span.until:
            yield span
        return
    pause = longest_distance([(ts, None) for ts in times]) if len(times) > 1 else _USUAL_MS
    if times[0] - span.since > pause:
        yield TimeRange(span.since, times[0])
    yield from pauses([(ts, 1) for ts in times])
    if span.until - times[-1] > pause:
        yield TimeRange(times[-1], span.until)


def common_pauses(found: Sequence[Sequence[TimeRange]]) -> list[TimeRange]:
    """The parts of the pauses of the first owner that are pauses of all others too, longer than a moment."""
    common = list(found[0]) if found else []
    for other in found[1:]:
        parts = (TimeRange(max(one.since, two.since), min(one.until, two.until)) for one in common for two in other)
        common = [part for part in parts if part.until - part.since > _MOMENT_MS]
    return common


def _within(gap: TimeRange, pauses: Iterable[TimeRange]) -> bool:
    return any(each.since - _MOMENT_MS <= gap.since and gap.until <= each.until + _MOMENT_MS for each in pauses)


def _unknown(reader: StoreReader, owners: set[str]) -> list[tuple[Absence, int, tuple[str, ...]]]:
    counts: dict[Absence, int] = {}
    rules: dict[Absence, set[str]] = {}
    for row in reader.unknown_counts():
        if row.owner in owners:
            counts[row.reason] = counts.get(row.reason, 0) + row.count
            rules.setdefault(row.reason, set()).add(row.rule)
    found = [(reason, count, tuple(sorted(rules[reason]))) for reason, count in counts.items()]
    return sorted(found, key=lambda each: (-each[1], each[0].value))


def _remarks(reader: StoreReader, begin: int, span: TimeRange, *, recent: bool) -> Iterator[str]:
    meta = reader.meta()
    if begin > span.since:
        yield f"The store begins at {_at(begin)}: nothing is known of the time before."
    for kept, what in ((meta.kept_from, "Samples"), (meta.alerts_kept_from, "Alerts that ended")):
        if kept is not None and kept > span.since:
            yield f"{what} before {_at(kept)} are no longer kept (store.keep, store.limit)."
    if not recent or meta.past:
        return
    if meta.refused:
        yield f"The settings and rules from before are in force, for those of now cannot be used: {meta.refused}"
    if unstored := trouble_of(reader.path):
        yield f"The agent cannot store its samples: {unstored}"
    yield from _failing(reader)


def _failing(reader: StoreReader) -> Iterable[str]:
    for receiver in reader.receivers():
        if receiver.failing is not None:
            yield f"Receiver {receiver.name} fails since {_at(receiver.failing)}: {receiver.error}"
    for path, problem in reader.consoles_failing():
        yield f"The console messages in {path} cannot be read: {problem}"


def _at(ts: int) -> str:
    return f"{moment(ts)} {zone_name(ts)}"

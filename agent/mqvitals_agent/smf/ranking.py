"""The applications in a store: the costliest of a day by themselves, the others as one sum, whatever came in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Final

from mqvitals_agent.smf.application import DAY_MS, REST, as_rest, top
from mqvitals_agent.smf.sample import reading
from mqvitals_agent.smf.subject import APPLICATION
from mqvitals_agent.smf.total import Total
from mqvitals_agent.store.smf_row import ALONE
from mqvitals_agent.store.smf_row import REST as WITHIN_REST
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Snapshot

PROBE: Final = "SMF 116-1"
_AT_ONCE: Final = 40


def place(store: Store, take: Callable[[Snapshot], object], count: int) -> Iterator[None]:
    """Bring the samples of applications up to date; comes back after each end of an interval.

    ``take`` takes in a snapshot. Raises StoreError; what was done stays, and the next call goes on.
    """
    for owner, day in store.unplaced_applications(DAY_MS):
        yield from _place_day(store, take, owner, day, count)


def _place_day(store: Store, take: Callable[[Snapshot], object], owner: str, day: int, count: int) -> Iterator[None]:
    bounds = day * DAY_MS, (day + 1) * DAY_MS
    uses = store.application_uses(owner, *bounds)
    used: dict[str, int] = defaultdict(int)
    within: dict[int, list[str]] = defaultdict(list)
    for use in uses:
        used[use.name] += use.used
    first = top(used, count)
    alone: dict[int, list[str]] = defaultdict(list)
    changed: set[int] = set()
    standings: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    fallen: set[str] = set()
    for use in uses:
        standing = ALONE if use.name in first else WITHIN_REST
        if standing == WITHIN_REST:
            within[use.ts].append(use.name)
        if use.shown == standing:
            continue
        standings[use.ts].append((use.name, use.ts, standing))
        if standing == ALONE:
            alone[use.ts].append(use.name)
        else:
            changed.add(use.ts)
            if abs(use.shown) == ALONE:
                fallen.add(use.name)
        if abs(use.shown) == WITHIN_REST:
            changed.add(use.ts)
    for name in sorted(fallen):
        store.forget_records(_named(owner, name), *bounds)
        yield
    emptied = [ts for ts in sorted(changed) if not within[ts]]
    for ts in emptied:
        store.forget_records(_named(owner, REST), ts, ts + 1)
    for ts in sorted(standings):
        totals = _totals(store, owner, ts, alone[ts])
        if ts in changed:
            totals += yield from _rest(store, owner, ts, within[ts])
        _tell(take, owner, ts, totals)
        store.place_applications(owner, standings[ts])
        yield
    # Their current state went with what was taken away: what is left of them tells it.
    for name in sorted(fallen):
        newest = store.newest_part(_named(owner, name), ALONE)
        if newest is not None:
            probe, ts, data = newest
            _tell(take, owner, ts, [Total.of_data(_named(owner, name), probe, ts, data)])
    rest = store.newest_rest(owner) if emptied else None
    if rest is not None:
        ts, names = rest
        _tell(take, owner, ts, (yield from _rest(store, owner, ts, names)))
    yield


def _named(owner: str, name: str) -> ObjectName:
    return ObjectName(owner, "application", name)


def _totals(store: Store, owner: str, ts: int, names: Iterable[str]) -> list[Total]:
    found = store.record_parts((_named(owner, name), PROBE, ts) for name in names)
    return [Total.of_data(*key, data) for key, data in found.items()]


def _rest(store: Store, owner: str, ts: int, names: Sequence[str]) -> Generator[None, None, list[Total]]:
    """The sum of these applications at an end, in steps; nothing when there are none."""
    together: Total | None = None
    for first in range(0, len(names), _AT_ONCE):
        for total in _totals(store, owner, ts, names[first : first + _AT_ONCE]):
            part = as_rest(total)
            together = part if together is None else together.plus(part, APPLICATION.putting_together)
        yield
    return [] if together is None else [together]


def _tell(take: Callable[[Snapshot], object], owner: str, ts: int, totals: list[Total]) -> None:
    if totals:
        take(Snapshot(owner, group=False, cycle=0, ts=ts, readings=tuple(reading(total) for total in totals)))

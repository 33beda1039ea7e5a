"""The peer of the rule engine: ten of the shipped rules, as a programmer would write them for this data alone.

The ten are a sample: thresholds, increases, rates, shares and straight lines over windows, and members of pools and
page sets; operational rules and reviews. Plain dicts hold the latest values and the newest polls of what windows need;
there is one function a kind; alerts fire when a condition has held long enough and end after good polls. Absent is
unknown here too. There are no late records, stale values, changing facts, causes and texts; polls are equally far apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from zlib import crc32

from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported

Said = list[tuple[str, bool | None]]
"""Rules that hold (True) or are unknown (None); those that do not hold are left out."""

LEAST_COVERAGE = 0.8
GOOD_POLLS = 3


def number(value: object) -> float | None:
    """A number, or None where it is absent."""
    return value if value.__class__ is int or value.__class__ is float else None


def both(*truths: bool | None) -> bool | None:
    """``and``: False decides."""
    if False in truths:
        return False
    return None if None in truths else True


def either(*truths: bool | None) -> bool | None:
    """``or``: True decides."""
    if True in truths:
        return True
    return None if None in truths else False


def over(one: float | None, other: float | None) -> bool | None:
    """Greater than."""
    return None if one is None or other is None else one > other


def reach(one: float | None, other: float | None) -> bool | None:
    """Greater than or equal."""
    return None if one is None or other is None else one >= other


def same(one: float | None, other: float) -> bool | None:
    """Equal."""
    return None if one is None else one == other


class Past:
    """The newest polls of one metric, the newest last; an absent value is None."""

    __slots__ = ("values",)

    def __init__(self, polls: int) -> None:
        self.values: deque[float | None] = deque(maxlen=polls)

    def newest(self, polls: int) -> list[float]:
        """What is known of the newest ``polls`` polls."""
        values = self.values
        skipped = max(0, len(values) - polls)
        return [value for value in islice(values, skipped, None) if value is not None]

    def covered(self, polls: int) -> list[float]:
        """The same, or nothing where too little is known."""
        if len(self.values) < LEAST_COVERAGE * polls:
            return []
        known = self.newest(polls)
        return known if len(known) >= LEAST_COVERAGE * polls else []

    def increase(self, polls: int) -> float | None:
        """Of a counter: its increase."""
        known = self.newest(polls)
        return sum(known) if known else None

    def rate(self, polls: int, seconds: float) -> float | None:
        """Of a counter: its increase a second."""
        known = self.newest(polls)
        return sum(known) / (len(known) * seconds) if known else None

    def rising(self, rises: int) -> bool | None:
        """Whether each of the last polls was above the one before."""
        known = self.newest(rises + 1)
        if any(later <= earlier for earlier, later in pairwise(known)):
            return False
        return True if len(known) > rises else None

    def eta(self, polls: int, seconds: float, limit: float | None) -> float | None:
        """Seconds until the straight line through the values reaches ``limit``."""
        values = list(self.values)[-polls:]
        seen = [((place + 1 - len(values)) * seconds, value) for place, value in enumerate(values) if value is not None]
        if len(seen) < 5 or limit is None:
            return None
        middle = sum(at for at, _ in seen) / len(seen)
        mean = sum(value for _, value in seen) / len(seen)
        slope = sum((at - middle) * (value - mean) for at, value in seen)
        slope /= sum((at - middle) ** 2 for at, _ in seen)
        if slope == 0:
            return 0.0 if limit == mean else float("inf")
        ahead = middle + (limit - mean) / slope
        return ahead if ahead >= 0 else 0.0 if ahead >= seen[0][0] else float("inf")


class Thing:
    """One object: its latest values, the past of some, and the last verdicts."""

    __slots__ = ("alerts", "first", "name", "next_review", "past", "related", "reviewed", "said", "values")

    def __init__(self, name: ObjectName, declared: Mapping[str, Reported], kept: Mapping[str, int]) -> None:
        self.name = name
        self.values: dict[str, Reported] = dict(declared)
        self.past = {metric: Past(polls) for metric, polls in kept.items()}
        self.said: Said = []
        self.reviewed: Said = []
        self.next_review = 0
        self.alerts: dict[str, list[int]] = {}
        """Rule -> on how many polls it held, and how many good ones there were since."""


Evaluate = Callable[["Site", Thing], Said]


class Site:
    """All objects, by kind and name.

    ``holds``: on how many polls each rule must hold. ``seconds`` lie between two polls.
    """

    def __init__(self, facts: Facts, holds: Mapping[str, int], seconds: float) -> None:
        self._facts = facts
        self._holds = holds
        self.seconds = seconds
        self.things: dict[ObjectName, Thing] = {}
        self.queues: dict[str, list[Thing]] = {}
        self.channels: dict[str, list[Thing]] = {}
        """Both by owner."""
        self.members: dict[ObjectName, list[Thing]] = {}
        self.sums: dict[str, float | None] = {}
        """What was summed up in this cycle."""

    def learn(self, snapshot: Snapshot) -> None:
        """Take over the values, polls and definitions alike."""
        self.sums.clear()
        things = self.things
        sorted_anew = False
        for reading in snapshot.readings:
            thing = things.get(reading.object)
            if thing is None:
                thing = things[reading.object] = self._new(reading.object)
            values = reading.values
            thing.values.update(values)
            for metric, past in thing.past.items():
                if metric in values:
                    past.values.append(number(values[metric]))
            if reading.object.kind == "queue" and not reading.poll:
                sorted_anew = True
            if reading.object.kind == "buffer_pool":
                take_lowest(thing)
        if sorted_anew:
            self._sort()

    def evaluate(self, snapshot: Snapshot, *, review_ms: int) -> None:
        """Evaluate what was polled."""
        now = snapshot.ts
        things = self.things
        for reading in snapshot.readings:
            if not reading.poll:
                continue
            conditions = CONDITIONS.get(reading.object.kind)
            if conditions is None:
                continue
            thing = things[reading.object]
            thing.said = conditions[0](self, thing)
            if conditions[1] is not None and now >= thing.next_review:
                thing.reviewed = conditions[1](self, thing)
                thing.next_review = now + int(review_ms * (1 - crc32(thing.name.name.encode()) / (1 << 34)))
            if thing.said or thing.alerts:
                self._step(thing)

    def _step(self, thing: Thing) -> None:
        alerts = thing.alerts
        holding = {rule for rule, truth in thing.said if truth}
        for rule in holding:
            counts = alerts.setdefault(rule, [0, 0])
            counts[0] += 1
            counts[1] = 0
        for rule in [rule for rule in alerts if rule not in holding]:
            counts = alerts[rule]
            counts[1] += 1
            if counts[0] < self._holds.get(rule, 1) or counts[1] >= GOOD_POLLS:
                del alerts[rule]

    def carried(self, owner: str) -> float | None:
        """The bytes that all channels of an owner carried, worked out once a cycle; None where too few are known."""
        if owner not in self.sums:
            self.sums[owner] = added(self.channels.get(owner, []), carried)
        return self.sums[owner]

    def said(self) -> Iterator[tuple[ObjectName, str, bool | None]]:
        """Every verdict now but those that do not hold."""
        self.sums.clear()
        for name, thing in self.things.items():
            for evaluate in CONDITIONS.get(name.kind, ()):
                for rule, truth in evaluate(self, thing) if evaluate is not None else ():
                    yield name, rule, truth

    def _new(self, name: ObjectName) -> Thing:
        thing = Thing(name, self._facts.of(name), KEPT.get(name.kind, {}))
        if name.kind in ("queue", "channel"):
            by_owner = self.queues if name.kind == "queue" else self.channels
            by_owner.setdefault(name.owner, []).append(thing)
        return thing

    def _sort(self) -> None:
        """Which queues lie on which page set, and in which pool."""
        self.members = {}
        for owner, queues in self.queues.items():
            for queue in queues:
                for kind in ("page_set", "buffer_pool"):
                    holder = queue.values.get(kind, "")
                    if holder != "" and holder.__class__ is not Absence:
                        self.members.setdefault(ObjectName(owner, kind, str(holder)), []).append(queue)


def added(things: Iterable[Thing], value: Callable[[Thing], float | None]) -> float | None:
    """The sum over some objects; None where too few are known."""
    found = [value(thing) for thing in things]
    known = [each for each in found if each is not None]
    return sum(known) if 5 * len(known) >= 4 * len(found) else None


def some(things: Sequence[Thing], condition: Callable[[Thing], bool | None]) -> bool | None:
    """Whether a condition holds for one of them: true decides."""
    unknown = False
    for thing in things:
        truth = condition(thing)
        if truth:
            return True
        if truth is None:
            unknown = True
    return None if unknown else False


def take_lowest(pool: Thing) -> None:
    """The worst share of free buffers is the lower one of now and of the record."""
    values = pool.values
    known = [value for value in map(number, (values.get("free_pct"), values.get("low_pct"))) if value is not None]
    if known:
        values["worst_free_pct"] = min(known)


POLLS_5M, POLLS_30M, POLLS_1H, POLLS_6H = 30, 90, 360, 1_080
"""Queues and channels are polled every 10 s, pools and page sets every 20 s."""
KEPT: Mapping[str, Mapping[str, int]] = {
    "queue": {"depth": POLLS_1H},
    "channel": {"carried_bytes": POLLS_5M, "broken_starts": POLLS_1H},
    "page_set": {"used_pct": POLLS_6H},
}


def queue(site: Site, it: Thing) -> Said:  # noqa: ARG001 - as the others
    """What somebody should act on, of a queue."""
    get = it.values.get
    depth, most, handles = number(get("depth")), number(get("max_depth")), number(get("input_handles"))
    said: Said = []
    if depth is None or most is None:
        said.append(("Q-01", None if most is None or most > 0 else False))
    elif most > 0 and depth >= 0.8 * most:
        said.append(("Q-01", True))
    usage, lifetime = number(get("usage")), number(get("lifetime"))
    if (depth is None or depth > 0) and handles != 0 and usage != 1 and get("role") != 5:
        deep = either(over(depth, 1_000), None if depth is None or most is None else depth > 0.1 * most)
        if deep is not False:
            said.append(("Q-02", both(over(handles, 0), deep, same(usage, 0), it.past["depth"].rising(5))))
    if lifetime is None or lifetime == 0:
        said.append(("Q-05", both(same(lifetime, 0), over(number(get("oldest_msg_age_s")), 300))))
    return [each for each in said if each[1] is not False]


def queue_review(site: Site, it: Thing) -> Said:  # noqa: ARG001 - as the others
    """What somebody should know, of a queue."""
    get = it.values.get
    usage, handles = number(get("usage")), number(get("input_handles"))
    few = reach(1, number(get("depth")))
    if few is False or usage == 1 or it.name.name.startswith("SYSTEM.") or (handles is not None and handles <= 1):
        return []
    lately = it.past["depth"].covered(POLLS_1H)
    truth = both(few, same(usage, 0), over(handles, 1), max(lately) <= 1 if lately else None)
    return [] if truth is False else [("MB-03", truth)]


def channel(site: Site, it: Thing) -> Said:
    """What somebody should act on, of a channel."""
    said: Said = []
    rate = it.past["carried_bytes"].rate(POLLS_5M, site.seconds)
    if rate is None or rate >= 102_400:
        own, total = carried(it), site.carried(it.name.owner)
        part = None if own is None or total is None or total <= 0 else own / total
        said.append(("CHL-13", both(reach(rate, 102_400), over(part, 0.5))))
    said.append(("CHL-15", reach(it.past["broken_starts"].increase(POLLS_1H), 3)))
    return [each for each in said if each[1] is not False]


def carried(it: Thing) -> float | None:
    """The bytes that a channel carried lately."""
    return it.past["carried_bytes"].increase(POLLS_5M)


def pool(site: Site, it: Thing) -> Said:  # noqa: ARG001 - as the others
    """What somebody should act on, of a buffer pool."""
    few = reach(5, number(it.values.get("worst_free_pct")))
    return [] if few is False else [("BP-03", few)]


def pool_review(site: Site, it: Thing) -> Said:
    """What somebody should know, of a buffer pool."""
    queues = site.members.get(it.name, [])
    batch = some(queues, lambda each: same(number(each.values.get("workload")), 1))
    online = some(queues, lambda each: same(number(each.values.get("workload")), 0))
    truth = both(batch, online)
    return [] if truth is False else [("BP-15", truth)]


def page_set(site: Site, it: Thing) -> Said:
    """What somebody should act on, of a page set."""
    used = number(it.values.get("used_pct"))
    ahead = None
    if used is None or 50 <= used < 85:
        ahead = it.past["used_pct"].eta(POLLS_30M, 2 * site.seconds, 85)
    truth = both(reach(used, 50), over(85, used), over(ahead, 0), over(1_800, ahead))
    return [] if truth is False else [("PS-07", truth)]


def page_set_review(site: Site, it: Thing) -> Said:
    """What somebody should know, of a page set."""
    queues = site.members.get(it.name, [])
    filled = over(added(queues, _space), number(it.values.get("total_pages")))
    if filled is False:
        return []
    critical = some(queues, lambda each: same(number(each.values.get("importance")), 1))
    lately = it.past["used_pct"].covered(POLLS_6H)
    full = either(critical, over(number(it.values.get("used_pct")), 10), max(lately) > 10 if lately else None)
    truth = both(filled, full)
    return [] if truth is False else [("PS-06", truth)]


def _space(each: Thing) -> float | None:
    most, pages = number(each.values.get("max_depth")), number(each.values.get("max_msg_pages"))
    return None if most is None or pages is None else most * pages


CONDITIONS: Mapping[str, tuple[Evaluate, Evaluate | None]] = {
    "queue": (queue, queue_review),
    "channel": (channel, None),
    "buffer_pool": (pool, pool_review),
    "page_set": (page_set, page_set_review),
}
RULES = frozenset(("Q-01", "Q-02", "Q-05", "MB-03", "CHL-13", "CHL-15", "BP-03", "BP-15", "PS-06", "PS-07"))

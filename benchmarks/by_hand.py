"""The peer of the rule engine: what a programmer would write for this data alone, without a language, packs or explanations.

Plain dicts of the latest values, the newest polls of what is looked back on, one function a kind (``by_hand_queues`` and the like), and alerts that fire when a
condition has held long enough and end after good polls. Absent is unknown here too. It knows neither late records nor stale values, no facts that
change, no causes and no words about an alert; polls are taken to be equally far apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def times(factor: float, value: float | None) -> float | None:
    """A product."""
    return None if value is None else factor * value


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
    """One object: its latest values, the past of some, and what was said of it last."""

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


Judge = Callable[["Site", Thing], Said]


class Site:
    """All objects, by kind and name.

    ``kept``: kind -> metric -> how many polls are looked back on. ``judges``: kind -> what is asked at every poll, and what at reviews.
    """

    def __init__(
        self,
        facts: Facts,
        kept: Mapping[str, Mapping[str, int]],
        judges: Mapping[str, tuple[Judge, Judge | None]],
        holds: Mapping[str, int],
        seconds: float,
    ) -> None:
        self._facts = facts
        self._kept = kept
        self._judges = judges
        self._holds = holds
        self.seconds = seconds
        self.things: dict[ObjectName, Thing] = {}
        self.by_kind: dict[str, dict[str, list[Thing]]] = {}
        self.members: dict[ObjectName, list[Thing]] = {}
        self.sums: dict[object, float | None] = {}
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
            told = reading.values
            thing.values.update(told)
            for metric, past in thing.past.items():
                if metric in told:
                    past.values.append(number(told[metric]))
            if reading.object.kind == "queue" and not reading.poll:
                sorted_anew = True
            if reading.object.kind == "buffer_pool":
                _take_lowest(thing)
        if sorted_anew:
            self._sort()

    def judge(self, snapshot: Snapshot, *, review_ms: int) -> None:
        """Judge what was polled."""
        now = snapshot.ts
        things = self.things
        for reading in snapshot.readings:
            if not reading.poll:
                continue
            judges = self._judges.get(reading.object.kind)
            if judges is None:
                continue
            thing = things[reading.object]
            thing.said = judges[0](self, thing)
            if judges[1] is not None and now >= thing.next_review:
                thing.reviewed = judges[1](self, thing)
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

    def all(self, kind: str, owner: str) -> list[Thing]:
        """All objects of a kind and owner."""
        return self.by_kind.get(kind, {}).get(owner, [])

    def one(self, owner: str, kind: str) -> Mapping[str, Reported]:
        """The values of the one object of a kind."""
        thing = self.things.get(ObjectName(owner, kind))
        return {} if thing is None else thing.values

    def total(self, kind: str, owner: str, value: Callable[[Thing], float | None], key: str) -> float | None:
        """The sum over all objects of a kind and owner, worked out once a cycle; None where too few are known."""
        place = kind, owner, key
        if place not in self.sums:
            self.sums[place] = added(self.all(kind, owner), value)
        return self.sums[place]

    def _new(self, name: ObjectName) -> Thing:
        thing = Thing(name, self._facts.of(name), self._kept.get(name.kind, {}))
        self.by_kind.setdefault(name.kind, {}).setdefault(name.owner, []).append(thing)
        return thing

    def _sort(self) -> None:
        """Which queues lie on which page set, in which pool, in which structure."""
        self.members = {}
        for owner, queues in self.by_kind["queue"].items():
            for queue in queues:
                for kind in ("page_set", "buffer_pool", "cf_structure"):
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


def _take_lowest(pool: Thing) -> None:
    values = pool.values
    known = [value for value in map(number, (values.get("free_pct"), values.get("low_pct"))) if value is not None]
    if known:
        values["worst_free_pct"] = min(known)

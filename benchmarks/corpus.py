"""Samples of many queues over hours, the same in every run: what the store and its peer are compared on.

Of ten queues four are idle, four lightly used and two busy: in each poll a quarter of the values of the lightly used ones
change, four fifths of those of the busy ones, so that 74 of 100 values are those of the poll before. All are whole
numbers that go up and down by small steps: as differences in bytes, and these compressed by zlib, they take about 0.19
bytes a value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate

START_MS = 1_763_596_800_000
"""A midnight UTC."""
INTERVAL_MS = 10_000
HOUR_MS = 3_600_000
POLLS_AN_HOUR = HOUR_MS // INTERVAL_MS
OWNER = "QM01"

STEPS = {
    "depth": 2,
    "input_handles": 1,
    "output_handles": 1,
    "uncommitted_msgs": 1,
    "oldest_msg_age_s": 2,
    "qtime_us_short": 3,
    "qtime_us_long": 3,
    "last_put_age_s": 2,
    "last_get_age_s": 2,
    "puts": 3,
    "gets": 3,
    "depth_max": 1,
}
"""The metrics, and by how much a value changes at most from one poll to the next."""
METRICS = tuple(STEPS)
_SHARES = (0.25, 0.8)
_BASES = 24
"""Courses of each metric and use: objects begin at different places of them, so that no two have the same values."""
_SEED = 4711


class Corpus:
    """``objects`` queues over ``hours``."""

    def __init__(self, objects: int, hours: int) -> None:
        self.objects = objects
        self.hours = hours
        draw = random.Random(_SEED)
        length = hours * POLLS_AN_HOUR
        self._courses = {
            (share, metric): [_course(draw, share, step, length) for _ in range(_BASES)]
            for share in _SHARES
            for metric, step in STEPS.items()
        }

    @property
    def values(self) -> int:
        """How many values there are."""
        return self.objects * self.hours * POLLS_AN_HOUR * len(METRICS)

    def name(self, number: int) -> str:
        return f"APPL{number % 50:02d}.REQUEST.{number:05d}"

    def series(self, number: int, metric: str, first: int = 0, count: int | None = None) -> Sequence[int]:
        """The values of a metric of an object: ``count`` polls (None: all), from that with the number ``first`` on."""
        count = self.hours * POLLS_AN_HOUR if count is None else count
        use = number % 10
        if use < 4:
            return [number * 7 % 1000] * count
        place = METRICS.index(metric)
        courses = self._courses[_SHARES[use >= 8], metric]
        course = courses[(number + place) % _BASES]
        # Those that share a course are apart in it. It goes on at its beginning.
        begin = (first + number * 131 + place * 17) % len(course)
        found = course[begin : begin + count]
        while len(found) < count:
            found = found + course[: count - len(found)]
        return found

    def polls(self, hour: int) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """The polls of an hour: time, ms UTC, and by object the values in the order of ``METRICS``."""
        first = hour * POLLS_AN_HOUR
        columns = [
            list(zip(*(self.series(number, metric, first, POLLS_AN_HOUR) for metric in METRICS), strict=True))
            for number in range(self.objects)
        ]
        for poll in range(POLLS_AN_HOUR):
            yield START_MS + (first + poll) * INTERVAL_MS, [rows[poll] for rows in columns]


def _course(draw: random.Random, share: float, step: int, length: int) -> list[int]:
    moves = (draw.choice((-1, 1)) * draw.randint(1, step) if draw.random() < share else 0 for _ in range(length - 1))
    return list(accumulate(moves, lambda value, move: abs(value + move), initial=draw.randrange(50 * step)))

"""The samples of objects as the bytes of their series: what all is spent on when a cycle is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from mqvitals_agent.openmetrics.names import Family
from mqvitals_agent.remote_write.protocol import Series, encode_stale, frame_of, pack, series_of, varint
from mqvitals_agent.remote_write.series import LabelsAround, SentMetric
from mqvitals_agent.remote_write.totals import SentTotals, added
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.codec import Cells

_LENGTHS: Final = tuple(varint(length) for length in range(2_048))
"""The lengths that most series have, as they are written."""


class _Prepared(NamedTuple):
    """A metric, ready for many objects: its bit, its totals by number where it is a counter, and its families.

    Of a family whose values are sent as they are stored, the family itself is left out.
    """

    bit: int
    totals: dict[int, float] | None
    polled: tuple[tuple[bytes, Family | None], ...]


class Encoder:
    """Encodes the samples of objects of one kind, of whose metrics those are sent.

    ``times`` are those of the snapshots that are sent: other samples may lie between them, whose turn comes later.
    ``active`` says of each object, by number, which of its metrics the engine has as going on, a bit for each.
    """

    def __init__(
        self,
        sent: Sequence[SentMetric],
        totals: SentTotals,
        times: Mapping[int, int],
        active: dict[int, int],
    ) -> None:
        self._sent = sent
        self._times = times
        self._active = active
        self._prepared = {
            metric.name: _Prepared(
                1 << place,
                totals.of(metric.kind, metric.name) if metric.total else None,
                tuple((each.head, None if each.plain else each.family) for each in metric.polled),
            )
            for place, metric in enumerate(sent)
        }
        self._of_poll = sum(1 << place for place, metric in enumerate(sent) if metric.of_poll)

    def polled(self, number: int, samples: HourSamples, around: LabelsAround) -> Series | None:
        """The series of an object's polls; None: there is nothing to send."""
        ts = samples.ts
        if len(ts) == 1:
            return self._once(number, samples, around) if ts[0] in self._times else None
        if not all(map(self._times.__contains__, ts)):
            samples = _chosen(samples, [place for place, each in enumerate(ts) if each in self._times])
        return self._several(number, samples, around) if samples.ts else None

    def recorded(self, samples: HourSamples, around: LabelsAround) -> Series | None:
        """The series of what records say of an object; None: there is nothing to send."""
        frames = [frame_of(each) for each in samples.ts]
        parts, count = [], 0
        for metric in self._sent:
            cells = samples.values.get(metric.name)
            if cells is not None:
                for sent in metric.recorded:
                    family = None if sent.plain else sent.family
                    encoded, found = _encoded(frames, cells, family)
                    if found:
                        parts.append(series_of(around.before + sent.head + around.behind, encoded))
                        count += found
        return Series(b"".join(parts), count, samples.ts[0], samples.ts[-1]) if parts else None

    def _once(self, number: int, samples: HourSamples, around: LabelsAround) -> Series | None:
        """The series of a single poll, as each cycle brings them."""
        ts = samples.ts[0]
        before, after = frame_of(ts)
        first, behind = around.before, around.behind + before
        size = len(first) + len(behind) + 8 + len(after)
        seen = 0
        parts: list[bytes] = []
        prepared = self._prepared
        for name, cells in samples.values.items():
            cell: Any = cells[0]
            if cell is None:
                continue
            bit, totals, families = prepared[name]
            seen |= bit
            if totals is not None:
                cell = totals[number] = totals.get(number, 0) + cell
            for head, family in families:
                value = cell if family is None else family.value_of(cell)
                if value is None:
                    continue
                length = size + len(head)
                written = _LENGTHS[length] if length < len(_LENGTHS) else varint(length)
                parts.append(b"\n%b%b%b%b%b%b" % (written, first, head, behind, pack(value), after))
        active = self._active.get(number, 0)
        if active & ~seen and samples.polled[0]:
            # Without any value there was no answer at all.
            ends = active & ~seen & (self._of_poll if seen else -1)
            if ends:
                parts += ends_of(self._sent, ends, around, ts)
                active &= ~ends
        self._active[number] = active | seen
        return Series(b"".join(parts), len(parts), ts, ts) if parts else None

    def _several(self, number: int, samples: HourSamples, around: LabelsAround) -> Series | None:
        """The series of several polls, as a backlog brings them."""
        ts, polled = samples.ts, samples.polled
        frames = [frame_of(each) for each in ts]
        active = self._active.get(number, 0)
        every = list(samples.values.values())
        unanswered = frozenset(
            place for place, own in enumerate(polled) if own and all(cells[place] is None for cells in every)
        )
        parts, count = [], 0
        for metric in self._sent:
            bit, totals, families = self._prepared[metric.name]
            cells: Cells | None = samples.values.get(metric.name)
            missing = len(ts) if cells is None else cells.count(None)
            if missing == len(ts) and not active & bit:
                continue
            ends: list[int] = []
            if missing:
                cells = cells or (None,) * len(ts)
                goes_on = bool(active & bit)
                for place, cell in enumerate(cells):
                    if cell is not None:
                        goes_on = True
                    elif goes_on and (place in unanswered or (metric.of_poll and polled[place])):
                        ends.append(place)
                        goes_on = False
            else:
                goes_on = True
            assert cells is not None, "a metric without cells is all missing"
            if totals is not None:
                cells = added(totals, number, cells)
            for head, family in families:
                encoded, found = _encoded(frames, cells, family, {place: ts[place] for place in ends})
                if found:
                    parts.append(series_of(around.before + head + around.behind, encoded))
                    count += found
            active = active | bit if goes_on else active & ~bit
        self._active[number] = active
        return Series(b"".join(parts), count, ts[0], ts[-1]) if parts else None


def ends_of(sent: Sequence[SentMetric], ends: int, around: LabelsAround, ts: int) -> list[bytes]:
    """The markers that the series of those metrics of an object end whose bits are in ``ends``."""
    return [
        series_of(around.before + each.head + around.behind, encode_stale(ts))
        for place, metric in enumerate(sent)
        if ends >> place & 1
        for each in metric.polled
    ]


def _encoded(
    frames: Sequence[tuple[bytes, bytes]],
    cells: Sequence[Any],
    family: Family | None,
    ends: Mapping[int, int] | None = None,
) -> tuple[bytes, int]:
    """The samples of a series and how many they are: one for each cell that is there, a marker where it ends."""
    values = cells
    if family is not None:
        values = [None if cell is None else family.value_of(cell) for cell in cells]
    if not ends:
        found = [
            b"%b%b%b" % (before, pack(value), after)
            for value, (before, after) in zip(values, frames, strict=True)
            if value is not None
        ]
        return b"".join(found), len(found)
    found = []
    for place, (value, (before, after)) in enumerate(zip(values, frames, strict=True)):
        if value is not None:
            found.append(b"%b%b%b" % (before, pack(value), after))
        elif place in ends:
            found.append(encode_stale(ends[place]))
    return b"".join(found), len(found)


def _chosen(samples: HourSamples, places: Sequence[int]) -> HourSamples:
    """The samples at some places."""
    return HourSamples(
        [samples.ts[place] for place in places],
        [samples.intervals[place] for place in places],
        [samples.polled[place] for place in places],
        {name: [cells[place] for place in places] for name, cells in samples.values.items()},
    )

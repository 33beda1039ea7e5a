"""The vocabulary's lines for one kind and one answer, compiled: from a message's wanted values to metrics.

Answers of one command hold one of a few sets of parameters, nearly always with values of the expected types, so the
metrics are fetched in two calls (numbers, texts) and checked as a whole; values of other types go the careful way,
one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.constants import MQCFT_INTEGER, MQCFT_INTEGER_LIST, MQCFT_STRING
from mqvitals_agent.pcf.message import MessageValues as Decoded
from mqvitals_agent.pcf.message import ParameterLayout, Value
from mqvitals_agent.pcf.names import parameter_number
from mqvitals_agent.poll.column_code import (
    PairPlace,
    ReadColumn,
    ReadTimes,
    TimePlace,
    column_reader,
    times_reader,
)
from mqvitals_rules.vocabulary.metric import LARGEST, Absence, Kind, Metric, MetricType, Reported, within_range

NOT_RETURNED = Absence.NOT_RETURNED
_PCF = re.compile(r"(MQ\w+)(?:\[([01])\])?")
_TIMES = re.compile(r"MQ\w+_DATE MQ\w+_TIME")
_INT = {int}
_STR = {str}

ParameterValues = Mapping[int, Value]
Specials = tuple[tuple[str, Mapping[Any, Absence]], ...]
MetricValues = dict[str, Reported]


class TimeColumns(NamedTuple):
    """A date and time in an answer, and their metrics: the text as reported and the age (either may be "")."""

    date: int
    time: int
    text: str
    age: str


LocalTimes = Mapping[str, int]
"""Metric of an age -> the local time, ms, that it is to be computed from once the zone is known."""

_PARAMETERS = 256
"""Sets of parameters kept: an answer has a handful, a hostile one could have any number."""


class _Fetch(NamedTuple):
    """How the metrics are fetched from values with a certain set of parameters.

    ``row`` has them all, in their order, absent.
    """

    row: MetricValues
    number_names: tuple[str, ...]
    numbers: Callable[[Any], tuple[Any, ...]]
    text_names: tuple[str, ...]
    texts: Callable[[Any], tuple[Any, ...]]


def _fetcher(ids: tuple[int, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if not ids:
        return lambda _: ()
    if len(ids) == 1:
        (only,) = ids
        return lambda values: (values[only],)
    return itemgetter(*ids)


class ParameterPicker:
    """Picks the values of some parameters out of messages, in the order of ``ids``; None for an absent one."""

    def __init__(self, *ids: int) -> None:
        self._ids = ids
        self._takes: dict[ParameterLayout, Callable[[Any], tuple[Any, ...]]] = {}

    def __call__(self, item: DecodedReply) -> tuple[Value | None, ...]:
        """The values that this message has."""
        if not isinstance(item, Decoded) or item.layout is None:
            return tuple([item.get(number) for number in self._ids])
        take = self._takes.get(item.layout)
        if take is None:
            take = self._take(item.layout)
        return take(item.column)

    def _take(self, layout: ParameterLayout) -> Callable[[Any], tuple[Any, ...]]:
        found = [layout.places.get(number) for number in self._ids]
        there = tuple(place for place in found if place is not None)
        if len(there) == len(found):
            take = _fetcher(there)
        else:
            # What is absent is looked for behind the last value, where there is None.
            padded = _fetcher(tuple(-1 if place is None else place for place in found))
            take = lambda column: padded((*column, None))  # noqa: E731
        if len(self._takes) >= _PARAMETERS:
            self._takes.clear()
        self._takes[layout] = take
        return take


class MetricColumns:
    """How to read the metrics of ``kind`` that the answer ``command`` fills straight from parameters.

    ``only`` restricts them to some names, for answers of several kinds of items. Metrics that the vocabulary calls
    computed are left to the probe, but for times, which name two parameters, ``..._DATE ..._TIME``. ``platform`` is
    ``zos`` or ``distributed``; metrics of the other one are absent for that reason. ``wanted`` are the parameters
    needed.
    """

    def __init__(self, kind: Kind, command: str, *, only: Iterable[str] | None = None, platform: str = "zos") -> None:
        chosen = None if only is None else frozenset(only)
        metrics = [m for m in kind.metrics if m.command == command and (chosen is None or m.name in chosen)]
        elsewhere = Absence.NOT_ON_ZOS if platform == "zos" else Absence.NOT_ON_DISTRIBUTED
        self._elsewhere: MetricValues = {m.name: elsewhere for m in metrics if m.platform not in ("all", platform)}
        here = [m for m in metrics if m.name not in self._elsewhere]
        numbers, texts, self._pairs = _plain(kind, here)
        self.times = _times(kind, here)
        self.wanted = frozenset(
            [number for _, number in (*numbers, *texts)]
            + [number for _, number, _ in self._pairs]
            + [number for times in self.times for number in times[:2]]
        )
        self.names = tuple(
            m.name for m in metrics if not m.computed or m.name in {n for t in self.times for n in t[2:]}
        )
        self.counters = tuple(m.name for m in here if m.type is MetricType.COUNTER)
        self._numbers, self._texts = numbers, texts
        self._fetches: dict[tuple[int, ...], _Fetch] = {}
        self._readers: dict[tuple[ParameterLayout, bool, bool], ReadColumn | None] = {}
        self._time_readers: dict[ParameterLayout, ReadTimes] = {}
        # Of values that are no column of a layout: date and time of each in turn.
        self._times_of_values = times_reader(
            [TimePlace(2 * place, 2 * place + 1, each.text, each.age) for place, each in enumerate(self.times)],
            NOT_RETURNED,
        )
        special = [m for m in here if m.special]
        self._unmonitored = tuple((m.name, m.special) for m in special)
        self._monitored = tuple((m.name, {n: _monitored(a) for n, a in m.special.items()}) for m in special)

    def read(self, values: ParameterValues, *, long_first: bool = False, monitored: bool = False) -> MetricValues:
        """The metrics of one item. What is not in it, or has another type than it should, is absent as not returned.

        ``long_first`` says that the pairs come as distributed queue managers order them, long-term first. ``monitored``
        says that monitoring is on: a number that stands for "not available" then means that there is no value yet.
        """
        parameters = tuple(values)
        fetch = self._fetches.get(parameters) or self._fetch(parameters)
        numbers = fetch.numbers(values)
        texts = fetch.texts(values)
        if (
            set(map(type, numbers)) <= _INT
            and set(map(type, texts)) <= _STR
            and min(numbers, default=0) >= -LARGEST
            and max(numbers, default=0) <= LARGEST
        ):
            row = fetch.row.copy()
            row.update(zip(fetch.number_names, numbers, strict=True))
            row.update(zip(fetch.text_names, texts, strict=True))
        else:
            row = self._careful(values)
        for name, number, index in self._pairs:
            pair = values.get(number)
            if type(pair) is tuple and len(pair) == 2 and type(half := pair[index ^ long_first]) is int:
                row[name] = half if -LARGEST <= half <= LARGEST else within_range(half)
            else:
                row[name] = NOT_RETURNED
        for name, special in self._monitored if monitored else self._unmonitored:
            value = row[name]
            if value in special:
                row[name] = special[value]  # type: ignore[index]
        if self._elsewhere:
            row.update(self._elsewhere)
        return row

    def read_item(self, item: DecodedReply, *, long_first: bool = False, monitored: bool = False) -> MetricValues:
        """As ``read``, of the values of a message."""
        if not isinstance(item, Decoded) or item.layout is None:
            return self.read(item.values, long_first=long_first, monitored=monitored)
        key = item.layout, long_first, monitored
        try:
            reader = self._readers[key]
        except KeyError:
            if len(self._readers) >= _PARAMETERS:
                self._readers.clear()
            reader = self._readers[key] = self._reader(item.layout, long_first=long_first, monitored=monitored)
        if reader is None:
            return self.read(item.values, long_first=long_first, monitored=monitored)
        return reader(item.column)

    def _reader(self, layout: ParameterLayout, *, long_first: bool, monitored: bool) -> ReadColumn | None:
        """The function for a layout; None when a parameter's structure does not fit its metric."""
        places, types = layout.places, layout.types
        expected = [
            *((number, MQCFT_INTEGER) for _, number in self._numbers),
            *((number, MQCFT_STRING) for _, number in self._texts),
            *((number, MQCFT_INTEGER_LIST) for _, number, _ in self._pairs),
        ]
        if any(types[places[number]] != kind for number, kind in expected if number in places):
            return None
        plain = {name: places[number] for name, number in (*self._numbers, *self._texts) if number in places}
        pairs: dict[int, list[tuple[str, int]]] = {}
        for name, number, index in self._pairs:
            if number in places:
                pairs.setdefault(places[number], []).append((name, index ^ long_first))
        found = plain.keys() | {name for halves in pairs.values() for name, _ in halves}
        names = [name for name, _ in (*self._numbers, *self._texts)] + [name for name, _, _ in self._pairs]
        special = self._monitored if monitored else self._unmonitored
        return column_reader(
            {**dict.fromkeys(names, NOT_RETURNED), **self._elsewhere},
            plain,
            [PairPlace(place, halves) for place, halves in pairs.items()],
            {name: values for name, values in special if name in found},
        )

    def read_times(
        self, values: ParameterValues, row: MetricValues, blank: Absence = Absence.NOTHING_TO_TELL
    ) -> LocalTimes:
        """Put the times into ``row``: the text, and the age as time zone unknown; returns what ages are to be made of.

        A blank time is absent for the reason ``blank``.
        """
        return self._times_of_values([values.get(number) for each in self.times for number in each[:2]], row, blank)

    def read_item_times(
        self, item: DecodedReply, row: MetricValues, blank: Absence = Absence.NOTHING_TO_TELL
    ) -> LocalTimes:
        """As ``read_times``, of the values of a message."""
        if not isinstance(item, Decoded) or item.layout is None:
            return self.read_times(item.values, row, blank)
        reader = self._time_readers.get(item.layout)
        if reader is None:
            if len(self._time_readers) >= _PARAMETERS:
                self._time_readers.clear()
            places = item.layout.places
            reader = self._time_readers[item.layout] = times_reader(
                [TimePlace(places.get(date), places.get(time), text, age) for date, time, text, age in self.times],
                NOT_RETURNED,
            )
        return reader(item.column, row, blank)

    def _fetch(self, parameters: tuple[int, ...]) -> _Fetch:
        there = frozenset(parameters)
        numbers = [each for each in self._numbers if each[1] in there]
        texts = [each for each in self._texts if each[1] in there]
        if len(self._fetches) >= _PARAMETERS:
            self._fetches.clear()
        found = self._fetches[parameters] = _Fetch(
            dict.fromkeys([name for name, _ in (*self._numbers, *self._texts)], NOT_RETURNED),
            tuple(name for name, _ in numbers),
            _fetcher(tuple(number for _, number in numbers)),
            tuple(name for name, _ in texts),
            _fetcher(tuple(number for _, number in texts)),
        )
        return found

    def _careful(self, values: ParameterValues) -> MetricValues:
        row: MetricValues = {}
        for name, number in self._numbers:
            value = values.get(number)
            row[name] = within_range(value) if type(value) is int else NOT_RETURNED
        for name, number in self._texts:
            row[name] = _text(values.get(number))
        return row


def columns_by_platform(kind: Kind, command: str, *, only: Iterable[str] | None = None) -> Mapping[bool, MetricColumns]:
    """The columns for distributed queue managers (True) and for those on z/OS (False); ``only`` some metrics."""
    return {
        False: MetricColumns(kind, command, only=only, platform="zos"),
        True: MetricColumns(kind, command, only=only, platform="distributed"),
    }


def metric_parameter(kind: Kind, metric: Metric, name: str) -> int:
    """The number of a parameter that a metric of the vocabulary names. Raises Failure when it has no constant."""
    try:
        return parameter_number(name)
    except KeyError:
        raise Failure(
            f"the metric {kind.name}.{metric.name} names the parameter {name}, which mqvitals_agent/pcf/constants.py"
            " does not have",
            hint="add the constant with the number of IBM's header files, or correct the metric in"
            " mqvitals_rules/vocabulary",
            code=ExitCode.BUG,
        ) from None


def _plain(
    kind: Kind,
    metrics: Sequence[Metric],
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...], tuple[tuple[str, int, int], ...]]:
    numbers: list[tuple[str, int]] = []
    texts: list[tuple[str, int]] = []
    pairs: list[tuple[str, int, int]] = []
    for metric in metrics:
        found = _PCF.fullmatch(metric.pcf)
        if metric.computed or found is None:
            continue
        number = metric_parameter(kind, metric, found[1])
        if found[2] is not None:
            pairs.append((metric.name, number, int(found[2])))
        elif metric.type is MetricType.TEXT:
            texts.append((metric.name, number))
        else:
            numbers.append((metric.name, number))
    return tuple(numbers), tuple(texts), tuple(pairs)


def _times(kind: Kind, metrics: Sequence[Metric]) -> tuple[TimeColumns, ...]:
    found: dict[str, list[Metric]] = {}
    for metric in metrics:
        if _TIMES.fullmatch(metric.pcf):
            found.setdefault(metric.pcf, []).append(metric)
    made = []
    for both, of_time in found.items():
        names = {metric.type is MetricType.TEXT: metric.name for metric in of_time}
        date, time = (metric_parameter(kind, of_time[0], name) for name in both.split())
        made.append(TimeColumns(date, time, names.get(True, ""), names.get(False, "")))
    return tuple(made)


def _monitored(absence: Absence) -> Absence:
    return Absence.NOTHING_TO_TELL if absence is Absence.NOT_COLLECTED else absence


def _text(value: Value | None) -> Reported:
    if type(value) is str:
        return value
    if type(value) is tuple:
        return " ".join(str(part) for part in value if type(part) is str or type(part) is int)
    return NOT_RETURNED

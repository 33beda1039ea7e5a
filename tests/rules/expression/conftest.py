"""A small vocabulary of its own, and contexts made of plain dicts, so that the language is tested apart from the real tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from mqvitals_rules.expression import Context, Expression, compile_expression
from mqvitals_rules.expression.context import MemberSet, Unplaced
from mqvitals_rules.history import ObjectMessage, Point, covered_values
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported, Value


def _gauge(name: str, unit: str = "count", *, declared: bool = False, default: Value | None = None) -> Metric:
    return Metric(name, unit, MetricType.GAUGE, name, declared=declared, default=default)


def _counter(name: str) -> Metric:
    return Metric(name, "count", MetricType.COUNTER, name)


def _state(name: str, values: Mapping[str, int], *, declared: bool = False, default: Value | None = None) -> Metric:
    return Metric(name, "", MetricType.STATE, name, values=values, declared=declared, default=default)


def _text(name: str, *, declared: bool = False) -> Metric:
    return Metric(name, "", MetricType.TEXT, name, declared=declared)


_NO_YES = {"NO": 0, "YES": 1}
_STATUS = {"INACTIVE": 0, "RUNNING": 3, "RETRYING": 5, "STOPPED": 6}
_PURPOSES = {"system": 0, "system_deep": 2, "short_lived": 4, "mixed": 8, "unclassified": 9}

_KINDS = (
    Kind(
        "channel",
        "a channel",
        "INQUIRE_CHANNEL_STATUS",
        (
            _state("status", _STATUS),
            _state("indoubt", _NO_YES),
            _gauge("short_left"),
            _gauge("batchsz"),
            _gauge("xbatchsz_short"),
            _gauge("xmitq_msgs"),
            _gauge("nettime_us_short", "us"),
            _gauge("nettime_us_long", "us"),
            _gauge("nettime_max_us", "us"),
            _gauge("nettime_avg_us", "us"),
            _gauge("ping_us", "us", declared=True),
            _counter("msgs"),
            _counter("batches"),
            _text("xmitq"),
            _text("local_address"),
        ),
    ),
    Kind(
        "queue",
        "a queue",
        "INQUIRE_Q_STATUS",
        (
            _gauge("depth", "messages"),
            _gauge("max_depth", "messages"),
            _gauge("input_handles"),
            _state("usage", {"NORMAL": 0, "XMITQ": 1}),
            _state("role", {"unspecified": 0, "batch": 5}, declared=True, default=0),
            _state("trigger", {"OFF": 0, "ON": 1}),
            _gauge("priority", declared=True),
            _text("pair", declared=True),
        ),
    ),
    Kind(
        "buffer_pool",
        "a buffer pool",
        "INQUIRE_USAGE",
        (_gauge("worst_free_pct", "pct"), _state("purpose", _PURPOSES, declared=True, default=9)),
        sets={
            "SHORT": ("purpose", ("system", "short_lived", "mixed", "unclassified")),
            "LONG": ("purpose", ("system_deep",)),
        },
    ),
    Kind("page_set", "a page set", "INQUIRE_USAGE", (_gauge("used_pct", "pct"), _gauge("total_pages"))),
    Kind(
        "cf_structure",
        "a structure",
        "INQUIRE_CF_STRUC_STATUS",
        (
            _state("type", {"application": 0, "admin": 1}),
            _gauge("entries_pct", "pct"),
            _gauge("size_used_pct", "pct"),
            _gauge("entries_used"),
            _gauge("entries_max"),
            _gauge("full_threshold_pct", "pct", declared=True, default=80),
        ),
        of_group=True,
    ),
    Kind("qsg", "the group", "INQUIRE_QSG", (_gauge("qmgr_count"),), single=True, of_group=True),
    Kind(
        "channel_initiator",
        "the channel initiator",
        "INQUIRE_CHANNEL_INIT",
        (
            _state("status", {"STOPPED": 0, "RUNNING": 2}),
            _gauge("adapters_unused"),
            _gauge("chiadaps"),
            _gauge("adapters_max"),
            _gauge("adapters_started"),
        ),
        single=True,
    ),
)


class _Members:
    """Contexts as an object's members."""

    def __init__(self, contexts: Sequence[_Context]) -> None:
        self.contexts = contexts
        self.notes: dict[object, Any] = {}
        self.doubt: Absence | None = None
        self.unplaced: Sequence[Unplaced] = ()

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        for context in self.contexts:
            yield context, context.values

    def named(self, name: str) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        return ((context, context.values) for context in self.contexts if context.name == name)


class _Context:
    """Values by ``metric`` or ``kind.metric``; polls by metric, one a minute up to ``now``.

    ``company`` are the contexts of the members of each kind, ``told`` the console messages, ``usual`` the baselines, ``totals`` the sums.
    """

    def __init__(
        self,
        values: Mapping[str, Reported],
        past: Mapping[str, Sequence[float | None]],
        every_ms: int,
        *,
        name: str = "",
        company: Mapping[str, Sequence[_Context]] = {},
        pair: _Context | None = None,
        told: Sequence[ObjectMessage] | None = None,
        usual: Mapping[str, float] = {},
        totals: Mapping[str, float] = {},
    ) -> None:
        self.now = 1_700_000_000_000
        self.asked: list[str] = []
        self.name = name
        self.this: Context = self
        self.values = values
        self._values = values
        self._past = past
        self._every_ms = every_ms
        self._company = {kind: _Members(contexts) for kind, contexts in company.items()}
        self._pair = pair
        self._told = told
        self._usual = usual
        self._totals = totals
        for contexts in company.values():
            for member in contexts:
                member.this = self

    @property
    def pair(self) -> Context:
        return self._pair or InstantContext(lambda *_: Absence.NOT_DECLARED, self.now)

    def baseline(self, kind: str, metric: str, *, counter: bool) -> float | None:
        return self._usual.get(f"{metric}/s" if counter else metric)

    def total(self, kind: str, metric: str, window_ms: int) -> float | None:
        self.asked.append(f"total of {metric} over {window_ms}")
        return self._totals.get(metric)

    def members(self, kind: str) -> MemberSet:
        self.asked.append(f"members {kind}")
        return self._company.get(kind) or _Members(())

    def messages(self, ids: frozenset[str], since_ms: int, *, quiet: bool = False) -> Sequence[ObjectMessage] | None:
        if self._told is None:
            return None
        return [message for message in self._told if message.id in ids and message.ts > since_ms]

    def value(self, kind: str, metric: str) -> Reported:
        self.asked.append(metric)
        return self._values.get(f"{kind}.{metric}", self._values.get(metric, Absence.NOT_ASKED))

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        return [point for point in self._all(metric) if point.ts > since_ms]

    def covered(self, kind: str, metric: str, window_ms: int) -> Sequence[float]:
        since = self.now - window_ms
        return covered_values(self.points(kind, metric, since), since, window_ms)

    def last(self, kind: str, metric: str, n: int) -> Sequence[Point]:
        return self._all(metric)[-n:]

    def _all(self, metric: str) -> list[Point]:
        self.asked.append(f"past of {metric}")
        values = self._past.get(metric, ())
        begin = self.now - self._every_ms * (len(values) - 1)
        return [Point(begin + self._every_ms * index, value, self._every_ms) for index, value in enumerate(values)]


@pytest.fixture(scope="session")
def kinds() -> Mapping[str, Kind]:
    """The small vocabulary."""
    return {kind.name: kind for kind in _KINDS}


@pytest.fixture(scope="session")
def compiled(kinds: Mapping[str, Kind]) -> Callable[..., Expression]:
    """``compiled(text, kind="queue", **parameters)``."""

    def make(text: str, kind: str = "queue", **parameters: float) -> Expression:
        return compile_expression(text, kinds[kind], kinds, parameters)

    return make


@pytest.fixture(scope="session")
def context() -> Callable[..., Context]:
    """``context({"depth": 3}, {"depth": [1, 2, 3]}, every_ms=60_000)``."""

    def make(
        values: Mapping[str, Reported] = {},
        past: Mapping[str, Sequence[float | None]] = {},
        every_ms: int = 60_000,
        **more: Any,
    ) -> Context:
        return _Context(values, past, every_ms, **more)

    return make

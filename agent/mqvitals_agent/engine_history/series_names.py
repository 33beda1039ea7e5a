"""Which series of an engine are those of an object's metrics, and which object and metric a series is of.

An object is known by the labels that it has for good: its owner, its name, and the site's labels. Others, such as a queue's
description, change over time, and with each change the engine has another series of the same object.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from mqvitals_agent.engine_history.answer import NAME, AnsweredSeries
from mqvitals_agent.openmetrics.names import (
    Family,
    families_of,
    identity_labels,
    label_names,
    object_of_labels,
)
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

_SOURCE: Final = "source"
_SCRAPED: Final = ("instance", "job")
"""Labels of what Prometheus scrapes, from ``/metrics`` too: samples of other times, and totals of their own."""
_SPECIAL: Final = frozenset("\\.+*?()|[]{}^$")
_RECORDED: Final = {source.name.lower(): source for source in Source if source is not Source.POLL}


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """The series of a metric: the family whose values its own can be made of, and the names of its samples as polls and as
    records. ``total``: as polls they are running totals.
    """

    metric: str
    family: Family
    polled: str
    recorded: str
    total: bool


class SeriesSubject(NamedTuple):
    """What a series is of."""

    object: ObjectName
    metric: MetricSeries
    source: Source


def series_of_metric(kind: Kind, metric: str) -> MetricSeries | None:
    """The series of a metric; None: an engine has none of it."""
    known = kind.metric(metric)
    family = next((each for each in families_of(kind, known) if each.invertible), None) if known is not None else None
    if known is None or family is None or not known.in_history:
        return None
    total = known.type is MetricType.COUNTER
    return MetricSeries(metric, family, family.sample, f"{family.name}_increase" if total else family.sample, total)


def poll_metric(kind: Kind) -> str | None:
    """A metric that each answered poll of a kind has: its series says when polls were answered. None: there is none."""
    return next(
        (
            each.name
            for each in kind.metrics
            if each.command == kind.poll
            and each.in_history
            and each.type is not MetricType.COUNTER
            and not each.since
            and series_of_metric(kind, each.name) is not None
        ),
        None,
    )


def quoted(text: str) -> str:
    """A text as PromQL writes it, between quotation marks."""
    found = []
    for character in text:
        if character in '"\\':
            found.append(f"\\{character}")
        elif character.isprintable():
            found.append(character)
        else:
            code = ord(character)
            found.append(f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
    return f'"{"".join(found)}"'


def literal(text: str) -> str:
    """A regular expression that matches a text alone."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)


class SeriesNames:
    """Makes selectors of objects and metrics, and finds what an answered series is of.

    ``external`` are the labels that were sent with all samples. ``groups`` are the owners that are queue-sharing groups.
    """

    def __init__(
        self, external: Mapping[str, str], groups: Collection[str] = (), kinds: Mapping[str, Kind] = KINDS
    ) -> None:
        self._external = external
        self._groups = frozenset(groups)
        self._kinds = kinds

    def metrics(self, kind: str, wanted: Sequence[str]) -> tuple[MetricSeries, ...]:
        """The series of those metrics of a kind that an engine can have."""
        found = (series_of_metric(self._kinds[kind], each) for each in wanted)
        return tuple(each for each in found if each is not None)

    def selector(self, names: Sequence[ObjectName], metrics: Sequence[MetricSeries], *, polled: bool = False) -> str:
        """The selector of all series of some objects of one kind and owner: of polls and of records, or of polls alone.

        Where names have several parts it may also select others. Raises ValueError without any.
        """
        if not names or not metrics:
            raise ValueError("nothing is to be selected")
        values: dict[str, dict[str, None]] = {}
        for name in names:
            for label, value in identity_labels(name, self._groups):
                values.setdefault(label, {})[value] = None
        matchers = [_matcher(label, tuple(of_label)) for label, of_label in values.items()]
        return self._selector(names[0].kind, metrics, matchers, polled=polled)

    def selector_of_kind(self, kind: str, metric: MetricSeries, *, recorded: bool = False) -> str:
        """The selector of the series of a metric of all objects of a kind: of polls, or of ``recorded`` intervals."""
        if recorded:
            sources = _matcher(_SOURCE, tuple(_RECORDED))
            return self._selector(kind, (replace(metric, polled=metric.recorded),), [sources], polled=False)
        return self._selector(kind, (metric,), [], polled=True)

    def _selector(
        self, kind: str, metrics: Sequence[MetricSeries], matchers: Sequence[str], *, polled: bool = False
    ) -> str:
        known = label_names(kind)
        named = dict.fromkeys(
            name for each in metrics for name in ((each.polled,) if polled else (each.polled, each.recorded))
        )
        every = [_matcher(NAME, tuple(named)), *matchers]
        external = {label: value for label, value in self._external.items() if label not in known}
        if polled:
            external.setdefault(_SOURCE, "")
        elif _SOURCE in external:
            # Records have a source of their own.
            del external[_SOURCE]
        every += [_matcher(label, (value,)) for label, value in sorted(external.items())]
        every += [_matcher(label, ("",)) for label in _SCRAPED if label not in external and label not in known]
        return f"{{{','.join(every)}}}"

    def subject(self, kind: str, series: AnsweredSeries, metrics: Sequence[MetricSeries]) -> SeriesSubject | None:
        """What an answered series is of; None: nothing that was asked for."""
        name = object_of_labels(kind, series.labels)
        if name is None:
            return None
        word = series.labels.get(_SOURCE, "")
        source = Source.POLL if word == self._external.get(_SOURCE, "") else _RECORDED.get(word)
        if source is None:
            return None
        for each in metrics:
            if series.name == (each.polled if source is Source.POLL else each.recorded):
                return SeriesSubject(name, each, source)
        return None


def _matcher(label: str, values: Sequence[str]) -> str:
    """What matches these values of a label: none is matched by a series without it."""
    if len(values) == 1:
        return f"{label}={quoted(values[0])}"
    return f"{label}=~{quoted('|'.join(map(literal, values)))}"

"""When the figures of ``mqvitals trend --forecast`` reach a limit: full, the nearest threshold of a rule, or one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import figure, moment, shown_zone, stamp, zone_name
from mqvitals_agent.text.terminal import csv_cell, safe, wrap
from mqvitals_agent.view.figures.buckets import Parts, bucket_edges
from mqvitals_agent.view.figures.course import LONGEST_MS, LimitForecast, forecast
from mqvitals_agent.view.figures.forecast import FILLING
from mqvitals_agent.view.figures.trend import Aggregate, Trend, is_known, shown_points, shown_words
from mqvitals_agent.view.figures.values import number_in
from mqvitals_agent.view.trend.selection import SeamedTrend, Selection, read_seamed
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import thresholds_of
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.metric import Metric, MetricType

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.ruleset.ruleset import RuleSet

CSV_HEADER: Final = "object,metric,limit,of,at,earliest,latest,by,reason"
GIVEN: Final = "--limit"
FULL: Final = "full"


@dataclass(frozen=True, slots=True)
class Limit:
    """A value that a figure may reach, ``falls``: from above; ``of`` is what sets it: a rule's id, ``full`` or an option."""

    value: float
    of: str
    falls: bool = False


@dataclass(frozen=True, slots=True)
class FigureForecast:
    """When a figure of an object reaches its limit; None: it has none. ``view`` is the series without its points."""

    view: Trend
    limit: Limit | None
    found: LimitForecast


def limit_of(
    metric: Metric,
    kind: str,
    values: Mapping[str, CurrentValue],
    rules: Iterable[CompiledRule],
    newest: float | None,
    given: float | None,
) -> Limit | None:
    """The limit that a forecast is about: the one that is ``given``, else where it is full, else the nearest threshold of
    the object's rules that is not reached yet. None: there is none.
    """
    if given is not None:
        return Limit(given, GIVEN, falls=newest is not None and newest > given)
    if metric.type is not MetricType.GAUGE:
        return None
    filling = FILLING.get(kind)
    if filling is not None and filling.metric == metric.name:
        full = number_in(values.get(filling.of)) if filling.of else 100.0
        # The greatest depth that there is means that the queue has no limit.
        return Limit(full, FULL) if full and full > 0 and not metric.word_of(full) else None
    numbers = {name: latest.value for name, latest in values.items()}
    bounds = [each for each in thresholds_of(rules, kind, numbers) if each.metric == metric.name]
    ahead = [each for each in bounds if newest is None or not each.reached_by(newest)]
    nearest = min(ahead, key=lambda each: abs(each.value - (newest or 0.0)), default=None)
    return None if nearest is None else Limit(nearest.value, nearest.rule, falls=nearest.low_is_bad)


def read_forecasts(
    reader: StoreReader, chosen: Selection, rules: RuleSet, now: int, given: float | None
) -> Iterator[FigureForecast]:
    """The forecast of each series as of ``now`` (ms UTC), from up to four weeks of its past: where samples are rolled up, by
    the hours. Raises StoreError.
    """
    span = TimeRange(now - LONGEST_MS, now)
    parts = Parts(bucket_edges(span, HOUR_MS, UTC), HOUR_MS, Aggregate.AVG)
    for each in read_seamed(reader, chosen, span, parts):
        name = each.view.object
        yield forecast_of(each, reader.current(name), rules.rules_for(name), given)


def forecast_of(
    seamed: SeamedTrend, values: Mapping[str, CurrentValue], rules: Iterable[CompiledRule], given: float | None
) -> FigureForecast:
    """The forecast of a series as of its end; ``values`` are the newest ones of its object, by metric."""
    view = seamed.view
    now, metric = view.span.until, view.metric
    bare = replace(view, points=(), intervals=())
    if metric.type is MetricType.STATE:
        return FigureForecast(bare, None, LimitForecast(None, reason="a state reaches no limit"))
    points = shown_points(view)
    newest = next((value for _, value in reversed(points) if is_known(value)), None)
    limit = limit_of(metric, view.object.kind, values, rules, newest, given)
    if limit is None:
        return FigureForecast(bare, None, LimitForecast(None, reason="no limit of it is known: name one with --limit"))
    begins = [*(ts for ts, _ in (seamed.hours or ())[:1]), *(ts for ts, _ in points[:1])]
    # An hour that is not over is no mean of an hour yet.
    edges = bucket_edges(TimeRange(min(begins), now), HOUR_MS, UTC)[:-1] if begins else []
    hourly = seamed.shown(Parts(edges, HOUR_MS, Aggregate.AVG)).points if len(edges) > 1 else ()
    found = forecast(hourly, points, now, limit.value, shown_zone(), falls=limit.falls)
    return FigureForecast(bare, limit, found)


def forecast_words(each: FigureForecast) -> str:
    """``reaches 100 % (full) about 2026-12-03 14:00:00 UTC, between ... and ..., by the daily course of 9 days``."""
    found, limit = each.found, each.limit
    if found.at is None or limit is None:
        about = "" if limit is None else f" of {_limit_words(each.view, limit)}"
        return f"no forecast{about}: {found.reason}"
    earliest = "" if found.earliest is None else moment(found.earliest)
    latest = "later than can be told" if found.latest is None else moment(found.latest)
    return (
        f"reaches {_limit_words(each.view, limit)} about {moment(found.at)} {zone_name(found.at)}, between {earliest} and"
        f" {latest}, by {found.by}"
    )


def _limit_words(view: Trend, limit: Limit) -> str:
    words = (
        shown_words(view)(limit.value) if view.metric.type is MetricType.COUNTER else figure(limit.value, view.metric)
    )
    return words if limit.of == GIVEN else f"{words} ({limit.of})"


def forecast_lines(found: Iterable[FigureForecast], width: int) -> Iterator[str]:
    """The forecasts in words."""
    for each in found:
        yield from wrap(
            f"{safe(str(each.view.object))} {each.view.metric.name}: {forecast_words(each)}", width, rest="  "
        )


def forecast_json(each: FigureForecast) -> dict[str, Any]:
    """``{"limit", "of", "at", "earliest", "latest", "by"}``, or with ``at`` null and the ``reason``."""
    found, limit = each.found, each.limit
    return {
        "limit": None if limit is None else limit.value,
        "of": None if limit is None else limit.of,
        "at": _stamp(found.at),
        **(
            {"reason": found.reason}
            if found.at is None
            else {"earliest": _stamp(found.earliest), "latest": _stamp(found.latest), "by": found.by}
        ),
    }


def _stamp(ts: int | None) -> str | None:
    return None if ts is None else stamp(ts)


def forecast_csv(found: Iterable[FigureForecast]) -> Iterator[str]:
    """The forecasts as CSV."""
    yield CSV_HEADER
    for each in found:
        told = forecast_json(each)
        cells = [csv_cell(str(each.view.object)), each.view.metric.name]
        for key in ("limit", "of", "at", "earliest", "latest"):
            value = told.get(key)
            cells.append("" if value is None else str(value))
        yield ",".join((*cells, csv_cell(each.found.by), csv_cell(each.found.reason)))


def by_series(found: Iterable[FigureForecast]) -> dict[tuple[ObjectName, str], FigureForecast]:
    """The forecasts by object and metric."""
    return {each.view.key: each for each in found}

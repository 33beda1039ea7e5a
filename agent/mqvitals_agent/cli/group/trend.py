"""``mqvitals trend``: a metric of an object over time."""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import (
    FORMS,
    add_store_arguments,
    add_zone_argument,
    duration_argument,
    moment_argument,
    now_ms,
    now_of,
    object_name,
    reading_zone,
)
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, show
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.view.figures.trend import Trend
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.metric import Metric

HOUR_MS = 3_600_000
_MOST_CHANGES = 200
"""The number of changes of the definition that are marked, the newest."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``trend``."""
    parser.add_argument("metric", metavar="METRIC", help="such as free_pct or buffer_pool.free_pct; see 'metrics'")
    parser.add_argument("object", metavar="OBJECT", help="such as QM01/buffer_pool/3 or QM01/channel_initiator")
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_at_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help='{"metric", "object", "unit", "points": [[at, value], ...]}; of a counter "per_second" too',
    )
    form.add_argument(
        "--csv",
        action="store_true",
        help="lines of at,value (of a counter: at,value,per_second); absent values are empty",
    )
    parser.add_argument(
        "--since", metavar="DURATION", help="how far back, such as 30m or 7d (default: 1h; of a replay everything)"
    )
    parser.add_argument("--from", dest="begin", metavar="TIME", help=f"from this moment: {FORMS}")
    parser.add_argument(
        "--to",
        dest="end",
        metavar="TIME",
        help="up to this moment (default: that of --at, or now; of a replay its end)",
    )
    parser.add_argument(
        "--width", type=int, metavar="CELLS", help="of the chart with its labels (default: the terminal)"
    )
    parser.add_argument("--height", type=int, default=12, metavar="LINES", help="of the chart (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Show the series; returns the exit code."""
    from mqvitals_agent.view.history.trend_report import trend_csv, trend_json, trend_text
    from mqvitals_agent.view.screens.header import as_of_words

    name = object_name(arguments.object)
    metric = _metric(name, arguments.metric)
    if arguments.since and arguments.begin:
        raise Failure("--since and --from both say where to begin", hint="give one of them")
    with open_store_as_of(arguments) as reader:
        view, at = _read(reader, name, metric, arguments), reader.meta().as_of
    if arguments.json:
        print(json.dumps(trend_json(view)))
    elif arguments.csv:
        for line in trend_csv(view):
            print(line)
    else:
        width = line_width() if arguments.width is None else arguments.width
        lines = trend_text(view, min(max(width, 20), 1000), min(max(arguments.height, 2), 200))
        show(lines if at is None else [as_of_words(at, now_ms()), *lines])
    return ExitCode.DONE


def _metric(name: ObjectName, text: str) -> Metric:
    """The metric that was meant; raises Failure with the nearest names."""
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_rules.vocabulary.metric import MetricType
    from mqvitals_rules.vocabulary.tables import KINDS

    kind = KINDS[name.kind]
    prefix, dot, plain = text.rpartition(".")
    if dot and prefix != kind.name:
        raise Failure(f"{text} is no metric of {name}, which is a {kind.name}", hint=f"write {kind.name}.METRIC")
    metric = kind.metric(plain)
    if metric is None:
        meant = suggestion(plain, [each.name for each in kind.metrics])
        raise Failure(f"a {kind.name} has no metric {plain!r}", hint=meant or "'mqvitals metrics' lists them all")
    if metric.type is MetricType.TEXT:
        raise Failure(
            f"{kind.name}.{plain} is a text, of which only the newest is kept; numbers and states have a trend"
        )
    return metric


def _read(reader: StoreReader, name: ObjectName, metric: Metric, arguments: argparse.Namespace) -> Trend:
    """Query the store. Raises StoreError; Failure for a time that cannot be read."""
    from mqvitals_agent.text.chart import TimeRange
    from mqvitals_agent.text.figure import moment, zone_name
    from mqvitals_agent.text.terminal import safe
    from mqvitals_agent.view.figures.trend import trend_of
    from mqvitals_rules.vocabulary.metric import Absence

    meta, now = reader.meta(), now_of(reader)
    first = min((owner.first_ts for owner in reader.owners()), default=0)
    zone = partial(reading_zone, arguments)
    until = now if arguments.end is None else moment_argument("--to", arguments.end, zone, now)
    if arguments.begin is not None:
        since = moment_argument("--from", arguments.begin, zone, now)
    elif arguments.since is not None:
        since = until - duration_argument("--since", arguments.since)
    else:
        since = min(first, until) if meta.ended else until - HOUR_MS
    if since > until:
        words = f"ends ({moment(until)}) before it begins ({moment(since)} {zone_name(since)})"
        raise Failure(f"the time range {words}")
    series = reader.trend(name, metric.name, since, until)
    current = reader.current(name).get(metric.name)
    why = current.value.value if current is not None and isinstance(current.value, Absence) else ""
    if current is not None and current.unanswered is not None:
        why = current.unanswered.value
    if metric.needs_smf and not why:
        why = Absence.NEEDS_SMF.value
    if metric.needs_statistics and not why:
        why = Absence.NEEDS_STATISTICS.value
    note = f"The past: {safe(meta.origin)}" if meta.ended else ""
    changes = reader.changes(objects=[name], since=since, until=until, limit=_MOST_CHANGES)
    return trend_of(name, metric, series, TimeRange(since, until), why, note, changes)

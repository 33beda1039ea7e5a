"""``mqvitals trend``: metrics of objects over time."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import complain, line_width, say, show
from mqvitals_agent.commandline.time_arguments import (
    add_span_arguments,
    add_zone_argument,
    duration,
    now_ms,
    span_argument,
)
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.chart import TimeRange
    from mqvitals_agent.text.svg import Drawing
    from mqvitals_agent.view.figures.buckets import Parts
    from mqvitals_agent.view.trend.comparison import ComparedTrend
    from mqvitals_agent.view.trend.forecast import FigureForecast
    from mqvitals_agent.view.trend.selection import Selection

_DESCRIPTION = """\
Shows metrics of objects over time, as a chart with the figures in words, as CSV or as JSON. Several metrics have commas
between them; objects are names or patterns with * and ?. 'mqvitals help trend' has examples.
"""
_USUAL = "1h"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``trend``."""
    from mqvitals_agent.view.figures.trend import Aggregate

    parser.description = _DESCRIPTION
    parser.add_argument(
        "metric",
        metavar="METRIC",
        help="such as free_pct, buffer_pool.free_pct, or several: depth,oldest_msg_age_s; see 'metrics'",
    )
    parser.add_argument(
        "objects",
        metavar="OBJECT",
        nargs="+",
        help="such as QM01/buffer_pool/3 or QM01/channel_initiator, or a pattern: 'QM0*/queue/PAY*'",
    )
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_at_argument(parser)
    parser.add_argument(
        "--backend",
        choices=["sqlite", "prometheus"],
        help="read samples from the store alone, or all that the engine of 'history' has from it (default: from the engine"
        " what the store no longer holds, where 'history.backend' is prometheus)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help='{"metric", "object", "unit", "points": [[at, value], ...]}; of a counter "per_second" too;'
        ' of several {"series": [...]}',
    )
    form.add_argument(
        "--csv",
        action="store_true",
        help="lines of at,value (of a counter: at,value,per_second; of several object,metric before them); absent values"
        " are empty",
    )
    form.add_argument("--svg", metavar="FILE", help="write the charts to a new file too")
    parser.add_argument("--force", action="store_true", help="with --svg: replace FILE where it is there")
    add_span_arguments(parser, f"{_USUAL}; of a replay everything", since=True)
    add_parts_arguments(parser)
    parser.add_argument(
        "--top", metavar="N", type=int, help="a table of the N objects that stand out over the time, instead of charts"
    )
    parser.add_argument(
        "--by",
        choices=[each.value for each in Aggregate if each is not Aggregate.SUM],
        help="with --top: by which value, the greatest first, with min the least (default: max)",
    )
    parser.add_argument(
        "--compare",
        metavar="DAY",
        help="beside the same time of an earlier day: yesterday, last-week, or the date of the day on which it began",
    )
    parser.add_argument(
        "--forecast",
        action="store_true",
        help="when a limit is reached, with a range, by the course of days and weeks, or why nobody can tell",
    )
    parser.add_argument(
        "--limit",
        metavar="VALUE",
        type=finite_number,
        help="with --forecast: this limit (default: where it is full, else the nearest threshold of a rule)",
    )
    parser.add_argument(
        "--width", type=int, metavar="CELLS", help="of the chart with its labels (default: the terminal)"
    )
    parser.add_argument("--height", type=int, default=12, metavar="LINES", help="of a chart (default: %(default)s)")


def add_parts_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--every`` and ``--agg``, of which ``parts_of`` makes parts of a time."""
    from mqvitals_agent.view.figures.trend import Aggregate

    parser.add_argument(
        "--every",
        metavar="DURATION",
        type=duration,
        help="one value for each such part of the clock's time in the zone of --tz, such as 5m, 1h or 1d",
    )
    parser.add_argument(
        "--agg",
        choices=[each.value for each in Aggregate],
        help="which value with --every: by the time that polls and records cover; of a counter a rate, or its increase"
        " with sum (default: avg, of states last)",
    )


def finite_number(text: str) -> float:
    """A number on the command line. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Show the series; returns the exit code."""
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.trend.selection import hourly_parts, parts_of, refuse_figures, select

    _refuse_options(arguments)
    with open_store_as_of(arguments, history_of(arguments)) as reader:
        span = span_argument(reader, arguments, _USUAL, whole_past=True)
        parts = parts_of(span, arguments.every, arguments.agg)
        if parts is not None:
            # The first part is whole.
            span = span._replace(since=parts.edges[0])
        chosen = select(reader, arguments.metric, arguments.objects, span)
        refuse_figures(parts, chosen)
        if parts is None and not (arguments.json or arguments.csv or arguments.compare or arguments.top is not None):
            # What samples no longer tell, hours do.
            parts = hourly_parts(reader, chosen, span)
            span = span if parts is None else span._replace(since=parts.edges[0])
        if arguments.top is not None:
            _print_top(reader, chosen, span, arguments)
        elif arguments.compare is not None:
            _print_comparison(reader, chosen, span, parts, arguments)
        elif arguments.json or arguments.csv:
            _write(reader, chosen, span, parts, arguments)
        else:
            lines, at = _text(reader, chosen, span, parts, arguments), reader.meta().as_of
            if arguments.forecast:
                from mqvitals_agent.view.trend.forecast import forecast_lines

                lines += ["", *forecast_lines(_forecasts(reader, chosen, span, arguments), _size(arguments)[0])]
            show(lines if at is None else [as_of_words(at, now_ms()), *lines])
        report_note(reader)
    return ExitCode.DONE


def history_of(arguments: argparse.Namespace) -> Callable[[StoreReader], StoreReader]:
    """What completes the reader of a store as ``history`` and, where the command has it, ``--backend`` say.

    A store that is named without a configuration file may be anybody's: it is read alone, unless ``--backend`` says otherwise.
    Raises Failure for a backend that the settings do not know how to reach.
    """
    backend = getattr(arguments, "backend", None)
    if backend == "sqlite" or (backend is None and arguments.store is not None and arguments.config is None):
        return lambda reader: reader
    from mqvitals_agent.commandline.settings import readable_settings, settings_of
    from mqvitals_config.sections.history import PROMETHEUS

    settings = readable_settings(arguments) if backend is None else settings_of(arguments)
    if backend == PROMETHEUS and settings.history.url is None:
        raise Failure(
            "--backend prometheus: no engine is named",
            hint="name it with history.url in the configuration file; see 'mqvitals help prometheus'",
        )

    def completed(reader: StoreReader) -> StoreReader:
        if (backend or settings.history.backend) != PROMETHEUS:
            return reader
        # What speaks HTTP takes time to import.
        from mqvitals_agent.engine_history.reader import with_engine

        return with_engine(reader, settings, backend)

    return completed


def report_note(reader: StoreReader) -> None:
    """Say on standard error why what was printed may lack samples that the engine has."""
    if reader.history_note:
        complain(f"mqvitals: {reader.history_note}")


def _refuse_options(arguments: argparse.Namespace) -> None:
    """Raises Failure for options that do not go together, and for a file that is there and is not to be replaced."""
    from mqvitals_agent.new_files import refuse_existing

    if arguments.top is None and arguments.by is not None:
        raise Failure("--by is about the table of --top", hint=f"write --top 10 --by {arguments.by}")
    if arguments.top is not None and arguments.top < 1:
        raise Failure("--top must be 1 at least")
    if arguments.top is not None and arguments.every is not None:
        raise Failure("--top is about the whole time, --every about its parts", hint="leave one of them out")
    if arguments.svg is not None and arguments.top is not None:
        raise Failure("--svg holds charts, and --top is a table", hint="leave one of them out")
    if arguments.force and arguments.svg is None:
        raise Failure("--force is about a file", hint="name it with --svg FILE")
    if arguments.svg is not None and not arguments.force:
        # Before anything is read.
        refuse_existing(Path(arguments.svg))
    if arguments.limit is not None and not arguments.forecast:
        raise Failure("--limit is about --forecast", hint=f"write --forecast --limit {arguments.limit:g}")
    if arguments.forecast and (arguments.top is not None or arguments.compare is not None):
        raise Failure("--forecast goes with charts and series", hint="leave --top and --compare out")
    if arguments.top is not None and arguments.compare is not None:
        raise Failure("--top makes no comparison", hint="leave --top or --compare out")


def _print_top(reader: StoreReader, chosen: Selection, span: TimeRange, arguments: argparse.Namespace) -> None:
    """Print the objects that stand out. Raises StoreError, and Failure for a figure that a metric does not have."""
    from mqvitals_agent.view.figures.buckets import refusal
    from mqvitals_agent.view.figures.trend import Aggregate
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.trend.selection import read_top_of_hours, read_trends
    from mqvitals_agent.view.trend.top import top_csv, top_json, top_lists, top_text

    by = Aggregate(arguments.by or Aggregate.MAX.value)
    for _, metric in chosen.metrics:
        if reason := refusal(by, metric):
            raise Failure(f"--by {by.value}: {reason}")
    found = read_top_of_hours(reader, chosen, span, by, arguments.top)
    if found is None:
        found = top_lists(read_trends(reader, chosen, span), by, arguments.top)
    if arguments.json:
        print(json.dumps(top_json(found)))
    elif arguments.csv:
        for line in top_csv(found):
            print(line)
    else:
        at = reader.meta().as_of
        lines = [] if at is None else [as_of_words(at, now_ms())]
        show([*lines, *top_text(found, span, line_width())])


def _print_comparison(
    reader: StoreReader, chosen: Selection, span: TimeRange, parts: Parts | None, arguments: argparse.Namespace
) -> None:
    """Print the series beside those of an earlier day. Raises StoreError, and Failure for a day that cannot be read."""
    from mqvitals_agent.text.figure import shown_zone
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.trend.chart import MOST_CHARTS
    from mqvitals_agent.view.trend.comparison import (
        compared,
        comparison_csv,
        comparison_drawings,
        comparison_json,
        comparison_text,
        earlier_day,
    )
    from mqvitals_agent.view.trend.selection import hourly_parts, parts_of, read_seamed
    from mqvitals_agent.view.trend.several import several_json
    from mqvitals_rules.timestamps import HOUR_MS

    try:
        earlier = earlier_day(arguments.compare, span, shown_zone())
    except ValueError as error:
        raise Failure(f"--compare {arguments.compare!r}: {error}") from error
    as_text = not (arguments.json or arguments.csv)
    if as_text and chosen.count > MOST_CHARTS:
        raise Failure(
            f"{chosen.count:,} series are too many for charts: at most {MOST_CHARTS} are compared",
            hint="name fewer of them, or take --csv or --json",
        )
    by_parts = parts is not None
    if parts is None and any(hourly_parts(reader, chosen, each) for each in (span, earlier.span(span))):
        # What samples no longer tell of one of the days, hours do of both.
        parts = parts_of(span, HOUR_MS, None)
        assert parts is not None
        span = span._replace(since=parts.edges[0])
    there = None if parts is None else earlier.parts(parts)

    def series() -> Iterator[ComparedTrend]:
        # Both are read in the same order, some objects at a time.
        now, then = (
            read_seamed(reader, chosen, each, own) for each, own in ((span, parts), (earlier.span(span), there))
        )
        for view, before in zip(now, then, strict=True):
            if view.view.key != before.view.key:
                raise Failure("the first records of an object came just now", hint="try again")
            yield compared(view, before, earlier, parts)

    if arguments.json and chosen.several:
        sys.stdout.writelines(several_json(map(comparison_json, series())))
    elif arguments.json:
        print(json.dumps(comparison_json(next(series()))))
    elif arguments.csv:
        for line in comparison_csv(series(), parts=by_parts):
            print(line)
    else:
        found, at = list(series()), reader.meta().as_of
        lines = [] if at is None else [as_of_words(at, now_ms())]
        show([*lines, *comparison_text(found, *_size(arguments))])
        if arguments.svg is not None:
            _write_svg(list(comparison_drawings(found)), arguments)


def _write_svg(charts: Sequence[Drawing], arguments: argparse.Namespace) -> None:
    """Write the file of ``--svg``, and say so. Raises Failure."""
    from mqvitals_agent.new_files import write_whole
    from mqvitals_agent.text.figure import counted
    from mqvitals_agent.view.trend.several import svg_text

    target = Path(arguments.svg)
    write_whole(target, svg_text(charts), replace=arguments.force)
    say(f"wrote {counted(len(charts), 'chart')} to {target}")


def _size(arguments: argparse.Namespace) -> tuple[int, int]:
    """Cells and lines of a chart."""
    width = line_width() if arguments.width is None else arguments.width
    return min(max(width, 20), 1000), min(max(arguments.height, 2), 200)


def _forecasts(
    reader: StoreReader, chosen: Selection, span: TimeRange, arguments: argparse.Namespace
) -> Iterator[FigureForecast]:
    """The forecasts as of the end of the time. Raises StoreError, and Failure for settings that cannot be read."""
    from mqvitals_agent.commandline.settings import rule_config_of, settings_of
    from mqvitals_agent.view.trend.forecast import read_forecasts

    rules = rule_config_of(settings_of(arguments), defer=True).rules
    return read_forecasts(reader, chosen, rules, span.until, arguments.limit)


def _write(
    reader: StoreReader, chosen: Selection, span: TimeRange, parts: Parts | None, arguments: argparse.Namespace
) -> None:
    """Print JSON or CSV; of several series each is printed as it is read. Raises StoreError."""
    from mqvitals_agent.view.trend.forecast import by_series, forecast_csv, forecast_json
    from mqvitals_agent.view.trend.report import trend_csv, trend_json
    from mqvitals_agent.view.trend.selection import read_told_trend, read_trends
    from mqvitals_agent.view.trend.several import several_csv, several_json
    from mqvitals_rules.vocabulary.metric import MetricType

    forecasts = _forecasts(reader, chosen, span, arguments) if arguments.forecast else iter(())
    if arguments.csv and arguments.forecast:
        for line in forecast_csv(forecasts):
            print(line)
        return
    told = by_series(forecasts)
    trends = (
        iter([read_told_trend(reader, *chosen.single, span, parts)])
        if chosen.single
        else read_trends(reader, chosen, span, parts)
    )
    if arguments.json:
        series = (
            {**trend_json(each), **({"forecast": forecast_json(told[key])} if (key := each.key) in told else {})}
            for each in trends
        )
        if chosen.single:
            print(json.dumps(next(series)))
        else:
            sys.stdout.writelines(several_json(series))
        return
    further = "per_second" if any(metric.type is MetricType.COUNTER for _, metric in chosen.metrics) else ""
    lines = trend_csv(next(trends)) if chosen.single else several_csv(trends, further if parts is None else "covered_s")
    for line in lines:
        print(line)


def _text(
    reader: StoreReader, chosen: Selection, span: TimeRange, parts: Parts | None, arguments: argparse.Namespace
) -> list[str]:
    """The charts with their figures in words. Raises StoreError, and Failure for too many."""
    from mqvitals_agent.view.trend.report import trend_text
    from mqvitals_agent.view.trend.selection import read_told_trend
    from mqvitals_agent.view.trend.several import charts_of, charts_text, drawings

    size = _size(arguments)
    charts = [[read_told_trend(reader, *each, span, parts) for each in chart] for chart in charts_of(chosen)]
    if arguments.svg is not None:
        _write_svg(list(drawings(charts)), arguments)
    return list(charts_text(charts, *size)) if chosen.several else trend_text(charts[0][0], *size)

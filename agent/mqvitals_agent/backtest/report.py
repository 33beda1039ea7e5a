"""A backtest as a report, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mqvitals_agent.backtest.comparison import AlertRow, FiringTotals, WhereFired, firing_ms, side_by_side, totals
from mqvitals_agent.backtest.run import BacktestResult
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.document import Block, Heading, Items, Paragraph, ReportTable
from mqvitals_agent.text.figure import age, counted, moment, object_words, percent, zone_name
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.timestamps import iso

IN_FORCE: Final = "as in force"
"""The run without any settings."""
_NOTHING: Final = "-"
_LEAST_COVERED: Final = 0.995
"""Queue managers with less than this share of the time are named."""


def backtest_blocks(result: BacktestResult, refused: Sequence[str], most: int) -> Iterator[Block]:
    """The report, with at most ``most`` alerts, the newest; ``refused`` says which rules of several were left out, and why."""
    span, rows = result.span, side_by_side(result.then, result.now, result.span)
    rules = result.variants[0].config.rules.rules
    title = f"{rules[0].id}  {rules[0].title}" if len(rules) == 1 else counted(len(rules), "rule")
    yield Heading(1, f"Backtest: {title}")
    yield Paragraph(
        f"From {moment(span.since)} to {moment(span.until)} {zone_name(span.until)} ({age(span.until - span.since)}),"
        f" {counted(result.snapshots, 'snapshot')}. {_coverage_words(result)}"
    )
    if refused:
        yield Heading(2, "Rules that history cannot answer")
        yield Items(tuple(refused))
    yield _totals_table(result, rows)
    if not rows:
        yield Paragraph("Nothing fired, then or now.")
        return
    yield _alert_table(result, rows[-most:], several=len(rules) > 1)
    if len(rows) > most:
        yield Paragraph(f"{counted(len(rows) - most, 'earlier alert')} not shown; --limit shows more, --json all.")


def run_names(result: BacktestResult) -> tuple[str, ...]:
    """The name of each run."""
    return tuple(each.name or IN_FORCE for each in result.variants)


def _coverage_words(result: BacktestResult) -> str:
    if not result.covered:
        return "No samples of such objects stand in this time."
    whole = sum(result.covered.values()) / len(result.covered)
    partly = [f"{owner} {percent(100 * share)}" for owner, share in result.covered.items() if share < _LEAST_COVERED]
    named = f" ({', '.join(partly)})" if partly and len(result.covered) > 1 else ""
    return f"Samples cover {percent(100 * whole)} of this time{named}."


def _totals_table(result: BacktestResult, rows: Sequence[AlertRow]) -> ReportTable:
    titles = ("RUN", "ALERTS", "OBJECTS", "FIRING", *(each.value.upper() for each in WhereFired))
    then = totals(result.then, result.span)
    lines = [("did fire", f"{then.alerts:,}", f"{then.objects:,}", age(then.firing_ms), *[""] * len(WhereFired))]
    for number, (name, alerts) in enumerate(zip(run_names(result), result.now, strict=True)):
        found, counts = totals(alerts, result.span), _counts(rows, number)
        lines.append(
            (
                name,
                f"{found.alerts:,}",
                f"{found.objects:,}",
                age(found.firing_ms),
                *(f"{counts[each]:,}" for each in WhereFired),
            )
        )
    return ReportTable(titles, tuple(lines), frozenset(range(1, len(titles))))


def _counts(rows: Sequence[AlertRow], run: int) -> Counter[WhereFired]:
    return Counter(found for row in rows if (found := row.found(run)) is not None)


def _alert_table(result: BacktestResult, rows: Sequence[AlertRow], *, several: bool) -> ReportTable:
    """A line for each alert: how long it fired then and in each run."""
    one = len(result.now) == 1
    titles = [
        "BEGAN", *(["RULE"] if several else []), "OBJECT", "SEVERITY", "WORST", "DID FIRE", *run_names(result),
        *(["FOUND"] if one else []),
    ]  # fmt: skip
    lines = []
    for row in rows:
        alert = row.any
        began = alert.started or 0
        found = row.found(0)
        lines.append(
            (
                "before" if began < result.span.since else moment(began),
                *([alert.key.rule] if several else []),
                _object_words(alert),
                alert.worst.name.lower(),
                alert.worst_value or _NOTHING,
                *(_duration(each, result.span) for each in (row.then, *row.now)),
                *([found.value if found else _NOTHING] if one else []),
            )
        )
    return ReportTable(tuple(titles), tuple(lines))


def _object_words(alert: Alert) -> str:
    words = object_words(alert.key.object)
    return f"{words} {alert.key.instance}" if alert.key.instance else words


def _duration(alert: Alert | None, span: TimeRange) -> str:
    if alert is None:
        return _NOTHING
    goes_on = alert.ended is None or alert.ended > span.until
    return f"{age(firing_ms(alert, span))}{' on' if goes_on else ''}"


def backtest_json(result: BacktestResult, refused: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The whole result for programs."""
    rows = side_by_side(result.then, result.now, result.span)
    then = totals(result.then, result.span)
    return {
        "rules": [str(rule.id) for rule in result.variants[0].config.rules.rules],
        "refused": [{"rule": rule, "reason": reason} for rule, reason in refused],
        "from": iso(result.span.since),
        "to": iso(result.span.until),
        "snapshots": result.snapshots,
        "covered": {owner: round(share, 4) for owner, share in result.covered.items()},
        "did_fire": _totals_json(then),
        "runs": [
            {
                "set": variant.name,
                **_totals_json(totals(alerts, result.span)),
                **{each.name.lower(): _counts(rows, number)[each] for each in WhereFired},
            }
            for number, (variant, alerts) in enumerate(zip(result.variants, result.now, strict=True))
        ],
        "alerts": [
            {
                "rule": row.any.key.rule,
                "object": str(row.any.key.object),
                "instance": row.any.key.instance,
                "did_fire": _alert_json(row.then, result.span),
                "runs": [_alert_json(each, result.span) for each in row.now],
            }
            for row in rows
        ],
    }


def _totals_json(found: FiringTotals) -> dict[str, Any]:
    return {"alerts": found.alerts, "objects": found.objects, "firing_s": found.firing_ms / 1000}


def _alert_json(alert: Alert | None, span: TimeRange) -> dict[str, Any] | None:
    if alert is None or alert.started is None:
        return None
    ended = None if alert.ended is None or alert.ended > span.until else iso(alert.ended)
    return {
        "started": iso(alert.started),
        "ended": ended,
        "firing_s": firing_ms(alert, span) / 1000,
        "severity": alert.worst.name.lower(),
        "worst": alert.worst_value,
        "worst_number": alert.worst_number,
        "summary": alert.summary,
        "why_ended": "" if ended is None else alert.why_text,
    }

"""The health check of ``mqvitals smf report``: reads files, evaluates the rules, and makes the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mqvitals_agent.review.evaluation import Check, IntervalEvaluator, Occurrence
from mqvitals_agent.review.findings import (
    MOST_OBJECTS,
    ReviewFinding,
    ReviewResult,
    by_rule,
    owner_heading,
    result_of,
    rule_blocks,
    summary_line,
)
from mqvitals_agent.review.smf_input import (
    RecordIntervals,
    RecordSource,
    ReportInput,
    intervals_of,
    left_out,
    missing,
    read_files,
    temporary_store,
)
from mqvitals_agent.review.smf_tables import count, figures, release, when, zone
from mqvitals_agent.review.smf_totals import PeriodTotals
from mqvitals_agent.smf.ingest import PassOn, stored_snapshots
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.restart import Restart, guarded
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.document import Block, Heading, Items, Paragraph, ReportTable
from mqvitals_agent.text.figure import counted, duration_us, moment, object_words
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.rule import Rule, RuleKind
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence

MOST_DAMAGED = 20
"""The number of damaged records of a file that are described."""
MOST_RESTARTS = 20
_JOINT_MS = 30_000
_REASONS = {
    Absence.NOTHING_TO_TELL: "nothing of the kind happened",
    Absence.NOT_ASKED: "commands report it, not SMF",
}
"""Reasons of absence that need more words than beside a figure."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A report: ``records`` of MQ, ``damaged`` ones, and whether something is wrong (``found``).

    ``unreadable``: files of which nothing, or not everything, could be read, and why.
    """

    blocks: tuple[Block, ...]
    records: int
    damaged: int
    found: bool
    unreadable: tuple[tuple[str, str], ...]


def health_check(
    paths: Iterable[str],
    config: RuleConfig,
    groups: GroupNames | None = None,
    *,
    now_us: int | None = None,
    ascii_only: bool = False,
    progress: PassOn | None = None,
    evaluating: Callable[[TimeRange, int], None] = lambda *_: None,
) -> HealthCheck:
    """Examine files. Raises OSError and StoreError when the temporary files cannot be written.

    ``groups``: under which names the things of groups stand; by default as the records say. ``now_us``: now,
    microseconds since 1970 UTC, by which records of the future are refused. ``ascii_only``: no character beyond ASCII
    comes from this program. ``progress``: as for ``ingest_file``. ``evaluating`` is told the period of the records, and up to which moment of it
    the rules are evaluated, ms UTC.
    """
    with temporary_store() as store:
        report_input = read_files(paths, store, groups or GroupNames(), now_us, progress)
        span = TimeRange(*(0, 0) if report_input.period is None else (each // 1000 for each in report_input.period))
        evaluator, totals = IntervalEvaluator(config, report_input.groups.of), PeriodTotals(span)
        restarts = sorted(report_input.intervals.restarts(), key=lambda each: each[0].since_us)
        for snapshot in stored_snapshots(store):
            evaluator.take(_without_rates(snapshot, restarts, report_input))
            totals.take(snapshot)
            evaluating(span, snapshot.ts)
        owners = sorted({*report_input.sources, *totals.owners()})
        outcomes = {owner: result_of(evaluator.checks(owner)) for owner in owners}
        blocks = [*_beginning(report_input, outcomes, [each for each, _ in restarts], ascii_only=ascii_only)]
        for owner in sorted(owners, key=lambda each: (-outcomes[each].health, each)):
            blocks += _owner(owner, outcomes[owner], is_group=owner not in report_input.sources)
            blocks += figures(totals, owner, span, ascii_only=ascii_only)
            source = report_input.sources.get(owner)
            if source is not None:
                blocks += _quality(source, config, report_input.intervals)
        if dropped := tuple(left_out(report_input)):
            blocks += [Heading(2, "What was left out"), Items(dropped)]
        blocks += _damage(report_input)
    found = any(outcome.troubles for outcome in outcomes.values())
    return HealthCheck(tuple(blocks), report_input.records, report_input.damaged, found, tuple(report_input.unreadable))


def _without_rates(snapshot: Snapshot, restarts: Sequence[tuple[Restart, int]], report_input: ReportInput) -> Snapshot:
    """The snapshot for the rules: without rates and increases of intervals shortly after a restart."""

    def is_guarded(restart: Restart, until_us: int) -> bool:
        names = (restart.queue_manager, report_input.groups.of(restart.queue_manager))
        # A sample of several queue managers or tasks stands at the nearest full minute.
        spare = (
            _JOINT_MS if snapshot.group or any(each.object.kind == "application" for each in snapshot.readings) else 0
        )
        return snapshot.owner in names and restart.since_us // 1000 < snapshot.ts <= until_us // 1000 + spare

    if not any(is_guarded(*each) for each in restarts):
        return snapshot
    return replace(snapshot, readings=tuple(map(guarded, snapshot.readings)))


def _beginning(
    report_input: ReportInput, outcomes: dict[str, ReviewResult], restarts: Sequence[Restart], *, ascii_only: bool
) -> Iterator[Block]:
    yield Heading(1, "IBM MQ health check from SMF data")
    yield ReportTable(
        ("file", "records of MQ", "others, passed over", "damaged"),
        tuple(
            (
                name,
                count(sum(counts.records.values())),
                count(sum(counts.skipped.values())),
                count(counts.lost),
            )
            for name, counts in report_input.counts_by_file
        ),
        frozenset({1, 2, 3}),
    )
    if report_input.unreadable:
        yield Paragraph("Not everything could be read:")
        yield Items(tuple(f"{path}: {reason}" for path, reason in report_input.unreadable))
    if report_input.period is not None:
        began, ended = report_input.period
        yield Paragraph(f"Period: {when(began)} to {when(ended)} UTC ({duration_us(ended - began)}).")
    if restarts:
        yield Heading(2, "Restarts")
        shown = [f"{each.words()}." for each in restarts[:MOST_RESTARTS]]
        more = len(restarts) - MOST_RESTARTS
        yield Items((*shown, *([f"And {more:,} more."] if more > 0 else [])))
        yield Paragraph(
            f"{counted(len(restarts), 'restart')}. Rates and increases of the interval in which a queue manager was started and of the one after"
            " it are not evaluated: they do not show normal operation."
        )
    if report_input.sources:
        yield Heading(2, "Summary")
        yield ReportTable(
            ("queue manager", "systems", "release", "group", "local time"),
            tuple(_source_row(source, report_input) for _, source in sorted(report_input.sources.items())),
        )
        lines = [
            summary_line(owner, outcome, ascii_only=ascii_only)
            for owner, outcome in sorted(outcomes.items(), key=lambda each: (-each[1].health, each[0]))
        ]
        yield Items(tuple(lines))
        yield Paragraph("A check is a rule applied to one object, in all its intervals.")


def _source_row(source: RecordSource, report_input: ReportInput) -> tuple[str, ...]:
    return (
        source.name,
        ", ".join(sorted(source.systems)),
        ", ".join(release(each) for each in sorted(source.releases)) or "-",
        report_input.groups.of(source.name) or "-",
        ", ".join(zone(each) for each in sorted(source.ahead)) or "-",
    )


def _owner(owner: str, outcome: ReviewResult, *, is_group: bool) -> Iterator[Block]:
    yield owner_heading(owner, is_group=is_group)
    for trouble in outcome.troubles:
        terms = trouble.findings[0].worst.terms
        more = [Paragraph(f"True conditions of the first: {'; '.join(terms)}")] if terms else []
        yield from rule_blocks(trouble, 3, _details, more)
    if not outcome.troubles:
        if outcome.good or outcome.brief:
            yield Paragraph("No fault was found by the checks that could be evaluated; they are listed below.")
        else:
            yield Paragraph("Nothing could be evaluated: the records report nothing that a rule reads.")
    if outcome.brief:
        yield Heading(3, "Seen, but not for long enough to count")
        yield Items(tuple(_brief(check) for check in outcome.brief[:MOST_OBJECTS]))
        if len(outcome.brief) > MOST_OBJECTS:
            yield Paragraph(f"And {len(outcome.brief) - MOST_OBJECTS:,} more.")
    if outcome.good:
        yield Heading(3, "What is OK")
        titles = ("rule", "what was looked for and not found", "objects", "intervals")
        yield ReportTable(titles, _rule_rows(outcome.good, _evaluated), frozenset({2, 3}))
    if outcome.unknown:
        yield Heading(3, "What could not be evaluated")
        titles = ("rule", "title", "objects", "why")
        yield ReportTable(titles, _rule_rows(outcome.unknown, _reasons), frozenset({2}))


def _rule_rows(checks: Iterable[Check], last: Callable[[list[Check]], str]) -> tuple[tuple[str, ...], ...]:
    return tuple((str(rule.id), rule.title, f"{len(each):,}", last(each)) for rule, each in by_rule(checks))


def _details(finding: ReviewFinding) -> str:
    text = f"Worst in the interval {_interval(finding.worst)}; {_held(finding.check)}"
    for other in finding.others:
        text += f"; {other.rule.id} ({other.rule.title}) in {counted(other.held, 'interval')}"
    return text + "."


def _evaluated(checks: Iterable[Check]) -> str:
    """The number of evaluated intervals, and of all where some could not be evaluated."""
    evaluated, tried = max((check.evaluated, check.evaluated + check.unknown.total()) for check in checks)
    return f"{evaluated:,}" if evaluated == tried else f"{evaluated:,} of {tried:,}"


def _brief(check: Check) -> str:
    summary = "" if check.worst is None else check.worst.summary
    return f"{check.rule.id} {object_words(check.object)}: {summary}; {_held(check)}."


def _held(check: Check) -> str:
    text = f"in {check.held:,} of {counted(check.evaluated, 'evaluated interval')}"
    if check.held > 1:
        text += f", from {moment(check.first)} to {moment(check.last)}"
    return text


def _interval(worst: Occurrence) -> str:
    if worst.interval_ms is None:
        return f"that ended {moment(worst.ts)} UTC"
    return f"{moment(worst.ts - worst.interval_ms)} to {moment(worst.ts)} UTC"


def _reasons(checks: Iterable[Check]) -> str:
    """Why checks could not be evaluated, the most frequent reason first."""
    counts: Counter[Absence] = Counter()
    for check in checks:
        counts.update(check.unknown)
    return ", ".join(_REASONS.get(absence, absence.value) for absence, _ in counts.most_common())


def _quality(source: RecordSource, config: RuleConfig, intervals: RecordIntervals) -> Iterator[Block]:
    yield Heading(3, "Records and gaps")
    rows, gaps = [], []
    for (kind, subtype), number in sorted(source.records.items()):
        found = intervals_of(intervals.spans(source.name, kind, subtype))
        row = ("-", "-", "-")
        if found is not None:
            shortest, longest = duration_us(found.shortest_us), duration_us(found.longest_us)
            length = shortest if shortest == longest else f"{shortest} to {longest}"
            row = (f"{found.number:,}", length, f"{found.gap_count:,}")
            for began, ended in found.gaps:
                gaps.append(
                    f"{kind}/{subtype}: nothing from {when(began)} to {when(ended)} UTC ({duration_us(ended - began)})"
                )
        rows.append((f"{kind}/{subtype}", f"{number:,}", *row))
    yield ReportTable(
        ("type/subtype", "records", "intervals", "their length", "gaps"), tuple(rows), frozenset({1, 2, 4})
    )
    if gaps:
        yield Items(tuple(gaps))
    absent = missing(source)
    if absent:
        yield Heading(3, "Missing records, and what to switch on")
        lines = []
        for each in absent:
            rules = sorted({str(rule.id) for rule in config.rules.rules if _waits_for(rule, each.kinds, config)})
            waiting = f" Not evaluated for lack of them: {', '.join(rules)}." if rules else ""
            lines.append(f"No records of {each}: {each.how}.{waiting}")
        yield Items(tuple(lines))


def _waits_for(rule: Rule, kinds: Iterable[str], config: RuleConfig) -> bool:
    """Whether records of these kinds report all metrics of a rule."""
    if rule.scope not in kinds or rule.kind is RuleKind.DATA_QUALITY:
        return False
    compiled = config.rules.rule_for(rule, ObjectName("", rule.scope))
    if compiled is None:
        return False
    metrics = [config.rules.kinds[kind].metric(name) for kind, name in compiled.when.names]
    return all(metric is not None and (metric.smf or metric.declared or metric.computed) for metric in metrics)


def _damage(report_input: ReportInput) -> Iterator[Block]:
    if not report_input.damaged:
        return
    yield Heading(2, "Damaged records")
    for path, counts in report_input.counts_by_file:
        if not counts.damage:
            continue
        yield Paragraph(f"{path}: {counted(counts.lost, 'damaged record')}, lost to this report.")
        yield Items(tuple(str(error) for error in counts.damage[:MOST_DAMAGED]))
        if counts.lost > MOST_DAMAGED:
            yield Paragraph(f"And {counts.lost - MOST_DAMAGED:,} more.")

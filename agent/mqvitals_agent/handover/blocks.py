"""A handover as blocks of a document, in the order in which an operator asks: what is open, what was, what may come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mqvitals_agent.handover.report import EndedAlerts, Forecast, Handover, Mute, OpenAlert, WorstTrend
from mqvitals_agent.text.chart import TimeRange, scale_of_values
from mqvitals_agent.text.document import Block, ChartBlock, Entry, Heading, Items, LabelledText, Paragraph
from mqvitals_agent.text.figure import (
    age,
    clock,
    counted,
    day,
    figure,
    metric_words,
    moment,
    object_words,
    quantity,
    zone_name,
)
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.view.alerts.actions import NOTES_SHOWN, Handling, acknowledged_words, note_texts, silenced_words
from mqvitals_agent.view.alerts.words import began_ts, since_words, summary_with_owner
from mqvitals_agent.view.history.changes import author_words, change_words, when_words
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity
from mqvitals_rules.vocabulary.metric import Absence

MOST_OPEN: Final = 50
MOST_ENDED: Final = 50
MOST_HIDDEN: Final = 10
MOST_GAPS: Final = 12
"""Of each list so many are shown; the rest is counted."""
_MOST_RULES: Final = 8
_OF_STORE: Final = {"disk_full_s": "its disk is full", "limit_reached_s": "it reaches its limit (store.limit)"}
"""What happens at the end of these forecasts of the agent."""
_REASONS: Final = {Absence.NOTHING_TO_TELL: "no value yet"}
"""Reasons whose own text only fits the place of a figure."""


def title_of(report: Handover) -> str:
    """``Handover of PRDQSG: 12 h to 2026-11-20 06:00 UTC``."""
    until = report.span.until
    of = f" of {report.group}" if report.group else ""
    return f"Handover{of}: {_length(report)} to {moment(until)[:16]} {zone_name(until)}"


def handover_blocks(report: Handover, remark: str = "") -> Iterator[Block]:
    """The whole report. ``remark`` is a sentence about the report itself, such as that it comes late."""
    yield Heading(1, title_of(report))
    if remark:
        yield Paragraph(remark)
    yield Paragraph(_scope(report))
    yield Paragraph(summary_of(report))
    yield from _warning(report)
    yield from _open(report)
    yield from _ended(report)
    yield from _muted(report)
    yield from _changed(report)
    yield from _acted(report)
    yield from _trends(report)
    yield from _ahead(report)
    yield from _quality(report)


def brief_blocks(report: Handover, remark: str = "", most: int = 8) -> Iterator[Block]:
    """The report in short, for a message: what is open, what is ahead, and how much there is of the rest."""
    yield Heading(1, title_of(report))
    if remark:
        yield Paragraph(remark)
    yield Paragraph(summary_of(report))
    yield from _warning(report)
    lines = [f"{_severity(each.alert)} {_what(each)}; {_held(each)}" for each in report.opened[:most]]
    if len(report.opened) > most:
        lines.append(_rest(len(report.opened) - most))
    if lines:
        yield Heading(3, _open_title(report))
        yield Items(tuple(lines))
    if report.forecasts:
        yield Heading(3, "Ahead")
        yield Items(tuple(_forecast_words(each, report) for each in report.forecasts[:most]))
    silent = [*report.quality.silent, *(gap for _, gap in report.quality.gaps)]
    if silent:
        yield Paragraph(f"There are no data about {counted(len(silent), 'part')} of this time.")


def summary_of(report: Handover) -> str:
    """What there is, in a sentence; of a quiet time who watched."""
    watched = f"{counted(report.rules, 'rule')} watched {counted(report.objects, 'object')}"
    if not report.opened and not report.ended:
        return f"Nothing fired: {watched}." if report.objects else "Nothing fired, and nothing was watched."
    parts = []
    if report.opened:
        counts = [(report.open_count(each), each.name.lower()) for each in sorted(Severity, reverse=True)]
        told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        parts.append(f"Open: {told}" + (f"; {report.unattended:,} not acknowledged" if report.unattended else ""))
    else:
        parts.append("Nothing is open")
    if report.ended:
        parts.append(f"{counted(sum(each.times for each in report.ended), 'alert')} ended")
    return f"{'. '.join(parts)}. {watched}."


def _warning(report: Handover) -> Iterator[Block]:
    """What is not known of now must not look well."""
    silent = report.silent_since
    if not silent:
        return
    since = min(silent.values())
    whose = "any queue manager" if len(silent) == len(report.quality.snapshots) else ", ".join(silent)
    at = f"{moment(since)} {zone_name(since)}"
    yield Paragraph(f"There are no data about {whose} since {at}: what is open of it, or has ended, is as of then.")


def _scope(report: Handover) -> str:
    span = report.span
    parts = [f"From {moment(span.since)} to {moment(span.until)} {zone_name(span.until)}"]
    if report.owners:
        parts.append(f"only {', '.join(report.owners)}")
    if report.least > Severity.INFO:
        parts.append(f"only alerts that were {report.least.name.lower()} or worse")
    parts.append(f"contents of the store: {report.origin}")
    return f"{'; '.join(parts)}."


def _open_title(report: Handover) -> str:
    return "Open at the end" if report.past else "Open"


def _open(report: Handover) -> Iterator[Block]:
    yield Heading(2, _open_title(report))
    if not report.opened:
        yield Paragraph("Nothing is open.")
    for each in report.opened[:MOST_OPEN]:
        alert, now = each.alert, report.span.until
        facts = [
            LabelledText("rule", alert.key.rule),
            LabelledText("since", f"{_at(began_ts(alert), report.span)}, for {age(now - began_ts(alert))}"),
            LabelledText("who", _held(each)),
        ]
        muting = each.handling.muting
        muted = (silenced_words(each.handling.silence, now), "" if muting is None else muting.text(now))
        facts += [LabelledText("muted", words) for words in muted if words]
        if alert.worst_value:
            facts.append(LabelledText("at worst", alert.worst_value))
        facts += _notes(each.handling, now)
        if each.explains:
            facts.append(LabelledText("explains", counted(each.explains, "other alert")))
        if each.advice.text:
            facts.append(LabelledText("to do", " ".join(each.advice.text.split())))
        if each.advice.mqsc:
            facts.append(LabelledText("MQSC", each.advice.mqsc, code=True))
        yield Entry(health_of(alert.severity), summary_with_owner(alert), tuple(facts))
    if len(report.opened) > MOST_OPEN:
        yield Paragraph(_rest(len(report.opened) - MOST_OPEN))


def _severity(alert: Alert) -> str:
    return str(health_of(alert.severity))


def _what(each: OpenAlert) -> str:
    others = f" (and {counted(each.explains, 'alert')} that it explains)" if each.explains else ""
    return f"{summary_with_owner(each.alert)}{others}"


def _held(each: OpenAlert) -> str:
    made = each.handling.acknowledged
    return acknowledged_words(made, each.alert.updated) if made.by is not None else "nobody has it"


def _notes(handling: Handling, now: int) -> Iterator[LabelledText]:
    for text in note_texts(handling, now):
        yield LabelledText("note", text)


def _ended(report: Handover) -> Iterator[Block]:
    yield Heading(2, "Fired and ended")
    if not report.ended:
        yield Paragraph("Nothing ended in this time.")
    for each in report.ended[:MOST_ENDED]:
        yield Entry(health_of(each.worst.worst), _ended_summary(each), tuple(_ended_facts(each, report.span)))
    if len(report.ended) > MOST_ENDED:
        left = report.ended[MOST_ENDED:]
        count = counted(sum(each.times for each in left), "more alert")
        yield Paragraph(f"And {count} of {counted(len(left), 'object')}: 'mqvitals alerts list --all' shows them.")


def _ended_summary(each: EndedAlerts) -> str:
    return summary_with_owner(each.worst)


def _ended_facts(each: EndedAlerts, span: TimeRange) -> Iterator[LabelledText]:
    yield LabelledText("rule", each.worst.key.rule)
    began, ended = _at(each.began, span), _at(each.ended, span)
    if each.times == 1:
        yield LabelledText("when", f"{began} to {ended}, for {age(each.ended - each.began)}")
    else:
        yield LabelledText(
            "when", f"{counted(each.times, 'time')} from {began} to {ended}, {age(each.fired_ms)} in all"
        )
    if each.worst_value:
        yield LabelledText("at worst", each.worst_value)
    if each.follows is not None:
        yield LabelledText("cause", f"perhaps {each.follows.rule} of {object_words(each.follows.object)}")
    people = dict.fromkeys(made.author for handling in each.handled for made in handling.acknowledgements)
    yield LabelledText("who", f"{', '.join(people)} had it" if people else "nobody acknowledged it")
    notes = [fact for handling in each.handled for fact in _notes(handling, span.until)]
    yield from notes[-NOTES_SHOWN:]


def _muted(report: Handover) -> Iterator[Block]:
    yield Heading(2, "Silenced or in maintenance")
    if not report.mutes:
        yield Paragraph("No silence and no maintenance hid anything.")
    for mute in report.mutes:
        yield Entry(None, mute.words, tuple(_muted_facts(mute, report.span)))


def _muted_facts(mute: Mute, span: TimeRange) -> Iterator[LabelledText]:
    yield LabelledText("when", f"{_at(mute.span.since, span)} to {_at(mute.span.until, span)}")
    of_key: dict[AlertKey, list[Alert]] = {}
    for alert in mute.hid:
        of_key.setdefault(alert.key, []).append(alert)
    hid = [_hidden_words(alerts) for alerts in list(of_key.values())[:MOST_HIDDEN]]
    if len(of_key) > MOST_HIDDEN:
        hid.append(
            f"and what fired of {counted(len(of_key) - MOST_HIDDEN, 'more rule or object', 'more rules or objects')}"
        )
    for text in hid or ["nothing: no alert that fired matched"]:
        yield LabelledText("hid", text)


def _hidden_words(alerts: Sequence[Alert]) -> str:
    worst = max(alerts, key=lambda alert: alert.worst)
    often = f", {counted(len(alerts), 'time')}" if len(alerts) > 1 else ""
    return f"{worst.worst.name} {worst.key.rule} {summary_with_owner(worst)}{often}"


def _changed(report: Handover) -> Iterator[Block]:
    yield Heading(2, "Changed definitions")
    if not report.changes:
        yield Paragraph("No change of a definition was seen.")
        return
    texts = []
    for change in report.changes:
        author = report.authors.get(change)
        who = f", {author_words(author)}" if author is not None else ""
        when = when_words(change, report.span.until)
        texts.append(f"{when} {object_words(change.name)}: {change_words(change)}{who}")
    yield Items(tuple(texts))
    if report.more_changes:
        yield Paragraph("There are older ones: 'mqvitals changes' shows them.")


def _acted(report: Handover) -> Iterator[Block]:
    yield Heading(2, "What people did")
    if not report.actions:
        yield Paragraph("Nobody did anything about alerts.")
        return
    yield Items(
        tuple(
            f"{_at(each.ts, report.span)} {each.author}: {each.action}, {each.about}"
            + (f"; {each.detail}" if each.detail else "")
            for each in report.actions
        )
    )
    if report.more_actions:
        yield Paragraph("There are older ones: 'mqvitals alerts audit' shows them.")


def _trends(report: Handover) -> Iterator[Block]:
    yield Heading(2, "Worst trends")
    if not report.trends:
        yield Paragraph("No figure moved towards the limit of a rule.")
    for each in report.trends:
        yield _chart(each, report.span)


def _chart(each: WorstTrend, span: TimeRange) -> ChartBlock:
    metric = each.metric

    def words(value: float) -> str:
        return quantity(value, metric.unit)

    values = [value for _, value in each.points if value is not None]
    ends = values if each.limit is None else [*values, each.limit]
    scale = scale_of_values(ends, words, top=100.0 if metric.unit == "pct" else None)
    limit = None if each.limit is None else (each.limit, f"{each.rule} {words(each.limit)}")
    fires = "" if each.limit is None else f"; the limit of {each.rule} is {words(each.limit)}"
    old = "" if each.last_ts >= each.points[-1][0] else f" at {_at(each.last_ts, span)}, then absent"
    return ChartBlock(
        f"{object_words(each.object)}: {metric_words(metric.name)} ({metric.meaning})",
        each.points,
        scale,
        span,
        lambda ts: clock(ts)[:5] if day(span.since) == day(span.until) else f"{day(ts)[5:]} {clock(ts)[:5]}",
        f"{figure(each.start, metric)} at first, {figure(each.worst, metric)} at worst ({_at(each.worst_ts, span)}),"
        f" {figure(each.last, metric)} at last{old}{fires}",
        limit,
        each.low_is_bad,
    )


def _ahead(report: Handover) -> Iterator[Block]:
    yield Heading(2, f"The next {_length(report)}")
    if not report.forecasts and report.silent_since:
        yield Paragraph("Nothing can be told of what there are no data about; nothing else is full within a day.")
        return
    if not report.forecasts:
        yield Paragraph(
            "Nothing grows so that it is full within a day, as far as the newest polls and the last hours show."
        )
        return
    yield Items(tuple(_forecast_words(each, report) for each in report.forecasts))


def _forecast_words(each: Forecast, report: Handover) -> str:
    at = report.span.until + each.in_ms
    when = f"in {age(each.in_ms)} (about {_minute(at, report.span)})"
    if each.metric.name in _OF_STORE:
        return f"{object_words(each.object)}: {_OF_STORE[each.metric.name]} {when}"
    beyond = "" if each.in_ms <= report.span.until - report.span.since else ", after the next shift"
    end = "used up" if each.metric.name == "free_pct" else "full"
    return f"{object_words(each.object)} is {end} {when} if it goes on as in the last {age(each.basis_ms)}; now {each.now}{beyond}"


def _quality(report: Handover) -> Iterator[Block]:
    quality, span = report.quality, report.span
    yield Heading(2, "Quality of the data")
    texts = [
        f"No data at all from {_between(gap, span)}: the agent did not run, or could not store."
        for gap in quality.silent[:MOST_GAPS]
    ]
    texts += [f"No snapshot of {name} from {_between(gap, span)}." for name, gap in quality.gaps[:MOST_GAPS]]
    texts += [
        f"{name} could not be reached in {counted(count, 'poll')} of {of:,}." for name, count, of in quality.unreachable
    ]
    left = len(quality.silent[MOST_GAPS:]) + len(quality.gaps[MOST_GAPS:])
    if left:
        texts.append(f"And {counted(left, 'more gap')}.")
    texts += quality.remarks
    texts += [_unknown_words(*each) for each in quality.unknown]
    if not quality.silent and not quality.gaps:
        counts = ", ".join(f"{name} {count:,}" for name, count in quality.snapshots.items())
        texts.insert(0, f"No gaps. Snapshots: {counts}." if counts else "There is no snapshot of this time.")
    yield Items(tuple(texts))


def _unknown_words(reason: Absence, count: int, rules: Sequence[str]) -> str:
    named = ", ".join(rules[:_MOST_RULES])
    more = f" and {len(rules) - _MOST_RULES} more" if len(rules) > _MOST_RULES else ""
    words = _REASONS.get(reason, reason.value)
    return f"Could not be judged, {words}: {counted(count, 'check')} of {named}{more}."


def _between(gap: TimeRange, span: TimeRange) -> str:
    return f"{_at(gap.since, span)} to {_at(gap.until, span)} ({age(gap.until - gap.since)})"


def _length(report: Handover) -> str:
    """How long the time of the report is: ``12 h``, ``1 h 30 m``."""
    return age(report.span.until - report.span.since).removesuffix(" 0 m")


def _at(ts: int, span: TimeRange) -> str:
    """The time of day, with the date where it is not the day on which the report ends."""
    return since_words(ts, span.until)


def _minute(ts: int, span: TimeRange) -> str:
    return clock(ts)[:5] if day(ts) == day(span.until) else f"{day(ts)} {clock(ts)[:5]}"


def _rest(count: int) -> str:
    return f"And {counted(count, 'more alert')}: 'mqvitals alerts list' shows them."

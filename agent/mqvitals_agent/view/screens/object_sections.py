"""Parts of an object's screen: its rules and their verdicts, and the figures of its newest record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mqvitals_agent.text.figure import age, figure
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, labelled, tone_of, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts import since_words
from mqvitals_agent.view.object_detail import ObjectRule
from mqvitals_agent.view.values import Values, newest_record, number_in, on_zos, record_words
from mqvitals_rules.ruleset.markdown import hold_text, one_line
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric as metric_of

_LEAD = 12
"""Cells of the label before each text."""


def rule_lines(rules: Sequence[ObjectRule], off: Sequence[tuple[Rule, str]], now: int, width: int) -> Iterator[Line]:
    """Every rule of an object; of rules that find nothing wrong only the condition and its source.

    Of rules that need SMF records or a console only that, and of those that are ``off`` for it the site's reason.
    """
    if not rules and not off:
        return
    yield heading("Rules for this object", width)
    for each in rules:
        yield from _rule(each, now, width)
    for rule, reason in off:
        words = "turned off by the settings" + (f" ({reason})" if reason else "")
        text = safe(f"{one_line(rule.title)}: {words}")
        yield from labelled(Span(f"{safe('- ' + rule.id):<{_LEAD}}", Tone.FAINT), text, width, Tone.FAINT, gap="")


def verdict(each: ObjectRule, now: int) -> tuple[Health, str]:
    """A rule's verdict as a health and in words."""
    truth, alert = each.explanation.when.truth, each.alert
    if each.firing and alert is not None and alert.started is not None:
        words = f"fires for {age(now - alert.started)}, since {since_words(alert.started, now)}"
        if truth is None:
            words += "; unknown at the last poll"
        elif not truth:
            words += "; the condition no longer holds, and it is open until it clears"
        return health_of(alert.severity), words
    if truth:
        severity = each.explanation.severity
        health = Health.UNKNOWN if severity is None else health_of(severity)
        held = hold_text(each.rule.rule)
        when = "at the next evaluation" if held == "at once" else f"when it has held for {held}"
        return health, f"holds; fires {when}"
    if truth is None:
        return Health.UNKNOWN, f"unknown, needs {each.lacks}" if each.lacks else "unknown"
    return Health.OK, "fine"


def _rule(each: ObjectRule, now: int, width: int) -> Iterator[Line]:
    rule, explanation = each.rule.rule, each.explanation
    health, words = verdict(each, now)
    head = f"{health.glyph} {safe(rule.id)}"
    text = f"{safe(one_line(rule.title))}: {words}"
    yield from labelled(Span(f"{head:<{_LEAD}}", tone_of(health)), text, width, Tone.STRONG, gap="")
    if each.lacks:
        # Without SMF records or a console this holds for many rules permanently: their details are in the manual.
        return
    for number, changed in enumerate(each.tuned):
        reason = f": {changed.entry.reason}" if changed.entry.reason else ""
        text = f"{changed.key}: {changed.value}, not {changed.standard}{reason}"
        yield from _labelled("tuned" if not number else "", text, width)
    yield from _labelled("when", explanation.when.filled, width)
    if explanation.when.truth is None:
        for number, remedy in enumerate(explanation.remedies):
            yield from _labelled("missing" if not number else "", remedy, width, Tone.UNKNOWN)
    if each.firing and explanation.clear is not None:
        yield from _labelled("clears", explanation.clear.filled, width)
    if health is not Health.OK:
        yield from _labelled("advice", explanation.advice, width)
        yield from _labelled("caveat", rule.caveat, width)
        yield from _labelled("MQSC", explanation.mqsc, width, Tone.STRONG)
    for number, source in enumerate(rule.sources):
        yield from _labelled("source" if not number else "", f"{source.document}, {source.section}", width, Tone.FAINT)


def _labelled(label: str, text: str, width: int, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    text = safe(one_line(text))
    if not text:
        return
    yield from labelled(Span(f"{'  ' + label:<{_LEAD}}", Tone.FAINT), text, width, tone, gap="")


_FREE, _LOW = metric_of("buffer_pool", "free_pct"), metric_of("buffer_pool", "low_pct")


class RecordFigure(NamedTuple):
    """Words before a metric's figure, and after it."""

    before: str
    metric: str
    after: str = ""


_PARTS: Mapping[str, tuple[RecordFigure, ...]] = {
    "buffer_pool": (
        RecordFigure("deferred writer started", "dwt", "times"),
        RecordFigure("synchronous write threshold hit", "dmc", "times"),
        RecordFigure("no buffer to be had", "sos", "times"),
        RecordFigure("", "imw", "written while a task waited"),
        RecordFigure("", "rio", "read in as many I/Os"),
        RecordFigure("", "tpw", "written"),
        RecordFigure("in", "wio", "I/Os"),
    ),
    "log": (
        RecordFigure("", "write_mb_s", "written a copy"),
        RecordFigure("no free log buffer", "wtb", "times"),
        RecordFigure("tasks waited for a write", "suspends", "times"),
        RecordFigure("longest write", "io_max_us"),
        RecordFigure("log buffers paged in", "pagein"),
        RecordFigure("checkpoints", "checkpoints"),
        RecordFigure("reads from active logs", "reads_active"),
        RecordFigure("from archive logs", "reads_archive"),
    ),
    "channel": (
        RecordFigure("NETTIME min", "nettime_min_us"),
        RecordFigure("average", "nettime_avg_us"),
        RecordFigure("max", "nettime_max_us"),
        RecordFigure("", "interval_msgs"),
        RecordFigure("", "msgs_per_batch", "a batch"),
        RecordFigure("full batches", "full_batches"),
        RecordFigure("put retries", "put_retries"),
    ),
}
"""By kind the figures of an interval, in the order in which they are shown."""


def position_lines(kind: str, values: Values, now: int, width: int) -> tuple[Line, ...]:
    """How long a log's range of positions lasts and what its oldest unit of work holds; a queue manager's units. Each
    with the age of its figures.
    """
    sentences = {
        "log": ((_range_words, "rba"), (_oldest_words, "uow_span_mb")),
        "queue_manager": ((_unit_words, "units_active"),),
    }.get(kind, ())
    words = [
        f"{found} ({record_words(values[metric], now)})"
        for sentence, metric in sentences
        if (found := sentence(kind, values))
    ]
    return tuple(line for each in words for line in wrapped(each, width, Tone.PLAIN, first="  ", rest="    "))


def _range_words(kind: str, values: Values) -> str:
    if "rba" not in values or "rba_used_pct" not in values:
        return ""
    of = (
        f"{_word(kind, 'rba_width', values)} of RBA"
        if _present(values, "rba_width")
        else "RBA of unknown length (declare rba_bytes)"
    )
    growth = "; ".join(
        f"{lead}{_word(kind, rate, values)} a day, lasts {_word(kind, left, values)}"
        for lead, rate, left in (
            ("", "rba_mb_per_day", "rba_days_left"),
            ("busiest week of 8: ", "rba_busiest_mb_per_day", "rba_busiest_days_left"),
        )
        if _present(values, rate)
    )
    lasts = growth or f"how long it lasts: {_word(kind, 'rba_days_left', values)}"
    return f"RBA {_word(kind, 'rba', values)}: {_word(kind, 'rba_used_pct', values)} of the range, {of}; {lasts}"


def _oldest_words(kind: str, values: Values) -> str:
    span = values.get("uow_span_mb")
    if span is None:
        return ""
    if span.value == 0:
        return "no unit of work is active"
    data_set = values.get("oldest_uow_data_set")
    where = f"in {_word(kind, 'oldest_uow_data_set', values)}"
    return (
        f"oldest unit of work: {_word(kind, 'uow_span_mb', values)} of log ago, at RBA {_word(kind, 'oldest_uow_rba', values)}"
        f" {'in no active log' if data_set is not None and data_set.value == '' else where},"
        f" age {_word(kind, 'oldest_uow_age_s', values)}"
    )


def _unit_words(kind: str, values: Values) -> str:
    if "units_active" not in values:
        return ""
    words = ", ".join(
        f"{_word(kind, f'units_{state}', values)} {state}" for state in ("active", "prepared", "unresolved")
    )
    oldest = "; ".join(
        f"oldest {what} for {_word(kind, age_of, values)}: {_word(kind, who, values)}"
        for what, age_of, who in (
            ("in doubt", "indoubt_age_s", "indoubt_oldest"),
            ("with log records", "logged_age_s", "logged_oldest"),
        )
        if _present(values, who)
    )
    return f"units of work: {words}" + (f"; {oldest}" if oldest else "")


def _present(values: Values, name: str) -> bool:
    latest = values.get(name)
    return latest is not None and not isinstance(latest.value, Absence)


def _word(kind: str, name: str, values: Values) -> str:
    latest = values.get(name)
    return figure(Absence.NOT_ASKED if latest is None else latest.value, metric_of(kind, name))


def interval_lines(kind: str, values: Values, now: int, width: int) -> tuple[Line, ...]:
    """The lines; a buffer pool always has one for its free buffers, other kinds none without a record."""
    return (
        *(_free(values, now, width) if kind == "buffer_pool" else ()),
        *(_calls(values, now, width) if kind == "queue_manager" else ()),
        *_record(kind, values, now, width),
    )


_CALLS: Mapping[str, str] = {
    "MQGET": "get_calls",
    "MQPUT": "put_calls",
    "MQPUT1": "put1_calls",
    "MQOPEN": "open_calls",
    "MQCLOSE": "close_calls",
    "MQINQ": "inquire_calls",
    "MQSET": "set_calls",
    "MQSUB": "subscribe_calls",
    "MQCB": "callback_calls",
}
"""The calls that the rate of all of them is made of."""


def _calls(values: Values, now: int, width: int) -> Iterator[Line]:
    """``SMF 12:00, 14m ago: MQI calls 812 /s: MQGET 400 /s, MQPUT 210 /s``: the busiest first."""
    rate = values.get("mqi_call_rate")
    every = number_in(rate)
    if rate is None or every is None:
        return
    counts = {verb: number_in(values.get(name)) or 0 for verb, name in _CALLS.items()}
    total = sum(counts.values())
    unit = metric_of("queue_manager", "mqi_call_rate")
    busiest = sorted((count, verb) for verb, count in counts.items() if count)[::-1]
    shares = ", ".join(f"{verb} {figure(every * count / total, unit)}" for count, verb in busiest)
    words = f"{record_words(rate, now, long=True)}: MQI calls {figure(every, unit)}{f': {shares}' if shares else ''}"
    yield from wrapped(words, width, Tone.PLAIN if rate.unanswered is None else Tone.STALE, first="  ", rest="    ")


def _free(values: Values, now: int, width: int) -> Iterator[Line]:
    """``free 61 % now (3s ago), lowest 4 % (SMF 12:00, 14m05s ago)``."""
    free, low = values.get("free_pct"), values.get("low_pct")
    if free is None or isinstance(free.value, Absence):
        words = f"free: {Absence.NOT_ASKED.value if free is None else figure(free.value, _FREE)}"
    else:
        words = f"free {figure(free.value, _FREE)} now ({record_words(free, now)})"
    if low is None:
        words += f", lowest: {Absence.NEEDS_SMF.value}" if on_zos(values) else ""
    elif isinstance(low.value, Absence):
        words += f", lowest: {low.value.value}"
    else:
        words += f", lowest {figure(low.value, _LOW)} ({record_words(low, now)})"
    stale = low is not None and low.unanswered is not None
    yield from wrapped(words, width, Tone.STALE if stale else Tone.PLAIN, first="  ", rest="    ")


def _record(kind: str, values: Values, now: int, width: int) -> Iterator[Line]:
    parts = _PARTS.get(kind, ())
    newest = newest_record(values, (part.metric for part in parts))
    if newest is None:
        return
    words = [
        " ".join(word for word in (part.before, figure(latest.value, metric_of(kind, part.metric)), part.after) if word)
        for part in parts
        if (latest := values.get(part.metric)) is not None
        and latest.ts == newest.ts
        and latest.source is newest.source
        and not isinstance(latest.value, Absence)
    ]
    head = record_words(newest, now, long=True)
    yield from wrapped(
        f"{head}: {', '.join(words)}",
        width,
        Tone.PLAIN if newest.unanswered is None else Tone.STALE,
        first="  ",
        rest="    ",
    )

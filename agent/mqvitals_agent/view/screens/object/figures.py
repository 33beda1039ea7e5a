"""Parts of an object's page about its figures: of its newest record in words, every one that is known, the absent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.text.figure import figure, number, short_age
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.figures.values import Values, newest_record, number_in, on_zos, record_words, trace_words
from mqvitals_rules.snapshot import Instance, Source
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.view.object.detail import ObjectDetail

_INDENT = "  "
_WIDE = 100
"""From this width on the meaning of a metric fits beside it."""

_MOST_INSTANCES = 10

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


def figure_lines(detail: ObjectDetail, now: int, width: int) -> Iterator[Line]:
    """The present metrics, by the answer that reported them, in the vocabulary's order."""
    kind, values = KINDS[detail.name.kind], detail.values or {}
    present = [
        (metric, values[metric.name])
        for metric in kind.metrics
        if metric.name in values and not isinstance(values[metric.name].value, Absence)
    ]
    if not present:
        yield heading("Figures", width)
        yield line(f"{_INDENT}none is known", Tone.ABSENT)
        return
    name_width = max(cells(metric.name) for metric, _ in present)
    texts = {metric.name: figure(latest.value, metric) for metric, latest in present}
    value_width = min(max(map(cells, texts.values())), 26)
    probe = None
    for metric, latest in present:
        if latest.probe != probe:
            probe = latest.probe
            yield heading(f"Figures from {safe(probe)}", width)
        text, old = texts[metric.name], "" if latest.ts is None else short_age(now - latest.ts)
        stale = detail.stale or latest.unanswered is not None
        spans = [Span(_INDENT), Span(fit(metric.name, name_width), Tone.FAINT), Span("  ")]
        tone = Tone.STALE if stale else Tone.PLAIN
        if cells(text) > value_width:
            yield from (each._replace(figure=metric.name) for each in _long(spans, text, old, width, tone))
            continue
        spans += [Span(fit(text, value_width), tone), Span(f"  {old:>6}", Tone.STALE if stale else Tone.FAINT)]
        note = metric.meaning
        if latest.unanswered is not None:
            polled = latest.source is Source.POLL
            note = f"not answered since: {latest.unanswered.value}" if polled else "stale: no record since"
        room = width - sum(cells(span.text) for span in spans) - 2
        if room > 0 and (width >= _WIDE or latest.unanswered is not None):
            spans += [Span("  "), Span(cut(note, room), Tone.FAINT)]
        yield Line(tuple(spans), figure=metric.name)


def _long(spans: list[Span], text: str, old: str, width: int, tone: Tone) -> Iterator[Line]:
    """A text that is longer than the column, over several lines."""
    lead = "".join(span.text for span in spans)
    first, *rest = wrap(f"{text}  {old}", width, first=lead, rest=" " * min(cells(lead), width // 2))
    yield Line((*spans, Span(first[len(lead) :], tone)))
    for each in rest:
        yield line(each, tone)


def instance_lines(detail: ObjectDetail, width: int) -> Iterator[Line]:
    """The instances of an object that has several."""
    if len(detail.instances) < 2:
        return
    counted = number_in((detail.values or {}).get("instances"))
    count = max(len(detail.instances), 0 if counted is None else round(counted))
    yield heading(f"Instances: {number(count)}", width)
    for each in detail.instances[:_MOST_INSTANCES]:
        yield line(cut(f"{_INDENT}{_instance(each, detail.name.kind)}", width))
    if count > _MOST_INSTANCES:
        yield line(f"{_INDENT}and {number(count - _MOST_INSTANCES)} more", Tone.FAINT)


def _instance(each: Instance, kind: str) -> str:
    parts = [safe(each.key)]
    for name in ("status", "substate", "msgs", "remote_application", "conname"):
        metric = KINDS[kind].metric(name)
        value = each.values.get(name)
        if metric is not None and value is not None and not isinstance(value, Absence):
            parts.append(figure(value, metric))
    return "  ".join(parts)


def absent_lines(detail: ObjectDetail, width: int) -> Iterator[Line]:
    """The absent metrics, by reason."""
    kind, values = KINDS[detail.name.kind], detail.values or {}
    reasons: dict[str, list[str]] = {}
    for metric in kind.metrics:
        latest = values.get(metric.name)
        if latest is not None and isinstance(latest.value, Absence):
            reasons.setdefault(latest.value.value, []).append(metric.name)
        elif latest is None and metric.measured:
            continue
        elif latest is None and metric.needs_smf:
            reasons.setdefault(Absence.NEEDS_SMF.value, []).append(metric.name)
        elif latest is None and metric.needs_statistics:
            reasons.setdefault(Absence.NEEDS_STATISTICS.value, []).append(metric.name)
        elif latest is None and not metric.declared:
            reasons.setdefault(Absence.NOT_ASKED.value, []).append(metric.name)
    if not reasons:
        return
    yield heading("Absent", width)
    for reason, names in reasons.items():
        yield from wrapped(f"{reason}: {', '.join(names)}", width, Tone.ABSENT, first=_INDENT, rest=_INDENT * 2)
        if reason == Absence.NEEDS_SMF.value and on_zos(values):
            yield from wrapped(trace_words(kind.name), width, Tone.FAINT, first=_INDENT * 2, rest=_INDENT * 2)

"""The alerts screen and ``mqvitals alerts list``: open alerts, ended ones, and apart from them advice on the
configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.text.figure import number, object_words
from mqvitals_agent.text.severity import WIDEST, Health, health_of
from mqvitals_agent.text.strip import strip
from mqvitals_agent.text.styled import Line, Part, Span, Tone, heading, line, signed_line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.alerts.actions import handling_texts
from mqvitals_agent.view.alerts.handling import NO_MARK, legend
from mqvitals_agent.view.alerts.words import (
    began_ts,
    duration_words,
    grouped_by_cause,
    object_key,
    short_summary,
    shown_severity,
    since_words,
    summary,
)
from mqvitals_agent.view.history.heat import folded, heat_parts
from mqvitals_agent.view.status import silent_since, without_answer
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Severity, Why
from mqvitals_rules.ruleset.rule import RuleKind

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame


SUMMARY_INDENT = 4

WIDE, LEAST_SUMMARY = 120, 40
"""Cells: the width from which summaries are beside their alerts, and the least room that they need there."""


def entry_texts(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    *,
    covered: Mapping[AlertKey, AlertKey] | None = None,
    silent: Mapping[str, int] | None = None,
    numbers: Mapping[Alert, int] | None = None,
    marks: Mapping[Alert, str] | None = None,
    one_line: bool = False,
) -> list[list[str]]:
    """Each alert as lines: severity, mark, duration, start, rule, object; beside or below them its summary.

    ``covered`` maps a firing alert to the one that covers it (a worse one of its family, or its cause), ``silent`` an
    owner of which only the last known state is shown to its time (ms UTC). ``numbers`` are those of the alerts in the
    store, shown before the rule, ``marks`` one character each. With ``one_line`` a summary is cut to one line, and effects are omitted.
    """
    silent, covered = silent or {}, covered or {}
    widest = max((cells(f"#{number}") for number in (numbers or {}).values()), default=0)
    # Milder alerts of the same family are not counted as effects.
    families = {alert.key: alert.family for alert in alerts}
    stages = {
        alert.key
        for alert in alerts
        if alert.key in covered and (alert.cause is None or _same_family(alert, covered[alert.key], families))
    }
    effects: dict[AlertKey, list[str]] = {}
    for key, stands in covered.items():
        if key not in stages and not one_line:
            effects.setdefault(stands, []).append(key.rule)
    rows = [
        _alert_row(
            alert,
            now,
            _notes(alert, covered, stages, effects.get(alert.key, ()), silent),
            mark=(marks or {}).get(alert, NO_MARK) if marks is not None else "",
            rule=_rule_cell(alert, numbers or {}, widest),
            until=silent.get(alert.key.object.owner, now),
        )
        for alert in alerts
    ]
    # Ended alerts have longer times, and so columns of their own.
    groups = {is_open: [each for each in rows if each.is_open is is_open] for is_open in (True, False)}
    columns = {is_open: _AlertColumns.of(group, width) for is_open, group in groups.items()}
    if any(group and not columns[is_open].summary for is_open, group in groups.items()):
        columns = {is_open: each._replace(summary=0) for is_open, each in columns.items()}
    return [_texts(each, columns[each.is_open], width, one_line=one_line) for each in rows]


def _rule_cell(alert: Alert, numbers: Mapping[Alert, int], widest: int) -> str:
    """The rule, after the alert's number where it is known; ``widest`` is the widest number, in cells."""
    if alert not in numbers:
        return safe(alert.key.rule)
    return f"{fit(f'#{numbers[alert]}', widest)}  {safe(alert.key.rule)}"


class _AlertRow(NamedTuple):
    health: Health
    mark: str
    lasted: str
    when: str
    rule: str
    words: str
    summary: str
    is_open: bool


def _alert_row(alert: Alert, now: int, notes: Sequence[str], *, mark: str, rule: str, until: int) -> _AlertRow:
    """Notes about what is stand beside the object; how it went follows the words of an ended alert, so that these have the
    room."""
    is_open = alert.ended is None
    return _AlertRow(
        health_of(shown_severity(alert)),
        mark,
        duration_words(alert, until),
        _when(alert, now),
        rule,
        " ".join((object_words(alert.key.object), *(notes if is_open else ()))),
        " ".join((safe(short_summary(alert)), *(() if is_open else notes))),
        is_open,
    )


class _AlertColumns(NamedTuple):
    """How wide the columns are; ``summary`` is the cell where the summary begins, 0 when it is below its alert."""

    lasted: int
    rule: int
    summary: int

    @classmethod
    def of(cls, rows: Sequence[_AlertRow], width: int) -> _AlertColumns:
        lasted = max((cells(each.lasted) for each in rows), default=0)
        rule = max((cells(each.rule) for each in rows), default=0)
        plain = cls(lasted, rule, 0)
        heads = [cells(_head(each, plain)) + 2 for each in rows]
        if width < WIDE:
            widest = max((head + cells(each.words) for head, each in zip(heads, rows, strict=True)), default=0)
            return plain if widest <= width else cls(lasted, 0, 0)
        # A few long names have their summaries below; when there are many of them, all have.
        ends = [head + cells(each.words) + 2 for head, each in zip(heads, rows, strict=True)]
        fitting = [end for end in ends if width - end >= LEAST_SUMMARY]
        return cls(lasted, rule, max(fitting) if 2 * len(fitting) > len(ends) else 0)


def _head(row: _AlertRow, columns: _AlertColumns) -> str:
    return (
        f"{fit(str(row.health), WIDEST)} {row.mark} {fit(row.lasted, columns.lasted)}  {row.when}  "
        f"{row.rule}{' ' * (columns.rule - cells(row.rule))}"
    )


def _texts(row: _AlertRow, columns: _AlertColumns, width: int, *, one_line: bool) -> list[str]:
    head, rest = _head(row, columns), " " * SUMMARY_INDENT
    first = f"{head}  {row.words}"
    beside = bool(columns.summary) and cells(first) + 2 <= columns.summary
    if beside:
        first = fit(first, columns.summary)
        column = " " * columns.summary
        lines = [(first + cut(row.summary, width - columns.summary)).rstrip()] if one_line else []
        lines = lines or wrap(row.summary, width, first=first, rest=column)
    else:
        if cells(first) <= width:
            lines = [first]
        else:
            # The sign is never broken, however narrow the terminal is.
            head = head.rstrip()
            heads = [head] if cells(head) <= width else wrap(head[WIDEST:], width, first=head[:WIDEST] + " ", rest=rest)
            lines = [*heads, *wrap(row.words, width, first=rest, rest=rest)]
        below = rest + row.summary
        lines += [cut(below, width)] if one_line else wrap(row.summary, width, first=rest, rest=rest)
    return lines


def entry_lines(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    *,
    covered: Mapping[AlertKey, AlertKey] | None = None,
    silent: Mapping[str, int] | None = None,
    numbers: Mapping[Alert, int] | None = None,
    beside: Mapping[Alert, Sequence[str]] | None = None,
    bold: Mapping[Alert, bool | None] | None = None,
    one_line: bool = False,
) -> list[Line]:
    """The lines of ``entry_texts``, those of one alert after those of another; the sign of an open one has its tone.

    ``beside`` are texts that follow an alert, such as what people did about it; ``bold`` says which alerts stand out.
    """
    lines: list[Line] = []
    texts = entry_texts(alerts, now, width, covered=covered, silent=silent, numbers=numbers, one_line=one_line)
    indent = " " * SUMMARY_INDENT
    for alert, (first, *rest) in zip(alerts, texts, strict=True):
        stands_out = (bold or {}).get(alert)
        lines.append(
            signed_line(first, health_of(alert.severity), bold=stands_out) if alert.ended is None else line(first)
        )
        lines += map(line, rest)
        for text in (beside or {}).get(alert, ()):
            lines += wrapped(text, width, first=indent, rest=indent + "  ")
    return lines


def alert_list_lines(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    covered: Mapping[AlertKey, AlertKey] | None = None,
    silent: Mapping[str, int] | None = None,
    numbers: Mapping[Alert, int] | None = None,
    beside: Mapping[Alert, Sequence[str]] | None = None,
    bold: Mapping[Alert, bool | None] | None = None,
) -> list[Line]:
    """The lines of ``mqvitals alerts list``; the mappings as for ``entry_lines``."""
    if not alerts:
        return [signed_line(f"{Health.OK}  no alerts", Health.OK)]
    listed = grouped_by_cause(alerts, covered or {})
    return entry_lines(listed, now, width, covered=covered, silent=silent, numbers=numbers, beside=beside, bold=bold)


END_WORDS = {
    Why.UNKNOWN: "ended: unknown",
    Why.GONE: "ended: gone",
    Why.UNWATCHED: "ended: unwatched",
    Why.RULE_REMOVED: "ended: no rule",
    Why.TURNED_OFF: "ended: turned off",
}
"""Words for an end that is not a recovery."""


def _when(alert: Alert, now: int) -> str:
    begin = since_words(began_ts(alert), now)
    if alert.ended is None:
        return f"since {begin}"
    return f"{begin} - {since_words(alert.ended, now)} {END_WORDS.get(alert.why, 'ended')}"


def _notes(
    alert: Alert,
    covered: Mapping[AlertKey, AlertKey],
    stages: Collection[AlertKey],
    effects: Sequence[str],
    silent: Collection[str],
) -> list[str]:
    """Notes in brackets: none, or one per fact."""
    if alert.ended is not None:
        figures = [f"{alert.worst_value} at worst"] if alert.worst_value else []
        figures += [f"{alert.value_now} at its end"] if alert.value_now else []
        figures += [alert.off_reason] if alert.off_reason else []
        return [f"({', '.join(map(safe, figures))})"] if figures else []
    notes = []
    if alert.worst > alert.severity:
        notes.append(f"was {alert.worst.name.lower()}")
    if alert.key in covered:
        stands = covered[alert.key]
        why = "covered by" if alert.key in stages else "caused by"
        same = stands.rule == alert.key.rule
        notes.append(f"the same as at {safe(stands.object.owner)}" if same else f"{why} {safe(stands.rule)}")
    elif effects:
        counts = Counter(effects)
        if same_rule := counts.pop(str(alert.key.rule), 0):
            notes.append(
                f"{number(same_rule)} more {'queue managers report' if same_rule > 1 else 'queue manager reports'} it"
            )
        words = [f"{safe(rule)} x {count}" if count > 1 else safe(rule) for rule, count in counts.items()]
        if words:
            notes.append(f"caused {', '.join(words)}")
    if alert.key.object.owner in silent:
        notes.append("last known")
    return [f"({note})" for note in notes]


def _same_family(alert: Alert, stands: AlertKey, families: Mapping[AlertKey, str]) -> bool:
    return bool(alert.family) and stands.object == alert.key.object and families.get(stands) == alert.family


def alert_lines(frame: Frame, width: int, text: str = "") -> tuple[Line, ...]:
    """The alerts that match ``text``, in ``width`` cells; a line's key is the object that the alert's rule
    evaluates."""
    found = matching_alerts(frame.alerts, text)
    advice = [alert for alert in found if alert.kind_of_rule != RuleKind.OPERATIONAL.value]
    others = [alert for alert in found if alert.kind_of_rule == RuleKind.OPERATIONAL.value]
    opened = grouped_by_cause([alert for alert in others if alert.ended is None], frame.covered)
    ended = [alert for alert in others if alert.ended is not None]
    # What has ended and nobody has seen stays above what is over and known.
    unseen = [alert for alert in ended if frame.handled.asks(alert)]
    ended = [alert for alert in ended if not frame.handled.asks(alert)]
    words = legend(map(frame.handled.mark, opened))
    strips = frame.heat.words(_strip_cells(width)) if frame.heat.alerts else ""
    notes = "; ".join(each for each in (words, f"at the right the {strips}" if strips else "") if each)
    lines = [heading(f"Open: {number(len(opened))}{f' ({notes})' if notes else ''}", width)]
    lines += _rows(frame, opened, width)
    if not opened:
        lines.append(_none(frame, text))
        if not text and (lacking := without_answer(frame.status.unknown)):
            lines += wrapped(lacking, width, Tone.FAINT)
    if unseen:
        title = f"Ended and not acknowledged: {number(len(unseen))}; a: acknowledge, A: all of them"
        lines += [heading(title, width), *_rows(frame, unseen, width)]
    if ended:
        lines += [heading(f"Ended: {number(len(ended))}, the newest first", width), *_rows(frame, ended, width)]
    if advice:
        listed = bool(text) and len({alert.key.rule for alert in advice}) == 1
        rows = _rows(frame, advice, width) if listed else _advice_rows(frame, advice, width, text)
        lines += [heading(f"Advice: {number(len(advice))}", width), *rows]
    return tuple(lines)


def matching_alerts(alerts: Iterable[Alert], text: str) -> list[Alert]:
    """The alerts in whose rule, object, severity or summary every word of ``text`` occurs, in any case of letters.

    ``rule:CHL-05``, ``severity:critical`` and ``state:firing`` (or ``ended``) select by these alone.
    """
    words = text.casefold().split()
    return [alert for alert in alerts if all(_matches(alert, word) for word in words)]


def _matches(alert: Alert, word: str) -> bool:
    field, colon, wanted = word.partition(":")
    if colon and field == "rule":
        return alert.key.rule.casefold() == wanted
    if colon and field == "severity":
        return health_of(shown_severity(alert)).word.startswith(wanted)
    state = "firing open" if alert.ended is None else "ended resolved"
    if colon and field == "state":
        return any(each.startswith(wanted) for each in state.split())
    words = f"{alert.key.rule} {alert.key.object} {alert.key.instance} {summary(alert)} {shown_severity(alert).name}"
    return word in words.casefold()


def _none(frame: Frame, text: str) -> Line:
    if text:
        return line("no alert matches", Tone.FAINT)
    health = frame.status.health
    if health >= Health.UNKNOWN:
        return line(f"{Health.UNKNOWN.glyph} no alert is known, but some data is missing", Tone.UNKNOWN)
    return line(f"{Health.OK.glyph} no alerts", Tone.OK)


GROUP_KEY = "rule:"
"""How the key of a line begins that stands for several alerts: the filter that lists them one by one."""

_FEW = 2
"""As many pieces of advice of one rule are listed one by one."""


def _advice_rows(frame: Frame, advice: Sequence[Alert], width: int, text: str) -> Iterator[Line]:
    """Advice by rule, that of most objects first: ``CHL-05 x20``, which opens the list of them, its first text, and the
    objects, each of which opens; ``text`` is the filter that all match."""
    groups: dict[tuple[str, Severity, bool], list[Alert]] = {}
    for alert in advice:
        groups.setdefault((alert.key.rule, shown_severity(alert), alert.ended is None), []).append(alert)
    for alerts in sorted(groups.values(), key=lambda group: (group[0].ended is not None, -len(group))):
        yield from _rows(frame, alerts, width) if len(alerts) <= _FEW else _advice_group(frame, alerts, width, text)


def _advice_group(frame: Frame, alerts: Sequence[Alert], width: int, text: str) -> Iterator[Line]:
    first, lead = alerts[0], " " * SUMMARY_INDENT
    health = health_of(shown_severity(first))
    title = f"{fit(str(health), WIDEST)}   {safe(first.key.rule)} x{number(len(alerts))}"
    known = sum(map(frame.handled.is_acknowledged, alerts))
    if known:
        title += f" ({'' if known == len(alerts) else f'{number(known)} '}acknowledged)"
    first_line, *rest = wrap(safe(short_summary(first)), width, first=f"{title}  ", rest=lead)
    tone = tone_of(health) if first.ended is None else Tone.FAINT
    state = "firing" if first.ended is None else "ended"
    key = " ".join((f"{GROUP_KEY}{safe(first.key.rule)} severity:{health.word} state:{state}", *text.split()))
    yield Line((Span(first_line[:WIDEST], tone), Span(first_line[WIDEST:])), key)
    yield from (line(each, Tone.FAINT) for each in rest)
    spans: list[Span] = [Span(lead)]
    parts: list[Part] = []
    x = SUMMARY_INDENT
    for alert in alerts:
        words = cut(object_words(alert.key.object), width - SUMMARY_INDENT)
        size = cells(words)
        if parts and x + size > width:
            yield Line(tuple(spans[:-1]), parts[0].key, parts=tuple(parts))
            spans, parts, x = [Span(lead)], [], SUMMARY_INDENT
        parts.append(Part(x, x + size, object_key(alert)))
        spans += [Span(words, Tone.FAINT), Span("  ")]
        x += size + 2
    yield Line(tuple(spans[:-1]), parts[0].key, parts=tuple(parts))


_ROOMY = 150
"""Cells: the width from which strips have a column of their own; below it they stand where the text leaves room."""


def _strip_cells(width: int) -> int:
    """The cells of an alert's strip of states."""
    return 24 if width >= _ROOMY else 12


def _with_strip(frame: Frame, head: Line, width: int, size: int) -> Line:
    """The first line of an alert with its states of the last hours at the right, where they fit."""
    states = folded(frame.heat.alerts.get(head.alert, ()), size)
    used = cells(head.text)
    if not states or used + 2 + size > width:
        return head
    parts = heat_parts(frame.heat, states, head.key, width - size, frame.now)
    return head._replace(spans=(*head.spans, Span(" " * (width - size - used)), *strip(states)), parts=parts)


def _rows(frame: Frame, alerts: list[Alert], width: int) -> Iterator[Line]:
    """Each alert, with its summary beside it or below."""
    silent = silent_since(frame.status)
    covered: Mapping[AlertKey, AlertKey] = frame.covered
    handled = frame.handled
    marks = None if handled.past else {alert: handled.mark(alert) for alert in alerts}
    strip_width = _strip_cells(width)
    room = width - strip_width - 2 if width >= _ROOMY else width
    entries = entry_texts(alerts, frame.now, room, covered=covered, silent=silent, marks=marks)
    for alert, texts in zip(alerts, entries, strict=True):
        health = health_of(shown_severity(alert))
        key = object_key(alert)
        first, *rest = texts
        tone = tone_of(health) if alert.ended is None else Tone.FAINT
        if alert.ended is None and alert.key.object.owner in silent:
            tone = Tone.STALE
        covers = Tone.FAINT if alert.ended is not None or alert.key in covered else Tone.PLAIN
        bold, number_of_it = handled.bold(alert), handled.number(alert)
        head = Line((Span(first[:WIDEST], tone, bold), Span(first[WIDEST:], covers, bold or None)), key, number_of_it)
        yield _with_strip(frame, head, width, strip_width)
        for each in rest:
            yield line(each, Tone.FAINT if width < WIDE else covers, key)._replace(alert=number_of_it)
        found = handled.of(alert)
        for text in () if found is None or handled.past else handling_texts(found, handled.now):
            lead = " " * SUMMARY_INDENT
            for below in wrapped(text, width, Tone.INFO, first=lead, rest=lead + "  ", key=key):
                yield below._replace(alert=number_of_it)

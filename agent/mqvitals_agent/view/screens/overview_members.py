"""The queue managers on the overview: a line each, in as many columns as fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.text.chart import TimeRange as Time
from mqvitals_agent.text.figure import number, short_age
from mqvitals_agent.text.severity import WIDEST, Health, health_of, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, fit, safe, wrap
from mqvitals_agent.view import key_figures
from mqvitals_agent.view.key_figures import SPAN_MS, as_seen, seen_ts
from mqvitals_agent.view.status import (
    GroupStatus,
    OwnerData,
    OwnerStatus,
    unreachable_words,
)
from mqvitals_agent.view.table import Cell, short_absence
from mqvitals_agent.view.values import SOON_MS, full_in
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

_REASONS = frozenset(absence.value for absence in Absence)

_POOL, _POOL_PAST, _PAGE_SET, _PAGE_SET_PAST, _FULL_IN, _CHANNELS, _RATE, _TASKS, _LOGS, _SEEN = range(10)

_TITLES = {
    _POOL: "Pool, free",
    _POOL_PAST: "trend",
    _PAGE_SET: "Page set",
    _PAGE_SET_PAST: "trend",
    _FULL_IN: "full in",
    _CHANNELS: "Channels",
    _RATE: "Msgs/s",
    _TASKS: "Chinit",
    _LOGS: "Full logs",
    _SEEN: "Seen",
}
"""The columns, in their order."""

_BY_NEED = (_POOL, _PAGE_SET, _CHANNELS, _POOL_PAST, _FULL_IN, _RATE, _LOGS, _TASKS, _SEEN, _PAGE_SET_PAST)
"""The columns by priority: they are added while they fit."""

_KIND = {
    _POOL: "buffer_pool",
    _PAGE_SET: "page_set",
    _CHANNELS: "channel",
    _TASKS: "channel_initiator",
    _LOGS: "log",
}

PAST, WIDE_PAST = 8, 16
"""Cells of a trend, and on a very wide screen."""

VERY_WIDE = 160
"""Cells: the width from which a screen is very wide."""

AGE = 4
"""Cells reserved for a figure's own age, so that no column moves when it appears."""

LONGEST_NAME = 20
_MOST_CHANNELS = 26


def past_cells(width: int) -> int:
    """The cells of a trend on a screen of that width."""
    return WIDE_PAST if width >= VERY_WIDE else PAST


def member_rows(frame: Frame, width: int) -> list[Line]:
    """The titles, and a line for each queue manager; its key opens it."""
    view = frame.status
    if not view.queue_managers:
        return [line("No queue manager has reported yet", Tone.UNKNOWN)]
    members = {member.name: member for member in frame.data.members}
    past = past_cells(width)
    made = [_row(frame, each, members[each.name], past) for each in view.queue_managers]
    rows, pasts = [row for row, _ in made], [drawn for _, drawn in made]
    names = [safe(each.name) for each in view.queue_managers]
    name_width = min(max(map(cells, names)), LONGEST_NAME)
    widths = {column: max(cells(row[column].text) for row in rows) for column in _TITLES}
    widths = {column: max(size, cells(_TITLES[column])) for column, size in widths.items() if size}
    widths[_CHANNELS] = min(widths[_CHANNELS], _MOST_CHANNELS)
    taken = taken_columns(_BY_NEED, widths, width - WIDEST - 2 - name_width)
    titles = "".join(f"  {fit(_TITLES[column], widths[column])}" for column in taken)
    lines = [line(f"{' ' * (WIDEST + 2 + name_width)}{titles}".rstrip(), Tone.FAINT)]
    for each, name, row, drawn in zip(view.queue_managers, names, rows, pasts, strict=True):
        key = f"{each.name}/queue_manager"
        spans = [Span(fit(str(each.health), WIDEST), tone_of(each.health)), Span("  ")]
        spans.append(Span(fit(name, name_width), Tone.STRONG))
        for column in taken:
            spans += [Span("  "), *drawn.get(column, (Span(fit(row[column].text, widths[column]), row[column].tone),))]
        lines.append(Line(tuple(spans), key))
        lines += [line(text, Tone.STALE) for text in _note(view, each, width)]
    return lines


def taken_columns(by_need: Iterable[int], widths: Mapping[int, int], room: int) -> list[int]:
    """The columns that fit into ``room``, in their order."""
    taken = []
    for column in by_need:
        size = widths.get(column, 0)
        if size and size + 2 <= room:
            taken.append(column)
            room -= size + 2
    return sorted(taken)


def _row(
    frame: Frame, each: OwnerStatus, member: OwnerData, past: int
) -> tuple[dict[int, Cell], dict[int, tuple[Span, ...]]]:
    """The cells by column, and the sparklines, of ``past`` cells, by theirs."""
    silent = each.stale or not each.reachable
    current, now = frame.data.current, frame.now
    seen_as = as_seen(frame.status, member)
    pool = key_figures.extreme_figure(current, each.name, "buffer_pool", "free_pct", -1)
    page_set = key_figures.extreme_figure(current, each.name, "page_set", "used_pct", 1)
    # One answer reports both: its age is shown once.
    both = pool is not None and page_set is not None and pool.latest.ts == page_set.latest.ts
    pool_age = "" if pool is None else key_figures.own_age(pool.latest, seen_as, now)
    texts = {
        _POOL: key_figures.least_free(current, seen_as, now) + " " * max(AGE - cells(pool_age), 0),
        _PAGE_SET: key_figures.fullest(current, seen_as, now, aged=not both),
        _CHANNELS: key_figures.channel_counts(current, seen_as, now, frame.status.firing),
        _TASKS: key_figures.task_counts(current, seen_as, now),
        _LOGS: key_figures.full_logs(current, seen_as, now),
    }
    row = {
        column: Cell(text, _tone(frame.status, each.name, _KIND[column], text, silent=silent))
        for column, text in texts.items()
    }
    rate = frame.history.rates.get(each.name)
    if rate is None or isinstance(rate.value, Absence | str):
        absence = rate.value if rate is not None and isinstance(rate.value, Absence) else Absence.NOT_ASKED
        row[_RATE] = Cell(short_absence(absence), Tone.ABSENT)
    else:
        text = number(round(rate.value, 1 if rate.value < 10 else None)) + key_figures.own_age(rate, seen_as, now)
        row[_RATE] = Cell(text, Tone.STALE if silent else Tone.PLAIN)
    # The trend of a stale queue manager ends at its last snapshot.
    until = member.last_ts if each.stale else now
    span = Time(max(until - SPAN_MS, member.first_ts), until)
    pasts: dict[int, tuple[Span, ...]] = {}
    for column, extreme, of in ((_POOL_PAST, pool, _POOL), (_PAGE_SET_PAST, page_set, _PAGE_SET)):
        tone = row[of].tone if row[of].tone in (Tone.STALE, Tone.ABSENT) else None
        pasts[column] = frame.history.past_of(None if extreme is None else extreme.name, span, past, tone)
        row[column] = Cell("".join(each.text for each in pasts[column]))
    ahead = None if page_set is None or silent else full_in(frame.history.points.get(page_set.name, ()), now)
    soon = ahead is not None and ahead < SOON_MS and row[_PAGE_SET].tone is Tone.PLAIN
    row[_FULL_IN] = Cell("" if ahead is None else short_age(ahead), Tone.WARNING if soon else row[_PAGE_SET].tone)
    seen = seen_ts(frame.status, each)
    row[_SEEN] = Cell("never" if seen is None else short_age(now - seen), Tone.STALE if silent else Tone.FAINT)
    return row, pasts


def _tone(view: GroupStatus, owner: str, kind: str, text: str, *, silent: bool) -> Tone:
    if text.rstrip() in _REASONS:
        return Tone.ABSENT
    if silent:
        return Tone.STALE
    about = (alert for alert in view.firing if (alert.scope.owner, alert.scope.kind) == (owner, kind))
    health = worst(health_of(alert.severity) for alert in about)
    return tone_of(health) if health >= Health.WARNING else Tone.PLAIN


def _note(view: GroupStatus, each: OwnerStatus, width: int) -> list[str]:
    if each.reachable:
        return []
    words = unreachable_words(view.data, seen_ts(view, each))
    return wrap(words, width, first=" " * (WIDEST + 2), rest=" " * (WIDEST + 2))

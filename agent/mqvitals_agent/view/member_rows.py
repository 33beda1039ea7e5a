"""The queue managers of the overview, a line each: the figures that matter most, their past, and when it was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqvitals_agent.text.chart import TimeRange as Time
from mqvitals_agent.text.chart import sparkline
from mqvitals_agent.text.figure import number, short_age
from mqvitals_agent.text.severity import WIDEST, Health, health_of, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, fit, safe, wrap
from mqvitals_agent.view import cell
from mqvitals_agent.view.column import short_absence
from mqvitals_agent.view.growth import SOON_MS, full_in
from mqvitals_agent.view.member_table import as_seen, seen_ts
from mqvitals_agent.view.pulse import SPAN_MS
from mqvitals_agent.view.situation import Member, unreached
from mqvitals_agent.view.status import MemberView, StatusView
from mqvitals_agent.view.table import Cell
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
"""In the order in which they stand."""

_BY_NEED = (_POOL, _PAGE_SET, _CHANNELS, _POOL_PAST, _FULL_IN, _RATE, _LOGS, _TASKS, _SEEN, _PAGE_SET_PAST)
"""The order in which columns are taken while there is room."""

_KIND = {
    _POOL: "buffer_pool",
    _PAGE_SET: "page_set",
    _CHANNELS: "channel",
    _TASKS: "channel_initiator",
    _LOGS: "log",
}

PAST, WIDE_PAST = 8, 16
"""Cells of a past in one line, and where there is much room."""

VERY_WIDE = 160
"""Cells: from which width there is much room."""

AGE = 4
"""Cells kept free for a figure's own age: it comes and goes with each poll, and no column may move for it."""

LONGEST_NAME = 20
_MOST_CHANNELS = 26


def past_cells(width: int) -> int:
    """How many cells a past takes on a screen of that width."""
    return WIDE_PAST if width >= VERY_WIDE else PAST


def member_rows(frame: Frame, width: int) -> list[Line]:
    """The titles, and a line for each queue manager; its key opens it."""
    view = frame.status
    if not view.queue_managers:
        return [line("No queue manager has been seen yet", Tone.UNKNOWN)]
    members = {member.name: member for member in frame.situation.members}
    past = past_cells(width)
    rows = [_row(frame, each, members[each.name], past) for each in view.queue_managers]
    names = [safe(each.name) for each in view.queue_managers]
    name_width = min(max(map(cells, names)), LONGEST_NAME)
    widths = {column: max(cells(row[column].text) for row in rows) for column in _TITLES}
    widths = {column: max(size, cells(_TITLES[column])) for column, size in widths.items() if size}
    widths[_CHANNELS] = min(widths[_CHANNELS], _MOST_CHANNELS)
    taken = _taken(widths, width - WIDEST - 2 - name_width)
    titles = "".join(f"  {fit(_TITLES[column], widths[column])}" for column in taken)
    lines = [line(f"{' ' * (WIDEST + 2 + name_width)}{titles}".rstrip(), Tone.FAINT)]
    for each, name, row in zip(view.queue_managers, names, rows, strict=True):
        key = f"{each.name}/queue_manager"
        spans = [Span(fit(str(each.health), WIDEST), tone_of(each.health)), Span("  ")]
        spans.append(Span(fit(name, name_width), Tone.STRONG))
        for column in taken:
            spans += [Span("  "), Span(fit(row[column].text, widths[column]), row[column].tone)]
        lines.append(Line(tuple(spans), key))
        lines += [line(text, Tone.STALE) for text in _note(view, each, width)]
    return lines


def _taken(widths: dict[int, int], room: int) -> list[int]:
    taken = set()
    for column in _BY_NEED:
        if column in widths and widths[column] + 2 <= room:
            taken.add(column)
            room -= widths[column] + 2
    return [column for column in _TITLES if column in taken]


def _row(frame: Frame, each: MemberView, member: Member, past: int) -> dict[int, Cell]:
    silent = each.stale or not each.reachable
    current, now = frame.situation.current, frame.now
    seen_as = as_seen(frame.status, member)
    pool = cell.extreme_of(current, each.name, "buffer_pool", "free_pct", -1)
    page_set = cell.extreme_of(current, each.name, "page_set", "used_pct", 1)
    # One answer tells of both: its age is said once.
    both = pool is not None and page_set is not None and pool.told.ts == page_set.told.ts
    pool_age = "" if pool is None else cell.own_age(pool.told, seen_as, now)
    texts = {
        _POOL: cell.least_free(current, seen_as, now) + " " * max(AGE - cells(pool_age), 0),
        _PAGE_SET: cell.fullest(current, seen_as, now, aged=not both),
        _CHANNELS: cell.channels(current, seen_as, now, frame.status.firing),
        _TASKS: cell.tasks(current, seen_as, now),
        _LOGS: cell.full_logs(current, seen_as, now),
    }
    row = {
        column: Cell(text, _tone(frame.status, each.name, _KIND[column], text, silent=silent))
        for column, text in texts.items()
    }
    rate = frame.pulse.rates.get(each.name)
    if rate is None or isinstance(rate.value, Absence | str):
        absence = rate.value if rate is not None and isinstance(rate.value, Absence) else Absence.NOT_ASKED
        row[_RATE] = Cell(short_absence(absence), Tone.ABSENT)
    else:
        text = number(round(rate.value, 1 if rate.value < 10 else None)) + cell.own_age(rate, seen_as, now)
        row[_RATE] = Cell(text, Tone.STALE if silent else Tone.PLAIN)
    # Of what is stale the past ends where it ended, instead of shrinking to nothing.
    until = member.last_ts if each.stale else now
    span = Time(max(until - SPAN_MS, member.first_ts), until)
    for column, extreme, of in ((_POOL_PAST, pool, _POOL), (_PAGE_SET_PAST, page_set, _PAGE_SET)):
        points = () if extreme is None else frame.pulse.points.get(extreme.name, ())
        row[column] = Cell(sparkline(points, span, past), row[of].tone)
    ahead = None if page_set is None or silent else full_in(frame.pulse.points.get(page_set.name, ()), now)
    soon = ahead is not None and ahead < SOON_MS and row[_PAGE_SET].tone is Tone.PLAIN
    row[_FULL_IN] = Cell("" if ahead is None else short_age(ahead), Tone.WARNING if soon else row[_PAGE_SET].tone)
    seen = seen_ts(frame.status, each)
    row[_SEEN] = Cell("never" if seen is None else short_age(now - seen), Tone.STALE if silent else Tone.FAINT)
    return row


def _tone(view: StatusView, owner: str, kind: str, text: str, *, silent: bool) -> Tone:
    if text.rstrip() in _REASONS:
        return Tone.ABSENT
    if silent:
        return Tone.STALE
    about = (alert for alert in view.firing if (alert.scope.owner, alert.scope.kind) == (owner, kind))
    health = worst(health_of(alert.severity) for alert in about)
    return tone_of(health) if health >= Health.WARNING else Tone.PLAIN


def _note(view: StatusView, each: MemberView, width: int) -> list[str]:
    if each.reachable:
        return []
    words = unreached(view.situation, seen_ts(view, each))
    return wrap(words, width, first=" " * (WIDEST + 2), rest=" " * (WIDEST + 2))

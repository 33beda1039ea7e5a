"""The journal in words: entries as lines, what flaps folded into one of them, by object, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mqvitals_agent.store.rows.journal import (
    ACTIVE,
    BACK,
    FIRST_SEEN,
    GONE,
    RELOADED,
    STANDBY,
    STARTED,
    JournalEntry,
    is_routine,
)
from mqvitals_agent.text.figure import (
    clock,
    counted,
    day,
    figure,
    number,
    object_words,
    objects_of_kind,
    rough_age,
    told_in_zone,
    whole,
    zone_name,
)
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, cut, fit, safe, wrap
from mqvitals_agent.view.history.changes import change_words
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.changes import is_security
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.metric import Metric, Value
from mqvitals_rules.vocabulary.tables import KINDS

FLAP_MS: Final = 10 * 60_000
"""Entries about the same that follow each other within this time belong to one flap."""

LEAST_FLAPS: Final = 4
"""So many of them at least are folded into one line."""

RECENT_MS: Final = 15 * 60_000
"""The last minutes of the overview."""

MOST_RECENT: Final = 200
"""Entries that the overview reads, the newest."""

IN_OTHER_SECTIONS: Final = frozenset({EntryKind.DEFINITION, EntryKind.MESSAGE})
"""Kinds of entries that the page of an object has in sections of their own."""

_SECTION_ENTRIES: Final = 12
_CROWD: Final = 3
"""When the same happens to more objects at once, they are one line of the overview."""
_WHEN, _KIND, _WITH_KIND = 8, 10, 60
"""Cells of a time of day and of the widest kind, and the width from which lines say their kind."""

_GONE_WORDS: Final = {FIRST_SEEN: "first seen", GONE: "gone", BACK: "there again"}
_AGENT_WORDS: Final = {
    STARTED: "started",
    RELOADED: "uses the settings as they are now",
    ACTIVE: "is active, of two agents",
    STANDBY: "waits while another agent is active (standby)",
}


@dataclass(frozen=True, slots=True)
class JournalLine:
    """An entry, or ``entries`` (oldest first) about the same that follow each other closely: a flap."""

    entries: tuple[JournalEntry, ...]

    @property
    def last(self) -> JournalEntry:
        """The newest entry."""
        return self.entries[-1]

    @property
    def is_flap(self) -> bool:
        """Whether it stands for several entries."""
        return len(self.entries) > 1


def fold(entries: Iterable[JournalEntry]) -> tuple[JournalLine, ...]:
    """Entries (oldest first) as lines, by the time of their newest entry: flaps are one line.

    Every entry is in exactly one line.
    """
    runs: dict[tuple[EntryKind, ObjectName, str], list[list[JournalEntry]]] = {}
    for entry in entries:
        of_one = runs.setdefault((entry.kind, entry.name, entry.metric), [])
        if of_one and entry.ts - of_one[-1][-1].ts <= FLAP_MS:
            of_one[-1].append(entry)
        else:
            of_one.append([entry])
    lines: list[JournalLine] = []
    for of_one in runs.values():
        for run in of_one:
            if len(run) >= LEAST_FLAPS:
                lines.append(JournalLine(tuple(run)))
            else:
                lines += (JournalLine((each,)) for each in run)
    return tuple(sorted(lines, key=lambda each: each.last.ts))


def by_object(lines: Iterable[JournalLine]) -> tuple[tuple[ObjectName, tuple[JournalLine, ...]], ...]:
    """Lines by object, each with its lines in their order; the object of the newest line last."""
    found: dict[ObjectName, list[JournalLine]] = {}
    for each in lines:
        found.setdefault(each.last.name, []).append(each)
    newest = sorted(found.items(), key=lambda pair: pair[1][-1].last.ts)
    return tuple((name, tuple(of_one)) for name, of_one in newest)


def matching_entries(entries: Iterable[JournalEntry], text: str) -> tuple[JournalEntry, ...]:
    """The entries in whose object, kind or words every word of ``text`` occurs, in any case of letters.

    ``kind:state`` selects by the kind alone.
    """
    words = text.casefold().split()
    return tuple(each for each in entries if all(_matches(each, word) for word in words))


def _matches(entry: JournalEntry, word: str) -> bool:
    field, colon, wanted = word.partition(":")
    if colon and field == "kind":
        return entry.kind.value.startswith(wanted)
    return word in f"{entry.name} {object_words(entry.name)} {entry.kind.value} {entry_words(entry)}".casefold()


def entry_words(entry: JournalEntry) -> str:
    """What happened: ``STATUS RUNNING -> RETRYING``, ``connection lost``, ``CHL-16 warning: ...``. Safe for a terminal."""
    match entry.kind:
        case EntryKind.DEFINITION | EntryKind.EXPANSION if entry.change is not None:
            return change_words(entry.change)
        case EntryKind.CONNECT:
            return "connected" if entry.new else "connection lost"
        case EntryKind.RESTART:
            return f"restarted, as it says at {safe(str(entry.new))}"
        case EntryKind.LOG:
            return f"the log goes on in {safe(str(entry.new))}"
        case EntryKind.USE if not entry.new:
            return f"nobody has it open for input any more; before {_handles(entry.old)}"
        case EntryKind.USE:
            return f"somebody has it open for input: {_handles(entry.new)}"
        case EntryKind.OBJECT:
            words = _GONE_WORDS.get(entry.metric, safe(entry.metric))
            count = entry.new if isinstance(entry.new, int) else 0
            return f"{whole(count)} {objects_of_kind(entry.name.kind)} {words}" if count else words
        case EntryKind.AGENT:
            return _AGENT_WORDS.get(entry.metric, safe(entry.metric))
        case EntryKind.ALERT:
            how = (
                "ended"
                if entry.new == "ends"
                else f"{safe(str(entry.new))}: {safe(told_in_zone(entry.words, entry.ts))}"
            )
            return f"{safe(entry.metric)} {how}"
        case EntryKind.ACTION:
            return f"{safe(str(entry.new))}: {safe(entry.metric)}, {safe(entry.words)}"
        case EntryKind.MESSAGE:
            times = f" ({number(entry.new)} times)" if isinstance(entry.new, int) else ""
            return f"{safe(entry.metric)} {safe(entry.words)}{times}"
    old, new = _both(entry)
    return f"{_keyword(entry)} {old} -> {new}"


def _handles(value: Value | None) -> str:
    return counted(value, "handle") if isinstance(value, int) else "some handles"


def _both(entry: JournalEntry) -> tuple[str, str]:
    """Old and new value; of a list only the parts that have changed."""
    if isinstance(entry.old, str) and isinstance(entry.new, str) and ", " in entry.old + entry.new:
        old, new = ([part.strip() for part in value.split(",")] for value in (entry.old, entry.new))
        left, come = ([each for each in one if each not in other] for one, other in ((old, new), (new, old)))
        return safe(", ".join(left)) or "(none)", safe(", ".join(come)) or "(none)"
    return _value_words(entry, entry.old), _value_words(entry, entry.new)


def _metric(entry: JournalEntry) -> Metric | None:
    kind = KINDS.get(entry.name.kind)
    return None if kind is None else kind.metric(entry.metric)


def _keyword(entry: JournalEntry) -> str:
    """The MQSC keyword of what changed, else the metric's name in words."""
    metric = _metric(entry)
    return metric.mqsc.split()[0] if metric is not None and metric.mqsc else safe(entry.metric.replace("_", " "))


def _value_words(entry: JournalEntry, value: Value | None) -> str:
    metric = _metric(entry)
    if value is None:
        return "(not told)"
    if isinstance(value, str):
        return safe(value.strip()) or "''"
    return str(value) if metric is None else figure(value, metric)


def line_words(one: JournalLine) -> str:
    """What a line says: of a flap ``RETRYING <-> RUNNING 14x in 6 m``, by its two values that come most often.

    What is painted in the colour of a health begins with its sign.
    """
    return f"{sign_of_entry(one.last)}{_line_words(one)}"


def _line_words(one: JournalLine) -> str:
    if not one.is_flap:
        return entry_words(one.last)
    last, count = one.last, len(one.entries)
    lasted = f"{number(count)}x in {rough_age(last.ts - one.entries[0].ts)}"
    if last.kind is EntryKind.ALERT:
        return f"{safe(last.metric)} fires and ends {lasted}"
    if last.kind is EntryKind.LOG:
        return f"the log went on in another data set {lasted}, now in {safe(str(last.new))}"
    if last.kind in (EntryKind.STATE, EntryKind.DEFINITION):
        values = Counter(_value_words(each, each.new) for each in one.entries)
        values.update((_value_words(one.entries[0], one.entries[0].old),))
        most = [value for value, _ in values.most_common(2)]
        if len(values) == 2:
            return f"{_keyword(last)} {' <-> '.join(most)} {lasted}"
        return f"{_keyword(last)} {' <-> '.join(most)} and {counted(len(values) - 2, 'other value')} {lasted}"
    words = {
        EntryKind.CONNECT: "connection lost <-> connected",
        EntryKind.USE: "open for input <-> not open",
        EntryKind.EXPANSION: "expanded",
        EntryKind.RESTART: "restarted",
        EntryKind.OBJECT: "gone <-> there again",
    }.get(last.kind)
    return f"{words} {lasted}" if words else f"{entry_words(last)}, {lasted}"


def tone_of_entry(entry: JournalEntry) -> Tone:
    """The tone of an entry: only an alert has the colour of its severity, and a change of security that of a warning."""
    if entry.kind is EntryKind.ALERT and entry.new != "ends":
        name = str(entry.new).upper()
        return tone_of(health_of(Severity[name])) if name in Severity.__members__ else Tone.PLAIN
    change = entry.change
    if change is not None and is_security(change.name.kind, change.metric, change.new):
        return Tone.WARNING
    return Tone.PLAIN


def sign_of_entry(entry: JournalEntry) -> str:
    """The sign of the health in whose colour an entry is painted, with a blank behind it; empty: it is in none."""
    tone = tone_of_entry(entry)
    return next((f"{health.glyph} " for health in Health if tone_of(health) is tone), "")


def opens(entry: JournalEntry) -> str:
    """The whole name of the object that Enter opens on an entry, empty: none."""
    name = entry.name
    kind = KINDS.get(name.kind)
    several = entry.kind is EntryKind.OBJECT and entry.new is not None
    if kind is None or several or entry.kind is EntryKind.AGENT or not (kind.single or name.name):
        return ""
    return str(name)


def journal_line(one: JournalLine, now: int, width: int, *, named: bool = True, indent: int = 0) -> list[Line]:
    """A line of the journal in ``width`` cells, wrapped below its words; ``named`` with its object.

    One that the cursor reaches has the moment of the newest entry.
    """
    lines = _journal_line(one, now, width, named=named, indent=indent)
    return [each._replace(at=one.last.ts) if each.is_stop else each for each in lines]


def _journal_line(one: JournalLine, now: int, width: int, *, named: bool, indent: int) -> list[Line]:
    last = one.last
    same_day = day(last.ts) == day(now)
    date = day(last.ts)[5:]
    when = clock(last.ts) if same_day else date if width < _WITH_KIND // 2 else f"{date} {clock(last.ts)}"
    head = f"{' ' * indent}{fit(when, _WHEN) if same_day else when}  "
    if width >= _WITH_KIND:
        head += f"{fit(last.kind.value, _KIND)}  "
    who = f"{object_words(last.name)}: " if named and last.name.owner else ""
    lead = " " * min(cells(head), max(width // 3, 4))
    key, tone = opens(last), tone_of_entry(last)
    first, *rest = wrap(f"{who}{line_words(one)}", width, first=head, rest=lead)
    cut_at = min(cells(head), cells(first))
    spans = [Span(head[:cut_at], Tone.FAINT)]
    body = first[len(head) :] if first.startswith(head) else ""
    if not body:
        below = [line(each, key=key)._replace(alert=last.number) for each in rest]
        return [Line((Span(first, tone),), key, last.number), *below]
    if who and body.startswith(who):
        spans += [Span(who, Tone.STRONG), Span(body[len(who) :], tone)]
    else:
        spans.append(Span(body, tone))
    return [Line(tuple(spans), key, last.number), *(line(each, key=key)._replace(alert=last.number) for each in rest)]


def one_line(one: JournalLine, now: int, width: int, *, named: bool = True) -> Line:
    """A line of the journal cut to ``width`` cells."""
    return _cut(journal_line(one, now, 100_000, named=named)[0], width)


def _cut(wide: Line, width: int) -> Line:
    left, spans = width, []
    for span in wide.spans:
        text = cut(span.text, left) if left > 0 else ""
        if text:
            spans.append(span._replace(text=text))
        left -= cells(text)
    return wide._replace(spans=tuple(spans))


def journal_lines(
    entries: Sequence[JournalEntry], now: int, width: int, text: str = "", *, grouped: bool = False, most: int = 0
) -> tuple[Line, ...]:
    """The journal's screen: entries (oldest first) that match ``text``, the newest first, or ``grouped`` by object.

    ``most`` is how many entries were read at most (0: all): where there are as many, the title says that they are the
    newest.
    """
    found = fold(matching_entries(entries, text))
    zone = zone_name(now)
    total = number(sum(len(each.entries) for each in found))
    order = "by object" if grouped else "the newest first"
    what = f"{total} of the last day"
    if most and len(entries) >= most:
        newest = f"the newest {most:,}"
        what = f"{total} of {newest}" if text else newest
    title = heading(cut(f"Journal: {what}, {order}, times in {zone}", width - 2), width)
    if not found:
        words = "nothing in the journal matches" if text else "nothing has happened yet"
        return title, *wrapped(words, width, Tone.FAINT)
    lines = [title]
    if not grouped:
        for each in reversed(found):
            lines += journal_line(each, now, width)
        return tuple(lines)
    for name, of_one in reversed(by_object(found)):
        count = number(sum(len(each.entries) for each in of_one))
        words = object_words(name) or "not about an object"
        lines.append(
            Line((Span(cut(words, width - 8), Tone.STRONG), Span(f"  {count}", Tone.FAINT)), opens(of_one[-1].last))
        )
        for each in reversed(of_one):
            lines += journal_line(each, now, width, named=False, indent=2)
    return tuple(lines)


def recent_lines(entries: Sequence[JournalEntry], now: int, width: int, rows: int) -> tuple[Line, ...]:
    """What happened in the last minutes, the newest first: a title and at most ``rows`` lines; nothing where nothing did.

    Alerts are left out, which the overview has, and switches and offloads of logs.
    """
    found = fold(
        each
        for each in entries
        if now - RECENT_MS <= each.ts <= now and each.kind is not EntryKind.ALERT and not is_routine(each)
    )
    if not found or rows < 1:
        return ()
    crowds: dict[tuple[object, ...], list[JournalLine]] = {}
    for each in reversed(found):
        last = each.last
        # What happens to many objects at once, such as the channels of a queue manager that went, is one line.
        alike = (last.ts, last.kind, last.metric, last.new) if not each.is_flap else (id(each),)
        crowds.setdefault(alike, []).append(each)
    groups = [
        part for crowd in crowds.values() for part in ([crowd] if len(crowd) > _CROWD else [[each] for each in crowd])
    ]
    shown = groups[:rows]
    left = sum(map(len, groups[rows:]))
    more = f", {number(left)} more in the journal (9)" if left else ""
    title = f"The last {RECENT_MS // 60_000} minutes, {zone_name(now)}{more}"
    return heading(cut(title, width - 2), width), *(_crowd_line(crowd, now, width) for crowd in shown)


def _crowd_line(crowd: Sequence[JournalLine], now: int, width: int) -> Line:
    """One entry, or in its words what happened to several objects at once."""
    line_of_first = one_line(crowd[0], now, 100_000)
    if len(crowd) > 1:
        head, *rest = line_of_first.spans
        line_of_first = Line((head, Span(f"{number(len(crowd))} objects at once, such as "), *rest), line_of_first.key)
    return _cut(line_of_first, width)


def object_journal_lines(entries: Sequence[JournalEntry], now: int, width: int) -> Iterator[Line]:
    """The section of an object's page: its own entries, the newest first; nothing where there are none.

    Changes of its definition and messages are left out: the page has them in sections of their own.
    """
    found = fold(each for each in entries if each.kind not in IN_OTHER_SECTIONS)
    if not found:
        return
    more = f", the newest {_SECTION_ENTRIES} of {number(len(found))}" if len(found) > _SECTION_ENTRIES else ""
    yield heading(cut(f"Journal{more}, times in {zone_name(now)}", width - 2), width)
    for each in found[::-1][:_SECTION_ENTRIES]:
        # Its lines open nothing: the object is this one.
        for one in journal_line(each, now, width, named=False, indent=2):
            yield one._replace(key="", alert=0, at=0)


def journal_list_lines(entries: Sequence[JournalEntry], now: int, width: int, *, folded: bool) -> Iterator[Line]:
    """The list of ``mqvitals journal``, oldest first."""
    if not entries:
        yield from wrapped("nothing in the journal", width)
    for each in fold(entries) if folded else (JournalLine((one,)) for one in entries):
        yield from journal_line(each, now, width)


def entry_json(entry: JournalEntry) -> dict[str, Any]:
    """An entry as plain values; times ISO 8601 in UTC."""
    name = entry.name
    return {
        "seen": iso(entry.ts),
        "seen_before": None if entry.before is None else iso(entry.before),
        "kind": entry.kind.value,
        "queue_manager": name.owner or None,
        "object": str(name) if name.kind else None,
        "what": entry.metric,
        "old": entry.old,
        "new": entry.new,
        "words": entry_words(entry),
        "source": entry.source,
        "alert": entry.number or None,
    }

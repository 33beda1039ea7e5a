"""A report as blocks (headings, paragraphs, lists, tables, listings, entries, charts), and its lines as plain text or
Markdown. ``html.py`` makes a page of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, NamedTuple

from mqvitals_agent.text.chart import Scale, TimeRange
from mqvitals_agent.text.chart_lines import Chart, ChartSeries, chart_lines
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.sparkline import sparkline
from mqvitals_agent.text.symbols import to_ascii
from mqvitals_agent.text.terminal import cells, cut, fit, safe, table, wrap


@dataclass(frozen=True, slots=True)
class Heading:
    """``level`` 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Columns with titles; those in ``right`` hold numbers and are aligned right."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines to copy as they are: settings, a command. ``language`` for Markdown; empty: none."""

    lines: tuple[str, ...]
    language: str = ""


class LabelledText(NamedTuple):
    """A text with a word for it; ``code`` is to be typed as it is."""

    word: str
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing with what is known about it. ``health`` is how bad it is; None: that is no matter."""

    health: Health | None
    text: str
    facts: tuple[LabelledText, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A series over ``span``, (ms UTC, value or None), with the limit of a rule, if any, and its figures in words.

    ``label`` is the word for a moment of the time axis. ``low_is_bad``: whether low values are the worse ones.
    """

    title: str
    points: tuple[tuple[int, float | None], ...]
    scale: Scale
    span: TimeRange
    label: Callable[[int], str]
    words: str
    limit: tuple[float, str] | None = None
    low_is_bad: bool = False


def ascii_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks in ASCII, so that columns fit the text that is written."""

    def of(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(to_ascii(safe(text)) for text in texts)

    for block in blocks:
        match block:
            case Heading(text=text) | Paragraph(text=text):
                yield replace(block, text=to_ascii(safe(text)))
            case Items(texts):
                yield Items(of(texts))
            case Listing(lines, language):
                yield Listing(of(lines), language)
            case ReportTable(titles, rows, right):
                yield ReportTable(of(titles), tuple(map(of, rows)), right)
            case Entry(health, text, facts):
                word = "" if health is None else f"{health.name} "
                shown = (LabelledText(fact.word, to_ascii(safe(fact.text)), fact.code) for fact in facts)
                yield Entry(None, f"{word}{to_ascii(safe(text))}", tuple(shown))
            case ChartBlock(title=title, words=words):
                yield Paragraph(to_ascii(safe(f"{title}: {words}")))


Block = Heading | Paragraph | Items | ReportTable | Listing | Entry | ChartBlock
"""Texts in blocks are raw: the functions that write them make them safe."""


_GAP = 2
_LONGEST_WORD = 24
"""Words of at most this many cells are not broken."""


def column_lines(rows: Sequence[Sequence[str]], width: int, right: Collection[int]) -> Iterator[str]:
    """The lines of rows, the first of which are the titles; columns in ``right`` hold numbers, which are never broken.

    Where even narrow columns do not fit beside each other, the last ones stand on a further line of each row. Cells are
    safe text.
    """
    widths = _widths(rows, width, right)
    if widths is None:
        for lines in table(rows, width, right=right, indent=2):
            yield from lines
        return
    for row in rows:
        parts = [wrap(cell, size) if cells(cell) > size else [cell] for cell, size in zip(row, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            shown = (fit(text, widths[place], right=place in right) for place, text in enumerate(line))
            yield (" " * _GAP).join(shown).rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int, right: Collection[int]) -> list[int] | None:
    """The width of each column; None: they do not fit."""
    columns = list(zip(*rows, strict=True))
    room = width - _GAP * (len(columns) - 1)
    # A title of several words may take several lines.
    least = []
    for place, column in enumerate(columns):
        words = max((cells(word) for word in column[0].split()), default=0)
        if place in right:
            words = max(words, *map(cells, column[1:]), 0)
        else:
            longest = max((cells(word) for cell in column[1:] for word in cell.split()), default=0)
            words = max(words, min(longest, _LONGEST_WORD))
        least.append(words)
    bodies = [max(map(cells, column[1:]), default=0) for column in columns]
    widths = [max(map(cells, column)) for column in columns]
    while sum(widths) > room:
        spare = [size - low for size, low in zip(widths, least, strict=True)]
        if not any(spare):
            return None
        # Shrink titles first, then the widest column, so that few cells are broken.
        place = max(range(len(widths)), key=lambda each: (spare[each] > 0, widths[each] > bodies[each], widths[each]))
        widths[place] -= 1
    return widths


_RULES = {1: "=", 2: "-"}


def plain_lines(blocks: Iterable[Block], width: int) -> Iterator[str]:
    """The lines of blocks, each at most ``width`` cells except listings; safe for a terminal."""
    for place, block in enumerate(blocks):
        if place:
            yield ""
        match block:
            case Heading(level, text):
                shown = cut(safe(text), width)
                yield shown
                if level in _RULES:
                    yield _RULES[level] * cells(shown)
            case Paragraph(text):
                yield from wrap(safe(text), width)
            case Items(texts):
                for text in texts:
                    yield from wrap(safe(text), width, first="- ", rest="  ")
            case Listing(lines, _):
                # Never broken: they are copied.
                yield from (f"    {safe(line)}" for line in lines)
            case Entry():
                yield from _entry_lines(block, width)
            case ChartBlock():
                yield from wrap(safe(block.title), width)
                drawn = Chart((ChartSeries("", block.points),), block.scale, block.span, str, block.label)
                yield from (each.text for each in chart_lines(drawn, width, _CHART_LINES))
                yield from wrap(safe(block.words), width)
            case ReportTable(titles, rows, right):
                rows_shown = [tuple(map(safe, row)) for row in (titles, *rows)]
                yield from (cut(line, width) for line in column_lines(rows_shown, width, right))


_CHART_LINES: Final = 5
_SPARKS: Final = 48
"""Cells of the line that stands for a chart in Markdown."""


def _entry_lines(entry: Entry, width: int) -> Iterator[str]:
    yield from wrap(_headline(entry), width, rest="  ")
    words = max((cells(fact.word) for fact in entry.facts), default=0)
    for fact in entry.facts:
        lead = f"    {fit(fact.word, words)}  "
        if fact.code:
            # Never broken: it is copied.
            yield f"{lead}{safe(fact.text)}"
        else:
            yield from wrap(safe(fact.text), width, first=lead, rest=" " * len(lead))


def _headline(entry: Entry) -> str:
    return safe(entry.text) if entry.health is None else f"{entry.health}  {safe(entry.text)}"


_MARKS = re.compile(r"[\\`*\[<|~#&$@]|(?<!\w)_|_(?!\w)")
_LINKS = re.compile(r"(?i)(://|\bwww\.)")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_FENCES = re.compile("`+")
_BEGINNINGS = "-+=>"


def markdown_lines(blocks: Iterable[Block]) -> Iterator[str]:
    """The lines of blocks as Markdown."""
    for place, block in enumerate(blocks):
        if place:
            yield ""
        match block:
            case Heading(level, text):
                yield f"{'#' * level} {escaped_line(text)}"
            case Paragraph(text):
                yield escaped_line(text)
            case Items(texts):
                yield from (f"- {escaped_line(text)}" for text in texts)
            case Listing(lines, language):
                shown = [safe(line) for line in lines]
                # A fence is longer than any run of its characters within.
                fence = "`" * max(3, 1 + max((len(row) for line in shown for row in _FENCES.findall(line)), default=0))
                yield f"{fence}{language}"
                yield from shown
                yield fence
            case Entry(health, text, facts):
                yield f"- **{health}** {escaped(text)}" if health is not None else f"- {escaped_line(text)}"
                for fact in facts:
                    shown_fact = code_span(fact.text) if fact.code else escaped(fact.text)
                    yield f"  - {escaped(fact.word)}: {shown_fact}"
            case ChartBlock():
                yield f"- **{escaped(block.title)}**"
                low, high = block.scale.low, block.scale.high
                sparks = sparkline(
                    block.points, block.span, _SPARKS, low=low, high=high, low_is_bad=block.low_is_bad
                ).strip()
                yield f"  {code_span(sparks)} {escaped(block.words)}" if sparks else f"  {escaped(block.words)}"
            case ReportTable(titles, rows, right):
                yield _row(titles)
                yield "|" + "|".join(" ---: " if index in right else " --- " for index in range(len(titles))) + "|"
                yield from map(_row, rows)


def escaped(text: str) -> str:
    """Text escaped for the middle of a Markdown line."""
    found = _MARKS.sub(r"\\\g<0>", safe(text))
    return _LINKS.sub(lambda match: match[0].replace(":", "\\:").replace(".", "\\."), found)


def escaped_line(text: str) -> str:
    """Text escaped for the beginning of a Markdown line or item."""
    found = _NUMBERED.sub(r"\1\\\2", escaped(text.strip()))
    return f"\\{found}" if found.startswith(tuple(_BEGINNINGS)) else found


def code_span(text: str) -> str:
    """Text as it is, in the middle of a Markdown line: within more back quotes than follow each other in it."""
    shown = safe(text)
    fence = "`" * (1 + max(map(len, _FENCES.findall(shown)), default=0))
    return f"{fence} {shown} {fence}" if "`" in shown or not shown.strip() else f"{fence}{shown}{fence}"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"

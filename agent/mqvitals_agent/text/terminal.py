"""Text made safe for a terminal, an ASCII stream or a CSV file; measured in cells, cut, padded and wrapped.

Text from MQ is data: whatever prints it passes it through ``safe``, whatever writes CSV through ``csv_cell``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final
from unicodedata import category, combining, east_asian_width

ELLIPSIS = "…"

# C0 controls have pictures of their own in Unicode, so an escape sequence shows as what it is: ␛[2J
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}

# Control, format (bidirectional overrides, zero width), surrogate, private use, unassigned, line and paragraph ends.
UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode whose characters could control a terminal, or are not seen."""
_MARKS = frozenset({"Mn", "Me"})

# Characters that change the look or width of the one before, which terminals measure differently: variation selectors,
# skin tones, the vowels and ends of Hangul syllables, and invisible letters.
_JOINING = frozenset(
    chr(code)
    for first, last in (
        (0xFE00, 0xFE0F),
        (0xE0100, 0xE01EF),
        (0x1F3FB, 0x1F3FF),
        (0x1160, 0x11FF),
        (0xD7B0, 0xD7FF),
        (0x3164, 0x3164),
        (0xFFA0, 0xFFA0),
    )
    for code in range(first, last + 1)
)

# A terminal stacks any number of marks on one cell; three serve every script in use.
_MARKS_KEPT = 3


def safe(text: str) -> str:
    """``text`` with everything that could control a terminal replaced by something visible.

    Control characters become their pictures (``␛``), other invisible characters and those of ambiguous width their
    number (``\\u202e``), white space of any width a blank. A combining mark without a letter gets a dotted circle; of
    the marks on one letter those beyond the third are dropped.
    """
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    marks = _MARKS_KEPT
    for char in text:
        code = ord(char)
        kind = category(char)
        if kind in _MARKS and char not in _JOINING:
            if not out or out[-1] == " ":
                out.append("◌")
                marks = 0
            marks += 1
            if marks <= _MARKS_KEPT:
                out.append(char)
            continue
        marks = 0
        if code in _PICTURES:
            out.append(_PICTURES[code])
        elif kind in UNSAFE or char in _JOINING:
            out.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
        elif kind == "Zs":
            out.append(" ")
        else:
            out.append(char)
    return "".join(out)


def cells(text: str) -> int:
    """The cells of a terminal that ``text`` takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells_of, text))


@lru_cache(maxsize=4096)
def _cells_of(char: str) -> int:
    if combining(char) or category(char) in _MARKS:
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The beginning of ``text`` in at most ``width`` cells, ending in ``…`` when it is cut."""
    if cells(text) <= width:
        return text
    if width < 1:
        return ""
    out: list[str] = []
    left = width - 1
    for char in text:
        left -= _cells_of(char)
        if left < 0:
            break
        out.append(char)
    return "".join(out) + ELLIPSIS


def cut_middle(text: str, width: int) -> str:
    """The beginning and the end of ``text`` in at most ``width`` cells, with ``…`` between them when it is cut."""
    if cells(text) <= width:
        return text
    begin = cut(text, min(width // 2 + 1, width))
    left = width - cells(begin)
    end: list[str] = []
    for char in reversed(text):
        left -= _cells_of(char)
        if left < 0:
            break
        end.append(char)
    return begin + "".join(reversed(end))


def fit(text: str, width: int, *, right: bool = False) -> str:
    """``text`` cut or padded to exactly ``width`` cells."""
    text = cut(text, width)
    padding = " " * (width - cells(text))
    return padding + text if right else text + padding


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """``text`` as lines of at most ``width`` cells, broken at blanks; words longer than a line are broken anywhere.

    ``first`` begins the first line and ``rest`` every other one. Neither is broken; a line has room for at least eight
    cells of text.
    """
    lines: list[str] = []
    measure = len if text.isascii() else cells
    line, used, empty = first, cells(first), True
    for word in text.split():
        size = measure(word)
        if not empty and used + 1 + size > width:
            lines.append(line)
            line, used, empty = rest, cells(rest), True
        if not empty:
            line, used = f"{line} {word}", used + 1 + size
            continue
        room = max(width - used, 8)
        for piece in [word] if size <= room else _pieces(word, room, max(width - cells(rest), 8)):
            if not empty:
                lines.append(line)
                line, used = rest, cells(rest)
            line, used, empty = line + piece, used + measure(piece), False
    lines.append(line)
    return [line.rstrip() for line in lines]


def at_most(lines: list[str], most: int, width: int) -> list[str]:
    """The first ``most`` lines, the last of them ending in ``…`` when there are more."""
    return lines if len(lines) <= most else [*lines[: most - 1], cut(f"{lines[most - 1]} {ELLIPSIS}", width)]


def _pieces(word: str, first: int, rest: int) -> list[str]:
    """``word`` broken so that its first piece takes at most ``first`` cells and the others at most ``rest``."""
    pieces: list[str] = []
    piece: list[str] = []
    left = first
    for char in word:
        size = _cells_of(char)
        if size > left and piece:
            pieces.append("".join(piece))
            piece, left = [], rest
        piece.append(char)
        left -= size
    pieces.append("".join(piece))
    return pieces


def table(
    rows: Iterable[Sequence[str]], width: int, *, right: Collection[int] = (), indent: int = 0
) -> list[list[str]]:
    """Every row as the lines it takes within ``width`` cells, its columns below each other. Cells are safe text.

    Columns are as wide as their widest cell; those in ``right`` are aligned right. Columns that do not fit, two blanks
    or at worst one apart, continue for all rows on a further line that starts ``indent`` cells in.
    """
    rows = list(rows)
    widths = [min(max(map(cells, column)), max(width - indent, 1)) for column in zip(*rows, strict=True)]
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= width else 1
    bands: list[list[int]] = [[]]
    used = 0
    for i, size in enumerate(widths):
        if bands[-1] and used + gap + size > width:
            bands.append([])
            used = indent
        used += size + (gap if bands[-1] else 0)
        bands[-1].append(i)
    lines = []
    for row in rows:
        parts = [(" " * gap).join(fit(row[i], widths[i], right=i in right) for i in band) for band in bands]
        lines.append([(" " * indent * bool(number) + part).rstrip() for number, part in enumerate(parts)])
    return lines


_FORMULA: Final = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def csv_cell(value: str) -> str:
    """A text in quotes, with a dot for what cannot be printed, and an apostrophe before what a spreadsheet would
    compute.

    That is a text that begins with ``=``, ``+``, ``-`` or ``@``; a number such as ``-1.5`` stays one.
    """
    if not value.isprintable():
        value = "".join(each if each.isprintable() else "." for each in value)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        value = f"'{value}"
    return '"' + value.replace('"', '""') + '"'

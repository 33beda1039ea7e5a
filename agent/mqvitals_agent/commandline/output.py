"""Standard output and standard error: made safe to print on, as wide as the terminal, coloured or in ASCII."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mqvitals_agent.text.document import Block
    from mqvitals_agent.text.styled import Line

_ERRORS = "mqvitals.ascii"


def prepare_streams() -> None:
    """Characters that stdout and stderr cannot encode, or a terminal does not show by its locale, are written in ASCII,
    and closed streams can be printed to.

    Printing to a closed stdout raises OSError when it is flushed, as on a full disk; output to a closed stderr is lost.
    """
    _fill_closed()
    codecs.register_error(_ERRORS, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # In the locale C the interpreter writes UTF-8 nevertheless.
            encoding = "ascii" if stream.isatty() and _shows_ascii() else None
            stream.reconfigure(encoding=encoding, errors=_ERRORS)


def _shows_ascii() -> bool:
    from mqvitals_agent.text.symbols import Symbols, symbols_of_locale

    return symbols_of_locale(os.environ, utf8_mode=bool(sys.flags.utf8_mode)) is Symbols.ASCII


def only_ascii() -> None:
    """Write everything in ASCII from now on, to stdout and stderr: the option ``--ascii``."""
    codecs.register_error(_ERRORS, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii", errors=_ERRORS)


def cannot_write(error: OSError) -> str:
    """The sentence for an unexpected OSError: nearly always of the output."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno == errno.EBADF:
        return "standard output is closed"
    return f"the output cannot be written: {error.strerror or error}"


def give_up_output() -> None:
    """Discard buffered output, so that Python reports no error when it ends."""
    with suppress(OSError, ValueError):
        nowhere = _nothing(os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        sys.stdout.flush()


_erase: Callable[[], None] | None = None


def erase_with(erase: Callable[[], None] | None) -> None:
    """What takes a line that is not ended off stderr, before the next message; None: there is none."""
    global _erase  # noqa: PLW0603 - one stderr, one such line
    _erase = erase


def complain(text: str) -> None:
    """Print a line for people on stderr; nothing happens when stderr cannot be written."""
    if _erase is not None:
        _erase()
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a sentence to stderr, after the program's name and made harmless to a terminal."""
    from mqvitals_agent.text.terminal import safe

    complain(f"mqvitals: {safe(text)}")


def _fill_closed() -> None:
    """Replace standard streams that are closed.

    Otherwise the next file to be opened, such as a store, would get the number of stdout, and printed text with it.
    """
    # An opened file gets the lowest free number, so in this order each gets its own.
    if sys.stdin is None:
        sys.stdin = os.fdopen(_nothing(os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        # Opened for reading only: writing fails as on a closed stream.
        sys.stdout = os.fdopen(_nothing(os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(_nothing(os.O_WRONLY), "w", encoding="utf-8")


def _nothing(flags: int) -> int:
    return os.open(os.devnull, flags)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    from mqvitals_agent.text.symbols import in_ascii

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(in_ascii, error.object[error.start : error.end])), error.end


NARROWEST, WIDEST, USUAL = 40, 200, 80
"""Cells of a line: the least and the most for a terminal, and the width without one."""


def line_width() -> int:
    """Cells of a line on this terminal; 80 where there is none."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return USUAL
    return min(max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST), WIDEST)


def screen_height() -> int | None:
    """Lines of this terminal that a screen may fill, the last being the prompt's; None where there is no terminal."""
    if not sys.stdout.isatty():
        return None
    lines = shutil.get_terminal_size((USUAL, 0)).lines
    # A terminal of unknown height reports 0.
    return lines - 1 if lines > 1 else None


def show(lines: Iterable[str]) -> None:
    """Print text for people. In a locale that is not one of UTF-8 it is in ASCII also into a pipe, at whose end may be a
    pager on the terminal; a file keeps the signs.
    """
    from mqvitals_agent.text.symbols import to_ascii

    text = "\n".join(lines)
    print(to_ascii(text) if _is_pipe() and _shows_ascii() else text)


def _is_pipe() -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def show_blocks(blocks: Iterable[Block], *, markdown: bool, ascii_only: bool) -> None:
    """Print a report for the options ``--markdown`` and ``--ascii``."""
    from mqvitals_agent.text.document import ascii_blocks, markdown_lines, plain_lines

    if ascii_only:
        blocks = ascii_blocks(blocks)
    if markdown:
        # Signs in ASCII would be marks of Markdown.
        print("\n".join(markdown_lines(blocks)))
    else:
        show(plain_lines(blocks, line_width()))


def show_lines(lines: Iterable[Line]) -> None:
    """Print styled lines, in colours where standard output wants them."""
    from mqvitals_agent.text.styled import ansi, wants_colour

    colour = wants_colour(os.environ, terminal=sys.stdout.isatty())
    show(ansi(each, colour=colour) for each in lines)

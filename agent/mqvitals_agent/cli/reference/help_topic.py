"""``mqvitals help``: the pages of the documentation as text, where there is nothing but a terminal."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

from mqvitals_agent.commandline.output import line_width
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.text.terminal import cells, fit, wrap

_DESCRIPTION = """\
Shows a page of the documentation as text, through the pager (PAGER) on a terminal; without TOPIC it lists them.
'mqvitals COMMAND --help' explains a command's options.
"""

_CODE = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")
_CELL_END = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
_HEADING = re.compile(r"(#+) +(.*)")
_PAGE = re.compile(r"(?:.*/)?([\w-]+)\.md(?:#.*)?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``help``."""
    parser.description = _DESCRIPTION
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="a page, such as agent or writing-rules")


def run(arguments: argparse.Namespace) -> int:
    """Show a page, or list all; returns the exit code. Raises Failure for a page that is not there."""
    pages = topics()
    if not pages:
        raise Failure("the pages of the documentation are not there", hint="install mqvitals from its wheel again")
    width = line_width()
    if arguments.topic is None:
        size = max(map(cells, pages))
        _show(f"{fit(name, size)}  {title(path)}" for name, path in pages.items())
        return ExitCode.DONE
    path = pages.get(arguments.topic.removesuffix(".md").removeprefix("docs/"))
    if path is None:
        raise _unknown(arguments.topic, pages)
    _show(as_text(path.read_text("utf-8"), width))
    return ExitCode.DONE


def topics() -> dict[str, Path]:
    """The pages by their names: those of the installed package, or of the sources that it runs from."""
    package = Path(__file__).parents[2]
    for folder in (package / "docs", package.parents[1] / "docs"):
        found = {path.stem: path for path in sorted(folder.glob("*.md"))}
        if found:
            return found
    return {}


def title(path: Path) -> str:
    """The first heading of a page."""
    with path.open(encoding="utf-8") as lines:
        return next((_inline(line.lstrip("# ").rstrip()) for line in lines if line.startswith("# ")), path.stem)


def as_text(markdown: str, width: int) -> Iterator[str]:
    """The lines of a page, at most ``width`` cells wide, except for text to be copied."""
    lines = iter(re.sub(r"<!--.*?-->\n?", "", markdown, flags=re.DOTALL).splitlines())
    for block in _blocks(lines):
        first = block[0]
        heading = _HEADING.fullmatch(first)
        if first.startswith("```"):
            yield from (f"    {line}".rstrip() for line in block[1:])
        elif first.startswith("    "):
            yield from block
        elif heading:
            words = _inline(heading[2])
            yield from wrap(words, width)
            if len(heading[1]) < 3:
                yield ("=" if len(heading[1]) == 1 else "-") * min(cells(words), width)
        elif first.startswith("|"):
            yield from _table(block, width)
        else:
            yield from _prose(block, width)
        yield ""


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    """Paragraphs, lists, tables, code and headings, each as its lines; code has its opening fence only."""
    block: list[str] = []
    for line in lines:
        alone = line.startswith("```") or _HEADING.fullmatch(line)
        if block and (alone or not line.strip()):
            yield block
            block = []
        if line.startswith("```"):
            yield [line, *takewhile(lambda each: not each.startswith("```"), lines)]
        elif alone:
            yield [line]
        elif line.strip():
            block.append(line)
    if block:
        yield block


def _prose(block: Iterable[str], width: int) -> Iterator[str]:
    """A paragraph, or items with the lines that go on with them."""
    first = rest = ""
    words: list[str] = []
    for line in block:
        item = _ITEM.fullmatch(line)
        if item:
            if words:
                yield from wrap(_inline(" ".join(words)), width, first=first, rest=rest)
            first = f"{item[1]}{item[2]} "
            rest, words = " " * len(first), [item[3]]
        else:
            words.append(line.strip())
    text = _inline(" ".join(words))
    if text:
        yield from wrap(text, width, first=first, rest=rest)


def _table(block: Iterable[str], width: int) -> Iterator[str]:
    """A row's first cell on a line of its own, the others below it, each behind its title where there are several."""
    rows = [[_inline(cell.strip()) for cell in _CELL_END.split(row.strip().strip("|"))] for row in block]
    titles, body = rows[0], rows[2:]
    for row in body:
        yield from wrap(row[0], width)
        for name, cell in zip(titles[1:], row[1:], strict=False):
            if cell:
                words = f"{name}: {cell}" if name and len(titles) > 2 else cell
                yield from wrap(words, width, first="    ", rest="    ")


def _inline(text: str) -> str:
    """Words without marks; a link to another page as the command that shows it."""
    codes: list[str] = []

    def taken(match: re.Match[str]) -> str:
        codes.append(match[2])
        return f"\0{len(codes) - 1}\0"

    # Characters in code are not markup; a link may hold code.
    plain = _LINK.sub(_linked, _CODE.sub(taken, text.replace("\0", "")).replace("**", ""))
    return re.sub("\0([0-9]+)\0", lambda match: codes[int(match[1])], plain).replace("\\|", "|")


def _linked(match: re.Match[str]) -> str:
    words, target = match[1], match[2]
    page = _PAGE.fullmatch(target)
    if match[0].startswith("!") or target.startswith("#"):
        return "" if match[0].startswith("!") else words
    if page and "://" not in target:
        return f"{words} (mqvitals help {page[1]})"
    return f"{words} ({target})" if "://" in target and target != words else words


def _unknown(topic: str, pages: Iterable[str]) -> Failure:
    from mqvitals_agent.commandline.runner import COMMANDS
    from mqvitals_config.decoding.problem import suggestion

    if any(command.name == topic for command in COMMANDS):
        return Failure(f"there is no page {topic!r}", hint=f"'mqvitals {topic} --help' explains the command")
    meant = suggestion(topic, list(pages))
    return Failure(f"there is no page {topic!r}", hint=meant or "'mqvitals help' lists them")


def _show(lines: Iterable[str]) -> None:
    text = "\n".join(lines).rstrip() + "\n"
    if sys.stdout.isatty():
        import pydoc

        pydoc.pager(text)
    else:
        sys.stdout.write(text)

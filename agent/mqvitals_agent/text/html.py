"""A report of blocks as one page of HTML that needs nothing else: no script, no network, charts as inline SVG.

The page is built of elements, which escape every text: text from MQ never becomes markup. It is light or dark as the
reader's system is, and light on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from mqvitals_agent.text.document import Block, ChartBlock, Entry, Heading, Items, Listing, Paragraph, ReportTable
from mqvitals_agent.text.svg import LimitLine, svg_chart
from mqvitals_agent.text.terminal import safe

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may load for the page: nothing."""

_STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --text: #1b1f24; --faint: #5c6570; --edge: #d4d9df; --card: #f6f8fa;
  --critical: #b3261e; --warning: #8a5a00; --info: #1f5fbf; --ok: #1a7f37; --unknown: #6b4fa0; --line: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --text: #e4e7eb; --faint: #9aa4b0; --edge: #363d47;
  --card: #1c2128; --critical: #ff8a80; --warning: #f0b849; --info: #7fb2ff; --ok: #5fd38a; --unknown: #c3a6ff;
  --line: #7fb2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.25rem 3rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--edge); }
h3, h4 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p { margin: .4rem 0; }
ul { margin: .4rem 0; padding-left: 1.3rem; }
article { margin: .6rem 0; padding: .5rem .8rem; background: var(--card); border-left: 4px solid var(--edge);
  border-radius: 3px; break-inside: avoid; }
article.critical { border-left-color: var(--critical); }
article.warning { border-left-color: var(--warning); }
article.info { border-left-color: var(--info); }
article.ok { border-left-color: var(--ok); }
article.unknown { border-left-color: var(--unknown); }
article > p { margin: 0; font-weight: 600; }
.critical .health { color: var(--critical); }
.warning .health { color: var(--warning); }
.info .health { color: var(--info); }
.ok .health { color: var(--ok); }
.unknown .health { color: var(--unknown); }
.health { margin-right: .6em; white-space: nowrap; }
dl { display: grid; grid-template-columns: minmax(4.6rem, max-content) minmax(0, 1fr); gap: .15rem 1rem; margin: .35rem 0 0; }
dt { color: var(--faint); }
dd { margin: 0; }
code, pre { font-family: ui-monospace, "Cascadia Mono", Consolas, "Liberation Mono", monospace; font-size: .92em; }
pre { padding: .5rem .8rem; background: var(--card); border-radius: 3px; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--edge); text-align: left; vertical-align: top; }
th { color: var(--faint); font-weight: 600; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0 1.4rem; break-inside: avoid; overflow-x: auto; }
figure > strong { font-weight: 600; }
figcaption { color: var(--faint); font-size: .92em; }
svg.chart { display: block; width: 100%; min-width: 34rem; height: auto; margin: .2rem 0; font-size: 11px; }
svg.chart text { fill: var(--faint); }
svg.chart .grid { stroke: var(--edge); stroke-width: 1; }
svg.chart .line { fill: none; stroke: var(--line); stroke-width: 1.5; stroke-linejoin: round; }
svg.chart .dot { fill: var(--line); }
svg.chart line.limit { stroke: var(--critical); stroke-width: 1; stroke-dasharray: 5 4; }
svg.chart text.limit { fill: var(--critical); stroke: var(--page); stroke-width: 3; paint-order: stroke; }
@media print { :root { color-scheme: light; --page: #fff; --text: #000; --faint: #444; --edge: #bbb; --card: #fff;
  --critical: #b3261e; --warning: #8a5a00; --info: #1f5fbf; --ok: #1a7f37; --unknown: #6b4fa0; --line: #1f5fbf; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  svg.chart { min-width: 0; }
  article { border: 1px solid var(--edge); border-left-width: 4px; } h2 { break-after: avoid; } }
"""


def html_page(blocks: Iterable[Block], title: str) -> str:
    """The page, which ends with a new line. ``title`` is what the browser's window shows."""
    page = Element("html", {"lang": "en"})
    head = SubElement(page, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "meta", {"name": "referrer", "content": "no-referrer"})
    SubElement(head, "title").text = safe(title)
    SubElement(head, "style").text = _STYLE
    body = SubElement(SubElement(page, "body"), "main")
    for block in blocks:
        body.extend(_elements(block))
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def _elements(block: Block) -> Iterator[Element]:
    match block:
        case Heading(level, text):
            yield _with(f"h{min(level, 6)}", text)
        case Paragraph(text):
            yield _with("p", text)
        case Items(texts):
            listed = Element("ul")
            listed.extend(_with("li", text) for text in texts)
            yield listed
        case Listing(lines, _):
            yield _with("pre", "\n".join(map(safe, lines)), raw=True)
        case ReportTable(titles, rows, right):
            yield _table(titles, rows, right)
        case Entry():
            yield _entry(block)
        case ChartBlock():
            yield _figure(block)


def _with(tag: str, text: str, *, kind: str = "", raw: bool = False) -> Element:
    """An element with a text; ``raw``: which is safe already."""
    element = Element(tag, {"class": kind} if kind else {})
    element.text = text if raw else safe(text)
    return element


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]], right: frozenset[int]) -> Element:
    found = Element("table")
    for tag, cells in [("th", titles), *(("td", row) for row in rows)]:
        line = SubElement(found, "tr")
        line.extend(_with(tag, cell, kind="number" if place in right else "") for place, cell in enumerate(cells))
    return found


def _entry(entry: Entry) -> Element:
    found = Element("article", {} if entry.health is None else {"class": entry.health.word})
    head = SubElement(found, "p")
    if entry.health is None:
        head.text = safe(entry.text)
    else:
        badge = _with("span", str(entry.health), kind="health")
        badge.tail = safe(entry.text)
        head.append(badge)
    if entry.facts:
        facts = SubElement(found, "dl")
        for fact in entry.facts:
            facts.append(_with("dt", fact.word))
            told = SubElement(facts, "dd")
            if fact.code:
                told.append(_with("code", fact.text))
            else:
                told.text = safe(fact.text)
    return found


def _figure(block: ChartBlock) -> Element:
    found = Element("figure")
    found.append(_with("strong", block.title))
    limit = None if block.limit is None else LimitLine(block.limit[0], safe(block.limit[1]))
    found.append(
        svg_chart(block.points, block.scale, block.span, title=safe(block.title), time_label=block.label, limit=limit)
    )
    found.append(_with("figcaption", block.words))
    return found

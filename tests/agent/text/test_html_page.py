"""Reports in Markdown and HTML: whatever text from MQ is, it stays text."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mqvitals_agent.text.chart import Scale, TimeRange, scale_of_values
from mqvitals_agent.text.document import (
    ChartBlock,
    Entry,
    Heading,
    Items,
    LabelledText,
    Listing,
    Paragraph,
    ReportTable,
    code_span,
    markdown_lines,
)
from mqvitals_agent.text.html import html_page
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.svg import LimitLine, svg_chart
from mqvitals_agent.text.terminal import safe

OURS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "ul", "li", "pre", "table", "tr", "th", "td",
    "article", "span", "dl", "dt", "dd", "code", "figure", "strong", "svg", "line", "text", "path", "circle", "figcaption",
}  # fmt: skip
HOSTILE = st.text(st.sampled_from([*"<>&\"'`|*_[]()#\\~-= \n\r\t\0\x1b\u202e\ud800aé"]), max_size=30) | st.sampled_from(
    [
        "</style><script>alert(1)</script>",
        "<!--",
        "]]>",
        "&lt;",
        "javascript:x",
        "`` ` ``",
        "a|b",
        "<img src=x onerror=y>",
    ]
)


class Page(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def chart(
    text: str, points: tuple[tuple[int, float | None], ...] = ((0, 1.0), (10, None), (20, 2.0), (30, 3.0))
) -> ChartBlock:
    """A chart whose every text is ``text``."""
    scale = scale_of_values(
        [value for _, value in points if value is not None], lambda value: f"{value:g} {safe(text)}"
    )
    return ChartBlock(text, points, scale, TimeRange(0, 30), lambda _: "12:00", text, (2.5, text))


@given(HOSTILE)
def test_text_never_becomes_markup(text: str) -> None:
    """In no block of a page: the parser of Python's library sees our elements alone, and the text as it is."""
    blocks = (
        Heading(1, text), Paragraph(text), Items((text,)), Listing((text,)), ReportTable((text,), ((text,),)),
        Entry(Health.CRITICAL, text, (LabelledText("word", text), LabelledText("MQSC", text, code=True))), chart(text),
    )  # fmt: skip
    page = Page(html_page(blocks, text))
    assert page.tags <= OURS
    assert not {name for name in page.attributes if name.startswith("on") or name in ("href", "src", "style")}
    assert page.text.count(safe(text)) >= 9
    html_page(blocks, text).encode("utf-8")


@given(HOSTILE)
def test_text_in_markdown_is_read_as_itself(text: str) -> None:
    """A renderer of Markdown makes one item of an entry, with one code span for a command, and no markup of the text."""
    entry = Entry(Health.WARNING, text, (LabelledText("note", text), LabelledText("MQSC", text, code=True)))
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render("\n".join(markdown_lines([entry])))
    page = Page(rendered)
    assert page.tags <= {"ul", "li", "strong", "code"}
    assert rendered.count("<strong>") == 1
    assert rendered.count("<li>") == 3
    assert rendered.count("<code>") == 1


@given(HOSTILE)
def test_a_code_span_holds_its_text(text: str) -> None:
    """Whatever back quotes are in it."""
    rendered = MarkdownIt("commonmark").render(f"x {code_span(text)} y")
    page = Page(rendered)
    assert page.tags <= {"p", "code"}
    assert " ".join(page.text.split()) == " ".join(f"x {safe(text)} y".split())


def paths(points: tuple[tuple[int, float | None], ...], scale: Scale, limit: LimitLine | None = None) -> list[str]:
    """The lines of a chart of half a minute."""
    drawn = svg_chart(points, scale, TimeRange(0, 30), title="", time_label=str, limit=limit)
    return [each.attrib["d"] for each in drawn.iter("path")]


def test_gaps_are_gaps() -> None:
    """An absent value, and a pause without polls, each end the line; what stands alone is a dot."""
    scale = Scale(0, 10, ((10.0, "10"), (0.0, "0")))
    assert len(paths(((0, 1.0), (1, 2.0), (2, None), (3, 2.0), (4, 3.0)), scale)) == 2
    assert len(paths(((0, 1.0), (1, 2.0), (2, 2.0), (20, 2.0), (21, 3.0)), scale)) == 2
    lone = svg_chart(((0, 1.0), (1, None), (2, 1.0)), scale, TimeRange(0, 30), title="", time_label=str)
    assert len(list(lone.iter("circle"))) == 2
    assert not list(lone.iter("path"))


def test_the_limit_has_its_words() -> None:
    """Beside its line, within the chart also at the very top."""
    scale = Scale(0, 10, ())
    drawn = svg_chart((), scale, TimeRange(0, 30), title="", time_label=str, limit=LimitLine(10, "BP-03 10 %"))
    (words,) = [each for each in drawn.iter("text") if each.get("class") == "limit"]
    assert words.text == "BP-03 10 %"
    assert float(words.attrib["y"]) > 10


@given(st.lists(st.floats(-1e9, 1e9) | st.none(), max_size=200), st.integers(1, 1_000))
def test_a_long_series_keeps_its_extremes(values: list[float | None], every: int) -> None:
    """And takes no more room than its width needs."""
    points = tuple((place * every, value) for place, value in enumerate(values))
    known = [value for value in values if value is not None]
    scale = scale_of_values(known, str)
    span = TimeRange(0, max(len(values) * every, 1))
    drawn = svg_chart(points, scale, span, title="", time_label=str)
    heights = [float(pair.split()[1]) for path in drawn.iter("path") for pair in path.attrib["d"][1:].split("L")]
    heights += [float(each.attrib["cy"]) for each in drawn.iter("circle")]
    assert bool(heights) is bool(known)
    everything = svg_chart(
        tuple((place, value) for place, value in enumerate(known)),
        scale,
        TimeRange(0, max(len(known), 1)),
        title="",
        time_label=str,
    )
    lines = [float(pair.split()[1]) for path in everything.iter("path") for pair in path.attrib["d"][1:].split("L")]
    if lines:
        assert (min(heights), max(heights)) == (min(lines), max(lines))

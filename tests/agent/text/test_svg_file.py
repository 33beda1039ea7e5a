"""Charts in a file of their own."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.chart import Scale, TimeRange, scale_of_values
from mqvitals_agent.text.chart_lines import Chart, ChartSeries, ShadedSpan
from mqvitals_agent.text.svg import HEIGHT, WIDTH, Drawing, svg_file
from mqvitals_rules.lifecycle.alert import Severity

SPACE = "{http://www.w3.org/2000/svg}"
SCALE = Scale(0, 10, ((10.0, "10"), (0.0, "0")))
ALLOWED = {"svg", "style", "rect", "text", "title", "line", "path", "circle"}


def chart(*series: list[tuple[int, float | None]], steps: bool = False, shaded: tuple[ShadedSpan, ...] = ()) -> Chart:
    lines = tuple(ChartSeries(f"line {place}", points) for place, points in enumerate(series))
    return Chart(
        lines, SCALE, TimeRange(0, 100), str, str, steps=steps, shaded=shaded, marks=((50, "MAXDEPTH 5 -> 6"),)
    )


def drawn(*drawings: Drawing) -> Element:
    return fromstring(svg_file(drawings, lambda severity: severity.name.lower()))


def of_class(root: Element, word: str) -> list[Element]:
    return [each for each in root.iter() if word in each.get("class", "").split()]


def test_lines_alerts_and_marks() -> None:
    """Each line has its colour, its digit and its words, an alert its time, a change its mark with what changed."""
    two = chart(
        [(0, 1.0), (50, 2.0), (100, 3.0)],
        [(0, 3.0), (50, 3.0), (100, 3.0)],
        shaded=(ShadedSpan(25, 75, Severity.WARNING),),
    )
    root = drawn(Drawing("QM01/queue/X  depth", two, ("1 one", "2 two")))
    assert [len(of_class(root, "line")), len(of_class(root, "s1")), len(of_class(root, "s2"))] == [2, 3, 3]
    (alert,) = of_class(root, "alert")
    assert float(alert.attrib["width"]) * 2 - (WIDTH - 92) < 1
    (mark,) = of_class(root, "mark")
    assert [each.text for each in mark] == ["MAXDEPTH 5 -> 6"]
    digits = [each for each in of_class(root, "name") if each.text in ("1", "2")]
    assert len({each.attrib["y"] for each in digits}) == 2
    assert {"1 one", "2 two"} <= {each.text for each in of_class(root, "name")}


def test_steps_are_steps() -> None:
    """A value goes on until the next one, also downwards."""
    (path,) = of_class(drawn(Drawing("t", chart([(0, 8.0), (50, 2.0), (100, 2.0)], steps=True))), "line")
    heights = [pair.split()[1] for pair in path.attrib["d"][1:].split("L")]
    assert heights[0] == heights[1] != heights[2] == heights[-1]


def test_charts_stand_below_each_other() -> None:
    """Each in a box of its own height."""
    one = chart([(0, 1.0), (100, 2.0)])
    root = drawn(Drawing("a", one, ("x",)), Drawing("b", one))
    first, second = (each for each in root if each.tag == f"{SPACE}svg")
    assert float(second.attrib["y"]) - float(first.attrib["y"]) > HEIGHT
    assert float(root.attrib["height"]) >= float(second.attrib["y"]) + HEIGHT


@given(
    st.lists(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=30), min_size=1, max_size=4),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=200),
    st.booleans(),
)
def test_any_text_and_series_is_a_picture(values: list[list[float | None]], title: str, steps: bool) -> None:
    """No text becomes markup, and all that is drawn lies within the picture."""
    series = [list(enumerate(each)) for each in values]
    scale = scale_of_values([value for each in values for value in each if value is not None], str)
    lines = tuple(ChartSeries("x", points) for points in series)
    shown = Chart(lines, scale, TimeRange(0, 30), str, str, steps=steps)
    root = drawn(Drawing(title, shown, (title,) * len(series)))
    assert {each.tag.removeprefix(SPACE) for each in root.iter()} <= ALLOWED
    for path in of_class(root, "line"):
        for pair in path.attrib["d"][1:].split("L"):
            x, y = map(float, pair.split())
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT

"""Strips of states: the worst of each stretch, holes where nothing was polled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.alerts.alert_rows import SeveritySpan
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.history.heat import CELLS, folded, heat_of
from mqvitals_rules.lifecycle.alert import Severity

STEP = 60_000
SINCE = 1795176000000
UNTIL = SINCE + CELLS * STEP - 1
MOMENTS = st.integers(SINCE - 20 * STEP, UNTIL)
SPANS = st.lists(
    st.builds(
        lambda number, severity, begin, length: SeveritySpan(
            number, "QM01", severity, begin, None if length is None else begin + length
        ),
        st.integers(1, 5),
        st.sampled_from(Severity),
        MOMENTS,
        st.none() | st.integers(0, 40 * STEP),
    ),
    max_size=8,
)


@given(SPANS, st.frozensets(st.integers(0, CELLS - 1)))
def test_a_cell_has_the_worst_of_its_time(spans: list[SeveritySpan], polled: frozenset[int]) -> None:
    """At every moment at which an alert fires and something was polled, its cell is at least as bad."""
    heat = heat_of(SINCE, STEP, UNTIL, {"QM01": polled}, spans)
    for cell, state in enumerate(heat.owners["QM01"]):
        begin, end = SINCE + cell * STEP, SINCE + (cell + 1) * STEP - 1
        firing = [
            health_of(each.severity) for each in spans if each.begin <= end and (each.end is None or each.end >= begin)
        ]
        assert state == (max(firing, default=Health.OK) if cell in polled else None)
    for number, row in heat.alerts.items():
        own = heat_of(SINCE, STEP, UNTIL, {"QM01": polled}, [each for each in spans if each.number == number])
        assert list(row) == list(own.owners["QM01"])


@given(st.lists(st.sampled_from([*Health, None]), min_size=1, max_size=100), st.integers(1, 120))
def test_folding_loses_nothing_bad(states: list[Health | None], width: int) -> None:
    """In fewer cells the worst stays, and a hole is one only where nothing was known at all."""
    found = folded(states, width)
    assert len(found) == min(width, len(states))
    assert max((each for each in found if each is not None), default=None) == max(
        (each for each in states if each is not None), default=None
    )
    assert (None in found) <= (None in states)
    if width >= len(states):
        assert found == states


def test_a_moment_of_a_strip() -> None:
    """The last cell ends where the strip does; cells follow each other."""
    heat = heat_of(SINCE, STEP, UNTIL, {}, [])
    for width in (10, 36, CELLS):
        ends = [heat.moment(cell, width) for cell in range(width)]
        assert ends == sorted(set(ends))
        assert ends[-1] == SINCE + CELLS * STEP

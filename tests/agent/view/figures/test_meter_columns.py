"""Meters in lists: as wide as there is room, with ticks where the object's rules begin, red only where one alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.meter import Bound
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.meter_columns import bounds_of
from mqvitals_agent.view.figures.table import Column, Item, cell_spans
from mqvitals_agent.view.lists.columns import COLUMNS, fitted
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

NOW = 1795176590000
WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
METERS = [(kind, column) for kind, columns in COLUMNS.items() for column in columns if column.widest]


def item(rules: RuleConfig, kind: str, name: str, values: Mapping[str, Reported], health: Health = Health.OK) -> Item:
    told = {key: CurrentValue(value, NOW, "P", NOW, None) for key, value in values.items()}
    of = ObjectName("QM01", kind, name)
    return Item(of, health, told, rules=rules.rules.rules_for(of))


def meter_column(kind: str, name: str) -> Column:
    return next(column for _, column in METERS if column.metrics[0] == (kind, name))


def test_what_has_meters() -> None:
    """Free, used, entries, batch fill, log fill and instances."""
    assert {column.metrics[0] for _, column in METERS} >= {
        ("buffer_pool", "free_pct"),
        ("page_set", "used_pct"),
        ("cf_structure", "entries_pct"),
        ("cf_structure", "size_used_pct"),
        ("smds", "used_pct"),
        ("channel", "xbatchsz_short"),
        ("log", "full_logs"),
        ("log", "used_pct"),
        ("channel_initiator", "current"),
    }


@pytest.mark.parametrize(
    ("kind", "name", "values", "whole", "low", "expected"),
    [
        ("buffer_pool", "free_pct", {}, 100.0, True, {Bound(20, WARNING), Bound(15, WARNING), Bound(5, CRITICAL)}),
        ("page_set", "used_pct", {}, 100.0, False, {Bound(85, WARNING), Bound(95, CRITICAL), Bound(99.5, CRITICAL)}),
        (
            *("cf_structure", "entries_pct", {"full_threshold_pct": 80}, 100.0, False),
            {Bound(80, WARNING), Bound(95, CRITICAL)},
        ),
        ("log", "used_pct", {}, 100.0, False, set()),
    ],
)
def test_ticks_are_where_rules_begin(
    judging: RuleConfig,
    kind: str,
    name: str,
    values: Mapping[str, Reported],
    whole: float,
    low: bool,
    expected: set[Bound],
) -> None:
    """Those that warn or alarm by this figure alone: not those that need its past, and not the full end of a log, which is usual."""
    found = bounds_of(item(judging, kind, "3", values), name, whole, low_is_bad=low)
    assert set(found) == expected


def test_ticks_follow_the_tuning_of_the_site(judging: RuleConfig) -> None:
    """An object has the ticks of its own rules."""
    entry = Tuning(
        "PS-01", ObjectPattern.parse("QM01/page_set/4"), values={"used_limit_pct": 70.0, "critical_pct": 90.0}
    )
    tuned = replace(judging, rules=replace(judging.rules, tuning=(entry,)))
    firsts = [min(bounds_of(item(tuned, "page_set", name, {}), "used_pct")).value for name in ("4", "5")]
    assert firsts == [70, 85]


@given(
    st.sampled_from(METERS),
    st.floats(0, 100) | st.sampled_from([Absence.NOT_ASKED, Absence.STALE]),
    st.integers(60, 240),
)
def test_a_cell_is_as_wide_as_its_column(of: tuple[str, Column], value: Reported, width: int) -> None:
    """Whatever it shows; and its figure is in it in full."""
    kind, column = of
    (metric_kind, name), *more = column.metrics
    shown = next((each for each in fitted(COLUMNS[kind], width) if each.id == column.id), column)
    told = CurrentValue(value, NOW, "P", NOW, None)
    whole = {metric: told._replace(value=250.0) for _, metric in more}
    cell = shown.cell(Item(ObjectName("QM01", metric_kind, "3"), Health.OK, {**whole, name: told}), NOW)
    spans = cell_spans(cell, shown)
    assert sum(cells(span.text) for span in spans) == shown.width
    assert spans[-1].text.strip() == cell.text
    assert (cell.fill is None) == isinstance(value, Absence)


def test_only_an_alert_makes_a_meter_loud(judging: RuleConfig) -> None:
    """A pool that is meant to fill has no alert: its meter is near, never red. What is stale looks stale."""
    column = meter_column("buffer_pool", "free_pct")
    low = item(judging, "buffer_pool", "3", {"free_pct": 3.0})

    def tone(each: Item) -> Tone:
        return cell_spans(column.cell(each, NOW), column)[1].tone

    assert tone(low) is Tone.NEAR
    assert tone(low._replace(health=Health.CRITICAL)) is Tone.CRITICAL
    assert tone(item(judging, "buffer_pool", "3", {"free_pct": 18.0}, Health.WARNING)) is Tone.WARNING
    assert tone(item(judging, "buffer_pool", "3", {"free_pct": 90.0})) is Tone.CALM
    assert tone(low._replace(health=Health.UNKNOWN, stale=True)) is Tone.STALE


def test_a_long_figure_takes_the_room_of_the_meter(judging: RuleConfig) -> None:
    """Where the figure needs the cells, nothing is drawn rather than cut."""
    column = meter_column("channel_initiator", "current")
    cell = column.cell(item(judging, "channel_initiator", "", {"current": 9_999, "current_max": 9_999}), NOW)
    (only,) = cell_spans(cell, replace(column, width=column.figure + 4))
    assert only.text.strip() == cell.text

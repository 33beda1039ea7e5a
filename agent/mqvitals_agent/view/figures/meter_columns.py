"""Columns with a meter: a share, and ticks at the values from which rules warn or alarm about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from mqvitals_agent.text.meter import Bound, Fill, meter_tone
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Cell, Column, Item
from mqvitals_agent.view.figures.values import number_in
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.thresholds import bounded_with, thresholds_of

METER: Final = 7
"""Cells that a meter adds to its column at least, with the gap before its figure."""

_LONGER: Final = 10
"""Cells by which a meter grows where there is room."""


def with_meter(
    column: Column, figure_cells: int, whole: str = "", *, low_is_bad: bool = False, always: bool = True
) -> Column:
    """The column with a meter before its figure, which takes ``figure_cells``.

    The figure is the column's metric, a share in per cent, or with ``whole`` a part of that metric. The ticks are those
    of the object's rules. Unless ``always``, there is a meter only where the screen has room left.
    """
    kind, name = column.metrics[0]

    def cell(item: Item, now: int) -> Cell:
        shown = column.cell(item, now)
        value = number_in(item.values.get(name))
        if item.name.kind != kind or value is None:
            return shown
        most = number_in(item.values.get(whole)) if whole else 100.0
        if not most or most < 0:
            return shown
        bounds = bounds_of(item, name, most, low_is_bad=low_is_bad)
        share = 100 * value / most
        return shown._replace(
            fill=Fill(
                share, bounds, low_is_bad, _own_tone(item, shown, meter_tone(share, bounds, low_is_bad=low_is_bad))
            )
        )

    width = max(figure_cells + METER, cells(column.title)) if always else column.width
    metrics = (*column.metrics, *(((kind, whole),) if whole and (kind, whole) not in column.metrics else ()))
    return replace(
        column,
        cell=cell,
        width=width,
        widest=max(figure_cells + METER, width) + _LONGER,
        figure=figure_cells,
        right=True,
        metrics=metrics,
    )


def bounds_of(item: Item, name: str, whole: float = 100.0, *, low_is_bad: bool = False) -> tuple[Bound, ...]:
    """The values from which rules warn or alarm about a metric of an object, per cent of ``whole``.

    Only of rules that measure their alerts by it and that need nothing else: no past, no messages.
    """
    kind = item.name.kind
    own = [
        each
        for each in item.rules
        if each.figure is not None
        and name in bounded_with(kind, each.figure.metric.name)
        and not each.when.windows
        and not each.when.messages
    ]
    values = {metric: latest.value for metric, latest in item.values.items()}
    return tuple(
        Bound(100 * each.value / whole, each.severity)
        for each in thresholds_of(own, kind, values)
        if each.metric == name and each.low_is_bad is low_is_bad and each.severity > Severity.INFO
    )


def _own_tone(item: Item, shown: Cell, tone: Tone) -> Tone | None:
    """The tone of a meter where its value does not give it (``tone``): what is stale, and what no rule alerts about.

    A value beyond a threshold is no fault while the rule does not hold: for that purpose of a pool, or not yet for long
    enough.
    """
    if shown.tone in (Tone.STALE, Tone.UNKNOWN):
        return shown.tone
    return Tone.NEAR if tone in (Tone.WARNING, Tone.CRITICAL) and item.health < Health.WARNING else None

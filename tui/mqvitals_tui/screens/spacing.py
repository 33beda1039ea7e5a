"""Columns set apart: those that fit, with two blanks between where the table alone leaves one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mqvitals_agent.view.columns import fitted
from mqvitals_agent.view.table import Column


def spaced(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that fit into ``width`` cells, the last ones left out first."""
    kept = fitted(columns, width - 1)
    apart: list[Column] = []
    for position, column in enumerate(kept):
        after_right = position > 0 and kept[position - 1].right
        more = 1 if (not column.right and position < len(kept) - 1) or (column.right and after_right) else 0
        apart.append(replace(column, width=column.width + more) if more else column)
    return tuple(apart)

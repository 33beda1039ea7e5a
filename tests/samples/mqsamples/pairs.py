"""Parametrisations of which a part runs in ``make test`` and the whole in ``make soak``."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet


def paired(first: Sequence[object], second: Sequence[object]) -> list[ParameterSet]:
    """Every pair of both; without the marker ``soak`` as many as bring each value of both at least once."""
    longest = max(len(first), len(second))
    kept = {(place % len(first), place % len(second)) for place in range(longest)}
    return [
        pytest.param(one, other, marks=() if (row, column) in kept else pytest.mark.soak)
        for row, one in enumerate(first)
        for column, other in enumerate(second)
    ]


def alone(kept: object, *others: object) -> list[ParameterSet]:
    """``kept`` in ``make test``, the others in ``make soak`` only."""
    return [pytest.param(kept), *(pytest.param(other, marks=pytest.mark.soak) for other in others)]

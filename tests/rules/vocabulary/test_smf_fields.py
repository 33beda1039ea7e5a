"""What the vocabulary says of SMF fields is written as a formula; that the fields exist, the readers of SMF records prove."""

from __future__ import annotations

import re

import pytest

from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in KINDS.values()])
def test_formulas_hold_fields_and_arithmetic_alone(kind: Kind) -> None:
    """Names of fields, and between them sums, differences, quotients and parentheses."""
    for metric in kind.metrics:
        assert re.fullmatch(r"[A-Z0-9_+/()-]*", metric.smf), metric.name

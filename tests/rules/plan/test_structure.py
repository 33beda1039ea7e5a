"""Coupling facility structures: the worked examples of the documents."""

from __future__ import annotations

import pytest

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.structures import cf_structure_messages, cf_structure_size


def test_half_a_gigabyte_holds_275000_small_messages() -> None:
    answer = cf_structure_size(msg_bytes=1536, max_msgs=275_000)
    assert (answer.value, answer.unit) == (515_625, "KB")


@pytest.mark.parametrize(
    ("size_kb", "user_bytes", "exact", "document", "within"),
    [
        (524_288, 1212, 279_620, 275_000, 0.02),
        (1_048_576, 16_384, 50_840, 50_000, 0.02),
        (65_536, 64_512, 825, 750, 0.1),
    ],
)
def test_messages_of_a_structure(size_kb: int, user_bytes: int, exact: int, document: int, within: float) -> None:
    value = cf_structure_messages(size_kb=size_kb, user_bytes=user_bytes).value
    assert value == exact
    assert value == pytest.approx(document, rel=within)


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="msg-bytes must be 1 to 64,836 bytes, not 0"):
        cf_structure_size(msg_bytes=0, max_msgs=1)
    with pytest.raises(PlanError, match="max-msgs must be given"):
        cf_structure_size(msg_bytes=1)
    with pytest.raises(PlanError, match="max-msgs is a whole number"):
        cf_structure_size(msg_bytes=1, max_msgs=1.5)
    with pytest.raises(PlanError, match="has no input depth; it has msg-bytes, max-msgs"):
        cf_structure_size(depth=1)

"""How many pages a message takes: the rows of the document's table."""

from __future__ import annotations

import pytest

from mqvitals_rules.plan.page_sets import message_pages


@pytest.mark.parametrize(
    ("shortest", "longest", "pages"),
    [
        (0, 3635, 1),
        (3636, 7683, 2),
        (7684, 11731, 3),
        (11732, 15779, 4),
        (15780, 19827, 5),
        (19828, 23875, 6),
        (23876, 27923, 7),
        (27924, 31971, 8),
    ],
)
def test_pages_by_length(shortest: int, longest: int, pages: int) -> None:
    """The shortest and the longest message of each row."""
    assert (message_pages(shortest), message_pages(longest)) == (pages, pages)


def test_an_average_between_two_rows() -> None:
    """It takes what the longer message takes."""
    assert message_pages(3635.5) == 2

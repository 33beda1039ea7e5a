"""Until when a release is supported, from the table that comes with the product."""

from __future__ import annotations

from datetime import date

import pytest

from mqvitals_rules.releases import CD, LTS, release_table


@pytest.mark.parametrize(
    ("level", "zos", "announced", "kind", "until", "words"),
    [
        (910, True, None, LTS, "2023-07-31", "9.1.0 LTS: supported at least until 2023-07, its end on z/OS is not verified"),
        (910, False, None, LTS, "2023-09-30", "9.1.0 LTS: supported until 2023-09-30"),
        (930, False, None, LTS, "2027-06-30", "9.3.0 LTS: supported at least until 2027-06"),
        (900, True, None, LTS, "2021-06-30", "9.0.0 LTS: no longer supported"),
        (940, True, None, None, "2029-06-30", "9.4.0, as LTS: supported at least until 2029-06, its end on z/OS is not verified"),
        (940, True, LTS, LTS, "2029-06-30", "9.4.0 LTS: supported at least until 2029-06, its end on z/OS is not verified"),
        (940, True, CD, CD, "2025-06-30", "9.4.0 CD: supported until 2025-06"),
        (915, True, None, CD, "2021-07-31", "9.1.5 CD: supported until 2021-07 at the latest"),
        (935, False, None, CD, "2025-06-30", "9.3.5 CD: supported until 2025-06 at the latest"),
        (942, True, CD, CD, None, "9.4.2 CD: supported for 12 months after it became available, or while it is one of the last two"),
    ],
)  # fmt: skip
def test_support(level: int, zos: bool, announced: str | None, kind: str, until: str | None, words: str) -> None:
    """An end that was announced is certain, five years are the least, and the end on z/OS is never said to be known."""
    found = release_table().support(level, zos=zos, announced=announced)
    assert found is not None
    assert (found.type, found.until, found.words) == (kind, date.fromisoformat(until) if until else None, words)


def test_a_release_that_is_not_in_the_table() -> None:
    """Before 9.0.0 there were no CD releases, so nothing follows from the next release."""
    assert release_table().support(750, zos=False) is None

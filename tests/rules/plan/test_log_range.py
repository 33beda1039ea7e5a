"""How long the range of log positions lasts: the reference's checks, its refusals, and dates."""

from __future__ import annotations

import pytest

from mqvitals_rules.plan.formula import PlanError, parse_input
from mqvitals_rules.plan.log_range import log_rba_life


@pytest.mark.parametrize(("mb_per_second", "days"), [(40, 23.0), (10, 92.2), (2, 461.0)])
def test_the_range_at_a_rate(mb_per_second: float, days: float) -> None:
    answer = log_rba_life(rba="B40000000000", bytes="6", mb_per_second=mb_per_second)
    assert answer.value == pytest.approx(days, abs=0.05)
    assert answer.unit == "days"
    a_day = log_rba_life(rba="0000B40000000000", bytes="6", mb_per_day=mb_per_second * 86_400)
    assert a_day.value == answer.value


def test_used_part_what_is_left_and_dates() -> None:
    """MB and TB are of 1024s; the days begin at the given date, and without one there are no dates."""
    (row,) = log_rba_life(rba="C80000000000", bytes="6", mb_per_second=10, date="2026-11-23").rows
    assert row["used_pct"] == pytest.approx(78.1, abs=0.05)
    assert row["left_tb"] == pytest.approx(55.97, abs=0.005)
    assert (row["date"], row["date_of_90_pct"]) == ("2027-01-29", "2026-12-29")
    (bare,) = log_rba_life(rba="C80000000000", bytes="6", mb_per_second=10).rows
    assert (bare["date"], bare["date_of_90_pct"]) == ("", "")
    (past,) = log_rba_life(rba="E80000000000", bytes="6", mb_per_second=10, date="2026-11-23").rows
    assert past["date_of_90_pct"] == "2026-11-23"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rba": "0001800000000000", "bytes": "6"}, "give bytes 8"),
        ({"rba": "FFF800000000", "bytes": "6"}, "the queue manager has ended"),
        ({"rba": "FFFFFFC000000000", "bytes": "8"}, "the queue manager has ended"),
        ({"rba": "0x1F", "bytes": "6"}, "hexadecimal"),
        ({"rba": "1" * 17, "bytes": "8"}, "hexadecimal"),
        ({"rba": "1F", "bytes": "7"}, "bytes must be 6 or 8"),
        ({"rba": "1F", "bytes": "6", "date": "2026-02-30"}, "no day of a calendar"),
        ({"rba": "1F", "bytes": "6", "date": "tomorrow"}, "YYYY-MM-DD"),
        ({"rba": "1F", "bytes": "6", "mb_per_day": 1}, "not both"),
    ],
)
def test_what_is_refused(given: dict[str, str | float], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        log_rba_life(**{"mb_per_second": 1, **given})


def test_one_of_both_rates_is_needed() -> None:
    with pytest.raises(PlanError, match="mb-per-second or mb-per-day must be given"):
        log_rba_life(rba="1F", bytes="6")


def test_the_position_is_taken_as_written() -> None:
    """Digits alone are no number, and blanks around them are none of it."""
    (rba, *_) = log_rba_life.inputs
    assert parse_input(rba, " 000000100000 ") == "000000100000"

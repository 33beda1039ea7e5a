"""A share of a whole."""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Absence, Reported


def percent(some: Reported, whole: Reported) -> Reported:
    """``some`` of ``whole`` in percent, to two decimals; absent for the reason either is, or when there is no whole."""
    if type(some) is not int:
        return some if isinstance(some, Absence) else Absence.NOT_RETURNED
    if type(whole) is not int:
        return whole if isinstance(whole, Absence) else Absence.NOT_RETURNED
    return round(100 * some / whole, 2) if whole > 0 else Absence.NOT_RETURNED

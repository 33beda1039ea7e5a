"""Page sets without pages and pools without buffers: what they tell is absent with a reason, and not zero."""

from __future__ import annotations

from typing import Any

import pytest

from mqsamples.smf import readings
from mqvitals_agent.smf.record import parse
from mqvitals_agent.view.figures.table import short_absence
from mqvitals_rules.vocabulary.metric import Absence, Reported


def told(data: bytes) -> dict[str, dict[str, Reported]]:
    """What a record tells, by the name of the object."""
    return {str(each.object): dict(each.values) for snapshot in readings([parse(data)]) for each in snapshot.readings}


@pytest.mark.parametrize(
    ("status", "pages", "reason"),
    [(2, 0, Absence.OFFLINE), (1, 0, Absence.NOT_IN_USE), (0, 0, Absence.NOT_IN_USE), (2, 1000, None), (0, 1000, None)],
)
def test_page_sets(smf: Any, status: int, pages: int, reason: Absence | None) -> None:
    """Offline, or never opened: only what it is, and which pool it would use, is known."""
    section = smf.section(
        104, {8: (4, 4), 12: (4, 3), 16: (4, pages), 20: (4, pages // 4), 95: (1, 1), 96: (1, status)}
    )
    found = told(smf.record(115, 201, {1: [section]}))["MQ01/page_set/4"]
    known = {"status": status, "buffer_pool": 3, "expand_type": 1}
    assert {name: found[name] for name in known} == known
    others = {name: value for name, value in found.items() if name not in known}
    if reason is None:
        assert found["used_pct"] == 75
        assert found["total_pages"] == pages
        assert Absence.OFFLINE not in others.values()
    else:
        assert set(others.values()) == {reason}
        assert {"used_pct", "total_pages", "full_count"} <= others.keys()
        assert 0 < len(short_absence(reason)) <= 11


def test_pools(smf: Any) -> None:
    """A pool that is defined nowhere has no buffers; the one beside it is told whole."""
    found = told(smf.record(115, 215, {1: [smf.pool(7, buffers=0, low=0, free=0), smf.pool(3)]}))
    assert set(found["MQ01/buffer_pool/7"].values()) == {Absence.NOT_IN_USE}
    assert "worst_free_pct" in found["MQ01/buffer_pool/7"]
    assert found["MQ01/buffer_pool/3"]["low_pct"] == 1.2
    assert Absence.NOT_IN_USE not in found["MQ01/buffer_pool/3"].values()

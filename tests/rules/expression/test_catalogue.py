"""The conditions of the rules that ship, in the language, on values that make them hold and that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from mqvitals_rules.expression import Context, Expression
from mqvitals_rules.vocabulary.metric import Absence, Reported

BP_01 = "purpose in SHORT and deferred_write_pct < worst_free_pct <= stress_pct"
BP_02 = "purpose in SHORT and 5 < buffer_pool.worst_free_pct <= 15"
BP_03 = "worst_free_pct <= 5"
CHL_01 = 'batchsz > 1 and xbatchsz_short >= 0.9*batchsz and rate(channel.msgs, "5m") > 0'
CHL_06 = (
    "((nettime_us_short > 2*nettime_us_long and nettime_us_short - nettime_us_long > 1000)"
    ' or nettime_us_short > 2*ping_us) and delta(batches, "5m") > 0'
)
CHL_07 = "nettime_max_us >= 10*nettime_avg_us and nettime_max_us >= 5000"
CHL_16 = 'status == RETRYING or (indoubt == YES and min(indoubt, "5m") == YES)'
CHIN_10 = "chiadaps != adapters_max or adapters_started < adapters_max"
CF_01 = "type == admin and entries_max < 1000*qsg.qmgr_count"
CF_02 = "type == admin and (entries_used >= 0.8*entries_max or entries_used > 1000*qsg.qmgr_count)"
CF_03 = "type == application and max(entries_pct, size_used_pct) >= full_threshold_pct"
Q_02 = "rising(depth, 5) and input_handles > 0 and (depth > 1000 or depth > 0.1*max_depth) and usage != XMITQ"
Q_03 = "input_handles == 0 and rising(depth, 3) and queue.role != batch and usage != XMITQ"

Case = tuple[str, str, Mapping[str, Reported], Mapping[str, Sequence[float | None]], bool | None]

NET: Mapping[str, Reported] = {"nettime_us_short": 9000, "nettime_us_long": 3000, "ping_us": Absence.NOT_DECLARED}
SENT: Mapping[str, Sequence[float | None]] = {"batches": [None, 3, 0, 2, 4]}

CASES: tuple[Case, ...] = (
    ("buffer_pool", BP_01, {"purpose": 9, "worst_free_pct": 20}, {}, True),
    ("buffer_pool", BP_01, {"purpose": 2, "worst_free_pct": 20}, {}, False),
    ("buffer_pool", BP_01, {"purpose": 9, "worst_free_pct": 15}, {}, False),
    ("buffer_pool", BP_01, {"purpose": 9, "worst_free_pct": Absence.STALE}, {}, None),
    ("buffer_pool", BP_01, {"purpose": 2, "worst_free_pct": Absence.STALE}, {}, False),
    ("buffer_pool", BP_02, {"purpose": 4, "worst_free_pct": 15}, {}, True),
    ("buffer_pool", BP_02, {"purpose": 4, "worst_free_pct": 5}, {}, False),
    ("buffer_pool", BP_03, {"worst_free_pct": 5}, {}, True),
    ("buffer_pool", BP_03, {"worst_free_pct": 5.5}, {}, False),
    ("page_set", "used_pct >= 85", {"used_pct": 85.0}, {}, True),
    ("page_set", "used_pct >= 85", {}, {}, None),
    ("channel", CHL_01, {"batchsz": 50, "xbatchsz_short": 45}, {"msgs": [0, 50, 50]}, True),
    ("channel", CHL_01, {"batchsz": 50, "xbatchsz_short": 45}, {"msgs": [0, 0, 0]}, False),
    ("channel", CHL_01, {"batchsz": 50, "xbatchsz_short": 45}, {"msgs": [None]}, None),
    ("channel", CHL_01, {"batchsz": 1, "xbatchsz_short": 1}, {}, False),
    ("channel", CHL_01, {"batchsz": 50, "xbatchsz_short": Absence.NOT_COLLECTED}, {"msgs": [5]}, None),
    ("channel", CHL_06, NET, SENT, True),
    ("channel", CHL_06, {**NET, "nettime_us_short": 5000}, SENT, False),
    ("channel", CHL_06, {**NET, "nettime_us_short": 5000, "ping_us": 2000}, SENT, True),
    ("channel", CHL_06, {**NET, "ping_us": 5000}, SENT, True),
    ("channel", CHL_06, NET, {"batches": [0, 0]}, False),
    ("channel", CHL_06, {**NET, "nettime_us_long": Absence.NOT_COLLECTED}, SENT, None),
    ("channel", CHL_07, {"nettime_max_us": 14_481, "nettime_avg_us": 116}, {}, True),
    ("channel", CHL_07, {"nettime_max_us": 4999, "nettime_avg_us": 116}, {}, False),
    ("channel", CHL_07, {"nettime_max_us": Absence.NEEDS_SMF, "nettime_avg_us": Absence.NEEDS_SMF}, {}, None),
    ("channel", CHL_16, {"status": 5}, {}, True),
    ("channel", CHL_16, {"status": 3, "indoubt": 1}, {"indoubt": [1, 1, 1, 1, 1]}, True),
    ("channel", CHL_16, {"status": 3, "indoubt": 1}, {"indoubt": [1, 0, 1, 1, 1]}, False),
    ("channel", CHL_16, {"status": 3, "indoubt": 0}, {}, False),
    ("channel_initiator", "adapters_unused == 0", {"adapters_unused": 0}, {}, True),
    ("channel_initiator", "adapters_unused == 0", {"adapters_unused": Absence.NEEDS_SMF}, {}, None),
    ("channel_initiator", CHIN_10, {"chiadaps": 16, "adapters_max": 8, "adapters_started": 8}, {}, True),
    ("channel_initiator", CHIN_10, {"chiadaps": 8, "adapters_max": 8, "adapters_started": 7}, {}, True),
    ("channel_initiator", CHIN_10, {"chiadaps": 8, "adapters_max": 8, "adapters_started": 8}, {}, False),
    ("cf_structure", CF_01, {"type": 1, "entries_max": 3999, "qmgr_count": 4}, {}, True),
    ("cf_structure", CF_01, {"type": 1, "entries_max": 4000, "qmgr_count": 4}, {}, False),
    ("cf_structure", CF_01, {"type": 0, "entries_max": 10}, {}, False),
    ("cf_structure", CF_01, {"type": 1, "entries_max": 10}, {}, None),
    ("cf_structure", CF_02, {"type": 1, "entries_max": 9362, "entries_used": 7490}, {}, True),
    ("cf_structure", CF_02, {"type": 1, "entries_max": 9362, "entries_used": 53, "qmgr_count": 4}, {}, False),
    ("cf_structure", CF_02, {"type": 1, "entries_max": 9362, "entries_used": 4001, "qmgr_count": 4}, {}, True),
    ("cf_structure", CF_03, {"type": 0, "entries_pct": 10, "size_used_pct": 80, "full_threshold_pct": 80}, {}, True),
    ("cf_structure", CF_03, {"type": 0, "entries_pct": 79, "size_used_pct": 2, "full_threshold_pct": 80}, {}, False),
    ("cf_structure", CF_03, {"type": 1, "entries_pct": 99, "size_used_pct": 99}, {}, False),
    ("queue", Q_02, {"depth": 1200, "input_handles": 2, "usage": 0}, {"depth": [1, 2, 3, 4, 5, 1200]}, True),
    ("queue", Q_02, {"depth": 900, "max_depth": 5000, "input_handles": 2, "usage": 0}, {"depth": range(6)}, True),
    ("queue", Q_02, {"depth": 900, "max_depth": 9000, "input_handles": 2, "usage": 0}, {"depth": range(6)}, False),
    ("queue", Q_02, {"depth": 1200, "input_handles": 2, "usage": 1}, {"depth": range(6)}, False),
    ("queue", Q_02, {"depth": 1200, "input_handles": 0, "usage": 0}, {"depth": range(6)}, False),
    ("queue", Q_02, {"depth": 1200, "input_handles": 2, "usage": 0}, {"depth": range(5)}, None),
    ("queue", Q_03, {"input_handles": 0, "usage": 0, "role": 0}, {"depth": [3, 4, 5, 6]}, True),
    ("queue", Q_03, {"input_handles": 0, "usage": 0, "role": 5}, {"depth": [3, 4, 5, 6]}, False),
    ("queue", Q_03, {"input_handles": 0, "usage": 0, "role": 0}, {"depth": [3, 4, 4, 6]}, False),
    ("queue", Q_03, {"input_handles": 1, "usage": 0, "role": 0}, {"depth": [3, 4, 5, 6]}, False),
    ("queue", 'depth < 0.9 * max(depth, "1h")', {"depth": 80}, {"depth": range(40, 101)}, True),
    ("queue", 'depth < 0.9 * max(depth, "1h")', {"depth": 95}, {"depth": range(40, 101)}, False),
    ("queue", 'depth < 0.9 * max(depth, "1h")', {"depth": 80}, {"depth": range(60, 101)}, None),
)


@pytest.mark.parametrize(("kind", "text", "values", "past", "expected"), CASES)
def test_conditions_of_the_shipped_rules(
    compiled: Callable[..., Expression],
    context: Callable[..., Context],
    kind: str,
    text: str,
    values: Mapping[str, Reported],
    past: Mapping[str, Sequence[float | None]],
    expected: bool | None,
) -> None:
    """Each holds, does not hold, or is unknown as its rule says."""
    parameters = {"stress_pct": 20, "deferred_write_pct": 15} if text is BP_01 else {}
    expression = compiled(text, kind, **parameters)
    scene = context(values, past)
    assert expression.truth(scene) is expected
    assert expression.truth(scene, values) is expected
    explanation = expression.explain(scene)
    assert explanation.truth is expected
    assert bool(explanation.missing) is (expected is None)

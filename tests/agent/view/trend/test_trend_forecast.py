"""Which limit a forecast is about."""

from __future__ import annotations

import pytest

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.view.trend.forecast import Limit, limit_of
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

RULES = load_rule_config(Settings()).rules


def limit(kind: str, name: str, newest: float | None, *, given: float | None = None, **values: float) -> Limit | None:
    current = {each: CurrentValue(value, 0, "", 0, None) for each, value in values.items()}
    rules = RULES.rules_for(ObjectName("QM01", kind, "3"))
    return limit_of(metric(kind, name), kind, current, rules, newest, given)


def test_what_fills_is_full() -> None:
    """At 100 per cent, or where the queue holds no more."""
    assert limit("page_set", "used_pct", 50) == Limit(100, "full")
    assert limit("queue", "depth", 10, max_depth=5_000) == Limit(5_000, "full")
    assert limit("queue", "depth", 10) is None
    assert limit("queue", "depth", 10, max_depth=999_999_999) is None


@pytest.mark.parametrize("newest", [60.0, 10.0])
def test_others_have_the_nearest_threshold_ahead(newest: float) -> None:
    """That of a rule which is not reached yet; what is free falls."""
    found = limit("buffer_pool", "free_pct", newest, free_pct=newest)
    assert found is not None
    assert found.falls
    assert found.value < newest
    assert found.of.startswith("BP-")


def test_a_given_limit_counts() -> None:
    """For any number, from the side on which the figure is."""
    assert limit("channel", "msgs", 5, given=8) == Limit(8, "--limit")
    assert limit("channel", "msgs", 9, given=8) == Limit(8, "--limit", falls=True)
    assert limit("channel", "msgs", 9) is None

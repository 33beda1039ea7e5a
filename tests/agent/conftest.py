"""What holds for all tests of the agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_config.receivers.http import WebhookSettings, webhook_of
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName

START = 1_795_176_000_000
POOL = ObjectName("QM01", "buffer_pool", "3")


@pytest.fixture(scope="session", autouse=True)
def collector_of_the_tests() -> Iterator[None]:
    """An agent that a test starts in its own process leaves the garbage collector alone.

    It would collect and in the end unfreeze all that the tests of the whole run have frozen.
    """
    from mqvitals_agent.service import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "freeze_long_lived", lambda *_: None)
        patch.setattr(run, "fewer_collections", nullcontext)
        yield


@pytest.fixture
def pool() -> Callable[..., Alert]:
    """An alert about buffer pool 3 of QM01."""

    def make(
        rule: str = "BP-03",
        state: AlertState = AlertState.FIRING,
        severity: Severity = Severity.CRITICAL,
        *,
        kind_of_rule: str = "operational",
        family: str = "bp_free",
        summary: str = "4 % free",
        started: int | None = None,
        name: ObjectName = POOL,
        instance: str = "",
        cause: AlertKey | None = None,
    ) -> Alert:
        return Alert(
            AlertKey(rule, name, instance),
            name,
            kind_of_rule,
            family,
            state,
            severity,
            severity,
            START,
            START,
            summary,
            started,
            cause=cause,
        )

    return make


@pytest.fixture
def webhook() -> Callable[..., WebhookSettings]:
    """A receiver at an address."""

    def make(url: str = "http://127.0.0.1:1/", name: str = "ops", **settings: Any) -> WebhookSettings:
        return replace(webhook_of(url, name=name), **settings)

    return make

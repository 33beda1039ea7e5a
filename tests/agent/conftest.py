"""What holds for all tests of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest


@pytest.fixture(scope="session", autouse=True)
def collector_of_the_tests() -> Iterator[None]:
    """An agent that a test starts in its own process leaves the garbage collector alone.

    It would collect and in the end unfreeze all that the tests of the whole run have frozen.
    """
    from mqvitals_agent.service import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "freeze_long_lived", lambda: None)
        patch.setattr(run, "fewer_collections", nullcontext)
        yield

"""What every test may use: the folder of shared sample data, when it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "project",
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("soak", parent=settings.get_profile("project"), max_examples=2_000)
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recordings and SMF samples: named by MQVITALS_SHARED_DATA, else beside the checkout."""
    named = os.environ.get("MQVITALS_SHARED_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; name the folder with MQVITALS_SHARED_DATA")
    return folder

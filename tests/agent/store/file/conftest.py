"""Here the making of the file is tested itself."""

from __future__ import annotations

import pytest

from mqvitals_agent.store import writer
from mqvitals_agent.store.file.schema import open_writer


@pytest.fixture(autouse=True)
def stores_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here each new store is made by the writer, statement by statement."""
    monkeypatch.setattr(writer, "open_writer", open_writer)

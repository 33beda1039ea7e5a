"""``mqvitals rules`` as a person meets it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mqvitals_agent.commandline.runner import main


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command prints for these arguments at 100 columns; on standard error when its ``code`` is 2."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str, code: int = 0) -> str:
        assert main(["rules", *words]) == code
        found = capsys.readouterr()
        return found.out if code != 2 else found.err

    return run

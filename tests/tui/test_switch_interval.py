"""Threads take short turns while the screen is there, and only then."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest
from textual.app import App

from mqvitals_tui import terminal
from mqvitals_tui.terminal import SWITCH_INTERVAL_S, short_switch_interval


def test_turns_are_short_within_only() -> None:
    """Whatever ends the screen, afterwards turns are as they were."""
    before = sys.getswitchinterval()
    assert before > SWITCH_INTERVAL_S
    with suppress(KeyError), short_switch_interval():
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
        raise KeyError
    assert sys.getswitchinterval() == before


def test_the_screen_runs_with_short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """``mqvitals top`` and ``mqvitals demo`` show their screens so."""
    seen: list[float] = []
    app: App[None] = App()

    async def run() -> None:
        seen.append(sys.getswitchinterval())

    monkeypatch.setattr(app, "run_async", run)
    assert terminal.run_app(app) == 0
    assert seen == [pytest.approx(SWITCH_INTERVAL_S)]

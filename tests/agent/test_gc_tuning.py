"""What lasts is out of the collector's sight once a program has begun its work."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.gc_tuning import MANY_THRESHOLDS, THRESHOLDS, fewer_collections, freeze_long_lived
from mqvitals_agent.service import run


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """The collector of the tests stays as it is."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    if frozen:
        gc.freeze()


def test_what_lasts_is_not_collected_again() -> None:
    """All that is there is frozen, and the collector comes more rarely."""
    frozen = gc.get_freeze_count()
    freeze_long_lived()
    assert gc.get_freeze_count() > frozen
    assert gc.get_freeze_count() > 10 * len(gc.get_objects())
    assert gc.get_threshold() == THRESHOLDS


def test_afterwards_all_is_collected_again() -> None:
    """Whoever goes on in the same process, after a mistake too, finds the collector as it was."""
    before = gc.get_threshold()
    with suppress(KeyError), fewer_collections():
        assert gc.get_threshold() == MANY_THRESHOLDS
        freeze_long_lived()
        assert gc.get_threshold() == THRESHOLDS
        raise KeyError
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


def test_an_agent_lets_the_collector_look_away_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When its first cycle is stored, all it will know lasts; it is not done again at every cycle."""
    calls: list[tuple[int, int, int]] = []
    monkeypatch.setattr(run, "freeze_long_lived", calls.append)
    command = ("agent", "--scenario", "quiet", "--store", str(tmp_path / "x.db"), "--interval", "1s")
    assert main([*command, "--for", "5s", "--speed", "10"]) == 0
    assert calls == [MANY_THRESHOLDS]

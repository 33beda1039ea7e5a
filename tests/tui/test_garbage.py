"""What lasts is out of the collector's sight once the program has started."""

from __future__ import annotations

import gc

from mqvitals_tui.garbage import THRESHOLDS, out_of_the_way


def test_what_lasts_is_not_collected_again() -> None:
    """All that is there is frozen, and the collector comes more rarely."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        out_of_the_way()
        assert gc.get_freeze_count() > frozen
        assert gc.get_freeze_count() > 10 * len(gc.get_objects())
        assert gc.get_threshold() == THRESHOLDS
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)

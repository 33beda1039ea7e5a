"""An agent whose clock is set back once while it runs: python set_back.py AT BY ARGUMENTS..., both ms, AT since 1970 UTC."""

from __future__ import annotations

import sys

from mqvitals_agent import clock
from mqvitals_agent.commandline.runner import main

AT, BY, *ARGUMENTS = sys.argv[1:]


class SetBackClock(clock.VirtualClock):
    """Set back by BY ms when it has come to AT."""

    _is_set = False

    def step(self) -> float | None:
        """Move to the next sleeper."""
        waits = super().step()
        if not self._is_set and self.now() >= int(AT):
            self._is_set = True
            self.set(self.now() - int(BY))
        return waits


clock.VirtualClock = SetBackClock  # type: ignore[misc]
sys.exit(main(ARGUMENTS))

"""How one agent asks another what has changed of its alerts: a path over HTTP, and how long an answer may wait for news."""

from __future__ import annotations

from typing import Final

STANDBY_PATH: Final = "/api/v1/standby"
"""Where an agent offers its alerts to the one that follows it."""
LONGEST_WAIT_S: Final = 20.0
"""An answer comes after this time, though there is no news."""

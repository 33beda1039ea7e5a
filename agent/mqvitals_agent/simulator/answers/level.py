"""Monitoring levels, and what they switch off."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.pcf import constants as mq

DEFINED: Final = {
    "QMGR": mq.MQMON_Q_MGR,
    "OFF": mq.MQMON_OFF,
    "LOW": mq.MQMON_LOW,
    "MEDIUM": mq.MQMON_MEDIUM,
    "HIGH": mq.MQMON_HIGH,
}
"""The levels as a definition says them."""
OF_QUEUE_MANAGER: Final = mq.MQMON_MEDIUM
"""What every simulated queue manager has set for itself."""
MOST: Final = 999_999_999
"""Numbers in status answers stop here, and counters of channels wrap behind it."""
UNKNOWN: Final = (mq.MQMON_NOT_AVAILABLE, mq.MQMON_NOT_AVAILABLE)


def in_effect(level: str) -> int:
    """The level that holds, which is the queue manager's for QMGR. KeyError for a level that does not exist."""
    return OF_QUEUE_MANAGER if level == "QMGR" else DEFINED[level]


def averages(pair: tuple[int, int] | None, *, monitored: bool) -> tuple[int, int]:
    """Short-term and long-term average as told: -1 each while nothing is measured."""
    return (min(pair[0], MOST), min(pair[1], MOST)) if monitored and pair is not None else UNKNOWN

"""The SMF records of a simulated group, written while the agent runs: a file at the end of each statistics interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mqvitals_agent.clock import Clock
    from mqvitals_agent.journal import Journal
    from mqvitals_agent.simulator.smf.writer import SmfWriter

_LATER_MS: Final = 1000
"""The group lives in seconds of its own: its interval has ended when the first one is over that reaches beyond the end."""


async def write_smf(writer: SmfWriter, clock: Clock, journal: Journal) -> None:
    """Write what is due, interval after interval, until cancelled.

    What cannot be written is lost, and told once until it can be again.
    """
    failed = False
    while True:
        now = clock.now()
        try:
            writer.write_due(now)
        except OSError as error:
            if not failed:
                journal.say(
                    "smf.unwritten",
                    f"SMF records of the simulated group cannot be written: {error.strerror}",
                    level="warning",
                )
            failed = True
        else:
            failed = False
        await clock.sleep(writer.interval_ms - (now - _LATER_MS) % writer.interval_ms)

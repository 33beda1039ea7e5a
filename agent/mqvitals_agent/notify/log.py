"""What the delivery of notices needs of the agent's log."""

from __future__ import annotations

from typing import Protocol

from mqvitals_agent.journal import Fact, Level


class Log(Protocol):
    """Lines about events; ``Journal`` is one."""

    def say(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """Write a line."""
        ...

    def changed(self, key: str, event: str, text: str, *, level: Level = "info", **facts: Fact) -> bool:
        """Write a line when ``text`` differs from the last one for ``key``, and say whether it does.

        An empty text forgets the key, and says whether there was one.
        """
        ...

"""What the screen no longer shows, kept a little longer so that somebody else than the screen lets go of it.

Whoever drops the last reference to ten thousand items frees them, which takes 13 ms: the screen would halt for so long at
every poll. The thread that reads the store keeps what it read until the next reading has taken its place on the screen,
and frees it in slices, between which keys have their turn.
"""

from __future__ import annotations

from collections.abc import Sequence

AT_ONCE = 100
"""So many are let go of in one step."""


class Leavings:
    """What was read last, and of what was read before that what has not been let go of yet. For one thread."""

    def __init__(self) -> None:
        self._newest: Sequence[object] = ()
        self._old: list[object] = []

    def renew(self, newest: Sequence[object]) -> None:
        """``newest`` will take the place of what was read last, which is let go of by the next ``let_go``."""
        self._old += self._newest
        self._newest = newest

    def let_go(self) -> None:
        """Free what is old. Call it when what took its place has had time to be shown."""
        while self._old:
            del self._old[-AT_ONCE:]

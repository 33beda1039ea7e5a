"""The line in which the filter is typed."""

from __future__ import annotations

import asyncio
import unicodedata

from textual import events
from textual.widgets import Input

MOST = 200
"""Characters of a filter; the longest whole name has 70."""


def typeable(text: str) -> str:
    """What was pasted as one line of what can be typed: blanks for breaks and tabs, no control characters."""
    line = " ".join(text.split())
    return "".join(char for char in line if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))


class FilterLine(Input):
    """An input that acts on its keys in the order in which they came, and takes no more than one line of a paste."""

    def __init__(self, *, placeholder: str, id: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, placeholder=placeholder, compact=True, max_length=MOST)

    async def on_key(self, event: events.Key) -> None:
        """Editing keys at once: the toolkit has the app act on them, after what was typed behind them."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return

    def on_paste(self, event: events.Paste) -> None:
        """A list of names copied from elsewhere becomes words, whatever else it holds."""
        event.stop()
        event.prevent_default()
        if text := typeable(event.text):
            self.replace(text, *self.selection)

    async def finish(self) -> str:
        """Wait until all keys that came are in the line; returns it."""
        done = asyncio.Event()
        if self.call_later(done.set):
            await done.wait()
        return self.value

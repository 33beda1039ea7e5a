"""An input of one line, for filters and forms."""

from __future__ import annotations

import asyncio
import unicodedata

from textual import events
from textual.widgets import Input

MOST_FILTER_CHARS = 200
"""Characters of a filter; the longest whole name has 70."""


def typeable(text: str) -> str:
    """Pasted text as one line: blanks for line breaks and tabs, no control characters."""
    line = " ".join(text.split())
    return "".join(char for char in line if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))


class TextLine(Input):
    """An input that handles keys in the order in which they came, and takes a paste as one line."""

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str,
        id: str | None = None,  # noqa: A002 - the toolkit's word
        max_length: int = MOST_FILTER_CHARS,
    ) -> None:
        # A field to which the cursor comes back keeps what stands in it.
        super().__init__(
            value, id=id, placeholder=placeholder, compact=True, max_length=max_length, select_on_focus=False
        )

    async def on_key(self, event: events.Key) -> None:
        """Handle editing keys at once: Textual would run their actions after later keys."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return

    def on_paste(self, event: events.Paste) -> None:
        """A pasted list of names becomes words on one line."""
        event.stop()
        event.prevent_default()
        if text := typeable(event.text):
            self.replace(text, *self.selection)

    async def finish(self) -> str:
        """Wait until all keys so far are handled; returns the text."""
        done = asyncio.Event()
        if self.call_later(done.set):
            await done.wait()
        return self.value

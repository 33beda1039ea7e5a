"""The command palette: screens and objects by their names."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.text import safe
from mqvitals_agent.view.wording import object_words
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.places import PLACES
from mqvitals_tui.themes import THEMES

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

MOST = 50
"""Objects shown for what was typed; who sees none of them types more."""


class Jumps(Provider):
    """Jumps to places and objects, and the themes. The names are read once, when the palette opens."""

    async def startup(self) -> None:
        """Read the names."""
        self._names = await asyncio.to_thread(_names, self._vitals.store)

    @property
    def _vitals(self) -> MqvitalsApp:
        return cast("MqvitalsApp", self.app)

    async def discover(self) -> Hits:
        """What there is before anything is typed: the places."""
        for place in PLACES:
            yield DiscoveryHit(
                Content(place.title), partial(self._vitals.go_to, place.id), place.title, f"Screen, key {place.key}"
            )

    async def search(self, query: str) -> Hits:
        """Places and themes by likeness, objects in whose whole name every word occurs."""
        matcher = self.matcher(query)
        for place in PLACES:
            score = matcher.match(place.title)
            if score > 0:
                yield Hit(
                    # Few places, many objects: a place is what is most likely meant.
                    score + 1,
                    Content(place.title),
                    partial(self._vitals.go_to, place.id),
                    place.title,
                    f"Screen, key {place.key}",
                )
        for theme in THEMES:
            score = matcher.match(f"theme {theme.name}")
            if score > 0:
                yield Hit(
                    score, Content(f"Theme {theme.name}"), partial(self._vitals.use_theme, theme.name), theme.name
                )
        words = query.casefold().split()
        found = 0
        for text, name in self._names:
            if all(word in text for word in words):
                yield Hit(
                    1 / (1 + len(text)),
                    Content(object_words(name)),
                    partial(self._vitals.open_object, name),
                    safe(str(name)),
                    Content(safe(str(name))).plain,
                )
                found += 1
                if found == MOST:
                    return


def _names(store: Path) -> list[tuple[str, ObjectName]]:
    """All objects by what is searched in: the whole name and its words, without capitals. None when there is no store."""
    try:
        with StoreReader.open(store) as reader:
            return [(f"{row.name} {object_words(row.name)}".casefold(), row.name) for row in reader.objects("*")]
    except StoreError:
        # The screens say what is wrong with the store; places can be found without it.
        return []

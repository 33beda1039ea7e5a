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
from mqvitals_agent.text.figure import object_words
from mqvitals_agent.text.terminal import safe
from mqvitals_tui.names import Known, found, prepared
from mqvitals_tui.places import DATA_SETS, PLACES, STRUCTURES, Place
from mqvitals_tui.themes import THEMES

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

MOST = 50
"""Objects shown for what was typed; who sees none of them types more."""


_PLACES = (*PLACES, DATA_SETS)


def _keys_to(place: Place) -> str:
    return f"Screen, key {place.key}" if place.key else f"Screen, keys {STRUCTURES.key} d"


class Jumps(Provider):
    """Jumps to places and objects, and the themes. The names are read once, when the palette opens."""

    async def startup(self) -> None:
        """Read the names."""
        self._known = await asyncio.to_thread(_known, self._vitals.store)

    @property
    def _vitals(self) -> MqvitalsApp:
        return cast("MqvitalsApp", self.app)

    async def discover(self) -> Hits:
        """What there is before anything is typed: the places."""
        for place in _PLACES:
            yield DiscoveryHit(
                Content(place.title), partial(self._vitals.go_to, place.id), place.title, _keys_to(place)
            )

    async def search(self, query: str) -> Hits:
        """Places and themes by likeness, objects in whose whole name every word occurs."""
        matcher = self.matcher(query)
        for place in _PLACES:
            score = matcher.match(place.title)
            if score > 0:
                yield Hit(
                    # Few places, many objects: a place is what is most likely meant.
                    score + 1,
                    Content(place.title),
                    partial(self._vitals.go_to, place.id),
                    place.title,
                    _keys_to(place),
                )
        for theme in THEMES:
            score = matcher.match(f"theme {theme.name}")
            if score > 0:
                yield Hit(
                    score, Content(f"Theme {theme.name}"), partial(self._vitals.use_theme, theme.name), theme.name
                )
        for position, name in enumerate(found(self._known, query, MOST)):
            whole = safe(str(name))
            yield Hit(
                # The palette shows the highest scores first.
                1 / (2 + position),
                Content(object_words(name)),
                partial(self._vitals.open_object, name),
                whole,
                # The palette reads this as markup. The toolkit's own escape leaves tags with an address in them.
                whole.replace("[", "\\["),
            )


def _known(store: Path) -> tuple[Known, ...]:
    """All objects. None when there is no store."""
    try:
        with StoreReader.open(store) as reader:
            return prepared(row.name for row in reader.objects("*"))
    except StoreError:
        # The screens say what is wrong with the store; places can be found without it.
        return ()

"""The command palette: the screens, and the names of objects that the store has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.figure import object_words
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.tabs import TABS, Tab, keys_to
from mqvitals_tui.themes import THEMES

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

MOST_HITS = 50
"""The most objects shown for a query."""


class IndexedName(NamedTuple):
    """An object, and in small letters its own name and all that is searched in: the whole name and its words."""

    short: str
    text: str
    name: ObjectName


def index_names(names: Iterable[ObjectName]) -> tuple[IndexedName, ...]:
    """What ``find_names`` searches in; made once, so that a keystroke only compares."""
    return tuple(IndexedName(name.name.casefold(), f"{name} {object_words(name)}".casefold(), name) for name in names)


def find_names(known: Sequence[IndexedName], query: str, most: int) -> list[ObjectName]:
    """The objects whose names contain every word of ``query``, at most ``most``.

    Exact names first, then names that begin with a word, then the shortest.
    """
    words = query.casefold().split()
    if not words:
        return []
    first, *others = words
    matching = [each for each in known if first in each.text]
    for word in others:
        matching = [each for each in matching if word in each.text]
    begins = tuple(words)

    def rank(each: IndexedName) -> tuple[int, int, str]:
        likeness = 0 if each.short in words else 1 if each.short.startswith(begins) else 2
        return likeness, len(each.text), each.text

    return [each.name for each in nsmallest(most, matching, rank)]


def _keys_to(tab: Tab) -> str:
    keys = keys_to(tab)
    return f"Screen, key{'s' if ' ' in keys else ''} {keys}"


class NavigationProvider(Provider):
    """Tabs, objects and themes. The names are read once, when the palette opens."""

    async def startup(self) -> None:
        """Start to read the names.

        Returns at once: Textual's palette cancels what it awaits, this too, when a key is typed meanwhile, and then
        never finds anything.
        """
        self._names = asyncio.create_task(asyncio.to_thread(_read_names, self._vitals.store))

    async def shutdown(self) -> None:
        """Forget the names."""
        self._names.cancel()

    @property
    def _vitals(self) -> MqvitalsApp:
        return cast("MqvitalsApp", self.app)

    async def discover(self) -> Hits:
        """The tabs, before anything is typed."""
        for tab in TABS:
            yield DiscoveryHit(Content(tab.title), partial(self._vitals.go_to, tab.id), tab.title, _keys_to(tab))

    async def search(self, query: str) -> Hits:
        """Tabs and themes by similarity, objects whose whole name contains every word."""
        matcher = self.matcher(query)
        for tab in TABS:
            score = matcher.match(tab.title)
            if score > 0:
                yield Hit(
                    # There are few tabs and many objects: a tab is more likely meant.
                    score + 1,
                    Content(tab.title),
                    partial(self._vitals.go_to, tab.id),
                    tab.title,
                    _keys_to(tab),
                )
        for theme in THEMES:
            score = matcher.match(f"theme {theme.name}")
            if score > 0:
                yield Hit(
                    score, Content(f"Theme {theme.name}"), partial(self._vitals.use_theme, theme.name), theme.name
                )
        names = await asyncio.shield(self._names)
        for position, name in enumerate(find_names(names, query, MOST_HITS)):
            whole = safe(str(name))
            yield Hit(
                # The palette shows the highest scores first.
                1 / (2 + position),
                Content(object_words(name)),
                partial(self._vitals.open_object, name),
                whole,
                # The palette parses this as markup. Textual's escape leaves tags that contain an address.
                whole.replace("[", "\\["),
            )


def _read_names(store: Path) -> tuple[IndexedName, ...]:
    """All objects. None when there is no store."""
    try:
        with StoreReader.open(store) as reader:
            return index_names(row.name for row in reader.objects("*"))
    except StoreError:
        # The screens show what is wrong with the store; tabs can be found without it.
        return ()

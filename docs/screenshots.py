"""Takes pictures of the screens from a simulated morning: ``make screenshots``.

Those of the README and the pages are written beside this file. All screens at three sizes in all themes are written to
``build/screenshots``, to be looked at.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.themes import COLOUR_BLIND, CONTRAST, DARK, LIGHT, THEMES

FOLDER = Path(__file__).parent
ALL = FOLDER.parent / "build" / "screenshots"
RUN = ("--scenario", "busy-morning", "--interval", "2s", "--for", "68s", "--speed", "20")
POOL = ObjectName("QM01", "buffer_pool", "3")
QUEUE = ObjectName("QM02", "queue", "PAYMENTS.IN")
CHANNEL = ObjectName("QM03", "channel", "TO.PARTNER")
OBJECTS = {"pool": POOL, "queue": QUEUE, "channel": CHANNEL}
SIZES = ((80, 24), (120, 40), (200, 60))
SMALL = (120, 34)
PAGES = (
    ("overview", DARK, SMALL, "overview.svg"),
    ("channels", DARK, SMALL, "channels.svg"),
    ("storage_matrix", DARK, (120, 18), "storage-matrix.svg"),
    ("overview", LIGHT, (120, 24), "overview-light.svg"),
    ("overview", CONTRAST, (120, 24), "overview-contrast.svg"),
    ("overview", COLOUR_BLIND, (120, 24), "overview-colour-blind.svg"),
)
"""Tab, theme, size and name of the pictures of the pages; that of the pool is taken apart."""
FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Addresses of fonts elsewhere: a picture of ours asks nobody for anything."""
CREDIT = re.compile(r" *<!-- Generated with .*? -->\n?")
WAITS = 100
LAST_PAINT_S = 0.3
"""Charts and scroll bars come a little after the text that they are for."""


async def settle(pilot: Pilot[None]) -> None:
    """Wait until the feed has brought what the screen shows, and it is painted."""
    for _ in range(WAITS):
        await pilot.pause(0.05)
        screen = pilot.app.screen
        if isinstance(screen, FrameScreen) and screen.frame is not None:
            break
    await pilot.pause(LAST_PAINT_S)


def save(app: MqvitalsApp, path: Path) -> None:
    """Write the screen as it is."""
    picture = CREDIT.sub("", FONTS.sub("", app.export_screenshot(title="mqvitals")))
    picture = picture.replace("<text ", '<text xml:space="preserve" ')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(picture, encoding="utf-8")
    print(path)  # noqa: T201 - a script


class Studio:
    """Looks at a store as if its last snapshot had just come."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.rules = load_rule_config(Settings())
        with StoreReader.open(store) as reader:
            self.last = reader.last_ts() or 0

    def app(self, theme: str) -> MqvitalsApp:
        """The interface in a theme."""
        return MqvitalsApp(self.store, self.rules, lambda: self.last + 1_000, theme=theme)

    async def pages(self) -> None:
        """The pictures of the pages."""
        for tab, theme, size, name in PAGES:
            app = self.app(theme.name)
            async with app.run_test(size=size) as pilot:
                app.go_to(tab)
                await settle(pilot)
                save(app, FOLDER / name)
        app = self.app(DARK.name)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            app.open_object(POOL)
            await settle(pilot)
            for _ in range(3):  # from an hour to the minutes that there are
                await pilot.press("minus")
            await settle(pilot)
            save(app, FOLDER / "buffer-pool.svg")

    async def all_screens(self, tabs: Sequence[str]) -> None:
        """Every tab and some objects, at each size in each theme."""
        for width, height in SIZES:
            for theme in THEMES:
                app, mark = self.app(theme.name), f"{width}x{height}-{theme.name.removeprefix('mqvitals-')}"
                async with app.run_test(size=(width, height)) as pilot:
                    for tab in tabs:
                        app.go_to(tab)
                        await settle(pilot)
                        save(app, ALL / f"{tab}-{mark}.svg")
                    for name, each in OBJECTS.items():
                        app.open_object(each)
                        await settle(pilot)
                        save(app, ALL / f"object-{name}-{mark}.svg")


def main() -> None:
    """Simulate a minute, and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "demo.db"
        command = [sys.executable, "-m", "mqvitals_tui.main", "agent", *RUN, "--store", str(store)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        studio = Studio(store)
        asyncio.run(studio.pages())
        asyncio.run(studio.all_screens(tuple(TABS_BY_ID)))


if __name__ == "__main__":
    main()

"""Writes the pictures of the README from a simulated morning: ``make screenshots``."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.app import MqvitalsApp

FOLDER = Path(__file__).parent
RUN = ("--scenario", "busy-morning", "--interval", "2s", "--for", "68s", "--speed", "20")
POOL = ObjectName("QM01", "buffer_pool", "3")
FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Addresses of fonts elsewhere: a picture of ours asks nobody for anything."""
CREDIT = re.compile(r" *<!-- Generated with .*? -->\n?")
SETTLES = 40


async def settle(pilot: Pilot[None]) -> None:
    """Wait until the feed has brought what the screen shows."""
    for _ in range(SETTLES):
        await pilot.pause(0.1)


def save(app: MqvitalsApp, name: str) -> None:
    """Write the screen as it is."""
    picture = CREDIT.sub("", FONTS.sub("", app.export_screenshot(title="mqvitals")))
    picture = picture.replace("<text ", '<text xml:space="preserve" ')
    (FOLDER / name).write_text(picture, encoding="utf-8")
    print(FOLDER / name)  # noqa: T201 - a script


async def picture(store: Path, last: int) -> None:
    """Look at the store as if its last snapshot had just come."""
    app = MqvitalsApp(store, load_rule_config(Settings()), lambda: last + 1_000)
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        save(app, "overview.svg")
        await pilot.press("2")
        await settle(pilot)
        save(app, "channels.svg")
        app.open_object(POOL)
        await settle(pilot)
        for _ in range(3):  # from an hour to the minutes that there are
            await pilot.press("minus")
        await settle(pilot)
        save(app, "buffer-pool.svg")


def main() -> None:
    """Simulate a minute, and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "demo.db"
        command = [sys.executable, "-m", "mqvitals_tui.main", "agent", *RUN, "--store", str(store)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with StoreReader.open(store) as reader:
            last = reader.last_ts() or 0
        asyncio.run(picture(store, last))


if __name__ == "__main__":
    main()

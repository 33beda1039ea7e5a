"""The bottom line of every screen."""

from __future__ import annotations

from mqvitals_tui.widgets.bar import Bar


class StatusBar(Bar):
    """The keys that do something here; docked at the bottom."""

    DEFAULT_CSS = "StatusBar { dock: bottom; }"

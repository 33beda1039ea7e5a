"""The top line of every screen."""

from __future__ import annotations

from mqvitals_tui.widgets.bar import Bar


class TitleBar(Bar):
    """Site, queue managers, interval, time and age, counts; docked at the top."""

    DEFAULT_CSS = "TitleBar { dock: top; }"

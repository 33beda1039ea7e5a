"""What the tests of the terminal interface share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App


@pytest.fixture
def screen_text() -> Callable[[App[Any]], str]:
    """A function that gives the text of an app's screen, its lines without blanks at their ends."""

    def text(app: App[Any]) -> str:
        # The toolkit has no public way to the painted cells.
        strips = app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    return text

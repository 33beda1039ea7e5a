"""Styled lines as a command prints them."""

from __future__ import annotations

from collections.abc import Iterable

from mqvitals_agent.text.styled import Line, ansi


def printed(lines: Iterable[Line], *, colour: bool = False) -> list[str]:
    """Each line as text, with escape sequences when ``colour`` is true."""
    return [ansi(each, colour=colour) for each in lines]

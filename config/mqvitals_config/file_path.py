"""Paths that a configuration file names."""

from __future__ import annotations

from pathlib import Path

from mqvitals_config.problem import LocatedText


def beside(path: LocatedText) -> LocatedText:
    """``path`` with ``~`` expanded; a relative one is beside the file that names it.

    Raises ValueError when it is empty, holds control characters, or its ``~name`` is nobody's.
    """
    if not path.strip():
        raise ValueError("the path is empty")
    if not path.isprintable():
        raise ValueError("a path cannot hold control characters")
    try:
        expanded = Path(path).expanduser()
    except RuntimeError as error:
        raise ValueError(f"the home directory of '{path.split('/')[0]}' is not known") from error
    return LocatedText(str(Path(path.place.path).parent / expanded), path.place)

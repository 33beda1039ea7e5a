"""The tests that come with the product, one file beside each pack."""

from __future__ import annotations

from importlib.resources import files

SUFFIX = ".test.yaml"
"""How the name of every file of tests ends; what stands before it is the name of the pack, or the stem of the file of rules."""


def shipped_tests() -> dict[str, tuple[str, str]]:
    """Pack -> file name and text of its tests, in order of name."""
    folder = files("mqvitals_rules") / "packs"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(SUFFIX))
    return {name.removesuffix(SUFFIX): (name, (folder / name).read_text("utf-8")) for name in names}

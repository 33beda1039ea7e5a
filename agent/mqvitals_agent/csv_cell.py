"""Texts as cells of CSV files. Every writer of CSV uses this: what comes from MQ must not become a formula of a spreadsheet."""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def quoted(value: str) -> str:
    """A text in quotes, with a dot for what cannot be printed, and an apostrophe before what a spreadsheet would compute.

    That is a text that begins with ``=``, ``+``, ``-`` or ``@``; a number such as ``-1.5`` stays one.
    """
    if not value.isprintable():
        value = "".join(each if each.isprintable() else "." for each in value)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        value = f"'{value}"
    return '"' + value.replace('"', '""') + '"'

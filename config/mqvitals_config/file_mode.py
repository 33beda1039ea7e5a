"""Who may read and write a file."""

from __future__ import annotations

import re

FORM = "a file mode such as 0600, 0640 or 0660"


class FileMode(int):
    """The permission bits of a file, shown as people know them: ``0660``."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{int(self):04o}"

    __repr__ = __str__


def parse_file_mode(text: str) -> FileMode:
    """``0660`` as 0o660, with or without the leading zero.

    Raises ValueError when it is no mode, or one that a data file must not have: its owner must be able to read and
    write it, nobody may execute it, and only owner and group may write it.
    """
    if not re.fullmatch("0?[0-7]{3}", text):
        raise ValueError(f"expected {FORM}")
    mode = int(text, 8)
    if mode & 0o600 != 0o600:
        raise ValueError(f"with mode {text} its owner could not read and write the file; write 0600 or 0660")
    if mode & 0o113:
        raise ValueError(f"mode {text} lets others write or execute the file; write 0600, 0640 or 0660")
    return FileMode(mode)

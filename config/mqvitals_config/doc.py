"""What the reference page and ``mqvitals config show`` know of a setting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doc:
    """What a setting is: a sentence or two, and where else than in the file it can be given."""

    text: str
    environment: str = ""
    flag: str = ""
    default: str = ""  # in words, where the default's own form says too little

"""What the rows of a table are, in words, for those who do not know the tables of a store."""

from __future__ import annotations

from typing import Final

_ROWS: Final = {
    "owner": ("owner", ""),
    "object": ("object", ""),
    "reading": ("last answer of an object", "last answers of objects"),
    "snapshot": ("snapshot", ""),
    "record": ("SMF record of an object", "SMF records of objects"),
    "smf_part": ("part of an SMF record", "parts of SMF records"),
    "alert": ("alert", ""),
    "alert_transition": ("transition of an alert", "transitions of alerts"),
    "acknowledgement": ("acknowledgement", ""),
    "note": ("note", ""),
    "silence": ("silence", ""),
    "audit": ("entry of the audit", "entries of the audit"),
    "notice": ("notification", ""),
    "receiver": ("receiver", ""),
    "resent": ("alert sent again", "alerts sent again"),
    "request": ("request", ""),
    "message": ("console message", ""),
    "change": ("change of a definition", "changes of definitions"),
    "journal": ("entry of the journal", "entries of the journal"),
    "chunk": ("sealed hour of an object", "sealed hours of objects"),
    "rollup": ("day of rolled-up hours of a metric", "days of rolled-up hours of metrics"),
    "hour_mean": ("hourly mean", ""),
}
"""One and many; nothing: an s is added."""


def table_words(table: str, count: int) -> str:
    """``760 rows of queues`` for 760 rows of ``sample_queue``."""
    from mqvitals_agent.text.figure import counted, kind_words

    what, _, kind = table.partition("_")
    if what == "sample":
        words = kind_words(kind)
        if words.endswith((" on", " to")):  # these are followed by a name elsewhere
            words = kind.replace("_", " ")
        of = words if words.endswith("s") else f"{words}s"
        return counted(count, f"row of {of}", f"rows of {of}")
    one, many = _ROWS.get(table, (f"row of {table}", f"rows of {table}"))
    return counted(count, one, many)

"""Pages of a page set, and so buffers of a buffer pool, that a message takes, as queue managers from 7.0.1 keep messages.

Source: SupportPac MP1G, V7.0.1, "Page Set Usage with Small Messages". ``TUNE MAXSHORTMSGS 0`` packs short messages more tightly.
"""

from __future__ import annotations

_FIRST = 3635
"""The longest message, in bytes, that takes one page."""
_NEXT = 4048
"""What each further page holds, in bytes."""


def message_pages(length: float) -> int:
    """Pages of 4 KB for a message of ``length`` bytes: its data and all headers but the message descriptor."""
    return 1 if length <= _FIRST else 1 + int(-((_FIRST - length) // _NEXT))

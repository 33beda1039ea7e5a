"""How messages lie on the 4 KB pages of page sets and buffer pools: part of the catalogue's F-08.

Bytes are user data with all headers but the MQMD.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from mqvitals_rules.plan.question import Input

MP1G = "Performance Report - SupportPac MP1G WebSphere MQ for z/OS V7.0.1"
V6 = "v6"
SHIPPED = "shipped"
PACKED = "maxshortmsgs-0"
LAYOUTS = (V6, SHIPPED, PACKED)
LAYOUT_CAVEAT = "The document's table ends at messages of 8 pages; MAXSHORTMSGS 0 is to be set only when IBM service asks for it. Later releases may lay messages out otherwise."

MOST_MSG_BYTES = 104_857_600

MOST_BYTES_SHARING: Mapping[str, tuple[int, ...]] = {
    V6: (3697, 1655, 980, 642, 439, 304, 207, 135, 78, 33),
    SHIPPED: (3635,),
    PACKED: (3635, 1567, 891, 553, 350, 215, 118, 46),
}
"""The longest message of which one, two, three ... lie on a page."""
BYTES_OF_NEXT_PAGE: Mapping[str, int] = {V6: 4049, SHIPPED: 4048, PACKED: 4048}
"""What every page after the first holds."""
MOST_TABLE_PAGES = 8
SMALL_BYTES = MOST_BYTES_SHARING[PACKED][1]
"""A message is small if it could share a page; only the layout shipped from V7.0.1 keeps index pages for those."""
MSGS_PER_INDEX_PAGE = 72

MSG_BYTES = Input("msg_bytes", "bytes", "user data with all headers but the MQMD", 0, MOST_MSG_BYTES)
LAYOUT = Input(
    "layout",
    "",
    "how the release stores messages: as V6 did, as shipped from V7.0.1, or from there with TUNE MAXSHORTMSGS 0",
    default=SHIPPED,
    words=LAYOUTS,
)


@dataclass(frozen=True, slots=True)
class Footprint:
    """``msgs`` messages take ``pages`` pages; one of the two is 1."""

    msgs: int
    pages: int

    def msgs_in(self, pages: int) -> int:
        """Whole messages on so many pages."""
        return pages * self.msgs // self.pages

    def __str__(self) -> str:
        if self.pages > 1:
            return f"one message takes {self.pages:,} pages"
        return "one message takes a page" if self.msgs == 1 else f"{self.msgs} messages share a page"


def footprint(msg_bytes: int, layout: str) -> Footprint:
    """Of a message of so many bytes."""
    sharing = MOST_BYTES_SHARING[layout]
    if msg_bytes > sharing[0]:
        return Footprint(1, 1 + ceil((msg_bytes - sharing[0]) / BYTES_OF_NEXT_PAGE[layout]))
    shortest_first = sharing[::-1]
    return Footprint(len(sharing) - bisect_left(shortest_first, msg_bytes), 1)


def sizes(taken: Footprint, layout: str) -> tuple[int, int] | None:
    """The shortest and longest message in bytes that lies so; None where the layout has no such message."""
    sharing = MOST_BYTES_SHARING[layout]
    if taken.pages > 1:
        step = BYTES_OF_NEXT_PAGE[layout]
        most = sharing[0] + (taken.pages - 1) * step
        return most - step + 1, most
    if taken.msgs > len(sharing):
        return None
    least = sharing[taken.msgs] + 1 if taken.msgs < len(sharing) else 0
    return least, sharing[taken.msgs - 1]

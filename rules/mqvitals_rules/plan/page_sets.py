"""Page sets, buffer pools and VSAM buffers: how messages lie on pages of 4 KB, and how many fit (F-08).

Bytes are user data with all headers but the MQMD.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor

from mqvitals_rules.plan.formula import MP1G, TUNING, Input, PlanError, Result, TableRow, formula

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
        """Whole messages on ``pages`` pages."""
        return pages * self.msgs // self.pages

    def __str__(self) -> str:
        if self.pages > 1:
            return f"one message takes {self.pages:,} pages"
        return "one message takes a page" if self.msgs == 1 else f"{self.msgs} messages share a page"


def message_pages(msg_bytes: float, layout: str = SHIPPED) -> int:
    """Pages of 4 KB, and so buffers, that a message takes at most; a short one may share its page."""
    further = msg_bytes - MOST_BYTES_SHARING[layout][0]
    return 1 if further <= 0 else 1 + ceil(further / BYTES_OF_NEXT_PAGE[layout])


def footprint(msg_bytes: int, layout: str) -> Footprint:
    """How a message of ``msg_bytes`` lies on pages."""
    sharing = MOST_BYTES_SHARING[layout]
    if msg_bytes > sharing[0]:
        return Footprint(1, message_pages(msg_bytes, layout))
    shortest_first = sharing[::-1]
    return Footprint(len(sharing) - bisect_left(shortest_first, msg_bytes), 1)


def sizes(taken: Footprint, layout: str) -> tuple[int, int] | None:
    """The shortest and longest message in bytes with this footprint; None where the layout has no such message."""
    sharing = MOST_BYTES_SHARING[layout]
    if taken.pages > 1:
        step = BYTES_OF_NEXT_PAGE[layout]
        most = sharing[0] + (taken.pages - 1) * step
        return most - step + 1, most
    if taken.msgs > len(sharing):
        return None
    least = sharing[taken.msgs] + 1 if taken.msgs < len(sharing) else 0
    return least, sharing[taken.msgs - 1]


PAGES_PER_GB = 262_144
PAGES_PER_GB_PRINTED = 250_000
"""The document takes 4 GB for a million pages."""
MOST_GB = 64
SIZES_GB = (4, MOST_GB)
EXACT = "exact"
DOCUMENT = "document"
MOST_MSGS_SHARING = 10
V6_PRINTED_LEAST_BYTES = 23_942
"""The printed beginning of the row of 7 pages; the row of 6 ends with it, so 23,943 is right."""
V6_OVERLAP_PAGES = 7


def _printed(messages: int) -> int:
    """As the document cuts its counts: whole thousands."""
    return messages // 1000 * 1000 if messages >= 1000 else messages


def _capacity_row(taken: Footprint) -> TableRow:
    row: dict[str, int | None] = {
        "pages_per_msg": taken.pages if taken.pages > 1 else None,
        "msgs_per_page": taken.msgs if taken.pages == 1 else None,
    }
    for layout in LAYOUTS:
        least, most = sizes(taken, layout) or (None, None)
        column = layout.replace("-", "_")
        row |= {f"{column}_least_bytes": least, f"{column}_most_bytes": most}
        if layout == V6:
            row["document_v6_least_bytes"] = V6_PRINTED_LEAST_BYTES if taken.pages == V6_OVERLAP_PAGES else least
    for gb in SIZES_GB:
        row[f"msgs_{gb}_gb"] = taken.msgs_in(gb * PAGES_PER_GB)
        row[f"document_msgs_{gb}_gb"] = _printed(taken.msgs_in(gb * PAGES_PER_GB_PRINTED))
    return row


CAPACITY_ROWS: tuple[TableRow, ...] = (
    *(_capacity_row(Footprint(1, pages)) for pages in range(MOST_TABLE_PAGES, 1, -1)),
    *(_capacity_row(Footprint(msgs, 1)) for msgs in range(1, MOST_MSGS_SHARING + 1)),
)


@formula(
    "page-set-capacity",
    number="F-08",
    title="Messages that fit on a page set",
    inputs=(
        MSG_BYTES,
        LAYOUT,
        Input("size_gb", "GB", "the page set's size", 1, MOST_GB, default=4),
        Input("pages", "pages", "its size in pages of 4 KB; 0: size-gb counts", 0, MOST_GB * PAGES_PER_GB, default=0),
        Input(
            "counting",
            "",
            "pages of a GB: exact 262,144, or the document's 250,000 with messages cut to thousands",
            default=EXACT,
            words=(EXACT, DOCUMENT),
        ),
    ),
    measured_on="WebSphere MQ V6 and V7.0.1",
    caveat=LAYOUT_CAVEAT,
    source=f"{MP1G} · Page Set Usage with Small Messages",
    example={"msg_bytes": 1024, "size_gb": 64},
)
def page_set_capacity(msg_bytes: int, layout: str, size_gb: int, pages: int, counting: str) -> Result:
    """Whole messages, index pages not taken off (as the document counts)."""
    taken = footprint(msg_bytes, layout)
    steps = [f"{msg_bytes:,} bytes, layout {layout}: {taken}"]
    rounded = False
    if pages:
        total = pages
    else:
        rounded = counting == DOCUMENT
        exact_pages, printed_pages = size_gb * PAGES_PER_GB, size_gb * PAGES_PER_GB_PRINTED
        total = printed_pages if rounded else exact_pages
        other = f"exactly {exact_pages:,}" if rounded else f"the document counts {printed_pages:,}"
        steps.append(f"{size_gb} GB = {total:,} pages ({other})")
    exact = total * taken.msgs / taken.pages
    messages = taken.msgs_in(total)
    steps.append(f"{total:,} pages x {taken.msgs} messages / {taken.pages:,} pages = {exact:,.1f} messages")
    if rounded:
        messages = _printed(messages)
        steps.append(f"cut to thousands as the document prints it: {messages:,}")
    elif not pages:
        printed = _printed(taken.msgs_in(size_gb * PAGES_PER_GB_PRINTED))
        steps.append(f"by the document's counting {printed:,}")
    if layout == SHIPPED and msg_bytes <= SMALL_BYTES:
        indexed = total * MSGS_PER_INDEX_PAGE // (MSGS_PER_INDEX_PAGE + 1)
        steps.append(
            f"with an index page for about {MSGS_PER_INDEX_PAGE} small messages, left out above: about {indexed:,}"
        )
    if layout == V6 and msg_bytes == V6_PRINTED_LEAST_BYTES:
        steps.append("the document's table has this length in two rows, 6 and 7 pages; 7 begin a byte later")
    caveat = "Longer than the table's messages: carried on from it." if taken.pages > MOST_TABLE_PAGES else ""
    return Result(messages, "messages", tuple(steps), exact=exact, rows=CAPACITY_ROWS, caveat=caveat)


MOST_BUFFERS = 999_999_999
DEFERRED_WRITE_PCT = 85
"""Above this the deferred write task takes pages out to the page sets."""

_BUFFERS = Input("buffers", "buffers", "the pool's size in buffers of 4 KB", 1, MOST_BUFFERS)


@formula(
    "buffer-pool-capacity",
    number="F-09",
    title="Messages that fit into a buffer pool",
    inputs=(_BUFFERS, MSG_BYTES, LAYOUT),
    measured_on="arithmetic; agrees with the measurement on V7.0.1 with 200,000 buffers and messages of 1 KB",
    caveat="The whole pool for messages; pages are written out from 85 % on. " + LAYOUT_CAVEAT,
    source=f"{MP1G} · Cost of putting messages to local indexed queues",
    example={"buffers": 200_000, "msg_bytes": 1024},
)
def buffer_pool_capacity(buffers: int, msg_bytes: int, layout: str) -> Result:
    """Whole messages."""
    taken = footprint(msg_bytes, layout)
    exact = buffers * taken.msgs / taken.pages
    steps = (
        f"{msg_bytes:,} bytes, layout {layout}: {taken}",
        f"{buffers:,} buffers x {taken.msgs} messages / {taken.pages:,} pages = {exact:,.1f} messages",
    )
    return Result(taken.msgs_in(buffers), "messages", steps, exact=exact)


@formula(
    "buffer-pool-outage-time",
    number="F-09",
    title="How long a buffer pool takes in messages while their consumer is down or slow",
    inputs=(
        _BUFFERS,
        MSG_BYTES,
        Input("put_per_s", "messages/s", "messages put in a second", 0, 1e9, fraction=True),
        Input("get_per_s", "messages/s", "messages got in a second", 0, 1e9, default=0, fraction=True),
        Input("used_buffers", "buffers", "buffers in use at the beginning", 0, MOST_BUFFERS, default=0),
        LAYOUT,
    ),
    measured_on="arithmetic",
    caveat=f"Until {DEFERRED_WRITE_PCT} % are used, for one pool of queues with steady rates. " + LAYOUT_CAVEAT,
    source=f"{TUNING} · Buffer Pool Use - General Recommendations",
    example={"buffers": 70_000, "msg_bytes": 3000, "put_per_s": 100},
)
def buffer_pool_outage_time(
    buffers: int, msg_bytes: int, put_per_s: float, get_per_s: float, used_buffers: int, layout: str
) -> Result:
    """Whole seconds; None when as much is got as put and there is room, for it never fills."""
    if used_buffers > buffers:
        raise PlanError(f"used-buffers must be 0 to {buffers:,} buffers, all the pool has, not {used_buffers!r}")
    taken = footprint(msg_bytes, layout)
    room = (DEFERRED_WRITE_PCT * buffers - 100 * used_buffers) / 100
    steps = [
        f"{msg_bytes:,} bytes, layout {layout}: {taken}",
        f"{DEFERRED_WRITE_PCT} % of {buffers:,} buffers less {used_buffers:,} used = {room:,.1f} buffers of room",
    ]
    if room <= 0:
        steps.append("no room: pages are being written out already")
        return Result(0, "s", tuple(steps))
    net = put_per_s - get_per_s
    if net <= 0:
        steps.append(f"{put_per_s:g} messages/s put, {get_per_s:g} got: it does not fill")
        return Result(None, "s", tuple(steps))
    exact = room * taken.msgs / taken.pages / net
    steps.append(
        f"{room:,.1f} buffers x {taken.msgs} messages / {taken.pages:,} pages"
        f" / ({put_per_s:g} - {get_per_s:g}) messages/s = {exact:,.1f} s"
    )
    return Result(floor(exact), "s", tuple(steps), exact=exact)


VSAM_NODES = "WebSphere Business Integration Message Broker for z/OS V5 - VSAM Nodes - Performance report"
DATA_CISIZE_BYTES = 18_432
INDEX_CISIZE_BYTES = 512
MOST_CISIZE_BYTES = 32_768
ROWS: tuple[TableRow, ...] = (
    {"bufferspace_bytes": 37_376, "data_cis": 2, "index_cis": 1},
    {"bufferspace_bytes": 38_400, "data_cis": 2, "index_cis": 3},
    {"bufferspace_bytes": 39_424, "data_cis": 2, "index_cis": 5},
    {"bufferspace_bytes": 76_288, "data_cis": 4, "index_cis": 5},
    {"bufferspace_bytes": 1_048_576, "data_cis": None, "index_cis": None},
)
"""The measured settings; the last is a round number without stated components."""


def _cisize(component: str, default: int) -> Input:
    meaning = f"control interval of the {component} component"
    return Input(f"{component}_cisize_bytes", "bytes", meaning, 512, MOST_CISIZE_BYTES, default=default)


@formula(
    "vsam-bufferspace",
    number="F-34",
    title="BUFFERSPACE of a VSAM data set for so many buffers",
    inputs=(
        Input("data_cis", "control intervals", "buffers for data", 2, 10_000, default=2),
        Input("index_cis", "control intervals", "buffers for the index", 1, 10_000, default=1),
        _cisize("data", DATA_CISIZE_BYTES),
        _cisize("index", INDEX_CISIZE_BYTES),
    ),
    measured_on="arithmetic; the settings were measured with Message Broker V5 on a 2084-304",
    caveat=(
        "More buffers for the index helped most, where many applications read one data set; CPU hardly changed. It works on every program that"
        " uses the data set and gives no BUFND or BUFNI. To open a data set and read one record took some 7750 CPU microseconds (2084-304)."
    ),
    source=f"{VSAM_NODES} · 2.3.2 Throughput varying BUFFERSPACE, 2.3.1 Results",
    example={"data_cis": 2, "index_cis": 5},
)
def vsam_bufferspace(data_cis: int, index_cis: int, data_cisize_bytes: int, index_cisize_bytes: int) -> Result:
    """Bytes."""
    size_bytes = data_cis * data_cisize_bytes + index_cis * index_cisize_bytes
    steps = (
        f"{data_cis:,} data x {data_cisize_bytes:,} bytes + {index_cis:,} index x {index_cisize_bytes:,} bytes = {size_bytes:,} bytes",
    )
    return Result(size_bytes, "bytes", steps, rows=ROWS)

"""Page sets: how many messages they hold."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.page_layout import (
    LAYOUT,
    LAYOUT_CAVEAT,
    LAYOUTS,
    MOST_TABLE_PAGES,
    MP1G,
    MSG_BYTES,
    MSGS_PER_INDEX_PAGE,
    SHIPPED,
    SMALL_BYTES,
    V6,
    Footprint,
    footprint,
    sizes,
)
from mqvitals_rules.plan.question import Input

PAGES_PER_GB = 262_144
PAGES_PER_GB_PRINTED = 250_000
"""The document takes 4 GB for a million pages."""
MOST_GB = 64
SIZES_GB = (4, MOST_GB)
EXACT = "exact"
DOCUMENT = "document"
MOST_MSGS_SHARING = 10
V6_PRINTED_LEAST_BYTES = 23_942
"""Where the document lets the row of 7 pages begin; the row of 6 ends with it, so 23,943 is right."""
V6_OVERLAP_PAGES = 7


def _printed(messages: int) -> int:
    """As the document cuts its counts: whole thousands."""
    return messages // 1000 * 1000 if messages >= 1000 else messages


def _row(taken: Footprint) -> Row:
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


ROWS: tuple[Row, ...] = (
    *(_row(Footprint(1, pages)) for pages in range(MOST_TABLE_PAGES, 1, -1)),
    *(_row(Footprint(msgs, 1)) for msgs in range(1, MOST_MSGS_SHARING + 1)),
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
def page_set_capacity(msg_bytes: int, layout: str, size_gb: int, pages: int, counting: str) -> Outcome:
    """Whole messages, index pages not taken off (as the document counts); the catalogue's F-08."""
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
    return Outcome(messages, "messages", tuple(steps), exact=exact, rows=ROWS, caveat=caveat)

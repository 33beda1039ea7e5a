"""Page sets: every row of the document's table, and both ways to count pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.page_sets import LAYOUTS, MOST_MSG_BYTES, PACKED, SHIPPED, V6, footprint, page_set_capacity

Sizes = tuple[int, int] | None

# pages a message, messages a page, V6, V7.0.1 as shipped, MAXSHORTMSGS 0, thousands of messages in 4 GB and in 64 GB
TABLE: list[tuple[int, int, Sizes, Sizes, Sizes, int, int]] = [
    (8, 1, (27992, 32040), (27924, 31971), (27924, 31971), 125, 2000),
    (7, 1, (23943, 27991), (23876, 27923), (23876, 27923), 142, 2285),
    (6, 1, (19894, 23942), (19828, 23875), (19828, 23875), 166, 2666),
    (5, 1, (15845, 19893), (15780, 19827), (15780, 19827), 200, 3200),
    (4, 1, (11796, 15844), (11732, 15779), (11732, 15779), 250, 4000),
    (3, 1, (7747, 11795), (7684, 11731), (7684, 11731), 333, 5333),
    (2, 1, (3698, 7746), (3636, 7683), (3636, 7683), 500, 8000),
    (1, 1, (1656, 3697), (0, 3635), (1568, 3635), 1000, 16000),
    (1, 2, (981, 1655), None, (892, 1567), 2000, 32000),
    (1, 3, (643, 980), None, (554, 891), 3000, 48000),
    (1, 4, (440, 642), None, (351, 553), 4000, 64000),
    (1, 5, (305, 439), None, (216, 350), 5000, 80000),
    (1, 6, (208, 304), None, (119, 215), 6000, 96000),
    (1, 7, (136, 207), None, (47, 118), 7000, 112000),
    (1, 8, (79, 135), None, (0, 46), 8000, 128000),
    (1, 9, (34, 78), None, None, 9000, 144000),
    (1, 10, (0, 33), None, None, 10000, 160000),
]
EDGES = [
    (layout, msg_bytes, pages, msgs, k_4_gb, k_64_gb)
    for pages, msgs, v6, shipped, packed, k_4_gb, k_64_gb in TABLE
    for layout, sizes in ((V6, v6), (SHIPPED, shipped), (PACKED, packed))
    for msg_bytes in sizes or ()
]


@pytest.mark.parametrize(("layout", "msg_bytes", "pages", "msgs", "k_4_gb", "k_64_gb"), EDGES)
def test_every_edge_of_the_table(layout: str, msg_bytes: int, pages: int, msgs: int, k_4_gb: int, k_64_gb: int) -> None:
    def holds(size_gb: int, counting: str) -> float | None:
        return page_set_capacity(msg_bytes=msg_bytes, layout=layout, size_gb=size_gb, counting=counting).value

    assert holds(4, "document") == k_4_gb * 1000
    assert holds(64, "document") == k_64_gb * 1000
    assert holds(4, "exact") == 1_048_576 * msgs // pages
    assert holds(64, "exact") == 16_777_216 * msgs // pages


@pytest.mark.parametrize("at", range(len(TABLE)))
def test_every_row_is_in_the_answer(at: int) -> None:
    rows = page_set_capacity(msg_bytes=1).rows
    assert len(rows) == len(TABLE)
    row = rows[at]
    pages, msgs, v6, shipped, packed, k_4_gb, k_64_gb = TABLE[at]
    assert row["pages_per_msg"] == (pages if pages > 1 else None)
    assert row["msgs_per_page"] == (msgs if pages == 1 else None)
    for column, sizes in (("v6", v6), ("shipped", shipped), ("maxshortmsgs_0", packed)):
        assert (row[f"{column}_least_bytes"], row[f"{column}_most_bytes"]) == (sizes or (None, None))
    assert row["msgs_4_gb"] == 1_048_576 * msgs // pages
    assert row["msgs_64_gb"] == 16_777_216 * msgs // pages
    assert row["document_msgs_4_gb"] == k_4_gb * 1000
    assert row["document_msgs_64_gb"] == k_64_gb * 1000


def test_the_row_that_the_document_begins_a_byte_early() -> None:
    rows = page_set_capacity(msg_bytes=1).rows
    differing = [row for row in rows if row["document_v6_least_bytes"] != row["v6_least_bytes"]]
    assert [(row["pages_per_msg"], row["v6_least_bytes"], row["document_v6_least_bytes"]) for row in differing] == [
        (7, 23_943, 23_942)
    ]
    assert any("two rows" in step for step in page_set_capacity(msg_bytes=23_942, layout=V6).steps)


def test_64_gb_hold_16_7_million_small_messages() -> None:
    answer = page_set_capacity(msg_bytes=1024, size_gb=64)
    assert (answer.value, answer.unit) == (16_777_216, "messages")
    assert "64 GB = 16,777,216 pages (the document counts 16,000,000)" in answer.steps
    assert "by the document's counting 16,000,000" in answer.steps


def test_index_pages_are_told_but_not_taken_off() -> None:
    told = [step for step in page_set_capacity(msg_bytes=1567, pages=73_000).steps if "index page" in step]
    assert told == ["with an index page for about 72 small messages, left out above: about 72,000"]
    for others in ({"msg_bytes": 1568}, {"msg_bytes": 100, "layout": PACKED}):
        assert not any("index page" in step for step in page_set_capacity(**others).steps)


def test_pages_count_before_size() -> None:
    assert page_set_capacity(msg_bytes=4000, pages=1001, counting="document").value == 500
    assert page_set_capacity(msg_bytes=4000, pages=1).value == 0


def test_beyond_the_table_it_is_carried_on() -> None:
    for layout, most in ((V6, 32_040), (SHIPPED, 31_971), (PACKED, 31_971)):
        last, beyond = (page_set_capacity(msg_bytes=size, layout=layout, pages=72) for size in (most, most + 1))
        assert (last.value, beyond.value) == (9, 8)
        assert "carried on" not in last.caveat
        assert "carried on" in beyond.caveat
    assert footprint(1_048_576, SHIPPED).pages == 260


@pytest.mark.parametrize(
    "nonsense", [{"msg_bytes": -1}, {"size_gb": 0}, {"size_gb": 65}, {"pages": 16_777_217}, {"layout": "v5"}]
)
def test_nonsense_is_refused(nonsense: dict[str, int | str]) -> None:
    with pytest.raises(PlanError):
        page_set_capacity(**{"msg_bytes": 1, **nonsense})


_SIZE = st.integers(0, MOST_MSG_BYTES) | st.integers(0, 40_000)


@given(_SIZE, _SIZE, st.sampled_from(LAYOUTS), st.sampled_from(["exact", "document"]), st.integers(1, 64))
def test_longer_messages_never_fit_in_greater_number(one: int, other: int, layout: str, counting: str, gb: int) -> None:
    shorter, longer = (
        page_set_capacity(msg_bytes=size, layout=layout, counting=counting, size_gb=gb).value or 0
        for size in sorted((one, other))
    )
    assert shorter >= longer >= 0


@given(_SIZE, st.sampled_from(LAYOUTS), st.integers(1, 63), st.sampled_from(["exact", "document"]))
def test_a_larger_page_set_never_holds_less(size: int, layout: str, gb: int, counting: str) -> None:
    smaller, larger = (
        page_set_capacity(msg_bytes=size, layout=layout, counting=counting, size_gb=each).value or 0
        for each in (gb, gb + 1)
    )
    assert smaller <= larger


@given(_SIZE, st.sampled_from(LAYOUTS))
def test_messages_do_not_take_more_than_their_pages(size: int, layout: str) -> None:
    taken = footprint(size, layout)
    assert min(taken.msgs, taken.pages) == 1
    assert size <= 4096 * taken.pages // taken.msgs

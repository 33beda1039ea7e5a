"""Buffer pools: the worked examples of the documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.page_sets import LAYOUTS, buffer_pool_capacity, buffer_pool_outage_time


@pytest.mark.parametrize(("layout", "messages"), [("shipped", 200_000), ("maxshortmsgs-0", 400_000), ("v6", 400_000)])
def test_200000_buffers_of_1_kb_messages(layout: str, messages: int) -> None:
    answer = buffer_pool_capacity(buffers=200_000, msg_bytes=1024, layout=layout)
    assert (answer.value, answer.exact, answer.unit) == (messages, messages, "messages")


def test_messages_of_several_pages() -> None:
    answer = buffer_pool_capacity(buffers=1001, msg_bytes=4000)
    assert (answer.value, answer.exact) == (500, 500.5)


def test_70000_empty_buffers_last_595_seconds() -> None:
    answer = buffer_pool_outage_time(buffers=70_000, msg_bytes=3000, put_per_s=100)
    assert (answer.value, answer.exact, answer.unit) == (595, 595, "s")


def test_what_is_used_and_what_is_got_count() -> None:
    def seconds(**given_too: float) -> float | None:
        return buffer_pool_outage_time(buffers=70_000, msg_bytes=3000, put_per_s=100, **given_too).value

    assert seconds(used_buffers=29_500) == 300
    assert seconds(get_per_s=50) == 1190
    assert seconds(used_buffers=59_500) == 0
    assert seconds(used_buffers=70_000, get_per_s=100) == 0


def test_it_never_fills_when_as_much_is_got() -> None:
    answer = buffer_pool_outage_time(buffers=1000, msg_bytes=100, put_per_s=10, get_per_s=10)
    assert (answer.value, answer.exact) == (None, None)
    assert answer.steps[-1] == "10 messages/s put, 10 got: it does not fill"


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="used-buffers must be 0 to 10 buffers"):
        buffer_pool_outage_time(buffers=10, msg_bytes=1, put_per_s=1, used_buffers=11)
    with pytest.raises(PlanError, match="buffers must be 1 to"):
        buffer_pool_capacity(buffers=0, msg_bytes=1)
    with pytest.raises(PlanError, match="put-per-s must be"):
        buffer_pool_outage_time(buffers=10, msg_bytes=1, put_per_s=-1)


_BUFFERS = st.integers(1, 1_000_000)
_SIZE = st.integers(0, 40_000)
_LAYOUT = st.sampled_from(LAYOUTS)


@given(_BUFFERS, _BUFFERS, _SIZE, _SIZE, _LAYOUT)
def test_more_buffers_hold_no_less_and_longer_messages_no_more(
    a: int, b: int, size: int, longer: int, layout: str
) -> None:
    few, many = sorted((a, b))
    short, long = sorted((size, longer))
    least, middle, most = (
        buffer_pool_capacity(buffers=buffers, msg_bytes=each, layout=layout).value or 0
        for buffers, each in ((few, long), (few, short), (many, short))
    )
    assert 0 <= least <= middle <= most <= 10 * many


@given(_BUFFERS, _SIZE, st.integers(1, 10_000), st.integers(1, 10_000), st.integers(0, 5000), _LAYOUT)
def test_more_puts_never_give_more_time(buffers: int, size: int, a: int, b: int, get_per_s: int, layout: str) -> None:
    slow, fast = (
        buffer_pool_outage_time(
            buffers=buffers, msg_bytes=size, put_per_s=rate, get_per_s=get_per_s, layout=layout
        ).value
        for rate in sorted((a, b))
    )
    assert slow is None or (fast is not None and slow >= fast >= 0)


@given(_BUFFERS, _SIZE, st.data())
def test_more_in_use_never_gives_more_time(buffers: int, size: int, data: st.DataObject) -> None:
    used = sorted(data.draw(st.tuples(st.integers(0, buffers), st.integers(0, buffers))))
    less, more = (
        buffer_pool_outage_time(buffers=buffers, msg_bytes=size, put_per_s=7, used_buffers=each).exact for each in used
    )
    assert less is not None
    assert more is not None
    assert less >= more >= 0

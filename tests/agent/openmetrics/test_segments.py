"""Parts of a page that are compressed once: whatever their order, they are one gzip stream."""

from __future__ import annotations

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.openmetrics.segments import Page, Segment, combined_crc

PARTS = st.lists(st.binary(max_size=2000) | st.binary(max_size=20).map(lambda part: part * 500), max_size=8)


@given(PARTS)
def test_segments_in_any_order_are_one_gzip_stream_of_the_whole(parts: list[bytes]) -> None:
    """Also of a part that stands twice, and of none."""
    segments = [Segment.of(part) for part in parts]
    page = Page((*segments, *reversed(segments)))
    whole = b"".join([*parts, *reversed(parts)])
    assert b"".join(page.plain()) == whole
    assert page.size == len(whole)
    stream = b"".join(page.gzipped())
    assert page.gzipped_size == len(stream)
    assert gzip.decompress(stream) == whole
    # One member, as clients that stop after the first one need it.
    one = zlib.decompressobj(31)
    assert one.decompress(stream) == whole
    assert one.eof
    assert one.unused_data == b""


@given(PARTS)
def test_the_checksum_of_the_whole_comes_from_those_of_the_parts(parts: list[bytes]) -> None:
    """As if all had been read."""
    assert combined_crc(Segment.of(part) for part in parts) == zlib.crc32(b"".join(parts))

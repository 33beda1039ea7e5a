"""Columns of numbers as one blob: what was given comes back, to the type; what is damaged is refused."""

from __future__ import annotations

import zlib
from math import copysign

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.sealed.codec import (
    LONGEST,
    Cells,
    DamagedChunkError,
    SparseCells,
    decode,
    encode,
    open_columns,
)

WHOLE = st.integers(-(1 << 63), (1 << 63) - 1)
SMALL = st.integers(0, 300)
DECIMALS = st.integers(-(10**9), 10**9).map(lambda number: number / 100)
REALS = st.floats(allow_nan=False)
CELLS = st.one_of(
    *(st.lists(each, max_size=60) for each in (WHOLE, SMALL, DECIMALS, REALS, st.one_of(WHOLE, REALS, st.none()))),
    *(st.lists(st.one_of(st.none(), each), max_size=60) for each in (WHOLE, SMALL, DECIMALS)),
    st.builds(lambda first, step, count: [first + step * n for n in range(count)], SMALL, WHOLE, st.integers(0, 9)),
)


def exactly(cells: Cells) -> list[tuple[type, object, float]]:
    """Cells with their types and signs: 5, 5.0 and -0.0 differ from each other and from 0."""
    return [(type(cell), cell, copysign(1, cell) if isinstance(cell, float) else 0) for cell in cells]


@st.composite
def tables(draw: st.DrawFn) -> list[list[int | float | None]]:
    columns = draw(st.lists(CELLS, max_size=6))
    longest = max(map(len, columns), default=0)
    filler = draw(st.one_of(st.none(), SMALL))
    columns = [[*column, *[filler] * (longest - len(column))] for column in columns]
    fits = range(-(1 << 63), 1 << 63)
    return [[cell if not isinstance(cell, int) or cell in fits else None for cell in column] for column in columns]


@given(tables())
def test_what_was_given_comes_back(columns: list[list[int | float | None]]) -> None:
    """Every column, to the type and the sign of zero; also when only some columns are asked for."""
    blob = encode(columns)
    found = decode(blob)
    assert sorted(found) == list(range(len(columns)))
    for place, column in enumerate(columns):
        assert exactly(found[place]) == exactly(column)
        assert exactly(decode(blob, {place})[place]) == exactly(column)
    assert decode(blob, ()) == {}


@given(tables())
def test_sparse_cells_are_encoded_as_any_column(columns: list[list[int | float | None]]) -> None:
    """What says where its values are is the same column, and the same bytes."""
    sparse = []
    for column in columns:
        there = [(place, cell) for place, cell in enumerate(column) if cell is not None]
        sparse.append(SparseCells(len(column), tuple(place for place, _ in there), [cell for _, cell in there]))
    assert [*map(exactly, sparse)] == [*map(exactly, columns)]
    assert encode(sparse) == encode(columns)


@given(tables(), st.data())
def test_what_is_damaged_is_refused(columns: list[list[int | float | None]], data: st.DataObject) -> None:
    """A changed byte inside is found, or gives numbers; it never raises anything else, and never takes long."""
    raw = bytearray(zlib.decompress(encode(columns)))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255))
    try:
        found = decode(zlib.compress(bytes(raw)))
    except DamagedChunkError:
        return
    assert all(type(cell) in (int, float, type(None)) for column in found.values() for cell in column)
    assert all(len(column) <= LONGEST for column in found.values())


@given(st.binary(max_size=200))
def test_any_bytes(blob: bytes) -> None:
    """Of what is no blob nothing is made."""
    for each in (blob, zlib.compress(blob)):
        with pytest.raises(DamagedChunkError):
            decode(each)


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_a_blob_that_is_cut(cut: int) -> None:
    """It is refused wherever it ends."""
    with pytest.raises(DamagedChunkError):
        decode(encode([list(range(100)), [n * n for n in range(100)]])[:cut])


def test_a_blob_that_unpacks_to_very_much() -> None:
    """It is not unpacked beyond what a chunk can hold."""
    with pytest.raises(DamagedChunkError):
        decode(zlib.compress(bytes(100_000_000)))


def test_unequal_columns() -> None:
    """Columns of unequal lengths, and ones that are too long, are refused."""
    unequal: list[list[list[int | float | None]]] = [[[1], [1, 2]], [[0] * (LONGEST + 1)]]
    for columns in unequal:
        with pytest.raises(ValueError, match="lengths"):
            encode(columns)


def test_narrow() -> None:
    """An hour of what hardly moves takes a few bytes, whatever its values; a counter in equal steps as well."""
    idle: list[Cells] = [[7_000_000_000] * 360, [10**12 + 10_000 * n for n in range(360)], [None] * 360, [0.25] * 360]
    assert len(encode(idle)) < 80


@given(tables(), st.data())
def test_single_cells_are_those_of_the_column(columns: list[list[int | float | None]], data: st.DataObject) -> None:
    """In any order; columns that are wholly absent are left out, and marks tell where any of some is there."""
    blob = encode(columns)
    marked = data.draw(st.sets(st.integers(0, len(columns))))
    count, found, marks = open_columns(blob, range(len(columns)), marked)
    assert count == max(map(len, columns), default=0)
    assert marks == sum(
        1 << at
        for at in range(count)
        if any(columns[place][at] is not None for place in marked if place < len(columns))
    )
    for place, column in enumerate(columns):
        if place not in found:
            assert all(cell is None for cell in column)
            continue
        known = found[place]
        assert known.there == sum(1 << at for at, cell in enumerate(column) if cell is not None)
        assert known.nonzero(count) == sum(1 << at for at, cell in enumerate(column) if cell)
        order = data.draw(st.lists(st.sampled_from(range(count)), max_size=20)) if count else []
        assert exactly([known.at(at) for at in order]) == exactly([column[at] for at in order])


@given(tables(), st.data())
def test_single_cells_of_what_is_damaged(columns: list[list[int | float | None]], data: st.DataObject) -> None:
    """It is refused when it is opened, or gives numbers."""
    raw = bytearray(zlib.decompress(encode(columns)))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255))
    try:
        count, found, _ = open_columns(zlib.compress(bytes(raw)), range(8), range(8))
    except DamagedChunkError:
        return
    cells = [column.at(at) for column in found.values() for at in range(min(count, 70))]
    assert all(type(cell) in (int, float, type(None)) for cell in cells)

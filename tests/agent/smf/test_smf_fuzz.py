"""Records with any bytes changed: they are read, or refused with SmfError, and the next record is found."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.smf.framing import LONGEST, raw_records
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import SmfError, parse
from mqvitals_agent.smf.section import sections


def changed(data: bytes, chance: random.Random) -> bytes:
    """Some bytes replaced, and now and then a piece cut out or doubled."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 40))):
        found[chance.randrange(len(found))] = chance.choice((0, 0xFF, 0x7F, 0x80, chance.randrange(256)))
    if chance.random() < 0.2:
        at, size = chance.randrange(len(found)), chance.randrange(1, 200)
        found[at : at + size] = b"" if chance.random() < 0.5 else bytes(found[at : at + size]) * 2
    return bytes(found)


def test_mutated_records(soak: bool, every_section: Path) -> None:
    """Two thousand (a hundred thousand in `make soak`): nothing but SmfError, and sections within the record."""
    count = 100_000 if soak else 2_000
    with open_smf(every_section) as stream:
        whole = [frame.data for frame in raw_records(stream, lambda _: None) if frame]
    chance = random.Random(115)
    refused = 0
    for number in range(count):
        data = changed(whole[number % len(whole)], chance)
        try:
            for each in sections(parse(data)):
                each.fields()
        except SmfError:
            refused += 1
    assert 0 < refused < count


@given(data=st.binary(max_size=4000))
def test_any_bytes(data: bytes) -> None:
    """What is no dump is refused or gives nothing that its bytes cannot hold."""
    tally = ReadCounts()
    try:
        found = list(records(io.BytesIO(data), tally))
    except SmfError:
        return
    assert sum(len(each.data) for each in found) <= 2 * len(data) + 8 * len(found)


@given(seed=st.integers(0, 1 << 32), form=st.sampled_from(["rdw", "bdw", "bare"]))
def test_mutated_files(smf: Any, seed: int, form: str) -> None:
    """Of sixty records, whatever a few changed bytes do, most are read, none twice."""
    chance = random.Random(seed)
    whole = [smf.record(115, 215, {1: [smf.pool(number)]}, sequence=number) for number in range(60)]
    data = {
        "rdw": b"".join(whole),
        "bdw": smf.blocks(*(b"".join(whole[at : at + 5]) for at in range(0, 60, 5))),
        "bare": b"".join(each[4:] for each in whole),
    }[form]
    spoilt = bytearray(data)
    for _ in range(3):
        spoilt[chance.randrange(300, len(data))] = chance.randrange(256)
    tally = ReadCounts()
    found = [each.sequence[1] for each in records(io.BytesIO(bytes(spoilt)), tally) if each.sequence[0] == 0]
    known = [number for number in found if number < 60]
    assert len(set(known)) >= 45
    assert len(known) - len(set(known)) <= 3


def test_segments_without_end_do_not_grow(smf: Any) -> None:
    """A file of middle segments is not held in memory: the record is given up at a megabyte."""
    one = smf.record(115, 215, {1: [smf.pool()]})
    first, rest = smf.spanned(one, 60)[:64], b"\x7f\xff\3\0" + bytes(0x7FFB)
    told: list[SmfError] = []
    data = one + first + rest * (3 * LONGEST // len(rest)) + one
    found = [frame for frame in raw_records(io.BytesIO(data), told.append) if frame]
    assert [len(each.data) for each in found] == [len(one), len(one)]
    assert "grows beyond" in str(told[0])

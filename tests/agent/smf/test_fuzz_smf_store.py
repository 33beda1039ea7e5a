"""Damaged SMF records through everything: imported into a fresh store, reported, dumped, and the store asked every question.

A few hundred of them; a hundred thousand in ``make soak``. Whatever they hold, commands end with codes of their own, never with a fault
of the program, and within a time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.framing import raw_records
from mqvitals_agent.smf.reader import open_smf
from mqvitals_agent.smf.record import parse
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.vocabulary.tables import KINDS

_QUESTIONS = (
    ["status", "--full"],
    ["status", "--json"],
    ["review"],
    ["review", "--json"],
    ["alerts", "list", "--all", "--all-kinds"],
)
_A_RECORD_S = 0.25
"""So much processor time a record may take at most, through all commands; a batch takes some seconds whatever is in it."""
_A_BATCH_S = 60.0


def _with_number(data: bytes, at: int, size: int, chance: random.Random) -> bytes:
    number = chance.choice((0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), chance.randrange(1 << 8 * size)))
    return data[:at] + number.to_bytes(size, "big") + data[at + size :]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A record with one bit flipped, a number or name replaced, bytes overwritten, or a piece cut out."""
    standard = int.from_bytes(data[28:32], "big")
    match chance.randrange(7):
        case 0:  # one bit, anywhere
            at = chance.randrange(4, len(data))
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 1:  # one bit of what says when and whose it is
            places = [each for each in (*range(6, 28), *range(standard, standard + 52)) if each < len(data)]
            at = chance.choice(places)
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 2:  # a count, a moment or a length
            size = chance.choice((1, 2, 4, 8))
            return _with_number(data, chance.randrange(28, max(len(data) - size, 29)), size, chance)
        case 3:  # a name
            at = chance.randrange(28, len(data))
            name = chance.choice((bytes(12), b"\x40" * 12, b"\x61" * 12, b"\x27\x0d\x25" * 4, chance.randbytes(12)))
            return data[:at] + name[: len(data) - at] + data[at + 12 :]
        case 4:  # the queue manager
            name = chance.choice((bytes(4), b"\x40" * 4, b"\x61\x40\x40\x40", chance.randbytes(4)))
            return data[:18] + name + data[22:]
        case 5:  # many bytes
            found = bytearray(data)
            for _ in range(chance.randrange(1, 60)):
                found[chance.randrange(4, len(found))] = chance.randrange(256)
            return bytes(found)
        case _:  # a piece lost, and the descriptor word as it was
            at = chance.randrange(4, len(data))
            return data[:at] + data[at + chance.randrange(1, 300) :]


def batches(whole: Sequence[bytes], count: int, size: int) -> Iterator[bytes]:
    """Files of ``size`` damaged records each, with a good one now and then, so that there is something to go on by."""
    for number in range(0, count, size):
        chance = random.Random(number)
        found = []
        for _ in range(min(size, count - number)):
            data = chance.choice(whole)
            found.append(data if chance.random() < 0.1 else mutated(data, chance))
        yield b"".join(found)


def ask_everything(store: Path) -> int:
    """Every object's present and past; returns how many there are. Raises what a query raises."""
    with StoreReader.open(store) as reader:
        rows = reader.objects("*", gone=True)
        for row in rows:
            told = reader.current(row.name)
            metrics = [each for each in KINDS[row.name.kind].metrics if each.name in told and each.in_history]
            for metric in metrics[:2]:
                reader.trend(row.name, metric.name)
        for owner in reader.owners():
            reader.snapshot_times(owner.name, 5)
        reader.unknown_counts()
        reader.newest_records()
        reader.alerts(include_ended=True, include_pending=True)
    return len(rows)


def test_whatever_records_hold(
    soak: bool, every_section: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Import, health check, dump and every question: exit codes of their own, an intact store, in bounded time."""
    count, size = (100_000, 500) if soak else (300, 150)
    with open_smf(every_section) as stream:
        whole = [frame.data for frame in raw_records(stream, lambda _: None) if frame and frame.type in (115, 116)]
    # A sort of record as often as any other, however many of it a group writes.
    sorts: dict[tuple[int, int], list[bytes]] = {}
    for data in whole:
        record = parse(data)
        sorts.setdefault((record.type, record.subtype), []).append(data)
    even = [each[number % len(each)] for number in range(20) for each in sorts.values()]
    objects = 0
    for number, data in enumerate(batches(even, count, size)):
        file, store = tmp_path / f"{number}.smf", tmp_path / f"{number}.db"
        file.write_bytes(data)
        began = time.process_time()
        assert main(["smf", "import", str(file), "--store", str(store)]) in (0, 1, 2), number
        for question in _QUESTIONS:
            assert main([*question, "--store", str(store)]) in (0, 1, 2, 3), (number, question)
        assert main(["smf", "report", str(file)]) in (0, 1, 2), number
        assert main(["smf", "dump", str(file), "--summary"]) in (0, 1, 2), number
        found = ask_everything(store)
        objects += found
        assert time.process_time() - began < _A_BATCH_S + _A_RECORD_S * size, number
        told = capsys.readouterr()
        assert "Traceback" not in told.err, number
        for path in (file, *tmp_path.glob(f"{number}.db*")):
            path.unlink()
    assert objects > count / size

"""Names that cannot be: what has one is left out, named and counted; everything else of the record is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.record import parse
from mqvitals_agent.smf.sampler import MOST_UNNAMED, Sampler

BAD = [bytes(8), b"\x40" * 8, b"\x07\xc1\xc2\x40\x40\x40\x40\x40", b"\xc1\x27\xc2\x00\xc3\x40\x40\x40"]
"""No name: zeros, blanks, and letters with control characters before or between them."""


def channel(smf: Any, name: bytes) -> bytes:
    data = bytearray(smf.section(324, {37: (1, 1), 38: (1, 3), 116: (4, 7)}))
    data[16:36] = name[:20].ljust(20, b"\x40")
    return bytes(data)


def queue(smf: Any, name: bytes) -> bytes:
    data = bytearray(smf.section(552, {288: (8, 7)}))
    data[8:56] = name.ljust(48, b"\x40")
    return bytes(data)


def task_queue(smf: Any, name: bytes) -> bytes:
    data = bytearray(smf.section(2800, {8: (4, 9)}))
    data[80:128] = name.ljust(48, b"\x40")
    return bytes(data)


def data_set(smf: Any, name: bytes) -> bytes:
    return bytes(8) + name.ljust(12, b"\x40") + bytes(316)


def task(smf: Any, job: bytes) -> bytes:
    data = bytearray(smf.section(208, {8: (4, 2)}))
    data[12:20] = job
    return bytes(data)


def named(*records: bytes) -> tuple[list[str], Sampler]:
    sampler = Sampler(GroupNames(default="PRDQSG"))
    found = [str(total.object) for each in records for total in sampler.partial_samples(parse(each))]
    return found, sampler


@pytest.mark.parametrize("name", BAD)
def test_an_object_without_a_name(smf: Any, name: bytes) -> None:
    """The others of the record are there; what was left out is described by what it is and where."""
    good = smf.ebcdic("GOOD", 8)
    task_sections = {1: [task(smf, good)], 2: [smf.section(2344)]}
    found, sampler = named(
        smf.record(116, 10, {1: [channel(smf, name), channel(smf, good)]}),
        smf.record(115, 216, {1: [queue(smf, good), queue(smf, name)]}),
        smf.record(115, 2, {8: [data_set(smf, name), data_set(smf, good)]}, number=9),
        smf.record(116, 1, {**task_sections, 3: [task_queue(smf, name), task_queue(smf, good)]}),
    )
    assert found == ["MQ01/channel/GOOD", "MQ01/queue/GOOD", "/smds/GOOD/MQ01", "MQ01/application/GOOD/GOOD"]
    assert sampler.unnamed.count == 4
    lines = "\n".join(sampler.unnamed.lines())
    assert "left out for their names: 4" in lines
    for what in ("a channel", "a queue", "a data set", "a task's queue"):
        assert what in lines or what.replace("data set", "smds") in lines
    assert lines.isprintable() or "\n" in lines
    assert all(line.isprintable() for line in sampler.unnamed.lines())


@pytest.mark.parametrize(
    "name", [*(each[:4] for each in BAD), b"\x61\x40\x40\x40", b"\xd4\x61\xd8\xf1", b"\xd4\x40\xd8\xf1"]
)
def test_a_queue_manager_without_a_name(smf: Any, name: bytes) -> None:
    """A whole record is left out: zeros, control characters, a slash or a blank make no subsystem's name."""
    data = smf.record(115, 215, {1: [smf.pool(1), smf.pool(2)]})
    found, sampler = named(data[:18] + name + data[22:], data)
    assert found == ["MQ01/buffer_pool/1", "MQ01/buffer_pool/2"]
    assert sampler.unnamed.count == 1
    assert "the queue manager" in str(sampler.unnamed.first[0])


def test_a_group_without_a_name(smf: Any) -> None:
    """Nothing stands under such a name; the rest of the record is taken."""
    initiator = bytearray(smf.section(64, {20: (4, 10)}))
    initiator[16:20] = b"\xd8\x00\x07\xc1"
    groups = GroupNames()
    sampler = Sampler(groups)
    (found,) = sampler.partial_samples(parse(smf.record(115, 231, {1: [bytes(initiator)]})))
    assert str(found.object) == "MQ01/channel_initiator"
    assert groups.of("MQ01") is None
    assert "the queue-sharing group" in str(sampler.unnamed.first[0])


def test_a_section_too_short_for_its_number(smf: Any) -> None:
    """A pool whose number lies outside its section is none called "None"."""
    found, sampler = named(smf.record(115, 215, {1: [smf.section(8)]}))
    assert found == []
    assert sampler.unnamed.count == 1


def test_memory_does_not_grow(smf: Any) -> None:
    """The first are described, the others counted."""
    record = smf.record(116, 10, {1: [channel(smf, bytes(8))] * 30})
    _, sampler = named(record, record)
    assert (sampler.unnamed.count, len(sampler.unnamed.first)) == (60, MOST_UNNAMED)
    assert sampler.unnamed.lines()[-1] == "  and 40 more"


@pytest.mark.parametrize("name", [b"\x61", b"\x61\x61", b"\x6c", b"\xc1\x61", *BAD])
def test_commands_after_an_import(smf: Any, name: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever names records hold, slashes among them, the commands that read the store work."""
    file, store = tmp_path / "names.smf", str(tmp_path / "s.db")
    whole = smf.record(115, 215, {1: [smf.pool(3)]})
    file.write_bytes(
        smf.record(116, 10, {1: [channel(smf, name), channel(smf, smf.ebcdic("A.B", 8))]})
        + smf.record(115, 216, {1: [queue(smf, name)]})
        + whole[:18]
        + name[:4].ljust(4, b"\x40")
        + whole[22:]
    )
    assert main(["smf", "import", str(file), "--store", store]) == 0
    for words in (["review"], ["review", "--json"], ["status"], ["status", "--json"], ["alerts", "list", "--review"]):
        capsys.readouterr()
        assert main([*words, "--store", store]) in (0, 1, 2, 3), words
        if "--json" in words:
            json.loads(capsys.readouterr().out)
    assert main(["trend", "interval_msgs", "MQ01/channel/A.B", "--store", store]) == 0

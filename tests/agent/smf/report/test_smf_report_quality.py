"""What was read and what was not: gaps, missing records, damage, records that come twice, files without any."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.errors import ExitCode, Failure

Run = Callable[..., tuple[int, str]]
Make = Callable[..., Any]


def flat(text: str) -> str:
    """Text without the ends of its lines."""
    return " ".join(text.split())


def test_the_beginning_says_what_was_read(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Files, period, system, release, local time, and one line of counts."""
    path = file(
        smf.dump_record(2),
        *(pools(number, smf.pool(low=45_000, free=46_000), local_us=3_600_000_000) for number in range(2)),
    )
    _, text = report(path)
    words = flat(text)
    assert "Period: 2026-03-01 12:00:00 to 2026-03-01 13:00:00 UTC (1 h 0 m)." in words
    assert re.search(r" 2 +1 +0$", text, re.MULTILINE)
    assert "MQ01 MV01 9.4.0 - UTC+1" in words
    assert "0 critical, 0 warning, 0 info;" in words


def test_gaps(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """An interval that is not there is named, and so is its length; the sparkline has dots there."""
    _, text = report(file(*(pools(number, smf.pool(low=45_000, free=46_000)) for number in (0, 1, 4, 5, 6))))
    words = flat(text)
    assert "115/215: nothing from 2026-03-01 13:00:00 to 2026-03-01 14:00:00 UTC (1 h 0 m)" in words
    assert "115/215 5 5 30m00s 1" in words
    assert "████····" in text.replace("█" * 5, "████")


def test_what_is_missing_and_how_to_get_it(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Records that the release can write and that are not there are named with what switches them on and the rules that wait."""
    words = flat(report(file(pools(0, smf.pool())))[1])
    missing = words.split("Missing records")[1]
    assert "No records of logs (115 subtype 1): START TRACE(STAT) CLASS(1)" in missing
    assert "LOG-02" in missing
    assert "START TRACE(ACCTG) CLASS(4), and STATCHL" in missing
    assert "page sets (115 subtype 201)" in missing
    assert "buffer pools (115" not in missing


def test_an_old_release_is_not_asked_for_what_it_cannot_write(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Page sets come with MQ 9.0, queues with 9.3."""
    words = flat(report(file(pools(0, smf.pool(), release="800")))[1])
    missing = words.split("Missing records")[1]
    assert "subtype 201" not in missing
    assert "subtype 216" not in missing
    assert "subtype 231" in missing


def test_records_that_come_twice_count_once(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Overlapping dumps change no figure, and the report says so."""
    one = pools(0, smf.pool(at52=5))
    words = flat(report(file(one, name="a"), file(one, pools(1, smf.pool(at52=6)), name="b"))[1])
    assert "Came more than once, as where dumps overlap, and counted once: 1." in words
    assert " 11 0 0 0 0 " in words


def structures(smf: Any, queue_manager: str, full: int) -> bytes:
    """A record of the structure APPL1 with the times it was full."""
    data = bytearray(smf.section(4104, {24: (4, 1), 56: (4, full)}))
    data[8:20] = smf.ebcdic("APPL1", 12)
    record: bytes = smf.record(115, 2, {6: [bytes(data)]}, number=9)
    return record.replace(smf.ebcdic("MQ01", 4), smf.ebcdic(queue_manager, 4))


def initiator(smf: Any, queue_manager: str, group: str) -> bytes:
    """A record that tells the name of a queue manager's group."""
    data = bytearray(smf.section(64, {20: (4, 10)}))
    data[16:20] = smf.ebcdic(group, 4)
    record: bytes = smf.record(115, 231, {1: [bytes(data)]})
    return record.replace(smf.ebcdic("MQ01", 4), smf.ebcdic(queue_manager, 4))


def test_what_was_left_out_is_named_by_reason(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Other types, subtypes that are not decoded, repeated and damaged records, and what belongs to a group without a name."""
    one = pools(0, smf.pool())
    damaged = one[:32] + b"\xff\xff" + one[34:]
    path = file(
        smf.dump_record(2), one, one, damaged, smf.record(115, 240, {1: [smf.section(8)]}), structures(smf, "MQ02", 1)
    )
    words = flat(report(path)[1])
    for sentence in (
        "Not MQ's: type 2 1.",
        "For IBM's use, or newer than this program: 115/240 1.",
        "counted once: 1.",
        "Damaged: 1, listed below.",
        "the name of the queue-sharing group is unknown: MQ02 1. Give the 115-231 records",
    ):
        assert sentence in words
    assert "What was left out" not in flat(report(file(one, name="clean"))[1])


def test_two_groups_in_one_file(report: Run, file: Make, smf: Any) -> None:
    """A structure of the same name in each: they are two, whose names come after them."""
    _, text = report(
        file(
            *(structures(smf, name, full) for name, full in (("MQ01", 3), ("MQ02", 4), ("MQ11", 50))),
            *(initiator(smf, name, group) for name, group in (("MQ01", "QSGA"), ("MQ02", "QSGA"), ("MQ11", "QSGB"))),
        )
    )
    first, second = text.split("Queue-sharing group QSGA")[1], text.split("Queue-sharing group QSGB")[1]
    assert "APPL1" in first
    assert "APPL1" in second
    words = {
        name: flat(part.split("Queue manager")[0].split("Queue-sharing group")[0])
        for name, part in (("A", first), ("B", second))
    }
    assert " 7 " in words["A"]
    assert " 50 " in words["B"]


def test_order_of_files_changes_nothing(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Records are judged in the order of time, in whatever order they were read."""
    records = [pools(number, smf.pool(low=low)) for number, low in enumerate((600, 45_000, 9_000))]
    one = report(file(*records))
    assert report(file(*reversed(records))) == one


def test_damage_is_told(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """A record that cannot be read is named with its offset, and the exit code is 1 although nothing else is wrong."""
    good = pools(0, smf.pool(low=45_000, free=46_000))
    bad = bytearray(good)
    bad[28:32] = (60_000).to_bytes(4, "big")
    code, text = report(file(good, bytes(bad)))
    words = flat(text)
    assert code == 1
    assert "1 damaged record, lost to this report." in words
    assert f"offset {len(good)}: " in words


def test_nothing_of_mq(report: Run, file: Make, smf: Any) -> None:
    """A file with other records only, and an empty one: a sentence and exit code 2."""
    for data in ((smf.dump_record(2), smf.dump_record(3)), ()):
        with pytest.raises(Failure) as failure:
            report(file(*data))
        assert failure.value.code is None
        assert "no record of MQ" in failure.value.message
        assert "binary" in failure.value.hint


def test_a_file_that_is_not_there(
    report: Run,
    file: Make,
    pools: Make,
    smf: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its name and why; alone there is no report, beside another one the report says what it lacks."""
    monkeypatch.chdir(tmp_path)
    missing = "none.smf"
    with pytest.raises(Failure):
        report(missing)
    assert "none.smf: No such file" in capsys.readouterr().err
    code, text = report(missing, file(pools(0, smf.pool(low=45_000, free=46_000))))
    assert code == ExitCode.FAILED
    assert "none.smf: No such file or directory" in flat(text)
    assert "Buffer pools" in text


def test_the_temporary_files(
    report: Run, file: Make, pools: Make, smf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in TMPDIR and are deleted in the end; when they cannot be written a sentence says what to do."""
    path = file(*(pools(number, smf.pool()) for number in range(40)))
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    report(path)
    assert not list(folder.iterdir())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(Failure) as failure:
            report(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert failure.value.message.startswith("the temporary files cannot be written: ")
    assert "TMPDIR" in failure.value.hint
    assert not list(folder.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(Failure, match=r"the temporary files cannot be written: .*none"):
        report(path)


def test_storage_records_alone_judge_nothing(report: Run, file: Make, smf: Any) -> None:
    """Accounting without a section of ours: nothing is called good."""
    code, text = report(file(smf.record(116, 0, {2: [smf.section(48)]})))
    words = flat(text)
    assert code == 0
    assert "Nothing could be evaluated" in words
    assert "UNKNOWN" in words
    assert " OK MQ01" not in words

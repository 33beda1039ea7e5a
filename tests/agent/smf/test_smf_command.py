"""``mqvitals smf dump`` from the command line."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.section import sections

HOUR_US = 3_600_000_000


@pytest.fixture
def day(smf: Any, tmp_path: Path) -> Path:
    """A file with pools of an hour, one of storage, and one of the hour after, by a system an hour ahead of UTC."""
    path = tmp_path / "day.smf"
    hours = [
        smf.record(
            115, 215, {1: [smf.pool(3)]}, start_us=smf.NOON_US + hour * HOUR_US, length_us=HOUR_US, local_us=HOUR_US
        )
        for hour in range(2)
    ]
    calls = smf.record(115, 2, {1: [smf.section(72)]}, start_us=smf.NOON_US, length_us=HOUR_US, local_us=HOUR_US)
    # Its header says 12:00 local, which is 11:00.
    storage = smf.record(115, 7, {1: [smf.section(232)]}, t0=smf.STORAGE_STANDARD)
    path.write_bytes(smf.dump_record(2) + hours[0] + calls + storage + hours[1] + smf.dump_record(3))
    return path


def dumped(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_lines_and_summary(day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines alone on standard output, in the order of the file; the counts on standard error."""
    assert main(["smf", "dump", str(day)]) == 0
    told = capsys.readouterr()
    found = [json.loads(line) for line in told.out.splitlines()]
    assert [each["section"] for each in found] == ["QPST", "QMST", "QSRS", "QPST"]
    assert "4 records of MQ, 4 sections" in told.err
    assert "not MQ's, passed over: type 2 1, type 3 1" in told.err
    assert "damaged: 0" in told.err


@pytest.mark.parametrize(
    ("options", "sections"),
    [
        (["--section", "QPST"], ["QPST", "QPST"]),
        (["--section", "qmst", "--section", "QSRS"], ["QMST", "QSRS"]),
        (["--queue-manager", "mq01"], ["QPST", "QMST", "QSRS", "QPST"]),
        (["--queue-manager", "MQ02"], []),
        (["--queue-manager", "MQ02", "--queue-manager", "MQ01", "--section", "QMST"], ["QMST"]),
        (["--from", "2026-03-01T13:00:00Z"], ["QPST", "QMST", "QPST"]),
        (["--from", "2026-03-01T14:30:00+01:00"], ["QPST"]),
        (["--to", "2026-03-01T13:00:00Z"], ["QPST", "QMST", "QSRS"]),
        (["--from", "2026-03-01T10:59:59Z", "--to", "2026-03-01T11:00:01Z"], ["QSRS"]),
        (["--from", "2026-03-01 13:00"], ["QPST", "QMST", "QPST"]),
        (["--from", "2026-03-01 14:30", "--tz", "+01:00"], ["QPST"]),
        (["--from", "2026-03-02"], []),
        (["--to", "yesterday"], ["QPST", "QMST", "QSRS", "QPST"]),
        (["--summary"], []),
    ],
)
def test_filters(day: Path, capsys: pytest.CaptureFixture[str], options: list[str], sections: list[str]) -> None:
    """By section, queue manager and the time at which the interval ended, in UTC also for records that tell local time alone."""
    assert main(["smf", "dump", str(day), *options]) == 0
    assert [each["section"] for each in dumped(capsys)] == sections


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--queue-manager", "MQ01"], "selected: 4 records of MQ, 4 sections"),
        (["--queue-manager", "MQ02"], "selected: 0 records of MQ, 0 sections"),
        (["--section", "QPST"], "selected: 2 records of MQ, 2 sections"),
        (["--to", "2026-03-01T13:00:00Z", "--section", "QPST"], "selected: 1 record of MQ, 1 section"),
    ],
)
def test_summary_of_what_is_selected(
    day: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    """The file's records are counted, and those of them that were asked for; without a choice there is no such line."""
    assert main(["smf", "dump", str(day), "--summary", *options]) == 0
    found = capsys.readouterr()
    assert found.out == ""
    assert "4 records of MQ, 4 sections" in found.err
    assert found.err.splitlines()[-1] == told
    assert main(["smf", "dump", str(day), "--summary"]) == 0
    assert "selected" not in capsys.readouterr().err


def test_a_moment_that_a_line_tells(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The end of a line as --from and --to gives that line: both are included, to the microsecond."""
    path = tmp_path / "one.smf"
    path.write_bytes(smf.record(115, 215, {1: [smf.pool(3)]}, length_us=1_799_999_911))
    assert main(["smf", "dump", str(path)]) == 0
    (line,) = dumped(capsys)
    assert line["end"].endswith(".999911Z")
    assert main(["smf", "dump", str(path), "--from", line["end"], "--to", line["end"]]) == 0
    assert dumped(capsys) == [line]


def test_csv_prints_nothing(day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are there, complete, and standard output is empty; two inputs end up in the same files."""
    folder = tmp_path / "out"
    assert main(["smf", "dump", str(day), str(day), "--csv", str(folder), "--section", "QPST"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("4 records of MQ") == 2
    assert [path.name for path in folder.iterdir()] == ["SMF-QPST.csv"]
    assert len((folder / "SMF-QPST.csv").read_text("utf-8").splitlines()) == 5


def test_damage(day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1, the rest of the file is there, and each lost record is told with its offset and reason."""
    data = bytearray(day.read_bytes())
    data[18 + 28 + 8 : 18 + 28 + 12] = (60_000).to_bytes(4, "big")
    path = tmp_path / "damaged.smf"
    path.write_bytes(data)
    assert main(["smf", "dump", str(path)]) == 1
    told = capsys.readouterr()
    assert [json.loads(line)["section"] for line in told.out.splitlines()] == ["QMST", "QSRS", "QPST"]
    assert "damaged: 1\n  offset 18: section 1 would lie at 60000" in told.err


def test_files_that_cannot_be_read(day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 2 and the sentence names the file; the others are printed all the same."""
    text = tmp_path / "text.smf"
    text.write_text("no SMF at all\n", encoding="utf-8")
    files = [str(tmp_path / "missing.smf"), str(text), str(tmp_path), str(day)]
    assert main(["smf", "dump", *files]) == 2
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 4
    assert f"mqvitals: {files[0]}: No such file or directory" in told.err
    assert f"mqvitals: {text}: no SMF records are found at its beginning" in told.err
    assert f"mqvitals: {tmp_path}: Is a directory" in told.err
    assert "Traceback" not in told.err


def test_gzip_and_standard_input(day: Path, tmp_path: Path) -> None:
    """A compressed file and a pipe say the same as the file; what comes through a pipe may be compressed too."""
    packed = tmp_path / "day.smf.gz"
    packed.write_bytes(gzip.compress(day.read_bytes()))
    command = [sys.executable, "-m", "mqvitals_agent.commandline.runner", "smf", "dump"]
    plain = subprocess.run([*command, str(day)], capture_output=True, check=True).stdout
    assert plain.count(b"\n") == 4
    assert subprocess.run([*command, str(packed)], capture_output=True, check=True).stdout == plain
    for data in (day.read_bytes(), packed.read_bytes()):
        assert subprocess.run([*command, "-"], input=data, capture_output=True, check=True).stdout == plain


def test_a_reader_that_goes_away(simulated: Path, tmp_path: Path) -> None:
    """When ``head`` has what it wants, the command ends in order and says nothing."""
    file = tmp_path / "more-than-a-pipe-holds.smf"
    file.write_bytes(simulated.read_bytes() * 4)
    command = [sys.executable, "-m", "mqvitals_agent.commandline.runner", "smf", "dump", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"section":"QSST"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--section", "QPTS"], "--section QPTS: there is no such section\nhint: did you mean "),
        (["--from", "noon"], "--from 'noon' is not a time"),
        (["--to", "2026-03-01T25:00:00"], "--to '2026-03-01T25:00:00' is not a time"),
        (
            ["--from", "2026-03-02T12:00:00Z", "--to", "2026-03-01T12:00:00Z"],
            "--from 2026-03-02T12:00:00Z is after --to 2026-03-01T12:00:00Z",
        ),
        (["--summary", "--csv", "x"], "--summary writes nothing, and --csv says where to write"),
    ],
)
def test_wrong_arguments(day: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    """They are told with what is wrong and what would be right, and nothing is printed."""
    assert main(["smf", "dump", str(day), *options]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""


def test_a_folder_that_cannot_be_made(day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence names the folder; a file in its place is told as such."""
    assert main(["smf", "dump", str(day), "--csv", str(day)]) == 2
    assert f"--csv {day} is a file, not a folder" in capsys.readouterr().err
    assert main(["smf", "dump", str(day), "--csv", str(day / "below")]) == 2
    assert f"--csv {day / 'below'} cannot be made: Not a directory" in capsys.readouterr().err


def test_a_file_of_csv_that_cannot_be_written(day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence names the file, and says that what is there is not complete."""
    (tmp_path / "out" / "SMF-QMST.csv").mkdir(parents=True)
    assert main(["smf", "dump", str(day), "--csv", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert "SMF-QMST.csv: Is a directory" in told
    assert "hint: the files there are not complete" in told


def test_a_full_disk(day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What waits to be written fails in the end, and that is told once, with the folder."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "SMF-QPST.csv").symlink_to("/dev/full")
    assert main(["smf", "dump", str(day), "--csv", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"mqvitals: --csv {tmp_path / 'out'}: ")
    assert told.count("No space left on device") == 1


def test_names_in_messages_are_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name may hold what a terminal would obey."""
    assert main(["smf", "dump", str(tmp_path / "\x1b[2Jx")]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_standard_input(
    every_section: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All sections of a file, read through standard input."""
    data = every_section.read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
    assert main(["smf", "dump", "-"]) == 0
    tally = ReadCounts()
    with open_smf(every_section) as stream:
        for record in records(stream, tally):
            for _ in sections(record):
                pass
    assert Counter(each["section"] for each in dumped(capsys)) == tally.sections

"""Files that are made to cost much: each limit says itself in a sentence, and what stands before the place is used."""

from __future__ import annotations

import gzip
import io
import json
import resource
import time
import zlib
from itertools import islice
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.connection.lines import read_lines
from mqvitals_agent.connection.recording import MOST_LEFT_OUT, RecordingWriter, open_recording
from mqvitals_agent.connection.recording_format import MOST_QUEUE_MANAGERS, RecordingError, RecordingHeader
from mqvitals_agent.expansion import Expansion, ExpansionError
from mqvitals_agent.smf.reader import open_smf
from mqvitals_agent.smf.record import SmfError

HEADER = '{"format":"mqvitals-recording","version":1}\n'
FAILED = '{"at":"2026-11-20T12:00:00Z","elapsed_ms":5,"queue_manager":"%s","error":{"comp":2,"reason":2059}}\n'
BOMB = "[" + "[]," * 6_000_000
"""17 MiB, 17 KB of gzip."""


def split_lines(data: bytes, **limits: object) -> tuple[list[bytes], list[str]]:
    warnings: list[str] = []
    found = [line for line, _ in read_lines(io.BytesIO(data), warnings.append, **limits)]  # type: ignore[arg-type]
    return found, warnings


def test_a_line_has_a_longest_length() -> None:
    """Longer than a block that is read at once, the lines before it are given."""
    assert split_lines(b"a\nb\n" + b"c" * 200_000, longest=100_000) == (
        [b"a", b"b"],
        ["a line is longer than 100000 bytes"],
    )
    assert split_lines(b"a\n" + b"c" * 90_000, longest=100_000) == ([b"a", b"c" * 90_000], [])


def test_gzip_members_are_counted() -> None:
    """Empty ones too: each costs the time of a new decompressor."""
    data = gzip.compress(b"a\n") + gzip.compress(b"") * 20
    assert split_lines(data, members=21) == ([b"a"], [])
    assert split_lines(data, members=20) == ([b"a"], ["the file has more than 20 gzip members"])


def test_compressed_data_may_grow_so_much() -> None:
    """Not at all limited as long as it is little; then by the ratio; and at last whatever the ratio is."""
    packed = gzip.compress(b"\n" * 1_000_000)
    assert len(split_lines(packed)[0]) == 1_000_000
    found, warnings = split_lines(packed, expansion=Expansion(ratio=100, free=200_000))
    assert 100_000 < len(found) < 300_000
    assert warnings == ["the compressed data grow to more than 100 times their size"]
    expansion = Expansion(most=1 << 31)
    expansion.read(1 << 31)
    expansion.gave(1 << 31)
    with pytest.raises(ExpansionError, match="hold more than 2 GiB"):
        expansion.gave(1)


@pytest.mark.parametrize("place", ["header", "exchange"])
@pytest.mark.parametrize("command", ["replay", "pcf decode", "redact"])
def test_a_bomb_costs_little(tmp_path: Path, place: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nested lists that unpack to a thousand times their size: no traceback, a sentence, little memory."""
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(((HEADER if place == "exchange" else "") + BOMB).encode(), 9))
    words = {
        "replay": ["replay", str(bomb), "--store", str(tmp_path / "s.db"), "--speed", "max"],
        "pcf decode": ["pcf", "decode", str(bomb)],
        "redact": ["redact", str(bomb), str(tmp_path / "new.jsonl")],
    }[command]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    code = main(words)
    assert code == (2 if place == "header" else 1)
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000, "KB"
    told = "".join(capsys.readouterr())
    assert "grow to more than 300 times their size" in told or "its first line should be a header" in told


def test_nothing_but_line_ends(tmp_path: Path) -> None:
    """They are passed over, but not for ever."""
    (tmp_path / "r").write_text(HEADER + "\n" * 200_000 + FAILED % "QM01")
    with open_recording(tmp_path / "r") as recording:
        assert list(recording) == []
    assert recording.warnings == [
        "more than 100,000 lines are blank: the lines before that place were used, the rest is lost"
    ]
    assert recording.damaged


def test_nothing_but_rubbish(tmp_path: Path) -> None:
    """What stands before and between is used."""
    (tmp_path / "r").write_text(HEADER + FAILED % "QM01" + "x\n" * (MOST_LEFT_OUT + 5))
    with open_recording(tmp_path / "r") as recording:
        assert len(list(recording)) == 1
    assert recording.left_out == MOST_LEFT_OUT
    assert recording.warnings[-1].startswith("10,000 lines cannot be used: the lines before that place were used")


def test_queue_managers_are_counted(tmp_path: Path) -> None:
    """In the header, and in the lines: what comes from others is left out."""
    names = [f"Q{number}" for number in range(MOST_QUEUE_MANAGERS + 1)]
    header = json.loads(HEADER) | {"queue_managers": names}
    (tmp_path / "r").write_text(json.dumps(header) + "\n")
    with pytest.raises(RecordingError, match="queue_managers has 1,001 names; a recording has at most 1,000"):
        open_recording(tmp_path / "r")
    (tmp_path / "r").write_text(HEADER + "".join(FAILED % name for name in names) + FAILED % "Q0")
    with open_recording(tmp_path / "r") as recording:
        assert [each.queue_manager for each in recording] == [*names[:-1], "Q0"]
    assert "queue_manager is a new name after 1,000 others" in recording.warnings[0]


def test_a_long_line_holds_not_too_many_values(tmp_path: Path) -> None:
    """A list takes twenty times the memory of its two characters."""
    (tmp_path / "r").write_text(HEADER + '{"a":[' + "[]," * 500_000 + "1]}\n" + FAILED % "QM01")
    with open_recording(tmp_path / "r") as recording:
        assert len(list(recording)) == 1
    assert recording.warnings == [
        "line 2 is left out: it holds more than 400,000 objects and lists, or 2,000,000 values"
    ]


def test_a_header_is_short(tmp_path: Path) -> None:
    (tmp_path / "r").write_text(HEADER[:-2] + ',"comment":"' + "a" * (1 << 20) + '"}\n')
    with pytest.raises(RecordingError, match="its first line should be a header, but it is longer than 1 MiB"):
        open_recording(tmp_path / "r")


def test_what_could_not_be_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorder knows the longest line."""
    monkeypatch.setattr("mqvitals_agent.connection.recording.LONGEST_LINE", 1000)
    with (
        RecordingWriter(tmp_path / "r", RecordingHeader()) as writer,
        pytest.raises(RecordingError, match="an exchange of 0 MiB cannot be recorded"),
    ):
        writer.write(Exchange(0, 0, 0, "QM01", 42, bytes(1000), ()))


def test_devices_are_no_recordings() -> None:
    with pytest.raises(RecordingError, match="/dev/zero is a device, not a recording"):
        open_recording("/dev/zero")


def test_smf_data_grow_no_further_than_recordings(tmp_path: Path) -> None:
    """The same limit, told as damage: records before the place are used."""
    packer = zlib.compressobj(9, wbits=31)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(18)) + packer.flush()
    (tmp_path / "smf.gz").write_bytes(data)
    with open_smf(tmp_path / "smf.gz") as stream:
        pieces = iter(lambda: len(stream.read(1 << 16)), 0)
        assert sum(islice(pieces, 255)) >= 15 << 20
        with pytest.raises(SmfError, match="grow to more than 300 times"):
            sum(islice(pieces, 20))


def test_hex_lines_and_raw_messages_are_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mqvitals_agent.cli.recordings.pcf.MOST_PASSED_OVER", 5)
    monkeypatch.setattr("mqvitals_agent.cli.recordings.pcf.MOST_RAW", 1 << 20)
    (tmp_path / "lines").write_text("a b c\n" * 20)
    assert main(["pcf", "decode", str(tmp_path / "lines")]) == 1
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 6
    assert json.loads(told[-1]) == {"error": "5 lines hold no message: the rest is not read"}
    (tmp_path / "raw").write_bytes(bytes((1 << 20) + 1))
    assert main(["pcf", "decode", str(tmp_path / "raw")]) == 2
    assert "raw is larger than 1 MiB of raw messages" in capsys.readouterr().err

"""Recordings: what can be read is read, what cannot is said."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.connection.recording import RecordingWriter, open_recording
from mqvitals_agent.connection.recording_format import RecordingError, RecordingHeader
from mqvitals_rules.snapshot import is_owner_name

HEADER = (
    '{"format":"mqvitals-recording","version":1,"name":"PRDQSG","queue_managers":["QM01","QM02"],"interval_s":10}\n'
)
AT = "2026-11-20T12:00:00.007Z"
AT_MS = 1795176000007
ANSWER = (
    f'{{"at":"{AT}","elapsed_ms":5,"queue_manager":"QM01","command":42,"request":"0000001A",'
    '"replies":[{"encoding":785,"ccsid":500,"data":"00ff","put":"2026-11-20T12:00:00.01Z"}]}\n'
)
FAILED = f'{{"at":"{AT}","elapsed_ms":1,"queue_manager":"QM03","error":{{"comp":2,"reason":2059}}}}\n'


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_header_and_exchanges_are_read(tmp_path: Path) -> None:
    """Every key of the format arrives, with times in ms and bytes from hex of either case."""
    recording = open_recording(written(tmp_path / "r.jsonl", HEADER + ANSWER + FAILED))
    assert recording.header == RecordingHeader(1, None, "", "PRDQSG", ("QM01", "QM02"), 10.0, "")
    answer, failed = recording
    reply = Reply(785, 500, b"\x00\xff", AT_MS + 3)
    assert answer == Exchange(2, AT_MS, 5, "QM01", 42, b"\x00\x00\x00\x1a", (reply,), None)
    assert failed == Exchange(3, AT_MS, 1, "QM03", None, None, (), MqiFailure(2, 2059))
    assert recording.warnings == []
    assert not recording.damaged


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    """A later version may add keys anywhere."""
    line = json.loads(ANSWER)
    line["colour"] = {"deep": [1]}
    line["replies"][0]["weight"] = 7
    text = HEADER.replace('"version"', '"shape":"round","version"') + json.dumps(line) + "\n"
    recording = open_recording(written(tmp_path / "r.jsonl", text))
    assert len(list(recording)) == 1
    assert recording.warnings == []


@pytest.mark.parametrize("gz", [False, True])
def test_cut_last_line_is_reported_and_the_rest_used(tmp_path: Path, gz: bool) -> None:
    """After a crash of the recorder the last line may be cut: that is no damage."""
    text = (HEADER + ANSWER + FAILED[:30]).encode()
    recording = open_recording(
        written(tmp_path / ("r.jsonl.gz" if gz else "r.jsonl"), gzip.compress(text, mtime=0) if gz else text)
    )
    assert len(list(recording)) == 1
    assert len(recording.warnings) == 1
    assert "line 3, the last, is cut" in recording.warnings[0]
    assert not recording.damaged


def test_whole_last_line_without_an_end_is_used(tmp_path: Path) -> None:
    """An editor may have taken the last line end away; the line is whole."""
    recording = open_recording(written(tmp_path / "r.jsonl", (HEADER + ANSWER).rstrip("\n")))
    assert len(list(recording)) == 1
    assert recording.warnings == []


def test_several_gzip_members_read_as_one(tmp_path: Path) -> None:
    """A recorder may append: members follow one another, lines even span them, tools pad with zeros."""
    half = len(ANSWER) // 2
    data = (
        gzip.compress((HEADER + ANSWER[:half]).encode(), mtime=0)
        + gzip.compress(ANSWER[half:].encode(), mtime=0)
        + bytes(512)
    )
    recording = open_recording(written(tmp_path / "r.jsonl.gz", data + gzip.compress(FAILED.encode(), mtime=0)))
    assert [exchange.queue_manager for exchange in recording] == ["QM01", "QM03"]
    assert recording.warnings == []


def test_damaged_gzip_keeps_what_was_read(tmp_path: Path) -> None:
    """A flipped byte in the middle ends the reading with a sentence; what stood before it is used."""
    lines = [ANSWER.replace("00ff", f"{number:08x}") for number in range(4000)]
    data = bytearray(gzip.compress((HEADER + "".join(lines)).encode(), mtime=0))
    data[len(data) * 3 // 4] ^= 0xFF
    recording = open_recording(written(tmp_path / "r.jsonl.gz", bytes(data)))
    found = [int.from_bytes(exchange.replies[0].data, "big") for exchange in recording]
    assert 1000 < len(found) < 4000
    assert found[:1000] == list(range(1000))
    assert recording.damaged
    # Damage may unpack to rubbish for a while; the check at the end of the data tells at the latest.
    assert any("the compressed data are damaged" in warning for warning in recording.warnings)


def test_cut_gzip_keeps_what_was_read(tmp_path: Path) -> None:
    """A gzip file without its end gives everything that can be unpacked."""
    lines = [ANSWER.replace("00ff", f"{number:08x}") for number in range(2000)]
    data = gzip.compress((HEADER + "".join(lines)).encode(), mtime=0)
    recording = open_recording(written(tmp_path / "r.jsonl.gz", data[: len(data) // 2]))
    assert 500 < len(list(recording)) < 2000
    assert "the compressed data are cut off" in recording.warnings[0]


def changed(path: str, value: object) -> str:
    """An answer's line whose key has another value; the key may be one of its first reply or of an error."""
    line = json.loads(ANSWER if not path.startswith("error.") else FAILED)
    *outer, key = path.split(".")
    place = line
    for part in outer:
        place = place[part] if part != "replies" else place[part][0]
    if value is LEFT_OUT:
        del place[key]
    else:
        place[key] = value
    return json.dumps(line) + "\n"


LEFT_OUT = object()
WHOLE = "a whole number from"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{not json}\n", "it is not JSON from column 2 on"),
        ('{"at": 1' + "0" * 5000 + "}\n", "a number of too many digits"),
        ("[1]\n", "it is not a JSON object but a list"),
        ("[" * 100_000 + "\n", "nested too deep"),
        (
            changed("at", "yesterday"),
            'at should be a moment from 1970 to 9999 such as 2026-11-20T12:00:00.007Z, not "y',
        ),
        (changed("at", "2026-11-20T12:00:00"), "at should be a moment"),
        (changed("at", "2026-02-30T12:00:00Z"), "at should be a moment"),
        (changed("at", "2026-02-03T12:00:00+99:00"), "at should be a moment"),
        (changed("at", "1969-12-31T23:59:59.999Z"), "at should be a moment"),
        (changed("at", "9999-12-31T23:59:59-01:00"), "at should be a moment"),
        (changed("at", "0001-01-01T00:00:00+01:00"), "at should be a moment"),
        (changed("at", "\ud8002026"), 'not "\\ud8002026"'),
        (changed("at", 5), "at should be a moment"),
        (changed("elapsed_ms", "5"), f'elapsed_ms should be {WHOLE} 0 to 2,147,483,647, not "5"'),
        (changed("elapsed_ms", 2**63), "elapsed_ms should be"),
        (changed("elapsed_ms", -1), "elapsed_ms should be"),
        (changed("elapsed_ms", True), "not true"),
        (changed("elapsed_ms", float("nan")), "not NaN"),
        (changed("elapsed_ms", None), "not null"),
        (changed("elapsed_ms", LEFT_OUT), f"elapsed_ms is missing; it should be {WHOLE}"),
        (changed("elapsed_ms", 10**4000), "not 1000000"),
        (changed("queue_manager", LEFT_OUT), "queue_manager is missing; it should be a name"),
        (changed("queue_manager", "\ud800"), "queue_manager should be a name of 1 to 48 characters"),
        (changed("queue_manager", "QM\0"), "queue_manager should be a name"),
        (changed("queue_manager", "A/B"), "queue_manager should be a name"),
        (changed("queue_manager", "Q" * 49), "queue_manager should be a name"),
        (changed("queue_manager", ["QM01"]), "not a list"),
        (changed("command", LEFT_OUT), "it has a request and no command"),
        (changed("command", 2**31), f"command should be {WHOLE}"),
        (changed("request", "0g"), 'request should be hex, two digits a byte and nothing between them, not "0g"'),
        (changed("request", "00 1a"), "request should be hex"),
        (changed("request", "001"), "request should be hex"),
        (changed("request", 1), "request should be hex"),
        (changed("replies", LEFT_OUT), "it has a command, and neither replies nor an error"),
        (changed("replies", [1]), "replies[0] should be an object, not 1"),
        (changed("replies", [None]), "replies[0] should be an object, not null"),
        (changed("replies", "x"), 'replies should be a list of messages, not "x"'),
        (changed("replies", {}), "replies should be a list of messages, not an object"),
        (changed("replies.data", LEFT_OUT), "replies[0].data is missing; it should be hex"),
        (changed("replies.data", "é"), "replies[0].data should be hex"),
        (changed("replies.ccsid", 2**31), f"replies[0].ccsid should be {WHOLE} -2,147,483,648"),
        (changed("replies.encoding", 1.0), "replies[0].encoding should be"),
        (changed("replies.put", "24:00"), "replies[0].put should be a moment"),
        (changed("error", [2, 2009]), "error should be an object with comp and reason, not a list"),
        (changed("error", {"comp": 2}), "error.reason is missing"),
        (changed("error.reason", 2**63), f"error.reason should be {WHOLE} 1 to"),
        (changed("error.reason", 0), "error.reason should be"),
        (changed("error.comp", 3), f"error.comp should be {WHOLE} 0 to 2"),
        (FAILED.replace('"error"', '"mistake"'), "neither a command nor an error"),
    ],
)
def test_damaged_line_is_named_and_left_out(tmp_path: Path, line: str, words: str) -> None:
    """One bad line costs that line alone, and its number and fault are told."""
    recording = open_recording(written(tmp_path / "r.jsonl", HEADER + line + FAILED))
    assert [exchange.line for exchange in recording] == [3]
    assert recording.damaged
    assert recording.left_out == 1
    assert recording.warnings[0].startswith("line 2 ")
    assert words in recording.warnings[0]
    assert len(recording.warnings[0]) < 250
    recording.warnings[0].encode()


def test_last_line_that_is_whole_and_wrong_is_no_cut_one(tmp_path: Path) -> None:
    """Without a line end, too, a wrong value is called that: the recorder was not interrupted."""
    recording = open_recording(written(tmp_path / "r.jsonl", HEADER + changed("elapsed_ms", "5").rstrip()))
    assert list(recording) == []
    assert recording.damaged
    assert "elapsed_ms" in recording.warnings[0]


def test_optional_keys_may_be_null(tmp_path: Path) -> None:
    """What may be left out may be null."""
    line = changed("replies.put", None) + changed("error", None)
    text = HEADER.replace('"interval_s":10', '"interval_s":null,"created":null,"source":null,"comment":null') + line
    recording = open_recording(written(tmp_path / "r.jsonl", text))
    assert recording.header.interval_s is None
    assert len(list(recording)) == 2


def test_undecodable_line_is_left_out(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 spoil one line only."""
    recording = open_recording(
        written(tmp_path / "r.jsonl", HEADER.encode() + b'{"at":"\xff\xfe"}\n' + FAILED.encode())
    )
    assert len(list(recording)) == 1
    assert "not UTF-8" in recording.warnings[0]


def test_warnings_are_bounded(tmp_path: Path) -> None:
    """A file of rubbish lines must not fill the memory with complaints."""
    recording = open_recording(written(tmp_path / "r.jsonl", HEADER + "x\n" * 5000))
    assert list(recording) == []
    assert recording.left_out == 5000
    assert len(recording.warnings) < 100


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b\x08nonsense", "damaged"),
        (b"hello\n", "not a recording"),
        (b'{"format":"other","version":1}\n', "not a recording"),
        (b"\x00\x00\x00\x10\x00\x00\x00\x24", "not a recording"),
        (HEADER.replace('"version":1', '"version":7').encode(), "version 7"),
        (HEADER.replace('"version":1', '"version":"1"').encode(), "version should be a number"),
        (HEADER.replace('"version":1', '"version":0').encode(), "version should be a number, not 0"),
        (HEADER.replace('"version":1,', "").encode(), "version is missing"),
        (HEADER.replace('"interval_s":10', '"interval_s":0').encode(), "interval_s should be a number of seconds"),
        (HEADER.replace('"interval_s":10', '"interval_s":NaN').encode(), "interval_s should .*, not NaN"),
        (HEADER.replace('["QM01","QM02"]', '"QM01"').encode(), "queue_managers should be a list"),
        (HEADER.replace('"QM02"', r'"\ud800"').encode(), r"queue_managers\[1\] should be a name"),
        (HEADER.replace('"PRDQSG"', r'"\ud800"').encode(), r'line 1.*name should be a name .*, not "\\ud800"'),
        (HEADER.replace('"PRDQSG"', r'"A/B"').encode(), "name should be a name"),
        (HEADER.replace('"PRDQSG"', "0").encode(), "name should be a text"),
        (HEADER.replace('"name"', r'"comment":"\ud800","name"').encode(), "comment should be a text"),
        (HEADER.replace('"name"', '"created":"now","name"').encode(), "created should be a moment"),
        (HEADER[:40].encode(), "cannot be used: it is cut off within its first line$"),
        (
            gzip.compress(b"x", mtime=0)[:5],
            "cannot be used: the compressed data are cut off, and no line stands before that",
        ),
        (
            gzip.compress(HEADER.encode(), mtime=0)[:60],
            "cannot be used: the compressed data are cut off within its first line$",
        ),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    """Refusing says in a sentence which file, and why."""
    path = written(tmp_path / "r.jsonl", data)
    with pytest.raises(RecordingError, match=words) as caught:
        open_recording(path)
    assert str(path) in str(caught.value)


def test_missing_file_and_directory_are_named(tmp_path: Path) -> None:
    """A wrong path is told as such."""
    with pytest.raises(RecordingError, match="there is no file"):
        open_recording(tmp_path / "none.jsonl")
    with pytest.raises(RecordingError, match="is a directory"):
        open_recording(tmp_path)


# Few characters cannot stand in a name; without them hardly any text is refused.
_IN_NAMES = st.characters(exclude_categories=("C", "Z"), exclude_characters="/") | st.just(" ")
names = st.text(_IN_NAMES, min_size=1, max_size=20).filter(is_owner_name)
exchanges = st.builds(
    Exchange,
    line=st.just(0),
    at=st.integers(0, 4_000_000_000_000),
    elapsed_ms=st.integers(0, 10**7),
    queue_manager=names,
    command=st.integers(1, 300),
    request=st.binary(max_size=80),
    replies=st.lists(
        st.builds(
            Reply,
            encoding=st.integers(0, 2**31 - 1),
            ccsid=st.integers(-2, 65535),
            data=st.binary(max_size=80),
            put=st.none() | st.integers(0, 400_000_000_000).map(lambda hundredths: hundredths * 10),
        ),
        max_size=3,
    ).map(tuple),
    error=st.none() | st.builds(MqiFailure, st.integers(0, 2), st.integers(1, 2**31 - 1)),
)


@given(found=st.lists(exchanges, max_size=5), name=names, gz=st.booleans(), parts=st.integers(1, 3))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, found: list[Exchange], name: str, gz: bool, parts: int
) -> None:
    """Writing and reading return the same exchanges, appended in several sittings or not, compressed or not."""
    path = tmp_path_factory.mktemp("w") / ("r.jsonl.gz" if gz else "r.jsonl")
    header = RecordingHeader(1, 1795176000000, "mqvitals 0.1.0", name, ("QM01",), 0.5, "text")
    RecordingWriter(path, header).close()
    for part in range(parts):
        with RecordingWriter(path, header, append=True) as writer:
            for exchange in found[part::parts]:
                writer.write(exchange)
    recording = open_recording(path)
    assert recording.header == header
    back = [
        Exchange(0, e.at, e.elapsed_ms, e.queue_manager, e.command, e.request, e.replies, e.error) for e in recording
    ]
    assert back == [exchange for part in range(parts) for exchange in found[part::parts]]
    assert recording.warnings == []


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_every_line_is_on_disk_when_written(tmp_path: Path, name: str) -> None:
    """A crash after a write loses nothing that was written: the file is readable without being closed."""
    writer = RecordingWriter(tmp_path / name, RecordingHeader(name="X"))
    writer.write(Exchange(0, AT_MS, 1, "QM01", error=MqiFailure(2, 2059)))
    assert len(list(open_recording(tmp_path / name))) == 1
    writer.close()


def test_an_existing_recording_is_not_overwritten(tmp_path: Path) -> None:
    """A recording is evidence; the writer makes a new file, for its owner alone."""
    path = tmp_path / "r.jsonl"
    RecordingWriter(path, RecordingHeader()).close()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(RecordingError, match="exists already"):
        RecordingWriter(path, RecordingHeader())
    with pytest.raises(RecordingError, match="cannot be written"):
        RecordingWriter(tmp_path / "none" / "r.jsonl", RecordingHeader())


def test_full_disk_is_a_sentence() -> None:
    """Writing to a full device says so and names the file."""
    # Only Linux has this device; a full disk has tests of its own in tests/agent/store.
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(RecordingError, match="/dev/full cannot be written: No space left"):
        RecordingWriter("/dev/full", RecordingHeader(), append=True)


@pytest.mark.parametrize("name", ["incident", "quiet"])
def test_recordings_survive_a_round_trip(recordings: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    """What is read whole and written anew gives the same lines, byte for byte."""
    source = recordings(name)
    recording = open_recording(source)
    with RecordingWriter(tmp_path / "again.jsonl", recording.header) as writer:
        for exchange in recording:
            writer.write(exchange)
    assert recording.warnings == []
    assert (tmp_path / "again.jsonl").read_bytes() == gzip.decompress(source.read_bytes())

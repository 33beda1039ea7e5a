"""``mqvitals pcf decode``: what it prints for each form of input, good and bad."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.pcf import encoder

STATUS = encoder.encode_message(
    18,
    41,
    (
        encoder.byte_string(7004, b"\xc3\xe2\xd8"),
        encoder.string(2016, "A[b]€", 48),
        encoder.integers(1226, (1, -1)),
        encoder.strings(2085, ("X", "YZ")),
        encoder.group(8002, (encoder.integer_filter(3, 4, 0), encoder.string_filter(2016, 18, "A*"))),
        encoder.byte_string_filter(7006, 2, b"\xff\x00"),
        encoder.integer(987654, 1),
    ),
    ccsid=1140,
)
SHOWN = {
    "type": 18,
    "command": 41,
    "seq": 1,
    "control": 1,
    "compCode": 0,
    "reason": 0,
    "params": [
        [7004, 9, "c3e2d8"],
        [2016, 4, "A[b]€"],
        [1226, 5, [1, -1]],
        [2085, 6, ["X", "YZ"]],
        [8002, 20, [[3, 13, 0], [2016, 14, "A*"]]],
        [7006, 15, "ff00"],
        [987654, 3, 1],
    ],
}
LITTLE = encoder.encode_message(19, 41, (), comp_code=2, reason=3008, order="<")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the printed objects, and what went to standard error."""
    code = main(["pcf", "decode", *arguments])
    captured = capsys.readouterr()
    assert captured.out.isascii(), "no control or other odd character may reach a terminal"
    return code, [json.loads(line) for line in captured.out.splitlines()], captured.err


def write(path: Path, content: str | bytes) -> str:
    """A file with that content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_lines_of_hex(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is a message; the byte order is told from the data whatever the encoding says; blank lines are none."""
    text = f"785 1140 {STATUS.hex()}\n\n  546  500   {LITTLE.hex().upper()} \r\n273 500 {LITTLE.hex()}"
    code, shown, _ = run(capsys, write(tmp_path / "m.txt", text))
    summary = {"type": 19, "command": 41, "seq": 1, "control": 1, "compCode": 2, "reason": 3008, "params": []}
    assert (code, shown) == (0, [SHOWN, summary, summary])


def test_bad_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad line is an error in its place, the rest go on, and the exit code is 1."""
    bad = ["garbage", "785 500 zz", "785 500 0", "x 500 00", "785 500 00", f"785 500 {STATUS.hex()} more", "785 500 ü"]
    text = "\n".join([*bad, f"785 500 {STATUS.hex()}", f"785 500 {STATUS[:-4].hex()}"])
    code, shown, _ = run(capsys, write(tmp_path / "m.txt", text))
    assert code == 1
    assert [list(one) for one in shown] == [["error"]] * 7 + [list(SHOWN)] + [["error"]]
    assert [one["error"] for one in shown if "error" in one] == [
        "line 1: expected ENCODING CCSID HEX, not 1 word",
        "line 2: the message is not hex, two digits a byte",
        "line 3: the message is not hex, two digits a byte",
        "line 4: expected ENCODING and CCSID as numbers before the hex",
        "line 5: at byte 0: expected a message header of 36 bytes, not the end of the data after 1",
        "line 6: expected ENCODING CCSID HEX, not 4 words",
        "line 7: the message is not hex, two digits a byte",
        f"line 9: at byte {len(STATUS) - 16}: expected a structure of type 3, not the end of the data after 12 bytes",
    ]


def test_raw_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of messages one after another; texts that name no character set are in that of --ccsid."""
    inherits = encoder.encode_message(18, 41, (encoder.string(2013, "[x]"),), ccsid=500, inherit=True)
    utf8 = encoder.encode_message(18, 41, (encoder.string(2013, "ä"),), ccsid=1208, inherit=True, order="<")
    path = write(tmp_path / "m.dat", STATUS + utf8)
    assert [one["params"] for one in run(capsys, path)[1]] == [SHOWN["params"], [[2013, 4, "ä"]]]
    path = write(tmp_path / "e.dat", inherits)
    assert [one["params"] for one in run(capsys, path, "--ccsid", "500")[1]] == [[[2013, 4, "[x]"]]]
    code, shown, _ = run(capsys, path, "--ccsid", "99999")
    assert (code, shown) == (1, [{"error": "at byte 48: expected a known character set, not CCSID 99999"}])


def test_damage_in_raw_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged message of several is an error in its place."""
    damaged = STATUS[:32] + (99).to_bytes(4, "big") + STATUS[36:]
    code, shown, _ = run(capsys, write(tmp_path / "m.dat", STATUS + damaged + LITTLE))
    assert code == 1
    assert [one.get("type", "error") for one in shown] == [18, "error", 19]


def recording(*lines: str) -> str:
    """A recording with these lines after its header."""
    return "\n".join(('{"format": "mqvitals-recording", "version": 1}', *lines)) + "\n"


def exchange(*replies: bytes) -> str:
    """A line of a recording."""
    return json.dumps(
        {
            "at": "2026-11-20T12:00:00.007Z",
            "elapsed_ms": 5,
            "queue_manager": "QM01",
            "command": 41,
            "request": "00",
            "replies": [{"encoding": 785, "ccsid": 500, "data": reply.hex()} for reply in replies],
        }
    )


@pytest.mark.parametrize("form", ["plain", "gzip", "stdin"])
def test_recordings(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replies of a recording, in order, each with its line and its place in that line."""
    content = recording(exchange(STATUS, LITTLE), exchange(), exchange(LITTLE[:-1], LITTLE)).encode()
    name = write(tmp_path / "any.name", gzip.compress(content) if form == "gzip" else content)
    if form == "stdin":
        name = "-"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    code, shown, _ = run(capsys, name)
    assert code == 1
    assert [(one["line"], one["reply"]) for one in shown] == [(2, 0), (2, 1), (4, 0), (4, 1)]
    assert shown[0] == {"line": 2, "reply": 0, **SHOWN}
    assert list(shown[2]) == ["line", "reply", "error"]


def test_damaged_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that is no exchange, and a cut one, are errors in their place."""
    content = recording(exchange(LITTLE), "not JSON", exchange(LITTLE), exchange(LITTLE)[:50]).rstrip("\n")
    code, shown, _ = run(capsys, write(tmp_path / "r.jsonl", content))
    assert code == 1
    assert [one.get("line") for one in shown] == [2, None, 4, None]
    assert "line 3" in shown[1]["error"]
    assert "line 5" in shown[3]["error"]


def test_a_newer_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A recording of a newer version is refused in a sentence."""
    path = write(tmp_path / "r.jsonl", recording().replace(": 1}", ": 7}"))
    code, shown, said = run(capsys, path)
    assert (code, shown) == (2, [])
    assert "version 7" in said
    assert path in said


def test_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --names every parameter has its name, a filter its operator, the message its command and reason."""
    refused = encoder.encode_message(17, 42, (), comp_code=2, reason=3065)
    path = write(tmp_path / "m.dat", STATUS + refused)
    _, (status, refusal), _ = run(capsys, path, "--names")
    assert status["params"] == [
        [7004, 9, "c3e2d8", "MQBACF_RESPONSE_ID"],
        [2016, 4, "A[b]€", "MQCA_Q_NAME"],
        [1226, 5, [1, -1], "MQIACF_Q_TIME_INDICATOR"],
        [2085, 6, ["X", "YZ"], "MQCA_TPIPE_NAME"],
        [
            8002,
            20,
            [
                [3, 13, 0, "MQIA_CURRENT_Q_DEPTH", "MQCFOP_GREATER"],
                [2016, 14, "A*", "MQCA_Q_NAME", "MQCFOP_LIKE"],
            ],
            "MQGACF_COMMAND_DATA",
        ],
        [7006, 15, "ff00", "MQBACF_CONNECTION_ID", "MQCFOP_EQUAL"],
        [987654, 3, 1, None],
    ]
    assert status["commandName"] == "INQUIRE_Q_STATUS"
    assert "reasonName" not in status
    assert refusal["reasonName"] == "MQRCCF_CHL_STATUS_NOT_FOUND"


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and raw messages can be piped in; nothing in is nothing out."""
    for content in (f"785 500 {STATUS.hex()}\n".encode(), STATUS):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        assert run(capsys, "-")[:2] == (0, [SHOWN])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
    assert run(capsys, "-")[:2] == (0, [])


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file or a directory is a sentence and exit code 2."""
    code, _, said = run(capsys, str(tmp_path / "none.dat"))
    assert code == 2
    assert said.startswith(f"mqvitals: there is no file {tmp_path / 'none.dat'}\n")
    code, _, said = run(capsys, str(tmp_path))
    assert code == 2
    assert "cannot be read" in said


def test_texts_that_play_tricks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences in a text are printed as JSON escapes, never as themselves."""
    data = encoder.encode_message(18, 13, (encoder.string(2013, "\x1b[31mred\x07 \x9b5m"),), ccsid=819)
    _, (shown,), _ = run(capsys, write(tmp_path / "m.dat", data))
    assert shown["params"] == [[2013, 4, "\x1b[31mred\x07 \x9b5m"]]


def test_the_help_tells_the_shape(capsys: pytest.CaptureFixture[str]) -> None:
    """The help describes the input, the output and the names."""
    with pytest.raises(SystemExit) as left:
        main(["pcf", "decode", "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert "ENCODING CCSID HEX" in text
    assert "[id,20,[...],name]" in text

"""A file that is followed: rotated, emptied, replaced, missing, garbage; nothing twice and nothing lost."""

from __future__ import annotations

import itertools
import os
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.console.follower import FileFollower, FollowStep
from mqvitals_agent.console.message import ConsoleMessage, MessageReader
from mqvitals_agent.console.tail import LONGEST, PIECE, LineSplitter

NOW = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC


def line(number: int, pool: int = 3) -> str:
    """A line that tells which it is."""
    return f"2026-11-20T11:{number // 60 % 60:02d}:{number % 60:02d}.{number % 1000:03d}Z CSQP020E QM01 CSQP1RSW Buffer pool {pool} is too small\n"


def follower(path: Path, **options: Any) -> FileFollower:
    return FileFollower(path, MessageReader({"QM01"}), zone=UTC, **options)


def drained(reader: FileFollower, looks: int = 8) -> list[FollowStep]:
    """Everything that there is now, and a few looks at nothing."""
    steps = []
    while looks:
        step = reader.step(NOW)
        steps.append(step)
        looks -= not step.more and not step.messages
    return steps


def moments(steps: list[FollowStep]) -> list[int]:
    return [message.ts for step in steps for message in step.messages]


def expected(*numbers: int) -> list[int]:
    base = NOW - 3_600_000
    return [base + number % 3600 * 1000 + number % 1000 for number in numbers]


def test_what_is_there_at_first_is_not_told(tmp_path: Path) -> None:
    """Unless from the start; what comes after is, also when the file began in the middle of a line."""
    path = tmp_path / "console"
    path.write_text(line(1) + line(2)[:20])
    at_end, from_start = follower(path), follower(path, from_start=True)
    assert moments(drained(at_end)) == []
    assert moments(drained(from_start)) == expected(1)
    with path.open("a") as file:
        file.write(line(2)[20:] + line(3))
    assert moments(drained(at_end)) == expected(2, 3)
    assert moments(drained(from_start)) == expected(2, 3)


def test_a_file_that_comes_later_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "console"
    reader = follower(path)
    assert reader.step(NOW).problem == "it is not there"
    path.write_text(line(1))
    assert moments(drained(reader)) == expected(1)


@pytest.mark.parametrize("cut", [0, 1, 30, len(line(3)) - 1])
def test_renamed_in_the_middle_of_a_line(tmp_path: Path, cut: int) -> None:
    """What is still written to the old file is read, then the new one; the cut line is one."""
    path = tmp_path / "console"
    path.write_text(line(1))
    reader = follower(path, from_start=True)
    assert moments(drained(reader)) == expected(1)
    path.rename(tmp_path / "console.1")
    with (tmp_path / "console.1").open("a") as file:
        file.write(line(2) + line(3)[:cut])
    path.write_text(line(3)[cut:] + line(4))
    assert moments(drained(reader)) == expected(2, 3, 4)


def test_a_line_that_was_never_finished_spoils_none(tmp_path: Path) -> None:
    """The next file begins with a line of its own: the half is a line for itself."""
    path = tmp_path / "console"
    path.write_text(line(1) + line(2)[:30])
    reader = follower(path, from_start=True)
    assert moments(drained(reader)) == expected(1)
    path.rename(tmp_path / "console.1")
    path.write_text(line(3))
    assert moments(drained(reader)) == expected(3)


@pytest.mark.parametrize("grown", [1, 400])
def test_emptied_in_place(tmp_path: Path, grown: int) -> None:
    """Also when it has grown beyond where it was read before anyone looked."""
    path = tmp_path / "console"
    path.write_text("".join(map(line, range(100))))
    reader = follower(path, from_start=True)
    assert moments(drained(reader)) == expected(*range(100))
    with path.open("r+") as file:
        file.truncate(0)
        file.write("".join(map(line, range(200, 200 + grown))))
    assert moments(drained(reader)) == expected(*range(200, 200 + grown))


def test_a_hole_is_passed_over(tmp_path: Path) -> None:
    """A writer that was not told of the emptying goes on where it was."""
    path = tmp_path / "console"
    path.write_text("x" * 10_000_000 + "\n" + line(1))
    reader = follower(path, from_start=True)
    assert moments(drained(reader)) == expected(1)
    os.truncate(path, 0)
    with path.open("r+") as file:
        file.seek(10_000_100)
        file.write("\n" + line(2))
    steps = drained(reader)
    assert moments(steps) == expected(2)
    assert len(steps) < 20


def test_the_same_file_copied_anew_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "console"
    path.write_text(line(1) + line(2))
    reader = follower(path, from_start=True)
    assert moments(drained(reader)) == expected(1, 2)
    copy = tmp_path / "copy"
    copy.write_text(line(1) + line(2) + line(3))
    copy.replace(path)
    assert moments(drained(reader)) == expected(3)


@pytest.mark.parametrize("rotated", [False, True])
def test_a_restart_repeats_nothing_and_loses_nothing(tmp_path: Path, rotated: bool) -> None:
    """Whatever was half read, and also when the file was renamed meanwhile."""
    path = tmp_path / "console"
    path.write_text(line(1) + line(2)[:40])
    first = follower(path, from_start=True)
    step = first.step(NOW)
    assert moments([step]) == []
    assert step.progress is not None
    first.close()
    with path.open("a") as file:
        file.write(line(2)[40:])
    if rotated:
        path.rename(tmp_path / "console.1")
        path.write_text(line(3))
    second = follower(path, progress=step.progress)
    assert moments(drained(second)) == expected(1, 2, 3) if rotated else expected(1, 2)


def test_a_restart_after_the_old_file_went_says_so(tmp_path: Path) -> None:
    path = tmp_path / "console"
    path.write_text(line(1))
    first = follower(path, from_start=True)
    progress = drained(first)[-1].progress
    first.close()
    path.unlink()
    path.write_text(line(2))
    steps = drained(follower(path, progress=progress))
    assert moments(steps) == expected(2)
    assert [step.lost for step in steps].count(True) == 1


def test_a_remembered_state_of_another_version_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "console"
    path.write_text(line(1))
    progress = drained(follower(path, from_start=True))[-1].progress
    assert progress is not None
    for state in ("", "[]", "{}", '{"rest": 1}', '{"rest": "", "cut_off": "", "open": [{}]}', "null"):
        with path.open("a") as file:
            file.write(line(2))
        again = drained(follower(path, progress=type(progress)(progress.position, state)))
        assert moments(again)[-1:] == expected(2)


@pytest.mark.parametrize("encoding", ["cp037", "cp500"])
def test_ebcdic_is_told_with_the_remedy(tmp_path: Path, encoding: str) -> None:
    """And read when it is named."""
    path = tmp_path / "console"
    text = "".join(map(line, range(20)))
    path.write_bytes(text.encode(encoding))
    assert "ibm-1047" in drained(follower(path, from_start=True))[-1].problem
    named = follower(path, from_start=True, encoding=f"ibm-{encoding[2:].lstrip('0')}")
    assert moments(drained(named)) == expected(*range(20))


def test_what_cannot_be_lines_is_told(tmp_path: Path) -> None:
    path = tmp_path / "console"
    path.write_bytes("".join(map(line, range(20))).encode("utf-16"))
    assert "UTF-16" in drained(follower(path, from_start=True))[-1].problem
    path.unlink()
    path.mkdir()
    assert follower(path).step(NOW).problem == "Is a directory"


def test_a_pipe_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "console"
    os.mkfifo(path)
    assert follower(path).step(NOW).problem == "it is a named pipe, not a regular file"


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    """A hundred million bytes of it: what is kept of it is bounded, and the next line is read."""
    splitter = LineSplitter()
    for _ in range(1_600):
        assert list(splitter.split(b"x" * PIECE)) == []
        assert len(splitter.rest) <= LONGEST
    assert [len(each) for each in splitter.split(b"\nshort\n")] == [LONGEST, 5]


TEXTS = st.lists(
    st.one_of(
        st.integers(0, 3_000).map(line),
        st.sampled_from(
            [
                "17.43.53 STC08037  +CSQX023I QM01 CSQXLSTT Listener started,   172\n",
                "   172             port 1424 address *\n",
                "M 4040000 SC47     2026323 11:43:53.12 STC08037 00000090  CSQE005I QM01 CSQECONN Structure TEST1 connected as  034\n",
                "D                                         034 00000090  CSQEQSGAZQS202, version=DE928A95A9012381 00020001\n",
                "CSQI007I QM01 BUILDING IN-STORAGE INDEX FOR QUEUE A\n",
                "\n",
                "garbage \ufffd\N{SNOWMAN}\n",
            ]
        ),
    ),
    max_size=30,
).map(lambda lines: "".join(lines).encode())


def played(pieces: list[bytes], folder: Path) -> list[tuple[str, str]]:
    path = folder / "console"
    path.write_bytes(b"")
    reader = follower(path, from_start=True)
    found: list[ConsoleMessage] = []
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        found += reader.step(NOW).messages
    found += [message for step in drained(reader, 8) for message in step.messages]
    reader.close()
    return [(message.id, message.text) for message in found]


@given(text=TEXTS, cuts=st.lists(st.integers(0, 4_000), max_size=8))
@settings(max_examples=60, deadline=None)
def test_where_pieces_end_changes_nothing(
    text: bytes, cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same messages, whatever the pieces the file grows by."""
    folder = tmp_path_factory.mktemp("pieces")
    places = sorted({0, len(text), *(cut for cut in cuts if cut <= len(text))})
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert played(pieces, folder) == played([text], folder)


@given(text=TEXTS, cut=st.integers(0, 4_000))
@settings(max_examples=60, deadline=None)
def test_a_restart_anywhere_changes_nothing(text: bytes, cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The second process goes on where the first stood."""
    folder = tmp_path_factory.mktemp("restart")
    path = folder / "console"
    path.write_bytes(text[:cut])
    first = follower(path, from_start=True)
    step = first.step(NOW)
    first.close()
    with path.open("ab") as file:
        file.write(text[cut:])
    second = follower(path, progress=step.progress)
    found = [*step.messages, *(message for each in drained(second, 8) for message in each.messages)]
    assert [(message.id, message.text) for message in found] == played([text], folder)


@given(
    pieces=st.lists(st.binary(max_size=3_000), max_size=5), encoding=st.sampled_from(["utf-8", "latin-1", "ibm-1047"])
)
@settings(max_examples=100, deadline=None)
def test_no_bytes_raise(pieces: list[bytes], encoding: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bytes") / "console"
    path.write_bytes(b"")
    reader = follower(path, from_start=True, encoding=encoding)
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        for message in reader.step(NOW).messages:
            message.text.encode()
    reader.close()

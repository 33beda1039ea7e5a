"""``mqvitals replay`` on recordings whose lines are wrong, one key at a time, or not in order."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.connection.connection import Exchange, MqiFailure
from mqvitals_agent.connection.recording import RecordingWriter
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import iso

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

BEGAN = 1795176000000
STATUS = mq.MQCMD_INQUIRE_Q_STATUS
Lines = list[dict[str, Any]]


@pytest.fixture
def lines(talk: Talk, tmp_path: Path) -> Lines:
    """Five cycles of one queue, of 10 s each; in the last the wait for the answer ends with an error."""
    path = tmp_path / "sound.jsonl"
    with RecordingWriter(path, RecordingHeader(name="PRDQSG", queue_managers=("QM01",), interval_s=10)) as writer:
        for cycle in range(5):
            at = BEGAN + cycle * 10_000
            item = {mq.MQCA_Q_NAME: "ORDERS", mq.MQIA_CURRENT_Q_DEPTH: cycle, mq.MQIA_QSG_DISP: 0}
            replies = tuple(talk.replies(STATUS, [item], put=at + 10))
            error = MqiFailure(2, 2033) if cycle == 4 else None
            writer.write(Exchange(0, at, 5, "QM01", STATUS, PROBES[STATUS].ask(QueryOptions()), replies, error))
    return [json.loads(line) for line in path.read_text().splitlines()]


Replay = Callable[[Lines], tuple[int, list[str]]]


@pytest.fixture
def replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Replay:
    """Play lines into a store in the test's folder; the exit code and what was said."""

    def run(found: Lines) -> tuple[int, list[str]]:
        path = tmp_path / "r.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in found))
        capsys.readouterr()
        code = main(["replay", str(path), "--speed", "max", "--store", str(tmp_path / "x.db"), "--replace"])
        return code, capsys.readouterr().err.splitlines()

    return run


def depths(folder: Path) -> list[float | None]:
    """The history of the queue's depth."""
    with StoreReader.open(folder / "x.db") as reader:
        return [point[1] for point in reader.trend(ObjectName("QM01", "queue", "ORDERS"), "depth").points]


def dated(lines: Lines, *seconds: float) -> Lines:
    """The same lines, dated so many seconds after the beginning; as many as there are seconds."""
    header, *rest = lines
    return [
        header,
        *({**rest[place % 5], "at": iso(BEGAN + round(each * 1000))} for place, each in enumerate(seconds)),
    ]


texts = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(
    [
        "\ud800",
        "QM\0",
        "x/y",
        "\x1b[2J",
        "00 ff",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59.999Z",
        "0001-01-01T00:00:00Z",
    ]
)
numbers = st.integers() | st.sampled_from([2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, -(2**63) - 1, 10**4000])
values = st.recursive(
    st.none() | st.booleans() | numbers | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
PLACES = (
    *(("line", key) for key in ("at", "elapsed_ms", "queue_manager", "command", "request", "replies", "error")),
    *(("reply", key) for key in ("data", "encoding", "ccsid", "put")),
    *(("failure", key) for key in ("comp", "reason")),
)
mutations = st.lists(st.tuples(st.sampled_from(PLACES), values), min_size=1, max_size=30)


@COSTLY
@given(mutations=mutations)
def test_no_value_of_any_key_stops_the_replay(
    lines: Lines, replay: Replay, tmp_path: Path, mutations: list[tuple[tuple[str, str], object]]
) -> None:
    """Whatever a key holds, its line is used or told by number and left out; the sound lines arrive, and can be read."""
    header, *sound = lines
    bad = []
    for (where, key), value in mutations:
        line = copy.deepcopy(sound[4])
        {"line": line, "reply": line["replies"][0], "failure": line["error"]}[where][key] = value
        bad.append(line)
    # The sound lines come first: a wrong value may be a time that is right in itself.
    code, said = replay([header, *sound, *bad])
    left_out = [text for text in said if " is left out: " in text]
    assert code in (0, 1), said
    assert code == 1 or not left_out
    assert f" {5 + len(bad) - len(left_out)} exchanges" in said[-1]
    assert all(6 < int(text.split("line ")[1].split()[0]) <= 6 + len(bad) for text in left_out)
    assert depths(tmp_path)[:4] == [0, 1, 2, 3]
    for command in ("status", "alerts list --all"):
        assert main([*command.split(), "--json", "--store", str(tmp_path / "x.db")]) in (0, 1, 2, 3)


@COSTLY
@given(
    key=st.sampled_from(
        ["format", "version", "created", "source", "name", "queue_managers", "interval_s", "comment", "other"]
    ),
    value=values,
)
def test_no_value_in_the_header_is_more_than_a_sentence(lines: Lines, replay: Replay, key: str, value: object) -> None:
    """A header is used, or refused in one sentence."""
    header, *sound = lines
    code, said = replay([{**header, key: value}, *sound])
    assert code in (0, 2), said
    if code == 2:
        assert len([text for text in said if not text.startswith("hint: ")]) == 1


def test_lines_out_of_order_are_told(lines: Lines, replay: Replay, tmp_path: Path) -> None:
    """How many, the first, and what becomes of them; the recording is damaged, so the exit code is 1."""
    code, said = replay(dated(lines, 0, 12, 3, 4, 22))
    assert code == 1
    assert any(
        "2 lines are dated earlier than a line before them, the first is line 4: "
        "they count to the cycle that was under way" in text
        for text in said
    )
    assert "replayed 3 cycles" in said[-1]
    code, said = replay(dated(lines, 0, 12, 3, 13))
    assert code == 1
    assert any("1 line is dated earlier than a line before it, line 4: it counts to" in text for text in said)


def test_exchanges_without_bytes_are_reported(lines: Lines, replay: Replay) -> None:
    """Nothing can be read from them; an empty statistics queue is another matter."""
    header, *exchanges = lines
    empty = [{**each, "replies": []} for each in exchanges if "error" not in each]
    code, said = replay([header, *empty])
    assert code == 1
    assert any(
        f"{len(empty)} exchanges have neither replies nor an error, the first is line 2: they replay as no answer"
        in text
        for text in said
    )
    code, said = replay([header, *exchanges, empty[0] | {"at": exchanges[-1]["at"]}])
    assert code == 1
    assert any("1 exchange has neither replies nor an error, line" in text for text in said)
    code, said = replay([header, *({**each, "command": 165} for each in empty)])
    assert code == 0
    assert not any("neither replies nor an error" in text for text in said)


def test_reversed_recording_is_told(lines: Lines, replay: Replay) -> None:
    """The wrong way round it is one cycle, which is said."""
    code, said = replay([lines[0], *reversed(lines[1:])])
    assert code == 1
    assert any("4 lines are dated earlier" in text for text in said)


def test_line_dated_far_ahead_is_told(lines: Lines, replay: Replay) -> None:
    """Its number and how far; the lines after it are out of order then."""
    code, said = replay(dated(lines, 0, 10, 3652.5 * 86400, 30, 40))
    assert code == 1
    assert any("line 4 is dated 2036-11-20T00:00:00.000Z: a gap of 3,652 days was skipped" in text for text in said)
    assert any("2 lines are dated earlier" in text for text in said)


def test_gap_alone_is_no_damage(lines: Lines, replay: Replay) -> None:
    """A recorder may have been stopped for a while."""
    code, said = replay(dated(lines, 0, 10, 3 * 3600, 3 * 3600 + 10))
    assert code == 0
    assert any("line 4 is dated" in text and "a gap of 2 hours was skipped" in text for text in said)


def test_what_is_no_recording_is_told_what_one_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another file is answered with what a recording is, a missing one is not."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n")
    assert main(["replay", str(path), "--store", str(tmp_path / "x.db")]) == 2
    assert "hint: a recording is JSON lines" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none"), "--store", str(tmp_path / "x.db")]) == 2
    assert "hint" not in capsys.readouterr().err


def test_name_of_a_file_that_is_no_text(lines: Lines, tmp_path: Path) -> None:
    """A file's name may hold any bytes; the store keeps what can be shown of it."""
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    try:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    except OSError:
        # macOS refuses such a name: then there is nothing to read.
        pytest.skip("this file system takes text alone")
    assert main(["replay", str(path), "--speed", "max", "--store", str(tmp_path / "x.db")]) == 0
    with StoreReader.open(tmp_path / "x.db") as reader:
        assert reader.meta().source == "\ufffd.jsonl"

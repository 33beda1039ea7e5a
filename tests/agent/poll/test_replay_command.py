"""``mqvitals replay``: a recording into a store, from the command line."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.connection.connection import Exchange, MqiFailure
from mqvitals_agent.connection.recording import RecordingWriter
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

BEGAN = 1795176000000
STATUS = mq.MQCMD_INQUIRE_Q_STATUS


@pytest.fixture
def recording(talk: Talk, tmp_path: Path) -> Path:
    """Five cycles of one queue, of 10 s each, and a command without a probe."""
    path = tmp_path / "small.jsonl.gz"
    with RecordingWriter(path, RecordingHeader(name="PRDQSG", queue_managers=("QM01",), interval_s=10)) as writer:
        for cycle in range(5):
            at = BEGAN + cycle * 10_000
            item = {mq.MQCA_Q_NAME: "ORDERS", mq.MQIA_CURRENT_Q_DEPTH: cycle, mq.MQIA_QSG_DISP: 0}
            sent = PROBES[STATUS].ask(QueryOptions())
            writer.write(Exchange(0, at, 5, "QM01", STATUS, sent, tuple(talk.replies(STATUS, [item]))))
        writer.write(Exchange(0, at + 100, 5, "QM01", 40, None, (), MqiFailure(2, 2033)))
    return path


@pytest.fixture
def replay(tmp_path: Path) -> Callable[..., int]:
    """Run the command on a file, into a store in the test's folder, without waiting."""

    def run(path: Path, *more: str, store: str = "x.db") -> int:
        return main(["replay", str(path), "--speed", "max", "--store", str(tmp_path / store), *more])

    return run


def depths(store: Path) -> list[float | None]:
    """The history of the queue's depth."""
    with StoreReader.open(store) as reader:
        return [point[1] for point in reader.trend(ObjectName("QM01", "queue", "ORDERS"), "depth").points]


def test_recording_becomes_a_store(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends by itself, says in one line what was played, and prints nothing on stdout."""
    assert replay(recording) == 0
    assert depths(tmp_path / "x.db") == [0, 1, 2, 3, 4]
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert "replayed 5 cycles: 6 exchanges, 10 messages, 0 of them damaged" in line
    assert "commands without a probe: PING_Q_MGR (1)" in line
    with StoreReader.open(tmp_path / "x.db") as reader:
        meta = reader.meta()
        assert (meta.mode, meta.source, meta.group) == ("replay", "small.jsonl.gz", "PRDQSG")


def test_verbose_tells_of_each_cycle(
    replay: Callable[..., int], recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With -v there is a line for every cycle, and the summary."""
    assert replay(recording, "-v") == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("mqvitals: cycle 1, 2026-11-20T12:00:00.000Z: ")


def test_store_that_holds_something_is_not_overwritten(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second replay into the same store is refused with a way out; --replace begins anew."""
    assert replay(recording) == 0
    assert replay(recording) == 2
    assert "already holds a replay" in (error := capsys.readouterr().err)
    assert "--replace" in error
    assert replay(recording, "--replace") == 0
    assert depths(tmp_path / "x.db") == [0, 1, 2, 3, 4]


def test_agents_store_is_never_replaced(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store of live samples survives --replace."""
    Store.open(tmp_path / "x.db", group="PRDQSG").close()
    before = (tmp_path / "x.db").read_bytes()
    assert replay(recording, "--replace") == 2
    assert "holds the agent's samples" in capsys.readouterr().err
    assert (tmp_path / "x.db").read_bytes() == before


def test_file_that_is_no_store_is_never_replaced(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody's file is left alone, whatever the options."""
    (tmp_path / "x.db").write_text("my diary\n" * 1000)
    assert replay(recording, "--replace") == 2
    assert "no mqvitals store" in capsys.readouterr().err
    assert (tmp_path / "x.db").read_text() == "my diary\n" * 1000


def test_store_must_be_named(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a store there is nowhere to play to."""
    assert main(["replay", str(recording)]) == 2
    assert "--store" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"format":"mqvitals-recording","version":9}\n', "version 9"),
        (b"hello\n", "not a recording"),
        (b"\x1f\x8bnothing", "damaged"),
    ],
)
def test_unusable_recording_is_a_sentence(
    replay: Callable[..., int], tmp_path: Path, data: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be played is named, and no store is made."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    assert replay(path) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "x.db").exists()


def test_damaged_recording_is_played_as_far_as_it_goes(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines that cannot be used are named; the exit code says that something was wrong."""
    lines = gzip.decompress(recording.read_bytes()).splitlines(keepends=True)
    lines[3] = b"{rubbish\n"
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"".join(lines))
    assert replay(path) == 1
    assert "line 4 is left out" in capsys.readouterr().err
    assert depths(tmp_path / "x.db") == [0, 1, 3, 4]


def test_cut_recording_is_played_and_reported(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cut last line is what a crash leaves: reported, and no fault."""
    path = tmp_path / "cut.jsonl"
    path.write_bytes(gzip.decompress(recording.read_bytes())[:-40])
    assert replay(path) == 0
    assert "is cut" in capsys.readouterr().err
    assert depths(tmp_path / "x.db") == [0, 1, 2, 3, 4]


def test_recording_without_an_interval_says_what_is_taken(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The usual interval is taken and told."""
    path = tmp_path / "plain.jsonl"
    path.write_bytes(gzip.decompress(recording.read_bytes()).replace(b',"interval_s":10', b""))
    assert replay(path) == 0
    assert "30 s are assumed" in capsys.readouterr().err
    assert depths(tmp_path / "x.db") == [2, 4]


@pytest.mark.parametrize("speed", ["0", "-1", "fast", "nan", "inf"])
def test_odd_speeds_are_refused(recording: Path, speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The speed is a number above 0 or max."""
    with pytest.raises(SystemExit) as caught:
        main(["replay", str(recording), "--store", "x.db", "--speed", speed])
    assert caught.value.code == 2
    assert "above 0 or max" in capsys.readouterr().err


def test_full_disk_is_a_sentence(
    replay: Callable[..., int], recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the store cannot be written, the replay ends with what the store says."""

    def full(*_: object) -> None:
        raise StoreError("the disk is full: nothing of this cycle was kept", "free some space")

    monkeypatch.setattr(Store, "write", full)
    assert replay(recording) == 2
    error = capsys.readouterr().err
    assert "mqvitals: the disk is full" in error
    assert "hint: free some space" in error


def test_wrong_settings_are_told_with_their_place(
    replay: Callable[..., int], recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown key and an unknown rule each point at their line; no store is made."""
    config = tmp_path / "c.yaml"
    for text, words in [("nmae: X\n", "nmae"), ("rules:\n  disabled: [BP-99]\n", "BP-99")]:
        config.write_text(text)
        assert replay(recording, "--config", str(config)) == 2
        error = capsys.readouterr().err
        assert words in error
        assert "c.yaml:" in error
    assert not (tmp_path / "x.db").exists()


def test_settings_name_the_group(replay: Callable[..., int], recording: Path, tmp_path: Path) -> None:
    """The configured name goes before the recording's."""
    config = tmp_path / "c.yaml"
    config.write_text("name: MINE\ntime_zone: Europe/Berlin\n")
    assert replay(recording, "--config", str(config)) == 0
    with StoreReader.open(tmp_path / "x.db") as reader:
        assert "MINE" in {owner.name for owner in reader.owners()}


def test_interrupted_replay_ends_in_order(recording: Path, tmp_path: Path) -> None:
    """Ctrl-C closes the store, says how far it came, and exits as interrupted; what was stored is there."""
    store = tmp_path / "x.db"
    command = [
        sys.executable,
        "-m",
        "mqvitals_agent.commandline.runner",
        "replay",
        str(recording),
        "--store",
        str(store),
    ]
    process = subprocess.Popen([*command, "--speed", "1", "-v"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "cycle 1" in first
    process.send_signal(signal.SIGINT)  # it waits for the next cycle, ten seconds long
    _, rest = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted after" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "x.db-wal").exists()
    assert 1 <= len(depths(store)) < 5


def test_progress_goes_to_the_end_of_the_file(
    replay: Callable[..., int],
    recording: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where a replay takes long, a log has lines about the part of the file that was read; --quiet has none."""
    seconds = count(0, 20)
    monkeypatch.setattr("mqvitals_agent.commandline.progress.steady_s", lambda: float(next(seconds)))
    assert replay(recording) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("mqvitals: replaying: ") for line in lines[:5])
    size = recording.stat().st_size
    assert "100 %" in lines[4]
    assert lines[4].endswith(", cycle 5")
    assert size < 10_000
    assert replay(recording, "--replace", "--quiet") == 0
    assert len(capsys.readouterr().err.splitlines()) == 1

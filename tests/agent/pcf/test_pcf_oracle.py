"""A second opinion: IBM's Java PCF classes, where they are at hand, read every reply of a recording as we do."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.main import main
from mqvitals_agent.connection.recording import read
from mqvitals_agent.simulator.answer import CCSID, ENCODING
from mqvitals_agent.simulator.command_server import CommandServer
from mqvitals_agent.simulator.model import World
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.who.question import ask_connections, ask_handles

_JAR = Path.home() / ".m2/repository/com/ibm/mq/com.ibm.mq.allclient/9.4.0.0/com.ibm.mq.allclient-9.4.0.0.jar"
_JAVA_TRIM = "".join(map(chr, range(0x21)))


@pytest.fixture(scope="module")
def oracle(shared_data: Path) -> Path:
    """The program that prints what IBM's classes decode."""
    program = shared_data.parent / "tools" / "pcf_oracle" / "pcf_oracle.sh"
    if not program.is_file():
        pytest.skip(f"no {program.name} beside the sample data")
    if not (shutil.which("java") and shutil.which("javac")):
        pytest.skip("no Java development kit")
    if not _JAR.is_file():
        pytest.skip(f"IBM's Java classes are not in the local Maven repository; run {program.name} once by hand")
    return program


def lines(path: Path) -> Iterator[str]:
    """All replies of a recording, or the one message of a .dat file, one a line."""
    if path.suffix == ".dat":
        yield f"546 1208 {path.read_bytes().hex()}"
        return
    for exchange in read(path):
        for reply in exchange.replies:
            yield f"{reply.encoding} {reply.ccsid} {reply.data.hex()}"


def trimmed(value: Any) -> Any:
    """A value with its texts trimmed as Java does."""
    if isinstance(value, list):
        return [trimmed(member) for member in value]
    return value.strip(_JAVA_TRIM) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("recording-quiet.jsonl.gz", 13_862),
        ("recording-incident.jsonl.gz", 40_777),
        ("statistics_q.dat", 1),
        ("pcf_with_cfif.dat", 1),
    ],
)
def test_every_reply_as_java_reads_it(
    name: str,
    messages: int,
    oracle: Path,
    shared_data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``pcf decode`` prints the same for every parameter of every reply."""
    compare(lines(shared_data / "pcf" / name), messages, oracle, tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize(
    "request_of",
    [partial(ask_handles, "*"), partial(ask_connections, "QM01CHIN"), partial(ask_connections, "CICSOA01")],
)
def test_simulated_holders_as_java_reads_them(
    request_of: Callable[[str], bytes],
    oracle: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Handles and connections of every simulated queue manager, byte strings too, are sound messages to IBM's classes."""
    began = 1_795_176_000_000
    group = World(load_scenario("buffer-pool-thrash"), began).advance(began + 100_000)
    answer = CommandServer("QM01").answer(request_of("*"), group)
    assert answer.whole
    assert len(answer.messages) > 2 + 2 * len(group.members)
    told = (f"{ENCODING} {CCSID} {data.hex()}" for data in answer.messages)
    compare(told, len(answer.messages), oracle, tmp_path, capsys, monkeypatch)


def compare(
    told: Iterable[str],
    messages: int,
    oracle: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So many messages, one a line, are read by IBM's classes as ``pcf decode`` reads them."""
    source = tmp_path / "messages.txt"
    source.write_text("".join(f"{line}\n" for line in told), encoding="ascii")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with source.open("rb") as stdin:
        java = subprocess.run([str(oracle)], stdin=stdin, capture_output=True, check=True, timeout=100).stdout
    theirs = [json.loads(line) for line in java.decode("utf-8").splitlines()]
    assert main(["pcf", "decode", str(source)]) == 0
    ours = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(ours) == len(theirs) == messages
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True), 1):
        assert their.pop("left") == 0
        assert trimmed(our) == their, f"message {number}"

"""``mqvitals units``, answered by an agent that stands beside it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_agent.who.holder import MemberUnits, ReportedConnection, UnitOfWork, UnitsOfWork, to_json
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot

Answering = Callable[..., AbstractContextManager[None]]

START = 1795176000000  # 2026-11-20 12:00:00 UTC


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with two queue managers and their group."""
    return written(tmp_path / "units.db")


def written(path: Path, *, replay: bool = False) -> Path:
    with Store.open(path, group="PRDQSG", created=START, replay=replay) as made:
        for owner, kind, group in (("QM01", "log", False), ("QM02", "log", False), ("PRDQSG", "qsg", True)):
            reading = Reading(ObjectName(owner, kind), "INQUIRE_LOG", START, {}, 10_000)
            made.write(Snapshot(owner, group, 1, START, (reading,)), Evaluation((), ()))
    return path


def answer(of: ObjectName) -> str:
    """QM01 has a unit of work in doubt; of QM02 nothing can be learnt."""
    now = now_ms()
    if of.owner != "QM01":
        return to_json(UnitsOfWork(of, (MemberUnits(of.owner, now, 8, problem="It does not answer."),)))
    unit = UnitOfWork("UNRESOLVED", "CICS", "2026-11-21 09.00.00", "2026-11-21 09.12.44", "0000001A2B3C0000")
    one = ReportedConnection("A1", "CICSPA01", "CICSUSER", "0031", "", "", "PAYG", "", "", None, None, unit)
    return to_json(UnitsOfWork(of, (MemberUnits(of.owner, now, 8, (one,)),)))


def units(capsys: pytest.CaptureFixture[str], store: Path, *arguments: str) -> tuple[int, str, str]:
    code = main(["units", *arguments, "--store", str(store)])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_all_queue_managers_are_asked(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """What one of them does not tell is no unit of work less: the exit code says that something is missing."""
    with answering(store, answer, now_ms):
        code, out, err = units(capsys, store)
    assert (code, err) == (1, "")
    assert "QM01: 1 unit of work: 1 UNRESOLVED" in out
    assert "CICSPA01" in out
    assert "QM02: units of work not known: It does not answer" in out


def test_one_queue_manager(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(store, answer, now_ms):
        assert units(capsys, store, "QM01")[0] == 0
        code, out, _ = units(capsys, store, "QM01", "--json")
        assert units(capsys, store, "QM02")[0] == 2
    assert code == 0
    (found,) = json.loads(out)
    assert found["members"][0]["units"][0]["unit_of_work"]["id"] == "0000001A2B3C0000"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("QM03",), "holds no queue manager QM03"),
        (("PRDQSG",), "holds no queue manager PRDQSG"),
        (("QM01", "--wait", "61s"), "no answer comes after 60s"),
    ],
)
def test_what_cannot_be_asked(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = units(capsys, store, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_a_replay_has_nobody_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = units(capsys, written(tmp_path / "replay.db", replay=True))
    assert code == 2
    assert "there is no queue manager to ask" in err

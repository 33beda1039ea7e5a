"""``mqvitals who``, answered by an agent that stands beside it, and the asking behind it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.file.store_file import WriterLock, may_be_written, writer_of
from mqvitals_agent.store.writer import Store
from mqvitals_agent.who.client import NoAgentAnswer, ask_agent
from mqvitals_agent.who.holder import Holder, Holders, MemberHolders, to_json
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot

Answering = Callable[..., AbstractContextManager[None]]

START = 1795176000000  # 2026-11-20 12:00:00 UTC
SHARED = ObjectName("PRDQSG", "queue", "APPL1.ORDERS")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a shared queue, and one that two queue managers have."""
    return written(tmp_path / "who.db")


def written(path: Path, *, replay: bool = False) -> Path:
    with Store.open(path, group="PRDQSG", created=START, replay=replay) as made:
        for owner in ("QM01", "QM02"):
            queues = [ObjectName(owner, "queue", name) for name in ("APP.Q", f"ONLY.{owner}", "\x1b[2J/queue/X")]
            readings = tuple(Reading(each, "INQUIRE_Q_STATUS", START, {"depth": 0}, 10_000) for each in queues)
            made.write(Snapshot(owner, False, 1, START, readings), Evaluation((), ()))
        reading = Reading(SHARED, "INQUIRE_Q_STATUS", START, {"depth": 0}, 10_000)
        made.write(Snapshot("PRDQSG", True, 1, START, (reading,)), Evaluation((), ()))
    return path


def handle(application: str) -> Holder:
    """An open handle of a batch job that reads."""
    return Holder(
        *(application, "BATCH", "", "BATCHU", "0031", "", "", "", "", "", "", None, None),
        *("SHARED", False, False, False, False, "INACTIVE", "NONE"),
    )


def answer(queue: ObjectName) -> str:
    """What the queue managers tell: QM01 has a handle, others none; of ONLY.QM02 nothing can be learnt."""
    if queue.owner == "PRDQSG":
        members = tuple(MemberHolders(name, now_ms(), 8, (handle(f"ON.{name}"),)) for name in ("QM01", "QM02"))
    elif queue.name == "ONLY.QM02":
        members = (MemberHolders("QM02", now_ms(), 8, problem="It does not answer."),)
    else:
        members = (MemberHolders(queue.owner, now_ms(), 8, (handle("JOB"),) if queue.owner == "QM01" else ()),)
    return to_json(Holders(queue, members))


def who(capsys: pytest.CaptureFixture[str], store: Path, *arguments: str) -> tuple[int, str, str]:
    code = main(["who", *arguments, "--store", str(store)])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_every_queue_of_that_name_is_asked(
    store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]
) -> None:
    """Private queues of one name in two queue managers: both are asked, each has its part."""
    with answering(store, answer, now_ms):
        code, out, _ = who(capsys, store, "APP.Q")
    assert code == 0
    assert "QM01 APP.Q ──" in out
    assert "QM01: 1 handle: 1 input (shared); asked 0 s ago, answered in 8 ms" in out
    assert "no handle is open on QM02" in out


def test_one_queue_by_its_whole_name(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole name, or the queue manager in an option, means one queue; no title is needed then."""
    with answering(store, answer, now_ms):
        for arguments in (("QM02/queue/APP.Q",), ("APP.Q", "--queue-manager", "QM02")):
            code, out, _ = who(capsys, store, *arguments)
            assert (code, out) == (0, "no handle is open on QM02; asked 0 s ago, answered in 8 ms\n")


def test_a_shared_queue(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """All queue managers of the group are asked, and --queue-manager shows one of them."""
    with answering(store, answer, now_ms):
        code, out, _ = who(capsys, store, "APPL1.ORDERS")
        assert code == 0
        assert "2 handles on 2 of the 2 queue managers" in out
        code, out, _ = who(capsys, store, "APPL1.ORDERS", "--queue-manager", "QM02")
        assert code == 0
        assert "ON.QM02" in out
        assert "ON.QM01" not in out
        code, _, err = who(capsys, store, "APPL1.ORDERS", "--queue-manager", "QM09")
        assert code == 2
        assert "the agent asked no queue manager QM09" in err


def test_json(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """A list with an object a queue, as the agent wrote them."""
    with answering(store, answer, now_ms):
        code, out, _ = who(capsys, store, "APP.Q", "--json")
    assert code == 0
    assert out.count("\n") == 1
    told = json.loads(out)
    assert [each["queue"] for each in told] == [["QM01", "queue", "APP.Q"], ["QM02", "queue", "APP.Q"]]
    assert told[0]["members"][0]["holders"][0]["application"] == "JOB"


def test_exit_codes_tell_what_is_not_known(
    store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 when some queue manager could not be asked, 2 when none could; what is known is printed all the same."""

    def half(queue: ObjectName) -> str:
        members = (MemberHolders("QM01", now_ms(), 8), MemberHolders("QM02", now_ms(), 8, problem="It is down."))
        return to_json(Holders(queue, members))

    with answering(store, half, now_ms):
        code, out, _ = who(capsys, store, "APPL1.ORDERS")
    assert code == 1
    assert "QM02: not known who has it open: It is down" in out
    with answering(store, answer, now_ms):
        code, out, _ = who(capsys, store, "ONLY.QM02")
    assert code == 2
    assert "not known who has it open: It does not answer" in out


def test_a_queue_of_which_no_answer_came(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are shown, and of this one that it is not known."""
    with answering(store, lambda queue: answer(queue) if queue.owner == "QM01" else None, now_ms):
        code, out, _ = who(capsys, store, "APP.Q", "--wait", "600ms")
        assert code == 1
        assert "QM01: 1 handle" in out
        assert "QM02: not known who has it open: no answer within 0.6 s" in out
        code, out, err = who(capsys, store, "ONLY.QM02", "--wait", "100ms")
    assert (code, out) == (2, "")
    assert "no answer within 0.1 s: the agent that writes the store" in err


def test_without_an_agent(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only an agent can ask; who has none is told how to start one, and no question is left behind."""
    code, out, err = who(capsys, store, "APP.Q")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"mqvitals: no agent writes the store {store}, and only a running agent can ask queue managers",
        "hint: start 'mqvitals agent'",
    ]
    with Store.open(store) as opened:
        assert opened.requests.waiting(now_ms()) == ()


def test_of_a_replay(tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody stands behind a recording."""
    code, _, err = who(capsys, written(tmp_path / "past.db", replay=True), "APP.Q")
    assert code == 2
    assert "holds a replay: there is no queue manager to ask" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("APP.QQ",), "hint: did you mean APP.Q"),
        (("app.q",), "hint: did you mean APP.Q"),
        (("QM03/queue/APP.Q",), "hint: did you mean QM0"),
        (("ZZZZZZZZZZ",), "hint: 'mqvitals top' lists the queues"),
        (("//queue/",), "holds no queue //queue/"),
        (("ONLY.QM01", "--queue-manager", "QM02"), "hint: there is one in QM01"),
        (("APP.Q", "--wait", "soon"), "--wait 'soon': expected a duration"),
        (("APP.Q", "--wait", "2m"), "hint: write --wait 60s"),
    ],
)
def test_mistakes(store: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str) -> None:
    """What is wrong and what to write, without waiting for anybody."""
    code, out, err = who(capsys, store, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err


def test_hostile_names(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """A queue may be called anything, also what looks like a whole name; its answer steers no terminal."""
    name = "\x1b[2J/queue/X"

    def hostile(queue: ObjectName) -> str:
        return to_json(Holders(queue, (MemberHolders(queue.owner, now_ms(), 8, (handle("\x1b[31m\n[/x]"),)),)))

    with answering(store, hostile, now_ms):
        code, out, _ = who(capsys, store, name)
    assert code == 0
    assert "␛[31m␊[/x]" in out
    assert "\x1b" not in out


def test_an_answer_that_cannot_be_read(store: Path, answering: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent of another version is no reason for a traceback."""
    with answering(store, lambda _: '{"colour": "blue"}', now_ms):
        code, out, _ = who(capsys, store, "ONLY.QM01")
    assert code == 2
    assert "the agent's answer cannot be read" in out


def test_an_agent_that_ends_meanwhile(store: Path) -> None:
    """Nobody waits for an agent that has gone."""
    lock = WriterLock(store)
    times = iter(range(0, 1000, 3))

    def gone(_: float) -> bool:
        lock.release()
        return False

    with pytest.raises(NoAgentAnswer, match="no agent writes the store"):
        ask_agent(store, (SHARED,), now_ms, gone, time_s=lambda: float(next(times)))


def test_who_asked_has_gone(store: Path) -> None:
    """Then there is no answer, and no problem either."""
    lock = WriterLock(store)
    try:
        assert ask_agent(store, (SHARED,), now_ms, lambda _: True) is None
    finally:
        lock.release()


def test_a_lock_that_may_not_be_looked_at(
    open_folder: Path, ordinary_user: Callable[[], AbstractContextManager[None]]
) -> None:
    """Whether the agent of another user runs cannot be told: it may."""
    path = open_folder / "other.db"
    path.touch()
    assert not may_be_written(path)
    lock = WriterLock(path)
    lock.path.chmod(0)
    try:
        with ordinary_user():
            assert writer_of(path) is None
            assert may_be_written(path)
    finally:
        lock.release()

"""Who has a queue open, as text: what an operator reads of handles, units of work, and of what is not known."""

from __future__ import annotations

from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.screens.holders import holders_lines
from mqvitals_agent.who.holder import HandleConnection, HandleInstance, Holder, Holders, MemberHolders, UnitOfWork
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM01", "queue", "APP.Q")
AT = 1_000_000
BEGAN = "2026-11-21 09.12.44"
IDLE = HandleConnection(1, "C1", None)


def handle(**told: Any) -> Holder:
    """A handle of a batch job that is open for nothing, with what is told of it."""
    plain: dict[str, Any] = dict.fromkeys(
        (
            *("application", "application_type", "description", "user", "asid", "channel", "connection_name"),
            *("transaction", "task", "psb", "region", "state", "async_state"),
        ),
        "",
    )
    plain |= dict.fromkeys(("output", "browse", "inquire", "set"), False)
    plain |= {"process": None, "thread": None, "input": "NO", "connection": IDLE}
    return Holder(**(plain | {"application": "NIGHTJOB", "application_type": "BATCH"} | told))


def lines(*members: MemberHolders, width: int = 120, now: int = AT + 2_000) -> tuple[Line, ...]:
    return holders_lines(Holders(QUEUE, members), now, width)


def text(*holders: Holder, width: int = 120, **told: Any) -> str:
    return "\n".join(each.text for each in lines(MemberHolders("QM01", AT, 40, holders, **told), width=width))


def test_the_summary_counts_what_handles_are_for() -> None:
    """First of all how many there are and for what, when that was asked and how long the answer took."""
    found = text(
        handle(input="SHARED"), handle(input="SHARED", application="OTHER"), handle(output=True), width=100
    ).split("\n")
    assert found[0] == "QM01: 3 handles: 2 input (shared), 1 output; asked 2 s ago, answered in 40 ms"
    assert "1 handle: 1 input (exclusive); asked" in text(handle(input="EXCL"))
    assert "2 input (1 exclusive, 1 shared)" in text(handle(input="EXCL"), handle(input="SHARED"))


@pytest.mark.parametrize(("seconds", "tone"), [(59, Tone.FAINT), (60, Tone.STALE)])
def test_an_old_answer_looks_old(seconds: int, tone: Tone) -> None:
    """After a minute the handles may long be others."""
    found = lines(MemberHolders("QM01", AT, 40, (handle(output=True),)), now=AT + seconds * 1_000)
    assert found[0].spans[-1].tone is tone


def test_that_nobody_reads_is_said() -> None:
    """A queue that is only written to is a queue without a consumer."""
    assert "1 handle: none for input, 1 output" in text(handle(output=True))


def test_what_was_not_told_is_not_nothing() -> None:
    """A handle of which the queue manager did not say what it is for is no proof that nobody reads."""
    found = text(handle(input="", output=None))
    assert "1 with options not known" in found
    assert "IN not known" in found
    assert "none for input" not in found


def test_nobody_and_not_known_differ() -> None:
    """A queue manager that was asked and has no handle, and one that could not be asked."""
    found = lines(MemberHolders("QM01", AT, 7), MemberHolders("QM02", AT, 15_000, problem="It does not answer."))
    assert [each.text for each in found] == [
        "APP.Q: no handle is open on the 1 queue manager that answered",
        "? UNKNOWN not known of QM02",
        "",
        "no handle is open on QM01; asked 2 s ago, answered in 7 ms",
        "? UNKNOWN QM02: not known who has it open: It does not answer; asked 2 s ago",
    ]
    assert found[1].spans[0].tone is found[4].spans[0].tone is Tone.UNKNOWN


def test_nobody_was_asked() -> None:
    """Without any queue manager nothing is known."""
    assert [each.text for each in lines()] == ["not known: no queue manager was asked"]
    silent = MemberHolders("QM01", AT, 0, problem="x")
    assert lines(silent, silent)[0].text == "APP.Q: no queue manager answered"


def test_several_queue_managers_are_summed() -> None:
    """One line on top counts the handles of all."""
    one = MemberHolders("QM01", AT, 4, (handle(input="SHARED"),) * 3)
    assert lines(one, MemberHolders("QM02", AT, 4))[0].text == "APP.Q: 3 handles on 1 of the 2 queue managers"


def test_alike_is_one_row() -> None:
    """Twenty tasks of a transaction are a row with their number, and how many are in a call just now."""
    tasks = [
        handle(
            application="CICSPRD1",
            application_type="CICS",
            transaction="PAYT",
            task=f"{number:07}",
            input="SHARED",
            state="ACTIVE" if number < 3 else "INACTIVE",
            connection=HandleConnection(1, f"C{number}", None),
        )
        for number in range(20)
    ]
    rows = text(*tasks).split("\n")[1:]
    assert len(rows) == 2
    assert rows[1].split() == [
        "20",
        "CICSPRD1",
        "CICS",
        "PAYT,",
        "20",
        "tasks",
        "IN",
        "SHARED;",
        "3",
        "in",
        "a",
        "call",
    ]
    assert "PAYT, task 0000004" in text(tasks[4])
    assert "PSB P, 2 regions" in text(handle(psb="P", region="0001"), handle(psb="P", region="0002"))


def test_threads_of_a_process_are_one_row() -> None:
    """On distributed queue managers the process is told, and of one handle its thread."""
    found = text(*(handle(process=4711, thread=number) for number in (3, 4)))
    assert "process 4711, 2 threads" in found
    assert "process 4711, thread 3" in text(handle(process=4711, thread=3))


def test_different_users_are_different_rows() -> None:
    """What tells people apart keeps rows apart."""
    assert len(text(handle(user="A"), handle(user="B")).split("\n")) == 4


def test_what_it_is_open_for() -> None:
    """In the words of MQ, with IMS's and z/OS's names of the job."""
    found = text(
        handle(browse=True, inquire=True, set=True, output=True, psb="PSB1", region="0003", asid="0077", user="U1")
    )
    assert "OUT, BROWSE, INQUIRE, SET" in found
    assert "PSB PSB1, region 0003, ASID 0077" in found
    assert "async STARTED" in text(handle(input="SHARED", async_state="STARTED"))


def test_who_keeps_others_out_stands_first() -> None:
    """Exclusive use explains reason code 2042, so it is not hidden below fifty readers."""
    rows = text(*[handle(input="SHARED")] * 50, handle(input="EXCL", application="ALONE")).split("\n")
    assert "ALONE" in rows[2]


@pytest.mark.parametrize(
    ("state", "sign", "tone"), [("UNRESOLVED", "●", Tone.CRITICAL), ("PREPARED", "▲", Tone.WARNING)]
)
def test_in_doubt_is_loud(state: str, sign: str, tone: Tone) -> None:
    """A unit of work in doubt is said on top, with a command to type, and in the row, which comes first."""
    doubtful = handle(output=True, connection=HandleConnection(1, "AB12", UnitOfWork(state, "RRS", BEGAN, BEGAN)))
    found = lines(MemberHolders("QM01", AT, 40, (*[handle(input="SHARED")] * 9, doubtful)), width=80)
    whole = " ".join(" ".join(each.text for each in found).split())
    assert f"MQSC: DISPLAY CONN(*) WHERE(UOWSTATE EQ {state}) ALL" in whole
    assert f"{sign} IN DOUBT: {state} (RRS) since {BEGAN}, CONN AB12" in whole
    assert whole.index("IN DOUBT") < whole.index("IN SHARED")
    assert sum(span.tone is tone for each in found for span in each.spans) >= 2


def test_ordinary_units_of_work() -> None:
    """State, type and beginning; that it may be that of another connection is said; none is nothing to say."""
    unit = UnitOfWork("ACTIVE", "QMGR", BEGAN, "2026-11-21 09.12.50")
    found = text(handle(connection=HandleConnection(4, "", unit)), width=200)
    assert f"ACTIVE (QMGR) since {BEGAN}, in the log since 2026-11-21 09.12.50 (the oldest of 4 connections" in found
    assert "Times are those of the queue manager's own clock." in found
    assert "IN DOUBT" not in found
    assert "nit of work" not in text(handle())
    assert "ACTIVE, start time not known" in text(
        handle(connection=HandleConnection(1, "", UnitOfWork("ACTIVE", "", "", "")))
    )


def test_connections_that_are_not_known() -> None:
    """Once for all handles where none is known; beside the row where others are."""
    assert text(handle(connection=None), handle(connection=None, user="B")).count("not known") == 1
    unit = UnitOfWork("ACTIVE", "QMGR", BEGAN, "")
    assert "unit of work not known" in text(
        handle(connection=None), handle(connection=HandleConnection(1, "", unit)), width=60
    )


def test_channels() -> None:
    """Channel, partner and instance; Enter on the row leads to the channel."""
    through = handle(channel="APP.SVRCONN", connection_name="10.1.2.3", user="CHINUSR")
    told = handle(
        channel="APP.SVRCONN",
        connection_name="10.1.2.4",
        instance=HandleInstance(2, "RUNNING", "RECEIVE", 12_345, "2026-11-21 09.13.01", "pay.App", "MQPAY"),
    )
    found = lines(MemberHolders("QM01", AT, 40, (through, told, handle())))
    whole = " ".join(" ".join(each.text for each in found).split())
    assert "via APP.SVRCONN from 10.1.2.3: instance not known" in whole
    assert (
        "10.1.2.4: 2 instances, the newest: RUNNING RECEIVE, 12.3 k msgs, last 2026-11-21 09.13.01, pay.App, user MQPAY"
        in whole
    )
    assert {each.key for each in found} == {"", "QM01/channel/APP.SVRCONN"}


def test_notes_are_told() -> None:
    """What else could not be learnt stands above the handles."""
    assert "? The connections could not be asked: 2035." in text(
        handle(), notes=("The connections could not be asked: 2035.",)
    )


def test_wide_terminals_have_one_line_a_row() -> None:
    """Where there is room for all columns nothing stands below a row."""
    told = handle(channel="C", connection_name="10.1.2.4", asid="0102", user="U", output=True)
    assert [line.split() for line in text(told, width=200).split("\n")[1:]] == [
        ["Handles", "Application", "Type", "Job", "User", "Open", "for", "Via"],
        ["1", "NIGHTJOB", "BATCH", "ASID", "0102", "U", "OUT", "C", "from", "10.1.2.4:", "instance", "not", "known"],
    ]


words = st.text(max_size=30)
numbers = st.none() | st.integers(-5, 2**40)
flags = st.none() | st.booleans()
states = st.sampled_from(["UNRESOLVED", "PREPARED", "ACTIVE"]) | words
units = st.none() | st.builds(UnitOfWork, states, words, words, words)
anything = st.builds(
    Holder,
    **dict.fromkeys(
        (
            *("application", "application_type", "description", "user", "asid", "channel", "connection_name"),
            *("transaction", "task", "psb", "region", "state", "async_state"),
        ),
        words,
    ),
    process=numbers,
    thread=numbers,
    input=st.sampled_from(["EXCL", "SHARED", "NO", ""]) | words,
    output=flags,
    browse=flags,
    inquire=flags,
    set=flags,
    connection=st.none() | st.builds(HandleConnection, st.integers(0, 9), words, units),
    instance=st.none() | st.builds(HandleInstance, st.integers(0, 9), words, words, numbers, words, words, words),
)


@given(
    st.lists(anything, max_size=5),
    words,
    st.lists(words, max_size=2),
    words,
    st.integers(0, 2**53),
    st.integers(40, 220),
)
def test_whatever_mq_says_is_harmless_and_fits(
    holders: list[Holder], problem: str, notes: list[str], name: str, at: int, width: int
) -> None:
    """No line is wider than asked for or steers a terminal, and the handles of the rows are all there."""
    queue = ObjectName("QM01", "queue", name)
    members = (
        MemberHolders(name, at, 40, tuple(holders), notes=tuple(notes)),
        MemberHolders("QM02", at, 40, problem=problem or "?"),
    )
    for each in holders_lines(Holders(queue, members), AT, width):
        assert cells(each.text) <= width, each.text
        assert not any(category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in each.text)
        assert not each.key or ObjectName.parse(each.key).kind == "channel"

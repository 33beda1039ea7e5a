"""The journal in words: what an entry says, what flaps, what a filter finds, what a screen shows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.rows.changes import Change
from mqvitals_agent.store.rows.journal import BACK, FIRST_SEEN, GONE, RELOADED, STARTED, JournalEntry
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.history.journal import (
    FLAP_MS,
    LEAST_FLAPS,
    RECENT_MS,
    JournalLine,
    by_object,
    entry_json,
    entry_words,
    fold,
    journal_line,
    journal_lines,
    journal_list_lines,
    line_words,
    matching_entries,
    object_journal_lines,
    one_line,
    recent_lines,
)
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.tables import metric

NOW, MINUTE = 1_795_176_590_000, 60_000
CHANNEL, QUEUE = ObjectName("QM01", "channel", "QM01.TO.BANK"), ObjectName("QM01", "queue", "PAYMENTS.IN")
MANAGER, GROUP = ObjectName("QM01", "queue_manager"), ObjectName("PRDQSG", "qsg")
STATUS = metric("channel", "status").values


def entry(
    ago: float = 0, kind: EntryKind = EntryKind.STATE, name: ObjectName = CHANNEL, **more: object
) -> JournalEntry:
    values = {"metric": "status", "old": STATUS["RUNNING"], "new": STATUS["RETRYING"], **more}
    return JournalEntry(round(NOW - ago * MINUTE), kind, name, **values)  # type: ignore[arg-type]


def flapping(count: int, every: float = 0.5) -> list[JournalEntry]:
    """A channel that goes to and fro, oldest first."""
    states = (STATUS["RUNNING"], STATUS["RETRYING"])
    return [
        entry((count - 1 - number) * every, old=states[number % 2], new=states[(number + 1) % 2])
        for number in range(count)
    ]


RAISED = Change(QUEUE, "max_depth", 5000, 50000, NOW, NOW - MINUTE)

WORDS = [
    (entry(), "STATUS RUNNING -> RETRYING"),
    (entry(kind=EntryKind.DEFINITION, name=QUEUE, change=RAISED), "MAXDEPTH 5,000 msgs -> 50,000 msgs"),
    (entry(kind=EntryKind.CONNECT, name=MANAGER, metric="reachable", old=1, new=0), "connection lost"),
    (entry(kind=EntryKind.CONNECT, name=MANAGER, metric="reachable", old=0, new=1), "connected"),
    (
        entry(kind=EntryKind.RESTART, name=MANAGER, metric="start_ts", new="2026-11-20 12.00.00"),
        "restarted, as it says at 2026-11-20 12.00.00",
    ),
    (
        entry(kind=EntryKind.USE, name=QUEUE, metric="input_handles", old=2, new=0),
        "nobody has it open for input any more; before 2 handles",
    ),
    (
        entry(kind=EntryKind.USE, name=QUEUE, metric="input_handles", old=0, new=1),
        "somebody has it open for input: 1 handle",
    ),
    (entry(kind=EntryKind.OBJECT, name=QUEUE, metric=GONE, old=None, new=None), "gone"),
    (
        entry(kind=EntryKind.OBJECT, name=ObjectName("QM01", "queue"), metric=FIRST_SEEN, old=None, new=1200),
        "1,200 queues first seen",
    ),
    (
        entry(name=GROUP, metric="members", old="QM01 ACTIVE, QM02 ACTIVE", new="QM01 ACTIVE, QM02 FAILED"),
        "members QM02 ACTIVE -> QM02 FAILED",
    ),
    (entry(kind=EntryKind.ALERT, metric="CHL-16", new="warning", words="RETRYING"), "CHL-16 warning: RETRYING"),
    (entry(kind=EntryKind.ALERT, metric="CHL-16", new="ends", words="RETRYING"), "CHL-16 ended"),
    (entry(kind=EntryKind.ACTION, metric="note", new="anna", words="alert 1: on it"), "anna: note, alert 1: on it"),
    (entry(kind=EntryKind.MESSAGE, metric="CSQP014E", new=3, words="PSID 4"), "CSQP014E PSID 4 (3 times)"),
]


@pytest.mark.parametrize(("one", "words"), WORDS, ids=[words[:24] for _, words in WORDS])
def test_what_an_entry_says(one: JournalEntry, words: str) -> None:
    assert entry_words(one) == words
    told = entry_json(one)
    assert (told["words"], told["kind"], told["object"]) == (words, one.kind.value, str(one.name))


def test_a_flap_is_one_line() -> None:
    (one,) = fold(flapping(14, 0.5))
    assert line_words(one) == "STATUS RUNNING <-> RETRYING 14x in 6m"
    three = fold([*flapping(3), entry(0, name=QUEUE)])
    assert not any(each.is_flap for each in three)
    apart = fold(flapping(14, 11))
    assert len(apart) == 14


def test_a_flap_with_a_third_state() -> None:
    entries = flapping(6)
    entries[-1] = entries[-1]._replace(new=STATUS["STOPPED"])
    (one,) = fold(entries)
    assert line_words(one).endswith("and 1 other value 6x in 2m")


KINDS_OF_ENTRIES = st.sampled_from(EntryKind)
ENTRIES = st.lists(
    st.builds(
        lambda ago, kind, name, old, new: entry(ago, kind, name, old=old, new=new),
        st.floats(0, 60 * 26),
        KINDS_OF_ENTRIES,
        st.sampled_from(
            [CHANNEL, QUEUE, MANAGER, GROUP, ObjectName("", "", ""), ObjectName("QM01", "queue", "漢" * 48)]
        ),
        st.one_of(st.none(), st.integers(0, 13), st.text(max_size=20)),
        st.one_of(st.none(), st.integers(0, 13), st.text(max_size=20)),
    ),
    max_size=40,
).map(lambda entries: sorted(entries, key=lambda each: each.ts))


@given(ENTRIES)
def test_every_entry_is_in_one_line(entries: list[JournalEntry]) -> None:
    """Folding loses nothing and repeats nothing, keeps the order in time, and joins only what is close."""
    lines = fold(entries)
    assert sorted(id(one) for line in lines for one in line.entries) == sorted(map(id, entries))
    assert [line.last.ts for line in lines] == sorted(line.last.ts for line in lines)
    for line in lines:
        assert len({(one.kind, one.name, one.metric) for one in line.entries}) == 1
        assert len(line.entries) == 1 or len(line.entries) >= LEAST_FLAPS
        times = [one.ts for one in line.entries]
        assert all(0 <= later - earlier <= FLAP_MS for earlier, later in pairwise(times))
    grouped = by_object(lines)
    assert sorted(id(line) for _, of_one in grouped for line in of_one) == sorted(map(id, lines))


@given(ENTRIES, st.integers(20, 250), st.booleans(), st.text(max_size=8))
def test_lines_fit_any_width(entries: list[JournalEntry], width: int, grouped: bool, text: str) -> None:
    lines: list[Line] = [
        *journal_lines(entries, NOW, width, text, grouped=grouped),
        *recent_lines(entries, NOW, width, 6),
        *object_journal_lines(entries, NOW, width),
        *journal_list_lines(entries, NOW, width, folded=grouped),
        *(one_line(JournalLine((each,)), NOW, width) for each in entries),
    ]
    assert all(cells(line.text) <= width for line in lines)
    assert all(line.text.isprintable() for line in lines)


@given(ENTRIES, st.integers(0, 8))
def test_recent_lines_are_recent_and_few(entries: list[JournalEntry], rows: int) -> None:
    lines = recent_lines(entries, NOW, 100, rows)
    left_out = (EntryKind.ALERT, EntryKind.LOG)
    recent = [each for each in entries if each.ts >= NOW - RECENT_MS and each.kind not in left_out]
    assert len(lines) <= rows + 1
    assert bool(lines) == (bool(recent) and rows > 0)


def test_what_happens_to_many_at_once_is_one_line_of_the_overview() -> None:
    lost = [entry(1, name=ObjectName("QM01", "channel", f"TO.{number}")) for number in range(9)]
    _, other, crowd = recent_lines([*lost, entry(0, name=QUEUE)], NOW, 120, 8)
    assert "PAYMENTS.IN" in other.text
    assert "9 objects at once, such as QM01 TO.8: STATUS RUNNING -> RETRYING" in crowd.text
    assert len(recent_lines(lost[:3], NOW, 120, 8)) == 4


def test_a_filter_takes_all_its_words() -> None:
    state, changed = entry(2), entry(1, EntryKind.DEFINITION, QUEUE, change=RAISED)
    entries = (state, changed)
    assert matching_entries(entries, "") == entries
    assert matching_entries(entries, "bank") == matching_entries(entries, "kind:state") == (state,)
    assert matching_entries(entries, "MAXDEPTH 50,000") == matching_entries(entries, "kind:def payments") == (changed,)
    assert matching_entries(entries, "bank maxdepth") == ()
    assert "nothing in the journal matches" in journal_lines(entries, NOW, 80, "nobody")[1].text


def test_the_screen_by_time_and_by_object() -> None:
    """The newest first; Enter opens the object of each line; by object each has its lines below its name."""
    entries = [*flapping(6), entry(0, EntryKind.OBJECT, QUEUE, metric=BACK, old=None, new=None)]
    title, first, second = journal_lines(entries, NOW, 100)
    assert "7 of the last day, the newest first" in title.text
    assert (first.key, second.key) == (str(QUEUE), str(CHANNEL))
    assert first.text.split() == ["12:09:50", "object", "QM01", "PAYMENTS.IN:", "there", "again"]
    _, queue, _, channel, flap = journal_lines(entries, NOW, 100, grouped=True)
    assert (queue.text, channel.text) == ("QM01 PAYMENTS.IN  1", "QM01 QM01.TO.BANK  6")
    assert "QM01" not in flap.text
    assert flap.key == channel.key == str(CHANNEL)
    assert journal_lines(entries, NOW, 100, most=7)[0].text.startswith("Journal: the newest 7, ")
    assert " of the newest 7, " in journal_lines(entries, NOW, 100, "QM", most=7)[0].text


def test_an_object_has_its_own_journal() -> None:
    entries = [entry(3), entry(2, EntryKind.DEFINITION, change=RAISED), entry(1, EntryKind.MESSAGE, words="x")]
    title, only = object_journal_lines(entries, NOW, 80)
    assert title.text.startswith("Journal, times in UTC")
    assert "RUNNING -> RETRYING" in only.text
    assert not only.is_stop
    assert list(object_journal_lines(entries[1:], NOW, 80)) == []


def test_only_alerts_and_security_have_a_colour() -> None:
    """Yellow and red are for what has crossed a threshold, and for a change that concerns security."""
    mcauser = Change(CHANNEL, "mca_user_defined", "A", "B", NOW, NOW - MINUTE)
    tones = [
        {span.tone for span in journal_line(JournalLine((one,)), NOW, 120)[0].spans}
        for one in (
            entry(),
            entry(kind=EntryKind.DEFINITION, change=mcauser),
            entry(kind=EntryKind.ALERT, new="critical"),
        )
    ]
    assert Tone.WARNING not in tones[0] | tones[2]
    assert Tone.WARNING in tones[1]
    assert Tone.CRITICAL in tones[2]


@pytest.mark.parametrize(("what", "words"), [(STARTED, "started"), (RELOADED, "uses the settings as they are now")])
def test_what_the_agent_did(what: str, words: str) -> None:
    """The agent is called so, though objects of its kind are commands."""
    entry = JournalEntry(NOW, EntryKind.AGENT, ObjectName("PRDQSG", "agent"), what)
    assert one_line(fold([entry])[0], NOW, 120).text.endswith(f"PRDQSG agent: {words}")

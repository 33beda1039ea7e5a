"""Alerts as JSON and as a list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mqsamples.printed import printed
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.alerts.past_words import LATER_WORDS
from mqvitals_agent.view.alerts.words import (
    alert_json,
    at_least,
    full_json,
    short_summary,
    since_words,
    summary,
    worst_first,
)
from mqvitals_agent.view.screens.alerts import alert_list_lines, entry_texts
from mqvitals_agent.view.status import StatusData
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName

POOL = ObjectName("QM01", "buffer_pool", "3")


def alert(
    rule: str = "BP-03",
    name: ObjectName = POOL,
    severity: Severity = Severity.CRITICAL,
    started: int = 1795176290000,
    ended: int | None = None,
    instance: str = "",
    text: str = "4 % free",
) -> Alert:
    state = AlertState.FIRING if ended is None else AlertState.RESOLVED
    key = AlertKey(rule, name, instance)
    return Alert(key, name, "operational", "", state, severity, severity, 1, 2, text, started, ended)


@pytest.mark.parametrize("mark", ["", LATER_WORDS])
def test_words_beside_the_name_keep_the_mark_of_later_ones(mark: str) -> None:
    """The name of the object is left out where it stands already, but never that the words were said later."""
    assert short_summary(alert(text=f"{mark}buffer pool 3: 4 % free")) == f"{mark}4 % free"


def test_json() -> None:
    """The JSON object has the nine keys of ``alerts list``, whole names and ISO times."""
    assert alert_json(alert()) == {
        "rule": "BP-03",
        "severity": "critical",
        "state": "firing",
        "queue_manager": "QM01",
        "kind": "buffer_pool",
        "object": "QM01/buffer_pool/3",
        "started": "2026-11-20T12:04:50.000Z",
        "ended": None,
        "summary": "4 % free",
        "labels": {},
    }


def test_json_of_an_ended_alert() -> None:
    """Severity is the worst while it was open; kinds with one object have names of two parts."""
    ended = replace(
        alert(name=ObjectName("QM01", "channel_initiator"), ended=1795176590007),
        severity=Severity.INFO,
        worst=Severity.WARNING,
    )
    shown = alert_json(ended)
    assert (shown["object"], shown["severity"], shown["state"]) == ("QM01/channel_initiator", "warning", "resolved")
    assert shown["ended"] == "2026-11-20T12:09:50.007Z"


def test_group_objects_belong_to_the_group() -> None:
    """The queue manager of a structure's alert is the group's name."""
    shown = alert_json(alert(name=ObjectName("PRDQSG", "cf_structure", "APPL1")))
    assert (shown["queue_manager"], shown["object"]) == ("PRDQSG", "PRDQSG/cf_structure/APPL1")


def test_several_about_one_object_are_told_apart() -> None:
    """The form of the command stands in the summary, once."""
    name = ObjectName("QM02", "queue_manager")
    bare = alert("AGENT-03", name, instance="INQUIRE_ARCHIVE", text="refused: 2035")
    named = alert("AGENT-03", name, instance="INQUIRE_ARCHIVE", text="INQUIRE_ARCHIVE refused: 2035")
    assert summary(bare) == "INQUIRE_ARCHIVE: refused: 2035"
    assert summary(named) == "INQUIRE_ARCHIVE refused: 2035"


def test_worst_first() -> None:
    """Open before ended, then by severity, then the newest; otherwise by name."""
    critical, warning = alert("A"), alert("B", severity=Severity.WARNING)
    newer, ended = alert("C", severity=Severity.WARNING, started=1795176300000), alert("D", ended=1795176590000)
    assert [each.key.rule for each in worst_first([ended, warning, newer, critical])] == ["A", "C", "B", "D"]


def test_at_least() -> None:
    """A severity selects itself and what is worse, at its worst."""
    listed = [alert("A"), alert("B", severity=Severity.WARNING), alert("C", severity=Severity.INFO)]
    assert [each.key.rule for each in at_least(listed, Severity.WARNING)] == ["A", "B"]


def test_since_names_another_day() -> None:
    """The date is told where it is not today's."""
    now = 1795176590000
    assert since_words(now - 60_000, now) == "12:08:50"
    assert since_words(now - 86_400_000, now) == "2026-11-19 12:09"


def test_listing_golden(ill: StatusData) -> None:
    """Open alerts with their age, ended ones with how long they lasted."""
    ended = alert("PS-01", ObjectName("QM02", "page_set", "4"), ended=1795176350000, text="92 % used")
    lines = printed(alert_list_lines([*ill.alerts[:3], ended], ill.now, 80))
    assert "\n".join(lines) == LISTING


LISTING = """\
● CRITICAL  50 s   since 12:09:00  AGENT-01  QM02
    not reachable: 2059
● CRITICAL  4m12s  since 12:05:38  BP-03     QM01 buffer pool 3
    4 % free, so the queue manager writes pages itself while everyone waits for
    it
▲ WARNING   9m01s  since 12:00:49  CHL-16    QM01 TO.BANK
    RETRYING, 9 short retries left
● CRITICAL  1m00s  12:04:50 - 12:05:50 ended  PS-01  QM02 page set 4
    92 % used"""


def test_the_summary_stands_beside_its_alert_where_there_is_room(ill: StatusData) -> None:
    """From 120 cells every alert has one line, or its summary goes on in its own column."""
    lines = printed(alert_list_lines(ill.alerts[:3], ill.now, 160))
    assert len(lines) == 3
    assert lines[0] == f"{LISTING.splitlines()[0]:<63}  not reachable: 2059"
    assert all(line.index(text) == 65 for line, text in zip(lines, ("not reach", "4 % free", "RETRYING"), strict=True))
    narrower = printed(alert_list_lines(ill.alerts[:3], ill.now, 120))
    assert [line[:65].strip() != "" for line in narrower] == [True, True, False, True]
    assert all(cells(line) <= 120 for line in narrower)


def test_a_long_name_keeps_its_summary_below() -> None:
    """One name of 48 characters moves no other alert's summary; where most names are long all stand below."""
    long = alert(name=ObjectName("QM01", "queue", "A" * 48), started=1795176280000)
    lines = printed(alert_list_lines([alert(), alert("BP-02"), long], 1795176590000, 120))
    assert [line.split("  ")[-1] for line in lines[:2]] == ["4 % free", "4 % free"]
    assert lines[3] == "    4 % free"
    lines = printed(alert_list_lines([alert(), long], 1795176590000, 120))
    assert lines[1] == lines[3] == "    4 % free"


def test_one_line() -> None:
    """A summary is cut to one line, beside its alert or below."""
    long = alert(text="word " * 100)
    for width, count in ((40, 3), (80, 2), (160, 1)):
        (lines,) = entry_texts([long], 1795176590000, width, one_line=True)
        assert len(lines) == count
        assert lines[-1].endswith("…")
        assert cells(lines[-1]) <= width


def test_what_was_worse_says_so() -> None:
    """An open alert is shown as bad as it is now, and tells that it was worse; JSON and at_least go by the worst."""
    eased = replace(alert(), severity=Severity.WARNING)
    (first, _) = printed(alert_list_lines([eased], 1795176590000, 80))
    assert first.startswith("▲ WARNING ")
    assert first.endswith("QM01 buffer pool 3 (was critical)")
    assert alert_json(eased)["severity"] == "critical"
    assert at_least([eased], Severity.CRITICAL) == [eased]
    (over, _) = printed(alert_list_lines([replace(eased, ended=1795176590000)], 1795176590000, 80))
    assert over.startswith("● CRITICAL ")
    assert "was" not in over


def test_what_is_covered_says_by_what() -> None:
    """An alert that another one of its family stands for names it."""
    worse, covered = alert("BP-03"), alert("BP-02", severity=Severity.WARNING)
    lines = printed(alert_list_lines([worse, covered], 1795176590000, 80, {covered.key: worse.key}))
    assert lines[0].endswith("BP-03  QM01 buffer pool 3")
    assert lines[2].endswith("BP-02  QM01 buffer pool 3 (covered by BP-03)")


def test_a_summary_does_not_repeat_the_name_beside_it() -> None:
    """What begins with the object that stands before it is told without; JSON keeps the whole sentence."""
    named = alert(text="buffer pool 3: 4 % free")
    assert printed(alert_list_lines([named], 1795176590000, 80))[1] == "    4 % free"
    assert alert_json(named)["summary"] == "buffer pool 3: 4 % free"
    for text in ("pool 13: 4 % free", "buffer pool 3 (unclassified): 4 %", "buffer pool 3: ", "3: x"):
        assert printed(alert_list_lines([alert(text=text)], 1795176590000, 80))[1] == f"    {text.strip()}"


def test_what_no_longer_holds_says_so() -> None:
    """The words of an open alert whose condition does not hold, or is unknown, are told as something that was.

    JSON has the same; of an ended alert they stand alone.
    """
    clearing = replace(alert(), good_polls=1)
    eased = replace(alert(), recent_polls=0)
    unknown = replace(alert(), unknown_polls=1)
    for standing, words in (
        (clearing, "clearing, was: 4 % free"),
        (eased, "no longer so, was: 4 % free"),
        (unknown, "now unknown, was: 4 % free"),
        (replace(unknown, good_polls=1), "now unknown, was: 4 % free"),
        (replace(eased, worst_value="1 %"), "now unknown, was: 4 % free"),
    ):
        assert printed(alert_list_lines([standing], 1795176590000, 80))[1] == f"    {words}"
        assert alert_json(standing)["summary"] == words
        ended = replace(standing, ended=1795176590000)
        worst = f" ({ended.worst_value} at worst)" if ended.worst_value else ""
        assert printed(alert_list_lines([ended], 1795176590000, 80))[-1].strip() == f"4 % free{worst}"
        assert alert_json(ended)["summary"] == "4 % free"


def test_between_its_bounds_an_alert_says_what_was_and_what_is() -> None:
    """The words are of the last poll on which the condition held, the figure in front of them of now."""
    eased = replace(alert(), recent_polls=0, value_now="7 %", worst_value="1 %")
    assert printed(alert_list_lines([eased], 1795176590000, 80))[1] == "    now 7 %, was: 4 % free"
    clearing = replace(eased, good_polls=1, value_now="34 %")
    assert printed(alert_list_lines([clearing], 1795176590000, 80))[1] == "    clearing, now 34 %, was: 4 % free"


def test_an_ended_alert_shows_its_worst() -> None:
    """And the figure that ended it; JSON has both on demand."""
    ended = replace(
        alert(), state=AlertState.RESOLVED, ended=1795176590000, value_now="34 %", worst_value="1 %", worst_number=1.0
    )
    text = " ".join(" ".join(printed(alert_list_lines([ended], 1795176590000, 80))).split())
    assert "(1 % at worst, 34 % at its end)" in text
    assert set(full_json(ended)) == {*alert_json(ended), "worst_value", "value_now"}


def test_words_have_the_room_beside_the_objects() -> None:
    """On a wide screen the words of ended alerts begin behind the longest object, and how they went follows them."""
    ended = replace(
        alert(), state=AlertState.RESOLVED, ended=1795176590000, value_now="34 %", worst_value="1 %", worst_number=1.0
    )
    (first,) = printed(alert_list_lines([ended], 1795176590000, 200))
    assert first.endswith("QM01 buffer pool 3  4 % free (1 % at worst, 34 % at its end)")


def test_what_is_silent_keeps_its_age() -> None:
    """An alert of an owner that fell silent has lasted until then, however long ago that is."""
    started = alert().started or 0
    ((first, _),) = entry_texts([alert()], started + 900_000, 80, silent={"QM01": started + 5_000})
    assert "5 s  since" in first
    assert "(last known)" in first


def test_nothing_to_list() -> None:
    """No alerts is said, not left blank."""
    assert printed(alert_list_lines([], 0, 80)) == ["✓ OK  no alerts"]


@pytest.mark.parametrize("text", ["\x1b[2J", "[/x]", "日本" * 60, "x" * 300, "e\u0301" * 50, ""])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_hostile_text_fits(text: str, width: int) -> None:
    """Whatever MQ and the rules say, a list keeps its width and steers no terminal."""
    lines = printed(
        alert_list_lines([alert(text, ObjectName("QM01", "queue", text), text=text, instance=text)], 0, width)
    )
    assert all(cells(line) <= width for line in lines)
    assert not any("\x1b" in line for line in lines)

"""The status screen: goldens, 80 columns, hostile names, and that absent, stale and unknown look different."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unicodedata import category

import pytest

from mqsamples.printed import printed
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.alerts.words import AlertAdvice
from mqvitals_agent.view.figures.values import MAIN_METRIC
from mqvitals_agent.view.lists import key_figures
from mqvitals_agent.view.screens.status import LEAST_ALERTS, MOST_ALERTS, MOST_STRUCTURES, status_screen, suggestions
from mqvitals_agent.view.status import FIGURES, OwnerData, StatusData, status_of
from mqvitals_agent.view.status_json import status_json
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName, Outcome
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS, metric

HOSTILE = ("[/x] <b>", "\x1b[2J\x1b]0;x\x07", "日本語のキュー", "e" + "\u0301" * 40, "\u202eevil", "A" * 48, "x\r\ny")


def lines(data: StatusData, width: int = 80, *, colour: bool = False) -> list[str]:
    return printed(status_screen(status_of(data), width), colour=colour)


def text(data: StatusData, width: int = 80) -> str:
    return "\n".join(lines(data, width))


@pytest.fixture
def storm(ill: StatusData, group: Any) -> StatusData:
    """Thirty queue managers more, all well, and three hundred alerts more."""
    names = [f"QM{number}" for number in range(10, 40)]
    current = {**ill.current}
    for name in names:
        current.update(group.figures(name))
    alerts = tuple(
        group.alert("Q-03", ObjectName("QM01", "queue", f"Q{number}"), Severity.WARNING, 1_000_000 + number)
        for number in range(300)
    )
    members = (*ill.members[:2], *map(group.member, names), ill.members[2])
    return replace(ill, alerts=(*ill.alerts, *alerts), current=current, members=members)


def told(value: Reported, ts: int | None, asked: int = 0, unanswered: Absence | None = None) -> CurrentValue:
    return CurrentValue(value, ts, "PROBE", asked, unanswered)


def test_healthy_golden(healthy: StatusData) -> None:
    """All well: who, when, that it is the past, the key figures."""
    assert text(healthy) == HEALTHY


def test_ill_golden(ill: StatusData) -> None:
    """What is wrong, where, since when, what to do."""
    advice = AlertAdvice("Look at its job log.", "DISPLAY QMGR")
    shown = printed(status_screen(status_of(ill), 80, advice=advice, options="--store prd.db"))
    assert "\n".join(shown) == ILL


def test_stale_golden(ill: StatusData) -> None:
    """A live store without news says so first, and shows nothing as OK."""
    shown = text(replace(ill, past=False, now=ill.now + 900_000))
    assert shown.startswith(STALE)
    assert "OK" not in shown


@pytest.mark.parametrize("width", [40, 44, 60, 80, 120, 200])
def test_fits(ill: StatusData, healthy: StatusData, width: int) -> None:
    """No line but a command to be copied is wider than the screen."""
    for data in (ill, healthy, replace(ill, past=False, now=ill.now + 10**10)):
        wide = [line for line in lines(data, width) if cells(line) > width]
        assert all(line.startswith("  mqvitals ") for line in wide)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(ill: StatusData, name: str) -> None:
    """Names and texts of MQ neither steer the terminal nor break the width."""
    queue = ObjectName("QM01", "queue", name)
    key = AlertKey("Q-03", queue, name)
    hostile = Alert(
        key, queue, "operational", "", AlertState.FIRING, Severity.CRITICAL, Severity.CRITICAL, 0, 0, name * 3, 0
    )
    structure = {ObjectName(name, "cf_structure", name): {"entries_pct": told(99.0, ill.now)}}
    members = (*ill.members[:2], replace(ill.members[2], name=name), OwnerData(name, False, 0, ill.now))
    data = replace(
        ill, alerts=(hostile,), group=name, origin=name, members=members, current={**ill.current, **structure}
    )
    shown = lines(data)
    assert not {category(char) for line in shown for char in line} & {"Cc", "Cf", "Cs", "Zl"}
    assert all(cells(line) <= 80 or line.startswith("  mqvitals ") for line in shown)


def test_absent_stale_and_unknown_differ(healthy: StatusData) -> None:
    """A figure that is absent shows its reason, one that is old its age, and neither shows as nothing or OK."""
    first = {key: value for key, value in healthy.current.items() if key.owner == "QM01"}
    absent = {
        **first,
        **{
            name: {"free_pct": told(Absence.NOT_AUTHORISED, healthy.now)}
            for name in first
            if name.kind == "buffer_pool"
        },
        **{name: {"used_pct": told(62, healthy.now - 41_000)} for name in first if name.kind == "page_set"},
        ObjectName("QM01", "log"): {},
    }
    member = healthy.members[0]
    assert key_figures.least_free(absent, member, healthy.now) == "not authorised"
    assert key_figures.fullest(absent, member, healthy.now) == "PS0 62 % 41s"
    assert key_figures.full_logs(absent, member, healthy.now) == "not asked"
    assert (
        key_figures.task_counts({}, member, healthy.now)
        == key_figures.channel_counts({}, member, healthy.now)
        == "not asked"
    )


@pytest.mark.parametrize(
    ("outcome", "words"),
    [(Outcome.DAMAGED, "no answer"), (Outcome.INCOMPLETE, "no answer"), (Outcome.REFUSED, "not authorised")],
)
def test_a_queue_manager_that_answers_is_not_called_not_asked(
    healthy: StatusData, outcome: Outcome, words: str
) -> None:
    """Where its first answers tell of no object, the command's outcome says why."""
    member = healthy.members[0]
    current = {
        ObjectName(member.name, "agent", command): {"outcome": told(outcome.value, healthy.now)}
        for command in ("INQUIRE_USAGE", "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)", "INQUIRE_CHANNEL_INIT", "INQUIRE_LOG")
    }
    assert {
        key_figures.least_free(current, member, healthy.now),
        key_figures.fullest(current, member, healthy.now),
        key_figures.channel_counts(current, member, healthy.now),
        key_figures.task_counts(current, member, healthy.now),
        key_figures.full_logs(current, member, healthy.now),
    } == {words}


def test_zero_is_told_as_zero(healthy: StatusData) -> None:
    """A pool without a free buffer is not taken for an absent one."""
    name = ObjectName("QM01", "buffer_pool", "3")
    current = {**healthy.current, name: {"free_pct": told(0, healthy.now)}}
    assert key_figures.least_free(current, healthy.members[0], healthy.now) == "BP3 0 %"


def test_channel_cells(healthy: StatusData) -> None:
    """Channels are counted by state; inactive ones are left out, those without a status are told."""
    status = metric("channel", "status").values
    words = ("RUNNING", "STOPPED", "BINDING", "INACTIVE", "RETRYING")
    current = {ObjectName("QM01", "channel", word): {"status": told(status[word], healthy.now)} for word in words}
    current[ObjectName("QM01", "channel", "DARK")] = {"status": told(Absence.NO_ANSWER, healthy.now)}
    assert key_figures.channel_counts(current, healthy.members[0], healthy.now) == "1 run 1 retry 1 stop 1 other ? 1"
    dark = {name: values for name, values in current.items() if name.name == "DARK"}
    assert key_figures.channel_counts(dark, healthy.members[0], healthy.now) == "no answer"


def test_channel_initiator_cells(healthy: StatusData) -> None:
    """A channel initiator that does not run says so instead of its tasks; a figure that is missing is a question mark."""
    name = ObjectName("QM01", "channel_initiator")
    stopped = {name: {"status": told(metric("channel_initiator", "status").values["STOPPED"], healthy.now)}}
    assert key_figures.task_counts(stopped, healthy.members[0], healthy.now) == "STOPPED"
    partly = {name: {"adapters_started": told(7, healthy.now), "adapters_max": told(8, healthy.now)}}
    assert key_figures.task_counts(partly, healthy.members[0], healthy.now) == "7/8 A ?/? D"


def test_structure_without_figures_is_unknown(healthy: StatusData) -> None:
    """A structure of which nothing is known, or nothing new, is not OK."""
    name = ObjectName("PRDQSG", "cf_structure", "APPL1")
    for value in (told(Absence.NO_ANSWER, healthy.now), told(50.0, healthy.now - 100_000), told(50.0, None)):
        shown = text(replace(healthy, current={**healthy.current, name: {"entries_pct": value}}))
        assert "? UNKNOWN APPL1" in " ".join(shown.split())


def test_never_reached(healthy: StatusData) -> None:
    """A queue manager that was never reached has no figures and says so."""
    current = {name: values for name, values in healthy.current.items() if name.owner != "QM02"}
    shown = text(replace(healthy, current=current))
    assert "? UNKNOWN QM02 never" in " ".join(shown.split())
    assert "never reached" in shown


def test_not_all_is_known(healthy: StatusData) -> None:
    """Without an alert but with something unknown the screen does not say that all is well."""
    first, second, third = healthy.members
    shown = text(replace(healthy, past=False, members=(first, replace(second, last_ts=healthy.now - 60_000), third)))
    assert "? UNKNOWN  no alert is firing, but not all is known" in shown
    assert "Stale: no new data from QM02 for 1m00s" in shown


def test_many(healthy: StatusData) -> None:
    """Hundreds of alerts and structures still make one screen, which says that there are more."""
    alerts = tuple(
        Alert(
            AlertKey("Q-03", ObjectName("QM01", "queue", f"Q{number}")),
            ObjectName("QM01", "queue", f"Q{number}"),
            "operational",
            "",
            AlertState.FIRING,
            Severity.WARNING,
            Severity.WARNING,
            0,
            0,
            "deep",
            healthy.now - number,
        )
        for number in range(300)
    )
    structures = {
        ObjectName("PRDQSG", "cf_structure", f"S{number}"): {"entries_pct": told(float(number), healthy.now)}
        for number in range(60)
    }
    shown = lines(replace(healthy, alerts=alerts, current={**healthy.current, **structures}))
    assert f"and {300 - MOST_ALERTS} more: mqvitals alerts list" in shown
    assert f"✓ {62 - MOST_STRUCTURES} more structures OK" in shown
    assert len(shown) < 60


def test_nothing_seen(healthy: StatusData) -> None:
    """An empty store has a screen too."""
    shown = text(StatusData(healthy.now, False, "", "", ()))
    assert "? UNKNOWN" in shown
    assert "No queue manager has reported yet" in shown


def test_colour_changes_no_word(ill: StatusData) -> None:
    """With colour the screen says the same, and only signs and titles are coloured."""
    import re

    coloured = lines(ill, colour=True)
    assert any("\x1b[" in line for line in coloured)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == lines(ill)


def test_fitted_to_a_terminal(storm: StatusData) -> None:
    """On 24 lines the header, who is not well and the three worst alerts stay, and it is said what was left out."""
    shown = printed(status_screen(status_of(storm), 80, options="--store prd.db", height=23))
    assert len(shown) <= 23
    assert shown[0].endswith("● CRITICAL 4m12s")
    words = "\n".join(shown)
    assert "● CRITICAL  QM01" in words
    assert "● CRITICAL  QM02" in words
    assert all(f"  {rule} " in words for rule in ("AGENT-01", "BP-03", "CHL-16"))
    assert "✓ 2 structures OK" in words
    assert "✓ 28 more queue managers OK" in words or "✓ 30 more queue managers OK" in words
    assert "What to do about" not in words
    left = 304 - sum(line[:1] in "●▲" and " since " in line for line in shown)
    assert shown[-1] == f"and {left} more: mqvitals alerts list --store prd.db"


def test_what_is_given_up_first(ill: StatusData) -> None:
    """With less and less room: structures that are OK, advice, alerts, ends of summaries; never more lines than asked."""
    view, advice = status_of(ill), AlertAdvice("Look at its job log.", "DISPLAY QMGR")
    everything = printed(status_screen(view, 80, advice=advice))
    assert printed(status_screen(view, 80, advice=advice, height=len(everything))) == everything
    lost: list[str] = []
    marks = {
        "structures": "APPL1",
        "words": "Look at its job log",
        "commands": "mqvitals trend",
        "alert": "AGENT-03",
        "summary": "everyone waits for\n",
    }
    for height in range(len(everything), 19, -1):
        shown = printed(status_screen(view, 80, advice=advice, height=height))
        assert len(shown) <= height
        lost += [name for name, mark in marks.items() if name not in lost and mark not in "\n".join(shown)]
    assert lost == list(marks)


def test_a_tall_terminal_is_used(storm: StatusData) -> None:
    """Where there is room for more alerts than usual, they are shown."""
    shown = printed(status_screen(status_of(storm), 80, height=199))
    assert len(shown) in (198, 199)
    assert sum(" since " in line for line in shown) > 5 * MOST_ALERTS
    assert "What to do about AGENT-01 QM02/queue_manager" in shown


def test_what_cannot_be_broken_is_counted_as_the_terminal_shows_it(ill: StatusData) -> None:
    """A path that is longer than a line takes two of the terminal's."""
    options = f"--store /{'long/' * 30}prd.db"
    for height in range(20, 45):
        shown = printed(status_screen(status_of(ill), 80, options=options, height=height))
        assert sum(max(-(-cells(line) // 80), 1) for line in shown) <= height


def test_nothing_is_too_small(storm: StatusData, healthy: StatusData) -> None:
    """However low a terminal is, what must stay stays."""
    for height in (-1, 0, 1, 5):
        shown = printed(status_screen(status_of(storm), 80, height=height))
        assert sum(" since " in line for line in shown) == LEAST_ALERTS
        assert "Queue managers    ✓ all 2 OK" not in shown
    assert "Queue managers  ✓ all 2 OK" in printed(status_screen(status_of(healthy), 80, height=5))


def test_the_header_tells_for_how_long(ill: StatusData) -> None:
    """Beside how bad it is stands since when that is so: the longest form for which there is room."""
    (first, *_) = lines(ill, 120)
    assert first.endswith("  ● CRITICAL for 4m12s, since 12:05:38")
    assert lines(ill, 44)[0] == "● CRITICAL for 4m12s, since 12:05:38"
    stale = replace(ill, past=False, now=ill.now + 900_000)
    assert lines(stale, 120)[0].endswith("  ? UNKNOWN")


def test_one_of_a_family_stands_for_the_others(ill: StatusData, group: Any) -> None:
    """What a worse rule of the family stands for is neither shown nor counted; how bad it is stays."""
    pool = ObjectName("QM01", "buffer_pool", "3")
    family = tuple(
        replace(group.alert(rule, pool, severity), family="bp_free")
        for rule, severity in (
            ("BP-01", Severity.WARNING),
            ("BP-02", Severity.WARNING),
            ("BP-03", Severity.CRITICAL),
        )
    )
    view = status_of(replace(ill, alerts=family))
    assert [alert.key.rule for alert in view.alerts] == ["BP-03"]
    assert view.queue_managers[0].alerts == ((Severity.CRITICAL, 1), (Severity.WARNING, 0), (Severity.INFO, 0))
    assert [alert["rule"] for alert in status_json(view, Labeller())["alerts"]] == ["BP-03"]
    view = status_of(replace(ill, alerts=family[:2]), {"BP-01": 2, "BP-02": 1})
    assert [alert.key.rule for alert in view.alerts] == ["BP-01"]
    assert view.health is Health.WARNING


def test_was_critical(ill: StatusData) -> None:
    """An alert that has been worse is shown as it is now, and says so."""
    eased = replace(ill.alerts[2], severity=Severity.WARNING)
    shown = text(replace(ill, alerts=(eased,)))
    assert "▲ WARNING   4m12s  since 12:05:38  BP-03  QM01 buffer pool 3 (was critical)" in shown
    assert "● 0 critical  ▲ 1 warning" in shown


def test_suggestions_can_be_typed(ill: StatusData) -> None:
    """Suggested commands quote names for the shell and ask about what the rule judged."""
    name = ObjectName("QM01", "queue_manager")
    scope = ObjectName("QM01", "agent", "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)")
    alert = replace(ill.alerts[0], key=AlertKey("AGENT-03", name, scope.name), scope=scope)
    assert suggestions(alert) == (
        "mqvitals rules explain AGENT-03 'QM01/agent/INQUIRE_CHANNEL_STATUS CMDSCOPE(*)'",
        "mqvitals trend outcome 'QM01/agent/INQUIRE_CHANNEL_STATUS CMDSCOPE(*)'",
    )


def test_a_long_option_goes_to_a_line_of_its_own(ill: StatusData) -> None:
    """A command that does not fit is continued as a shell reads it, its path in one piece."""
    path = f"--store /{'long/' * 12}prd.db"
    shown = "\n".join(printed(status_screen(status_of(ill), 80, options=path)))
    assert f"  mqvitals trend reachable QM02/queue_manager \\\n    {path}" in shown


def test_metrics_exist() -> None:
    """Every metric that the screen shows or suggests is in the vocabulary; what is suggested has a history."""
    for kind, names in FIGURES.items():
        assert all(KINDS[kind].metric(name) for name in names)
    assert set(MAIN_METRIC) == set(KINDS)
    for kind, name in MAIN_METRIC.items():
        found = KINDS[kind].metric(name)
        assert found is not None, (kind, name)
        assert found.in_history


HEALTHY = """\
mqvitals  PRDQSG  2 queue managers  2026-11-20 12:09:50 UTC                 ✓ OK
The past: replay of recording.jsonl.gz, 2026-11-20 12:00:00 to 12:09:50 UTC
● 0 critical  ▲ 0 warning  ◆ 0 info

Queue managers    Pool      Page set                  Chinit       Full
            Seen  min free  max used  Channels        tasks        logs
✓ OK  QM01  0s    BP3 61 %  PS4 62 %  48 run 1 retry  8/8 A 5/5 D  0/8
✓ OK  QM02  0s    BP3 61 %  PS4 62 %  48 run 1 retry  8/8 A 5/5 D  0/8

Coupling facility
✓ OK  APPL1      entries 93.1 % (186 k of 200 k)  size 84 %  ACTIVE
✓ OK  CSQ_ADMIN  entries 0.6 % (53 of 9.4 k)      size 4 %   ACTIVE

✓ OK  no alert is firing"""

ILL = """\
mqvitals  PRDQSG  2 queue managers  2026-11-20 12:09:50 UTC     ● CRITICAL 4m12s
The past: replay of recording.jsonl.gz, 2026-11-20 12:00:00 to 12:09:50 UTC
● 2 critical  ▲ 2 warning  ◆ 0 info
12 verdicts need SMF records, 2 need declarations

Queue managers          Pool      Page set                     Chinit       Full
                  Seen  min free  max used  Channels           tasks        logs
● CRITICAL  QM01  0s    BP3 4 %   PS4 62 %  48 run 1 retry ▲1  8/8 A 5/5 D  0/8
● CRITICAL  QM02  50s   BP3 61 %  PS4 62 %  48 run 1 retry     8/8 A 5/5 D  0/8
    unreachable: these figures are 50 s old

Coupling facility
✓ OK  APPL1      entries 93.1 % (186 k of 200 k)  size 84 %  ACTIVE
✓ OK  CSQ_ADMIN  entries 0.6 % (53 of 9.4 k)      size 4 %   ACTIVE

Alerts, worst first
● CRITICAL  50 s     since 12:09:00  AGENT-01  QM02
    not reachable: 2059
● CRITICAL  4m12s    since 12:05:38  BP-03     QM01 buffer pool 3
    4 % free, so the queue manager writes pages itself while everyone waits for
    it
▲ WARNING   9m01s    since 12:00:49  CHL-16    QM01 TO.BANK
    RETRYING, 9 short retries left
▲ WARNING   1 d 0 h  since 2026-11-19 12:09  AGENT-03  QM01
    INQUIRE_ARCHIVE: refused: 2035
1 piece of advice on the configuration:
  mqvitals alerts list --review --store prd.db

What to do about AGENT-01 QM02/queue_manager
  Look at its job log.
  MQSC: DISPLAY QMGR
  mqvitals rules explain AGENT-01 QM02/queue_manager --store prd.db
  mqvitals trend reachable QM02/queue_manager --store prd.db"""

STALE = """\
mqvitals  PRDQSG  2 queue managers  12:09:50 UTC (15m00s ago)          ? UNKNOWN
Stale: no new data for 15m00s. Is the agent running? All values are that old
● 2 critical (2 new)  ▲ 2 warning (2 new)  ◆ 0 info
12 verdicts need SMF records, 2 need declarations

Queue managers        Pool     Page set                   Chinit      Full
               Seen   min free max used Channels          tasks       logs
? UNKNOWN QM01 15m00s BP3 4 %  PS4 62 % 48 run 1 retry ▲1 8/8 A 5/5 D 0/8
? UNKNOWN QM02 15m50s BP3 61 % PS4 62 % 48 run 1 retry    8/8 A 5/5 D 0/8
    unreachable: these figures are 15m50s old
"""

"""The overview and the header above every screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue, UnknownRow
from mqvitals_agent.text.chart import TimeRange as Time
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.sparkline import BLOCKS, sparkline
from mqvitals_agent.text.strip import STRIP_GLYPHS
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import Frame, FrameRequest, StorePosition, read_frame
from mqvitals_agent.view.history.heat import Heat
from mqvitals_agent.view.lists.overview_history import OverviewHistory, bounds_of_object
from mqvitals_agent.view.screens.agent import agent_lines
from mqvitals_agent.view.screens.header import header_lines
from mqvitals_agent.view.screens.overview.page import overview_lines
from mqvitals_agent.view.status import StatusData, status_of, without_answer
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

Golden = Callable[[str, Callable[[int], Sequence[Line]]], None]

WIDTHS = (80, 120, 200)


HOURS = ((Health.OK,) * 11 + (None,)) * 3 + (Health.OK,) * 20 + (Health.WARNING,) * 10 + (Health.CRITICAL,) * 6
"""The states of 72 stretches: well with holes, then worse and worse."""


def rising(now: int) -> tuple[tuple[int, float], ...]:
    return tuple((now - (11 - n) * 50_000, 100.0 * n) for n in range(12))


def frame_of(data: StatusData) -> Frame:
    """A frame of the overview, with a past that falls and a rate that rises."""
    now = data.now
    falling = tuple((now - (59 - n) * 10_000, 95.0 - 1.5 * n) for n in range(60))
    points = {name: falling for name in data.current if name.kind in ("buffer_pool", "page_set", "cf_structure")}
    rates = {"QM01": CurrentValue(3123.4, now, "PROBE", now, None)}
    return Frame(
        FrameRequest(),
        StorePosition(now, 1),
        now,
        now,
        data,
        status_of(data),
        history=OverviewHistory(points, rates, logged={"QM01": falling}, moved={"QM01": rising(now)}),
    )


def with_states(frame: Frame) -> Frame:
    """The frame with the states of three hours."""
    states = {member.name: HOURS for member in frame.data.members}
    return replace(frame, heat=Heat(frame.now - 72 * 150_000, 150_000, states))


def lines_of(frame: Frame, width: int) -> tuple[Line, ...]:
    return (*header_lines(frame, width), *overview_lines(frame, width))


def test_quiet(healthy: StatusData, golden: Golden) -> None:
    """A group in health, from a replay that is labelled as the past."""
    golden("overview-quiet", lambda width: lines_of(with_states(frame_of(healthy)), width))


@pytest.mark.parametrize(
    ("failed", "without", "words"),
    [
        ("", "", "✓ OK        PRDQSG     4 of 4 members active; Db2: 4"),
        ("QM03", "", "● CRITICAL  PRDQSG     3 of 4 members active, failed: QM03; Db2: 3"),
        ("QM03", "QM02", "● CRITICAL  PRDQSG     3 of 4 members active, failed: QM03; Db2: 2, without: QM02"),
    ],
)
def test_the_members_of_the_group(healthy: StatusData, group: Any, failed: str, without: str, words: str) -> None:
    """Above the structures: how many are active, which have failed or have no Db2; its key opens the group."""
    name = ObjectName("PRDQSG", "qsg")
    active = 4 - bool(failed)
    values: dict[str, Reported] = {
        "qmgr_count": 4,
        "members_active": active,
        "failed_members": failed,
        "db2_active": active - bool(without),
        "members_without_db2": without,
    }
    told = {key: CurrentValue(value, healthy.now, "P", healthy.now, None) for key, value in values.items()}
    alerts = (group.alert("OPS-113", name, Severity.CRITICAL, 60_000, "failed"),) if failed else ()
    data = replace(healthy, current={**healthy.current, name: told}, alerts=alerts, past=False)
    (row,) = (each for each in overview_lines(frame_of(data), 120) if each.key == str(name) and "members" in each.text)
    assert row.text.rstrip() == words
    assert all(cells(each.text) <= 60 for each in overview_lines(frame_of(data), 60))


def test_incident(ill: StatusData, golden: Golden) -> None:
    """The worst stands on top, an unreachable queue manager says how old its figures are."""
    golden("overview-incident", lambda width: lines_of(frame_of(replace(ill, past=False)), width))


def test_stale(ill: StatusData, golden: Golden) -> None:
    """When nothing new has come the screen says so and no queue manager is shown as well."""
    stale = replace(ill, past=False, now=ill.now + 600_000)
    golden("overview-stale", lambda width: lines_of(frame_of(stale), width))


def test_empty(golden: Golden) -> None:
    """Where nothing was stored yet the screen says what to do."""
    golden("overview-empty", lambda width: lines_of(frame_of(StatusData(0, False, "", "PRDQSG", ())), width))


@pytest.mark.parametrize("width", [40, 60, 80, 81, 99, 120, 160, 200])
def test_no_line_is_wider_than_the_screen(ill: StatusData, healthy: StatusData, width: int) -> None:
    """Whatever the width, and whatever is wrong."""
    for data in (ill, healthy, replace(ill, past=False, now=ill.now + 10**7)):
        frame = frame_of(data)
        if width >= 60:
            assert max(cells(line.text) for line in lines_of(frame, width)) <= width
        else:
            assert max(cells(line.text) for line in header_lines(frame, width)) <= width


def test_stale_looks_stale_and_never_well(healthy: StatusData) -> None:
    """Ten minutes without a snapshot: the figures are stale in tone, and nothing is green."""
    frame = frame_of(replace(healthy, past=False, now=healthy.now + 600_000))
    lines = lines_of(frame, 120)
    tones = {span.tone for line in lines if line.key.startswith("QM01/") for span in line.spans}
    assert Tone.STALE in tones
    assert Tone.OK not in tones
    assert "stale: no new data for 10m00s" in "".join(line.text for line in lines)


def test_enter_leads_to_the_object(ill: StatusData) -> None:
    """A queue manager's line, a structure's and an alert's open what they are about."""
    keys = [line.key for line in overview_lines(frame_of(ill), 120) if line.key]
    assert keys[:2] == ["QM01/queue_manager", "QM02/queue_manager"]
    assert {"PRDQSG/cf_structure/APPL1", "QM01/buffer_pool/3", "QM01/channel/TO.BANK"} <= set(keys)


def test_a_stored_group(stored: StoreReader, judging: RuleConfig) -> None:
    """Read from a store, the overview has the critical pool, its past, and the rate of messages."""
    frame = read_frame(stored, 0, FrameRequest(), judging)
    text = "\n".join(line.text for line in lines_of(frame, 200))
    assert "BP3 4 %" in text
    assert "▇" in text
    assert frame.history.rates["QM01"].value == pytest.approx(50)
    assert any(line.key == "QM01/buffer_pool/3" for line in overview_lines(frame, 200))


def test_what_to_do_about_the_worst(stored: StoreReader, judging: RuleConfig) -> None:
    """Below the worst alert stand what to do and what to type, also in 80 columns; of a silent one nothing is to be done."""
    frame = read_frame(stored, 0, FrameRequest(), judging)
    for width in (79, 119):
        lines = overview_lines(frame, width)
        at = next(place for place, line in enumerate(lines) if line.key == "QM01/buffer_pool/3")
        below = " ".join(line.text.strip() for line in lines[at + 1 : at + 7] if not line.key)
        assert "to do: Enlarge the pool or split its queues now." in below
        assert "MQSC: DISPLAY USAGE PSID(*) TYPE(PAGESET)" in below
        assert "so few that tasks write pages themselves and wait" in f"{lines[at].text} {below}"
    later = replace(frame.data, past=False, now=frame.now + 3_600_000)
    stale = replace(frame, now=later.now, data=later, status=status_of(later))
    assert "to do:" not in "".join(line.text for line in overview_lines(stale, 79))


@pytest.mark.parametrize("width", WIDTHS)
def test_full_in(healthy: StatusData, width: int) -> None:
    """What fills says when it will be full; what is silent says nothing of what will be."""
    now = healthy.now
    rising = tuple((now - (11 - n) * 60_000, 60.0 + n) for n in range(12))
    flat = tuple((ts, 35.0) for ts, _ in rising)
    points = {
        name: rising if name.kind == "cf_structure" and name.name == "APPL1" else flat
        for name in healthy.current
        if name.kind in ("buffer_pool", "page_set", "cf_structure")
    }
    frame = replace(frame_of(healthy), history=OverviewHistory(points))
    lines = {line.key: line.text for line in overview_lines(frame, width)}
    assert "full in 29m00s" in lines["PRDQSG/cf_structure/APPL1"]
    assert "full in" not in lines["PRDQSG/cf_structure/CSQ_ADMIN"]
    page_set = {name: rising if name.kind == "page_set" else flat for name in points}
    lines = {line.key: line.text for line in overview_lines(replace(frame, history=OverviewHistory(page_set)), width)}
    assert "29m00s" in lines["QM01/queue_manager"]
    later = replace(healthy, past=False, now=now + 600_000)
    stale = replace(frame, now=later.now, data=later, status=status_of(later))
    assert "full in" not in "".join(line.text for line in overview_lines(stale, width))


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_strip_and_reason_stand_together(ill: StatusData, width: int) -> None:
    """In an incident every queue manager has the strip of its last hours, and the ill one the rule of its worst alert."""
    frame = with_states(frame_of(ill))
    shown = {line.key: line for line in reversed(overview_lines(frame, width))}
    titles = overview_lines(frame, width)[1].text
    begin, end = titles.index("last 3h"), titles.index("Why")
    for each in ("QM01", "QM02"):
        states = shown[f"{each}/queue_manager"].text[begin:end].rstrip()
        assert len(states) >= 8
        assert set(states) <= STRIP_GLYPHS | {" "}
        assert states[-1] == "█"
        assert len(shown[f"{each}/queue_manager"].parts) == len(states.replace(" ", ""))
    words = shown["QM01/queue_manager"].text[end:]
    assert words.split()[0] == "BP-03"
    assert width < 120 or words.startswith("BP-03 BP3")


def test_rates_over_time(healthy: StatusData) -> None:
    """Where there is room a queue manager has the sparklines of its messages and of its log, lowest and highest as drawn."""
    frame = frame_of(healthy)
    titles, first = (line.text for line in overview_lines(frame, 200)[1:3])
    assert first[titles.index("Msgs/s") + 8 :].lstrip().startswith(BLOCKS[0] * 2)
    assert first[: titles.index("Chinit")].rstrip().endswith(BLOCKS[-1])
    logged = first[titles.index("logged") :]
    assert logged[0] == BLOCKS[-1]
    assert logged[11] == BLOCKS[1]


def test_rates_of_a_stored_group(stored: StoreReader, judging: RuleConfig) -> None:
    """The trend of each queue manager ends with the rate beside it, and no look is at what came later."""
    frame = read_frame(stored, stored.last_ts() or 0, FrameRequest(), judging)
    moved = frame.history.moved
    assert moved.keys() == frame.history.rates.keys()
    for name, rate in frame.history.rates.items():
        assert moved[name][-1] == (rate.ts, rate.value)
        assert any(value for _, value in moved[name][:-1])
        times = [ts for ts, _ in moved[name]]
        assert times == sorted(times)
        assert len(times) <= 13


def test_pasts_are_shares_of_all(healthy: StatusData) -> None:
    """A constant 35 % is a low block all along, and 100 % a full one: the scale is that of the share, not of its values."""
    points = dict.fromkeys(healthy.current, ((healthy.now - 3_000_000, 35.0), (healthy.now, 35.0)))
    text = next(
        line.text
        for line in overview_lines(replace(frame_of(healthy), history=OverviewHistory(points)), 120)
        if line.key.startswith("QM01")
    )
    assert "▃" in text
    assert not set("▄▅▆▇█") & set(text)


def test_a_short_time_at_the_threshold_stays_in_sight(healthy: StatusData, judging: RuleConfig) -> None:
    """A pool that had no free buffer for one poll of the hour, and a structure that was full: a cell in the colour of
    critical, as the rules have it."""
    now = healthy.now
    beyond = {"buffer_pool": 0.0, "page_set": 20.0, "cf_structure": 99.0}
    usual = {"buffer_pool": 80.0, "page_set": 20.0, "cf_structure": 20.0}
    points = {
        name: tuple((now - (59 - n) * 1_000, beyond[name.kind] if n == 20 else usual[name.kind]) for n in range(60))
        for name in healthy.current
        if name.kind in usual
    }
    bounds = {
        name: bounds_of_object(
            name,
            {"buffer_pool": "free_pct", "cf_structure": "entries_pct"}.get(name.kind, "used_pct"),
            healthy.current[name],
            judging.rules,
        )
        for name in points
    }
    assert bounds[ObjectName("QM01", "buffer_pool", "3")].low_is_bad
    frame = replace(frame_of(healthy), history=OverviewHistory(points, bounds=bounds))
    lines = {line.key: line for line in overview_lines(frame, 160)}
    for key, block in (("QM01/queue_manager", "▁"), ("PRDQSG/cf_structure/APPL1", "█")):
        assert [span.text for span in lines[key].spans if span.tone is Tone.CRITICAL] == [block]


def test_no_column_moves_with_an_age(healthy: StatusData) -> None:
    """Buffer pools that are asked for at every other poll show their age every other time, and nothing else moves."""
    rows = []
    for ts in (healthy.now, healthy.now - 7_000):
        current = {
            name: {
                key: told._replace(ts=ts) if name.kind in ("buffer_pool", "page_set") else told
                for key, told in values.items()
            }
            for name, values in healthy.current.items()
        }
        frame = frame_of(replace(healthy, current=current))
        rows.append(next(line.text for line in overview_lines(frame, 80) if line.key.startswith("QM01")))
    assert "BP3 61 %   " in rows[0]
    assert "BP3 61 % 7s" in rows[1]
    assert rows[0].index("PS4") == rows[1].index("PS4")
    assert rows[0].index("run") == rows[1].index("run")


def test_an_empty_store(empty: StoreReader, judging: RuleConfig) -> None:
    """Nothing stored: every screen is read without an error, and the header says what to do."""
    for screen in ("overview", "list", "alerts", "agent"):
        frame = read_frame(empty, 5, FrameRequest(screen, kind="queue"), judging)
        assert "No data stored yet" in "".join(line.text for line in header_lines(frame, 80))
        assert frame.items == ()
    name = ObjectName("QM01", "queue", "X")
    detail = read_frame(empty, 5, FrameRequest("detail", name=name), judging).detail
    assert detail is not None
    assert not detail.known


def test_sparkline_leaves_gaps_blank() -> None:
    """Where a poll brought nothing there is no block; where none was due the block before holds."""
    points = [(0, 0.0), (10, 100.0), (20, None), (30, None), (40, 50.0)]
    assert sparkline(points, Time(0, 50), 5) == "▁█  ▅"
    assert sparkline([(0, 0.0), (20, 100.0)], Time(0, 40), 4) == "▁▁██"
    assert sparkline([], Time(0, 10), 3) == "   "


def test_stale_stands_still(ill: StatusData) -> None:
    """What fell silent keeps the ages of its alerts and its past as of then, in the tone of what is stale."""
    points = {name: tuple((ill.now - n * 60_000, 50.0) for n in range(9, -1, -1)) for name in ill.current}
    later = replace(ill, past=False, now=ill.now + 7_200_000)
    frame = replace(frame_of(later), history=OverviewHistory(points))
    shown = {line.key: line for line in reversed(overview_lines(frame, 120))}
    pool = shown["QM01/buffer_pool/3"]
    assert "  4m12s  " in pool.text
    assert pool.spans[0].tone is Tone.STALE
    assert "▅▅▅▅▅▅▅" in shown["QM01/queue_manager"].text


def test_an_alert_on_a_channel_is_a_sign(ill: StatusData) -> None:
    """Beside the states of the channels stands on how many there is an alert; without one there is no sign."""
    shown = {line.key: line.text for line in reversed(overview_lines(frame_of(ill), 120))}
    assert "48 run 1 retry ▲1" in shown["QM01/queue_manager"]
    assert "▲" not in shown["QM02/queue_manager"]


def test_what_is_explained_is_not_well(ill: StatusData, group: Any) -> None:
    """A structure and a channel whose alerts another one brought about are told under that one, and are ill."""
    cause = group.alert("Q-02", ObjectName("PRDQSG", "queue", "ORDERS"), Severity.WARNING)
    structure = group.alert("CF-03", ObjectName("PRDQSG", "cf_structure", "APPL1"), Severity.WARNING)
    channel = group.alert("CHL-01", ObjectName("QM02", "channel", "TO.QM01"), Severity.WARNING)
    alerts = (cause, *(replace(each, cause=cause.key) for each in (structure, channel)))
    shown = {line.key: line.text for line in reversed(overview_lines(frame_of(replace(ill, alerts=alerts)), 120))}
    assert shown["PRDQSG/cf_structure/APPL1"].startswith("▲ WARNING")
    assert "▲1" in shown["QM02/queue_manager"]


@pytest.mark.parametrize(("interval_ms", "words"), [(1_998, "2 s"), (999, "1 s"), (1_400, "1 s"), (30_000, "30 s")])
def test_one_interval_is_told_in_one_way(healthy: StatusData, interval_ms: int, words: str) -> None:
    """The first line and the lines of the agent's screen round how far apart snapshots are alike."""
    members = tuple(replace(each, interval_ms=interval_ms) for each in healthy.members)
    frame = frame_of(replace(healthy, members=members, past=False))
    assert f"every {words}" in header_lines(frame, 120)[0].text
    assert f"a snapshot every {words};" in " ".join(each.text for each in agent_lines(frame, 120))


def test_what_needs_smf_is_no_trouble(ill: StatusData, healthy: StatusData) -> None:
    """The header counts only verdicts that something of this moment keeps from being told."""
    unknown = (UnknownRow("QM01", "CHL-02", Absence.NEEDS_SMF, 20),)
    well = replace(healthy, unknown=unknown)
    assert "unknown" not in header_lines(frame_of(well), 120)[0].text
    assert without_answer(status_of(well).unknown) == "20 verdicts need SMF records"
    assert without_answer([(Absence.NEEDS_SMF, 20_100), (Absence.NOT_DECLARED, 1)]) == (
        "20.1 k verdicts need SMF records, 1 needs a declaration"
    )
    assert without_answer([(Absence.NEEDS_SMF, 1)]) == "1 verdict needs SMF records"
    idle = replace(well, unknown=(*unknown, UnknownRow("QM01", "Q-05", Absence.NOTHING_TO_TELL, 9)))
    assert "unknown" not in header_lines(frame_of(idle), 120)[0].text
    assert without_answer(status_of(idle).unknown).endswith(", 9 have no data to evaluate yet")
    lost = replace(well, unknown=(*unknown, UnknownRow("QM01", "BP-01", Absence.NO_ANSWER, 3)))
    assert "? 3 unknown" in header_lines(frame_of(lost), 120)[0].text


def test_what_is_full_soon_is_a_warning(healthy: StatusData) -> None:
    """Under an hour the time until it is full has the tone of a warning."""
    now = healthy.now
    for step, tone in ((1.0, Tone.WARNING), (0.2, Tone.PLAIN)):
        rising = tuple((now - (11 - n) * 60_000, 60.0 + step * n) for n in range(12))
        points = {name: rising for name in healthy.current if name.kind == "cf_structure"}
        lines = overview_lines(replace(frame_of(healthy), history=OverviewHistory(points)), 120)
        spans = next(line.spans for line in lines if line.key == "PRDQSG/cf_structure/APPL1")
        assert next(span.tone for span in spans if span.text.startswith("full in")) is tone

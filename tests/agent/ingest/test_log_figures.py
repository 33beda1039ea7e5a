"""Figures of a log: how long its range of positions lasts, and how much of it the oldest unit of work holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.log_figures import LogFigures
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.messages import ConsoleRow, message
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_agent.store.writer import Store
from mqvitals_rules.plan.log_range import MOST_DAYS, USABLE, days_left, used_pct, width_of
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

LOG = ObjectName("QM01", "log")
NOW = 3000 * WEEK_MS + 40 * HOUR_MS + 15 * 60_000
END = NOW - NOW % HOUR_MS
MB = 2**20
NO_FACTS = Facts(KINDS)


class Means:
    """Means of hours as they were put in."""

    def __init__(self, *hours: tuple[int, float, int]) -> None:
        self.known = [HourMean(LOG, "written_bytes", END - ago * HOUR_MS, mean, weight) for ago, mean, weight in hours]

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> Sequence[HourMean]:
        assert (kind, metric) == ("log", "written_bytes")
        return [each for each in self.known if each.hour in set(begun)]


def every_hour(first: int, last: int, mb_per_second: float) -> list[tuple[int, float, int]]:
    """Hours ``last`` to ``first`` ago, each fully covered."""
    return [(ago, mb_per_second * MB, HOUR_MS) for ago in range(last, first + 1)]


def declared(bytes_of_rba: int) -> Facts:
    return Facts(KINDS, [Fact(ObjectPattern.parse("QM01/log"), "rba_bytes", bytes_of_rba)])


def asked(ts: int, **values: Reported) -> Snapshot:
    probe = "INQUIRE_LOG" if "rba" in values else "INQUIRE_USAGE"
    return Snapshot("QM01", False, 1, ts, (Reading(LOG, probe, ts, values, 30_000, poll="rba" in values),))


def figures(rba: str, means: Means, facts: Facts = NO_FACTS) -> dict[str, Reported]:
    (reading,) = LogFigures(means, facts, None).added(asked(NOW, rba=rba)).readings
    return dict(reading.values)


@pytest.mark.parametrize(
    ("rba", "mb_per_second", "pct", "days"),
    [("0000B40000000000", 10, 70.3, 92.2), ("0000B40000000000", 2, 70.3, 461.0), ("0000B40000000000", 40, 70.3, 23.0)],
)
def test_the_range_of_6_bytes(rba: str, mb_per_second: float, pct: float, days: float) -> None:
    found = figures(rba, Means(*every_hour(168, 1, mb_per_second)), declared(6))
    assert found["rba_width"] == 6
    assert found["rba_used_pct"] == pytest.approx(pct, abs=0.05)
    assert found["rba_days_left"] == pytest.approx(days, abs=0.05)
    assert found["rba_mb_per_day"] == pytest.approx(mb_per_second * 86_400)
    assert found["rba_busiest_days_left"] == found["rba_days_left"]


def test_a_converted_queue_manager_keeps_its_position() -> None:
    """0000F90000000000 is 97 % of 6 bytes and 0.0015 % of 8."""
    busy = Means(*every_hour(168, 1, 40))
    assert figures("0000F90000000000", busy, declared(6))["rba_used_pct"] == pytest.approx(97.3, abs=0.05)
    wide = figures("0000F90000000000", busy, declared(8))
    assert wide["rba_used_pct"] == pytest.approx(0.0015, abs=0.0001)
    assert wide["rba_days_left"] == MOST_DAYS


def test_the_width_of_positions() -> None:
    """A position beyond 6 bytes proves 8, whatever is declared; without any sign it is unknown, and 6 bytes are assumed."""
    assert figures("0001800000000000", Means(), declared(6))["rba_width"] == 8
    assert figures("0001800000000000", Means())["rba_used_pct"] == pytest.approx(0.002, abs=0.0005)
    unknown = figures("0000E80000000000", Means())
    assert unknown["rba_width"] is Absence.NOT_DECLARED
    assert unknown["rba_used_pct"] == pytest.approx(90.6, abs=0.05)


def test_a_day_of_history_is_needed() -> None:
    """23 hours are no day; the busiest of the last weeks stands beside the last one."""
    assert figures("01", Means(*every_hour(23, 1, 10)))["rba_days_left"] is Absence.WINDOW
    assert figures("01", Means(*every_hour(24, 1, 10)))["rba_mb_per_day"] == pytest.approx(864_000)
    weeks = figures("01", Means(*every_hour(168, 1, 2), *every_hour(500, 337, 10), *every_hour(1400, 1345, 99)))
    assert weeks["rba_mb_per_day"] == pytest.approx(172_800)
    assert weeks["rba_busiest_mb_per_day"] == pytest.approx(864_000)


def test_hours_without_the_agent_are_no_quiet_hours() -> None:
    """A rate is made of the time that was seen."""
    half = Means(*[(ago, 10.0 * MB, HOUR_MS // 2) for ago in range(1, 169)])
    assert figures("01", half)["rba_mb_per_day"] == pytest.approx(864_000)


def test_a_log_that_is_not_written_lasts() -> None:
    assert figures("01", Means(*every_hour(168, 1, 0)))["rba_days_left"] == MOST_DAYS


@pytest.mark.parametrize("rba", [Absence.NOT_RETURNED, "", "no number", "1" * 17, Absence.NO_ANSWER])
def test_no_position_no_figures(rba: Reported) -> None:
    (reading,) = LogFigures(Means(), NO_FACTS, None).added(asked(NOW, rba=rba)).readings
    absent = {value for name, value in reading.values.items() if name.startswith("rba_")}
    assert absent == {rba if isinstance(rba, Absence) else Absence.NOT_RETURNED}


@given(st.integers(0, 2**64 - 1), st.sampled_from([None, 6, 8]), st.floats(0, 1e12))
def test_any_position(position: int, said: int | None, per_day: float) -> None:
    """The part used grows with the position, the days never go below 0, and a position beyond 6 bytes has 8."""
    width = width_of(position, said) or 6
    assert width == (8 if position > 0xFFFFFFFFFFFF else said or 6)
    assert used_pct(position, width) >= used_pct(position // 2, width) >= 0
    assert 0 <= days_left(position, width, per_day) <= MOST_DAYS
    assert (days_left(position, width, per_day) == 0) == (position >= USABLE[width])


def unit(log: LogFigures, oldest: Reported, ts: int) -> dict[str, Reported]:
    (reading,) = log.added(asked(ts, oldest_uow_rba=oldest, oldest_uow_data_set="LOG.DS02")).readings
    return dict(reading.values)


def test_how_much_of_the_log_the_oldest_unit_of_work_holds() -> None:
    """The log moves on by 1 MB a minute; the unit of work began after ten of thirty minutes."""
    log = LogFigures(Means(), NO_FACTS, None)
    for minute in range(31):
        log.added(asked(NOW + minute * 60_000, rba=f"{(100 + minute) * MB:016X}"))
    now = NOW + 30 * 60_000
    found = unit(log, f"{110 * MB:016X}", now)
    assert (found["uow_span_mb"], found["oldest_uow_age_s"]) == (20, 1200)
    early = unit(log, f"{99 * MB:016X}", now)
    assert (early["uow_span_mb"], early["oldest_uow_age_s"]) == (31, Absence.WINDOW)


def test_no_unit_of_work_is_not_unknown() -> None:
    """An answer without the item means that none is active; a refused or missing answer says nothing."""
    log = LogFigures(Means(), NO_FACTS, None)
    log.added(asked(NOW, rba="0A"))
    for none in (Absence.NOTHING_TO_TELL, "0" * 16):
        assert unit(log, none, NOW)["uow_span_mb"] == 0
    for why in (Absence.NO_ANSWER, Absence.NOT_AUTHORISED):
        assert unit(log, why, NOW)["uow_span_mb"] is why
    assert unit(LogFigures(Means(), NO_FACTS, None), "0A", NOW)["uow_span_mb"] is Absence.NOT_ASKED


@pytest.mark.parametrize(("data_set", "current"), [("LOG1.DS02", 1), ("LOG2.DS02", 1), ("LOG1.DS01", 0), ("", 0)])
def test_whether_it_began_in_the_current_log(data_set: str, current: int) -> None:
    """Either copy counts, as of the answer about it: a later switch of the log changes nothing until the next one."""
    log = LogFigures(Means(), NO_FACTS, None)
    log.added(asked(NOW, rba="0A", data_set_copy1="LOG1.DS02", data_set_copy2="LOG2.DS02"))
    (reading,) = log.added(asked(NOW, oldest_uow_rba="05", oldest_uow_data_set=data_set)).readings
    assert reading.values["uow_in_current_log"] == current


def test_a_position_of_the_same_cycle_counts() -> None:
    """Whichever of both answers comes first."""
    position = Reading(LOG, "INQUIRE_LOG", NOW, {"rba": f"{30 * MB:016X}"}, 30_000)
    oldest = Reading(LOG, "INQUIRE_USAGE", NOW, {"oldest_uow_rba": f"{10 * MB:016X}"}, 300_000, poll=False)
    for readings in ((position, oldest), (oldest, position)):
        found = LogFigures(Means(), NO_FACTS, None).added(Snapshot("QM01", False, 1, NOW, readings))
        assert [
            each.values["uow_span_mb"]
            for each in found.readings
            if each is not position and "uow_span_mb" in each.values
        ] == [20]


def test_a_reset_log_begins_anew() -> None:
    log = LogFigures(Means(), NO_FACTS, None)
    log.added(asked(NOW, rba="FFFF0000"))
    log.added(asked(NOW + 60_000, rba="1000"))
    found = unit(log, "0800", NOW + 60_000)
    assert (found["uow_span_mb"], found["oldest_uow_age_s"]) == (0x800 / MB, Absence.WINDOW)


def test_a_day_in_the_store_and_the_message_of_the_start(tmp_path: Path) -> None:
    """The agent's own history gives the rate, CSQJ034I the width; both are stored with the sample."""
    path = tmp_path / "store.db"
    Store.open(path).close()
    config = RuleConfig(RuleSet((), KINDS), Facts(KINDS))
    begin = 0xB40000000000 - 30 * 3600 * 10 * MB
    with Store.open(path) as store, StoreReader.open(path) as older:
        words = "CSQJ034I QM01 END OF LOG RBA RANGE IS 0000FFFFFFFFFFFF"
        store.messages.add(ConsoleRow("console"), [message("QM01", "CSQJ034I", NOW, words)], ["QM01"])
        intake = Ingest(store, config, older=older)
        for quarter in range(30 * 4 + 2):
            ts = END + quarter * 900_000
            values: dict[str, Reported] = {
                "rba": f"{begin + quarter * 900 * 10 * MB:016X}",
                "written_bytes": 900 * 10 * MB,
            }
            reading = Reading(LOG, "INQUIRE_LOG", ts, values, 900_000)
            intake.take([Snapshot("QM01", False, quarter + 1, ts, (reading,))])
        current = older.current(LOG)
        assert current["rba_width"].value == 6
        assert current["rba_mb_per_day"].value == pytest.approx(864_000)
        assert current["rba_days_left"].value == pytest.approx(92.2, abs=0.05)

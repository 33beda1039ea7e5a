"""Reports that IBM's documents print, made into records: the rules say what a correct analysis of them says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from mqsamples.smf import readings
from mqvitals_agent.smf.record import parse
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.facts import BufferPoolFact, ChannelInitiatorFact, FactSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import AlertState, Severity
from mqvitals_rules.ruleset.config import load_rule_config

HALF_HOUR_US = 1_800_000_000
INFO, WARNING, CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL


class Verdicts:
    """What the rules say after records."""

    def __init__(self, records: Iterable[bytes], purpose: str | None = None, persistent_pct: int | None = None) -> None:
        facts = FactSettings()
        if persistent_pct is not None:
            pattern = LocatedText("*/channel_initiator", Place("test", 1, 1))
            facts = FactSettings(channel_initiators=(ChannelInitiatorFact(pattern, persistent_pct=persistent_pct),))
        if purpose is not None:
            place = Place("test", 1, 1)
            facts = FactSettings(
                buffer_pools=(BufferPoolFact(LocatedText("*/buffer_pool/*", place), LocatedText(purpose, place)),)
            )
        judging = load_rule_config(Settings(facts=facts))
        history = MemoryHistory()
        engine = Engine(judging.rules, judging.facts, history)
        self.unknown: set[str] = set()
        self.seen = 0
        for snapshot in readings(parse(data, 0) for data in records):
            history.add(snapshot)
            self.seen += len(snapshot.readings)
            self.unknown = {each.rule for each in engine.evaluate(snapshot).unknown}
        alerts = [alert for alert in engine.open_alerts if alert.state is AlertState.FIRING]
        self.firing = {str(alert.key.rule): alert.severity for alert in alerts}
        self.summaries = {str(alert.key.rule): alert.summary for alert in alerts}


def pools(smf: Any, intervals: int, **fields: int) -> list[bytes]:
    pool = smf.pool(**fields)
    return [smf.record(115, 215, {1: [pool]}, start_us=smf.NOON_US + n * HALF_HOUR_US) for n in range(intervals)]


C_01A = {"number": 2, "buffers": 70_000, "low": 13_300, "free": 37_100, "at60": 48_571}
C_02A = {"number": 3, "buffers": 70_000, "low": 0, "free": 12_600, "at52": 109, "at56": 198_908, "at60": 922_354}
C_02A |= {"at64": 1, "at68": 50}
C_03 = {"number": 1, "buffers": 15_000, "low": 0, "free": 1_844, "at24": 351_632, "at28": 198_775, "at32": 102_140}
C_03 |= {"at36": 472_341, "at40": 260_049, "at44": 129_209, "at48": 85_105, "at52": 137, "at56": 81_686}
C_03 |= {"at60": 276_198, "at64": 4, "at68": 413}


def test_a_pool_of_short_lived_messages_that_sank_to_19_percent(smf: Any) -> None:
    """Half of it is free at the end of the interval; the lowest value decides, and nothing else is wrong with it."""
    found = Verdicts(pools(smf, 1, **C_01A), "short_lived")
    assert found.firing == {"BP-01": WARNING}
    # One waits for a console message, the other for weeks of history.
    assert {rule for rule in found.unknown if rule.startswith("BP")} == {"BP-11", "BP-19"}
    assert "19 % free" in found.summaries["BP-01"]


def test_the_same_pool_of_long_lived_messages(smf: Any) -> None:
    """For them it is in order."""
    assert Verdicts(pools(smf, 3, **C_01A), "long_lived").firing == {}


@pytest.mark.parametrize("purpose", ["long_lived", "batch", "system_deep"])
def test_a_pool_of_any_purpose_that_was_empty(purpose: str, smf: Any) -> None:
    """Nothing free, synchronous writes and no buffer to be had are faults whatever the pool is for."""
    found = Verdicts(pools(smf, 1, **C_02A), purpose)
    assert found.firing == {"BP-03": CRITICAL, "BP-05": CRITICAL, "BP-06": CRITICAL, "BP-07": CRITICAL, "BP-10": INFO}


@pytest.mark.parametrize(("purpose", "severity"), [("short_lived", WARNING), ("online", WARNING), ("mixed", INFO)])
def test_deferred_writes_are_a_fault_of_short_lived_messages(purpose: str, severity: Severity, smf: Any) -> None:
    """They are a warning there, and information while the purpose is mixed."""
    found = Verdicts(pools(smf, 1, **C_02A), purpose)
    assert found.firing["BP-04"] is severity
    assert "started 109 times" in found.summaries["BP-04"]


def test_thrashing(smf: Any) -> None:
    """Reads and writes of a pool without a free buffer; that it reads at all counts in the second interval."""
    once = {
        **dict.fromkeys(("BP-03", "BP-05", "BP-06", "BP-07", "BP-08"), CRITICAL),
        **dict.fromkeys(("BP-04", "BP-10"), INFO),
    }
    assert Verdicts(pools(smf, 1, **C_03), "unclassified").firing == once
    found = Verdicts(pools(smf, 2, **C_03), "unclassified")
    assert found.firing == {**once, "BP-09": INFO}
    assert "102140 pages read back" in found.summaries["BP-08"]


def log(smf: Any, io: Sequence[tuple[int, int, int]] = ()) -> bytes:
    """The log of the healthy sample; ``io``: count, microseconds and longest of each of the four sorts of log write."""
    values = {16: (4, 1_729), 20: (4, 0), 80: (4, 319_215), 84: (4, 107_092), 88: (4, 5_472_360), 92: (4, 0)}
    values |= {96: (4, 8), 100: (4, 0)}
    for index, (count, time, longest) in enumerate(io):
        at = 72 * index
        values |= {264 + at: (4, count), 272 + at: (8, time * 4096), 288 + at: (8, longest * 4096)}
        values |= {296 + at: (8, smf.tod(smf.NOON_US + 60_000_000))}
    data: bytes = smf.record(115, 1, {11: [smf.section(576, values)]})
    return data


def test_a_healthy_log(smf: Any) -> None:
    """Its tasks wait for forced writes, hundreds of thousands of times; nothing is wrong with that."""
    found = Verdicts([log(smf)])
    assert found.seen
    assert found.firing == {}
    assert not {"LOG-02", "LOG-03"} & found.unknown


def test_a_log_whose_writes_are_slow(smf: Any) -> None:
    """100,000 writes that take 900 s together, and the longest of them with its time."""
    half = (50_000, 450_000_000, 25_000)
    found = Verdicts([log(smf, [half, (0, 0, 0), half, (0, 0, 0)])])
    assert found.firing == {"LOG-05": WARNING}
    assert (
        "a write takes 9 ms on average, the longest took 25 ms (at 2026-03-01 12:01:00 UTC)"
        in found.summaries["LOG-05"]
    )


def test_a_log_whose_writes_stood_still_once(smf: Any) -> None:
    """One write of 40.8 ms among 254,680 of 1.1 ms is no alert."""
    half = (127_340, 140_074_000, 900)
    found = Verdicts([log(smf, [half, (1, 40_800, 40_800), half, (0, 0, 0)])])
    assert found.firing == {}


def test_a_channel_that_fills_its_batches(smf: Any) -> None:
    """48.8 messages in batches of 50, an average network time of 116 microseconds and one of 14.5 ms."""
    body = bytearray(
        smf.section(
            340,
            {
                8: (8, smf.tod(smf.NOON_US + HALF_HOUR_US)),
                37: (1, 1),
                38: (1, 3),
                112: (4, 50),
                116: (4, 33_896),
                120: (4, 33_896),
                124: (4, 695),
                144: (8, 120_263_008),
                152: (8, 120_263_008),
                160: (8, 120_266_176),
                168: (8, 19_996),
                204: (4, 116),
                208: (4, 71),
                212: (4, 14_481),
                216: (8, smf.tod(smf.NOON_US + 60_000_000)),
                304: (4, 3),
            },
        )
    )
    body[16:36] = smf.ebcdic("TO_MVSCA", 20)
    found = Verdicts([smf.record(116, 10, {1: [bytes(body)]})])
    assert found.firing == {"CHL-01": INFO, "CHL-07": WARNING}
    assert "batches of 48.77 messages with BATCHSZ 50" in found.summaries["CHL-01"]
    assert "one network time of 14.5 ms" in found.summaries["CHL-07"]
    assert "CHL-06" in found.unknown


def initiator(
    smf: Any, adapters: Sequence[tuple[int, int, int]], dispatchers_pct: Sequence[float] = (), lookup_us: int = 0
) -> bytes:
    """A channel initiator; ``adapters``: requests, processor time and elapsed time of one (microseconds)."""
    head = smf.section(64, {20: (4, 10), 24: (4, 200), 28: (4, 10), 32: (4, 200), 44: (4, 90)})

    def task(size: int, requests: int, cpu: float, elapsed: float, **more: int) -> bytes:
        values = {4: (4, requests), 8: (8, round(cpu * 4096)), 16: (8, round(elapsed * 4096))}
        data: bytes = smf.section(size, values | {int(at[2:]): (8, value * 4096) for at, value in more.items()})
        return data

    data: bytes = smf.record(
        115,
        231,
        {
            1: [head],
            2: [task(40, 1000, 0, pct / 100 * HALF_HOUR_US) for pct in dispatchers_pct],
            3: [task(32, requests, requests * cpu, requests * elapsed) for requests, cpu, elapsed in adapters],
            5: [task(48, 5, 10, 20, at40=lookup_us)],
        },
    )
    return data


@pytest.mark.parametrize(
    ("cpu", "elapsed", "severity"),
    [
        *((9, 9, None), (18, 18, None), (20, 347, WARNING)),
        *((35, 53, None), (35, 83, INFO), (35, 169, INFO), (35, 183, WARNING), (35, 242, WARNING)),
        *((29, 33, None), (34, 50, None), (35, 71, INFO), (35, 111, INFO)),
    ],
)
def test_adapter_requests_that_wait(cpu: int, elapsed: int, severity: Severity | None, smf: Any) -> None:
    """Requests that take about their processor time are well; twice is worth a word, five times a warning.

    Hardly any of the messages is persistent, so they do not wait for the log.
    """
    found = Verdicts(
        [initiator(smf, [(5000, cpu, elapsed), (3000, cpu, elapsed), (0, 0, 0)], [62, 40])], persistent_pct=2
    )
    assert found.firing == ({} if severity is None else {"CHIN-02": severity})


def test_adapters_all_in_use(smf: Any) -> None:
    """Two intervals in which no adapter was unused."""
    first = initiator(smf, [(5000, 29, 33)], [25, 20, 15])
    assert Verdicts([first]).firing == {}
    later = smf.record(
        115,
        231,
        {
            1: [smf.section(64, {20: (4, 10), 24: (4, 200), 28: (4, 10), 32: (4, 200)})],
            3: [smf.section(32, {4: (4, 9)})],
        },
        start_us=smf.NOON_US + HALF_HOUR_US,
    )
    assert Verdicts([first, later]).firing == {"CHIN-01": WARNING}


@pytest.mark.parametrize(
    ("busy", "firing"),
    [
        ((62, 20), {}),
        ((91, 50), {"CHIN-04": WARNING}),
        ((91, 19), {"CHIN-04": WARNING, "CHIN-05": INFO}),
        ((95, 81), {"CHIN-04": WARNING, "CHIN-07": WARNING}),
    ],
)
def test_dispatchers(busy: tuple[int, int], firing: dict[str, Severity], smf: Any) -> None:
    """One that is hot, one that is hot beside an idle one, and all of them at capacity."""
    assert Verdicts([initiator(smf, [(10, 5, 5), (0, 0, 0)], busy)]).firing == firing


def test_a_slow_name_server(smf: Any) -> None:
    """One look-up of more than a second."""
    found = Verdicts([initiator(smf, [(10, 5, 5), (0, 0, 0)], [10, 10], 1_000_001)])
    assert found.firing == {"CHIN-11": INFO}
    assert Verdicts([initiator(smf, [(10, 5, 5), (0, 0, 0)], [10, 10], 1_000_000)]).firing == {}

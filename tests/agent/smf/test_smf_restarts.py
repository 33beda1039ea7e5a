"""Restarts are seen by records' numbers, told once, and their first two intervals are not judged by rates and increases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.review.smf_report import health_check
from mqvitals_agent.smf.record import parse
from mqvitals_agent.smf.restart import RestartDetector
from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence

MINUTE_US = 60_000_000
POOL = ObjectName("MQ01", "buffer_pool", "3")

Make = Callable[..., bytes]


@pytest.fixture
def minute(smf: Any) -> Make:
    """A record of pools in the minute of a number; ``late``: the interval began so many seconds late, as after a start."""

    def made(number: int, sequence: int, *, late: int = 0, subtype: int = 215, **pool: int) -> bytes:
        start = smf.NOON_US + number * MINUTE_US + late * 1_000_000
        sections = {1: [smf.pool(3, **({"low": 40_000, "free": 41_000} | pool))]}
        data: bytes = smf.record(
            115, subtype, sections, start_us=start, length_us=MINUTE_US - late * 1_000_000, sequence=sequence
        )
        return data

    return made


def noted(*records: bytes) -> tuple[list[bool], list[str]]:
    seen = RestartDetector()
    held = [seen.note(parse(each)) for each in records]
    return held, [each.words() for each in seen.found]


def test_a_falling_number_is_a_restart(minute: Make) -> None:
    """The first interval behind it and the one after are held back; what came before and comes later is not."""
    held, found = noted(
        minute(0, 401), minute(1, 405), minute(2, 1, late=20), minute(3, 5), minute(4, 9), minute(5, 13)
    )
    assert held == [False, False, True, True, False, False]
    assert found == ["MQ01 was restarted between 2026-03-01 12:02:00 and 12:02:20 UTC"]


def test_records_of_one_interval(minute: Make) -> None:
    """All of them are held back, in whatever order they come; the channel initiator's have no numbers and go along."""
    held, found = noted(
        minute(0, 400),
        minute(2, 3),
        minute(2, 1),
        minute(2, 0, subtype=231),
        minute(2, 2),
        minute(3, 6),
        minute(3, 5),
        minute(4, 9),
    )
    assert held == [False, True, True, True, True, True, True, False]
    assert len(found) == 1


def test_what_is_no_restart(smf: Any, minute: Make) -> None:
    """Numbers that rise, with some missing; that differ a little in their order; that go round; records that come late."""
    for numbers in ((1, 2, 3), (7, 70, 700), (7, 7, 7), (0, 0, 0), (0xFFFFFFFE, 0xFFFFFFFF, 3)):
        assert noted(*(minute(at, number) for at, number in enumerate(numbers)))[1] == []
    assert noted(minute(1, 9), minute(1, 8), minute(2, 12))[1] == []
    assert noted(minute(5, 400), minute(1, 7), minute(6, 404))[1] == []


def test_one_queue_manager_says_nothing_of_another(smf: Any, minute: Make) -> None:
    """Nor does one of the same name on another system."""
    first, second = minute(0, 400), minute(1, 5)
    other = second.replace(smf.ebcdic("MQ01", 4), smf.ebcdic("MQ02", 4))
    elsewhere = second.replace(smf.ebcdic("MV01", 4), smf.ebcdic("MV02", 4))
    assert noted(first, other, elsewhere) == ([False, False, False], [])


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_any_number_of_runs(runs: list[int]) -> None:
    """Each run of records after the first is one restart, and two intervals of it at most are held back."""
    seen, now, held = RestartDetector(), 0, []
    for length in runs:
        held += [[seen.take("S", "Q", (now := now + 60_000_000), 1 + at, now - 60_000_000) for at in range(length)]]
    longer = [before > 1 for before in runs[:-1]]
    assert len(seen.found) >= sum(longer)
    assert held[0] == [False] * runs[0]
    for was, found in zip(longer, held[1:], strict=True):
        assert not was or found == [True] * min(2, len(found)) + [False] * max(len(found) - 2, 0)


def test_the_store_keeps_no_increase_of_a_restart(
    minute: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Increases of two intervals are absent and say why; the lowest figure of a pool is there all the same."""
    file, store = tmp_path / "a.smf", tmp_path / "s.db"
    numbers = [(400, 0), (1, 20), (5, 0), (9, 0)]
    file.write_bytes(b"".join(minute(at, number, late=late, at32=7) for at, (number, late) in enumerate(numbers)))
    assert main(["smf", "import", str(file), "--store", str(store)]) == 0
    told = capsys.readouterr().err
    assert told.count("MQ01 was restarted between 2026-03-01 12:01:00 and 12:01:20 UTC") == 1
    with StoreReader.open(store) as reader:
        assert [each.value for each in reader.samples(POOL, "rio", Source.SMF)] == [7, 7]
        assert [each.value for each in reader.samples(POOL, "low", Source.SMF)] == [40_000] * 4
    two = tmp_path / "two.db"
    file.write_bytes(b"".join(minute(at, number, late=late, at32=7) for at, (number, late) in enumerate(numbers[:3])))
    assert main(["smf", "import", str(file), "--store", str(two)]) == 0
    with StoreReader.open(two) as reader:
        assert reader.current(POOL)["rio"].value is Absence.RESTARTED


def test_a_restart_between_two_files(minute: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files given together are one history."""
    first, second = tmp_path / "a.smf", tmp_path / "b.smf"
    first.write_bytes(minute(0, 400))
    second.write_bytes(minute(1, 1, late=20))
    assert main(["smf", "import", str(first), str(second), "--store", str(tmp_path / "s.db")]) == 0
    assert "MQ01 was restarted" in capsys.readouterr().err


def test_the_health_check_begins_with_restarts(
    minute: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five restarts in eight minutes: they are told once, before everything else, and no rule about increases fires."""
    numbers = [900, 1, 1, 5, 1, 1, 5, 1]
    # A pool that reads and writes as it does just after a start: no increase of it is any measure.
    busy = {"at32": 90_000, "at40": 90_000, "at44": 9_000, "at48": 500, "at52": 40, "at56": 7, "at68": 3}
    records = [
        minute(at, number, late=15 if number == 1 else 0, **({} if at == 0 else busy))
        for at, number in enumerate(numbers)
    ]
    file = tmp_path / "restarts.smf"
    # In another order than that of time: that of the ends counts.
    file.write_bytes(b"".join([*records[4:], *records[:4]]))
    report = health_check([str(file)], load_rule_config(Settings()))
    assert main(["smf", "report", str(file)]) in (0, 1)
    words = " ".join(capsys.readouterr().out.split())
    assert words.count("MQ01 was restarted between") == numbers.count(1)
    assert f"{numbers.count(1)} restarts." in words
    assert words.index("Restarts") < words.index("Summary")
    for rule in ("BP-04", "BP-05", "BP-06", "BP-09"):
        assert f" {rule}:" not in words, rule
    assert not report.found
    assert "1 of 8" in words


def test_a_rule_about_increases_fires_when_the_guard_is_over(minute: Make, tmp_path: Path) -> None:
    """The third interval after a restart is judged again."""
    file = tmp_path / "later.smf"
    quiet = [minute(0, 400), minute(1, 1, late=9), minute(2, 5)]
    file.write_bytes(b"".join([*quiet, minute(3, 9, at56=7)]))
    assert health_check([str(file)], load_rule_config(Settings())).found
    file.write_bytes(b"".join([*quiet[:2], minute(2, 5, at56=7), minute(3, 9)]))
    assert not health_check([str(file)], load_rule_config(Settings())).found

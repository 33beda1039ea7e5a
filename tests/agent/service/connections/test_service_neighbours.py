"""One queue manager in trouble costs the others nothing: they are asked the same things at the same moments."""

from __future__ import annotations

from typing import Any

import pytest

from mqvitals_agent.poll.queries import DEFAULT_INTERVALS_MS, GROUP_QUERIES

EVERYTHING = set(DEFAULT_INTERVALS_MS)
TROUBLES: dict[str, dict[str, Any]] = {
    "slow": {"took": dict.fromkeys(EVERYTHING, 4_000)},
    "silent": {"silent": EVERYTHING},
    "hung": {"hung": EVERYTHING},
    "refusing": {"refused": EVERYTHING},
    "truncating": {"truncated": EVERYTHING},
    "dead": {"down": 2059},
    "dying at each question": {"down": 2009, "connect_anyway": True},
    "stuck while connecting": {"stuck": True},
}


_HEALTHY: dict[str, list[tuple[int, str]]] = {}
"""What is asked beside a healthy queue manager: the same for every trouble."""


async def asked_of_others(house: Any) -> dict[str, list[tuple[int, str]]]:
    """What QM02 and QM03 are asked of their own in half an hour."""
    async with house.running():
        await house.clock.advance(1_800_000)
    return {
        name: [(at, command) for at, command in house.of(name).asked if command not in GROUP_QUERIES]
        for name in ("QM02", "QM03")
    }


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_costs_the_others_nothing(house: Any, trouble: str, tmp_path: Any) -> None:
    """To the millisecond and in the same order as beside a healthy one."""
    healthy = type(house)(tmp_path)
    healthy.store = tmp_path / "healthy.db"
    for name, value in TROUBLES[trouble].items():
        setattr(house.of("QM01"), name, value)
    if not _HEALTHY:
        _HEALTHY.update(await asked_of_others(healthy))
    assert await asked_of_others(house) == _HEALTHY
    assert [script.most_at_once for script in house.scripts[1:]] == [1, 1]
    # The group's objects are reported by another member, unless its answers come, however late.
    spokesmen = {name for name in ("QM01", "QM02", "QM03") if len(house.of(name).times("INQUIRE_QSG")) > 5}
    assert spokesmen, trouble


async def test_a_question_comes_back_to_its_interval(house: Any) -> None:
    """Stretched as far as it goes while nothing comes, and back at the configured pace once the answers are quick."""
    script = house.of("QM01")
    house.scripts = [script]
    script.took = {"INQUIRE_Q_STATUS": 29_000}
    async with house.running():
        await house.clock.advance(3_600_000)
        slow = script.times("INQUIRE_Q_STATUS")
        assert slow[-1] - slow[-2] == 480_000
        script.took = {}
        await house.clock.advance(7_200_000)
    times = script.times("INQUIRE_Q_STATUS")
    assert [late - early for early, late in zip(times[-4:], times[-3:], strict=False)] == [30_000] * 3
    assert house.log.getvalue().count("quickly again") == 4

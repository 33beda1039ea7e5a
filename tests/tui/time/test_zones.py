"""One zone on the whole screen: one's own, UTC or the queue managers', also where clocks change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from mqsamples.pairs import alone
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.figure import clock, day, moment, times_in, zone_name
from mqvitals_agent.view.alerts.silencing import FieldError, parse_end, parse_silence
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import QueueManager, Settings, TuiSettings
from mqvitals_tui.screens.form_screen import FormScreen
from mqvitals_tui.screens.moment_form import MomentForm
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.zones import ZoneSwitch, terminal_zone, zone_choices

Lives = Callable[[str], Any]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]

BERLIN = ZoneInfo("Europe/Berlin")
FORWARD = int(datetime(2026, 3, 29, 1, tzinfo=UTC).timestamp()) * 1000
"""When clocks in Berlin went from 02:00 CET to 03:00 CEST."""
BACK = int(datetime(2026, 10, 25, 1, tzinfo=UTC).timestamp()) * 1000
"""When they went from 03:00 CEST to 02:00 CET."""
SECOND, HOUR = 1_000, 3_600_000


@pytest.mark.parametrize(
    ("ts", "face", "name"),
    [
        (FORWARD - SECOND, "2026-03-29 01:59:59", "CET"),
        (FORWARD, "2026-03-29 03:00:00", "CEST"),
        (BACK - SECOND, "2026-10-25 02:59:59", "CEST"),
        (BACK, "2026-10-25 02:00:00", "CET"),
    ],
)
def test_where_clocks_change(ts: int, face: str, name: str) -> None:
    """The name of the zone tells the two hours apart that have the same face."""
    with times_in(BERLIN):
        assert (moment(ts), zone_name(ts)) == (face, name)
        assert f"{day(ts)} {clock(ts)}" == face


def test_a_silence_over_the_change() -> None:
    """A length is as long as it says; a time of day is that of the clock on the wall; an hour that is left out is none."""
    with times_in(BERLIN):
        evening = FORWARD - 3 * HOUR
        assert parse_end("6h", evening) == evening + 6 * HOUR
        assert parse_end("06:00", evening) == FORWARD + 3 * HOUR
        with pytest.raises(FieldError, match="CET"):
            parse_end("02:30", evening)
        assert parse_silence("rule=X", "23:30", "06:00", "x", evening - HOUR).starts == FORWARD - 2 * HOUR - HOUR // 2
    assert parse_end("06:00", evening) == FORWARD + 5 * HOUR


@given(
    ts=st.integers(0, 4_102_444_800).map(lambda s: s * 1000),
    zone=st.sampled_from(["Europe/Berlin", "America/St_Johns"]),
)
def test_face_and_name_say_one_moment(ts: int, zone: str) -> None:
    """Whatever the moment: face and name of the zone belong to one offset, and so to one moment."""
    there = ZoneInfo(zone)
    with times_in(there):
        face, name = moment(ts), zone_name(ts)
    naive = datetime.fromisoformat(face)
    told = [
        naive.replace(tzinfo=there, fold=fold)
        for fold in (0, 1)
        if naive.replace(tzinfo=there, fold=fold).tzname() == name
    ]
    assert ts in [int(each.timestamp()) * 1000 for each in told]


def settings(own: str | None = None, group: str | None = None, **members: str | None) -> Settings:
    managers = tuple(
        QueueManager(name=LocatedText(name, Place("test")), time_zone=zone) for name, zone in members.items()
    )
    return Settings(tui=TuiSettings(time_zone=own), time_zone=group, queue_managers=managers)


@pytest.mark.parametrize(
    ("given_settings", "own", "zones"),
    [
        (settings(), BERLIN, [BERLIN, UTC]),
        (settings(), UTC, [UTC]),
        (settings("America/New_York"), BERLIN, [ZoneInfo("America/New_York"), UTC]),
        (settings(group="Asia/Tokyo"), BERLIN, [BERLIN, UTC, ZoneInfo("Asia/Tokyo")]),
        (settings(group="Europe/Berlin", QM01=None, QM02="Asia/Tokyo"), BERLIN, [BERLIN, UTC, ZoneInfo("Asia/Tokyo")]),
        (settings(QM01="+01:00", QM02="+01:00"), UTC, [UTC, timezone(timedelta(hours=1))]),
    ],
)
def test_choices(given_settings: Settings, own: tzinfo, zones: list[tzinfo]) -> None:
    """One's own comes first, no zone twice; after the last one comes the first."""
    choices = zone_choices(given_settings, own)
    assert [each.zone for each in choices] == zones
    switch = ZoneSwitch(choices)
    for zone in (*zones[1:], zones[0]):
        assert switch.next() == (len(zones) > 1)
        assert switch.zone == zone


def test_the_zone_of_the_terminal(tmp_path: Path) -> None:
    """TZ, else the file of the machine, else what the clock says now."""
    winter = datetime(2026, 1, 1, tzinfo=UTC)
    assert terminal_zone({"TZ": "Europe/Berlin"}) == BERLIN
    assert terminal_zone({"TZ": ":Europe/Berlin"}) == BERLIN
    assert terminal_zone({"TZ": ""}) == UTC
    assert isinstance(terminal_zone({"TZ": "no zone"}), timezone)
    assert isinstance(terminal_zone({}, tmp_path / "none"), timezone)
    bad = tmp_path / "bad"
    bad.write_bytes(b"no zone")
    assert isinstance(terminal_zone({}, bad), timezone)
    import zoneinfo

    found = next(
        (Path(path) / "Europe/Berlin" for path in zoneinfo.TZPATH if (Path(path) / "Europe/Berlin").exists()), None
    )
    if found is None:
        pytest.skip("this machine has no files of time zones")
    zone = terminal_zone({}, found)
    assert [winter.astimezone(zone).tzname(), (winter + timedelta(days=180)).astimezone(zone).tzname()] == [
        "CET",
        "CEST",
    ]


def header(app: Any) -> str:
    return str(app.screen.query_one("#header", Banner).text)


@pytest.mark.parametrize("width", alone(80, 120, 200))
async def test_z_changes_all_screens(
    lives: Lives, until: Until, shown: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Header, past and forms are in the zone of the key; so are the times that a person writes."""
    life = lives("incident")
    app = life.app(zone=BERLIN, settings=replace(settings(QM01="Asia/Tokyo")))
    told: list[str] = []
    monkeypatch.setattr(app, "notify", lambda message, **_: told.append(message))
    async with app.run_test(size=(width, 40)) as pilot:
        await shown(pilot)
        for name, hour in (("CET", 13), ("UTC", 12), ("JST", 21), ("CET", 13)):
            await until(pilot, lambda name=name, hour=hour: f"{hour}:01:5" in header(app) and name in header(app))  # type: ignore[misc]
            await pilot.press("g")
            await until(pilot, lambda: isinstance(app.screen, MomentForm))
            app.screen.query_one("#time").value = f"{hour}:01"
            await pilot.press("enter")
            with StoreReader.open(life.store) as reader:
                wanted = reader.end_of_cycle(life.now // HOUR * HOUR + 60_000)
            await until(pilot, lambda wanted=wanted: app._screen_context.news.at == wanted)  # type: ignore[misc]
            words = f"AS OF {hour}:01:00 {name} "
            await until(pilot, lambda words=words: not isinstance(app.screen, MomentForm) and words in header(app))  # type: ignore[misc]
            await pilot.press("l")
            await until(pilot, lambda: app._screen_context.news.at is None and "AS OF" not in header(app))
            await pilot.press("m")
            await until(pilot, lambda: isinstance(app.screen, FormScreen))
            assert f"({name})" in app.screen.query_one("#ends").placeholder
            app.screen.query_one("#begins").value = "23:30"
            app.screen.query_one("#matchers").value = "rule=X"
            span = f"from 2026-11-20 23:30:00 until 2026-11-21 01:30:00 {name}"
            await until(pilot, lambda span=span: span in form_text(app))  # type: ignore[misc]
            await pilot.press("escape")
            await pilot.press("Z")
        assert {"Times are now in UTC", "Times are now in JST (QM01)"} <= set(told)


def form_text(app: Any) -> str:
    return "\n".join(line.text for line in app.screen.query_one("#lines").lines)

"""The agent writes a simulated group's SMF records into the folder it watches, and says what keeps it from it."""

from __future__ import annotations

import argparse
import asyncio
import io
from pathlib import Path

import pytest

from mqvitals_agent.cli.agent import add_arguments, agent_config, monitored_group
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.errors import Failure
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.service.monitored_group import MonitoredGroup, write_smf
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.threads import run_in_loop
from mqvitals_config.settings import Settings

BEGIN = 1_763_700_007_123
_S = 1000


def watched(*words: str) -> tuple[MonitoredGroup, Settings]:
    """What ``mqvitals agent`` with these words watches, and by which settings."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    # Slower than life, so that the clock begins about where it is told.
    arguments = parser.parse_args([*words, *(["--speed", "0.5"] if "--scenario" in words else [])])
    settings = agent_config(arguments).settings
    return monitored_group(arguments, settings, None, BEGIN), settings


def play(writer: SmfWriter, most_s: int) -> str:
    """Let it write for so long; returns the log."""
    clock, log = VirtualClock(BEGIN), io.StringIO()

    async def live() -> None:
        writing = asyncio.create_task(write_smf(writer, clock))
        await clock.advance(most_s * _S)
        assert not writing.done()
        writing.cancel()

    with logging_to(LineHandler(log, clock)):
        run_in_loop(live(), clock)
    return log.getvalue()


def test_a_file_for_each_interval(tmp_path: Path) -> None:
    """It is there when the group has lived through the interval, soon after its end."""
    folder = tmp_path / "new" / "smf"
    found, settings = watched("--scenario", "quiet", "--smf", str(folder), "--smf-interval", "20s")
    assert settings.smf.watch == str(folder)
    assert found.smf is not None
    assert play(found.smf, 13) == ""
    assert list(folder.iterdir()) == []
    log = play(found.smf, 130)
    assert [path.name for path in sorted(folder.iterdir())] == [
        f"SMF-20251121T04{minute:02}{second:02}Z.dat"
        for minute, second in ((40, 20), (40, 40), (41, 0), (41, 20), (41, 40), (42, 0))
    ]
    assert log == ""


def test_what_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    """A folder that is gone is one line in the log, however many intervals end."""
    folder = tmp_path / "smf"
    writer = SmfWriter(SimulatedGroup(load_scenario("quiet"), BEGIN), folder, 20 * _S)
    log = play(writer, 100)
    assert log.count("smf.unwritten") == 1
    assert "No such file or directory" in log


def test_without_the_option_nothing_is_written() -> None:
    """A simulated group has no SMF then, as one that has no SMF job."""
    found, settings = watched("--scenario", "quiet")
    assert found.smf is None
    assert settings.smf.watch is None


def test_a_folder_of_the_settings_is_not_written_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were made up do not come among real ones but by the word of the command line."""
    monkeypatch.setenv("MQVITALS_SMF_WATCH", str(tmp_path))
    found, settings = watched("--scenario", "quiet")
    assert settings.smf.watch == str(tmp_path)
    assert found.smf is None


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    """The agent does not begin, and says why."""
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match=r"cannot use the folder .*file"):
        watched("--scenario", "quiet", "--smf", str(tmp_path / "file"))


@pytest.mark.parametrize("length", ["1500ms", "0s", "soon"])
def test_an_interval_that_cannot_be(length: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused where it is given."""
    with pytest.raises(SystemExit):
        watched("--scenario", "quiet", "--smf", "x", "--smf-interval", length)
    assert "--smf-interval" in capsys.readouterr().err


def test_an_interval_is_of_a_simulated_group() -> None:
    """Living queue managers have their own."""
    with pytest.raises(Failure, match="--smf-interval is for a simulated group"):
        watched("--smf-interval", "30s")

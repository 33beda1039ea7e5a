"""``mqvitals report``: what the next shift reads, in each form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main

GOLDENS = Path(__file__).with_name("goldens")
NIGHT = ["--tz", "Europe/Berlin", "--from", "2026-11-19 23:10", "--to", "2026-11-20 11:10"]
Golden = Callable[[Path, str], str]


def report(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> str:
    """What it prints."""
    assert main(["report", "--store", str(store), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_night_is_told_in_each_form(
    night: Path, capsys: pytest.CaptureFixture[str], golden: Golden, form: str
) -> None:
    """Also with text from MQ that would be markup: it is shown as it is."""
    shown = report(capsys, night, *NIGHT, "--format", form)
    assert not golden(GOLDENS / f"night.{form}", shown)
    assert "INC4711" in shown
    assert "anna has it since" in shown


def test_the_ways_to_name_the_form_agree(night: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--format``, and the end of the name of the file."""
    for form, end in (("markdown", "md"), ("html", "html"), ("json", "json"), ("text", "txt")):
        path = tmp_path / f"handover.{end}"
        assert report(capsys, night, *NIGHT, "--output", str(path)) == ""
        assert path.read_text("utf-8") == report(capsys, night, *NIGHT, "--format", form)
    assert not list(tmp_path.glob(".handover*"))


def test_json_has_units_and_times(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get what people read."""
    found = json.loads(report(capsys, night, *NIGHT, "--format", "json"))
    assert [(each["rule"], each["severity_now"]) for each in found["open"]] == [
        ("BP-03", "critical"),
        ("PS-01", "warning"),
    ]
    assert found["open"][0]["acknowledged"]["by"] == "anna"
    assert found["open"][1]["acknowledged"] is None
    ended = {each["rule"]: each for each in found["ended"]}
    assert (ended["Q-01"]["times"], ended["Q-01"]["fired_s"], ended["Q-01"]["worst_value"]) == (
        2,
        35 * 60,
        "4.9 k msgs",
    )
    assert ended["CHL-16"]["possible_cause"] == {"rule": "AGENT-01", "object": "QM02/queue_manager"}
    assert (found["ended"][-1]["rule"], ended["Q-01"]["possible_cause"]) == ("CHL-16", None)
    assert [each["rule"] for each in found["muted"][0]["hid"]] == ["Q-01", "Q-01"]
    assert found["changes"][0]["attribute"] == "MAXDEPTH"
    assert [each["author"] for each in found["actions"]] == ["anna", "ben", "anna", "ben"]
    assert found["quality"]["silent"] == [{"from": "2026-11-20T02:10:00.000Z", "to": "2026-11-20T03:10:00.000Z"}]
    assert [each["owner"] for each in found["quality"]["gaps"]] == ["QM02"]
    assert found["quality"]["unreachable"] == [{"owner": "QM01", "polls": 4, "of": 134}]
    (ahead,) = found["forecasts"]
    assert (ahead["object"], ahead["metric"]) == ("QM01/page_set/3", "used_pct")
    trends = {each["object"]: each for each in found["trends"]}
    assert trends["QM01/page_set/3"]["limit"] == 85
    assert None in [value for _, value in trends["QM01/buffer_pool/3"]["points"]]


def test_a_quiet_night_says_who_watched(quiet_night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is not silence."""
    shown = report(capsys, quiet_night, *NIGHT)
    assert re.search(r"Nothing fired: \d+ rules watched 6 objects\.", shown)
    assert "Nobody did anything about alerts." in shown
    assert "No silence and no maintenance hid anything." in shown


MAINTENANCE = """\
name: PRDQSG
maintenance:
  - {name: IPL of SYS2, reason: weekly, queue_managers: [QM02], planned_down: true, from: 2026-11-20 05:00, to: 2026-11-20 07:30}
  - {name: new buffers, reason: REQ0815, objects: [QM01/buffer_pool/*], from: 2026-11-20 10:00, to: 2026-11-20 12:00}
time_zone: Europe/Berlin
"""


def test_maintenance_is_told_with_what_it_hid(night: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where an open alert is muted now."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(MAINTENANCE, "utf-8")
    found = json.loads(report(capsys, night, *NIGHT, "--format", "json", "--config", str(path)))
    mutes = {each["words"]: [alert["rule"] for alert in each["hid"]] for each in found["muted"]}
    assert mutes["maintenance 'IPL of SYS2', QM02 (planned down): weekly"] == ["AGENT-01", "CHL-16"]
    assert mutes["maintenance 'new buffers', QM01/buffer_pool/*: REQ0815"] == ["BP-03"]
    window = {"name": "new buffers", "until": "2026-11-20T11:00:00.000Z", "why": "REQ0815"}
    assert [each["maintenance"] for each in found["open"]] == [window, None]


def test_the_past_is_told_as_it_was(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ended later was open then, and nobody had done what was done later."""
    shown = report(
        capsys,
        night,
        "--tz",
        "Europe/Berlin",
        "--from",
        "2026-11-20 05:50",
        "--to",
        "2026-11-20 06:13",
        "--format",
        "json",
    )
    found = json.loads(shown)
    assert [each["rule"] for each in found["open"]] == ["AGENT-01", "BP-03"]
    assert found["open"][0]["acknowledged"] is None
    assert found["open"][1]["acknowledged"]["by"] == "anna"
    assert not found["ended"]


def test_what_is_old_does_not_look_well(night: Path, quiet_night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without data up to the end it says so at once, and forecasts nothing."""
    late = ["--tz", "Europe/Berlin", "--last", "12h", "--to", "2026-11-20 12:30"]
    for store in (night, quiet_night):
        shown = " ".join(report(capsys, store, *late).split())
        assert "There are no data about any queue manager since 2026-11-20 11:10:00 CET: what is open of it" in shown
        assert "Nothing can be told of what there are no data about" in shown
    found = json.loads(report(capsys, night, *late, "--format", "json"))
    assert found["forecasts"] == []
    assert [each["rule"] for each in found["open"]] == ["BP-03", "PS-01"]


def test_only_what_is_asked_for(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One queue manager, or what was critical."""
    only = json.loads(report(capsys, night, *NIGHT, "--format", "json", "--queue-manager", "QM02"))
    assert {each["queue_manager"] for part in ("open", "ended") for each in only[part]} == {"QM02"}
    assert {each["object"].split("/")[0] for each in only["trends"]} == {"QM02"}
    worst = json.loads(report(capsys, night, *NIGHT, "--format", "json", "--severity", "critical"))
    assert {each["severity"] for part in ("open", "ended") for each in worst[part]} == {"critical"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--last", "8h", "--from", "02:00"], "--last and --from both say where to begin"),
        (["--last", "8"], "needs a unit"),
        (["--to", "2999-01-01"], "is in the future"),
        (["--from", "2026-11-20 12:00", "--to", "2026-11-20 11:00"], "before it begins"),
        (["--queue-manager", "QM10"], "no queue manager 'QM10'"),
        (["--output", "/nowhere/at/all.html"], "cannot be written"),
    ],
)
def test_mistakes_are_told(night: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    """In a sentence, with what to do next."""
    assert main(["report", "--store", str(night), *words]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert not told.out


def test_ascii_text_has_no_other_character(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Signs are words, charts are left out."""
    shown = report(capsys, night, *NIGHT, "--ascii")
    assert shown.isascii()
    assert "CRITICAL QM01: buffer pool 3" in shown


def test_the_page_needs_nothing_else(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No script, no address to load from; and it follows the reader's light or dark."""
    page = report(capsys, night, *NIGHT, "--format", "html")
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(|https?://", page)
    assert "prefers-color-scheme: dark" in page
    assert page.count("<svg") == 3
    assert "&lt;script&gt;" in page

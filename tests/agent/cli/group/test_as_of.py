"""``--at``: what commands print as of a past moment."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mqvitals_agent.commandline.as_of import past_moment
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.errors import Failure
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_rules.timestamps import iso, parse_iso

NOW = 1795176590000  # 2026-11-20 12:09:50 UTC


def _no_zone() -> None:
    raise AssertionError("no zone is needed")


@pytest.mark.parametrize(("text", "ago"), [("40m", 40), ("-40m", 40), ("2h", 120), ("40m ago", 40), ("- 1h ago", 60)])
def test_so_long_ago(text: str, ago: int) -> None:
    """A length of time is so long ago, with a sign, a word, or neither."""
    assert past_moment("--at", text, _no_zone, NOW) == NOW - ago * 60_000  # type: ignore[arg-type]


def test_what_is_to_come_is_refused() -> None:
    """A moment of the future is no past moment."""
    with pytest.raises(Failure, match="still to come"):
        past_moment("--at", "2026-11-20T12:09:51Z", _no_zone, NOW)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def incident(replayed: Callable[[str], Path]) -> tuple[Path, list[int]]:
    """A replayed incident, and the ends of its cycles, newest first."""
    path = replayed("incident")
    ends: list[int] = []
    with StoreReader.open(path) as reader:
        at = reader.step(None, TimeStep.CYCLE, on=False)
        while at is not None:
            ends.append(at)
            at = reader.step(at, TimeStep.CYCLE, on=False)
    return path, ends


def test_status_is_that_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything went wrong the group was OK; exit code, JSON and the first line say as of when."""
    path, ends = incident
    first, last = ends[-1], ends[0]
    codes = []
    for at in (first, last):
        codes.append(main(["status", "--store", str(path), "--at", iso(at)]))
        out = capsys.readouterr().out
        assert re.match(r"AS OF 2026-11-20 12:0\d:\d\d UTC \(.* ago\)\n", out), out
        assert "The past" not in out
        main(["status", "--store", str(path), "--at", iso(at), "--json"])
        assert json.loads(capsys.readouterr().out)["at"] == iso(at)
    assert codes[0] < codes[1] == 2


def test_alerts_list_is_that_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Each listed alert had begun by then, and none had ended."""
    path, ends = incident
    counted = []
    for at in ends[::12]:
        assert main(["alerts", "list", "--store", str(path), "--at", iso(at), "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert all(each["started"] <= iso(at) and each["ended"] is None for each in listed)
        counted.append(len(listed))
    assert counted[-1] == 0 < counted[0]
    assert main(["alerts", "list", "--store", str(path), "--at", iso(ends[0]), "--why"]) != 0
    assert "is not kept" in capsys.readouterr().err


def test_words_state_the_figures_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """The pool that drains is shown with the share that was free then, not with the last one."""
    path, ends = incident
    shown = {}
    with StoreReader.open(path) as reader:
        for at in ends:
            then = reader.as_of(at)
            for stored in then.alerts():
                if stored.alert.key.rule in ("BP-02", "BP-03"):
                    name = stored.alert.key.object
                    shown[at] = (name, then.current(name)["worst_free_pct"].value)
    assert len({free for _, free in shown.values()}) > 2
    for at, (name, free) in shown.items():
        main(["alerts", "list", "--store", str(path), "--at", iso(at)])
        listed = capsys.readouterr().out
        assert re.search(rf"{name.name}\n.*\b{free:g} %", listed), (at, free, listed)


def test_an_object_is_shown_as_of_then(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """Its page begins with the moment; an unknown object is refused with near names."""
    path, ends = incident
    assert main(["show", "QM01/buffer_pool/3", "--store", str(path), "--at", iso(ends[5])]) == 0
    out = capsys.readouterr().out
    assert out.startswith("AS OF 2026-11-20 12:0")
    assert "QM01 buffer pool 3" in out
    assert main(["show", "QM01/buffer_pool/99", "--store", str(path)]) == 2
    assert "did you mean QM01/buffer_pool/" in capsys.readouterr().err


def proposed(text: str) -> list[list[str]]:
    """The commands that a text proposes, as a shell would split them."""
    found = re.findall(r"mqvitals ((?:trend|rules|alerts) .*)", text.replace("\\\n", " "))
    return [shlex.split(each) for each in found]


def test_proposed_commands_show_the_same_moment(
    incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]
) -> None:
    """What ``status --at`` proposes is typed as it stands: each command runs, and tells of that moment."""
    path, ends = incident
    at = ends[len(ends) // 3]
    main(["status", "--store", str(path), "--at", iso(at), "--full"])
    commands = proposed(capsys.readouterr().out)
    assert {command[0] for command in commands} == {"trend", "rules", "alerts"}
    when = datetime.fromtimestamp(at // 1000, UTC)
    for command in commands:
        assert command[-2:] == ["--at", iso(at)], command
        assert main(command) == 0, command
        out = capsys.readouterr().out
        if command[0] == "rules":
            (then,) = re.findall(r", as of (\S+)", out)
            assert ends[len(ends) // 3 + 1] < parse_iso(then) <= at
        else:
            assert out.startswith(f"AS OF {when:%Y-%m-%d %H:%M:%S} UTC"), out


def test_a_trend_ends_at_the_moment(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """It is the trend up to then; lengths of time count from then, and what is shown says as of when."""
    path, ends = incident
    at = ends[len(ends) // 2]
    command = ["trend", "depth", "QM02/queue/PAYMENTS.IN", "--store", str(path)]
    for since in ([], ["--since", "30s"]):
        found = []
        for option in ("--at", "--to"):
            assert main([*command, *since, option, iso(at), "--json"]) == 0
            found.append(json.loads(capsys.readouterr().out))
        # An alert that ended later was open then.
        assert found[0] | {"alerts": []} == found[1] | {"alerts": []}
        assert found[0]["points"]
        assert all(at - (30_000 if since else at) <= parse_iso(each) <= at for each, _ in found[0]["points"])
    assert main([*command, "--at", iso(at)]) == 0
    assert capsys.readouterr().out.startswith("AS OF 2026-11-20 12:0")


def test_a_journal_ends_at_the_moment(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """It has what had happened by then, whatever came later."""
    path, ends = incident
    at = ends[len(ends) // 2]
    found = []
    for option in ("--at", "--to"):
        assert main(["journal", "--store", str(path), option, iso(at), "--json"]) == 0
        found.append([(each["seen"], each["object"], each["what"]) for each in json.loads(capsys.readouterr().out)])
    assert found[0] == found[1]
    assert found[0]
    assert main(["journal", "--store", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > len(found[0])
    assert main(["journal", "--store", str(path), "--at", iso(at)]) == 0
    assert capsys.readouterr().out.startswith("AS OF 2026-11-20 12:0")


def test_before_the_store_begins(incident: tuple[Path, list[int]], capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody stored is no empty group: the command says when the store begins."""
    path, _ = incident
    assert main(["status", "--store", str(path), "--at", "2026-11-20T11:00:00Z"]) == 3
    assert "the store begins at 2026-11-20 12:00:0" in capsys.readouterr().err

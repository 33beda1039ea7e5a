"""``mqvitals trend``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.terminal import cells
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported

MakeStore = Callable[..., Path]
LAST = 1795176050000  # the small store's last snapshot


def trend(capsys: pytest.CaptureFixture[str], store: Path, *arguments: str) -> dict[str, Any]:
    assert main(["trend", *arguments, "--store", str(store), "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    shown: dict[str, Any] = json.loads(out)
    return shown


def values(shown: dict[str, Any]) -> list[float | None]:
    return [value for _, value in shown["points"]]


def test_json(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """One line: every poll of the replay, null where no answer came."""
    shown = trend(capsys, make_store(), "free_pct", "QM01/buffer_pool/3")
    assert list(shown) == ["metric", "object", "unit", "alerts", "points"]
    assert (shown["metric"], shown["object"], shown["unit"]) == ("free_pct", "QM01/buffer_pool/3", "pct")
    assert values(shown) == [60, 50, 40, None, 10, 4]
    assert shown["points"][0][0] == "2026-11-20T12:00:00.000Z"


def test_qualified_metric(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The metric may be written with its kind, and a counter's values are its increases."""
    shown = trend(capsys, make_store(), "channel.bytes_sent", "QM01/channel/TO.QM02")
    assert (shown["metric"], shown["unit"]) == ("bytes_sent", "bytes per interval")
    assert values(shown) == [None, 1000, 2000, 3000, 4000, 5000]


def test_shares_and_states(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares are rounded to two decimals, states are their numbers."""
    store = make_store()
    assert values(trend(capsys, store, "used_pct", "QM01/page_set/4"))[:2] == [70.48, 71.48]
    assert values(trend(capsys, store, "status", "QM01/channel/TO.QM02")) == [3, 3, 5, 3, 3, 3]


def test_csv(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--csv has a header and leaves absent values empty."""
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", "--store", str(make_store()), "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "at,value"
    assert lines[4] == "2026-11-20T12:00:30.000Z,"
    assert len(lines) == 7


def test_text(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A chart with last, min and max, gaps and times, in 80 columns; it says that it is the past."""
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", "--store", str(make_store())]) == 0
    out = capsys.readouterr().out
    assert "last 4 %; min 4 % at 12:00:50; max 60 % at 12:00:00" in out
    assert "6 polls, one every 10 s, 1 gap" in out
    assert "The past: replay of recording.jsonl.gz" in out
    assert max(map(cells, out.splitlines())) == 80


def test_size(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Width and height of the chart can be chosen, and are bounded."""
    command = ["trend", "free_pct", "QM01/buffer_pool/3", "--store", str(make_store())]
    assert main([*command, "--width", "50", "--height", "3"]) == 0
    out = capsys.readouterr().out
    assert max(map(cells, out.splitlines())) <= 50
    assert sum(any("\u2800" <= char <= "\u28ff" for char in line) for line in out.splitlines()) == 3
    assert main([*command, "--width", "-4", "--height", "1000000"]) == 0
    assert len(capsys.readouterr().out.splitlines()) < 230


def test_state_chart(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The chart of a state has the states' names."""
    assert main(["trend", "status", "QM01/channel/TO.QM02", "--store", str(make_store())]) == 0
    out = capsys.readouterr().out
    assert "RETRYING ┤" in out
    assert "last RUNNING; seen: RUNNING at 5 polls, RETRYING at 1 poll" in out


def test_absent_metric(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric that was never told says why, with exit code 0."""
    store = make_store()
    assert main(["trend", "xqtime_us_short", "QM01/channel/TO.QM02", "--store", str(store)]) == 0
    assert "Absent at all 6 polls: not collected" in capsys.readouterr().out
    assert main(["trend", "low_pct", "QM01/buffer_pool/3", "--store", str(store)]) == 0
    assert "needs SMF" in capsys.readouterr().out


def test_spans(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--since counts back from the end; --from and --to are moments, both included."""
    store = make_store()
    command = ("free_pct", "QM01/buffer_pool/3")
    assert values(trend(capsys, store, *command, "--since", "10s")) == [10, 4]
    assert values(trend(capsys, store, *command, "--from", "2026-11-20T12:00:40Z")) == [10, 4]
    assert values(trend(capsys, store, *command, "--to", "2026-11-20T13:00:10+01:00")) == [60, 50]
    assert values(trend(capsys, store, *command, "--to", "2026-11-20T12:00:20Z", "--since", "10s")) == [50, 40]
    assert (
        main(
            ["trend", *command, "--store", str(store), "--from", "2026-11-20T11:00:00Z", "--to", "2026-11-20T11:30:00Z"]
        )
        == 0
    )
    assert "No poll from 2026-11-20 11:00:00 to 11:30:00 UTC" in capsys.readouterr().out


def test_live_store_shows_the_last_hour(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a span a live store shows the hour before now."""
    store = make_store(replay=False)
    monkeypatch.setattr("mqvitals_agent.commandline.time_arguments.now_ms", lambda: LAST + 3_580_000)
    assert values(trend(capsys, store, "free_pct", "QM01/buffer_pool/3")) == [None, 10, 4]


def test_hostile_object(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A queue whose name steers terminals can be asked for and is shown harmless."""
    store = make_store()
    name = "QM01/queue/\x1b[2J[/x]"
    assert trend(capsys, store, "depth", name)["object"] == name
    assert main(["trend", "depth", name, "--store", str(store)]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["free_pc", "QM01/buffer_pool/3"], "a buffer_pool has no metric 'free_pc'", "did you mean 'free_pct'"),
        (["zzz", "QM01/buffer_pool/3"], "has no metric 'zzz'", "'mqvitals metrics' lists them all"),
        (["free_pct", "QM01/bufer_pool/3"], "there is no kind of object 'bufer_pool'", "did you mean 'buffer_pool'"),
        (["free_pct", "QM01/zzz/3"], "there is no kind of object 'zzz'", "kinds are "),
        (["free_pct", "QM01/buffer_pool/33"], "no object QM01/buffer_pool/33", "did you mean QM01/buffer_pool/3"),
        (["free_pct", "QM01"], "owner/kind/name", "'mqvitals metrics'"),
        (["channel.free_pct", "QM01/buffer_pool/3"], "is no metric of QM01/buffer_pool/3", "buffer_pool.METRIC"),
        (["conname", "QM01/channel/TO.QM02"], "channel.conname is a text", ""),
        (["free_pct", "QM01/buffer_pool/3", "--since", "soon"], "--since 'soon'", ""),
        (["free_pct", "QM01/buffer_pool/3", "--from", "noon"], "--from 'noon' is not a time", "2026-11-20T12:00:00Z"),
        (["free_pct", "QM01/buffer_pool/3", "--to", "2026-13-20"], "month must be in 1..12", "2026-11-20T12:00:00Z"),
        (
            ["free_pct", "QM01/buffer_pool/3", "--since", "1h", "--from", "2026-11-20T12:00:00Z"],
            "--since and --from",
            "",
        ),
        (["free_pct", "QM01/buffer_pool/3", "--from", "2027-11-20T12:00:00Z"], "before it begins", "begin earlier"),
        (
            ["free_pct", "QM01/buffer_pool/3", "--to", "2999-01-01"],
            "--to '2999-01-01' is in the future",
            "leave it out",
        ),
    ],
)
def test_mistakes(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    """Every mistake is a sentence that says what is wrong and what would be right, with exit code 2."""
    assert main(["trend", *arguments, "--store", str(make_store())]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert hint in captured.err


def test_rates_of_polls_at_any_distance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """240 messages a second, polled after 2 to 60 seconds, of which one poll has no answer: flat in JSON, CSV and chart;
    the points themselves stay the increases."""
    distances = [2, 60, 5, 30, 2, 2, 45, 7, 60, 3, 20, 2, 60, 11] * 3
    path, name = tmp_path / "store.db", ObjectName("QM01", "channel", "TO.QM02")
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        ts, since = LAST, 0
        for cycle, distance in enumerate([0, *distances], 1):
            ts += distance * 1000
            since += distance
            value: Reported = Absence.NO_ANSWER if cycle == 20 else 240 * since if distance else Absence.FIRST_READING
            interval = since * 1000 if distance and cycle != 20 else None
            if cycle != 20:
                since = 0
            reading = Reading(name, "INQUIRE_CHANNEL_STATUS", ts, {"msgs": value, "status": 3, "type": 1}, interval)
            intake.take([Snapshot("QM01", False, cycle, ts, (reading,))])
    shown = trend(capsys, path, "msgs", str(name))
    increases = [value for value in values(shown) if value is not None]
    assert max(increases) >= 20 * min(increases)
    rates = [rate for _, rate in shown["per_second"] if rate is not None]
    assert len(rates) == len(distances) - 1
    assert all(rate == pytest.approx(240, rel=0.02) for rate in rates)
    assert main(["trend", "msgs", str(name), "--store", str(path), "--csv"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "at,value,per_second"
    assert {line.split(",")[2] for line in lines} == {"", "240.0"}
    assert main(["trend", "msgs", str(name), "--store", str(path), "--width", "80"]) == 0
    text = capsys.readouterr().out
    assert "last 240 msgs/s; min 240 msgs/s" in " ".join(text.split())
    curve = [line for line in text.splitlines() if set(line) & set(map(chr, range(0x2801, 0x2900)))]
    assert len(curve) == 1
    assert "\u2800" not in curve[0].partition("┤")[2].strip("\u2800")


def test_several(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Metrics with commas between them and objects by pattern are a list of series, each as it is alone."""
    store = make_store()
    shown = trend(capsys, store, "status,bytes_sent", "QM01/channel/TO.*")
    alone = [trend(capsys, store, metric, "QM01/channel/TO.QM02") for metric in ("status", "bytes_sent")]
    of_one = [each for each in shown["series"] if each["object"] == "QM01/channel/TO.QM02"]
    assert of_one == alone
    assert {each["object"] for each in shown["series"]} >= {"QM01/channel/TO.QM02"}
    assert (
        trend(capsys, store, "free_pct", "QM01/buffer_pool/3", "QM01/buffer_pool/?")["series"][0]["metric"]
        == "free_pct"
    )
    assert main(["trend", "status,bytes_sent", "QM01/channel/TO.QM02", "--store", str(store), "--csv"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "object,metric,at,value,per_second"
    assert lines[1] == '"QM01/channel/TO.QM02",status,2026-11-20T12:00:10.000Z,3,'
    assert len(lines) == 12


def test_several_as_charts(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one object the metrics of one unit share a chart; each line has its digit and its figures."""
    assert main(["trend", "msgs,bytes_sent,status", "QM01/channel/TO.QM02", "--store", str(make_store())]) == 0
    out = capsys.readouterr().out
    assert out.count("└") == 2  # msgs are absent here: no chart, and a word for it
    assert "bytes_sent: last 500 B/s" in out
    assert "RUNNING at 5 polls" in out
    assert max(map(cells, out.splitlines())) <= 80


def test_too_many_for_charts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a pattern matches beyond the lines of the charts is refused in a sentence; as CSV there is no limit."""
    path = tmp_path / "many.db"
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        names = [ObjectName("QM01", "queue", f"PAY.{number:02}") for number in range(17)]
        for cycle in (1, 2, 3):
            ts = LAST + cycle * 10_000
            readings = tuple(Reading(each, "INQUIRE_QUEUE_STATUS", ts, {"depth": cycle}) for each in names)
            intake.take([Snapshot("QM01", False, cycle, ts, readings)])
    command = ["trend", "depth", "--store", str(path)]
    assert main([*command, "QM0*/queue/PAY*"]) == 2
    error = capsys.readouterr().err
    assert "17 objects with 17 series are too many for charts: at most 4 of 4 lines" in error
    assert "--csv" in error
    assert main([*command, "QM0*/queue/PAY.0*"]) == 0
    assert capsys.readouterr().out.count("└") == 3
    assert main([*command, "QM0*/queue/PAY*", "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 17 * 3


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["free_pct", "QM01/buffer_pol/*"], "there is no kind of object 'buffer_pol'", "did you mean 'buffer_pool'"),
        (["free_pct", "QM09/buffer_pool/*"], "no object of this time matches 'QM09/buffer_pool/*'", ""),
        (["free_pct,zzz", "QM01/buffer_pool/*"], "a buffer_pool has no metric 'zzz'", "'mqvitals metrics'"),
        (["conname", "QM01/channel/*"], "channel.conname is a text", ""),
        ([",", "QM01/channel/*"], "no metric is named", "'mqvitals metrics'"),
        (["zzz", "QM01/*"], "none of these has a metric 'zzz': ", "'mqvitals metrics'"),
        (["free_pct", "QM01/buffer_pool/3", "--last", "soon"], "--last 'soon'", ""),
    ],
)
def test_mistakes_with_patterns(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    """As those with names."""
    assert main(["trend", *arguments, "--store", str(make_store())]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err


def test_parts_of_the_time(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--every has one value a part, by the clock, with the seconds that data cover."""
    store = make_store()
    shown = trend(capsys, store, "free_pct", "QM01/buffer_pool/3", "--every", "30s", "--agg", "min")
    assert shown["points"] == [["2026-11-20T12:00:00.000Z", 40], ["2026-11-20T12:00:30.000Z", 4]]
    assert (shown["every_s"], shown["aggregate"], shown["covered_s"]) == (30, "min", [30.0, 20.0])
    shown = trend(capsys, store, "bytes_sent", "QM01/channel/TO.QM02", "--every", "1m", "--agg", "sum")
    assert (shown["unit"], values(shown)) == ("bytes", [15_000])
    command = ["trend", "--store", str(store), "--every", "30s"]
    assert main([*command, "bytes_sent,status", "QM01/channel/TO.QM02", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "object,metric,at,value,covered_s"
    assert '"QM01/channel/TO.QM02",status,2026-11-20T12:00:30.000Z,3,30.0' in lines
    assert main([*command, "free_pct", "QM01/buffer_pool/3"]) == 0
    assert "2 intervals of 30 s, avg of each, no gaps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agg", "max"], "--agg is about the parts of --every"),
        (["--every", "7m"], "write one that divides a day"),
        (["--every", "1m", "--agg", "sum"], "--agg sum: free_pct counts nothing"),
    ],
)
def test_mistakes_with_parts(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each is a sentence."""
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", *arguments, "--store", str(make_store())]) == 2
    assert message in capsys.readouterr().err


def test_top(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The worst objects of a pattern with their values and when, as a table, JSON and CSV."""
    store = make_store()
    command = ["trend", "free_pct", "QM0*/buffer_pool/*", "--store", str(store), "--top", "1", "--by", "min"]
    assert main(command) == 0
    assert "1  QM01/buffer_pool/3  4 %  12:00:50" in capsys.readouterr().out
    assert main([*command, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == '"QM01/buffer_pool/3",free_pct,min,4,2026-11-20T12:00:50.000Z,'
    assert main([*command, "--json"]) == 0
    (top,) = json.loads(capsys.readouterr().out)["top"]
    assert top["objects"] == [{"object": "QM01/buffer_pool/3", "value": 4, "at": "2026-11-20T12:00:50.000Z"}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "--by", "max"], "--by is about the table of --top"),
        (["status", "--top", "0"], "--top must be 1 at least"),
        (["status", "--top", "3"], "--by max: status is a state"),
        (["msgs", "--top", "3", "--every", "1m"], "--top is about the whole time"),
    ],
)
def test_mistakes_with_top(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each is a sentence."""
    assert main(["trend", arguments[0], "QM01/channel/*", *arguments[1:], "--store", str(make_store())]) == 2
    assert message in capsys.readouterr().err


def test_alerts_are_marked(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Those about the object that fired in the time: on the axis, in words below, and in JSON; not those of others."""
    store = make_store()
    shown = trend(capsys, store, "free_pct", "QM01/buffer_pool/3")
    rules = {each["rule"] for each in shown["alerts"]}
    assert rules
    assert all(each["severity"] in ("warning", "critical") for each in shown["alerts"])
    both = trend(capsys, store, "free_pct,status", "QM01/buffer_pool/3", "QM01/channel/TO.QM02")["series"]
    assert next(each for each in both if each["metric"] == "free_pct")["alerts"] == shown["alerts"]
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", "--store", str(store)]) == 0
    text = capsys.readouterr().out
    assert all(rule in text for rule in rules)
    axis = next(line for line in text.splitlines() if "└" in line)
    assert "━" in axis or "▲" in axis or "●" in axis


@pytest.fixture
def two_days(tmp_path: Path) -> Path:
    """A queue polled each hour of two days: its depth is the hour, on the second day 100 more."""
    path, name = tmp_path / "days.db", ObjectName("QM01", "queue", "PAY.IN")
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        for hour in range(48):
            ts = 1795132800000 + hour * 3_600_000  # 2026-11-20 00:00 UTC
            depth = hour % 24 + (100 if hour >= 24 else 0)
            intake.take(
                [Snapshot("QM01", False, hour + 1, ts, (Reading(name, "INQUIRE_Q_STATUS", ts, {"depth": depth}),))]
            )
    return path


def test_compared_with_yesterday(two_days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same hours of the day before, in the chart, as JSON and as CSV."""
    command = ["trend", "depth", "QM01/queue/PAY.IN", "--store", str(two_days), "--from", "2026-11-21T08:00Z"]
    command += ["--to", "2026-11-21T10:00Z", "--compare"]
    assert main([*command, "yesterday", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert values(shown) == [108, 109, 110]
    assert [value for _, value in shown["compared"]["points"]] == [8, 9, 10]
    assert shown["compared"]["figures"]["max"]["difference"] == 100
    assert main([*command, "2026-11-20", "--every", "1h", "--csv"]) == 0
    assert '"QM01/queue/PAY.IN",depth,2026-11-21T09:00:00.000Z,109,9,100' in [
        line.replace(".0,", ",").removesuffix(".0") for line in capsys.readouterr().out.splitlines()
    ]
    assert main([*command, "yesterday"]) == 0
    out = capsys.readouterr().out
    assert "+100 msgs" in out
    assert "yesterday, 2026-11-20 08:00:00 to 10:00:00" in " ".join(out.split())
    command[2] = "QM01/queue/PAY*"
    assert main([*command, "yesterday", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["series"] == [shown]
    assert main([*command, "last-week"]) == 0
    assert "no data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "2026-11-21"], "--compare '2026-11-21': the time shown begins on 2026-11-20"),
        (["--compare", "noon"], "write yesterday, last-week or a date"),
        (["--compare", "yesterday", "--top", "2"], "--top makes no comparison"),
    ],
)
def test_mistakes_with_comparisons(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each is a sentence."""
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", *arguments, "--store", str(make_store())]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    """A page set of which 2 % more are used each day, with a daily course, polled twice an hour of five days."""
    path, name = tmp_path / "growing.db", ObjectName("QM01", "page_set", "4")
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        for place in range(5 * 48):
            ts = 1795132800000 + place * 1_800_000
            share = 70 + place / 24 + 5 * math.sin(2 * math.pi * place / 48)
            reading = Reading(name, "INQUIRE_USAGE", ts, {"used_pct": share, "total_pages": 1000})
            intake.take([Snapshot("QM01", False, place + 1, ts, (reading,))])
    return path


def test_forecast(growing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When it is full, by the course of its days: as a sentence, in JSON, as CSV; another limit is reached earlier."""
    command = ["trend", "used_pct", "QM01/page_set/4", "--store", str(growing), "--forecast"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["forecast"]
    assert (found["limit"], found["of"], found["by"]) == (100, "full", "the daily course of 5 days")
    # 70 % and 2 % a day are 96 % in the morning of the 14th day, whose height is 5 % more, at 06:00.
    assert found["earliest"] <= found["at"] <= found["latest"]
    assert found["at"].startswith("2026-12-03T0")
    assert main([*command, "--limit", "90", "--json"]) == 0
    nearer = json.loads(capsys.readouterr().out)["forecast"]
    assert nearer["of"] == "--limit"
    assert nearer["at"] < found["at"]
    assert main(command) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "QM01/page_set/4 used_pct: reaches 100 % (full) about 2026-12-0" in text
    assert "by the daily course of 5 days" in text
    assert (
        main(["trend", "used_pct,total_pages", "QM01/page_set/*", "--store", str(growing), "--forecast", "--csv"]) == 0
    )
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "object,metric,limit,of,at,earliest,latest,by,reason"
    assert lines[0].startswith(f'"QM01/page_set/4",used_pct,100.0,full,{found["at"]},{found["earliest"]},')
    assert lines[1] == '"QM01/page_set/4",total_pages,,,,,,"","no limit of it is known: name one with --limit"'
    assert (
        main(["trend", "used_pct,total_pages", "QM01/page_set/*", "--store", str(growing), "--forecast", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["series"][0]["forecast"] == found


def test_no_forecast(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason stands where the time would."""
    store = make_store()
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", "--store", str(store), "--forecast"]) == 0
    assert "no forecast" in capsys.readouterr().out
    assert main(["trend", "status", "QM01/channel/TO.QM02", "--store", str(store), "--forecast"]) == 0
    assert "no forecast: a state reaches no limit" in capsys.readouterr().out
    assert trend(capsys, store, "depth", "QM01/queue/\x1b[2J[/x]", "--forecast", "--limit", "1e9")["forecast"]["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "5"], "--limit is about --forecast"),
        (["--forecast", "--top", "3"], "--forecast goes with charts and series"),
    ],
)
def test_mistakes_with_forecasts(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each is a sentence."""
    assert main(["trend", "free_pct", "QM01/buffer_pool/3", *arguments, "--store", str(make_store())]) == 2
    assert message in capsys.readouterr().err


def test_charts_as_a_file(two_days: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--svg writes the charts beside what is printed and says so; a file that is there stays without --force, and one that
    cannot be written is a sentence.
    """
    file = tmp_path / "chart.svg"
    command = ["trend", "depth", "QM01/queue/PAY.IN", "--store", str(two_days), "--svg"]
    assert main([*command, str(file)]) == 0
    printed = capsys.readouterr()
    assert "last 123 msgs" in printed.out
    assert f"wrote 1 chart to {file}" in "".join(printed.err.splitlines())
    first = file.read_text("utf-8")
    assert "PAY.IN" in first
    earlier = [*command, str(file), "--from", "2026-11-21T00:00Z", "--compare", "yesterday"]
    for again in ([*command, str(file)], earlier):
        assert main(again) == 2
        refused = capsys.readouterr()
        assert "is there already" in refused.err
        assert "--force" in refused.err
        assert not refused.out
    assert file.read_text("utf-8") == first
    assert main([*earlier, "--force"]) == 0
    assert "wrote 1 chart to" in capsys.readouterr().err
    assert "yesterday, 2026-11-20" in file.read_text("utf-8")
    assert main([*command[:-1], "--force"]) == 2
    assert "--force is about a file" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "nowhere" / "chart.svg")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main([*command, str(file), "--top", "1"]) == 2
    assert "--svg holds charts" in capsys.readouterr().err
    assert list(tmp_path.glob(".chart*")) == []


def test_restarts_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A queue manager that was started again is a mark on the charts of its objects, and a moment in JSON."""
    path, name = tmp_path / "restart.db", ObjectName("QM01", "queue", "PAY.IN")
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        for cycle in range(10):
            ts = LAST + cycle * 10_000
            started = "2026-11-20 11.00.00" if cycle < 5 else "2026-11-20 12.00.40"
            manager = Reading(ObjectName("QM01", "queue_manager"), "INQUIRE_LOG", ts, {"start_ts": started})
            depth = Reading(name, "INQUIRE_Q_STATUS", ts, {"depth": cycle})
            intake.take([Snapshot("QM01", False, cycle + 1, ts, (manager, depth))])
    restarted = "2026-11-20T12:01:40.000Z"
    assert trend(capsys, path, "depth", str(name))["restarts"] == [restarted]
    assert trend(capsys, path, "depth", "QM01/queue/*", "--every", "10s")["series"][0]["restarts"] == [restarted]
    assert main(["trend", "depth", str(name), "--store", str(path)]) == 0
    text = capsys.readouterr().out
    assert "▲ 12:01:40 QM01 restarted" in text
    assert "▲" in next(line for line in text.splitlines() if "└" in line)

"""What SMF records tell beside polls: the tasks of channel initiators, the worst of an interval, and how old it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.figure import rough_age
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.figures.values import on_zos, record_words
from mqvitals_agent.view.frame import LIST, Frame, FrameRequest, read_frame
from mqvitals_agent.view.lists.columns import COLUMNS
from mqvitals_agent.view.lists.tasks import bar, task_lines
from mqvitals_agent.view.screens.object.figures import interval_lines
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

BEGIN = 1_763_640_000_000  # 2025-11-20 12:00:00 UTC
MINUTE = 60_000
CHIN = ObjectName("QM01", "channel_initiator")
Take = Callable[..., Frame]
POOL = ObjectName("QM01", "buffer_pool", "3")


def poll(minute: int, name: ObjectName = CHIN, probe: str = "INQUIRE_CHANNEL_INIT", **values: Reported) -> Reading:
    return Reading(name, probe, BEGIN + minute * MINUTE, values, MINUTE)


def record(minute: int, name: ObjectName, **values: Reported) -> Reading:
    ts = BEGIN + minute * MINUTE
    return Reading(name, "SMF 115-231", ts, values, 30 * MINUTE, poll=False, source=Source.SMF)


def task(minute: int, kind: str, number: int, busy: float, requests: int) -> Reading:
    average: Reported = 900 if requests else Absence.NOTHING_TO_TELL
    name = ObjectName("QM01", kind, str(number))
    return record(
        minute, name, busy_pct=busy, cpu_pct=busy / 2, requests=requests, avg_elapsed_us=average, avg_cpu_us=average
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "smf.db"


@pytest.fixture
def told(path: Path, judging: RuleConfig) -> Iterator[Take]:
    """Takes readings as of a minute, and gives the frame of what is wanted then."""
    with Store.open(path) as store, StoreReader.open(path) as reader:
        intake = Ingest(store, judging, older=reader)

        def take(minute: int, request: FrameRequest, *readings: Reading) -> Frame:
            now = BEGIN + minute * MINUTE
            intake.take([Snapshot("QM01", False, minute, now, readings)])
            return read_frame(reader, now, request, judging)

        yield take


def text_of(frame: Frame, width: int = 100) -> str:
    """The tasks as the screen shows them."""
    assert frame.items
    return "\n".join(line.text for line in task_lines(frame.items[0], frame.tasks, frame.now, width))


def test_tasks_of_the_newest_interval(told: Take) -> None:
    """Each task with its figures in the order of their numbers; those that the newest record does not know are gone."""
    request = FrameRequest(LIST, "channel_initiator")
    running = poll(31, adapters_started=3, adapters_max=4)
    told(31, request, running, *(task(30, "adapter", number, 10, 5) for number in range(12)))
    frame = told(
        74, request, poll(74, adapters_started=3, adapters_max=4),
        task(60, "adapter", 10, 0, 0), task(60, "adapter", 2, 62.5, 1_200), task(60, "adapter", 0, 0.01, 3),
    )  # fmt: skip
    assert [item.name.name for item in frame.tasks] == ["0", "2", "10"]
    text = text_of(frame)
    assert "QM01 adapters: 3 of 4 started, unused 1 (SMF 13:00, 14m00s ago)" in text
    rows = {line.key: line.text for line in task_lines(frame.items[0], frame.tasks, frame.now, 80) if line.key}
    assert rows["QM01/adapter/2"].split() == [
        "2",
        "████████▊",
        "62.5",
        "%",
        "31.2",
        "%",
        "1.2",
        "k",
        "900",
        "us",
        "900",
        "us",
    ]
    assert rows["QM01/adapter/10"].split() == ["10", "unused", "0", "%", "0", "%", "0", "none", "none"]
    assert "QM01 dispatchers" in text  # nobody told of any: it is said that it needs SMF


def test_an_initiator_is_as_ill_as_its_tasks(told: Take) -> None:
    """A hot dispatcher makes the line of its channel initiator a warning, in the list and on its own screen."""
    readings = [poll(31, status=2, current=3), task(30, "dispatcher", 0, 99, 10), task(30, "dispatcher", 1, 1, 10)]
    frame = told(31, FrameRequest(LIST, "channel_initiator"), *readings)
    assert {item.name.name: item.health for item in frame.tasks} == {"0": Health.WARNING, "1": Health.OK}
    assert frame.items[0].health is Health.WARNING
    detail = told(32, FrameRequest("detail", name=CHIN), poll(32, status=2, current=3)).detail
    assert detail is not None
    assert detail.health is Health.WARNING


def test_without_records_it_says_how_to_get_them(told: Take) -> None:
    """No task is made up: the screen says what it needs, and the list too."""
    frame = told(31, FrameRequest(LIST, "channel_initiator"), poll(31, adapters_started=8, adapters_max=8))
    for width in (79, 119):
        text = text_of(frame, width)
        assert "QM01 adapters: 8 of 8 started ─" in text
        assert "  needs SMF: START TRACE(STAT) CLASS(4), smf import; see mqvitals help smf\n" in text
        assert "unused" not in text
    unused = next(column for column in COLUMNS["channel_initiator"] if column.id == "adapters_unused")
    assert unused.cell(frame.items[0], frame.now)[:2] == ("needs SMF", Tone.ABSENT)


def test_the_lowest_stands_beside_what_is_free_now(told: Take) -> None:
    """Lists show the lowest share with the age of its record; an object's screen says of which interval it is."""
    name = "INQUIRE_USAGE"
    frame = told(
        74, FrameRequest(LIST, "storage"), poll(74, POOL, name, free_pct=61, total=1_000),
        record(60, POOL, low_pct=4, dmc=3, dwt=12, sos=0),
    )  # fmt: skip
    lowest = next(column for column in COLUMNS["storage"] if column.id == "low_pct")
    assert lowest.cell(frame.items[0], frame.now).text == "4 % 14m"
    detail = told(75, FrameRequest("detail", name=POOL), poll(75, POOL, name, free_pct=61, total=1_000))
    text = "\n".join(line.text for line in detail_lines(detail, 120))
    assert "  free 61 % now (0s ago), lowest 4 % (SMF 13:00, 15m00s ago)" in text
    assert (
        "SMF 13:00, 30m long, 15m00s ago: deferred writer started 12 times, synchronous write threshold hit 3" in text
    )


def value(told: Reported, *, source: Source = Source.SMF, minutes: int = 0) -> CurrentValue:
    return CurrentValue(told, BEGIN + minutes * MINUTE, "P", BEGIN, None, source, 30 * MINUTE)


def test_only_one_interval_is_told() -> None:
    """Figures of an older record do not stand among those of the newest; absent ones are left out."""
    values = {
        "nettime_min_us": value(400),
        "nettime_avg_us": value(Absence.NOTHING_TO_TELL),
        "nettime_max_us": value(90_000),
        "put_retries": value(7, minutes=-30),
    }
    [line] = interval_lines("channel", values, BEGIN + MINUTE, 120)
    assert line.text == "  SMF 12:00, 30m long, 1m00s ago: NETTIME min 400 us, max 90 ms"
    assert interval_lines("channel", {"nettime_max_us": value(5, source=Source.POLL)}, BEGIN, 120) == ()


def test_words_about_records() -> None:
    """Time of day and age; a date from a day on; statistics messages by their name; what is stale says so."""
    assert record_words(value(1), BEGIN + MINUTE) == "SMF 12:00, 1m00s ago"
    assert record_words(value(1), BEGIN + 1_500 * MINUTE) == "SMF 2025-11-20 12:00, 1d1h ago"
    assert record_words(value(1, source=Source.STATISTICS), BEGIN + MINUTE) == "statistics 12:00, 1m00s ago"
    stale = value(1)._replace(unanswered=Absence.STALE)
    assert record_words(stale, BEGIN + MINUTE) == "SMF 12:00, stale, 1m00s ago"
    assert record_words(value(1, source=Source.POLL), BEGIN + MINUTE) == "1m00s ago"


def test_calls_a_second_by_verb() -> None:
    """The busiest call first; what was never called is left out, and without a record there is no line."""
    calls = {"get_calls": 600, "put_calls": 300, "open_calls": 100, "set_calls": 0}
    values = {name: value(number) for name, number in {"mqi_call_rate": 50.0, **calls}.items()}
    [line] = interval_lines("queue_manager", values, BEGIN + MINUTE, 120)
    assert line.text.partition(": ")[2] == "MQI calls 50 /s: MQGET 30 /s, MQPUT 15 /s, MQOPEN 5 /s"
    assert interval_lines("queue_manager", {"get_calls": value(5)}, BEGIN, 120) == ()


def test_distributed_queue_managers_need_no_smf() -> None:
    """Where a metric is told to be of z/OS alone, nobody is sent to start a trace."""
    assert not on_zos({"disposition": value(Absence.NOT_ON_DISTRIBUTED)})
    words = [line.text for line in interval_lines("buffer_pool", {"x": value(Absence.NOT_ON_DISTRIBUTED)}, BEGIN, 80)]
    assert words == ["  free: not asked"]


@pytest.mark.parametrize(("share", "width", "drawn"), [
    (0, 10, ""), (0.01, 10, "▏"), (50, 10, "█████"), (55, 10, "█████▌"), (100, 10, "█" * 10), (140, 10, "█" * 10),
    (None, 10, ""),
])  # fmt: skip
def test_bars(share: float | None, width: int, drawn: str) -> None:
    """A bar is as long as its share, never longer than its room; a little is not nothing."""
    assert bar(share, width) == drawn
    assert cells(bar(share, width)) <= width


@pytest.mark.parametrize(("ms", "words"), [
    (41_000, "41s"), (252_000, "4m"), (7_800_000, "2h"), (273_600_000, "3d"), (10**15, ">9999d"),
])  # fmt: skip
def test_rough_ages(ms: int, words: str) -> None:
    """The greatest unit alone."""
    assert rough_age(ms) == words


@pytest.mark.parametrize("width", [60, 80, 96, 120, 200])
def test_rows_fit(width: int) -> None:
    """No row is wider than the screen, whatever is told."""
    wide = {
        name: value(1e14) for name in ("busy_pct", "cpu_pct", "requests", "avg_elapsed_us", "avg_cpu_us", "channels")
    }
    own = Item(CHIN, Health.OK, {})
    tasks = [Item(ObjectName("QM01", "dispatcher", str(number)), Health.OK, wide) for number in (0, 1_000)]
    assert max(cells(line.text) for line in task_lines(own, tasks, BEGIN, width)) <= max(width, 76)

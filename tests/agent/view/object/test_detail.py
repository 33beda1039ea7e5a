"""The screen of one object."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.object.detail import ObjectDetail
from mqvitals_agent.view.screens.object.metric_page import metric_lines
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_agent.view.screens.object.sections import PageState
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.snapshot import ObjectName

Lines = Callable[..., tuple[Line, ...]]


class _NothingFolded(dict[str, bool]):
    """Says of every part that a person has opened it."""

    def get(self, part: str, default: object = None) -> bool:
        return False


EVERYTHING_OPEN = PageState(folded=_NothingFolded())

HOSTILE = ("[/x]", "\x1b[2J\x1b[31mRED", "漢" * 48)


@pytest.fixture
def lines(stored: StoreReader, judging: RuleConfig) -> Lines:
    """The lines of an object of the made-up store."""

    def make(name: str, width: int, state: PageState = EVERYTHING_OPEN) -> tuple[Line, ...]:
        frame = read_frame(stored, 0, FrameRequest("detail", name=ObjectName.parse(name)), judging)
        return detail_lines(frame, width, state)

    return make


@pytest.fixture
def subject(stored: StoreReader, judging: RuleConfig) -> Callable[..., ObjectDetail]:
    """The detail of an object of the made-up store."""

    def make(name: str, metric: str = "") -> ObjectDetail:
        frame = read_frame(stored, 0, FrameRequest("detail", name=ObjectName.parse(name), metric=metric), judging)
        assert frame.detail is not None
        return frame.detail

    return make


def text_of(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)


@pytest.mark.parametrize("name", ["buffer_pool/3", "queue/APPL.IN"])
def test_goldens(
    lines: Lines,
    golden: Callable[[str, Callable[[int], Sequence[Line]]], None],
    name: str,
) -> None:
    """A pool in trouble and a queue in health."""
    # A drawing has no words that a wider one could keep.
    state = PageState(folded={"charts": True})
    golden(f"detail-{name.replace('/', '-')}", lambda width: lines(f"QM01/{name}", width, state))


def test_the_way_from_the_pool_to_the_citation(lines: Lines) -> None:
    """The rule that fires stands first, with its condition filled in, its threshold, advice and source."""
    text = text_of(lines("QM01/buffer_pool/3", 200))
    assert "● CRITICAL  QM01 buffer pool 3  for " in text
    assert "● BP-03" in text
    assert "free_pct [4]" in text
    assert "source" in text
    assert "MQSC: DISPLAY USAGE" in text


def test_rules_that_cannot_be_judged_say_what_is_missing(lines: Lines) -> None:
    """Unknown is told with its reason, and never looks fine."""
    found = lines("QM01/channel/TO.QM02", 200)
    unknown = [line for line in found if line.text.startswith("? CHL-07")]
    assert unknown
    assert unknown[0].spans[0].tone is Tone.UNKNOWN
    assert "needs SMF" in text_of(found)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("queue/APPL.IN", ["QM01/page_set/4", "QM01/buffer_pool/3"]),
        ("queue/QM02", ["QM01/page_set/4", "QM01/buffer_pool/3", "QM01/channel/TO.QM02"]),
        ("channel/TO.QM02", ["QM01/queue/QM02", "QM01/channel_initiator"]),
        ("page_set/4", ["QM01/buffer_pool/3", "QM01/queue/APPL.IN", "QM01/queue/QM02"]),
        ("buffer_pool/3", ["QM01/page_set/4", "QM01/queue/APPL.IN", "QM01/queue/QM02"]),
    ],
)
def test_related_objects(lines: Lines, name: str, keys: list[str]) -> None:
    """From a queue to its page set and pool and back, from a channel to its transmission queue."""
    assert [line.key for line in lines(f"QM01/{name}", 120) if line.key and not line.alert] == keys


def test_the_chart(subject: Callable[..., ObjectDetail]) -> None:
    """The usual metric of the kind unless another one is chosen that can be charted."""
    usual = subject("QM01/buffer_pool/3")
    assert usual.metric == "free_pct"
    assert usual.trend is not None
    assert [value for _, value in usual.trend.points][-2:] == [4, 4]
    assert "free" in usual.chartable
    assert subject("QM01/buffer_pool/3", "free").metric == "free"
    assert subject("QM01/buffer_pool/3", "nonsense").metric == "free_pct"


def test_what_the_store_does_not_know(lines: Lines) -> None:
    """It says so and offers names that look alike, to be opened."""
    found = lines("QM01/buffer_pool/33", 80)
    assert "The store holds no QM01/buffer_pool/33" in text_of(found)
    assert "QM01/buffer_pool/3" in [line.key for line in found]
    assert "no QM01/nonsense/3" in text_of(lines("QM01/nonsense/3", 80))


@pytest.mark.parametrize("kind", ["queue", "channel"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(lines: Lines, kind: str, name: str) -> None:
    """No name steers the terminal or makes a line wider than the screen."""
    for width in (80, 120, 200):
        found = lines(f"QM01/{kind}/{name}", width)
        assert "\x1b" not in text_of(found)
        assert max(cells(line.text) for line in found) <= width


def test_health_without_alerts(subject: Callable[..., ObjectDetail]) -> None:
    """An object that nothing is wrong with is OK, one with a firing rule as bad as that."""
    assert subject("QM01/page_set/4").health is Health.OK
    assert subject("QM01/buffer_pool/3").health is Health.CRITICAL
    assert subject("QM01/buffer_pool/3").since is not None


def test_a_queue_manager_tells_of_what_belongs_to_it(stored: StoreReader, judging: RuleConfig) -> None:
    """It is as bad as the worst of its objects, names their alerts with keys that open them, and what to do."""
    frame = read_frame(stored, 0, FrameRequest("detail", name=ObjectName("QM01", "queue_manager")), judging)
    assert frame.detail is not None
    assert frame.detail.health is Health.CRITICAL
    lines = detail_lines(frame, 80)
    assert lines[0].text.startswith("● CRITICAL  queue manager QM01")
    place = next(place for place, line in enumerate(lines) if line.section == "below")
    assert lines[place + 1].key == "QM01/buffer_pool/3"
    assert lines[place + 1].text.startswith("● CRITICAL")
    assert any(line.text.startswith("▾ What to do about QM01 buffer pool 3") for line in lines)
    assert frame.detail.lead is not None
    assert frame.detail.mqsc == frame.detail.lead[1].mqsc != ""


def test_what_to_do_names_its_rule(stored: StoreReader, judging: RuleConfig) -> None:
    """Of several rules that fire it is what the worst one advises."""
    frame = read_frame(stored, 0, FrameRequest("detail", name=ObjectName("QM01", "buffer_pool", "3")), judging)
    assert frame.detail is not None
    worst = next(each for each in frame.detail.rules if each.firing)
    (title,) = (each.text for each in detail_lines(frame, 80) if each.section == "to do")
    assert title.startswith(f"▾ What to do, {worst.rule.id} ─")


def test_related_objects_are_told_in_words(stored: StoreReader, judging: RuleConfig) -> None:
    """Beside a related object stands what people call its figure, not the name of a metric."""
    frame = read_frame(stored, 0, FrameRequest("detail", name=ObjectName("QM01", "queue", "APPL.IN")), judging)
    text = "\n".join(line.text for line in detail_lines(frame, 80))
    assert "QM01 page set 4  used 62 %" in text
    assert "QM01 buffer pool 3  free 4 %" in text


def test_what_is_tuned_for_the_object(stored: StoreReader, judging: RuleConfig) -> None:
    """Each key with the standard value and the reason; a rule that is off for it says so, with the reason."""
    objects = ObjectPattern.parse("QM01/buffer_pool/3")
    tuning = (
        Tuning("BP-03", objects, severity=Severity.INFO, reason="a pool for tests"),
        Tuning("BP-01", objects, off=True, reason="too small to say"),
    )
    tuned = replace(judging, rules=replace(judging.rules, tuning=tuning))

    def text(name: str) -> str:
        request = FrameRequest("detail", name=ObjectName.parse(name))
        return text_of(detail_lines(read_frame(stored, 0, request, tuned), 200))

    found = text("QM01/buffer_pool/3")
    assert "severity: info, not critical: a pool for tests" in found
    assert "- BP-01" in found
    assert "turned off by the settings (too small to say)" in found
    assert "tuned" not in text("QM01/queue/APPL.IN")


@pytest.mark.parametrize("at", [None, 1_795_176_590_000])
def test_the_command_of_a_figure_can_be_typed(
    subject: Callable[..., ObjectDetail], stored: StoreReader, capsys: pytest.CaptureFixture[str], at: int | None
) -> None:
    """The explanation of a figure ends with a command, which shows the same moment whenever it is typed."""
    *_, last = metric_lines(subject("QM01/buffer_pool/3"), "free_pct", 1_795_176_590_000, 120, as_of=at)
    program, *command = shlex.split(last.text.partition("command")[2])
    assert program == "mqvitals"
    assert main([*command, "--store", str(stored.path)]) == 0
    assert capsys.readouterr().out.startswith("QM01/buffer_pool/3 free_pct" if at is None else "AS OF ")


@pytest.mark.parametrize("name", ["QM01/buffer_pool/3", "QM01/queue/APPL.IN", "QM01/channel_initiator"])
def test_what_was_read_is_freed_at_once(stored: StoreReader, judging: RuleConfig, name: str) -> None:
    """Nothing of a page refers to itself: thousands of values would stay until the collector goes through all that lasts, and
    each of its passes interrupts the screen.
    """
    request = FrameRequest("detail", name=ObjectName.parse(name))
    newest = stored.last_ts()
    for at in (None, newest):
        read_frame(stored, 0, request._replace(at=at), judging)  # what is read once for all is kept
    gc.collect()
    gc.freeze()  # what lasts need not be looked at again
    gc.disable()
    try:
        for at in (None, newest):
            read_frame(stored, 0, request._replace(at=at), judging)
            assert gc.collect() == 0
    finally:
        gc.enable()

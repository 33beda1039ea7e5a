"""What would be, beside the rules' advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from mqsamples.plan_values import MadeUpValues
from mqvitals_agent.plan_inputs.reading import KnownMetric, KnownValue
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.styled import Line
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.object.what_if import read_what_if, what_if_lines
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

CHANNEL: Mapping[str, KnownMetric] = {"batchsz": KnownValue(50, 1), "nettime_us_short": KnownValue(80_000, 1)}
STRUCTURE: Mapping[str, KnownMetric] = {
    "type": KnownValue(0, 1),
    "size_max_kb": KnownValue(524_288, 1),
    "size_used_pct": KnownValue(40, 1),
    "entries_used": KnownValue(84_000, 1),
}
PAGE_SET: Mapping[str, KnownMetric] = {
    "total_pages": KnownValue(100_000, 1),
    "queues.put_bytes": KnownValue(5_000_000, 1),
    "queues.puts": KnownValue(1000, 1),
}
INITIATOR: Mapping[str, KnownMetric] = {
    "queue_manager.processors": KnownValue(8, None),
    "adapters_started": KnownValue(8, 1),
}
ALL = {"channel": CHANNEL, "cf_structure": STRUCTURE, "page_set": PAGE_SET, "channel_initiator": INITIATOR}


def text(kind: str, told: Mapping[str, KnownMetric]) -> str:
    return " ".join(" ".join(line.text.split()) for line in lines_of(kind, told, 200))


def lines_of(kind: str, told: Mapping[str, KnownMetric], width: int) -> Sequence[Line]:
    return list(what_if_lines(kind, read_what_if(MadeUpValues(kind, told, answered_only=True)), width))


def test_a_channel_with_other_batch_sizes() -> None:
    """The batch size now and three others, each with the time of a thousand messages and the round trip seen."""
    said = text("channel", CHANNEL)
    assert (
        "a wait of 81 ms (NETTIME and the partner) each: BATCHSZ 50 (now) 1.7 s, BATCHSZ 100 840 ms, BATCHSZ 200 425 ms"
        in said
    )
    assert "BATCHSZ 10 (now)" in text("channel", {**CHANNEL, "batchsz": KnownValue(10, 1)})


def test_a_structure_that_grows() -> None:
    """Room for more of the average length, and the size for twice as many."""
    said = text("cf_structure", STRUCTURE)
    assert (
        "with 2,045 bytes a message, as now on average, it holds about 209,715 messages: room for 125,715 more" in said
    )
    assert "twice as many as now, 168,000, need INITSIZE 420,000 KB; it has 524,288 KB" in said


def test_a_page_set() -> None:
    """How many messages of the length last put it holds."""
    assert "with 5,000 bytes a message, as last put on average, its 100,000 pages hold 50,000 messages" in text(
        "page_set", PAGE_SET
    )


def test_adapters() -> None:
    """The rule of thumb against what there is."""
    assert "CHIADAPS 62 for persistent messages or AMS interception on 8 processors; 8 adapters now" in text(
        "channel_initiator", INITIATOR
    )


@pytest.mark.parametrize(
    ("kind", "missing"), [(kind, name) for kind, told in ALL.items() for name in told if name != "type"]
)
def test_nothing_is_said_without_the_values(kind: str, missing: str) -> None:
    """A value that is absent, or that was not answered since, leaves the part out altogether."""
    told = ALL[kind]
    assert text(kind, told)
    assert not text(kind, {**told, missing: Absence.NOT_COLLECTED})
    assert not text(kind, {**told, missing: KnownValue(1, 1, "no answer")})
    assert not text(kind, {name: each for name, each in told.items() if name != missing})


def test_nothing_is_said_of_the_administration_structure_nor_of_other_kinds() -> None:
    """CSQ_ADMIN holds no messages; a queue has no lines of its own."""
    assert not text("cf_structure", {**STRUCTURE, "type": KnownValue(1, 1)})
    assert not text("queue", {"depth": KnownValue(5, 1)})


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("kind", ALL)
def test_few_lines_of_any_width(kind: str, width: int) -> None:
    """At 80 columns no more than seven lines with the heading, never wider than the screen; the source is named."""
    lines = lines_of(kind, ALL[kind], width)
    assert max(cells(line.text) for line in lines) <= width
    assert lines[0].text.startswith("What if ")
    assert len(lines) <= 7 or width < 80
    assert "mqvitals plan " in text(kind, ALL[kind])


def test_the_screen_reads_them(stored: StoreReader, judging: RuleConfig) -> None:
    """The detail of an object holds the inputs that are known."""
    detail = read_frame(
        stored, 0, FrameRequest("detail", name=ObjectName("QM01", "channel", "TO.QM02")), judging
    ).detail
    assert detail is not None
    assert set(detail.planned.formulas["batch-transfer-time"]) >= {"batch_msgs"}

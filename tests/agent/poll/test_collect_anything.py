"""Whatever comes back, collecting never fails and never invents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

commands = st.sampled_from(sorted(PROBES))
texts = st.sampled_from(["", "A", "QM01", "APPL1", "2026-11-20", "12.00.00", "99.99.99", "0A", "\x1b[2J", "Ä" * 20])
numbers = st.sampled_from(
    [-(2**31), -1, 0, 1, 2, 3, 10, 12, 13, 999_999_999, 2**31 - 1, 1168, 1169, 1170, 1335, 1136, 1138, 1105, 1011]
)
values: st.SearchStrategy[Any] = (
    numbers | texts | st.lists(numbers, max_size=3).map(tuple) | st.lists(texts, min_size=1, max_size=2)
)


@st.composite
def items(draw: st.DrawFn, command: int) -> dict[int, Any]:
    """An item with some of the parameters that the probe reads, of any type and value."""
    wanted = sorted(PROBES[command].wanted)
    chosen = draw(st.lists(st.sampled_from(wanted), unique=True, max_size=25))
    return {number: draw(values) for number in chosen}


def check(collector: Collector) -> None:
    """Every value is of its metric's type, or absent."""
    for snapshot in collector.end_cycle():
        for reading in snapshot.readings:
            assert reading.object.owner == snapshot.owner
            for name, value in reading.values.items():
                kind = metric(reading.object.kind, name).type
                if isinstance(value, Absence):
                    continue
                assert isinstance(value, str) if kind is MetricType.TEXT else type(value) in (int, float)
                if kind is MetricType.COUNTER:
                    assert isinstance(value, int)
                    assert value >= 0


@given(data=st.data())
@settings(max_examples=settings().max_examples)
def test_items_of_any_shape(talk: Talk, data: st.DataObject) -> None:
    """Parameters missing, of the wrong type, of unknown values, in answers that are cut or refused."""
    talk.collector = Collector("PRDQSG", ["QM01"])
    for _ in range(data.draw(st.integers(1, 3))):
        for command in data.draw(st.lists(commands, min_size=1, max_size=3)):
            talk.ask(
                command,
                data.draw(st.lists(items(command), max_size=4)),
                queue_manager=data.draw(st.sampled_from(["QM01", "QM02"])),
                reason=data.draw(st.sampled_from([0, 0, 0, 3065, 3081, 2033])),
                keep=data.draw(st.none() | st.integers(0, 3)),
                error=data.draw(st.sampled_from([0, 0, 2033, 2009])),
            )
        check(talk.collector)


@given(data=st.data())
@settings(max_examples=settings().max_examples)
def test_damaged_bytes(talk: Talk, data: st.DataObject) -> None:
    """Messages with bytes changed, cut off or made up cost themselves at most."""
    talk.collector = Collector("PRDQSG", ["QM01"])
    for _ in range(2):
        command = data.draw(commands)
        replies = talk.replies(command, data.draw(st.lists(items(command), min_size=1, max_size=3)))
        for number in data.draw(st.lists(st.integers(0, len(replies) - 1), max_size=2)):
            raw = bytearray(replies[number].data)
            place = data.draw(st.integers(0, len(raw) - 1))
            raw[place : place + 4] = data.draw(st.binary(max_size=6))
            replies[number] = Reply(785, data.draw(st.sampled_from([500, 1208, 12345])), bytes(raw))
        request = data.draw(st.sampled_from([PROBES[command].ask(QueryOptions()), b"", b"\x00" * 36, None]))
        failure = data.draw(st.sampled_from([None, MqiFailure(2, 2033)]))
        talk.collector.feed(Exchange(0, talk.at, 5, "QM01", command, request, tuple(replies), failure))
        check(talk.collector)

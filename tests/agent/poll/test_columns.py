"""Reading a message by its layout says what reading its values one by one says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import encode_message, integer, integer64, integers, integers64, string
from mqvitals_agent.pcf.message import MessageValues, Parameter
from mqvitals_agent.poll.columns import MetricColumns, ParameterPicker
from mqvitals_agent.poll.kinds import channel, queue
from mqvitals_agent.poll.probe import Probe
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.metric import Kind, answer, gauge
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

CASES = (
    (MetricColumns(QUEUE_KIND, "INQUIRE_Q_STATUS"), queue.STATUS_PROBE),
    (MetricColumns(CHANNEL_KIND, "INQUIRE_CHANNEL_STATUS"), channel.STATUS_PROBE),
)
NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1))
LONG = st.one_of(NUMBERS, st.integers(-(2**63), 2**63 - 1))


def parameters(probe: Probe) -> st.SearchStrategy[list[Parameter]]:
    """Some of the probe's parameters, in any order and each of any structure; one may come twice."""
    ids = st.sampled_from(sorted(probe.wanted))
    return st.lists(
        st.one_of(
            st.builds(integer, ids, NUMBERS),
            st.builds(integer64, ids, LONG),
            st.builds(integers, ids, st.lists(NUMBERS, max_size=3)),
            st.builds(integers64, ids, st.lists(LONG, max_size=3)),
            st.builds(string, ids, st.sampled_from(("", "A.QUEUE", "2026-11-18", "09.30.00"))),
        ),
        max_size=12,
    )


def decoded(probe: Probe, told: list[Parameter]) -> tuple[DecodedReply, DecodedReply, DecodedReply]:
    """The message as a walk reads it, as its kept shape does, and with everything in it."""
    data = encode_message(mq.MQCFT_XR_ITEM, probe.command, told)
    decoder = Decoder()
    walked, shaped = (decoder.decode_values(data, 500, probe.wanted) for _ in range(2))
    return walked, shaped, decoder.decode(data, 500)


@pytest.mark.parametrize(("columns", "probe"), CASES, ids=["queue", "channel"])
@given(data=st.data(), long_first=st.booleans(), monitored=st.booleans())
def test_an_item_is_read_as_its_values_are(
    columns: MetricColumns, probe: Probe, data: st.DataObject, long_first: bool, monitored: bool
) -> None:
    told = data.draw(parameters(probe))
    values = decoded(probe, told)[2].values
    expected = columns.read(values, long_first=long_first, monitored=monitored)
    times = columns.read_times(values, expected)
    for item in decoded(probe, told):
        row = columns.read_item(item, long_first=long_first, monitored=monitored)
        assert columns.read_item_times(item, row) == times
        assert list(row.items()) == list(expected.items())
        assert [type(value) for value in row.values()] == [type(value) for value in expected.values()]
        assert ParameterPicker(*probe.wanted)(item) == tuple(values.get(number) for number in probe.wanted)


def test_messages_that_differ_in_lengths_alone_share_their_layout() -> None:
    decoder = Decoder()
    messages = [
        encode_message(mq.MQCFT_XR_ITEM, 1, [string(mq.MQCA_Q_NAME, name), integer(mq.MQIA_CURRENT_Q_DEPTH, 3)])
        for name in ("A", "A.LONGER.NAME")
    ]
    wanted = frozenset({mq.MQCA_Q_NAME, mq.MQIA_CURRENT_Q_DEPTH})
    found = [decoder.decode_values(data, 500, wanted) for data in messages * 2][2:]
    first, second = found
    assert isinstance(first, MessageValues)
    assert first.layout is not None
    assert first.layout is second.layout
    assert [each.values for each in found] == [
        {mq.MQCA_Q_NAME: name, mq.MQIA_CURRENT_Q_DEPTH: 3} for name in ("A", "A.LONGER.NAME")
    ]


@pytest.mark.parametrize("pcf", ["MQIA_SPEED", "MQIACF_SPEED[1]", "MQCA_PUT_DATE MQCA_SPEED_TIME"])
def test_a_metric_whose_parameter_has_no_constant_is_named(pcf: str) -> None:
    """A developer who adds a metric reads which constant is missing, and where it belongs."""
    kind = Kind("queue", "", "", answer("INQUIRE_Q", gauge("speed", "count", "", pcf=pcf)))
    with pytest.raises(Failure) as failed:
        MetricColumns(kind, "INQUIRE_Q")
    assert failed.value.message.startswith("the metric queue.speed names the parameter MQ")
    assert "pcf/constants.py" in failed.value.message
    assert failed.value.code is ExitCode.BUG

"""What a request selects, and what its answer therefore tells about."""

from __future__ import annotations

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import integer, integer_filter, integers, request, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.selection import RequestSelection, selection_of


def selection(command: int, *parameters: Parameter) -> RequestSelection:
    """The selection of a request with these parameters."""
    return selection_of(Decoder().decode(request(command, parameters), 1208))


def test_names_are_exact_or_generic() -> None:
    """A name ending in * selects what begins so, another one only itself."""
    generic = selection(42, string(mq.MQCACH_CHANNEL_NAME, "WEB.*"))
    assert generic.selects("WEB.SVRCONN")
    assert not generic.selects("APP.SVRCONN")
    exact = selection(42, string(mq.MQCACH_CHANNEL_NAME, "WEB.A"))
    assert exact.selects("WEB.A")
    assert not exact.selects("WEB.AB")
    assert selection(118).selects("")


def test_left_out_parts_have_their_defaults() -> None:
    """CURRENT, SUMMARY, QUEUE and PAGESET are what MQSC takes when nothing is said."""
    assert selection(42).part == mq.MQOT_CURRENT_CHANNEL
    assert selection(116).part == mq.MQIACF_CF_STATUS_SUMMARY
    assert selection(41).part == mq.MQIACF_Q_STATUS
    assert selection(126).part == mq.MQIACF_USAGE_PAGESET
    assert selection(126, integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_ALL)).part == mq.MQIACF_ALL


@pytest.mark.parametrize(
    ("disposition", "private", "shared"),
    [(None, True, False), (-1, True, True), (0, True, False), (2, False, True), (6, True, True)],
)
def test_disposition_decides_between_private_and_shared(disposition: int | None, private: bool, shared: bool) -> None:
    """Without a disposition only the queue manager's own queues are in the answer."""
    found = selection(41, *([] if disposition is None else [integer(mq.MQIA_QSG_DISP, disposition)]))
    assert (found.private_queues, found.shared_queues) == (private, shared)


@pytest.mark.parametrize(
    "parameter",
    [
        integer_filter(mq.MQIACH_CHANNEL_STATUS, mq.MQCFOP_EQUAL, mq.MQCHS_RETRYING),
        string(mq.MQCACH_CONNECTION_NAME, "10.0.0.1"),
        string(mq.MQCACH_XMIT_Q_NAME, "QM02"),
        integer(mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_SHARED),
    ],
)
def test_filters_say_nothing_about_what_is_missing(parameter: Parameter) -> None:
    """With a filter or another restriction, an object that is not in the answer may be there all the same."""
    found = selection(42, string(mq.MQCACH_CHANNEL_NAME, "*"), parameter)
    assert found.partial
    assert not found.selects("ANY")


@pytest.mark.parametrize(("operator", "clients"), [(mq.MQCFOP_EQUAL, True), (mq.MQCFOP_NOT_EQUAL, False)])
def test_one_half_of_the_channels_is_whole(operator: int, clients: bool) -> None:
    """A filter on the type selects all of its half; the same filter on definitions selects nothing that is known."""
    condition = integer_filter(mq.MQIACH_CHANNEL_TYPE, operator, mq.MQCHT_SVRCONN)
    found = selection(42, string(mq.MQCACH_CHANNEL_NAME, "*"), condition)
    assert (found.clients, found.partial, found.selects_all) == (clients, False, False)
    assert selection(25, string(mq.MQCACH_CHANNEL_NAME, "*"), condition).partial
    other = integer_filter(mq.MQIACH_CHANNEL_TYPE, operator, mq.MQCHT_SENDER)
    assert selection(42, string(mq.MQCACH_CHANNEL_NAME, "*"), other).partial


@pytest.mark.parametrize(
    "parameter",
    [
        integers(mq.MQIACH_CHANNEL_INSTANCE_ATTRS, [mq.MQIACH_CHANNEL_STATUS]),
        integer(mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_ALL),
        string(mq.MQCACF_COMMAND_SCOPE, "*"),
    ],
)
def test_what_restricts_nothing_selects_all(parameter: Parameter) -> None:
    """Lists of wanted attributes and "all" leave every object selected."""
    found = selection(42, string(mq.MQCACH_CHANNEL_NAME, "*"), parameter)
    assert found.selects("ANY")

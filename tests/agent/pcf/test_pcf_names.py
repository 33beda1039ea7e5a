"""Names and numbers of parameters, commands, reasons and operators."""

from __future__ import annotations

import re

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import names


def test_parameters_both_ways() -> None:
    """A parameter's number has a name, and the name that number; the width tells two of one number apart."""
    assert names.parameter_number("MQIA_CURRENT_Q_DEPTH") == 3
    assert names.parameter_name(3, mq.MQCFT_INTEGER) == "MQIA_CURRENT_Q_DEPTH"
    assert names.parameter_name(703, mq.MQCFT_INTEGER64_LIST) == "MQIAMO64_AVG_Q_TIME"
    assert names.parameter_name(746, mq.MQCFT_INTEGER) == "MQIAMO64_BYTES"
    assert names.parameter_name(1199, mq.MQCFT_INTEGER) == "MQIACF_SYSP_SMF_STAT_TIME_MINS"
    assert names.parameter_number("MQIACF_SYSP_SMF_INTERVAL") == 1199
    assert names.parameter_name(999_999, mq.MQCFT_INTEGER) is None


def test_every_parameter_is_found_by_its_name() -> None:
    """Each parameter constant is known by name, and its number by some name of that number."""
    count = 0
    for name, number in vars(mq).items():
        if re.match(r"MQ(CA|CAMO|CACF|CACH|IA|IACF|IACH|IAMO|IAMO64|BACF|GACF)_", name):
            assert names.parameter_number(name) == number
            kind = mq.MQCFT_INTEGER64 if name.startswith("MQIAMO64_") else mq.MQCFT_INTEGER
            shown = names.parameter_name(number, kind)
            assert shown is not None
            assert names.parameter_number(shown) == number
            count += 1
    assert count > 500


@pytest.mark.parametrize("name", ["MQIA_NO_SUCH_THING", "MQCMD_INQUIRE_Q", "Final", ""])
def test_what_is_no_parameter(name: str) -> None:
    """Only parameters have a parameter number."""
    with pytest.raises(KeyError):
        names.parameter_number(name)


def test_commands_both_ways() -> None:
    """A command is named without its prefix."""
    assert names.command_name(41) == "INQUIRE_Q_STATUS"
    assert names.command_number("INQUIRE_Q_STATUS") == 41
    assert names.command_name(-7) is None
    with pytest.raises(KeyError):
        names.command_number("MAKE_COFFEE")


def test_reasons_and_operators() -> None:
    """Reason codes of calls and of commands are named, 0 is not."""
    assert names.reason_name(3008) == "MQRCCF_COMMAND_FAILED"
    assert names.reason_name(2035) == "MQRC_NOT_AUTHORIZED"
    assert names.reason_name(2192) == "MQRC_PAGESET_FULL"
    assert names.reason_name(0) is None
    assert names.operator_name(4) == "MQCFOP_GREATER"
    assert names.operator_name(3000) is None


def test_numbers_that_ibm_documents() -> None:
    """A few constants, one of each family, against the numbers in IBM's documentation."""
    assert (mq.MQCFT_XR_ITEM, mq.MQCMD_INQUIRE_CHANNEL_STATUS, mq.MQCA_Q_NAME, mq.MQCACF_RESPONSE_Q_MGR_NAME) == (
        18,
        42,
        2016,
        3070,
    )
    assert (mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_STATUS, mq.MQIACF_Q_TIME_INDICATOR, mq.MQBACF_RESPONSE_ID) == (
        3501,
        1527,
        1226,
        7004,
    )
    assert (mq.MQCHS_RETRYING, mq.MQQSGD_ALL, mq.MQMON_NOT_AVAILABLE, mq.MQCFOP_EXCLUDES_GEN) == (5, -1, -1, 29)

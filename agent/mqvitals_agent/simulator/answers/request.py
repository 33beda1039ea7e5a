"""From a decoded message to what it asks for, refused for the reasons for which z/OS refuses."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer
from mqvitals_agent.pcf.message import Filter, Message, Parameter, Value
from mqvitals_agent.simulator.answers.asked import Asked, RefusedError
from mqvitals_agent.simulator.answers.commands import COMMANDS, Command

_NOT_HERE: Final = {
    mq.MQCFT_INTEGER: mq.MQRCCF_CFIN_PARM_ID_ERROR,
    mq.MQCFT_STRING: mq.MQRCCF_CFST_PARM_ID_ERROR,
    mq.MQCFT_INTEGER_LIST: mq.MQRCCF_CFIL_PARM_ID_ERROR,
    mq.MQCFT_STRING_LIST: mq.MQRCCF_CFSL_PARM_ID_ERROR,
    mq.MQCFT_BYTE_STRING: mq.MQRCCF_CFBS_PARM_ID_ERROR,
    mq.MQCFT_INTEGER_FILTER: mq.MQRCCF_CFIF_PARM_ID_ERROR,
}
"""The reason for a parameter that the command does not take, by its structure type."""


def asked(message: Message) -> tuple[Command, Asked]:
    """The command, and what it asks for. Raises RefusedError for a message that is no such request."""
    if message.type != mq.MQCFT_COMMAND_XR:
        raise RefusedError(mq.MQRCCF_CFH_TYPE_ERROR)
    command = COMMANDS.get(message.command)
    if command is None:
        raise RefusedError(mq.MQRCCF_CFH_COMMAND_ERROR, (integer(mq.MQIACF_PARAMETER_ID, 0),))
    values: dict[int, Value] = {}
    filters: list[tuple[int, Filter]] = []
    for parameter in message.parameters:
        if isinstance(parameter.value, Filter) and command.filtered:
            filters.append((parameter.id, parameter.value))
            continue
        _check(command, parameter, values)
        values[parameter.id] = parameter.value
    if len(filters) > 1:
        raise RefusedError(mq.MQRCCF_TOO_MANY_FILTERS)
    for number in command.needs:
        if not values.get(number):
            raise _about(mq.MQRCCF_PARM_MISSING, number)
    return command, Asked(message.command, values, tuple(filters))


def _check(command: Command, parameter: Parameter, before: dict[int, Value]) -> None:
    if parameter.id == mq.MQCACF_COMMAND_SCOPE and command.scoped:
        expected: int | None = mq.MQCFT_STRING
    else:
        expected = command.takes.get(parameter.id)
    if expected is None:
        raise _about(_NOT_HERE.get(parameter.type, mq.MQRCCF_STRUCTURE_TYPE_ERROR), parameter.id)
    if parameter.type != expected:
        raise _about(mq.MQRCCF_STRUCTURE_TYPE_ERROR, parameter.id)
    if parameter.id in before:
        raise _about(mq.MQRCCF_CFIN_DUPLICATE_PARM, parameter.id)


def _about(reason: int, number: int) -> RefusedError:
    return RefusedError(reason, (integer(mq.MQIACF_PARAMETER_ID, number),))

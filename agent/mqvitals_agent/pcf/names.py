"""Numbers and their names: parameters, commands, reason codes, filter operators.

The names are those of the constants. Where one number has several, the first in ``constants`` is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from mqvitals_agent.pcf import constants as mq

_PARAMETERS: Final = (
    "MQCA_",
    "MQCAMO_",
    "MQCACF_",
    "MQCACH_",
    "MQIA_",
    "MQIACF_",
    "MQIACH_",
    "MQIAMO_",
    "MQIAMO64_",
    "MQBACF_",
    "MQGACF_",
)
_WIDE: Final = "MQIAMO64_"
_COMMAND: Final = "MQCMD_"
_WIDE_STRUCTURES: Final = frozenset({mq.MQCFT_INTEGER64, mq.MQCFT_INTEGER64_LIST})


def parameter_number(name: str) -> int:
    """The identifier of a parameter by its whole name, ``MQIA_CURRENT_Q_DEPTH``; KeyError when there is none."""
    if not name.startswith(_PARAMETERS):
        raise KeyError(name)
    number: int = vars(mq)[name]
    return number


def parameter_name(number: int, structure_type: int) -> str | None:
    """The name of a parameter. Some 64-bit ones share their number with a narrow one: the structure type decides."""
    if structure_type in _WIDE_STRUCTURES:
        wide = _names((_WIDE,)).get(number)
        if wide is not None:
            return wide
    return _names(tuple(prefix for prefix in _PARAMETERS if prefix != _WIDE)).get(number) or _names((_WIDE,)).get(
        number
    )


def command_name(number: int) -> str | None:
    """The name of a command without its prefix, ``INQUIRE_Q_STATUS``."""
    name = _names((_COMMAND,)).get(number)
    return None if name is None else name.removeprefix(_COMMAND)


def command_number(name: str) -> int:
    """The number of a command by its name without prefix; KeyError when there is none."""
    number: int = vars(mq)[_COMMAND + name]
    return number


def reason_name(number: int) -> str | None:
    """The name of a reason code, ``MQRCCF_COMMAND_FAILED``; None for 0 and for unknown ones."""
    return _names(("MQRC_", "MQRCCF_")).get(number)


def operator_name(number: int) -> str | None:
    """The name of a filter operator, ``MQCFOP_GREATER``."""
    return _names(("MQCFOP_",)).get(number)


@cache
def _names(prefixes: tuple[str, ...]) -> Mapping[int, str]:
    names: dict[int, str] = {}
    for name, number in vars(mq).items():
        if name.startswith(prefixes):
            names.setdefault(number, name)
    return names

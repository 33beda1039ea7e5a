"""What a request asks for, once it was found to be well formed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Filter, Parameter, Value

Item = Sequence[Parameter]
"""The parameters of one object, in the order in which z/OS tells them."""


class RefusedError(Exception):
    """The command cannot be carried out. ``reason`` is the PCF reason; ``named`` are the parameters that say what it is about."""

    def __init__(self, reason: int, named: Item = ()) -> None:
        super().__init__(f"reason {reason}")
        self.reason = reason
        self.named = tuple(named)


@dataclass(frozen=True, slots=True)
class Asked:
    """``values`` are the request's parameters by identifier, ``filters`` its filters: parameter and condition."""

    command: int
    values: Mapping[int, Value]
    filters: tuple[tuple[int, Filter], ...] = ()

    def text(self, number: int, default: str = "") -> str:
        """A text parameter; the default when it was left out."""
        value = self.values.get(number, default)
        return value if isinstance(value, str) else default

    def number(self, number: int, default: int) -> int:
        """A whole number parameter; the default when it was left out."""
        value = self.values.get(number, default)
        return value if isinstance(value, int) else default

    def choice(self, number: int, default: int, allowed: frozenset[int]) -> int:
        """A number that must be one of some. Raises RefusedError (3229) for another."""
        value = self.number(number, default)
        if value not in allowed:
            raise RefusedError(
                mq.MQRCCF_PARM_VALUE_ERROR, (Parameter(mq.MQIACF_PARAMETER_ID, mq.MQCFT_INTEGER, number),)
            )
        return value

    @property
    def scope(self) -> str:
        """The command scope; empty for the queue manager that got the command."""
        return self.text(mq.MQCACF_COMMAND_SCOPE)

"""What all answers of the simulated command server share: the request, filters, names, monitoring levels, local
times.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.message import FilterValue, Parameter, Value
from mqvitals_rules.timestamps import DAY_MS

ReplyItem = Sequence[Parameter]
"""The parameters of one object, in the order of z/OS."""

_MADE_ONCE: Final = 16_384
"""Parameters that are kept of each type: what a group of some hundred objects answers again and again. Times of the day,
which seldom come twice, would else fill the memory for a week.
"""

# Nine of ten parameters are the same in every answer: each is made once.
integer: Final = lru_cache(_MADE_ONCE)(encoder.integer)
integers: Final = lru_cache(_MADE_ONCE)(encoder.integers)
string: Final = lru_cache(_MADE_ONCE)(encoder.string)


class CommandRefusedError(Exception):
    """The command is refused: ``reason`` is the PCF reason, ``named`` are the parameters it refers to."""

    def __init__(self, reason: int, named: ReplyItem = ()) -> None:
        super().__init__(f"reason {reason}")
        self.reason = reason
        self.named = tuple(named)


def refused_parameter(reason: int, number: int) -> CommandRefusedError:
    """A refusal that names a parameter by its identifier."""
    return CommandRefusedError(reason, (integer(mq.MQIACF_PARAMETER_ID, number),))


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """``values`` are the request's parameters by identifier, ``filters`` its filters: parameter and condition."""

    command: int
    values: Mapping[int, Value]
    filters: tuple[tuple[int, FilterValue], ...] = ()

    def text(self, number: int, default: str = "") -> str:
        """A text parameter; the default when it was left out."""
        value = self.values.get(number, default)
        return value if isinstance(value, str) else default

    def number(self, number: int, default: int) -> int:
        """A whole number parameter; the default when it was left out."""
        value = self.values.get(number, default)
        return value if isinstance(value, int) else default

    def choice(self, number: int, default: int, allowed: frozenset[int]) -> int:
        """A number out of ``allowed``. Raises CommandRefusedError (3229) for others."""
        value = self.number(number, default)
        if value not in allowed:
            raise refused_parameter(mq.MQRCCF_PARM_VALUE_ERROR, number)
        return value

    @property
    def scope(self) -> str:
        """The command scope; empty for the queue manager that got the command."""
        return self.text(mq.MQCACF_COMMAND_SCOPE)


def name_matches(name: str, pattern: str) -> bool:
    """True when the pattern selects the name. Only a last asterisk is generic; letter case counts, as in MQ."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


_COMPARE: Final[Mapping[int, Callable[[Any, Any], bool]]] = {
    mq.MQCFOP_LESS: operator.lt,
    mq.MQCFOP_EQUAL: operator.eq,
    mq.MQCFOP_NOT_GREATER: operator.le,
    mq.MQCFOP_GREATER: operator.gt,
    mq.MQCFOP_NOT_EQUAL: operator.ne,
    mq.MQCFOP_NOT_LESS: operator.ge,
}


def fulfils(value: Value | None, wanted: FilterValue) -> bool:
    """True when a parameter's value fulfils the condition. One that an item does not have fulfils none.

    Raises CommandRefusedError (3150) for an operator that does not go with the value.
    """
    if value is None:
        return False
    if isinstance(value, tuple):
        return _listed(value, wanted)
    if type(value) is not type(wanted.value):
        raise CommandRefusedError(mq.MQRCCF_FILTER_ERROR)
    if isinstance(value, str) and isinstance(wanted.value, str):
        if wanted.operator == mq.MQCFOP_LIKE:
            return name_matches(value, wanted.value)
        if wanted.operator == mq.MQCFOP_NOT_LIKE:
            return not name_matches(value, wanted.value)
    compare = _COMPARE.get(wanted.operator)
    if compare is None:
        raise CommandRefusedError(mq.MQRCCF_FILTER_ERROR)
    return compare(value, wanted.value)


def _listed(values: tuple[Any, ...], wanted: FilterValue) -> bool:
    text = wanted.value if isinstance(wanted.value, str) else ""
    match wanted.operator:
        case mq.MQCFOP_CONTAINS:
            return wanted.value in values
        case mq.MQCFOP_EXCLUDES:
            return wanted.value not in values
        case mq.MQCFOP_CONTAINS_GEN:
            return any(name_matches(str(value), text) for value in values)
        case mq.MQCFOP_EXCLUDES_GEN:
            return not any(name_matches(str(value), text) for value in values)
        case _:
            raise CommandRefusedError(mq.MQRCCF_FILTER_ERROR)


def filtered(
    items: Iterable[ReplyItem], number: int, wanted: FilterValue, sometimes: Collection[int] = ()
) -> list[ReplyItem]:
    """The items that fulfil the filter.

    ``sometimes`` are parameters that not every item of the command has. Another one that no item has cannot be filtered
    on: raises RefusedError (3243 for a number, 3150 for a text).
    """
    found: list[ReplyItem] = []
    seen = False
    total = 0
    for item in items:
        total += 1
        value = next((parameter.value for parameter in item if parameter.id == number), None)
        seen = seen or value is not None
        if fulfils(value, wanted):
            found.append(item)
    if total and not seen and number not in sometimes:
        numeric = isinstance(wanted.value, int)
        raise CommandRefusedError(mq.MQRCCF_CFIF_PARM_ID_ERROR if numeric else mq.MQRCCF_FILTER_ERROR)
    return found


def wanted_attributes(items: Iterable[ReplyItem], wanted: Value | None, always: Collection[int]) -> Iterable[ReplyItem]:
    """The items with only the wanted attributes and those in ``always``; all for ``MQIACF_ALL`` or no list."""
    if not isinstance(wanted, tuple) or mq.MQIACF_ALL in wanted:
        return items
    kept = {number for number in wanted if isinstance(number, int)}.union(always)
    return [[parameter for parameter in item if parameter.id in kept] for item in items]


MONITORING_LEVELS: Final = {
    "QMGR": mq.MQMON_Q_MGR,
    "OFF": mq.MQMON_OFF,
    "LOW": mq.MQMON_LOW,
    "MEDIUM": mq.MQMON_MEDIUM,
    "HIGH": mq.MQMON_HIGH,
}
"""The levels of definitions."""
QUEUE_MANAGER_LEVEL: Final = mq.MQMON_MEDIUM
"""The level of every simulated queue manager."""
MAX_STATUS_NUMBER: Final = 999_999_999
"""The highest number in status answers; counters of channels wrap after it."""
NOT_MEASURED: Final = (mq.MQMON_NOT_AVAILABLE, mq.MQMON_NOT_AVAILABLE)


def level_in_force(level: str) -> int:
    """The level in force, for QMGR the queue manager's. Raises KeyError for an unknown level."""
    return QUEUE_MANAGER_LEVEL if level == "QMGR" else MONITORING_LEVELS[level]


def reported_averages(pair: tuple[int, int] | None, *, monitored: bool) -> tuple[int, int]:
    """The reported short-term and long-term average: -1 each while nothing is measured."""
    return (
        (min(pair[0], MAX_STATUS_NUMBER), min(pair[1], MAX_STATUS_NUMBER))
        if monitored and pair is not None
        else NOT_MEASURED
    )


_EPOCH = date(1970, 1, 1)


@lru_cache(maxsize=1024)
def _day(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).isoformat()


@lru_cache(maxsize=4096)
def _time_of_day(seconds: int) -> str:
    return f"{seconds // 3600:02}.{seconds // 60 % 60:02}.{seconds % 60:02}"


def local_time(moment: int | None, zone_ms: int) -> tuple[str, str]:
    """Date and time of ``moment`` (ms since 1970 UTC) in the zone ``zone_ms`` ahead of UTC; both empty for None."""
    if moment is None:
        return "", ""
    days, rest = divmod(moment + zone_ms, DAY_MS)
    return _day(days), _time_of_day(rest // 1000)

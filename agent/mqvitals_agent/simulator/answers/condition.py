"""WHERE: filters on what an item holds, and lists of the attributes that are wanted of it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Filter, Value
from mqvitals_agent.simulator.answers.asked import Item, RefusedError
from mqvitals_agent.simulator.answers.pattern import matches

_COMPARE: Final[Mapping[int, Callable[[Any, Any], bool]]] = {
    mq.MQCFOP_LESS: operator.lt,
    mq.MQCFOP_EQUAL: operator.eq,
    mq.MQCFOP_NOT_GREATER: operator.le,
    mq.MQCFOP_GREATER: operator.gt,
    mq.MQCFOP_NOT_EQUAL: operator.ne,
    mq.MQCFOP_NOT_LESS: operator.ge,
}


def fulfils(value: Value | None, wanted: Filter) -> bool:
    """True when a parameter's value fulfils the condition. One that an item does not have fulfils none.

    Raises RefusedError (3150) for an operator that does not go with the value.
    """
    if value is None:
        return False
    if isinstance(value, tuple):
        return _listed(value, wanted)
    if type(value) is not type(wanted.value):
        raise RefusedError(mq.MQRCCF_FILTER_ERROR)
    if isinstance(value, str) and isinstance(wanted.value, str):
        if wanted.operator == mq.MQCFOP_LIKE:
            return matches(value, wanted.value)
        if wanted.operator == mq.MQCFOP_NOT_LIKE:
            return not matches(value, wanted.value)
    compare = _COMPARE.get(wanted.operator)
    if compare is None:
        raise RefusedError(mq.MQRCCF_FILTER_ERROR)
    return compare(value, wanted.value)


def _listed(values: tuple[Any, ...], wanted: Filter) -> bool:
    text = wanted.value if isinstance(wanted.value, str) else ""
    match wanted.operator:
        case mq.MQCFOP_CONTAINS:
            return wanted.value in values
        case mq.MQCFOP_EXCLUDES:
            return wanted.value not in values
        case mq.MQCFOP_CONTAINS_GEN:
            return any(matches(str(value), text) for value in values)
        case mq.MQCFOP_EXCLUDES_GEN:
            return not any(matches(str(value), text) for value in values)
        case _:
            raise RefusedError(mq.MQRCCF_FILTER_ERROR)


def selected(items: Iterable[Item], number: int, wanted: Filter, sometimes: Collection[int] = ()) -> list[Item]:
    """The items that fulfil the filter.

    ``sometimes`` are parameters that not every item of the command has. Another one that no item has cannot be filtered
    on: raises RefusedError (3243 for a number, 3150 for a text).
    """
    found: list[Item] = []
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
        raise RefusedError(mq.MQRCCF_CFIF_PARM_ID_ERROR if numeric else mq.MQRCCF_FILTER_ERROR)
    return found


def only(items: Iterable[Item], wanted: Value | None, always: Collection[int]) -> Iterable[Item]:
    """The items with no more than the wanted attributes and those that are told always; all for ``MQIACF_ALL`` or no list."""
    if not isinstance(wanted, tuple) or mq.MQIACF_ALL in wanted:
        return items
    kept = {number for number in wanted if isinstance(number, int)}.union(always)
    return [[parameter for parameter in item if parameter.id in kept] for item in items]

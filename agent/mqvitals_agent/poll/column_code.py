"""Reading functions, written for one layout of messages: from a column of values to metrics, without a loop.

Thousands of messages of a cycle share a layout. The text of a function is made of places of the layout and of metrics'
names alone, and everything else it uses is in a table of constants: nothing that a message holds gets into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from mqvitals_agent.poll.local_time import told_time
from mqvitals_rules.vocabulary.metric import Absence, Reported

ReadColumn = Callable[[Sequence[Any]], dict[str, Reported]]
"""The column of a message -> its metrics."""

ReadTimes = Callable[[Sequence[Any], dict[str, Reported], Absence], dict[str, int]]
"""The column of a message, its metrics, and why a blank time is absent -> by metric of an age its local time, ms. Puts
the texts of the times into the metrics, and the ages as of an unknown time zone.
"""


class PairPlace(NamedTuple):
    """Where a list of two numbers stands, and the metrics that are its halves: by name, which of the two."""

    place: int
    halves: Sequence[tuple[str, int]]


class TimePlace(NamedTuple):
    """Where a date and a time stand (None: they are not in the layout), and their metrics: text and age, either may be
    empty.
    """

    date: int | None
    time: int | None
    text: str
    age: str


def column_reader(
    row: Mapping[str, Reported],
    plain: Mapping[str, int],
    pairs: Sequence[PairPlace],
    specials: Mapping[str, Mapping[Any, Absence]],
) -> ReadColumn:
    """The function that reads the metrics of ``row``, in its order.

    ``plain`` are those whose value stands at a place; a pair that is no pair leaves its halves as in ``row``, as all others
    are. ``specials``: by metric what stands in the place of some of its values.
    """
    table: dict[str, Any] = {}
    lines = []
    values = {}
    for number, (name, absent) in enumerate(row.items()):
        table[f"k{number}"] = absent
        values[name] = f"c[{plain[name]}]" if name in plain else f"k{number}"
    numbers = {name: number for number, name in enumerate(row)}
    for number, pair in enumerate(pairs):
        lines.append(f"p{number} = c[{pair.place}]")
        lines.append(f"d{number} = len(p{number}) == 2")
        for name, half in pair.halves:
            values[name] = f"(p{number}[{half}] if d{number} else k{numbers[name]})"
    for name, special in specials.items():
        number = numbers[name]
        table[f"s{number}"] = special
        values[name] = f"(s{number}[x] if (x := {values[name]}) in s{number} else x)"
    lines.append("return {" + ", ".join(f"{name!r}: {value}" for name, value in values.items()) + "}")
    return _defined("c", lines, table)


def times_reader(times: Sequence[TimePlace], not_returned: Absence) -> ReadTimes:
    """The function that reads these dates and times."""
    table = {"told": told_time, "missing": not_returned, "unknown": Absence.TIME_ZONE_UNKNOWN}
    lines = ["found = {}"]
    for each in times:
        date, time = ("None" if place is None else f"c[{place}]" for place in (each.date, each.time))
        lines.append(f"date, time = {date}, {time}")
        lines.append("t = told(date, time)")
        lines.append("if t is None:")
        lines.append(" w = blank if date == '' or time == '' else missing")
        lines += [f" row[{name!r}] = w" for name in (each.text, each.age) if name] or [" pass"]
        lines.append("else:")
        lines += [f" row[{each.text!r}] = t[0]"] if each.text else []
        lines += [f" row[{each.age!r}] = unknown", f" found[{each.age!r}] = t[1]"] if each.age else []
        lines.append(" pass")
    return _defined("c, row, blank", [*lines, "return found"], table)


def _defined(parameters: str, lines: Sequence[str], table: dict[str, Any]) -> Callable[..., Any]:
    text = "\n".join((f"def read({parameters}):", *(f" {line}" for line in lines), ""))
    module = compile(text, "<columns>", "exec")
    body = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    return FunctionType(body, {"__builtins__": {"len": len}, **table}, "read")

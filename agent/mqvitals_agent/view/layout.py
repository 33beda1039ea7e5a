"""What a screen of a given height shows of a status, and what it leaves out first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

MOST_ALERTS = 10
"""Alerts shown where there is room for any number of lines."""

LEAST_ALERTS = 3
"""Alerts that stay however little room there is."""

FEW = 2
"""Queue managers that are OK and keep their lines for a while."""


class Advice(IntEnum):
    """How much is said about what to do."""

    NONE = 0
    COMMANDS = 1  # what to type, without the rule's words
    ALL = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """What is shown: at most so many alerts, their summaries cut or not; ``most_ok`` None: every queue manager.

    ``spaced`` puts a blank line between the parts; ``lacking`` counts what no answer could ever tell;
    ``further`` has a command that says where to go on although there is no room for advice.
    """

    alerts: int = MOST_ALERTS
    ok_structures: bool = True
    most_ok: int | None = None
    advice: Advice = Advice.ALL
    one_line: bool = False
    spaced: bool = True
    lacking: bool = True
    further: bool = True


def layouts(alerts: int, height: int) -> Iterator[Layout]:
    """The layouts to try, from the fullest to the sparest, for a number of alerts and a height in lines.

    Given up are, in this order: what no answer could tell, the structures that are OK, queue managers that are OK beyond a few, advice, alerts
    beyond the worst, the ends of summaries, blank lines, every queue manager that is OK, the command
    that says where to go on.
    """
    most = min(alerts, MOST_ALERTS)
    least = min(alerts, LEAST_ALERTS)
    layout = Layout()
    # Room for more than usual is used; an alert takes a line at least.
    for number in range(min(alerts, max(height, 0)), most, -1):
        yield replace(layout, alerts=number)
    layout = replace(layout, alerts=most)
    yield layout
    layout = replace(layout, lacking=False)
    yield layout
    layout = replace(layout, ok_structures=False)
    yield layout
    layout = replace(layout, most_ok=FEW)
    yield layout
    for advice in (Advice.COMMANDS, Advice.NONE):
        layout = replace(layout, advice=advice)
        yield layout
    spared = (layout, replace(layout, one_line=True), replace(layout, one_line=True, spaced=False))
    for each in (*spared, replace(spared[-1], most_ok=0)):
        for number in range(most, least - 1, -1):
            yield replace(each, alerts=number)
    for number in range(most, least - 1, -1):
        yield replace(spared[-1], most_ok=0, alerts=number, further=False)

"""The status screen: a StatusView as lines of text, at most ``width`` cells wide and, if it can be, ``height`` lines."""

from __future__ import annotations

from mqvitals_agent.text.figure import number
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import cells, wrap
from mqvitals_agent.view.alerts import entries
from mqvitals_agent.view.header import header
from mqvitals_agent.view.layout import Advice, Layout, layouts
from mqvitals_agent.view.member_table import queue_managers
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.remedy import Remedy, command_lines, what_next
from mqvitals_agent.view.status import StatusView, last_known
from mqvitals_agent.view.structure_table import structures


def screen(
    view: StatusView,
    width: int,
    painter: Painter,
    *,
    remedy: Remedy | None = None,
    options: str = "",
    height: int | None = None,
) -> list[str]:
    """The whole screen. ``options`` are those that the commands it suggests need too (``--store X``).

    With a ``height`` it is fitted into so many lines of the terminal, as far as ``layouts`` goes; None: all of it.
    """
    remedy = remedy or Remedy()
    layout = Layout()
    if height is not None:
        for layout in layouts(len(view.alerts), height):
            # Colours take no room: what is measured has none.
            if _rows(_draw(view, layout, width, Painter(), remedy, options), width) <= height:
                break
    return _draw(view, layout, width, painter, remedy, options)


def _rows(lines: list[str], width: int) -> int:
    """How many lines of the terminal they take: one that must not be broken goes on in the next."""
    return sum(max(-(-cells(line) // width), 1) for line in lines)


def _draw(view: StatusView, layout: Layout, width: int, painter: Painter, remedy: Remedy, options: str) -> list[str]:
    parts = [
        header(view, width, painter, lacking=layout.lacking),
        queue_managers(view, width, painter, layout.most_ok),
        structures(view, width, painter, show_ok=layout.ok_structures),
        _alerts(view, layout, width, painter, options),
    ]
    if view.alerts and layout.advice:
        told = remedy if layout.advice is Advice.ALL else Remedy(mqsc=remedy.mqsc)
        parts.append(what_next(view.alerts[0], width, painter, told, options))
    lines: list[str] = []
    for part in parts:
        lines += ["", *part] if lines and part and layout.spaced else part
    return lines


def _alerts(view: StatusView, layout: Layout, width: int, painter: Painter, options: str) -> list[str]:
    if not view.alerts:
        words = "no alert is firing" if view.health is Health.OK else "no alert is firing, but not all is known"
        sign = Health.OK if view.health is Health.OK else Health.UNKNOWN
        lines = [painter.line(f"{sign}  {words}", sign)]
    else:
        lines = [painter.title("Alerts, worst first")]
        members = view.owners
        silent, now = last_known(view), view.situation.now
        if len(silent) == len(members):
            # The heading has said so of everything: it is shown as of then.
            silent, now = {}, max(silent.values(), default=now)
        shown = view.alerts[: layout.alerts]
        for entry in entries(
            shown, now, width, painter, covered=view.explained, silent=silent, one_line=layout.one_line
        ):
            lines += entry
        if len(view.alerts) > len(shown):
            lines += _more(f"and {number(len(view.alerts) - len(shown))} more:", "", width, options)
        elif not layout.advice and layout.further:
            lines += _more("in full:", "", width, options)
    if view.advice and layout.advice:
        what = "piece" if view.advice == 1 else "pieces"
        lines += _more(f"{number(view.advice)} {what} of advice on the configuration:", " --review", width, options)
    return lines


def _more(words: str, option: str, width: int, options: str) -> list[str]:
    """Words, and the command that tells more: on the same line when it fits there."""
    command = f"mqvitals alerts list{option}"
    line = f"{words} {command} {options}".rstrip()
    if cells(line) <= width:
        return [line]
    return [*wrap(words, width, rest="  "), *command_lines(command, width, options, first="  ")]

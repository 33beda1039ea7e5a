"""The top of the status screen: who, when, how bad and for how long, and what to know before trusting the rest."""

from __future__ import annotations

from mqvitals_agent.text.figure import age, clock, day, moment, number, zone_name
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_agent.view.alerts import since
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.situation import refused_words, unstored_words
from mqvitals_agent.view.status import StatusView, counts
from mqvitals_agent.view.unknown import troubling, without_answer


def header(view: StatusView, width: int, painter: Painter, *, lacking: bool = True) -> list[str]:
    """The lines of the header; ``lacking``: also how much no answer could tell."""
    situation = view.situation
    number_of = len(view.queue_managers)
    newest = max((member.last_ts for member in situation.members), default=None)
    parts = [
        "mqvitals",
        *([safe(situation.group)] if situation.group else []),
        f"{number_of} queue manager{'' if number_of == 1 else 's'}",
    ]
    if newest is None:
        parts.append("nothing seen yet")
    elif situation.past:
        parts.append(f"{moment(newest)} {zone_name(newest)}")
    else:
        when = clock(newest) if day(newest) == day(situation.now) else moment(newest)
        parts.append(f"{when} UTC ({age(situation.now - newest)} ago)")
    left, signs = "  ".join(parts), _signs(view)
    fitting = [sign for sign in signs if cells(left) + 2 + cells(sign) <= width]
    if fitting:
        gap = width - cells(left) - cells(fitting[0])
        lines = [f"{painter.title(left)}{' ' * gap}{painter.sign(fitting[0], view.health)}"]
    else:
        sign = next((sign for sign in signs if cells(sign) <= width), signs[-1])
        lines = [painter.sign(sign, view.health), *wrap(left, width)]
    if situation.past and newest is not None:
        first = min(member.first_ts for member in situation.members)
        until = clock(newest) if day(first) == day(newest) else moment(newest)
        lines += wrap(
            f"The past: {safe(situation.origin)}, {moment(first)} to {until}",
            width,
            rest="  ",
        )
    lines += _notes(view, width)
    return [*lines, _numbers(view, painter), *_unknown(view, width, painter, lacking=lacking)]


def _signs(view: StatusView) -> list[str]:
    """How bad it is, and for how long it has been: the longest form first."""
    sign = str(view.health)
    bad = {member.name for member in view.owners if member.health is view.health}
    begun = [
        alert.started
        for alert in view.alerts
        if alert.started is not None and alert.key.object.owner in bad and health_of(alert.severity) is view.health
    ]
    if not begun:
        return [sign]
    now, first = view.situation.now, min(begun)
    lasted, began = age(now - first), since(first, now)
    return [f"{sign} for {lasted}, since {began}", f"{sign} for {lasted}", f"{sign} {lasted}", sign]


def _numbers(view: StatusView, painter: Painter) -> str:
    parts = []
    for severity, count in counts(view.alerts):
        health = health_of(severity)
        text = f"{health.glyph} {number(count)} {health.word}"
        parts.append(painter.sign(text, health) if count else text)
    return "  ".join(parts)


def _notes(view: StatusView, width: int) -> list[str]:
    """What the reader must know before trusting the rest."""
    unstored = unstored_words(view.situation)
    if unstored:
        return wrap(unstored, width, rest="  ")
    members = view.owners
    stale = [member for member in members if member.stale]
    if not stale:
        return _refused(view, width)
    if len(stale) == len(members):
        youngest = min(member.age_ms for member in stale)
        return wrap(
            f"Stale: nothing new for {age(youngest)}. Does the agent run? All below is as it was then",
            width,
            rest="  ",
        )
    names = ", ".join(f"{safe(member.name)} for {age(member.age_ms)}" for member in stale)
    return wrap(f"Stale: nothing new from {names}; how they are now is unknown", width, rest="  ")


def _refused(view: StatusView, width: int) -> list[str]:
    """Who changed settings or rules and finds no effect."""
    text = refused_words(view.situation)
    return wrap(text, width, rest="  ") if text else []


def _unknown(view: StatusView, width: int, painter: Painter, *, lacking: bool) -> list[str]:
    told = wrap(without_answer(view.unknown), width, rest="  ") if lacking else []
    for_good = [painter.faint(each) for each in told if each]
    trouble = troubling(view.unknown)
    total = sum(count for _, count in trouble)
    if not total:
        return for_good
    reasons = ", ".join(f"{number(count)} {reason.value}" for reason, count in trouble)
    word = "verdict" if total == 1 else "verdicts"
    lines = wrap(f"{Health.UNKNOWN.glyph} {number(total)} {word} unknown: {reasons}", width, rest="  ")
    return [*(painter.sign(line, Health.UNKNOWN) if not index else line for index, line in enumerate(lines)), *for_good]

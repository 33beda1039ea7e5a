"""The queue managers of the status screen, a line each with its key figures."""

from __future__ import annotations

from dataclasses import replace

from mqvitals_agent.text.figure import number, short_age
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.terminal import safe, table, wrap
from mqvitals_agent.view import cell
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.situation import Member, unreached
from mqvitals_agent.view.status import MemberView, StatusView

_HEADING = "Queue managers  "


def queue_managers(view: StatusView, width: int, painter: Painter, most_ok: int | None = None) -> list[str]:
    """The table. Of those that are OK, only the first ``most_ok`` have a line; None: all of them."""
    if not view.queue_managers:
        return ["No queue manager has been seen yet"]
    situation = view.situation
    members = {member.name: member for member in situation.members}
    rows: list[tuple[str, ...]] = [
        ("", "", "", "Pool", "Page set", "", "Chinit", "Full"),
        ("", "", "Seen", "min free", "max used", "Channels", "tasks", "logs"),
    ]
    well = [each for each in view.queue_managers if each.health is Health.OK]
    left_out = well if most_ok is None else well[most_ok:]
    left_out = [] if most_ok is None or len(left_out) < 2 else left_out
    listed = [each for each in view.queue_managers if each not in left_out]
    if not listed:
        sign = painter.sign(Health.OK.glyph, Health.OK)
        return [f"{painter.title(_HEADING)}{sign} all {number(len(left_out))} OK"]
    seen = {each.name: seen_ts(view, each) for each in listed}
    rows += [
        (
            str(each.health),
            safe(each.name),
            "never" if seen[each.name] is None else short_age(situation.now - (seen[each.name] or 0)),
            *key_figures(view, members[each.name]),
        )
        for each in listed
    ]
    upper, lower, *lines = table(rows, width, indent=4)
    heads = [line for pair in zip(upper, lower, strict=True) for line in pair]
    # The heading stands over the columns without a title of their own, where these are wide enough.
    free = heads[0][: len(_HEADING)].strip() == ""
    shown = [_HEADING + heads[0][len(_HEADING) :] if free else _HEADING.rstrip(), *heads[1 if free else 0 :]]
    shown = [painter.title(line) if not index else painter.faint(line) for index, line in enumerate(shown)]
    for each, row in zip(listed, lines, strict=True):
        shown += [painter.line(row[0], each.health), *row[1:]]
        if not each.reachable:
            words = unreached(situation, seen[each.name])
            shown += wrap(words, width, first="    ", rest="    ")
    if left_out:
        sign = painter.sign(Health.OK.glyph, Health.OK)
        shown.append(f"{sign} {number(len(left_out))} more queue managers OK")
    return shown


def key_figures(view: StatusView, member: Member) -> tuple[str, ...]:
    """Least free buffer pool, fullest page set, channels, tasks of the channel initiator, full logs: a cell each."""
    current, now = view.situation.current, view.situation.now
    member = as_seen(view, member)
    return (
        cell.least_free(current, member, now),
        cell.fullest(current, member, now),
        cell.channels(current, member, now, view.firing),
        cell.tasks(current, member, now),
        cell.full_logs(current, member, now),
    )


def as_seen(view: StatusView, member: Member) -> Member:
    """The member as of the newest of its figures, where it has told nothing for a while.

    So there is one age for the whole line, and not one in every cell.
    """
    seen = cell.newest(view.situation.current, member.name)
    if seen is None or seen >= member.last_ts - member.interval_ms / 2:
        return member
    return replace(member, last_ts=seen)


def seen_ts(view: StatusView, member: MemberView) -> int | None:
    """When it last said something, ms UTC; None when it never did."""
    if member.reachable:
        return view.situation.now - member.age_ms
    return cell.newest(view.situation.current, member.name)

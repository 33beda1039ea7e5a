"""The coupling facility structures of the status screen."""

from __future__ import annotations

from collections.abc import Collection

from mqvitals_agent.text.figure import figure, number
from mqvitals_agent.text.severity import Health, worst
from mqvitals_agent.text.terminal import safe, table
from mqvitals_agent.view import cell
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.situation import Member
from mqvitals_agent.view.status import STALE_INTERVALS, StatusView, health_of_object
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric

MOST_STRUCTURES = 6

_TITLE = "Coupling facility"


def structures(view: StatusView, width: int, painter: Painter, *, show_ok: bool = True) -> list[str]:
    """The structures, worst and fullest first; without ``show_ok`` those that are OK are only counted."""
    groups = groups_of(view)
    ranked = worst_and_fullest(view)
    if not ranked:
        return []
    bad = sum(health is not Health.OK for health, _ in ranked)
    rest = ranked[MOST_STRUCTURES if show_ok else min(bad, MOST_STRUCTURES) :]
    shown = ranked[: len(ranked) - len(rest)]
    if not shown:
        return [f"{painter.title(_TITLE)}  {painter.sign(Health.OK.glyph, Health.OK)} {_counted(len(rest))} OK"]
    rows = []
    for health, name in shown:
        values = view.situation.current[name]
        rows.append(
            (
                str(health),
                structure_name(name, groups),
                _entries(values),
                f"size {_told(values, 'size_used_pct')}",
                _told(values, "status")
                + cell.own_age(values.get("entries_pct"), groups[name.owner], view.situation.now),
            )
        )
    lines = [painter.title(_TITLE)]
    for (health, _), row in zip(shown, table(rows, width, indent=4), strict=True):
        lines += [painter.line(row[0], health), *row[1:]]
    if rest:
        most = worst(health for health, _ in rest)
        words = f"{_counted(len(rest), 'more ')} {'OK' if most is Health.OK else ''}".rstrip()
        sign = most.glyph if most is Health.OK else str(most)
        lines.append(f"{painter.sign(sign, most)} {words}")
    return lines


def groups_of(view: StatusView) -> dict[str, Member]:
    """The queue-sharing groups by name: one, but for stores of SMF records of several."""
    return {member.name: member for member in view.situation.members if member.is_group}


def structure_name(name: ObjectName, groups: Collection[str]) -> str:
    """A structure's name, with its group's where there are several."""
    return safe(f"{name.owner}/{name.name}" if len(groups) > 1 else name.name)


def worst_and_fullest(view: StatusView) -> list[tuple[Health, ObjectName]]:
    """The structures of the groups and how they are, the worst first, of those the fullest."""
    ranked = sorted(
        (
            (_structure_health(view, group, name, values), _share(values), name)
            for group in groups_of(view).values()
            for name, values in cell.of_kind(view.situation.current, group.name, "cf_structure").items()
        ),
        key=lambda item: (-item[0], -item[1], item[2]),
    )
    return [(health, name) for health, _, name in ranked]


def _counted(count: int, more: str = "") -> str:
    return f"{number(count)} {more}structure{'' if count == 1 else 's'}"


def _structure_health(view: StatusView, group: Member, name: ObjectName, values: cell.Values) -> Health:
    """As its alerts say; without any it is OK only when its figures are there and of now."""
    if any(each.stale for each in view.groups if each.name == group.name):
        return Health.UNKNOWN
    told = values.get("entries_pct")
    fresh = told is not None and told.ts is not None and group.last_ts - told.ts <= STALE_INTERVALS * group.interval_ms
    known = fresh and told is not None and not isinstance(told.value, Absence)
    return max(health_of_object(name, view.firing), Health.OK if known else Health.UNKNOWN)


def _share(values: cell.Values) -> float:
    told = values.get("entries_pct")
    return -1.0 if told is None or isinstance(told.value, Absence | str) else told.value


def _entries(values: cell.Values) -> str:
    text = f"entries {_told(values, 'entries_pct')}"
    pair = [values.get(name) for name in ("entries_used", "entries_max")]
    if any(told is None or isinstance(told.value, Absence) for told in pair):
        return text
    return f"{text} ({_told(values, 'entries_used')} of {_told(values, 'entries_max')})"


def _told(values: cell.Values, name: str) -> str:
    told = values.get(name)
    return cell.NOT_ASKED if told is None else figure(told.value, metric("cf_structure", name))

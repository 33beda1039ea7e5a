"""The JSON of a group's status, made here or sent by an agent of any version, to what the fleet shows of it.

What comes over the network is data: a value of another form than expected is absent, and what is absent is never zero, nor OK.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from mqvitals_agent.fleet.summary import (
    AgentSummary,
    AlertSummary,
    Counts,
    GroupSummary,
    OwnerSummary,
    health_of_owners,
    short_source,
)
from mqvitals_agent.text.figure import age
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.alerts.handling import ACKNOWLEDGED, IN_MAINTENANCE, NEW, NO_MARK, SILENCED
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.timestamps import DAY_MS, iso, parse_iso

MOST_ALERTS: Final = 50
"""The worst alerts of a group that are kept; all are counted."""
MOST_LISTED: Final = 20_000
"""Alerts of an answer that are looked at."""
MOST_OWNERS: Final = 1_000
"""A group that has more queue managers is not a group."""
_MOST_COUNTED: Final = 10**9
_LONGEST_TEXT: Final = 600
_LONGEST_NAME: Final = 100
_LONGEST_MS: Final = 100 * 366 * DAY_MS
_OLDEST, _NEWEST = parse_iso("1970-01-01T00:00:00Z"), parse_iso("9999-12-30T00:00:00Z")

_HEALTHS: Final = {health.word: health for health in Health}


class StatusError(Exception):
    """What was sent is no status of a group; the message is a clause about the agent's answer."""


def parsed(body: bytes) -> object:
    """The document that the bytes of an answer hold. Raises StatusError."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise StatusError("its answer is no JSON: is it the address of an agent?") from None


def summary_of(document: object, *, key: str, name: str, source: str, read_at: int) -> GroupSummary:
    """The group that a status, as of ``status_json``, describes. Raises StatusError where it is none.

    ``key``, ``name`` (empty: the group's own) and ``source`` are as for GroupSummary; ``read_at`` is the time here, ms UTC.
    """
    if not isinstance(document, Mapping) or not {"severity", "queue_managers"} <= document.keys():
        raise StatusError("its answer is no status that this version understands")
    found = _list(document.get("queue_managers"))
    if len(found) > MOST_OWNERS:
        raise StatusError(f"its answer names {len(found):,} queue managers; a group has at most {MOST_OWNERS:,}")
    owners = (
        *(_owner(each) for each in found),
        *(_owner(each, is_group=True) for each in _list(document.get("groups"))[:MOST_OWNERS]),
    )
    health = max(_health(document.get("severity")), health_of_owners(owners))
    if isinstance(document.get("unstored"), str) or document.get("past") is True:
        # The samples are old, as the status itself says by its exit code.
        health = Health.UNKNOWN
    at = _moment(document.get("at"))
    listed = document.get("alerts")
    alerts = None
    if isinstance(listed, list):
        alerts = [_alert(each, at) for each in listed[:MOST_LISTED] if _fires(each)]
    group = _name(document.get("group"))
    return GroupSummary(
        key=key,
        name=name or group or short_source(source),
        agents=(AgentSummary(source, _role(document), _standing(document, at)),),
        read_at=read_at,
        at=read_at,
        group=group,
        health=health,
        owners=owners,
        counts=_counts(document, alerts),
        alerts=tuple(sorted(alerts or (), key=lambda each: -each.health)[:MOST_ALERTS]),
        past=document.get("past") is True,
        notes=_notes(document, at, unlisted=alerts is None),
        last_health=health,
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object, longest: int = _LONGEST_TEXT) -> str:
    return value[:longest] if isinstance(value, str) else ""


def _name(value: object) -> str:
    return _text(value, _LONGEST_NAME).strip()


def _health(value: object) -> Health:
    return _HEALTHS.get(value, Health.UNKNOWN) if isinstance(value, str) else Health.UNKNOWN


def _ms(seconds: object) -> int | None:
    """Seconds that may be an age, in ms."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        ms = float(seconds) * 1000
    except OverflowError:
        return None
    return round(ms) if math.isfinite(ms) and 0 <= ms <= _LONGEST_MS else None


def _moment(value: object) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        moment = parse_iso(value)
    except (ValueError, OverflowError):
        return None
    return moment if _OLDEST <= moment <= _NEWEST else None


def _owner(value: object, *, is_group: bool = False) -> OwnerSummary:
    entry = value if isinstance(value, Mapping) else {}
    reachable, stale = entry.get("reachable"), entry.get("stale") is True
    health = _health(entry.get("severity"))
    age_ms = _ms(entry.get("age_s"))
    if age_ms is None or (not is_group and reachable is not True):
        # How old it is, or whether it answers, is not known: it is not OK.
        health = max(health, Health.UNKNOWN)
    return OwnerSummary(
        _name(entry.get("name")) or Health.UNKNOWN.glyph,
        Health.UNKNOWN if stale else health,
        reachable if isinstance(reachable, bool) else None,
        age_ms,
        _ms(entry.get("interval_s")) or None,
        stale,
        is_group,
    )


def _fires(value: object) -> bool:
    """Whether an entry is an alert to count: one that fires and that no other one explains."""
    return (
        isinstance(value, Mapping) and value.get("ended") is None and not isinstance(value.get("explained_by"), Mapping)
    )


def _alert(entry: Mapping[str, Any], at: int | None) -> AlertSummary:
    labels = entry.get("labels")
    now = labels.get("severity") if isinstance(labels, Mapping) else None
    started = _moment(entry.get("started"))
    return AlertSummary(
        rule=_name(entry.get("rule")),
        object=_text(entry.get("object")),
        owner=_name(entry.get("queue_manager")),
        # An alert without a known severity is one all the same.
        health=_health(now if isinstance(now, str) else entry.get("severity")),
        words=_text(entry.get("summary")),
        started=started,
        lasts_ms=None if started is None or at is None else max(at - started, 0),
        mark=_mark(entry),
        advice=_text(entry.get("advice")),
        mqsc=_text(entry.get("mqsc")),
    )


def _mark(entry: Mapping[str, Any]) -> str:
    if not {"acknowledged", "silence", "maintenance"} <= entry.keys():
        return NO_MARK
    if entry["acknowledged"] is not None:
        return ACKNOWLEDGED
    if entry["silence"] is not None:
        return SILENCED
    return NEW if entry["maintenance"] is None else IN_MAINTENANCE


def _counts(document: Mapping[str, Any], alerts: list[AlertSummary] | None) -> Counts | None:
    """The alerts by severity, as each owner counts its own; of an agent that does not say it, those that are listed."""
    owners = (*_list(document.get("queue_managers")), *_list(document.get("groups")))
    counted = [{severity: _counted(each, severity) for severity in Severity} for each in owners]
    if not owners:
        return None
    if all(number is not None for each in counted for number in each.values()):
        return {severity: sum(each[severity] or 0 for each in counted) for severity in Severity}
    if alerts is None:
        return None
    return {severity: sum(each.health is health_of(severity) for each in alerts) for severity in Severity}


def _counted(owner: object, severity: Severity) -> int | None:
    """How many alerts of a severity an owner has; None: it does not say."""
    own = owner.get("alerts") if isinstance(owner, Mapping) else None
    number = own.get(severity.name.lower()) if isinstance(own, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < _MOST_COUNTED else None


def _role(document: Mapping[str, Any]) -> str:
    role = document.get("role")
    return role if role in ("active", "standby") else ""


def _standing(document: Mapping[str, Any], at: int | None) -> str:
    """Since when and why an agent is active or waits."""
    standing = document.get("standing")
    role = _role(document)
    if not isinstance(standing, Mapping) or not role:
        return ""
    since = _moment(standing.get("since"))
    lasts = "" if since is None or at is None else f" for {age(max(at - since, 0))}"
    reason = _text(standing.get("reason"))
    words = f"{role}{lasts}{f': {reason}' if reason else ''}"
    return f"{words}; the alerts of the other agent are not followed" if standing.get("follows") is False else words


def _notes(document: Mapping[str, Any], at: int | None, *, unlisted: bool) -> tuple[str, ...]:
    notes = []
    if document.get("past") is True:
        ended = "" if at is None else f", which ended {iso(at)}"
        notes.append(f"the past: a store that no agent fills{ended}")
    if unstored := _text(document.get("unstored")):
        notes.append(f"the agent runs and sends alerts, but cannot store its samples: {unstored}")
    if refused := _text(document.get("refused")):
        notes.append(f"the settings and rules from before are in force, for those of now cannot be used: {refused}")
    if unlisted:
        notes.append("its alerts are not known: the agent sends them in a form that this version does not understand")
    return tuple(notes)

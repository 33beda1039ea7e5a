"""What a form about a silence says: matchers to begin with, what was typed, and which alerts it would silence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_agent.alerting.action import Silence
from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.maintenance import MaintenanceSpan
from mqvitals_agent.commandline.time_arguments import later_moment_argument
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.figure import age, moment, number, object_words, shown_zone, zone_name
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cut, safe
from mqvitals_agent.view.alerts.actions import shown_silences, silence_lines, silence_state
from mqvitals_agent.view.alerts.maintenance import maintenance_lines
from mqvitals_agent.view.alerts.words import short_summary
from mqvitals_config.decoding.problem import suggestion
from mqvitals_config.sections.matcher import Matcher, Operator, match, parse_matcher
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.rule import RuleKind

MATCHERS, BEGINS, ENDS, REASON = "matchers", "begins", "ends", "reason"
"""The fields of the form."""

_NARROWEST = ("rule", "object", "instance")
_MATCHER = re.compile(r'\s*,?\s*((?:"(?:[^"\\]|\\.)*"|[^\s",])+|.)')


class LabelledAlert(NamedTuple):
    """An alert that fires now, and its labels."""

    alert: Alert
    labels: Labels


class FieldError(ValueError):
    """What was typed into ``field`` is wrong; the text says how."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


@dataclass(frozen=True, slots=True)
class SilenceWish:
    """A silence as it was typed, times ms UTC."""

    matchers: tuple[Matcher, ...]
    starts: int
    ends: int
    reason: str


def narrowest_matchers(labels: Labels) -> tuple[Matcher, ...]:
    """The matchers that silence one alert and nothing else: its rule, its object, and what tells several apart."""
    return tuple(Matcher(name, Operator.EQUAL, labels[name]) for name in _NARROWEST if name in labels)


def owner_matchers(name: str, *, is_group: bool = False) -> tuple[Matcher, ...]:
    """The matchers of all alerts of a queue manager, or of what belongs to a group."""
    return (Matcher("owner" if is_group else "queue_manager", Operator.EQUAL, name),)


def rule_matchers(rule: str) -> tuple[Matcher, ...]:
    """The matchers of all alerts of a rule."""
    return (Matcher("rule", Operator.EQUAL, rule),)


def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """``rule=BP-03 object="QM01/queue/A B"`` as matchers. Raises FieldError."""
    found = []
    for each in _MATCHER.finditer(text.rstrip()):
        try:
            found.append(parse_matcher(each[1]))
        except ValueError as error:
            raise FieldError(MATCHERS, str(error)) from None
    if not found:
        raise FieldError(MATCHERS, "write a matcher, such as rule=BP-03 or queue_manager=QM01")
    if match(found, {}):
        raise FieldError(MATCHERS, "this matches alerts that have none of these labels: one must ask for a value")
    return tuple(found)


def unknown_label(matchers: Iterable[Matcher], known: Collection[str]) -> str:
    """A sentence about a label that no alert has: most likely a slip. Empty when all are known."""
    for each in matchers:
        if each.label not in known:
            meant = suggestion(each.label, known)
            return f"no alert has the label {safe(each.label)}: {meant or 'there are ' + ', '.join(known)}"
    return ""


def parse_end(text: str, starts: int, field: str = ENDS) -> int:
    """``2h`` from ``starts``, or a time of day or a date after it, in the zone that is shown; ms UTC. Raises FieldError."""
    if not text.strip():
        raise FieldError(field, f"write how long, such as 2h, or until when, such as 06:00 ({zone_name(starts)})")
    try:
        ends = later_moment_argument(field, text, shown_zone, starts)
    except (Failure, ValueError, OverflowError):
        raise FieldError(field, _no_time(text, "2h, 06:00, tomorrow 06:00 or 2026-11-23 06:00", starts)) from None
    if ends <= starts:
        raise FieldError(field, f"it would end at {moment(ends)} {zone_name(ends)}, before it begins")
    return ends


def _no_time(text: str, forms: str, now: int) -> str:
    said = "write" if text.strip() in ("", "?") else f"{text!r} is no time: write"
    return f"{said} {forms} ({zone_name(now)})"


def parse_silence(matchers: str, begins: str, ends: str, reason: str, now: int) -> SilenceWish:
    """The silence that was typed; an empty beginning is ``now`` (ms UTC). Raises FieldError for the first mistake."""
    chosen = parse_matchers(matchers)
    starts = now
    if begins.strip() and begins.strip().lower() != "now":
        try:
            starts = later_moment_argument(BEGINS, begins, shown_zone, now)
        except (Failure, ValueError, OverflowError):
            raise FieldError(BEGINS, _no_time(begins, "22:00, tomorrow 06:00, 2026-11-23 06:00 or now", now)) from None
        if starts < now:
            raise FieldError(
                BEGINS, f"{moment(starts)} {zone_name(starts)} is over: write a later time, or nothing for now"
            )
    end = parse_end(ends, starts)
    if not reason.strip():
        raise FieldError(REASON, "write why, for those who look at it later")
    return SilenceWish(chosen, starts, end, reason)


def preview_lines(
    matchers: str, begins: str, ends: str, firing: Sequence[LabelledAlert], now: int, width: int
) -> list[Line]:
    """Which alerts that fire now the silence would silence, and from when to when it would last."""
    lines = []
    try:
        wish = parse_silence(matchers, begins, ends, ".", now)
    except FieldError as error:
        if error.field != MATCHERS:
            lines = [line(cut(str(error), width), Tone.UNKNOWN)]
    else:
        begin = "now" if wish.starts <= now else f"from {moment(wish.starts)}"
        lines = [
            line(
                cut(f"{begin} until {moment(wish.ends)} {zone_name(wish.ends)}, {age(wish.ends - wish.starts)}", width)
            )
        ]
    try:
        chosen = parse_matchers(matchers)
    except FieldError as error:
        return [*wrapped(str(error), width, Tone.UNKNOWN), *lines]
    found = [each for each in firing if match(chosen, each.labels)]
    alerts = [each for each in found if each.alert.kind_of_rule == RuleKind.OPERATIONAL.value]
    words = "Would silence this alert" if len(alerts) == 1 else f"Would silence these {len(alerts):,} alerts"
    lines.append(line())
    lines.append(heading(words if alerts else "Would silence no alert that fires now", width))
    for alert, _ in alerts:
        health = health_of(alert.severity)
        words = f"  {safe(alert.key.rule)}  {object_words(alert.key.object)}  {safe(short_summary(alert))}"
        lines.append(Line((Span(str(health), tone_of(health)), Span(cut(words, max(width - len(str(health)), 0))))))
    if advice := len(found) - len(alerts):
        lines.append(line(f"and {number(advice)} of the advice on the configuration", Tone.FAINT))
    if slip := unknown_label(chosen, dict.fromkeys(name for each in firing for name in each.labels)) if firing else "":
        lines += wrapped(slip, width, Tone.UNKNOWN)
    return lines


def silence_list_lines(
    silences: Sequence[tuple[Silence, int]], spans: Sequence[MaintenanceSpan], now: int, width: int
) -> tuple[Line, ...]:
    """All silences by state, each with the number of firing alerts that it matches; and the maintenance of the settings.

    ``now`` is ms UTC.
    """
    matching = {silence.id: count for silence, count in silences}
    listed = shown_silences((silence for silence, _ in silences), now, expired=True)
    titles = {"active": "Silenced now", "pending": "Planned", "expired": "Ended, the newest first"}
    lines: list[Line] = []
    for state, title in titles.items():
        of_state = [each for each in listed if silence_state(each, now) == state]
        if of_state or state == "active":
            lines.append(heading(f"{title}: {number(len(of_state))}", width))
        if not of_state and state == "active":
            lines += wrapped(
                "Nothing is silenced. On an alert s silences it, m plans a maintenance window", width, Tone.FAINT
            )
        for each in of_state:
            tone = Tone.FAINT if state == "expired" else Tone.PLAIN
            for found in silence_lines(each, now, width, matching[each.id]):
                parts = tuple(span._replace(tone=tone) if span.tone is Tone.PLAIN else span for span in found.spans)
                lines.append(found._replace(spans=parts, silence=each.id))
        if state == "pending" and spans:
            lines += [heading(_MAINTENANCE, width), *maintenance_lines(spans, now, width)]
    return tuple(lines)


_MAINTENANCE = "Maintenance in the configuration"

_MOST_KNOWN = 6
"""Lines about known maintenance above the form: a terminal of 24 lines has room for the form too."""


def known_maintenance(spans: Sequence[MaintenanceSpan], now: int, width: int) -> tuple[Line, ...]:
    """What is on and planned already, above the form that plans more; nothing without any."""
    if not spans:
        return ()
    lines = maintenance_lines(spans, now, width)
    most = lines[:_MOST_KNOWN]
    more = [line("and more: see Silences, the second screen behind 8", Tone.FAINT)] if len(lines) > len(most) else []
    return (heading(_MAINTENANCE, width), *most, *more)

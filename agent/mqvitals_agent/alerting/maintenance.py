"""Maintenance windows and time intervals of a site: which alerts are muted now, why, and when that changes.

All moments are ms since 1970 UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from mqvitals_agent.alerting.calendar import TimeInterval, TimeSpan, merged, next_change, wall_clock_spans, within
from mqvitals_agent.alerting.labels import Labels
from mqvitals_config.sections.matcher import Matcher, match, matchers_text
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.tables import KINDS

ValueOf = Callable[[ObjectName, str], object]
"""(object, metric) -> its value now; anything but a number or a text where that is not known."""

LOOK_AHEAD_MS: Final = DAY_MS
"""A calendar is looked at again after this time at the latest."""

_AHEAD_MS: Final = 14 * DAY_MS
"""Changes of time intervals are named this far ahead."""
_USAGE: Final = KINDS["queue"].metric("usage")
_LONGEST_WEEKLY_MS: Final = 8 * DAY_MS
"""No window by weekdays lasts longer, change of daylight saving included."""
_LONGEST_CHAIN_MS: Final = 100 * DAY_MS
"""Windows of one cron expression that touch each other are followed back this far."""


@dataclass(frozen=True, slots=True)
class MaintenanceWindow:
    """When a window is, and what it is about: as its settings say (``MaintenanceSettings``).

    ``once`` is set, or ``cron`` and ``lasts`` (ms), or ``weekly``. ``queue_managers`` are patterns of all their objects.
    """

    name: str
    reason: str
    zone: tzinfo
    once: TimeSpan | None = None
    cron: str = ""
    lasts: int = 0
    weekly: tuple[TimeInterval, ...] = ()
    queue_managers: tuple[ObjectPattern, ...] = ()
    objects: tuple[ObjectPattern, ...] = ()
    matchers: tuple[Matcher, ...] = ()
    planned_down: bool = False
    _owners: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def spans(self, start: int, end: int) -> list[TimeSpan]:
        """When it is on, whole and in order, as far as that begins before ``end`` and ends after ``start``."""
        if self.once is not None:
            found = [self.once]
        elif self.cron:
            found = self._cron_spans(start, end)
        else:
            since, until = start - _LONGEST_WEEKLY_MS, end + _LONGEST_WEEKLY_MS
            found = [span for each in self.weekly for span in wall_clock_spans(each.zone, since, until, each.on)]
        return [each for each in merged(found) if each.start < end and each.end > start]

    def is_of(self, owner: str, groups: Collection[str]) -> bool:
        """Whether a queue manager is one of those that are meant. ``groups`` are owners that are none."""
        found = self._owners.get(owner)
        if found is None:
            name = ObjectName(owner, "queue_manager")
            found = self._owners[owner] = any(each.matches(name) for each in self.queue_managers)
        return found and owner not in groups

    def covers(self, about: ObjectName, labels: Labels, groups: Collection[str]) -> bool:
        """Whether it is about an alert with these labels, by what the alert itself is about."""
        named = self.is_of(about.owner, groups) or any(each.matches(about) for each in self.objects)
        return named and match(self.matchers, labels)

    def down_of(self, leads_to: Iterable[str], groups: Collection[str]) -> str | None:
        """The first queue manager of those to which an alert leads (``leads_to``) that is down as planned; else None."""
        if not self.planned_down:
            return None
        return next((each for each in leads_to if self.is_of(each, groups)), None)

    @property
    def about(self) -> tuple[object, ...]:
        """What it is about, to be compared with that of another entry."""
        return self.queue_managers, self.objects, self.matchers, self.planned_down

    @property
    def about_text(self) -> str:
        """What it is about: ``QM01, QM02 (planned down)``, ``*/queue/PAY.* with severity!=critical``."""
        owners = [each.text.removesuffix("/*") for each in self.queue_managers]
        text = ", ".join([*owners, *(each.text for each in self.objects)])
        if self.planned_down:
            return f"{text} (planned down)"
        return f"{text} with {matchers_text(self.matchers)}" if self.matchers else text

    def _cron_spans(self, start: int, end: int) -> list[TimeSpan]:
        back = self.lasts + DAY_MS
        while True:
            found = merged(TimeSpan(begun, begun + self.lasts) for begun in self._begun(start - back, end))
            first = next((each.start for each in found if each.end > start), end)
            if first > start - back + self.lasts or back > _LONGEST_CHAIN_MS:
                return found
            back *= 2

    def _begun(self, since: int, until: int) -> Iterable[int]:
        """When it begins, from ``since`` on and before ``until``, or later where that touches an earlier one."""
        from cronsim import CronSim  # here, because most sites have none

        last = since
        # A day earlier: of an hour that comes twice, it begins in the first.
        for each in CronSim(self.cron, datetime.fromtimestamp(since // 1000, self.zone) - timedelta(days=1)):
            begun = int(each.timestamp()) * 1000
            if begun >= until and (begun > last or begun > until + _LONGEST_CHAIN_MS):
                return
            if begun >= since:
                yield begun
                last = begun + self.lasts


@dataclass(frozen=True, slots=True)
class MaintenanceSpan:
    """A window while it is on once: from ``span.start`` to ``span.end``.

    ``windows`` are the entries of one name that it is made of; their times overlap or touch.
    """

    name: str
    span: TimeSpan
    windows: tuple[MaintenanceWindow, ...]

    @property
    def zone(self) -> tzinfo:
        """The zone in which its times are written."""
        return self.windows[0].zone


class Muting(NamedTuple):
    """The window that mutes an alert, when that ends (ms UTC), and why."""

    window: MaintenanceWindow
    end: int
    why: str

    def text(self, now: int) -> str:
        """``maintenance 'weekly IPL' until 06:00 CET: QM03 is planned down; IPL of SYS3``."""
        return f"maintenance '{self.window.name}' until {moment_text(self.end, self.window.zone, now)}: {self.why}"


class _Active(NamedTuple):
    """The windows that are on with their ends, and how long that is known to be so."""

    valid: TimeSpan
    ends: Mapping[MaintenanceWindow, int]


@dataclass(frozen=True, slots=True, eq=False)
class SiteCalendar:
    """Time intervals (by name; one fits when one of its entries does) and maintenance windows of a site.

    What is on is kept until it changes.
    """

    intervals: Mapping[str, tuple[TimeInterval, ...]] = field(default_factory=dict)
    windows: tuple[MaintenanceWindow, ...] = ()
    _known: list[_Active] = field(default_factory=list, init=False, repr=False)
    _within: dict[str, tuple[TimeSpan, bool]] = field(default_factory=dict, init=False, repr=False)

    def within(self, name: str, now: int) -> bool:
        """Whether ``now`` lies in a time interval; False for one that does not exist."""
        return self._interval(name, now)[1]

    def interval_change(self, name: str, now: int) -> int | None:
        """When a time interval begins or ends next; None where that is not within two weeks."""
        end = self._interval(name, now)[0].end
        return None if end - now >= _AHEAD_MS else end

    def active(self, now: int) -> Mapping[MaintenanceWindow, int]:
        """The windows that are on, each with its end, together with those of its name and objects that continue it."""
        return self._active(now).ends if self.windows else {}

    def next_change(self, now: int) -> int | None:
        """When to look again: a window or an interval begins or ends then, or a day is over. None without any."""
        times = []
        if self.windows:
            times.append(self._active(now).valid.end)
        times += [min(self._interval(name, now)[0].end, now + LOOK_AHEAD_MS) for name in self.intervals]
        return min(times, default=None)

    def muted(
        self,
        alert: Alert,
        labels: Labels,
        causes: Sequence[AlertKey],
        now: int,
        groups: Collection[str],
        value_of: ValueOf,
    ) -> Muting | None:
        """What mutes an alert; of several windows the one that ends last. None without one.

        ``causes`` explain the alert, the nearest first; ``groups`` are the owners that are no queue managers.
        """
        on, found = self.active(now), []
        behind = leads_to(alert, causes, value_of) if any(each.planned_down for each in on) else ()
        for each, end in on.items():
            if each.covers(alert.key.object, labels, groups):
                down = f"{alert.key.object.owner} is planned down; " if each.planned_down else ""
                found.append(Muting(each, end, down + each.reason))
            elif (owner := each.down_of(behind, groups)) is not None:
                found.append(Muting(each, end, f"it follows from {owner}, which is planned down; {each.reason}"))
        return max(found, key=lambda each: each.end, default=None)

    def known_since(
        self,
        alert: Alert,
        labels: Labels,
        causes: Sequence[AlertKey],
        begun: int,
        now: int,
        groups: Collection[str],
        value_of: ValueOf,
    ) -> int:
        """Since when people can know of an alert that began at ``begun``: not before the last window about it ended."""
        behind = leads_to(alert, causes, value_of)
        spans = (
            span
            for window in self.windows
            if window.covers(alert.key.object, labels, groups) or window.down_of(behind, groups) is not None
            for span in window.spans(begun, now)
        )
        return max((each.end for each in spans if each.end <= now), default=begun)

    def _interval(self, name: str, now: int) -> tuple[TimeSpan, bool]:
        """Whether it is within an interval, and how long that is known to be so."""
        found = self._within.get(name)
        if found is None or not found[0].start <= now < found[0].end:
            entries = self.intervals.get(name, ())
            until = next_change(entries, now, now + 2 * _AHEAD_MS) or now + 2 * _AHEAD_MS
            found = self._within[name] = TimeSpan(now, until), within(entries, now)
        return found

    def _active(self, now: int) -> _Active:
        for known in self._known:
            if known.valid.start <= now < known.valid.end:
                return known
        ahead = now + LOOK_AHEAD_MS
        spans = [(each, span) for each in self.windows for span in each.spans(now, ahead)]
        until = min((moment for _, span in spans for moment in span if moment > now), default=ahead)
        on = dict.fromkeys(each for each, span in spans if span.start <= now)
        found = _Active(TimeSpan(now, min(until, ahead)), {each: self._end(each, now) for each in on})
        self._known[:] = [found]
        return found

    def _end(self, window: MaintenanceWindow, now: int) -> int:
        same = [each for each in self.windows if (each.name, each.about) == (window.name, window.about)]
        return spans_of(same, now, now + 1)[0].span.end


NO_CALENDAR: Final = SiteCalendar()
"""Of a site without time intervals and maintenance windows."""


def spans_of(windows: Sequence[MaintenanceWindow], start: int, end: int) -> list[MaintenanceSpan]:
    """When windows are on, as far as that begins before ``end`` and ends after ``start``; the first one first.

    Those of one name that overlap or touch are one.
    """
    found = []
    for name in dict.fromkeys(each.name for each in windows):
        named = [each for each in windows if each.name == name]
        since, until = start, end
        while True:
            parts = [(span, each) for each in named for span in each.spans(since, until)]
            whole = [each for each in merged(span for span, _ in parts) if each.start < end and each.end > start]
            # What touches the first or the last of them continues it.
            wider = min([since, *(each.start - 1 for each in whole)]), max([until, *(each.end + 1 for each in whole)])
            if wider == (since, until):
                break
            since, until = wider
        for each in whole:
            of = dict.fromkeys(part for span, part in parts if each.start <= span.start < each.end)
            found.append(MaintenanceSpan(name, each, tuple(of)))
    return sorted(found, key=lambda each: (each.span, each.name))


def moment_text(ts: int, zone: tzinfo, now: int) -> str:
    """A moment by the wall clock of a zone: ``06:00 CET``, on another day than ``now`` ``2027-03-31 06:00 CET``."""
    there, today = (datetime.fromtimestamp(each // 1000, zone) for each in (ts, now))
    day = "" if there.date() == today.date() else f"{there:%Y-%m-%d} "
    return f"{day}{there:%H:%M} {there.tzname() or ''}".rstrip()


def leads_to(alert: Alert, causes: Iterable[AlertKey], value_of: ValueOf) -> tuple[str, ...]:
    """The owners from which an alert may follow: of what explains it (``causes``), the nearest first, and where that leads.

    An alert about what leads to a queue manager follows from it also where nothing explains it, such as a channel that
    still retries after its partner has started.
    """
    found: dict[str, None] = {}
    for about in (alert.scope, *(each.object for each in causes)):
        found.update(dict.fromkeys((about.owner, *partners_of(about, value_of))))
    return tuple(found)


def partners_of(about: ObjectName, value_of: ValueOf) -> tuple[str, ...]:
    """The queue managers to which an object leads: a channel, a transmission queue, an entry of the cluster cache.

    A channel's status names its partner. Before it has ever started its transmission queue does, or its own name.
    """
    match about.kind:
        case "channel":
            partner = value_of(about, "remote_queue_manager")
            if isinstance(partner, str) and partner.strip():
                return (partner.strip(),)
            xmitq = value_of(about, "xmitq")
            named = (about.name.removeprefix("TO."),) if about.name.startswith("TO.") else ()
            return (*named, xmitq.strip()) if isinstance(xmitq, str) else named
        case "queue":
            transmits = _USAGE is not None and value_of(about, "usage") == _USAGE.values["XMITQ"]
            return (about.name,) if transmits else ()
        case "cluster_queue_manager":
            return (about.name.partition("/")[2],)
    return ()

"""What the log says of a run as a whole: its beginning and end, what it lacks, maintenance windows; its state in words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mqvitals_agent import __version__
from mqvitals_agent.alerting.maintenance import MaintenanceSpan, SiteCalendar, moment_text, spans_of
from mqvitals_agent.clock import Clock, VirtualClock, with_timeout
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.log import LEVELS, as_event
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.monitored_group import MonitoredGroup
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.timestamps import iso

_LOG = logging.getLogger(__name__)

_LOOK_MS: Final = 60_000
"""The clock may be set while a window is awaited: it is looked at so often."""

INTERRUPTED: Final = 130
"""The exit code of a run that Ctrl-C ends."""

_LAG_S: Final = 1.0
"""Virtual time that ends behind its pace by less than this is not reported."""

_FIRST_HOUR_MS: Final = 3_600_000
_FIRST_DAY_S: Final = 60.0
"""Finding out what the rules lack is given up after this time."""

_FIRST_DAY_OBJECTS: Final = 200
"""It looks at so many objects of each kind of a queue manager, so that no cycle waits for it."""

_REMEDIES: Final = 5


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What a run has done: cycles, exchanges and snapshots; and the alerts that fire now."""

    cycles: int = 0
    exchanges: int = 0
    snapshots: int = 0
    firing: int = 0

    def with_cycle(self, stored: StoredCycle) -> RunTotals:
        """The totals with one more cycle."""
        return RunTotals(
            self.cycles + 1, self.exchanges + stored.exchanges, self.snapshots + stored.snapshots, stored.firing
        )


def log_beginning(config: AgentConfig, group: MonitoredGroup, store: Path) -> None:
    """The first line."""
    settings, targets = config.settings, group.targets
    names = [*(connector.queue_manager for connector in targets.connectors), *targets.others]
    _LOG.info(
        f"mqvitals {__version__} monitors {f'{settings.name}, ' if settings.name else ''}{len(names)} queue"
        f" managers, {config_words(config)}",
        extra=as_event(
            "agent.begins",
            version=__version__,
            group=settings.name or "",
            queue_managers=",".join(names),
            interval_ms=settings.polling.interval,
            receivers=len(settings.receivers),
            config=config.path or "",
            store=str(store),
            source=group.source,
        ),
    )


def log_missing(for_ms: int, left_out: int, unstored: int, totals: RunTotals) -> None:
    """A run of ``for_ms`` lacks the cycles that did not start (``left_out``), or snapshots that could not be stored."""
    _LOG.error(
        f"of the cycles of {format_duration(for_ms)}, {left_out:,} did not start because the previous one took too long;"
        f" snapshots that could not be stored: {unstored:,}; snapshots stored: {totals.snapshots:,}",
        extra=as_event("agent.cycles_missing", left_out=left_out, unstored=unstored),
    )


def log_end(reason: str, code: int, totals: RunTotals, clock: Clock) -> None:
    """The last line: why the run ended, with which exit code, what it has done by ``clock``."""
    _LOG.log(
        LEVELS["info" if code in (ExitCode.DONE, INTERRUPTED) else "error"],
        f"{reason}: {totals.cycles:,} cycles, {totals.exchanges:,} exchanges and {totals.snapshots:,} snapshots;"
        f" alerts that fire: {totals.firing}{_lag_words(clock)}",
        extra=as_event(
            "agent.ended",
            code=code,
            cycles=totals.cycles,
            exchanges=totals.exchanges,
            snapshots=totals.snapshots,
            firing=totals.firing,
        ),
    )


async def log_first_day(store: Path, rule_config: Callable[[], RuleConfig], clock: Clock) -> None:
    """After an hour by ``clock``, log what would help most to evaluate more rules."""
    await clock.sleep(_FIRST_HOUR_MS)
    with suppress(NoAnswerError, StoreError), clock.hold():
        for text in await BoundedCall().run(lambda: _first_remedies(store, rule_config()), _FIRST_DAY_S):
            _LOG.info(text, extra=as_event("rules.lack"))


def _first_remedies(store: Path, rule_config: RuleConfig) -> tuple[str, ...]:
    from mqvitals_agent.review.first_day import first_day, most_helpful
    from mqvitals_agent.store.reader import StoreReader

    with StoreReader.open(store) as reader:
        found = first_day(reader, rule_config, objects_of_kind=_FIRST_DAY_OBJECTS)
    return most_helpful(found, _REMEDIES)


def config_words(config: AgentConfig) -> str:
    """How often is polled, and how many rules are evaluated."""
    settings, rules = config.settings, config.rule_config.rules
    return f"every {format_duration(settings.polling.interval)}, {len(rules.rules) - len(rules.switched_off)} rules"


def state_words(stored: StoredCycle, asked: int) -> str:
    """The agent's state in a sentence, for the service manager; ``asked`` queue managers are monitored."""
    if stored.errors:
        return f"the cycle of {iso(stored.began)} could not be stored: {stored.errors[0]}"
    return f"queue managers monitored: {asked}; alerts that fire: {stored.firing}; last cycle: {iso(stored.began)}"


def late_words(silent_ms: float, longest_ms: int, interval_ms: int) -> str:
    """Why cycles do not go on when the last one ended ``silent_ms`` ago; empty up to ``longest_ms``."""
    if silent_ms <= longest_ms:
        return ""
    length = format_duration(round(silent_ms / 1000) * 1000)
    return f"the last cycle ended {length} ago; one begins every {format_duration(interval_ms)}"


def _lag_words(clock: Clock) -> str:
    """The speed of a run that did not reach the requested one; else empty."""
    if not isinstance(clock, VirtualClock) or clock.pace is None or clock.lag_s < _LAG_S:
        return ""
    return f"; {clock.speed:.3g} times real time, not {clock.pace:g}, because cycles took longer"


class MaintenanceWatch:
    """Logs each beginning and end of a maintenance window once, in ``run``. Used on the event loop's thread.

    A window that is on when the agent starts, or that a reload brings, begins then; one that a reload takes away ends then.
    ``clock`` is the agent's. What windows mute the outbox decides, which looks at the same calendar.
    """

    def __init__(self, calendar: SiteCalendar, clock: Clock) -> None:
        self._calendar = calendar
        self._clock = clock
        self._on: dict[str, MaintenanceSpan] = {}
        self._changed = asyncio.Event()

    def configure(self, calendar: SiteCalendar) -> None:
        """Use another calendar from now on."""
        self._calendar = calendar
        self._changed.set()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            self._changed.clear()
            now = self._clock.now()
            self._look(now)
            change = self._calendar.next_change(now)
            if change is None:
                await self._changed.wait()
            else:
                with suppress(TimeoutError):
                    await with_timeout(self._changed.wait(), self._clock, min(change - now, _LOOK_MS))

    def _look(self, now: int) -> None:
        before = self._on
        self._on = {each.name: each for each in spans_of(self._calendar.windows, now, now + 1)}
        for name in before:
            if name not in self._on:
                _LOG.info(f"maintenance '{name}' has ended", extra=as_event("maintenance.ended", maintenance=name))
        for name, each in self._on.items():
            if name not in before:
                about = "; ".join(dict.fromkeys(f"{window.about_text}: {window.reason}" for window in each.windows))
                until = moment_text(each.span.end, each.zone, now)
                _LOG.info(
                    f"maintenance '{name}' has begun, until {until}; nothing is notified about {about}",
                    extra=as_event("maintenance.began", maintenance=name, until=iso(each.span.end)),
                )

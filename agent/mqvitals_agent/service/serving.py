"""The agent's small server within a run: what it serves, and by which settings. It is imported with the first address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.monitored_group import MonitoredGroup
from mqvitals_agent.service.server_meter import ServerState
from mqvitals_agent.view.alerts.handling import AlertSite

if TYPE_CHECKING:
    from mqvitals_agent.openmetrics.health import AgentHealth
    from mqvitals_agent.server.pages import MetricsPages
    from mqvitals_agent.server.server import AgentServer

_NO_CYCLE = "no cycle has been stored yet"
_STANDBY = "standby: another agent polls"


class Serving:
    """What a run of the agent serves. ``late`` says why cycles do not go on.

    Of two agents ``answer`` is what the other is told, as ``Served.standby``, and ``active`` whether this one polls.
    """

    def __init__(
        self,
        store: Path,
        group: MonitoredGroup,
        late: Callable[[], str],
        *,
        answer: Callable[[str, str, float], Awaitable[bytes]] | None = None,
        active: bool | None = None,
    ) -> None:
        self._answer = answer
        self._active = active
        self._store = store
        self._group = group
        self._late = late
        self._config: AgentConfig | None = None
        self._cycles = 0
        self._health: AgentHealth | None = None
        self._pages: MetricsPages | None = None
        self._server: AgentServer | None = None

    def use(self, config: AgentConfig, live: LiveState, start: Callable[[Coroutine[None, None, None]], object]) -> None:
        """Serve ``live`` by this configuration from now on; ``start`` begins a task of the run.

        Without waiting, time is too fast for anybody to ask: such a run serves nothing.
        """
        self._config = config
        settings, clock = config.settings.serve, self._group.clock
        unpaced = isinstance(clock, VirtualClock) and clock.pace is None
        if self._server is None or self._pages is None:
            if not settings.listen.off and not unpaced:
                start(self._begin(config, live))
            return
        from mqvitals_agent.openmetrics.exposition import Extent

        self._pages.use(Extent(settings.limit, settings.definitions))
        self._server.use(settings)

    def note(self, stored: StoredCycle, left_out: int) -> None:
        """A cycle is stored; ``left_out`` counts those that did not begin."""
        self._cycles += 1
        if self._health is not None:
            from mqvitals_agent.openmetrics.health import CycleFigures

            took_s = max(self._group.clock.now() - stored.began, 0) / 1000
            figures = CycleFigures(took_s, stored.exchanges, stored.readings, len(stored.errors), stored.firing)
            self._health.note_cycle(figures, left_out)

    @property
    def state(self) -> ServerState | None:
        """How it goes with the server; None while there is to be none. Any thread may ask."""
        server, health = self._server, self._health
        if server is None or health is None or self._configured.settings.serve.listen.off:
            return None
        address, outcome = server.address, health.content
        return ServerState(
            "" if address is None else str(address),
            server.trouble,
            health.scrapes,
            health.scrapes_refused,
            outcome.series,
            outcome.left_out,
        )

    def _begin(self, config: AgentConfig, live: LiveState) -> Coroutine[None, None, None]:
        from mqvitals_agent.openmetrics.exposition import Extent
        from mqvitals_agent.openmetrics.health import AgentHealth
        from mqvitals_agent.server.pages import MetricsPages
        from mqvitals_agent.server.server import AgentServer, Served
        from mqvitals_agent.view.status_json import StatusSource

        settings, group = config.settings.serve, self._group
        self._health = health = AgentHealth(
            lambda: self._configured.settings.polling.interval / 1000, group.clock.steady_s
        )
        health.active = self._active
        self._pages = pages = MetricsPages(
            live,
            health,
            Extent(settings.limit, settings.definitions),
            lambda: None if self._late() else group.clock.now(),
        )
        status = StatusSource(
            self._store,
            lambda groups: AlertSite.of(self._configured.settings, groups),
            lambda: self._configured.rule_config.rules,
            group.clock.now,
            group.machine.now,
        )

        def refused() -> None:
            health.scrapes_refused += 1

        self._server = AgentServer(
            settings,
            Served(
                pages.page,
                status.body,
                self._unready,
                refused,
                self._answer,
            ),
        )
        return self._server.run()

    @property
    def _configured(self) -> AgentConfig:
        assert self._config is not None
        return self._config

    def _unready(self) -> str:
        if self._active is False:
            return _STANDBY
        return self._late() if self._cycles else _NO_CYCLE

"""Where the groups of a fleet are read: stores of this machine in threads, agents elsewhere over HTTP, each with its own limit."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from mqvitals_agent import __version__
from mqvitals_agent.errors import MqvitalsError
from mqvitals_agent.fleet.decode import StatusError, parsed, summary_of
from mqvitals_agent.fleet.summary import AgentSummary, GroupSummary, short_source
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_agent.view.alerts.handling import AlertSite
from mqvitals_agent.view.status_json import STATUS_PATH, StatusSource
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import SecretError
from mqvitals_config.load import load_settings
from mqvitals_config.sections.fleet import FleetGroupSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig, readable_rule_config

if TYPE_CHECKING:
    import aiohttp

MOST_BYTES: Final = 16 * 1024**2
"""The longest answer of an agent."""
_CHUNK: Final = 1 << 16


class FleetError(Exception):
    """A group cannot be read; the message is a sentence for people, with no secret in it."""


class FleetSource(Protocol):
    """One way to a group. ``key`` tells it from all others, ``name`` is the site's (empty: none), ``shown`` where it leads."""

    @property
    def key(self) -> str:
        """What tells it from all others."""

    @property
    def name(self) -> str:
        """The site's name of the group; empty: none."""

    @property
    def shown(self) -> str:
        """Where it leads, as it is shown: no secret."""

    async def document(self) -> object:
        """The status of the group now, as of ``status_json``. Raises FleetError and StatusError."""


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """What a store is looked at with. ``problem`` says why its own configuration is not part of it; empty: it is."""

    settings: Settings
    rule_config: RuleConfig
    problem: str = ""


class LocalGroup:
    """A store of this machine. ``now`` is the time in ms UTC; ``common`` are the settings where it has none of its own."""

    def __init__(self, key: str, group: FleetGroupSettings, common: Settings, now: Callable[[], int]) -> None:
        assert group.store is not None
        self._config_path = group.config
        self._common = common
        self._timeout = group.timeout
        self._reading = BoundedCall()
        self._now = now
        self.store = Path(group.store)
        self.key, self.shown = key, str(group.store)
        self.name = group.name or ""

    @cached_property
    def config(self) -> GroupConfig:
        """The settings and rules of the group, read when they are first asked for. It takes a moment."""
        settings, problem = self._common, ""
        if self._config_path is not None:
            try:
                settings = load_settings(str(self._config_path), {}, {}, search=False).settings
            except ConfigError as error:
                # A mistake must not keep anyone from looking at the group.
                settings, problem = Settings(), f"its configuration {self._config_path} cannot be used: {error}"
        return GroupConfig(settings, readable_rule_config(settings), problem)

    async def document(self) -> object:
        """The status, read in a thread of its own."""
        try:
            return await self._reading.run(self._status, self._timeout / 1000)
        except NoAnswerError:
            within = format_duration(self._timeout)
            raise FleetError(
                f"the store {self.store} could not be read within {within}: check its file system"
            ) from None
        except MqvitalsError as error:
            raise FleetError(str(error)) from None
        except OSError as error:
            raise FleetError(f"the store {self.store} cannot be read: {error.strerror or error}") from None

    def _status(self) -> Mapping[str, Any]:
        if not self.store.exists():
            raise FleetError(f"there is no store {self.store}: is its agent running, and is the path right?")
        config = self.config
        source = StatusSource(
            self.store,
            lambda groups: AlertSite.of(config.settings, groups),
            lambda: config.rule_config.rules,
            self._now,
            self._now,
        )
        status = source.status()
        return {**status, "refused": status.get("refused") or config.problem} if config.problem else status


class RemoteGroup:
    """An agent elsewhere, that serves its status."""

    def __init__(self, key: str, group: FleetGroupSettings) -> None:
        assert group.url is not None
        self._group = group
        self._url = group.url
        self._reading = BoundedCall()
        self._decoding = BoundedCall()
        self.key, self.shown = key, group.url.origin
        self.name = group.name or ""

    async def document(self) -> object:
        """The status, as the agent sends it."""
        limit_s = self._group.timeout / 1000
        try:
            async with asyncio.timeout(limit_s):
                body = await self._body()
                return await self._decoding.run(lambda: parsed(body), limit_s)
        except (TimeoutError, NoAnswerError):
            raise FleetError(f"{self.shown} did not answer within {format_duration(self._group.timeout)}") from None

    async def _body(self) -> bytes:
        import aiohttp

        from mqvitals_agent.notify.receivers.attempt import AttemptError
        from mqvitals_agent.notify.receivers.http import failure_text

        try:
            headers, tls = await self._reading.run(self._credentials, self._group.timeout / 1000)
            connector = aiohttp.TCPConnector(limit=1, force_close=True)
            # Nothing is decompressed: a short answer must not become a long one.
            async with (
                aiohttp.ClientSession(
                    connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
                ) as session,
                session.get(
                    f"{self._url.reveal().rstrip('/')}{STATUS_PATH}", headers=headers, allow_redirects=False, ssl=tls
                ) as response,
            ):
                return await self._taken(response)
        except NoAnswerError:
            raise FleetError("token_file or tls.ca_file could not be read in time: check their file system") from None
        except (SecretError, AttemptError) as error:
            raise FleetError(str(error)) from None
        except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, aiohttp.InvalidURL):
            raise FleetError(
                f"{self.shown} sent what is no answer, or broke off in it: is it an agent's address?"
            ) from None
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            # Its own text may hold the address.
            raise FleetError(f"{self.shown} {failure_text(error, self._group.timeout)}") from None

    async def _taken(self, response: aiohttp.ClientResponse) -> bytes:
        from mqvitals_agent.notify.receivers.attempt import excerpt
        from mqvitals_agent.notify.receivers.http import body_start
        from mqvitals_agent.notify.receivers.http_text import secret_parts

        if response.status != 200:
            hint = _HINTS.get(response.status, "")
            said = "" if hint else excerpt(await body_start(response), secret_parts(self._url.reveal(), ()))
            details = hint or said
            raise FleetError(f"{self.shown} answered {response.status}{f': {details}' if details else ''}")
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > MOST_BYTES:
                raise FleetError(f"{self.shown} sends more than a status: more than {MOST_BYTES // 1024**2} MiB")
        return bytes(body)

    def _credentials(self) -> tuple[dict[str, str], ssl.SSLContext | bool]:
        """The headers of a request, and how the agent is known. Raises SecretError, AttemptError and FleetError."""
        from mqvitals_agent.notify.receivers.attempt import context_of
        from mqvitals_agent.notify.receivers.http_text import header_text

        headers = {
            "User-Agent": f"mqvitals/{__version__}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        secret, authorities = self._group.token_file, self._group.tls.ca_file
        if secret is not None:
            try:
                headers["Authorization"] = f"Bearer {header_text(secret.reveal().strip(), secret, 'token')}"
            except ValueError as error:
                raise FleetError(str(error)) from None
        return headers, True if authorities is None else context_of(authorities, None, None, ("", ""))


_HINTS: Final[Mapping[int, str]] = {
    401: "give its token in token_file, which is that of the agent's serve.token_file",
    403: "give its token in token_file, which is that of the agent's serve.token_file",
    404: "it serves no status: is it the address of an agent, and of this version?",
}
"""What to check after an HTTP status."""


def sources_of(
    groups: Iterable[FleetGroupSettings], common: Settings, now: Callable[[], int]
) -> tuple[FleetSource, ...]:
    """The way to each group; ``common`` and ``now`` are as for LocalGroup."""
    return tuple(
        RemoteGroup(str(place), each) if each.url is not None else LocalGroup(str(place), each, common, now)
        for place, each in enumerate(groups, 1)
    )


def unread(source: FleetSource) -> GroupSummary:
    """The group behind a source before it was read."""
    return GroupSummary(source.key, source.name or short_source(source.shown), (AgentSummary(source.shown),))


async def read_group(source: FleetSource, before: GroupSummary, now: Callable[[], int]) -> GroupSummary:
    """The group now; where it cannot be read, as it was ``before``, with the problem. Raises nothing that the group can cause."""
    try:
        document, read_at = await source.document(), now()

        def decoded() -> GroupSummary:
            return summary_of(document, key=source.key, name=source.name, source=source.shown, read_at=read_at)

        # A long answer must not keep the event loop from its keys.
        return await asyncio.get_running_loop().run_in_executor(None, decoded)
    except FleetError as error:
        return before.unreadable(str(error))
    except StatusError as error:
        return before.unreadable(f"{source.shown}: {error}")


async def read_fleet(sources: Sequence[FleetSource], now: Callable[[], int]) -> tuple[GroupSummary, ...]:
    """All groups, asked at the same time; each takes as long as its own limit at most."""
    return tuple(await asyncio.gather(*(read_group(each, unread(each), now) for each in sources)))


class FleetWatch:
    """Keeps what was read of each group, and reads each again every ``every_s`` seconds, whatever the others do.

    ``now`` returns ms UTC. Used in one event loop.
    """

    def __init__(self, sources: Sequence[FleetSource], now: Callable[[], int], every_s: float) -> None:
        self.sources = tuple(sources)
        self._now = now
        self._every_s = every_s
        self._read = {each.key: unread(each) for each in self.sources}

    def groups(self) -> tuple[GroupSummary, ...]:
        """All groups as of now, in the order of the sources."""
        now = self._now()
        return tuple(each.as_of(now) for each in self._read.values())

    def source(self, key: str) -> FleetSource | None:
        """The source with this key."""
        return next((each for each in self.sources if each.key == key), None)

    async def run(self, changed: Callable[[], object]) -> None:
        """Read until cancelled; ``changed`` is called after each group that was read."""
        async with asyncio.TaskGroup() as tasks:
            for source in self.sources:
                tasks.create_task(self._follow(source, changed))

    async def _follow(self, source: FleetSource, changed: Callable[[], object]) -> None:
        while True:
            self._read[source.key] = await read_group(source, self._read[source.key], self._now)
            changed()
            await asyncio.sleep(self._every_s)

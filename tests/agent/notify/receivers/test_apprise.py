"""Apprise: services of its own kind on 127.0.0.1, one that fails, one that raises, and the package that is missing."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.notify.notification import Notification, NotifiedAlert
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.apprise import AppriseReceiver
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.receivers.services import AppriseSettings

# One of its plugins imports it.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

ACCEPTED, AGAIN = DeliveryStatus.ACCEPTED, DeliveryStatus.AGAIN
NOW = 1_795_176_000_000
LONG_MS = 300_000
Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]


@dataclass
class PostBox:
    """What apprise's json:// posts to; ``status`` by path, 200 for others; ``held`` paths answer when it is set."""

    status: dict[str, int] = field(default_factory=dict)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    posts: list[tuple[str, Any]] = field(default_factory=list)
    host: str = ""

    async def handle(self, request: web.Request) -> web.Response:
        if request.path in self.held:
            await self.held[request.path].wait()
        self.posts.append((request.path, await request.json()))
        return web.Response(status=self.status.get(request.path, 200))

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.posts]


@pytest.fixture
async def place() -> AsyncIterator[PostBox]:
    found = PostBox()
    app = web.Application()
    app.router.add_post("/{tail:.*}", found.handle)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server(shutdown_timeout=0.01)
    found.host = f"127.0.0.1:{server.port}"
    yield found
    await server.close()


@pytest.fixture
def receiver_of(secret: Any) -> Callable[..., AppriseReceiver]:
    """A receiver with these lines in its file."""

    def make(*lines: str, **others: Any) -> AppriseReceiver:
        name = LocatedText("ops", Place("mqvitals.yaml", 1, 1))
        settings = AppriseSettings(
            name, "apprise", urls_file=secret("urls", "\n".join(lines)), **{"timeout": LONG_MS, **others}
        )
        return AppriseReceiver(settings, lambda: NOW)

    return make


async def test_every_address_is_notified(place: PostBox, receiver_of: Any, told: Told, group: Group) -> None:
    """With title, text and type; comments and empty lines are none."""
    receiver = receiver_of("# ours", f"json://{place.host}/a", "", f" json://{place.host}/b")
    outcome = await receiver.send(group(told(), told(4, severity="warning")))
    assert outcome == DeliveryOutcome(ACCEPTED, "accepted for 2 of 2")
    assert place.paths == ["/a", "/b"]
    post = place.posts[0][1]
    assert post["title"] == "CRITICAL QM01: buffer pool 3: 4 % free (and 1 other)"
    assert post["message"].startswith("CRITICAL QM01: buffer pool 3: 4 % free\n  where    QM01/buffer_pool/3\n")
    assert post["type"] == "failure"
    await receiver.send(group(told(ended=True)))
    assert place.posts[2][1]["type"] == "success"


async def test_one_that_fails(place: PostBox, receiver_of: Any, told: Told, group: Group) -> None:
    """It is tried again alone, and what is said of it holds nothing of its address."""
    place.status["/Tsecretpath"] = 401
    receiver = receiver_of(f"json://Uuser:Ppassword@{place.host}/Tsecretpath", f"json://{place.host}/b")
    outcome = await receiver.send(group(told()))
    assert outcome.status is AGAIN
    assert outcome.text.startswith("accepted for 1 of 2; address 1: it was not notified: ")
    assert "401" in outcome.text
    assert not any(word in outcome.text for word in ("Uuser", "Ppassword", "Tsecretpath", "json"))
    place.status.clear()
    assert (await receiver.send(group(told()))).status is ACCEPTED
    assert place.paths == ["/Tsecretpath", "/b", "/Tsecretpath"]
    assert (await receiver.send(replace(group(told()), number=8))).status is ACCEPTED
    assert place.paths[3:] == ["/Tsecretpath", "/b"]


async def test_one_that_hangs(place: PostBox, receiver_of: Any, told: Told, group: Group) -> None:
    """The others before it are notified once; it is given up after the timeout."""
    place.held["/b"] = asyncio.Event()
    receiver = receiver_of(f"json://{place.host}/a")
    assert (await receiver.send(group(told()))).status is ACCEPTED
    receiver = receiver_of(f"json://{place.host}/b", timeout=50)
    outcome = await receiver.send(group(told()))
    place.held["/b"].set()
    assert outcome == DeliveryOutcome(AGAIN, "address 1: it was not notified within 50ms")


async def test_what_is_no_address(receiver_of: Any, told: Told, group: Group) -> None:
    """Said by its number alone; and a file without any."""
    outcome = await receiver_of("nonsense://Tsecret").send(group(told()))
    assert outcome == DeliveryOutcome(AGAIN, "address 1: it is no address that apprise knows")
    outcome = await receiver_of("# none").send(group(told()))
    assert outcome.status is AGAIN
    assert outcome.text.endswith("urls holds no address")


class Heard(logging.Handler):
    """What reaches the log of the agent."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


async def test_a_service_that_raises(receiver_of: Any, told: Told, group: Group) -> None:
    """A fault of a plugin is an attempt that failed; its lines stay out of the agent's log."""
    from apprise.decorators import notify

    @notify(on="mqvitalsfault")  # type: ignore[no-untyped-call, untyped-decorator]
    def fault(*_: Any, **__: Any) -> bool:
        raise KeyError("Tsecret")

    heard = Heard()
    logging.getLogger().addHandler(heard)
    outcome = await receiver_of("mqvitalsfault://Tsecret").send(group(told()))
    logging.getLogger().removeHandler(heard)
    assert outcome.status is AGAIN
    assert outcome.text.startswith("address 1: it was not notified: ")
    assert "Tsecret" not in outcome.text
    assert heard.records == []


async def test_the_package_is_missing(
    receiver_of: Any, told: Told, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said how to install it."""
    monkeypatch.setitem(sys.modules, "apprise", None)
    outcome = await receiver_of("json://127.0.0.1:1").send(group(told()))
    assert outcome.status is AGAIN
    assert "pip install 'mqvitals[apprise]'" in outcome.text


def test_what_is_shown(receiver_of: Any, told: Told, group: Group) -> None:
    """No address is read for it."""
    shown = receiver_of("json://127.0.0.1/Tsecret").shown(group(told()))
    assert shown.startswith("to (hidden) addresses in file ")
    assert "\ntype: failure\ntitle: CRITICAL QM01: buffer pool 3: 4 % free\n\nCRITICAL QM01" in shown
    assert "Tsecret" not in shown

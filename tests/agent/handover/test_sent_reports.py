"""A report as receivers get it: built from the store of the night, with the settings of an agent."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TypeVar

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.notify.receivers.email import report_mail
from mqvitals_agent.notify.receivers.http import HttpRequest
from mqvitals_agent.notify.receivers.slack import MOST_TEXT, SlackReceiver
from mqvitals_agent.notify.receivers.teams import MOST_BYTES, TeamsReceiver
from mqvitals_agent.notify.receivers.webhook import SIGNATURE, WebhookReceiver, signature
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_agent.service.agent_config import AgentConfig, read_agent_config
from mqvitals_agent.service.delivery import ScheduledReports, build_report
from mqvitals_agent.store.rows.alerts.reports import ReportRepository
from mqvitals_agent.store.writer import Store
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.receivers.services import SlackSettings, TeamsSettings

T = TypeVar("T")
MINUTE = 60_000
DUE = int(datetime(2026, 11, 20, 10, 10, tzinfo=UTC).timestamp()) * 1000
SETTINGS = """\
name: PRDQSG
receivers:
  - {name: ops, url: https://ops.example.com/hook, hmac_secret_file: key}
  - {name: chat, type: slack, url: https://chat.example.com/hook}
  - {name: team, type: teams, url: https://team.example.com/hook}
reports:
  - {name: night, at: "11:10", time_zone: Europe/Berlin, receivers: [ops, chat, team]}
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> AgentConfig:
    """The settings of an agent that sends a report."""
    path = tmp_path_factory.mktemp("settings") / "mqvitals.yaml"
    path.write_text(SETTINGS, "utf-8")
    return read_agent_config(str(path), {})


def built(night: Path, config: AgentConfig, *, late: bool = False) -> ReportMessage:
    """The report of the night."""
    (report,) = config.settings.reports
    return build_report(night, config, report, DUE, late=late)


def test_it_is_about_the_time_up_to_its_moment(night: Path, config: AgentConfig) -> None:
    """In the zone of the report."""
    found = built(night, config)
    assert found.title == "Handover of PRDQSG: 12 h to 2026-11-20 11:10 CET"
    assert found.key == "night 2026-11-20T10:10:00.000Z"
    assert found.counts == {"critical": 1, "warning": 1, "info": 0, "ended": 4}
    assert "● CRITICAL QM01: buffer pool 3: 4 % free; anna has it" in found.brief
    assert "QM01 page set 3 is full in 1 h 30 m" in found.brief
    assert "comes late" not in found.text
    assert len(found.brief) < MOST_TEXT
    assert found.page.startswith("<!DOCTYPE html>")


def test_one_that_comes_late_says_so_first(night: Path, config: AgentConfig) -> None:
    """In each form, with the time when it was due."""
    found = built(night, config, late=True)
    words = "This report was due at 2026-11-20 11:10:00 CET and comes late"
    assert found.brief.startswith(words)
    assert words in " ".join(found.text.split())
    assert words in found.page


def revealed(secret: object) -> str:
    """The text of each secret."""
    return "https://chat.example.com/hook/T0" if "key" not in str(secret) else "shared"


def test_a_webhook_gets_it_as_json_and_signed(night: Path, config: AgentConfig) -> None:
    """With a key by which a second one is known."""
    (settings, *_) = config.settings.receivers
    assert isinstance(settings, WebhookSettings)
    request: HttpRequest = WebhookReceiver(settings, lambda: DUE).report_request(built(night, config), revealed)
    payload = json.loads(request.body)
    assert (payload["type"], payload["key"]) == ("report", "night 2026-11-20T10:10:00.000Z")
    assert payload["severity"] == "critical"
    assert request.body.isascii()
    assert request.headers[SIGNATURE] == signature(request.body, revealed(settings.hmac_secret_file), DUE // 1000)


def test_chats_get_the_short_form(night: Path, config: AgentConfig) -> None:
    """As texts that are no markup, within the limits of each service."""
    _, slack, teams = config.settings.receivers
    assert isinstance(slack, SlackSettings)
    assert isinstance(teams, TeamsSettings)
    report = built(night, config)
    payload = json.loads(SlackReceiver(slack, lambda: DUE).report_request(report, revealed).body)
    (section,) = payload["attachments"][0]["blocks"]
    assert section["text"]["type"] == "plain_text"
    assert section["text"]["text"] == report.brief
    card = TeamsReceiver(teams, lambda: DUE).report_request(report, revealed).body
    assert len(card) <= MOST_BYTES
    assert "anna has it" in card


def test_a_mail_has_text_and_the_page(night: Path, config: AgentConfig) -> None:
    """The page is attached too, and each attempt makes the same mail."""
    report = built(night, config)
    mail, again = (
        report_mail(report, "ops", "MQ <mq@example.com>", ["ops@example.com"], DUE + late) for late in (0, 9)
    )
    assert mail["Subject"] == report.title
    assert mail["Message-ID"] == again["Message-ID"]
    read = message_from_bytes(mail.as_bytes(), policy=default)
    text, page = read.get_body(("plain",)), read.get_body(("html",))
    assert text is not None
    assert page is not None
    assert text.get_content().replace("\r\n", "\n").rstrip("\n") == report.text.rstrip("\n")
    assert "<svg" in page.get_content()
    (attached,) = read.iter_attachments()
    assert (attached.get_filename(), attached.get_content_type()) == ("handover.html", "text/html")
    assert attached.get_content().replace("\r\n", "\n") == report.page


async def test_the_agent_sends_it_once_over_a_reload_and_a_restart(night: Path, tmp_path: Path) -> None:
    """Built from its own store, posted to a server, remembered in the store."""
    keys: list[str] = []

    async def take(request: web.Request) -> web.Response:
        keys.append((await request.json())["key"])
        return web.Response()

    app = web.Application()
    app.router.add_post("/hook", take)
    path = tmp_path / "night.db"
    with closing(sqlite3.connect(night)) as old, closing(sqlite3.connect(path)) as new:
        old.backup(new)
    async with TestServer(app) as server:
        settings = tmp_path / "mqvitals.yaml"
        text = SETTINGS.replace("https://ops.example.com/hook, hmac_secret_file: key", str(server.make_url("/hook")))
        settings.write_text(text.replace("[ops, chat, team]", "[ops]"), "utf-8")
        config = read_agent_config(str(settings), {})
        clock = VirtualClock(DUE - MINUTE)
        for _ in range(2):
            with Store.open(path) as store:

                async def on_store(
                    function: Callable[[ReportRepository], T], rows: ReportRepository = store.reports
                ) -> T:
                    return function(rows)

                reports = ScheduledReports(path, on_store, clock, lambda _: lambda: 1.0)
                works = [asyncio.create_task(reports.run(config))]
                await clock.sleep(MINUTE / 2)
                works.append(asyncio.create_task(reports.run(config)))
                await clock.sleep(MINUTE)
                reports.close()
                await asyncio.gather(*works)
    assert keys == ["night 2026-11-20T10:10:00.000Z"]

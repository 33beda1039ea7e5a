"""Slack, Teams, PagerDuty, ServiceNow and Splunk: payloads by their published schemas, and what is done with answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.notify.delivery import RECEIVERS, make_receiver
from mqvitals_agent.notify.message import NotificationMessage, message_of, messages_of_each
from mqvitals_agent.notify.notification import Notification, NotifiedAlert
from mqvitals_agent.notify.receiver import DeliveryStatus, NotificationReceiver
from mqvitals_agent.notify.receivers.pagerduty import dedup_key, pagerduty_event
from mqvitals_agent.notify.receivers.servicenow import servicenow_record
from mqvitals_agent.notify.receivers.slack import escaped, slack_payload
from mqvitals_agent.notify.receivers.splunk import splunk_event
from mqvitals_agent.notify.receivers.teams import MOST_BYTES, teams_body
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret, WebAddress
from mqvitals_config.receivers.http import HttpSettings
from mqvitals_config.receivers.receiver import ReceiverType
from mqvitals_config.receivers.services import (
    PagerDutySettings,
    ServiceNowSettings,
    SlackSettings,
    SplunkSettings,
    TeamsSettings,
)

Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]
Mistakes = Callable[[str, Any], list[str]]
MakeSecret = Callable[[str, str], Secret]
NOW = 1_795_176_000_000
NAME = LocatedText("ops", Place("mqvitals.yaml", 1, 1))
ABSENT = Secret.in_file(LocatedText("/absent/file", Place("mqvitals.yaml")))
SPLUNK = SplunkSettings(NAME, "splunk", url=WebAddress("https://s.example"), hec_token_file=ABSENT, index="mq")


@dataclass
class Service:
    """A service on 127.0.0.1 that answers with ``status``; keeps what came."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""
    requests: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append((request.path, dict(request.headers), await request.text()))
        return web.Response(status=self.status, headers=self.headers, text='{"message": "said"}')


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    found = Service()
    app = web.Application()
    app.router.add_post("/{tail:.*}", found.handle)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server()
    found.url = f"http://127.0.0.1:{server.port}"
    yield found
    await server.close()


def settings_of(kind: str, url: str, secret: Callable[[str, str], Secret]) -> HttpSettings:
    """The settings of a receiver of each type at an address."""
    address = WebAddress(url)
    match kind:
        case "slack":
            return SlackSettings(NAME, "slack", url=address)
        case "teams":
            return TeamsSettings(NAME, "teams", url=address)
        case "pagerduty":
            return PagerDutySettings(NAME, "pagerduty", url=address, routing_key_file=secret("key", "Rsecret"))
        case "servicenow":
            return ServiceNowSettings(NAME, "servicenow", url=address, credentials_file=secret("user", "agent:Psecret"))
        case _:
            return SplunkSettings(NAME, "splunk", url=address, hec_token_file=secret("hec", "Hsecret"))


SERVICES = ("slack", "teams", "pagerduty", "servicenow", "splunk")


@pytest.fixture
async def receiver_of(service: Service, secret: MakeSecret) -> AsyncIterator[Callable[[str], NotificationReceiver]]:
    """A receiver of a type, at the service."""
    made: list[NotificationReceiver] = []

    def make(kind: str) -> NotificationReceiver:
        made.append(make_receiver(settings_of(kind, service.url, secret), lambda: NOW))
        return made[-1]

    yield make
    for receiver in made:
        await receiver.aclose()


def test_every_type_can_be_made() -> None:
    """The table of receivers has a line for each word of the settings."""
    assert set(RECEIVERS) == set(get_args(ReceiverType))


@pytest.mark.parametrize("kind", SERVICES)
@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, DeliveryStatus.ACCEPTED),
        (202, DeliveryStatus.ACCEPTED),
        (400, DeliveryStatus.REFUSED),
        (403, DeliveryStatus.AGAIN),
        (404, DeliveryStatus.AGAIN),
        (429, DeliveryStatus.AGAIN),
        (503, DeliveryStatus.AGAIN),
    ],
)
async def test_answers(
    receiver_of: Any, service: Service, told: Told, group: Group, kind: str, status: int, outcome: DeliveryStatus
) -> None:
    """Taken, refused, or to be tried again after the time that the service asks for; no secret is said."""
    service.status, service.headers = status, {"Retry-After": "30"}
    found = await receiver_of(kind).send(group(told()))
    assert found.status is outcome
    if outcome is not DeliveryStatus.ACCEPTED:
        assert found.retry_after_ms == 30_000
        assert '{"message": "said"}' in found.text
    assert not any(word in found.text for word in ("Rsecret", "Psecret", "Hsecret"))


@pytest.mark.parametrize("kind", SERVICES)
def test_what_is_shown(told: Told, group: Group, kind: str) -> None:
    """The request without secrets, also while none of their files is there."""
    settings = settings_of(kind, "https://h.example/Tsecretpath", lambda *_: ABSENT)
    shown = make_receiver(settings, lambda: NOW).shown(group(told()))
    assert shown.startswith("POST https://h.example\nContent-Type: application/json\n")
    assert "buffer pool 3: 4 % free" in shown
    assert "Tsecretpath" not in shown


async def test_credentials_and_addresses(receiver_of: Any, service: Service, told: Told, group: Group) -> None:
    """Each service gets its own, and an address of a host alone is completed."""
    for kind in SERVICES:
        await receiver_of(kind).send(group(told()))
    slack, teams, pagerduty, servicenow, splunk = service.requests
    assert [path for path, _, _ in service.requests] == [
        "/", "/", "/", "/api/global/em/jsonv2", "/services/collector/event"
    ]  # fmt: skip
    assert "Authorization" not in slack[1]
    assert "Authorization" not in teams[1]
    assert json.loads(pagerduty[2])["routing_key"] == "Rsecret"
    assert servicenow[1]["Authorization"] == f"Basic {b64encode(b'agent:Psecret').decode()}"
    assert splunk[1]["Authorization"] == "Splunk Hsecret"


async def test_credentials_without_a_password(service: Service, secret: MakeSecret, told: Told, group: Group) -> None:
    """Said with the file, and nothing is sent."""
    settings = ServiceNowSettings(
        NAME, "servicenow", url=WebAddress(service.url), credentials_file=secret("user", "Asecret")
    )
    receiver = make_receiver(settings, lambda: NOW)
    outcome = await receiver.send(group(told()))
    await receiver.aclose()
    assert outcome.status is DeliveryStatus.AGAIN
    assert outcome.text.endswith("/user holds no user:password")
    assert service.requests == []


def test_slack(told: Told, group: Group) -> None:
    """A header, the facts in fields, what to do with the command as code, the source; the colour of the severity."""
    payload = slack_payload(message_of(group(told()), NOW))
    assert payload["blocks"][0]["text"]["text"] == "CRITICAL QM01: buffer pool 3: 4 % free"
    (attachment,) = payload["attachments"]
    assert attachment["color"] == "#d72b3f"
    what, to_do, source = attachment["blocks"]
    assert [field["text"] for field in what["fields"][:4]] == [
        "*Where*",
        "QM01/buffer_pool/3",
        "*Since*",
        "2026-11-20 11:55:48 UTC (for 4m12s)",
    ]
    assert to_do["text"]["text"] == (
        "Find what fills it. Move the queue &lt;APP.*&gt; &amp; co.\n```DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)```"
    )
    assert source["elements"][0]["text"] == "MP16, Buffer pools"
    resolved = slack_payload(message_of(group(told(ended=True)), NOW))
    assert resolved["attachments"][0]["color"] == "#2eb67d"


def test_no_one_is_named_by_a_text_of_slack(told: Told, group: Group) -> None:
    """What Slack takes for a mention or the end of a block of code stands as it is."""
    alert = told(summary="<!channel> ```", mqsc="DISPLAY ```", advice="<!here> & <@U1>")
    payload = json.dumps(slack_payload(message_of(group(alert), NOW)))
    assert "<!here>" not in payload
    assert "<@U1>" not in payload
    assert "DISPLAY '''" in payload
    assert payload.count("<!channel>") == payload.count('"type": "plain_text", "text": "CRITICAL <!channel>')
    assert payload.count('"text": "CRITICAL &lt;!channel&gt;') == 1


@given(st.text("<>&ab", max_size=200), st.integers(2, 100))
def test_an_escaped_text_is_bounded(text: str, most: int) -> None:
    """Escapes count, and none is cut in its middle."""
    found = escaped(text, most)
    assert len(found) <= most
    rest = found.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
    assert not set(rest) & set("<>&")


def test_teams(told: Told, group: Group) -> None:
    """A title in the colour of the severity; texts in runs, which know no Markdown; the command in its font."""
    card = json.loads(teams_body(message_of(group(told()), NOW)))["attachments"][0]["content"]
    title, alert = card["body"]
    assert title["style"] == "attention"
    texts = ["".join(run["text"] for run in item["inlines"]) for item in alert["items"]]
    assert texts == [
        "CRITICAL QM01: buffer pool 3: 4 % free",
        "Where: QM01/buffer_pool/3",
        "Since: 2026-11-20 11:55:48 UTC (for 4m12s)",
        "Figures: 3 % at worst",
        "Rule: BP-03",
        "To do: Find what fills it. Move the queue <APP.*> & co.",
        "DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)",
        "MP16, Buffer pools",
    ]
    assert alert["items"][6]["inlines"][0]["fontType"] == "Monospace"


def test_a_card_of_many_alerts_fits(told: Told, group: Group) -> None:
    """As many as 28 KB hold, the worst first, and the number of the others."""
    alerts = [told(number, severity="warning") for number in range(300)]
    body = teams_body(message_of(group(*alerts, told(999)), NOW))
    assert 20_000 < len(body) <= MOST_BYTES
    assert "QM01/buffer_pool/999" in body
    assert "more alerts: 'mqvitals alerts list' shows them" in body


def test_pagerduty(told: Told, group: Group) -> None:
    """One incident a group: the same key from the first event to the end, whatever is in it."""
    routes = {}
    for name, alerts in {
        "one": [told()],
        "two": [told(), told(4)],
        "end": [told(ended=True), told(4, ended=True)],
    }.items():
        notification = group(*alerts)
        routes[name] = pagerduty_event(notification, message_of(notification, NOW), "Rkey")
    assert len({event["dedup_key"] for event in routes.values()}) == 1
    assert [event["event_action"] for event in routes.values()] == ["trigger", "trigger", "resolve"]
    payload = routes["one"]["payload"]
    assert {name: payload[name] for name in ("source", "severity", "component", "group", "class", "timestamp")} == {
        "source": "QM01",
        "severity": "critical",
        "component": "QM01/buffer_pool/3",
        "group": "PRDQSG",
        "class": "BP-03",
        "timestamp": "2026-11-20T11:55:48.000Z",
    }
    assert payload["custom_details"]["alerts"][0]["MQSC"] == "DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)"
    assert dedup_key("a") != dedup_key("b")


@pytest.mark.parametrize(
    ("severity", "ended", "code", "state"),
    [
        ("critical", False, "1", "New"),
        ("warning", False, "4", "New"),
        ("info", False, "5", "New"),
        ("critical", True, "0", "Closing"),
    ],
)
def test_servicenow(told: Told, group: Group, severity: str, ended: bool, code: str, state: str) -> None:
    """A record for each alert, with the key of its incident; 0 clears it."""
    record = servicenow_record(message_of(group(told(severity=severity, ended=ended)), NOW))
    assert (record["severity"], record["resolution_state"]) == (code, state)
    assert record["message_key"] == "0000000000000003"
    assert record["node"] == "QM01"
    assert record["resource"] == "QM01/buffer_pool/3"
    assert record["time_of_event"] == ("2026-11-20 12:00:00" if ended else "2026-11-20 11:55:48")
    assert json.loads(record["additional_info"])["mqsc"] == "DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)"


async def test_splunk(receiver_of: Any, service: Service, told: Told, group: Group, mistakes: Mistakes) -> None:
    """An event for each alert, one after another; with the time of what happened."""
    await receiver_of("splunk").send(group(told(), told(4, ended=True)))
    events = [json.loads(line) for line in service.requests[0][2].splitlines()]
    assert [(event["event"]["status"], event["time"]) for event in events] == [
        ("firing", (NOW - 252_000) / 1000),
        ("resolved", NOW / 1000),
    ]
    assert events[0]["sourcetype"] == "mqvitals:alert"
    assert "index" not in events[0]
    assert all(mistakes("splunk_event", event) == [] for event in events)


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", "x" * 5000, "<&>" * 900, "`" * 1100, "\x00\n\u202e", "queue A*B_C~"]
)
ALERTS = st.builds(
    NotifiedAlert,
    st.fixed_dictionaries(
        {"severity": st.sampled_from(["critical", "warning", "info", "?"])},
        optional=dict.fromkeys(("alertname", "owner", "object", "group", "kind", "rule"), TEXTS),
    ),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("summary", "advice", "mqsc", "document", "worst_value"), TEXTS)),
    st.just("f" * 16),
    st.just(NOW - 5000),
    st.none() | st.just(NOW),
)
MESSAGES = st.tuples(
    st.lists(ALERTS, min_size=1, max_size=6),
    st.integers(0, 5000),
    st.none() | TEXTS,
    st.sampled_from(["", "https://w.example/x"]),
)


@settings(max_examples=25)
@given(MESSAGES)
def test_any_notification_fits_the_published_schemas(mistakes: Mistakes, made: Any) -> None:
    """Whatever texts come from MQ, and however many alerts: form and limits of each service hold."""
    alerts, truncated, text, link = made
    notification = Notification("ops", "key", {}, tuple(alerts), truncated)
    found = message_of(notification, NOW, lambda _: link)
    message = NotificationMessage(found.title, found.severity, found.resolved, found.alerts, found.more, text)
    assert mistakes("slack_message", slack_payload(message)) == []
    body = teams_body(message)
    assert len(body) <= MOST_BYTES
    posted = json.loads(body)
    assert mistakes("teams_message", posted) == []
    card = posted["attachments"][0]["content"]
    # Teams' own addition to the card.
    assert card.pop("msteams") == {"width": "Full"}
    assert mistakes("adaptive_card_1.4", card) == []
    event = pagerduty_event(notification, message, "Rkey")
    assert mistakes("pagerduty_event", event) == []
    assert len(json.dumps(event)) <= 512_000
    of_one = [replace(message, alerts=(each,)) for each in message.alerts]
    assert mistakes("servicenow_events", {"records": [servicenow_record(each) for each in of_one]}) == []
    for each in of_one:
        assert mistakes("splunk_event", splunk_event(each, SPLUNK)) == []


def test_the_schemas_refuse_what_is_wrong(mistakes: Mistakes) -> None:
    """A test of the test: each schema has something against a payload of another service."""
    assert mistakes(
        "slack_message", {"text": "x", "blocks": [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}]}
    )
    assert mistakes("teams_message", {"type": "message", "attachments": []})
    assert mistakes("adaptive_card_1.4", {"type": "AdaptiveCard", "version": "1.4", "body": [{"type": "TextBlok"}]})
    assert mistakes("pagerduty_event", {"routing_key": "x", "event_action": "resolve"})
    assert mistakes("servicenow_events", {"records": [{"source": "x", "severity": "6"}]})
    assert mistakes("splunk_event", {"event": ""})


def test_news_are_shown_before_what_fires_on(told: Told, group: Group) -> None:
    """A service that shows few alerts, or has room for few, shows those; one that keeps each by itself gets them alone."""
    known = [told(number) for number in range(10, 110)]
    notification = group(told(1, ended=True), told(2, severity="warning"), *known, known=len(known))
    message = message_of(notification, NOW)
    assert [each.alert.labels["name"] for each in message.alerts[:3]] == ["2", "1", "10"]
    assert [each.labels["name"] for each in notification.news] == ["2", "1"]
    assert len(notification.by_news) == 102
    for shown in (json.dumps(slack_payload(message)), teams_body(message)):
        assert "RESOLVED" in shown
        assert "QM01/buffer_pool/2" in shown
    assert "QM01/buffer_pool/109" not in teams_body(message)
    each = messages_of_each(notification, message_of, NOW)
    assert [one.alerts[0].alert.labels["name"] for one in each] == ["2", "1"]
    # The incident of the group is as bad as the worst that fires, whatever is new.
    payload = pagerduty_event(notification, message, "R")["payload"]
    assert (payload["severity"], payload["component"]) == ("critical", "QM01/buffer_pool/10")

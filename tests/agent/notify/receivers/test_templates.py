"""A site's own words: what templates know, what they cannot do, and that a failing one costs no notification."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqvitals_agent.notify.delivery import make_receiver
from mqvitals_agent.notify.message import MOST_TEXT, MOST_TITLE, message_of
from mqvitals_agent.notify.notification import Notification, NotifiedAlert
from mqvitals_agent.notify.template import message_writer, template_problems
from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.receivers.template import (
    LINK_NAMES,
    MESSAGE_NAMES,
    MessageTemplate,
    link_template,
    message_template,
)
from mqvitals_config.settings import Settings

NOW = 1_795_176_000_000
"""2026-11-20 12:00:00 UTC."""

Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]
PLACE = Place("x.yaml", 1, 1)


def located(text: str) -> LocatedText:
    return LocatedText(text, PLACE)


def words(notification: Notification, *, title: str = "", text: str = "", link: str = "") -> Any:
    template = None
    if title or text:
        template = MessageTemplate(located(title) if title else None, located(text) if text else None)
    return message_writer(template, link or None)(notification, NOW)


def config(text: str) -> Settings:
    found: Settings = decode("x.yaml", text, Settings)
    return found


def test_title_and_text_are_the_sites_own(told: Told, group: Group) -> None:
    """Of several alerts, those that fire come first; a label that an alert does not have is empty."""
    message = words(
        group(told(3), told(4, ended=True)),
        title="{{ severity | upper }}{{ labels.nowhere }}: {{ firing | length }} of {{ alerts | length }}",
        text="{% for alert in alerts %}\n{{ alert.how_bad }} {{ alert.where }} {{ alert.starts.strftime('%H:%M') }}\n{% endfor %}",
    )
    assert message.title == "CRITICAL: 1 of 2"
    assert message.text.splitlines() == ["CRITICAL QM01/buffer_pool/3 11:55", "RESOLVED QM01/buffer_pool/4 11:55"]
    assert message.plain == message.text


def test_what_is_not_given_is_as_without_a_template(told: Told, group: Group) -> None:
    """Only a title: the alerts are laid out as ever; an empty one is replaced, because a message needs one."""
    plain = message_of(group(told()), NOW)
    message = words(group(told()), title="{{ labels.nowhere }}")
    assert (message.title, message.text, message.alerts) == (plain.title, None, plain.alerts)
    assert message_writer(None, None) is message_of


def test_every_documented_name_exists(told: Told, group: Group) -> None:
    """The page names what templates know: all of it can be filled in, and all of it is named."""
    page = (Path(__file__).parents[4] / "docs" / "templates.md").read_text("utf-8")
    head, _, alerts = page.partition("Each alert has")
    of_message = set(
        re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in head.splitlines() if row.startswith("| `")))
    )
    assert of_message == set(MESSAGE_NAMES)
    rows = alerts.partition("What a text is escaped for")[0].splitlines()
    of_alert = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in rows if row.startswith("| `")))
    text = "".join(f"[{{{{ alerts[0].{name} }}}}]" for name in of_alert)
    found = words(group(told()), text="{{ " + " }}{{ ".join(MESSAGE_NAMES) + " }}" + text).text
    assert f"[{told().fingerprint}]" in found
    link = "https://w.example/" + "/".join(f"{{{{ {name} }}}}" for name in LINK_NAMES if name != "labels")
    (alert,) = words(group(told()), link=link).alerts
    assert urlsplit(alert.link).path.split("/")[1:3] == ["BP-03", "QM01%2Fbuffer_pool%2F3"]


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_no_text_from_a_queue_manager_changes_the_address(text: str) -> None:
    """Host and number of parts stay, and the part is the text."""
    alert = NotifiedAlert({"rule": "Q-01", "object": text}, {}, "f", NOW)
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    message = words(
        Notification("ops", "k", {}, (alert,)), link="https://w.example/a/{{ object }}/b?q={{ labels.object }}"
    )
    found = urlsplit(message.alerts[0].link)
    assert (found.scheme, found.netloc, found.fragment) == ("https", "w.example", "")
    assert [unquote(part) for part in found.path.split("/")] == ["", "a", text, "b"]
    assert found.query.count("=") == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ title", "unexpected end of template"),
        ("a\n{% if %}", "(line 2 of the template)"),
        ("{{ titel }}", "does not know titel; did you mean 'title'?"),
        ("{{ x }}", "does not know x; there is title, plain, status"),
        ("{{ title | shout }}", "No filter named 'shout'"),
        ("{% include 'other' %}", "stands by itself"),
        ("{{ title }}" + " " * 20_000, "has at most 20,000 characters"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_where_it_stands(text: str, problem: str) -> None:
    """With line and column of the settings, and the line of the template."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        message_template(located(text))
    with pytest.raises(ConfigError) as raised:
        config(
            json.dumps(
                {
                    "receivers": [
                        {"name": "a", "type": "slack", "url": "https://s.example/", "template": {"title": text}}
                    ]
                }
            )
        )
    (found,) = raised.value.problems
    assert problem in found.message
    assert found.key == "receivers[0].template.title"
    assert found.place.column > 1


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("wiki/{{ rule }}", "must begin with https://"),
        ("https://w .example", "no blanks"),
        ("https://{{ title }}", "does not know title"),
    ],
)
def test_a_link_that_is_no_address_is_refused(link: str, problem: str) -> None:
    """The address is the site's; only parts of it come from the alert."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        link_template(located(link))


@pytest.mark.parametrize(
    "text",
    [
        "{{ alerts[0].waht }}",
        "{{ 1 // 0 }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ alerts.append(1) }}",
        "{{ labels.pop('rule') }}",
        "{% for i in range(10000000) %}{% endfor %}",
        "{{ title.format.__globals__ }}",
        "{{ alerts[0].starts + 1 }}",
    ],
)
def test_a_failing_template_costs_no_notification(
    told: Told, group: Group, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Mistakes, and what the sandbox forbids: the words are those of mqvitals, and the log and ``config check`` say so."""
    plain = message_of(group(told()), NOW)
    with caplog.at_level(logging.ERROR):
        assert words(group(told()), text="a\n" + text) == plain
    (record,) = caplog.records
    assert record.__dict__["event"] == "template.failing"
    assert "template.text cannot be filled in" in record.getMessage()
    found = config(
        json.dumps(
            {"receivers": [{"name": "a", "type": "slack", "url": "https://s.example/", "template": {"text": text}}]}
        )
    )
    (problem,) = template_problems(found)
    assert (problem.key, problem.place.line) == ("receivers[0].template.text", 1)


def test_what_is_too_long_is_cut(told: Told, group: Group) -> None:
    """A title stands on one line."""
    message = words(group(told()), title="{{ 'a b\n' * 900 }}", text="{{ 'x' * 90000 }}")
    assert len(message.title) == MOST_TITLE
    assert "\n" not in message.title
    assert len(message.text) == MOST_TEXT


def test_the_pages_example_does_what_it_says(told: Told, group: Group) -> None:
    """A webhook gets the body that the template makes, Slack the title, both the link."""
    page = (Path(__file__).parents[4] / "docs" / "templates.md").read_text("utf-8")
    found = config(page.partition("```yaml\n")[2].partition("```")[0])
    assert list(template_problems(found)) == []
    shown = {}
    for each in found.receivers:
        shown[str(each.name)] = make_receiver(each, lambda: NOW, link=found.link).shown(group(told()))
    assert "CRITICAL MQ: CRITICAL" in shown["chat"]
    body = json.loads(shown["tickets"].partition("\n\n")[2])
    assert body["team"] == ""
    assert "https://wiki.example.com/mq/BP-03?object=QM01%2Fbuffer_pool%2F3" in body["text"]


def test_a_webhook_takes_no_title_and_carries_the_link(told: Told, group: Group) -> None:
    """Its JSON has the link of each alert; with a template the body is another, of the type that the settings name."""
    with pytest.raises(ConfigError, match="takes no title"):
        config("receivers: [{name: a, url: 'https://s.example/', template: {title: x}}]")
    found = config("receivers: [{name: a, url: 'https://s.example/'}]").receivers[0]
    shown = make_receiver(found, lambda: NOW, link="https://w.example/{{ fingerprint }}").shown(group(told()))
    (alert,) = json.loads(shown.partition("\n\n")[2])["alerts"]
    assert alert["generatorURL"] == f"https://w.example/{told().fingerprint}"
    text = (
        "receivers: [{name: a, url: 'https://s.example/', content_type: text/plain, template: {text: '{{ title }}'}}]"
    )
    shown = make_receiver(config(text).receivers[0], lambda: NOW).shown(group(told()))
    assert "Content-Type: text/plain" in shown
    assert shown.endswith(message_of(group(told()), NOW).title)


@pytest.mark.parametrize(
    "keys",
    [
        "type: servicenow, url: 'https://s.example/'",
        "type: splunk, url: 'https://s.example/', hec_token_file: token",
        "type: syslog",
        "type: command, command: [/bin/true]",
    ],
)
def test_a_title_is_refused_where_nothing_shows_it(keys: str) -> None:
    """A receiver that gets one text for each alert, or one body, has no place for it; it is not silently left out."""
    with pytest.raises(ConfigError, match="takes no title"):
        config(f"receivers: [{{name: a, {keys}, template: {{title: x, text: y}}}}]")
    assert config(f"receivers: [{{name: a, {keys}, template: {{text: y}}}}]").receivers[0].template is not None

"""The labels of an alert, its own and the site's."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.labels import Labeller, ObjectLabels
from mqvitals_config.receivers.receiver import OWN_LABELS
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName

PAY = ObjectName("QM01", "queue", "PAY.IN")


def alert(about: ObjectName = PAY, rule: str = "Q-03", family: str = "depth", instance: str = "") -> Alert:
    """One that fires."""
    key = AlertKey(rule, about, instance)
    return Alert(
        key, about, "operational", family, AlertState.FIRING, Severity.WARNING, Severity.CRITICAL, 1, 2, "deep", 1
    )


def site(*entries: tuple[str, dict[str, str]]) -> tuple[ObjectLabels, ...]:
    """The site's labels by patterns."""
    return tuple(ObjectLabels(ObjectPattern.parse(pattern), labels) for pattern, labels in entries)


def test_an_alert_has_these_labels() -> None:
    """Every fact by which someone chooses alerts; the severity is the current one."""
    assert Labeller("PRDQSG", {"PRDQSG"}).labels_of(alert(instance="2")) == {
        "alertname": "Q-03",
        "rule": "Q-03",
        "family": "depth",
        "severity": "warning",
        "owner": "QM01",
        "queue_manager": "QM01",
        "kind": "queue",
        "object": "QM01/queue/PAY.IN",
        "name": "PAY.IN",
        "instance": "2",
        "group": "PRDQSG",
    }


def test_the_settings_and_the_page_know_these_labels() -> None:
    """What routes may match, and what a site cannot set."""
    assert set(Labeller("PRDQSG").labels_of(alert(instance="2"))) == set(OWN_LABELS)
    page = (Path(__file__).resolve().parents[3] / "docs" / "routes.md").read_text("utf-8")
    table = page.partition("| Label |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))) == set(OWN_LABELS)


def test_a_label_without_a_value_is_absent() -> None:
    """What belongs to the group has no queue manager; a log has no name, some rules no family."""
    labels = Labeller("PRDQSG", {"PRDQSG"}).labels_of(alert(ObjectName("PRDQSG", "cf_structure", "APPL1"), family=""))
    assert "queue_manager" not in labels
    assert labels["owner"] == "PRDQSG"
    assert {"family", "instance"}.isdisjoint(labels)
    assert {"name", "group"}.isdisjoint(Labeller().labels_of(alert(ObjectName("QM01", "log"))))


def test_the_site_gives_labels_to_objects() -> None:
    """By pattern. Of two entries the last one that sets a label counts, and both are used."""
    labeller = Labeller(
        site=site(
            ("*/queue/*", {"team": "queues", "tier": "2"}),
            ("*/queue/PAY.*", {"team": "payments"}),
            ("*/channel/PAY.*", {"team": "channels"}),
        )
    )
    assert labeller.site_labels(PAY) == {"team": "payments", "tier": "2"}
    assert labeller.labels_of(alert()).items() >= {"team": "payments", "tier": "2"}.items()
    assert labeller.site_labels(ObjectName("QM01", "queue", "X")) == {"team": "queues", "tier": "2"}
    assert labeller.site_labels(ObjectName("QM01", "log")) == {}


def test_the_site_hides_no_label_of_the_alert() -> None:
    """The settings refuse such a label; routes do not rely on it."""
    labels = Labeller(site=site(("*/queue/*", {"severity": "none", "team": "payments"}))).labels_of(alert())
    assert (labels["severity"], labels["team"]) == ("warning", "payments")


TEXTS = st.text(st.characters(), min_size=0, max_size=10)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_no_label_is_empty(owner: str, name: str, rule: str, group: str) -> None:
    """Absent and empty are the same, so only one of them occurs."""
    labels = Labeller(group, {group}).labels_of(alert(ObjectName(owner, "queue", name), rule))
    assert all(labels.values())
    assert labels.get("queue_manager", "") == ("" if owner == group else owner)

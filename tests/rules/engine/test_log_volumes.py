"""Volumes of logs that are declared: which of them something else is on as well."""

from __future__ import annotations

import pytest

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.sections.facts import FactSettings
from mqvitals_rules.ruleset.facts import Facts, declared_facts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.log import shared_volumes
from mqvitals_rules.vocabulary.metric import Value
from mqvitals_rules.vocabulary.tables import KINDS


def of_log(text: str) -> dict[str, Value]:
    """What a section of the configuration declares of the log of QM01."""
    facts, problems = declared_facts(decode("config.yaml", text, FactSettings))
    assert problems == []
    return dict(Facts(KINDS, facts).of(ObjectName("QM01", "log")))


def test_entries_are_put_together() -> None:
    """One entry may tell the active logs of all, another the archive logs of one; case does not matter."""
    found = of_log(
        """
        logs:
          - {objects: "*/log", active_volumes_copy1: [LOG001, LOG002], active_volumes_copy2: [LOG003]}
          - {objects: QM01/log, archive_volumes: [arc001, log003]}
          - {objects: QM02/log, archive_volumes: [LOG001]}
        """
    )
    assert found["shared_volumes"] == "LOG003"
    assert found["active_volumes_copy1"] == "LOG001 LOG002"


@pytest.mark.parametrize(
    ("volumes", "shared"),
    [
        ({"active_volumes_copy1": "A B"}, None),
        ({"archive_volumes": "A", "page_set_volumes": "A"}, None),
        ({"active_volumes_copy1": "A B", "archive_volumes": "C"}, ""),
        ({"active_volumes_copy1": "B A", "active_volumes_copy2": "A B"}, "A B"),
        ({"active_volumes_copy2": "A", "page_set_volumes": "C A"}, "A"),
        ({"active_volumes_copy1": "A", "archive_volumes": "D C", "page_set_volumes": "D C"}, ""),
    ],
)
def test_what_is_shared(volumes: dict[str, Value], shared: str | None) -> None:
    """Only what active logs are on counts; with the volumes of one sort alone nothing is known."""
    assert shared_volumes(volumes) == shared


def test_nothing_declared() -> None:
    """A log of which nothing is declared has no volumes."""
    assert "shared_volumes" not in of_log("logs: []")


@pytest.mark.parametrize("value", ["0", "-1", "fast"])
def test_a_capacity_is_a_positive_number(value: str) -> None:
    """Anything else is refused at its place."""
    with pytest.raises(ConfigError, match=r"config.yaml:1:"):
        decode("config.yaml", f"logs: [{{objects: QM01/log, capacity_mb_s: {value}}}]", FactSettings)

"""Figures of a queue manager that take the calendar, made as its attributes arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.ingest.queue_manager_figures import QueueManagerFigures, certificate_figures
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.messages import ConsoleRow, message
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.sections.facts import FactSettings
from mqvitals_rules.ruleset.facts import Facts, declared_facts
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS, metric

QM01 = ObjectName("QM01", "queue_manager")
ZOS, UNIX = metric("queue_manager", "platform").values["ZOS"], metric("queue_manager", "platform").values["UNIX"]
CD, LTS = (metric("queue_manager", "release_type").values[name] for name in ("CD", "LTS"))
NO_FACTS = Facts(KINDS)


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def facts(text: str) -> Facts:
    found, problems = declared_facts(decode("mqvitals.yaml", text, FactSettings))
    assert problems == []
    return Facts(KINDS, found)


def figures(day: str, known: QueueManagerFigures, **values: Reported) -> dict[str, Reported]:
    reading = Reading(QM01, "INQUIRE_Q_MGR", at(day), values, 30_000)
    (found,) = known.added(Snapshot("QM01", False, 1, at(day), (reading,))).readings
    return {name: value for name, value in found.values.items() if name not in values}


def test_days_of_support_by_the_clock_of_the_reading() -> None:
    known = QueueManagerFigures(NO_FACTS, None)
    last = figures("2027-06-30T23:59", known, command_level=930, platform=UNIX)
    assert last["release_support_days_left"] == 0
    assert figures("2027-07-01", known, command_level=930, platform=UNIX)["release_support_days_left"] == -1
    assert last["certificate_days_left"] is Absence.NOT_DECLARED


def test_without_a_console_lts_and_cd_are_not_distinguished() -> None:
    found = figures("2026-01-01", QueueManagerFigures(NO_FACTS, None), command_level=940, platform=ZOS)
    assert found["release_type"] is Absence.NEEDS_CONSOLE
    assert found["release_support_days_left"] == 1276


def test_the_site_knows_better() -> None:
    declared = facts("queue_managers: [{objects: QM01/queue_manager, supported_until: 2026-01-31}]")
    found = figures("2026-01-01", QueueManagerFigures(declared, None), command_level=1000, platform=ZOS)
    assert found["release_support_days_left"] == 30
    assert found["release_support"] == "10.0.0: supported until 2026-01-31, as declared"


def test_unknown_level() -> None:
    known = QueueManagerFigures(NO_FACTS, None)
    assert figures("2026-01-01", known, command_level=1000, platform=ZOS)["release_support_days_left"] is (
        Absence.NOT_DECLARED
    )
    assert figures("2026-01-01", known, command_level=Absence.NOT_AUTHORISED)["release_support"] is (
        Absence.NOT_AUTHORISED
    )


def test_the_console_tells_lts_from_cd(tmp_path: Path) -> None:
    """The message at the start names the type; one of another version says nothing about the present one."""
    path = tmp_path / "store.db"
    Store.open(path).close()
    with Store.open(path) as store, StoreReader.open(path) as older:
        words = "CSQY000I QM01 IBM MQ for z/OS V9.4.0 CDR"
        store.messages.add(ConsoleRow("console"), [message("QM01", "CSQY000I", at("2025-12-01"), words)], ["QM01"])
        known = QueueManagerFigures(NO_FACTS, older)
        found = figures("2026-01-01", known, command_level=940, platform=ZOS)
        assert (found["release_type"], found["release_support"]) == (CD, "9.4.0 CD: supported until 2025-06")
        assert figures("2026-01-01", known, command_level=930, platform=ZOS)["release_type"] is Absence.NEEDS_CONSOLE


def test_messages_are_looked_for_now_and_then(tmp_path: Path) -> None:
    """Every ten minutes, also when the clock was set back; the newest message counts."""
    path = tmp_path / "store.db"
    Store.open(path).close()
    with Store.open(path) as store, StoreReader.open(path) as older:
        known = QueueManagerFigures(NO_FACTS, older)

        def found(time: str) -> Reported:
            return figures(f"2026-01-01T{time}", known, command_level=940, platform=ZOS)["release_type"]

        def start(day: str, type_: str) -> None:
            words = f"CSQY000I QM01 IBM MQ for z/OS V9.4.0 {type_}"
            store.messages.add(ConsoleRow("console"), [message("QM01", "CSQY000I", at(day), words)], ["QM01"])

        start("2025-12-01", "CDR")
        assert found("12:00") == CD
        start("2025-12-02", "LTSR")
        assert (found("12:09"), found("12:10")) == (CD, LTS)
        start("2025-12-03", "CDR")
        assert found("12:00") == CD


@pytest.mark.parametrize(
    "changed",
    [
        {"object": ObjectName("QM01", "log")},
        {"probe": "INQUIRE_SYSTEM"},
        {"source": Source.SMF},
        {"answered": False},
        {"gone": True},
    ],
)
def test_only_attributes_that_were_answered_have_figures(changed: Mapping[str, Any]) -> None:
    """Every other reading stays as it was."""
    attributes = Reading(QM01, "INQUIRE_Q_MGR", at("2026-01-01"), {"command_level": 940, "platform": ZOS}, 30_000)
    other = replace(attributes, **changed)
    snapshot = Snapshot("QM01", False, 1, attributes.ts, (other, attributes))
    first, second = QueueManagerFigures(NO_FACTS, None).added(snapshot).readings
    assert first is other
    assert "release_support" in second.values


def test_certificates_are_named_in_the_order_of_their_days() -> None:
    declared = facts(
        "queue_managers: [{objects: '*/queue_manager', certificates:"
        " {QM01.CERT: 2027-03-31, My 2nd cert: 2026-12-10, C: 2029-01-01, D: 2028-01-01}}]"
    )
    found = figures("2026-12-03", QueueManagerFigures(declared, None), command_level=940, platform=ZOS)
    assert found["certificate_days_left"] == 7
    assert found["certificate_next"] == "My 2nd cert on 2026-12-10, QM01.CERT on 2027-03-31, D on 2028-01-01, 1 later"


LABELS = st.text(st.characters(codec="ascii", exclude_characters=";", categories=["L", "N", "P", "Zs"]), min_size=1)


@given(st.dictionaries(LABELS.filter(lambda label: label == label.strip()), st.dates(date(1990, 1, 1)), min_size=1))
def test_every_declared_certificate_counts(declared: dict[str, date]) -> None:
    """However labels are written, blanks and days in them too: the soonest day is the one that counts."""
    text = "; ".join(f"{label} {until}" for label, until in declared.items())
    today = date(2026, 1, 1)
    assert certificate_figures(text, today)["certificate_days_left"] == (min(declared.values()) - today).days


@pytest.mark.parametrize(
    "written",
    [
        "certificates: {A: 2027-02-30}",
        "certificates: {A: soon}",
        "certificates: {'a;b': 2027-02-01}",
        "supported_until: 2027",
    ],
)
def test_what_is_no_date_is_refused(written: str) -> None:
    with pytest.raises(ConfigError):
        decode("mqvitals.yaml", f"queue_managers: [{{objects: QM01/queue_manager, {written}}}]", FactSettings)

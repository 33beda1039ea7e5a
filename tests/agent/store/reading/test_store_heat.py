"""What heat strips and the panels of the overview are read from: spans of severity, polled parts of a time, leaders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.history.heat import read_heat
from mqvitals_agent.view.status import read_status_data
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported

BEGIN = 1795176000000
STEP = 10_000
USED = (40.0,) * 6 + (88.0,) * 6 + (97.0,) * 6 + (40.0,) * 12
"""What is used of a page set at each poll: well, much, almost all, well again."""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreReader]:
    path = tmp_path_factory.mktemp("heat") / "store.db"
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, load_rule_config(Settings()))
        for cycle, used in enumerate(USED):
            ts = BEGIN + cycle * STEP
            page_set = ObjectName("QM01", "page_set", "4")
            figures: dict[str, Reported] = {"used_pct": used, "total_pages": 1000, "status": 0}
            queues = [
                Reading(ObjectName("QM01", "queue", f"Q{n}"), "INQUIRE_Q_STATUS", ts, {"depth": n * cycle})
                for n in range(20)
            ]
            intake.take(
                [Snapshot("QM01", False, cycle + 1, ts, (Reading(page_set, "INQUIRE_USAGE", ts, figures), *queues))]
            )
    with StoreReader.open(path) as opened:
        yield opened


def test_severity_over_time(reader: StoreReader) -> None:
    """Each span begins where the one before ends; none is open after the alert has ended."""
    until = BEGIN + len(USED) * STEP
    spans = reader.severity_spans(BEGIN, until)
    assert {span.owner for span in spans} == {"QM01"}
    assert {span.severity for span in spans} >= {Severity.CRITICAL}
    assert all(span.end is not None and span.begin <= span.end for span in spans)
    assert reader.severity_spans(until, until + 1) == ()


def test_as_of_a_moment_nothing_later_is_known(reader: StoreReader) -> None:
    """What fired then has no end yet; parts of the time after it have no snapshot."""
    at = BEGIN + 17 * STEP
    then = reader.as_of(at)
    spans = then.severity_spans(BEGIN, at + 10 * STEP)
    assert any(span.end is None and span.severity is Severity.CRITICAL for span in spans)
    assert max(then.polled_cells(BEGIN, at + 10 * STEP, STEP)["QM01"]) == 17


def test_polled_parts(reader: StoreReader) -> None:
    """Whether there was a snapshot, not how many."""
    assert reader.polled_cells(BEGIN, BEGIN + 29 * STEP, 3 * STEP) == {"QM01": frozenset(range(10))}
    assert reader.polled_cells(BEGIN - 60 * STEP, BEGIN - STEP, STEP) == {}


def test_the_strip_of_the_incident(reader: StoreReader) -> None:
    """Well, then bad, then well again; before the first snapshot a hole."""
    heat = read_heat(reader, read_status_data(reader, 0))
    states = heat.owners["QM01"]
    known = [state for state in states if state is not None]
    assert states[0] is None
    assert known[0] is known[-1] is Health.OK
    assert Health.CRITICAL in known
    assert all(Health.CRITICAL in row or Health.WARNING in row for row in heat.alerts.values())


@pytest.mark.parametrize("past", [False, True])
def test_leaders(reader: StoreReader, past: bool) -> None:
    """The greatest first, as they are or as they were; zeros lead nothing."""
    view = reader.as_of(BEGIN + 10 * STEP) if past else reader
    cycle = 10 if past else len(USED) - 1
    found = view.leading("queue", "depth", 5)
    assert [(name.name, latest.value) for name, latest in found] == [(f"Q{n}", n * cycle) for n in range(19, 14, -1)]
    assert all(latest.ts == BEGIN + cycle * STEP for _, latest in found)
    assert len(view.leading("queue", "depth", 100)) == 19
    assert view.leading("channel", "nettime_us_short", 5) == []

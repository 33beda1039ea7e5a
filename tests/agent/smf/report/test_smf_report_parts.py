"""The parts of the report by themselves: the order of time on disk, gaps, which way is worse, marks of Markdown."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.smf import readings
from mqvitals_agent.review.evaluation import compared_value
from mqvitals_agent.review.smf_input import Intervals, intervals_of, read_files, temporary_store
from mqvitals_agent.review.smf_totals import ObjectTotals
from mqvitals_agent.smf.ingest import stored_snapshots
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import ReadCounts, records
from mqvitals_agent.text.document import escaped
from mqvitals_config.load import load_settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

SECOND = 1_000_000


@pytest.mark.parametrize("applications", [200, 0])
def test_disk_and_memory_tell_the_same(every_section: Path, applications: int) -> None:
    """What was stored comes back as the samples that are made in memory, also where applications are added up."""
    path = str(every_section)
    with Path(path).open("rb") as stream:
        expected = list(readings(records(stream, ReadCounts()), applications=applications))
    with temporary_store() as store:
        evidence = read_files([path], store, GroupNames())
        assert list(stored_snapshots(store, applications)) == expected
    assert evidence.ingested.known == 0


def test_repeated_records(smf: Any, tmp_path: Path) -> None:
    """A record is the same also when it was spanned in one of the files."""
    data = smf.record(115, 215, {1: [smf.pool()]})
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(data)
    other.write_bytes(smf.spanned(data, 100, 30))
    with temporary_store() as store:
        evidence = read_files([str(one), str(other)], store, GroupNames())
        snapshots = list(stored_snapshots(store))
    assert (evidence.ingested.known, evidence.records, len(snapshots)) == (1, 2, 1)


def test_intervals() -> None:
    """Overlaps are no gaps, a second between intervals is none, an hour is."""
    spans = [
        (0, 60 * SECOND),
        (61 * SECOND, 120 * SECOND),
        (100 * SECOND, 110 * SECOND),
        (3_720 * SECOND, 3_750 * SECOND),
    ]
    found = intervals_of(spans)
    assert found == Intervals(4, 10 * SECOND, 60 * SECOND, ((120 * SECOND, 3_720 * SECOND),), 1)
    assert intervals_of([]) is None


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**8)), max_size=30))
def test_gaps_are_where_nothing_is(pairs: list[tuple[int, int]]) -> None:
    """No interval touches a gap, and there is one less than stretches that are covered."""
    spans = sorted((began, began + length) for began, length in pairs)
    found = intervals_of(spans)
    if found is None:
        assert not spans
        return
    assert found.number == len(spans)
    for began, ended in found.gaps:
        assert all(span[1] <= began or span[0] >= ended for span in spans)


@pytest.mark.parametrize(
    ("rule", "kind", "sign"),
    [
        ("BP-01", "buffer_pool", -1),
        ("BP-03", "buffer_pool", -1),
        ("BP-06", "buffer_pool", 1),
        ("CHIN-01", "channel_initiator", -1),
        ("LOG-02", "log", 1),
        ("CHL-07", "channel", 1),
    ],
)
def test_which_way_is_worse(rule: str, kind: str, sign: int) -> None:
    """Few free buffers and few unused adapters are bad, many waits are; a chain of comparisons does not confuse it."""
    rules = load_rule_config(load_settings(None, {}, {}).settings).rules
    found = rules.rule(rule)
    assert found is not None
    form = rules.rule_for(found, ObjectName("MQ01", kind, "3"))
    assert form is not None
    gauge = compared_value(form, KINDS)
    assert gauge is not None
    assert gauge.sign == sign


def test_sums_know_nothing_from_zero() -> None:
    """What nothing told is None, and an absent value adds nothing."""
    sums = ObjectTotals()
    sums.add({"dwt": Absence.NOT_RETURNED, "dmc": 0}, "dwt", "dmc", "sos")
    assert (sums.sum("dwt"), sums.sum("dmc"), sums.sum("sos"), sums.sum("dwt", "dmc")) == (None, 0, None, 0)
    assert sums.per_second("dmc") is None
    assert sums.each("dmc", "dwt") is None
    assert sums.mean("dmc") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SYSTEM_X", "SYSTEM_X"),
        ("_x_", "\\_x\\_"),
        ("a|b", "a\\|b"),
        ("http://x", "http\\://x"),
        ("www.x", "www\\.x"),
        ("<b>", "\\<b>"),
        ("\\|", "\\\\\\|"),
    ],
)
def test_marks(text: str, expected: str) -> None:
    """Names keep their letters; what would be markup does not."""
    assert escaped(text) == expected


def test_standard_input(monkeypatch: pytest.MonkeyPatch, report: Callable[..., tuple[int, str]], smf: Any) -> None:
    """A dash is standard input and has that name, also where damaged records are listed."""
    data = smf.record(115, 215, {1: [smf.pool(low=45_000, free=46_000)]})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, text = report("-")
    assert code == 0
    assert "(standard input)" in text
    damaged = data[:32] + bytes([0xFF, 0xFF]) + data[34:]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data + damaged)))
    assert "(standard input): 1 damaged record" in report("-")[1]

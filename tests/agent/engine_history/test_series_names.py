"""Selectors of objects, and the objects that series are of: one is the inverse of the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.answering import chosen
from mqsamples.examples import COSTLY
from mqvitals_agent.engine_history.answer import AnsweredSeries
from mqvitals_agent.engine_history.series_names import SeriesNames, poll_metric, series_of_metric
from mqvitals_agent.openmetrics.names import all_families, labels_of
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
WITH_SERIES = [
    (kind.name, metric.name)
    for kind in KINDS.values()
    for metric in kind.metrics
    if series_of_metric(kind, metric.name) is not None
]


def name_of(kind: Kind, owner: str, text: str) -> ObjectName:
    """A name of such parts as the kind has."""
    parts = {"dead_letter": 2, "smds": 2, "smds_connection": 2, "application": 2, "cluster_queue_manager": 2}
    plain = labels_of(ObjectName(owner, kind.name, "x"), {})
    if not any(value == "x" for _, value in plain):
        return ObjectName(owner, kind.name)
    count = parts.get(kind.name, 1)
    return ObjectName(owner, kind.name, "/".join([text.replace("/", ".")] * count))


@COSTLY
@given(data=st.data(), owner=TEXT.map(lambda text: text.replace("/", ".")), other=TEXT, text=TEXT, group=st.booleans())
def test_an_objects_series_are_selected_and_known_again(
    data: st.DataObject, owner: str, other: str, text: str, *, group: bool
) -> None:
    """Of any kind, whatever its name holds, alone and among others; another object's are not selected alone."""
    of, metric = data.draw(st.sampled_from(WITH_SERIES))
    kind = KINDS[of]
    source = data.draw(st.sampled_from((Source.POLL, Source.SMF)))
    names = SeriesNames({"site": "B", "qmgr": "not this"}, [owner] if group else [])
    series = names.metrics(kind.name, (metric,))
    (only,) = series
    name = name_of(kind, owner, text)
    labels = dict(labels_of(name, {"description": other}, {owner} if group else ()))
    labels |= {"__name__": only.polled if source is Source.POLL else only.recorded, "site": "B"}
    if source is not Source.POLL:
        labels["source"] = source.name.lower()
    found = names.subject(kind.name, AnsweredSeries(labels, (1,), (1.0,)), series)
    assert found is not None
    assert (found.object, found.metric.metric, found.source) == (name, metric, source)
    others = [name, name_of(kind, owner, other)]
    assert chosen(names.selector([name], series), labels)
    assert chosen(names.selector(others, series), labels)
    assert not chosen(names.selector([name], series), labels | {"site": "C"})
    assert not chosen(names.selector([name], series), labels | {"instance": "host:9157", "job": "mq"})
    if others[1] != name:
        assert not chosen(names.selector([others[1]], series), labels)


def test_every_number_is_read_back_from_a_series_that_says_all_of_it() -> None:
    """Each metric that is exported has one; a state that is exported simplified is read from the other series."""
    status = series_of_metric(KINDS["channel"], "status")
    assert status is not None
    assert status.polled == "ibmmq_channel_status"
    exported = {(family.kind, family.metric) for family in all_families(KINDS.values())}
    assert set(WITH_SERIES) == exported


def test_kinds_with_counters_of_polls_have_a_series_that_says_when_they_were_polled() -> None:
    """Else the time that an increase is about would be a guess."""
    for kind in KINDS.values():
        counters = [each for each in kind.metrics if each.type is MetricType.COUNTER and each.command == kind.poll]
        if counters and kind.name not in ("remote_write", "server"):
            assert poll_metric(kind) is not None or kind.poll.startswith("SMF"), kind.name


def test_exported_values_are_stored_values_again() -> None:
    """Of every metric: a whole number to the bit, a fraction to its fifteen digits."""
    whole = (0, 1, 2, 3, 7, 70, 99, 1234567, 999_999_999, 1 << 40, 86_399_999_999)
    for family in all_families(KINDS.values()):
        if not family.invertible:
            continue
        for stored in whole:
            exported = family.value_of(stored)
            if exported is not None:
                found = family.stored_of(exported)
                assert (found, type(found)) == (stored, int), family.sample
        for fraction in (73.33, 0.1, 99.999, 12.345678, 0.5, 1 / 3):
            exported = family.value_of(fraction)
            assert exported is not None
            found = family.stored_of(exported)
            assert found == pytest.approx(fraction, rel=1e-14)
            assert found == fraction or len(repr(fraction)) > 16, family.sample


def test_a_mapped_state_is_mapped_back() -> None:
    """A number that stands for no state is none."""
    family = replace(next(iter(all_families(KINDS.values()))), numbers={1: 10, 2: 20})
    assert [family.stored_of(each) for each in (10.0, 20.0, 30.0)] == [1, 2, None]
    assert not replace(family, numbers={1: 10, 2: 10}).invertible

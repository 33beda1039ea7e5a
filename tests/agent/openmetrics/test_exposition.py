"""A page of metrics: what is on it, what is not, and that nothing on it is older than what is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as text_families

from mqsamples.live import Group
from mqvitals_agent.openmetrics.exposition import END, Exposition, Extent, Format
from mqvitals_agent.openmetrics.health import AgentHealth, AlertSeries, CycleFigures, registry_of, rendered
from mqvitals_agent.openmetrics.names import all_families
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

QUEUE_MANAGER = ObjectName("QM01", "queue_manager")
QUEUE = ObjectName("QM01", "queue", "ORDERS")
SECOND = ObjectName("QM01", "queue", "STOCK")
CHANNEL = ObjectName("QM01", "channel", "TO.QM02")
POOL = ObjectName("QM01", "buffer_pool", "3")
ALL = Extent(10_000_000)


def page_of(group: Group, form: Format, extent: Extent = ALL, exposition: Exposition | None = None) -> str:
    """The page of now, without what the agent says of itself."""
    segments, _ = (exposition or Exposition(group.live, extent, lambda: group.ts)).samples(form)
    return (b"".join(segment.content() for segment in segments) + END[form]).decode()


def families(text: str, form: Format) -> Iterator[Metric]:
    """What prometheus_client reads from it."""
    if form is Format.TEXT:
        yield from text_families(text)
    else:
        yield from openmetrics_families(text)  # type: ignore[no-untyped-call]


Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series_of(text: str, form: Format) -> Series:
    """By name and labels the value of each sample; each is there once."""
    found: Series = {}
    for family in families(text, form):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found
            found[key] = sample.value
    return found


def values_of(group: Group, name: str, extent: Extent = ALL) -> list[float]:
    """The values of the samples with this name."""
    found = series_of(page_of(group, Format.OPENMETRICS, extent), Format.OPENMETRICS)
    return [value for (sample, _), value in found.items() if sample == name]


def labels_of(group: Group, name: str, exposition: Exposition | None = None) -> dict[str, str]:
    """The labels of the only sample with this name."""
    found = series_of(page_of(group, Format.OPENMETRICS, exposition=exposition), Format.OPENMETRICS)
    (labels,) = [labels for sample, labels in found if sample == name]
    return dict(labels)


@pytest.fixture
def group() -> Group:
    """A group with one of several kinds."""
    group = Group()
    group.take(
        {
            QUEUE_MANAGER: {"reachable": 1, "description": "Production", "command_level": 940},
            QUEUE: {
                "depth": 17,
                "usage": 0,
                "description": 'the "first"\\second',
                "oldest_msg_age_s": Absence.NOT_COLLECTED,
            },
            CHANNEL: {"status": 3, "msgs": 7, "nettime_us_short": 250, "type": 1, "conname": "10.0.0.1(1414)"},
            POOL: {"free_pct": 40.5, "total": 1000, "location": 1},
        }
    )
    return group


@pytest.mark.parametrize("form", Format)
def test_what_is_known_is_there_with_names_and_labels_of_the_exporter(group: Group, form: Format) -> None:
    """In both formats, as prometheus_client reads them."""
    found = series_of(page_of(group, form), form)
    queue = {
        "qmgr": "QM01", "platform": "ZOS", "queue": "ORDERS", "usage": "NORMAL", "cluster": "-",
        "description": 'the "first"\\second',
    }  # fmt: skip
    assert found["ibmmq_queue_depth", frozenset(queue.items())] == 17
    channel = {
        "qmgr": "QM01", "platform": "ZOS", "channel": "TO.QM02", "type": "SENDER", "rqmname": "-", "jobname": "-",
        "connname": "10.0.0.1(1414)", "sslciph": "-", "description": "-",
    }  # fmt: skip
    assert found["ibmmq_channel_status", frozenset(channel.items())] == 3
    assert found["ibmmq_channel_status_squash", frozenset(channel.items())] == 2
    assert found["ibmmq_channel_nettime_short", frozenset(channel.items())] == 250
    manager = {"qmgr": "QM01", "platform": "ZOS", "description": "Production"}
    assert found["ibmmq_qmgr_status", frozenset(manager.items())] == 2
    pool = {"qmgr": "QM01", "platform": "ZOS", "bufferpool": "3", "location": "Above"}
    assert found["ibmmq_bufferpool_buffers_free_percent", frozenset(pool.items())] == 40.5


@pytest.mark.parametrize("form", Format)
def test_names_and_types_are_those_of_the_vocabulary(group: Group, form: Format) -> None:
    """Each family once, with a help."""
    group.take({POOL: {"getp": 5}}, source=Source.SMF, probe="SMF 115-2", interval_ms=1_800_000)
    known = {family.name: family for family in all_families(KINDS.values())}
    found = list(families(page_of(group, form), form))
    assert len({family.name for family in found}) == len(found)
    for family in found:
        expected = known[family.name]
        assert family.documentation
        assert family.type == expected.exposed.value, family.name
        assert {sample.name for sample in family.samples} == {expected.sample}
    assert {"ibmmq_queue_depth", "mqvitals_buffer_pool_getp"} <= {family.name for family in found}


@pytest.mark.parametrize("absence", Absence)
def test_an_absent_value_is_no_sample(group: Group, absence: Absence) -> None:
    """Whatever the reason; never 0."""
    group.take({QUEUE: {"depth": absence}})
    assert values_of(group, "ibmmq_queue_depth") == []


def test_a_stale_value_disappears(group: Group) -> None:
    """Everything while the cycles of the agent do not go on."""
    now: int | None = group.ts
    exposition = Exposition(group.live, ALL, lambda: now)
    assert "ibmmq_queue_depth" in page_of(group, Format.TEXT, exposition=exposition)
    now = None
    assert page_of(group, Format.TEXT, exposition=exposition) == ""
    now = group.ts
    assert "ibmmq_queue_depth" in page_of(group, Format.TEXT, exposition=exposition)


def test_a_record_of_what_nobody_polls_disappears_by_itself(group: Group) -> None:
    """No snapshot comes of it until the next record."""
    other = ObjectName("QM09", "buffer_pool", "0")
    group.take({other: {"getp": 5, "low": 7}}, source=Source.SMF, probe="SMF 115-2", interval_ms=60_000)
    assert values_of(group, "mqvitals_buffer_pool_low") == [7]
    group.ts += 149_000
    assert values_of(group, "mqvitals_buffer_pool_low") == [7]
    group.ts += 2_000
    assert values_of(group, "mqvitals_buffer_pool_low") == []


def test_a_record_disappears_once_the_next_one_is_overdue(group: Group) -> None:
    """As rules see it."""
    group.take({POOL: {"getp": 5}}, source=Source.SMF, probe="SMF 115-2", interval_ms=60_000)
    assert values_of(group, "mqvitals_buffer_pool_getp_total") == [5]
    group.take({POOL: {"total": 1000}}, later_s=6 * 3600)
    assert values_of(group, "mqvitals_buffer_pool_getp_total") == []


def test_an_object_that_is_gone_disappears(group: Group) -> None:
    """With all it had."""
    group.take({QUEUE: {}}, gone=True)
    assert "ORDERS" not in page_of(group, Format.TEXT)


def test_a_counter_is_a_running_total(group: Group) -> None:
    """Each scrape shows all increases since the agent began."""
    assert values_of(group, "ibmmq_channel_messages") == [7]
    group.take({CHANNEL: {"msgs": 3}})
    group.take({CHANNEL: {"msgs": 3}})
    assert values_of(group, "ibmmq_channel_messages") == [13]
    group.take({CHANNEL: {"msgs": Absence.RESET}})
    assert values_of(group, "ibmmq_channel_messages") == []
    group.take({CHANNEL: {"msgs": 1}})
    assert values_of(group, "ibmmq_channel_messages") == [14]


def test_a_text_that_is_not_known_for_a_while_makes_no_other_series(group: Group) -> None:
    """An outage must not end a series and begin another; a text that is blank now must."""
    exposition = Exposition(group.live, ALL, lambda: group.ts)
    before = labels_of(group, "ibmmq_queue_depth", exposition)
    manager = labels_of(group, "ibmmq_qmgr_status", exposition)
    lost: dict[str, Reported] = {"depth": 18, "description": Absence.NO_ANSWER}
    group.take({QUEUE: lost, QUEUE_MANAGER: {"reachable": 0, "description": Absence.STALE}})
    assert labels_of(group, "ibmmq_queue_depth", exposition) == before
    assert labels_of(group, "ibmmq_qmgr_status", exposition) == manager
    group.take({QUEUE: {"depth": 18, "description": "the second"}})
    assert labels_of(group, "ibmmq_queue_depth", exposition)["description"] == "the second"
    group.take({QUEUE: {"depth": 18, "description": Absence.NOTHING_TO_TELL}})
    assert labels_of(group, "ibmmq_queue_depth", exposition)["description"] == "-"


def test_a_fact_is_no_sample_until_it_is_measured(group: Group) -> None:
    """What only the settings say is no measurement."""
    group.take({QUEUE_MANAGER: {"reachable": 1}})
    assert values_of(group, "mqvitals_queue_manager_cpu_busy_ratio") == []
    group.take({QUEUE_MANAGER: {"cpu_busy_pct": 70}}, source=Source.SMF, probe="SMF 70-1", interval_ms=900_000)
    assert values_of(group, "mqvitals_queue_manager_cpu_busy_ratio") == [0.7]


def test_definitions_can_be_left_out_but_not_what_the_exporter_has(group: Group) -> None:
    """``serve.definitions: false``."""
    group.take({QUEUE: {"max_depth": 5000, "trigger_depth": 1, "depth": 3}})
    without = Extent(1000, definitions=False)
    assert values_of(group, "mqvitals_queue_trigger_depth") == [1]
    assert values_of(group, "mqvitals_queue_trigger_depth", without) == []
    assert values_of(group, "ibmmq_queue_attribute_max_depth", without) == [5000]


@given(st.integers(0, 40))
def test_a_limit_leaves_out_whole_metrics_those_of_definitions_first(limit: int) -> None:
    """What is left out is counted and named, and all else is complete."""
    group = Group()
    for name in (QUEUE, SECOND):
        group.take(
            {name: {"depth": 1, "max_depth": 5000, "trigger_depth": 1, "trigger_priority": 0, "input_handles": 2}}
        )
    exposition = Exposition(group.live, Extent(limit), lambda: group.ts)
    segments, outcome = exposition.samples(Format.TEXT)
    text = b"".join(segment.content() for segment in segments).decode()
    found = series_of(text, Format.TEXT)
    everything = series_of(page_of(group, Format.TEXT), Format.TEXT)
    assert len(found) == outcome.series <= limit
    assert outcome.series + outcome.left_out == len(everything)
    left_out = {name for name, _ in everything} - {name for name, _ in found}
    assert left_out == set(outcome.metrics_left_out)
    if "ibmmq_queue_depth" in left_out:
        assert "mqvitals_queue_trigger_depth" in left_out


NAMES = st.sampled_from([QUEUE, SECOND, ObjectName("QM02", "queue", "ORDERS")])
VALUES = st.one_of(
    st.integers(-5, 1 << 62), st.floats(), st.sampled_from([Absence.NO_ANSWER, Absence.STALE, Absence.NOT_COLLECTED])
)
TEXTS = st.text(max_size=8) | st.just(Absence.NO_ANSWER)
STEPS = st.lists(
    st.tuples(
        NAMES,
        st.dictionaries(st.sampled_from(["depth", "qtime_us_short", "service_interval_ms", "usage"]), VALUES)
        | st.dictionaries(st.sampled_from(["description", "cluster"]), TEXTS),
        st.booleans(),
    ),
    max_size=6,
)


@given(STEPS)
def test_a_page_made_from_the_one_before_is_the_same_as_one_made_anew(
    steps: list[tuple[ObjectName, Mapping[str, Reported], bool]],
) -> None:
    """Whatever changed, came or went between them, and whatever texts and numbers there are; both formats agree."""
    group = Group()
    kept = Exposition(group.live, ALL, lambda: group.ts)
    for name, values, gone in steps:
        group.take({name: {} if gone else values}, gone=gone)
        known = any(Absence.NO_ANSWER in given.values() for _, given, _ in steps)
        pages = {form: page_of(group, form, exposition=kept) for form in Format}
        if not known:
            # A page made anew cannot know a text of before.
            assert pages[Format.TEXT] == page_of(group, Format.TEXT)
        read = {form: series_of(text, form) for form, text in pages.items()}
        assert read[Format.TEXT] == read[Format.OPENMETRICS]


def test_alerts_are_series_with_rule_and_severity() -> None:
    """Those that are pending or firing, about what they are about."""
    group = Group()
    page_set = ObjectName("QM01", "page_set", "4")
    for _ in range(40):
        group.take(
            {page_set: {"used_pct": 99, "status": 0, "expand_type": 3, "total_pages": 1000, "unused_pages": 10}},
            probe="INQUIRE_USAGE",
        )
    firing = {alert.key.rule: alert for alert in group.live.alerts() if alert.state.value == "firing"}
    assert firing
    text = rendered(registry_of(AlertSeries(group.live)), Format.OPENMETRICS).decode() + "# EOF\n"
    (family,) = [each for each in families(text, Format.OPENMETRICS) if each.name == "mqvitals_alerts"]
    found = {sample.labels["rule"]: sample for sample in family.samples if sample.labels["alertstate"] == "firing"}
    assert found.keys() == firing.keys()
    for rule, sample in found.items():
        assert sample.value == 1
        assert sample.labels["severity"] == firing[rule].severity.name.lower()
        assert (sample.labels["qmgr"], sample.labels["kind"], sample.labels["object"]) == ("QM01", "page_set", "4")


@pytest.mark.parametrize("form", Format)
def test_the_agent_says_how_it_does(form: Format) -> None:
    """Cycles, lag, errors and what is left out, with the process; no page ends within it."""
    steady = 100.0
    health = AgentHealth(lambda: 10.0, lambda: steady)
    health.note_cycle(CycleFigures(0.5, 12, 300, 1, 2), 3)
    health.note_cycle(CycleFigures(0.25, 13, 301, 0, 4), 3)
    steady = 107.0
    text = rendered(registry_of(health), form).decode()
    assert "# EOF" not in text
    found = {name: value for (name, _), value in series_of(text + END[form].decode(), form).items()}
    assert found["mqvitals_agent_cycles_total"] == 2
    assert found["mqvitals_agent_cycles_left_out_total"] == 3
    assert found["mqvitals_agent_cycle_seconds"] == 0.25
    assert found["mqvitals_agent_lag_seconds"] == 7
    assert found["mqvitals_agent_exchanges_total"] == 25
    assert found["mqvitals_agent_readings_total"] == 601
    assert found["mqvitals_agent_errors_total"] == 1
    assert found["mqvitals_agent_alerts_firing"] == 4
    assert found["process_resident_memory_bytes"] > 0

"""Names and labels in Prometheus: valid, one a metric, as its lint wants them, and those of mq_prometheus."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.openmetrics.names import (
    INHERITED_PREFIX,
    OWN_PREFIX,
    Exposed,
    Family,
    all_families,
    families_of,
    family_of,
    label_metrics,
    label_texts,
    labels_of,
    owner_texts,
)
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType, Value, gauge
from mqvitals_rules.vocabulary.tables import KINDS, kind, metric

FAMILIES = all_families(KINDS.values())
PLATFORMS = {each.sample: metric(each.kind, each.metric).platform for each in FAMILIES}


def family_named(of: str) -> Family:
    """The family of a metric, written KIND.METRIC."""
    name, _, of_metric = of.partition(".")
    return known_family(kind(name), metric(name, of_metric))


def known_family(of: Kind, known: Metric) -> Family:
    """The family of a metric that has one."""
    found = family_of(of, known)
    assert found is not None
    return found


ABBREVIATIONS = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"}
NO_BASE_UNITS = {"minutes", "hours", "days", "weeks", "milliseconds", "microseconds", "kilobytes", "megabytes", "bits"}
RESERVED = ("_total", "_count", "_sum", "_bucket", "_created", "_info")
INHERITED_ENDINGS = {
    "ibmmq_bufferpool_buffers_total",
    "ibmmq_pageset_pages_total",
    "ibmmq_pageset_expansion_count",
}
"""Gauges to which mq_prometheus has given an ending of another type."""


def found_by_lint(family: Family) -> list[str]:
    """What promtool finds wrong with a name."""
    parts = family.sample.split("_")
    wrong = [f"abbreviated unit {part}" for part in parts if part in ABBREVIATIONS]
    wrong += [f"{part} is no base unit" for part in parts if part in NO_BASE_UNITS]
    if family.exposed is Exposed.COUNTER and not family.sample.endswith("_total"):
        wrong.append("a counter without _total")
    if family.exposed is Exposed.GAUGE:
        wrong += [f"a gauge that ends in {ending}" for ending in RESERVED if family.sample.endswith(ending)]
    if not family.help.strip():
        wrong.append("no help")
    return wrong


@pytest.mark.parametrize("each", KINDS.values(), ids=lambda each: each.name)
def test_every_number_of_the_vocabulary_has_a_name_and_texts_and_facts_have_none(each: Kind) -> None:
    for known in each.metrics:
        only_declared = known.declared and not known.smf
        family = family_of(each, known)
        assert (family is None) == (known.type is MetricType.TEXT or only_declared), known.name
        if family is not None:
            assert (family.kind, family.metric, family.type) == (each.name, known.name, known.type)


def test_names_are_valid_and_none_is_given_twice() -> None:
    assert all(re.fullmatch(r"(ibmmq|mqvitals)(_[a-z0-9]+)+", family.sample) for family in FAMILIES)
    for names in ([family.sample for family in FAMILIES], [family.name for family in FAMILIES]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_the_lint_of_promtool_finds_nothing_but_three_inherited_names() -> None:
    wrong = {family.sample: found for family in FAMILIES if (found := found_by_lint(family))}
    distributed = {name for name in wrong if PLATFORMS[name] == "distributed"}
    assert set(wrong) - distributed == INHERITED_ENDINGS, wrong
    assert distributed == {"ibmmq_qmgr_connection_count"}


def test_what_lint_would_find_is_found() -> None:
    assert found_by_lint(next(each for each in FAMILIES if each.sample == "ibmmq_pageset_pages_total")) == [
        "a gauge that ends in _total"
    ]


def test_a_running_total_under_an_inherited_name_has_no_type_and_its_own_has_total() -> None:
    assert family_named("channel.msgs").exposed is Exposed.UNKNOWN
    own = family_named("buffer_pool.getp")
    assert (own.name, own.sample) == ("mqvitals_buffer_pool_getp", "mqvitals_buffer_pool_getp_total")


@pytest.mark.parametrize(
    ("of", "sample", "stored", "exported"),
    [
        ("queue.depth", "ibmmq_queue_depth", 17, 17.0),
        ("queue.qtime_us_short", "ibmmq_queue_qtime_short", 1500, 1500.0),
        ("channel.exittime_us_short", "mqvitals_channel_exittime_short_seconds", 1500, 0.0015),
        ("buffer_pool.free_pct", "ibmmq_bufferpool_buffers_free_percent", 40, 40.0),
        ("page_set.used_pct", "mqvitals_page_set_used_ratio", 85, 0.85),
        ("log.rba_mb_per_day", "mqvitals_log_rba_per_day_bytes", 2, 2.0 * 1024**2),
        ("log.rba_days_left", "mqvitals_log_rba_left_seconds", 2, 172_800.0),
        ("store.growth_bytes_per_h", "mqvitals_agent_store_growth_bytes_per_second", 7200, 2.0),
        ("queue.put_rate", "mqvitals_queue_put_per_second", 3, 3.0),
        ("queue_manager.reachable", "ibmmq_qmgr_status", 1, 2.0),
        ("queue_manager.reachable", "ibmmq_qmgr_status", 0, 0.0),
        ("channel.kaint_s", "mqvitals_channel_kaint_seconds", 300, 300.0),
    ],
)
def test_a_value_is_in_base_units_unless_name_and_unit_are_inherited(
    of: str, sample: str, stored: float, exported: float
) -> None:
    family = family_named(of)
    assert family.sample == sample
    assert family.value_of(stored) == pytest.approx(exported)


def test_a_number_that_stands_for_a_word_is_no_sample() -> None:
    assert family_named("channel.kaint_s").value_of(-1) is None


def test_the_status_of_a_channel_is_simplified_as_well() -> None:
    status, squashed = families_of(kind("channel"), metric("channel", "status"))
    assert (status.sample, squashed.sample) == ("ibmmq_channel_status", "ibmmq_channel_status_squash")
    names = metric("channel", "status").values
    assert {name: squashed.value_of(number) for name, number in names.items()} == {
        "INACTIVE": 0, "DISCONNECTED": 0, "STOPPED": 0, "PAUSED": 0,
        "BINDING": 1, "STARTING": 1, "STOPPING": 1, "RETRYING": 1, "REQUESTING": 1, "INITIALIZING": 1, "SWITCHING": 1,
        "RUNNING": 2,
    }  # fmt: skip


def test_every_name_of_the_z_os_dashboards_is_there() -> None:
    wanted = {
        "queue_depth", "queue_attribute_max_depth", "queue_hi_depth", "queue_mqget_count", "queue_mqput_mqput1_count",
        "queue_oldest_message_age", "queue_time_since_get", "queue_time_since_put", "queue_input_handles",
        "queue_output_handles", "queue_qtime_short", "queue_qtime_long", "queue_uncommitted_messages",
        "channel_messages", "channel_status", "channel_status_squash", "channel_batches", "channel_batchsz_short",
        "channel_bytes_sent", "channel_bytes_rcvd", "channel_buffers_sent", "channel_nettime_short",
        "channel_xmitq_time_short", "channel_time_since_msg", "channel_cur_inst", "channel_attribute_max_inst",
        "bufferpool_buffers_free", "bufferpool_buffers_free_percent", "bufferpool_buffers_total",
        "pageset_pages_total", "pageset_pages_unused", "pageset_status", "pageset_expansion_count",
        "qmgr_status", "qmgr_max_channels", "qmgr_max_active_channels", "qmgr_max_tcp_channels",
    }  # fmt: skip
    assert {f"{INHERITED_PREFIX}{name}" for name in wanted} <= {family.sample for family in FAMILIES}


QUEUE = ObjectName("QM01", "queue", "ORDERS")


@pytest.mark.parametrize(
    ("name", "values", "labels"),
    [
        (
            ObjectName("QM01", "buffer_pool", "3"),
            {"location": 1, "page_class": 1},
            {"bufferpool": "3", "location": "Above", "pageclass": "Fixed4KB", "platform": "ZOS", "qmgr": "QM01"},
        ),
        (
            ObjectName("QM01", "page_set", "4"),
            {"buffer_pool": 3},
            {"bufferpool": "3", "pageset": "4", "platform": "ZOS", "qmgr": "QM01"},
        ),
        (
            QUEUE,
            {"usage": 1, "description": "Orders ", "cluster": ""},
            {
                "cluster": "-", "description": "Orders", "platform": "ZOS", "qmgr": "QM01", "queue": "ORDERS",
                "usage": "XMITQ",
            },
        ),
        (
            ObjectName("QM01", "channel", "TO.QM02"),
            {"type": 1, "conname": "10.0.0.1(1414)", "remote_queue_manager": "QM02"},
            {
                "channel": "TO.QM02", "connname": "10.0.0.1(1414)", "description": "-", "jobname": "-",
                "platform": "ZOS", "qmgr": "QM01", "rqmname": "QM02", "sslciph": "-", "type": "SENDER",
            },
        ),
        (
            ObjectName("QM01", "queue_manager"),
            {"description": "Production"},
            {"description": "Production", "platform": "ZOS", "qmgr": "QM01"},
        ),
        (ObjectName("PRDQSG", "cf_structure", "APPL1"), {}, {"platform": "ZOS", "qsg": "PRDQSG", "structure": "APPL1"}),
        (
            ObjectName("PRDQSG", "smds", "APPL1/QM01"),
            {},
            {"member": "QM01", "platform": "ZOS", "qsg": "PRDQSG", "structure": "APPL1"},
        ),
        (
            ObjectName("QM01", "application", "PAYROLL/A/B"),
            {},
            {"application": "PAYROLL", "platform": "ZOS", "qmgr": "QM01", "queue": "A/B"},
        ),
    ],
)  # fmt: skip
def test_labels_are_those_of_the_exporter(name: ObjectName, values: dict[str, Value], labels: dict[str, str]) -> None:
    assert dict(labels_of(name, label_texts(kind(name.kind), values))) == labels


def test_an_object_of_a_queue_sharing_group_has_the_group_instead_of_a_queue_manager() -> None:
    found = dict(labels_of(ObjectName("PRDQSG", "queue", "S"), {"usage": "NORMAL"}, {"PRDQSG"}))
    assert found["qsg"] == "PRDQSG"
    assert "qmgr" not in found


def test_labels_have_the_platform_of_the_queue_manager_and_limits_of_channels_its_description() -> None:
    known = owner_texts(label_texts(kind("queue_manager"), {"platform": 3, "description": "Branch"}))
    assert dict(labels_of(QUEUE, known))["platform"] == "UNIX"
    assert dict(labels_of(QUEUE, known))["description"] == "-"
    assert dict(labels_of(ObjectName("QM01", "channel_initiator"), known))["description"] == "Branch"


def test_labels_are_made_of_metrics_that_there_are() -> None:
    for each in KINDS.values():
        for name in label_metrics(each.name):
            assert each.metric(name) is not None, (each.name, name)


@given(
    st.sampled_from(sorted(KINDS)),
    st.text(min_size=1),
    st.text(),
    st.dictionaries(st.sampled_from(["description", "cluster", "usage", "conname", "type", "platform"]), st.text()),
)
def test_labels_of_any_object_are_in_order_each_once_and_not_blank(
    of_kind: str, owner: str, name: str, texts: dict[str, str]
) -> None:
    found = labels_of(ObjectName(owner, of_kind, name), texts)
    names = [label for label, _ in found]
    assert names == sorted(set(names))
    assert all(text for _, text in found)
    assert all(re.fullmatch(r"[a-z_]+", label) for label in names)


def test_a_metric_that_is_new_has_a_name_of_its_own() -> None:
    new = gauge("lag_ms", "ms", "how far it is behind")
    assert known_family(kind("queue"), new).sample == f"{OWN_PREFIX}queue_lag_seconds"

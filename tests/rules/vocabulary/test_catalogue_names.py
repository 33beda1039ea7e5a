"""Rules written elsewhere use certain names; the vocabulary has every one of them."""

from __future__ import annotations

import pytest

from mqvitals_rules.vocabulary.tables import KINDS, metric

NAMES = {
    "buffer_pool": """total free free_pct low low_pct worst_free_pct getp getn rio wio tpw stw imw dwt dmc sos stl stla
        location purpose""",
    "page_set": """total_pages unused_pages used_pct persist_pages nonpersist_pages expand_type expand_count status
        buffer_pool full_count imm_writes reads""",
    "log": """full_logs total_logs used_pct offload_status suspend dual_active complog logload qindxbld write_force wtb
        write_reqs ci_writes cis_created serial_writes suspends thrsh pagein checkpoints cis_offload reads_stor
        reads_active reads_archive io_count io_max_us comp_req comp_fail comp_before comp_after write_mb_s""",
    "channel": """status substate type indoubt batchsz xbatchsz_short xbatchsz_long msgs_per_batch full_batches batches
        nettime_us_short nettime_us_long nettime_avg_us nettime_min_us nettime_max_us xqtime_us_short xqtime_us_long
        xmitq_msgs xmitq_empty_count msgs bytes_sent bytes_rcvd put_retries short_left long_left start_ts batchlim_kb
        batchint_ms mr_count mr_interval_ms splprot ssl_cipher dispatcher xmitq""",
    "channel_initiator": """status adapters_started adapters_max dispatchers_started dispatchers_max ssltasks_started
        ssltasks_max current current_max active active_max paused retrying chiadaps chidisps ssltasks receive_timeout
        receive_timeout_type receive_timeout_min adapters_unused storage31_kb""",
    "queue": """depth max_depth input_handles output_handles oldest_msg_age_s qtime_us_short qtime_us_long uncommitted
        index_type definition_type max_msg_length def_persistence trigger_type usage qsg_disp cf_structure storage_class
        page_set buffer_pool put_rate get_rate role pair lifetime workload""",
    "cf_structure": """entries_used entries_max size_max_kb size_used_pct entries_pct status type backup_ts
        backup_size_mb backup_rba recover cflevel offload full_count peak_entries peak_elements avg_call_us
        redrives""",
    "qsg": "qmgr_count structure_count",
    "smds": "used_blocks total_blocks",
    "queue_manager": "qsg_name reachable reason",
}

STATES_IN_RULES = [
    ("channel", "status", "RETRYING", 5),
    ("channel", "status", "PAUSED", 8),
    ("channel", "indoubt", "YES", 1),
    ("channel", "splprot", "REMOVE", 1),
    ("channel", "splprot", "ASPOLICY", 2),
    ("cf_structure", "type", "application", 0),
    ("cf_structure", "type", "admin", 1),
    ("cf_structure", "recover", "YES", 1),
    ("cf_structure", "offload", "DB2", 2),
    ("log", "complog", "NONE", 0),
    ("log", "qindxbld", "WAIT", 0),
    ("log", "offload_status", "BUSY", 30),
    ("channel_initiator", "status", "RUNNING", 2),
    ("queue_manager", "reachable", "NO", 0),
    ("queue", "usage", "XMITQ", 1),
    ("queue", "dead_letter", "YES", 1),
    ("queue", "role", "batch", 5),
    ("agent", "outcome", "REFUSED", 3),
]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names.split()])
def test_the_catalogue_s_metrics_are_there(kind: str, name: str) -> None:
    """Each metric that the rules catalogue names is in the table of its kind."""
    assert KINDS[kind].metric(name) is not None


@pytest.mark.parametrize(("kind", "name", "state", "number"), STATES_IN_RULES)
def test_states_that_rules_compare_with(kind: str, name: str, state: str, number: int) -> None:
    """States have the names by which rules ask for them, with MQ's numbers."""
    assert metric(kind, name).values[state] == number


@pytest.mark.parametrize(
    ("kind", "name", "default"),
    [
        ("queue", "role", 0),
        ("buffer_pool", "purpose", 9),
        ("cf_structure", "full_threshold_pct", 80),
        ("channel", "ping_us", None),
    ],
)
def test_defaults_of_declared_facts(kind: str, name: str, default: int | None) -> None:
    """What is not declared has the catalogue's default; the ping time has none."""
    found = metric(kind, name)
    assert found.declared
    assert found.default == default

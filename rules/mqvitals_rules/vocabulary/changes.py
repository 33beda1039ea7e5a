"""Which metrics are attributes of a definition, whose changes are recorded; by kind and the command that reports them.

What the queue manager itself moves (depths, positions, usage) is none. A metric that an answer does not hold changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mqvitals_rules.vocabulary.metric import Value

RECORDED: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    kind: {command: frozenset(metrics.split()) for command, metrics in commands.items()}
    for kind, commands in {
        "queue_manager": {
            "INQUIRE_Q_MGR": """
                command_level version description ccsid qsg_name command_queue dead_letter_queue default_xmitq
                max_handles max_uncommitted_msgs max_msg_length expiry_interval_s monq monchl monacls statq statchl
                statacls statmqi statint_s cfconlos intra_group_queuing shared_queue_by_name group_units_of_recovery
                chlauth message_protection authority_event inhibit_event local_event remote_event start_stop_event
                performance_event channel_event ssl_event bridge_event configuration_event command_event logger_event
                pubsub_mode
            """,
            "INQUIRE_SYSTEM": """
                smf_statistics smf_accounting statistics_minutes statistics_plus_s accounting_minutes accounting_plus_s
                cluster_cache command_user db2_name db2_group db2_tasks db2_blob_tasks excluded_messages exit_limit_s
                exit_tasks ace_limit_kb mulc_capture otma_group otma_member otma_interval_s reslevel_audit service
                trace_classes trace_pages wlm_interval wlm_interval_unit routing_codes
            """,
            "INQUIRE_SECURITY": "security_off",
        },
        "channel_initiator": {
            "INQUIRE_Q_MGR": """
                chiadaps chidisps ssltasks actchl maxchl tcpchl lu62chl receive_timeout receive_timeout_type
                receive_timeout_min
            """,
            "INQUIRE_CHANNEL_INIT": "tcp_name",
        },
        "log": {
            "INQUIRE_SYSTEM": "logload qindxbld",
            "INQUIRE_LOG": """
                complog dual_active dual_archive dual_bsds offload inbuff_kb outbuff_kb wrthrsh maxarch maxrtu maxcnoff
                deallct_minutes zhywrite zhylink total_logs copies
            """,
            "INQUIRE_ARCHIVE": """
                archive_alcunit archive_priqty archive_secqty archive_retention_days archive_wtor archive_routing_codes
                archive_block_bytes archive_catalog archive_compact archive_protect archive_quiesce_s archive_timestamp
                archive_prefix_copy1 archive_prefix_copy2 archive_unit_copy1 archive_unit_copy2
            """,
        },
        "queue": {
            "INQUIRE_Q": """
                description usage max_depth max_msg_length def_persistence index_type get_enabled put_enabled shareable
                trigger trigger_type trigger_depth trigger_priority initiation_queue process backout_threshold backout_queue depth_high_pct depth_low_pct
                depth_max_event depth_high_event depth_low_event service_interval_ms service_interval_event monq_defined
                statq storage_class cf_structure cluster tpipe stream_queue stream_qos
            """,
        },
        "channel": {
            "INQUIRE_CHANNEL": """
                description default_disposition protocol batchsz_defined batchlim_kb batchint_ms batchhb_ms
                discint_s hbint_defined_s kaint_defined_s shortrty shorttmr_s longrty longtmr_s mr_count mr_interval_ms
                max_msg_length_defined npmspeed_defined seqwrap maxinst maxinstc sharecnv splprot ssl_cipher_defined
                ssl_peer_defined ssl_client_auth put_authority certificate_label conname_defined mca_user_defined
                local_address_defined monchl_defined statchl_defined usedlq exits
            """,
        },
        "cf_structure": {
            "INQUIRE_CF_STRUC": """
                description cflevel recover cfconlos recauto offload offload_1_pct offload_2_pct offload_3_pct
                offload_1_size offload_2_size offload_3_size smds_block smds_buffers smds_expand smds_name
            """,
            "INQUIRE_CF_STRUC_STATUS": "size_max_kb entries_max",
        },
        "smds": {"INQUIRE_SMDS": "buffers_defined expand"},
        "page_set": {"INQUIRE_USAGE": "buffer_pool expand_type total_pages"},
        "buffer_pool": {"INQUIRE_USAGE": "total location page_class"},
        "qsg": {"INQUIRE_QSG": "qmgr_count lowest_command_level"},
    }.items()
}
"""Kind of object -> command -> metrics."""

SECURITY: Final[Mapping[tuple[str, str], frozenset[Value] | None]] = {
    ("queue_manager", "chlauth"): None,
    ("queue_manager", "command_event"): frozenset({0}),
    ("queue_manager", "security_off"): None,
    ("channel", "mca_user_defined"): None,
    ("channel", "ssl_cipher_defined"): frozenset({""}),
    ("channel", "ssl_client_auth"): frozenset({1}),
    ("channel", "ssl_peer_defined"): None,
    ("channel", "put_authority"): None,
}
"""Changes that concern security: (kind, metric) -> the new values that do, None for any."""

STEADY_WITHIN: Final[Mapping[tuple[str, str], float]] = {("cf_structure", "entries_max"): 0.01}
"""(kind, metric) -> the share by which a number moves without any change of a definition."""

ALTERED: Final = "alteration_ts"
"""The metric that holds when a definition was last changed, as the queue manager says: its ALTDATE and ALTTIME."""


def is_security(kind: str, metric: str, new: Value) -> bool:
    """Whether a change of an attribute to ``new`` concerns security."""
    if (kind, metric) not in SECURITY:
        return False
    concerning = SECURITY[kind, metric]
    return concerning is None or (new.strip() if isinstance(new, str) else new) in concerning

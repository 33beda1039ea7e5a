"""Which metrics of which kinds of object tell what a formula asks; of several ways to an input the first that can be gone."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_agent.plan.take import Take, plain, quotient

Takes = tuple[Take, ...]

_CONTROL_SHARE = 1.25
_MQMD_BYTES = 324


def _entry_bytes(size_kb: float, used_pct: float, entries: float) -> float | None:
    """What a message takes on average, as the formulas count it: a quarter of the structure's is control storage."""
    return size_kb * 1024 * used_pct / 100 / _CONTROL_SHARE / entries if entries else None


_OF_ENTRY = ("size_max_kb", "size_used_pct", "entries_used")
_ENTRY = Take("msg_bytes", "size_max_kb x size_used_pct / 1.25 / entries_used", _OF_ENTRY, _entry_bytes)
_ENTRY_DATA = Take(
    "user_bytes",
    "size_max_kb x size_used_pct / 1.25 / entries_used, less 324 of MQMD",
    _OF_ENTRY,
    lambda *of: None if (each := _entry_bytes(*of)) is None else max(0, each - _MQMD_BYTES),
)

_BATCH: Takes = (plain("batch_msgs", "batchsz"), plain("batch_msgs", "batchsz_defined"))
_PARTNER_US = 1000
"""What the partner needs at the end of a batch, its commit above all: NETTIME leaves that out."""


def _wait(metric: str) -> Take:
    return Take("wait_us", f"{metric} + {_PARTNER_US} for the partner", (metric,), lambda value: value + _PARTNER_US)


_WAIT: Takes = (_wait("nettime_us_short"), _wait("nettime_avg_us"))
_ACHIEVED: Takes = (
    plain("achieved_batch_msgs", "xbatchsz_short"),
    quotient("achieved_batch_msgs", "msgs", "batches"),
)


def _sent(given: str, factor: float = 1) -> Takes:
    """The average length of a channel's messages: records tell the messages' own, polls what was sent for them."""
    return (
        quotient(given, "interval_bytes", "interval_msgs", factor),
        quotient(given, "carried_bytes", "msgs", factor),
    )


_PUT: Takes = (quotient("msg_bytes", "put_bytes", "puts"), plain("msg_bytes", "largest_msg_bytes"))
_ON_IT = quotient("msg_bytes", "queues.put_bytes", "queues.puts")
"""The average length of what was last put on the queues that lie on it."""
_LAYOUT = Take(
    "layout",
    "queue_manager.maxshortmsgs",
    ("queue_manager.maxshortmsgs",),
    lambda value: "shipped" if value else "maxshortmsgs-0",
)
_INDEXED: Mapping[str, Takes] = {
    "queue": (plain("messages", "index_entries"), plain("messages", "depth")),
    "queue_manager": (plain("messages", "planned_indexed_msgs"),),
}
_LIMITED: Mapping[str, Takes] = {"channel": (*_BATCH, *_sent("avg_bytes"), plain("batch_limit_kb", "batchlim_kb"))}
_PROCESSORS: Mapping[str, Takes] = {
    "channel_initiator": (plain("processors", "queue_manager.processors"),),
    "queue_manager": (plain("processors", "processors"),),
}

_LOGGED: Takes = (
    quotient("msg_bytes", "persistent_put_bytes", "persistent_puts"),
    Take("msgs_per_s", "persistent_puts a second in the last hour", ("persistent_puts/s",), lambda value: value),
    Take(
        "in_qsg",
        "queue_manager.qsg_name",
        ("queue_manager.qsg_name",),
        lambda name: "yes" if str(name).strip() else "no",
    ),
)

TAKES: Mapping[str, Mapping[str, Takes]] = {
    "cf-structure-size": {"cf_structure": (_ENTRY, plain("max_msgs", "entries_used"))},
    "cf-structure-messages": {"cf_structure": (plain("size_kb", "size_max_kb"), _ENTRY_DATA)},
    "csq-admin-queue-managers": {
        "cf_structure": (plain("entries_max", "entries_max"), plain("entries_used", "entries_used"))
    },
    "cf-backup-interval": {"cf_structure": (plain("target_s", "recovery_target_s"), _ENTRY)},
    "cf-backup-cpu": {"cf_structure": (plain("msgs", "entries_used"),)},
    "cf-restore-time": {"cf_structure": (plain("msgs", "entries_used"),)},
    "batch-transfer-time": {
        "channel": (
            Take("messages", "msgs in the last hour", ("msgs",), lambda value: value),
            plain("messages", "xmitq_msgs"),
            *_BATCH,
            *_WAIT,
        )
    },
    "channel-ceiling": {"channel": (*_BATCH, *_WAIT)},
    "batch-bytes": _LIMITED,
    "batch-buffers": _LIMITED,
    "receive-timeout-cost": {
        "channel": (
            Take("msgs_per_s", "msgs a second in the last hour", ("msgs/s",), lambda value: value),
            *_ACHIEVED,
        )
    },
    "receive-timeout-overhead": {"channel": _ACHIEVED},
    "tcp-window-rate": {"channel": (plain("rtt_ms", "ping_us", 0.001), plain("rtt_ms", "nettime_us_short", 0.001))},
    "message-retry-block": {
        "channel": (plain("retry_count", "mr_count"), plain("retry_interval_ms", "mr_interval_ms"))
    },
    "ssl-cpu": {"channel": _sent("msg_kb", 1 / 1024)},
    "ssl-channels": {"channel_initiator": (plain("max_msg_kb", "tls_msg_kb"), plain("epvt_kb", "extended_private_kb"))},
    "chiadaps": _PROCESSORS,
    "chidisps": _PROCESSORS,
    "adapter-wait": {
        "channel_initiator": (
            plain("avg_elapsed_us", "adapter_avg_elapsed_us"),
            plain("avg_cpu_us", "adapter_avg_cpu_us"),
        )
    },
    "adapter-busy": {
        "channel_initiator": (
            Take(
                "requests_per_s",
                "adapter_requests a second in the last hour",
                ("adapter_requests/s",),
                lambda each: each,
            ),
            plain("avg_elapsed_us", "adapter_avg_elapsed_us"),
            plain("adapters", "adapters_started"),
        )
    },
    "page-set-capacity": {"page_set": (plain("pages", "total_pages"), _ON_IT, _LAYOUT), "queue": (*_PUT, _LAYOUT)},
    "buffer-pool-capacity": {"buffer_pool": (plain("buffers", "total"), _ON_IT, _LAYOUT), "queue": (*_PUT, _LAYOUT)},
    "buffer-pool-outage-time": {
        "buffer_pool": (
            plain("buffers", "total"),
            Take("used_buffers", "total - free", ("total", "free"), lambda total, free: total - free),
            _ON_IT,
            _LAYOUT,
        ),
        "queue": (
            *_PUT,
            _LAYOUT,
            plain("put_per_s", "put_rate"),
            plain("get_per_s", "get_rate"),
        ),
    },
    "index-storage": _INDEXED,
    "index-rebuild-time": _INDEXED,
    "index-rebuild-cpu": _INDEXED,
    "index-rebuild-time-by-pages": {
        "queue": (*_INDEXED["queue"], *_PUT, _LAYOUT),
        "queue_manager": _INDEXED["queue_manager"],
    },
    "security-storage": {"queue_manager": (plain("users", "security_users"), plain("resources", "security_resources"))},
    "expiry-scan-cost": {
        "queue_manager": (plain("shared_queues", "shared_queues"), plain("interval_s", "expiry_interval_s"))
    },
    "log-compression-saved": {
        "log": (
            Take("before_bytes", "comp_before in the last hour", ("comp_before",), lambda value: value),
            Take("after_bytes", "comp_after in the last hour", ("comp_after",), lambda value: value),
        )
    },
    "log-data-rate": {"queue": _LOGGED},
    "log-fill-time": {
        "queue": (
            *_LOGGED,
            Take("log_gb", "log.data_set_mb / 1024", ("log.data_set_mb",), lambda value: value / 1024),
        )
    },
    "log-statistics-rate": {
        "log": (
            Take("ci_writes", "ci_writes in the last hour", ("ci_writes",), lambda value: value),
            Take("cis_created", "cis_created in the last hour", ("cis_created",), lambda value: value),
            Take("interval_s", "the intervals of these records", ("ci_writes:s",), lambda value: value),
        )
    },
    "ams-key-reuse": {
        "queue": (
            Take("msgs", "puts in the last hour", ("puts",), lambda value: value),
            plain("key_reuse", "ams_key_reuse"),
        )
    },
    "ams-streaming-cost": {
        "channel": (Take("msgs_per_s", "msgs a second in the last hour", ("msgs/s",), lambda value: value),)
    },
    "selector-get-cost": {"queue": (plain("other_msgs", "depth"), plain("gets_per_s", "get_rate"))},
    "lspr-translate": {"queue_manager": (plain("target_processors", "processors"),)},
    "cpu-busy": {"queue_manager": (plain("processors", "processors"),)},
}
"""By formula and kind of object."""

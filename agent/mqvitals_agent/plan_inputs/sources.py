"""Where the inputs of a formula come from: expressions of the rule language, by formula and kind of object.

Of several sources of an input the first that gives an allowed value counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqvitals_rules.plan.structures import CONTROL_SHARE, MQMD_BYTES


@dataclass(frozen=True, slots=True)
class InputSource:
    """An input of a formula and the expression of the rule language that gives it.

    ``words`` describe the calculation to a person (empty: the expression). With ``choices`` the expression is a
    condition, and the input is the first of them where it holds, else the second. With ``text`` it is the name of a
    text metric, whose value is the input.
    """

    input: str
    expression: str
    words: str = ""
    choices: tuple[str, str] | None = None
    text: bool = False

    @property
    def described(self) -> str:
        """The calculation in words."""
        return self.words or self.expression.replace(" * ", " x ")


def of_hour(given: str, counter: str) -> InputSource:
    """The increase of a counter in the last hour."""
    return InputSource(given, f'delta({counter}, "1h")', f"{counter} in the last hour")


def of_rate(given: str, counter: str) -> InputSource:
    """The increase of a counter a second, of the last hour."""
    return InputSource(given, f'rate({counter}, "1h")', f"{counter} a second in the last hour")


def of_quotient(given: str, above: str, below: str, factor: str = "") -> InputSource:
    """The increase of one counter divided by that of another, both of the last hour; ``factor``: ``" / 1024"``."""
    return InputSource(given, f'delta({above}, "1h") / delta({below}, "1h"){factor}', f"{above} / {below}")


InputSources = tuple[InputSource, ...]


# Average bytes of a message, as the formulas count them: a quarter more is control storage.
_ENTRY_BYTES = f"size_max_kb * 1024 * size_used_pct / 100 / {CONTROL_SHARE} / entries_used"
_ENTRY = InputSource("msg_bytes", _ENTRY_BYTES, "size_max_kb x size_used_pct / 1.25 / entries_used")

_ENTRY_DATA = InputSource(
    "user_bytes", f"max(0, {_ENTRY_BYTES} - {MQMD_BYTES})", f"{_ENTRY.words}, less {MQMD_BYTES} of MQMD"
)

_BATCH: InputSources = (InputSource("batch_msgs", "batchsz"), InputSource("batch_msgs", "batchsz_defined"))

_PARTNER_US = 1000
"""Time of the partner at the end of a batch, mostly its commit: NETTIME leaves that out."""

_WAIT: InputSources = tuple(
    InputSource("wait_us", f"{metric} + {_PARTNER_US}", f"{metric} + {_PARTNER_US} for the partner")
    for metric in ("nettime_us_short", "nettime_avg_us")
)

_ACHIEVED: InputSources = (
    InputSource("achieved_batch_msgs", "xbatchsz_short"),
    of_quotient("achieved_batch_msgs", "msgs", "batches"),
)


def _sent(given: str, factor: str = "") -> InputSources:
    """The average length of a channel's messages: records have that of the messages, polls what was sent for them."""
    return (
        of_quotient(given, "interval_bytes", "interval_msgs", factor),
        of_quotient(given, "carried_bytes", "msgs", factor),
    )


_PUT: InputSources = (of_quotient("msg_bytes", "put_bytes", "puts"), InputSource("msg_bytes", "largest_msg_bytes"))

_ON_IT = InputSource("msg_bytes", "sum(queue, put_bytes) / sum(queue, puts)", "queues.put_bytes / queues.puts")
"""The average length of messages last put on the queues of the object."""

_LAYOUT = InputSource(
    "layout", "queue_manager.maxshortmsgs != 0", "queue_manager.maxshortmsgs", ("shipped", "maxshortmsgs-0")
)

_INDEXED: Mapping[str, InputSources] = {
    "queue": (InputSource("messages", "index_entries"), InputSource("messages", "depth")),
    "queue_manager": (InputSource("messages", "planned_indexed_msgs"),),
}

_LIMITED: Mapping[str, InputSources] = {
    "channel": (*_BATCH, *_sent("avg_bytes"), InputSource("batch_limit_kb", "batchlim_kb"))
}

_PROCESSORS: Mapping[str, InputSources] = {
    "channel_initiator": (InputSource("processors", "queue_manager.processors"),),
    "queue_manager": (InputSource("processors", "processors"),),
}

_LOGGED: InputSources = (
    of_quotient("msg_bytes", "persistent_put_bytes", "persistent_puts"),
    of_rate("msgs_per_s", "persistent_puts"),
    InputSource("in_qsg", 'queue_manager.qsg_name != ""', "queue_manager.qsg_name", ("yes", "no")),
)

INPUT_SOURCES: Mapping[str, Mapping[str, InputSources]] = {
    "cf-structure-size": {"cf_structure": (_ENTRY, InputSource("max_msgs", "entries_used"))},
    "cf-structure-messages": {"cf_structure": (InputSource("size_kb", "size_max_kb"), _ENTRY_DATA)},
    "csq-admin-queue-managers": {
        "cf_structure": (InputSource("entries_max", "entries_max"), InputSource("entries_used", "entries_used"))
    },
    "cf-backup-interval": {"cf_structure": (InputSource("target_s", "recovery_target_s"), _ENTRY)},
    "cf-backup-cpu": {"cf_structure": (InputSource("msgs", "entries_used"),)},
    "cf-restore-time": {"cf_structure": (InputSource("msgs", "entries_used"),)},
    "batch-transfer-time": {
        "channel": (of_hour("messages", "msgs"), InputSource("messages", "xmitq_msgs"), *_BATCH, *_WAIT)
    },
    "channel-ceiling": {"channel": (*_BATCH, *_WAIT)},
    "batch-bytes": _LIMITED,
    "batch-buffers": _LIMITED,
    "receive-timeout-cost": {"channel": (of_rate("msgs_per_s", "msgs"), *_ACHIEVED)},
    "receive-timeout-overhead": {"channel": _ACHIEVED},
    "tcp-window-rate": {
        "channel": (InputSource("rtt_ms", "ping_us * 0.001"), InputSource("rtt_ms", "nettime_us_short * 0.001"))
    },
    "message-retry-block": {
        "channel": (InputSource("retry_count", "mr_count"), InputSource("retry_interval_ms", "mr_interval_ms"))
    },
    "ssl-cpu": {"channel": _sent("msg_kb", " / 1024")},
    "ssl-channels": {
        "channel_initiator": (InputSource("max_msg_kb", "tls_msg_kb"), InputSource("epvt_kb", "extended_private_kb"))
    },
    "chiadaps": _PROCESSORS,
    "chidisps": _PROCESSORS,
    "adapter-wait": {
        "channel_initiator": (
            InputSource("avg_elapsed_us", "adapter_avg_elapsed_us"),
            InputSource("avg_cpu_us", "adapter_avg_cpu_us"),
        )
    },
    "adapter-busy": {
        "channel_initiator": (
            of_rate("requests_per_s", "adapter_requests"),
            InputSource("avg_elapsed_us", "adapter_avg_elapsed_us"),
            InputSource("adapters", "adapters_started"),
        )
    },
    "page-set-capacity": {
        "page_set": (InputSource("pages", "total_pages"), _ON_IT, _LAYOUT),
        "queue": (*_PUT, _LAYOUT),
    },
    "buffer-pool-capacity": {
        "buffer_pool": (InputSource("buffers", "total"), _ON_IT, _LAYOUT),
        "queue": (*_PUT, _LAYOUT),
    },
    "buffer-pool-outage-time": {
        "buffer_pool": (
            InputSource("buffers", "total"),
            InputSource("used_buffers", "total - free"),
            _ON_IT,
            _LAYOUT,
        ),
        "queue": (*_PUT, _LAYOUT, InputSource("put_per_s", "put_rate"), InputSource("get_per_s", "get_rate")),
    },
    "index-storage": _INDEXED,
    "index-rebuild-time": _INDEXED,
    "index-rebuild-cpu": _INDEXED,
    "index-rebuild-time-by-pages": {
        "queue": (*_INDEXED["queue"], *_PUT, _LAYOUT),
        "queue_manager": _INDEXED["queue_manager"],
    },
    "security-storage": {
        "queue_manager": (InputSource("users", "security_users"), InputSource("resources", "security_resources"))
    },
    "expiry-scan-cost": {
        "queue_manager": (
            InputSource("shared_queues", "shared_queues"),
            InputSource("interval_s", "expiry_interval_s"),
        )
    },
    "log-compression-saved": {"log": (of_hour("before_bytes", "comp_before"), of_hour("after_bytes", "comp_after"))},
    "log-data-rate": {"queue": _LOGGED},
    "log-rba-life": {
        "log": (
            InputSource("rba", "rba", text=True),
            InputSource("bytes", "rba_width == 8", "rba_width", ("8", "6")),
            InputSource("mb_per_day", "rba_mb_per_day"),
        )
    },
    "log-fill-time": {"queue": (*_LOGGED, InputSource("log_gb", "log.data_set_mb / 1024"))},
    "log-statistics-rate": {
        "log": (
            of_hour("ci_writes", "ci_writes"),
            of_hour("cis_created", "cis_created"),
            InputSource(
                "interval_s", 'delta(cis_created, "1h") / rate(cis_created, "1h")', "the intervals of these records"
            ),
        )
    },
    "ams-key-reuse": {"queue": (of_hour("msgs", "puts"), InputSource("key_reuse", "ams_key_reuse"))},
    "ams-streaming-cost": {"channel": (of_rate("msgs_per_s", "msgs"),)},
    "selector-get-cost": {"queue": (InputSource("other_msgs", "depth"), InputSource("gets_per_s", "get_rate"))},
    "lspr-translate": {"queue_manager": (InputSource("target_processors", "processors"),)},
    "cpu-busy": {"queue_manager": (InputSource("processors", "processors"),)},
}
"""By formula and kind of object."""


def kinds_of(formula: str) -> tuple[str, ...]:
    """The kinds of object that an input of a formula can be taken from."""
    return tuple(kind for kind, sources in INPUT_SOURCES.get(formula, {}).items() if sources)

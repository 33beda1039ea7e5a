"""Objects in words, for people who know MQ."""

from __future__ import annotations

from mqvitals_agent.view.text import safe
from mqvitals_rules.snapshot import ObjectName

_WORDS = {
    "queue_manager": "",
    "qsg": "queue-sharing group",
    "buffer_pool": "buffer pool",
    "page_set": "page set",
    "smds": "shared message data set",
    "log": "log",
    "channel_initiator": "channel initiator",
    "adapter": "adapter",
    "dispatcher": "dispatcher",
    "ssl_task": "TLS task",
    "dns_task": "DNS task",
    "application": "application",
    "agent": "command",
    "store": "store",
}
"""The word of a kind; of the others the name alone says what they are."""

_KINDS = {"cf_structure": "coupling facility structure", "queue_manager": "queue manager"}


def object_words(name: ObjectName) -> str:
    """An object with its owner first: ``QM01 buffer pool 3``, ``QM01 TO.QM02``, ``QM01``. Safe for a terminal."""
    return " ".join(part for part in (safe(name.owner), _WORDS.get(name.kind, ""), safe(name.name)) if part)


_METRICS = {"current": "instances"}

_UNIT_ENDS = ("_pct", "_us_short", "_us", "_s", "_bytes", "_pages", "_per_s")


def metric_words(metric: str) -> str:
    """What a figure is called beside its value, whose unit says the rest: ``used`` for ``used_pct``."""
    end = next((end for end in _UNIT_ENDS if metric.endswith(end)), "")
    return _METRICS.get(metric) or metric.removesuffix(end).replace("_", " ")


def kind_words(kind: str) -> str:
    """What a kind is called: ``buffer pool``."""
    return _KINDS.get(kind) or _WORDS.get(kind) or kind.replace("_", " ")

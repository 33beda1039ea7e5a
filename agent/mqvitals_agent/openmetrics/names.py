"""The vocabulary in the words of Prometheus: names, types and units of metrics, labels of objects.

What mq_prometheus, IBM's exporter, reports too has its name, unit and labels, so that dashboards made for it go on
working. Everything else is ``mqvitals_KIND_METRIC`` in base units, with the unit in the name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite

from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType, Value
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND

INHERITED_PREFIX = "ibmmq_"
OWN_PREFIX = "mqvitals_"
UNSET = "-"
"""What mq_prometheus has for a text that is blank or not known."""


class Exposed(Enum):
    """The type of a family in OpenMetrics."""

    GAUGE = "gauge"
    COUNTER = "counter"
    UNKNOWN = "unknown"  # a running total under a name without _total, which mq_prometheus has given it


@dataclass(frozen=True, slots=True)
class Family:
    """A metric of ours as Prometheus knows it.

    - ``name``: of the family; of a counter without ``_total``. ``sample`` is the name that its samples have.
    - ``type``: how the store has its values. Of a COUNTER increases are stored, and their running total is exported.
    - ``scale``: what one of the stored unit is in the exported one; 1 where a unit is inherited. ``value_of`` applies it.
    - ``numbers``: exported numbers by stored ones, where they are not scaled but mapped.
    - ``no_amounts``: stored numbers that stand for a word, such as -1 for "auto": they are no samples.
    """

    name: str
    type: MetricType
    exposed: Exposed
    help: str
    scale: float
    kind: str
    metric: str
    numbers: Mapping[int, int] = field(default_factory=dict)
    no_amounts: frozenset[int] = frozenset()

    @property
    def sample(self) -> str:
        """The name of its samples."""
        return f"{self.name}_total" if self.exposed is Exposed.COUNTER else self.name

    def value_of(self, stored: float) -> float | None:
        """The exported value of a stored one; None: it is no sample."""
        if self.numbers:
            return self.numbers.get(int(stored))
        if stored in self.no_amounts:
            return None
        # 70 % are 0.7, which 70 * 0.01 is not.
        return stored * self.scale if self.scale >= 1 else stored / round(1 / self.scale)

    @property
    def invertible(self) -> bool:
        """Whether ``stored_of`` knows the stored number of each exported one."""
        return len(set(self.numbers.values())) == len(self.numbers)

    def stored_of(self, exported: float) -> float | None:
        """The stored value of an exported one, the inverse of ``value_of``; None: no stored value is exported so.

        A whole number is an int. Of another the digits beyond what scaling keeps are cut off, unless it then were exported
        otherwise.
        """
        if self.numbers:
            return next((stored for stored, number in self.numbers.items() if number == exported), None)
        unscaled = exported / self.scale if self.scale >= 1 else exported * round(1 / self.scale)
        if not isfinite(unscaled):
            return None
        whole = round(unscaled)
        if abs(unscaled - whole) <= abs(unscaled) * _LAST_BITS:
            return whole
        short = float(f"{unscaled:.15g}")
        return short if self.value_of(short) == exported else unscaled


_LAST_BITS = 2e-15
"""Scaling there and back changes a number by its last bits at most, relative to itself."""


def family_of(kind: Kind, metric: Metric) -> Family | None:
    """The family of a metric; None for texts and for facts that nothing but the configuration has."""
    found = families_of(kind, metric)
    return found[0] if found else None


def families_of(kind: Kind, metric: Metric) -> tuple[Family, ...]:
    """All families of a metric, ``family_of`` first: mq_prometheus has the status of a channel simplified as well."""
    if metric.type is MetricType.TEXT or (metric.declared and not metric.smf):
        return ()
    inherited = _INHERITED.get(kind.name, {}).get(metric.name)
    if inherited is None:
        return (_own(kind, metric),)
    return tuple(_as_inherited(kind, metric, each) for each in inherited)


def sample_names(kind: Kind, metric: Metric) -> tuple[str, ...]:
    """The names that samples of a metric have."""
    return tuple(family.sample for family in families_of(kind, metric))


def all_families(kinds: Iterable[Kind]) -> tuple[Family, ...]:
    """The families of all metrics of these kinds."""
    return tuple(family for kind in kinds for metric in kind.metrics for family in families_of(kind, metric))


@dataclass(frozen=True, slots=True)
class _Inherited:
    """A name of mq_prometheus, without the prefix of all."""

    name: str
    scale: float = 1.0
    numbers: Mapping[int, int] = field(default_factory=dict)
    always_gauge: bool = False  # mq_prometheus has the queue manager's own running total as a gauge


def _as_inherited(kind: Kind, metric: Metric, inherited: _Inherited) -> Family:
    total = metric.type is MetricType.COUNTER
    return Family(
        name=INHERITED_PREFIX + inherited.name,
        type=metric.type,
        exposed=Exposed.UNKNOWN if total and not inherited.always_gauge else Exposed.GAUGE,
        help=_help(metric),
        scale=inherited.scale,
        kind=kind.name,
        metric=metric.name,
        numbers=inherited.numbers,
        no_amounts=_no_amounts(metric),
    )


def _own(kind: Kind, metric: Metric) -> Family:
    total = metric.type is MetricType.COUNTER
    unit = _UNITS.get(metric.unit, _Unit())
    stem = _STEMS.get((kind.name, metric.name)) or _stem(metric.name, unit, total=total)
    return Family(
        name=OWN_PREFIX + "_".join(filter(None, (_OF_AGENT.get(kind.name, kind.name), stem, unit.suffix))),
        type=metric.type,
        exposed=Exposed.COUNTER if total else Exposed.GAUGE,
        help=_help(metric),
        scale=unit.scale,
        kind=kind.name,
        metric=metric.name,
        no_amounts=_no_amounts(metric),
    )


def _stem(name: str, unit: _Unit, *, total: bool) -> str:
    """The name without what says its unit, and of a running total without what says that it counts."""
    parts = [part for part in name.split("_") if part not in unit.parts]
    if total and len(parts) > 1 and parts[-1] in ("count", "n"):
        del parts[-1]
    return "_".join(parts)


def _help(metric: Metric) -> str:
    values = ", ".join(f"{number} {name}" for name, number in metric.values.items())
    return f"{metric.meaning} ({values})" if values else metric.meaning


def _no_amounts(metric: Metric) -> frozenset[int]:
    return (
        frozenset(number for number in metric.words if number < 0) if metric.type is MetricType.GAUGE else frozenset()
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit of the vocabulary: the suffix of its base unit, the factor, and the parts of names that say it."""

    suffix: str = ""
    scale: float = 1.0
    parts: tuple[str, ...] = ()


_UNITS: Mapping[str, _Unit] = {
    "us": _Unit("seconds", 1e-6, ("us",)),
    "ms": _Unit("seconds", 1e-3, ("ms",)),
    "s": _Unit("seconds", 1.0, ("s",)),
    "minutes": _Unit("seconds", 60.0, ("minutes",)),
    "days": _Unit("seconds", 86_400.0, ("days",)),
    "pct": _Unit("ratio", 0.01, ("pct",)),
    "bytes": _Unit("bytes", 1.0, ("bytes",)),
    "KB": _Unit("bytes", 1024.0, ("kb",)),
    "MB": _Unit("bytes", 1024.0**2, ("mb",)),
    "GB": _Unit("bytes", 1024.0**3, ("gb",)),
    "MB/s": _Unit("bytes_per_second", 1024.0**2, ("mb", "s")),
    "bytes/h": _Unit("bytes_per_second", 1 / 3600, ("bytes", "per", "h")),
    "per_s": _Unit("per_second", 1.0, ("rate", "per", "s")),
}
"""Units that are amounts of something countable have no suffix: the name says what is counted."""

_OF_AGENT: Mapping[str, str] = {"store": "agent_store", "receiver": "agent_receiver", "server": "agent_server"}
"""Kinds that belong to the agent, as Prometheus names what a program says of itself."""

_STEMS: Mapping[tuple[str, str], str] = {
    ("queue_manager", "storage_pool_count"): "storage_pools",
    ("qsg", "qmgr_count"): "queue_managers",
    ("qsg", "structure_count"): "structures",
    ("channel", "mr_count"): "put_retries_defined",
    ("channel", "tcp_retransmits_total"): "tcp_retransmits_since_begin",
    ("channel", "tcp_dup_acks_total"): "tcp_dup_acks_since_begin",
}
"""Gauges whose own name ends as those of running totals and histograms do."""

_RUNNING = 2
"""MQQMSTA_RUNNING: mq_prometheus has it for a queue manager of z/OS to which it is connected, and else 0."""

_STOPPED, _TRANSITION, _WORKS = 0, 1, 2
_SQUASHED = {
    number: _WORKS
    if name == "RUNNING"
    else _STOPPED
    if name in ("INACTIVE", "DISCONNECTED", "STOPPED", "PAUSED")
    else _TRANSITION
    for name, number in next(metric for metric in CHANNEL_KIND.metrics if metric.name == "status").values.items()
}

_INHERITED: Mapping[str, Mapping[str, tuple[_Inherited, ...]]] = {
    "queue_manager": {
        "reachable": (_Inherited("qmgr_status", _RUNNING),),
        "uptime_s": (_Inherited("qmgr_uptime"),),
        "connections": (_Inherited("qmgr_connection_count"),),
        "chinit_status": (_Inherited("qmgr_channel_initiator_status"),),
        "command_server_status": (_Inherited("qmgr_command_server_status"),),
    },
    "channel_initiator": {
        "maxchl": (_Inherited("qmgr_max_channels"),),
        "actchl": (_Inherited("qmgr_max_active_channels"),),
        "tcpchl": (_Inherited("qmgr_max_tcp_channels"),),
        "listeners_running": (_Inherited("qmgr_active_listeners"),),
    },
    "queue": {
        "depth": (_Inherited("queue_depth"),),
        "max_depth": (_Inherited("queue_attribute_max_depth"),),
        "usage": (_Inherited("queue_attribute_usage"),),
        "oldest_msg_age_s": (_Inherited("queue_oldest_message_age"),),
        "input_handles": (_Inherited("queue_input_handles"),),
        "output_handles": (_Inherited("queue_output_handles"),),
        "qtime_us_short": (_Inherited("queue_qtime_short"),),
        "qtime_us_long": (_Inherited("queue_qtime_long"),),
        "last_put_age_s": (_Inherited("queue_time_since_put"),),
        "last_get_age_s": (_Inherited("queue_time_since_get"),),
        "uncommitted": (_Inherited("queue_uncommitted_messages"),),
        "file_mb": (_Inherited("queue_qfile_current_size"),),
        "file_max_mb": (_Inherited("queue_qfile_max_size"),),
        "puts": (_Inherited("queue_mqput_mqput1_count"),),
        "gets": (_Inherited("queue_mqget_count"),),
        "depth_max": (_Inherited("queue_hi_depth"),),
    },
    "channel": {
        "status": (_Inherited("channel_status"), _Inherited("channel_status_squash", numbers=_SQUASHED)),
        "substate": (_Inherited("channel_substate"),),
        "type": (_Inherited("channel_type"),),
        "msgs": (_Inherited("channel_messages"),),
        "batches": (_Inherited("channel_batches"),),
        "bytes_sent": (_Inherited("channel_bytes_sent"),),
        "bytes_rcvd": (_Inherited("channel_bytes_rcvd"),),
        "buffers_sent": (_Inherited("channel_buffers_sent"),),
        "buffers_rcvd": (_Inherited("channel_buffers_rcvd"),),
        "last_msg_age_s": (_Inherited("channel_time_since_msg"),),
        "nettime_us_short": (_Inherited("channel_nettime_short"),),
        "nettime_us_long": (_Inherited("channel_nettime_long"),),
        "xbatchsz_short": (_Inherited("channel_batchsz_short"),),
        "xbatchsz_long": (_Inherited("channel_batchsz_long"),),
        "xqtime_us_short": (_Inherited("channel_xmitq_time_short"),),
        "xqtime_us_long": (_Inherited("channel_xmitq_time_long"),),
        "maxinst": (_Inherited("channel_attribute_max_inst"),),
        "maxinstc": (_Inherited("channel_attribute_max_instc"),),
        "instances": (_Inherited("channel_cur_inst"),),
        "security_protocol": (_Inherited("channel_security_protocol"),),
    },
    "buffer_pool": {
        "free": (_Inherited("bufferpool_buffers_free"),),
        "free_pct": (_Inherited("bufferpool_buffers_free_percent"),),
        "total": (_Inherited("bufferpool_buffers_total"),),
    },
    "page_set": {
        "total_pages": (_Inherited("pageset_pages_total"),),
        "unused_pages": (_Inherited("pageset_pages_unused"),),
        "nonpersist_pages": (_Inherited("pageset_pages_nonpersistent"),),
        "persist_pages": (_Inherited("pageset_pages_persistent"),),
        "status": (_Inherited("pageset_status"),),
        "expand_count": (_Inherited("pageset_expansion_count", always_gauge=True),),
    },
}
"""Kind -> metric -> what mq_prometheus calls it."""


Labels = tuple[tuple[str, str], ...]

ZOS = "ZOS"
PLATFORM = "platform"
_OWNER_DESCRIPTION = "description of the owner"


def labels_of(name: ObjectName, texts: Mapping[str, str], groups: Collection[str] = frozenset()) -> Labels:
    """The labels of all samples of an object, in the order of their names; blank ones are left out.

    ``texts`` are those of ``label_texts`` and of ``owner_texts``, as far as they are known; without the latter the
    platform is z/OS. ``groups`` are the owners that are queue-sharing groups: their objects have ``qsg`` where others
    have ``qmgr``.
    """
    described = _LABELS.get(name.kind, _OWNER_ONLY)
    found = {} if name.kind in _WITHOUT_PLATFORM else {PLATFORM: texts.get(PLATFORM) or ZOS}
    found["qsg" if name.kind in _OF_GROUP or name.owner in groups else "qmgr"] = name.owner
    for label, make in described.of_name:
        found[label] = make(name.name)
    for label, metric, unset, words in described.of_texts:
        text = texts.get(metric, "").strip()
        found[label] = words.get(text, text) if text else unset
    return tuple((label, found[label]) for label in sorted(found) if found[label])


def owner_texts(queue_manager: Mapping[str, str]) -> dict[str, str]:
    """What labels take from an object's queue manager, whose platform and description are given as words."""
    found = {PLATFORM: queue_manager.get(PLATFORM, ""), _OWNER_DESCRIPTION: queue_manager.get("description", "")}
    return {key: text for key, text in found.items() if text}


def label_metrics(kind: str) -> tuple[str, ...]:
    """The metrics of a kind that its labels are made of."""
    made_of = tuple(
        metric for _, metric, _, _ in _LABELS.get(kind, _OWNER_ONLY).of_texts if metric != _OWNER_DESCRIPTION
    )
    return (*made_of, PLATFORM) if kind == QUEUE_MANAGER_KIND.name else made_of


def label_texts(kind: Kind, values: Mapping[str, Value]) -> dict[str, str]:
    """An object's present values of ``label_metrics`` as words: states by their names, numbers as digits."""
    found = {}
    for name in label_metrics(kind.name):
        value, metric = values.get(name), kind.metric(name)
        if value is not None and metric is not None:
            found[name] = next((word for word, number in metric.values.items() if number == value), "") or str(value)
    return found


def owner_label(kind: str) -> str:
    """The label that has the owner of a kind's objects, of those that belong to one queue manager or to the group."""
    return "qsg" if kind in _OF_GROUP else "qmgr"


def name_labels(kind: str) -> tuple[str, ...]:
    """The labels that have an object's name: one with all of it, or one for each part; none where the owner is all."""
    return tuple(label for label, part in _LABELS.get(kind, _OWNER_ONLY).of_name if part("") != UNSET)


def label_names(kind: str) -> frozenset[str]:
    """All labels that series of a kind may have."""
    described = _LABELS.get(kind, _OWNER_ONLY)
    return frozenset(
        {PLATFORM, "qmgr", "qsg"}
        | {label for label, _ in described.of_name}
        | {label for label, _, _, _ in described.of_texts}
    )


def identity_labels(name: ObjectName, groups: Collection[str] = frozenset()) -> Labels:
    """Those labels of ``labels_of`` that are an object's own for good: its owner and its name, blank parts of it too."""
    described = _LABELS.get(name.kind, _OWNER_ONLY)
    owner = "qsg" if name.kind in _OF_GROUP or name.owner in groups else "qmgr"
    named = name_labels(name.kind)
    return (owner, name.owner), *((label, part(name.name)) for label, part in described.of_name if label in named)


def object_of_labels(kind: str, labels: Mapping[str, str]) -> ObjectName | None:
    """The object of a kind whose series have these labels; None: they name no owner."""
    owner = labels.get("qsg") or labels.get("qmgr")
    if not owner:
        return None
    parts = [labels.get(label, "") for label in name_labels(kind)]
    while len(parts) > 1 and not parts[-1]:
        del parts[-1]
    return ObjectName(owner, kind, "/".join(parts))


def _whole(name: str) -> str:
    return name


def _part(which: int, of: int) -> Callable[[str], str]:
    """One of the parts of a name, of which the last may hold slashes itself."""

    def part(name: str) -> str:
        parts = name.split("/", of - 1)
        return parts[which] if which < len(parts) else ""

    return part


_NO_WORDS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _Described:
    """The labels of a kind beside its owner and the platform.

    ``of_name``: label, and what it takes of the object's name. ``of_texts``: label, metric, what it is while the metric
    is not known, and the words of mq_prometheus for those of MQSC.
    """

    of_name: tuple[tuple[str, Callable[[str], str]], ...] = ()
    of_texts: tuple[tuple[str, str, str, Mapping[str, str]], ...] = ()


_OWNER_ONLY = _Described()
_OF_GROUP = frozenset({"qsg", "cf_structure", "smds"})
_WITHOUT_PLATFORM = frozenset({"store", "receiver", "remote_write", "server"})

_CHANNEL_TYPES = {
    "SDR": "SENDER",
    "SVR": "SERVER",
    "RCVR": "RECEIVER",
    "RQSTR": "REQUESTER",
    "CLUSRCVR": "CLUSRCVR",
    "CLUSSDR": "CLUSSDR",
}
_LOCATIONS = {
    "BELOW": "Below",
    "ABOVE": "Above",
    "SWITCHING_ABOVE": "Switching Above",
    "SWITCHING_BELOW": "Switching Below",
}
_PAGE_CLASSES = {"PAGE4KB": "4KB", "FIXED4KB": "Fixed4KB"}

_LABELS: Mapping[str, _Described] = {
    "queue_manager": _Described((), (("description", "description", UNSET, _NO_WORDS),)),
    "queue": _Described(
        (("queue", _whole),),
        (
            ("cluster", "cluster", UNSET, _NO_WORDS),
            ("description", "description", UNSET, _NO_WORDS),
            ("usage", "usage", "", _NO_WORDS),
        ),
    ),
    "channel": _Described(
        (("channel", _whole), ("jobname", lambda _: UNSET)),
        (
            ("connname", "conname", UNSET, _NO_WORDS),
            ("description", "description", UNSET, _NO_WORDS),
            ("rqmname", "remote_queue_manager", UNSET, _NO_WORDS),
            ("sslciph", "ssl_cipher", UNSET, _NO_WORDS),
            ("type", "type", "", _CHANNEL_TYPES),
        ),
    ),
    "buffer_pool": _Described(
        (("bufferpool", _whole),),
        (("location", "location", "", _LOCATIONS), ("pageclass", "page_class", "", _PAGE_CLASSES)),
    ),
    "page_set": _Described((("pageset", _whole),), (("bufferpool", "buffer_pool", "", _NO_WORDS),)),
    "client": _Described(
        (("client", _whole),),
        (
            ("address", "address", "", _NO_WORDS),
            ("application", "remote_application", "", _NO_WORDS),
            ("channel", "channel_name", "", _NO_WORDS),
        ),
    ),
    "cluster_queue_manager": _Described(
        (("cluster", _part(0, 2)), ("cluster_qmgr", _part(1, 2))),
        (("qmtype", "role", "", {"NORMAL": "PARTIAL", "REPOSITORY": "FULL"}),),
    ),
    "dead_letter": _Described((("reason", _part(0, 2)), ("queue", _part(1, 2)))),
    "subscription": _Described((("queue", _whole),)),
    "cf_structure": _Described((("structure", _whole),)),
    "smds": _Described((("structure", _part(0, 2)), ("member", _part(1, 2)))),
    "smds_connection": _Described((("structure", _part(0, 2)), ("member", _part(1, 2)))),
    "channel_initiator": _Described((), (("description", _OWNER_DESCRIPTION, UNSET, _NO_WORDS),)),
    "adapter": _Described((("task", _whole),)),
    "dispatcher": _Described((("task", _whole),)),
    "ssl_task": _Described((("task", _whole),)),
    "dns_task": _Described((("task", _whole),)),
    "application": _Described((("application", _part(0, 2)), ("queue", _part(1, 2)))),
    "agent": _Described((("command", _whole),)),
    "receiver": _Described((("receiver", _whole),)),
    "remote_write": _Described((("remote_write", _whole),)),
}

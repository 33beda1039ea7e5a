"""Inputs of a formula from what a store and the declared facts hold of an object, for ``plan --from``.

``INPUT_SOURCES`` says by formula and kind of object which metrics an input comes from; of several sources of an input
the first that gives an allowed value counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_rules.plan.formula import Formula, Given, Input, PlanError
from mqvitals_rules.plan.structures import CONTROL_SHARE, MQMD_BYTES
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.ruleset.facts import Facts


class KnownValue(NamedTuple):
    """The number or text of a metric as of ``ts`` (ms UTC; None: declared); ``silent``: why no newer value came.

    Of a counter the increase in the last hour; of ``METRIC/s`` that increase a second.
    """

    value: float | str
    ts: int | None
    silent: str = ""


@dataclass(frozen=True, slots=True)
class InputSource:
    """An input of a formula and how it is calculated: ``of`` takes the metrics in their order; None: no value.

    ``words`` describe the calculation to a person. ``msgs`` is a metric of the object, ``queue_manager.processors``
    one of the single object of that kind of the same owner, ``queues.puts`` the sum over the queues of the object,
    ``msgs/s`` the increase of a counter a second, ``msgs:s`` the seconds that the increase covers.
    """

    input: str
    words: str
    metrics: tuple[str, ...]
    of: Callable[..., float | str | None]


def of_metric(given: str, metric: str, factor: float = 1) -> InputSource:
    """The input is the metric times ``factor``."""
    return InputSource(
        given, metric if factor == 1 else f"{metric} x {factor:,g}", (metric,), lambda value: value * factor
    )


def of_quotient(given: str, above: str, below: str, factor: float = 1) -> InputSource:
    """The input is one metric divided by another, times ``factor``; no value where the divisor is 0."""
    return InputSource(given, f"{above} / {below}", (above, below), lambda a, b: a / b * factor if b else None)


InputSources = tuple[InputSource, ...]


def _entry_bytes(size_kb: float, used_pct: float, entries: float) -> float | None:
    """Average bytes of a message, as the formulas count them: a quarter more is control storage."""
    return size_kb * 1024 * used_pct / 100 / CONTROL_SHARE / entries if entries else None


_OF_ENTRY = ("size_max_kb", "size_used_pct", "entries_used")
_ENTRY = InputSource("msg_bytes", "size_max_kb x size_used_pct / 1.25 / entries_used", _OF_ENTRY, _entry_bytes)
_ENTRY_DATA = InputSource(
    "user_bytes",
    "size_max_kb x size_used_pct / 1.25 / entries_used, less 324 of MQMD",
    _OF_ENTRY,
    lambda *of: None if (each := _entry_bytes(*of)) is None else max(0, each - MQMD_BYTES),
)

_BATCH: InputSources = (of_metric("batch_msgs", "batchsz"), of_metric("batch_msgs", "batchsz_defined"))
_PARTNER_US = 1000
"""Time of the partner at the end of a batch, mostly its commit: NETTIME leaves that out."""


def _wait(metric: str) -> InputSource:
    return InputSource(
        "wait_us", f"{metric} + {_PARTNER_US} for the partner", (metric,), lambda value: value + _PARTNER_US
    )


_WAIT: InputSources = (_wait("nettime_us_short"), _wait("nettime_avg_us"))
_ACHIEVED: InputSources = (
    of_metric("achieved_batch_msgs", "xbatchsz_short"),
    of_quotient("achieved_batch_msgs", "msgs", "batches"),
)


def _sent(given: str, factor: float = 1) -> InputSources:
    """The average length of a channel's messages: records have that of the messages, polls what was sent for them."""
    return (
        of_quotient(given, "interval_bytes", "interval_msgs", factor),
        of_quotient(given, "carried_bytes", "msgs", factor),
    )


_PUT: InputSources = (of_quotient("msg_bytes", "put_bytes", "puts"), of_metric("msg_bytes", "largest_msg_bytes"))
_ON_IT = of_quotient("msg_bytes", "queues.put_bytes", "queues.puts")
"""The average length of messages last put on the queues of the object."""
_LAYOUT = InputSource(
    "layout",
    "queue_manager.maxshortmsgs",
    ("queue_manager.maxshortmsgs",),
    lambda value: "shipped" if value else "maxshortmsgs-0",
)
_INDEXED: Mapping[str, InputSources] = {
    "queue": (of_metric("messages", "index_entries"), of_metric("messages", "depth")),
    "queue_manager": (of_metric("messages", "planned_indexed_msgs"),),
}
_LIMITED: Mapping[str, InputSources] = {
    "channel": (*_BATCH, *_sent("avg_bytes"), of_metric("batch_limit_kb", "batchlim_kb"))
}
_PROCESSORS: Mapping[str, InputSources] = {
    "channel_initiator": (of_metric("processors", "queue_manager.processors"),),
    "queue_manager": (of_metric("processors", "processors"),),
}

_LOGGED: InputSources = (
    of_quotient("msg_bytes", "persistent_put_bytes", "persistent_puts"),
    InputSource("msgs_per_s", "persistent_puts a second in the last hour", ("persistent_puts/s",), lambda value: value),
    InputSource(
        "in_qsg",
        "queue_manager.qsg_name",
        ("queue_manager.qsg_name",),
        lambda name: "yes" if str(name).strip() else "no",
    ),
)

INPUT_SOURCES: Mapping[str, Mapping[str, InputSources]] = {
    "cf-structure-size": {"cf_structure": (_ENTRY, of_metric("max_msgs", "entries_used"))},
    "cf-structure-messages": {"cf_structure": (of_metric("size_kb", "size_max_kb"), _ENTRY_DATA)},
    "csq-admin-queue-managers": {
        "cf_structure": (of_metric("entries_max", "entries_max"), of_metric("entries_used", "entries_used"))
    },
    "cf-backup-interval": {"cf_structure": (of_metric("target_s", "recovery_target_s"), _ENTRY)},
    "cf-backup-cpu": {"cf_structure": (of_metric("msgs", "entries_used"),)},
    "cf-restore-time": {"cf_structure": (of_metric("msgs", "entries_used"),)},
    "batch-transfer-time": {
        "channel": (
            InputSource("messages", "msgs in the last hour", ("msgs",), lambda value: value),
            of_metric("messages", "xmitq_msgs"),
            *_BATCH,
            *_WAIT,
        )
    },
    "channel-ceiling": {"channel": (*_BATCH, *_WAIT)},
    "batch-bytes": _LIMITED,
    "batch-buffers": _LIMITED,
    "receive-timeout-cost": {
        "channel": (
            InputSource("msgs_per_s", "msgs a second in the last hour", ("msgs/s",), lambda value: value),
            *_ACHIEVED,
        )
    },
    "receive-timeout-overhead": {"channel": _ACHIEVED},
    "tcp-window-rate": {
        "channel": (of_metric("rtt_ms", "ping_us", 0.001), of_metric("rtt_ms", "nettime_us_short", 0.001))
    },
    "message-retry-block": {
        "channel": (of_metric("retry_count", "mr_count"), of_metric("retry_interval_ms", "mr_interval_ms"))
    },
    "ssl-cpu": {"channel": _sent("msg_kb", 1 / 1024)},
    "ssl-channels": {
        "channel_initiator": (of_metric("max_msg_kb", "tls_msg_kb"), of_metric("epvt_kb", "extended_private_kb"))
    },
    "chiadaps": _PROCESSORS,
    "chidisps": _PROCESSORS,
    "adapter-wait": {
        "channel_initiator": (
            of_metric("avg_elapsed_us", "adapter_avg_elapsed_us"),
            of_metric("avg_cpu_us", "adapter_avg_cpu_us"),
        )
    },
    "adapter-busy": {
        "channel_initiator": (
            InputSource(
                "requests_per_s",
                "adapter_requests a second in the last hour",
                ("adapter_requests/s",),
                lambda each: each,
            ),
            of_metric("avg_elapsed_us", "adapter_avg_elapsed_us"),
            of_metric("adapters", "adapters_started"),
        )
    },
    "page-set-capacity": {"page_set": (of_metric("pages", "total_pages"), _ON_IT, _LAYOUT), "queue": (*_PUT, _LAYOUT)},
    "buffer-pool-capacity": {
        "buffer_pool": (of_metric("buffers", "total"), _ON_IT, _LAYOUT),
        "queue": (*_PUT, _LAYOUT),
    },
    "buffer-pool-outage-time": {
        "buffer_pool": (
            of_metric("buffers", "total"),
            InputSource("used_buffers", "total - free", ("total", "free"), lambda total, free: total - free),
            _ON_IT,
            _LAYOUT,
        ),
        "queue": (
            *_PUT,
            _LAYOUT,
            of_metric("put_per_s", "put_rate"),
            of_metric("get_per_s", "get_rate"),
        ),
    },
    "index-storage": _INDEXED,
    "index-rebuild-time": _INDEXED,
    "index-rebuild-cpu": _INDEXED,
    "index-rebuild-time-by-pages": {
        "queue": (*_INDEXED["queue"], *_PUT, _LAYOUT),
        "queue_manager": _INDEXED["queue_manager"],
    },
    "security-storage": {
        "queue_manager": (of_metric("users", "security_users"), of_metric("resources", "security_resources"))
    },
    "expiry-scan-cost": {
        "queue_manager": (of_metric("shared_queues", "shared_queues"), of_metric("interval_s", "expiry_interval_s"))
    },
    "log-compression-saved": {
        "log": (
            InputSource("before_bytes", "comp_before in the last hour", ("comp_before",), lambda value: value),
            InputSource("after_bytes", "comp_after in the last hour", ("comp_after",), lambda value: value),
        )
    },
    "log-data-rate": {"queue": _LOGGED},
    "log-fill-time": {
        "queue": (
            *_LOGGED,
            InputSource("log_gb", "log.data_set_mb / 1024", ("log.data_set_mb",), lambda value: value / 1024),
        )
    },
    "log-statistics-rate": {
        "log": (
            InputSource("ci_writes", "ci_writes in the last hour", ("ci_writes",), lambda value: value),
            InputSource("cis_created", "cis_created in the last hour", ("cis_created",), lambda value: value),
            InputSource("interval_s", "the intervals of these records", ("ci_writes:s",), lambda value: value),
        )
    },
    "ams-key-reuse": {
        "queue": (
            InputSource("msgs", "puts in the last hour", ("puts",), lambda value: value),
            of_metric("key_reuse", "ams_key_reuse"),
        )
    },
    "ams-streaming-cost": {
        "channel": (InputSource("msgs_per_s", "msgs a second in the last hour", ("msgs/s",), lambda value: value),)
    },
    "selector-get-cost": {"queue": (of_metric("other_msgs", "depth"), of_metric("gets_per_s", "get_rate"))},
    "lspr-translate": {"queue_manager": (of_metric("target_processors", "processors"),)},
    "cpu-busy": {"queue_manager": (of_metric("processors", "processors"),)},
}
"""By formula and kind of object."""


KnownMetric = KnownValue | Absence
"""The value of a metric, or why it is absent."""


class FoundInput(NamedTuple):
    """An input that was not given: its value, the calculation in words and its oldest timestamp; or why there
    is no value.
    """

    input: Input
    value: Given | None
    words: str
    ts: int | None = None
    silent: str = ""


def kinds_of(formula: str) -> tuple[str, ...]:
    """The kinds of object that an input of a formula can be taken from."""
    return tuple(kind for kind, sources in INPUT_SOURCES.get(formula, {}).items() if sources)


def metrics_of(formula: str, kind: str) -> frozenset[str]:
    """The metrics that a formula's inputs are taken from."""
    return frozenset(metric for source in INPUT_SOURCES.get(formula, {}).get(kind, ()) for metric in source.metrics)


def find_inputs(
    formula: Formula, kind: str, metrics: Mapping[str, KnownMetric], given: Collection[str] = ()
) -> tuple[FoundInput, ...]:
    """Each input that is not ``given`` and has a source in objects of ``kind``, or is required and has none.

    ``metrics`` holds the known metrics. The first source that gives an allowed value counts.
    """
    sources = INPUT_SOURCES.get(formula.name, {}).get(kind, ())
    found = []
    for each in formula.inputs:
        if each.name in given:
            continue
        tried = [_found(each, source, metrics) for source in sources if source.input == each.name]
        best = next((one for one in tried if one.value is not None), None)
        if best is not None:
            found.append(best)
        elif tried:
            found.append(tried[0])
        elif each.default is None:
            found.append(FoundInput(each, None, "no metric has it"))
    return tuple(found)


def _found(each: Input, source: InputSource, metrics: Mapping[str, KnownMetric]) -> FoundInput:
    known: list[KnownValue] = []
    for metric in source.metrics:
        one = metrics.get(metric, Absence.NOT_ASKED)
        if isinstance(one, Absence):
            return FoundInput(each, None, f"{metric}: {one.value}")
        known.append(one)
    value = source.of(*(one.value for one in known))
    if value is None:
        return FoundInput(each, None, f"{source.words} has no value now")
    try:
        checked = each.checked(value if each.fraction or isinstance(value, str) else round(value))
    except PlanError as error:
        return FoundInput(each, None, f"{source.words}: {error}")
    moments = [one.ts for one in known if one.ts is not None]
    silent = next((one.silent for one in known if one.silent), "")
    return FoundInput(each, checked, source.words, min(moments, default=None), silent)


HOUR_MS = 3_600_000
"""Increases of counters are taken over this time."""

MEMBERS = "queues"
"""``queues.puts`` is the sum over the queues of the object."""

RATE, SECONDS = "/s", ":s"
"""Suffixes of names: a counter's increase a second, and the seconds that the increase covers."""


def known_metrics(
    reader: StoreReader, name: ObjectName, metrics: Iterable[str], facts: Facts, now: int
) -> dict[str, KnownMetric]:
    """The values of ``metrics`` of an object at ``now`` (ms UTC): of counters over the hour before.

    Raises StoreError.
    """
    found: dict[str, KnownMetric] = {}
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    for wanted in sorted(metrics):
        kind, dot, plain = wanted.rpartition(".")
        if kind == MEMBERS:
            found[wanted] = _of_members(reader, name, plain)
            continue
        owner = ObjectName(name.owner, kind) if dot else name
        if owner not in current:
            current[owner] = reader.current(owner) if reader.has(owner) else {}
        metric = KINDS[owner.kind].metric(plain.removesuffix(RATE).removesuffix(SECONDS))
        assert metric is not None, f"no such metric: {wanted}"
        found[wanted] = _known(reader, owner, metric, current[owner], facts, now, way=wanted[-2:])
    return found


def _known(
    reader: StoreReader,
    name: ObjectName,
    metric: Metric,
    current: Mapping[str, CurrentValue],
    facts: Facts,
    now: int,
    *,
    way: str,
) -> KnownMetric:
    declared = facts.of(name).get(metric.name)
    if isinstance(declared, (int, float)):
        return KnownValue(declared, None)
    if metric.declared:
        return Absence.NOT_DECLARED
    known = from_current(current, metric)
    if metric.type is not MetricType.COUNTER or not current:
        return known
    samples = [
        sample
        for sample in reader.told(name, metric.name, first=now - HOUR_MS, last=now)[1]
        if sample.value is not None and (sample.interval_ms or way not in (RATE, SECONDS))
    ]
    if not samples:
        return known if isinstance(known, Absence) else Absence.WINDOW
    total = sum(sample.value or 0 for sample in samples)
    seconds = sum(sample.interval_ms or 0 for sample in samples) / 1000
    value = total / seconds if way == RATE else seconds if way == SECONDS else total
    return KnownValue(value, samples[-1].ts, known.silent if isinstance(known, KnownValue) else "")


def _of_members(reader: StoreReader, name: ObjectName, plain: str) -> KnownMetric:
    """The sum over the queues of an object that have a value."""
    metric = KINDS["queue"].metric(plain)
    assert metric is not None, f"no such metric: {plain}"
    values_of_queues = [
        from_current(values, metric)
        for values in reader.current_by_kind(name.owner, "queue", {plain, name.kind}).values()
        if (on := values.get(name.kind)) is not None and str(on.value) == name.name
    ]
    known = [
        each
        for each in values_of_queues
        if isinstance(each, KnownValue) and not isinstance(each.value, str) and each.ts is not None
    ]
    if not known:
        return next((each for each in values_of_queues if isinstance(each, Absence)), Absence.NOTHING_TO_TELL)
    return KnownValue(sum(float(each.value) for each in known), min(each.ts or 0 for each in known))


def from_current(values: Mapping[str, CurrentValue], metric: Metric) -> KnownMetric:
    """The newest value of a metric: of a counter, the increase at the last poll."""
    current = values.get(metric.name)
    if current is None:
        if metric.needs_smf:
            return Absence.NEEDS_SMF
        return Absence.NEEDS_STATISTICS if metric.needs_statistics else Absence.NOT_ASKED
    if isinstance(current.value, Absence):
        return current.value
    return KnownValue(current.value, current.ts, current.unanswered.value if current.unanswered is not None else "")

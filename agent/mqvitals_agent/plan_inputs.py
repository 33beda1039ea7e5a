"""Inputs of a formula from what a store and the declared facts hold of an object, for ``plan --from``.

``INPUT_SOURCES`` gives by formula and kind of object the expressions that an input comes from; of several the first
that gives an allowed value counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_rules.expression.evaluation import Missing
from mqvitals_rules.expression.expression import Calculation, Expression, compile_expression, compile_value
from mqvitals_rules.history import Point
from mqvitals_rules.instant_context import InstantContext, NoMembers
from mqvitals_rules.plan.formula import Formula, Given, Input, PlanError
from mqvitals_rules.plan.structures import CONTROL_SHARE, MQMD_BYTES
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.expression.context import Context
    from mqvitals_rules.ruleset.facts import Facts


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


class KnownValue(NamedTuple):
    """The number or text of a metric as of ``ts`` (ms UTC; None: declared); ``silent``: why no newer value came."""

    value: float | str
    ts: int | None
    silent: str = ""


KnownMetric = KnownValue | Absence
"""The value of a metric, or why it is absent."""


class ObjectValues:
    """What a store and the declared facts hold of an object and of what belongs to it, at ``now`` (ms UTC).

    ``answered_only``: a value that was asked for since without an answer is absent. Its methods raise StoreError.
    """

    def __init__(
        self, reader: StoreReader, name: ObjectName, facts: Facts, now: int, *, answered_only: bool = False
    ) -> None:
        self.name = name
        self.now = now
        self._reader = reader
        self._facts = facts
        self._answered_only = answered_only
        self._current: dict[str, Mapping[str, CurrentValue]] = {}

    def known(self, kind: str, metric: str) -> KnownMetric:
        """The latest value of a metric of the object, or of the single object of another kind of the same owner."""
        name = self._named(kind)
        declared = self._facts.of(name).get(metric)
        if isinstance(declared, (int, float)):
            return KnownValue(declared, None)
        of = metric_of(kind, metric)
        if of.declared:
            return Absence.NOT_DECLARED
        if kind not in self._current:
            self._current[kind] = self._reader.current(name) if self._reader.has(name) else {}
        current = self._current[kind].get(metric)
        if self._answered_only and current is not None and current.unanswered is not None:
            return current.unanswered
        return _known(current, of)

    def points(self, kind: str, metric: str, since: int) -> list[Point]:
        """The increases of a counter after ``since`` (ms UTC), oldest first."""
        name = self._named(kind)
        if not self._reader.has(name):
            return []
        samples = self._reader.covering_samples(name, metric, first=since + 1, last=self.now)[1]
        return [Point(each.ts, each.value, each.interval_ms) for each in samples if each.value is not None]

    def members(self, kind: str, metrics: Collection[str]) -> list[Mapping[str, KnownMetric]]:
        """The ``metrics`` of each object of ``kind`` that belongs to the object."""
        link = self.name.kind
        rows = self._reader.current_by_kind(self.name.owner, kind, {*metrics, link})
        return [
            {metric: _known(values.get(metric), metric_of(kind, metric)) for metric in metrics}
            for values in rows.values()
            if (named := values.get(link)) is not None and str(named.value) == self.name.name
        ]

    def _named(self, kind: str) -> ObjectName:
        return self.name if kind == self.name.kind else ObjectName(self.name.owner, kind)


def _known(current: CurrentValue | None, metric: Metric) -> KnownMetric:
    if current is None:
        if metric.needs_smf:
            return Absence.NEEDS_SMF
        return Absence.NEEDS_STATISTICS if metric.needs_statistics else Absence.NOT_ASKED
    if isinstance(current.value, Absence):
        return current.value
    return KnownValue(current.value, current.ts, current.unanswered.value if current.unanswered is not None else "")


class _SourceContext(InstantContext):
    """The context of one expression. It notes of each value that is read when it was reported, and why not since."""

    def __init__(self, values: ObjectValues, member_metrics: Collection[str]) -> None:
        super().__init__(self._reported, values.now, values.name.name)
        self._values = values
        self._member_metrics = sorted(member_metrics)
        self._members: dict[str, _Members] = {}
        self.read: list[KnownValue] = []

    def _reported(self, kind: str, metric: str) -> Reported:
        return self._noted(self._values.known(kind, metric))

    def _noted(self, known: KnownMetric) -> Reported:
        if isinstance(known, Absence):
            return known
        self.read.append(known)
        return known.value

    def points(self, kind: str, metric: str, since_ms: int) -> Sequence[Point]:
        """The increases of a counter, oldest first."""
        points = self._values.points(kind, metric, since_ms)
        if points:
            known = self._values.known(kind, metric)
            silent = known.silent if isinstance(known, KnownValue) else ""
            self.read.append(KnownValue(points[-1].value or 0, points[-1].ts, silent))
        return points

    def members(self, kind: str) -> NoMembers:
        """The members of which all metrics of the expression are known, so that a quotient is that of the same ones."""
        if kind not in self._members:
            self._members[kind] = self._read_members(kind)
        return self._members[kind]

    def _read_members(self, kind: str) -> _Members:
        members = self._values.members(kind, self._member_metrics)
        complete = [each for each in members if not any(isinstance(known, Absence) for known in each.values())]
        if complete:
            return _Members(
                [{metric: self._noted(known) for metric, known in each.items()} for each in complete], self.now
            )
        # One member without values carries the reason.
        reasons = (known for each in members for known in each.values() if isinstance(known, Absence))
        absence = next(reasons, Absence.NOTHING_TO_TELL)
        return _Members([dict.fromkeys(self._member_metrics, absence)], self.now)


class _Members(NoMembers):
    def __init__(self, members: Sequence[Mapping[str, Reported]], now: int) -> None:
        super().__init__()
        self._members = members
        self._now = now

    def __iter__(self) -> Iterator[tuple[Context, Mapping[str, Reported]]]:
        for values in self._members:
            yield InstantContext(partial(_of_member, values), self._now), values


def _of_member(values: Mapping[str, Reported], _: str, metric: str) -> Reported:
    return values[metric]


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


def find_inputs(formula: Formula, values: ObjectValues, given: Collection[str] = ()) -> tuple[FoundInput, ...]:
    """Each input that is not ``given`` and has a source in objects of this kind, or is required and has none.

    The first source that gives an allowed value counts. Raises StoreError.
    """
    sources = INPUT_SOURCES.get(formula.name, {}).get(values.name.kind, ())
    found = []
    for each in formula.inputs:
        if each.name in given or any(other in given for other in each.instead_of):
            continue
        tried: list[FoundInput] = []
        for source in sources:
            if source.input == each.name and not (tried and tried[-1].value is not None):
                tried.append(_found(each, source, values))
        if tried:
            found.append(tried[-1] if tried[-1].value is not None else tried[0])
        elif each.default is None and not each.instead_of:
            found.append(FoundInput(each, None, "no metric has it"))
    return tuple(found)


def _found(each: Input, source: InputSource, values: ObjectValues) -> FoundInput:
    if source.text:
        return _found_text(each, source, values)
    compiled = compiled_source(source, values.name.kind)
    context = _SourceContext(values, {metric for use in compiled.members for _, metric in use.names})
    value, missing = _evaluated(compiled, source, context)
    if value is None:
        # What is missing is a metric, or the text of a division by 0.
        name, absence = missing[0]
        return FoundInput(
            each, None, f"{source.described} has no value now" if " " in name else f"{name}: {absence.value}"
        )
    try:
        checked = each.checked(value if each.fraction or isinstance(value, str) else round(value))
    except PlanError as error:
        return FoundInput(each, None, f"{source.described}: {error}")
    moments = [one.ts for one in context.read if one.ts is not None]
    silent = next((one.silent for one in context.read if one.silent), "")
    return FoundInput(each, checked, source.described, min(moments, default=None), silent)


def _found_text(each: Input, source: InputSource, values: ObjectValues) -> FoundInput:
    known = values.known(values.name.kind, source.expression)
    if isinstance(known, Absence):
        return FoundInput(each, None, f"{source.described}: {known.value}")
    try:
        return FoundInput(each, each.checked(str(known.value)), source.described, known.ts, known.silent)
    except PlanError as error:
        return FoundInput(each, None, f"{source.described}: {error}")


@cache
def compiled_source(source: InputSource, kind: str) -> Calculation | Expression:
    """The expression of a source for objects of a kind. Raises ExpressionError."""
    return (compile_expression if source.choices else compile_value)(source.expression, KINDS[kind], KINDS)


def _evaluated(
    compiled: Calculation | Expression, source: InputSource, context: Context
) -> tuple[Given | None, tuple[Missing, ...]]:
    """The value of a source, None with what is missing."""
    if isinstance(compiled, Calculation):
        number = compiled.number(context)
        return number, compiled.missing(context) if number is None else ()
    explanation = compiled.explain(context)
    if explanation.truth is None or source.choices is None:
        return None, explanation.missing
    return source.choices[0 if explanation.truth else 1], ()

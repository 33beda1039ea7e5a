"""What a probe is: how a command is asked, and how an answer becomes rows of metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mqvitals_agent.connection.connection import Query
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED, DecodedReply
from mqvitals_agent.pcf.encoder import integer_filter, integers, request, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.columns import LocalTimes, MetricValues
from mqvitals_agent.poll.selection import RequestSelection
from mqvitals_rules.snapshot import is_object_text
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported


def percent(some: Reported, whole: Reported) -> Reported:
    """``some`` of ``whole`` in percent, to two decimals; absent for the reason either is, or when there is no whole."""
    if type(some) is not int:
        return some if isinstance(some, Absence) else Absence.NOT_RETURNED
    if type(whole) is not int:
        return whole if isinstance(whole, Absence) else Absence.NOT_RETURNED
    return round(100 * some / whole, 2) if whole > 0 else Absence.NOT_RETURNED


GROUP = ""
"""The owner of the group's things inside the collector, until it is known what the group is called."""


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """What to ask: the wanted objects by name (may end in ``*``), the part of the answer (``MQIACF_...``, 0: the probe's usual one),
    the disposition (``MQQSGD_...``, queues only; None: left out) and the command scope (empty: the queue manager that
    gets the request). ``where`` is a filter: only the objects that it holds for. ``clients``, of channel status only:
    True for server connections alone, False for all others; there is no other filter then. ``listed``: only the wanted
    attributes are asked for, where the command takes a list.
    """

    name: str = "*"
    part: int = 0
    disposition: int | None = mq.MQQSGD_ALL
    scope: str = ""
    where: Parameter | None = None
    clients: bool | None = None
    listed: bool = False


def attribute_list(
    options: QueryOptions, selector: int, wanted: frozenset[int], always: frozenset[int]
) -> tuple[Parameter, ...]:
    """The list of the wanted attributes, without those that an answer holds ``always``; none unless it is asked for."""
    return (integers(selector, sorted(wanted - always - TRACKED)),) if options.listed else ()


def half_of_channels(options: QueryOptions) -> tuple[Parameter, ...]:
    """The filter that selects server connections alone, or everything else."""
    if options.clients is None:
        return ()
    operator = mq.MQCFOP_EQUAL if options.clients else mq.MQCFOP_NOT_EQUAL
    return (integer_filter(mq.MQIACH_CHANNEL_TYPE, operator, mq.MQCHT_SVRCONN),)


def pcf_request(command: int, question: QueryOptions, *parameters: Parameter) -> bytes:
    """The request for ``command`` with these parameters, the question's command scope and its filter."""
    scope = (string(mq.MQCACF_COMMAND_SCOPE, question.scope),) if question.scope else ()
    where = () if question.where is None else (question.where,)
    return request(command, (*parameters, *scope, *where))


@dataclass(frozen=True, slots=True, eq=False)
class ProbePart:
    """What one answer holds of one kind of object.

    ``probe`` is its name in readings, ``metrics`` all it can fill, ``poll`` true when it counts as a poll of the kind.
    """

    kind: Kind
    probe: str
    metrics: tuple[str, ...]
    poll: bool


def probe_part(kind: Kind, command: str, *, only: Sequence[str] | None = None, label: str = "") -> ProbePart:
    """The part for ``kind`` of the answer to ``command``; ``only`` some of its metrics, with a ``label`` of its own."""
    names = tuple(m.name for m in kind.metrics if m.command == command and (only is None or m.name in only))
    probe = f"{command} {label}" if label else command
    return ProbePart(kind, probe, names, kind.poll == probe)


@dataclass(slots=True)
class InstanceRow:
    """One current instance of a channel: its key, its metrics (counters as running totals) and its local times."""

    key: tuple[str, ...]
    values: MetricValues
    local: LocalTimes


@dataclass(slots=True)
class ObjectRow:
    """What one answer holds of one object.

    ``whole`` is true unless a filter selected, ``own`` when the queue manager was asked itself, without a scope.
    ``at`` is when the request was put, ``now`` the best moment for ages (the reply's put time, else ``at``),
    ``member`` whose clock the local times show. ``totals`` are running totals of counters, ``instances`` a channel's
    current instances (then ``values`` is made of them later).
    """

    values: MetricValues
    whole: bool
    own: bool
    at: int
    now: int
    member: str
    local: LocalTimes = field(default_factory=dict)
    totals: MetricValues | None = None
    instances: list[InstanceRow] | None = None


@dataclass(slots=True)
class MemberReport:
    """What one queue manager answered to one request, put at ``at`` and answered within ``took`` ms.

    ``distributed``: it does not run on z/OS. ``whole``: nothing of the answer is missing.
    """

    queue_manager: str
    selection: RequestSelection
    items: Sequence[DecodedReply]
    at: int
    now: int
    took: int
    own: bool
    distributed: bool
    whole: bool = True

    def row(
        self, values: MetricValues, local: LocalTimes | None = None, totals: MetricValues | None = None
    ) -> ObjectRow:
        """A row of this answer."""
        whole = not self.selection.partial
        return ObjectRow(values, whole, self.own, self.at, self.now, self.queue_manager, local or {}, totals)


class ChannelDefinition(NamedTuple):
    """What a channel has of its definition while it is inactive: its type (MQCHT; 0: not reported) and transmission
    queue.
    """

    type: int
    xmitq: str = ""


class StorageClass(NamedTuple):
    """Where queues of a storage class lie, and the XCF member (an IMS) to which they are a bridge.

    ``xcf_member`` is empty where they are none, None where it is not known.
    """

    page_set: int
    xcf_member: str | None = None


class Listener(NamedTuple):
    """A listener: its protocol, INDISP, and port or LU name, by which it is known again, and its status."""

    key: tuple[object, ...]
    status: object


@dataclass(slots=True)
class CycleRows:
    """The rows of one cycle by part, owner and name; rows of shared queues by part, name and member."""

    reported: dict[ProbePart, dict[str, dict[str, ObjectRow]]] = field(default_factory=dict)
    shared: dict[ProbePart, dict[str, dict[str, ObjectRow]]] = field(default_factory=dict)
    storage_classes: dict[str, dict[str, StorageClass]] = field(default_factory=dict)
    """By queue manager: its storage classes by name."""
    dead_letter_queues: dict[str, str] = field(default_factory=dict)
    """By queue manager: the name of its dead-letter queue, blank when it has none."""
    distributed: dict[str, bool] = field(default_factory=dict)
    """By queue manager: that it does not run on z/OS."""
    channels_defined: dict[str, dict[str, ChannelDefinition]] = field(default_factory=dict)
    """By queue manager: the channels it defines."""
    altered: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """By kind and name: member and local time of a definition's last alteration."""
    group: str = ""
    """The queue-sharing group's own name."""
    listeners: dict[str, Sequence[Listener]] = field(default_factory=dict)
    """By queue manager: the listeners of its channel initiator."""
    active_members: frozenset[str] | None = None
    """The members that the group calls ACTIVE."""
    newest: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """By queue manager: the newest local time of its status answers, when it was asked and how long it took, ms."""

    def put(self, part: ProbePart, owner: str, name: str, row: ObjectRow) -> None:
        """Keep a row. Two of one object become one, metric by metric: the queue manager's own answer first, then the newest.

        What has a name that no object can have is left out.
        """
        if is_object_text(name) if name else part.kind.single:
            owners = self.reported.get(part)
            if owners is None:
                owners = self.reported[part] = {}
            rows = owners.get(owner)
            if rows is None:
                rows = owners[owner] = {}
            _put(rows, name, row)

    def see(self, answer: MemberReport, local: int) -> None:
        """Note the newest local time in a status answer; 0 when it has none."""
        if local and local >= self.newest.get(answer.queue_manager, (0,))[0]:
            self.newest[answer.queue_manager] = (local, answer.at, answer.took)

    def put_shared(self, part: ProbePart, name: str, row: ObjectRow) -> None:
        """Keep a member's row of a shared object; as ``put``."""
        if is_object_text(name) if name else part.kind.single:
            _put(self.shared.setdefault(part, {}).setdefault(name, {}), row.member, row)


def _put(rows: dict[str, ObjectRow], name: str, row: ObjectRow) -> None:
    before = rows.get(name)
    rows[name] = row if before is None else _merged(before, row)


def _merged(before: ObjectRow, after: ObjectRow) -> ObjectRow:
    first, second = (before, after) if (before.whole, before.own) > (after.whole, after.own) else (after, before)
    if first.instances is not None:
        return first
    first.values = {
        name: first.values[name] if first.values.get(name, Absence.NOT_RETURNED) is not Absence.NOT_RETURNED else value
        for name, value in {**first.values, **second.values}.items()
    }
    return first


class Probe(NamedTuple):
    """One command: ``read`` puts the rows of an answer with items where they belong.

    ``parts`` returns what an answer to a selection holds, ``wanted`` which parameters reading needs (the tracker's
    included), ``key`` which parameter names the object (0: none does), ``parameters`` those of the request, but for
    command scope and filter. ``of_none``: a complete answer without items is read too.
    """

    command: int
    read: Callable[[MemberReport, CycleRows], None]
    parts: Callable[[RequestSelection], Sequence[ProbePart]]
    wanted: frozenset[int]
    key: int = 0
    parameters: Callable[[QueryOptions], tuple[Parameter, ...]] = lambda _: ()
    of_none: bool = False

    def ask(self, options: QueryOptions) -> bytes:
        """The request."""
        return pcf_request(self.command, options, *self.parameters(options))

    def query(self, options: QueryOptions) -> Query:
        """The query of this probe."""
        return Query(self.command, self.ask(options), self.wanted, self.key)


def wanted_parameters(*numbers: int, columns: Sequence[frozenset[int]] = ()) -> frozenset[int]:
    """The tracker's parameters and these."""
    return TRACKED.union(numbers, *columns)

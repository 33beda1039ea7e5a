"""What a probe is: how to ask one command, and how to read its answer into rows of metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED, DecodedReply
from mqvitals_agent.pcf.encoder import request, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.columns import Local, Values
from mqvitals_agent.poll.columns import Row as Metrics
from mqvitals_agent.poll.selection import Selection
from mqvitals_rules.snapshot import is_object_name
from mqvitals_rules.vocabulary.metric import Absence, Kind

GROUP = ""
"""The owner of the group's things inside the collector, until it is known what the group is called."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask: the wanted objects by name (may end in ``*``), the part of the answer (``MQIACF_...``, 0: the probe's usual one),
    the disposition (``MQQSGD_...``, queues only; None: left out) and the command scope (empty: the queue manager that
    gets the request). ``where`` is a filter: only the objects that it holds for.
    """

    name: str = "*"
    part: int = 0
    disposition: int | None = mq.MQQSGD_ALL
    scope: str = ""
    where: Parameter | None = None


def ask(command: int, question: Question, *parameters: Parameter) -> bytes:
    """The request for ``command`` with these parameters, the question's command scope and its filter."""
    scope = (string(mq.MQCACF_COMMAND_SCOPE, question.scope),) if question.scope else ()
    where = () if question.where is None else (question.where,)
    return request(command, (*parameters, *scope, *where))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one answer tells of one kind of object.

    ``probe`` is its name in readings, ``metrics`` all it can fill, ``poll`` true when it counts as a poll of the kind.
    """

    kind: Kind
    probe: str
    metrics: tuple[str, ...]
    poll: bool


def part(kind: Kind, command: str, *, only: Sequence[str] | None = None, label: str = "") -> Part:
    """The part for ``kind`` of the answer to ``command``; ``only`` some of its metrics. With a ``label`` it is no poll."""
    names = tuple(m.name for m in kind.metrics if m.command == command and (only is None or m.name in only))
    return Part(kind, f"{command} {label}" if label else command, names, kind.poll == command and not label)


@dataclass(slots=True)
class InstanceRow:
    """One current instance of a channel: its key, its metrics (counters as running totals) and its local times."""

    key: tuple[str, ...]
    values: Metrics
    local: Sequence[Local]


@dataclass(slots=True)
class Row:
    """What one answer told of one object.

    ``whole`` is true unless a filter selected, ``own`` when the queue manager was asked itself, without a scope. ``at`` is
    when the request was put, ``now`` the best moment for ages (the reply's put time, else ``at``), ``member`` whose clock
    the local times show. ``totals`` are running totals of counters, ``instances`` a channel's current instances (then
    ``values`` is made of them later).
    """

    values: Metrics
    whole: bool
    own: bool
    at: int
    now: int
    member: str
    local: Sequence[Local] = ()
    totals: Metrics | None = None
    instances: list[InstanceRow] | None = None


@dataclass(slots=True)
class Answer:
    """What one queue manager answered to one request, put at ``at`` and answered within ``took`` ms.

    ``distributed`` says that it does not run on z/OS.
    """

    queue_manager: str
    selection: Selection
    items: Sequence[DecodedReply]
    at: int
    now: int
    took: int
    own: bool
    distributed: bool

    def row(self, values: Metrics, local: Sequence[Local] = (), totals: Metrics | None = None) -> Row:
        """A row of this answer."""
        whole = not self.selection.partial
        return Row(values, whole, self.own, self.at, self.now, self.queue_manager, local, totals)


@dataclass(slots=True)
class Rows:
    """The rows of one cycle: by part, owner and name; those of shared queues by part, name and member until they are combined."""

    told: dict[Part, dict[str, dict[str, Row]]] = field(default_factory=dict)
    shared: dict[Part, dict[str, dict[str, Row]]] = field(default_factory=dict)
    storage_classes: dict[str, dict[str, int]] = field(default_factory=dict)
    """By queue manager: storage class to page set."""
    dead_letter_queues: dict[str, str] = field(default_factory=dict)
    """By queue manager: the name of its dead-letter queue, blank when it has none."""
    distributed: dict[str, bool] = field(default_factory=dict)
    """By queue manager: that it does not run on z/OS."""
    channel_types: dict[str, dict[str, int]] = field(default_factory=dict)
    """By queue manager: the channels it defines and their types."""
    altered: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """By sort and name: when a definition of the group was last altered, in the local time of the queue manager that told."""
    group: str = ""
    """The queue-sharing group's own name."""
    newest: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """By queue manager: the newest local time of its status answers, when that was asked for and how long it took, ms."""

    def put(self, part: Part, owner: str, name: str, row: Row) -> None:
        """Keep a row. Two of one object become one, metric by metric: the queue manager's own answer first, then the newest.

        What has a name that no object can have is left out.
        """
        if not _can_be(part, name):
            return
        _put(self.told.setdefault(part, {}).setdefault(owner, {}), name, row)

    def see(self, answer: Answer, local: int) -> None:
        """Note the newest local time that a status answer tells; 0 when it tells none."""
        if local and local >= self.newest.get(answer.queue_manager, (0,))[0]:
            self.newest[answer.queue_manager] = (local, answer.at, answer.took)

    def put_shared(self, part: Part, name: str, row: Row) -> None:
        """Keep a member's row of a shared object; as ``put``."""
        if not _can_be(part, name):
            return
        _put(self.shared.setdefault(part, {}).setdefault(name, {}), row.member, row)


def _can_be(part: Part, name: str) -> bool:
    return is_object_name(name) if name else part.kind.single


def _put(rows: dict[str, Row], name: str, row: Row) -> None:
    before = rows.get(name)
    rows[name] = row if before is None else _merged(before, row)


def _merged(before: Row, after: Row) -> Row:
    first, second = (before, after) if (before.whole, before.own) > (after.whole, after.own) else (after, before)
    if first.instances is not None:
        return first
    first.values = {
        name: first.values[name] if first.values.get(name, Absence.NOT_RETURNED) is not Absence.NOT_RETURNED else value
        for name, value in {**first.values, **second.values}.items()
    }
    return first


class Probe(NamedTuple):
    """One command: ``ask`` builds a request, ``read`` puts an answer's rows where they belong.

    ``parts`` says what an answer to a selection tells about, ``wanted`` which parameters reading needs (the tracker's
    included), ``key`` which parameter names the object (0: none does).
    """

    command: int
    name: str
    ask: Callable[[Question], bytes]
    parts: Callable[[Selection], Sequence[Part]]
    read: Callable[[Answer, Rows], None]
    wanted: frozenset[int]
    key: int = 0


def wanted(*numbers: int, columns: Sequence[frozenset[int]] = ()) -> frozenset[int]:
    """The tracker's parameters and these."""
    return TRACKED.union(numbers, *columns)


__all__ = [
    "GROUP", "Answer", "InstanceRow", "Part", "Probe", "Question", "Row", "Rows", "Values", "ask", "part", "wanted",
]  # fmt: skip

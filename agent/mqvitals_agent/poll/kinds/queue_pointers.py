"""Which queues name another one: as their initiation queue, for messages put aside (BOQNAME), for copies (STREAMQ).

A name in a private queue's definition means a queue of its queue manager, private or shared; one in a shared queue's
definition means a shared queue, or at each member that member's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.poll.probe import GROUP, ObjectRow
from mqvitals_agent.poll.selection import QueryResult
from mqvitals_rules.vocabulary.metric import Absence, Reported

_FIELDS: Final = ("initiation_queue", "backout_queue", "stream_queue")
METRICS: Final = ("initiation_of", "backout_of", "stream_of")
"""What each of these fields makes of the queue that it names: how many name it, and twice who does."""
_MOST_NAMED: Final = 8


@dataclass(slots=True)
class _Definitions:
    """The definitions of one owner: what each queue names, and by field and name the queues that name it."""

    named: dict[str, tuple[Reported, ...]] = field(default_factory=dict)
    pointing: tuple[dict[str, list[str]], ...] = ()
    returned: tuple[bool, ...] = (False,) * len(_FIELDS)

    def learn(self, rows: Mapping[str, ObjectRow], questions: Sequence[QueryResult]) -> None:
        """Take in the rows of a cycle. What a whole answer no longer holds is forgotten."""
        for name in [name for name in self.named if name not in rows]:
            if any(each.absence is None and each.selection.selects(name) for each in questions):
                del self.named[name]
        for name, row in rows.items():
            self.named[name] = tuple(row.values.get(each, Absence.NOT_RETURNED) for each in _FIELDS)
        pointing: tuple[dict[str, list[str]], ...] = tuple({} for _ in _FIELDS)
        returned = [False] * len(_FIELDS)
        for name, named in self.named.items():
            for place, other in enumerate(named):
                if type(other) is str:
                    returned[place] = True
                    if other:
                        pointing[place].setdefault(other, []).append(name)
        self.pointing, self.returned = pointing, tuple(returned)


class QueuePointers:
    """The definitions reported last, of every queue manager and of the group."""

    def __init__(self) -> None:
        self._by_owner: dict[str, _Definitions] = {}

    def learn(self, owner: str, rows: Mapping[str, ObjectRow], questions: Sequence[QueryResult]) -> None:
        """Take in what an owner's definitions, asked for in this cycle, name."""
        self._by_owner.setdefault(owner, _Definitions()).learn(rows, questions)

    def metrics(self, owner: str, name: str) -> dict[str, Reported]:
        """``METRICS`` of a queue; absent where no definition that could name it reports the field."""
        owners = self._by_owner.values() if owner == GROUP else [
            each for key in (owner, GROUP) if (each := self._by_owner.get(key)) is not None
        ]  # fmt: skip
        found: dict[str, Reported] = {}
        for place, metric in enumerate(METRICS):
            if not any(each.returned[place] for each in owners):
                found[metric] = Absence.NOT_RETURNED
                continue
            names = [other for each in owners for other in each.pointing[place].get(name, ())]
            found[metric] = len(names) if metric == "initiation_of" else _listed(names)
        return found


def _listed(names: Iterable[str]) -> str:
    known = sorted(set(names))
    more = len(known) - _MOST_NAMED
    return ", ".join(known) if more <= 0 else f"{', '.join(known[:_MOST_NAMED])} and {more} more"

"""Which objects of a kind named a certain other one at a past moment, without looking at all that they were."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.moment_values import CurrentRow
from mqvitals_rules.latest_state import UNDECIDED
from mqvitals_rules.snapshot import Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

_NEVER: Final = 1 << 62
"""When a link is settled that depends on the moment."""


class ObjectLink(NamedTuple):
    """What an object names: ``word`` as it stands in a name, empty: none. ``open``: it is not known."""

    word: str = ""
    open: bool = False


_OPEN: Final = ObjectLink(open=True)


def link_of(value: Reported | None) -> ObjectLink:
    """The link of a value, or of its absence; of None nothing is told about it."""
    if value is None or isinstance(value, Absence):
        return _OPEN if value is None or value in UNDECIDED else ObjectLink()
    return ObjectLink(value if isinstance(value, str) else str(int(value)))


def link_then(latest: CurrentValue | None, poll: str) -> ObjectLink:
    """The link of what was known at a moment; ``poll`` is the command by which the kind is polled.

    What a record says, or a poll that was not answered, leaves it open.
    """
    if latest is None or latest.source is not Source.POLL:
        return _OPEN
    found = link_of(latest.value)
    silent = latest.unanswered is not None and latest.probe == poll
    return found._replace(open=True) if silent else found


class LinksThen:
    """What the objects of a kind name in one metric, by number, as far as it has been the same since some time.

    Of an object of which only one row of current state, not of the poll, tells the metric, it is what this row has since it
    changed last. What others name depends on the moment.
    """

    def __init__(
        self,
        numbers: Iterable[int],
        polled: Mapping[int, Collection[CurrentRow]],
        recorded: Collection[int],
        metric: str,
        poll: str,
    ) -> None:
        """``polled`` are rows with no other cell than ``metric``; of the objects in ``recorded`` there are records."""
        self.links: dict[int, ObjectLink] = {}
        self._by_word: dict[str, list[int]] = {}
        self._open: list[int] = []
        self._decided: list[int] = []
        settled: list[tuple[int, int]] = []
        for number in numbers:
            link, since = _settled(polled.get(number, ()), metric, poll)
            settled.append((_NEVER if number in recorded else since, number))
            self.links[number] = link
            if link.open:
                self._open.append(number)
            else:
                self._by_word.setdefault(link.word, []).append(number)
                self._decided.append(number)
        settled.sort()
        self._times = [ts for ts, _ in settled]
        self._numbers = [number for _, number in settled]

    def unsettled(self, at: int) -> frozenset[int]:
        """The objects of which another value than that of now may have been told at ``at``, ms UTC."""
        return frozenset(self._numbers[bisect_right(self._times, at) :])

    def naming(self, word: str, then: Mapping[int, ObjectLink], there: Collection[int], *, doubtful: bool) -> set[int]:
        """Those of the objects ``there`` that name ``word``; ``then`` are the links of those not settled.

        With ``doubtful`` also those that may, and where there are others, one of these.
        """
        candidates = set(self._by_word.get(word, ()))
        candidates.update(self._open if doubtful else ())
        found = {number for number in candidates if number not in then and number in there}
        found.update(
            number
            for number, link in then.items()
            if number in there and (link.word == word or (doubtful and link.open))
        )
        if doubtful:
            others = (number for number in self._decided if number not in then)
            decided = (number for number, link in then.items() if not link.open)
            other = next(
                (number for each in (others, decided) for number in each if number in there and number not in found),
                None,
            )
            found.update(() if other is None else (other,))
        return found


def _settled(rows: Collection[CurrentRow], metric: str, poll: str) -> tuple[ObjectLink, int]:
    """The link of an object with these rows, and since when it is settled, ms UTC."""
    telling = [(row, value) for row in rows if (value := _told(row, metric)) is not None]
    if not telling:
        return _OPEN, 0
    (row, value), *more = telling
    return link_of(value), _NEVER if more or row.probe == poll else row.changed


def _told(row: CurrentRow, metric: str) -> Reported | None:
    cell: Reported | None = row.cells[0] if row.cells else None
    return row.absent.get(metric) if cell is None else cell

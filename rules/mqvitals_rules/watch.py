"""What the engine keeps of an object between its polls: which of its rules are due when, and what is unknown about it."""

from __future__ import annotations

from zlib import crc32

from mqvitals_rules.form import Form
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.world import ObjectState

REVIEW_MS = 300_000
"""So often an object is judged by rules that nobody must act on at once."""

_SOON_MS = 60_000
"""And once within this time after its first poll, when much about it is not known yet."""

AT_ONCE = 500
"""So many objects that are new together are judged by them at their first poll; the others within the usual time."""


class Reviews:
    """When an object was judged by rules that are no matter of minutes.

    At its first poll, again within a minute, again within the usual time after that, and then every so often. Objects that are new together
    are spread evenly over each of these times, so that no cycle has to judge them all. Of very many only some are judged at their first poll
    (``at_once``): the others once within the usual time, and then every so often.
    """

    __slots__ = ("_next", "_part", "_seen")

    def __init__(self, name: ObjectName) -> None:
        self._next = -1
        self._seen = 0
        self._part = crc32(f"{name.owner}/{name.name}".encode()) / (1 << 32)

    @property
    def new(self) -> bool:
        """Whether nobody has asked yet."""
        return self._next < 0

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much."""
        if self._next >= 0:
            self._next = max(self._next + by_ms, 0)

    def due(self, now: int, every_ms: int, *, at_once: bool = True) -> bool:
        """Whether it is to be judged by them at ``now`` (ms), and if so, that it has been."""
        if now < self._next:
            return False
        if not at_once and every_ms and self.new:
            self._seen = 2
            self._next = now + int(every_ms * self._part)
            return False
        soon = min(_SOON_MS, every_ms)
        # Twice spread: first over the minute, then over the rest of the usual time.
        wait = (soon * self._part, soon * (1 - self._part) + (every_ms - soon) * self._part, every_ms)[self._seen]
        self._seen = min(self._seen + 1, 2)
        self._next = now + int(wait)
        return True


class Watch:
    """What the engine keeps of an object between its polls. ``urgent`` are those of its rules (``forms``) that are judged at every poll."""

    __slots__ = (
        "_for_turn",
        "alerts",
        "by_polls",
        "by_records",
        "forms",
        "fresh_until",
        "judged",
        "leisurely",
        "reviewed",
        "told",
        "unknown",
        "urgent",
    )

    def __init__(
        self, name: ObjectName, forms: tuple[Form, ...], urgent: tuple[Form, ...], alerts: dict[str, Alert]
    ) -> None:
        self.forms = forms
        self.urgent = urgent
        self.leisurely = len(urgent) < len(forms)
        self.reviewed = Reviews(name)
        self.alerts = alerts
        self.unknown: dict[str, tuple[Absence | None, Absence]] = {}
        """Rule id -> the first absence met, and the one that makes the verdict unknown."""
        self.judged = -1
        self.told: dict[str, int] = {}
        """Rule id -> the end of the last record by which it was judged."""
        self._for_turn = (-1, -1)
        self.by_polls = forms
        self.by_records: tuple[Form, ...] = ()
        self.fresh_until = 0

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much: what waits waits for the time that has elapsed."""
        self.reviewed.shift(by_ms)
        self.judged = -1

    def sort(self, state: ObjectState) -> None:
        """Which rules wait for polls, and which for records: those with a record's value and none that polls tell.

        Of an object that was never polled all do: else nothing would say of which metrics even its records tell nothing.
        """
        turn = (state.turn, len(state.stamps))
        if turn == self._for_turn:
            return
        self._for_turn = turn
        told, polled = state.from_records, state.stamps.keys() - state.from_records
        self.by_records = tuple(
            form
            for form in self.forms
            if not state.stamps or (not form.own.isdisjoint(told) and form.own.isdisjoint(polled))
        )
        recorded = {form.id for form in self.by_records}
        self.by_polls = tuple(form for form in self.forms if form.id not in recorded)
        self.fresh_until = min((state.told_until(form.own) for form in self.by_records), default=0)

    def due(self, state: ObjectState, now: int, review_ms: int, *, at_once: bool = True) -> tuple[Form, ...]:
        """The rules that a poll judges: also those that wait for records whose time has run out. ``at_once`` as for ``Reviews``."""
        all_due = not self.leisurely or self.reviewed.due(now, review_ms, at_once=at_once)
        if not state.recorded:
            return self.forms if all_due else self.urgent
        self.sort(state)
        forms = self.by_polls
        if self.by_records and now > self.fresh_until:
            forms += tuple(form for form in self.by_records if state.told_until(form.own) < now)
        return forms if all_due else tuple(form for form in forms if not form.leisurely)

"""What the engine keeps of an object between its polls: which rules are due when, and what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression.compiler import JudgeTogether, Verdict
from mqvitals_rules.expression.expression import judge_together
from mqvitals_rules.latest import LatestState
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

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


_OFTEN = 64
"""After judging so many times by the same rules it pays to compile them together, which takes about a millisecond a rule."""

_NEWS = object()
"""Stands for a rule with an open alert, to which every verdict matters."""


class _Together:
    """Rules that are compiled into one function once they have been judged often."""

    __slots__ = ("_compiled", "_forms", "_judged", "_places", "_untold")

    def __init__(
        self, forms: tuple[CompiledRule, ...], places: Mapping[str, int], untold: Mapping[str, Absence]
    ) -> None:
        self._forms = forms
        self._places = places
        self._untold = untold
        self._judged = 0
        self._compiled: JudgeTogether | None = None

    def often(self) -> JudgeTogether | None:
        """The function; None while they have not been judged often."""
        if self._compiled is None:
            self._judged += 1
            if self._judged > _OFTEN:
                self._compiled = judge_together(
                    ((self._places[form.id], form.when) for form in self._forms), self._untold
                )
        return self._compiled


class RuleGroup:
    """The rules in force for some objects (``forms``); ``urgent`` are those that are judged at every poll."""

    __slots__ = ("_every", "_some", "forms", "places", "urgent")

    def __init__(self, forms: tuple[CompiledRule, ...], untold: Mapping[str, Absence]) -> None:
        """``untold``: why a metric of the objects has no value that nothing has told yet."""
        self.forms = forms
        self.places = {form.id: place for place, form in enumerate(forms)}
        self.urgent = tuple(form for form in forms if not form.leisurely)
        self._every = _Together(forms, self.places, untold)
        self._some = _Together(self.urgent, self.places, untold)

    def judge(
        self,
        scene: EvalContext,
        values: Mapping[str, Reported],
        forms: Sequence[CompiledRule],
        settled: Sequence[object],
    ) -> list[Verdict]:
        """The verdicts about the object that the scene looks at which are not ``settled``, in the order of the rules."""
        if forms is self.urgent or forms is self.forms:
            together = (self._some if forms is self.urgent else self._every).often()
            if together is not None:
                try:
                    return together(scene, values.get, settled)
                except ArithmeticError:
                    pass  # one of them must be judged with more care
        return self._one_by_one(scene, values, forms, settled)

    def _one_by_one(
        self,
        scene: EvalContext,
        values: Mapping[str, Reported],
        forms: Sequence[CompiledRule],
        settled: Sequence[object],
    ) -> list[Verdict]:
        found: list[Verdict] = []
        for form in forms:
            scene.absence = None
            holds = form.when.truth(scene, values)
            place = self.places[form.id]
            met = scene.absence if holds is None else None
            if (met if holds is None else holds) is not settled[place]:
                found.append((place, holds, met))
        return found


class RuleState:
    """What the engine keeps of an object between its polls. ``settled`` has the verdict of each rule of its ``group`` that changes nothing."""

    __slots__ = (
        "_for_turn",
        "alerts",
        "by_polls",
        "by_records",
        "fresh_until",
        "group",
        "judged",
        "leisurely",
        "reviewed",
        "settled",
        "told",
        "unknown",
    )

    def __init__(self, name: ObjectName, group: RuleGroup, alerts: dict[str, Alert]) -> None:
        self.group = group
        self.leisurely = len(group.urgent) < len(group.forms)
        self.reviewed = Reviews(name)
        self.alerts = alerts
        self.unknown: dict[str, tuple[Absence | None, Absence]] = {}
        """Rule id -> the first absence met, and the one that makes the verdict unknown."""
        self.settled: list[object] = [_NEWS if form.id in alerts else False for form in group.forms]
        self.judged = -1
        self.told: dict[str, int] = {}
        """Rule id -> the end of the last record by which it was judged."""
        self._for_turn = (-1, -1)
        self.by_polls = group.forms
        self.by_records: tuple[CompiledRule, ...] = ()
        self.fresh_until = 0

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much: what waits waits for the time that has elapsed."""
        self.reviewed.shift(by_ms)
        self.judged = -1

    def settle(self, place: int, rule: str) -> None:
        """A verdict of a rule has been dealt with."""
        met, _ = self.unknown.get(rule, (False, None))
        self.settled[place] = _NEWS if rule in self.alerts else met

    def sort(self, state: LatestState) -> None:
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
            for form in self.group.forms
            if not state.stamps or (not form.own.isdisjoint(told) and form.own.isdisjoint(polled))
        )
        recorded = {form.id for form in self.by_records}
        self.by_polls = tuple(form for form in self.group.forms if form.id not in recorded)
        self.fresh_until = min((state.told_until(form.own) for form in self.by_records), default=0)

    def due(self, state: LatestState, now: int, review_ms: int, *, at_once: bool = True) -> tuple[CompiledRule, ...]:
        """The rules that a poll judges: also those that wait for records whose time has run out. ``at_once`` as for ``Reviews``."""
        all_due = not self.leisurely or self.reviewed.due(now, review_ms, at_once=at_once)
        if not state.recorded:
            return self.group.forms if all_due else self.group.urgent
        self.sort(state)
        forms = self.by_polls
        if self.by_records and now > self.fresh_until:
            forms += tuple(form for form in self.by_records if state.told_until(form.own) < now)
        return forms if all_due else tuple(form for form in forms if not form.leisurely)

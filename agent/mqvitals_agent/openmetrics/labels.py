"""The labels of objects as they stand in a line of a page: made once, and again when what they are made of changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mqvitals_agent.openmetrics.names import Labels, label_metrics, label_texts, labels_of, owner_texts
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.latest_state import UNDECIDED, LatestState
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind, Value

OwnerTexts = Mapping[str, Mapping[str, str]]
"""By queue manager, what labels of its objects take from it."""


class LabelTexts:
    """The labels of the objects of a kind."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._metrics = label_metrics(kind.name)
        self._made: dict[ObjectName, _Made] = {}
        self._of_owners: dict[ObjectName, dict[str, Value]] = {}

    def of(self, states: list[LatestState], owners: OwnerTexts, groups: Collection[str]) -> list[str]:
        """The labels of each of these objects, such as ``{platform="ZOS",qmgr="QM01"}``.

        A text that is not known at this moment is the one that was known last: an outage makes no other series of it.
        """
        made, metrics, nothing = self._made, self._metrics, dict[str, str]()
        if len(made) > 2 * len(states) + 100:
            names = {state.name for state in states}
            for name in made.keys() - names:
                del made[name]
        found = []
        for state in states:
            name, values = state.name, state.values
            key = (owners.get(name.owner, nothing), name.owner in groups, *map(values.get, metrics))
            known = made.get(name)
            if known is None or known.key != key:
                made[name] = known = self._make(name, key, known, groups)
            found.append(known.text)
        return found

    def owners(self, states: Iterable[LatestState]) -> OwnerTexts:
        """Of queue managers, which are of this kind: what labels take from them."""
        known = self._of_owners
        self._of_owners = {
            state.name: _known(self._metrics, map(state.values.get, self._metrics), known.get(state.name, {}))
            for state in states
        }
        return {name.owner: owner_texts(label_texts(self._kind, values)) for name, values in self._of_owners.items()}

    def _make(self, name: ObjectName, key: tuple[Any, ...], before: _Made | None, groups: Collection[str]) -> _Made:
        owner, _, *reported = key
        values = _known(self._metrics, reported, {} if before is None else before.values)
        words = label_texts(self._kind, values)
        return _Made(key, values, text_of(labels_of(name, {**owner, **words}, groups)))


class _Made:
    """Labels, the values that they are made of, and what must be as it was for them to be right."""

    __slots__ = ("key", "text", "values")

    def __init__(self, key: tuple[Any, ...], values: Mapping[str, Value], text: str) -> None:
        self.key, self.values, self.text = key, values, text


def _known(metrics: Iterable[str], reported: Iterable[Any], before: Mapping[str, Value]) -> dict[str, Value]:
    """The reported values, and those of before that are only not known at this moment."""
    found: dict[str, Value] = {}
    for metric, value in zip(metrics, reported, strict=True):
        if isinstance(value, int | float | str):
            found[metric] = value
        elif metric in before and value in UNDECIDED:
            found[metric] = before[metric]
    return found


def text_of(labels: Labels) -> str:
    """``{a="b",c="d"}``; empty without labels."""
    return "{" + ",".join(f'{label}="{escaped(text)}"' for label, text in labels) + "}" if labels else ""


def escaped(text: str) -> str:
    """A label's value as it stands between its quotes; what could control a terminal is made visible."""
    return safe(text).replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

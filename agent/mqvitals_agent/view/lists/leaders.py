"""The objects that lead in something: the deepest queues, the slowest channels, what is fullest, what is busiest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.meter import Fill
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.figures.meter_columns import bounds_of
from mqvitals_agent.view.figures.table import Item, short_figure
from mqvitals_agent.view.figures.values import PER_SECOND
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import bounding
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet

MOST: Final = 12
"""Leaders that are read of each sort."""


class Leader(NamedTuple):
    """An object and the figure in which it leads; ``fill`` is its meter where that is a share."""

    name: ObjectName
    latest: CurrentValue
    words: str
    fill: Fill | None = None


@dataclass(frozen=True, slots=True)
class LeaderBoard:
    """Leaders in one thing, the first the greatest."""

    title: str
    leaders: tuple[Leader, ...]


_BOARDS: Final[Sequence[tuple[str, tuple[tuple[str, str], ...]]]] = (
    ("Deepest queues, msgs", (("queue", "depth"),)),
    ("Oldest messages", (("queue", "oldest_msg_age_s"),)),
    ("Slowest channels, net time", (("channel", "nettime_us_short"),)),
    ("Fullest", (("page_set", "used_pct"), ("cf_structure", "entries_pct"), ("smds", "used_pct"))),
)
"""Titles with the kinds and metrics that are compared, in order of need."""

_BUSIEST: Final = "Busiest channels, msgs/s"


def read_leaders(
    reader: StoreReader, rules: RuleSet, rates: Mapping[ObjectName, CurrentValue]
) -> tuple[LeaderBoard, ...]:
    """The leaders of each sort; ``rates`` are the messages a second of channels. Raises StoreError."""
    boards = []
    for title, compared in _BOARDS:
        found = [
            (name, latest, kind, metric)
            for kind, metric in compared
            for name, latest in reader.leading(kind, metric, MOST)
        ]
        found.sort(key=lambda each: -_number(each[1]))
        share = len(compared) > 1
        boards.append(
            LeaderBoard(
                title,
                tuple(
                    Leader(
                        name,
                        latest,
                        _words(latest, kind, metric),
                        _fill(reader, rules, name, metric, latest) if share else None,
                    )
                    for name, latest, kind, metric in found[:MOST]
                ),
            )
        )
    busy = sorted(
        ((name, latest) for name, latest in rates.items() if _number(latest) > 0),
        key=lambda pair: (-_number(pair[1]), pair[0]),
    )
    boards.append(
        LeaderBoard(
            _BUSIEST, tuple(Leader(name, latest, _words(latest, "channel", PER_SECOND)) for name, latest in busy[:MOST])
        )
    )
    return tuple(board for board in boards if board.leaders)


def _number(latest: CurrentValue) -> float:
    return 0.0 if isinstance(latest.value, Absence | str) else float(latest.value)


def _words(latest: CurrentValue, kind: str, metric: str) -> str:
    if metric == PER_SECOND:
        value = _number(latest)
        return f"{value:,.0f}" if value >= 10 else f"{value:,.1f}"
    return short_figure(latest.value, metric_of(kind, metric))


def _fill(reader: StoreReader, rules: RuleSet, name: ObjectName, metric: str, latest: CurrentValue) -> Fill:
    item = Item(name, Health.OK, reader.current(name), rules=rules.rules_telling(name, bounding(name.kind, metric)))
    return Fill(_number(latest), bounds_of(item, metric))

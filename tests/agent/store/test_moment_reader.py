"""A store read as of a past moment tells what a reader was told then."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import ReplayCycle, ReplayPace, ReplaySummary, replay
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue, Owner
from mqvitals_agent.store.rows.alerts import StoredAlert
from mqvitals_agent.store.writer import Store
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

INTERVAL = 5_000


@dataclass
class Seen:
    """What a reader was told at a moment."""

    at: int
    owners: tuple[Owner, ...]
    current: dict[ObjectName, Mapping[str, CurrentValue]] = field(default_factory=dict)
    alerts: tuple[StoredAlert, ...] = ()


@pytest.fixture(scope="module")
def watched(
    recordings: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[StoreReader, list[Seen]]]:
    """A replayed incident, and what a reader beside the replay saw after some of its cycles."""
    path = tmp_path_factory.mktemp("moments") / "store.db"
    rules: RuleConfig = load_rule_config(Settings())
    seen: list[Seen] = []
    with open_recording(recordings("incident")) as recording, Store.open(path, replay=True, group="PRDQSG") as store:
        intake = Ingest(store, rules)

        def take(cycle: ReplayCycle) -> None:
            intake.take(cycle.snapshots)
            if cycle.number % 6 == 1:
                with StoreReader.open(path) as reader:
                    seen.append(_look(reader))

        collector = Collector(recording.header.name, recording.header.queue_managers)
        pace = ReplayPace(None, lambda: 0.0, lambda _: None)
        replay(recording, INTERVAL, collector, pace, take, ReplaySummary(), recording.header.created)
    with StoreReader.open(path) as reader:
        yield reader, seen


def _look(reader: StoreReader, at: int | None = None) -> Seen:
    owners = reader.owners()
    found = Seen(max(each.last_ts for each in owners) if at is None else at, owners, alerts=reader.alerts())
    for owner in owners:
        for kind in KINDS:
            found.current.update(reader.current_by_kind(owner.name, kind))
    return found


def test_what_was_told_is_told_again(watched: tuple[StoreReader, list[Seen]]) -> None:
    """Objects, numbers, states and definitions are as they were; a text or a reason may be no longer kept."""
    reader, seen = watched
    compared = kept = 0
    for then in seen:
        again = _look(reader.as_of(then.at), then.at)
        assert again.owners == then.owners
        assert set(again.current) == set(then.current)
        for name, values in then.current.items():
            for metric, value in values.items():
                known = again.current[name].get(metric)
                about = (then.at, name, metric, value, known)
                assert known is not None, about
                compared += 1
                if known.value is Absence.NOT_KEPT:
                    in_history = KINDS[name.kind].metric(metric).in_history  # type: ignore[union-attr]
                    assert not in_history or isinstance(value.value, Absence), about
                    continue
                kept += 1
                assert known.value == value.value, about
    assert compared > 20_000
    assert kept > 0.8 * compared


def test_unanswered_then_is_unanswered(watched: tuple[StoreReader, list[Seen]]) -> None:
    """A figure that its queue manager did not answer for has the age of the last answer."""
    reader, seen = watched
    silent = 0
    for then in seen:
        again = _look(reader.as_of(then.at), then.at)
        for name, values in then.current.items():
            poll = KINDS[name.kind].poll
            for metric, value in values.items():
                if value.probe != poll or isinstance(value.value, Absence):
                    continue
                known = again.current[name][metric]
                assert (known.unanswered is None) == (value.unanswered is None), (then.at, name, metric, value, known)
                if value.unanswered is not None and KINDS[name.kind].metric(metric).in_history:  # type: ignore[union-attr]
                    silent += 1
                    assert known.ts == value.ts, (then.at, name, metric, value, known)
    assert silent > 100


def test_alerts_are_as_they_were(watched: tuple[StoreReader, list[Seen]]) -> None:
    """The same alerts fire, as severe, since the same time."""
    reader, seen = watched
    most = 0
    for then in seen:
        again = {each.id: each.alert for each in reader.as_of(then.at).alerts()}
        before = {each.id: each.alert for each in then.alerts}
        assert set(again) == set(before), then.at
        for number, alert in before.items():
            known = again[number]
            about = (alert.key, alert.state, alert.severity, alert.started, alert.ended, alert.worst)
            assert (known.key, known.state, known.severity, known.started, known.ended, known.worst) == about
        most = max(most, len(before))
    assert most > 20


def test_random_figures_equal_those_of_plain_sql(watched: tuple[StoreReader, list[Seen]]) -> None:
    """300 figures of random objects at random moments are those of the newest row by then that has one."""
    reader, _ = watched
    draw = random.Random(5)
    plain = sqlite3.connect(f"file:{reader.path}?mode=ro", uri=True)
    times = [ts for (ts,) in plain.execute("SELECT DISTINCT ts FROM snapshot ORDER BY ts")]
    checked = 0
    while checked < 300:
        at = draw.randint(times[0], times[-1])
        kind = draw.choice(["queue", "channel", "buffer_pool", "page_set", "log", "cf_structure", "channel_initiator"])
        owners = [each.name for each in reader.as_of(at).owners()]
        rows = reader.as_of(at).current_by_kind(draw.choice(owners), kind)
        if not rows:
            continue
        name = draw.choice(sorted(rows))
        numbers = sorted(
            metric
            for metric, value in rows[name].items()
            if KINDS[kind].metric(metric).in_history  # type: ignore[union-attr]
            and not isinstance(value.value, Absence)
        )
        if not numbers:
            continue
        metric = draw.choice(numbers)
        (value,) = plain.execute(
            f'SELECT s."{metric}" FROM sample_{kind} AS s JOIN object AS o ON o.id = s.object_id'
            f' WHERE o.owner = ? AND o.kind = ? AND o.name = ? AND s.ts <= ? AND s."{metric}" IS NOT NULL'
            " ORDER BY s.ts DESC LIMIT 1",
            (*name, at),
        ).fetchone()
        assert rows[name][metric].value == value, (at, name, metric)
        checked += 1
    plain.close()

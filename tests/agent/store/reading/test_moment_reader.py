"""A store read as of a past moment tells what a reader was told then."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.replay import ReplayCycle, ReplayPace, ReplaySummary, replay
from mqvitals_agent.store.file.backup import back_up
from mqvitals_agent.store.file.schema import open_writer
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue, Owner
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.store.rows.samples.steps import TimeStep
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.alerts import past_words
from mqvitals_agent.view.alerts.past_words import RuleOf
from mqvitals_agent.view.frame import AGENT, ALERTS, OVERVIEW, SILENCES, FrameRequest, read_frame
from mqvitals_agent.view.object.past_alerts import alerts_then
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS
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


def test_an_empty_queue_had_no_oldest_message(watched: tuple[StoreReader, list[Seen]]) -> None:
    """That a queue was empty says why the age of its oldest message was absent, as it was said then."""
    reader, seen = watched
    empty = 0
    for then in seen:
        # The screens ask for a few metrics of a list, for all of an object.
        listed = reader.as_of(then.at).current_by_kind("QM01", "queue", ("oldest_msg_age_s",))
        for name, values in then.current.items():
            if name.kind == "queue" and (depth := values.get("depth")) is not None and depth.value == 0:
                empty += 1
                wanted = values["oldest_msg_age_s"].value
                assert wanted in (Absence.NOTHING_TO_TELL, Absence.NOT_COLLECTED)
                assert reader.as_of(then.at).current(name)["oldest_msg_age_s"].value is wanted, (then.at, name)
                if name in listed:
                    assert listed[name]["oldest_msg_age_s"].value is wanted, (then.at, name)
    assert empty > 100


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


def test_what_explained_an_alert_then_explains_it_again(watched: tuple[StoreReader, list[Seen]]) -> None:
    """The causes are those of then, also of alerts that have ended since, whose row has none."""
    reader, seen = watched
    rules = load_rule_config(Settings()).rules
    caused = changed = 0
    for then in seen:
        past = reader.as_of(then.at)
        alerts = [each.alert for each in past.alerts()]
        again = {alert.key: alert.cause for alert in alerts_then(past, alerts, then.at, rules.rule_of)}
        assert again == {each.alert.key: each.alert.cause for each in then.alerts}, then.at
        caused += sum(cause is not None for cause in again.values())
        changed += sum(alert.cause != again[alert.key] for alert in alerts)
    assert caused >= 10
    assert changed > 0


def test_words_are_said_again_where_the_figures_are_others(watched: tuple[StoreReader, list[Seen]]) -> None:
    """From one moment to the next most alerts keep their words: those that are said are those of a reader that knows none."""
    reader, seen = watched
    rules = load_rule_config(Settings()).rules
    said: list[str] = []
    say = past_words._said_again

    def noted(alert: Alert, *others: Any) -> Alert:
        said.append(alert.summary)
        return say(alert, *others)

    with pytest.MonkeyPatch.context() as patch, StoreReader.open(reader.path) as walking:
        patch.setattr(past_words, "_said_again", noted)
        anew = again = 0
        for at in [each.at for each in seen for _ in range(2)][::-1]:
            with StoreReader.open(reader.path) as fresh:
                expected = _said_at(fresh, at, rules.rule_of)
            of_fresh = len(said)
            assert _said_at(walking, at, rules.rule_of) == expected
            anew, again = anew + of_fresh, again + len(said) - of_fresh
            said.clear()
    assert anew > 100
    # Every moment is looked at twice.
    assert again < anew / 2


def _said_at(reader: StoreReader, at: int, rule_of: RuleOf) -> tuple[Alert, ...]:
    past = reader.as_of(at)
    return past_words.with_past_words(past, [each.alert for each in past.alerts(include_ended=True)], at, rule_of)


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


def test_sealing_changes_nothing_that_is_told(watched: tuple[StoreReader, list[Seen]], tmp_path: Path) -> None:
    """300 random places at random moments tell the same while hours are sealed, and when all are."""
    reader, _ = watched
    draw = random.Random(7)
    path = tmp_path / "sealed.db"
    back_up(reader.path, path)
    plain = sqlite3.connect(path)
    first, last = plain.execute("SELECT min(ts), max(ts) FROM snapshot").fetchone()
    rows = plain.execute("SELECT count(*) FROM sample_queue").fetchone()
    owners = [each.name for each in reader.owners()]
    places = [(draw.choice(owners), draw.choice(sorted(KINDS)), draw.randint(first, last)) for _ in range(300)]
    told = [_told(reader, *place) for place in places]
    assert sum(map(bool, told)) > 100
    tables = tables_of(KINDS)
    with closing(open_writer(path, tables.values())) as writer, StoreReader.open(path) as sealed:
        steps = Sealer(tables, set()).round(writer, last + SEAL_AFTER_MS + 2 * HOUR_MS)
        stages = 0
        for number, _ in enumerate(steps):
            # Sealed are kinds one after the other: in the middle some have chunks, some rows, one both.
            if number % 400 == 200:
                some = draw.sample(range(len(places)), 30)
                for place in some:
                    assert _told(sealed, *places[place]) == told[place], (number, places[place])
                stages += 1
        assert stages > 3
        assert [_told(sealed, *place) for place in places] == told
        assert plain.execute("SELECT count(*) FROM sample_queue").fetchone() == (0,)
        of_queues = "SELECT sum(n) FROM chunk AS c JOIN chunk_layout AS l ON l.id = c.layout WHERE l.kind = 'queue'"
        assert plain.execute(of_queues).fetchone() == rows
    plain.close()


def _told(reader: StoreReader, owner: str, kind: str, at: int) -> dict[ObjectName, dict[str, CurrentValue]]:
    """All that is told of the objects of a kind at a moment."""
    return {name: dict(values.items()) for name, values in reader.as_of(at).current_by_kind(owner, kind).items()}


def test_steps_lead_over_every_cycle_and_back(watched: tuple[StoreReader, list[Seen]]) -> None:
    """From now back to the first cycle and on again: the same moments, each the end of a cycle."""
    reader, seen = watched
    back: list[int] = []
    at = reader.step(None, TimeStep.CYCLE, on=False)
    while at is not None:
        back.append(at)
        at = reader.step(at, TimeStep.CYCLE, on=False)
    on = [back[-1]]
    while (following := reader.step(on[-1], TimeStep.CYCLE, on=True)) is not None:
        on.append(following)
    newest = max(each.last_ts for each in reader.owners())
    assert on == [*reversed(back), newest]
    assert {then.at for then in seen} <= set(on)
    assert all(after - before > 2_000 for before, after in pairwise(on))
    assert reader.step(None, TimeStep.CYCLE, on=True) is None


def test_steps_lead_over_transitions_of_alerts(watched: tuple[StoreReader, list[Seen]]) -> None:
    """At each such moment an alert begins, changes or ends; between two of them none does."""
    reader, _ = watched
    times = sorted(
        {
            each.ts
            for alert in reader.alerts(include_ended=True)
            for each in reader.transitions(alert.id)
            if each.state is not AlertState.PENDING
        }
    )
    found: list[int] = []
    at = reader.step(0, TimeStep.TRANSITION, on=True)
    while at is not None:
        found.append(at)
        at = reader.step(at, TimeStep.TRANSITION, on=True)
    assert found == sorted({reader.end_of_cycle(ts) for ts in times})
    back = [found[-1]]
    while (before := reader.step(back[-1], TimeStep.TRANSITION, on=False)) is not None:
        back.append(before)
    assert back == found[::-1]


@pytest.mark.parametrize("screen", [OVERVIEW, ALERTS, AGENT, SILENCES])
def test_every_screen_is_read_as_of_then(watched: tuple[StoreReader, list[Seen]], screen: str) -> None:
    """A frame of a past moment has that moment as its now, and is the same whenever it is read."""
    reader, seen = watched
    rules = load_rule_config(Settings())
    then = seen[len(seen) // 2]
    request = FrameRequest(screen, at=then.at)
    frame = read_frame(reader, then.at + 86_400_000, request, rules)
    assert (frame.now, frame.data.as_of) == (then.at, then.at)
    later = read_frame(reader, then.at + 3_600_000, request, rules)
    assert replace(frame, read_at=0, site=later.site) == replace(later, read_at=0)
    assert {each.key for each in frame.data.alerts} == {each.alert.key for each in then.alerts}
    assert [each.name for each in frame.data.members] == [each.name for each in then.owners]

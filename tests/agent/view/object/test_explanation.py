"""``rules explain`` finds what the agent found: the same members during an outage, and those of one group of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.review.evaluation import IntervalEvaluator
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

MINUTE = 60_000
BEGIN = 1_763_640_000_000
RULE = """\
rules:
  - id: MY-01
    title: A rule of ours
    tier: P
    kind: operational
    scope: {scope}
    when: {when}
    severity: warning
    summary: "{{name}}"
    advice: Look at it.
    caveat: None.
    source: {{document: Our own handbook, section: Members}}
"""


def config(scope: str, when: str) -> RuleConfig:
    rules, problems = decode_packs([("ours.yaml", RULE.format(scope=scope, when=when))], KINDS)
    assert not problems
    return RuleConfig(RuleSet(rules, KINDS), Facts(KINDS))


def reading(name: str, minute: int = 0, *, answered: bool = True, **values: Reported) -> Reading:
    parsed = ObjectName.parse(name)
    ts = BEGIN + minute * MINUTE
    return Reading(parsed, KINDS[parsed.kind].poll, ts, values, MINUTE, answered=answered)


def snapshot(owner: str, *readings: Reading, group: bool = False) -> Snapshot:
    return Snapshot(owner, group, 1, readings[0].ts, readings)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as store:
        yield store


def explained(store: Store, tmp_path: Path, rules: RuleConfig, name: str, given: Sequence[Snapshot]) -> bool | None:
    Ingest(store, rules).take(given)
    with StoreReader.open(tmp_path / "store.db") as reader:
        parsed = ObjectName.parse(name)
        (finding,) = explain_object(reader, rules.rules.rules_for(parsed), rules.facts, parsed).findings
    return finding.when.truth


def test_a_queue_that_does_not_answer_is_still_on_its_page_set(store: Store, tmp_path: Path) -> None:
    page_set = reading("QM01/page_set/0", used_pct=3)
    given = [
        snapshot("QM01", reading("QM01/queue/Q0", page_set=0), page_set),
        snapshot(
            "QM01",
            reading("QM01/queue/Q0", 1, answered=False, page_set=Absence.NO_ANSWER),
            reading("QM01/page_set/0", 1, used_pct=3),
        ),
    ]
    rules = config("page_set", 'any(queue, name == "Q0")')
    assert explained(store, tmp_path, rules, "QM01/page_set/0", given) is True


TWO_GROUPS = (
    snapshot("QSG1", reading("QSG1/qsg", qmgr_count=1), group=True),
    snapshot("QSG2", reading("QSG2/qsg", qmgr_count=1), group=True),
    snapshot("QM01", reading("QM01/queue_manager", command_level=930, qsg_name="QSG1")),
    snapshot("QM02", reading("QM02/queue_manager", command_level=940, qsg_name="QSG2")),
)


@pytest.mark.parametrize(("group", "level"), [("QSG1", 930), ("QSG2", 940)])
def test_members_of_one_group_of_two(store: Store, tmp_path: Path, group: str, level: int) -> None:
    rules = config("qsg", f"most(queue_manager, command_level) == {level} and count(queue_manager, name == '') == 1")
    assert explained(store, tmp_path, rules, f"{group}/qsg", TWO_GROUPS) is True


@pytest.mark.parametrize(("known", "held"), [(True, 1), (False, 0)])
def test_the_groups_that_records_name(known: bool, held: int) -> None:
    """Records do not carry the metric of the group's name; the evaluation of files asks whatever read them."""
    names = {"QM01": "QSG1", "QM02": "QSG2"} if known else {}
    evaluator = IntervalEvaluator(config("qsg", "count(queue_manager, command_level > 0) == 1"), names.get)
    for owner in ("QM01", "QM02"):
        evaluator.take(snapshot(owner, reading(f"{owner}/queue_manager", command_level=930)))
    for owner in ("QSG1", "QSG2", "QSG1"):
        evaluator.take(snapshot(owner, reading(f"{owner}/qsg", 1, qmgr_count=1), group=True))
    assert sum(check.held for check in evaluator.checks("QSG2")) == held


class Whole(StoreReader):
    """Reads all objects where only those are asked for that name a certain other one."""

    def current_naming(self, owner: str, kind: str, naming: Any, metrics: Any = None, *, doubtful: bool = False) -> Any:
        assert naming[1]
        assert doubtful
        return self.current_by_kind(owner, kind, metrics)


PLACES = st.sampled_from(
    [0, 0, 1, Absence.NOT_RETURNED, Absence.NO_ANSWER, Absence.NOT_AUTHORISED, Absence.NOTHING_TO_TELL]
)


@COSTLY
@example(places=[(1, 1, True), (Absence.NO_ANSWER, 1, True)], when="any(queue, depth > 2)")
@example(places=[(1, 1, True)], when="any(queue, depth > 2)")
@given(
    places=st.lists(st.tuples(PLACES, st.integers(0, 3), st.booleans()), max_size=6),
    when=st.sampled_from(["any(queue, depth > 2)", "count(queue, depth > 0) > 1", "sum(queue, depth) > 3"]),
)
def test_what_names_others_changes_no_explanation(
    places: list[tuple[Any, int, bool]], when: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Only queues that are on the page set, or may be, are read, and the verdict, its values and what is missing are those
    of all queues."""
    path = tmp_path_factory.mktemp("naming") / "store.db"
    page_set = ObjectName.parse("QM01/page_set/0")
    rules = config("page_set", when)
    with Store.open(path) as store:
        queues = [reading(f"QM01/queue/Q{at}", page_set=on, depth=depth) for at, (on, depth, _) in enumerate(places)]
        silent = [
            reading(f"QM01/queue/Q{at}", 1, answered=False, page_set=Absence.NO_ANSWER, depth=Absence.NO_ANSWER)
            for at, (_, _, answered) in enumerate(places)
            if not answered
        ]
        first = snapshot("QM01", reading(str(page_set), used_pct=3), *queues)
        Ingest(store, rules).take([first, snapshot("QM01", reading(str(page_set), 1, used_pct=3), *silent)])
    found = []
    for kind_of_reader in (StoreReader, Whole):
        with kind_of_reader.open(path) as reader:
            found.append(explain_object(reader, rules.rules.rules_for(page_set), rules.facts, page_set))
    assert found[0] == found[1]
    with StoreReader.open(path) as reader:
        for at in (reader.last_ts() or 0, min(each.first_ts for each in reader.owners())):
            then = reader.as_of(at)
            some = explain_object(then, rules.rules.rules_for(page_set), rules.facts, page_set)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(then), "current_naming", Whole.current_naming)
                every = explain_object(then, rules.rules.rules_for(page_set), rules.facts, page_set)
            assert some == every, at


def test_queues_on_other_page_sets_are_not_read(store: Store, tmp_path: Path) -> None:
    """Of those that are certainly elsewhere one tells that it is known where queues are."""
    queues = [reading(f"QM01/queue/Q{at}", page_set=at % 4, depth=at) for at in range(40)]
    Ingest(store, config("page_set", "used_pct > 1")).take([snapshot("QM01", *queues)])
    with StoreReader.open(tmp_path / "store.db") as reader:
        naming = ("page_set", "3")
        on_it = {f"Q{at}" for at in range(3, 40, 4)}
        assert {name.name for name in reader.current_naming("QM01", "queue", naming)} == on_it
        some = reader.current_naming("QM01", "queue", naming, {"depth"}, doubtful=True)
        assert len(some) == len(on_it) + 1
        assert all(values["depth"].value == int(name.name[1:]) for name, values in some.items())
        assert reader.current_naming("QM02", "queue", naming, doubtful=True) == {}
        then = reader.as_of(reader.last_ts() or 0)
        assert {name.name for name in then.current_naming("QM01", "queue", naming, {"page_set"})} == on_it
        assert len(then.current_naming("QM01", "queue", naming, {"depth"}, doubtful=True)) == len(on_it) + 1

"""Members of which nothing was ever reported are not none: what is asked of them is unknown."""

from __future__ import annotations

import pytest

from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression import compile_expression
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

POOL = ObjectName("QM01", "buffer_pool", "3")
ASKED = {
    "any(queue, depth > 0)": False,
    "count(queue, depth > 0) == 0": True,
    "sum(queue, depth) > 0": False,
    "sum(queue, depth) == 0": True,
    "count(queue, depth > this.total) > 0": False,
}


def told(kind: str, name: str, source: Source = Source.POLL, owner: str = "QM01", **values: Reported) -> Reading:
    probe = KINDS[kind].poll
    return Reading(ObjectName(owner, kind, name), probe, 1_000, values, 10_000, source is Source.POLL, source=source)


def scene_of(*readings: Reading, name: ObjectName = POOL) -> EvalContext:
    """The scene of an object after a snapshot of each owner."""
    world = LatestValues(KINDS, Facts(KINDS))
    for owner in dict.fromkeys(reading.object.owner for reading in readings):
        own = tuple(reading for reading in readings if reading.object.owner == owner)
        world.learn(Snapshot(owner, owner == "PRDQSG", 1, 1_000, own))
    scene = EvalContext(KINDS, world, MemoryHistory())
    state = world.state(name)
    assert state is not None
    scene.enter(state, 1_000)
    return scene


def pool(*more: Reading) -> EvalContext:
    return scene_of(told("buffer_pool", "3", total=1000), told("page_set", "4", buffer_pool=3), *more)


@pytest.mark.parametrize("text", ASKED)
def test_nothing_reported_is_unknown_and_says_what_is_missing(text: str) -> None:
    """No answer and no record told of queues: neither did one that was refused."""
    condition = compile_expression(text, KINDS["buffer_pool"], KINDS)
    refused = told("agent", "INQUIRE_Q_STATUS", outcome=Outcome.REFUSED.value)
    for scene in (pool(), pool(refused)):
        assert condition.truth(scene) is None
        assert condition.reason(scene) is Absence.NOT_ASKED
        assert [(each.name, each.absence) for each in condition.explain(scene).missing] == [
            ("queue", Absence.NOT_ASKED)
        ]


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("form", ["INQUIRE_Q_STATUS", "INQUIRE_Q_STATUS CMDSCOPE(*)"])
@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.NOT_FOUND])
def test_an_answer_that_found_none_is_a_report(text: str, form: str, outcome: Outcome) -> None:
    """Then there are none: a sum of 0, and none of them for which anything holds."""
    condition = compile_expression(text, KINDS["buffer_pool"], KINDS)
    scene = pool(told("agent", form, outcome=outcome.value))
    assert condition.truth(scene) is ASKED[text]
    assert condition.explain(scene).truth is ASKED[text]


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("source", [Source.POLL, Source.SMF])
def test_others_of_the_kind_are_a_report(text: str, source: Source) -> None:
    """A queue of another page set, by poll or record: this pool has none."""
    condition = compile_expression(text, KINDS["buffer_pool"], KINDS)
    other = (told("page_set", "5", buffer_pool=2), told("queue", "A", source, depth=7, page_set=5))
    assert condition.truth(pool(*other)) is ASKED[text]
    # Of another owner it is none.
    assert condition.truth(pool(told("queue", "A", source, owner="QM02", depth=7, page_set=4))) is None


def test_a_kind_that_only_records_tell_of() -> None:
    """The reason is that records are needed."""
    condition = compile_expression("any(application, valid_puts > 0)", KINDS["buffer_pool"], KINDS)
    assert condition.reason(pool()) is Absence.NEEDS_SMF


def test_all_of_an_owner_and_all_of_a_group() -> None:
    """A queue manager's channels; the logs of every member."""
    manager = ObjectName("QM01", "queue_manager")
    channels = compile_expression("count(channel, status == RETRYING) == 0", KINDS["queue_manager"], KINDS)
    alone = told("queue_manager", "", reachable=1)
    assert channels.truth(scene_of(alone, name=manager)) is None
    none = told("agent", "INQUIRE_CHANNEL_STATUS", outcome=Outcome.NOT_FOUND.value)
    assert channels.truth(scene_of(alone, none, name=manager)) is True
    structure = told("cf_structure", "APPL1", owner="PRDQSG")
    logs = compile_expression('any(log, name != "")', KINDS["cf_structure"], KINDS)
    assert logs.truth(scene_of(structure, name=structure.object)) is None
    assert logs.truth(scene_of(structure, told("log", ""), name=structure.object)) is False


def test_present_tells_the_two_apart() -> None:
    """It is never unknown."""
    condition = compile_expression("present(queue)", KINDS["buffer_pool"], KINDS)
    assert condition.truth(pool()) is False
    assert condition.explain(pool()).truth is False
    found = pool(told("agent", "INQUIRE_Q_STATUS", outcome=Outcome.NOT_FOUND.value))
    assert condition.truth(found) is True
    assert condition.explain(found).truth is True

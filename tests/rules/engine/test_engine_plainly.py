"""The engine says the same as a plain, careful look at every rule of every object, whatever was told in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import example, given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS

JUDGING = load_rule_config(Settings())
NAMES = tuple(
    ObjectName("QM01", kind, name)
    for kind, name in (("queue", "A"), ("queue", "B"), ("channel", "C"), ("page_set", "4"), ("buffer_pool", "3"))
)
TOLD = {
    kind: sorted(
        {
            metric
            for form in JUDGING.rules.rules_for(ObjectName("QM01", kind, "X"))
            for expression in form.expressions
            for of, metric in expression.names
            if of == kind
        }
    )
    for kind in dict.fromkeys(name.kind for name in NAMES)
}
"""Kind -> the metrics that its rules ask of it."""
ABSENCES = st.sampled_from([Absence.NOT_RETURNED, Absence.NO_ANSWER, Absence.NEEDS_SMF, Absence.INACTIVE])


def value_of(metric: Metric) -> st.SearchStrategy[Reported]:
    """A value that the metric can have, or why there is none."""
    match metric.type:
        case MetricType.STATE:
            present: st.SearchStrategy[Reported] = st.sampled_from(sorted(metric.values.values()))
        case MetricType.TEXT:
            present = st.sampled_from(["", "3", "4", "A", "QM02", "SYSTEM.X"])
        case _:
            present = st.sampled_from([0, 1, 3, 4, 90, 1500, 2.5, 10**6])
    return st.one_of(present, present, ABSENCES)


def values_of(kind: str) -> st.SearchStrategy[Mapping[str, Reported]]:
    """Some of the metrics that rules ask for."""
    metrics = [metric for name in TOLD[kind] if (metric := KINDS[kind].metric(name)) and not metric.declared]
    return st.fixed_dictionaries({}, optional={metric.name: value_of(metric) for metric in metrics})


HISTORIES = st.lists(st.tuples(*(values_of(name.kind) for name in NAMES)), min_size=1, max_size=5)


def outage_of_a_queue(*links: Reported) -> list[tuple[Mapping[str, Reported], ...]]:
    """A queue with what it reports as its page set in each poll."""
    asked = {"max_depth": 1, "max_msg_pages": 1, "put_rate": 1, "usage": 0}
    page_set = {"total_pages": 4, "used_pct": 1}
    return [({**asked, "page_set": named}, {}, {}, page_set, {}) for named in links]


@COSTLY
@given(HISTORIES)
@example(outage_of_a_queue(Absence.NO_ANSWER, 4, Absence.NO_ANSWER))
@example(outage_of_a_queue(3, Absence.NO_ANSWER, 3, Absence.NOT_AUTHORISED))
def test_verdicts_are_those_of_a_plain_look(history: list[tuple[Mapping[str, Reported], ...]]) -> None:
    """What holds has an alert that was stepped by this poll; what is unknown is counted, with nothing else."""
    past = MemoryHistory()
    engine = Engine(JUDGING.rules, JUDGING.facts, past, review_ms=0)
    for cycle, told in enumerate(history):
        ts = 1_000_000 + cycle * 10_000
        readings = tuple(
            Reading(name, KINDS[name.kind].poll, ts, values, 10_000 if cycle else None)
            for name, values in zip(NAMES, told, strict=True)
        )
        snapshot = Snapshot("QM01", False, cycle + 1, ts, readings)
        past.add(snapshot)
        found = engine.evaluate(snapshot)
        unknown: Counter[str] = Counter()
        holding = set()
        # A scene of its own: it shares nothing that the engine worked out.
        scene = EvalContext(KINDS, engine.latest, past)
        for name in NAMES:
            state = engine.latest.state(name)
            assert state is not None
            scene.enter(state, ts)
            for form in JUDGING.rules.rules_for(name):
                explanation = form.when.explain(scene)
                unknown[form.id] += explanation.truth is None
                if explanation.truth is None:
                    assert form.when.reason(scene, state.values) is explanation.missing[0].absence
                elif explanation.truth:
                    holding.add((form.id, name))
        counted: Counter[str] = Counter()
        for each in (*found.unknown, *found.unknown_advice):
            counted[each.rule] += each.count
        assert counted == +unknown
        assert {(alert.key.rule, alert.scope) for alert in engine.open_alerts} >= holding

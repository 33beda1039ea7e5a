"""Which rules history can answer, and how runs are made and compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.backtest.comparison import WhereFired, firing_ms, side_by_side, totals
from mqvitals_agent.backtest.inputs import FROM_OTHERS, inputs_of, refusals
from mqvitals_agent.backtest.run import TimeCoverage
from mqvitals_agent.backtest.variants import in_force, variants_of, with_values
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.text.chart import TimeRange
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import MetricType
from mqvitals_rules.vocabulary.tables import KINDS


@pytest.fixture(scope="module")
def config() -> RuleConfig:
    return load_rule_config(Settings())


def test_every_shipped_rule_is_answered_or_refused_for_a_text(config: RuleConfig) -> None:
    """A refusal names a text that is no recorded attribute; what is read of all others is in history or recorded."""
    refused = 0
    for rule in config.rules.rules:
        compiled = compile_rule(rule, KINDS)
        reasons = refusals(compiled, KINDS)
        refused += bool(reasons)
        for reason in reasons:
            kind, _, name = reason.split()[2].rstrip(",").partition(".")
            metric = KINDS[kind].metric(name)
            assert metric is not None
            assert metric.type is MetricType.TEXT
            assert not any(name in names for names in RECORDED.get(kind, {}).values())
            assert (kind, name) not in FROM_OTHERS
        if reasons:
            continue
        inputs = inputs_of([compiled], KINDS)
        assert rule.scope in inputs.evaluated
        for kind, name in compiled.when.names:
            metric = KINDS[kind].metric(name)
            assert metric is not None
            held = name in inputs.numbers.get(kind, ()) or name in inputs.texts.get(kind, ())
            assert held or metric.declared, f"{rule.id} {kind}.{name}"
    assert 0 < refused < len(config.rules.rules) / 4


def test_a_refusal_names_rule_and_metric(
    config: RuleConfig, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It comes before the store is looked at; a file of rules without any that can be answered is refused too."""
    refused = next(rule for rule in config.rules.rules if refusals(compile_rule(rule, KINDS), KINDS))
    assert main(["rules", "backtest", str(refused.id), "--store", str(tmp_path / "none.db")]) == 2
    said = capsys.readouterr().err
    assert str(refused.id) in said
    assert "a text: history keeps numbers and states" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["NO-RULE"], "there is no rule 'NO-RULE'"),
        (["BP-03", "--set", "nonsense=5"], "BP-03 has no parameter 'nonsense'"),
        (["BP-03", "--set", "free"], "a setting is written parameter=value"),
        (["BP-03", "--set", "hold=soon"], "hold is a number of polls, or a time such as 10m"),
        (["BP-03", "--set", "hold=0"], "hold is from 1 to 1000 polls"),
        (["Q-01", "--set", "near_ratio=x"], "near_ratio is a number in its own unit"),
        (["Q-01", "--set", "near_ratio=nan"], "near_ratio is a number, not"),
        (["BP-01", "--set", "stress_pct=101"], "stress_pct is a percentage"),
        (["Q-01", "--set", "near_ratio=1", "--set", "near_ratio=2", "--set", "hold=1", "--set", "hold=2"], "only one"),
        (["BP-03", "--object", "nothing"], "--object 'nothing': objects are written owner/kind/name"),
        (["BP-01", "--object", "QM01/buffer_pool/9*"], "no object of this time matches 'QM01/buffer_pool/9*'"),
        (["BP-01", "--object", "QM01/buffer_pool/9*"], "the nearest names are QM01/buffer_pool/"),
        (["BP-01", "--object", "QM01/bufferpool"], "there is no kind of object 'bufferpool'"),
        (["BP-01", "--object", "QM99/buffer_pool"], "no object of this time matches 'QM99/buffer_pool'"),
        (["none.yaml"], "none.yaml"),
    ],
)
def test_what_cannot_be_asked(
    replayed: Callable[[str], Path], capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["rules", "backtest", *words, "--store", str(replayed("quiet"))]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_file_of_rules(replayed: Callable[[str], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A rule that no agent has run fires only now; one that history cannot answer is named beside it."""
    path = tmp_path / "ours.yaml"
    path.write_text(
        """\
rules:
  - id: OUR-01
    title: A queue has a limit
    tier: P
    kind: operational
    scope: queue
    when: max_depth >= least
    parameters:
      least: {value: 1, unit: messages, origin: default, meaning: Any}
    hold: {polls: 2}
    severity: warning
    summary: "{name}: {max_depth}"
    advice: None.
    caveat: None.
    source: {document: Ours, section: One}
  - id: OUR-02
    title: A queue was altered
    tier: P
    kind: operational
    scope: queue
    when: alteration_ts != ""
    plain_state: true
    hold: {polls: 1}
    severity: warning
    summary: "{name}"
    advice: None.
    caveat: None.
    source: {document: Ours, section: Two}
"""
    )
    assert main(["rules", "backtest", str(path), "--store", str(replayed("quiet")), "--limit", "5"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "OUR-02: it reads queue.alteration_ts, a text" in shown
    assert "only now" in shown
    assert "earlier alerts not shown" in shown


SPAN = TimeRange(1_000, 9_000)
_TIMES = st.tuples(st.integers(1, 10_000), st.none() | st.integers(0, 5_000))


@st.composite
def fired(draw: st.DrawFn) -> list[Alert]:
    """Alerts that fired within the span; those of one object follow one another."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        at = 1
        for gap, length in draw(st.lists(st.tuples(st.integers(1, 4_000), st.integers(0, 4_000)), max_size=4)):
            at += gap
            found.append(alert(number, at, at + length))
            at += length + 1
    return [each for each in found if (each.started or 0) <= SPAN.until and (each.ended or 0) >= SPAN.since]


def alert(number: int, started: int, ended: int | None) -> Alert:
    name = ObjectName("QM01", "buffer_pool", str(number))
    state = AlertState.FIRING if ended is None else AlertState.RESOLVED
    return Alert(
        AlertKey("BP-03", name), name, "operational", "", state, Severity.WARNING, Severity.WARNING, started, started, "",
        started, ended,
    )  # fmt: skip


@given(fired(), st.lists(fired(), min_size=1, max_size=3))
def test_every_alert_stands_in_one_row(then: list[Alert], now: list[list[Alert]]) -> None:
    """No run loses or doubles an alert; those of a row are of one key; the totals are sums of the rows."""
    rows = side_by_side(then, now, SPAN)
    for run, alerts in enumerate((then, *now)):
        here = [each for row in rows if (each := (row.then, *row.now)[run]) is not None]
        assert sorted(here, key=id) == sorted(alerts, key=id)
        assert totals(here, SPAN) == totals(alerts, SPAN)
    for row in rows:
        assert len({each.key for each in (row.then, *row.now) if each is not None}) == 1
    for run in range(len(now)):
        found = [row.found(run) for row in rows]
        assert found.count(WhereFired.BOTH) + found.count(WhereFired.ONLY_THEN) == len(then)
        assert found.count(WhereFired.BOTH) + found.count(WhereFired.ONLY_NOW) == len(now[run])


@given(fired())
def test_the_same_alerts_are_both(alerts: list[Alert]) -> None:
    rows = side_by_side(alerts, [alerts], SPAN)
    assert all(row.then is row.now[0] for row in rows)


def test_the_longest_overlap_is_the_same_alert() -> None:
    """Of two that overlap one then, the longer one is it; one that fires on counts until the end of the span."""
    long, short = alert(1, 2_100, 5_000), alert(1, 1_500, 2_050)
    then = alert(1, 2_000, None)
    rows = side_by_side([then], [[short, long]], SPAN)
    assert [(row.then, row.now[0]) for row in rows] == [(None, short), (then, long)]
    assert firing_ms(then, SPAN) == 7_000
    assert firing_ms(replace(then, started=500), SPAN) == 8_000


@given(st.lists(st.integers(1, 4_000), max_size=60))
def test_coverage_is_a_share(gaps: list[int]) -> None:
    """From 0 to 1 whatever the gaps; regular snapshots cover all, and a hole of them is as much less as it is long."""
    found, ts = TimeCoverage(SPAN), 0
    for gap in gaps:
        ts += gap
        found.add(ts)
    assert 0 <= found.share() <= 1


@given(st.integers(10, 200), st.integers(0, 30))
def test_a_hole_is_not_covered(interval: int, missing: int) -> None:
    span = TimeRange(10_000, 10_000 + 100 * interval)
    found = TimeCoverage(span)
    left_out = range(span.since + 40 * interval, span.since + (40 + missing) * interval, interval)
    for ts in range(span.since - 5 * interval, span.until + 1, interval):
        if ts not in left_out:
            found.add(ts)
    lost = missing if missing + 1 > 3 else 0
    assert found.share() == pytest.approx(1 - lost / 100)


def test_runs_of_settings() -> None:
    """Several parameters are one run, several values of one a run each, with all others."""
    assert variants_of([]) == []
    assert variants_of(["a=1", "b=2"]) == [["a=1", "b=2"]]
    assert variants_of(["a=1", "b=2", "a=3"]) == [["a=1", "b=2"], ["a=3", "b=2"]]


def test_values_are_in_force_for_all_objects(config: RuleConfig) -> None:
    """A value replaces those that the site has set for some objects; the run in force keeps them."""
    standard = in_force(config, {"Q-01"})
    name = ObjectName("QM01", "queue", "A")
    variant = with_values(standard, ["near_ratio=0.5", "clear=7"])
    assert variant.name == "near_ratio = 0.5, clear = 7 polls"
    (usual,), (tuned,) = standard.config.rules.rules_for(name), variant.config.rules.rules_for(name)
    assert usual.values["near_ratio"] == 0.8
    assert tuned.values["near_ratio"] == 0.5
    assert tuned.policy.clear_polls == 7
    assert tuned.values["token_depth"] == usual.values["token_depth"]

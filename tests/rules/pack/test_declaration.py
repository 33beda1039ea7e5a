"""The lines of YAML that say what to declare: they are taken by the configuration once their dots are values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from mqvitals_config.decoding.schema import Doc, hints_of
from mqvitals_config.load import load_settings
from mqvitals_config.sections.facts import FactSettings
from mqvitals_rules.ruleset.facts import Declaration, declared_facts, facts_as_yaml, usable_facts
from mqvitals_rules.vocabulary.log import VOLUMES
from mqvitals_rules.vocabulary.metric import Kind, Metric
from mqvitals_rules.vocabulary.tables import KINDS

DECLARED = [
    pytest.param(kind, metric, id=f"{kind.name}.{metric.name}")
    for kind in KINDS.values()
    if kind.facts
    for metric in kind.metrics
    if metric.declared
]
_NUMBER = "8"
_OTHER_FORMS = {"text": "WORD", "serials": "[VOL001, VOL002]", "date": "2027-03-31"}


def filled(lines: list[str]) -> str:
    """The lines with a value in the place of the dots, as their comments tell it: the last word of a state, a number, a text."""
    value = ""
    text = []
    for each in lines:
        comment = re.fullmatch(r"    # \w+: (.*)", each)
        if comment:
            form = re.search(r"\(([\w/%]+)\)$", comment[1])
            value = comment[1].rpartition(": ")[2].split(", ")[-1] if form is None else _NUMBER
            if form is not None and form[1] in _OTHER_FORMS:
                value = _OTHER_FORMS[form[1]]
        text.append(each.replace("[...]", value).replace("...", value))
    return "\n".join(text) + "\n"


@pytest.mark.parametrize(("kind", "metric"), DECLARED)
def test_what_to_declare_is_taken(kind: Kind, metric: Metric, tmp_path: Path) -> None:
    """Each fact that a rule can lack, filled in as its comment says, is no mistake in a configuration."""
    file = tmp_path / "mqvitals.yaml"
    file.write_text(filled(list(facts_as_yaml(usable_facts([(kind.name, metric.name)], KINDS)))), "utf-8")
    assert f"{metric.name}:" in file.read_text() or metric.name == "shared_volumes"
    facts, problems = declared_facts(load_settings(str(file), {}, {}).settings.facts)
    assert facts
    assert problems == []


def test_shared_volumes_follow_from_others() -> None:
    """Nobody declares which volumes are shared: it follows from the lists of volumes."""
    lines = list(facts_as_yaml(usable_facts([("log", "shared_volumes")], KINDS)))
    assert [each.split(", ")[1] for each in lines if "objects" in each] == [f"{name}: [...]}}" for name in VOLUMES]


def test_a_word_that_yaml_takes_for_a_boolean_is_quoted() -> None:
    """YES stands as "YES", for without quotes it is refused."""
    lines = list(facts_as_yaml(usable_facts([("channel", "partner_ams")], KINDS)))
    assert lines[2].endswith(': "NO", "YES"')


def test_what_a_pattern_selects_is_not_told_again() -> None:
    """Beside a pattern for all queues of a queue manager stand only queues of others."""
    metric = KINDS["queue"].metric("workload")
    assert metric is not None
    objects = ("QM01/queue/A", "QM01/queue/*", "QM02/queue/A")
    lines = list(facts_as_yaml(Declaration("queues", each, metric) for each in objects))
    assert [each for each in lines if "objects" in each] == [
        '    - {objects: "QM01/queue/*", workload: ...}',
        '    - {objects: "QM02/queue/A", workload: ...}',
    ]


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name) for kind in KINDS.values() if kind.facts])
def test_each_setting_is_a_declared_metric(kind: Kind) -> None:
    """A section of the settings has the facts of its kind, and where it names a default, that is the vocabulary's."""
    (entry,) = get_args(hints_of(FactSettings)[kind.facts].__args__[0])[:1]
    for name, hint in hints_of(entry).items():
        if name == "objects":
            continue
        metric = kind.metric(name)
        assert metric is not None
        assert metric.declared
        assert metric.derive is None
        written = next(each.default for each in hint.__metadata__ if isinstance(each, Doc))
        if metric.default is not None and written:
            words = {str(metric.default), *(word for word, number in metric.values.items() if number == metric.default)}
            assert written in words or (written == "not declared" and "unspecified" in words)

"""Facts without which a rule says nothing: a comparison with one is unknown until it is declared, and not left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_rules.expression import Context, compile_expression
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

MAY = Metric("may", "count", MetricType.GAUGE, "a fact that may be left out", declared=True)
MUST = Metric("must", "count", MetricType.GAUGE, "a fact that is needed", declared=True, needed=True)
DEPTH = Metric("depth", "messages", MetricType.GAUGE, "messages")
KIND = Kind("queue", "a queue", "INQUIRE_Q_STATUS", (MAY, MUST, DEPTH))
UNDECLARED: Mapping[str, Reported] = {
    "depth": 5,
    "may": Absence.NOT_DECLARED,
    "must": Absence.NOT_DECLARED,
}


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("depth > 1 and may > 1", True),
        ("depth > 1 and must > 1", None),
        ("depth > 9 and must > 1", False),
        ("depth > 9 or may > 1", False),
        ("depth > 9 or must > 1", None),
        ("depth > 1 or must > 1", True),
        ("depth > 1 and not must > 1", None),
        ("must > 1", None),
        ("may > 1", None),
        ("present(must)", False),
    ],
)
def test_undeclared(text: str, truth: bool | None, context: Callable[..., Context]) -> None:
    """What is needed is unknown, what may be left out is left out."""
    expression = compile_expression(LocatedText(text, Place("test", 1, 1)), KIND, {"queue": KIND}, {})
    scene = context(UNDECLARED)
    assert expression.truth(scene) is truth
    assert expression.truth(scene, UNDECLARED) is truth
    assert expression.explain(scene).truth is truth


def test_declared(context: Callable[..., Context]) -> None:
    """Declared, it is compared like any other number."""
    expression = compile_expression(
        LocatedText("depth > 1 and must > 1", Place("test", 1, 1)), KIND, {"queue": KIND}, {}
    )
    assert expression.truth(context({**UNDECLARED, "must": 2})) is True
    assert expression.truth(context({**UNDECLARED, "must": 1})) is False


def test_the_reason_is_that_it_was_not_declared(context: Callable[..., Context]) -> None:
    """So that whoever asks is told what to declare."""
    expression = compile_expression(
        LocatedText("depth > 1 and must > 1", Place("test", 1, 1)), KIND, {"queue": KIND}, {}
    )
    missing = expression.explain(context(UNDECLARED)).missing
    assert [(each.name, each.absence) for each in missing] == [("must", Absence.NOT_DECLARED)]

"""The rule language: parse, check against the vocabulary, compile.

Three truth values; nothing is evaluated unchecked.
"""

from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.evaluation import Missing
from mqvitals_rules.expression.explanation import Explanation, TermVerdict
from mqvitals_rules.expression.expression import Calculation, Expression, compile_expression, compile_value
from mqvitals_rules.expression.functions import WindowUse
from mqvitals_rules.expression.syntax import ExpressionError

__all__ = [
    "Calculation",
    "Context",
    "Explanation",
    "Expression",
    "ExpressionError",
    "Missing",
    "TermVerdict",
    "WindowUse",
    "compile_expression",
    "compile_value",
]

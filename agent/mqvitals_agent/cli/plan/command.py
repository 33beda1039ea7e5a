"""``mqvitals plan``: the documents' formulas, each a calculator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_rules.plan.formula import Formula, FormulaAnswer, Input

_EPILOG = """\
Amounts may end in K, M, G, KB, MB or GB: 1024s of bytes, 1000s of what is counted.

examples:
  mqvitals plan list
  mqvitals plan cf-structure-size --help
  mqvitals plan cf-structure-size --msg-bytes 1536 --max-msgs 275K
  mqvitals plan cf-structure-messages --from group.db PRDQSG/cf_structure/APPL1"""


class _Parser(argparse.ArgumentParser):
    """A formula's own options; what is wrong with them is a sentence."""

    def error(self, message: str) -> NoReturn:
        raise Failure(message.removeprefix("argument --"), hint=f"'{self.prog} --help' lists the options")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the formula and what follows it: its options are its own."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.usage = f"{parser.prog} [-h] {{list,FORMULA}} [--help] [--OPTION VALUE ...] [--from STORE OBJECT] [--json]"
    parser.add_argument("formula", nargs="?", default="list", metavar="FORMULA", help="its name; 'list' shows all")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, metavar="--OPTION VALUE", help="'FORMULA --help' lists them"
    )
    parser.set_defaults(program=parser.prog)


def run(arguments: argparse.Namespace) -> int:
    """Calculate, or list what can be; returns the exit code. Raises Failure."""
    from mqvitals_rules.plan.catalogue import FORMULAS

    program, wanted = arguments.program, arguments.formula
    if wanted == "list":
        return _list(program, arguments.options)
    formula = FORMULAS.get(wanted.lower())
    if formula is None:
        from mqvitals_config.decoding.problem import suggestion

        meant = suggestion(wanted, FORMULAS)
        raise Failure(f"there is no formula {wanted!r}", hint=meant or f"'{program} list' shows all")
    return _calculate(formula, f"{program} {formula.name}", arguments.options)


def _list(program: str, options: Sequence[str]) -> int:
    from mqvitals_agent.cli.plan.report import list_json, list_lines
    from mqvitals_agent.commandline.output import line_width, show
    from mqvitals_rules.plan.catalogue import FORMULAS

    parser = _Parser(prog=f"{program} list", description="Every formula and what it calculates.", allow_abbrev=False)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list, for programs")
    form.add_argument("--markdown", action="store_true", help="the reference page, mqvitals help plan")
    asked = parser.parse_args(options)
    if asked.json:
        print(list_json(FORMULAS.values()))
    elif asked.markdown:
        from mqvitals_rules.plan.catalogue import formulas_page

        sys.stdout.write(formulas_page(FORMULAS.values()))
    else:
        show(list_lines(FORMULAS.values(), line_width()))
    return ExitCode.DONE


def _calculate(formula: Formula, program: str, options: Sequence[str]) -> int:
    from mqvitals_rules.plan.formula import PlanError, parse_input

    parser = _options_of(formula, program)
    asked, strange = parser.parse_known_args(options)
    if strange:
        word = strange[0]
        has = ", ".join(f"--{each.option}" for each in formula.inputs)
        raise Failure(f"{formula.name} has no option {word}; it has {has}", hint=f"'{program} --help' explains them")
    try:
        inputs = {
            each.name: parse_input(each, text)
            for each in formula.inputs
            if (text := getattr(asked, _field(each))) is not None
        }
        origins: list[str] = []
        if any(each.name == "date" for each in formula.inputs) and "date" not in inputs:
            inputs["date"] = _today()
        if asked.seen:
            from mqvitals_agent.cli.plan.store_inputs import store_inputs

            seen, origins = store_inputs(formula, asked, inputs)
            inputs |= seen
        answer = formula(**inputs)
    except PlanError as error:
        raise Failure(str(error), hint=f"'{program} --help' lists the options") from error
    _print_answer(formula, answer, origins, as_json=asked.json)
    return ExitCode.DONE


def _options_of(formula: Formula, program: str) -> _Parser:
    from mqvitals_agent.cli.plan.report import help_lines
    from mqvitals_agent.commandline.output import line_width

    parser = _Parser(
        prog=program,
        description=f"{formula.title}.",
        epilog="\n".join(help_lines(formula, line_width() - 2)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for each in formula.inputs:
        metavar = (
            "WORD"
            if each.words
            else "TEXT"
            if each.pattern
            else (each.unit.upper() if each.unit.isalpha() else "NUMBER")
        )
        parser.add_argument(f"--{each.option}", dest=_field(each), metavar=metavar, help=_help(each))
    parser.add_argument(
        "--from",
        dest="seen",
        nargs=2,
        metavar=("STORE", "OBJECT"),
        help="take what is not given from what the agent has seen of an object, such as QM01/channel/TO.QM02",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="with --from: the file that declares facts (else MQVITALS_CONFIG)"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser


def _today() -> str:
    from datetime import UTC, datetime

    from mqvitals_agent.commandline.time_arguments import now_ms

    return datetime.fromtimestamp(now_ms() / 1000, UTC).date().isoformat()


def _field(each: Input) -> str:
    return f"input_{each.name}"


def _help(each: Input) -> str:
    from mqvitals_rules.plan.formula import format_number

    default = "" if each.default is None else f" (default: {format_number(each.default)})"
    return f"{each.meaning}: {each.allowed}{default}".replace("%", "%%")


def _print_answer(formula: Formula, answer: FormulaAnswer, origins: Sequence[str], *, as_json: bool) -> None:
    from mqvitals_agent.cli.plan.report import answer_json, answer_lines
    from mqvitals_agent.commandline.output import line_width, show

    if as_json:
        from mqvitals_agent.commandline.output import complain
        from mqvitals_agent.text.terminal import safe

        # The JSON is that of the formula alone; where its inputs are from is for people.
        for line in origins:
            complain(safe(line))
        print(answer_json(answer))
    else:
        show(answer_lines(formula, answer, origins, line_width()))

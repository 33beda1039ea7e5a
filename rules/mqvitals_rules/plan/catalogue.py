"""Every formula by its name, and their reference page as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType

from mqvitals_rules.plan import (
    applications,
    channel_initiator,
    channels,
    log_range,
    logs,
    page_sets,
    queue_index,
    security,
    shared_queues,
    structures,
)
from mqvitals_rules.plan.formula import Formula, FormulaAnswer, Input, format_number

_MODULES: tuple[ModuleType, ...] = (
    structures,
    shared_queues,
    logs,
    log_range,
    page_sets,
    queue_index,
    security,
    applications,
    channels,
    channel_initiator,
)


def _formulas() -> Mapping[str, Formula]:
    found = [each for module in _MODULES for each in vars(module).values() if isinstance(each, Formula)]
    return {each.name: each for each in found}


FORMULAS: Mapping[str, Formula] = _formulas()
"""In the order of the modules, and within them of the source."""


_INTRODUCTION = """\
# What if: the documents' formulas

<!-- Made by `mqvitals plan list --markdown`; do not edit: change the formulas and make it again. -->

`mqvitals plan FORMULA --OPTION VALUE ...` calculates what IBM's performance documents give a formula or a table for. Each
answer shows its steps, the machine and release that were measured, when not to trust it, and the document and section.

    mqvitals plan list
    mqvitals plan batch-transfer-time --messages 10K --batch-msgs 100
    mqvitals plan batch-transfer-time --from group.db QM01/channel/TO.QM02 --batch-msgs 100

**Amounts** may end in `K`, `M`, `G`, `KB`, `MB` or `GB`, and may have commas: 1024s of bytes (also where the input is in KB,
MB or GB), 1000s of everything else. A number alone is in the input's unit. What is not allowed is refused with a sentence that
names what is allowed, and exit code 2.

**`--from STORE OBJECT`** takes what is not given from the store's values of an object, and shows for each input which metric it
is from and how old that is, or why it could not be taken. Counters are taken over the last hour; facts that only a person
knows (processors, storage) are those of the configuration file. With `--json` this goes to standard error.

**`--json`** prints one line: `formula`, `inputs` (all of them, defaults included), `value`, `unit`, `exact` (before it was
rounded), `measured_on`, `caveat`, `source`, `steps`, and `rows` where there is a table. `value` is null where the document
gives none.

The measurements are old and were made in a laboratory: take differences and shapes from them rather than milliseconds.
Where a document's own arithmetic is wrong, the right value is the answer, and a step, the caveat or a column names the printed one.
"""


def formulas_page(formulas: Iterable[Formula]) -> str:
    """The whole page."""
    formulas = tuple(formulas)
    return "\n".join(
        [_INTRODUCTION, *_contents(formulas), *(line for each in formulas for line in _formula_section(each))]
    )


def _contents(formulas: Iterable[Formula]) -> Iterator[str]:
    yield "| Formula | Result |"
    yield "|---|---|"
    for each in formulas:
        yield f"| [`{each.name}`](#{each.name}) | {_cell(each.title)} |"
    yield ""


def _formula_section(formula: Formula) -> Iterator[str]:
    answer = formula(**formula.example)
    yield f"## {formula.name}"
    yield ""
    yield f"{formula.title}."
    yield ""
    yield "| Option | | Allowed | Default |"
    yield "|---|---|---|---|"
    for each in formula.inputs:
        yield f"| `--{each.option}` | {_cell(each.meaning)} | {_cell(_allowed(each))} | {_default(each)} |"
    yield ""
    yield f"    {command(formula)}"
    yield ""
    yield from _answer(answer)
    for label, text in (("Measured on", answer.measured_on), ("Caveat", answer.caveat), ("Source", answer.source)):
        if text:
            yield f"{label}: {_text(text)}"
            yield ""


def _answer(answer: FormulaAnswer) -> Iterator[str]:
    if answer.value is not None:
        yield f"**{format_number(answer.value)} {answer.unit}**"
        yield ""
    for step in answer.steps:
        yield f"- {_text(step)}"
    yield ""
    if answer.rows:
        names = list(dict.fromkeys(name for row in answer.rows for name in row))
        yield f"| {' | '.join(name.replace('_', ' ') for name in names)} |"
        yield f"|{'---|' * len(names)}"
        for row in answer.rows:
            yield f"| {' | '.join(_cell(format_number(row.get(name))) for name in names)} |"
        yield ""


def command(formula: Formula) -> str:
    """The command line of a formula's example."""
    given = "".join(f" --{name.replace('_', '-')} {value}" for name, value in formula.example.items())
    return f"mqvitals plan {formula.name}{given}"


def _allowed(each: Input) -> str:
    return ", ".join(f"`{word}`" for word in each.words) if each.words else each.allowed


def _default(each: Input) -> str:
    return "must be given" if each.default is None else format_number(each.default)


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Plain text, without markup."""
    return text.replace("<", "&lt;").replace("*", "\\*")

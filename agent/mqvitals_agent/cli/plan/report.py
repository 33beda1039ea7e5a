"""A formula's answer and help, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_rules.plan.catalogue import command
from mqvitals_rules.plan.formula import Formula, FormulaAnswer, TableRow, format_number

_INDENT = "  "


def answer_json(answer: FormulaAnswer) -> str:
    """One line; ``rows`` only where the answer is a table."""
    found: dict[str, Any] = {
        "formula": answer.formula,
        "inputs": dict(answer.inputs),
        "value": answer.value,
        "unit": answer.unit,
        "exact": answer.exact,
        "measured_on": answer.measured_on,
        "caveat": answer.caveat,
        "source": answer.source,
        "steps": list(answer.steps),
    }
    if answer.rows:
        found["rows"] = [dict(row) for row in answer.rows]
    return json.dumps(found, ensure_ascii=False)


def answer_lines(formula: Formula, answer: FormulaAnswer, origins: Sequence[str], width: int) -> list[str]:
    """The answer, its inputs, steps and sources. ``origins`` are sentences about inputs taken from a store."""
    lines = wrap(f"{formula.title}: {answer.formula}", width, rest=_INDENT)
    if answer.value is not None:
        exact = "" if answer.exact in (None, answer.value) else f"  (exact: {format_number(answer.exact)})"
        lines += ["", *wrap(f"{_INDENT}{format_number(answer.value)} {answer.unit}{exact}", width, first=_INDENT)]
    if answer.inputs:
        lines += ["", "With"]
        names = max(len(each.option) for each in formula.inputs)
        for each in formula.inputs:
            if each.name not in answer.inputs:
                continue
            unit = f" {each.unit}" if each.unit and not each.is_text else ""
            lines.append(f"{_INDENT}{each.option:<{names}}  {safe(format_number(answer.inputs[each.name]))}{unit}")
    if origins:
        lines += ["", "Seen"]
        for sentence in origins:
            lines += wrap(safe(sentence), width, first=_INDENT, rest=_INDENT * 2)
    if answer.steps:
        lines += ["", "Steps"]
        for step in answer.steps:
            lines += wrap(step, width, first=_INDENT, rest=_INDENT * 2)
    if answer.rows:
        lines += ["", *rows_table(answer.rows, width)]
    lines.append("")
    lines += _source_lines(answer.measured_on, answer.caveat, answer.source, width)
    return lines


class _PrintedColumn(NamedTuple):
    """A printed column: the lines of its name, its cells, their width, and whether they are right-aligned."""

    head: list[str]
    values: list[str]
    room: int
    right: bool


def rows_table(rows: Sequence[TableRow], width: int) -> list[str]:
    """Rows below the names of their columns, which wrap at words; numbers are right-aligned.

    Columns that do not fit into ``width`` follow below, with the key columns repeated.
    """
    columns = [_column(rows, name) for name in dict.fromkeys(name for row in rows for name in row)]
    keys = next(
        (
            count
            for count in range(1, len(columns))
            if len({*zip(*(each.values for each in columns[:count]), strict=True)}) == len(rows)
        ),
        0,
    )
    parts = [columns[:keys]]
    for each in columns[keys:]:
        if len(parts[-1]) > keys and _width([*parts[-1], each]) > width:
            parts.append(columns[:keys])
        parts[-1] = [*parts[-1], each]
    lines: list[str] = []
    for number, part in enumerate(parts):
        lines += [""] * bool(number) + _table_part(part)
    return lines


def _column(rows: Sequence[TableRow], name: str) -> _PrintedColumn:
    values = [_cell(row.get(name)) for row in rows]
    words = name.split("_")
    room = max(*map(cells, values), *map(len, words), 1)
    head = wrap(" ".join(words), max(room, 8))
    return _PrintedColumn(
        head, values, max(room, *map(len, head)), all(not isinstance(row.get(name), str) for row in rows)
    )


def _width(columns: Sequence[_PrintedColumn]) -> int:
    return len(_INDENT) * len(columns) + sum(each.room for each in columns)


def _table_part(columns: Sequence[_PrintedColumn]) -> list[str]:
    height = max(len(each.head) for each in columns)
    heads = [[""] * (height - len(each.head)) + each.head for each in columns]
    lines = [_table_line([head[number] for head in heads], columns) for number in range(height)]
    lines.append(_table_line(["─" * each.room for each in columns], columns))
    return lines + [_table_line(texts, columns) for texts in zip(*(each.values for each in columns), strict=True)]


def _table_line(texts: Sequence[str], columns: Sequence[_PrintedColumn]) -> str:
    parts = []
    for text, each in zip(texts, columns, strict=True):
        blank = " " * (each.room - cells(text))
        parts.append(blank + text if each.right else text + blank)
    return (_INDENT + _INDENT.join(parts)).rstrip()


def _cell(value: int | float | str | None) -> str:
    return safe(format_number(value))


def help_lines(formula: Formula, width: int) -> list[str]:
    """What a formula's help says beside its options: an example with its answer, and what it rests on."""
    answer = formula(**formula.example)
    value = "a table" if answer.value is None else f"{format_number(answer.value)} {answer.unit}"
    lines = ["example:", f"{_INDENT}{command(formula)}"]
    lines += [f"{_INDENT}-> {value}", ""]
    return lines + _source_lines(formula.measured_on, answer.caveat, formula.source, width)


def _source_lines(measured_on: str, caveat: str, source: str, width: int) -> list[str]:
    lines = []
    for label, text in (("Measured on", measured_on), ("Caveat", caveat), ("Source", source)):
        if text:
            lines += wrap(safe(text), width, first=f"{label:<13}", rest=" " * 13)
    return lines


def list_lines(formulas: Collection[Formula], width: int) -> Iterator[str]:
    """Every formula in a line or two, in the order of the catalogue."""
    names = max((len(each.name) for each in formulas), default=0)
    for each in formulas:
        yield from wrap(each.title, width, first=f"{each.name:<{names}}  ", rest=" " * (names + 2))
    yield ""
    yield from wrap("'mqvitals plan FORMULA --help' shows its inputs, an example and its source.", width)


def list_json(formulas: Iterable[Formula]) -> str:
    """Every formula with its inputs."""
    rows = [
        {
            "formula": each.name,
            "number": each.number,
            "title": each.title,
            "inputs": [
                {
                    "name": one.name,
                    "option": f"--{one.option}",
                    "unit": one.unit,
                    "meaning": one.meaning,
                    "least": None if one.is_text else one.least,
                    "most": None if one.is_text else one.most,
                    "whole": not (one.fraction or one.is_text),
                    "words": list(one.words),
                    "default": one.default,
                }
                for one in each.inputs
            ],
            "example": dict(each.example),
            "measured_on": each.measured_on,
            "caveat": each.caveat,
            "source": each.source,
        }
        for each in formulas
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False)

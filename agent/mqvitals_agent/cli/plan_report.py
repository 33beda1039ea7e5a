"""A formula's answer, help and inputs taken from a store, for people and for programs.

``plan`` imports it when it runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mqvitals_agent.errors import Failure
from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_rules.plan.catalogue import command
from mqvitals_rules.plan.formula import Formula, FormulaAnswer, TableRow, format_number

if TYPE_CHECKING:
    from mqvitals_agent.plan_inputs import FoundInput
    from mqvitals_rules.plan.formula import Given
    from mqvitals_rules.ruleset.facts import Facts
    from mqvitals_rules.snapshot import ObjectName


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


class _TextColumn(NamedTuple):
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


def _column(rows: Sequence[TableRow], name: str) -> _TextColumn:
    values = [_cell(row.get(name)) for row in rows]
    words = name.split("_")
    room = max(*map(cells, values), *map(len, words), 1)
    head = wrap(" ".join(words), max(room, 8))
    return _TextColumn(
        head, values, max(room, *map(len, head)), all(not isinstance(row.get(name), str) for row in rows)
    )


def _width(columns: Sequence[_TextColumn]) -> int:
    return len(_INDENT) * len(columns) + sum(each.room for each in columns)


def _table_part(columns: Sequence[_TextColumn]) -> list[str]:
    height = max(len(each.head) for each in columns)
    heads = [[""] * (height - len(each.head)) + each.head for each in columns]
    lines = [_table_line([head[number] for head in heads], columns) for number in range(height)]
    lines.append(_table_line(["─" * each.room for each in columns], columns))
    return lines + [_table_line(texts, columns) for texts in zip(*(each.values for each in columns), strict=True)]


def _table_line(texts: Sequence[str], columns: Sequence[_TextColumn]) -> str:
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


def store_inputs(
    formula: Formula, asked: argparse.Namespace, given: Mapping[str, Given]
) -> tuple[dict[str, Given], list[str]]:
    """The inputs that are not ``given`` and that the store has, and a sentence about each. Raises Failure."""
    from mqvitals_agent.commandline.arguments import now_ms
    from mqvitals_agent.plan_inputs import ObjectValues, find_inputs
    from mqvitals_agent.store.reader import StoreReader

    path, text = asked.seen
    name = _object(formula, text)
    facts = _facts(asked)
    with StoreReader.open(path) as reader:
        if not reader.has(name):
            near = reader.closest(str(name))
            hint = f"did you mean {' or '.join(near)}?" if near else "'mqvitals status' shows what it holds"
            raise Failure(f"the store has seen no {name}", hint=hint)
        last = reader.last_ts()
        now = last if reader.meta().past and last is not None else now_ms()
        seen = find_inputs(formula, ObjectValues(reader, name, facts, now), given)
    missing = [each for each in seen if each.value is None and each.input.default is None]
    if missing:
        # All of them at once: who must give them should not find them one by one.
        why = "; ".join(f"{each.input.option} ({each.words}; it is {each.input.allowed})" for each in missing)
        options = " ".join(f"--{each.input.option} {(each.input.unit or 'number').upper()}" for each in missing)
        raise Failure(f"{name} does not have {why}", hint=f"add {options}")
    values = {each.input.name: each.value for each in seen if each.value is not None}
    return values, [*_origin_lines(seen, name, now)]


def _origin_lines(seen: tuple[FoundInput, ...], name: ObjectName, now: int) -> Iterator[str]:
    from mqvitals_agent.text.figure import short_age
    from mqvitals_rules.plan.formula import format_number

    for each in seen:
        if each.value is None:
            yield f"{each.input.option} not taken ({each.words}): {format_number(each.input.default)} is the default"
            continue
        old = "declared" if each.ts is None else f"{short_age(now - each.ts)} old"
        silent = f", stale: {each.silent}" if each.silent else ""
        yield f"{each.input.option} {format_number(each.value)} from {each.words} of {name}, {old}{silent}"


def _object(formula: Formula, text: str) -> ObjectName:
    from mqvitals_agent.commandline.arguments import object_name
    from mqvitals_agent.plan_inputs import kinds_of

    kinds = kinds_of(formula.name)
    if not kinds:
        raise Failure(f"{formula.name} has no input that the agent measures", hint="give its inputs yourself")
    name = object_name(text)
    if name.kind not in kinds:
        words = " or ".join(kinds)
        raise Failure(f"{formula.name} has no input from a {name.kind}", hint=f"it takes from a {words}")
    return name


def _facts(asked: argparse.Namespace) -> Facts:
    """The declared facts, defaults included; raises Failure for a file that cannot be used."""
    from mqvitals_agent.commandline.settings import settings_of, usable_settings
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.ruleset.facts import Facts, declared_facts
    from mqvitals_rules.vocabulary.tables import KINDS

    found, problems = declared_facts(settings_of(asked).facts)
    with usable_settings():
        if problems:
            raise ConfigError(problems)
    return Facts(KINDS, found)

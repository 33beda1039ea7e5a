"""Inputs of a formula taken from a store, each with a sentence about where it is from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.errors import Failure
from mqvitals_rules.plan.formula import Formula

if TYPE_CHECKING:
    from mqvitals_agent.plan_inputs.reading import FoundInput
    from mqvitals_rules.plan.formula import Given
    from mqvitals_rules.ruleset.facts import Facts
    from mqvitals_rules.snapshot import ObjectName


def store_inputs(
    formula: Formula, asked: argparse.Namespace, given: Mapping[str, Given]
) -> tuple[dict[str, Given], list[str]]:
    """The inputs that are not ``given`` and that the store has, and a sentence about each. Raises Failure."""
    from mqvitals_agent.commandline.time_arguments import now_ms
    from mqvitals_agent.plan_inputs.reading import ObjectValues, find_inputs
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
    from mqvitals_agent.plan_inputs.sources import kinds_of

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
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.ruleset.facts import Facts, declared_facts
    from mqvitals_rules.vocabulary.tables import KINDS

    found, problems = declared_facts(settings_of(asked).facts)
    with usable_settings():
        if problems:
            raise ConfigError(problems)
    return Facts(KINDS, found)

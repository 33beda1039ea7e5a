"""Thresholds of a configuration that change nothing for certain: no object is like that, or a later one always counts instead."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_config.problem import Problem
from mqvitals_config.settings import Settings
from mqvitals_rules.pattern import ObjectPattern
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS


def idle_thresholds(settings: Settings) -> Iterator[Problem]:
    """What is to be said of each. The settings must be without problems."""
    entries = settings.rules.thresholds
    for index, entry in enumerate(entries):
        key = f"rules.thresholds[{index}]"
        later = next(
            (
                each
                for each in entries[index + 1 :]
                if (each.rule, each.parameter) == (entry.rule, entry.parameter)
                and (each.objects is None or each.objects == entry.objects)
            ),
            None,
        )
        if later is not None:
            yield Problem(
                entry.rule.place, key, f"warning: this never counts: {later.rule.place} says another value for the same"
            )
        elif entry.objects is not None:
            reason = _nothing_like(ObjectPattern.parse(entry.objects), settings)
            if reason:
                yield Problem(entry.objects.place, f"{key}.objects", f"warning: this selects nothing: {reason}")


def _nothing_like(pattern: ObjectPattern, settings: Settings) -> str:
    """Why no object can be selected; empty where that is not certain."""
    kind = KINDS[pattern.kind]
    if kind.single and not pattern.name.fullmatch(""):
        return f"a {kind.name} has no name of its own; write owner/{kind.name}"
    owners = _owners(kind, settings)
    if owners is not None and not any(map(pattern.owner.fullmatch, owners)):
        return f"objects of kind {kind.name} belong to {', '.join(owners) or 'nobody'}"
    return ""


def _owners(kind: Kind, settings: Settings) -> tuple[str, ...] | None:
    """All who can own objects of a kind; None where records or answers may tell of others."""
    names = tuple(str(each.name) for each in settings.queue_managers)
    if not names or settings.smf.watch is not None or settings.name is None:
        return None
    group = str(settings.name)
    return (group,) if kind.of_group else (*names, group)

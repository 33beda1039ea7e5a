"""The words of alerts as of a past moment: the store keeps them as they were said last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.quantity import format_value
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.compiled_rule import CompiledRule

LATER_WORDS: Final = "(said later) "
"""Stands before words that could not be said again with the figures of then."""

RuleOf = Callable[[Alert], "CompiledRule | None"]
"""The rule of an alert as it is in force for its object; None: it is no longer."""


def with_past_words(reader: StoreReader, alerts: Iterable[Alert], at: int, rule_of: RuleOf) -> tuple[Alert, ...]:
    """The alerts with summaries that state the figures of ``at`` (ms UTC); ``reader`` is as of that moment.

    A summary that was said by then stays. One that was said later is said again with the figures of then, where the
    condition held then. Else the later words are marked, behind the figure of then where that is known. Raises
    StoreError.
    """
    said = [(alert, rule_of(alert) if alert.updated > at else None) for alert in alerts]
    figures = _figures(reader, [(alert, rule) for alert, rule in said if rule is not None])
    known: _Known = reader.notes.setdefault(with_past_words, {})
    read = {id(rule): _read_by(rule) for _, rule in said if rule is not None}
    return tuple(
        alert
        if alert.updated <= at
        else _said_again(alert, None, figures, at)
        if rule is None
        else _said_with(alert, rule, read[id(rule)], figures, at, known)
        for alert, rule in said
    )


def _read_by(rule: CompiledRule) -> tuple[tuple[str, str], ...]:
    """The kinds and metrics that the words of an alert of a rule are made of."""
    shown = {(kind, metric.name) for kind, metric in rule.summary.metrics}
    figure = set() if rule.figure is None else {(rule.figure.kind, rule.figure.metric.name)}
    return tuple({*rule.when.names, *shown, *figure})


_Figures = Mapping[ObjectName, Mapping[str, "CurrentValue"]]


_Known = dict[tuple[int, int], tuple[Alert, "CompiledRule", Sequence[Reported], Alert]]
"""By the identities of an alert and its rule both, the figures by which it was said again, and as it was said."""
_MOST_KNOWN: Final = 5_000


def _said_with(
    alert: Alert,
    rule: CompiledRule,
    read: Iterable[tuple[str, str]],
    figures: _Figures,
    at: int,
    known: _Known,
) -> Alert:
    """``_said_again``, made anew where the figures are others than last time: of most alerts they are the same for hours."""
    about: dict[str, Mapping[str, CurrentValue]] = {}
    values: list[Reported] = []
    for kind, metric in read:
        of_kind = about.get(kind)
        if of_kind is None:
            name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
            of_kind = about[kind] = figures.get(name, {})
        latest = of_kind.get(metric)
        values.append(Absence.NOT_ASKED if latest is None else latest.value)
    key = id(alert), id(rule)
    found = known.get(key)
    if found is not None and found[0] is alert and found[1] is rule and found[2] == values:
        return found[3]
    if len(known) >= _MOST_KNOWN:
        known.clear()
    said = _said_again(alert, rule, figures, at)
    known[key] = alert, rule, values, said
    return said


def _figures(reader: StoreReader, alerts: Sequence[tuple[Alert, CompiledRule]]) -> _Figures:
    """The metrics that these rules look at, of the objects that they are about: one query a queue manager and kind."""
    wanted: dict[tuple[str, str], set[str]] = {}
    names: dict[tuple[str, str], set[ObjectName]] = {}
    # Hundreds of alerts are of one rule.
    scopes: dict[int, tuple[CompiledRule, set[ObjectName]]] = {}
    for alert, rule in alerts:
        scopes.setdefault(id(rule), (rule, set()))[1].add(alert.scope)
    for rule, of_rule in scopes.values():
        metrics = {*rule.when.names, *((kind, metric.name) for kind, metric in rule.summary.metrics)}
        for scope in of_rule:
            for kind, metric in metrics:
                wanted.setdefault((scope.owner, kind), set()).add(metric)
                about = scope if kind == scope.kind else ObjectName(scope.owner, kind, "")
                names.setdefault((scope.owner, kind), set()).add(about)
    found: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    for (owner, kind), of_kind in wanted.items():
        found.update(reader.current_of(owner, kind, names[owner, kind], of_kind))
    return found


def _said_again(alert: Alert, rule: CompiledRule | None, figures: _Figures, at: int) -> Alert:
    def said(words: str, unknown: int = 0, recent: int = 1, now: str = alert.value_now) -> Alert:
        return replace(alert, summary=words, good_polls=0, unknown_polls=unknown, recent_polls=recent, value_now=now)

    def marked(unknown: int = 0, recent: int = 1, now: str = alert.value_now) -> Alert:
        return said(f"{LATER_WORDS}{alert.summary}", unknown, recent, now)

    if rule is None or rule.awaited or rule.summary.inserts or rule.summary.shows_members:
        return marked()
    missing = False

    def lookup(kind: str, metric: str) -> Reported:
        nonlocal missing
        name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
        known = figures.get(name, {}).get(metric)
        value = Absence.NOT_ASKED if known is None else known.value
        missing = missing or value is Absence.NOT_KEPT or (kind != alert.scope.kind and not KINDS[kind].single)
        return value

    text = rule.summary.fill(alert.scope, lookup)
    if missing:
        return marked()
    when = rule.when
    if when.windows or when.members or when.pairs or when.shares or when.messages:
        # Whether it held then takes more than the values of then; the figures are those of then.
        return said(text)
    holds = when.truth(InstantContext(lookup, at, alert.scope.name))
    if holds:
        return said(text)
    if holds is None:
        return marked(unknown=1)
    figure = rule.figure
    value = Absence.NOT_ASKED if figure is None else lookup(figure.kind, figure.metric.name)
    words = "" if figure is None or isinstance(value, Absence) else format_value(figure.metric, value)
    return marked(recent=0, now=words)

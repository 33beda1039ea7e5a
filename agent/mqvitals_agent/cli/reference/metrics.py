"""``mqvitals metrics``: every metric, its unit, meaning and source."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from mqvitals_agent.errors import Failure
from mqvitals_agent.openmetrics.names import sample_names
from mqvitals_rules.vocabulary.markdown import GLUE, metric_facts, metrics_page
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

_WIDTH = 80

Found = Sequence[tuple[Kind, Sequence[Metric]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "pattern",
        nargs="?",
        default="",
        metavar="PATTERN",
        help="part of a name (channel.xbatch), a name with * and ?, or an MQSC keyword, PCF parameter, SMF field or name in"
        " Prometheus",
    )
    parser.add_argument("--kind", metavar="KIND", help="only metrics of this kind of object")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list, for programs")
    form.add_argument("--markdown", action="store_true", help="the reference page, mqvitals help metrics")


def run(arguments: argparse.Namespace) -> int:
    """Print the metrics that were asked for.

    Raises Failure when there is no such kind or nothing matches.
    """
    found = _find(arguments.kind, arguments.pattern)
    if arguments.json:
        rows = [row(kind, metric) for kind, metrics in found for metric in metrics]
        print(json.dumps(rows, indent=2))
    elif arguments.markdown:
        sys.stdout.write(metrics_page((kind for kind, _ in found), sample_names))
    elif len(found) == 1 and len(found[0][1]) == 1:
        print("\n".join(_detail(found[0][0], found[0][1][0])))
    else:
        print("\n\n".join("\n".join(_table(kind, metrics)) for kind, metrics in found))
    return 0


def row(kind: Kind, metric: Metric) -> dict[str, str]:
    """One metric as programs get it."""
    return {
        "kind": kind.name,
        "name": metric.name,
        "unit": metric.unit,
        "type": metric.type.value,
        "pcf": metric.pcf,
        "smf": metric.smf,
        "mqsc": metric.mqsc,
        "meaning": metric.meaning,
        "prometheus": " ".join(sample_names(kind, metric)),
    }


def _find(kind_name: str | None, pattern: str) -> Found:
    if kind_name is not None and kind_name not in KINDS:
        raise Failure(f"there is no kind {kind_name!r}", hint=f"the kinds are {', '.join(KINDS)}")
    kinds = KINDS.values() if kind_name is None else (KINDS[kind_name],)
    found = [(kind, [metric for metric in kind.metrics if _matches(kind, metric, pattern)]) for kind in kinds]
    found = [(kind, metrics) for kind, metrics in found if metrics]
    if not found:
        where = "" if kind_name is None else f" of kind {kind_name}"
        raise Failure(f"no metric{where} matches {pattern!r}", hint=_hint(pattern))
    return found


def _matches(kind: Kind, metric: Metric, pattern: str) -> bool:
    """True when the pattern is in the name, is the whole name but for ``*`` and ``?``, or names one of its sources."""
    if not pattern:
        return True
    name = f"{kind.name}.{metric.name}"
    wanted = pattern.lower()
    if any(sign in wanted for sign in "*?"):
        return fnmatchcase(name, wanted) or fnmatchcase(metric.name, wanted)
    if name == wanted or metric.name == wanted or wanted in name:
        return True
    sources = f"{metric.mqsc} {metric.pcf} {metric.smf}".lower()
    for sign in "[]()+/":
        sources = sources.replace(sign, " ")
    return wanted in sources.split() or wanted in sample_names(kind, metric)


def _hint(pattern: str) -> str:
    metrics = [(kind.name, metric.name) for kind in KINDS.values() for metric in kind.metrics]
    names = {f"{kind}.{name}" for kind, name in metrics} if "." in pattern else {name for _, name in metrics}
    near = get_close_matches(pattern.lower(), sorted(names), n=3)
    return f"did you mean {', '.join(near)}?" if near else "'mqvitals metrics' without a pattern lists all"


def _table(kind: Kind, metrics: Sequence[Metric]) -> Iterator[str]:
    """A kind's metrics: name, unit (or type), meaning and in parentheses the source; at most 80 columns."""
    yield from _wrap(f"{kind.name}: {kind.meaning}", _WIDTH)
    names = max(len(metric.name) for metric in metrics)
    units = max(len(_unit(metric)) for metric in metrics)
    left = 2 + names + 2 + units + 2
    for metric in metrics:
        lines = _wrap(f"{metric.meaning} ({_source(metric).replace(' ', GLUE)})", _WIDTH - left)
        yield f"  {metric.name:{names}}  {_unit(metric):{units}}  {lines[0]}"
        for line in lines[1:]:
            yield " " * left + line


def _detail(kind: Kind, metric: Metric) -> Iterator[str]:
    """Everything about one metric."""
    yield f"{kind.name}.{metric.name}"
    facts = {**metric_facts(metric), "exported": ", ".join(sample_names(kind, metric))}
    for fact, value in facts.items():
        if not value:
            continue
        lines = _wrap(value, _WIDTH - 12)
        yield f"  {fact:8}  {lines[0]}"
        yield from (" " * 12 + line for line in lines[1:])


def _wrap(text: str, width: int) -> list[str]:
    return [line.replace(GLUE, " ") for line in textwrap.wrap(text, width, break_on_hyphens=False)]


def _unit(metric: Metric) -> str:
    return metric.unit if metric.type in (MetricType.GAUGE, MetricType.COUNTER) else metric.type.value


def _source(metric: Metric) -> str:
    """The one word by which an operator knows where the value comes from."""
    if metric.declared:
        return "declared"
    if metric.needs_smf:
        return f"SMF {metric.smf}"
    if metric.needs_statistics:
        return f"statistics {metric.statistics}"
    if metric.computed and not metric.mqsc:
        return "computed"
    return metric.mqsc or metric.command

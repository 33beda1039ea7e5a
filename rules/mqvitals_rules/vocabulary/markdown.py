"""What the tables say of each metric: as facts, and all of them as the reference page in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType

GLUE = "\N{NO-BREAK SPACE}"
"""Stands between words that must stay on one line."""

_INTRODUCTION = """\
# Metrics

<!-- Made by `mqvitals metrics --markdown`; do not edit: change the tables and make it again. -->

What mqvitals knows about a queue manager, metric by metric. `mqvitals metrics` prints the same in the terminal,
`mqvitals metrics XBATCHSZ` finds a metric by its MQSC keyword, parameter or SMF field, and `mqvitals metrics --json`
gives the list to a program.

## How things are named

Everything that is watched is an **object** of a certain **kind**: a buffer pool, a queue, a channel. An object is
written `owner/kind/name`, such as `QM01/buffer_pool/3` or `QM01/queue/ORDERS.REQUEST`; the owner is a queue manager, or
the group for what belongs to all its members: `PRDQSG/cf_structure/APPL1`, shared queues too. Kinds with one object for
an owner have two parts: `QM01/log`. MQ names may hold slashes; they belong to the name.

A **metric** is one figure, state or text of an object, written `kind.metric`: `buffer_pool.free_pct`. Rules write the
metrics of their own kind without the kind. The unit stands at the end of a name where MQ has no name of its own for the
figure (`_us`, `_s`, `_pct`, `_bytes`). Further endings:

| Ending | |
|---|---|
| `_short`, `_long` | MQ's average over recent activity, and over a longer time |
| `_defined` | the value in the definition, where the plain name is the value in effect |
| `_ts` | a date and time as the queue manager reports it, in its own time zone |
| `_age_s` | how long ago that was |

| Type | |
|---|---|
| gauge | a number as it is now |
| counter | a running total, kept as its increase between two polls; a rate is the increase divided by the time |
| state | one of a list of names, kept as MQ's number for it |
| text | the newest value only, without history |

The last column of the tables has the name that Prometheus knows a metric by, in base units ([prometheus.md](prometheus.md)).

## Absent values

A value is present, or it is absent with a reason. Absent is never zero and never good; a rule that needs an absent value
is *unknown* rather than true or false.

"""

_REASONS: Mapping[Absence, str] = {
    Absence.NOT_COLLECTED: "monitoring is off for the object (MONQ, MONCHL)",
    Absence.NOT_ON_ZOS: "z/OS does not report this",
    Absence.NOT_ON_DISTRIBUTED: "only z/OS reports this",
    Absence.NOT_AUTHORISED: "the command was refused",
    Absence.NOT_ASKED: "no command that reports it has been sent yet",
    Absence.NOT_RETURNED: "the answer came and did not hold it",
    Absence.NO_ANSWER: "it was requested, and no answer or only a part came",
    Absence.UNREACHABLE: "there was no connection",
    Absence.STALE: "the newest value is too old",
    Absence.AWAITED: "the newest record is too old, but its interval was short, as after a start: the next one is yet to come",
    Absence.NEEDS_SMF: "no command reports it; it is in [SMF records](smf.md), and none have been read",
    Absence.NEEDS_STATISTICS: "it is in statistics messages of distributed queue managers, and none have been read",
    Absence.NEEDS_CONSOLE: "it is in [console messages](console.md), and none of its queue manager are followed",
    Absence.NEEDS_EVENTS: "it is in [event messages](console.md#event-messages), and the queue that they come on is not read",
    Absence.NOT_DECLARED: "only the configuration can have it, and does not",
    Absence.NOT_LIVE: "it is about the agent's own calls of MQ, which a recording does not hold",
    Absence.TIME_ZONE_UNKNOWN: "ages need the queue manager's time zone, which is neither configured nor derived yet",
    Absence.FIRST_READING: "an increase needs two polls",
    Absence.RESET: "the counter began again, or passed 999,999,999",
    Absence.RESTARTED: "the queue manager was restarted: increases of the two intervals of SMF records after that mislead",
    Absence.SATURATED: "the counter stays at 999,999,999",
    Absence.OUT_OF_RANGE: "more than 64 bits can hold, or nothing can count to: the answer or the record is damaged",
    Absence.INACTIVE: "the channel is inactive and has no figures",
    Absence.OFFLINE: "the page set is offline",
    Absence.NOT_IN_USE: "the page set has no pages, or the buffer pool no buffers",
    Absence.NOTHING_TO_TELL: "it has not happened yet, or there is nothing it applies to",
    Absence.WINDOW: "the history does not reach back far enough",
    Absence.NOT_KEPT: "as of a past moment: it has changed since, and of texts and reasons only the newest is kept",
}


Exported = Callable[[Kind, Metric], Sequence[str]]
"""The names under which Prometheus has a metric; none where it has it not."""


def metrics_page(kinds: Iterable[Kind], exported: Exported) -> str:
    """The whole page for ``kinds``, ending with a line's end."""
    lines = [_INTRODUCTION + "| Reason | |\n|---|---|"]
    lines += [f"| {reason.value} | {meaning} |" for reason, meaning in _REASONS.items()]
    for kind in kinds:
        lines += ["", *_section(kind, exported)]
    return "\n".join(lines) + "\n"


def metric_facts(metric: Metric) -> dict[str, str]:
    """What there is to know about a metric, by what it is about; what it does not have is left out."""
    facts = {
        "meaning": metric.meaning,
        "type": f"{metric.type.value}, {metric.unit}" if metric.unit else metric.type.value,
        "values": ", ".join(f"{name}{GLUE}{number}" for name, number in metric.values.items()),
        "absent": ", ".join(f"{reason.value} when {number} is reported" for number, reason in metric.special.items()),
        "MQSC": metric.mqsc,
        "PCF": metric.pcf,
        "command": metric.command,
        "SMF": metric.smf,
        "messages": f"of statistics: {metric.statistics}" if metric.statistics else "",
        "computed": metric.computed,
        "declared": "in the configuration" if metric.declared else "",
        "platform": {"zos": "z/OS", "distributed": "distributed"}.get(metric.platform, ""),
        "since": f"command level {metric.since}" if metric.since else "",
    }
    return {about: text for about, text in facts.items() if text}


def source_text(metric: Metric) -> str:
    """Where ``metric`` comes from, as Markdown: keyword, parameter, command, SMF field, computation or declaration."""
    parts = []
    if metric.mqsc:
        parts.append(metric.mqsc)
    if metric.pcf:
        parts.append(", ".join(f"`{name}`" for name in metric.pcf.split()))
    if metric.computed:
        parts.append(f"computed: {metric.computed}")
    if metric.command:
        parts.append(metric.command)
    if metric.smf:
        parts.append(
            f"SMF `{metric.smf}`" + (f", of the class that `{metric.by_fact}` names" if metric.by_fact else "")
        )
    if metric.statistics:
        names = ", ".join(f"`{name}`" for name in metric.statistics.split("+"))
        parts.append(f"statistics message {names}")
    if metric.declared:
        parts.append("declared in the configuration" + _default(metric))
    return "; ".join(parts)


def _section(kind: Kind, exported: Exported) -> Iterator[str]:
    yield f"## {kind.name}"
    yield ""
    yield f"{_sentence(kind.meaning)} {_polled(kind)}"
    for name, (member, values) in kind.sets.items():
        yield ""
        yield f"`{member} in {name}` stands for {', '.join(f'`{value}`' for value in values)}."
    yield ""
    yield "| Metric | Type, unit | Meaning | Source | Prometheus |"
    yield "|---|---|---|---|---|"
    for metric in kind.metrics:
        in_prometheus = ", ".join(f"`{name}`" for name in exported(kind, metric))
        yield f"| `{metric.name}` | {_type(metric)} | {_meaning(metric, kind)} | {source_text(metric)} | {in_prometheus} |"
    states = _states(kind)
    if states:
        yield ""
        yield "| State | Values |"
        yield "|---|---|"
        for names, numbers in states:
            yield f"| {', '.join(f'`{name}`' for name in names)} | {_numbered(numbers)} |"


def _polled(kind: Kind) -> str:
    if kind.poll == "CONNECTION":
        return "Polled by connecting."
    if kind.poll == "COMMAND":
        return "Polled by each command of that form."
    if kind.poll == "STORE":
        return "Measured about once a minute."
    return f"Polled by {kind.poll}."


def _type(metric: Metric) -> str:
    return f"{metric.type.value}, {metric.unit}" if metric.unit else metric.type.value


def _meaning(metric: Metric, kind: Kind) -> str:
    notes = [metric.meaning]
    notes += [f"{number} reported: absent, {reason.value}" for number, reason in metric.special.items()]
    if metric.platform == "distributed":
        notes.append("not on z/OS")
    elif metric.platform == "zos" and any(other.platform != "zos" for other in kind.metrics):
        notes.append("z/OS only")
    if metric.since:
        notes.append(f"from command level {metric.since}")
    return ". ".join(_capital(note) for note in notes) + "."


def _states(kind: Kind) -> list[tuple[list[str], Mapping[str, int]]]:
    """States with the same values together, in the order of the first of them."""
    found: list[tuple[list[str], Mapping[str, int]]] = []
    for metric in kind.metrics:
        if metric.type is not MetricType.STATE:
            continue
        for names, values in found:
            if values == metric.values:
                names.append(metric.name)
                break
        else:
            found.append(([metric.name], metric.values))
    return found


def _numbered(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in values.items())


def _default(metric: Metric) -> str:
    if metric.default is None:
        return ""
    name = next((name for name, number in metric.values.items() if number == metric.default), metric.default)
    return f", {name} unless it is"


def _capital(text: str) -> str:
    """``text`` as the beginning of a sentence; z/OS keeps its form."""
    return text if text.startswith("z/OS") else text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    return _capital(text) + "."

"""The reference page of the rules as Markdown, and the texts of a rule that every list shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mqvitals_config.decoding.scalars import format_duration
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Rule

_INTRODUCTION = """\
# Rules

<!-- Made by `mqvitals rules list --markdown`; do not edit: change the packs and make it again. -->

The rules that come with mqvitals. `mqvitals rules explain BP-01` prints one of them in the terminal,
`mqvitals rules explain BP-01 QM01/buffer_pool/3 --store X` evaluates it for an object and shows which value decides or is missing,
`mqvitals rules list --json` prints the list for a program.

A rule is evaluated for the objects of one kind at every poll. Its condition is true, false or *unknown*: a value is absent, and the
reason is shown. When it has been true for the hold, the alert fires; it ends when its clear condition has held on the given number of
polls. Unknown neither holds nor breaks a hold; after three polls without a verdict the alert ends as unknown. Rules of one family
are stages of one fault: the worst that fires for an object stands for the others.

Thresholds are parameters. The configuration changes them, the hold, the clear count and the severity, or turns a rule off, for all
objects or for some; [tuning.md](tuning.md) shows how:

```yaml
rules:
  tuning:
    - {rule: BP-01, objects: QM01/buffer_pool/*, parameters: {stress_pct: 30}, reason: a pool for batch}
    - {rule: Q-03, objects: "*/queue/AUDIT.*", off: true, reason: written nightly}
  disabled: [CHL-07]
  enabled: [OPS-291]     # rules that are off until they are named
```

Where a number's origin is *document*, it is in the cited document; *default* marks the product's own.
"""

_TOPICS = {
    "agent": "Availability and the agent itself",
    "applications": "Applications",
    "buffer_pools": "Buffer pools",
    "channel_initiator": "Channel initiator",
    "channels": "Channels",
    "configuration": "Configuration of the queue manager",
    "console": "Console: the queue manager",
    "console_channels": "Console: channels, structures and Db2",
    "coupling_facility": "Coupling facility",
    "data_quality": "Quality of the data",
    "logs": "Logs",
    "message_security": "Message security",
    "page_sets": "Page sets",
    "queue_sharing_group": "Queue-sharing group",
    "queues": "Queues",
}

TIERS = {
    "P": "answers to commands",
    "S": "SMF records",
    "M": "console and event messages",
    "D": "facts that the site declares",
    "A": "the agent itself",
}
"""The meaning of the letters of a rule's tier; between them ``>`` is better with, ``+`` and, ``|`` or."""


def rules_page(rules: Iterable[Rule]) -> str:
    """The whole page, ending with a line's end; rules by topic, in the order of their files."""
    rules = tuple(rules)
    by_topic: dict[str, list[Rule]] = {}
    for rule in rules:
        by_topic.setdefault(rule.topic, []).append(rule)
    lines = [_INTRODUCTION, f"There are {len(rules)} rules. By where their figures come from:", ""]
    lines += [f"- `{letter}`: {meaning}" for letter, meaning in TIERS.items()]
    lines += ["", "`P>S` is better with the second, `P+D` needs both, `P|S` either.", ""]
    for topic, members in by_topic.items():
        lines += [f"## {_TOPICS.get(topic, topic)}", ""]
        for rule in members:
            lines += [*_section(rule), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def one_line(text: str) -> str:
    """An expression or sentence of several lines on one line."""
    return " ".join(text.split())


def severity_text(rule: Rule) -> str:
    """``warning; critical when used_pct >= critical_pct``."""
    cases = [f"{case.severity.name.lower()} when {one_line(case.when)}" for case in rule.severity_if]
    return "; ".join([rule.severity.name.lower(), *cases])


def mqsc_commands(rule: Rule) -> tuple[tuple[str, str], ...]:
    """The MQSC commands of a rule, each with its condition; the usual one, without condition, first."""
    usual = ((str(rule.mqsc), ""),) if rule.mqsc else ()
    return usual + tuple((str(case.mqsc), str(case.when)) for case in rule.mqsc_if)


def hold_text(rule: Rule) -> str:
    """``2 polls``, ``3 of 5 polls``, ``2 polls or 1 record``, ``5m``, ``at once``."""
    if rule.hold.duration_ms is not None:
        return format_duration(rule.hold.duration_ms)
    if rule.hold.polls == (rule.hold.records or 1) == 1:
        return "at once"
    if rule.hold.of is not None:
        return f"{rule.hold.polls} of {count_text(rule.hold.of, rule.hold.records)}"
    return count_text(rule.hold.polls, rule.hold.records)


def clear_text(rule: Rule) -> str:
    """``used_pct < clear_pct, on 3 polls``, ``..., on 3 polls or 2 records``, ``..., for 10m``."""
    condition = "the condition does not hold" if rule.clear.when is None else one_line(rule.clear.when)
    how_long = clear_count_text(rule)
    return f"{condition}, {'on' if rule.clear.duration_ms is None else 'for'} {how_long}"


def clear_count_text(rule: Rule) -> str:
    """``3 polls``, ``3 polls or 2 records``, ``10m``: how long the clear condition must hold."""
    if rule.clear.duration_ms is not None:
        return format_duration(rule.clear.duration_ms)
    return count_text(rule.clear.polls, rule.clear.records)


def count_text(polls: int, records: int | None) -> str:
    """``3 polls``, ``3 polls or 2 records``: the numbers of each that count."""
    words = f"{polls} poll{'s' * (polls != 1)}"
    return words if records is None else f"{words} or {records} record{'s' * (records != 1)}"


PLAIN_STATE = "a plain state: nothing to tune but hold times, severity and off."

_QUIET = "messages written while their queue manager starts or stops do not count."


def _section(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id} {rule.title}"
    yield ""
    about = f", about its {rule.about}" if rule.about != rule.scope else ""
    family = f", family {rule.family.name}" if rule.family else ""
    tier = f", tier `{rule.tier}`" if rule.tier else ""
    yield f"{rule.kind.value.capitalize().replace('_', ' ')}; applies to each {rule.scope}{about}{family}{tier}."
    yield ""
    yield "```"
    yield one_line(rule.when)
    yield "```"
    yield ""
    facts = {
        "Off": "until `rules.enabled` names it" if rule.off else "",
        "Severity": severity_text(rule),
        "Hold": hold_text(rule),
        "Clears": clear_text(rule),
        "Explained by": ", ".join([*rule.caused_by, *(f"{each} of its partner" for each in rule.caused_by_partner)]),
        "Same incident as": ", ".join(rule.same_incident),
        "Console": _QUIET if rule.quiet_restarts else "",
        "Needs": ", ".join(rule.needs),
        "Advice": one_line(rule.advice),
        "Caveat": one_line(rule.caveat),
        "Source": "; ".join(f"*{source.document}*, {source.section}" for source in rule.sources),
        "Next": "; ".join(
            f"`{one_line(mqsc)}`" + (f" when `{one_line(when)}`" if when else "") for mqsc, when in mqsc_commands(rule)
        ),
    }
    yield from (f"- **{name}**: {_escaped(text) if name != 'Next' else text}" for name, text in facts.items() if text)
    if rule.plain_state:
        yield f"- **Tuning**: {PLAIN_STATE}"
    if rule.parameters:
        yield ""
        yield "| Parameter | Value | Origin | Meaning |"
        yield "|---|---|---|---|"
        for each in rule.parameters.values():
            yield f"| `{each.name}` | {with_unit(each.value, each.unit)} | {each.origin.value} | {each.meaning} |"


def _escaped(text: str) -> str:
    # A bare < or _ of an expression would be taken for markup.
    return text.replace("<", "&lt;").replace("_", "\\_")

"""Findings as text for people: the worst first, commands to copy on lines of their own. Texts from MQ are made harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from mqvitals_agent.doctor.finding import Finding, Result, worst_first
from mqvitals_agent.doctor.permission import CHANNEL_INITIATOR_USER, USER, Grant, grants
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.text.terminal import safe, table, wrap

_INDENT: Final = "    "
_WHO_REFUSED: Final = (
    "These are candidates. Which profile refused is in the job logs of the queue manager (MSTR) and of the channel initiator"
    " (CHIN): look for ICH408I, which names user, class and profile. Where a profile is there already, only PERMIT is needed; a new"
    " one takes the place of the generic one that covered it before, with all that was permitted there."
)
_PLACEHOLDERS: Final = (
    f"{USER} is the user id that ICH408I names, {CHANNEL_INITIATOR_USER} that of the channel initiator's started task."
)
_MIXED: Final = "instead of MQQUEUE where DISPLAY QMGR SCYCASE says MIXED"
_MANY: Final = 3
"""From so many refused DISPLAY commands on, one generic profile is the simpler way."""


def lines(findings: Sequence[Finding], width: int) -> list[str]:
    """All findings, a paragraph for each queue manager, in at most ``width`` cells but for commands, which stay whole."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.queue_manager, []).append(finding)
    out: list[str] = []
    for name, own in by_name.items():
        if out:
            out.append("")
        out += _queue_manager(name, own, width)
    return out


def summary(findings: Sequence[Finding]) -> str:
    """How many checks ended in which way, the worst first."""
    counts = Counter(finding.result for finding in findings)
    return ", ".join(f"{counts[result]} {_counted(result, counts[result])}" for result in Result if counts[result])


def _counted(result: Result, count: int) -> str:
    return "work" if result is Result.WORKS and count != 1 else str(result)


def _queue_manager(name: str, findings: Sequence[Finding], width: int) -> Iterator[str]:
    ordered = worst_first(findings)
    yield from wrap(safe(f"{name}: {summary(findings)}"), width, rest=_INDENT)
    rows = table([_row(finding) for finding in ordered], width - 2, right=(3,), indent=4)
    told: set[str] = set()
    for finding, row in zip(ordered, rows, strict=True):
        yield from (f"  {line}" for line in row if line)
        for text in finding.text:
            # What holds for each of twenty refusals is said once.
            if text not in told:
                yield from wrap(safe(text), width, first=_INDENT, rest=_INDENT)
            told.add(text)
        for permission in finding.ask_for:
            yield safe(f"{_INDENT}{permission.class_name} {permission.profile} {permission.access}")
        for command in finding.commands:
            yield safe(f"{_INDENT}{command}")
    yield from _permitting(name, ordered, width)


def _row(finding: Finding) -> tuple[str, str, str, str]:
    reason = ""
    if finding.reason:
        known = reason_name(finding.reason)
        reason = f"{finding.reason} {known}" if known else str(finding.reason)
    took = "" if finding.elapsed_ms is None else f"{finding.elapsed_ms} ms"
    return str(finding.result), safe(finding.check), reason, took


def _permitting(name: str, findings: Sequence[Finding], width: int) -> Iterator[str]:
    """The commands that grant all that was refused: by profiles of the queue manager, or else of its group."""
    wanted = [permission for finding in findings for permission in finding.ask_for]
    if not wanted:
        return
    yield ""
    yield from wrap(f"{_WHO_REFUSED} {_PLACEHOLDERS}", width, first="  ", rest="  ")
    own = [permission for permission in wanted if permission.profile.startswith(f"{name}.")]
    group = [permission for permission in wanted if not permission.profile.startswith(f"{name}.")]
    refused = sum(finding.result is Result.REFUSED and finding.check.startswith("DISPLAY") for finding in findings)
    if refused >= _MANY:
        text = f"One generic profile {name}.DISPLAY.* with READ in class MQCMDS serves all DISPLAY commands."
        yield from wrap(safe(text), width, first="  ", rest="  ")
    yield from _granting(f"with profiles of the queue manager {name}", grants(own), width)
    if group:
        prefix = group[0].profile.partition(".")[0]
        yield from _granting(f"or with profiles of the queue-sharing group {prefix}", grants(group), width)


def _granting(how: str, found: Sequence[Grant], width: int) -> Iterator[str]:
    for grant in found:
        mixed = f", {_MIXED}" if grant.class_name == "MXQUEUE" else ""
        yield from wrap(safe(f"RACF, {how}, class {grant.class_name}{mixed}:"), width, first="  ", rest="  ")
        yield from (safe(f"{_INDENT}{line}") for line in grant.racf)
        if grant.mqsc:
            yield "  and at the queue manager:"
            yield from (safe(f"{_INDENT}{line}") for line in grant.mqsc)

"""Findings of the doctor, the permissions to ask for with their RACF commands, and the report.

A queue manager does not say which permission is missing: profiles of the queue manager or of the queue-sharing group
may be checked, in upper-case or mixed-case classes. So permissions are candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.text.terminal import safe, table, wrap

GROUP: Final = "<group>"
"""Stands for the queue-sharing group's name where it is not known."""
USER: Final = "<user>"
CHANNEL_INITIATOR_USER: Final = "<chinit user>"

_CONNECTING: Final = "MQCONN"
_QUEUES: Final = "MQQUEUE"
_QUEUES_MIXED: Final = "MXQUEUE"
_COMMANDS: Final = "MQCMDS"
_CACHED: Final = frozenset({_QUEUES, _QUEUES_MIXED})
"""Classes that a queue manager caches until REFRESH SECURITY."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Access to a profile of a class. ``profile`` begins with a queue manager's name, or its group's."""

    class_name: str
    profile: str
    access: str

    def as_json(self) -> dict[str, str]:
        """The permission as JSON."""
        return {"class": self.class_name, "profile": self.profile, "access": self.access}


@dataclass(frozen=True, slots=True)
class Grant:
    """Commands that grant permissions of one class: ``racf`` for the security administrator, ``mqsc`` for MQ."""

    class_name: str
    racf: tuple[str, ...]
    mqsc: tuple[str, ...] = ()


def prefixes(queue_manager: str, group: str | None) -> tuple[str, ...]:
    """The first qualifiers of profiles: the queue manager's name, and its group's.

    Group None: not known; empty: in none.
    """
    if group == "":
        return (queue_manager,)
    return (queue_manager, group or GROUP)


def to_connect(queue_manager: str, group: str | None) -> tuple[Permission, ...]:
    """The permissions to connect through the channel initiator."""
    return tuple(Permission(_CONNECTING, f"{prefix}.CHIN", "READ") for prefix in prefixes(queue_manager, group))


def to_use_queues(
    queue_manager: str, group: str | None, *queues: str, access: str = "UPDATE"
) -> tuple[Permission, ...]:
    """The permissions to put to queues or get from them (READ: to browse them); a queue may be a generic profile."""
    return tuple(
        Permission(class_name, f"{prefix}.{queue}", access)
        for class_name in (_QUEUES, _QUEUES_MIXED)
        for prefix in prefixes(queue_manager, group)
        for queue in queues
    )


def to_display(queue_manager: str, group: str | None, keyword: str) -> tuple[Permission, ...]:
    """The permissions for ``DISPLAY keyword``, as MQSC or PCF."""
    return tuple(
        Permission(_COMMANDS, f"{prefix}.DISPLAY.{keyword}", "READ") for prefix in prefixes(queue_manager, group)
    )


def dynamic_profile(dynamic_name: str) -> str:
    """The generic profile for dynamic queues with this name, without qualifier: ``MQVITALS.*`` is ``MQVITALS.**``."""
    return f"{dynamic_name}*" if dynamic_name.endswith(".*") else dynamic_name


def grants(permissions: Iterable[Permission]) -> tuple[Grant, ...]:
    """The commands that grant all of these, one grant for each class, in the order in which the classes come."""
    by_class: dict[str, dict[Permission, None]] = {}
    for permission in permissions:
        by_class.setdefault(permission.class_name, {})[permission] = None
    return tuple(_grant(class_name, wanted) for class_name, wanted in by_class.items())


def _grant(class_name: str, wanted: Iterable[Permission]) -> Grant:
    user = CHANNEL_INITIATOR_USER if class_name == _CONNECTING else USER
    racf = []
    for each in wanted:
        racf.append(f"RDEFINE {class_name} {each.profile} UACC(NONE)")
        racf.append(f"PERMIT {each.profile} CLASS({class_name}) ID({user}) ACCESS({each.access})")
    if any("*" in each.profile for each in wanted):
        racf.append(f"SETROPTS GENERIC({class_name}) REFRESH")
    racf.append(f"SETROPTS RACLIST({class_name}) REFRESH")
    mqsc = (f"REFRESH SECURITY({class_name})",) if class_name in _CACHED else ()
    return Grant(class_name, tuple(racf), mqsc)


class CheckResult(StrEnum):
    """How a check ended, the worst first."""

    REFUSED = "refused"
    """Not authorised: ``ask_for`` holds the candidates."""
    FAILED = "failed"
    NO_ANSWER = "no answer"
    MISSING = "missing"
    """The named object does not exist."""
    NOT_EXAMINED = "not examined"
    ADVISED = "advised"
    """It works, and something should be changed."""
    NOT_HERE = "not here"
    """Not applicable to this queue manager: platform, level, or no queue-sharing group. Nothing is wrong."""
    WORKS = "works"


FINE: Final = frozenset({CheckResult.WORKS, CheckResult.NOT_HERE})
"""Results that need no action."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One check of one queue manager.

    ``reason`` is a reason code of MQ, 0 without one. ``text`` are sentences for people, ``commands`` MQSC to type.
    ``elapsed_ms`` is None where nothing was waited for. ``facts`` are what was found, for programs.
    """

    queue_manager: str
    check: str
    result: CheckResult
    reason: int = 0
    ask_for: tuple[Permission, ...] = ()
    text: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    elapsed_ms: int | None = None
    facts: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The finding as JSON: five keys that are always present, everything else in ``detail``."""
        detail: dict[str, object] = dict(self.facts)
        if self.reason:
            detail["reason_name"] = reason_name(self.reason)
        if self.elapsed_ms is not None:
            detail["elapsed_ms"] = self.elapsed_ms
        if self.text:
            detail["text"] = list(self.text)
        if self.commands:
            detail["commands"] = list(self.commands)
        found: dict[str, object] = {
            "queue_manager": self.queue_manager,
            "check": self.check,
            "result": str(self.result),
            "reason": self.reason,
            "ask_for": [permission.as_json() for permission in self.ask_for],
        }
        return {**found, "detail": detail} if detail else found


def worst_first(findings: Sequence[DoctorFinding]) -> list[DoctorFinding]:
    """The findings sorted by result, in their order within a result."""
    rank = list(CheckResult).index
    return sorted(findings, key=lambda finding: rank(finding.result))


_INDENT: Final = "    "
_WHO_REFUSED: Final = (
    "These are candidates. Which profile refused is in the job logs of the queue manager (MSTR) and of the channel"
    " initiator (CHIN): look for ICH408I, which names user, class and profile. Where a profile exists, only PERMIT is"
    " needed; a new one replaces the generic one that covered it before, with everything that was permitted there."
)
_PLACEHOLDERS: Final = (
    f"{USER} is the user id that ICH408I names, {CHANNEL_INITIATOR_USER} that of the channel initiator's started task."
)
_MIXED: Final = "instead of MQQUEUE where DISPLAY QMGR SCYCASE shows MIXED"
_MANY: Final = 3
"""From this number of refused DISPLAY commands on, one generic profile is simpler."""


def finding_lines(findings: Sequence[DoctorFinding], width: int) -> list[str]:
    """All findings, a paragraph for each queue manager, at most ``width`` cells wide; commands are not wrapped."""
    by_name: dict[str, list[DoctorFinding]] = {}
    for finding in findings:
        by_name.setdefault(finding.queue_manager, []).append(finding)
    out: list[str] = []
    for name, own in by_name.items():
        if out:
            out.append("")
        out += _queue_manager(name, own, width)
    return out


def summary(findings: Sequence[DoctorFinding]) -> str:
    """The number of checks by result, the worst first."""
    counts = Counter(finding.result for finding in findings)
    words = {CheckResult.WORKS: "work" if counts[CheckResult.WORKS] != 1 else "works"}
    return ", ".join(f"{counts[result]} {words.get(result, result)}" for result in CheckResult if counts[result])


def _queue_manager(name: str, findings: Sequence[DoctorFinding], width: int) -> Iterator[str]:
    ordered = worst_first(findings)
    yield from wrap(safe(f"{name}: {summary(findings)}"), width, rest=_INDENT)
    rows = table([_row(finding) for finding in ordered], width - 2, right=(3,), indent=4)
    shown: set[str] = set()
    for finding, row in zip(ordered, rows, strict=True):
        yield from (f"  {line}" for line in row if line)
        for text in finding.text:
            # A text that holds for many refusals is shown once.
            if text not in shown:
                yield from wrap(safe(text), width, first=_INDENT, rest=_INDENT)
            shown.add(text)
        for permission in finding.ask_for:
            yield safe(f"{_INDENT}{permission.class_name} {permission.profile} {permission.access}")
        for command in finding.commands:
            yield safe(f"{_INDENT}{command}")
    yield from _permitting(name, ordered, width)


def _row(finding: DoctorFinding) -> tuple[str, str, str, str]:
    reason = ""
    if finding.reason:
        known = reason_name(finding.reason)
        reason = f"{finding.reason} {known}" if known else str(finding.reason)
    took = "" if finding.elapsed_ms is None else f"{finding.elapsed_ms} ms"
    return str(finding.result), safe(finding.check), reason, took


def _permitting(name: str, findings: Sequence[DoctorFinding], width: int) -> Iterator[str]:
    """The commands that grant everything refused: by profiles of the queue manager, or of its group."""
    wanted = [permission for finding in findings for permission in finding.ask_for]
    if not wanted:
        return
    yield ""
    yield from wrap(f"{_WHO_REFUSED} {_PLACEHOLDERS}", width, first="  ", rest="  ")
    own = [permission for permission in wanted if permission.profile.startswith(f"{name}.")]
    group = [permission for permission in wanted if not permission.profile.startswith(f"{name}.")]
    refused = sum(finding.result is CheckResult.REFUSED and finding.check.startswith("DISPLAY") for finding in findings)
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

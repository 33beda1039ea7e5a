"""Turns an examination into findings. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mqvitals_agent.doctor import access, remark
from mqvitals_agent.doctor.access import ConnectionContext
from mqvitals_agent.doctor.examination import DoctorAnswer, Examination
from mqvitals_agent.doctor.finding import CheckResult, DoctorFinding
from mqvitals_agent.doctor.remark import NewestTime, Remark, ReplyTimes
from mqvitals_agent.pcf import constants as mq
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_rules.vocabulary.event import categories_of

_AUTHORITY_RECORDS: Final = (
    "This queue manager does not run on z/OS: its authority records decide. The user needs CONNECT and INQ on the"
    " queue manager,"
    " PUT on the command queue, GET, INQ and DSP on the reply queue or its model, and DSP on what is displayed."
)


def group_of(examined: Examination) -> str | None:
    """The queue-sharing group's name as its member reports it; empty: it is in none; None: not reported."""
    if examined.rows.group:
        return examined.rows.group
    asked = _asked_queue_manager(examined)
    names = (item.get(mq.MQCA_QSG_NAME) for item in (() if asked is None else asked.items))
    return next((name.strip() for name in names if isinstance(name, str)), None)


def diagnose(examined: Examination, known: ConnectionContext) -> list[DoctorFinding]:
    """The findings about one queue manager, in the order of the examination."""
    name = examined.queue_manager
    found = list(access.binding_finding(name, known))
    if examined.error is not None:
        return [*found, *access.connect_findings(examined, known)]
    connected = DoctorFinding(name, access.CONNECT, CheckResult.WORKS, elapsed_ms=examined.connect_ms)
    if examined.timed_out:
        text = ("Connecting did not end. The usual reason is a firewall that drops packets.",)
        return [*found, replace(connected, result=CheckResult.NO_ANSWER, text=text)]
    found.append(connected)
    found += access.queue_findings(examined)
    found += access.put_finding(examined, known)
    found += (access.display_finding(name, asked, known.group) for asked in examined.asked if access.is_reported(asked))
    never_put = [asked.query for asked in examined.asked if not access.is_reported(asked)]
    for query in (*never_put, *examined.left_out):
        if not query.own:
            found.append(DoctorFinding(name, query.check, CheckResult.NOT_EXAMINED))
    found += _queue_manager(examined)
    found += _character_set(examined)
    found += _monitoring(examined)
    found += _console_messages(examined, known)
    found += _events(examined)
    found += _reply_queue(examined)
    found += _clocks(examined, known)
    return found if on_zos(examined) else [_without_racf(finding) for finding in found]


def on_zos(examined: Examination) -> bool:
    """Whether the queue manager runs on z/OS, as far as is known."""
    if examined.identity is not None:
        return examined.identity.platform == mq.MQPL_ZOS
    return not any(examined.rows.distributed.values())


def _without_racf(finding: DoctorFinding) -> DoctorFinding:
    """The finding for a queue manager that does not run on z/OS: a refusal has no profiles to ask for."""
    if finding.result is not CheckResult.REFUSED:
        return finding
    return replace(
        finding, ask_for=(), text=(_AUTHORITY_RECORDS,), commands=("DISPLAY AUTHREC PRINCIPAL('<user>') ALL",)
    )


def _queue_manager(examined: Examination) -> Iterator[DoctorFinding]:
    """Level, platform and group; and whether the expected queue manager answered."""
    asked = _asked_queue_manager(examined)
    item = next(iter(asked.items), None) if asked is not None else None
    name = examined.queue_manager
    if asked is None or item is None:
        return
    group = group_of(examined)
    facts: dict[str, object] = {
        "command_level": item.get(mq.MQIA_COMMAND_LEVEL),
        "version": item.get(mq.MQCA_VERSION),
        "platform": "z/OS" if item.get(mq.MQIA_PLATFORM) == mq.MQPL_ZOS else item.get(mq.MQIA_PLATFORM),
        "queue_sharing_group": group or None,
    }
    facts = {key: value for key, value in facts.items() if value is not None}
    found = DoctorFinding(name, "queue manager", CheckResult.WORKS, text=(_described(facts),), facts=facts)
    if asked.responder and asked.responder != name:
        other = (
            f"{asked.responder} answered, not {name}. The settings should name it as it names itself: a group's name"
            " or a shared address leads to another member each time."
        )
        facts = {**facts, "answered": asked.responder}
        found = replace(found, result=CheckResult.ADVISED, text=(other, *found.text), facts=facts)
    yield found


def _character_set(examined: Examination) -> Iterator[DoctorFinding]:
    """Whether the character set of the answers is known; nothing when no answer came."""
    if not any(asked.exchange.replies for asked in examined.asked):
        return
    unknown = next((asked.unknown_ccsid for asked in examined.asked if asked.unknown_ccsid), 0)
    if not unknown:
        yield DoctorFinding(examined.queue_manager, "character set", CheckResult.WORKS)
        return
    text = (
        f"Answers come in CCSID {unknown}, which mqvitals does not know. Of texts only letters A to Z, digits and the"
        " punctuation of object names are read; numbers and states are right. Report the CCSID to mqvitals."
    )
    yield DoctorFinding(
        examined.queue_manager, "character set", CheckResult.ADVISED, text=(text,), facts={"ccsid": unknown}
    )


def _described(facts: dict[str, object]) -> str:
    parts = []
    if "command_level" in facts:
        parts.append(f"command level {facts['command_level']}")
    if "platform" in facts:
        platform = facts["platform"]
        parts.append("z/OS" if platform == "z/OS" else f"platform {platform}, not z/OS")
    group = facts.get("queue_sharing_group")
    parts.append(f"queue-sharing group {group}" if group else "in no queue-sharing group, as far as it reports")
    text = ", ".join(parts)
    return f"{text}." if text.startswith("z/") else f"{text[:1].upper()}{text[1:]}."


def _asked_queue_manager(examined: Examination) -> DoctorAnswer | None:
    """The answer to DISPLAY QMGR."""
    answers = (each for each in examined.asked if each.query.command == mq.MQCMD_INQUIRE_Q_MGR and not each.query.own)
    return next(answers, None)


def _monitoring(examined: Examination) -> Iterator[DoctorFinding]:
    asked = _asked_queue_manager(examined)
    item = next(iter(asked.items), None) if asked is not None else None
    if item is None:
        if asked is not None and examined.asked and not asked.not_put:
            text = ("DISPLAY QMGR returned nothing, so the monitoring switches are not known.",)
            yield DoctorFinding(examined.queue_manager, "monitoring", CheckResult.NOT_EXAMINED, text=text)
        return
    queues_off, queues_on = _levels(examined, mq.MQCMD_INQUIRE_Q, mq.MQCA_Q_NAME, mq.MQIA_MONITORING_Q)
    channels_off, channels_on = _levels(
        examined, mq.MQCMD_INQUIRE_CHANNEL, mq.MQCACH_CHANNEL_NAME, mq.MQIA_MONITORING_CHANNEL
    )
    switches = remark.Switches(
        queues=_integer(item.get(mq.MQIA_MONITORING_Q)),
        channels=_integer(item.get(mq.MQIA_MONITORING_CHANNEL)),
        automatic=_integer(item.get(mq.MQIA_MONITORING_AUTO_CLUSSDR)),
        queues_off=queues_off,
        channels_off=channels_off,
        queues_on=queues_on,
        channels_on=channels_on,
    )
    yield _remarked(examined.queue_manager, "monitoring", remark.monitoring_remarks(switches))


def _console_messages(examined: Examination, known: ConnectionContext) -> Iterator[DoctorFinding]:
    """Which console messages are suppressed; nothing when none is, or that is not known."""
    excluded: Sequence[str] = ()
    for asked in examined.asked:
        if asked.query.command != mq.MQCMD_INQUIRE_SYSTEM:
            continue
        for item in asked.items:
            # What was set since the start comes after what was there.
            value = item.get(mq.MQCACF_EXCL_OPERATOR_MESSAGES)
            if isinstance(value, str):
                excluded = (value,)
            elif isinstance(value, list | tuple):
                excluded = [each for each in value if isinstance(each, str)]
    remarks = remark.excluded_remarks(excluded, known.waiting)
    if remarks:
        yield _remarked(examined.queue_manager, "console messages", remarks)


def _events(examined: Examination) -> Iterator[DoctorFinding]:
    """Which switches are off of the events that are read; nothing where none are, or they are not known."""
    opened = [asked.query.event.queue for asked in examined.asked if asked.query.event is not None]
    asked = _asked_queue_manager(examined)
    item = next(iter(asked.items), None) if asked is not None else None
    if not opened or item is None:
        return
    categories = frozenset[str]().union(*map(categories_of, opened))
    switches = {
        keyword: _integer(item.get(parameter))
        for category, keywords in remark.EVENT_SWITCHES.items()
        if category in categories
        for keyword, parameter in keywords
    }
    yield _remarked(examined.queue_manager, "event switches", remark.event_remarks(switches))


def _levels(examined: Examination, command: int, key: int, level: int) -> tuple[tuple[str, ...], int]:
    """The names of the objects that are OFF themselves, and how many are on themselves."""
    off: dict[str, None] = {}
    on: set[str] = set()
    for asked in examined.asked:
        if asked.query.command != command or asked.query.own:
            continue
        for item in asked.items:
            name, value = item.get(key), item.get(level)
            if isinstance(name, str) and value == mq.MQMON_OFF:
                off[name] = None
            elif isinstance(name, str) and isinstance(value, int) and value > 0:
                on.add(name)
    return tuple(off), len(on)


def _reply_queue(examined: Examination) -> Iterator[DoctorFinding]:
    identity = examined.identity
    if identity is None:
        return
    own = {asked.query.command: asked for asked in examined.asked if asked.query.own}
    reported: dict[int, int | None] = {}
    for command, selectors in (
        (mq.MQCMD_INQUIRE_Q, (mq.MQIA_INDEX_TYPE, mq.MQIA_MAX_Q_DEPTH, mq.MQIA_SHAREABILITY)),
        (mq.MQCMD_INQUIRE_Q_STATUS, (mq.MQIA_OPEN_INPUT_COUNT, mq.MQIA_CURRENT_Q_DEPTH)),
    ):
        item = next(iter(own[command].items), None) if command in own else None
        for selector in selectors:
            reported[selector] = None if item is None else _integer(item.get(selector))
    queue = remark.ReplyQueue(
        identity.reply_queue,
        identity.dynamic,
        reported[mq.MQIA_INDEX_TYPE],
        reported[mq.MQIA_MAX_Q_DEPTH],
        reported[mq.MQIA_SHAREABILITY],
        reported[mq.MQIA_OPEN_INPUT_COUNT],
        reported[mq.MQIA_CURRENT_Q_DEPTH],
        max((len(asked.exchange.replies) for asked in examined.asked), default=0),
    )
    advice = remark.reply_queue_remarks(queue, zos=identity.platform == mq.MQPL_ZOS)
    if not identity.dynamic and not advice and None in reported.values():
        text = (f"How {identity.reply_queue} is defined and used was not reported.",)
        yield DoctorFinding(examined.queue_manager, "reply queue", CheckResult.NOT_EXAMINED, text=text)
        return
    yield _remarked(examined.queue_manager, "reply queue", advice)


def _clocks(examined: Examination, known: ConnectionContext) -> Iterator[DoctorFinding]:
    name = examined.queue_manager
    sightings = [
        ReplyTimes(reply.put, asked.exchange.at, asked.exchange.at + asked.exchange.elapsed_ms)
        for asked in examined.asked
        for reply in asked.exchange.replies
        if reply.put is not None
    ]
    difference = remark.difference_ms(sightings)
    if difference is not None:
        yield _remarked(name, "clock", (remark.clock_remark(difference),))
    if not any(asked.items for asked in examined.asked):
        return
    declared = known.declared_zone
    newest = next((NewestTime(*seen) for seen in examined.rows.newest.values()), None)
    where = None if declared is None else time_zone(declared)
    yield _remarked(name, "time zone", (remark.zone_remark(declared, where, newest),))


def _remarked(name: str, check: str, remarks: Sequence[Remark]) -> DoctorFinding:
    """A check that works, advised when a remark advises something."""
    facts: dict[str, object] = {}
    for each in remarks:
        facts.update(each.facts)
    return DoctorFinding(
        name,
        check,
        CheckResult.ADVISED if any(each.advised for each in remarks) else CheckResult.WORKS,
        text=tuple(each.text for each in remarks),
        commands=tuple(command for each in remarks for command in each.commands),
        facts=facts,
    )


def _integer(value: object) -> int | None:
    return value if type(value) is int else None

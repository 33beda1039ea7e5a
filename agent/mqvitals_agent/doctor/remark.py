"""Remarks on what works: monitoring switches, the reply queue, the clocks and the time zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from mqvitals_agent.pcf import constants as mq

_QUEUE_FIELDS = "LGETDATE, LGETTIME, LPUTDATE, LPUTTIME, MSGAGE and QTIME of DISPLAY QSTATUS"
_CHANNEL_FIELDS = "NETTIME, EXITTIME, XQTIME, XBATCHSZ, XQMSGSA, COMPRATE and COMPTIME of DISPLAY CHSTATUS"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Switches:
    """Monitoring levels (``MQMON_...``) of a queue manager, None: not reported; queues and channels that are OFF.

    ``queues_on`` and ``channels_on`` count those that are on themselves, whatever the queue manager's level.
    """

    queues: int | None = None
    channels: int | None = None
    automatic: int | None = None
    queues_off: Sequence[str] = ()
    channels_off: Sequence[str] = ()
    queues_on: int = 0
    channels_on: int = 0


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about a check that works, with facts for programs.

    ``advised``: something should be changed, by ``commands``.
    """

    text: str
    commands: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    advised: bool = True


def monitoring_remarks(switches: Switches) -> tuple[Remark, ...]:
    """What to switch on; empty when everything is on. LOW, MEDIUM and HIGH are the same on z/OS."""
    found = []
    for keyword, level, on, what, blank in (
        ("MONQ", switches.queues, switches.queues_on, "queues", _QUEUE_FIELDS),
        ("MONCHL", switches.channels, switches.channels_on, "channels", _CHANNEL_FIELDS),
    ):
        if level in (mq.MQMON_NONE, mq.MQMON_OFF):
            found.append(_queue_manager_off(keyword, level, on, what, blank))
    if switches.automatic in (mq.MQMON_NONE, mq.MQMON_OFF):
        text = (
            f"{_level('MONACLS', switches.automatic)} of the queue manager: for automatically defined cluster senders,"
            f" {_CHANNEL_FIELDS} stay blank."
        )
        found.append(Remark(text, ("ALTER QMGR MONACLS(QMGR)",)))
    # Under NONE the objects' own values do not count, so they are not mentioned.
    if switches.queues_off and switches.queues != mq.MQMON_NONE:
        found.append(_objects_off("MONQ", "QLOCAL", "queue", switches.queues_off, _QUEUE_FIELDS))
    if switches.channels_off and switches.channels != mq.MQMON_NONE:
        found.append(_objects_off("MONCHL", "CHANNEL", "channel", switches.channels_off, _CHANNEL_FIELDS))
    return tuple(found)


def _level(keyword: str, level: int | None) -> str:
    return f"{keyword}({'NONE' if level == mq.MQMON_NONE else 'OFF'})"


def _queue_manager_off(keyword: str, level: int | None, on: int, what: str, blank: str) -> Remark:
    if level == mq.MQMON_NONE:
        whom = f"for all {what}, whatever is set for them"
    else:
        whom = f"for all {what} that are not switched on themselves" + (f" ({on} are)" if on else "")
    later = " A channel takes it over when it is started the next time." if keyword == "MONCHL" else ""
    text = f"{_level(keyword, level)} of the queue manager: {whom}, {blank} stay blank.{later}"
    return Remark(text, (f"ALTER QMGR {keyword}(MEDIUM)",))


def _objects_off(keyword: str, kind: str, what: str, names: Sequence[str], blank: str) -> Remark:
    count = len(names)
    if count == 1:
        text = f"The {what} {names[0]} has {keyword}(OFF) for itself: of it, {blank} stay blank."
    else:
        rest = f", of which the first {_SHOWN} are shown here" if count > _SHOWN else ""
        text = f"{count} {what}s have {keyword}(OFF) for themselves{rest}: of them, {blank} stay blank."
    # ALTER CHANNEL needs CHLTYPE, which DISPLAY CHANNEL shows.
    suffix = " CHLTYPE(<type>)" if kind == "CHANNEL" else ""
    commands = tuple(f"ALTER {kind}('{name}'){suffix} {keyword}(QMGR)" for name in names[:_SHOWN])
    return Remark(text, commands, {f"{what}s_off": count})


_SUFFIX: Final = 4
"""EXCLMSG holds ids without CSQ and without the letter of the type: X511 for CSQX511I."""


def excluded_remarks(excluded: Sequence[str], waiting: Mapping[str, tuple[str, ...]]) -> tuple[Remark, ...]:
    """Which console messages EXCLMSG suppresses, and which rules of ``waiting`` therefore never speak.

    ``waiting``: id of a message -> the rules that wait for it.
    """
    names = [name for each in excluded for name in each.split()]
    if not names:
        return ()
    suffixes = {name.strip().upper().removeprefix("CSQ")[:_SUFFIX] for name in names}
    lost = {message: rules for message, rules in sorted(waiting.items()) if message[3 : 3 + _SUFFIX] in suffixes}
    listed = ", ".join(f"CSQ{suffix}" for suffix in sorted(suffixes))
    facts: dict[str, object] = {"excluded_messages": sorted(suffixes)}
    if not lost:
        nobody = "No rule waits for them." if waiting else "No console is followed, so nothing waits for them."
        return (Remark(f"EXCLMSG suppresses {listed}. {nobody}", facts=facts, advised=False),)
    rules = sorted({rule for each in lost.values() for rule in each})
    text = (
        f"EXCLMSG suppresses {listed}: {', '.join(lost)} will never come, so {', '.join(rules)} cannot report what they"
        " say, or report it too late or too long. SET SYSTEM EXCLMSG changes the list until the next start, CSQ6SYSP"
        " for good."
    )
    kept = sorted(suffixes - {message[3 : 3 + _SUFFIX] for message in lost})
    command = f"SET SYSTEM EXCLMSG({','.join(kept)})"
    return (Remark(text, (command,), {**facts, "silent_rules": rules}),)


EVENT_SWITCHES: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "queue manager": (
        ("STRSTPEV", mq.MQIA_START_STOP_EVENT),
        ("INHIBTEV", mq.MQIA_INHIBIT_EVENT),
        ("LOCALEV", mq.MQIA_LOCAL_EVENT),
        ("REMOTEEV", mq.MQIA_REMOTE_EVENT),
    ),
    "channel": (
        ("CHLEV", mq.MQIA_CHANNEL_EVENT),
        ("SSLEV", mq.MQIA_SSL_EVENT),
        ("BRIDGEEV", mq.MQIA_BRIDGE_EVENT),
    ),
    "performance": (("PERFMEV", mq.MQIA_PERFORMANCE_EVENT),),
    "configuration": (("CONFIGEV", mq.MQIA_CONFIGURATION_EVENT),),
    "command": (("CMDEV", mq.MQIA_COMMAND_EVENT),),
}
"""Family of events -> the queue manager's switches: MQSC keyword and parameter."""

_SWITCHED_ON: Final = {"CHLEV": "EXCEPTION", "CMDEV": "NODISPLAY"}


def event_remarks(switches: Mapping[str, int | None]) -> tuple[Remark, ...]:
    """Which of the switches of the events that are read are off, and that command events include displays.

    ``switches``: keyword -> ``MQEVR_...``, None where it is not reported.
    """
    off = [keyword for keyword, value in switches.items() if value == mq.MQEVR_DISABLED]
    found = []
    if off:
        text = (
            f"{', '.join(off)} {'is' if len(off) == 1 else 'are'} DISABLED: such events never come, and what the rules"
            " about them find is that there are none."
        )
        settings = " ".join(f"{keyword}({_SWITCHED_ON.get(keyword, 'ENABLED')})" for keyword in off)
        found.append(Remark(text, (f"ALTER QMGR {settings}",), {"event_switches_off": off}))
    if switches.get("CMDEV") == mq.MQEVR_ENABLED:
        text = "CMDEV(ENABLED) writes an event for every DISPLAY, so for every poll of this agent: NODISPLAY does not."
        found.append(Remark(text, ("ALTER QMGR CMDEV(NODISPLAY)",)))
    return tuple(found)


_NOT_SHAREABLE: Final = 0  # MQQA_NOT_SHAREABLE
_ROOM: Final = 2
"""A reply queue should hold this many times the longest answer: an abandoned answer may still be on it."""


@dataclass(frozen=True, slots=True)
class ReplyQueue:
    """The reply queue as it is defined and used. None: not reported.

    A ``dynamic`` one needs nothing else. ``largest_answer`` is in messages; ``waiting`` is its depth; ``openers`` is
    IPPROCS, including our own.
    """

    name: str
    dynamic: bool
    index_type: int | None = None
    max_depth: int | None = None
    shareability: int | None = None
    openers: int | None = None
    waiting: int | None = None
    largest_answer: int = 0


def reply_queue_remarks(queue: ReplyQueue, *, zos: bool = True) -> tuple[Remark, ...]:
    """What is wrong with the queue; empty when nothing is."""
    if queue.dynamic:
        return (
            Remark(
                f"Answers come to a dynamic queue ({queue.name}). It is made and deleted with every connection, its"
                " made-up name is checked by the security manager each time, and its definition is that of the model,"
                " MAXDEPTH included. For an agent that runs for long, define a queue once, one for each agent, and"
                " name it as reply_queue in the settings; 'mqvitals help zos-setup' has the definition.",
            ),
        )
    name = queue.name
    found = []
    if zos and queue.index_type is not None and queue.index_type != mq.MQIT_CORREL_ID:
        found.append(
            Remark(
                f"{name} has no index for getting by CorrelId: each get searches the queue, which is slow when many"
                " replies lie on it, and the queue manager complains (CSQI004I). Best changed while the queue is"
                " empty and no"
                " program has it open.",
                (f"ALTER QLOCAL('{name}') INDXTYPE(CORRELID)",),
            )
        )
    need = _ROOM * queue.largest_answer
    if queue.max_depth is not None and queue.max_depth < need:
        found.append(
            Remark(
                f"{name} holds {queue.max_depth} messages, and the longest answer just now had {queue.largest_answer}:"
                " replies that find no room are lost.",
                (f"ALTER QLOCAL('{name}') MAXDEPTH({max(10_000, need)})",),
            )
        )
    if queue.shareability == _NOT_SHAREABLE:
        found.append(
            Remark(
                f"{name} is defined NOSHARE: after a connection was lost, it cannot be opened again (2042) until the"
                " queue manager has noticed the loss, which can take as long as the channel's heartbeat.",
                (f"ALTER QLOCAL('{name}') SHARE",),
            )
        )
    if queue.openers is not None and queue.openers > 1:
        found.append(
            Remark(
                f"{queue.openers} programs have {name} open for input (IPPROCS), this one included. If another agent"
                " uses it, give each its own; if the agent of these settings is running, that is the other one.",
                (f"DISPLAY QSTATUS('{name}') TYPE(HANDLE) OPENTYPE(INPUT) ALL",),
            )
        )
    if queue.waiting:
        found.append(
            Remark(
                f"{queue.waiting} messages are on {name}: answers to an agent that is at work now, or of one that was"
                " killed. An agent discards what it finds when it begins; if they come again without one,"
                " another program uses the queue.",
            )
        )
    return tuple(found)


TOLERATED_MS = 5_000
"""Beyond this, ages are visibly wrong and a time zone cannot be derived."""
_HUNDREDTH = 10  # ms: what the queue manager's put time is cut to


class ReplyTimes(NamedTuple):
    """A reply's put time by the queue manager's clock, and our times of request and complete answer; ms UTC."""

    put: int
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class NewestTime:
    """The newest local time (ms since 1970, local) in an answer requested at ``at`` that took ``took`` ms."""

    local: int
    at: int
    took: int


def difference_ms(sightings: Iterable[ReplyTimes]) -> int | None:
    """How far the queue manager's clock is ahead of ours (negative: behind), at least, ms; None without put times.

    A reply is put between its request and its arrival, so each bounds the difference from below and above. 0 when the
    clocks may agree.
    """
    seen = list(sightings)
    if not seen:
        return None
    least = max(put - answered for put, _, answered in seen)
    most = min(put + _HUNDREDTH - asked for put, asked, _ in seen)
    if least > most:
        # The clocks drifted meanwhile: take the middle.
        return (least + most) // 2
    if least > 0:
        return least
    return min(most, 0)


def clock_remark(difference: int) -> Remark:
    """A remark on the difference between the clocks, ms."""
    facts: dict[str, object] = {"difference_ms": difference}
    if abs(difference) <= TOLERATED_MS:
        apart = f"The clocks are {_length(difference)} apart." if difference else "The clocks agree."
        return Remark(apart, facts=facts, advised=False)
    where = "ahead of" if difference > 0 else "behind"
    text = (
        f"The queue manager's clock is {_length(difference)} {where} ours. Ages such as the time since the last get"
        " are wrong by as much, and no time zone can be derived from its local times. Set the clock here by NTP; a"
        " z/OS system takes its time from STP."
    )
    return Remark(text, facts=facts)


def zone_remark(declared: str | None, where: tzinfo | None, newest: NewestTime | None) -> Remark:
    """A remark on the zone of local times.

    ``where`` is the zone ``declared``; ``newest`` None: no answer had a local time. One answer does not prove a zone:
    the agent needs three polls that agree. So no zone is derived here.
    """
    if declared is None or where is None:
        text = (
            "No time zone is declared. The agent derives it once three polls with newer and newer times agree, and of"
            " an idle queue manager never. Until it is known, ages (of messages, gets, puts, backups) are absent, and"
            " rules about them are unknown. Declare time_zone in the settings."
        )
        return Remark(text, facts={"time_zone": "not declared"})
    facts: dict[str, object] = {"time_zone": declared}
    if newest is None:
        return Remark(
            f"{declared} is declared. No local time was reported to compare it with.", facts=facts, advised=False
        )
    utc = datetime.fromtimestamp(newest.local / 1000, UTC).replace(tzinfo=where)
    ahead = int(utc.timestamp() * 1000) - newest.at - newest.took
    if ahead <= TOLERATED_MS:
        return Remark(f"{declared} is declared.", facts=facts, advised=False)
    text = (
        f"{declared} is declared, but with it the newest local time of the answers lies {_length(ahead)} in the future:"
        " the zone is another one, or the clocks differ. Ages are wrong with it."
    )
    return Remark(text, facts={**facts, "ahead_ms": ahead})


def _length(ms: int) -> str:
    seconds = abs(ms) / 1000
    # Beyond two minutes hours and minutes read better.
    return f"{seconds:.1f} s" if seconds < 120 else str(timedelta(seconds=round(seconds)))

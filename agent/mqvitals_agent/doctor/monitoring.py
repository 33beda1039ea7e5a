"""Monitoring switches: which are off, what stays blank without them, and the command that sets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mqvitals_agent.pcf import constants as mq

_QUEUE_FIELDS = "LGETDATE, LGETTIME, LPUTDATE, LPUTTIME, MSGAGE and QTIME of DISPLAY QSTATUS"
_CHANNEL_FIELDS = "NETTIME, EXITTIME, XQTIME, XBATCHSZ, XQMSGSA, COMPRATE and COMPTIME of DISPLAY CHSTATUS"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Switches:
    """The levels (``MQMON_...``) of a queue manager, None where it did not tell; and the queues and channels that are OFF themselves.

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
class Advice:
    """Something to set otherwise: a sentence, and the MQSC command."""

    text: str
    commands: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


def advice(switches: Switches) -> tuple[Advice, ...]:
    """What to switch on; nothing when all is on. LOW, MEDIUM and HIGH are the same on z/OS."""
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
        found.append(Advice(text, ("ALTER QMGR MONACLS(QMGR)",)))
    # Under NONE the objects' own values do not count, so there is no use in telling of them as well.
    if switches.queues_off and switches.queues != mq.MQMON_NONE:
        found.append(_objects_off("MONQ", "QLOCAL", "queue", switches.queues_off, _QUEUE_FIELDS))
    if switches.channels_off and switches.channels != mq.MQMON_NONE:
        found.append(_objects_off("MONCHL", "CHANNEL", "channel", switches.channels_off, _CHANNEL_FIELDS))
    return tuple(found)


def _level(keyword: str, level: int | None) -> str:
    return f"{keyword}({'NONE' if level == mq.MQMON_NONE else 'OFF'})"


def _queue_manager_off(keyword: str, level: int | None, on: int, what: str, blank: str) -> Advice:
    if level == mq.MQMON_NONE:
        whom = f"for all {what}, whatever is set for them"
    else:
        whom = f"for all {what} that are not switched on themselves" + (f" ({on} are)" if on else "")
    later = " A channel takes it over when it is started the next time." if keyword == "MONCHL" else ""
    text = f"{_level(keyword, level)} of the queue manager: {whom}, {blank} stay blank.{later}"
    return Advice(text, (f"ALTER QMGR {keyword}(MEDIUM)",))


def _objects_off(keyword: str, kind: str, what: str, names: Sequence[str], blank: str) -> Advice:
    count = len(names)
    if count == 1:
        text = f"The {what} {names[0]} has {keyword}(OFF) for itself: of it, {blank} stay blank."
    else:
        rest = f", of which the first {_SHOWN} are shown here" if count > _SHOWN else ""
        text = f"{count} {what}s have {keyword}(OFF) for themselves{rest}: of them, {blank} stay blank."
    # CHLTYPE must be named to alter a channel; which one it is DISPLAY CHANNEL tells.
    suffix = " CHLTYPE(<type>)" if kind == "CHANNEL" else ""
    commands = tuple(f"ALTER {kind}('{name}'){suffix} {keyword}(QMGR)" for name in names[:_SHOWN])
    return Advice(text, commands, {f"{what}s_off": count})

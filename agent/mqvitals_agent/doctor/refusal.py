"""Reason codes of calls and answers: what each means for a check, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mqvitals_agent.doctor.finding import Result
from mqvitals_agent.pcf.constants import MQRC_UNKNOWN_OBJECT_NAME
from mqvitals_agent.poll.outcome import NO_REPLY, of_answer
from mqvitals_rules.snapshot import Outcome

_REFUSED: Final = frozenset({2035, 2217, 3081})
_NOT_HERE: Final = frozenset({3007, 3014, 3015, 3047, 3212, 3222, 3227})
"""Command or parameter unknown on this platform or level, no queue-sharing group, function restricted."""
_NOTHING_ACTIVE: Final = frozenset({3065, 4064, 4091})
"""The object may well exist: it has no status just now."""
_OF_GET: Final = frozenset({2016, 2033, 2079, 2080, 2110, 2111, 2115, 2119, 2120})

_HINTS: Final[Mapping[int, str]] = {
    2009: "The connection broke. Look in the job log of the channel initiator (CHIN) for the end of the channel.",
    2016: "Getting from the reply queue is inhibited: GET(ENABLED) is to be set for it.",
    2042: "Another program has the reply queue open for itself alone. Each agent needs a reply queue of its own.",
    2045: "The reply queue must be a local queue, no alias.",
    2051: "Putting to the command queue is inhibited: PUT(ENABLED) is to be set for it.",
    2053: "The command queue is full: the command server does not read it. DISPLAY CMDSERV tells, START CMDSERV starts it.",
    2056: "The page set behind the command queue is full.",
    2058: "The queue manager that listens there has another name: see queue_managers[].name of the settings.",
    2059: "The queue manager is not running, or its listener or channel refuses: see the job logs of MSTR and CHIN.",
    2063: "The security manager failed, or the user id and password were not accepted.",
    2085: "There is no such queue: see command_queue, reply_queue and reply_model of the settings.",
    2161: "The queue manager is being stopped.",
    2162: "The queue manager is being stopped.",
    2192: "The page set behind the queue is full.",
    2277: "The client refuses the channel's definition: see channel, connection_names and tls of the settings.",
    2278: "The client refuses the channel's definition: see channel, connection_names and tls of the settings.",
    2381: "The key repository cannot be read: see tls.key_repository of the settings.",
    2392: "The options of TLS contradict each other: see tls of the settings.",
    2393: "TLS could not begin: the CipherSpec must be that of the channel (SSLCIPH), and the key repository must hold the signer's certificate.",
    2396: "The channel allows no TLS: its SSLCIPH is blank.",
    2397: "The partner's certificate was not accepted, or ours was not.",
    2398: "The queue manager's certificate has another name than tls.peer_name of the settings.",
    2399: "tls.peer_name of the settings is no distinguished name.",
    2400: "The client knows no CipherSpec of that name: see tls.cipher of the settings.",
    2401: "A certificate has been revoked.",
    2537: "The channel cannot be used: stopped, or MAXINST, MAXINSTC or the channel initiator's MAXCHL are reached.",
    2538: "Nobody listens at that address: see connection_names of the settings, DISPLAY CHINIT and the firewalls between.",
    2539: "The two ends of the channel do not fit together: a server-connection channel with the same SSLCIPH is needed.",
    2540: "There is no server-connection channel of that name: see channel of the settings.",
    3168: "The channel system is not active: START CHINIT starts the channel initiator.",
    3217: "The channel initiator is not active: START CHINIT starts it.",
    3218: "The channel initiator has a problem: see its job log.",
    3225: "The member is not active, or unknown to the queue-sharing group.",
    3237: "The user id of the request is unknown to the security manager.",
}


def of_call(reason: int) -> Result:
    """What a failed MQI call means."""
    if reason in _REFUSED:
        return Result.REFUSED
    if reason == NO_REPLY:
        return Result.NO_ANSWER
    return Result.MISSING if reason == MQRC_UNKNOWN_OBJECT_NAME else Result.FAILED


def of_display(reason: int, *, exact: bool = False) -> Result:
    """What an answer with this reason (0: none) means. ``exact``: one object was asked for by its whole name."""
    if reason in _REFUSED:
        return Result.REFUSED
    if reason in _NOT_HERE:
        return Result.NOT_HERE
    if of_answer(reason) is Outcome.NOT_FOUND:
        return Result.MISSING if exact and reason not in _NOTHING_ACTIVE else Result.WORKS
    return Result.WORKS if reason == 0 else Result.FAILED


def failed_to_put(reason: int, replies: int) -> bool:
    """Whether a command that ended with this MQI reason was never put: getting fails otherwise, or later."""
    return replies == 0 and reason not in _OF_GET


def hint(reason: int) -> tuple[str, ...]:
    """A sentence that says what to look at; none where the name of the reason says it all."""
    text = _HINTS.get(reason)
    return () if text is None else (text,)

"""The answers to DISPLAY commands as findings."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.doctor import refusal
from mqvitals_agent.doctor.examination import Asked
from mqvitals_agent.doctor.finding import Finding, Result
from mqvitals_agent.doctor.permission import Permission, to_display
from mqvitals_agent.doctor.reach import CHECKED_USER, CONNECT
from mqvitals_agent.poll.command import form, mqsc
from mqvitals_agent.poll.outcome import NO_REPLY

_COMMAND_SERVER: Final = (
    "No answer came. When the command server is stopped, requests stay on the command queue and nothing is said."
)


def shown(asked: Asked) -> bool:
    """Whether there is something to tell: questions about the reply queue, and those never put, have findings of their own."""
    return not asked.query.own and (asked.broken or not asked.not_put)


def display(name: str, asked: Asked, group: str | None) -> Finding:
    """What came of one DISPLAY. ``group`` as in ``Surroundings``."""
    check, took = asked.query.check, asked.exchange.elapsed_ms
    text: tuple[str, ...] = ()
    facts: dict[str, object] = {"replies": len(asked.exchange.replies)}
    error = asked.exchange.error
    if asked.damaged:
        text = (
            f"{asked.damaged} of the replies cannot be decoded. A recording of it helps whoever is to look into that.",
        )
        return Finding(name, check, Result.FAILED, asked.reason, (), text, (), took, facts)
    if asked.reason:
        result = refusal.of_display(asked.reason, exact=asked.query.exact)
        ask_for: tuple[Permission, ...] = ()
        if result is Result.REFUSED:
            ask_for = to_display(name, group, mqsc(form(asked.query.command)).removeprefix("DISPLAY "))
            text = (CHECKED_USER,)
        elif result is Result.MISSING:
            text = ("The settings name it, and it does not exist there: see polling.",)
        elif result is Result.FAILED:
            text = refusal.hint(asked.reason)
        return Finding(name, check, result, asked.reason, ask_for, text, (), took, facts)
    if error is not None and error.reason == NO_REPLY:
        if asked.exchange.replies:
            text = (
                f"The answer stopped after {len(asked.exchange.replies)} replies: replies were lost, or are very slow.",
            )
            return Finding(name, check, Result.NO_ANSWER, NO_REPLY, (), text, (), took, facts)
        commands = ("DISPLAY CMDSERV", "START CMDSERV")
        return Finding(name, check, Result.NO_ANSWER, NO_REPLY, (), (_COMMAND_SERVER,), commands, took, facts)
    if error is not None:
        return Finding(
            name, check, refusal.of_call(error.reason), error.reason, (), refusal.hint(error.reason), (), took, facts
        )
    if not asked.complete:
        return Finding(name, check, Result.FAILED, 0, (), ("The answer has gaps.",), (), took, facts)
    return Finding(name, check, Result.WORKS, 0, elapsed_ms=took, facts=facts)


def of_member(name: str, asked: Asked | None, group: str | None, via: str = "") -> Finding:
    """A queue manager without a connection of its own, asked through another one (``via``); None: none was there to ask."""
    if asked is None:
        text = ("It has no connection of its own, and no other member could be reached to ask it (CMDSCOPE).",)
        return Finding(name, CONNECT, Result.NOT_EXAMINED, text=text)
    finding = display(name, asked, group)
    asked_through = f"It has no connection of its own and is asked through {via}."
    return Finding(
        name,
        finding.check,
        finding.result,
        finding.reason,
        finding.ask_for,
        (asked_through, *finding.text),
        finding.commands,
        finding.elapsed_ms,
        finding.facts,
    )

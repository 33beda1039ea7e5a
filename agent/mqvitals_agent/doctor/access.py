"""Findings about access: the binding, connecting, opening queues, putting commands, answers to DISPLAY commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mqvitals_agent.connection.answer import NO_REPLY
from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, Connector, EventQuery, EventStep
from mqvitals_agent.connection.mqi_connector import MqiConnector
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.doctor import examination
from mqvitals_agent.doctor.examination import DoctorAnswer, Examination
from mqvitals_agent.doctor.finding import (
    CheckResult,
    DoctorFinding,
    dynamic_profile,
    to_connect,
    to_display,
    to_use_queues,
)
from mqvitals_agent.poll.command_form import command_form, display_command


@dataclass(frozen=True, slots=True)
class ConnectionContext:
    """What is known of a connection: ``route`` (None: simulated), declared zone, what the binding cannot do.

    ``group`` is the queue-sharing group's name, empty when there is none, None: not known. ``waiting``: id of a console
    message -> the rules that wait for it, none where no console is followed.
    """

    route: CommandRoute | None = None
    declared_zone: str | None = None
    group: str | None = None
    binding: str = ""
    shortcomings: tuple[str, ...] = ()
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def connection_context(
    connector: Connector, declared_zone: str | None, group: str | None, waiting: Mapping[str, tuple[str, ...]]
) -> ConnectionContext:
    """What is known of a queue manager's connection before it is examined."""
    if not isinstance(connector, MqiConnector):
        return ConnectionContext(None, declared_zone, group, waiting=waiting)
    binding, route = connector.binding, connector.route
    return ConnectionContext(
        route, declared_zone, group, f"{binding.name} {binding.version}", binding.shortcomings(route), waiting
    )


BINDING: Final = "binding"
CONNECT: Final = "connect"
INQUIRE: Final = "inquire"
OPEN_COMMANDS: Final = "open command queue"
OPEN_REPLIES: Final = "open reply queue"
PUT: Final = "put"
_REPLY_QUEUE: Final = "reply queue"
_COMMAND_QUEUE: Final = "SYSTEM.COMMAND.INPUT"
CHECKED_USER: Final = (
    "The user id that is checked is that of the connection, which every command carries in its message descriptor:"
    " MCAUSER of the channel, the one that a channel authentication record maps to, or the one that connects and is"
    " adopted (CONNAUTH, ADOPTCTX). It is not the operating system's user here."
)
CHECKED_ON_QUEUES: Final = (
    "With PUTAUT(DEF) up to two user ids need the access to a queue: that of the connection, and the one to whom RACF maps the"
    " client's certificate; without TLS, or if the certificate is mapped to nobody, that is the channel initiator's own user. Permit"
    " both, or set PUTAUT(ONLYMCA) at the channel, which asks for the connection's alone. ICH408I in the log of the queue"
    " manager names the user that failed; RLIST MQADMIN hlq.RESLEVEL AUTHUSER and RACDCERT ID(user) LIST show which"
    " ids are checked ('mqvitals help zos-setup')."
)
_CHANNEL_RULES: Final = (
    "The channel's own rules come first: a channel authentication record that blocks, a user id or password that is not"
    " accepted (CONNAUTH), an MCAUSER that does not exist. Then the user id of the channel initiator needs READ to"
    " the profile"
    " in class MQCONN; RESLEVEL decides how many user ids are checked."
)


def binding_finding(name: str, known: ConnectionContext) -> Iterator[DoctorFinding]:
    """The package that connects, and what it lacks for the route. Nothing for a simulated queue manager."""
    if known.binding:
        result = CheckResult.ADVISED if known.shortcomings else CheckResult.WORKS
        text = tuple(f"{each}." for each in known.shortcomings)
        yield DoctorFinding(
            name, BINDING, result, text=text or (f"{known.binding}.",), facts={"binding": known.binding}
        )


def connect_findings(examined: Examination, known: ConnectionContext) -> Iterator[DoctorFinding]:
    """Findings up to the call that failed while connecting. Later steps are not examined."""
    error, name = examined.error, examined.queue_manager
    assert error is not None
    reason = error.failure.reason
    result, hints = examination.result_of_call(reason), examination.hint(reason)
    if error.text and not error.call:
        # Nothing in MQ failed, something here did: an unreadable password is no refusal.
        reason = 0 if result is CheckResult.REFUSED else reason
        yield DoctorFinding(name, CONNECT, CheckResult.FAILED, reason, text=(_sentence(error.text), *hints))
        return
    route = known.route or CommandRoute(name)
    replies = route.reply_queue or route.reply_model
    opening = OPEN_REPLIES if error.queue == replies else OPEN_COMMANDS
    failed = {"MQINQ": INQUIRE, "MQOPEN": opening, "MQGET": _REPLY_QUEUE}.get(error.call, CONNECT)
    steps = (CONNECT, INQUIRE, OPEN_COMMANDS, OPEN_REPLIES, _REPLY_QUEUE)
    for step in steps[: steps.index(failed)]:
        yield DoctorFinding(name, step, CheckResult.WORKS)
    facts = {"queue": error.queue} if error.queue else {}
    found = DoctorFinding(name, failed, result, reason, text=hints, elapsed_ms=examined.connect_ms, facts=facts)
    if result is not CheckResult.REFUSED:
        yield found
        return
    if failed == CONNECT:
        ask_for, commands = to_connect(name, known.group), _channel_commands(route)
        yield replace(found, ask_for=ask_for, text=(_CHANNEL_RULES,), commands=commands)
        return
    queues: tuple[str, ...] = ()
    if failed == OPEN_COMMANDS:
        queues = (error.queue or _COMMAND_QUEUE,)
    elif failed == OPEN_REPLIES:
        queues = (route.reply_queue,) if route.reply_queue else (replies, dynamic_profile(route.dynamic_name))
    found = replace(found, ask_for=to_use_queues(name, known.group, *queues), text=(CHECKED_USER,))
    if route.channel:
        commands = (f"DISPLAY CHANNEL('{route.channel}') PUTAUT MCAUSER",)
        found = replace(found, text=(CHECKED_USER, CHECKED_ON_QUEUES), commands=commands)
    yield found


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _channel_commands(route: CommandRoute) -> tuple[str, ...]:
    channel = route.channel or "<channel>"
    return (
        f"DISPLAY CHLAUTH('{channel}') ALL",
        f"DISPLAY CHANNEL('{channel}') MCAUSER SSLCIPH SSLCAUTH",
        "DISPLAY QMGR CHLAUTH CONNAUTH",
    )


def queue_findings(examined: Examination) -> Iterator[DoctorFinding]:
    """The steps of a connection that succeeded. Nothing for a simulated queue manager, whose queues are not opened."""
    identity, name = examined.identity, examined.queue_manager
    if identity is None:
        return
    facts = {
        "queue_manager": identity.queue_manager,
        "platform": identity.platform,
        "command_level": identity.command_level,
    }
    yield DoctorFinding(name, INQUIRE, CheckResult.WORKS, facts=facts)
    yield DoctorFinding(name, OPEN_COMMANDS, CheckResult.WORKS, facts={"queue": identity.command_queue})
    yield DoctorFinding(name, OPEN_REPLIES, CheckResult.WORKS, facts={"queue": identity.reply_queue})


def put_finding(examined: Examination, known: ConnectionContext) -> Iterator[DoctorFinding]:
    """Whether commands can be put."""
    name = examined.queue_manager
    if not examined.asked:
        return
    last = examined.asked[-1]
    if not last.not_put or last.broken:
        if any(not asked.broken for asked in examined.asked):
            yield DoctorFinding(name, PUT, CheckResult.WORKS)
        return
    error = last.exchange.error
    assert error is not None
    result = examination.result_of_call(error.reason)
    text = examination.hint(error.reason)
    found = DoctorFinding(name, PUT, result, error.reason, text=text, elapsed_ms=last.exchange.elapsed_ms)
    if result is CheckResult.REFUSED:
        command_queue = examined.identity.command_queue if examined.identity is not None else _COMMAND_QUEUE
        found = replace(found, ask_for=to_use_queues(name, known.group, command_queue), text=(CHECKED_USER,))
    yield found


_COMMAND_SERVER: Final = (
    "No answer came. When the command server is stopped, requests stay on the command queue without a message."
)


def is_reported(asked: DoctorAnswer) -> bool:
    """Whether the answer has a finding. Queries about the reply queue and queries never put are reported separately."""
    return not asked.query.own and (asked.broken or not asked.not_put)


def display_finding(name: str, asked: DoctorAnswer, group: str | None) -> DoctorFinding:
    """The finding for one DISPLAY command. ``group`` as in ``ConnectionContext``."""
    error, replies = asked.exchange.error, len(asked.exchange.replies)
    found = DoctorFinding(
        name,
        asked.query.check,
        CheckResult.WORKS,
        asked.reason,
        elapsed_ms=asked.exchange.elapsed_ms,
        facts={"replies": replies},
    )
    if asked.query.command == BROWSE_DEAD_LETTERS:
        return _browse_finding(found, asked)
    if asked.query.event is not None:
        return _event_queue_finding(found, asked, asked.query.event, group)
    if asked.damaged:
        text = (
            f"{asked.damaged} of the replies cannot be decoded. Send a recording of it to the maintainers of mqvitals."
        )
        return replace(found, result=CheckResult.FAILED, text=(text,))
    if asked.reason:
        return _display_failure(found, asked, group)
    if error is not None and error.reason == NO_REPLY:
        found = replace(found, result=CheckResult.NO_ANSWER, reason=NO_REPLY)
        if replies:
            text = f"The answer stopped after {replies} replies: replies were lost, or are very slow."
            return replace(found, text=(text,))
        return replace(found, text=(_COMMAND_SERVER,), commands=("DISPLAY CMDSERV", "START CMDSERV"))
    if error is not None:
        result = examination.result_of_call(error.reason)
        return replace(found, result=result, reason=error.reason, text=examination.hint(error.reason))
    if not asked.complete:
        return replace(found, result=CheckResult.FAILED, text=("The answer has gaps.",))
    return found


def _browse_finding(found: DoctorFinding, asked: DoctorAnswer) -> DoctorFinding:
    """The finding for a look at the dead-letter queue."""
    if not asked.reason:
        return found
    result = examination.result_of_call(asked.reason)
    text = examination.hint(asked.reason)
    if result is CheckResult.REFUSED:
        text = (
            "It takes READ on the dead-letter queue in class MQQUEUE or MXQUEUE, to browse it and to inquire its depth.",
            CHECKED_USER,
        )
    return replace(found, result=result, text=text, commands=("DISPLAY QMGR DEADQ",))


def _event_queue_finding(
    found: DoctorFinding, asked: DoctorAnswer, query: EventQuery, group: str | None
) -> DoctorFinding:
    """The finding for an event queue that was opened; one that messages are removed from says so."""
    taking = query.step is EventStep.OPEN_TO_GET
    if not asked.reason:
        text = "Its messages are removed when they are read (polling.events.read: get): no other program gets them."
        return replace(found, text=(text,)) if taking else found
    result = examination.result_of_call(asked.reason)
    text_of = {
        CheckResult.REFUSED: (CHECKED_USER,),
        CheckResult.MISSING: ("polling.events names it, and there is no such queue: see polling.events.queues.",),
    }
    found = replace(found, result=result, text=text_of.get(result, examination.hint(asked.reason)))
    if result is CheckResult.REFUSED:
        access = "UPDATE" if taking else "READ"
        return replace(found, ask_for=to_use_queues(found.queue_manager, group, query.queue, access=access))
    return replace(found, commands=(f"DISPLAY QUEUE({query.queue}) TYPE",))


def _display_failure(found: DoctorFinding, asked: DoctorAnswer, group: str | None) -> DoctorFinding:
    """The finding for an answer with a reason."""
    result = examination.result_of_display(asked.reason, exact=asked.query.exact)
    if result is CheckResult.REFUSED:
        keyword = display_command(command_form(asked.query.command)).removeprefix("DISPLAY ")
        ask_for = to_display(found.queue_manager, group, keyword)
        return replace(found, result=result, ask_for=ask_for, text=(CHECKED_USER,))
    if result is CheckResult.MISSING:
        return replace(found, result=result, text=("The settings name it, and it does not exist there: see polling.",))
    return replace(found, result=result, text=examination.hint(asked.reason) if result is CheckResult.FAILED else ())


def member_finding(name: str, asked: DoctorAnswer | None, group: str | None, via: str = "") -> DoctorFinding:
    """A queue manager without a connection, queried through another one (``via``); ``asked`` None: there was none."""
    if asked is None:
        text = ("It has no connection of its own, and no other member could be reached to ask it (CMDSCOPE).",)
        return DoctorFinding(name, CONNECT, CheckResult.NOT_EXAMINED, text=text)
    finding = display_finding(name, asked, group)
    asked_through = f"It has no connection of its own and is asked through {via}."
    return replace(finding, text=(asked_through, *finding.text))

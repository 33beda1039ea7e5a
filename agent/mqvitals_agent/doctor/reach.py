"""The way to a queue manager as findings: the binding, connecting, opening queues, putting a command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.connection.route import Route
from mqvitals_agent.doctor import refusal
from mqvitals_agent.doctor.examination import Examined
from mqvitals_agent.doctor.finding import Finding, Result
from mqvitals_agent.doctor.permission import Permission, dynamic_profile, to_connect, to_use_queues
from mqvitals_agent.doctor.surroundings import Surroundings

BINDING: Final = "binding"
CONNECT: Final = "connect"
INQUIRE: Final = "inquire"
OPEN_COMMANDS: Final = "open command queue"
OPEN_REPLIES: Final = "open reply queue"
PUT: Final = "put"
_COMMAND_QUEUE: Final = "SYSTEM.COMMAND.INPUT"
CHECKED_USER: Final = (
    "The user id that is checked is that of the connection, which every command carries in its message descriptor: MCAUSER of"
    " the channel, the one that a channel authentication record maps to, or the one that connects and is adopted (CONNAUTH,"
    " ADOPTCTX). It is not the operating system's user here."
)
_CHANNEL_RULES: Final = (
    "The channel's own rules come first: a channel authentication record that blocks, a user id or password that is not"
    " accepted (CONNAUTH), an MCAUSER that does not exist. Then the user id of the channel initiator needs READ to the profile"
    " in class MQCONN; RESLEVEL decides how many user ids are checked."
)


def binding(name: str, known: Surroundings) -> Iterator[Finding]:
    """The package that connects, and what of the route it cannot do. Nothing for a simulated queue manager."""
    if known.binding:
        result = Result.ADVISED if known.shortcomings else Result.WORKS
        text = tuple(f"{each}." for each in known.shortcomings)
        yield Finding(name, BINDING, result, text=text or (f"{known.binding}.",), facts={"binding": known.binding})


def no_connection(examined: Examined, known: Surroundings) -> Iterator[Finding]:
    """Findings up to the call that failed while connecting; what comes after it was not examined."""
    error, name = examined.error, examined.queue_manager
    assert error is not None
    reason = error.failure.reason
    result = refusal.of_call(reason)
    route = known.route or Route(name)
    steps = [CONNECT, INQUIRE, OPEN_COMMANDS, OPEN_REPLIES]
    replies = route.reply_queue or route.reply_model
    if error.call == "MQINQ":
        failed = INQUIRE
    elif error.call == "MQOPEN":
        failed = OPEN_REPLIES if error.queue == replies else OPEN_COMMANDS
    elif error.call == "MQGET":
        steps.append("reply queue")
        failed = "reply queue"
    else:
        failed = CONNECT
    for step in steps[: steps.index(failed)]:
        yield Finding(name, step, Result.WORKS)
    ask_for: tuple[Permission, ...] = ()
    text = refusal.hint(reason)
    commands: tuple[str, ...] = ()
    if error.text and not error.call:
        # No call of MQ failed, something here did: a password that cannot be read is no refusal.
        reason = 0 if result is Result.REFUSED else reason
        yield Finding(name, CONNECT, Result.FAILED, reason, text=(_sentence(error.text), *refusal.hint(reason)))
        return
    if result is Result.REFUSED:
        text = (CHECKED_USER,)
        if failed == CONNECT:
            ask_for = to_connect(name, known.group)
            text, commands = (_CHANNEL_RULES,), _channel_commands(route)
        elif failed == OPEN_COMMANDS:
            ask_for = to_use_queues(name, known.group, error.queue or _COMMAND_QUEUE)
        elif failed == OPEN_REPLIES:
            own = (route.reply_queue,) if route.reply_queue else (replies, dynamic_profile(route.dynamic_name))
            ask_for = to_use_queues(name, known.group, *own)
    facts = {"queue": error.queue} if error.queue else {}
    elapsed = examined.connect_ms
    yield Finding(name, failed, result, reason, ask_for, text, commands, elapsed, facts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _channel_commands(route: Route) -> tuple[str, ...]:
    channel = route.channel or "<channel>"
    return (
        f"DISPLAY CHLAUTH('{channel}') ALL",
        f"DISPLAY CHANNEL('{channel}') MCAUSER SSLCIPH SSLCAUTH",
        "DISPLAY QMGR CHLAUTH CONNAUTH",
    )


def queues(examined: Examined) -> Iterator[Finding]:
    """What a connection that came about has shown to work. Nothing for a simulated queue manager, whose queues are not opened."""
    identity, name = examined.identity, examined.queue_manager
    if identity is None:
        return
    yield Finding(
        name,
        INQUIRE,
        Result.WORKS,
        facts={
            "queue_manager": identity.queue_manager,
            "platform": identity.platform,
            "command_level": identity.command_level,
        },
    )
    yield Finding(name, OPEN_COMMANDS, Result.WORKS, facts={"queue": identity.command_queue})
    yield Finding(name, OPEN_REPLIES, Result.WORKS, facts={"queue": identity.reply_queue})


def put(examined: Examined, known: Surroundings) -> Iterator[Finding]:
    """Whether commands can be put."""
    name = examined.queue_manager
    if not examined.asked:
        return
    last = examined.asked[-1]
    if not last.not_put or last.broken:
        if any(not asked.broken for asked in examined.asked):
            yield Finding(name, PUT, Result.WORKS)
        return
    error = last.exchange.error
    assert error is not None
    result = refusal.of_call(error.reason)
    ask_for: tuple[Permission, ...] = ()
    text = refusal.hint(error.reason)
    if result is Result.REFUSED:
        command_queue = examined.identity.command_queue if examined.identity is not None else _COMMAND_QUEUE
        ask_for = to_use_queues(name, known.group, command_queue)
        text = (CHECKED_USER,)
    yield Finding(name, PUT, result, error.reason, ask_for, text, elapsed_ms=last.exchange.elapsed_ms)

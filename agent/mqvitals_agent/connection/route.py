"""How a queue manager is reached: names, addresses and keys from the settings. No MQI package is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mqvitals_config.decoding.secret import Secret
from mqvitals_config.sections.connection import ConnectionSettings
from mqvitals_config.settings import Settings

REPLY_MODEL = "SYSTEM.COMMAND.REPLY.MODEL"
"""Of queue managers on z/OS, and what the settings mean where they name none."""
DISTRIBUTED_REPLY_MODEL = "SYSTEM.DEFAULT.MODEL.QUEUE"
"""Distributed queue managers come without the other one."""
DYNAMIC_NAME = "MQVITALS.*"
DEFAULT_APPLICATION = "mqvitals"


@dataclass(frozen=True, slots=True)
class Tls:
    """How the client's side of TLS is set up. ``key_repository`` is a path as the MQ client wants it.

    ``cipher`` may be empty where a table has it.
    """

    cipher: str
    key_repository: str = ""
    peer_name: str = ""
    certificate_label: str = ""


@dataclass(frozen=True, slots=True)
class CommandRoute:
    """The way of commands to one queue manager.

    ``queue_manager`` is the name that connects and that exchanges carry. Either ``channel`` and ``connection_name``
    (hosts and ports, tried in turn) are given, or ``ccdt_url`` names a table that has them. An empty
    ``command_queue`` is asked of the queue manager. An empty ``reply_queue`` means a dynamic one made from
    ``reply_model``. Statistics messages are taken from ``statistics_queue``; empty: from nowhere. ``alone``: nobody else may
    have the reply queue open, so that of two agents one works.
    """

    queue_manager: str
    channel: str = ""
    connection_name: str = ""
    ccdt_url: str = ""
    tls: Tls | None = None
    user: str = ""
    password: Secret | None = None
    application_name: str = DEFAULT_APPLICATION
    command_queue: str = ""
    reply_queue: str = ""
    reply_model: str = REPLY_MODEL
    dynamic_name: str = DYNAMIC_NAME
    convert: bool = False
    statistics_queue: str = ""
    alone: bool = False


PASSWORD_VARIABLE = "MQVITALS_PASSWORD"  # noqa: S105 - where the password is, not what it is


def routes(settings: Settings, environ: Mapping[str, str]) -> tuple[CommandRoute, ...]:
    """The way to each queue manager that has one, in the order of the settings."""
    ways = ((each, settings.connection_of(each)) for each in settings.queue_managers)
    return tuple(
        replace(
            route_to(str(each.name), way, environ),
            statistics_queue=str(each.statistics_queue or ""),
            alone=settings.standby is not None,
        )
        for each, way in ways
        if way.is_reachable
    )


def without_route(settings: Settings) -> tuple[str, ...]:
    """The queue managers that have no way of their own: another member of the group is asked for them (CMDSCOPE)."""
    return tuple(str(each.name) for each in settings.queue_managers if not settings.connection_of(each).is_reachable)


def route_to(queue_manager: str, way: ConnectionSettings, environ: Mapping[str, str]) -> CommandRoute:
    """The way to one queue manager."""
    tls = way.tls
    return CommandRoute(
        queue_manager=queue_manager,
        channel=way.channel or "",
        connection_name=",".join(way.connection_names),
        ccdt_url=way.ccdt_url or "",
        tls=None
        if tls is None
        else Tls(tls.cipher or "", tls.key_repository or "", tls.peer_name or "", tls.certificate_label or ""),
        user=way.user or "",
        password=None if way.user is None else _password(way, environ),
        application_name=way.application_name or DEFAULT_APPLICATION,
        command_queue=way.command_queue or "",
        reply_queue=way.reply_queue or "",
        reply_model=way.reply_model or REPLY_MODEL,
        dynamic_name=way.dynamic_name or DYNAMIC_NAME,
        convert=bool(way.convert),
    )


def _password(way: ConnectionSettings, environ: Mapping[str, str]) -> Secret:
    if way.password_file is not None:
        return way.password_file
    return Secret.in_environment(way.password_variable or PASSWORD_VARIABLE, environ)

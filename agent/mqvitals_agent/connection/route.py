"""How a queue manager is reached: names, addresses, keys. Made from the settings; knows nothing of MQI packages."""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_config.secret import Secret

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
class Route:
    """The way to one queue manager.

    ``queue_manager`` is the name that connects and that exchanges carry. Either ``channel`` and ``connection_name`` (hosts
    and ports, tried in turn) are given, or ``ccdt_url`` names a table that has them. An empty ``command_queue`` is asked of
    the queue manager. An empty ``reply_queue`` means a dynamic one made from ``reply_model``. Statistics messages are taken from
    ``statistics_queue``; empty: from nowhere.
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

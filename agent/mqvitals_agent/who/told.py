"""What the answers tell of connections and channel instances, before it is known which handles they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_agent.who.holder import UnitOfWork


@dataclass(frozen=True, slots=True)
class ToldConnection:
    """One connection (DISPLAY CONN). Texts are empty where nothing is told; ``channel`` is None there, empty for a local one.

    ``identifier`` is CONN in hexadecimal. ``unit_of_work`` is None where none is under way.
    """

    identifier: str
    application: str
    user: str
    asid: str
    channel: str | None
    connection_name: str
    transaction: str
    task: str
    region: str
    process: int | None
    thread: int | None
    unit_of_work: UnitOfWork | None


@dataclass(frozen=True, slots=True)
class ToldInstance:
    """One current instance of a channel (DISPLAY CHSTATUS), begun at the local time ``began``."""

    channel: str
    connection_name: str
    began: str
    status: str
    substate: str
    msgs: int | None
    last_message: str
    remote_application: str
    user: str

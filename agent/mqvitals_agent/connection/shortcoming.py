"""What a binding package cannot do of what a route wishes for, and which setting wishes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.connection.route import DEFAULT_APPLICATION, Route

TABLE_VARIABLE: Final = "MQCCDTURL"
"""Where the MQ client itself finds the address of a client channel definition table."""


@dataclass(frozen=True, slots=True)
class Shortcoming:
    """One thing that does not come about: ``sentence`` without its full stop, ``setting`` as a key under ``connection``."""

    setting: str
    sentence: str


def shortcomings(package: str, route: Route, environ: Mapping[str, str]) -> tuple[Shortcoming, ...]:
    """What of ``route`` is without effect when ``package`` connects, in the order of the settings.

    Source: pymqi's ``MQCONNX`` makes an MQCNO of version 5 itself, in which neither the address of a table (version 6) nor
    the application's name (version 7) has a field. With a table no MQCD is given, and CipherSpec and peer name are
    fields of that structure alone; key repository and certificate label are MQSCO's, and hold.
    """
    found = []
    if route.ccdt_url:
        # With the variable set to the same address the client reads the very table that is wished for.
        if package == "pymqi" and environ.get(TABLE_VARIABLE) != route.ccdt_url:
            found.append(
                Shortcoming(
                    "ccdt_url",
                    "pymqi takes a client channel definition table only from the environment: set"
                    f" {TABLE_VARIABLE} to the same address, or use ibmmq",
                )
            )
        if route.tls is not None and route.tls.cipher:
            found.append(
                Shortcoming(
                    "tls.cipher",
                    "tls.cipher is not used with ccdt_url: the table's own counts, and without one there the connection"
                    " is not encrypted",
                )
            )
        if route.tls is not None and route.tls.peer_name:
            found.append(
                Shortcoming(
                    "tls.peer_name",
                    "tls.peer_name is not used with ccdt_url: the table's own counts, and without one there the queue"
                    " manager's certificate may carry any name",
                )
            )
    if package == "pymqi" and route.application_name != DEFAULT_APPLICATION:
        found.append(
            Shortcoming(
                "application_name",
                f"pymqi cannot give the connection an application name, so {route.application_name!r} is not shown by"
                " DISPLAY CONN; ibmmq can",
            )
        )
    return tuple(found)

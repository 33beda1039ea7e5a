"""Settings of an agent that shares a group with another one: of the two, one polls and the other waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from mqvitals_config.decoding.problem import LocatedText, Problem
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile
from mqvitals_config.decoding.secret import WEB_ADDRESS_FORM, WebAddress
from mqvitals_config.sections.connection import ConnectionSettings


@dataclass(frozen=True, slots=True)
class StandbySettings:
    """Two agents with the same settings: the one that has the reply queues open is active, the other waits."""

    peer: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)] | None,
        Doc(
            "Where the other agent serves: the address of its `serve.listen`. While this one waits, it follows that one's alerts and"
            " what receivers were told, so that nothing is told twice.",
            default="none: after a takeover alerts begin anew",
        ),
    ] = None
    token_file: Annotated[
        SecretFile | None,
        Doc("A file that holds the token of the other agent's `serve.token_file`, and nothing else."),
    ] = None
    ca_file: Annotated[
        Annotated[LocatedText, Convert(resolved_path, "the path of a file")] | None,
        Doc(
            "The certificates (PEM) of the authorities that may have signed the other agent's.",
            default="those of the operating system",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.peer is None and (self.token_file is not None or self.ca_file is not None):
            raise ValueError("token_file and ca_file are for the other agent's address, which is missing: give peer")


def standby_contradictions(
    standby: StandbySettings | None, ways: Sequence[tuple[LocatedText, ConnectionSettings]]
) -> Iterator[Problem]:
    """A queue manager that is reached (its name and its ``ways``) without a reply queue that one agent can keep."""
    if standby is None:
        return
    for index, (name, way) in enumerate(ways):
        if way.is_reachable and way.reply_queue is None:
            message = (
                f"with standby, {name} needs a permanent reply_queue: of two agents the one that has it open is active"
            )
            yield Problem(name.place, f"queue_managers[{index}].connection.reply_queue", message)

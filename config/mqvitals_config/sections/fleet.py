"""Settings of the fleet: the groups that are looked at together, each a store of this machine or an agent elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from mqvitals_config.decoding.problem import LocatedText, Place, Problem
from mqvitals_config.decoding.scalars import display_name, resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile, duration_within
from mqvitals_config.decoding.secret import WebAddress

AGENT_ADDRESS_FORM = "the address of an agent such as https://mq.example.com:9157"

_FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


class AgentAddress(WebAddress):
    """Where an agent serves, written in the settings at ``place``. Only its scheme and host are ever shown."""

    __slots__ = ("place",)

    def __init__(self, text: str) -> None:
        """Keep ``text``. Raises ValueError, with a sentence that does not show it, when it is no address of an agent."""
        super().__init__(text)
        parts = urlsplit(text)
        if parts.username is not None or parts.password is not None:
            raise ValueError("a password is never written in this file; name a file of the agent's token in token_file")
        if parts.query or parts.fragment:
            raise ValueError(f"expected {AGENT_ADDRESS_FORM}: it has no query")
        self.place = text.place if isinstance(text, LocatedText) else Place("")


@dataclass(frozen=True, slots=True)
class FleetTlsSettings:
    """How an agent that serves HTTPS is known."""

    ca_file: Annotated[
        _FilePath | None,
        Doc(
            "The certificates (PEM) of the authorities that may have signed the agent's.",
            default="those of the operating system",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class FleetGroupSettings:
    """A group of the fleet: a store of this machine, or an agent that serves its status."""

    name: Annotated[
        Annotated[LocatedText, Convert(display_name)] | None,
        Doc("Its name in the fleet.", default="the group's own name"),
    ] = None
    store: Annotated[
        _FilePath | None, Doc("The file of a store on this machine. Give this or `url`.", default="none: give url")
    ] = None
    config: Annotated[
        _FilePath | None,
        Doc("The configuration of the agent that fills `store`: its rules, labels and zones.", default="this file"),
    ] = None
    url: Annotated[
        Annotated[AgentAddress, Convert(AgentAddress, AGENT_ADDRESS_FORM)] | None,
        Doc(
            "Where an agent serves its status: the address of its `serve.listen`. Shown nowhere but for its host.",
            default="none: give store",
        ),
    ] = None
    token_file: Annotated[
        SecretFile | None, Doc("A file that holds the token of that agent's `serve.token_file`, and nothing else.")
    ] = None
    tls: Annotated[FleetTlsSettings, Doc("How that agent is known.")] = field(default_factory=FleetTlsSettings)
    timeout: Annotated[
        Annotated[int, duration_within(100, 60_000, "must be from 100ms to 1m")],
        Doc("How long the group may take to answer. The others do not wait for it.", default="5s"),
    ] = 5_000

    def __post_init__(self) -> None:
        if self.store is None and self.url is None:
            raise ValueError("give store, the file of a store on this machine, or url, the address of an agent")
        if self.store is not None and self.url is not None:
            raise ValueError("store and url are two groups, or two ways to one: give one of them")
        if self.url is None and (self.token_file is not None or self.tls.ca_file is not None):
            raise ValueError("token_file and tls are for the address of an agent, which is missing: give url")
        if self.store is None and self.config is not None:
            raise ValueError("config is for a store of this machine, which is missing: give store")


def fleet_contradictions(fleet: Sequence[FleetGroupSettings]) -> Iterator[Problem]:
    """Groups that are each well-formed, and of which two are the same store or agent. Two agents may have one name."""
    first: dict[str, Place] = {}
    for index, group in enumerate(fleet):
        key, place = ("store", group.store.place) if group.store is not None else ("url", Place(""))
        if group.url is not None:
            place = group.url.place
        same = str(group.store) if group.url is None else group.url.reveal().rstrip("/")
        earlier = first.setdefault(same, place)
        if earlier is not place:
            shown = same if group.url is None else group.url.origin
            yield Problem(place, f"fleet[{index}].{key}", f"{shown} occurs twice, first on line {earlier.line}")

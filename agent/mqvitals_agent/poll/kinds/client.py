"""Clients of server-connection channels, counted by channel, address and application from the channels' instances.

An instance is a socket. With SHARECNV several conversations share one: connections are conversations. MAXINST and
MAXINSTC count instances, MAXINSTC those from one address whatever the application.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mqvitals_agent.pcf.constants import MQCHT_SVRCONN
from mqvitals_agent.poll.columns import MetricValues
from mqvitals_agent.poll.probe import InstanceRow, ObjectRow, probe_part
from mqvitals_agent.poll.selection import QueryResult, missing_reason
from mqvitals_rules.vocabulary.client import CLIENT_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported

CLIENT = probe_part(CLIENT_KIND, "INQUIRE_CHANNEL_STATUS")

MOST_CLIENTS = 500
"""Clients of one queue manager that are objects of their own, those with the most instances."""
OTHERS = "others"
"""The client that stands for all others. A real one's name has slashes."""
_NAMELESS = "-"
_USERS_NAMED = 3


class ClientKey(NamedTuple):
    """A client of one queue manager."""

    channel: str
    address: str
    application: str

    @property
    def name(self) -> str:
        """The name of its object."""
        return "/".join(self)


class _Count:
    """What the instances of one client add up to."""

    __slots__ = ("conversations", "instances", "users")

    def __init__(self) -> None:
        self.instances = 0
        self.conversations = 0
        self.users: set[str] = set()

    def values(self, key: ClientKey) -> MetricValues:
        users = sorted(self.users)
        more = [f"{len(users) - _USERS_NAMED} more"] if len(users) > _USERS_NAMED else []
        return {
            "instances": self.instances,
            "conversations": self.conversations,
            "clients": 1,
            "channel_name": key.channel,
            "address": key.address,
            "remote_application": key.application,
            "user": ", ".join((*users[:_USERS_NAMED], *more)) or Absence.NOTHING_TO_TELL,
        }


def address_of(conname: Reported) -> str:
    """The address before the parenthesis of a CONNAME; a hyphen where there is none."""
    return _part(conname.partition("(")[0]) if isinstance(conname, str) else _NAMELESS


def _part(text: Reported) -> str:
    """A part of a client's name: what cannot be printed is replaced, and nothing is a hyphen."""
    if not isinstance(text, str):
        return _NAMELESS
    shown = text if text.isprintable() else "".join(each if each.isprintable() else "?" for each in text)
    return shown.strip() or _NAMELESS


def is_server_connection(instances: Sequence[InstanceRow]) -> bool:
    """Whether these are instances of a server-connection channel."""
    return bool(instances) and instances[0].values["type"] == MQCHT_SVRCONN


def address_metrics(instances: Sequence[InstanceRow]) -> MetricValues:
    """The address with the most instances of a channel, and how many they are; absent for other types of channels."""
    if not is_server_connection(instances):
        return dict.fromkeys(("instances_max_client", "top_client"), Absence.NOTHING_TO_TELL)
    counts = Counter(address_of(each.values["conname"]) for each in instances)
    address, most = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {"instances_max_client": most, "top_client": address}


def client_rows(channels: Mapping[str, ObjectRow]) -> dict[str, ObjectRow]:
    """The clients of a queue manager by the names of their objects, from the rows of its channels.

    Those with the most instances are kept, of equal ones the first by name; the rest is one row, which says how many
    it stands for.
    """
    found: dict[ClientKey, _Count] = {}
    newest: ObjectRow | None = None
    for channel, row in channels.items():
        instances = row.instances or ()
        if not is_server_connection(instances):
            continue
        newest = row if newest is None or row.at > newest.at else newest
        _count(channel, instances, found)
    if newest is None:
        return {}
    order = sorted(found, key=lambda key: (-found[key].instances, key))
    rows = {key.name: _row(newest, found[key].values(key)) for key in order[:MOST_CLIENTS]}
    rest = order[MOST_CLIENTS:]
    if rest:
        rows[OTHERS] = _row(newest, _summed(found[key] for key in rest) | {"clients": len(rest)})
    return rows


def _count(channel: str, instances: Iterable[InstanceRow], found: dict[ClientKey, _Count]) -> None:
    for instance in instances:
        values = instance.values
        key = ClientKey(channel, address_of(values["conname"]), _part(values["remote_application"]))
        count = found.get(key)
        if count is None:
            count = found[key] = _Count()
        shared = values["conversations"]
        count.instances += 1
        count.conversations += max(shared, 1) if type(shared) is int else 1
        if isinstance(user := values["mca_user"], str) and user.strip():
            count.users.add(user.strip())


def _summed(counts: Iterable[_Count]) -> MetricValues:
    every = list(counts)
    return {
        "instances": sum(each.instances for each in every),
        "conversations": sum(each.conversations for each in every),
        **dict.fromkeys(("channel_name", "address", "remote_application", "user"), Absence.NOTHING_TO_TELL),
    }


def _row(of: ObjectRow, values: MetricValues) -> ObjectRow:
    return ObjectRow(values, of.whole, of.own, of.at, of.now, of.member)


def missing_client(name: str, questions: Sequence[QueryResult], default: Absence | None) -> Absence | None:
    """As ``missing_reason``, of a client: its channel must have been asked for; of the others, any server connections."""
    if name != OTHERS:
        return missing_reason(name.partition("/")[0], questions, default, client=True)
    absences = [each.absence for each in questions if each.selection.clients is not False]
    return next((each for each in absences if each is not None), None) if absences else default or Absence.NOT_ASKED

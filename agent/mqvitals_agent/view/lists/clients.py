"""The clients of server-connection channels, as last polled: who holds how many instances of each limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import counted, number, percent, short_age, whole
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone, line, tone_of, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.folding import table_lines, text_columns
from mqvitals_agent.view.figures.table import Cell
from mqvitals_agent.view.figures.values import number_in
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import NO_LIMIT

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

_NEAR_PCT: Final = 90.0
"""Share of a limit from which it is marked, as rules OPS-151 and OPS-152 have it unless the settings say otherwise."""
_TITLES = ("Instances", "Of MAXINSTC", "Connections", "Address", "Application", "User")
_FOLDED = ("User", "Connections")
_INDENT = "  "
_CHANNEL_METRICS = ("instances", "maxinst", "maxinstc")
_CLIENT_METRICS = ("instances", "conversations", "clients", "channel_name", "address", "remote_application", "user")


@dataclass(frozen=True, slots=True)
class Client:
    """An application at an address. ``address_instances`` are those of its address, whatever the application."""

    address: str
    application: str
    user: str
    instances: int
    connections: int
    address_instances: int


@dataclass(frozen=True, slots=True)
class ChannelClients:
    """The clients of a server-connection channel, those with the most instances first, as of ``at`` (ms UTC).

    ``maxinst`` and ``maxinstc`` are its limits; None: not known, or no limit. ``outdated``: the newest poll had no answer.
    """

    queue_manager: str
    channel: str
    instances: int
    maxinst: int | None
    maxinstc: int | None
    at: int
    clients: tuple[Client, ...]
    outdated: bool = False

    @property
    def top(self) -> Client | None:
        """A client of the address with the most instances."""
        return max(self.clients, key=lambda each: each.address_instances, default=None)


@dataclass(frozen=True, slots=True)
class ClientsOfOwner:
    """The channels of a queue manager that have clients, the one with the most first.

    ``others`` clients with ``others_instances`` are not listed: the agent sums up the smallest of very many.
    """

    queue_manager: str
    channels: tuple[ChannelClients, ...]
    others: int = 0
    others_instances: int = 0


def read_clients(reader: StoreReader, owner: str, wanted: Callable[[str], bool]) -> ClientsOfOwner:
    """The clients of the channels of a queue manager that ``wanted`` selects by name. Raises StoreError."""
    by_channel: dict[str, list[Mapping[str, CurrentValue]]] = {}
    others = others_instances = 0
    for values in reader.current_by_kind(owner, "client", _CLIENT_METRICS).values():
        channel = _text(values, "channel_name")
        if not channel:
            others, others_instances = _whole(values, "clients") or 0, _whole(values, "instances") or 0
        elif wanted(channel):
            by_channel.setdefault(channel, []).append(values)
    limits = reader.current_by_kind(owner, "channel", _CHANNEL_METRICS) if by_channel else {}
    of_channel = {name.name: values for name, values in limits.items()}
    found = [_channel(owner, name, rows, of_channel.get(name, {})) for name, rows in by_channel.items()]
    found.sort(key=lambda each: (-each.instances, each.channel))
    return ClientsOfOwner(owner, tuple(found), others, others_instances)


def _channel(
    owner: str, name: str, rows: Sequence[Mapping[str, CurrentValue]], values: Mapping[str, CurrentValue]
) -> ChannelClients:
    each_address = Counter[str]()
    for row in rows:
        each_address[_text(row, "address")] += _whole(row, "instances") or 0
    clients = sorted(
        (
            Client(
                _text(row, "address"),
                _text(row, "remote_application"),
                _text(row, "user"),
                _whole(row, "instances") or 0,
                _whole(row, "conversations") or 0,
                each_address[_text(row, "address")],
            )
            for row in rows
        ),
        key=lambda each: (-each.instances, each.address, each.application),
    )
    latest = [row["instances"] for row in rows if "instances" in row]
    return ChannelClients(
        owner,
        name,
        _whole(values, "instances") or sum(each.instances for each in clients),
        _limit(values, "maxinst"),
        _limit(values, "maxinstc"),
        max((each.ts or each.asked for each in latest), default=0),
        tuple(clients),
        outdated=any(each.unanswered is not None for each in latest),
    )


def _text(values: Mapping[str, CurrentValue], metric: str) -> str:
    latest = values.get(metric)
    return latest.value if latest is not None and isinstance(latest.value, str) else ""


def _whole(values: Mapping[str, CurrentValue], metric: str) -> int | None:
    found = number_in(values.get(metric))
    return None if found is None else int(found)


def _limit(values: Mapping[str, CurrentValue], metric: str) -> int | None:
    found = _whole(values, metric)
    return None if found is None or found >= NO_LIMIT else found


def share(part: int, limit: int | None) -> float | None:
    """Percent of a limit that is in use; None: there is none. A limit of 0 lets nobody in: all of it is in use."""
    if limit is None:
        return None
    return 100.0 * part / limit if limit else 100.0


def client_lines(found: Iterable[ClientsOfOwner], now: int, width: int, most: int) -> Iterator[Line]:
    """The lines for ``width`` cells, as of ``now`` (ms UTC): each channel with at most ``most`` of its clients."""
    begun = False
    for owner in found:
        for channel in owner.channels:
            if begun:
                yield line()
            begun = True
            yield from _channel_lines(channel, now, width, most)
        if owner.others:
            words = f"{safe(owner.queue_manager)}: {counted(owner.others, 'further client')} with few instances each,"
            yield from wrapped(f"{words} {whole(owner.others_instances)} in all", width, Tone.FAINT)
    if not begun:
        yield line("no clients")


def _channel_lines(channel: ChannelClients, now: int, width: int, most: int) -> Iterator[Line]:
    name = f"{safe(channel.queue_manager)} {safe(channel.channel)}"
    used = share(channel.instances, channel.maxinst)
    top = channel.top
    parts = [f"{counted(channel.instances, 'instance')} {_of('MAXINST', channel.maxinst, used)}"]
    by_address = None
    if top is not None:
        by_address = share(top.address_instances, channel.maxinstc)
        parts.append(
            f"the most from {safe(top.address)}: {whole(top.address_instances)} {_of('MAXINSTC', channel.maxinstc, by_address)}"
        )
    health = _health(max(used or 0.0, by_address or 0.0))
    when = f"{'not answered since, ' if channel.outdated else ''}{short_age(now - channel.at)} ago"
    lead = "" if health is Health.OK else f"{health.glyph} "
    tone = Tone.STALE if channel.outdated else Tone.STRONG if health is Health.OK else tone_of(health)
    yield from wrapped(f"{lead}{name}: {'; '.join(parts)} ({when})", width, tone, rest=_INDENT)
    rows = [_row(each, channel.maxinstc) for each in channel.clients[:most]]
    columns = text_columns(_TITLES, rows, right=("Instances", "Of MAXINSTC", "Connections"))
    yield from table_lines(columns, [""] * len(rows), width, folded=_FOLDED)
    if len(channel.clients) > most:
        rest = channel.clients[most:]
        held = sum(each.instances for each in rest)
        yield line(f"{_INDENT}and {counted(len(rest), 'client')} with {counted(held, 'instance')} in all", Tone.FAINT)


def _of(word: str, limit: int | None, used: float | None) -> str:
    return (
        f"with no {word} limit known" if limit is None or used is None else f"of {word} {whole(limit)}, {percent(used)}"
    )


def _health(used: float) -> Health:
    return Health.CRITICAL if used >= 100 else Health.WARNING if used >= _NEAR_PCT else Health.OK


def _row(each: Client, maxinstc: int | None) -> tuple[Cell, ...]:
    used = share(each.address_instances, maxinstc)
    health = _health(used or 0.0)
    tone = Tone.PLAIN if health is Health.OK else tone_of(health)
    return (
        Cell(whole(each.instances), tone),
        Cell("" if used is None else percent(used), tone),
        Cell(number(each.connections)),
        Cell(safe(each.address), Tone.STRONG),
        Cell(safe(each.application)),
        Cell(safe(each.user)),
    )


def client_json(found: Iterable[ClientsOfOwner]) -> list[dict[str, Any]]:
    """The objects of ``mqvitals clients --json``, one for each channel; a limit that is not known or none is null."""
    return [
        {
            "queue_manager": channel.queue_manager,
            "channel": channel.channel,
            "at": iso(channel.at),
            "outdated": channel.outdated,
            "instances": channel.instances,
            "maxinst": channel.maxinst,
            "maxinst_pct": _rounded(share(channel.instances, channel.maxinst)),
            "maxinstc": channel.maxinstc,
            "clients": [
                {
                    "address": each.address,
                    "application": each.application,
                    "user": each.user or None,
                    "instances": each.instances,
                    "connections": each.connections,
                    "address_instances": each.address_instances,
                    "maxinstc_pct": _rounded(share(each.address_instances, channel.maxinstc)),
                }
                for each in channel.clients
            ],
        }
        for owner in found
        for channel in owner.channels
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)

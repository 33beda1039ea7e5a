"""Starts of channels: how many instances began since the poll before, how many with TLS, and which replaced a broken one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import InstanceRow
from mqvitals_rules.vocabulary.metric import Absence, Reported

START_METRICS = ("starts", "tls_starts", "broken_starts")
_STOPPING = frozenset({mq.MQCHS_STOPPED, mq.MQCHS_STOPPING})
_NO_START = frozenset({"", "None"})

InstancePlace = tuple[str, ...]


class _PlaceStart(NamedTuple):
    """A place: the start of the instance that ran last, and whether it has broken off since, or might."""

    ran: InstancePlace
    lost: bool
    under_way: bool


_NEW = _PlaceStart((), lost=False, under_way=False)


@dataclass(slots=True)
class _SeenChannel:
    """One channel as the poll before saw it: the instances that had begun, and its places."""

    keys: tuple[InstancePlace, ...] = ()
    places: dict[InstancePlace, _PlaceStart] = field(default_factory=dict)


class ChannelStarts:
    """The instances of every channel at its previous answered poll: which began since, and which replaced a broken one.

    An instance is known by its place (queue manager, partner's address, transmission queue) and by its start. The
    start of an instance that has not begun yet is blank: it counts as soon as it has begun.

    A restart counts as broken when the poll before saw the place's instance with messages under way, or when it
    retried or was in doubt since it last ran without trouble. However many instances of a channel break off together,
    as with their queue manager, that is one broken start. A channel that ended for want of work, or that was
    stopped, has not broken off; nor is a client that connects again a restart.
    """

    def __init__(self) -> None:
        self._previous: dict[Hashable, _SeenChannel] = {}

    def count(self, channel: Hashable, instances: Sequence[InstanceRow]) -> dict[str, Reported]:
        """``START_METRICS`` of a channel since its poll before; first reading when there was none.

        Without instances it is inactive.
        """
        before = self._previous.get(channel)
        begun = [(_key(each), each) for each in instances if each.key[4] not in _NO_START]
        seen = _SeenChannel(tuple([key for key, _ in begun]))
        broken = self._follow(seen, {} if before is None else before.places, instances)
        self._previous[channel] = seen
        if before is None:
            return dict.fromkeys(START_METRICS, Absence.FIRST_READING)
        fresh = Counter(seen.keys) - Counter(before.keys) if seen.keys != before.keys else None
        if not fresh:
            return {"starts": 0, "tls_starts": 0, "broken_starts": int(broken)}
        secured = [uses_tls(each.values) for key, each in begun if key in fresh]
        absent = next((each for each in secured if isinstance(each, Absence)), None)
        secured_by_key = {key: uses_tls(each.values) for key, each in begun}
        tls_starts = sum(number for key, number in fresh.items() if secured_by_key[key] is True)
        return {
            "starts": fresh.total(),
            "tls_starts": tls_starts if absent is None else absent,
            "broken_starts": int(broken),
        }

    def forget(self, channel: Hashable) -> None:
        """The channel is gone; should its name return, it is another."""
        self._previous.pop(channel, None)

    @staticmethod
    def _follow(
        seen: _SeenChannel, before: Mapping[InstancePlace, _PlaceStart], instances: Sequence[InstanceRow]
    ) -> bool:
        """Update each place; returns whether an instance took the place of one that broke off."""
        broken = False
        for each in instances:
            if each.values["type"] == mq.MQCHT_SVRCONN:
                continue
            place = each.key[:3]
            ran, restarted = _next(before.get(place, _NEW), each)
            broken = broken or restarted
            seen.places[place] = ran
        # A retrying channel may have no status for a moment; one that was merely seen at work has ended.
        for place, ran in before.items():
            if ran.lost and place not in seen.places:
                seen.places[place] = ran._replace(under_way=False)
        return broken


def uses_tls(values: Mapping[str, Reported]) -> bool | Absence:
    """Whether an instance is protected by TLS; else why that is not known."""
    cipher, protocol = values["ssl_cipher"], values["security_protocol"]
    if isinstance(cipher, str):
        return bool(cipher)
    if type(protocol) is int:
        return protocol != 0
    return cipher if isinstance(cipher, Absence) else Absence.NOT_RETURNED


def tls_instances(instances: Sequence[InstanceRow]) -> Reported:
    """How many of the instances are protected by TLS; absent unless all of them report it."""
    secured = [uses_tls(each.values) for each in instances]
    absent = next((each for each in secured if isinstance(each, Absence)), None)
    return sum(each is True for each in secured) if absent is None else absent


def _key(instance: InstanceRow) -> InstancePlace:
    return (*instance.key[:3], *instance.key[4:])


def _next(before: _PlaceStart, instance: InstanceRow) -> tuple[_PlaceStart, bool]:
    """What is remembered of a place after this instance was seen in it, and whether it follows one that broke off."""
    values = instance.values
    status = values["status"]
    if status in _STOPPING or values["stop_requested"] == 1:
        return before._replace(lost=False, under_way=False), False
    if status == mq.MQCHS_RETRYING:
        return before._replace(lost=True), False
    if status != mq.MQCHS_RUNNING or instance.key[4] in _NO_START:
        return before, False
    start = instance.key[4:]
    in_batch = values["current_msgs"]
    ran = _PlaceStart(start, lost=values["indoubt"] == 1, under_way=type(in_batch) is int and in_batch > 0)
    return ran, bool(before.ran) and start != before.ran and (before.lost or before.under_way)

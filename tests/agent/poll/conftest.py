"""Exchanges made by hand: a request, and replies as a queue manager would send them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import pytest

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import byte_string, encode_message, integer, integers, request, string, strings
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_rules.snapshot import Instance, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Reported

Plain = int | str | bytes | Sequence[int] | Sequence[str]
Item = Mapping[int, Any]
BEGAN = 1795176000000  # 2026-11-20 12:00:00 UTC


def parameter(number: int, value: Plain) -> Parameter:
    """A parameter of the type that the value has."""
    if isinstance(value, int):
        return integer(number, value)
    if isinstance(value, str):
        return string(number, value)
    if isinstance(value, bytes):
        return byte_string(number, value)
    if all(isinstance(part, int) for part in value):
        return integers(number, [part for part in value if isinstance(part, int)])
    return strings(number, [str(part) for part in value])


class Talk:
    """Talks with queue managers that say what the test wants, 100 ms an exchange; collects into snapshots."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.at = BEGAN
        self._sets = count(1)

    def set_id(self) -> bytes:
        """An identifier that no set had before."""
        return next(self._sets).to_bytes(24, "big")

    def replies(
        self,
        command: int,
        items: Iterable[Item] = (),
        *,
        member: str = "QM01",
        reason: int = 0,
        set_id: bytes | None = None,
        keep: int | None = None,
        put: int | None = None,
        distributed: bool = False,
    ) -> list[Reply]:
        """One response set: its items, the reason of a failure, and the summary. ``keep`` cuts it after so many messages."""
        identity = [
            byte_string(mq.MQBACF_RESPONSE_ID, set_id or self.set_id()),
            string(mq.MQCACF_RESPONSE_Q_MGR_NAME, member),
        ]
        bodies: list[tuple[int, int, int, list[Parameter]]] = [
            (mq.MQCFT_XR_ITEM, 0, 0, [parameter(*pair) for pair in item.items()]) for item in items
        ]
        if reason:
            bodies.append((mq.MQCFT_XR_MSG, mq.MQCC_FAILED, reason, []))
            bodies.append((mq.MQCFT_XR_SUMMARY, mq.MQCC_FAILED, mq.MQRCCF_COMMAND_FAILED, []))
        else:
            bodies.append((mq.MQCFT_XR_SUMMARY, 0, 0, []))
        found = []
        for number, (kind, comp_code, why, parameters) in enumerate(bodies, 1):
            data = encode_message(
                kind,
                command,
                [*identity, *parameters],
                sequence=number,
                control=mq.MQCFC_LAST if number == len(bodies) else mq.MQCFC_NOT_LAST,
                comp_code=comp_code,
                reason=why,
                order="<" if distributed else ">",
                ccsid=1208 if distributed else 500,
            )
            found.append(Reply(546 if distributed else 785, 1208 if distributed else 500, data, put))
        return found[:keep]

    def scoped(self, command: int, members: Mapping[str, Sequence[Item] | int]) -> list[Reply]:
        """An answer to CMDSCOPE(*) through QM01: each member's items, or its reason."""
        first, closing = self.set_id(), self.set_id()
        sets = {name: self.set_id() for name in members}
        accepted = encode_message(
            mq.MQCFT_XR_MSG,
            command,
            [
                byte_string(mq.MQBACF_RESPONSE_ID, first),
                string(mq.MQCACF_RESPONSE_Q_MGR_NAME, "QM01"),
                integer(mq.MQIACF_COMMAND_INFO, mq.MQCMDI_CMDSCOPE_ACCEPTED),
                integer(mq.MQIACF_CMDSCOPE_Q_MGR_COUNT, len(members)),
                *(byte_string(mq.MQBACF_RESPONSE_SET, announced) for announced in (*sets.values(), closing)),
            ],
        )
        completed = encode_message(
            mq.MQCFT_XR_MSG,
            command,
            [
                byte_string(mq.MQBACF_RESPONSE_ID, closing),
                string(mq.MQCACF_RESPONSE_Q_MGR_NAME, "QM01"),
                integer(mq.MQIACF_COMMAND_INFO, mq.MQCMDI_CMDSCOPE_COMPLETED),
            ],
        )
        found = [Reply(785, 500, accepted)]
        for name, told in members.items():
            items, reason = ((), told) if isinstance(told, int) else (told, 0)
            found += self.replies(command, items, member=name, reason=reason, set_id=sets[name])
        return [*found, Reply(785, 500, completed)]

    def exchange(
        self,
        command: int,
        replies: Sequence[Reply] = (),
        *,
        queue_manager: str = "QM01",
        question: QueryOptions | None = None,
        sent: bytes | None = None,
        error: int = 0,
    ) -> None:
        """Feed an exchange whose request is the probe's own for the question."""
        if sent is None:
            probe = PROBES.get(command)
            sent = request(command) if probe is None else probe.ask(question or QueryOptions())
        failure = MqiFailure(2, error) if error else None
        self.collector.feed(Exchange(0, self.at, 7, queue_manager, command, sent, tuple(replies), failure))
        self.at += 100

    def ask(
        self,
        command: int,
        items: Iterable[Item] = (),
        *,
        queue_manager: str = "QM01",
        question: QueryOptions | None = None,
        reason: int = 0,
        keep: int | None = None,
        error: int = 0,
        put: int | None = None,
        distributed: bool = False,
    ) -> None:
        """Feed an exchange with one queue manager's own answer."""
        replies = self.replies(
            command, items, member=queue_manager, reason=reason, keep=keep, put=put, distributed=distributed
        )
        self.exchange(command, replies, queue_manager=queue_manager, question=question, error=error)

    def fail(self, reason: int, *, queue_manager: str = "QM01", command: int | None = None) -> None:
        """Feed a failed connection attempt, or a command whose call failed."""
        if command is None:
            self.collector.feed(Exchange(0, self.at, 1, queue_manager, error=MqiFailure(2, reason)))
            self.at += 100
        else:
            self.exchange(command, queue_manager=queue_manager, error=reason)

    def end(self) -> Told:
        """End the cycle; the next one begins 10 s after this one did."""
        snapshots = self.collector.end_cycle()
        self.at += 10_000 - self.at % 10_000
        return Told(snapshots)


class Told:
    """The snapshots of one cycle, easy to look into."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self.snapshots = snapshots

    def owners(self) -> list[str]:
        """Whose snapshots there are, in order."""
        return [snapshot.owner for snapshot in self.snapshots]

    def snapshot(self, owner: str) -> Snapshot:
        """The snapshot of that owner."""
        (found,) = [snapshot for snapshot in self.snapshots if snapshot.owner == owner]
        return found

    def readings(self, name: str, probe: str = "") -> list[Reading]:
        """All readings of an object, or those of one probe."""
        return [
            reading
            for snapshot in self.snapshots
            for reading in snapshot.readings
            if str(reading.object) == name and probe in ("", reading.probe)
        ]

    def reading(self, name: str, probe: str = "") -> Reading:
        """The only reading of an object, or of one probe of it."""
        (found,) = self.readings(name, probe)
        return found

    def value(self, name: str, metric: str) -> Reported:
        """A metric of an object, from whichever reading holds it."""
        (found,) = [reading.values[metric] for reading in self.readings(name) if metric in reading.values]
        return found

    def instances(self, owner: str) -> list[Instance]:
        """The instances in that owner's snapshot."""
        return list(self.snapshot(owner).instances)


@pytest.fixture
def talk() -> Talk:
    """A collector for PRDQSG with QM01 and QM02, and somebody to talk to."""
    return Talk(Collector("PRDQSG", ["QM01", "QM02"]))

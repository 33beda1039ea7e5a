"""Holders of every shape, and queue managers that answer what a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import byte_string, encode_message, integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.pcf.structures import Order
from mqvitals_agent.who.holder import (
    LATEST,
    MOST_NUMBER,
    HandleConnection,
    HandleInstance,
    Holder,
    Holders,
    MemberHolders,
    UnitOfWork,
)
from mqvitals_rules.snapshot import ObjectName


def _of(kind: type[Any], **own: st.SearchStrategy) -> st.SearchStrategy:
    """Objects of a class whose fields are texts, but for those named."""
    texts = {name: st.text(max_size=8) for name in (each.name for each in fields(kind)) if name not in own}
    return st.builds(kind, **texts, **own)


@pytest.fixture(scope="session")
def any_holders() -> st.SearchStrategy[Holders]:
    """A strategy for Holders."""
    number = st.none() | st.integers(-MOST_NUMBER, MOST_NUMBER)
    yes = st.none() | st.booleans()
    number_of = st.integers(0, 2**31)
    connection = _of(HandleConnection, count=number_of, unit_of_work=st.none() | _of(UnitOfWork))
    instance = _of(HandleInstance, count=number_of, msgs=number)
    entry = _of(
        Holder,
        process=number,
        thread=number,
        output=yes,
        browse=yes,
        inquire=yes,
        set=yes,
        connection=st.none() | connection,
        instance=st.none() | instance,
    )
    member = _of(
        MemberHolders,
        at=st.integers(0, LATEST),
        took_ms=st.integers(0, 10**6),
        holders=st.lists(entry, max_size=2).map(tuple),
        notes=st.lists(st.text(max_size=8), max_size=2).map(tuple),
    )
    name = st.builds(ObjectName, st.text(max_size=4), st.text(max_size=4), st.text(max_size=4))
    return st.builds(Holders, name, st.lists(member, max_size=2).map(tuple))


Value = int | str | bytes


class Member:
    """One queue manager as a test wants it: answers with these things, or a reason, in EBCDIC or as distributed ones do."""

    def __init__(self, name: str = "QM01", *, classic: bool = False) -> None:
        self.name = name
        self.classic = classic
        self._sets = count(1)

    def replies(
        self, command: int, items: Sequence[Mapping[int, Value]] = (), reason: int = 0, keep: int | None = None
    ) -> tuple[Reply, ...]:
        """One response set; ``keep`` cuts it after so many messages."""
        own = [] if self.classic else self._own()
        item_type = mq.MQCFT_RESPONSE if self.classic else mq.MQCFT_XR_ITEM
        bodies = [(item_type, 0, 0, [*own, *map(_parameter, item.items())]) for item in items]
        if reason:
            kind = mq.MQCFT_RESPONSE if self.classic else mq.MQCFT_XR_MSG
            bodies.append((kind, mq.MQCC_FAILED, reason, own))
        if not self.classic or not bodies:
            failed = (mq.MQCC_FAILED, mq.MQRCCF_COMMAND_FAILED) if reason else (0, 0)
            bodies.append((mq.MQCFT_RESPONSE if self.classic else mq.MQCFT_XR_SUMMARY, *failed, own))
        return self._written(command, bodies)[:keep]

    def _written(self, command: int, bodies: list[tuple[int, int, int, list[Parameter]]]) -> tuple[Reply, ...]:
        order: Order = "<" if self.classic else ">"
        ccsid = 1208 if self.classic else 500
        return tuple(
            Reply(
                546 if self.classic else 785,
                ccsid,
                encode_message(
                    kind,
                    command,
                    parameters,
                    sequence=number,
                    control=mq.MQCFC_LAST if number == len(bodies) else mq.MQCFC_NOT_LAST,
                    comp_code=comp_code,
                    reason=why,
                    order=order,
                    ccsid=ccsid,
                ),
            )
            for number, (kind, comp_code, why, parameters) in enumerate(bodies, 1)
        )

    def _own(self) -> list[Parameter]:
        return [
            byte_string(mq.MQBACF_RESPONSE_ID, next(self._sets).to_bytes(24, "big")),
            string(mq.MQCACF_RESPONSE_Q_MGR_NAME, self.name, 48),
        ]

    def exchange(
        self,
        command: int | None,
        items: Sequence[Mapping[int, Value]] = (),
        *,
        reason: int = 0,
        error: int = 0,
        keep: int | None = None,
    ) -> Exchange:
        """An exchange with this answer; with an ``error`` of MQ and no items, without any."""
        silent = error and not items and not reason
        replies = () if silent or command is None else self.replies(command, items, reason, keep)
        failure = MqiFailure(mq.MQCC_FAILED, error) if error else None
        return Exchange(0, 1_000, 5, self.name, command, b"", replies, failure)


def _parameter(pair: tuple[int, Value]) -> Parameter:
    number, value = pair
    if isinstance(value, bytes):
        return byte_string(number, value)
    return integer(number, value) if isinstance(value, int) else string(number, value, 28)


@pytest.fixture
def zos() -> Member:
    """QM01 on z/OS."""
    return Member()


@pytest.fixture
def distributed() -> Member:
    """A distributed queue manager that answers in the classic way."""
    return Member("DQM1", classic=True)


@pytest.fixture(scope="session")
def member_of() -> type[Member]:
    """Makes queue managers: of a name, on z/OS or not."""
    return Member

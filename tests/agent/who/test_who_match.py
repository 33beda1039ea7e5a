"""Handles joined to connections and channel instances by what both tell, in the order they are shown."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.who.holder import HandleConnection, Holder, ReportedConnection, ReportedInstance, UnitOfWork
from mqvitals_agent.who.query import joined, ordered

HOLDER = Holder(
    "PAYBATCH", "BATCH", "", "PAYUSER", "004B", "", "", "", "", "", "", None, None,
    "SHARED", False, False, False, False, "INACTIVE", "NONE",
)  # fmt: skip
LOCAL = ReportedConnection("AA", "PAYBATCH", "PAYUSER", "004B", "", "", "", "", "", None, None, None)
CLIENT = replace(HOLDER, application="java", asid="0033", channel="APP.SVRCONN", connection_name="10.1.1.1")
INSTANCE = ReportedInstance(
    "APP.SVRCONN", "10.1.1.1", "2026-11-21 08.00.00", "RUNNING", "RECEIVE", 7, "", "java", "APP"
)
ACTIVE = UnitOfWork("ACTIVE", "RRS", "2026-11-21 01.00.00", "")
DOUBT = UnitOfWork("PREPARED", "RRS", "2026-11-21 09.00.00", "")


def connection(holder: Holder, *told: ReportedConnection) -> HandleConnection | None:
    """What is joined to one handle."""
    (found,) = joined([holder], told, ())
    return found.connection


def test_one_connection() -> None:
    """A single connection that fits is named."""
    assert connection(HOLDER, replace(LOCAL, unit_of_work=ACTIVE)) == HandleConnection(1, "AA", ACTIVE)


@pytest.mark.parametrize(
    ("name", "here", "there"),
    [
        ("application", "PAYBATCH", "PAYBATC"),
        ("user", "PAYUSER", "OTHER"),
        ("asid", "004B", "004C"),
        ("connection_name", "10.1.1.1", "10.1.1.2"),
        ("connection_name", "10.1.1.1(1414)", "10.1.1.1(1415)"),
        ("transaction", "PAY1", "PAY2"),
        ("task", "0000001", "0000002"),
        ("region", "0001", "0002"),
        ("process", 1, 2),
        ("process", 0, 2),
        ("thread", 1, 2),
    ],
)
def test_whatever_both_tell_must_be_equal(name: str, here: Any, there: Any) -> None:
    """One difference is enough for a connection to be another's; what one of them does not tell decides nothing."""
    holder: Holder = replace(HOLDER, **{name: here})
    told: ReportedConnection = replace(LOCAL, **{name: there})
    nothing: Any = None if isinstance(there, int) else ""
    untold: ReportedConnection = replace(LOCAL, **{name: nothing})
    assert connection(holder, told) is None
    assert connection(holder, told, untold) == HandleConnection(1, "AA", None)


def test_a_local_handle_is_no_clients() -> None:
    """A handle without a channel is not of a connection that has one, nor the other way round; untold decides nothing."""
    client = replace(LOCAL, channel="APP.SVRCONN")
    assert connection(HOLDER, client) is None
    assert connection(replace(HOLDER, channel="APP.SVRCONN"), LOCAL) is None
    assert connection(replace(HOLDER, channel="APP.SVRCONN"), client, replace(LOCAL, channel=None)) == HandleConnection(
        2, "", None
    )


def test_nothing_in_common_is_no_match() -> None:
    """A connection that tells nothing fits nothing."""
    silent = ReportedConnection("AA", "", "", "", None, "", "", "", "", None, None, ACTIVE)
    assert connection(HOLDER, silent) is None


def test_several_connections() -> None:
    """Several that look alike are counted, none of them is named."""
    found = connection(HOLDER, LOCAL, replace(LOCAL, identifier="BB", unit_of_work=ACTIVE))
    assert found == HandleConnection(2, "", ACTIVE)


@pytest.mark.parametrize("state", ["PREPARED", "UNRESOLVED"])
def test_a_unit_in_doubt_is_never_hidden(state: str) -> None:
    """In doubt goes before active, however old the active one is; of those in doubt the first."""
    late = replace(DOUBT, state=state)
    early = replace(late, began="2026-11-21 08.00.00")
    told = [replace(LOCAL, unit_of_work=each) for each in (ACTIVE, late, early, replace(DOUBT, began=""))]
    assert connection(HOLDER, *told) == HandleConnection(4, "", early)


def test_an_unknown_state_goes_before_an_active_one() -> None:
    """Of a state without a name nobody knows that it is harmless."""
    odd = replace(DOUBT, state="9")
    told = [replace(LOCAL, unit_of_work=each) for each in (ACTIVE, odd)]
    assert connection(HOLDER, *told) == HandleConnection(2, "", odd)
    found = connection(HOLDER, *told, replace(LOCAL, unit_of_work=DOUBT))
    assert found == HandleConnection(3, "", DOUBT)


def test_the_first_of_active_units() -> None:
    """Of active units the one that began first; one without a beginning goes last."""
    units = [replace(ACTIVE, began=began) for began in ("", "2026-11-21 02.00.00", "2026-11-20 23.00.00")]
    found = connection(HOLDER, *(replace(LOCAL, unit_of_work=unit) for unit in units))
    assert found == HandleConnection(3, "", units[2])


def test_instances_by_channel_and_partner() -> None:
    """The instances of the channel from that partner, the newest shown; ports count only where both tell them."""
    newest = replace(INSTANCE, began="2026-11-21 10.00.00", substate="MQGET", connection_name="10.1.1.1(40001)")
    others = (replace(INSTANCE, connection_name="10.1.1.2"), replace(INSTANCE, channel="OTHER"))
    (found,) = joined([CLIENT], (), (INSTANCE, newest, *others))
    assert found.instance is not None
    assert (found.instance.count, found.instance.substate) == (2, "MQGET")
    (alone,) = joined([replace(CLIENT, connection_name="10.1.1.1(40002)")], (), (newest,))
    assert alone.instance is None


def test_no_instance_for_local_handles() -> None:
    """A handle without a channel has no instance, also when an instance without a name is told."""
    (found,) = joined([HOLDER], (), (replace(INSTANCE, channel=""),))
    assert found.instance is None


def test_the_order() -> None:
    """Exclusive input, shared input, output, others; active first; then the application."""
    made = [
        replace(HOLDER, input="EXCL"),
        replace(HOLDER, application="Z", state="ACTIVE"),
        replace(HOLDER, application="A"),
        replace(HOLDER, application="B"),
        replace(HOLDER, input="NO", output=True),
        replace(HOLDER, input="NO", output=None, browse=True),
    ]
    assert ordered(reversed(made)) == tuple(made)


def test_thousands_of_handles() -> None:
    """Clients and as many connections are joined without comparing each with each: four times as many cost no sixteen times."""

    def cpu_s(count: int) -> float:
        holders = [replace(CLIENT, connection_name=f"10.1.{number // 250}.{number % 250}") for number in range(count)]
        told = [
            replace(LOCAL, application="java", asid="0033", channel="APP.SVRCONN", connection_name=each.connection_name)
            for each in holders
        ]
        times = []
        for _ in range(3):
            began = time.process_time()
            found = joined(holders, told, ())
            times.append(time.process_time() - began)
        assert all(each.connection is not None and each.connection.count == 1 for each in found)
        return min(times)

    assert cpu_s(4000) < 9 * cpu_s(1000)


_FEW = st.sampled_from(["", "A", "B"])
_ADDRESS = st.sampled_from(["", "10.1.1.1", "10.1.1.1(1414)", "10.1.1.1(1415)", "10.1.1.2"])
_NUMBER = st.sampled_from([None, 0, 1])
_UNIT = st.none() | st.builds(
    UnitOfWork, st.sampled_from(["ACTIVE", "PREPARED", "UNRESOLVED", "7"]), _FEW, st.sampled_from(["", "1", "2"]), _FEW
)
_COMMON = {
    "application": _FEW,
    "user": _FEW,
    "asid": _FEW,
    "connection_name": _ADDRESS,
    "transaction": _FEW,
    "task": _FEW,
    "region": _FEW,
    "process": _NUMBER,
    "thread": _NUMBER,
}
_HOLDERS = st.lists(
    st.builds(
        lambda **told: replace(HOLDER, **told),
        **_COMMON,
        channel=_FEW,
        input=st.sampled_from(["NO", "SHARED", "EXCL", "", "9"]),
        output=st.sampled_from([None, True, False]),
        state=st.sampled_from(["ACTIVE", "INACTIVE", ""]),
    ),
    max_size=6,
)
_CONNECTIONS = st.lists(
    st.builds(ReportedConnection, identifier=_FEW, channel=st.none() | _FEW, unit_of_work=_UNIT, **_COMMON), max_size=6
)
_INSTANCES = st.lists(
    st.builds(lambda **told: replace(INSTANCE, **told), channel=_FEW, connection_name=_ADDRESS, began=_FEW), max_size=4
)


@given(_HOLDERS, _CONNECTIONS, _INSTANCES)
def test_whatever_is_told(
    holders: list[Holder], connections: list[ReportedConnection], instances: list[ReportedInstance]
) -> None:
    """Every handle comes out once, counts never exceed what was told, and units in doubt are not hidden."""
    found = joined(holders, connections, instances)
    bare = tuple(replace(each, connection=None, instance=None) for each in found)
    assert bare == ordered(holders)
    assert sorted(map(repr, bare)) == sorted(map(repr, holders))
    for each in found:
        if each.connection is not None:
            fitting = [told for told in connections if _fits(each, told)]
            assert each.connection.count == len(fitting)
            assert bool(each.connection.identifier) <= (len(fitting) == 1)
            units = [told.unit_of_work for told in fitting if told.unit_of_work]
            assert (each.connection.unit_of_work is None) == (not units)
            if any(unit.state in ("PREPARED", "UNRESOLVED") for unit in units):
                assert each.connection.unit_of_work is not None
                assert each.connection.unit_of_work.state in ("PREPARED", "UNRESOLVED")
        else:
            assert not any(_fits(each, told) for told in connections)
        if each.instance is not None:
            assert 0 < each.instance.count <= len([told for told in instances if told.channel == each.channel])


def _fits(holder: Holder, told: ReportedConnection) -> bool:
    """The rule, said plainly."""
    same = 0
    for name in _COMMON:
        here, there = getattr(holder, name), getattr(told, name)
        if here in ("", None) or there in ("", None):
            continue
        if name == "connection_name" and not ("(" in here and "(" in there):
            here, there = here.split("(")[0], there.split("(")[0]
        if here != there:
            return False
        same += 1
    return same > 0 and told.channel in (None, holder.channel)

"""What the simulated group's records say is what the group did: each figure against the state, second by second."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace

import pytest

from mqvitals_agent.simulator.answers.storage import SMDS_BUFFERS
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident
from mqvitals_agent.simulator.state import GroupState, MemberState

EPOCH_US = 2_208_988_800_000_000
_S = 1000
EVERYTHING = Scenario(
    "everything at once",
    3_600_000,
    (
        ScenarioIncident(10 * _S, 100 * _S, IncidentKind.SLOW_CONSUMER, "QM01/ORDERS.REQUEST", 0.02),
        ScenarioIncident(20 * _S, 90 * _S, IncidentKind.NETWORK, "QM01/TO.QM02", 70_000),
        ScenarioIncident(30 * _S, 120 * _S, IncidentKind.PARTNER_DOWN, "QM01/TO.PARTNER"),
        ScenarioIncident(15 * _S, 80 * _S, IncidentKind.ARRIVALS, "PRDQ/APPL1.ORDERS", 8),
        ScenarioIncident(15 * _S, 80 * _S, IncidentKind.ARRIVALS, "PRDQ/APPL2.DOCUMENTS", 40),
        ScenarioIncident(40 * _S, 90 * _S, IncidentKind.ARCHIVE_STOPPED, "QM01"),
    ),
)
"""Each figure moves in the one or the other of its minutes."""


class Witness:
    """Remembers how one member and the structures were, after every second."""

    def __init__(self, group: GroupState, member: str) -> None:
        self.member = member
        self.seen: list[GroupState] = []
        self.second(group)

    def second(self, group: GroupState) -> None:
        """Remember."""
        members = group.members
        group.members = {self.member: members[self.member]}
        self.seen.append(deepcopy(group))
        group.members = members

    def leap(self, group: GroupState) -> None:
        """None is expected."""
        raise AssertionError(group.now)

    def at(self, second: int) -> MemberState:
        """The member as it was."""
        return self.seen[second].members[self.member]


@pytest.fixture(scope="module")
def observed(smf: SimpleNamespace) -> SimpleNamespace:
    """Three minutes of everything at once: what a witness saw of QM01, and what its records say."""
    here = smf.simulation(EVERYTHING)
    witness = Witness(here.group, "QM01")
    here.watch(witness, 0)
    found = smf.read(smf.written(here, 3 * smf.MINUTE))
    minutes = [(first, first + 60) for first in (0, 60, 120)]
    return SimpleNamespace(witness=witness, minutes=minutes, get=lambda section: smf.fields(found, section))


def stamp(ms: int) -> int:
    """A TOD stamp of ms since 1970."""
    return (ms * 1000 + EPOCH_US) << 12


def test_pools(observed: SimpleNamespace) -> None:
    """Size, free now, the fewest free of any second, how often which writing went on, pages written and read, waits."""
    reached = set()
    for (first, last), sections in zip(observed.minutes, observed.get("QPST"), strict=True):
        assert [each["pool"] for each in sections] == [0, 1, 2, 3]
        for each in sections:
            number = each["pool"]
            pools = [observed.witness.at(second).pools[number] for second in range(first, last + 1)]
            measured = pools[1:]
            assert (each["nbuf"], each["cbs"]) == (pools[-1].buffers, pools[-1].free)
            lows = [pool.free if pool.lowest is None else pool.lowest for pool in measured]
            assert each["cbsl"] == min([pools[0].free, *lows])
            assert each["dwt"] == sum(pool.writing >= 1 for pool in measured)
            assert each["dmc"] == sum(pool.writing == 2 for pool in measured)
            assert each["imw"] == sum(pool.synchronous_pages for pool in measured)
            assert each["tpw"] == each["imw"] + sum(pool.deferred_pages for pool in measured)
            assert each["rio"] == sum(pool.read_pages for pool in measured)
            assert each["sos"] == sum(pool.waits for pool in measured)
            assert (each["wio"] > 0) == (each["tpw"] > 0)
            assert each["wio"] <= each["tpw"]
            assert each["flags"] == 0xC0000000
            reached |= {name for name in ("dwt", "dmc", "imw", "sos", "rio") if each[name]}
    assert reached == {"dwt", "dmc", "imw", "sos", "rio"}


def test_pages_are_written_before_they_are_read_back(smf: SimpleNamespace) -> None:
    """What was written less what was read back is what lies on page sets alone, whenever it is counted."""
    here = smf.simulation("buffer-pool-thrash")
    pools = smf.fields(smf.read(smf.written(here, 3 * smf.MINUTE)), "QPST")
    there = sum(each[3]["tpw"] - each[3]["rio"] for each in pools)
    assert there == int(here._storage["QM01"]._written[3]) > 0
    gone = smf.fields(smf.read(smf.written(smf.simulation("buffer-pool-thrash"), 6 * smf.MINUTE)), "QPST")
    assert sum(each[3]["tpw"] for each in gone) == sum(each[3]["rio"] for each in gone) > there


def test_page_sets(observed: SimpleNamespace) -> None:
    """Their pages are those of the state, and what was written to and read from them is what their pools wrote and read."""
    for (_, last), sections, pools in zip(observed.minutes, observed.get("QIS1"), observed.get("QPST"), strict=True):
        expected = observed.witness.at(last).page_sets
        assert [each["psno"] for each in sections] == sorted(expected)
        for each in sections:
            page_set = expected[each["psno"]]
            assert (each["bpno"], each["topg"], each["ppg"], each["nppg"]) == (
                page_set.pool, page_set.total, page_set.persistent, page_set.nonpersistent,
            )  # fmt: skip
            assert each["unpg"] == page_set.total - page_set.persistent - page_set.nonpersistent
        for pool in pools:
            mine = [each for each in sections if each["bpno"] == pool["pool"]]
            assert sum(each["dwpp"] + each["imwp"] for each in mine) == pool["tpw"]
            assert sum(each["dwpn"] + each["imwn"] for each in mine) == pool["wio"]
            assert sum(each["getp"] for each in mine) == pool["rio"]


def test_messages(observed: SimpleNamespace) -> None:
    """Puts and gets of private queues, to the message; of shared queues this member's part is between nothing and all."""
    for (first, last), messages, data in zip(observed.minutes, observed.get("QMST"), observed.get("QIST"), strict=True):
        before, after = observed.witness.at(first), observed.witness.at(last)
        puts = sum(queue.put_total - before.queues[name].put_total for name, queue in after.queues.items())
        gets = sum(queue.got_total - before.queues[name].got_total for name, queue in after.queues.items())
        assert data[0]["getd"] + data[0]["getb"] == gets
        shared = observed.witness.seen[last].shared_queues
        old = observed.witness.seen[first].shared_queues
        most_puts = sum(queue.put_total - old[name].put_total for name, queue in shared.items())
        most_gets = sum(queue.got_total - old[name].got_total for name, queue in shared.items())
        assert puts < messages[0]["put"] < puts + most_puts
        assert gets < messages[0]["get"] < gets + most_gets
        assert messages[0]["spp"] == messages[0]["put"] == data[0]["mput"]
        assert messages[0]["pbp"] > 1000 * puts


def test_log(observed: SimpleNamespace) -> None:
    """Control intervals are those between two positions; the groups of I/Os add up to the totals; the writer is idle else."""
    checkpoints = 0
    for (first, last), (each,) in zip(observed.minutes, observed.get("QJST"), strict=True):
        before, after = observed.witness.at(first).log, observed.witness.at(last).log
        assert each["bffl"] == after.rba // 4096 - before.rba // 4096
        assert each["llcp"] == after.rba // after.log_bytes - before.rba // after.log_bytes
        checkpoints += each["llcp"]
        assert each["logw"] == sum(each[f"iocount.{group}"] for group in range(4))
        assert each["ciwr"] == sum(each[f"ioci.{group}"] for group in range(4))
        assert each["ioci.1"] == each["ioci.3"] == each["bffl"]
        busy_us = (each["iototio.0"] + each["iototio.1"]) / 4096
        assert each["slptu"] == 60_000_000 - busy_us
        for group in range(4):
            assert each[f"iomaxio.{group}"] * each[f"iocount.{group}"] >= each[f"iototio.{group}"]
            assert (
                stamp(observed.witness.seen[first].now)
                < each[f"iomaxiot.{group}"]
                <= stamp(observed.witness.seen[last].now)
            )
    assert checkpoints


def test_structures(observed: SimpleNamespace) -> None:
    """The most entries of any second, and this member's part of the requests; slots in order, the administration's first."""
    for (first, last), (each,) in zip(observed.minutes, observed.get("QEST"), strict=True):
        assert [each[f"str.{slot}"] for slot in range(4)] == ["CSQ_ADMIN", "APPL1", "APPL2", ""]
        seen = observed.witness.seen[first : last + 1]
        for slot, name in enumerate(("CSQ_ADMIN", "APPL1", "APPL2")):
            assert each[f"strn.{slot}"] == slot
            assert each[f"mnus.{slot}"] == max(group.structures[name].entries_used for group in seen)
        everyone = sum(
            after.put_total + after.got_total - before.put_total - before.got_total
            for before, after in zip(seen[0].shared_queues.values(), seen[-1].shared_queues.values(), strict=True)
        )
        mine = each["csec.1"] + each["csec.2"]
        assert abs(mine - everyone / 4) <= 6 * 60
        assert each["sstc.1"] > 0


def test_shared_message_data_sets(observed: SimpleNamespace) -> None:
    """Blocks and messages now, and the most of any second."""
    for (first, last), (each,) in zip(observed.minutes, observed.get("QESD"), strict=True):
        seen = [group.structures["APPL2"] for group in observed.witness.seen[first : last + 1]]
        assert each["str"] == "APPL2"
        assert each["smbt"] == each["smbd"] == seen[-1].smds_total_blocks
        assert each["smbu"] == seen[-1].smds_used_blocks
        assert each["smbf"] == each["smbd"] - each["smbu"]
        assert each["smmu"] == max(structure.smds_used_blocks for structure in seen)
        assert each["smmf"] == each["smbd"] - each["smmu"]
        queues = [group.shared_queues["APPL2.DOCUMENTS"] for group in observed.witness.seen[first : last + 1]]
        assert each["smmc"] == queues[-1].depth
        assert each["smmm"] == max(queue.depth for queue in queues)
        assert each["bfto"] == each["bfus"] + each["bffs"] + each["bffe"] == SMDS_BUFFERS


def test_channels(observed: SimpleNamespace) -> None:
    """Messages, batches, buffers and bytes are what the totals grew by; network times those that were reported meanwhile."""
    network = 0
    for (first, last), sections in zip(observed.minutes, observed.get("QCST"), strict=True):
        by_key = {(each["chnm"], each["cnnm"]): each for each in sections}
        before, after = observed.witness.at(first), observed.witness.at(last)
        assert len(by_key) == len(sections) == sum(len(each.instances) for each in after.channels.values())
        for name, channel in after.channels.items():
            for old, new in zip(before.channels[name].instances, channel.instances, strict=True):
                each = by_key[name, new.connection_name]
                assert each["nmsg"] == new.messages - old.messages
                assert each["batc"] == new.batches - old.batches
                assert each["bfst"] == new.buffers_sent - old.buffers_sent
                assert each["bfrc"] == new.buffers_received - old.buffers_received
                assert each["byst"] == new.bytes_sent - old.bytes_sent
                assert each["byrc"] == new.bytes_received - old.bytes_received
                assert each["chst"] == {"RUNNING": 3, "RETRYING": 5}[new.status]
                assert each["fuba"] * channel.batch_size <= each["nmsg"]
                assert each["strt"] <= stamp(new.started) < each["strt"] + (1 << 32)
                if channel.kind == "SENDER" and each["batc"]:
                    network += 1
                    measured = [
                        observed.witness.at(second).channels[name].instances[0].network_us[0]
                        for second in range(first + 1, last + 1)
                        if observed.witness.at(second).channels[name].instances[0].messages
                        > observed.witness.at(second - 1).channels[name].instances[0].messages
                    ]
                    assert (each["ntmn"], each["ntmx"]) == (min(measured), max(measured))
                    assert each["ntmn"] <= each["ntav"] <= each["ntmx"]
                else:
                    assert (each["ntmn"], each["ntav"], each["ntmx"]) == (0x8FFFFFFF, 0, 0)
    assert network >= 10


def test_a_channel_that_retries_asks_for_its_partner(observed: SimpleNamespace) -> None:
    """Each retry is a request to the DNS task, which says how long the longest took and when."""
    tries = []
    for (first, last), (each,) in zip(observed.minutes, observed.get("QCTDNS"), strict=True):
        left = [observed.witness.at(second).channels["TO.PARTNER"].instances[0].short_left for second in (first, last)]
        tries.append(each["reqn"])
        assert each["reqn"] in (max(left[0] - left[1], 0), 1)
        assert (each["lgdu"] > 0) == (each["lgtm"] > 0) == (each["reqn"] > 0)
    assert sum(tries) == 2


def test_the_channel_initiator(observed: SimpleNamespace) -> None:
    """Channels and limits; the dispatchers together have all active channels."""
    for (_, last), (each,), dispatchers in zip(
        observed.minutes, observed.get("QCCT"), observed.get("QCTDSP"), strict=True
    ):
        member = observed.witness.at(last)
        states = [instance.status for channel in member.channels.values() for instance in channel.instances]
        assert (each["jobn"], each["qsgn"]) == ("QM01CHIN", "PRDQ")
        assert (each["nocc"], each["noac"]) == (len(states), sum(state != "RETRYING" for state in states))
        assert (each["mxcc"], each["mxac"]) == (member.max_channels, member.max_active_channels)
        assert sum(dispatcher["chln"] for dispatcher in dispatchers) == len(states)


def test_tasks(observed: SimpleNamespace) -> None:
    """Busy and waiting make up the interval to the unit; all requests are some task's; the first adapter has most, the last none."""
    interval = 60_000_000 * 4096
    for adapters, dispatchers, ssl, dns, channels in zip(
        *(observed.get(name) for name in ("QCTADP", "QCTDSP", "QCTSSL", "QCTDNS", "QCST")), strict=True
    ):
        assert (len(adapters), len(dispatchers), len(ssl), len(dns)) == (8, 5, 4, 1)
        for each in (*adapters, *dispatchers, *ssl, *dns):
            assert each["eltm"] + each["wttm"] == interval
            assert each["cptm"] <= each["eltm"]
            assert (each["eltm"] > 0) == (each["reqn"] > 0)
        assert sum(each["reqn"] for each in adapters) == sum(each["nmsg"] + each["batc"] for each in channels)
        assert sum(each["reqn"] for each in dispatchers) == sum(each["bfst"] + each["bfrc"] for each in channels)
        requests = [each["reqn"] for each in adapters]
        assert requests == sorted(requests, reverse=True)
        assert requests[-1] == 0 < requests[1] < requests[0]
        assert len({each["tskn"] for each in (*adapters, *dispatchers, *ssl, *dns)}) == 18
        for place, dispatcher in enumerate(dispatchers):
            mine = [each for each in channels if each["dspn"] == place]
            assert dispatcher["chln"] == len(mine)
            assert dispatcher["reqn"] == sum(each["bfst"] + each["bfrc"] for each in mine)

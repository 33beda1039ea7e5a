"""What befalls the simulated group shows in its records, where an operator looks for it."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident

_S = 1000


def busy_us(smf: SimpleNamespace, scenario: str, minutes: int) -> list[float]:
    """By minute: what the adapters of QM01 took for a request, on average."""
    found = smf.read(smf.written(smf.simulation(scenario), minutes * smf.MINUTE))
    return [
        sum(each["eltm"] for each in adapters) / 4096 / sum(each["reqn"] for each in adapters)
        for adapters in smf.fields(found, "QCTADP")
    ]


def test_quiet_minutes_are_unremarkable(smf: SimpleNamespace) -> None:
    """No thresholds, no waits, adapters to spare, nothing asked of the DNS task, times on the network as usual."""
    found = smf.read(smf.written(smf.simulation("quiet"), 3 * smf.MINUTE))
    for number in range(1, 5):
        for pools in smf.fields(found, "QPST", f"QM0{number}"):
            for each in pools:
                assert each["dwt"] == each["dmc"] == each["sos"] == each["imw"] == each["rio"] == 0
                assert each["cbsl"] > each["nbuf"] / 2
        for adapters in smf.fields(found, "QCTADP", f"QM0{number}"):
            assert [each["reqn"] for each in adapters[-2:]] == [0, 0]
        for (each,) in smf.fields(found, "QCTDNS", f"QM0{number}"):
            assert each["reqn"] == 0
        for channels in smf.fields(found, "QCST", f"QM0{number}"):
            assert all(each["ntmx"] < 2_500 for each in channels)
        for (each,) in smf.fields(found, "QJST", f"QM0{number}"):
            assert each["wtb"] == 0


def test_a_pool_that_thrashes(smf: SimpleNamespace) -> None:
    """Deferred writes first, then synchronous ones, then no buffer at all: the lowest is 0 though some are free when it is reported."""
    found = smf.fields(smf.read(smf.written(smf.simulation("buffer-pool-thrash"), 5 * smf.MINUTE)), "QPST")
    thrashing = [pools[3] for pools in found]
    assert [each["dmc"] > 0 for each in thrashing] == [False, True, True, True, False]
    assert [each["sos"] > 0 for each in thrashing] == [False, False, True, True, False]
    assert [each["cbsl"] == 0 for each in thrashing] == [False, False, True, True, False]
    assert thrashing[2]["cbs"] > 0
    assert thrashing[4]["rio"] > 0
    assert all(pools[number]["dwt"] == 0 for pools in found for number in (0, 1, 2))


def test_a_slow_network(smf: SimpleNamespace) -> None:
    """Adapters take longer for a request, the longest network time is a hundred times the usual one, batches hold more."""
    taken = busy_us(smf, "slow-network", 5)
    assert max(taken[2:]) > 2.5 * taken[0]
    found = smf.fields(smf.read(smf.written(smf.simulation("slow-network"), 5 * smf.MINUTE)), "QCST")
    slow = [next(each for each in channels if each["chnm"] == "TO.QM02" and each["chty"] == 1) for channels in found]
    assert slow[0]["ntmx"] < 1_000 < 60_000 < slow[4]["ntmx"]
    assert slow[4]["nmsg"] / slow[4]["batc"] > 10 > slow[0]["nmsg"] / slow[0]["batc"]


def test_a_busy_morning(smf: SimpleNamespace) -> None:
    """Adapters take longer while the network is slow, and one queue manager's records have a gap."""
    taken = busy_us(smf, "busy-morning", 6)
    assert taken[1] > 2 * taken[4]
    found = smf.read(smf.written(smf.simulation("busy-morning"), 6 * smf.MINUTE))
    ends = [(each.start_us, each.end_us) for each in found if (each.ssid, each.subtype) == ("QM04", 215)]
    gaps = [start - end for (_, end), (start, _) in pairwise(ends) if start != end]
    assert gaps == [24_000_000]


def test_full_batches(smf: SimpleNamespace) -> None:
    """A channel that has more to carry than it can fills its batches, but for what is left of each second."""
    incidents = (
        ScenarioIncident(0, 60 * _S, IncidentKind.PARTNER_DOWN, "QM01/TO.QM02"),
        ScenarioIncident(0, 300 * _S, IncidentKind.NETWORK, "QM01/TO.QM02", 70_000),
    )
    here = smf.simulation(Scenario("full", 3_600_000, incidents))
    found = smf.fields(smf.read(smf.written(here, 160 * _S, interval_ms=20 * _S)), "QCST")
    sent = [next(each for each in channels if each["chnm"] == "TO.QM02" and each["chty"] == 1) for channels in found]
    assert sent[1]["batc"] == sent[1]["fuba"] == 0
    assert sent[3]["batc"] > sent[3]["fuba"] > 0.9 * sent[3]["batc"]
    assert sent[7]["batc"] > sent[7]["fuba"] == 0


def test_a_structure_that_fills(smf: SimpleNamespace) -> None:
    """The most entries of each minute rise, and never say less than the moment that the record was made."""
    here = smf.simulation("structure-filling")
    found = smf.fields(smf.read(smf.written(here, 5 * smf.MINUTE)), "QEST")
    most = [each["mnus.1"] for (each,) in found]
    assert most == sorted(most)
    assert most[-1] >= here.group.structures["APPL1"].entries_used > 100_000


def test_logs_that_nobody_archives(smf: SimpleNamespace) -> None:
    """When no log is left to go on in, tasks wait for buffers; nothing is offloaded until archiving goes on."""
    incident = ScenarioIncident(0, 400 * _S, IncidentKind.ARCHIVE_STOPPED, "QM01")
    here = smf.simulation(Scenario("archive", 3_600_000, (incident,)))
    found = smf.fields(smf.read(smf.written(here, 8 * smf.MINUTE)), "QJST")
    waits = [each["wtb"] > 0 for (each,) in found]
    assert waits[0] is False
    assert True in waits
    assert [each["ciof"] for (each,) in found[:6]] == [0] * 6
    assert found[7][0]["ciof"] > 0
    assert found[7][0]["alw"] > 0

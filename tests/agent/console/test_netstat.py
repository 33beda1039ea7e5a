"""The output of NETSTAT ALL, and its import: windows, buffers, lost packets and waiting data of channels."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.group import BEGIN
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.console import netstat
from mqvitals_agent.console.netstat import NetstatError, tcp_connections
from mqvitals_agent.ingest.imported import ChannelAddresses, channel_of, netstat_snapshot
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

HEAD = "MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           03:15:22\n"
LISTENER = """\
Client Name: QM01CHIN                 Client Id: 00000021
  Local Socket: ::..1414
  Foreign Socket: ::..0
"""


def connection(
    number: str,
    foreign: str,
    *,
    lost: int = 0,
    window: int = 65536,
    waits: int = 0,
    trip: str = "12.500",
    local: str = "10.1.1.1..1414",
) -> str:
    """A connection as the report has it."""
    return f"""\
Client Name: QM01CHIN                 Client Id: {number}
  Local Socket: ::ffff:{local}
  Foreign Socket: ::ffff:{foreign}
    StartDate:            03/01/2026      StartTime:            02:10:11
    BytesIn:              00000000000000004242
    Last Touched:         03:15:20        State:                Establsh
    CongestionWindow:     0000065536      SlowStartThreshold:   0000065535
    SndWnd:               {window:010d}      MaxSndWnd:            0000065536
    Round-trip information:
      Smooth trip time:   {trip}          SmoothTripVariance:   1.000
    ReXmt:                {lost:010d}      ReXmtCount:           0000000000
    DupACKs:              0000000000      RcvWnd:               0000032768
    ReceiveBufferSize:    0000065536      SendBufferSize:       0000065536
    ReceiveDataQueued:    {waits:010d}
    SendDataQueued:       0000000000
"""


def test_a_report() -> None:
    """Addresses of version 4 are plain, listeners are left out, and each figure stands behind its label."""
    [found] = tcp_connections((HEAD + LISTENER + connection("0000A3F2", "10.1.2.3..51000", lost=7)).splitlines())
    assert (found.job, found.local, found.foreign) == ("QM01CHIN", ("10.1.1.1", "1414"), ("10.1.2.3", "51000"))
    assert found.identity == "0000A3F2 10.1.1.1 1414 10.1.2.3 51000 03/01/2026 02:10:11"
    assert found.figures == {
        "congestionwindow": 65536,
        "sndwnd": 65536,
        "maxsndwnd": 65536,
        "trip_us": 12500,
        "rexmt": 7,
        "rexmtcount": 0,
        "dupacks": 0,
        "receivebuffersize": 65536,
        "sendbuffersize": 65536,
        "receivedataqueued": 0,
        "senddataqueued": 0,
    }


def test_the_short_form() -> None:
    """Both sockets in one line, behind a message id."""
    [found] = tcp_connections(
        ["EZZ2350I Client: qm01chin", "  Local Socket: 9.1.1.1..1414   Foreign Socket: 9.2.2.2..1415"]
    )
    assert (found.job, found.local, found.foreign) == ("QM01CHIN", ("9.1.1.1", "1414"), ("9.2.2.2", "1415"))


@given(text=st.text(max_size=300), at=st.integers(0, 900))
def test_any_text(text: str, at: int) -> None:
    """Whatever stands in a text, it is read or refused."""
    whole = HEAD + connection("0000A3F2", "10.1.2.3..51000")
    for each in (text, whole[:at] + text + whole[at:]):
        try:
            found = tcp_connections(each.splitlines())
        except NetstatError:
            continue
        assert all(value >= 0 for one in found for value in one.figures.values())


def channels() -> list[ChannelAddresses]:
    """A sender, two receivers from one address, and a channel with a name instead of an address."""
    return [
        ChannelAddresses(ObjectName("QM01", "channel", "TO.QM02"), ("10.1.2.3(1414)",)),
        ChannelAddresses(ObjectName("QM01", "channel", "FROM.A"), ("10.1.9.9",), ("10.1.1.1(1414)",)),
        ChannelAddresses(ObjectName("QM01", "channel", "FROM.B"), ("10.1.9.9",), ("10.1.1.1(1415)",)),
        ChannelAddresses(ObjectName("QM01", "channel", "OTHER"), ("host.example.com(1414)", "")),
    ]


@pytest.mark.parametrize(
    ("foreign", "local", "expected"),
    [
        ("10.1.2.3..1414", "10.1.1.1..4711", "TO.QM02"),
        ("10.1.2.3..1415", "10.1.1.1..4711", None),
        ("10.1.9.9..50000", "10.1.1.1..1414", "FROM.A"),
        ("10.1.9.9..50000", "10.1.1.1..1415", "FROM.B"),
        ("10.1.9.9..50000", "10.1.1.1..1416", None),
        ("10.9.9.9..1414", "10.1.1.1..1414", None),
    ],
)
def test_whose_a_connection_is(foreign: str, local: str, expected: str | None) -> None:
    """The channel's with that address; where several have it, the port decides, and otherwise nobody's."""
    [one] = tcp_connections(connection("1", foreign, local=local).splitlines())
    found = channel_of(one, channels())
    assert (None if found is None else found.name) == expected


def figures(text: str, before: dict[str, Reported]) -> dict[str, Reported]:
    """The figures of the one channel in a text."""
    snapshot, _ = netstat_snapshot(
        tcp_connections(text.splitlines()), channels(), lambda _: before, "QM01", 60_000, 3_600_000
    )
    [reading] = snapshot.readings
    assert (reading.probe, reading.source, reading.interval_ms) == ("NETSTAT", Source.IMPORT, 3_600_000)
    return dict(reading.values)


def test_the_worst_connection_counts_and_increases_need_two_readings() -> None:
    """Totals of a first reading prove nothing; of the same connections only what grew counts."""
    text = connection("A", "10.1.2.3..1414", lost=7, window=40000, waits=5)
    text += connection("B", "10.1.2.3..1414", waits=90, trip="30.000")
    first = figures(text, {})
    assert (first["tcp_connections"], first["tcp_send_window"], first["tcp_window_lost"]) == (2, 40000, 25536)
    assert (first["tcp_receive_queued"], first["tcp_rtt_us"]) == (95, 30000)
    assert (first["tcp_retransmits_total"], first["tcp_retransmits"]) == (7, Absence.FIRST_READING)
    again = figures(text.replace("0000000007", "0000000009"), first)
    assert (again["tcp_retransmits"], again["tcp_dup_acks"]) == (2, 0)
    assert figures(text.replace("0000000007", "0000000006"), first)["tcp_retransmits"] is Absence.RESET
    other = figures(connection("C", "10.1.2.3..1414", lost=9), first)
    assert other["tcp_retransmits"] is Absence.FIRST_READING


def test_what_a_report_does_not_have_is_absent() -> None:
    """Of two labels that count retransmissions the greater one counts, of each connection; without either there is none."""
    both = connection("A", "10.1.2.3..1414", lost=7).replace(
        "ReXmtCount:           0000000000", "ReXmtCount: 0000000008"
    )
    found = figures(both + connection("B", "10.1.2.3..1414", lost=2), {})
    assert (found["tcp_retransmits_total"], found["tcp_dup_acks_total"]) == (10, 0)
    bare = "\n".join(connection("A", "10.1.2.3..1414").splitlines()[:4])
    none = figures(bare, {})
    assert none.pop("tcp_connections") == 1
    assert none.pop("tcp_sockets") == "A 10.1.1.1 1414 10.1.2.3 1414 03/01/2026 02:10:11"
    assert set(none.values()) == {Absence.NOT_RETURNED}


@pytest.mark.parametrize(
    ("text", "says"), [(HEAD, "no 'Client Name:' is in it"), (HEAD * 3, "more than 2 lines: this is no report")]
)
def test_a_text_without_connections(text: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, also one without an end; a report of listeners alone has none, and is one."""
    monkeypatch.setattr(netstat, "MOST_LINES", 2)
    with pytest.raises(NetstatError, match=says):
        tcp_connections(text.splitlines())
    assert tcp_connections(LISTENER.splitlines()[:2]) == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says which channels got figures, and what it could not place; a job that is not there is named."""
    dump, store, text = tmp_path / "d.smf", tmp_path / "s.db", tmp_path / "netstat.txt"
    with dump.open("wb") as stream:
        SmfWriter(SimulatedGroup(load_scenario("quiet"), BEGIN, seed=1), stream, 60_000).write_due(BEGIN + 60_000)
    assert main(["smf", "import", str(dump), "--store", str(store)]) == 0
    name = ObjectName("QM01", "channel", "TO.QM02")
    with StoreReader.open(store) as reader:
        conname = str(reader.current(name)["conname"].value)
    foreign = conname.replace("(", "..").replace(")", "")
    command = ["import", "netstat", str(text), "--owner", "QM01", "--store", str(store)]
    for lost in (3, 5):
        text.write_text(HEAD + connection("A", foreign, lost=lost, window=1000) + connection("B", "10.250.1.1..1414"))
        capsys.readouterr()
        assert main([*command, "--at", f"2026-11-21T03:1{lost}:00Z"]) == 0
        told = capsys.readouterr().err
        assert "QM01: TO.QM02" in told
        assert "connections of no one channel, left out: 1, the first to 10.250.1.1..1414" in told
    with StoreReader.open(store) as reader:
        values = reader.current(name)
        assert (values["tcp_retransmits"].value, values["tcp_send_window"].value) == (2, 1000)
        assert values["tcp_retransmits"].source is Source.IMPORT
        firing = {each.alert.key.rule for each in reader.alerts()}
    assert {"CHL-09", "CHL-10", "CHL-11"} <= firing
    assert main([*command, "--job", "QM09CHIN"]) == 2
    assert "it has those of: QM01CHIN" in capsys.readouterr().err

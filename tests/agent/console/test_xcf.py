"""The answer to D XCF,STR,STRNAME=, and its import: what the CFRM policy allows is measured, not declared."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.group import BEGIN
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.console import xcf
from mqvitals_agent.console.xcf import XcfError, xcf_structures
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName, Source

ANSWER = """\
 IXC360I  11.09.26  DISPLAY XCF 376
 STRNAME: PRDQAPPL1
  STATUS: ALLOCATED
  EVENT MANAGEMENT: MESSAGE-BASED
  TYPE: SERIALIZED LIST
  POLICY INFORMATION:
   POLICY SIZE    : 1 G
   POLICY INITSIZE: 524288 K
   POLICY MINSIZE : 0 K
   FULLTHRESHOLD  : 85
   ALLOWAUTOALT   : YES
   REBUILD PERCENT: 1
   DUPLEX         : ALLOWED
   ALLOWREALLOCATE: YES
   PREFERENCE LIST: CF01     CF02
   ENFORCEORDER   : NO
   EXCLUSION LIST IS EMPTY
  PENDING POLICY INFORMATION:
   POLICY SIZE    : 2 G
   FULLTHRESHOLD  : 60
  ALLOCATION TIME: 02/17/2026 17:03:49
  CFNAME         : CF01
  ACTUAL SIZE    : 512 M
   ELEMENTS: IN-USE:       1,204 TOTAL:     402,112,  0% FULL
"""


def test_an_answer() -> None:
    """Sizes in KB, words as numbers, lists as they are; a pending policy does not count."""
    [found] = xcf_structures(ANSWER.splitlines())
    assert found.name == "PRDQAPPL1"
    assert found.values == {
        "policy_size_kb": 1 << 20,
        "policy_initsize_kb": 524288,
        "policy_minsize_kb": 0,
        "full_threshold_pct": 85,
        "auto_alter": 1,
        "policy_duplex": "ALLOWED",
        "preference_list": "CF01 CF02",
        "actual_size_kb": 524288,
        "elements_max": 402112,
    }


def test_other_columns_and_several_answers() -> None:
    """Behind the columns of a SYSLOG, in the other form of the elements, and the last answer of a structure that comes twice."""
    lines = [f"M 4000000 SYSA     26048 11:09:26.33 OPER     00000290  {line.strip()}" for line in ANSWER.splitlines()]
    later = [
        "STRNAME: PRDQAPPL1",
        "  ALLOWAUTOALT: NO",
        " ELEMENTS:   2  100  2",
        "STRNAME: PRDQNEW",
        "STATUS: NOT ALLOCATED",
    ]
    one, other = xcf_structures([*lines, *later])
    assert (one.name, one.values) == ("PRDQAPPL1", {"auto_alter": 0, "elements_max": 100})
    assert (other.name, other.values) == ("PRDQNEW", {})
    assert xcf_structures(lines)[0].values == xcf_structures(ANSWER.splitlines())[0].values


def test_what_cannot_be_is_left_out() -> None:
    """A threshold beyond 100 %, and more elements in use than there are; of a structure's two instances the first counts."""
    [found] = xcf_structures(
        [
            *("STRNAME: PRDQAPPL1", "FULLTHRESHOLD: 101", "ALLOWAUTOALT: MAYBE", "ELEMENTS: IN-USE: 5 TOTAL: 4"),
            *("ACTIVE STRUCTURE", "ACTUAL SIZE: 2 T", "ELEMENTS: IN-USE: 4 TOTAL: 4", "ACTUAL SIZE: 1 G"),
        ]
    )
    assert found.values == {"actual_size_kb": 2 << 30, "elements_max": 4}
    [other] = xcf_structures(["STRNAME: PRDQAPPL1", "FULLTHRESHOLD: 0"])
    assert other.values == {}
    assert xcf_structures(["STRNAME: PRDQAPPL1", "FULLTHRESHOLD: 100"])[0].values == {"full_threshold_pct": 100}


@given(text=st.text(max_size=400), at=st.integers(0, 900))
def test_any_text(text: str, at: int) -> None:
    """Whatever stands in a text, it is read or refused, and figures stay within what they can be."""
    for each in (text, ANSWER[:at] + text + ANSWER[at:]):
        try:
            found = xcf_structures(each.splitlines())
        except XcfError:
            continue
        for structure in found:
            assert 1 <= structure.values.get("full_threshold_pct", 1) <= 100  # type: ignore[operator]


def test_a_text_without_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with what to give instead; one without an end is, too."""
    with pytest.raises(XcfError, match="D XCF,STR,STRNAME="):
        xcf_structures(["IXC359I 11.09.26 DISPLAY XCF 376", "STRNAME  ALLOCATION TIME  STATUS"])
    monkeypatch.setattr(xcf, "MOST_LINES", 3)
    assert xcf_structures(ANSWER.splitlines()[:3])
    with pytest.raises(XcfError, match="more than 3 lines"):
        xcf_structures(ANSWER.splitlines())


def test_the_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its figures take the place of declared ones, with their time; other products' structures are left out."""
    dump, store, text = tmp_path / "d.smf", tmp_path / "s.db", tmp_path / "xcf.txt"
    with dump.open("wb") as stream:
        SmfWriter(SimulatedGroup(load_scenario("quiet"), BEGIN, seed=1), stream, 60_000).write_due(BEGIN + 60_000)
    assert main(["smf", "import", str(dump), "--store", str(store)]) == 0
    text.write_text(ANSWER.replace("YES\n   REBUILD", "NO\n   REBUILD") + "STRNAME: DSNA_LOCK1\n")
    settings = tmp_path / "c.yaml"
    settings.write_text('facts: {cf_structures: [{objects: "*/cf_structure/*", auto_alter: "YES"}]}\n')
    capsys.readouterr()
    command = [
        "import",
        "xcf",
        str(text),
        "--at",
        "2026-03-01T03:15:00Z",
        "--store",
        str(store),
        "--config",
        str(settings),
    ]
    assert main(command) == 0
    told = capsys.readouterr().err
    assert "PRDQ: APPL1" in told
    assert "of no known queue-sharing group, left out: DSNA_LOCK1" in told
    with StoreReader.open(store) as reader:
        values = reader.current(ObjectName("PRDQ", "cf_structure", "APPL1"))
    assert (values["auto_alter"].value, values["auto_alter"].probe, values["auto_alter"].source) == (
        0,
        "D XCF",
        Source.IMPORT,
    )
    assert values["policy_measured"].value == "by D XCF, 2026-03-01 03.15 UTC"
    assert (
        main(["rules", "explain", "CF-09", "PRDQ/cf_structure/APPL1", "--store", str(store), "--config", str(settings)])
        == 0
    )
    assert "auto_alter" in capsys.readouterr().out
    text.write_text("STRNAME: DSNA_LOCK1\n")
    assert main(command) == 1
    text.write_text("nothing\n")
    assert main(command) == 2

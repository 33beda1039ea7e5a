"""After an import, ``review``, ``alerts list --review`` and ``rules explain`` say the same of the same objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.review.store_review import review_store, update_advice
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config

HOUR_US = 3_600_000_000


def application(smf: Any, at_us: int, *, opens: int, puts: int, job: str = "PAYJOB") -> bytes:
    """A task that opened the queue PAY.IN so often for so many puts, in a half hour that ended then."""
    from mqvitals_agent.smf.layout.accounting import WQST

    cells = {cell.name: cell.offset for cell in WQST.shape(2800).elements}
    who = bytearray(smf.section(208, {8: (4, 2)}))
    who[12:20] = smf.ebcdic(job, 8)
    used = bytearray(
        smf.section(
            2800,
            {8: (4, 9), cells["openn"]: (4, opens), cells["putn"]: (4, puts), cells["validput"]: (4, puts)},
        )
    )
    for name in ("objname", "basename"):
        used[cells[name] : cells[name] + 48] = smf.ebcdic("PAY.IN", 48)
    begin, end = at_us - 1_800_000_000, at_us
    task = smf.section(2344, {664: (8, smf.tod(begin)), 672: (8, smf.tod(end))})
    data: bytes = smf.record(116, 1, {1: [bytes(who)], 2: [task], 3: [bytes(used)]}, start_us=begin)
    return data


@pytest.fixture
def file(smf: Any, tmp_path: Path) -> Path:
    """Accounting of half an hour, and ten hours later statistics: pools with writes that are only ageing, and Db2 counters."""
    later = smf.NOON_US + 10 * HOUR_US
    path = tmp_path / "day.smf"
    path.write_bytes(
        application(smf, smf.NOON_US, opens=2_000, puts=2_000)
        + smf.record(115, 2, {5: [smf.section(672)]}, number=9, start_us=later)
        + smf.record(115, 215, {1: [smf.pool(3, low=49_000, free=49_000, at40=900, at44=300)]}, start_us=later)
    )
    return path


def found_by_review(capsys: pytest.CaptureFixture[str], store: str) -> set[tuple[str, str]]:
    capsys.readouterr()
    assert main(["review", "--json", "--store", store]) in (0, 1)
    owners = json.loads(capsys.readouterr().out)["owners"]
    findings = [each for owner in owners for part in owner["parts"] for each in part["findings"]]
    return {(rule, each["object"]) for each in findings for rule in (each["rule"], *each["also"])}


def found_by_alerts(capsys: pytest.CaptureFixture[str], store: str) -> set[tuple[str, str]]:
    capsys.readouterr()
    assert main(["alerts", "list", "--review", "--json", "--store", store]) == 0
    return {(each["rule"], each["object"]) for each in json.loads(capsys.readouterr().out)}


def test_one_judge_for_all(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same findings about the same objects; accounting is judged as of its records though statistics came ten hours later."""
    store = str(tmp_path / "s.db")
    assert main(["smf", "import", str(file), "--store", store]) == 0
    found = found_by_review(capsys, store)
    assert {
        ("APP-07", "MQ01/application/PAYJOB/PAY.IN"),
        ("BP-22", "MQ01/buffer_pool/3"),
    } <= found
    assert found_by_alerts(capsys, store) == found
    assert main(["review", "--store", store]) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "As of 2026-03-01 12:00:00 UTC, when it was last reported." in words
    assert "stale" not in words
    assert main(["rules", "explain", "APP-07", "MQ01/application/PAYJOB/PAY.IN", "--store", store]) == 0
    assert "stale" not in capsys.readouterr().out
    assert main(["status", "--store", store]) == 3
    assert f"{len(found)} pieces of advice" in capsys.readouterr().out


def test_a_second_import_settles_anew(file: Path, smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a later record mends is no longer advice; the same file again changes nothing."""
    store, again = str(tmp_path / "s.db"), tmp_path / "again.smf"
    assert main(["smf", "import", str(file), "--store", store]) == 0
    before = found_by_alerts(capsys, store)
    assert main(["smf", "import", str(file), "--store", store]) == 0
    assert found_by_alerts(capsys, store) == before
    again.write_bytes(application(smf, smf.NOON_US + 12 * HOUR_US, opens=1, puts=2_000))
    assert main(["smf", "import", str(again), "--store", store]) == 0
    mended = {("APP-07", "MQ01/application/PAYJOB/PAY.IN")}
    assert found_by_review(capsys, store) == found_by_alerts(capsys, store) == before - mended


def test_what_nobody_can_judge_now_stands(file: Path, tmp_path: Path) -> None:
    """An alert that was raised when the rule could be judged is a finding still, in its own words."""
    store = tmp_path / "s.db"
    assert main(["smf", "import", str(file), "--store", str(store)]) == 0
    judging = load_rule_config(Settings())
    with Store.open(store, records=True) as writer, StoreReader.open(store) as reader:
        alert = next(each for each in writer.alerts.all_open() if each.key.rule == "APP-07")
        with writer.deleting() as connection:
            connection.execute("DELETE FROM current_application")
        (owner,) = review_store(reader, judging)
        checks = {(str(check.rule.id), check.object): check for part in owner.parts for check in part.checks}
        check = checks["APP-07", alert.scope]
        assert check.fired
        assert not check.evaluated
        assert check.worst is not None
        assert check.worst.summary == alert.summary
        update_advice(writer, reader, judging, ["MQ01"])
        assert alert.key in {each.key for each in writer.alerts.all_open()}

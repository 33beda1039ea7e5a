"""``mqvitals smf import``."""

from __future__ import annotations

import gzip
import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.smf.importing import groups_of
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_config.load import load_settings


def points(capsys: pytest.CaptureFixture[str], store: Path, metric: str, name: str) -> list[Any]:
    capsys.readouterr()
    assert main(["trend", metric, name, "--store", str(store), "--from", "2026-01-01T00:00:00Z", "--json"]) == 0
    found: list[Any] = json.loads(capsys.readouterr().out)["points"]
    return found


def test_records_are_seen(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the import of a file, trend and status show its pools, adapters, dispatchers, channels and structures."""
    store = tmp_path / "s.db"
    assert main(["smf", "import", str(simulated), "--store", str(store)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    with open_smf(simulated) as stream:
        number = len(list(records(stream, ReadCounts())))
    assert f"imported: {number} new records, 0 already imported, " in told.err
    for metric, name in (
        ("low_pct", "QM01/buffer_pool/3"),
        ("busy_pct", "QM01/adapter/0"),
        ("requests", "QM01/dispatcher/1"),
        ("interval_msgs", "QM01/channel/TO.QM02"),
        ("peak_entries", "PRDQ/cf_structure/APPL1"),
    ):
        moments = [at for at, _ in points(capsys, store, metric, name)]
        assert moments == [
            "2026-11-20T12:01:00.000Z",
            "2026-11-20T12:02:00.000Z",
            "2026-11-20T12:03:00.000Z",
            "2026-11-20T12:04:00.000Z",
        ]
    main(["status", "--store", str(store)])
    assert "QM01" in capsys.readouterr().out
    with StoreReader.open(store) as reader:
        assert (reader.meta().past, reader.meta().origin) == (True, "SMF records")


def test_a_second_import_adds_nothing(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also when the file is compressed, and comes with another."""
    packed = tmp_path / "again.gz"
    packed.write_bytes(gzip.compress(simulated.read_bytes()))
    store = str(tmp_path / "s.db")
    assert main(["smf", "import", str(simulated), "--store", store]) == 0
    number = int(re.findall(r"imported: (\d+) new", capsys.readouterr().err)[0])
    assert main(["smf", "import", str(packed), str(simulated), "--store", store]) == 0
    assert f"imported: 0 new records, {2 * number} already imported, 0 samples" in capsys.readouterr().err


def test_the_rules_judge(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pool without any free buffer makes an alert of the interval in which it was so."""
    file, store = tmp_path / "pool.smf", tmp_path / "s.db"
    file.write_bytes(smf.record(115, 215, {1: [smf.pool(3, low=0, free=0, at56=50, at68=9)]}))
    assert main(["smf", "import", str(file), "--store", str(store)]) == 0
    with StoreReader.open(store) as reader:
        alerts = reader.alerts()
    assert any(str(each.alert.scope) == "MQ01/buffer_pool/3" for each in alerts)
    assert {each.alert.since for each in alerts} == {smf.NOON_US // 1000 + 1_800_000}
    capsys.readouterr()


def test_while_an_agent_writes(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command keeps out of its way, and says where files can be put instead."""
    file, store = tmp_path / "pool.smf", tmp_path / "s.db"
    file.write_bytes(smf.record(115, 215, {1: [smf.pool()]}))
    config = tmp_path / "c.yaml"
    config.write_text("smf:\n  watch: dropped\n")
    with Store.open(store):
        assert main(["smf", "import", str(file), "--store", str(store)]) == 2
        assert "set smf.watch to a folder" in capsys.readouterr().err
        assert main(["smf", "import", str(file), "--store", str(store), "--config", str(config)]) == 2
        told = capsys.readouterr().err
    assert "is writing the store" in told
    assert f"put the files into {tmp_path / 'dropped'}" in told


def test_damage_and_files_that_cannot_be_read(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Damage costs the record and exit code 1; a file that is none costs exit code 2, and the others are read."""
    good = smf.record(115, 215, {1: [smf.pool()]})
    bad = bytearray(smf.record(115, 215, {1: [smf.pool()]}))
    bad[28 + 8 : 28 + 12] = b"\0\1\0\0"  # the section would lie outside
    damaged, foreign, store = tmp_path / "d.smf", tmp_path / "f.smf", str(tmp_path / "s.db")
    damaged.write_bytes(
        good + bytes(bad) + smf.record(115, 215, {1: [smf.pool()]}, start_us=smf.NOON_US + 3_600_000_000)
    )
    foreign.write_text("this is no SMF data, whatever its name says\n" * 9)
    assert main(["smf", "import", str(damaged), "--store", store]) == 1
    assert "imported: 2 new records" in capsys.readouterr().err
    assert main(["smf", "import", str(foreign), str(tmp_path / "none"), str(damaged), "--store", store]) == 2
    told = capsys.readouterr().err
    assert f"{foreign}: " in told
    assert "No such file" in told
    assert "2 already imported" in told
    assert "Traceback" not in told


def test_without_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says how to name one."""
    assert main(["smf", "import", str(tmp_path / "x")]) == 2
    assert "no store is named" in capsys.readouterr().err


def test_the_configured_name_of_the_group(tmp_path: Path) -> None:
    """It is that of its members; where none are named, of all that belong to a group; else records tell it."""

    def named(text: str) -> GroupNames:
        path = tmp_path / "c.yaml"
        path.write_text(text)
        return groups_of(load_settings(str(path), {}, {}).settings)

    members = named("name: PRDQSG\nqueue_managers:\n  - name: QM01\n")
    members.learn("QM09", "OTHR")
    assert (members.of("QM01"), members.of("QM09"), members.of("QM07")) == ("PRDQSG", "OTHR", None)
    assert named("name: PRDQSG\n").of("QM07") == "PRDQSG"
    nothing = named("{}\n")
    nothing.learn("QM01", "")
    assert nothing.of("QM01") is None
    nothing.learn("QM01", "QSG1")
    assert nothing.of("QM01") == "QSG1"


@pytest.mark.parametrize("command", ["import", "report", "dump"])
def test_progress_through_several_files(
    command: str, simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The parts of all files, compressed or not, add up; what is printed is the same with --quiet."""
    packed = tmp_path / "again.gz"
    packed.write_bytes(gzip.compress(simulated.read_bytes()))
    words = ["smf", command, str(simulated), str(packed), str(tmp_path / "none")]
    words += ["--store", str(tmp_path / "s.db")] if command == "import" else []
    assert main([*words, "--quiet"]) == 2
    quiet = capsys.readouterr()
    (tmp_path / "s.db").unlink(missing_ok=True)
    seconds = count(0, 20)
    monkeypatch.setattr("mqvitals_agent.commandline.progress.steady_s", lambda: float(next(seconds)))
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == quiet.out
    lines = [line for line in told.err.splitlines() if line.startswith("mqvitals: reading 3 files: ")]
    others = [line for line in told.err.splitlines() if " %, " not in line]
    assert others == quiet.err.splitlines()
    parts = [int(line.split(": ")[2].split(" %")[0]) for line in lines]
    assert parts == sorted(parts)
    whole = simulated.stat().st_size
    first = 100 * whole / (whole + packed.stat().st_size)
    of_first = [part for part, line in zip(parts, lines, strict=True) if line.endswith(simulated.name)]
    of_second = [part for part, line in zip(parts, lines, strict=True) if line.endswith(packed.name)]
    assert of_first
    assert of_second
    assert max(of_first) <= first + 1
    assert first - 1 <= min(of_second)
    assert max(of_second) <= 100

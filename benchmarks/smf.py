"""How fast SMF files are read and written as JSON lines and CSV, beside plain Python that does the same work section by section.

The records, those of ``--file`` or of a simulated group, are repeated to 100 MB. Each stage runs in a process of its own, by whose processor time and
peak memory it is measured: other programs on the machine do not count. ``--megabytes 10`` is quick, and not for figures to quote.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from struct import Struct
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final, NamedTuple, TextIO

from mqvitals_agent.commandline.runner import main as command
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.section import Section, sections

MEMORY_TARGET_MB: Final = 100
ROUNDS: Final = 3
BEGIN: Final = 1795176000000  # 2026-11-20 12:00:00 UTC
FORMATTER: Final = "mqsmfcsv"
_RDW: Final = Struct(">HBB")
_HEADER: Final = Struct(">BB4s4s4s4sH3s")


class Stage(NamedTuple):
    """What is measured: ``aim`` in MB/s, and the stage whose speed it is compared with."""

    work: Callable[[Path, Path], object]
    about: str
    aim: int = 0
    peer: str = ""


def _struct_loop(path: Path, _: Path) -> None:
    """Descriptor words and headers with ``struct``, nothing checked and nothing joined."""
    with path.open("rb") as file:
        while word := file.read(4):
            length, _, _ = _RDW.unpack(word)
            data = file.read(length - 4)
            if len(data) >= _HEADER.size:
                _HEADER.unpack_from(data)


def _read(path: Path, _: Path) -> None:
    for _ in _records(path):
        pass


def _records(path: Path) -> Iterator[Any]:
    with open_smf(path) as stream:
        yield from records(stream, ReadCounts())


def _sections(path: Path) -> Iterator[Section]:
    for record in _records(path):
        yield from sections(record)


def _json_lines(path: Path, _: Path) -> None:
    command(["smf", "dump", str(path)])


def _json_dumps(path: Path, _: Path) -> None:
    encode = json.JSONEncoder(separators=(",", ":")).encode
    for section in _sections(path):
        record = section.record
        values = {
            "section": section.layout.name,
            "index": section.number,
            "type": record.type,
            "subtype": record.subtype,
            "sysid": record.sysid,
            "ssid": record.ssid,
            "fields": section.fields(),
        }
        sys.stdout.write(encode(values) + "\n")


def _csv_files(path: Path, folder: Path) -> None:
    command(["smf", "dump", str(path), "--csv", str(folder)])


def _csv_writer(path: Path, folder: Path) -> None:
    files: dict[str, TextIO] = {}
    writers: dict[str, Any] = {}
    for section in _sections(path):
        name, record = section.layout.name, section.record
        if name not in writers:
            files[name] = (folder / f"{name}.csv").open("w", encoding="utf-8", newline="")
            writers[name] = csv.writer(files[name])
        row = section.shape.read(record.data, section.offset)
        writers[name].writerow((record.sysid, record.ssid, record.end_us, *row))
    for file in files.values():
        file.close()


def _formatter(path: Path, folder: Path) -> None:
    """IBM's own, when it is there."""
    subprocess.run(
        [FORMATTER, "-i", str(path), "-o", str(folder)],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


STAGES: Final = {
    "struct loop": Stage(_struct_loop, "peer: descriptor words and headers alone, plain struct"),
    "reader": Stage(_read, "records, checked and joined, with their intervals", 100, "struct loop"),
    "json.dumps": Stage(_json_dumps, "peer: json of each section's dict, without derived figures and group"),
    "JSON lines": Stage(_json_lines, "mqvitals smf dump", 20, "json.dumps"),
    "csv.writer": Stage(_csv_writer, "peer: raw values of each section, without the columns' conversions"),
    "CSV": Stage(_csv_files, "mqvitals smf dump --csv", 40, "csv.writer"),
    FORMATTER: Stage(_formatter, "peer: IBM's formatter in C to CSV"),
}


class Taken(NamedTuple):
    """Processor seconds of a stage, and the most memory its process had."""

    cpu_s: float
    peak_mb: float


def measured(stage: str, path: Path) -> Taken:
    """Run a stage in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--stage", stage, "--file", str(path)],
        check=True,
        capture_output=True,
    )
    cpu_s, peak_kb = done.stderr.decode().split()[-2:]
    return Taken(float(cpu_s), int(peak_kb) / 1024)


def stage(name: str, path: Path) -> int:
    """The process of a stage: what it took is the last line on stderr."""
    with TemporaryDirectory() as folder:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the process ends
        begin = process_time()
        STAGES[name].work(path, Path(folder))
        sys.stdout.flush()
        took = process_time() - begin
    who = resource.RUSAGE_SELF
    if name == FORMATTER:
        who = resource.RUSAGE_CHILDREN
        usage = resource.getrusage(who)
        took = usage.ru_utime + usage.ru_stime
    print(took, resource.getrusage(who).ru_maxrss, file=sys.stderr)
    return 0


def simulated() -> bytes:
    """Ten minutes of a simulated queue-sharing group: every record of its queue managers and channel initiators."""
    stream = io.BytesIO()
    SmfWriter(SimulatedGroup(load_scenario("busy-morning"), BEGIN, seed=1), stream, 60_000).write_due(BEGIN + 600_000)
    return stream.getvalue()


def main() -> int:
    """Measure, print, and return 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help="a file of SMF records (default: those of a simulated group)")
    arguments = parser.parse_args()
    if arguments.stage:
        return stage(arguments.stage, arguments.file)
    if arguments.file and not arguments.file.is_file():
        parser.error(f"--file {arguments.file}: there is no such file")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "big.smf"
        data = arguments.file.read_bytes() if arguments.file else simulated()
        with path.open("wb") as file:
            for _ in range(-(-arguments.megabytes * 1_000_000 // len(data))):
                file.write(data)
        return report(path, arguments.file.name if arguments.file else "a simulated group")


def report(path: Path, source: str) -> int:
    """Measure all stages on a file, print, and return 1 when an aim is missed."""
    size = path.stat().st_size / 1e6
    chosen = [name for name in STAGES if name != FORMATTER or shutil.which(FORMATTER)]
    # Round by round, so that what else the machine does meets all stages alike.
    took: dict[str, list[Taken]] = {name: [] for name in chosen}
    for _ in range(ROUNDS):
        for name in chosen:
            took[name].append(measured(name, path))
    speeds = {name: [size / each.cpu_s for each in found] for name, found in took.items()}
    print(f"{source} repeated to {size:.0f} MB, {ROUNDS} rounds: MB per second of processor time, slowest to fastest")
    missed = False
    for name in chosen:
        each, speed = STAGES[name], speeds[name]
        peak = max(found.peak_mb for found in took[name])
        line = f"  {name:12} {median(speed):6.0f} ({min(speed):.0f}-{max(speed):.0f}) MB/s  peak {peak:4.0f} MB"
        if each.peer:
            ratio = median(ours / theirs for ours, theirs in zip(speed, speeds[each.peer], strict=True))
            line += f"  {ratio:5.2f} x {each.peer} (aim: {each.aim} MB/s, {MEMORY_TARGET_MB} MB)"
            missed = missed or median(speed) < each.aim or peak > MEMORY_TARGET_MB
        print(f"{line}  {each.about}")
    if FORMATTER not in chosen:
        print(f"  no {FORMATTER} on the path to compare with")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

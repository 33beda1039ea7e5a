"""``mqvitals store info``: what a store takes and holds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from mqvitals_agent.store.file.store_info import StoreInfo
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.document import Block

_DESCRIPTION = """\
Shows what a store takes on the disk, by kind of object and by day: as rows, in sealed hours, in rolled-up hours. It also
shows how fast the store grows, from when until when it holds samples, the gaps in them, and by which settings the agent
deletes. An agent may be writing it. Sizes of a store of more than 1 GiB are estimated from one page in a hundred, unless
--exact is given; parts of days always are, by the number of readings.
"""
_MOST_GAPS: Final = 20
_MOST_DAYS: Final = 14


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``store info``."""
    from mqvitals_agent.commandline.time_arguments import zone_argument

    parser.description = _DESCRIPTION
    parser.add_argument("path", metavar="PATH", help="the store")
    parser.add_argument("--exact", action="store_true", help="count every page, however large the store is")
    parser.add_argument("--json", action="store_true", help="as JSON, sizes in bytes, all days and gaps")
    parser.add_argument("--tz", metavar="ZONE", type=zone_argument, help="show times in this zone (default: UTC)")


def run(arguments: argparse.Namespace) -> int:
    """Show it; returns the exit code. Raises StoreError."""
    from mqvitals_agent.commandline.output import show_blocks
    from mqvitals_agent.store.file.page_counts import EXACT_UP_TO
    from mqvitals_agent.store.file.store_info import read_info
    from mqvitals_agent.store.reader import StoreReader

    path = Path(arguments.path).resolve()
    found = read_info(path, exact_up_to=1 << 62 if arguments.exact else EXACT_UP_TO)
    with StoreReader.open(path) as reader:
        gaps, kept = list(_gaps(reader)), _kept(reader)
    if arguments.json:
        print(json.dumps(_json(found, gaps, kept), indent=1))
    else:
        show_blocks(_blocks(found, gaps, kept), markdown=False, ascii_only=False)
    return ExitCode.DONE


def _gaps(reader: StoreReader) -> Iterator[tuple[str, int, int]]:
    """Owner, begin and end (ms UTC) of each time without a snapshot between two of them."""
    from mqvitals_agent.handover.quality import pauses_within
    from mqvitals_agent.text.chart import TimeRange

    for owner in reader.owners():
        times = reader.snapshot_span(owner.name, owner.first_ts, owner.last_ts)
        if times:
            for gap in pauses_within(times, TimeRange(times[0], times[-1])):
                yield owner.name, gap.since, gap.until


def _kept(reader: StoreReader) -> dict[str, float | None]:
    """How long samples are kept (s) and how much the store may take (bytes), as the agent said last; since when samples and
    ended alerts are kept (ms UTC). None: no such limit, nothing deleted, or not known.
    """
    meta = reader.meta()
    found: dict[str, float | None] = {"keep_s": None, "limit_bytes": None}
    for owner in reader.owners():
        for values in reader.current_by_kind(owner.name, "store", tuple(found)).values():
            numbers = {name: each.value for name, each in values.items()}
            found |= {name: value for name, value in numbers.items() if isinstance(value, (int, float))}
    since = {"kept_from": meta.kept_from, "hours_kept_from": meta.hours_kept_from}
    return {**found, **since, "alerts_kept_from": meta.alerts_kept_from}


def _json(found: StoreInfo, gaps: list[tuple[str, int, int]], kept: dict[str, float | None]) -> dict[str, Any]:
    from mqvitals_rules.timestamps import iso

    def time(ts: float | None) -> str | None:
        return None if ts is None else iso(int(ts))

    return {
        "path": str(found.path),
        "file_bytes": found.file,
        "free_bytes": found.free,
        "log_bytes": found.log,
        "estimated": found.estimated,
        "kinds": {
            kind: {
                "history_bytes": each.samples,
                "rows_bytes": each.rows,
                "sealed_bytes": each.sealed,
                "hours_bytes": each.hours,
                "current_bytes": each.current,
            }
            for kind, each in _largest(found)
        },
        "others": dict(sorted(found.others.items(), key=lambda each: -each[1])),
        "days": {iso(day)[:10]: size for day, size in found.days.items()},
        "growth_bytes_per_day": found.growth,
        "oldest": time(found.oldest),
        "newest": time(found.newest),
        "sealed": {"chunks": found.sealed.chunks, "from": time(found.sealed.begin), "to": time(found.sealed.end)},
        "hours": {"days": found.sealed.days, "from": time(found.sealed.first_day)},
        "gaps": [{"owner": owner, "from": iso(since), "to": iso(until)} for owner, since, until in gaps],
        "keep_s": kept["keep_s"],
        "limit_bytes": kept["limit_bytes"],
        "kept_from": time(kept["kept_from"]),
        "hours_kept_from": time(kept["hours_kept_from"]),
        "alerts_kept_from": time(kept["alerts_kept_from"]),
    }


def _largest(found: StoreInfo) -> list[tuple[str, Any]]:
    return sorted(found.kinds.items(), key=lambda each: (-each[1].samples - each[1].hours - each[1].current, each[0]))


def _blocks(found: StoreInfo, gaps: list[tuple[str, int, int]], kept: dict[str, float | None]) -> Iterator[Block]:
    from mqvitals_agent.text.document import Heading, Items, Paragraph, ReportTable
    from mqvitals_agent.text.figure import age, counted, moment, size, zone_name
    from mqvitals_rules.timestamps import iso

    def at(ts: float | None) -> str:
        return "none" if ts is None else f"{moment(int(ts))} {zone_name(int(ts))}"

    def since(ts: float | None) -> str:
        return "the beginning" if ts is None else at(ts)

    growth = (
        "not known before two hours of samples" if found.growth is None else f"{size(found.growth)} a day (estimated)"
    )
    sealed, hours = "nothing", "nothing is rolled up"
    if found.sealed.chunks:
        about = "about " if found.estimated else ""
        sealed = f"{about}{counted(found.sealed.chunks, 'hour')} of objects, from {at(found.sealed.begin)} to {at(found.sealed.end)}"
    if found.sealed.days:
        hours = f"{counted(found.sealed.days, 'day')} from {at(found.sealed.first_day)}"
    kept_since = (
        f"kept: samples since {since(kept['kept_from'])}, hours since {since(kept['hours_kept_from'])},"
        f" ended alerts since {since(kept['alerts_kept_from'])}"
    )
    keep = "not known, or forever" if kept["keep_s"] is None else age(int(kept["keep_s"] * 1000))
    limit = "not known, or none" if kept["limit_bytes"] is None else size(kept["limit_bytes"])
    yield Heading(1, f"Store {found.path}")
    yield Items(
        (
            f"file: {size(found.file)}, of which free pages: {size(found.free)}; log: {size(found.log)}",
            f"samples: from {at(found.oldest)} to {at(found.newest)}",
            f"sealed: {sealed}",
            f"hours: {hours}",
            f"growth: {growth}",
            f"store.keep.raw: {keep}; store.limit: {limit} (as the agent said last)",
            kept_since,
        )
    )
    yield Heading(2, "By kind" + (" (estimated)" if found.estimated else ""))
    rows = [
        (kind, *(size(part) for part in (each.rows, each.sealed, each.hours, each.current)))
        for kind, each in _largest(found)
    ]
    rows += [(topic, "", "", "", size(each)) for topic, each in sorted(found.others.items(), key=lambda each: -each[1])]
    yield ReportTable(("kind", "rows", "sealed", "hours", "current and other"), tuple(rows), frozenset({1, 2, 3, 4}))
    if found.days:
        yield Heading(2, "Samples by day (estimated)")
        shown = list(found.days.items())[-_MOST_DAYS:]
        days = tuple((iso(day)[:10], size(each)) for day, each in shown)
        yield ReportTable(("day, UTC", "samples"), days, frozenset({1}))
        if len(found.days) > len(shown):
            yield Paragraph(f"And {len(found.days) - len(shown):,} earlier days: --json shows all.")
    yield Heading(2, "Gaps")
    if not gaps:
        yield Paragraph("There are no gaps.")
        return
    latest = sorted(gaps, key=lambda each: -each[1])
    table = tuple((owner, at(begin), at(until), age(until - begin)) for owner, begin, until in latest[:_MOST_GAPS])
    yield ReportTable(("owner", "from", "to", "length"), table, frozenset({3}))
    if len(gaps) > _MOST_GAPS:
        yield Paragraph(f"And {len(gaps) - _MOST_GAPS:,} earlier gaps: --json shows all.")

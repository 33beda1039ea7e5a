"""The report's tables of figures, a function for each part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.smf.report.document import Block, Heading, Paragraph, Table
from mqvitals_agent.smf.report.ledger import BLOCK_MB, CELLS, MOST_INTERVALS, Ledger
from mqvitals_agent.smf.report.traffic import applications, channel_initiator, channels
from mqvitals_agent.smf.report.wording import at, count, rate, share, short_name, time, value_of
from mqvitals_agent.text.chart import BLOCKS, TimeRange, sparkline
from mqvitals_agent.text.figure import moment

_ASCII: Final = str.maketrans(BLOCKS, "12345678")


def figures(ledger: Ledger, owner: str, span: TimeRange, *, ascii_only: bool) -> Iterator[Block]:
    """All that is known of a queue manager or group, in figures."""
    yield from _pools(ledger, owner, span, ascii_only=ascii_only)
    yield from _page_sets(ledger, owner)
    yield from _log(ledger, owner)
    yield from channel_initiator(ledger, owner)
    yield from channels(ledger, owner)
    yield from applications(ledger, owner)
    yield from _structures(ledger, owner)


def _pools(ledger: Ledger, owner: str, span: TimeRange, *, ascii_only: bool) -> Iterator[Block]:
    pools = ledger.of(owner, "buffer_pool")
    if not pools:
        return
    yield Heading(3, "Buffer pools")
    height = "from 1 (empty) to 8 (all free)" if ascii_only else "from empty to all free"
    yield Paragraph(
        f"Lowest free share over the whole period, {height}, a dot where nothing was told; DWT: deferred writes started (less than 15 % free), "
        "DMC: synchronous writes (less than 5 % free), SOS: no buffer was free, IMW: pages written while a task waited, "
        "RIO: pages read. Counts are of all intervals."
    )
    rows = []
    for name, sums in pools.items():
        line = sparkline(ledger.course(name), span, CELLS).replace(" ", "." if ascii_only else "·")
        low = sums.lowest("low_pct")
        rows.append(
            (
                name.name,
                count(sums.last("total")),
                share(value_of(low)),
                at(low),
                line.translate(_ASCII) if ascii_only else line,
                *(count(sums.sum(metric)) for metric in ("dwt", "dmc", "sos", "imw", "rio")),
            )
        )
    titles = ("pool", "buffers", "lowest free", "at (UTC)", "over time", "DWT", "DMC", "SOS", "IMW", "RIO")
    yield Table(titles, tuple(rows), frozenset({0, 1, 2, 5, 6, 7, 8, 9}))
    worst = ledger.worst(owner)
    if worst:
        yield Paragraph(
            "Intervals in which a pool was at most 20 % free or reached one of these thresholds, the worst first:"
            if len(worst) < MOST_INTERVALS
            else f"The {MOST_INTERVALS} worst intervals of all pools:"
        )
        yield Table(
            ("pool", "interval to (UTC)", "lowest free", "DWT", "DMC", "SOS"),
            tuple(
                (
                    each.name.name,
                    moment(-each.negative_ts),
                    share(-each.negative_free_pct),
                    count(each.dwt),
                    count(each.dmc),
                    count(each.sos),
                )
                for each in worst
            ),
            frozenset({0, 2, 3, 4, 5}),
        )


def _page_sets(ledger: Ledger, owner: str) -> Iterator[Block]:
    page_sets = ledger.of(owner, "page_set")
    if not page_sets:
        return
    yield Heading(3, "Page sets")
    rows = []
    for name, sums in page_sets.items():
        high = sums.highest("used_pct")
        rows.append(
            (
                name.name,
                count(sums.last("buffer_pool")),
                count(sums.last("total_pages")),
                share(sums.last_number("used_pct")),
                share(value_of(high)),
                at(high),
                count(sums.sum("expand_count")),
                count(sums.sum("full_count")),
                count(sums.sum("imm_writes")),
            )
        )
    titles = ("page set", "pool", "pages", "used", "most used", "at (UTC)", "expanded", "full", "waited writes")
    yield Table(titles, tuple(rows), frozenset({0, 1, 2, 3, 4, 6, 7, 8}))


def _log(ledger: Ledger, owner: str) -> Iterator[Block]:
    for sums in ledger.of(owner, "log").values():
        yield Heading(3, "Log")
        both, one = sums.highest("mb_s"), sums.highest("write_mb_s")
        written = sums.per_second("ci_writes")
        yield Table(
            ("written", "average MB/s", "highest MB/s", "in the interval to (UTC)"),
            (
                (
                    "all copies",
                    rate(None if written is None else written * BLOCK_MB),
                    rate(value_of(both)),
                    at(both),
                ),
                ("one copy", rate(sums.mean("write_mb_s")), rate(value_of(one)), at(one)),
            ),
            frozenset({1, 2}),
        )
        yield Table(
            ("copy", "write I/Os", "average time", "longest", "in the interval to (UTC)"),
            tuple(
                (
                    str(copy),
                    count(sums.sum(f"io_count_copy{copy}")),
                    time(sums.each(f"io_time_us_copy{copy}", f"io_count_copy{copy}")),
                    time(value_of(sums.highest(f"io_max_us_copy{copy}"))),
                    at(sums.highest(f"io_max_us_copy{copy}")),
                )
                for copy in (1, 2)
                if sums.sum(f"io_count_copy{copy}")
            ),
            frozenset({1, 2, 3}),
        )
        yield Table(
            ("counted", "in all intervals"),
            tuple(
                (what, count(sums.sum(metric)))
                for what, metric in (
                    ("checkpoints", "checkpoints"),
                    ("waits for a free log buffer (should be 0)", "wtb"),
                    ("log buffers paged in before a write (should be 0)", "pagein"),
                    ("tasks suspended for a log write", "suspends"),
                    ("writes because WRTHRSH was reached", "thrsh"),
                    ("writes of one copy after the other", "serial_writes"),
                    ("reads from archive logs", "reads_archive"),
                )
            ),
            frozenset({1}),
        )


def _structures(ledger: Ledger, owner: str) -> Iterator[Block]:
    structures = ledger.of(owner, "cf_structure")
    if not structures:
        return
    yield Heading(3, "Coupling facility structures")
    yield Table(
        ("structure", "slowest average request", "in the interval to (UTC)", "most entries", "full", "redriven"),
        tuple(
            (
                short_name(name),
                time(value_of(sums.highest("avg_call_us"))),
                at(sums.highest("avg_call_us")),
                count(value_of(sums.highest("peak_entries"))),
                count(sums.sum("full_count")),
                count(sums.sum("redrives")),
            )
            for name, sums in structures.items()
        ),
        frozenset({1, 3, 4, 5}),
    )

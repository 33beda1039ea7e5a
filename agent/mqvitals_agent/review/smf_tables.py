"""The tables of a health check. A dash stands where a figure is missing, which is not zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from mqvitals_agent.review.smf_totals import BLOCK_MB, CELLS, MOST_INTERVALS, VERBS, ObjectTotals, PeriodTotals
from mqvitals_agent.smf.record import utc_datetime
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.document import Block, Heading, Paragraph, ReportTable
from mqvitals_agent.text.figure import counted, duration_us, moment, percent
from mqvitals_agent.text.figure import number as short_number
from mqvitals_agent.text.sparkline import BLOCKS, sparkline
from mqvitals_rules.snapshot import ObjectName

NONE = "-"


def count(value: object) -> str:
    """A count to its last digit below a million."""
    if not isinstance(value, int | float):
        return NONE
    return f"{value:,.0f}" if abs(value) < 1_000_000 else short_number(value)


def share(value: float | None) -> str:
    """A percentage."""
    return NONE if value is None else percent(value)


def rate(value: float | None) -> str:
    """A number with up to two decimals; a small one is not shown as zero."""
    if value is None:
        return NONE
    return "< 0.01" if 0 < value < 0.01 else short_number(value)


def time(value: float | None) -> str:
    """A length of time given in microseconds."""
    return NONE if value is None else duration_us(value)


def at(found: tuple[float, int] | None) -> str:
    """The time of an extreme, to the minute."""
    return NONE if found is None else moment(found[1])[5:16]


def value_of(found: tuple[float, int] | None) -> float | None:
    """The value of an extreme."""
    return None if found is None else found[0]


def when(us: int) -> str:
    """A time given in microseconds: ``2026-03-01 12:00:00``."""
    found = utc_datetime(us)
    return "outside every calendar" if found is None else f"{found:%Y-%m-%d %H:%M:%S}"


def release(number: int) -> str:
    """``941`` as ``9.4.1``, ``100000`` as ``10.0.0``."""
    digits = str(number)
    if len(digits) == 3:
        return ".".join(digits)
    if len(digits) == 6:
        return ".".join(str(int(digits[at : at + 2])) for at in (0, 2, 4))
    return digits


def zone(us: int) -> str:
    """The offset of local time from UTC: ``UTC+1``, ``UTC-4:30``."""
    minutes = abs(us) // 60_000_000
    return f"UTC{'-' if us < 0 else '+'}{minutes // 60}" + (f":{minutes % 60:02d}" if minutes % 60 else "")


def _percent(value: float | None) -> str:
    return share(None if value is None else 100 * value)


def _short_name(name: ObjectName, _: object = None) -> str:
    """The name of an object among others of its kind."""
    return name.name or name.owner


_Column = tuple[str, Callable[[ObjectName, ObjectTotals], str]]
"""A title, and the text of a cell."""
_LEFT: Final = frozenset({"at (UTC)", "in the interval to (UTC)", "over time", "channel", "job/queue", "structure"})
"""The titles of columns without numbers."""


def _table(rows: Iterable[tuple[ObjectName, ObjectTotals]], *columns: _Column) -> ReportTable:
    return ReportTable(
        tuple(title for title, _ in columns),
        tuple(tuple(cell(name, sums) for _, cell in columns) for name, sums in rows),
        frozenset(index for index, (title, _) in enumerate(columns) if title not in _LEFT),
    )


_CALLS: Final = tuple(f"{verb}_n" for verb in VERBS)
_ELAPSED: Final = tuple(f"{verb}_et_us" for verb in VERBS)
MOST_CHANNELS: Final = 10
MOST_APPLICATIONS: Final = 10
MOST_TASKS: Final = 40

_WORDS: Final = (
    ("adapter", "Adapters"),
    ("dispatcher", "Dispatchers"),
    ("ssl_task", "TLS tasks"),
    ("dns_task", "DNS task"),
)


def channel_initiator(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    """The channel initiator and its tasks."""
    for sums in totals.of(owner, "channel_initiator").values():
        yield Heading(3, "Channel initiator")
        most = f"{count(value_of(sums.highest('active')))} of {count(sums.last('active_max'))}"
        current = f"{count(value_of(sums.highest('current')))} of {count(sums.last('current_max'))}"
        storage = value_of(sums.highest("storage31_kb"))
        below = "-" if storage is None else f"{storage / 1024:,.0f} MB"
        yield Paragraph(
            f"Most active channels {most}, most current channels {current}, most storage below the bar {below}."
        )
    for kind, word in _WORDS:
        tasks = totals.of(owner, kind)
        if not tasks:
            continue
        yield Heading(4, word)
        idle = [name for name, sums in tasks.items() if not sums.sum("requests")]
        yield Paragraph(f"{counted(len(tasks), 'task')}, unused in the whole period: {len(idle)}.")
        used = [(name, sums) for name, sums in tasks.items() if sums.sum("requests")]
        if not used:
            continue
        yield _table(
            used[:MOST_TASKS],
            ("task", lambda name, _: name.name),
            ("requests", lambda _, sums: count(sums.sum("requests"))),
            ("busy", lambda _, sums: share(sums.share_of_time("elapsed_us"))),
            ("busiest", lambda _, sums: share(value_of(sums.highest("busy_pct")))),
            ("at (UTC)", lambda _, sums: at(sums.highest("busy_pct"))),
            ("CPU", lambda _, sums: share(sums.share_of_time("cpu_us"))),
            ("CPU/request", lambda _, sums: time(sums.each("cpu_us", "requests"))),
            ("time/request", lambda _, sums: time(sums.each("elapsed_us", "requests"))),
        )
        if len(used) > MOST_TASKS:
            yield Paragraph(f"{counted(len(used) - MOST_TASKS, 'more task')} did work and are not shown.")


def channels(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    """The channels with the most messages."""
    found = totals.of(owner, "channel")
    if not found:
        return
    yield Heading(3, "Busiest channels")
    ranked = sorted(found.items(), key=lambda each: (-(each[1].sum("interval_msgs") or 0), each[0]))
    shown = ranked[:MOST_CHANNELS]
    yield Paragraph(
        f"{len(shown)} of {counted(len(found), 'channel')}, those with most messages. NETTIME is the round trip of the "
        "network; its average weighs each interval by its messages."
    )
    yield _table(
        shown,
        ("channel", _short_name),
        ("messages", lambda _, sums: count(sums.sum("interval_msgs"))),
        ("per second", lambda _, sums: rate(sums.per_second("interval_msgs"))),
        ("per batch", lambda _, sums: rate(sums.each("interval_msgs", "interval_batches"))),
        ("BATCHSZ", lambda _, sums: count(sums.last("batchsz"))),
        ("full batches", lambda _, sums: _percent(sums.each("full_batches", "interval_batches"))),
    )
    timed = [(name, sums) for name, sums in shown if sums.mean("nettime_avg_us") is not None]
    if timed:
        yield _table(
            timed,
            ("channel", _short_name),
            ("NETTIME least", lambda _, sums: time(value_of(sums.lowest("nettime_min_us")))),
            ("average", lambda _, sums: time(sums.mean("nettime_avg_us"))),
            ("most", lambda _, sums: time(value_of(sums.highest("nettime_max_us")))),
            ("in the interval to (UTC)", lambda _, sums: at(sums.highest("nettime_max_us"))),
        )


def applications(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    """The jobs and transactions whose calls used the most processor time."""
    found = totals.of(owner, "application")
    if not found:
        return
    yield Heading(3, "Costliest applications")
    ranked = sorted(found.items(), key=lambda each: (-(each[1].sum("cpu_us") or 0), each[0]))
    shown = ranked[:MOST_APPLICATIONS]
    yield Paragraph(
        f"{len(shown)} of {counted(len(found), 'job or transaction and queue', 'jobs or transactions and queues')}, "
        "those whose calls used most processor time; */* is the sum of all others. Times are of one call, on average."
    )
    yield _table(
        shown,
        ("job/queue", _short_name),
        ("CPU", lambda _, sums: time(sums.sum("cpu_us"))),
        ("calls", lambda _, sums: count(sums.sum(*_CALLS))),
        ("CPU/call", lambda _, sums: _per_call(sums, "cpu_us")),
        ("time/call", lambda _, sums: _per_call(sums, *_ELAPSED)),
    )
    yield ReportTable(
        ("job/queue", "call", "number", "CPU/call", "time/call"),
        tuple(
            (
                _short_name(name),
                f"MQ{verb.upper()}",
                count(sums.sum(f"{verb}_n")),
                time(sums.each(f"{verb}_ct_us", f"{verb}_n")),
                time(sums.each(f"{verb}_et_us", f"{verb}_n")),
            )
            for name, sums in shown
            for verb in VERBS
            if sums.sum(f"{verb}_n")
        ),
        frozenset({2, 3, 4}),
    )


def _per_call(sums: ObjectTotals, *metrics: str) -> str:
    """The mean time of a call of any verb."""
    calls, used = sums.sum(*_CALLS), sums.sum(*metrics)
    return time(None if used is None or not calls else used / calls)


_ASCII: Final = str.maketrans(BLOCKS, "12345678")


def figures(totals: PeriodTotals, owner: str, span: TimeRange, *, ascii_only: bool) -> Iterator[Block]:
    """All tables of a queue manager or group."""
    yield from _pools(totals, owner, span, ascii_only=ascii_only)
    yield from _page_sets(totals, owner)
    yield from _log(totals, owner)
    yield from channel_initiator(totals, owner)
    yield from channels(totals, owner)
    yield from applications(totals, owner)
    yield from _structures(totals, owner)


def _pools(totals: PeriodTotals, owner: str, span: TimeRange, *, ascii_only: bool) -> Iterator[Block]:
    pools = totals.of(owner, "buffer_pool")
    if not pools:
        return
    yield Heading(3, "Buffer pools")
    height = "from 1 (empty) to 8 (all free)" if ascii_only else "from empty to all free"
    yield Paragraph(
        f"Lowest free share over the whole period, {height}, a dot where no record reports it; DWT: deferred writes started (less than 15 % free), "
        "DMC: synchronous writes (less than 5 % free), SOS: no buffer was free, IMW: pages written while a task waited, "
        "RIO: pages read. Counts are of all intervals."
    )

    def line(name: ObjectName, _: object) -> str:
        found = sparkline(totals.course(name), span, CELLS, low_is_bad=True)
        return found.replace(" ", ".").translate(_ASCII) if ascii_only else found.replace(" ", "·")

    def events(title: str) -> _Column:
        return title, lambda _, sums: count(sums.sum(title.lower()))

    yield _table(
        pools.items(),
        ("pool", lambda name, _: name.name),
        ("buffers", lambda _, sums: count(sums.last("total"))),
        ("lowest free", lambda _, sums: share(value_of(sums.lowest("low_pct")))),
        ("at (UTC)", lambda _, sums: at(sums.lowest("low_pct"))),
        ("over time", line),
        *map(events, ("DWT", "DMC", "SOS", "IMW", "RIO")),
    )
    worst = totals.worst(owner)
    if worst:
        yield Paragraph(
            "Intervals in which a pool was at most 20 % free or reached one of these thresholds, the worst first:"
            if len(worst) < MOST_INTERVALS
            else f"The {MOST_INTERVALS} worst intervals of all pools:"
        )
        yield ReportTable(
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


def _page_sets(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    page_sets = totals.of(owner, "page_set")
    if not page_sets:
        return
    yield Heading(3, "Page sets")
    yield _table(
        page_sets.items(),
        ("page set", lambda name, _: name.name),
        ("pool", lambda _, sums: count(sums.last("buffer_pool"))),
        ("pages", lambda _, sums: count(sums.last("total_pages"))),
        ("used", lambda _, sums: share(sums.last_number("used_pct"))),
        ("most used", lambda _, sums: share(value_of(sums.highest("used_pct")))),
        ("at (UTC)", lambda _, sums: at(sums.highest("used_pct"))),
        ("expanded", lambda _, sums: count(sums.sum("expand_count"))),
        ("full", lambda _, sums: count(sums.sum("full_count"))),
        ("waited writes", lambda _, sums: count(sums.sum("imm_writes"))),
    )


def _log(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    for sums in totals.of(owner, "log").values():
        yield Heading(3, "Log")
        both, one = sums.highest("mb_s"), sums.highest("write_mb_s")
        written = sums.per_second("ci_writes")
        yield ReportTable(
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
        yield ReportTable(
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
        yield ReportTable(
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


def _structures(totals: PeriodTotals, owner: str) -> Iterator[Block]:
    structures = totals.of(owner, "cf_structure")
    if not structures:
        return
    yield Heading(3, "Coupling facility structures")
    yield _table(
        structures.items(),
        ("structure", _short_name),
        ("slowest average request", lambda _, sums: time(value_of(sums.highest("avg_call_us")))),
        ("in the interval to (UTC)", lambda _, sums: at(sums.highest("avg_call_us"))),
        ("most entries", lambda _, sums: count(value_of(sums.highest("peak_entries")))),
        ("full", lambda _, sums: count(sums.sum("full_count"))),
        ("redriven", lambda _, sums: count(sums.sum("redrives"))),
    )

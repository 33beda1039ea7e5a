"""The report's tables of what moves messages and what uses them: channel initiator, channels, applications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.smf.report.document import Block, Heading, Paragraph, Table
from mqvitals_agent.smf.report.ledger import VERBS, Ledger
from mqvitals_agent.smf.report.sums import Sums
from mqvitals_agent.smf.report.wording import at, count, plural, rate, share, short_name, time, value_of
from mqvitals_rules.snapshot import ObjectName

MOST_CHANNELS: Final = 10
MOST_APPLICATIONS: Final = 10
MOST_TASKS: Final = 40

_WORDS: Final = (
    ("adapter", "Adapters"),
    ("dispatcher", "Dispatchers"),
    ("ssl_task", "TLS tasks"),
    ("dns_task", "DNS task"),
)


def channel_initiator(ledger: Ledger, owner: str) -> Iterator[Block]:
    """The channel initiator and its tasks."""
    for sums in ledger.of(owner, "channel_initiator").values():
        yield Heading(3, "Channel initiator")
        most = f"{count(value_of(sums.highest('active')))} of {count(sums.last('active_max'))}"
        current = f"{count(value_of(sums.highest('current')))} of {count(sums.last('current_max'))}"
        storage = value_of(sums.highest("storage31_kb"))
        below = "-" if storage is None else f"{storage / 1024:,.0f} MB"
        yield Paragraph(
            f"Most active channels {most}, most current channels {current}, most storage below the bar {below}."
        )
    for kind, word in _WORDS:
        tasks = ledger.of(owner, kind)
        if not tasks:
            continue
        yield Heading(4, word)
        idle = [name for name, sums in tasks.items() if not sums.sum("requests")]
        yield Paragraph(f"{plural(len(tasks), 'task')}, unused in the whole period: {len(idle)}.")
        used = [(name, sums) for name, sums in tasks.items() if sums.sum("requests")]
        if not used:
            continue
        yield Table(
            ("task", "requests", "busy", "busiest", "at (UTC)", "CPU", "CPU/request", "time/request"),
            tuple(_task_row(name, sums) for name, sums in used[:MOST_TASKS]),
            frozenset({0, 1, 2, 3, 5, 6, 7}),
        )
        if len(used) > MOST_TASKS:
            yield Paragraph(f"{plural(len(used) - MOST_TASKS, 'more task')} did work and are not shown.")


def _task_row(name: ObjectName, sums: Sums) -> tuple[str, ...]:
    busiest = sums.highest("busy_pct")
    return (
        name.name,
        count(sums.sum("requests")),
        share(sums.share_of_time("elapsed_us")),
        share(value_of(busiest)),
        at(busiest),
        share(sums.share_of_time("cpu_us")),
        time(sums.each("cpu_us", "requests")),
        time(sums.each("elapsed_us", "requests")),
    )


def channels(ledger: Ledger, owner: str) -> Iterator[Block]:
    """The channels with most messages."""
    found = ledger.of(owner, "channel")
    if not found:
        return
    yield Heading(3, "Busiest channels")
    ranked = sorted(found.items(), key=lambda each: (-(each[1].sum("interval_msgs") or 0), each[0]))
    shown = ranked[:MOST_CHANNELS]
    yield Paragraph(
        f"{len(shown)} of {plural(len(found), 'channel')}, those with most messages. NETTIME is the round trip of the "
        "network; its average weighs each interval by its messages."
    )
    titles = ("channel", "messages", "per second", "per batch", "BATCHSZ", "full batches")
    yield Table(titles, tuple(_channel_row(name, sums) for name, sums in shown), frozenset(range(1, 6)))
    timed = [(name, sums) for name, sums in shown if sums.mean("nettime_avg_us") is not None]
    if timed:
        yield Table(
            ("channel", "NETTIME least", "average", "most", "in the interval to (UTC)"),
            tuple(
                (
                    short_name(name),
                    time(value_of(sums.lowest("nettime_min_us"))),
                    time(sums.mean("nettime_avg_us")),
                    time(value_of(sums.highest("nettime_max_us"))),
                    at(sums.highest("nettime_max_us")),
                )
                for name, sums in timed
            ),
            frozenset({1, 2, 3}),
        )


def _channel_row(name: ObjectName, sums: Sums) -> tuple[str, ...]:
    batches, full = sums.sum("interval_batches"), sums.sum("full_batches")
    return (
        short_name(name),
        count(sums.sum("interval_msgs")),
        rate(sums.per_second("interval_msgs")),
        rate(sums.each("interval_msgs", "interval_batches")),
        count(sums.last("batchsz")),
        share(None if not batches or full is None else 100 * full / batches),
    )


def applications(ledger: Ledger, owner: str) -> Iterator[Block]:
    """The jobs and transactions whose calls used most processor time."""
    found = ledger.of(owner, "application")
    if not found:
        return
    yield Heading(3, "Costliest applications")
    ranked = sorted(found.items(), key=lambda each: (-(each[1].sum("cpu_us") or 0), each[0]))
    shown = ranked[:MOST_APPLICATIONS]
    yield Paragraph(
        f"{len(shown)} of {plural(len(found), 'job or transaction and queue', 'jobs or transactions and queues')}, "
        "those whose calls used most processor time; */* is all that were not told apart. Times are of one call, on average."
    )
    yield Table(
        ("job/queue", "CPU", "calls", "CPU/call", "time/call"),
        tuple(_application_row(name, sums) for name, sums in shown),
        frozenset(range(1, 5)),
    )
    yield Table(
        ("job/queue", "call", "number", "CPU/call", "time/call"),
        tuple(
            (
                short_name(name),
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


def _application_row(name: ObjectName, sums: Sums) -> tuple[str, ...]:
    calls = sums.sum(*(f"{verb}_n" for verb in VERBS))
    elapsed, used = sums.sum(*(f"{verb}_et_us" for verb in VERBS)), sums.sum("cpu_us")
    return (
        short_name(name),
        time(used),
        count(calls),
        time(None if used is None or not calls else used / calls),
        time(None if elapsed is None or not calls else elapsed / calls),
    )

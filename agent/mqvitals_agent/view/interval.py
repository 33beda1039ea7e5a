"""What the newest record tells of an object beside its figures of now: the worst of an interval, in one or two lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.terminal import wrap
from mqvitals_agent.view.record_words import newest_record, on_zos, record_words
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric as metric_of

Values = Mapping[str, CurrentValue]

_FREE, _LOW = metric_of("buffer_pool", "free_pct"), metric_of("buffer_pool", "low_pct")


class Part(NamedTuple):
    """Words before a metric's figure, and after it."""

    before: str
    metric: str
    after: str = ""


_PARTS: Mapping[str, tuple[Part, ...]] = {
    "buffer_pool": (
        Part("deferred writer started", "dwt", "times"),
        Part("synchronous write threshold hit", "dmc", "times"),
        Part("no buffer to be had", "sos", "times"),
        Part("", "imw", "written while a task waited"),
        Part("", "rio", "read in as many I/Os"),
        Part("", "tpw", "written"),
        Part("in", "wio", "I/Os"),
    ),
    "log": (
        Part("", "write_mb_s", "written a copy"),
        Part("no free log buffer", "wtb", "times"),
        Part("tasks waited for a write", "suspends", "times"),
        Part("longest write", "io_max_us"),
        Part("log buffers paged in", "pagein"),
        Part("checkpoints", "checkpoints"),
        Part("reads from active logs", "reads_active"),
        Part("from archive logs", "reads_archive"),
    ),
    "channel": (
        Part("NETTIME min", "nettime_min_us"),
        Part("average", "nettime_avg_us"),
        Part("max", "nettime_max_us"),
        Part("", "interval_msgs"),
        Part("", "msgs_per_batch", "a batch"),
        Part("full batches", "full_batches"),
        Part("put retries", "put_retries"),
    ),
}
"""By kind what an operator asks of an interval, in the order in which it is told."""


def interval_lines(kind: str, values: Values, now: int, width: int) -> tuple[Line, ...]:
    """The lines; of a buffer pool always one with how much is free, of another kind none where no record tells."""
    return (*(_free(values, now, width) if kind == "buffer_pool" else ()), *_told(kind, values, now, width))


def _free(values: Values, now: int, width: int) -> Iterator[Line]:
    """``free 61 % now (3s ago), lowest 4 % (SMF 12:00, 14m05s ago)``."""
    free, low = values.get("free_pct"), values.get("low_pct")
    if free is None or isinstance(free.value, Absence):
        words = f"free: {Absence.NOT_ASKED.value if free is None else figure(free.value, _FREE)}"
    else:
        words = f"free {figure(free.value, _FREE)} now ({record_words(free, now)})"
    if low is None:
        words += f", lowest: {Absence.NEEDS_SMF.value}" if on_zos(values) else ""
    elif isinstance(low.value, Absence):
        words += f", lowest: {low.value.value}"
    else:
        words += f", lowest {figure(low.value, _LOW)} ({record_words(low, now)})"
    stale = low is not None and low.unanswered is not None
    yield from _wrapped(words, width, Tone.STALE if stale else Tone.PLAIN)


def _told(kind: str, values: Values, now: int, width: int) -> Iterator[Line]:
    parts = _PARTS.get(kind, ())
    newest = newest_record(values, (part.metric for part in parts))
    if newest is None:
        return
    words = [
        " ".join(word for word in (part.before, figure(told.value, metric_of(kind, part.metric)), part.after) if word)
        for part in parts
        if (told := values.get(part.metric)) is not None
        and told.ts == newest.ts
        and told.source is newest.source
        and not isinstance(told.value, Absence)
    ]
    head = record_words(newest, now, long=True)
    yield from _wrapped(f"{head}: {', '.join(words)}", width, Tone.PLAIN if newest.unanswered is None else Tone.STALE)


def _wrapped(text: str, width: int, tone: Tone) -> Iterator[Line]:
    for each in wrap(text, width, first="  ", rest="    "):
        yield line(each, tone)

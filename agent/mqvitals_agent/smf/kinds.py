"""The kinds of objects in MQ's SMF records, and how the fields of their sections become metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mqvitals_agent.smf.layout.accounting import WQST, WTAS, WTID
from mqvitals_agent.smf.layout.channel_initiator import QCCT, QCST, QCTADP, QCTDNS, QCTDSP, QCTSSL
from mqvitals_agent.smf.layout.field import SectionLayout
from mqvitals_agent.smf.layout.log_and_storage import QJST, QSGM, QSPH, QSRS
from mqvitals_agent.smf.layout.statistics import Q5ST, QESD, QEST, QIS1, QIST, QLST, QMST, QPST, QQST
from mqvitals_agent.smf.measured_kinds import MEASURED
from mqvitals_agent.smf.metric_mapping import (
    UNSET,
    Fields,
    MetricFunction,
    MetricMapping,
    MetricValue,
    local_text,
    utc_text,
)
from mqvitals_agent.smf.partial_sample import MergeRule
from mqvitals_rules.plan.page_sets import message_pages
from mqvitals_rules.vocabulary.application import CONNECTION_TYPES
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence
from mqvitals_rules.vocabulary.tables import kind

_OFFLINE: Final = next(metric for metric in kind("page_set").metrics if metric.name == "status").values["OFFLINE"]
_NO_MEMLIMIT_MB: Final = (1 << 44) - (1 << 12)
"""The value of MEMLIMIT=NOLIMIT: all but the last pages of a 64-bit address space."""
_BLOCK_MB: Final = 4096 / (1 << 20)
_DB2: Final = ("read", "list", "updt")
"""The requests of Q5ST made by opens of shared queues and by the status of shared channels."""
STAMP: Final = (1 << 64) - 1
"""``ntmx_at`` is the longest network time with its time stamp in these lower 64 bits, so that the maximum keeps
both.
"""


def _over(key: str, parts: tuple[int, ...], *, highest: bool = False) -> MetricFunction:
    """The sum or maximum over elements of an array of QJST: 0 and 1 belong to copy 1, 2 and 3 to copy 2; TOD units as
    us.
    """

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        values = [fields.get(f"{key}.{part}") for part in parts]
        numbers = [value for value in values if isinstance(value, int)]
        if len(numbers) < len(values):
            return Absence.NOT_RETURNED
        found = max(numbers) if highest else sum(numbers)
        return found if key in ("iocount", "ioci") else round(found / 4096)

    return value_of


def _mean_write(fields: Fields, _: int | None) -> MetricValue:
    count, time = (_over(key, (0, 1, 2, 3))(fields, None) for key in ("iocount", "iototio"))
    if not isinstance(count, int) or not isinstance(time, int):
        return Absence.NOT_RETURNED
    return round(time / count, 3) if count else Absence.NOTHING_TO_TELL


def _write_rate(fields: Fields, interval_us: int | None) -> MetricValue:
    copies = [_over("ioci", parts)(fields, None) for parts in ((0, 1), (2, 3))]
    written = max((each for each in copies if isinstance(each, int)), default=None)
    if written is None:
        return Absence.NOT_RETURNED
    return round(written * _BLOCK_MB * 1_000_000 / interval_us, 6) if interval_us else Absence.NOTHING_TO_TELL


def _number(
    key: str, convert: Callable[[int], MetricValue] = int, absent: Absence = Absence.NOT_RETURNED
) -> MetricFunction:
    """A number of the record, converted."""
    return lambda fields, _: convert(value) if isinstance(value := fields.get(key), int) else absent


def _bit(key: str, mask: int) -> MetricFunction:
    """1 where a bit of a word is set, else 0."""
    return _number(key, lambda word: int(bool(word & mask)))


def _of_tasks(key: str, convert: Callable[[int], MetricValue] = int) -> MetricFunction:
    """A total over the tasks of a channel initiator; absent without a task of that kind."""
    return _number(key, convert, Absence.NOTHING_TO_TELL)


def _a_request(key: str) -> MetricFunction:
    def value_of(fields: Fields, _: int | None) -> MetricValue:
        time, requests = fields.get(key), fields.get("adapter_requests")
        if not isinstance(time, int) or not isinstance(requests, int) or not requests:
            return Absence.NOTHING_TO_TELL
        return round(time / 4096 / requests, 3)

    return value_of


def _busy(key: str) -> MetricFunction:
    def value_of(fields: Fields, interval_us: int | None) -> MetricValue:
        time = fields.get(key)
        if not isinstance(time, int) or not interval_us:
            return Absence.NOTHING_TO_TELL
        return round(100 * time / 4096 / interval_us, 6)

    return value_of


def _longest_io_at(fields: Fields, _: int | None) -> MetricValue:
    longest, at = -1, 0
    for part in range(4):
        time, stamp = fields.get(f"iomaxio.{part}"), fields.get(f"iomaxiot.{part}")
        if not isinstance(time, int) or not isinstance(stamp, int):
            return Absence.NOT_RETURNED
        longest, at = max((longest, at), (time, stamp))
    return utc_text(at)


def _longest_db2(fields: Fields, _: int | None) -> MetricValue:
    """The longest request; absent where there was none."""
    values = [(fields.get(f"{each}cnt"), fields.get(f"{each}tmxw")) for each in _DB2]
    if any(value is None for pair in values for value in pair):
        return Absence.NOT_RETURNED
    times = [time for requests, time in values if requests and isinstance(time, int)]
    return round(max(times) / 4096, 3) if times else Absence.NOTHING_TO_TELL


def _average(key: str) -> MetricFunction:
    def value_of(fields: Fields, _: int | None) -> MetricValue:
        total, weight = fields.get(f"{key}_total"), fields.get(f"{key}_weight")
        if not isinstance(total, int) or not isinstance(weight, int):
            return Absence.NOT_RETURNED
        return round(total / weight, 3) if weight else Absence.NOTHING_TO_TELL

    return value_of


def _measured(key: str, average: str) -> MetricFunction:
    """The shortest or longest time; absent where nothing was measured."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        value = fields.get(key)
        if not isinstance(value, int):
            return Absence.NOT_RETURNED
        return Absence.NOTHING_TO_TELL if value in UNSET or not fields.get(f"{average}_weight") else value

    return value_of


def _longest_at(fields: Fields, _: int | None) -> MetricValue:
    if not fields.get("ntav_weight"):
        return Absence.NOTHING_TO_TELL
    longest = fields.get("ntmx_at")
    return utc_text(longest & STAMP if isinstance(longest, int) else None)


def _partner(*, of_application: bool) -> MetricFunction:
    """QCSTRQMN: the partner's queue manager; of a server connection the end of the application's name."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        name = fields.get("rqmn")
        if not isinstance(name, str):
            return Absence.NOT_RETURNED
        return name if (fields.get("chty") == CHANNEL_TYPE["SVRCONN"]) is of_application else Absence.NOTHING_TO_TELL

    return value_of


def _page_set(key: str) -> MetricFunction:
    """-1: of a shared queue, or nothing is allocated yet."""
    return _number(key, lambda number: Absence.NOTHING_TO_TELL if number == -1 else number)


def _average_length(fields: Fields) -> tuple[int, float] | None:
    """The messages put in an interval, and their average length in bytes; None: a section without these fields."""
    puts, length = (
        [value for key in keys if isinstance(value := fields.get(key), int)]
        for keys in (("puts", "put1"), ("putb", "pt1b"))
    )
    if len(puts) < 2 or len(length) < 2:
        return None
    return sum(puts), sum(length) / (sum(puts) or 1)


def _pages_of_average(fields: Fields, _: int | None) -> MetricValue:
    found = _average_length(fields)
    if found is None:
        return Absence.NOT_RETURNED
    return message_pages(found[1]) if found[0] else Absence.NOTHING_TO_TELL


def _pages_put(fields: Fields, interval_us: int | None) -> MetricValue:
    found = _average_length(fields)
    if found is None:
        return Absence.NOT_RETURNED
    return (
        round(found[0] * message_pages(found[1]) * 1_000_000 / interval_us, 6)
        if interval_us
        else Absence.NOTHING_TO_TELL
    )


def _transaction(fields: Fields, _: int | None) -> MetricValue:
    return transaction(fields.get("wtid.atyp"), fields.get("wtid.cori"))


def transaction(connection: object, reference: object) -> str:
    """The CICS transaction or IMS program in a thread cross-reference (hexadecimal digits); empty elsewhere."""
    if not isinstance(reference, str):
        return ""
    data = bytes.fromhex(reference)
    if connection == CONNECTION_TYPES["CICS"]:
        part = data[4:8]
    elif connection in (CONNECTION_TYPES["IMS"], CONNECTION_TYPES["IMS_CONTROL"]):
        part = data[4:12]
    else:
        return ""
    found = part.decode("cp037").rstrip(" \0")
    return found if found.isascii() and found.isprintable() else ""


def _limited(key: str) -> MetricFunction:
    """A size above the bar; absent without MEMLIMIT."""

    def value_of(fields: Fields, _: int | None) -> MetricValue:
        value, limit = fields.get(key), fields.get("memlim")
        if not isinstance(value, int) or not isinstance(limit, int):
            return Absence.NOT_RETURNED
        return Absence.NOTHING_TO_TELL if limit >= _NO_MEMLIMIT_MB else value

    return value_of


def _part(key: str) -> MetricFunction:
    """A text of the record; "none" where it is blank."""
    return lambda fields, _: value if isinstance(value := fields.get(key), str) and value else Absence.NOTHING_TO_TELL


def _without_buffers(fields: Fields) -> Absence | None:
    """A pool without buffers: its zeros are no figures."""
    return Absence.NOT_IN_USE if fields.get("nbuf") == 0 else None


def _without_pages(fields: Fields) -> Absence | None:
    """A page set that is offline, or was not opened since the start, has no pages, of which none is used either."""
    if fields.get("topg") != 0:
        return None
    return Absence.OFFLINE if fields.get("stat") == _OFFLINE else Absence.NOT_IN_USE


_ONE_STRUCTURE: Final = SectionLayout(QEST.name, tuple(each._replace(times=1, step=0) for each in QEST.fields))
"""QEST holds arrays, with an element for each structure."""
BUFFER_POOL: Final = MetricMapping(
    kind("buffer_pool"),
    (("QPST", "", QPST),),
    {"location": _bit("flags", 0x80000000), "page_class": _bit("flags", 0x40000000)},
    needs=("pool", "flags", "nbuf"),
    idle=_without_buffers,
)
PAGE_SET: Final = MetricMapping(
    kind("page_set"),
    (("QIS1", "", QIS1),),
    {"encrypted": _bit("flag", 0x40000000)},
    needs=("psno", "flag", "topg", "stat"),
    idle=_without_pages,
    known_when_idle=frozenset({"status", "buffer_pool", "expand_type"}),
)
LOG: Final = MetricMapping(
    kind("log"),
    (("QJST", "", QJST),),
    {
        "io_count": _over("iocount", (0, 1, 2, 3)),
        "io_count_copy1": _over("iocount", (0, 1)),
        "io_count_copy2": _over("iocount", (2, 3)),
        "io_time_us": _over("iototio", (0, 1, 2, 3)),
        "io_time_us_copy1": _over("iototio", (0, 1)),
        "io_time_us_copy2": _over("iototio", (2, 3)),
        "io_avg_us": _mean_write,
        "io_max_us": _over("iomaxio", (0, 1, 2, 3), highest=True),
        "io_max_us_copy1": _over("iomaxio", (0, 1), highest=True),
        "io_max_us_copy2": _over("iomaxio", (2, 3), highest=True),
        "io_max_ts": _longest_io_at,
        "write_mb_s": _write_rate,
    },
    needs=("iocount", "iototio", "iomaxio", "iomaxiot", "ioci"),
    not_rates=frozenset({"io_max_us", "io_max_us_copy1", "io_max_us_copy2"}),
)
QUEUE_MANAGER: Final = MetricMapping(
    kind("queue_manager"),
    (("Q5ST", "", Q5ST), ("QMST", "qmst.", QMST), ("QIST", "qist.", QIST), ("QLST", "qlst.", QLST)),
    {"db2_max_us": _longest_db2},
    needs=tuple(f"{each}{part}" for each in _DB2 for part in ("cnt", "tmxw")),
    not_rates=frozenset({"db2_max_us"}),
)
STORAGE: Final = MetricMapping(
    kind("queue_manager"),
    (("QSRS", "", QSRS),),
    {"memlimit_in_force_mb": _limited("memlim"), "storage64_free_bytes": _limited("aval64")},
    needs=("memlim", "aval64"),
    not_rates=frozenset({"memlimit_in_force_mb", "storage64_free_bytes"}),
)
POOLS: Final = MetricMapping(
    kind("queue_manager"),
    (("QSPH", "", QSPH),),
    {
        "storage_pool_count": _number("pools"),
        "storage_pools_grown_bytes": _number("grown"),
        "storage_pool_largest": _part("largest"),
        "storage_pool_growing": _part("growing"),
    },
    needs=("pools", "grown", "largest", "growing"),
    not_rates=frozenset({"storage_pool_count", "storage_pools_grown_bytes"}),
)
DIRECT: Final = MetricMapping(
    kind("queue_manager"),
    (("QSGM", "", QSGM),),
    {"storage_direct_requests": _number("requests"), "storage_direct_largest": _part("largest")},
    needs=("requests", "largest"),
    not_rates=frozenset({"storage_direct_requests"}),
)
CF_STRUCTURE: Final = MetricMapping(kind("cf_structure"), (("QEST", "", _ONE_STRUCTURE),), needs=("str",))
SMDS: Final = MetricMapping(kind("smds"), (("QESD", "", QESD),), needs=("str",))
CHANNEL_INITIATOR: Final = MetricMapping(
    kind("channel_initiator"),
    (("QCCT", "", QCCT),),
    {
        "adapters_unused": _of_tasks("adapters_unused"),
        "adapter_requests": _of_tasks("adapter_requests"),
        "adapter_avg_cpu_us": _a_request("adapter_cpu"),
        "adapter_avg_elapsed_us": _a_request("adapter_elapsed"),
        "dispatcher_busiest_pct": _busy("dispatcher_busiest"),
        "dispatcher_idlest_pct": _busy("dispatcher_idlest"),
        "ssltasks_unused": _of_tasks("ssltasks_unused"),
        "ssl_longest_us": _of_tasks("ssl_longest", lambda tod: round(tod / 4096, 3)),
        "storage31_kb": _number("stus", lambda mb: mb * 1024),
    },
    needs=("qsgn", "stus"),
    not_rates=frozenset({"storage31_kb", "ssl_longest_us"}),
    # Many tasks make several records.
    overrides={
        "adapters_unused": MergeRule.SUM,
        "adapter_requests": MergeRule.SUM,
        "adapter_cpu": MergeRule.SUM,
        "adapter_elapsed": MergeRule.SUM,
        "dispatcher_busiest": MergeRule.HIGHEST,
        "dispatcher_idlest": MergeRule.LOWEST,
        "ssltasks_unused": MergeRule.SUM,
        "ssl_longest": MergeRule.HIGHEST,
    },
)
ADAPTER: Final = MetricMapping(kind("adapter"), (("QCT", "", QCTADP),))
DISPATCHER: Final = MetricMapping(kind("dispatcher"), (("QCT", "", QCTDSP),))
SSL_TASK: Final = MetricMapping(kind("ssl_task"), (("QCT", "", QCTSSL),))
DNS_TASK: Final = MetricMapping(kind("dns_task"), (("QCT", "", QCTDNS),))
QUEUE: Final = MetricMapping(
    kind("queue"),
    (("QQST", "", QQST),),
    {
        "uncommitted": _bit("flag", 0x20000000),
        "last_put_ts": local_text("lput"),
        "last_get_ts": local_text("lget"),
        "page_set": _page_set("psid"),
        "buffer_pool": _page_set("bpid"),
        "put_page_rate": _pages_put,
        "avg_msg_pages": _pages_of_average,
    },
    not_rates=frozenset({"page_set", "buffer_pool", "avg_msg_pages"}),
    needs=("qnam", "flag", "qsgn", "psid", "bpid", "lput", "lget", "puts", "put1", "putb", "pt1b"),
    # Each member reports its own handles of a shared queue and its own averages of the time on it.
    overrides={
        "opct": MergeRule.SUM,
        "ipct": MergeRule.SUM,
        "mage": MergeRule.HIGHEST,
        "qtst": MergeRule.HIGHEST,
        "qtlt": MergeRule.HIGHEST,
    },
)
CHANNEL: Final = MetricMapping(
    kind("channel"),
    (("QCST", "", QCST),),
    {
        "start_ts": local_text("strt"),
        "last_msg_ts": local_text("lmst"),
        "remote_queue_manager": _partner(of_application=False),
        "remote_application": _partner(of_application=True),
        "nettime_avg_us": _average("ntav"),
        "nettime_min_us": _measured("ntmn", "ntav"),
        "nettime_max_us": _measured("ntmx", "ntav"),
        "nettime_max_ts": _longest_at,
        "exittime_avg_us": _average("etav"),
        "exittime_min_us": _measured("etmn", "etav"),
        "exittime_max_us": _measured("etmx", "etav"),
    },
    needs=("chnm", "rqmn", "strt", "lmst", "ntav", "ntmn", "ntmx", "ntdt", "etav", "etmn", "etmx"),
    not_rates=frozenset(f"{each}_{part}_us" for each in ("nettime", "exittime") for part in ("avg", "min", "max")),
    # The record has the number of the CipherSpec, the commands its name.
    omitted=frozenset({"ssl_cipher"}),
    overrides={
        **{f"{key}_{part}": MergeRule.SUM for key in ("ntav", "etav") for part in ("total", "weight")},
        "cscv": MergeRule.SUM,
        "cpra": MergeRule.HIGHEST,
        "ntmx_at": MergeRule.HIGHEST,
    },
)
APPLICATION: Final = MetricMapping(
    kind("application"),
    (("", "", WQST), ("WTAS", "wtas.", WTAS), ("WTID", "wtid.", WTID)),
    {"transaction": _transaction},
    needs=("wtid.cori", "basename", "objname"),
)
BY_KIND: Final = {
    mapping.kind.name: mapping
    for mapping in (
        QUEUE_MANAGER,
        BUFFER_POOL,
        PAGE_SET,
        LOG,
        CF_STRUCTURE,
        SMDS,
        CHANNEL_INITIATOR,
        ADAPTER,
        DISPATCHER,
        SSL_TASK,
        DNS_TASK,
        QUEUE,
        CHANNEL,
        APPLICATION,
    )
}
"""By the name of the kind; further mappings of queue managers are not among them."""
_STORAGE: Final = {"SMF 115-5": POOLS, "SMF 115-6": DIRECT, "SMF 115-7": STORAGE}


def mapping_of(kind: str, probe: str) -> MetricMapping:
    """The mapping of a kind for the records of a probe (``SMF 115-2``)."""
    return _STORAGE.get(probe) or MEASURED.get((kind, probe)) or BY_KIND[kind]

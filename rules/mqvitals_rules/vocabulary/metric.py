"""The terms of the vocabulary: metric, kind of object, reason of absence; short forms and state names for its tables.

Names of states are those of MQSC, their numbers those of IBM's headers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypedDict, Unpack


class MetricType(Enum):
    """How a metric's values behave."""

    GAUGE = "gauge"  # a number as it is now
    COUNTER = "counter"  # a running total; stored as its increase in each interval
    STATE = "state"  # one of a list of named numbers; stored as the number
    TEXT = "text"  # kept in current state only, never in history


class Absence(Enum):
    """Why a value is absent, in the words on screens. Absent is never zero nor good. The store keeps member names."""

    NOT_COLLECTED = "not collected"  # monitoring is switched off for it (MONQ, MONCHL)
    NOT_ON_ZOS = "not on z/OS"
    NOT_ON_DISTRIBUTED = "only on z/OS"
    NOT_AUTHORISED = "not authorised"
    NOT_ASKED = "not asked"  # no answer selected it yet
    NOT_RETURNED = "not in the answer"  # the answer has the object, not this attribute
    NO_ANSWER = "no answer"  # it was asked for and nothing, or only a part, came
    UNREACHABLE = "queue manager unreachable"
    STALE = "stale"
    NEEDS_SMF = "needs SMF"
    NEEDS_STATISTICS = "needs statistics messages"  # what records are to z/OS, of a distributed queue manager
    NEEDS_CONSOLE = "needs console messages"  # no console of the queue manager is followed
    NEEDS_EVENTS = "needs event messages"  # the queue of such events is not read
    NOT_LIVE = "not a living connection"  # a recording has nothing about the agent's own calls
    NOT_DECLARED = "not declared"  # a fact that only the configuration has
    TIME_ZONE_UNKNOWN = "time zone unknown"
    FIRST_READING = "first reading"  # a counter needs two
    RESET = "counter was reset or wrapped"
    RESTARTED = "restarted lately"  # the queue manager was: its rates and increases are no measure yet
    SATURATED = "counter is saturated"  # it sticks at 999,999,999
    OUT_OF_RANGE = "out of range"  # a number that nothing can count to: the answer or record is damaged
    INACTIVE = "inactive"  # a channel without status has no figures
    OFFLINE = "offline"  # a page set that is: its sizes are not known
    NOT_IN_USE = "not in use"  # a page set or buffer pool without pages or buffers
    NOTHING_TO_TELL = "none"  # a blank date, an empty queue's oldest message
    AWAITED = "next record awaited"  # the newest is over, but its interval was short and says little of the next one
    WINDOW = "not enough history"  # a window function's window is not covered
    NOT_KEPT = "not kept"  # as of a past moment: the store keeps no text and no reason that has changed since

    # Each member is one object. Enum's own hash is a Python function, called for every look-up among special values.
    __hash__ = object.__hash__


Value = int | float | str
Reported = Value | Absence

LARGEST = 1 << 62
"""Numbers further from 0 are absent as out of range: the store holds 64 bits, and the difference of two must fit."""


def within_range(value: Reported) -> Reported:
    """The value, or OUT_OF_RANGE for a whole number beyond ``LARGEST``."""
    return Absence.OUT_OF_RANGE if type(value) is int and not -LARGEST <= value <= LARGEST else value


_OF_RMF = ("SMF70", "R702", "R723", "R744")
"""How the names of RMF's fields begin."""
IMPORTED = frozenset({"D XCF", "NETSTAT"})
"""Commands of z/OS whose output is imported as a text; no probe asks them."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One thing MQ reports, or that is computed or declared.

    - ``pcf``: the parameter (``MQIA_CURRENT_Q_DEPTH``), with ``[0]`` or ``[1]`` for the short-term and long-term half
      of a pair as z/OS orders them; or those of a date and its time, separated by a blank.
    - ``command``: the command whose reply fills it (``INQUIRE_Q_STATUS``). ``mqsc``: the MQSC keyword. ``since``: the
      first command level, 0 when it always existed.
    - ``smf``: the SMF field, or how several combine (``QPSTCBSL/QPSTNBUF``), in the rule language.
    - ``statistics``: the parameter of a statistics message of a distributed queue manager, or how several combine;
      ``[0]`` and ``[1]`` are the non-persistent and the persistent half of a pair, without an index both are added.
    - ``values``: the names of a state. ``special``: reported numbers that mean absence. ``words``: those that mean
      something else than an amount, and how people read them: ``off`` for 0.
    - ``computed``: how the product derives it, in words; a probe has code for it, ``pcf`` names what it starts from.
    - ``declared``: it comes from the configuration, with ``default`` when undeclared (a state's number; None: absent as
      "not declared") and ``defaults`` of single objects by name; ``layouts``: such defaults by the declared
      ``pool_layout`` of the queue manager. ``needed``: a comparison with it is unknown until it is declared; with other
      facts that have no default it is left out.
    - ``signed``: a gauge whose values can be below zero, although its unit counts something.
    - ``by_fact``: the fact that says where its figure is; undeclared, the metric is absent as "not declared".
    - ``derived_from``: a fact that is never declared itself; ``derive`` returns it from the declared values of an
      object, None where they are too few.
    """

    name: str
    unit: str
    type: MetricType
    meaning: str
    pcf: str = ""
    command: str = ""
    smf: str = ""
    statistics: str = ""
    mqsc: str = ""
    since: int = 0
    platform: str = "all"  # all, zos, distributed
    values: Mapping[str, int] = field(default_factory=dict)
    special: Mapping[int, Absence] = field(default_factory=dict)
    words: Mapping[int, str] = field(default_factory=dict)
    computed: str = ""
    declared: bool = False
    default: Value | None = None
    defaults: Mapping[str, Value] = field(default_factory=dict)
    layouts: Mapping[Value, Mapping[str, Value]] = field(default_factory=dict)
    needed: bool = False
    signed: bool = False
    by_fact: str = ""
    derived_from: tuple[str, ...] = ()
    derive: Callable[[Mapping[str, Value]], Value | None] | None = None

    def word_of(self, value: float) -> str:
        """What a number means that is no amount: ``off``, ``no limit``; empty for others."""
        if self.type is MetricType.GAUGE and value == NO_LIMIT:
            return "no limit"
        return next((word for number, word in self.words.items() if number == value), "")

    @property
    def in_history(self) -> bool:
        """True for numbers and states, which the store keeps over time."""
        return self.type is not MetricType.TEXT

    @property
    def needs_smf(self) -> bool:
        """True when nothing but an SMF record can fill it."""
        return bool(self.smf) and not (self.pcf or self.computed or self.declared or self.command)

    @property
    def measured(self) -> bool:
        """True when it is a figure of RMF's records, or of a text: most sites import none, and then it is not missed."""
        return self.smf.lstrip("(").startswith(_OF_RMF) or self.command in IMPORTED

    @property
    def needs_statistics(self) -> bool:
        """True when nothing but a statistics message can fill it."""
        return bool(self.statistics) and not (self.smf or self.pcf or self.computed or self.declared or self.command)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object and its metrics.

    ``poll`` names the answer whose arrival counts as one poll of an object of this kind: ``INQUIRE_...``, with a word
    for a part of it,
    ``CONNECTION`` for the attempt to reach a queue manager itself, ``COMMAND`` for the outcome of one form of command
    (kind ``agent``), or ``STORE`` for a measurement of the agent's own store.
    A kind with ``single`` has one object per queue manager or group, whose name has two parts (``QM01/log``).
    ``sets`` are named groups of one state metric's values, usable after ``in``: name -> (metric, value names).
    ``facts`` is the section of the configuration's facts that declares its objects; empty: nothing is declared of them.
    """

    name: str
    meaning: str
    poll: str
    metrics: tuple[Metric, ...]
    single: bool = False
    of_group: bool = False  # belongs to the queue-sharing group rather than to one queue manager
    sets: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    facts: str = ""

    @property
    def poll_command(self) -> str:
        """The command of its poll, without the part."""
        return self.poll.partition(" ")[0]

    def metric(self, name: str) -> Metric | None:
        """The metric called ``name``, or None."""
        return next((metric for metric in self.metrics if metric.name == name), None)


NO_LIMIT = 999_999_999
"""The greatest number that MQSC takes: as MAXDEPTH, MAXINST or LONGRTY it is no limit."""

OFF_AT_0: Mapping[int, str] = {0: "off"}
"""For intervals and thresholds that are off at 0."""

UNMONITORED: Mapping[int, Absence] = {-1: Absence.NOT_COLLECTED}
"""For what needs MONQ or MONCHL: MQMON_NOT_AVAILABLE instead of a figure."""

ONLY_ZOS = frozenset(
    {
        "INQUIRE_USAGE",
        "INQUIRE_LOG",
        "INQUIRE_ARCHIVE",
        "INQUIRE_SYSTEM",
        "INQUIRE_CHANNEL_INIT",
        "INQUIRE_CF_STRUC",
        "INQUIRE_CF_STRUC_STATUS",
        "INQUIRE_SMDS",
        "INQUIRE_SMDSCONN",
        "INQUIRE_SECURITY",
        "INQUIRE_QSG",
        "INQUIRE_STG_CLASS",
    }
)
"""Commands that no other platform knows; what they fill exists on z/OS alone."""


class MetricSource(TypedDict, total=False):
    """Where a metric comes from, and its properties: the fields of Metric that have a default."""

    pcf: str
    command: str
    smf: str
    statistics: str
    mqsc: str
    since: int
    platform: str
    special: Mapping[int, Absence]
    words: Mapping[int, str]
    computed: str
    declared: bool
    default: Value | None
    defaults: Mapping[str, Value]
    layouts: Mapping[Value, Mapping[str, Value]]
    needed: bool
    signed: bool
    by_fact: str
    derived_from: tuple[str, ...]
    derive: Callable[[Mapping[str, Value]], Value | None]


def gauge(name: str, unit: str, meaning: str, **source: Unpack[MetricSource]) -> Metric:
    """A number as it is now."""
    return Metric(name, unit, MetricType.GAUGE, meaning, **source)


def counter(name: str, unit: str, meaning: str, **source: Unpack[MetricSource]) -> Metric:
    """A running total, kept as its increase in each interval."""
    return Metric(name, unit, MetricType.COUNTER, meaning, **source)


def state(name: str, values: Mapping[str, int], meaning: str, **source: Unpack[MetricSource]) -> Metric:
    """One of the named numbers ``values``."""
    if id(values) in _OFF_WORDS and "words" not in source:
        source["words"] = _OFF_WORDS[id(values)]
    return Metric(name, "", MetricType.STATE, meaning, values=values, **source)


def text(name: str, meaning: str, **source: Unpack[MetricSource]) -> Metric:
    """A text, kept in current state only."""
    return Metric(name, "", MetricType.TEXT, meaning, **source)


def answer(command: str, *metrics: Metric) -> tuple[Metric, ...]:
    """``metrics`` as what the answer to ``command`` fills; on z/OS only where the command is."""
    if command in ONLY_ZOS:
        return tuple(replace(metric, command=command, platform="zos") for metric in metrics)
    return tuple(replace(metric, command=command) for metric in metrics)


def records(*metrics: Metric) -> tuple[Metric, ...]:
    """``metrics`` as what only records of intervals hold: SMF records on z/OS, statistics messages elsewhere."""
    return tuple(replace(metric, platform=_platform(metric)) for metric in metrics)


def _platform(metric: Metric) -> str:
    if not metric.statistics:
        return "zos"
    return "all" if metric.smf else "distributed"


StateNames = Mapping[str, int]

NO_YES: StateNames = {"NO": 0, "YES": 1}
OFF_ON: StateNames = {"OFF": 0, "ON": 1}
DISABLED_ENABLED: StateNames = {"DISABLED": 0, "ENABLED": 1}

MONITORING: StateNames = {"QMGR": -3, "NONE": -1, "OFF": 0, "LOW": 17, "MEDIUM": 33, "HIGH": 65}
"""MQMON: real-time monitoring and channel statistics."""
STATISTICS: StateNames = {"QMGR": -3, "NONE": -1, "OFF": 0, "ON": 1}
"""MQMON: queue statistics."""
EVENTS: StateNames = {"DISABLED": 0, "ENABLED": 1, "EXCEPTION": 2, "NODISPLAY": 3}
"""MQEVR."""
_OFF_WORDS: Mapping[int, Mapping[int, str]] = {
    id(OFF_ON): {OFF_ON["OFF"]: "off"},
    id(MONITORING): {MONITORING["OFF"]: "off", MONITORING["NONE"]: "off for all"},
    id(STATISTICS): {STATISTICS["OFF"]: "off", STATISTICS["NONE"]: "off for all"},
    id(EVENTS): {EVENTS["DISABLED"]: "off"},
}
"""By the identity of a table of states: what switches something off, whichever of MQ's words says it."""
DISPOSITION: StateNames = {"QMGR": 0, "COPY": 1, "SHARED": 2, "GROUP": 3, "PRIVATE": 4, "LIVE": 6}
"""MQQSGD: where an object's definition lives. ALL (-1) occurs in commands, never in replies."""
RUN_DISPOSITION: StateNames = {"DEFAULT": 1, "SHARED": 2, "PRIVATE": 4, "FIXSHARED": 5}
"""MQCHLD: where a channel runs."""

CHANNEL_TYPE: StateNames = {
    "SDR": 1, "SVR": 2, "RCVR": 3, "RQSTR": 4, "CLNTCONN": 6, "SVRCONN": 7, "CLUSRCVR": 8, "CLUSSDR": 9,
    "MQTT": 10, "AMQP": 11,
}  # fmt: skip
"""MQCHT."""
CHANNEL_STATUS: StateNames = {
    "INACTIVE": 0, "BINDING": 1, "STARTING": 2, "RUNNING": 3, "STOPPING": 4, "RETRYING": 5, "STOPPED": 6,
    "REQUESTING": 7, "PAUSED": 8, "DISCONNECTED": 9, "INITIALIZING": 13, "SWITCHING": 14,
}  # fmt: skip
"""MQCHS."""
CHANNEL_SUBSTATE: StateNames = {
    "OTHER": 0, "ENDBATCH": 100, "SEND": 200, "RECEIVE": 300, "SERIALIZE": 400, "RESYNCH": 500, "HEARTBEAT": 600,
    "SCYEXIT": 700, "RCVEXIT": 800, "SENDEXIT": 900, "MSGEXIT": 1000, "MREXIT": 1100, "CHADEXIT": 1200,
    "NETCONNECT": 1250, "SSLHANDSHK": 1300, "NAMESERVER": 1400, "MQPUT": 1500, "MQGET": 1600, "MQICALL": 1700,
    "COMPRESS": 1800,
}  # fmt: skip
"""MQCHSSTATE."""
PROTOCOL: StateNames = {"LU62": 1, "TCP": 2}
"""MQXPT, as far as z/OS knows them."""
COMPRESSION: StateNames = {
    "NONE": 0, "RLE": 1, "ZLIBFAST": 2, "ZLIBHIGH": 4, "SYSTEM": 8, "LZ4FAST": 16, "LZ4HIGH": 32, "ANY": 268435455,
}  # fmt: skip
"""MQCOMPRESS; -1 is "not available"."""
SECURITY_PROTOCOL: StateNames = {"NONE": 0, "SSLV3": 1, "TLSV1": 2, "TLSV12": 4, "TLSV13": 8}
"""MQSECPROT."""
SPEED: StateNames = {"NORMAL": 1, "FAST": 2}
"""MQNPMS."""
SERVICE: StateNames = {"STOPPED": 0, "STARTING": 1, "RUNNING": 2, "STOPPING": 3, "RETRYING": 4}
"""MQSVC_STATUS: the channel initiator and its listeners."""

CF_STATUS: StateNames = {
    "NOTFOUND": 0, "ACTIVE": 1, "INRECOVER": 2, "INBACKUP": 3, "FAILED": 4, "NONE": 5, "UNKNOWN": 6, "RECOVERED": 7,
    "EMPTY": 8, "NEW": 9, "ADMININCOMPLETE": 20, "NEVERUSED": 21, "NOBACKUP": 22, "NOTFAILED": 23,
    "NOTRECOVERABLE": 24, "XESERROR": 25,
}  # fmt: skip
"""MQCFSTATUS. Those from 20 upwards qualify error messages, but a status must never be a nameless number."""
CF_ACCESS: StateNames = {"ENABLED": 0, "SUSPENDED": 1, "DISABLED": 2}
"""MQCFACCESS."""
OFFLOAD: StateNames = {"NONE": 0, "SMDS": 1, "DB2": 2, "BOTH": 3}
"""MQCFOFFLD."""
SMDS_EXPAND: StateNames = {"DEFAULT": 0, "YES": 1, "NO": 2}
"""MQDSE."""

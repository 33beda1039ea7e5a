"""Facts: what no command reports and only the site knows, by pattern of objects.

Each field but ``objects`` is a declared metric of the vocabulary, under the same name, of the kind that the section is
about. The vocabulary has its meaning and default; here are its key, its bounds and its documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, cast

from mqvitals_config.decoding.problem import LocatedText, listing
from mqvitals_config.decoding.scalars import DATE_FORM, parse_date
from mqvitals_config.decoding.schema import Convert, Doc


def positive(number: int) -> int:
    """``number`` itself; raises ValueError when it is not above 0."""
    if number <= 0:
        raise ValueError("must be greater than 0")
    return number


def not_negative(number: int) -> int:
    """``number`` itself; raises ValueError when it is below 0."""
    if number < 0:
        raise ValueError("must not be negative")
    return number


def percentage(number: int) -> int:
    """``number`` itself; raises ValueError when it is not one of 1 to 100."""
    if not 1 <= number <= 100:
        raise ValueError("must be from 1 to 100")
    return number


def whole_percentage(number: int) -> int:
    """``number`` itself; raises ValueError when it is not one of 0 to 100."""
    if not 0 <= number <= 100:
        raise ValueError("must be from 0 to 100")
    return number


def six_or_eight(number: int) -> int:
    """``number`` itself; raises ValueError when it is neither 6 nor 8."""
    if number not in (6, 8):
        raise ValueError("must be 6 or 8")
    return number


def _as_written(text: LocatedText) -> LocatedText:
    return text


def _dated(text: LocatedText) -> LocatedText:
    parse_date(text)
    return text


def label(text: LocatedText) -> LocatedText:
    """``text`` itself, the label of a certificate; raises ValueError."""
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > 64 or ";" in text:
        raise ValueError(
            "a certificate's label has 1 to 64 characters, no semicolon or control character, and no blanks around it"
        )
    return text


def workload_class(text: LocatedText) -> LocatedText:
    """``text`` itself, the name of a service or report class of WLM; raises ValueError."""
    if not _WORKLOAD_CLASS.fullmatch(text):
        raise ValueError("the name of a service or report class has 1 to 8 letters, digits, $, # or @")
    return text


_WORKLOAD_CLASS = re.compile(r"[A-Z0-9$#@]{1,8}", re.IGNORECASE | re.ASCII)

Positive = Annotated[int, positive]
PositiveReal = Annotated[float, positive]
NotNegative = Annotated[int, not_negative]
Percentage = Annotated[int, percentage]
PercentageOrZero = Annotated[int, whole_percentage]
SixOrEight = Annotated[int, six_or_eight]
Volumes = tuple[LocatedText, ...]
AsWritten = Annotated[LocatedText, Convert(_as_written, raw=True)]
"""A word, whatever YAML takes it for, such as NO."""
DateText = Annotated[LocatedText, Convert(_dated, expected=DATE_FORM, raw=True)]
WorkloadClass = Annotated[LocatedText, Convert(workload_class, raw=True)]
Certificates = Mapping[Annotated[LocatedText, Convert(label, raw=True)], DateText]
"""The last day of each certificate by its label."""


def fact(text: str) -> Doc:
    """The documentation of a fact that is not declared by default."""
    return Doc(text, default="not declared")


class OptionalFacts:
    """Entries of which at least one fact must be given."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise ValueError for an entry without a fact."""
        names = [item.name for item in fields(cast("Any", self)) if item.name != "objects"]
        if all(getattr(self, name) is None for name in names):
            raise ValueError(f"this entry declares nothing; give {listing(names, 'or')}")


@dataclass(frozen=True, slots=True)
class BufferPoolFact:
    """What buffer pools are for."""

    objects: Annotated[LocatedText, Doc("A pattern of buffer pools, such as `QM01/buffer_pool/3`.")]
    purpose: Annotated[
        LocatedText,
        Doc(
            "What kind of messages they hold: system, system_shallow, system_deep, cluster_xmitq, short_lived, online,"
            " long_lived, batch, mixed or unclassified. It overrides the queue manager's `pool_layout`. Without either, pool"
            " 0 is system, a pool whose queues are all known and all SYSTEM queues is system_shallow, and every other pool is"
            " unclassified."
        ),
    ]


@dataclass(frozen=True, slots=True)
class PageSetFact:
    """How far page sets can grow."""

    objects: Annotated[LocatedText, Doc("A pattern of page sets, such as `QM01/page_set/*`.")]
    limit_gb: Annotated[
        Positive, Doc("How large their data sets can become, in GB: 4, or 64 with extended addressability.")
    ]


@dataclass(frozen=True, slots=True)
class LogFact(OptionalFacts):
    """Where logs are, and what their devices can take. At least one of the facts must be given."""

    objects: Annotated[LocatedText, Doc("A pattern of logs, such as `QM01/log`.")]
    capacity_mb_s: Annotated[
        PositiveReal | None, fact("What the devices of one log copy can take, in MB a second.")
    ] = None
    stripes: Annotated[
        Positive | None, fact("On how many volumes VSAM stripes an active log: 1 where it is not striped.")
    ] = None
    data_set_mb: Annotated[Positive | None, fact("How large the largest active log data set is, in MB.")] = None
    rba_bytes: Annotated[
        SixOrEight | None, fact("How many bytes its log positions (RBA) have, 6 or 8, as CSQJ034I shows at the start.")
    ] = None
    new_logs: Annotated[
        LocatedText | None,
        Doc("How active logs are made before they are added: preformatted or unformatted.", default="unformatted"),
    ] = None
    active_volumes_copy1: Annotated[
        Volumes | None, fact("The volumes of the active logs, copy 1, by their serials.")
    ] = None
    active_volumes_copy2: Annotated[Volumes | None, fact("The volumes of the active logs, copy 2.")] = None
    archive_volumes: Annotated[Volumes | None, fact("The disk volumes of the archive logs.")] = None
    page_set_volumes: Annotated[Volumes | None, fact("The volumes of busy page sets.")] = None


@dataclass(frozen=True, slots=True)
class QueueFact(OptionalFacts):
    """What queues are for. At least one of the facts must be given."""

    objects: Annotated[LocatedText, Doc("A pattern of queues, such as `*/queue/BATCH.*`.")]
    role: Annotated[
        LocatedText | None, fact("What the queue does, such as request, reply, query, update or batch.")
    ] = None
    pair: Annotated[LocatedText | None, fact("The other queue of a request and reply pair.")] = None
    lifetime: Annotated[LocatedText | None, fact("How long messages are meant to stay: short or long.")] = None
    workload: Annotated[LocatedText | None, fact("Who works with the queue: online or batch.")] = None
    ams_policy: Annotated[
        LocatedText | None,
        fact(
            "What the security policy named after the queue does, as `dspmqspl` prints it: integrity, privacy, confidentiality,"
            " or none where there is no such policy."
        ),
    ] = None
    ams_key_reuse: Annotated[
        NotNegative | None,
        fact(
            "Of a confidentiality policy: how many messages may use one key. 0 is off, the same as 1; give 999999999 for no limit."
        ),
    ] = None
    fed_by: Annotated[
        LocatedText | None, fact("The channel of the same queue manager that puts the messages which arrive here.")
    ] = None
    importance: Annotated[
        LocatedText | None, Doc("critical: a put that fails stops a business; or ordinary.", default="ordinary")
    ] = None
    flow_instances: Annotated[
        NotNegative | None, fact("Of a message flow's input queue: how many additional instances the flow has.")
    ] = None
    flow_idle_close_s: Annotated[
        Positive | None,
        fact("Of a message flow's input queue: after how many seconds without a message the flow closes its file."),
    ] = None


@dataclass(frozen=True, slots=True)
class ChannelFact(OptionalFacts):
    """What is known of channels: of the network under them and of the partner.

    At least one of the facts must be given.
    """

    objects: Annotated[LocatedText, Doc("A pattern of channels, such as `QM01/channel/TO.*`.")]
    ping_us: Annotated[Positive | None, fact("The usual time of a ping to the partner, in microseconds.")] = None
    peak_msgs_per_s: Annotated[Positive | None, fact("The most messages a second that the channel must carry.")] = None
    partner_ams: Annotated[
        LocatedText | None,
        fact(
            "YES where the other end's channel adds or removes AMS protection (its SPLPROT is REMOVE or ASPOLICY), else NO."
        ),
    ] = None
    xqtime_before_us: Annotated[
        Positive | None, fact("The usual XQTIME before the partner switched AMS on in its channel, in microseconds.")
    ] = None
    msg_expiry_s: Annotated[
        Positive | None, fact("The shortest expiry that senders give to messages for this channel, in seconds.")
    ] = None


@dataclass(frozen=True, slots=True)
class CfStructureFact(OptionalFacts):
    """What the coupling facility's policy defines for structures."""

    objects: Annotated[LocatedText, Doc("A pattern of structures, such as `PRDQSG/cf_structure/*`.")]
    full_threshold_pct: Annotated[
        Percentage | None, Doc("FULLTHRESHOLD of the CFRM policy, in percent.", default="80")
    ] = None
    policy_initsize_kb: Annotated[Positive | None, fact("INITSIZE of the CFRM policy, in KB.")] = None
    policy_size_kb: Annotated[Positive | None, fact("SIZE of the CFRM policy, in KB.")] = None
    auto_alter: Annotated[
        AsWritten | None, fact("ALLOWAUTOALT of the CFRM policy: YES or NO. A policy without it has NO.")
    ] = None
    elements_max: Annotated[
        Positive | None, fact("The list elements that there are, as `D XCF,STR,STRNAME=...` shows them.")
    ] = None
    recovery_target_s: Annotated[
        Positive | None, fact("How long a recovery from backup and logs may take, in seconds.")
    ] = None


@dataclass(frozen=True, slots=True)
class GroupFact(OptionalFacts):
    """What is known of the sysplex and the coupling facilities that a queue-sharing group uses."""

    objects: Annotated[LocatedText, Doc("A pattern of groups, such as `PRDQSG/qsg`.")]
    cf_busy_pct: Annotated[
        Percentage | None,
        fact("How busy the busiest coupling facility is, in percent, where RMF's records are not imported."),
    ] = None
    cfcc_level: Annotated[
        Positive | None, fact("The lowest level of coupling facility code (CFCC) that is in use.")
    ] = None
    sysplex_structures: Annotated[
        Positive | None, fact("How many structures of all sorts the sysplex has, as `D XCF,STR` shows them.")
    ] = None


@dataclass(frozen=True, slots=True)
class QueueManagerFact(OptionalFacts):
    """What is known of queue managers' systems, storage and users. At least one of the facts must be given."""

    objects: Annotated[LocatedText, Doc("A pattern of queue managers, such as `QM01/queue_manager`.")]
    pool_layout: Annotated[
        LocatedText | None,
        Doc(
            "Which published arrangement its buffer pools follow: ibm (pool 1 long_lived, 2 short_lived, 3 mixed), gse2017"
            " (pool 1 system_shallow, 2 system_deep) or none.",
            default="none",
        ),
    ] = None
    processors: Annotated[Positive | None, fact("How many processors its LPAR has.")] = None
    cpu_busy_pct: Annotated[
        Percentage | None,
        fact("How busy the processors of its LPAR are at peak, in percent, where RMF's records are not imported."),
    ] = None
    crypto_busy_pct: Annotated[
        Percentage | None,
        fact("How busy its cryptographic processors are at peak, in percent, where RMF's records are not imported."),
    ] = None
    mstr_class: Annotated[
        WorkloadClass | None,
        fact(
            "The report class, or service class, that holds its own address space (MSTR): whose processor time is taken from RMF's"
            " records (72-3). Give a report class that holds this address space alone; a service class such as SYSSTC has the"
            " time of everything in it."
        ),
    ] = None
    chin_class: Annotated[
        WorkloadClass | None,
        fact("The same of its channel initiator's address space (CHIN), which needs a report class of its own."),
    ] = None
    crypto_hardware: Annotated[
        AsWritten | None,
        fact("NO where its TLS has no cryptographic hardware (CPACF or Crypto Express) to use, else YES."),
    ] = None
    crl_checking: Annotated[
        AsWritten | None,
        fact("YES where its channels have certificates checked for revocation (an LDAP look-up each), else NO."),
    ] = None
    reslevel: Annotated[
        LocatedText | None,
        fact(
            "The access of its channel initiator's user to hlq.RESLEVEL in class MQADMIN: NONE, READ, UPDATE, CONTROL or ALTER."
        ),
    ] = None
    tcp_dynamic_buffers: Annotated[
        AsWritten | None,
        fact(
            "YES where TCP may size its channels' buffers itself (TUNE CHINTCPRBDYNSZ and CHINTCPSBDYNSZ in its CSQINP2), else NO."
        ),
    ] = None
    chinit_ams: Annotated[
        AsWritten | None,
        fact("YES where the user of its channel initiator has a key ring and the authority that AMS wants, else NO."),
    ] = None
    shared_queues: Annotated[NotNegative | None, fact("How many shared queues its group has, where they are many.")] = (
        None
    )
    test: Annotated[
        LocatedText | None,
        Doc(
            "YES where it serves tests: nothing is said of what protects production, such as archive logs.",
            default="NO",
        ),
    ] = None
    smf_read: Annotated[
        LocatedText | None,
        Doc(
            "YES where its SMF statistics are to arrive here, so that it is a fault when they stop. Undeclared it is NO."
        ),
    ] = None
    memlimit_mb: Annotated[
        Positive | None, fact("MEMLIMIT of its address space, in MB. Leave it out where it is NOLIMIT.")
    ] = None
    storage_budget_mb: Annotated[
        Positive | None, fact("The auxiliary storage that its 64-bit storage may take, in MB.")
    ] = None
    security_users: Annotated[Positive | None, fact("How many users it knows within a security timeout.")] = None
    security_resources: Annotated[Positive | None, fact("How many queues and other resources each of them uses.")] = (
        None
    )
    certificates: Annotated[
        Certificates | None,
        fact(
            "The certificates of its key ring that its channels use, each with its last day: `{QM01.CERT: 2027-03-31}`. No command of"
            " MQ reports when a certificate expires."
        ),
    ] = None
    supported_until: Annotated[
        DateText | None,
        Doc(
            "The last day on which its release is supported, such as 2027-09-30.",
            default="what the table of releases says",
        ),
    ] = None
    maxshortmsgs: Annotated[
        NotNegative | None,
        fact(
            "The value of `REC QMGR (TUNE MAXSHORTMSGS n)` in its CSQINP2; 0 packs several short messages into a page. Leave it out"
            " where there is no such line."
        ),
    ] = None
    planned_indexed_msgs: Annotated[
        Positive | None, fact("How many messages its indexed queues are to hold together.")
    ] = None


@dataclass(frozen=True, slots=True)
class ChannelInitiatorFact(OptionalFacts):
    """What is known of channel initiators' storage and messages. At least one of the facts must be given."""

    objects: Annotated[LocatedText, Doc("A pattern of channel initiators, such as `QM01/channel_initiator`.")]
    listeners_needed: Annotated[Positive | None, fact("How many listeners must run.")] = None
    extended_private_kb: Annotated[
        Positive | None, fact("The private storage above the 16 MB line that its address space can get, in KB.")
    ] = None
    tls_msg_kb: Annotated[
        Positive | None, Doc("The longest message that travels over its TLS channels, in KB.", default="up to 32")
    ] = None
    persistent_pct: Annotated[
        PercentageOrZero | None, fact("The share of persistent messages in those that its channels carry, in percent.")
    ] = None


@dataclass(frozen=True, slots=True)
class ApplicationFact(OptionalFacts):
    """What is known of applications' messages. At least one of the facts must be given."""

    objects: Annotated[LocatedText, Doc("A pattern of applications and their queues: `QM01/application/PAYJOB/*`.")]
    selector: Annotated[
        LocatedText | None, fact("The message selector that its gets use, as the program gives it.")
    ] = None
    properties: Annotated[NotNegative | None, fact("How many message properties it sets in a message.")] = None
    group_size: Annotated[Positive | None, fact("How many messages its message groups have.")] = None


@dataclass(frozen=True, slots=True)
class FactSettings:
    """Facts that no command reports, by pattern of objects. The last entry that fits counts."""

    buffer_pools: Annotated[tuple[BufferPoolFact, ...], Doc("What buffer pools are for.")] = ()
    page_sets: Annotated[tuple[PageSetFact, ...], Doc("How far page sets can grow.")] = ()
    logs: Annotated[tuple[LogFact, ...], Doc("Where logs are, and what their devices can take.")] = ()
    queues: Annotated[tuple[QueueFact, ...], Doc("What queues are for.")] = ()
    channels: Annotated[tuple[ChannelFact, ...], Doc("What is known of the network under channels.")] = ()
    cf_structures: Annotated[
        tuple[CfStructureFact, ...], Doc("What the coupling facility's policy defines for structures.")
    ] = ()
    groups: Annotated[
        tuple[GroupFact, ...], Doc("What is known of coupling facilities and the sysplex of queue-sharing groups.")
    ] = ()
    queue_managers: Annotated[
        tuple[QueueManagerFact, ...], Doc("What is known of queue managers' systems, storage and users.")
    ] = ()
    channel_initiators: Annotated[
        tuple[ChannelInitiatorFact, ...], Doc("What is known of channel initiators' storage and messages.")
    ] = ()
    applications: Annotated[tuple[ApplicationFact, ...], Doc("What is known of applications' messages.")] = ()

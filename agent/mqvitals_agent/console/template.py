"""Templates of console messages: what the text of an id says, as inserts, and the object that it names.

The template of an id is a regular expression on the text behind id, command prefix and module name, with single
blanks, ignoring case; its groups are the inserts; sizes of storage become MB. Words are those of ``mqsc-text-zos.md``, 6; of messages that could
not be read anywhere they are what is known, so they match loosely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_Q = r"(?P<queue>[A-Z0-9._/%a-z]{1,48})"
_CHANNEL = r"(?P<channel>[A-Z0-9._/%a-z]{1,20})"
_STRUCTURE = r"(?P<structure>[A-Z0-9$#@_]{1,16})"
_POOL = r"(?P<pool>\d{1,3})"
_PSID = r"(?P<psid>\d{1,3})"
_NET = (
    rf"channel {_CHANNEL} connection (?P<conn>.{{0,300}}?) \(queue manager (?P<partner>[^)]{{0,48}})\)"
    r"(?: TRPTYPE=(?P<trptype>\S{1,8}))?(?: RC=(?P<rc>[0-9A-F]{1,8}))?"
)
_OPTIONAL_CONN = r"(?: connection (?P<conn>.{1,300}))?"
_SMDS = rf"\bSMDS\((?P<smds>\w{{1,4}})\) CFSTRUCT\({_STRUCTURE}\)"
_SMDS_CONNECTION = rf"\bSMDSCONN\((?P<smds>\w{{1,4}})\) CFSTRUCT\({_STRUCTURE}\)"
_RBA = r"(?P<rba>[0-9A-F]{6,16})"
_UOW = r",? ?URID=(?P<urid>[0-9A-F]{1,16}),? connection name=(?P<conn>\S{1,48})"
_LISTENER = (
    r"(?:,? port (?P<port>\d{1,5})(?: address (?P<ip>\S{1,48}?))?,?)?"
    r"(?:,? TRPTYPE=(?P<trptype>\w{1,8}))?(?: INDISP=(?P<indisp>\w{1,8}))?"
)
_SIZE = r">?\d{1,9} ?[KMGTP]B"
_STORAGE = (
    rf"(?:storage usage: ?local storage: used|is using) (?P<local_used>{_SIZE})(?:, free| of local storage,)"
    rf" (?P<local_free>{_SIZE})(?:: above bar: used (?P<above_used>{_SIZE}), free (?P<above_free>{_SIZE}))?"
)
_TLS = rf"\bchannel {_CHANNEL}"

TEMPLATES: Final[Mapping[str, str]] = {
    # Buffer pools and page sets
    "CSQP020E": rf"^Buffer pool {_POOL} is too small",
    "CSQP001I": rf"^Buffer pool {_POOL} has (?P<buffers>\d+) buffers",
    "CSQP023I": rf"^Request completed for buffer pool {_POOL}, now has (?P<buffers>\d+) buffers",
    "CSQP007I": rf"^Page set {_PSID} uses buffer pool (?P<of_pool>\d+)",
    "CSQP004E": rf"^I/O ERROR STATUS (?P<rc>\S+) PSID {_PSID} RBA (?P<rba>[0-9A-F]+)",
    "CSQP011E": rf"^CONNECT ERROR STATUS (?P<rc>\S+) FOR PAGE SET {_PSID}",
    "CSQP017I": rf"^EXPANSION STARTED FOR PAGE SET {_PSID}",
    "CSQP013I": rf"^NEW EXTENT CREATED FOR PAGE SET {_PSID}\.",
    "CSQI031I": rf"^THE NEW EXTENT OF PAGE SET {_PSID} HAS FORMATTED",
    "CSQP014E": rf"^EXPANSION FAILED FOR PAGE SET {_PSID}",
    "CSQP016E": rf"^PAGE SET {_PSID} HAS REACHED THE MAXIMUM NUMBER OF EXTENTS",
    "CSQI005I": rf"^PAGE SET {_PSID} OFFLINE\. RECOVERY RBA ?= ?(?P<rba>[0-9A-F]+)",
    "CSQI021I": rf"^PAGE SET {_PSID} IS EMPTY\. MEDIA RECOVERY STARTED",
    "CSQI041I": rf"^JOB (?P<job>\S+) USER (?P<user>\S+) HAD ERROR ACCESSING PAGE SET {_PSID}",
    "CSQP019I": rf"^CHECKPOINT COMPLETED FOR BUFFER POOL {_POOL}, (?P<pages>\d+) PAGES WRITTEN",
    "CSQP021I": rf"^Page set {_PSID} new media recovery RBA=(?P<rba>[0-9A-F]+)",
    "CSQI049I": rf"^Page set {_PSID} has media recovery RBA=(?P<rba>[0-9A-F]+)",
    "CSQI053E": rf"\bPAGE ?SET {_PSID}",
    # Indexes of queues
    "CSQI004I": (
        rf"^Consider indexing {_Q} by (?P<index>\w+) for (?P<type>\w+) connection (?P<conn>.{{0,300}}?), "
        r"(?P<skipped>\w+) messages skipped"
    ),
    "CSQI007I": rf"^BUILDING IN-STORAGE INDEX FOR (?:QUEUE )?{_Q}",
    "CSQI006I": rf"^COMPLETED IN-STORAGE INDEX FOR (?:QUEUE )?{_Q}",
    # Log and recovery
    "CSQI045I": rf"^Log RBA has reached {_RBA}",
    "CSQI046E": rf"^Log RBA has reached {_RBA}",
    "CSQI047E": rf"^Log RBA has reached {_RBA}",
    "CSQJ004I": r"^ACTIVE LOG COPY ?(?P<copy>\d) INACTIVE",
    "CSQJ005I": r"^ACTIVE LOG COPY ?(?P<copy>\d) IS ACTIVE",
    "CSQJ008E": r"^(?P<full>\d{1,4}) OF (?P<total>\d{1,4}) ACTIVE LOGS ARE FULL",
    "CSQJ032E": rf"^(?P<level>\w{{1,16}}) - APPROACHING END OF THE LOG RBA RANGE OF (?P<max>[0-9A-F]{{1,16}})\. CURRENT LOG RBA IS {_RBA}",
    "CSQJ034I": r"^END OF LOG RBA RANGE IS (?P<max>[0-9A-F]{1,16})",
    "CSQJ103E": r"^LOG ALLOCATION ERROR DSNAME=(?P<dsname>\S{1,54}?), ?ERROR STATUS=(?P<status>\w{1,16})",
    "CSQJ110E": r"^LAST COPY ?(?P<copy>\d) ACTIVE LOG DATA SET IS (?P<pct>\d{1,3}) PERCENT FULL",
    "CSQJ111A": r"^OUT OF SPACE IN ACTIVE LOG DATA SETS",
    "CSQJ114I": r"^ERROR ON ARCHIVE DATA SET, OFFLOAD CONTINUING",
    "CSQJ115E": r"^OFFLOAD FAILED, COULD NOT ALLOCATE",
    "CSQJ126E": r"^BSDS ERROR FORCED SINGLE BSDS MODE",
    "CSQJ128E": r"^LOG OFF-?LOAD TASK FAILED(?: FOR ACTIVE LOG (?P<dsname>\S{1,54}))?",
    "CSQJ160I": rf"^Long-running UOW found{_UOW}",
    "CSQJ161I": rf"^UOW unresolved after (?P<offloads>\d{{1,6}}) offloads{_UOW}",
    "CSQJ312I": r"^ARCHIVE LOG QUIESCE START(?:ING|ED)\.?(?:.{0,40}? IS (?P<limit_s>\d{1,6}) SECONDS)?",
    "CSQJ372I": rf"^Logging suspended for (?P<qmgr>\S{{1,4}}) at RBA={_RBA}",
    "CSQJ373I": r"^Logging resumed for (?P<qmgr>\S{1,4})",
    "CSQR020I": r"^OLD UOW FOUND",
    "CSQR021D": r"^REPLY Y TO COMMIT",
    "CSQR026I": rf"^Long-running UOW shunted to RBA={_RBA}{_UOW}",
    "CSQR027I": rf"^Long-running UOW shunting failed{_UOW}",
    "CSQV400I": r"^ARCHIVE LOG QUIESCE CURRENTLY ACTIVE",
    # Queue manager
    "CSQM050I": r"^Intra-group queuing agent starting(?:,? TCB=(?P<tcb>\w{1,16}))?",
    "CSQM051I": r"^Intra-group queuing agent stopping(?:,? TCB=(?P<tcb>\w{1,16}))?",
    "CSQM056E": rf"^(?P<call>MQ\w+) failed for queue {_Q}, MQRC=(?P<mqrc>\d+)",
    "CSQN200I": r"^COMMAND SERVER (?:IS )?STARTING",
    "CSQN201I": r"^COMMAND SERVER (?:IS )?STOPPING",
    "CSQV086E": r"^QUEUE MANAGER ABNORMAL TERMINATION REASON= ?(?P<reason>\w{1,8})",
    "CSQW133E": r"^TRACE DATA LOST, (?P<destination>\S{1,8}) NOT ACCESSIBLE(?: RC=(?P<rc>\w{1,8}))?",
    "CSQY000I": r"^IBM MQ for z/OS V(?P<version>[\d.]{1,12})(?: (?P<type>\w{1,8}))?",
    "CSQY002I": r"^QUEUE MANAGER STOPPING",
    "CSQY009I": r"^(?P<command>.{1,40}?) COMMAND ACCEPTED FROM USER\((?P<user>[^)]{1,8})\)",
    "CSQY022I": r"^QUEUE MANAGER INITIALIZATION COMPLETE",
    "CSQY220I": rf"^Queue manager {_STORAGE}",
    "CSQY221I": r"^Queue manager is short of (?P<what>.{1,40}?storage)",
    "CSQY222E": r"^Queue manager is critically short of (?P<what>.{1,40}?storage)",
    "CSQY223I": r"^Queue manager is no longer short of (?P<what>.{1,40}?storage)",
    "CSQY224I": r"^Queue manager is short of (?P<what>.{1,40}?storage)",
    "CSQY225E": r"^Queue manager is critically short of (?P<what>.{1,40}?storage)",
    "CSQY226I": r"^Queue manager is no longer short of (?P<what>.{1,40}?storage)",
    "CSQ3002I": r"^INDOUBT RECOVERY BY (?P<conn>\S{1,48}) STILL IN PROGRESS",
    "CSQ3104I": r"^(?:- )?TERMINATION COMPLETE",
    "CSQ9016E": r"^'\s*(?P<verb>[^']{0,80})' command request not authorized",
    "CSQ2010I": r"^CONNECTED TO PARTNER, XCFGNAME=(?P<group>\S{1,8}?),? XCFMNAME=(?P<member>\S{1,16}?)(?:,| |$)",
    "CSQ2011I": r"^DISCONNECTED FROM PARTNER, XCFGNAME=(?P<group>\S{1,8}?),? XCFMNAME=(?P<member>\S{1,16}?)(?:,| |$)",
    # Db2
    "CSQ5001I": r"^Connected to DB2 (?P<db2>\S{1,8})",
    "CSQ5003A": r"^Connection to DB2 using (?P<db2>\S{1,8}) pending",
    "CSQ5014I": r"^Connection to (?P<db2>\S{1,8}) lost",
    "CSQ5015I": r"^Connection to (?P<db2>\S{1,8}) lost",
    "CSQ5038I": r"^Service task (?P<task>\S{1,16}) has been unresponsive since (?P<since>\S{1,20}?)\.? ",
    # Channel initiator
    "CSQX004I": rf"^Channel initiator {_STORAGE}",
    "CSQX007E": r"^Unable to connect to queue manager (?P<qmgr>\S{1,48}?), ?MQCC=(?P<mqcc>\d{1,2}) MQRC=(?P<mqrc>\d{1,5})",
    "CSQX022I": r"^Channel initiator initialization complete",
    "CSQX023I": rf"^Listener started{_LISTENER}",
    "CSQX100E": r"^(?P<what>\w[\w ]{0,40}?) failed to start",
    "CSQX140E": r"^(?P<what>\w[\w ]{0,40}?) failed to start",
    "CSQX150E": r"^(?P<what>\w[\w ]{0,40}?) failed to start",
    "CSQX218E": rf"^Listener .{{0,40}}?unable to bind{_LISTENER}(?: RC=(?P<rc>\w{{1,8}}))?",
    "CSQX234I": rf"^Listener stopped{_LISTENER}",
    "CSQX251I": rf"^Listener started{_LISTENER}",
    "CSQX410I": r"^Repository manager started",
    "CSQX411I": r"^Repository manager stopped",
    "CSQX418I": r"^Only one repository for cluster (?P<cluster>\S{1,48})",
    "CSQX420I": r"^No repositories for cluster (?P<cluster>\S{1,48})",
    "CSQX448E": r"^Repository manager stopping because of errors\.(?: Restart in (?P<restart_s>\d{1,6}) seconds)?",
    "CSQX449I": r"^Repository manager restarted",
    "CSQX567E": rf"^Listener unable to register to APPC/MVS{_LISTENER}(?: RC=(?P<rc>\w{{1,8}}))?",
    # Channels
    "CSQX206E": rf"^Error sending data, {_NET}",
    "CSQX208E": rf"^Error receiving data, {_NET}",
    "CSQX209E": rf"^Connection unexpectedly terminated, {_NET}",
    "CSQX202E": rf"^Connection or remote listener unavailable, {_NET}",
    "CSQX259E": rf"^Connection timed out, {_NET}",
    "CSQX489E": rf"^Maximum instance limit (?P<limit>\d+) exceeded,? channel {_CHANNEL}(?: connection (?P<ip>[^\s(]{{1,48}}))?",
    "CSQX490E": rf"^Maximum client instance limit (?P<limit>\d+) exceeded,? channel {_CHANNEL}(?: connection (?P<ip>[^\s(]{{1,48}}))?",
    "CSQX500I": rf"^Channel {_CHANNEL} started{_OPTIONAL_CONN}",
    "CSQX501I": rf"^Channel {_CHANNEL} (?:is )?no longer active{_OPTIONAL_CONN}",
    "CSQX507E": rf"^Channel {_CHANNEL} is in-doubt",
    "CSQX511I": rf"^Channel {_CHANNEL} started{_OPTIONAL_CONN}",
    "CSQX512I": rf"^Channel {_CHANNEL} (?:is )?no longer active{_OPTIONAL_CONN}",
    "CSQX513E": rf"^Current channel limit exceeded,? channel {_CHANNEL}",
    "CSQX526E": rf"^Message sequence error for channel {_CHANNEL},? sent=(?P<sent>\d+) expected=(?P<expected>\d+)",
    "CSQX534E": rf"^Channel {_CHANNEL} is stopped",
    "CSQX545I": rf"^Channel {_CHANNEL} closing because disconnect interval expired",
    "CSQX548E": rf"^Messages sent to local dead-letter queue, channel {_CHANNEL},? reason=(?P<mqrc>\d+)",
    "CSQX573E": rf"^Channel {_CHANNEL} exceeded (?P<limit>.{{1,40}}?) channel limit",
    "CSQX574I": rf"^Channel {_CHANNEL} can now start",
    "CSQX599E": rf"^Channel {_CHANNEL} ended abnormally",
    "CSQX620E": (
        rf"^System SSL error,? channel {_CHANNEL}(?:.{{0,300}}?function '(?P<function>[^']{{0,40}})')?"
        r"(?:.{0,20}?RC=(?P<rc>\d{1,9}))?"
    ),
    **{f"CSQX63{digit}E": _TLS for digit in range(10)},
    "CSQX776E": rf"^Channel {_CHANNEL} from (?P<ip>\S+) has been blocked due to (?P<why>[^,]+)",
    "CSQX777E": rf"^Channel {_CHANNEL} from (?P<ip>\S+) has been blocked due to (?P<why>[^,]+)",
    # Coupling facility
    "CSQE005I": rf"^Structure {_STRUCTURE} connected as (?P<conn>\S+?),? version=(?P<version>.+)",
    "CSQE006I": rf"^Structure {_STRUCTURE} connection name (?P<conn>\S+) disconnected",
    "CSQE016E": rf"^Structure {_STRUCTURE} connection name (?P<conn>\S+) disconnected, RC=(?P<rc>\w+) reason=(?P<reason>\w+)",
    "CSQE007I": rf"^(?P<event>\S+) event received for structure {_STRUCTURE}",
    "CSQE008I": rf"^Recovery event from (?P<member>\S+) received for structure {_STRUCTURE}",
    **{
        f"CSQE01{digit}I": rf"^Recovery phase (?P<phase>\d) .{{0,40}}?for structure {_STRUCTURE}"
        for digit in range(1, 6)
    },
    "CSQE038E": rf"^Structure {_STRUCTURE} is full",
    "CSQE035E": rf"^Structure {_STRUCTURE} in failed state",
    "CSQE036E": rf"^Structure {_STRUCTURE} in failed state",
    "CSQE040I": rf"^Structure {_STRUCTURE} should be backed up",
    "CSQE041E": rf"^Structure {_STRUCTURE} backup is more than a day old",
    "CSQE120I": rf"^Backup of structure {_STRUCTURE} started",
    "CSQE121I": rf"^Backup of structure {_STRUCTURE} completed",
    "CSQE140I": rf"^Started listening for ENF 35 events for structure {_STRUCTURE}",
    "CSQE141I": rf"^Stopped listening for ENF 35 events for structure {_STRUCTURE}",
    "CSQE142I": rf"^Total loss of connectivity reported for structure {_STRUCTURE}",
    "CSQE143I": rf"^Partial loss of connectivity reported for structure {_STRUCTURE}",
    "CSQE213I": rf"{_SMDS} data set (?P<dsname>\S+) is now (?P<pct>\d+)% full",
    "CSQE239I": rf"{_SMDS} data set (?P<dsname>\S+) has become full",
    "CSQE241I": rf"{_SMDS} now has STATUS\((?P<status>\w{{1,12}})\)",
    "CSQE242I": rf"{_SMDS} now has ACCESS\((?P<access>\w{{1,12}})\)",
    "CSQE243I": rf"{_SMDS_CONNECTION} now has STATUS\((?P<connection>\w{{1,12}})\)",
    "CSQE244I": rf"{_SMDS_CONNECTION} now has AVAIL\((?P<avail>\w{{1,12}})\)",
    # z/OS
    "IXC585E": r"^STRUCTURE (?P<xes>[A-Z0-9$#@_]{5,16}) IN COUPLING FACILITY",
    "IXC586I": r"^STRUCTURE (?P<xes>[A-Z0-9$#@_]{5,16})\b",
    "IXL013I": r"^IXLCONN REQUEST FOR STRUCTURE (?P<xes>[A-Z0-9$#@_]{5,16}) FAILED\.? JOBNAME: (?P<job>\S+)",
    "IXL014I": r"^IXLCONN REQUEST FOR STRUCTURE (?P<xes>[A-Z0-9$#@_]{5,16}) WAS SUCCESSFUL\. JOBNAME: (?P<job>\S+)",
    "IEC070I": r"^(?P<rc>\w+\(\w+\))-\w+,(?P<job>[A-Z0-9$#@]{1,8}),",
    "ICH408I": r"^USER\((?P<user>[^)]{1,8})\).{0,300}? (?P<profile>[A-Z0-9]{1,4}\.\S{1,250}) CL\(M[QX]\w{1,6} ?\)",
    "$HASP373": r"^(?P<job>[A-Z0-9$#@]{1,8}) STARTED",
    "$HASP395": r"^(?P<job>[A-Z0-9$#@]{1,8}) ENDED",
}

ONE_SYSTEM_IDS: Final = frozenset({"IRA200E", "IVT5592I"})
"""Messages of z/OS about one system, so about each of its queue managers."""
SYSTEM_WIDE_IDS: Final = ONE_SYSTEM_IDS | {"IXC585E", "IXC586I"}
"""Messages of z/OS about a system or the whole group, so about each of their queue managers."""
ZOS_IDS: Final = SYSTEM_WIDE_IDS | {"IXL013I", "IXL014I", "IEC070I", "ICH408I", "$HASP373", "$HASP395"}
"""Messages of z/OS that are kept; those that are not system-wide only when they name a queue manager's job or
profile."""


def inserts(code: str, text: str) -> Mapping[str, str] | None:
    """The inserts of a message by name; None when the id has no template or the text does not match it."""
    template = TEMPLATES.get(code)
    # ``re`` caches the compiled expressions.
    found = None if template is None else re.search(template, text, re.IGNORECASE)
    if found is None:
        return None
    return {
        name: _megabytes(value) if name in _SIZES else value
        for name, value in found.groupdict().items()
        if value is not None
    }


_SIZES: Final = frozenset({"local_used", "local_free", "above_used", "above_free"})
_UNITS: Final = {"K": -1, "M": 0, "G": 1, "T": 2, "P": 3}


def _megabytes(size: str) -> str:
    """A size in MB, as a number: ``1762MB``, ``2 GB``, ``>16TB``."""
    number, power = int(size.lstrip("> ").rstrip("KMGTPkmgtpBb ")), _UNITS[size[-2].upper()]
    return str(number * 1024**power if power >= 0 else number // 1024)


_BY_NAME: Final = {"queue": "queue", "channel": "channel"}
_BY_NUMBER: Final = {"pool": "buffer_pool", "psid": "page_set"}
_GROUP_NAME: Final = 4
"""The length of the group's name before a structure's name in z/OS, the insert ``xes``."""


def named_object(named: Mapping[str, str]) -> tuple[str, str]:
    """Kind and name of the object that a message is about, by its inserts; both empty when it names none."""
    for insert, kind in _BY_NUMBER.items():
        if insert in named:
            return kind, str(int(named[insert]))
    if "structure" in named:
        structure = named["structure"]
        return ("smds", f"{structure}/{named['smds']}") if "smds" in named else ("cf_structure", structure)
    if "xes" in named:
        return "cf_structure", named["xes"][_GROUP_NAME:]
    for insert, kind in _BY_NAME.items():
        if insert in named:
            return kind, named[insert]
    return "", ""

"""What the messages that matter look like: an expression for each id, whose named parts are the inserts.

The expressions are for the text behind id, command prefix and module name, joined and with single blanks; they are searched for
without regard to case. Names of inserts that name an object are those of ``OBJECTS``.
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
_SMDS = rf"SMDS\((?P<member>\w{{1,4}})\) CFSTRUCT\({_STRUCTURE}\)"

OBJECTS: Final = {
    "pool": "buffer_pool",
    "psid": "page_set",
    "structure": "cf_structure",
    "xes": "cf_structure",
    "queue": "queue",
    "channel": "channel",
}
"""Insert -> the kind of the object that it names. ``xes`` is a structure's name with that of the group before it."""

_TEMPLATES: Final[Mapping[str, str]] = {
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
    # Indexes of queues
    "CSQI004I": (
        rf"^Consider indexing {_Q} by (?P<index>\w+) for (?P<type>\w+) connection (?P<conn>.{{0,300}}?), "
        r"(?P<skipped>\w+) messages skipped"
    ),
    "CSQI007I": rf"^BUILDING IN-STORAGE INDEX FOR (?:QUEUE )?{_Q}",
    "CSQI006I": rf"^COMPLETED IN-STORAGE INDEX FOR (?:QUEUE )?{_Q}",
    # Queue manager
    "CSQM056E": rf"^(?P<call>MQ\w+) failed for queue {_Q}, MQRC=(?P<mqrc>\d+)",
    # Channels
    "CSQX206E": rf"^Error sending data, {_NET}",
    "CSQX208E": rf"^Error receiving data, {_NET}",
    "CSQX209E": rf"^Connection unexpectedly terminated, {_NET}",
    "CSQX202E": rf"^Connection or remote listener unavailable, {_NET}",
    "CSQX259E": rf"^Connection timed out, {_NET}",
    "CSQX489E": rf"^Maximum instance limit (?P<limit>\d+) exceeded, channel {_CHANNEL}",
    "CSQX490E": rf"^Maximum client instance limit (?P<limit>\d+) exceeded, channel {_CHANNEL}",
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
    "CSQX620E": rf"^System SSL error, channel {_CHANNEL}",
    "CSQX631E": rf"^Cipher specifications differ, channel {_CHANNEL}",
    "CSQX776E": rf"^Channel {_CHANNEL} from (?P<ip>\S+) has been blocked due to (?P<why>[^,]+)",
    "CSQX777E": rf"^Channel {_CHANNEL} from (?P<ip>\S+) has been blocked due to (?P<why>[^,]+)",
    # Coupling facility
    "CSQE005I": rf"^Structure {_STRUCTURE} connected as (?P<conn>\S+?),? version=(?P<version>.+)",
    "CSQE006I": rf"^Structure {_STRUCTURE} connection name (?P<conn>\S+) disconnected",
    "CSQE016E": rf"^Structure {_STRUCTURE} connection name (?P<conn>\S+) disconnected, RC=(?P<rc>\w+) reason=(?P<reason>\w+)",
    "CSQE007I": rf"^(?P<event>\S+) event received for structure {_STRUCTURE}",
    "CSQE008I": rf"^Recovery event from (?P<member>\S+) received for structure {_STRUCTURE}",
    "CSQE011I": rf"^Recovery phase (?P<phase>\d) \w+ for structure {_STRUCTURE}",
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
    "CSQE241I": rf"^SMDS(?:CONN)?\((?P<member>\w{{1,4}})\) CFSTRUCT\({_STRUCTURE}\) now has (?P<attribute>\w+)\((?P<value>\w+)\)",
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

OF_SYSTEM: Final = frozenset({"IRA200E", "IVT5592I"})
"""Messages of z/OS that are about one system, so about each of its queue managers."""
OF_EVERYBODY: Final = OF_SYSTEM | {"IXC585E", "IXC586I"}
"""Messages of z/OS that are about the whole system or group, so about each of its queue managers."""
OF_ZOS: Final = OF_EVERYBODY | {"IXL013I", "IXL014I", "IEC070I", "ICH408I", "$HASP373", "$HASP395"}
"""Messages of z/OS that are kept; those not of everybody when they name a queue manager's job, or a profile of one."""


def inserts(code: str, text: str) -> Mapping[str, str] | None:
    """The inserts of a message by name; None when there is no expression for the id, or the text is not as it says."""
    template = _TEMPLATES.get(code)
    # The compiled expressions are kept by ``re`` itself.
    found = None if template is None else re.search(template, text, re.IGNORECASE)
    if found is None:
        return None
    return {name: value for name, value in found.groupdict().items() if value is not None}

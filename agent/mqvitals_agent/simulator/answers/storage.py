"""INQUIRE_USAGE, INQUIRE_SMDSCONN, and what any member reports of the group: INQUIRE_CF_STRUC, INQUIRE_CF_STRUC_STATUS,
INQUIRE_SMDS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import strings
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answers.common import (
    CommandRefusedError,
    CommandRequest,
    ReplyItem,
    integer,
    local_time,
    name_matches,
    string,
)
from mqvitals_agent.simulator.answers.queue_manager import log_data_set, rba_text
from mqvitals_agent.simulator.state import BufferPoolState, GroupState, MemberState, PageSetState, StructureState

SMDS_BLOCK_KB: Final = 256
SMDS_BUFFERS: Final = 100
_EXPAND: Final = {
    "USER": mq.MQUSAGE_EXPAND_USER,
    "SYSTEM": mq.MQUSAGE_EXPAND_SYSTEM,
    "NONE": mq.MQUSAGE_EXPAND_NONE,
}
_LOCATION: Final = {
    "BELOW": mq.MQBPLOCATION_BELOW,
    "ABOVE": mq.MQBPLOCATION_ABOVE,
    "SWITCHING_ABOVE": mq.MQBPLOCATION_SWITCHING_ABOVE,
    "SWITCHING_BELOW": mq.MQBPLOCATION_SWITCHING_BELOW,
}
_PAGE_CLASS: Final = {"4KB": mq.MQPAGECLAS_4KB, "PAGE4KB": mq.MQPAGECLAS_4KB, "FIXED4KB": mq.MQPAGECLAS_FIXED4KB}
_PARTS: Final = frozenset({mq.MQIACF_ALL, mq.MQIACF_USAGE_PAGESET, mq.MQIACF_USAGE_DATA_SET, mq.MQIACF_USAGE_SMDS})
_BEFORE_1970_US: Final = 2_208_988_800_000_000
"""From 1900, when the clock of z/OS begins, to 1970."""
_RECENT_BYTES: Final = 65_536
"""The distance from the oldest active unit of work to the newest log record."""


def usage(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """The requested parts, by default page sets and buffer pools; with a page set number that one and its pool."""
    part = request.choice(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_PAGESET, _PARTS)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_PAGESET):
        wanted = request.number(mq.MQIA_PAGESET_ID, -1)
        page_sets = [each for number, each in sorted(member.page_sets.items()) if wanted in (-1, number)]
        pools = {each.pool for each in page_sets}
        for page_set in page_sets:
            yield _page_set(page_set, group, member)
        for number, pool in sorted(member.pools.items()):
            if wanted == -1 or number in pools:
                yield _pool(pool)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_DATA_SET):
        yield from _positions(group, member)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_SMDS):
        for name, structure in sorted(group.structures.items()):
            if structure.offload == "SMDS":
                yield from _data_set(name, structure)


def _page_set(page_set: PageSetState, group: GroupState, member: MemberState) -> ReplyItem:
    return (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_PAGESET),
        integer(mq.MQIA_PAGESET_ID, page_set.number),
        integer(mq.MQIACF_BUFFER_POOL_ID, page_set.pool),
        integer(mq.MQIACF_USAGE_TOTAL_PAGES, page_set.total),
        integer(mq.MQIACF_USAGE_UNUSED_PAGES, page_set.total - page_set.persistent - page_set.nonpersistent),
        integer(mq.MQIACF_USAGE_PERSIST_PAGES, page_set.persistent),
        integer(mq.MQIACF_USAGE_NONPERSIST_PAGES, page_set.nonpersistent),
        integer(mq.MQIACF_USAGE_EXPAND_COUNT, page_set.expand_count),
        integer(mq.MQIACF_USAGE_EXPAND_TYPE, _EXPAND[page_set.expand_type]),
        integer(mq.MQIACF_PAGESET_STATUS, mq.MQUSAGE_PS_AVAILABLE),
        integer(mq.MQIACF_DS_ENCRYPTED, mq.MQSYSP_NO),
        string(mq.MQCACF_USAGE_LOG_RBA, rba_text(member.log.checkpoint_rba + group.fault(member.name).rba_offset)),
    )


def _pool(pool: BufferPoolState) -> ReplyItem:
    return (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_BUFFER_POOL),
        integer(mq.MQIACF_BUFFER_POOL_ID, pool.number),
        integer(mq.MQIACF_USAGE_TOTAL_BUFFERS, pool.buffers),
        integer(mq.MQIACF_USAGE_FREE_BUFF, pool.free),
        integer(mq.MQIACF_USAGE_FREE_BUFF_PERC, pool.free * 100 // max(pool.buffers, 1)),
        integer(mq.MQIACF_BUFFER_POOL_LOCATION, _LOCATION[pool.location]),
        integer(mq.MQIACF_PAGECLAS, _PAGE_CLASS[pool.page_class]),
    )


def _positions(group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    log = member.log
    fault = group.fault(member.name)
    oldest = max(log.checkpoint_rba, log.rba - _RECENT_BYTES)
    oldest = min((oldest, *(log.rba - unit.bytes for unit in fault.units)))
    for kind, rba in (
        (mq.MQUSAGE_DS_OLDEST_ACTIVE_UOW, oldest),
        (mq.MQUSAGE_DS_OLDEST_PS_RECOVERY, log.checkpoint_rba),
    ):
        yield (
            integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_DATA_SET),
            integer(mq.MQIACF_USAGE_DATA_SET_TYPE, kind),
            string(mq.MQCACF_DATA_SET_NAME, log_data_set(member, rba)),
            string(mq.MQCACF_USAGE_LOG_RBA, rba_text(rba + fault.rba_offset)),
        )
    backups = [each.backup_started for each in group.structures.values() if each.recover and each.backup_started]
    yield (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_DATA_SET),
        integer(mq.MQIACF_USAGE_DATA_SET_TYPE, mq.MQUSAGE_DS_OLDEST_CF_RECOVERY),
        string(mq.MQCACF_DATA_SET_NAME, ""),
        string(mq.MQCACF_USAGE_LOG_RBA, rba_text(0)),
        string(mq.MQCACF_USAGE_LOG_LRSN, lrsn(min(backups)) if backups else "0" * 12),
    )


def lrsn(moment: int) -> str:
    """A time (ms since 1970 UTC) as a log position of the group (LRSN): the first six bytes of the z/OS clock."""
    return f"{(moment * 1000 + _BEFORE_1970_US) >> 4 & 0xFFFFFFFFFFFF:012X}"


def _data_set(name: str, structure: StructureState) -> Iterator[ReplyItem]:
    """Space and buffers of this member's data set. All members' data sets are alike."""
    total, used = structure.smds_total_blocks, structure.smds_used_blocks
    head = (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_SMDS),
        strings(mq.MQCACF_CF_STRUC_NAMES, (name,)),
        integer(mq.MQIACF_SMDS_STATUS, mq.MQUSAGE_SMDS_AVAILABLE if total else mq.MQUSAGE_SMDS_NO_DATA),
    )
    yield (
        *head,
        integer(mq.MQIACF_USAGE_OFFLOAD_MSGS, used),
        integer(mq.MQIACF_USAGE_TOTAL_BLOCKS, total),
        integer(mq.MQIACF_USAGE_DATA_BLOCKS, total),
        integer(mq.MQIACF_USAGE_USED_BLOCKS, used),
        integer(mq.MQIACF_USAGE_USED_RATE, used * 100 // max(total, 1)),
    )
    saved = min(used, SMDS_BUFFERS - 1)
    yield (
        *head,
        integer(mq.MQIACF_USAGE_BLOCK_SIZE, SMDS_BLOCK_KB),
        integer(mq.MQIACF_USAGE_TOTAL_BUFFERS, SMDS_BUFFERS),
        integer(mq.MQIACF_USAGE_INUSE_BUFFERS, 1),
        integer(mq.MQIACF_USAGE_SAVED_BUFFERS, saved),
        integer(mq.MQIACF_USAGE_EMPTY_BUFFERS, SMDS_BUFFERS - 1 - saved),
        integer(mq.MQIACF_USAGE_READS_SAVED, 80),
        integer(mq.MQIACF_USAGE_LOWEST_FREE, SMDS_BUFFERS // 2),
        integer(mq.MQIACF_USAGE_WAIT_RATE, 0),
    )


ADMINISTRATION: Final = "CSQ_ADMIN"
STRUCTURE_STATUSES: Final = {
    "NOTFOUND": mq.MQCFSTATUS_NOT_FOUND,
    "NOT_FOUND": mq.MQCFSTATUS_NOT_FOUND,
    "ACTIVE": mq.MQCFSTATUS_ACTIVE,
    "INRECOVER": mq.MQCFSTATUS_IN_RECOVER,
    "IN_RECOVER": mq.MQCFSTATUS_IN_RECOVER,
    "INBACKUP": mq.MQCFSTATUS_IN_BACKUP,
    "IN_BACKUP": mq.MQCFSTATUS_IN_BACKUP,
    "FAILED": mq.MQCFSTATUS_FAILED,
    "UNKNOWN": mq.MQCFSTATUS_UNKNOWN,
}
"""States of a structure, by MQSC's and by PCF's names."""
_OFFLOAD: Final = {"NONE": mq.MQCFOFFLD_NONE, "SMDS": mq.MQCFOFFLD_SMDS, "DB2": mq.MQCFOFFLD_DB2}
_STRUCTURE_PARTS: Final = frozenset(
    {
        mq.MQIACF_CF_STATUS_SUMMARY,
        mq.MQIACF_CF_STATUS_CONNECT,
        mq.MQIACF_CF_STATUS_BACKUP,
        mq.MQIACF_CF_STATUS_SMDS,
    }
)


def structure_status(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a structure; for connections and shared message data sets one for each member too."""
    part = request.choice(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY, _STRUCTURE_PARTS)
    for structure in _selected(request, group):
        if part == mq.MQIACF_CF_STATUS_SUMMARY:
            yield _summary(structure)
        elif part == mq.MQIACF_CF_STATUS_CONNECT:
            yield from _connections(structure, group)
        elif structure.kind == "ADMIN":
            continue
        elif part == mq.MQIACF_CF_STATUS_BACKUP:
            yield _backup(structure, group, member)
        elif structure.offload == "SMDS":
            yield from _data_sets(structure, group)


def structure_definitions(request: CommandRequest, group: GroupState, _member: MemberState) -> Iterator[ReplyItem]:
    """One item an application structure. Raises CommandRefusedError (3208) when the administration structure is
    named.
    """
    if request.text(mq.MQCA_CF_STRUC_NAME) == ADMINISTRATION:
        raise CommandRefusedError(mq.MQRCCF_OBJECT_NAME_RESTRICTED, (string(mq.MQCA_CF_STRUC_NAME, ADMINISTRATION),))
    for structure in _selected(request, group):
        if structure.kind != "ADMIN":
            yield _definition(structure, group)


def shared_data_sets(request: CommandRequest, group: GroupState, _member: MemberState) -> Iterator[ReplyItem]:
    """One item a structure that offloads to shared message data sets and member."""
    for structure, owner in _owned_data_sets(request, group, mq.MQCACF_CF_SMDS):
        yield (
            string(mq.MQCACF_CF_SMDS, owner),
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            integer(mq.MQIA_CF_SMDS_BUFFERS, SMDS_BUFFERS),
            integer(mq.MQIACF_CF_SMDS_EXPAND, mq.MQDSE_DEFAULT),
        )


def data_set_connections(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a shared message data set: how this queue manager is connected to it."""
    for structure, owner in _owned_data_sets(request, group, mq.MQCACF_CF_SMDSCONN):
        yield (
            string(mq.MQCACF_CF_SMDSCONN, owner),
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            *_connection(structure, owner, group, member),
        )


def _owned_data_sets(
    request: CommandRequest, group: GroupState, attribute: int
) -> Iterator[tuple[StructureState, str]]:
    """The shared message data sets asked for: of structures that offload to them, each with the member that owns it."""
    owner = request.text(attribute)
    for structure in _selected(request, group):
        if structure.offload == "SMDS" and structure.kind != "ADMIN":
            yield from ((structure, each) for each in sorted(group.members) if name_matches(each, owner))


def _connection(structure: StructureState, owner: str, group: GroupState, member: MemberState) -> ReplyItem:
    wrong = group.fault(member.name).data_sets.get(f"{structure.name}/{owner}")
    status, avail, expanded = mq.MQS_STATUS_OPEN, mq.MQS_AVAIL_NORMAL, mq.MQS_EXPANDST_NORMAL
    if wrong == "ERROR":
        status, avail = mq.MQS_STATUS_DATAFAIL, mq.MQS_AVAIL_ERROR
    elif wrong == "STOPPED":
        status, avail = mq.MQS_STATUS_CLOSED, mq.MQS_AVAIL_STOPPED
    elif not structure.smds_total_blocks:
        status = mq.MQS_STATUS_CLOSED
    if wrong == "NOT_EXPANDED":
        expanded = mq.MQS_EXPANDST_FAILED
    mode = mq.MQS_OPENMODE_UPDATE if owner == member.name else mq.MQS_OPENMODE_READONLY
    return (
        integer(mq.MQIACF_SMDS_AVAIL, avail),
        integer(mq.MQIACF_SMDS_STATUS, status),
        integer(mq.MQIACF_SMDS_OPENMODE, mode if status == mq.MQS_STATUS_OPEN else mq.MQS_OPENMODE_NONE),
        integer(mq.MQIACF_SMDS_EXPANDST, expanded),
    )


def _selected(request: CommandRequest, group: GroupState) -> Iterator[StructureState]:
    """The wanted structures: the administration structure first, then in the order of their names."""
    pattern = request.text(mq.MQCA_CF_STRUC_NAME)
    return (each for each in group.ordered_structures() if name_matches(each.name, pattern))


def _failure() -> tuple[Parameter, Parameter]:
    # The state keeps no time of a failure: the values are those of z/OS without one.
    return string(mq.MQCACF_FAIL_DATE, ""), string(mq.MQCACF_FAIL_TIME, "")


def _summary(structure: StructureState) -> ReplyItem:
    offloaded = structure.offload if structure.smds_used_blocks else "NONE"
    return (
        string(mq.MQCA_CF_STRUC_NAME, structure.name),
        integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY),
        integer(mq.MQIACF_CF_STRUC_STATUS, STRUCTURE_STATUSES[structure.status]),
        integer(mq.MQIACF_CF_STRUC_TYPE, mq.MQCFTYPE_ADMIN if structure.kind == "ADMIN" else mq.MQCFTYPE_APPL),
        integer(mq.MQIACF_CF_STRUC_SIZE_MAX, structure.size_max_kb),
        integer(mq.MQIACF_CF_STRUC_SIZE_USED, structure.size_used_kb * 100 // max(structure.size_max_kb, 1)),
        integer(mq.MQIACF_CF_STRUC_ENTRIES_MAX, structure.entries_max),
        integer(mq.MQIACF_CF_STRUC_ENTRIES_USED, structure.entries_used),
        integer(mq.MQIA_CF_OFFLDUSE, _OFFLOAD[offloaded]),
        *_failure(),
    )


def _connections(structure: StructureState, group: GroupState) -> Iterator[ReplyItem]:
    for name, member in sorted(group.members.items()):
        connected = group.is_up(name)
        yield (
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_CONNECT),
            string(mq.MQCA_Q_MGR_NAME, name),
            string(mq.MQCACF_SYSTEM_NAME, f"SY{member.number:02}"),
            integer(mq.MQIACF_CF_STRUC_STATUS, mq.MQCFSTATUS_ACTIVE if connected else mq.MQCFSTATUS_NONE),
            *_failure(),
        )


def _backup(structure: StructureState, group: GroupState, member: MemberState) -> ReplyItem:
    started, ended = structure.backup_started, structure.backup_ended
    under_way = started is not None and (ended is None or started > ended)
    made = structure.recover and ended is not None
    day, time = local_time(ended if made else None, member.zone_ms)
    if not structure.recover:
        state = mq.MQCFSTATUS_NONE
    else:
        state = mq.MQCFSTATUS_IN_BACKUP if under_way else STRUCTURE_STATUSES[structure.status]
    found = [
        string(mq.MQCA_CF_STRUC_NAME, structure.name),
        integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_BACKUP),
        integer(mq.MQIACF_CF_STRUC_STATUS, state),
        string(mq.MQCACF_BACKUP_DATE, day),
        string(mq.MQCACF_BACKUP_TIME, time),
        integer(mq.MQIACF_CF_STRUC_BACKUP_SIZE, structure.backup_size_mb if made else 0),
        string(mq.MQCACF_CF_STRUC_BACKUP_START, _backup_position(started) if made else ""),
        string(mq.MQCACF_CF_STRUC_BACKUP_END, _backup_position(ended) if made else ""),
    ]
    if made:
        found.append(strings(mq.MQCACF_CF_STRUC_LOG_Q_MGRS, sorted(group.members)))
    found += (string(mq.MQCA_Q_MGR_NAME, min(group.members) if made else ""), *_failure())
    return found


def _backup_position(moment: int | None) -> str:
    # The state keeps times, not log positions: any position that grows with time will do.
    return rba_text((moment or 0) << 4)


def _data_sets(structure: StructureState, group: GroupState) -> Iterator[ReplyItem]:
    broken = group.fault(group.name).data_sets
    for name in sorted(group.members):
        failed = broken.get(f"{structure.name}/{name}") == "FAILED"
        state = mq.MQCFSTATUS_ACTIVE if structure.smds_total_blocks else mq.MQCFSTATUS_NEW
        yield (
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SMDS),
            string(mq.MQCACF_CF_SMDS, name),
            integer(mq.MQIACF_CF_STRUC_STATUS, mq.MQCFSTATUS_FAILED if failed else state),
            integer(mq.MQIACF_CF_STRUC_ACCESS, mq.MQCFACCESS_SUSPENDED if failed else mq.MQCFACCESS_ENABLED),
            *_failure(),
            string(mq.MQCACF_RECOVERY_DATE, ""),
            string(mq.MQCACF_RECOVERY_TIME, ""),
        )


def _definition(structure: StructureState, group: GroupState) -> ReplyItem:
    return (
        string(mq.MQCA_CF_STRUC_NAME, structure.name),
        string(mq.MQCA_CF_STRUC_DESC, ""),
        integer(mq.MQIA_CF_LEVEL, structure.level),
        integer(mq.MQIA_CF_RECOVER, mq.MQCFR_YES if structure.recover else mq.MQCFR_NO),
        integer(mq.MQIA_CF_CFCONLOS, mq.MQCFCONLOS_ASQMGR),
        integer(mq.MQIA_CF_RECAUTO, mq.MQRECAUTO_YES),
        integer(mq.MQIA_CF_OFFLOAD, _OFFLOAD[structure.offload]),
        integer(mq.MQIA_CF_OFFLOAD_THRESHOLD1, 70),
        integer(mq.MQIA_CF_OFFLOAD_THRESHOLD2, 80),
        integer(mq.MQIA_CF_OFFLOAD_THRESHOLD3, 90),
        string(mq.MQCACF_CF_OFFLOAD_SIZE1, "32K"),
        string(mq.MQCACF_CF_OFFLOAD_SIZE2, "4K"),
        string(mq.MQCACF_CF_OFFLOAD_SIZE3, "0K"),
        integer(mq.MQIACF_CF_SMDS_BLOCK_SIZE, mq.MQDSB_256K),
        integer(mq.MQIA_CF_SMDS_BUFFERS, SMDS_BUFFERS),
        integer(mq.MQIACF_CF_SMDS_EXPAND, mq.MQDSE_YES),
        string(mq.MQCACF_CF_SMDS_GENERIC_NAME, f"MQPRD.{group.name}.{structure.name}.*.SMDS"),
        string(mq.MQCA_ALTERATION_DATE, "2024-05-06"),
        string(mq.MQCA_ALTERATION_TIME, "12.00.00"),
    )

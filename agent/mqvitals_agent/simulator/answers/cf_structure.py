"""INQUIRE_CF_STRUC_STATUS, INQUIRE_CF_STRUC and INQUIRE_SMDS: what the group holds in common, told by any member."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string, strings
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answers.asked import Asked, Item, RefusedError
from mqvitals_agent.simulator.answers.local_time import local_time
from mqvitals_agent.simulator.answers.log import position
from mqvitals_agent.simulator.answers.pattern import matches
from mqvitals_agent.simulator.answers.queue_manager import active
from mqvitals_agent.simulator.answers.usage import SMDS_BUFFERS
from mqvitals_agent.simulator.state import Group, Member, Structure

ADMINISTRATION: Final = "CSQ_ADMIN"
STATUSES: Final = {
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
_PARTS: Final = frozenset(
    {
        mq.MQIACF_CF_STATUS_SUMMARY,
        mq.MQIACF_CF_STATUS_CONNECT,
        mq.MQIACF_CF_STATUS_BACKUP,
        mq.MQIACF_CF_STATUS_SMDS,
    }
)


def status(asked: Asked, group: Group, member: Member) -> Iterator[Item]:
    """One item a structure; for connections and shared message data sets one for each member too."""
    part = asked.choice(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY, _PARTS)
    for structure in _selected(asked, group):
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


def definitions(asked: Asked, group: Group, _member: Member) -> Iterator[Item]:
    """One item an application structure. Raises RefusedError (3208) when the administration structure is named."""
    if asked.text(mq.MQCA_CF_STRUC_NAME) == ADMINISTRATION:
        raise RefusedError(mq.MQRCCF_OBJECT_NAME_RESTRICTED, (string(mq.MQCA_CF_STRUC_NAME, ADMINISTRATION),))
    for structure in _selected(asked, group):
        if structure.kind != "ADMIN":
            yield _definition(structure, group)


def data_sets(asked: Asked, group: Group, _member: Member) -> Iterator[Item]:
    """One item a structure that offloads to shared message data sets and member."""
    owner = asked.text(mq.MQCACF_CF_SMDS)
    for structure in _selected(asked, group):
        if structure.offload != "SMDS" or structure.kind == "ADMIN":
            continue
        for each in sorted(group.members):
            if matches(each, owner):
                yield (
                    string(mq.MQCACF_CF_SMDS, each),
                    string(mq.MQCA_CF_STRUC_NAME, structure.name),
                    integer(mq.MQIA_CF_SMDS_BUFFERS, SMDS_BUFFERS),
                    integer(mq.MQIACF_CF_SMDS_EXPAND, mq.MQDSE_DEFAULT),
                )


def _selected(asked: Asked, group: Group) -> Iterator[Structure]:
    """The wanted structures: the administration structure first, then in the order of their names."""
    pattern = asked.text(mq.MQCA_CF_STRUC_NAME)
    ordered = sorted(group.structures.values(), key=lambda each: (each.kind != "ADMIN", each.name))
    return (each for each in ordered if matches(each.name, pattern))


def _failure() -> tuple[Parameter, Parameter]:
    # The state holds no moment of a failure, so it is told as z/OS tells that there was none.
    return string(mq.MQCACF_FAIL_DATE, ""), string(mq.MQCACF_FAIL_TIME, "")


def _summary(structure: Structure) -> Item:
    offloaded = structure.offload if structure.smds_used_blocks else "NONE"
    return (
        string(mq.MQCA_CF_STRUC_NAME, structure.name),
        integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SUMMARY),
        integer(mq.MQIACF_CF_STRUC_STATUS, STATUSES[structure.status]),
        integer(mq.MQIACF_CF_STRUC_TYPE, mq.MQCFTYPE_ADMIN if structure.kind == "ADMIN" else mq.MQCFTYPE_APPL),
        integer(mq.MQIACF_CF_STRUC_SIZE_MAX, structure.size_max_kb),
        integer(mq.MQIACF_CF_STRUC_SIZE_USED, structure.size_used_kb * 100 // max(structure.size_max_kb, 1)),
        integer(mq.MQIACF_CF_STRUC_ENTRIES_MAX, structure.entries_max),
        integer(mq.MQIACF_CF_STRUC_ENTRIES_USED, structure.entries_used),
        integer(mq.MQIA_CF_OFFLDUSE, _OFFLOAD[offloaded]),
        *_failure(),
    )


def _connections(structure: Structure, group: Group) -> Iterator[Item]:
    for name, member in sorted(group.members.items()):
        connected = active(group, member)
        yield (
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_CONNECT),
            string(mq.MQCA_Q_MGR_NAME, name),
            string(mq.MQCACF_SYSTEM_NAME, f"SY{member.number:02}"),
            integer(mq.MQIACF_CF_STRUC_STATUS, mq.MQCFSTATUS_ACTIVE if connected else mq.MQCFSTATUS_NONE),
            *_failure(),
        )


def _backup(structure: Structure, group: Group, member: Member) -> Item:
    started, ended = structure.backup_started, structure.backup_ended
    under_way = started is not None and (ended is None or started > ended)
    made = structure.recover and ended is not None
    day, time = local_time(ended if made else None, member.zone_ms)
    if not structure.recover:
        state = mq.MQCFSTATUS_NONE
    else:
        state = mq.MQCFSTATUS_IN_BACKUP if under_way else STATUSES[structure.status]
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
    # The state keeps moments, no positions: one that grows with time is as good for a reader as a true one.
    return position((moment or 0) << 4)


def _data_sets(structure: Structure, group: Group) -> Iterator[Item]:
    for name in sorted(group.members):
        yield (
            string(mq.MQCA_CF_STRUC_NAME, structure.name),
            integer(mq.MQIACF_CF_STATUS_TYPE, mq.MQIACF_CF_STATUS_SMDS),
            string(mq.MQCACF_CF_SMDS, name),
            integer(
                mq.MQIACF_CF_STRUC_STATUS,
                mq.MQCFSTATUS_ACTIVE if structure.smds_total_blocks else mq.MQCFSTATUS_NEW,
            ),
            integer(mq.MQIACF_CF_STRUC_ACCESS, mq.MQCFACCESS_ENABLED),
            *_failure(),
            string(mq.MQCACF_RECOVERY_DATE, ""),
            string(mq.MQCACF_RECOVERY_TIME, ""),
        )


def _definition(structure: Structure, group: Group) -> Item:
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

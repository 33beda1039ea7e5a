"""INQUIRE_USAGE: page sets and buffer pools, positions in the log, shared message data sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string, strings
from mqvitals_agent.simulator.answers.asked import Asked, Item
from mqvitals_agent.simulator.answers.log import data_set, position
from mqvitals_agent.simulator.state import Group, Member, PageSet, Pool, Structure

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
"""How far behind the newest log record the oldest active unit of work began."""


def usage(asked: Asked, group: Group, member: Member) -> Iterator[Item]:
    """The parts asked for, page sets and buffer pools by default; with a page set number that one and its pool."""
    part = asked.choice(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_PAGESET, _PARTS)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_PAGESET):
        wanted = asked.number(mq.MQIA_PAGESET_ID, -1)
        page_sets = [each for number, each in sorted(member.page_sets.items()) if wanted in (-1, number)]
        pools = {each.pool for each in page_sets}
        for page_set in page_sets:
            yield _page_set(page_set, member)
        for number, pool in sorted(member.pools.items()):
            if wanted == -1 or number in pools:
                yield _pool(pool)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_DATA_SET):
        yield from _positions(group, member)
    if part in (mq.MQIACF_ALL, mq.MQIACF_USAGE_SMDS):
        for name, structure in sorted(group.structures.items()):
            if structure.offload == "SMDS":
                yield from _data_set(name, structure)


def _page_set(page_set: PageSet, member: Member) -> Item:
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
        string(mq.MQCACF_USAGE_LOG_RBA, position(member.log.checkpoint_rba)),
    )


def _pool(pool: Pool) -> Item:
    return (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_BUFFER_POOL),
        integer(mq.MQIACF_BUFFER_POOL_ID, pool.number),
        integer(mq.MQIACF_USAGE_TOTAL_BUFFERS, pool.buffers),
        integer(mq.MQIACF_USAGE_FREE_BUFF, pool.free),
        integer(mq.MQIACF_USAGE_FREE_BUFF_PERC, pool.free * 100 // max(pool.buffers, 1)),
        integer(mq.MQIACF_BUFFER_POOL_LOCATION, _LOCATION[pool.location]),
        integer(mq.MQIACF_PAGECLAS, _PAGE_CLASS[pool.page_class]),
    )


def _positions(group: Group, member: Member) -> Iterator[Item]:
    log = member.log
    oldest = max(log.checkpoint_rba, log.rba - _RECENT_BYTES)
    for kind, rba in (
        (mq.MQUSAGE_DS_OLDEST_ACTIVE_UOW, oldest),
        (mq.MQUSAGE_DS_OLDEST_PS_RECOVERY, log.checkpoint_rba),
    ):
        yield (
            integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_DATA_SET),
            integer(mq.MQIACF_USAGE_DATA_SET_TYPE, kind),
            string(mq.MQCACF_DATA_SET_NAME, data_set(member, rba)),
            string(mq.MQCACF_USAGE_LOG_RBA, position(rba)),
        )
    backups = [each.backup_started for each in group.structures.values() if each.recover and each.backup_started]
    yield (
        integer(mq.MQIACF_USAGE_TYPE, mq.MQIACF_USAGE_DATA_SET),
        integer(mq.MQIACF_USAGE_DATA_SET_TYPE, mq.MQUSAGE_DS_OLDEST_CF_RECOVERY),
        string(mq.MQCACF_DATA_SET_NAME, ""),
        string(mq.MQCACF_USAGE_LOG_RBA, position(0)),
        string(mq.MQCACF_USAGE_LOG_LRSN, lrsn(min(backups)) if backups else "0" * 12),
    )


def lrsn(moment: int) -> str:
    """A moment (ms since 1970 UTC) as a position that holds for all logs of a group: the first six bytes of the z/OS clock."""
    return f"{(moment * 1000 + _BEFORE_1970_US) >> 4 & 0xFFFFFFFFFFFF:012X}"


def _data_set(name: str, structure: Structure) -> Iterator[Item]:
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

"""INQUIRE_Q_STATUS, INQUIRE_Q and INQUIRE_STG_CLASS.

Every member reports a shared queue with the group's depth and times, and its own handles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answers import handles
from mqvitals_agent.simulator.answers.common import (
    MAX_STATUS_NUMBER,
    MONITORING_LEVELS,
    CommandRequest,
    ReplyItem,
    integer,
    integers,
    level_in_force,
    local_time,
    name_matches,
    reported_averages,
    string,
)
from mqvitals_agent.simulator.applications import open_counts
from mqvitals_agent.simulator.state import GroupState, MemberState, QueueState

_DISPOSITIONS: Final = frozenset(
    {
        mq.MQQSGD_ALL,
        mq.MQQSGD_Q_MGR,
        mq.MQQSGD_COPY,
        mq.MQQSGD_SHARED,
        mq.MQQSGD_GROUP,
        mq.MQQSGD_PRIVATE,
        mq.MQQSGD_LIVE,
    }
)
_WITH_SHARED: Final = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_LIVE, mq.MQQSGD_SHARED})
_WITH_PRIVATE: Final = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_LIVE, mq.MQQSGD_Q_MGR, mq.MQQSGD_PRIVATE})
_TYPES: Final = frozenset({mq.MQQT_LOCAL, mq.MQQT_MODEL, mq.MQQT_ALIAS, mq.MQQT_REMOTE, mq.MQQT_CLUSTER, mq.MQQT_ALL})
_LONGEST_MESSAGE: Final = 4_194_304
_TRIGGER_TYPES: Final = {"NONE": mq.MQTT_NONE, "FIRST": mq.MQTT_FIRST, "EVERY": mq.MQTT_EVERY, "DEPTH": mq.MQTT_DEPTH}
_STREAMING_LEVEL: Final = 923
"""The command level from which queues have STREAMQ and STRMQOS."""


def queue_status(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a queue, or for type handle one an open handle."""
    part = request.choice(
        mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS, frozenset({mq.MQIACF_Q_STATUS, mq.MQIACF_Q_HANDLE})
    )
    if part == mq.MQIACF_Q_HANDLE:
        yield from handles.handles(request, group, member, _selected(request, group, member))
        return
    for queue, disposition in _selected(request, group, member):
        yield _status(queue, disposition, open_counts(queue, member), group.now, member.zone_ms)


def queue_definitions(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a queue. All simulated queues are local ones, so other types are never found."""
    kind = request.choice(mq.MQIA_Q_TYPE, mq.MQQT_ALL, _TYPES)
    if kind not in (mq.MQQT_LOCAL, mq.MQQT_ALL):
        return
    page_set = request.number(mq.MQIA_PAGESET_ID, -1)
    storage_class = request.text(mq.MQCA_STORAGE_CLASS, "*")
    structure = request.text(mq.MQCA_CF_STRUC_NAME, "*")
    for queue, disposition in _selected(request, group, member):
        where = -1 if queue.structure else member.storage_classes.get(queue.storage_class, -1)
        if (
            (page_set >= 0 and where != page_set)
            or not name_matches("" if queue.structure else queue.storage_class, storage_class)
            or not name_matches(queue.structure, structure)
        ):
            continue
        yield _definition(queue, disposition, where, member)


def storage_classes(request: CommandRequest, _group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a storage class."""
    wanted = request.text(mq.MQCA_STORAGE_CLASS)
    page_set = request.number(mq.MQIA_PAGESET_ID, -1)
    disposition = request.choice(mq.MQIA_QSG_DISP, mq.MQQSGD_LIVE, _DISPOSITIONS)
    if disposition not in _WITH_PRIVATE:
        return
    for name, number in sorted(member.storage_classes.items()):
        if name_matches(name, wanted) and page_set in (-1, number):
            yield (
                string(mq.MQCA_STORAGE_CLASS, name),
                integer(mq.MQIA_PAGESET_ID, number),
                integer(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR),
                string(mq.MQCA_STORAGE_CLASS_DESC, ""),
                string(mq.MQCA_PASS_TICKET_APPL, ""),
                string(mq.MQCA_XCF_GROUP_NAME, ""),
                string(mq.MQCA_XCF_MEMBER_NAME, member.bridges.get(name, "")),
                string(mq.MQCA_ALTERATION_DATE, "2022-01-20"),
                string(mq.MQCA_ALTERATION_TIME, "08.00.00"),
            )


def queue_exists(request: CommandRequest, group: GroupState, member: MemberState) -> bool:
    """True when a queue of exactly the requested name is defined."""
    name = request.text(mq.MQCA_Q_NAME)
    return name in member.queues or name in group.shared_queues


def _selected(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[tuple[QueueState, int]]:
    """The wanted queues in the order of their names, each with its disposition."""
    disposition = request.choice(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR, _DISPOSITIONS)
    pattern = request.text(mq.MQCA_Q_NAME)
    found: list[tuple[QueueState, int]] = []
    if disposition in _WITH_PRIVATE:
        found += ((queue, mq.MQQSGD_Q_MGR) for queue in member.queues.values() if name_matches(queue.name, pattern))
    if disposition in _WITH_SHARED:
        found += (
            (queue, mq.MQQSGD_SHARED) for queue in group.shared_queues.values() if name_matches(queue.name, pattern)
        )
    return iter(sorted(found, key=lambda pair: pair[0].name))


def _status(queue: QueueState, disposition: int, handles: tuple[int, int], now: int, zone_ms: int) -> ReplyItem:
    level = level_in_force(queue.monitoring)
    monitored = level > 0
    get_date, get_time = local_time(queue.last_get if monitored else None, zone_ms)
    put_date, put_time = local_time(queue.last_put if monitored else None, zone_ms)
    age = mq.MQMON_NOT_AVAILABLE
    if monitored and queue.oldest_put is not None:
        age = min(max(0, now - queue.oldest_put) // 1000, MAX_STATUS_NUMBER)
    return (
        string(mq.MQCA_Q_NAME, queue.name),
        integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
        integer(mq.MQIA_CURRENT_Q_DEPTH, queue.depth),
        integer(mq.MQIA_OPEN_INPUT_COUNT, handles[0]),
        integer(mq.MQIA_OPEN_OUTPUT_COUNT, handles[1]),
        integer(mq.MQIACF_UNCOMMITTED_MSGS, mq.MQQSUM_YES if queue.uncommitted else mq.MQQSUM_NO),
        string(mq.MQCACF_LAST_GET_DATE, get_date),
        string(mq.MQCACF_LAST_GET_TIME, get_time),
        string(mq.MQCACF_LAST_PUT_DATE, put_date),
        string(mq.MQCACF_LAST_PUT_TIME, put_time),
        integer(mq.MQIACF_OLDEST_MSG_AGE, age),
        integers(mq.MQIACF_Q_TIME_INDICATOR, reported_averages(queue.times_us, monitored=monitored)),
        integer(mq.MQIA_MONITORING_Q, level),
        integer(mq.MQIA_QSG_DISP, disposition),
    )


def _definition(queue: QueueState, disposition: int, page_set: int, member: MemberState) -> ReplyItem:
    day, time = local_time(queue.altered or None, member.zone_ms)
    created_day, created_time = local_time(queue.created or queue.altered or None, member.zone_ms)
    handles = open_counts(queue, member)
    place: tuple[Parameter, ...]
    if queue.structure:
        place = (string(mq.MQCA_CF_STRUC_NAME, queue.structure),)
    else:
        place = (string(mq.MQCA_STORAGE_CLASS, queue.storage_class), integer(mq.MQIA_PAGESET_ID, page_set))
    return (
        string(mq.MQCA_Q_NAME, queue.name),
        integer(mq.MQIA_Q_TYPE, mq.MQQT_LOCAL),
        integer(mq.MQIA_QSG_DISP, disposition),
        string(mq.MQCA_Q_DESC, queue.description),
        integer(mq.MQIA_CURRENT_Q_DEPTH, queue.depth),
        integer(mq.MQIA_MAX_Q_DEPTH, queue.max_depth),
        integer(mq.MQIA_MAX_MSG_LENGTH, max(_LONGEST_MESSAGE, queue.message_bytes)),
        integer(mq.MQIA_OPEN_INPUT_COUNT, handles[0]),
        integer(mq.MQIA_OPEN_OUTPUT_COUNT, handles[1]),
        integer(mq.MQIA_USAGE, mq.MQUS_TRANSMISSION if queue.usage == "XMITQ" else mq.MQUS_NORMAL),
        integer(mq.MQIA_DEFINITION_TYPE, mq.MQQDT_PREDEFINED),
        integer(mq.MQIA_DEF_PERSISTENCE, int(queue.persistent)),
        integer(mq.MQIA_INHIBIT_GET, int(queue.get_inhibited)),
        integer(mq.MQIA_INHIBIT_PUT, 0),
        integer(mq.MQIA_Q_DEPTH_HIGH_LIMIT, queue.high_pct),
        integer(mq.MQIA_Q_DEPTH_LOW_LIMIT, queue.low_pct),
        integer(mq.MQIA_Q_DEPTH_MAX_EVENT, mq.MQEVR_ENABLED),
        integer(mq.MQIA_Q_DEPTH_HIGH_EVENT, mq.MQEVR_ENABLED),
        integer(mq.MQIA_Q_DEPTH_LOW_EVENT, mq.MQEVR_DISABLED),
        integer(mq.MQIA_Q_SERVICE_INTERVAL, MAX_STATUS_NUMBER),
        integer(mq.MQIA_Q_SERVICE_INTERVAL_EVENT, 0),
        integer(mq.MQIA_MONITORING_Q, MONITORING_LEVELS[queue.monitoring]),
        integer(mq.MQIA_STATISTICS_Q, mq.MQMON_Q_MGR),
        integer(mq.MQIA_INDEX_TYPE, 0),
        *place,
        string(mq.MQCA_TPIPE_NAME, ""),
        integer(mq.MQIA_TRIGGER_CONTROL, mq.MQTC_ON if queue.triggered else mq.MQTC_OFF),
        integer(mq.MQIA_TRIGGER_TYPE, _TRIGGER_TYPES[queue.trigger_type]),
        integer(mq.MQIA_TRIGGER_DEPTH, queue.trigger_depth),
        string(mq.MQCA_INITIATION_Q_NAME, queue.initiation_queue),
        string(mq.MQCA_PROCESS_NAME, queue.process),
        integer(mq.MQIA_BACKOUT_THRESHOLD, 3),
        string(mq.MQCA_BACKOUT_REQ_Q_NAME, queue.backout_queue),
        *_streaming(queue, member),
        integer(mq.MQIA_SHAREABILITY, int(queue.shareable)),
        string(mq.MQCA_CLUSTER_NAME, ""),
        string(mq.MQCA_CREATION_DATE, created_day),
        string(mq.MQCA_CREATION_TIME, created_time),
        string(mq.MQCA_ALTERATION_DATE, day),
        string(mq.MQCA_ALTERATION_TIME, time),
    )


def _streaming(queue: QueueState, member: MemberState) -> tuple[Parameter, ...]:
    if member.command_level < _STREAMING_LEVEL:
        return ()
    return (
        string(mq.MQCA_STREAM_QUEUE_NAME, queue.stream_queue),
        integer(mq.MQIA_STREAM_QUEUE_QOS, int(queue.must_duplicate)),
    )

"""Makes the small recording that ``mqvitals demo`` plays: the story's answers, said as z/OS says them, byte for byte PCF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mqvitals_agent.connection.recording import Exchange, Header, Reply, Writer
from mqvitals_agent.pcf import constants as c
from mqvitals_agent.pcf.encoder import integer, integers, request, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answer import CCSID, answer
from mqvitals_agent.simulator.story import (
    CYCLES,
    GROUP,
    INTERVAL_S,
    PAGE_SET_PAGES,
    POOL_BUFFERS,
    QUEUE_MANAGERS,
    SITE,
    STRUCTURE_ENTRIES,
    Scene,
    scene,
)

ENCODING_Z = 785
EVERY_QUEUE = (
    string(c.MQCA_Q_NAME, "*"),
    integer(c.MQIA_QSG_DISP, c.MQQSGD_ALL),
)
Item = Sequence[Parameter]


def write_demonstration(path: str | Path, begin: int, *, cycles: int = CYCLES) -> None:
    """Write the recording to ``path`` as if it had begun at ``begin`` (ms since 1970 UTC). Raises OSError."""
    header = Header(
        created=begin,
        source="mqvitals demonstration",
        name=SITE,
        queue_managers=QUEUE_MANAGERS,
        interval_s=INTERVAL_S,
        comment="A small group getting ill. Made by the project; no z/OS system was involved.",
    )
    with Writer(path, header) as writer:
        for exchange in demonstration(begin, cycles):
            writer.write(exchange)


def demonstration(begin: int, cycles: int = CYCLES) -> Iterator[Exchange]:
    """Every exchange of the story, in order of time."""
    response_id = 0
    for cycle in range(1, cycles + 1):
        at = begin + (cycle - 1) * INTERVAL_S * 1000
        now = scene(cycle)
        for queue_manager in QUEUE_MANAGERS:
            for command, asked, items in _conversation(queue_manager, now, at):
                response_id += 1
                yield Exchange(
                    line=0,
                    at=at,
                    elapsed_ms=4 + len(items),
                    queue_manager=queue_manager,
                    command=command,
                    request=request(command, asked),
                    replies=tuple(
                        Reply(encoding=ENCODING_Z, ccsid=CCSID, data=data, put=at)
                        for data in answer(queue_manager, command, items, response_id)
                    ),
                    error=None,
                )
                at += 9


def _conversation(queue_manager: str, now: Scene, at: int) -> Iterator[tuple[int, Item, Sequence[Item]]]:
    yield c.MQCMD_INQUIRE_Q_MGR, (), (_queue_manager(queue_manager),)
    yield c.MQCMD_INQUIRE_CHANNEL_INIT, (), tuple(_channel_initiator(queue_manager, now))
    yield (
        c.MQCMD_INQUIRE_USAGE,
        (integer(c.MQIACF_USAGE_TYPE, c.MQIACF_USAGE_PAGESET),),
        tuple(_usage(queue_manager, now)),
    )
    yield c.MQCMD_INQUIRE_LOG, (), tuple(_log(at))
    every_channel = string(c.MQCACH_CHANNEL_NAME, "*")
    yield (
        c.MQCMD_INQUIRE_CHANNEL_STATUS,
        (every_channel, integer(c.MQIACH_CHANNEL_INSTANCE_TYPE, c.MQOT_CURRENT_CHANNEL)),
        tuple(_channels(queue_manager, now, at)),
    )
    yield (
        c.MQCMD_INQUIRE_Q,
        (EVERY_QUEUE[0], integer(c.MQIA_Q_TYPE, c.MQQT_LOCAL), EVERY_QUEUE[1]),
        tuple(_definition(name, usage, group=group) for name, usage, group in _queue_names(queue_manager)),
    )
    yield (
        c.MQCMD_INQUIRE_Q_STATUS,
        (EVERY_QUEUE[0], integer(c.MQIACF_Q_STATUS_TYPE, c.MQIACF_Q_STATUS), EVERY_QUEUE[1]),
        tuple(_queues(queue_manager, now, at)),
    )
    if queue_manager == QUEUE_MANAGERS[0]:
        every_structure = string(c.MQCA_CF_STRUC_NAME, "*")
        yield (
            c.MQCMD_INQUIRE_CF_STRUC_STATUS,
            (every_structure, integer(c.MQIACF_CF_STATUS_TYPE, c.MQIACF_CF_STATUS_SUMMARY)),
            tuple(_structures(now)),
        )
        yield c.MQCMD_INQUIRE_QSG, (), tuple(_members())


def _queue_manager(name: str) -> Item:
    return (
        string(c.MQCA_Q_MGR_NAME, name),
        string(c.MQCA_Q_MGR_DESC, f"Demonstration {name}"),
        string(c.MQCA_VERSION, "09040000"),
        integer(c.MQIA_COMMAND_LEVEL, 940),
        integer(c.MQIA_PLATFORM, c.MQPL_ZOS),
        integer(c.MQIA_CODED_CHAR_SET_ID, CCSID),
        string(c.MQCA_QSG_NAME, GROUP),
        string(c.MQCA_COMMAND_INPUT_Q_NAME, "SYSTEM.COMMAND.INPUT"),
        string(c.MQCA_DEAD_LETTER_Q_NAME, "SYSTEM.DEAD.LETTER.QUEUE"),
        integer(c.MQIA_CHINIT_ADAPTERS, 8),
        integer(c.MQIA_CHINIT_DISPATCHERS, 5),
        integer(c.MQIA_SSL_TASKS, 4),
        integer(c.MQIA_MONITORING_Q, c.MQMON_MEDIUM),
        integer(c.MQIA_MONITORING_CHANNEL, c.MQMON_MEDIUM),
    )


def _channel_initiator(queue_manager: str, now: Scene) -> Iterator[Item]:
    retrying = int(now.partner_retrying and queue_manager == "QM01")
    yield (
        integer(c.MQIACF_CHINIT_STATUS, c.MQSVC_STATUS_RUNNING),
        integer(c.MQIACH_ADAPS_STARTED, 8),
        integer(c.MQIACH_ADAPS_MAX, 8),
        integer(c.MQIACH_DISPS_STARTED, 5),
        integer(c.MQIACH_DISPS_MAX, 5),
        integer(c.MQIACH_SSLTASKS_STARTED, 4),
        integer(c.MQIACH_SSLTASKS_MAX, 4),
        integer(c.MQIACH_CURRENT_CHL, 2),
        integer(c.MQIACH_CURRENT_CHL_MAX, 200),
        integer(c.MQIACH_ACTIVE_CHL, 2 - retrying),
        integer(c.MQIACH_ACTIVE_CHL_MAX, 200),
        integer(c.MQIACH_ACTIVE_CHL_PAUSED, 0),
        integer(c.MQIACH_ACTIVE_CHL_RETRY, retrying),
        integer(c.MQIACH_ACTIVE_CHL_STOPPED, 0),
        string(c.MQCACH_TCP_NAME, "TCPIP"),
    )
    yield (
        integer(c.MQIACH_INBOUND_DISP, c.MQINBD_Q_MGR),
        integer(c.MQIACH_LISTENER_STATUS, c.MQSVC_STATUS_RUNNING),
        integer(c.MQIACH_XMIT_PROTOCOL_TYPE, c.MQXPT_TCP),
        string(c.MQCACH_IP_ADDRESS, "*"),
        integer(c.MQIACH_PORT_NUMBER, 1414),
    )


def _usage(queue_manager: str, now: Scene) -> Iterator[Item]:
    for page_set, pool, used_pct in (
        (0, 0, 11.0),
        (3, 3, 24.0),
        (4, 2, now.page_set_used_pct if queue_manager == "QM02" else 41.0),
    ):
        unused = round(PAGE_SET_PAGES * (100 - used_pct) / 100)
        yield (
            integer(c.MQIACF_USAGE_TYPE, c.MQIACF_USAGE_PAGESET),
            integer(c.MQIA_PAGESET_ID, page_set),
            integer(c.MQIACF_BUFFER_POOL_ID, pool),
            integer(c.MQIACF_USAGE_TOTAL_PAGES, PAGE_SET_PAGES),
            integer(c.MQIACF_USAGE_UNUSED_PAGES, unused),
            integer(c.MQIACF_USAGE_PERSIST_PAGES, PAGE_SET_PAGES - unused),
            integer(c.MQIACF_USAGE_NONPERSIST_PAGES, 0),
            integer(c.MQIACF_USAGE_EXPAND_COUNT, 0),
            integer(c.MQIACF_USAGE_EXPAND_TYPE, c.MQUSAGE_EXPAND_USER),
            integer(c.MQIACF_PAGESET_STATUS, c.MQUSAGE_PS_AVAILABLE),
        )
    for pool, free_pct in ((0, 88), (2, 71), (3, now.pool_free_pct if queue_manager == "QM01" else 64)):
        yield (
            integer(c.MQIACF_USAGE_TYPE, c.MQIACF_USAGE_BUFFER_POOL),
            integer(c.MQIACF_BUFFER_POOL_ID, pool),
            integer(c.MQIACF_USAGE_TOTAL_BUFFERS, POOL_BUFFERS),
            integer(c.MQIACF_USAGE_FREE_BUFF, POOL_BUFFERS * free_pct // 100),
            integer(c.MQIACF_USAGE_FREE_BUFF_PERC, free_pct),
            integer(c.MQIACF_BUFFER_POOL_LOCATION, c.MQBPLOCATION_ABOVE),
        )


def _log(at: int) -> Iterator[Item]:
    yield (
        integer(c.MQIACF_SYSP_TYPE, c.MQSYSP_TYPE_LOG_COPY),
        integer(c.MQIACF_SYSP_LOG_COPY, 1),
        integer(c.MQIACF_SYSP_LOG_USED, 20 + at // 10_000 % 60),
        string(c.MQCACF_DATA_SET_NAME, "MQ.DEMO.LOGCOPY1.DS01"),
    )
    yield (
        integer(c.MQIACF_SYSP_TYPE, c.MQSYSP_TYPE_LOG_STATUS),
        integer(c.MQIACF_SYSP_TOTAL_LOGS, 8),
        integer(c.MQIACF_SYSP_FULL_LOGS, 0),
        integer(c.MQIACF_SYSP_LOG_SUSPEND, c.MQSYSP_NO),
        integer(c.MQIACF_SYSP_OFFLOAD_STATUS, c.MQSYSP_STATUS_AVAILABLE),
        string(c.MQCACF_SYSP_LOG_RBA, f"{0x1A00000000 + at // 1000 * 2_000_000 % 0xFFFFFFFF:016X}"),
        string(c.MQCACF_SYSP_Q_MGR_DATE, "2026-11-01"),
        string(c.MQCACF_SYSP_Q_MGR_TIME, "04.12.09"),
    )


def _channels(queue_manager: str, now: Scene, at: int) -> Iterator[Item]:
    partner = "QM02" if queue_manager == "QM01" else "QM01"
    busy = queue_manager == "QM01"
    achieved = now.batch_size_achieved if busy else 18
    yield _channel(f"TO.{partner}", partner, now, at, achieved=achieved, waiting=now.transmission_depth if busy else 12)
    if busy:
        yield _channel("TO.PARTNER", "PARTNER", now, at, achieved=7, waiting=3, retrying=now.partner_retrying)


def _channel(
    name: str, transmission_queue: str, now: Scene, at: int, *, achieved: int, waiting: int, retrying: bool = False
) -> Item:
    sent = now.cycle * 61_000 * achieved
    return (
        string(c.MQCACH_CHANNEL_NAME, name),
        integer(c.MQIACH_CHANNEL_DISP, c.MQCHLD_PRIVATE),
        integer(c.MQIACH_CHANNEL_INSTANCE_TYPE, c.MQOT_CURRENT_CHANNEL),
        integer(c.MQIACH_CHANNEL_TYPE, c.MQCHT_SENDER),
        string(c.MQCACH_CONNECTION_NAME, f"{transmission_queue.lower()}.example(1414)"),
        string(c.MQCACH_XMIT_Q_NAME, transmission_queue),
        string(c.MQCA_REMOTE_Q_MGR_NAME, transmission_queue),
        integer(c.MQIACH_CHANNEL_STATUS, c.MQCHS_RETRYING if retrying else c.MQCHS_RUNNING),
        integer(c.MQIACH_CHANNEL_SUBSTATE, 0 if retrying else c.MQCHSSTATE_SENDING),
        integer(c.MQIACH_INDOUBT_STATUS, c.MQCHIDS_NOT_INDOUBT),
        string(c.MQCACH_CHANNEL_START_DATE, "2026-11-01"),
        string(c.MQCACH_CHANNEL_START_TIME, "04.15.30"),
        string(c.MQCACH_LAST_MSG_DATE, _local(at)[0]),
        string(c.MQCACH_LAST_MSG_TIME, _local(at)[1]),
        integer(c.MQIACH_MSGS, now.cycle * 60 * achieved),
        integer(c.MQIACH_BYTES_SENT, sent),
        integer(c.MQIACH_BYTES_RCVD, now.cycle * 4_000),
        integer(c.MQIACH_BATCHES, now.cycle * 60),
        integer(c.MQIACH_BATCH_SIZE, 50),
        integer(c.MQIACH_SHORT_RETRIES_LEFT, 10 - (max(0, now.cycle - 13) // 3 if retrying else 0)),
        integer(c.MQIACH_LONG_RETRIES_LEFT, 999_999_999),
        integers(c.MQIACH_NETWORK_TIME_INDICATOR, (140 + now.cycle % 9, 142)),
        integers(c.MQIACH_XMITQ_TIME_INDICATOR, (900, 880)),
        integers(c.MQIACH_BATCH_SIZE_INDICATOR, (achieved, achieved)),
        integer(c.MQIACH_XMITQ_MSGS_AVAILABLE, min(999, waiting)),
    )


def _queue_names(queue_manager: str) -> Iterator[tuple[str, int, bool]]:
    """Name, usage, and whether it is shared."""
    yield "ORDERS.REQUEST", c.MQUS_NORMAL, False
    yield "ORDERS.REPLY", c.MQUS_NORMAL, False
    yield "SYSTEM.DEAD.LETTER.QUEUE", c.MQUS_NORMAL, False
    yield "QM02" if queue_manager == "QM01" else "QM01", c.MQUS_TRANSMISSION, False
    yield "APPL1.ORDERS.SHARED", c.MQUS_NORMAL, True


def _definition(name: str, usage: int, *, group: bool) -> Item:
    return (
        string(c.MQCA_Q_NAME, name),
        integer(c.MQIA_Q_TYPE, c.MQQT_LOCAL),
        integer(c.MQIA_QSG_DISP, c.MQQSGD_SHARED if group else c.MQQSGD_Q_MGR),
        integer(c.MQIA_MAX_Q_DEPTH, 999_999_999),
        integer(c.MQIA_USAGE, usage),
        string(c.MQCA_STORAGE_CLASS, "APPL" if name.startswith("ORDERS") else "DEFAULT"),
        string(c.MQCA_CF_STRUC_NAME, "APPL1" if group else ""),
    )


def _queues(queue_manager: str, now: Scene, at: int) -> Iterator[Item]:
    first = queue_manager == "QM01"
    depths = {
        "ORDERS.REQUEST": (now.orders_depth if first else 22, now.orders_consumers if first else 3),
        "ORDERS.REPLY": (3, 12),
        "SYSTEM.DEAD.LETTER.QUEUE": (0, 0),
        "QM02": (now.transmission_depth, 1),
        "QM01": (12, 1),
        "APPL1.ORDERS.SHARED": (now.shared_depth, 2),
    }
    day, time = _local(at)
    for name, _, shared in _queue_names(queue_manager):
        depth, consumers = depths[name]
        yield (
            string(c.MQCA_Q_NAME, name),
            integer(c.MQIACF_Q_STATUS_TYPE, c.MQIACF_Q_STATUS),
            integer(c.MQIA_CURRENT_Q_DEPTH, depth),
            integer(c.MQIA_OPEN_INPUT_COUNT, consumers),
            integer(c.MQIA_OPEN_OUTPUT_COUNT, 4),
            integer(c.MQIACF_UNCOMMITTED_MSGS, c.MQQSUM_NO),
            string(c.MQCACF_LAST_PUT_DATE, day if depth else ""),
            string(c.MQCACF_LAST_PUT_TIME, time if depth else ""),
            integer(c.MQIACF_OLDEST_MSG_AGE, min(depth, 900) // 10),
            integers(c.MQIACF_Q_TIME_INDICATOR, (4_200 + depth, 4_000)),
            integer(c.MQIA_MONITORING_Q, c.MQMON_MEDIUM),
            integer(c.MQIA_QSG_DISP, c.MQQSGD_SHARED if shared else c.MQQSGD_Q_MGR),
        )


def _structures(now: Scene) -> Iterator[Item]:
    for name, kind, used in (("CSQ_ADMIN", c.MQCFTYPE_ADMIN, 41), ("APPL1", c.MQCFTYPE_APPL, now.structure_entries)):
        most = 9_362 if kind == c.MQCFTYPE_ADMIN else STRUCTURE_ENTRIES
        yield (
            string(c.MQCA_CF_STRUC_NAME, name),
            integer(c.MQIACF_CF_STATUS_TYPE, c.MQIACF_CF_STATUS_SUMMARY),
            integer(c.MQIACF_CF_STRUC_STATUS, c.MQCFSTATUS_ACTIVE),
            integer(c.MQIACF_CF_STRUC_TYPE, kind),
            integer(c.MQIACF_CF_STRUC_SIZE_MAX, 20_480 if kind == c.MQCFTYPE_ADMIN else 524_288),
            integer(c.MQIACF_CF_STRUC_SIZE_USED, used * 92 // most),
            integer(c.MQIACF_CF_STRUC_ENTRIES_MAX, most),
            integer(c.MQIACF_CF_STRUC_ENTRIES_USED, used),
        )


def _members() -> Iterator[Item]:
    for position, name in enumerate(QUEUE_MANAGERS, start=1):
        yield (
            string(c.MQCA_QSG_NAME, GROUP),
            string(c.MQCA_Q_MGR_NAME, name),
            integer(c.MQIACF_Q_MGR_NUMBER, position),
            integer(c.MQIACF_Q_MGR_STATUS, c.MQQSGS_ACTIVE),
            integer(c.MQIA_COMMAND_LEVEL, 940),
            integer(c.MQIACF_DB2_CONN_STATUS, c.MQQSGS_ACTIVE),
            string(c.MQCACF_DB2_NAME, "DB2D"),
        )


def _local(at: int) -> tuple[str, str]:
    """Date and time as the queue manager writes them: its own zone, here UTC, a second behind the poll."""
    when = datetime.fromtimestamp(at // 1000, UTC) - timedelta(seconds=1)
    return f"{when:%Y-%m-%d}", f"{when:%H.%M.%S}"

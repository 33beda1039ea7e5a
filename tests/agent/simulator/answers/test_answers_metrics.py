"""State in, metric out: what the probes read from the answers is what the state holds."""

from __future__ import annotations

from typing import Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.simulator.state import Fault, SubscriptionState
from mqvitals_rules.vocabulary.metric import Absence

PUT_LATE_S = 1
"""Ages count from when the answer was put, some ms after the state that it reports."""


def near(value: object, expected: int) -> bool:
    """True for an age that is right but for the seconds lost by rounding and waiting."""
    return isinstance(value, int) and expected <= value <= expected + 2 * PUT_LATE_S


def test_every_answer_of_every_probe_is_complete(talk: Any) -> None:
    """Every probe's request is answered in full by every member."""
    for name in talk.group.members:
        for command in PROBES:
            exchange = talk.ask(command, queue_manager=name)
            assert exchange.error is None
            (member,) = talk.heard(exchange)
            assert (member.queue_manager, member.complete) == (name, True)


def test_queues_tell_their_status(talk: Any) -> None:
    """Depth, handles, times and ages of a private queue."""
    talk.ask(mq.MQCMD_INQUIRE_Q_STATUS)
    cycle = talk.end()
    queue = "QM01/queue/ORDERS.REQUEST"
    assert cycle.of(queue, "depth", "input_handles", "output_handles", "uncommitted") == [321, 3, 4, 1]
    assert cycle.of(queue, "qtime_us_short", "qtime_us_long", "monq") == [4_200, 3_900, mq.MQMON_MEDIUM]
    assert cycle.of(queue, "last_put_ts", "last_get_ts") == ["2026-11-20 12.59.58", "2026-11-20 12.58.25"]
    assert near(cycle.of(queue, "oldest_msg_age_s")[0], 123)
    assert near(cycle.of(queue, "last_put_age_s")[0], 2)
    assert near(cycle.of(queue, "last_get_age_s")[0], 95)
    assert cycle.of("QM01/queue/ORDERS.REPLY", "depth", "oldest_msg_age_s", "last_put_ts") == [
        0,
        Absence.NOTHING_TO_TELL,
        Absence.NOTHING_TO_TELL,
    ]


def test_an_unmonitored_queue_has_no_times(talk: Any) -> None:
    """Monitoring OFF leaves the depth and takes ages and averages."""
    talk.ask(mq.MQCMD_INQUIRE_Q_STATUS)
    values = talk.end().of(
        "QM01/queue/UNWATCHED", "depth", "oldest_msg_age_s", "qtime_us_short", "last_put_ts", "last_put_age_s"
    )
    assert values == [5, *[Absence.NOT_COLLECTED] * 4]


def test_a_shared_queue_is_told_by_each_member(talk: Any) -> None:
    """One depth, and the sum of the handles of all members."""
    talk.ask(mq.MQCMD_INQUIRE_Q_STATUS, QueryOptions("APPL*", disposition=mq.MQQSGD_SHARED, scope="*"))
    cycle = talk.end()
    queue = "PRDQSG/queue/APPL1.ORDERS"
    assert cycle.of(queue, "depth", "input_handles", "output_handles") == [27, 1 + 2 + 3, 10 + 20 + 30]
    assert near(cycle.of(queue, "last_put_age_s")[0], 3)


def test_queues_tell_their_definition(talk: Any) -> None:
    """Limits, storage class, page set, usage, and the time of the last change."""
    talk.ask(mq.MQCMD_INQUIRE_Q)
    talk.ask(mq.MQCMD_INQUIRE_STG_CLASS)
    talk.ask(mq.MQCMD_INQUIRE_USAGE)
    cycle = talk.end()
    queue = "QM01/queue/ORDERS.REQUEST"
    assert cycle.of(queue, "description", "max_depth", "depth_high_pct", "depth_low_pct", "usage", "type") == [
        "Orders [/x] <b>",
        5000,
        90,
        10,
        0,
        1,
    ]
    assert cycle.of(queue, "storage_class", "page_set", "buffer_pool", "def_persistence", "qsg_disp") == [
        "ORDERS",
        4,
        3,
        1,
        mq.MQQSGD_Q_MGR,
    ]
    assert cycle.of(queue, "alteration_ts") == ["2026-11-20 03.00.00"]
    assert cycle.of("QM01/queue/PARTNER.XMIT", "usage") == [1]
    assert cycle.of("QM01/queue/ORDERS.REPLY", "monq_defined", "def_persistence") == [mq.MQMON_Q_MGR, 0]
    assert cycle.of("PRDQSG/queue/APPL1.ORDERS", "cf_structure", "qsg_disp") == ["APPL1", mq.MQQSGD_SHARED]


def test_channels_tell_their_status(talk: Any) -> None:
    """State, sequence numbers, retries and averages of a sender."""
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)
    cycle = talk.end()
    channel = "QM01/channel/TO.PARTNER"
    expected = {
        "status": mq.MQCHS_RUNNING,
        "substate": mq.MQCHSSTATE_IN_MQGET,
        "type": mq.MQCHT_SENDER,
        "instances": 1,
        "indoubt": 1,
        "stop_requested": 0,
        "short_left": 8,
        "long_left": 777,
        "current_msgs": 9,
        "current_seq": 1_009,
        "last_seq": 1_000,
        "batchsz": 40,
        "hbint_s": 120,
        "max_msg_length": 4_194_304,
        "xbatchsz_short": 22,
        "xbatchsz_long": 21,
        "nettime_us_short": 190,
        "nettime_us_long": 195,
        "xqtime_us_short": 17_729,
        "xqtime_us_long": 17_700,
        "exittime_us_short": 0,
        "exittime_us_long": 1,
        "xmitq_msgs": 999,
        "monchl": mq.MQMON_MEDIUM,
        "conname": "mq.partner.example(1414)",
        "xmitq": "PARTNER.XMIT",
        "remote_queue_manager": "PTNRQM",
        "running_on": "QM01",
        "start_ts": "2026-11-20 10.00.00",
        "last_msg_ts": "2026-11-20 12.59.56",
    }
    assert {metric: cycle.values[channel, metric] for metric in expected} == expected
    assert near(cycle.of(channel, "start_age_s")[0], 3 * 3600)
    assert near(cycle.of(channel, "last_msg_age_s")[0], 4)
    clients = "QM01/channel/APP.SVRCONN"
    assert cycle.of(clients, "instances", "conversations", "status", "exittime_us_short") == [
        2,
        4,
        mq.MQCHS_RUNNING,
        Absence.NOT_COLLECTED,
    ]


def test_channel_status_has_the_cipher_spec_of_newer_queue_managers(talk: Any) -> None:
    """Blank, as simulated channels have no TLS; before command level 910 there is no such answer."""
    exchange = talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)
    assert set(talk.names(exchange, mq.MQCACH_SSL_CIPHER_SPEC)) == {""}
    talk.group.members["QM01"].command_level = 905
    assert talk.names(talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS), mq.MQCACH_SSL_CIPHER_SPEC) == [None] * 3


def test_channel_counters_grow_and_wrap(talk: Any) -> None:
    """What moved between two polls is the increase; a byte count past 999,999,999 begins again."""
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)
    talk.end()
    instance = talk.group.members["QM01"].channels["TO.PARTNER"].instances[0]
    instance.messages += 30
    instance.bytes_sent += 30_000
    instance.bytes_received += 7
    instance.buffers_sent += 31
    instance.buffers_received += 2
    instance.batches += 3
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)
    values = talk.end().of(
        "QM01/channel/TO.PARTNER", "msgs", "bytes_rcvd", "buffers_sent", "buffers_rcvd", "batches", "bytes_sent"
    )
    assert values == [30, 7, 31, 2, 3, Absence.RESET]


def test_channels_tell_their_definition(talk: Any) -> None:
    """Attributes as defined, and a channel without an instance is inactive."""
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS)
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL)
    cycle = talk.end()
    assert cycle.of(
        "QM01/channel/TO.PARTNER",
        "description",
        "batchsz_defined",
        "batchint_ms",
        "hbint_defined_s",
        "conname_defined",
        "alteration_ts",
    ) == ["To the partner", 40, 100, 120, "mq.partner.example(1414)", "2026-11-20 08.00.00"]
    assert cycle.of("QM01/channel/FROM.PARTNER", "status", "type", "instances") == [0, mq.MQCHT_RECEIVER, 0]


def test_storage_tells_pages_and_buffers(talk: Any) -> None:
    """Page sets and buffer pools of each queue manager."""
    talk.ask(mq.MQCMD_INQUIRE_USAGE, queue_manager="QM02")
    cycle = talk.end()
    page_set = cycle.of("QM02/page_set/4", "total_pages", "unused_pages", "used_pct", "expand_type", "status")
    assert page_set == [40_000, 28_000, 30.0, mq.MQUSAGE_EXPAND_SYSTEM, 0]
    pool = cycle.of("QM02/buffer_pool/3", "total", "free", "free_pct", "location", "page_class")
    assert pool == [20_000, 2_999, 14, mq.MQBPLOCATION_BELOW, mq.MQPAGECLAS_4KB]


def test_the_log_tells_its_status(talk: Any) -> None:
    """Logs, positions, what is written between two polls, and when the queue manager started."""
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    talk.ask(mq.MQCMD_INQUIRE_USAGE, QueryOptions(part=mq.MQIACF_USAGE_DATA_SET))
    cycle = talk.end()
    rba = talk.group.members["QM01"].log.rba
    expected = {
        "full_logs": 2,
        "total_logs": 8,
        "used_pct": rba % 1_000_000_000 * 100 // 1_000_000_000,
        "offload_status": mq.MQSYSP_STATUS_COPYING_LOG,
        "suspend": 1,
        "copies": 2,
        "rba": f"{rba:016X}",
        "restart_rba": "0000001900000000",
        "dual_active": 1,
        "page_set_recovery_rba": "00000019F0000000",
        "maxrtu": 4,
    }
    assert {metric: cycle.values["QM01/log", metric] for metric in expected} == expected
    copy1, copy2 = cycle.of("QM01/log", "data_set_copy1", "data_set_copy2")
    assert (copy1, copy2) == ("MQPRD.QM01.LOGCOPY1.DS08", "MQPRD.QM01.LOGCOPY2.DS08")
    assert cycle.of("QM01/queue_manager", "start_ts") == ["2026-11-07 13.00.00"]
    assert near(cycle.of("QM01/queue_manager", "uptime_s")[0], 13 * 86_400)
    talk.group.members["QM01"].log.rba += 4_096_000
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    assert talk.end().of("QM01/log", "written_bytes") == [4_096_000]


def test_the_channel_initiator_counts_its_channels(talk: Any) -> None:
    """Tasks, limits and channels by state; a stopped one has nothing started and no listener."""
    instances = talk.group.members["QM01"].channels["APP.SVRCONN"].instances
    instances[0].status, instances[1].status = "PAUSED", "STOPPED"
    talk.group.members["QM02"].chinit_running = False
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_INIT)
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_INIT, queue_manager="QM02")
    talk.ask(mq.MQCMD_INQUIRE_Q_MGR)
    cycle = talk.end()
    expected = {
        "status": mq.MQSVC_STATUS_RUNNING,
        "adapters_started": 7,
        "adapters_max": 8,
        "dispatchers_started": 5,
        "ssltasks_started": 3,
        "ssltasks_max": 4,
        "current": 3,
        "current_max": 400,
        "active": 2,
        "active_max": 300,
        "paused": 1,
        "retrying": 0,
        "stopped": 1,
        "listeners": 4,
        "listeners_down": 3,
        "listeners_running": 1,
        "tcp_listeners_running": 1,
        "listeners_lost": 0,
        "chiadaps": 8,
        "ssltasks": 4,
        "maxchl": 400,
        "actchl": 300,
    }
    assert {metric: cycle.values["QM01/channel_initiator", metric] for metric in expected} == expected
    down = cycle.of("QM02/channel_initiator", "status", "adapters_started", "current", "listeners")
    assert down == [mq.MQSVC_STATUS_STOPPED, 0, 0, 0]


def test_structures_tell_status_backup_and_definition(talk: Any) -> None:
    """The group's structures, the administration structure included where z/OS includes it."""
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS)
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, QueryOptions(part=mq.MQIACF_CF_STATUS_BACKUP))
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC)
    cycle = talk.end()
    appl1 = "PRDQSG/cf_structure/APPL1"
    expected = {
        "status": mq.MQCFSTATUS_ACTIVE,
        "type": 0,
        "size_max_kb": 524_288,
        "size_used_pct": 50,
        "entries_max": 250_000,
        "entries_used": 62_500,
        "entries_pct": 25.0,
        "offload_use": mq.MQCFOFFLD_SMDS,
        "backup_ts": "2026-11-20 12.40.00",
        "backup_size_mb": 212,
        "cflevel": 5,
        "recover": 1,
        "offload": 1,
    }
    assert {metric: cycle.values[appl1, metric] for metric in expected} == expected
    assert near(cycle.of(appl1, "backup_age_s")[0], 20 * 60)
    assert cycle.of("PRDQSG/cf_structure/CSQ_ADMIN", "type", "size_used_pct", "entries_used") == [1, 4, 58]
    assert cycle.of("PRDQSG/cf_structure/APPL2", "status", "backup_age_s") == [
        mq.MQCFSTATUS_FAILED,
        Absence.NOTHING_TO_TELL,
    ]
    assert cycle.of("PRDQSG/cf_structure/NOREC", "cflevel", "recover") == [4, 0]
    assert cycle.of("PRDQSG/qsg", "structure_count") == [3]


def test_shared_message_data_sets_are_told_for_each_member(talk: Any) -> None:
    """Definition and use of every member's data set."""
    talk.ask(mq.MQCMD_INQUIRE_SMDS)
    for name in talk.group.members:
        talk.ask(mq.MQCMD_INQUIRE_USAGE, QueryOptions(part=mq.MQIACF_USAGE_SMDS), name)
    cycle = talk.end()
    for name in talk.group.members:
        data_set = f"PRDQSG/smds/APPL1/{name}"
        values = cycle.of(data_set, "status", "total_blocks", "used_blocks", "used_pct", "buffers", "buffers_defined")
        assert values == [0, 20_000, 420, 2, 100, 100]


def test_connections_to_data_sets_tell_what_is_wrong_with_them(talk: Any) -> None:
    """Each queue manager's view; what is wrong with the data set itself, all have from the group."""
    talk.group.faults["QM02"] = Fault(data_sets={"APPL1/QM01": "ERROR", "APPL1/QM02": "NOT_EXPANDED"})
    talk.group.faults["QM03"] = Fault(data_sets={"APPL1/QM01": "STOPPED"})
    talk.group.faults[talk.group.name] = Fault(data_sets={"APPL1/QM03": "FAILED"})
    for name in talk.group.members:
        talk.ask(mq.MQCMD_INQUIRE_SMDSCONN, queue_manager=name)
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, QueryOptions(part=mq.MQIACF_CF_STATUS_SMDS))
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, QueryOptions(part=mq.MQIACF_CF_STATUS_CONNECT))
    cycle = talk.end()
    metrics = ("status", "avail", "open_mode", "expand_status", "data_set")
    assert cycle.of("QM01/smds_connection/APPL1/QM01", *metrics) == [3, 0, 2, 0, "APPL1/QM01"]
    assert cycle.of("QM02/smds_connection/APPL1/QM01", *metrics) == [8, 1, 0, 0, "APPL1/QM01"]
    assert cycle.of("QM02/smds_connection/APPL1/QM02", *metrics) == [3, 0, 2, 1, "APPL1/QM02"]
    assert cycle.of("QM03/smds_connection/APPL1/QM01", *metrics) == [0, 2, 0, 0, "APPL1/QM01"]
    assert cycle.of("PRDQSG/smds/APPL1/QM03", "data_set_status", "access") == [4, 1]
    assert cycle.of("PRDQSG/smds/APPL1/QM01", "data_set_status", "access") == [1, 0]
    connected = cycle.of("PRDQSG/cf_structure/APPL1", "members_connected", "connections_failed")
    assert connected == [len(talk.group.members), 0]


def test_publish_subscribe_and_security(talk: Any) -> None:
    """The state of the engine, durable subscriptions by their queue, and switches that are off."""
    talk.group.members["QM02"].subscriptions.append(SubscriptionState("NEWS", "ORDERS.REQUEST", "NEWSUSR"))
    talk.group.members["QM02"].security_off = frozenset({"COMMAND", "QMGR"})
    talk.group.faults["QM02"] = Fault(pubsub_error=True)
    for name in ("QM01", "QM02"):
        for command in (mq.MQCMD_INQUIRE_PUBSUB_STATUS, mq.MQCMD_INQUIRE_SUBSCRIPTION, mq.MQCMD_INQUIRE_SECURITY):
            talk.ask(command, queue_manager=name)
    cycle = talk.end()
    metrics = ("pubsub_status", "subsystem_security", "command_security", "security_off")
    assert cycle.of("QM01/queue_manager", *metrics) == [mq.MQPS_STATUS_ACTIVE, 1, 1, ""]
    assert cycle.of("QM02/queue_manager", *metrics) == [mq.MQPS_STATUS_ERROR, 1, 0, "COMMAND"]
    assert cycle.of("QM02/subscription/ORDERS.REQUEST", "subscriptions", "user") == [1, "NEWSUSR"]


def test_the_group_tells_its_members(talk: Any) -> None:
    """Members by state; one that is down is inactive."""
    talk.group.members["QM02"].command_level = 930
    talk.ask(mq.MQCMD_INQUIRE_QSG)
    cycle = talk.end()
    assert cycle.of("PRDQSG/qsg", "name", "qmgr_count", "members_active", "lowest_command_level") == ["PRDQ", 3, 3, 930]


def test_queue_managers_tell_who_they_are(talk: Any) -> None:
    """Identity and system parameters."""
    talk.group.members["QM01"].command_level = 943
    for command in (mq.MQCMD_INQUIRE_Q_MGR, mq.MQCMD_INQUIRE_SYSTEM, mq.MQCMD_INQUIRE_ARCHIVE):
        talk.ask(command)
    cycle = talk.end()
    values = cycle.of("QM01/queue_manager", "version", "command_level", "platform", "ccsid", "qsg_name", "monq")
    assert values == ["09040300", 943, mq.MQPL_ZOS, 500, "PRDQ", mq.MQMON_MEDIUM]
    assert cycle.of("QM01/queue_manager", "statistics_minutes", "db2_name") == [15, "DBP1"]
    assert cycle.of("QM01/log", "tape_units", "archive_catalog", "logload") == [0, 1, 500_000]


def test_no_metric_that_is_always_told_is_missing(talk: Any) -> None:
    """After everything was asked, what answers do not hold is a known and short list."""
    talk.everything()
    cycle = talk.end()
    missing = {
        (name.split("/")[1], metric)
        for (name, metric), value in cycle.values.items()
        if value is Absence.NOT_RETURNED and name.split("/")[1] not in ("channel", "agent")
    }
    assert missing <= {
        ("page_set", "restart_extents"),
        ("queue", "trigger_type"),
        ("queue", "trigger_priority"),
        ("queue", "cf_structure"),
        ("queue", "storage_class"),
        ("queue_manager", "otma_group"),
        ("queue_manager", "otma_member"),
        ("queue_manager", "otma_interval_s"),
        ("log", "zhylink"),
        ("cf_structure", "backup_logs"),
    }


def test_times_are_those_of_the_members_own_clock(talk: Any) -> None:
    """Each member writes its own local time."""
    talk.group.members["QM03"].zone_ms = -5 * 3_600_000
    exchange = talk.ask(mq.MQCMD_INQUIRE_Q_STATUS, QueryOptions("APPL*"), "QM03")
    assert talk.names(exchange, mq.MQCACF_LAST_PUT_DATE) == ["2026-11-20"]
    assert talk.names(exchange, mq.MQCACF_LAST_PUT_TIME) == ["06.59.57"]

"""The parameters, commands and state numbers that the vocabulary names are IBM's."""

from __future__ import annotations

import re

import pytest

from mqvitals_agent.pcf import constants
from mqvitals_agent.pcf.names import command_name, command_number, parameter_number
from mqvitals_rules.vocabulary import tables
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTERS
from mqvitals_rules.vocabulary.metric import IMPORTED, Kind, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

EVERY_KIND = [pytest.param(kind, id=kind.name) for kind in KINDS.values()]

# State metrics, the prefix of IBM's names for their numbers, and where MQSC says it in other words than the constant.
STATES: dict[str, tuple[str, dict[str, str]]] = {
    "channel.status": ("MQCHS_", {}),
    "channel.substate": (
        "MQCHSSTATE_",
        {
            "ENDBATCH": "END_OF_BATCH",
            "SEND": "SENDING",
            "RECEIVE": "RECEIVING",
            "SERIALIZE": "SERIALIZING",
            "RESYNCH": "RESYNCHING",
            "HEARTBEAT": "HEARTBEATING",
            "SCYEXIT": "IN_SCYEXIT",
            "RCVEXIT": "IN_RCVEXIT",
            "SENDEXIT": "IN_SENDEXIT",
            "MSGEXIT": "IN_MSGEXIT",
            "MREXIT": "IN_MREXIT",
            "CHADEXIT": "IN_CHADEXIT",
            "NETCONNECT": "NET_CONNECTING",
            "SSLHANDSHK": "SSL_HANDSHAKING",
            "NAMESERVER": "NAME_SERVER",
            "MQPUT": "IN_MQPUT",
            "MQGET": "IN_MQGET",
            "MQICALL": "IN_MQI_CALL",
            "COMPRESS": "COMPRESSING",
        },
    ),
    "channel.type": (
        "MQCHT_",
        {"SDR": "SENDER", "SVR": "SERVER", "RCVR": "RECEIVER", "RQSTR": "REQUESTER"},
    ),
    "channel.indoubt": ("MQCHIDS_", {"NO": "NOT_INDOUBT", "YES": "INDOUBT"}),
    "channel.stop_requested": ("MQCHSR_", {"NO": "STOP_NOT_REQUESTED", "YES": "STOP_REQUESTED"}),
    "channel.disposition": ("MQCHLD_", {}),
    "channel.comphdr": ("MQCOMPRESS_", {}),
    "channel.npmspeed": ("MQNPMS_", {}),
    "channel.security_protocol": ("MQSECPROT_", {"SSLV3": "SSLV30", "TLSV1": "TLSV10"}),
    "channel.protocol": ("MQXPT_", {}),
    "channel.monchl": ("MQMON_", {"QMGR": "Q_MGR"}),
    "channel.qsg_disp": ("MQQSGD_", {"QMGR": "Q_MGR"}),
    "channel.splprot": ("MQSPL_", {"ASPOLICY": "AS_POLICY"}),
    "channel.put_authority": (
        "MQPA_",
        {"DEF": "DEFAULT", "CTX": "CONTEXT", "ONLYMCA": "ONLY_MCA", "ALTMCA": "ALTERNATE_OR_MCA"},
    ),
    "channel.ssl_client_auth": ("MQSCA_", {}),
    "channel.usedlq": ("MQUSEDLQ_", {}),
    "queue.type": (
        "MQQT_",
        {"QLOCAL": "LOCAL", "QMODEL": "MODEL", "QALIAS": "ALIAS", "QREMOTE": "REMOTE", "QCLUSTER": "CLUSTER"},
    ),
    "queue.usage": ("MQUS_", {"XMITQ": "TRANSMISSION"}),
    "queue.definition_type": (
        "MQQDT_",
        {"PERMDYN": "PERMANENT_DYNAMIC", "TEMPDYN": "TEMPORARY_DYNAMIC", "SHAREDYN": "SHARED_DYNAMIC"},
    ),
    "queue.index_type": (
        "MQIT_",
        {"MSGID": "MSG_ID", "CORRELID": "CORREL_ID", "MSGTOKEN": "MSG_TOKEN", "GROUPID": "GROUP_ID"},
    ),
    "queue.trigger_type": ("MQTT_", {}),
    "queue.def_persistence": ("MQPER_", {"NO": "NOT_PERSISTENT", "YES": "PERSISTENT"}),
    "queue.uncommitted": ("MQQSUM_", {}),
    "queue.depth_high_event": ("MQEVR_", {"NODISPLAY": "NO_DISPLAY"}),
    "queue.service_interval_event": ("MQQSIE_", {}),
    "queue.statq": ("MQMON_", {"QMGR": "Q_MGR"}),
    "queue.get_enabled": ("MQQA_GET_", {"ENABLED": "ALLOWED", "DISABLED": "INHIBITED"}),
    "queue.put_enabled": ("MQQA_PUT_", {"ENABLED": "ALLOWED", "DISABLED": "INHIBITED"}),
    "buffer_pool.location": ("MQBPLOCATION_", {}),
    "buffer_pool.page_class": ("MQPAGECLAS_", {"PAGE4KB": "4KB"}),
    "page_set.status": ("MQUSAGE_PS_", {"NOTDEFINED": "NOT_DEFINED"}),
    "page_set.expand_type": ("MQUSAGE_EXPAND_", {}),
    "page_set.encrypted": ("MQSYSP_", {}),
    "cf_structure.status": (
        "MQCFSTATUS_",
        {
            "NOTFOUND": "NOT_FOUND",
            "INRECOVER": "IN_RECOVER",
            "INBACKUP": "IN_BACKUP",
            "ADMININCOMPLETE": "ADMIN_INCOMPLETE",
            "NEVERUSED": "NEVER_USED",
            "NOBACKUP": "NO_BACKUP",
            "NOTFAILED": "NOT_FAILED",
            "NOTRECOVERABLE": "NOT_RECOVERABLE",
            "XESERROR": "XES_ERROR",
        },
    ),
    "cf_structure.type": ("MQCFTYPE_", {"application": "APPL", "admin": "ADMIN"}),
    "cf_structure.recover": ("MQCFR_", {}),
    "cf_structure.recauto": ("MQRECAUTO_", {}),
    "cf_structure.cfconlos": ("MQCFCONLOS_", {}),
    "cf_structure.offload": ("MQCFOFFLD_", {}),
    "cf_structure.smds_expand": ("MQDSE_", {}),
    "cf_structure.smds_block": (
        "MQDSB_",
        {name: name[1:] + "K" for name in ("K8", "K16", "K32", "K64", "K128", "K256", "K512", "K1024")},
    ),
    "smds.status": ("MQUSAGE_SMDS_", {"NODATA": "NO_DATA"}),
    "smds.access": ("MQCFACCESS_", {}),
    "smds_connection.status": ("MQS_STATUS_", {}),
    "cluster_queue_manager.role": ("MQQMT_", {}),
    "queue_manager.pubsub_mode": ("MQPSM_", {}),
    "queue_manager.pubsub_status": ("MQPS_STATUS_", {}),
    "cluster_queue_manager.suspend": ("MQSUS_", {}),
    "cluster_queue_manager.status": ("MQCHS_", {}),
    "cluster_queue_manager.definition_type": (
        "MQQMDT_",
        {
            "CLUSSDR": "EXPLICIT_CLUSTER_SENDER",
            "CLUSSDRA": "AUTO_CLUSTER_SENDER",
            "CLUSRCVR": "CLUSTER_RECEIVER",
            "CLUSSDRB": "AUTO_EXP_CLUSTER_SENDER",
        },
    ),
    "smds_connection.avail": ("MQS_AVAIL_", {}),
    "smds_connection.open_mode": ("MQS_OPENMODE_", {}),
    "smds_connection.expand_status": ("MQS_EXPANDST_", {}),
    "log.offload_status": ("MQSYSP_STATUS_", {"ALLOCATING_ARCHIVE": "ALLOC_ARCHIVE"}),
    "log.complog": ("MQCOMPRESS_", {}),
    "log.archive_alcunit": ("MQSYSP_ALLOC_", {}),
    "log.archive_timestamp": ("MQSYSP_", {}),
    "channel_initiator.status": ("MQSVC_STATUS_", {}),
    "channel_initiator.receive_timeout_type": ("MQRCVTIME_", {}),
    "queue_manager.platform": ("MQPL_", {"WINDOWSNT": "WINDOWS_NT"}),
    "queue_manager.cluster_cache": ("MQCLCT_", {}),
    "queue_manager.mulc_capture": ("MQMULC_", {}),
    "queue_manager.wlm_interval_unit": ("MQTIME_UNIT_", {}),
    "queue_manager.message_protection": ("MQCAP_", {"NOTSUPPORTED": "NOT_SUPPORTED"}),
    "queue_manager.group_units_of_recovery": ("MQGUR_", {}),
    "queue_manager.intra_group_queuing": ("MQIGQ_", {}),
    "queue_manager.cfconlos": ("MQCFCONLOS_", {}),
    "queue_manager.statq": ("MQMON_", {"QMGR": "Q_MGR"}),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_parameters_exist(kind: Kind) -> None:
    """Each parameter that a metric names, of an answer or of a statistics message, has a number."""
    named = {
        (metric.name, name)
        for metric in kind.metrics
        for name in re.findall(r"MQ\w+", f"{metric.pcf} {metric.statistics}")
    }
    assert sorted(each for each in named if not _known(each[1])) == []


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_commands_exist(kind: Kind) -> None:
    """Each answer that fills a metric is that of a command, and one that a probe asks for."""
    # Here, so that a parameter without a constant fails the test above and not the import of this module.
    from mqvitals_agent.poll.queries import PROBES

    for command in (
        {metric.command for metric in kind.metrics}
        - IMPORTED
        - {"", "CONNECTION", "COMMAND", "STORE", "RECEIVER", "SERVER", "REMOTE_WRITE", DEAD_LETTERS}
    ):
        assert command_name(command_number(command)) == command
        assert command_number(command) in PROBES


def _known(name: str) -> bool:
    try:
        return parameter_number(name) > 0
    except KeyError:
        return False


@pytest.mark.parametrize("name", STATES)
def test_states_have_ibm_s_numbers(name: str) -> None:
    """A state's numbers are those of IBM's constants, as far as the constants are known."""
    kind, metric_name = name.split(".")
    found = tables.metric(kind, metric_name)
    assert found.type is MetricType.STATE
    prefix, other_words = STATES[name]
    known = {
        constant.removeprefix(prefix): number
        for constant, number in vars(constants).items()
        if constant.startswith(prefix) and isinstance(number, int)
    }
    for value, number in found.values.items():
        word = other_words.get(value, value)
        if word in known:
            assert known[word] == number, value


def test_the_constants_of_states_are_known() -> None:
    """Enough of the constants are there for the comparison to mean something."""
    prefixes = {prefix for prefix, _ in STATES.values()}
    known = {prefix for prefix in prefixes if any(name.startswith(prefix) for name in vars(constants))}
    assert {"MQCHS_", "MQQSGD_", "MQCFSTATUS_", "MQUSAGE_PS_", "MQSVC_STATUS_"} <= known

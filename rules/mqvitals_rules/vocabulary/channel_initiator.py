"""The channel initiator: the address space that runs channels, its limits and listeners, and its tasks.

Adapters make the MQI calls of channels, dispatchers their communication, TLS tasks handshakes and encryption, the DNS
task resolves host names.
"""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import SERVICE, Kind, answer, counter, gauge, records, state, text

# fmt: off

_NOW = answer(
    "INQUIRE_CHANNEL_INIT",
    state("status", SERVICE, "whether the channel initiator is up",
          pcf="MQIACF_CHINIT_STATUS"),
    gauge("adapters_started", "count", "adapter tasks that run",
          pcf="MQIACH_ADAPS_STARTED"),
    gauge("adapters_max", "count", "adapter tasks that were asked for when it started",
          pcf="MQIACH_ADAPS_MAX"),
    gauge("dispatchers_started", "count", "dispatchers that run",
          pcf="MQIACH_DISPS_STARTED"),
    gauge("dispatchers_max", "count", "dispatchers that were asked for when it started",
          pcf="MQIACH_DISPS_MAX"),
    gauge("ssltasks_started", "count", "TLS tasks that run",
          pcf="MQIACH_SSLTASKS_STARTED"),
    gauge("ssltasks_max", "count", "TLS tasks that were asked for when it started",
          pcf="MQIACH_SSLTASKS_MAX"),
    gauge("current", "count", "channels with a current status, retrying and stopped ones included",
          pcf="MQIACH_CURRENT_CHL", smf="QCCTNOCC"),
    gauge("current_max", "count", "most channels with a current status",
          pcf="MQIACH_CURRENT_CHL_MAX", smf="QCCTMXCC"),
    gauge("current_tcp", "count", "channels with a current status over TCP",
          pcf="MQIACH_CURRENT_CHL_TCP"),
    gauge("current_lu62", "count", "channels with a current status over LU 6.2",
          pcf="MQIACH_CURRENT_CHL_LU62"),
    gauge("active", "count", "active channels",
          pcf="MQIACH_ACTIVE_CHL", smf="QCCTNOAC"),
    gauge("active_max", "count", "most active channels",
          pcf="MQIACH_ACTIVE_CHL_MAX", smf="QCCTMXAC"),
    gauge("active_started", "count", "active channels that were started",
          pcf="MQIACH_ACTIVE_CHL_STARTED"),
    gauge("paused", "count", "channels that wait because the limit of active channels is reached; should be 0",
          pcf="MQIACH_ACTIVE_CHL_PAUSED"),
    gauge("retrying", "count", "channels that try to reach their partner again",
          pcf="MQIACH_ACTIVE_CHL_RETRY"),
    gauge("stopped", "count", "channels that are stopped",
          pcf="MQIACH_ACTIVE_CHL_STOPPED"),
    text("tcp_name", "name of the TCP/IP system",
         pcf="MQCACH_TCP_NAME", mqsc="TCPNAME"),
    gauge("listeners", "count", "listeners",
          pcf="MQIACH_LISTENER_STATUS", computed="the number of listeners in the answer"),
    gauge("listeners_down", "count", "listeners that are not running, those that were never started included",
          pcf="MQIACH_LISTENER_STATUS", computed="the number of listeners whose status is not RUNNING"),
    gauge("listeners_running", "count", "listeners that are running",
          pcf="MQIACH_LISTENER_STATUS", computed="the number of listeners whose status is RUNNING"),
    gauge("tcp_listeners_running", "count", "listeners for TCP/IP that are running",
          pcf="MQIACH_LISTENER_STATUS", computed="those of them whose protocol is TCP"),
    gauge("listeners_lost", "count", "listeners that ran since the channel initiator was started and do not run now, or retry",
          pcf="MQIACH_LISTENER_STATUS",
          computed="from earlier answers, by protocol, INDISP, and port or LU name; while the channel initiator runs"),
)

_CONFIGURED = answer(
    "INQUIRE_Q_MGR",
    gauge("chiadaps", "count", "adapter tasks configured; takes effect when the channel initiator restarts",
          pcf="MQIA_CHINIT_ADAPTERS", mqsc="CHIADAPS", platform="zos"),
    gauge("chidisps", "count", "dispatchers configured; takes effect when the channel initiator restarts",
          pcf="MQIA_CHINIT_DISPATCHERS", mqsc="CHIDISPS", platform="zos"),
    gauge("ssltasks", "count", "TLS tasks configured; takes effect when the channel initiator restarts",
          pcf="MQIA_SSL_TASKS", mqsc="SSLTASKS", platform="zos"),
    gauge("actchl", "count", "most active channels, as configured",
          pcf="MQIA_ACTIVE_CHANNELS", mqsc="ACTCHL", platform="zos"),
    gauge("maxchl", "count", "most channels with a current status, as configured",
          pcf="MQIA_MAX_CHANNELS", mqsc="MAXCHL", platform="zos"),
    gauge("tcpchl", "count", "most channels over TCP, as configured",
          pcf="MQIA_TCP_CHANNELS", smf="QCCTMXTP", mqsc="TCPCHL", platform="zos"),
    gauge("lu62chl", "count", "most channels over LU 6.2, as configured",
          pcf="MQIA_LU62_CHANNELS", smf="QCCTMXLU", mqsc="LU62CHL", platform="zos"),
    gauge("receive_timeout", "number",
          "how long a channel waits for its partner: seconds, or a factor; 0: as long as it takes",
          pcf="MQIA_RECEIVE_TIMEOUT", mqsc="RCVTIME", platform="zos"),
    state("receive_timeout_type", {"MULTIPLY": 0, "ADD": 1, "EQUAL": 2},
          "how receive_timeout and the heartbeat interval combine",
          pcf="MQIA_RECEIVE_TIMEOUT_TYPE", mqsc="RCVTTYPE", platform="zos"),
    gauge("receive_timeout_min", "s", "shortest time a channel waits for its partner",
          pcf="MQIA_RECEIVE_TIMEOUT_MIN", mqsc="RCVTMIN", platform="zos"),
)

_INTERVAL = records(
    gauge("adapters_unused", "count", "adapter tasks without a request in the interval; 0: there may be too few",
          smf="QCTREQN"),
    counter("adapter_requests", "count", "requests handled by all adapter tasks in the interval", smf="QCTREQN"),
    gauge("adapter_avg_cpu_us", "us", "processor time of an adapter request, average of all adapter tasks",
          smf="QCTCPTM/QCTREQN"),
    gauge("adapter_avg_elapsed_us", "us",
          "time from an adapter request's beginning to its end, average of all adapter tasks", smf="QCTELTM/QCTREQN"),
    gauge("dispatcher_busiest_pct", "pct", "share of the interval in which the busiest dispatcher was busy",
          smf="QCTELTM/QWHSDURN"),
    gauge("dispatcher_idlest_pct", "pct", "share of the interval in which the least busy dispatcher was busy",
          smf="QCTELTM/QWHSDURN"),
    gauge("ssltasks_unused", "count", "TLS tasks without a request in the interval", smf="QCTREQN"),
    gauge("ssl_longest_us", "us", "longest request of any TLS task in the interval", smf="QCTLSDU"),
    gauge("storage31_kb", "KB", "storage in use below the 2 GB bar", smf="QCCTSTUS"),
)

_DECLARED = (
    gauge("listeners_needed", "count", "listeners that must run", platform="zos", declared=True),
    gauge("extended_private_kb", "KB", "private storage above the 16 MB line that its address space can get",
          platform="zos", declared=True, needed=True),
    gauge("tls_msg_kb", "KB", "longest message that travels over its TLS channels", platform="zos", declared=True),
    gauge("persistent_pct", "pct", "share of persistent messages in those that its channels carry",
          platform="zos", declared=True),
)

CHANNEL_INITIATOR_KIND = Kind(
    name="channel_initiator",
    meaning="the channel initiator of a queue manager",
    poll="INQUIRE_CHANNEL_INIT",
    metrics=(*_NOW, *_CONFIGURED, *_INTERVAL, *_DECLARED),
    single=True,
    facts="channel_initiators",
)


TASK_PROBE = "SMF 115-231"
"""The records that report tasks."""

TASK_METRICS = records(
    counter("requests", "count", "requests handled in the interval", smf="QCTREQN"),
    counter("cpu_us", "us", "processor time used in the interval", smf="QCTCPTM"),
    counter("elapsed_us", "us", "time busy with requests in the interval", smf="QCTELTM"),
    counter("idle_us", "us", "time without work in the interval", smf="QCTWTTM"),
    gauge("busy_pct", "pct", "share of the interval in which it was busy with requests", smf="QCTELTM/QWHSDURN"),
    gauge("cpu_pct", "pct", "share of the interval in which it used a processor", smf="QCTCPTM/QWHSDURN"),
    gauge("avg_cpu_us", "us", "processor time of a request, average", smf="QCTCPTM/QCTREQN"),
    gauge("avg_elapsed_us", "us", "time from a request's beginning to its end, average", smf="QCTELTM/QCTREQN"),
    gauge("wait_us", "us", "of that time what was no processor time, average: waiting for logs, disks, locks",
          smf="(QCTELTM-QCTCPTM)/QCTREQN"),
)


ADAPTER_KIND = Kind(
    name="adapter",
    meaning="an adapter task of a channel initiator, named by its place among them, from 0",
    poll=TASK_PROBE,
    metrics=TASK_METRICS,
)


_DISPATCHER = records(
    gauge("channels", "count", "channels that it serves when the record is made", smf="QCTCHLN"),
)

DISPATCHER_KIND = Kind(
    name="dispatcher",
    meaning="a dispatcher of a channel initiator, named by its place among them, from 0",
    poll=TASK_PROBE,
    metrics=(*TASK_METRICS, *_DISPATCHER),
)


_SSL_TASK = records(
    gauge("longest_us", "us", "longest request of the interval", smf="QCTLSDU"),
    text("longest_ts", "when the longest request was", smf="QCTLSTM"),
)

SSL_TASK_KIND = Kind(
    name="ssl_task",
    meaning="a TLS task of a channel initiator, named by its place among them, from 0",
    poll=TASK_PROBE,
    metrics=(*TASK_METRICS, *_SSL_TASK),
)


_DNS_TASK = records(
    gauge("longest_us", "us", "longest request of the interval", smf="QCTLGDU"),
    text("longest_ts", "when the longest request was", smf="QCTLGTM"),
)

DNS_TASK_KIND = Kind(
    name="dns_task",
    meaning="the task of a channel initiator that resolves host names, named by its place, from 0",
    poll=TASK_PROBE,
    metrics=(*TASK_METRICS, *_DNS_TASK),
)

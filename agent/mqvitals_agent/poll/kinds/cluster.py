"""Queue managers of clusters: INQUIRE_CLUSTER_Q_MGR, what the cluster cache of the queue manager that answers knows.

An answer has an item for each channel; several channels to one queue manager of one cluster become one row.
"""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integers, string
from mqvitals_agent.pcf.message import Value
from mqvitals_agent.poll.columns import MetricColumns, ParameterValues
from mqvitals_agent.poll.probe import CycleRows, MemberReport, Probe, probe_part, wanted_parameters
from mqvitals_rules.vocabulary.cluster import CLUSTER_QUEUE_MANAGER_KIND

CLUSTER = probe_part(CLUSTER_QUEUE_MANAGER_KIND, "INQUIRE_CLUSTER_Q_MGR")
_COLUMNS = MetricColumns(CLUSTER_QUEUE_MANAGER_KIND, "INQUIRE_CLUSTER_Q_MGR")


def read_cluster(answer: MemberReport, rows: CycleRows) -> None:
    """One row a cluster and queue manager: with its own receiver, else with the channel that runs, else the first."""
    found: dict[str, dict[int, Value]] = {}
    for item in answer.items:
        values = item.values
        cluster, name = values.get(mq.MQCA_CLUSTER_NAME), values.get(mq.MQCA_CLUSTER_Q_MGR_NAME)
        if not (cluster and name and type(cluster) is str and type(name) is str):
            continue
        before = found.get(f"{cluster}/{name}")
        if before is None or _worth(values) > _worth(before):
            found[f"{cluster}/{name}"] = values
    for name, values in found.items():
        rows.put(CLUSTER, answer.queue_manager, name, answer.row(_COLUMNS.read(values)))


def _worth(values: ParameterValues) -> tuple[bool, bool, bool]:
    """What decides between two channels to one queue manager."""
    own = values.get(mq.MQIACF_Q_MGR_DEFINITION_TYPE) == mq.MQQMDT_CLUSTER_RECEIVER
    running = values.get(mq.MQIACH_CHANNEL_STATUS) == mq.MQCHS_RUNNING
    return own, running, values.get(mq.MQIACF_Q_MGR_DEFINITION_TYPE) != mq.MQQMDT_EXPLICIT_CLUSTER_SENDER


PROBE = Probe(
    mq.MQCMD_INQUIRE_CLUSTER_Q_MGR,
    read_cluster,
    lambda _: (CLUSTER,),
    wanted_parameters(mq.MQCA_CLUSTER_NAME, mq.MQCA_CLUSTER_Q_MGR_NAME, columns=[_COLUMNS.wanted]),
    parameters=lambda options: (
        string(mq.MQCA_CLUSTER_Q_MGR_NAME, options.name),
        integers(mq.MQIACF_CLUSTER_Q_MGR_ATTRS, [mq.MQIACF_ALL]),
    ),
)

PROBES = (PROBE,)

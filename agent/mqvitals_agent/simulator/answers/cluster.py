"""INQUIRE_CLUSTER_Q_MGR: what a queue manager knows of its clusters."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.simulator.answers.common import CommandRequest, ReplyItem, integer, name_matches, string
from mqvitals_agent.simulator.state import ClusterState, GroupState, MemberState


def cluster_queue_managers(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a cluster and queue manager that this one knows; a partial repository knows only those it has used."""
    wanted = request.text(mq.MQCA_CLUSTER_Q_MGR_NAME)
    for cluster in group.clusters.values():
        if member.name in cluster.queue_managers:
            for name in _known(cluster, group, member):
                if name_matches(name, wanted):
                    yield _item(cluster, name, group, member)


def _known(cluster: ClusterState, group: GroupState, member: MemberState) -> list[str]:
    full = _has_full(cluster, group, member.name)
    used = cluster.queue_managers if full else cluster.partial.get(member.name, cluster.queue_managers)
    return sorted({member.name, *cluster.repositories, *used})


def _has_full(cluster: ClusterState, group: GroupState, name: str) -> bool:
    return name in cluster.repositories and not group.fault(name).no_repository


def _item(cluster: ClusterState, name: str, group: GroupState, member: MemberState) -> ReplyItem:
    kind = mq.MQQMDT_AUTO_CLUSTER_SENDER
    if name == member.name:
        kind = mq.MQQMDT_CLUSTER_RECEIVER
    elif name == next(each for each in cluster.repositories if each != member.name):
        # Each queue manager has one CLUSSDR defined by hand, to a full repository.
        kind = mq.MQQMDT_AUTO_EXP_CLUSTER_SENDER
    fault = group.fault(name)
    role = mq.MQQMT_REPOSITORY if _has_full(cluster, group, name) else mq.MQQMT_NORMAL
    return (
        string(mq.MQCA_CLUSTER_Q_MGR_NAME, name),
        string(mq.MQCA_CLUSTER_NAME, cluster.name),
        string(mq.MQCACH_CHANNEL_NAME, f"{cluster.name}.{name}"),
        integer(mq.MQIACF_Q_MGR_DEFINITION_TYPE, kind),
        integer(mq.MQIACF_Q_MGR_TYPE, role),
        integer(mq.MQIACF_SUSPEND, mq.MQSUS_YES if fault.suspended else mq.MQSUS_NO),
        integer(mq.MQIACH_CHANNEL_STATUS, mq.MQCHS_RETRYING if fault.down else mq.MQCHS_RUNNING),
        string(mq.MQCA_Q_MGR_IDENTIFIER, f"{name}.C0FFEE00{name}".ljust(48)),
    )

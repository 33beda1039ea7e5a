"""All kinds of object by name, and their metrics."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_rules.vocabulary.agent import AGENT_KIND, RECEIVER_KIND, REMOTE_WRITE_KIND, SERVER_KIND, STORE_KIND
from mqvitals_rules.vocabulary.application import APPLICATION_KIND
from mqvitals_rules.vocabulary.channel import CHANNEL_KIND
from mqvitals_rules.vocabulary.channel_initiator import (
    ADAPTER_KIND,
    CHANNEL_INITIATOR_KIND,
    DISPATCHER_KIND,
    DNS_TASK_KIND,
    SSL_TASK_KIND,
)
from mqvitals_rules.vocabulary.client import CLIENT_KIND
from mqvitals_rules.vocabulary.cluster import CLUSTER_QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTER_KIND
from mqvitals_rules.vocabulary.log import LOG_KIND
from mqvitals_rules.vocabulary.metric import Kind, Metric
from mqvitals_rules.vocabulary.qsg import (
    CF_STRUCTURE_KIND,
    QSG_KIND,
    SMDS_CONNECTION_KIND,
    SMDS_KIND,
)
from mqvitals_rules.vocabulary.queue import QUEUE_KIND
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.storage import BUFFER_POOL_KIND, PAGE_SET_KIND
from mqvitals_rules.vocabulary.subscription import SUBSCRIPTION_KIND

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        QUEUE_MANAGER_KIND,
        QSG_KIND,
        CHANNEL_KIND,
        CLIENT_KIND,
        CLUSTER_QUEUE_MANAGER_KIND,
        QUEUE_KIND,
        DEAD_LETTER_KIND,
        SUBSCRIPTION_KIND,
        BUFFER_POOL_KIND,
        PAGE_SET_KIND,
        CF_STRUCTURE_KIND,
        SMDS_KIND,
        SMDS_CONNECTION_KIND,
        LOG_KIND,
        CHANNEL_INITIATOR_KIND,
        ADAPTER_KIND,
        DISPATCHER_KIND,
        SSL_TASK_KIND,
        DNS_TASK_KIND,
        APPLICATION_KIND,
        AGENT_KIND,
        STORE_KIND,
        RECEIVER_KIND,
        SERVER_KIND,
        REMOTE_WRITE_KIND,
    )
}
"""Every kind, in the order of lists and pages."""

_METRICS: Mapping[str, Mapping[str, Metric]] = {
    name: {metric.name: metric for metric in found.metrics} for name, found in KINDS.items()
}


def kind(name: str) -> Kind:
    """The kind called ``name``. Raises KeyError when there is none."""
    return KINDS[name]


def metric(kind: str, name: str) -> Metric:
    """The metric ``name`` of the kind called ``kind``. Raises KeyError when there is no such kind or metric."""
    return _METRICS[kind][name]

"""All kinds by name, and the way to a metric."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_rules.vocabulary import (
    adapter,
    agent,
    application,
    buffer_pool,
    cf_structure,
    channel,
    channel_initiator,
    dispatcher,
    dns_task,
    log,
    page_set,
    qsg,
    queue,
    queue_manager,
    smds,
    ssl_task,
    store,
)
from mqvitals_rules.vocabulary.metric import Kind, Metric

KINDS: Mapping[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (
        queue_manager,
        qsg,
        channel,
        queue,
        buffer_pool,
        page_set,
        cf_structure,
        smds,
        log,
        channel_initiator,
        adapter,
        dispatcher,
        ssl_task,
        dns_task,
        application,
        agent,
        store,
    )
}
"""Every kind, in the order in which people look at them."""

_METRICS: Mapping[str, Mapping[str, Metric]] = {
    name: {metric.name: metric for metric in found.metrics} for name, found in KINDS.items()
}


def kind(name: str) -> Kind:
    """The kind called ``name``. Raises KeyError when there is none."""
    return KINDS[name]


def metric(kind: str, name: str) -> Metric:
    """The metric ``name`` of the kind called ``kind``. Raises KeyError when there is no such kind or metric."""
    return _METRICS[kind][name]

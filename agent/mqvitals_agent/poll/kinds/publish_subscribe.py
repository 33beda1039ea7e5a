"""Publish/subscribe: INQUIRE_PUBSUB_STATUS, and INQUIRE_SUBSCRIPTION for durable subscriptions by the queue they fill."""

from __future__ import annotations

from collections.abc import Iterator

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, integers, string
from mqvitals_agent.poll.columns import MetricColumns, ParameterValues
from mqvitals_agent.poll.probe import CycleRows, MemberReport, Probe, probe_part, wanted_parameters
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.subscription import SUBSCRIPTION_KIND

MOST_QUEUES = 2_000
"""Queues of subscriptions that are kept of one queue manager, the first by name; all are counted."""

STATUS = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_PUBSUB_STATUS")
COUNT = probe_part(QUEUE_MANAGER_KIND, "INQUIRE_SUBSCRIPTION")
SUBSCRIPTIONS = probe_part(SUBSCRIPTION_KIND, "INQUIRE_SUBSCRIPTION")

_STATUS = MetricColumns(QUEUE_MANAGER_KIND, "INQUIRE_PUBSUB_STATUS")
_SUBSCRIPTIONS = MetricColumns(SUBSCRIPTION_KIND, "INQUIRE_SUBSCRIPTION")


def read_status(answer: MemberReport, rows: CycleRows) -> None:
    """One row: the state of the queue manager's own engine; parents and children are left out."""
    for item in answer.items:
        if item.values.get(mq.MQIACF_PS_STATUS_TYPE, mq.MQPSST_LOCAL) == mq.MQPSST_LOCAL:
            rows.put(STATUS, answer.queue_manager, "", answer.row(_STATUS.read(item.values)))
            return


def read_subscriptions(answer: MemberReport, rows: CycleRows) -> None:
    """One row a queue that durable subscriptions fill, and one of the queue manager with their number."""
    found: dict[str, list[ParameterValues]] = {}
    count = 0
    for values in _durable(answer):
        count += 1
        queue = values.get(mq.MQCACF_DESTINATION)
        if queue and type(queue) is str:
            found.setdefault(queue, []).append(values)
    if answer.whole:
        rows.put(
            COUNT,
            answer.queue_manager,
            "",
            answer.row({"durable_subscriptions": count, "subscription_queues": len(found)}),
        )
    for queue in sorted(found)[:MOST_QUEUES]:
        metrics = _SUBSCRIPTIONS.read(min(found[queue], key=_subscription_name))
        metrics["subscriptions"] = len(found[queue])
        rows.put(SUBSCRIPTIONS, answer.queue_manager, queue, answer.row(metrics))


def _durable(answer: MemberReport) -> Iterator[ParameterValues]:
    """The durable subscriptions whose queue is on this queue manager."""
    for item in answer.items:
        values = item.values
        elsewhere = values.get(mq.MQCACF_DESTINATION_Q_MGR)
        here = not elsewhere or elsewhere == answer.queue_manager
        if here and values.get(mq.MQIACF_DURABLE_SUBSCRIPTION, mq.MQSUB_DURABLE_YES) == mq.MQSUB_DURABLE_YES:
            yield values


def _subscription_name(values: ParameterValues) -> str:
    return str(values.get(mq.MQCACF_SUB_NAME, ""))


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_PUBSUB_STATUS,
    read_status,
    lambda _: (STATUS,),
    wanted_parameters(mq.MQIACF_PS_STATUS_TYPE, columns=[_STATUS.wanted]),
    parameters=lambda _: (integer(mq.MQIACF_PS_STATUS_TYPE, mq.MQPSST_LOCAL),),
)
SUBSCRIPTION_PROBE = Probe(
    mq.MQCMD_INQUIRE_SUBSCRIPTION,
    read_subscriptions,
    lambda _: (SUBSCRIPTIONS, COUNT),
    wanted_parameters(
        mq.MQCACF_DESTINATION_Q_MGR,
        mq.MQIACF_DURABLE_SUBSCRIPTION,
        mq.MQCACF_DESTINATION,
        mq.MQCACF_SUB_NAME,
        columns=[_SUBSCRIPTIONS.wanted],
    ),
    parameters=lambda options: (
        string(mq.MQCACF_SUB_NAME, options.name),
        integer(mq.MQIACF_DURABLE_SUBSCRIPTION, mq.MQSUB_DURABLE_YES),
        integers(
            mq.MQIACF_SUB_ATTRS,
            [
                mq.MQIACF_DURABLE_SUBSCRIPTION,
                mq.MQCACF_DESTINATION,
                mq.MQCACF_DESTINATION_Q_MGR,
                mq.MQCACF_SUB_USER_ID,
            ],
        ),
    ),
)

PROBES = (STATUS_PROBE, SUBSCRIPTION_PROBE)

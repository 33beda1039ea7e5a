"""Durable subscriptions, by the queue that they fill."""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Kind, answer, gauge, text

SUBSCRIPTION_KIND = Kind(
    name="subscription",
    meaning="the durable subscriptions of a queue manager that fill one queue, by the name of the queue",
    poll="INQUIRE_SUBSCRIPTION",
    metrics=answer(
        "INQUIRE_SUBSCRIPTION",
        text("destination", "the queue that publications are put on", pcf="MQCACF_DESTINATION", mqsc="DEST"),
        gauge(
            "subscriptions", "count", "durable subscriptions that fill the queue", computed="answers with that queue"
        ),
        text(
            "subscription_name", "name of the subscription; of several the first", pcf="MQCACF_SUB_NAME", mqsc="SUBNAME"
        ),
        text(
            "user",
            "user id that owns the subscription; of several that of the first",
            pcf="MQCACF_SUB_USER_ID",
            mqsc="SUBUSER",
        ),
    ),
)

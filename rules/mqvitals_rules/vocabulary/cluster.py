"""Queue managers of clusters, as the cluster cache of one queue manager knows them."""

from __future__ import annotations

from mqvitals_rules.vocabulary.metric import CHANNEL_STATUS, NO_YES, Kind, answer, state, text

CLUSTER_QUEUE_MANAGER_KIND = Kind(
    name="cluster_queue_manager",
    meaning="a queue manager of a cluster as another one, or itself, knows it: cluster, then queue manager",
    poll="INQUIRE_CLUSTER_Q_MGR",
    metrics=answer(
        "INQUIRE_CLUSTER_Q_MGR",
        text("cluster", "the cluster", pcf="MQCA_CLUSTER_NAME", mqsc="CLUSTER"),
        state(
            "role",
            {"NORMAL": 0, "REPOSITORY": 1},
            "whether it has a full repository of the cluster (REPOSITORY), or a partial one",
            pcf="MQIACF_Q_MGR_TYPE",
            mqsc="QMTYPE",
        ),
        state(
            "suspend",
            NO_YES,
            "it has been suspended from the cluster: messages go elsewhere where they can",
            pcf="MQIACF_SUSPEND",
            mqsc="SUSPEND",
        ),
        state(
            "definition_type",
            {"CLUSSDR": 1, "CLUSSDRA": 2, "CLUSRCVR": 3, "CLUSSDRB": 4},
            "how it is known: by a CLUSSDR that was defined by hand and is not confirmed yet (CLUSSDR), by the cluster"
            " (CLUSSDRA), by both (CLUSSDRB); CLUSRCVR is the queue manager itself",
            pcf="MQIACF_Q_MGR_DEFINITION_TYPE",
            mqsc="DEFTYPE",
        ),
        text("channel", "the channel to it, or its own cluster-receiver", pcf="MQCACH_CHANNEL_NAME", mqsc="CHANNEL"),
        state(
            "status",
            CHANNEL_STATUS,
            "state of the channel to it; of several the one that runs",
            pcf="MQIACH_CHANNEL_STATUS",
            mqsc="STATUS",
        ),
        text(
            "qmid",
            "its unique identifier, other than that of one of the same name that was deleted",
            pcf="MQCA_Q_MGR_IDENTIFIER",
            mqsc="QMID",
        ),
    ),
)

"""Queue managers of clusters, as each queue manager knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

COMMAND = mq.MQCMD_INQUIRE_CLUSTER_Q_MGR


def entry(name: str, cluster: str = "PRDCLUS", *, channel: str = "", status: int = 3, known: int = 2) -> dict[int, Any]:
    """An item about a queue manager."""
    return {
        mq.MQCA_CLUSTER_Q_MGR_NAME: name,
        mq.MQCA_CLUSTER_NAME: cluster,
        mq.MQCACH_CHANNEL_NAME: channel or f"{cluster}.{name}",
        mq.MQIACF_Q_MGR_DEFINITION_TYPE: known,
        mq.MQIACF_Q_MGR_TYPE: mq.MQQMT_REPOSITORY,
        mq.MQIACF_SUSPEND: mq.MQSUS_YES,
        mq.MQIACH_CHANNEL_STATUS: status,
    }


def test_entries_belong_to_who_knows_them(talk: Talk) -> None:
    """Cluster and queue manager are the name; the same queue manager in another cluster is another object."""
    talk.ask(COMMAND, [entry("QM01", known=3), entry("QM02"), entry("QM02", "TSTCLUS")])
    told = talk.end()
    reading = told.reading("QM01/cluster_queue_manager/PRDCLUS/QM02")
    assert reading.poll
    assert reading.values == {
        "cluster": "PRDCLUS",
        "role": mq.MQQMT_REPOSITORY,
        "suspend": mq.MQSUS_YES,
        "definition_type": mq.MQQMDT_AUTO_CLUSTER_SENDER,
        "channel": "PRDCLUS.QM02",
        "status": mq.MQCHS_RUNNING,
        "qmid": Absence.NOT_RETURNED,
    }
    assert told.value("QM01/cluster_queue_manager/TSTCLUS/QM02", "cluster") == "TSTCLUS"
    talk.ask(COMMAND, [entry("QM01", known=3)])
    assert talk.end().reading("QM01/cluster_queue_manager/PRDCLUS/QM02").gone


def test_of_several_channels_to_one_queue_manager_the_running_one_counts(talk: Talk) -> None:
    """Whatever their order; the queue manager's own receiver goes before all."""
    entries = [
        entry("QM02", channel="A", status=mq.MQCHS_RETRYING),
        entry("QM02", channel="B", status=mq.MQCHS_RUNNING),
        entry("QM02", channel="C", status=mq.MQCHS_STOPPED),
    ]
    own = entry("QM02", channel="OWN", status=mq.MQCHS_INACTIVE, known=mq.MQQMDT_CLUSTER_RECEIVER)
    for items, expected in ((entries, "B"), (entries[::-1], "B"), ([*entries, own], "OWN")):
        talk.ask(COMMAND, items)
        assert talk.end().value("QM01/cluster_queue_manager/PRDCLUS/QM02", "channel") == expected


def test_a_refusal_leaves_nothing_known_and_hurts_nothing_else(talk: Talk) -> None:
    """What was known before is not authorised now; other commands are answered."""
    talk.ask(COMMAND, [entry("QM02")])
    talk.end()
    talk.ask(COMMAND, reason=2035)
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    told = talk.end()
    reading = told.reading("QM01/cluster_queue_manager/PRDCLUS/QM02")
    assert set(reading.values.values()) == {Absence.NOT_AUTHORISED}
    assert told.value("QM01/agent/INQUIRE_CLUSTER_Q_MGR", "mqsc") == "DISPLAY CLUSQMGR"

"""All probes, by the number of their command."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_agent.poll import (
    cf_structure,
    channel,
    channel_initiator,
    log,
    qsg,
    queue,
    queue_manager,
    smds,
    usage,
)
from mqvitals_agent.poll.probe import Probe

PROBES: Mapping[int, Probe] = {
    probe.command: probe
    for probe in (
        queue_manager.PROBE,
        queue_manager.STATUS_PROBE,
        channel.STATUS_PROBE,
        channel.DEFINITION_PROBE,
        queue.STATUS_PROBE,
        queue.DEFINITION_PROBE,
        queue.STORAGE_CLASS_PROBE,
        cf_structure.STATUS_PROBE,
        cf_structure.DEFINITION_PROBE,
        usage.PROBE,
        channel_initiator.PROBE,
        log.LOG_PROBE,
        log.ARCHIVE_PROBE,
        log.SYSTEM_PROBE,
        qsg.PROBE,
        smds.PROBE,
    )
}

"""What the records of the channel initiator tell of each of its tasks, whatever kind it is."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import counter, gauge, records

PROBE = "SMF 115-231"
"""The records that tell of tasks."""

WORK = records(
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

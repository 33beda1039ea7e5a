"""Backup and recovery of coupling facility structures: how often, and what it costs."""

from __future__ import annotations

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.log_data import MB, log_bytes
from mqvitals_rules.plan.question import Input, PlanError
from mqvitals_rules.plan.structure import HIGHLIGHTS

TARGET_S = 1800
RESTORE_S = 60
READ_MB_PER_S = 3
DOCUMENT_MSG_BYTES = 1024
DOCUMENT_LOGS = 3
_DOCUMENT_ROWS = ((400, 0.97, 90), (1200, 2.9, 30), (2200, 5.3, 16))
"""Messages a second to the longest log; the MB a second and the minutes that the document prints."""

MEASURED_MSGS = 100_000
BACKUP_CPU_S = 2
RESTORED_S = 20
_MEASURED_ON = "9672-X27, z/OS V1R2, ESS 2105-E20 DASD; V5.3"


def _log_mb_per_s(msgs_per_s: float, msg_bytes: int) -> float:
    return msgs_per_s * log_bytes(msg_bytes, in_qsg="yes") / MB


def _document_row(msgs_per_s: int, document_mb_per_s: float, document_min: int) -> Row:
    rate = _log_mb_per_s(msgs_per_s, DOCUMENT_MSG_BYTES)
    return {
        "msgs_per_s_longest_log": msgs_per_s,
        "msgs_per_s_3_logs": msgs_per_s * DOCUMENT_LOGS,
        "log_mb_per_s": rate,
        "document_mb_per_s": document_mb_per_s,
        "interval_min": (TARGET_S - RESTORE_S) * READ_MB_PER_S / rate / 60,
        "document_interval_min": document_min,
    }


@formula(
    "cf-backup-interval",
    number="F-04",
    title="How often to back up a structure to recover it in time",
    inputs=(
        Input(
            "msgs_per_s", "messages/s", "persistent messages put and got, on all the logs", 0.001, 1e7, fraction=True
        ),
        Input("logs", "logs", "evenly loaded logs of queue managers that they are spread over", 1, 32, default=1),
        Input("msg_bytes", "bytes", "length of a message", 0, 104_857_600, default=DOCUMENT_MSG_BYTES),
        Input(
            "target_s",
            "s",
            "the longest the recovery may take, without the time to react",
            1,
            604_800,
            default=TARGET_S,
        ),
        Input("restore_s", "s", "what of it restoring the backup itself takes", 0, 604_800, default=RESTORE_S),
        Input(
            "read_mb_per_s",
            "MB/s",
            "rate at which a log is read backwards",
            0.001,
            1e5,
            default=READ_MB_PER_S,
            fraction=True,
        ),
    ),
    measured_on=_MEASURED_ON,
    caveat=(
        "The log data of a message are a crude estimate, and whatever else is logged counts too. The log that grew most since the backup"
        " decides, since all are read at the same time. Use the backward read rate of your own DASD. The rows are the document's: 1 KB"
        " messages, 30 minutes, 3 MB/s; 2,200 messages/s was the most that DASD could log."
    ),
    source=f"{HIGHLIGHTS} · 2.2.4.1 Backup frequency example calculation",
    example={"msgs_per_s": 400},
)
def cf_backup_interval(
    msgs_per_s: float, logs: int, msg_bytes: int, target_s: int, restore_s: int, read_mb_per_s: float
) -> Outcome:
    """Minutes from one backup to the next; the catalogue's F-04."""
    if restore_s >= target_s:
        raise PlanError(f"restore-s must be less than target-s ({target_s:,} s), not {restore_s:,}")
    replay_s = target_s - restore_s
    budget_mb = replay_s * read_mb_per_s
    each = log_bytes(msg_bytes, in_qsg="yes")
    rate = _log_mb_per_s(msgs_per_s / logs, msg_bytes)
    minutes = budget_mb / rate / 60
    steps = [
        f"({target_s:,} - {restore_s:,}) s to replay x {read_mb_per_s:,.10g} MB/s = {budget_mb:,.0f} MB of log that can be read",
        f"{msgs_per_s:,.10g} messages/s / {logs} {'log' if logs == 1 else 'logs'} x {each:,} bytes = {rate:,.3f} MB/s to the longest log",
        f"{budget_mb:,.0f} MB / {rate:,.3f} MB/s / 60 = {minutes:,.1f} minutes",
    ]
    if rate <= read_mb_per_s:
        steps.append(
            f"this log is written no faster than it is read backwards, so the interval is at least the {replay_s / 60:,.1f} minutes of"
            " replay (the document says: the recovery time, and leaves the restore out)"
        )
    rows = tuple(_document_row(*each_row) for each_row in _DOCUMENT_ROWS)
    steps.append(
        "the document prints 0.97, 2.9 and 5.3 MB/s and 90, 30 and 16 minutes in its table: cut off or rounded"
    )
    return Outcome(minutes, "minutes", tuple(steps), rows=rows)


_MESSAGES = Input("msgs", "messages", "persistent messages of 1 KB in the structure", 0, 1e10)
_SCALED = "An order of magnitude: one measurement with 100,000 messages of 1 KB, scaled in proportion. Longer messages take more."


@formula(
    "cf-backup-cpu",
    number="F-37",
    title="CPU time of backing up a structure",
    inputs=(_MESSAGES,),
    measured_on="9672-X27; V5.3",
    caveat=f"At most: less than this was measured. {_SCALED}",
    source=f"{HIGHLIGHTS} · 2.2.4 How often should CF structures be backed up?",
    example={"msgs": 100_000},
)
def cf_backup_cpu(msgs: int) -> Outcome:
    """CPU seconds, at most; the catalogue's F-37."""
    cpu_s = msgs * BACKUP_CPU_S / MEASURED_MSGS
    step = f"{msgs:,} messages x {BACKUP_CPU_S} CPU s / {MEASURED_MSGS:,} messages = {cpu_s:,.2f} CPU s"
    return Outcome(cpu_s, "CPU s", (step,))


@formula(
    "cf-restore-time",
    number="F-37",
    title="Time to restore a structure's backup, before the log is replayed",
    inputs=(_MESSAGES,),
    measured_on=_MEASURED_ON,
    caveat=f"The backup was still on an active log. {_SCALED}",
    source=f"{HIGHLIGHTS} · 2.2.4.1 Backup frequency example calculation",
    example={"msgs": 100_000},
)
def cf_restore_time(msgs: int) -> Outcome:
    """Seconds; the catalogue's F-37. What ``restore_s`` of the backup interval allows for."""
    seconds = msgs * RESTORED_S / MEASURED_MSGS
    step = f"{msgs:,} messages x {RESTORED_S} s / {MEASURED_MSGS:,} messages = {seconds:,.1f} s"
    return Outcome(seconds, "s", (step,))

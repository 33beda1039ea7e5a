"""Coupling facility structures: size, messages, the administration structure, backup and recovery."""

from __future__ import annotations

from math import ceil, floor

from mqvitals_rules.plan.formula import HIGHLIGHTS, Input, PlanError, Result, TableRow, formula
from mqvitals_rules.plan.logs import MB, log_bytes

LEAST_ELEMENT_BYTES = 1536
"""Minimum of a message: the smallest entry with its elements, as in OS/390 V2.9."""
ELEMENT_BYTES = 256
MQMD_BYTES = 324
CONTROL_SHARE = 1.25
"""A quarter more for the coupling facility's own control storage."""
LEAST_KB = 16_384


def _message_bytes(msg_bytes: float) -> int:
    return max(LEAST_ELEMENT_BYTES, ceil(msg_bytes / ELEMENT_BYTES) * ELEMENT_BYTES)


@formula(
    "cf-structure-size",
    number="F-01",
    title="Size of an application structure for so many messages",
    inputs=(
        Input("msg_bytes", "bytes", "the longest message with all headers, MQMD included", 1, 64_512 + MQMD_BYTES),
        Input("max_msgs", "messages", "the most messages on all its queues", 1, 1e10),
    ),
    measured_on="arithmetic; the least of 1536 bytes is that of OS/390 V2.9",
    caveat=(
        "INITSIZE; give SIZE more. A quarter for control storage is too little for small structures with large messages, and each"
        " level of coupling facility code takes a little more."
    ),
    source=f"{HIGHLIGHTS} · 2.2.2.2 Application structures",
    example={"msg_bytes": 1536, "max_msgs": 275_000},
)
def cf_structure_size(msg_bytes: int, max_msgs: int) -> Result:
    """INITSIZE in KB (1024 bytes), at least 16 MB."""
    each = _message_bytes(msg_bytes)
    size_bytes = each * max_msgs * CONTROL_SHARE
    exact_kb = size_bytes / 1024
    kb = max(LEAST_KB, ceil(exact_kb))
    steps = [
        f"a message takes max({LEAST_ELEMENT_BYTES}, {msg_bytes:,} rounded up to {ELEMENT_BYTES}) = {each:,} bytes",
        f"{each:,} bytes x {max_msgs:,} messages x {CONTROL_SHARE} = {size_bytes:,.0f} bytes = {exact_kb:,.1f} KB",
    ]
    if kb == LEAST_KB:
        steps.append(f"at least {LEAST_KB:,} KB")
    return Result(kb, "KB", tuple(steps), exact=max(float(LEAST_KB), exact_kb))


@formula(
    "cf-structure-messages",
    number="F-02",
    title="Messages that fit into a structure",
    inputs=(
        Input("size_kb", "KB", "the structure's size", 1, 1e10),
        Input("user_bytes", "bytes", "data of a message, without MQMD", 0, 64_512),
    ),
    measured_on="arithmetic; the document's chart is some 2 to 10 % lower",
    caveat="For small structures with large messages treat it as 10 % uncertain: control storage takes more than a quarter there.",
    source=f"{HIGHLIGHTS} · 2.2.2.2 Application structures",
    example={"size_kb": 524_288, "user_bytes": 1212},
)
def cf_structure_messages(size_kb: int, user_bytes: int) -> Result:
    """Whole messages."""
    each = _message_bytes(user_bytes + MQMD_BYTES)
    exact = size_kb * 1024 / CONTROL_SHARE / each
    steps = (
        f"a message takes {user_bytes:,} + {MQMD_BYTES} bytes of MQMD, that is {each:,} bytes",
        f"{size_kb * 1024:,} bytes / {CONTROL_SHARE} / {each:,} = {exact:,.1f}",
    )
    return Result(floor(exact), "messages", steps, exact=exact)


ENTRIES_EACH = 1000
"""Entries to allow for each queue manager of the group."""


@formula(
    "csq-admin-queue-managers",
    number="F-03",
    title="Queue managers that CSQ_ADMIN has entries for",
    inputs=(
        Input("entries_max", "entries", "ENTSMAX of DISPLAY CFSTATUS(CSQ_ADMIN)", 1, 1e9),
        Input("entries_used", "entries", "ENTSUSED of the same; 0 leaves the share in use out", 0, 1e9, default=0),
    ),
    measured_on="arithmetic; the example is a coupling facility at CFCC level 10",
    caveat=(
        "The document's allowance, not a limit the product enforces. A higher CFCC level keeps slightly more for itself, so ENTSMAX"
        " of a structure of the same size falls with each upgrade: look again after one."
    ),
    source=f"{HIGHLIGHTS} · 2.2.2.1 CSQ_ADMIN",
    example={"entries_max": 9362, "entries_used": 53},
)
def csq_admin_queue_managers(entries_max: int, entries_used: int) -> Result:
    """Whole queue managers."""
    if entries_used > entries_max:
        raise PlanError(f"entries-used must be at most entries-max ({entries_max:,}), not {entries_used:,}")
    exact = entries_max / ENTRIES_EACH
    steps = [f"{entries_max:,} entries / {ENTRIES_EACH:,} for each queue manager = {exact:,.3f}"]
    if entries_used:
        share = entries_used / entries_max * 100
        steps.append(f"in use: {entries_used:,} of {entries_max:,} entries = {share:.2f} %")
    return Result(floor(exact), "queue managers", tuple(steps), exact=exact)


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


def _document_row(msgs_per_s: int, document_mb_per_s: float, document_min: int) -> TableRow:
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
) -> Result:
    """Minutes from one backup to the next."""
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
            " replay (the document gives the recovery time, and leaves the restore out)"
        )
    rows = tuple(_document_row(*each_row) for each_row in _DOCUMENT_ROWS)
    steps.append(
        "the document prints 0.97, 2.9 and 5.3 MB/s and 90, 30 and 16 minutes in its table: cut off or rounded"
    )
    return Result(minutes, "minutes", tuple(steps), rows=rows)


_BACKED_UP = Input("msgs", "messages", "persistent messages of 1 KB in the structure", 0, 1e10)
_SCALED = "An order of magnitude: one measurement with 100,000 messages of 1 KB, scaled in proportion. Longer messages take more."


@formula(
    "cf-backup-cpu",
    number="F-37",
    title="CPU time of backing up a structure",
    inputs=(_BACKED_UP,),
    measured_on="9672-X27; V5.3",
    caveat=f"At most: less than this was measured. {_SCALED}",
    source=f"{HIGHLIGHTS} · 2.2.4 How often should CF structures be backed up?",
    example={"msgs": 100_000},
)
def cf_backup_cpu(msgs: int) -> Result:
    """CPU seconds, at most."""
    cpu_s = msgs * BACKUP_CPU_S / MEASURED_MSGS
    step = f"{msgs:,} messages x {BACKUP_CPU_S} CPU s / {MEASURED_MSGS:,} messages = {cpu_s:,.2f} CPU s"
    return Result(cpu_s, "CPU s", (step,))


@formula(
    "cf-restore-time",
    number="F-37",
    title="Time to restore a structure's backup, before the log is replayed",
    inputs=(_BACKED_UP,),
    measured_on=_MEASURED_ON,
    caveat=f"The backup was still on an active log. {_SCALED}",
    source=f"{HIGHLIGHTS} · 2.2.4.1 Backup frequency example calculation",
    example={"msgs": 100_000},
)
def cf_restore_time(msgs: int) -> Result:
    """Seconds. What ``restore_s`` of the backup interval allows for."""
    seconds = msgs * RESTORED_S / MEASURED_MSGS
    step = f"{msgs:,} messages x {RESTORED_S} s / {MEASURED_MSGS:,} messages = {seconds:,.1f} s"
    return Result(seconds, "s", (step,))

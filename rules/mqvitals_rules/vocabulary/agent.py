"""The agent itself: its commands, one object for each form of command, its store with the disk under it, and the receivers of alerts.

The agent measures its store and its receivers about once a minute.
"""

from __future__ import annotations

from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import NO_YES, Kind, answer, counter, gauge, state, text

# fmt: off

AGENT_KIND = Kind(
    name="agent",
    meaning="a form of command that was sent to a queue manager, such as INQUIRE_CHANNEL_STATUS CMDSCOPE(*)",
    poll="COMMAND",
    metrics=answer(
        "COMMAND",
        state("outcome", {outcome.name: outcome.value for outcome in Outcome},
              "its outcome; of several in a cycle, the worst"),
        text("mqsc", "the command in MQSC; its profile in class MQCMDS is named after it"),
        gauge("reason", "number", "MQ reason code that came back; 0: none"),
        gauge("commands", "count", "commands sent in the cycle"),
        gauge("replies", "count", "messages that came back in the cycle"),
        gauge("bytes", "bytes", "data that came back in the cycle"),
        gauge("elapsed_ms", "ms", "time until the last message came back, summed over the cycle"),
        gauge("every_ms", "ms", "time from one such command to the next that is in force; absent in a replay"),
        gauge("stretched", "count", "how many times the interval was doubled because the answers took long"),
    ),
)


_DAY = "over the last 24 hours, of which at least two must be known"

STORE_KIND = Kind(
    name="store",
    meaning="the store of the agent and the disk under it, once for the group; without a group, of its first queue manager",
    poll="STORE",
    metrics=answer(
        "STORE",
        gauge("used_bytes", "bytes", "what it holds, with its write-ahead log: this counts against the limit"),
        gauge("data_bytes", "bytes", "pages in use, without the write-ahead log"),
        gauge("file_bytes", "bytes", "its files on disk; deleted pages are used again, so they do not shrink"),
        gauge("limit_bytes", "bytes", "store.limit; absent where there is none"),
        gauge("limit_used_pct", "pct", "share of the limit that is used", computed="used_bytes * 100 / limit_bytes"),
        gauge("keep_s", "s", "store.keep.raw, of most kinds; absent where it is forever"),
        gauge("held_s", "s", "age of the oldest sample"),
        gauge("growth_bytes_per_h", "bytes/h", f"how fast data_bytes grows {_DAY}", computed="slope of the line through the measurements"),
        text("deletion_waits", "why samples older than keep are not deleted now, or finished hours not sealed: the clock has jumped ahead, or it fails; absent while they are"),
        state("keep_missed", NO_YES,
              "whether the limit has cost samples younger than keep in the last 24 hours; NO where keep is forever"),
        state("limit_ahead", NO_YES, "whether, as it grows now, the limit will cost samples younger than keep; NO where keep is forever",
              computed="limit_reached_s < keep_s - held_s"),
        gauge("limit_reached_s", "s", "time until the limit is reached; absent unless it grows",
              computed="(limit_bytes - used_bytes) / growth of data_bytes since finished hours are sealed"),
        gauge("disk_bytes", "bytes", "size of the file system that it is on"),
        gauge("disk_free_bytes", "bytes", "space on it that the agent may use"),
        gauge("disk_free_pct", "pct", "share of it that the agent may use", computed="disk_free_bytes * 100 / disk_bytes"),
        gauge("disk_fill_bytes_per_h", "bytes/h", f"how fast its free space decreases, whatever takes it, {_DAY}",
              computed="slope of the line through the measurements"),
        state("disk_filling", NO_YES, "whether its free space decreases", computed="disk_fill_bytes_per_h > 0"),
        gauge("disk_full_s", "s", "time until no space is left; absent unless it fills",
              computed="disk_free_bytes / disk_fill_bytes_per_h"),
        state("unwritable", NO_YES, "whether the agent cannot write it now; rules are evaluated and alerts sent all the same"),
        text("trouble", "what keeps the agent from writing it; absent while nothing does"),
        gauge("dropped_snapshots", "count", "snapshots that were dropped since the agent began, as too many waited for the store"),
        state("begun_anew", NO_YES, "whether, in the last 24 hours, its file was lost or damaged and the agent went on in a new or repaired one"),
        text("incident", "what happened to the file then; absent when nothing did since the agent began"),
    ),
    single=True,
)

RECEIVER_KIND = Kind(
    name="receiver",
    meaning="a receiver of alerts, by its name in the settings; they belong to what the store belongs to",
    poll="RECEIVER",
    metrics=answer(
        "RECEIVER",
        gauge("failing_s", "s", "for how long it accepts nothing; 0: it does, or was never sent anything"),
        gauge("accepted_ago_s", "s", "time since it last accepted something; absent before that"),
        gauge("pending", "count", "notifications that wait for it; of an Alertmanager that accepts nothing, alerts"),
        gauge("oldest_pending_s", "s", "for how long the oldest of them waits; absent when none does"),
        gauge("refused", "count", "alerts in notifications that it has refused and that are tried again"),
        text("trouble", "what it answers instead, or why it cannot be reached, also of one member of a cluster; absent when nothing fails"),
    ),
)

SERVER_KIND = Kind(
    name="server",
    meaning="the agent's small server of metrics and status; it belongs to what the store belongs to",
    poll="SERVER",
    metrics=answer(
        "SERVER",
        state("listening", NO_YES, "whether it can be asked"),
        text("address", "where it listens; absent while it does not"),
        gauge("failing_s", "s", "for how long it cannot listen where the settings say; 0: it can"),
        text("trouble", "why it cannot; absent while it can"),
        counter("pages", "count", "pages of metrics that it made"),
        counter("refused", "count", "requests and connections that it refused, as too many were under way"),
        gauge("series", "count", "series of objects on its last page of metrics"),
        gauge("series_left_out", "count", "series that the last page left out, as they are beyond serve.limit"),
    ),
    single=True,
)

REMOTE_WRITE_KIND = Kind(
    name="remote_write",
    meaning="an engine that samples are sent to, by its name in the settings; they belong to what the store belongs to",
    poll="REMOTE_WRITE",
    metrics=answer(
        "REMOTE_WRITE",
        gauge("failing_s", "s", "for how long it takes nothing; 0: it does, or was never sent anything"),
        gauge("accepted_ago_s", "s", "time since it last took something; absent before that"),
        gauge("pending", "count", "samples of objects that wait for it in the store"),
        gauge("oldest_pending_s", "s", "age of the oldest of them; absent when none waits"),
        counter("sent", "count", "samples that it took"),
        counter("sent_bytes", "bytes", "bytes of compressed requests that it took"),
        counter("samples_missed", "count", "samples of objects that were deleted from the store before they could be sent"),
        counter("samples_refused", "count", "samples that it did not take, and that are not sent again"),
        text("trouble", "what it answers instead, or why it cannot be reached; absent when nothing fails"),
    ),
)

"""Shared message data sets: where members of the group keep large messages of shared queues."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import answer, counter, gauge, records, state
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.states import SMDS_EXPAND

_DEFINITION = answer(
    "INQUIRE_SMDS",
    gauge("buffers_defined", "buffers", "buffers, as defined for this member",
          pcf="MQIA_CF_SMDS_BUFFERS", mqsc="DSBUFS"),
    state("expand", SMDS_EXPAND, "grows when it is nearly full",
          pcf="MQIACF_CF_SMDS_EXPAND", mqsc="DSEXPAND"),
)

_USAGE = answer(
    "INQUIRE_USAGE",
    state("status", {"AVAILABLE": 0, "NODATA": 1}, "whether there is anything to tell about the data set",
          pcf="MQIACF_SMDS_STATUS"),
    gauge("offload_msgs", "messages", "messages the member has offloaded to it",
          pcf="MQIACF_USAGE_OFFLOAD_MSGS", smf="QESDSMMC"),
    gauge("total_blocks", "blocks", "blocks of the data set",
          pcf="MQIACF_USAGE_TOTAL_BLOCKS", smf="QESDSMBT"),
    gauge("data_blocks", "blocks", "blocks for messages",
          pcf="MQIACF_USAGE_DATA_BLOCKS", smf="QESDSMBD"),
    gauge("used_blocks", "blocks", "blocks for messages in use",
          pcf="MQIACF_USAGE_USED_BLOCKS", smf="QESDSMBU"),
    gauge("used_pct", "pct", "share of the blocks for messages in use",
          pcf="MQIACF_USAGE_USED_RATE", smf="QESDSMBU/QESDSMBD"),
    gauge("block_kb", "KB", "size of a buffer",
          pcf="MQIACF_USAGE_BLOCK_SIZE"),
    gauge("buffers", "buffers", "buffers there are",
          pcf="MQIACF_USAGE_TOTAL_BUFFERS", smf="QESDBFTO"),
    gauge("buffers_in_use", "buffers", "buffers with I/O under way",
          pcf="MQIACF_USAGE_INUSE_BUFFERS", smf="QESDBFUS+QESDBFUP"),
    gauge("buffers_saved", "buffers", "free buffers whose data may save a read",
          pcf="MQIACF_USAGE_SAVED_BUFFERS", smf="QESDBFFS"),
    gauge("buffers_empty", "buffers", "free and empty buffers",
          pcf="MQIACF_USAGE_EMPTY_BUFFERS", smf="QESDBFFE"),
    gauge("reads_saved_pct", "pct", "share of the reads that saved data made needless",
          pcf="MQIACF_USAGE_READS_SAVED", smf="QESDBFRS/QESDBFRR"),
    gauge("lowest_free", "buffers",
          "fewest free buffers; below zero, so many requests were waiting at the worst moment",
          pcf="MQIACF_USAGE_LOWEST_FREE", smf="QESDBFMF"),
    gauge("waits_pct", "pct", "share of the requests that had to wait for a buffer",
          pcf="MQIACF_USAGE_WAIT_RATE"),
)

_INTERVAL = records(
    counter("alloc_failures", "count", "times no block was to be had; a large message could not be put", smf="QESDSMFL"),
    gauge("peak_used_blocks", "blocks", "most blocks for messages in use in the interval", smf="QESDSMMU"),
)

KIND = Kind(
    name="smds",
    meaning="one member's shared message data set for one structure",
    poll="INQUIRE_SMDS",
    metrics=(*_DEFINITION, *_USAGE, *_INTERVAL),
    of_group=True,
)

"""How fast channel status is decoded, against ibmmq's own Python decoder in the same run.

The messages are made here: channel status as a queue manager sends it, 50 parameters, texts padded to their full
length. Every round decodes a new poll of the same channels: counters, indicators and times differ from the last one,
names do not, as in life. "full" makes every value of every message, "wanted" the dozen that the channel rules need.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, encode_message, integer, integers, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.pcf.structures import Order

INSTALL = "install ibmmq beside mqvitals to compare with it: pip install ibmmq (its wheel is enough, no MQ client)"
MESSAGES = 2000
ROUNDS = 7
FULL_TARGET = 40
WANTED_TARGET = 75
WANTED = frozenset(
    {
        mq.MQBACF_RESPONSE_ID,
        mq.MQCACF_RESPONSE_Q_MGR_NAME,
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_TYPE,
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQIACH_CHANNEL_STATUS,
        mq.MQIACH_INDOUBT_STATUS,
        mq.MQIACH_MSGS,
        mq.MQIACH_BYTES_SENT,
        mq.MQIACH_BATCHES,
        mq.MQIACH_NETWORK_TIME_INDICATOR,
        mq.MQIACH_BATCH_SIZE_INDICATOR,
    }
)


def parameters(channel: int, poll: int) -> Iterator[Parameter]:
    """What a queue manager reports of a sender channel."""
    busy = channel * 7919 + poll * 31
    yield byte_string(mq.MQBACF_RESPONSE_ID, b"CSQ QM01" + bytes(12) + poll.to_bytes(4, "big"))
    yield string(mq.MQCACF_RESPONSE_Q_MGR_NAME, "QM01", 48)
    yield string(mq.MQCACH_CHANNEL_NAME, f"QM01.TO.QM{channel:04}", 20)
    yield integer(mq.MQIACH_CHANNEL_DISP, 4)
    yield integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL)
    yield integer(mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_SENDER)
    yield string(mq.MQCACH_CONNECTION_NAME, f"10.1.{channel // 250}.{channel % 250}(1414)", 264)
    yield string(mq.MQCACH_XMIT_Q_NAME, f"QM{channel:04}", 48)
    yield string(mq.MQCA_REMOTE_Q_MGR_NAME, f"QM{channel:04}", 48)
    yield integer(mq.MQIACH_CHANNEL_STATUS, mq.MQCHS_RUNNING)
    yield integer(mq.MQIACH_CHANNEL_SUBSTATE, mq.MQCHSSTATE_IN_MQGET)
    yield integer(mq.MQIACH_STOP_REQUESTED, 0)
    yield integer(mq.MQIACH_INDOUBT_STATUS, 0)
    yield string(mq.MQCA_Q_MGR_NAME, "QM01", 48)
    yield string(mq.MQCACH_CHANNEL_START_DATE, "2026-11-20", 12)
    yield string(mq.MQCACH_CHANNEL_START_TIME, f"06.{channel % 60:02}.{channel // 60 % 60:02}", 8)
    yield string(mq.MQCACH_LAST_MSG_DATE, "2026-11-20", 12)
    yield string(mq.MQCACH_LAST_MSG_TIME, f"12.{poll % 60:02}.{busy % 60:02}", 8)
    yield string(mq.MQCACH_MCA_USER_ID, "CHINUSER", 64)
    yield string(mq.MQCACH_LOCAL_ADDRESS, f"10.1.0.1({20000 + channel})", 48)
    yield string(mq.MQCACH_REMOTE_VERSION, "09040000", 8)
    yield string(mq.MQCACH_REMOTE_PRODUCT, "MQMM", 4)
    yield string(mq.MQCACH_CURRENT_LUWID, f"{busy:016X}", 16)
    yield string(mq.MQCACH_LAST_LUWID, f"{busy - 1:016X}", 16)
    for number, step in (
        (mq.MQIACH_MSGS, 97),
        (mq.MQIACH_BYTES_SENT, 91_831),
        (mq.MQIACH_BYTES_RCVD, 4_001),
        (mq.MQIACH_BUFFERS_SENT, 103),
        (mq.MQIACH_BUFFERS_RCVD, 101),
        (mq.MQIACH_BATCHES, 11),
        (mq.MQIACH_CURRENT_MSGS, 1),
        (mq.MQIACH_CURRENT_SEQ_NUMBER, 97),
        (mq.MQIACH_LAST_SEQ_NUMBER, 97),
    ):
        yield integer(number, busy * step % 999_999_999)
    yield integer(mq.MQIACH_BATCH_SIZE, 50)
    yield integer(mq.MQIACH_HB_INTERVAL, 300)
    yield integer(mq.MQIACH_MAX_MSG_LENGTH, 4_194_304)
    yield integer(mq.MQIACH_NPM_SPEED, mq.MQNPMS_FAST)
    yield integer(mq.MQIACH_SHORT_RETRIES_LEFT, 10)
    yield integer(mq.MQIACH_LONG_RETRIES_LEFT, 999_999_999)
    yield integer(mq.MQIA_MONITORING_CHANNEL, mq.MQMON_MEDIUM)
    yield integers(mq.MQIACH_NETWORK_TIME_INDICATOR, (190 + busy % 50, 195))
    yield integers(mq.MQIACH_EXIT_TIME_INDICATOR, (0, 0))
    yield integers(mq.MQIACH_XMITQ_TIME_INDICATOR, (1200 + busy % 300, 1300))
    yield integers(mq.MQIACH_BATCH_SIZE_INDICATOR, (busy % 50, 20))
    yield integer(mq.MQIACH_XMITQ_MSGS_AVAILABLE, busy % 20)
    yield integers(mq.MQIACH_COMPRESSION_RATE, (0, 0))
    yield integers(mq.MQIACH_COMPRESSION_TIME, (0, 0))
    yield integers(mq.MQIACH_HDR_COMPRESSION, (0, 0))
    yield integers(mq.MQIACH_MSG_COMPRESSION, (0, 0))
    yield string(mq.MQCACH_SSL_CIPHER_SPEC, "TLS_AES_256_GCM_SHA384", 32)


def messages(poll: int, order: Order, ccsid: int) -> list[bytes]:
    """One poll: a message for each channel."""
    return [
        encode_message(
            mq.MQCFT_XR_ITEM,
            mq.MQCMD_INQUIRE_CHANNEL_STATUS,
            tuple(parameters(channel, poll)),
            sequence=channel + 1,
            control=mq.MQCFC_NOT_LAST,
            order=order,
            ccsid=ccsid,
        )
        for channel in range(MESSAGES)
    ]


def seconds(decode: Callable[[bytes], object], data: list[bytes]) -> float:
    """How much processor time decoding all of them takes: other programs on the machine do not count."""
    begin = process_time()
    for message in data:
        decode(message)
    return process_time() - begin


def ibmmq_unpack() -> tuple[Callable[[bytes], Any], str] | None:
    """``PCFExecute.unpack`` and the package's version, or None when ibmmq is not installed.

    The decoder is plain Python, but importing the package loads an extension that is linked to IBM's client libraries;
    a stand-in takes its place. No call of the MQI could be made with it, and none is.
    """
    if find_spec("ibmmq") is None:
        return None
    extension = types.ModuleType("ibmmqc")
    release = version("ibmmq")
    vars(extension).update(
        __version__=release,
        __cmdlevel__="940",
        __mqbuild__="client",
        pymqeError=Exception,
        MQCBINIT=lambda _function: None,
    )
    # The package puts its own folder first on the path and imports the extension from there, under either name.
    sys.modules["ibmmqc"] = sys.modules["ibmmq.ibmmqc"] = extension
    package = importlib.import_module("ibmmq")
    return package.PCFExecute.unpack, release


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    theirs = ibmmq_unpack()
    decoder = Decoder()
    big, little = "big-endian, CCSID 500", "little-endian, CCSID 1208"
    runs: dict[tuple[str, str], tuple[Callable[[bytes], object], Order, int]] = {
        ("full", big): (lambda data: decoder.decode(data, 500).values, ">", 500),
        ("full", little): (lambda data: decoder.decode(data, 1208).values, "<", 1208),
        ("wanted", big): (lambda data: decoder.decode_values(data, 500, WANTED), ">", 500),
        ("wanted", little): (lambda data: decoder.decode_values(data, 1208, WANTED), "<", 1208),
    }
    if theirs is not None:
        runs["ibmmq", little] = (theirs[0], "<", 1208)  # it knows the byte order of its machine only
    took: dict[tuple[str, str], list[float]] = {run: [] for run in runs}
    size = 0
    for poll in range(ROUNDS):
        corpus = {(order, ccsid): messages(poll, order, ccsid) for _, order, ccsid in runs.values()}
        for run, (decode, order, ccsid) in runs.items():
            took[run].append(seconds(decode, corpus[order, ccsid]))
        size = sum(map(len, corpus[">", 500]))
    count = len(tuple(parameters(0, 0)))
    print(
        f"channel status: {MESSAGES} messages of {count} parameters, {size / MESSAGES:.0f} bytes each, {ROUNDS} polls"
    )
    peer = took.get(("ibmmq", little))
    missed = False
    for (what, form), times in took.items():
        middle = median(times)
        line = f"  {what:7} {form:26} {MESSAGES / middle:9,.0f} messages/s {size / middle / 1e6:7.1f} MB/s"
        if peer is not None and what != "ibmmq":
            target = FULL_TARGET if what == "full" else WANTED_TARGET
            ratio = median(their / our for their, our in zip(peer, times, strict=True))
            missed = missed or ratio < target
            line += f"  {ratio:6.1f} x ibmmq (aim: {target})"
        print(line)
    if theirs is None:
        print(f"  no comparison: {INSTALL}")
    else:
        print(f"  ibmmq {theirs[1]}, its PCFExecute.unpack")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the tests let a real binding do, in a child process. ``m`` is the binding: ``ibmmq`` or ``pymqi``."""

from __future__ import annotations

import ctypes
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import request, string

_COMMAND_QUEUE: Final = b"SYSTEM.COMMAND.INPUT"
_SHARE_BLOCK, _SHARE_NO_BLOCK, _CLIENT = 64, 128, 2048
_PUT: Final = 4 | 64 | 8192
_GET: Final = 1 | 4 | 8192
_REPORT: Final = 16384 | 134217728


def connect(
    m: Any, address: str, name: str = "QM01", options: int = _SHARE_BLOCK | _CLIENT, **fields: str | int
) -> Any:
    """A connection to the queue manager there; ``fields`` are of the MQCD."""
    cd = m.CD()
    cd.ChannelName = b"MQVITALS.SVRCONN"
    cd.ConnectionName = address.encode()
    cd.ChannelType, cd.TransportType = 6, 2
    for field, value in fields.items():
        setattr(cd, field, value.encode() if isinstance(value, str) else value)
    manager = m.QueueManager(None)
    manager.connect_with_options(name, cd=cd, user="mon1", password="secret", opts=options)
    return manager


def reason_of(m: Any, call: Callable[[], Any]) -> int:
    """The reason code that the call ends with, 0 for none."""
    try:
        call()
    except m.MQMIError as error:
        return int(error.reason)
    return 0


def connect_reason(m: Any, address: str, name: str = "QM01") -> int:
    """The reason that a connection attempt ends with."""
    return reason_of(m, lambda: connect(m, address, name).disconnect())


def inquire(m: Any, address: str, selectors: list[int]) -> list[Any]:
    """Attributes of the queue manager, texts without blanks."""
    manager = connect(m, address)
    found = [manager.inquire(selector) for selector in selectors]
    manager.disconnect()
    return [value.decode().strip() if isinstance(value, bytes) else value for value in found]


def inquire_reason(m: Any, address: str, selector: int) -> int:
    """The reason that an MQINQ ends with."""
    manager = connect(m, address)
    found = reason_of(m, lambda: manager.inquire(selector))
    manager.disconnect()
    return found


def introduce(m: Any, address: str, **fields: str | int) -> None:
    """Connect with TLS settings and leave again."""
    cd = m.CD()
    cd.ChannelName, cd.ConnectionName, cd.ChannelType, cd.TransportType = b"MON.TLS", address.encode(), 6, 2
    cd.SSLCipherSpec = b"ANY_TLS12_OR_HIGHER"
    for field, value in fields.items():
        setattr(cd, field, value.encode() if isinstance(value, str) else value)
    if "SSLPeerNamePtr" in fields and m.__name__ == "pymqi":  # where ibmmq takes the name, pymqi takes the bare pointer
        peer = ctypes.create_string_buffer(cd.SSLPeerNamePtr)
        cd.SSLPeerNamePtr, cd.SSLPeerNameLength = ctypes.addressof(peer), len(peer.value)
    sco = m.SCO()
    sco.KeyRepository = b"/var/mqm/ssl/key"
    manager = m.QueueManager(None)
    manager.connect_with_options("QM01", cd=cd, sco=sco, user="mon1", password="secret", opts=_SHARE_BLOCK)
    manager.disconnect()


def introduce_by_cno(m: Any, url: str, name: str, application: str) -> None:
    """Connect by the table of that URL, with an application name: ibmmq only."""
    cno = m.CNO(Version=7, ApplName=application.encode(), Options=_CLIENT)
    cno.CCDTUrl = url
    manager = m.QueueManager(None)
    manager.connect_with_options(name, cno=cno)
    manager.disconnect()


def connect_by_table(m: Any, name: str) -> int:
    """Connect by what MQCCDTURL names; the reason."""
    manager = m.QueueManager(None)
    return reason_of(m, lambda: manager.connect_with_options(name, opts=_CLIENT))


def open_reason(m: Any, address: str, queue: str, options: int, *, first: int = 0, dynamic: str = "X*") -> int:
    """The reason that an MQOPEN ends with, after another connection opened the queue with ``first``."""
    managers = [connect(m, address), connect(m, address)]
    held = m.Queue(managers[0], queue, first) if first else None
    od = m.OD(ObjectName=queue.encode(), DynamicQName=dynamic.encode())
    found = reason_of(m, lambda: m.Queue(managers[1], od, options).close())
    if held:
        held.close()
    for manager in managers:
        manager.disconnect()
    return found


def _reply_queue(m: Any, manager: Any, name: str) -> tuple[Any, bytes]:
    od = m.OD(ObjectName=name.encode(), DynamicQName=b"MQVITALS.*")
    queue = m.Queue(manager, od, 2 if name.startswith("MQVITALS") else 4)
    return queue, od.ObjectName.strip(b" \0")


def put_request(m: Any, queue: Any, reply_to: bytes, *, expiry: int = 300, options: int = _PUT, **fields: Any) -> Any:
    """Ask for all queues; the MQMD as it came back."""
    settings = {
        "Format": b"MQADMIN ",
        "MsgType": 1,
        "ReplyToQ": reply_to,
        "Expiry": expiry,
        "Report": _REPORT,
        "Encoding": 273,
        "CodedCharSetId": 1208,
        "Persistence": 0,
    }
    md = m.MD(**(settings | fields))
    body = request(mq.MQCMD_INQUIRE_Q, (string(mq.MQCA_Q_NAME, "*"),))
    queue.put(body, md, m.PMO(Options=options))
    return md


def ask(
    m: Any,
    address: str,
    reply_queue: str = "MQVITALS.REPLY",
    *,
    wait_ms: int = 3_000,
    room: int = 16_384,
    get: int = _GET,
    put: int = _PUT,
    most: int = 100_000,
    encoding: int = 546,
    ccsid: int = 1208,
    **fields: Any,
) -> dict[str, Any]:
    """One request and its answer: what came, and the reason that ended it before its end."""
    manager = connect(m, address)
    requests = m.Queue(manager, _COMMAND_QUEUE, 16 | 8192)
    replies, name = _reply_queue(m, manager, reply_queue)
    md = put_request(m, requests, name, options=put, **fields)
    wanted = md.MsgId
    count = reason = length = 0
    first: dict[str, Any] = {}
    warnings: list[int] = []
    began = time.monotonic()
    while count < most:
        got = m.MD(CorrelId=wanted, Encoding=encoding, CodedCharSetId=ccsid)
        options = m.GMO(Options=get, WaitInterval=wait_ms, MatchOptions=2, Version=2)
        try:
            data = replies.get(room, got, options)
        except m.MQMIError as error:
            if error.comp != 1 or error.reason == 2080:
                reason, length = error.reason, getattr(error, "original_length", 0)
                break
            warnings.append(error.reason)
            data, length = error.message, getattr(error, "original_length", 0)
        count += 1
        if not first:
            first = _described(got, data)
        order = "<" if got.Encoding == 546 else ">"
        if struct.unpack_from(order + "i", data, 20)[0] == 1:
            break
    took = time.monotonic() - began
    dead = reason_of(m, lambda: requests.put(b"x")) if reason == mq.MQRC_CONNECTION_BROKEN else 0
    handle = manager.get_handle()
    reason_of(m, manager.disconnect)
    low = m.ibmmqc if m.__name__ == "ibmmq" else m.pymqe
    gone = low.MQDISC(handle)[-1]
    return {
        "count": count,
        "reason": reason,
        "warnings": warnings,
        "length": length,
        "first": first,
        "put": _described(md, b""),
        "queue": name.decode(),
        "took": took,
        "dead": dead,
        "gone": gone,
    }


def _described(md: Any, data: bytes) -> dict[str, Any]:
    return {
        "type": md.MsgType,
        "format": md.Format.decode().strip(),
        "encoding": md.Encoding,
        "ccsid": md.CodedCharSetId,
        "expiry": md.Expiry,
        "msg_id": md.MsgId.hex(),
        "correl_id": md.CorrelId.hex(),
        "user": md.UserIdentifier.decode().strip(" \0"),
        "put": (md.PutDate + md.PutTime).decode().strip(" \0"),
        "data": data.hex(),
    }


def truncated_then_whole(m: Any, address: str) -> list[Any]:
    """A reply got with too little room, then with what was reported: reason, length and length again."""
    manager = connect(m, address)
    requests = m.Queue(manager, _COMMAND_QUEUE, 16)
    replies, name = _reply_queue(m, manager, "MQVITALS.REPLY")
    md = put_request(m, requests, name)
    settings = {"WaitInterval": 3_000, "MatchOptions": 2, "Version": 2}
    whole = replies.get(16_384, m.MD(CorrelId=md.MsgId), m.GMO(Options=_GET, **settings))  # the next are read ahead
    try:
        replies.get(100, m.MD(CorrelId=md.MsgId), m.GMO(Options=_GET, **settings))
        found = []
    except m.MQMIError as error:
        found = [error.reason, error.original_length, len(error.message)]
    again = replies.get(found[1], m.MD(CorrelId=md.MsgId), m.GMO(Options=_GET, **settings))
    numbers = [struct.unpack_from(">i", data, 16)[0] for data in (whole, again)]
    manager.disconnect()
    return [*found, len(again), numbers]


def simple_put(m: Any, address: str, queue: str, length: int, persistence: int = 0) -> int:
    """The reason that putting a message of that length ends with."""
    manager = connect(m, address)
    opened = m.Queue(manager, m.OD(ObjectName=queue.encode(), DynamicQName=b"MQVITALS.*"), 16)
    found = reason_of(m, lambda: opened.put(b"x" * length, m.MD(Persistence=persistence), m.PMO(Options=_PUT)))
    manager.disconnect()
    return found


def execute(m: Any, address: str, queue: str) -> list[Any]:
    """The binding's own PCFExecute, converting: names of the queues and reason for a command that nobody knows."""
    manager = connect(m, address)
    pcf = m.PCFExecute(manager, command_queue_name=_COMMAND_QUEUE, convert=True, response_wait_interval=3_000)
    found = pcf.MQCMD_INQUIRE_Q({m.CMQC.MQCA_Q_NAME: queue.encode()})
    names = [item[mq.MQCA_Q_NAME].decode().strip() for item in found if mq.MQCA_Q_NAME in item]
    reason = reason_of(m, lambda: pcf.MQCMD_STOP_CHANNEL({mq.MQCACH_CHANNEL_NAME: b"NO.SUCH"}))
    pcf.disconnect()
    manager.disconnect()
    return [names, reason]


def dead_handles(m: Any, address: str) -> dict[str, int]:
    """Reasons for handles that are no more: of a queue, of a connection; and for a second disconnect."""
    low = m.ibmmqc if m.__name__ == "ibmmq" else m.pymqe
    manager = connect(m, address)
    queue = m.Queue(manager, "MQVITALS.REPLY", 2)
    connection, handle = manager.get_handle(), queue.get_handle()
    queue.close()
    options = m.GMO(Options=4, Version=2).pack()
    found = {"queue": low.MQGET(connection, handle, m.MD().pack(), options, 100)[-1]}
    manager.disconnect()
    found["connection"] = low.MQGET(connection, handle, m.MD().pack(), options, 100)[-1]
    found["again"] = low.MQDISC(connection)[-1]
    return found


def other_thread(m: Any, address: str, sharing: int) -> dict[str, Any]:
    """A call from a second thread while the first waits 400 ms in MQGET: its reason and how long it took, ms.

    Without sharing the first thread makes the connection and ends; the second call comes after that.
    """
    low = m.ibmmqc if m.__name__ == "ibmmq" else m.pymqe
    made: dict[str, Any] = {}
    ready = threading.Event()
    name = b"QM01"

    def first() -> None:
        cd = m.CD()
        cd.ChannelName, cd.ConnectionName, cd.ChannelType, cd.TransportType = b"A", address.encode(), 6, 2
        if m.__name__ == "ibmmq":  # its own connect would add the sharing
            handle = low.MQCONNX(name, m.CNO(Options=sharing).pack(), cd.pack(), None, None, None)[0]
        else:
            handle = low.MQCONNX(name, sharing, cd.pack(), {}, m.SCO().pack())[0]
        made["connection"] = handle
        queue = low.MQOPEN(handle, m.OD(ObjectName=b"MQVITALS.REPLY").pack(), 2)[0]
        ready.set()
        options = m.GMO(Options=1 | 4, WaitInterval=400, Version=2).pack()
        made["first"] = low.MQGET(handle, queue, m.MD().pack(), options, 100)[-1]

    thread = threading.Thread(target=first)
    thread.start()
    ready.wait(10)
    time.sleep(0.1)
    began = time.monotonic()
    reason = low.MQOPEN(made["connection"], m.OD(ObjectName=b"MQVITALS.REPLY").pack(), 2)[-1]
    took = round((time.monotonic() - began) * 1000)
    thread.join(10)
    if sharing:
        low.MQDISC(made["connection"])
    return {"reason": reason, "ms": took, "first": made["first"]}


def hold(m: Any, address: str, step: str, seconds: float) -> dict[str, Any]:
    """Start a step in a thread; whether it ended within that time. It goes on; ``held`` returns what came of it."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        outcome["result"] = globals()[step](m, address)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    _HELD.append((thread, outcome))
    return {"ended": not thread.is_alive()}


_HELD: list[tuple[threading.Thread, dict[str, Any]]] = []


def held(m: Any) -> Any:
    """What came of the step held last."""
    thread, outcome = _HELD.pop()
    thread.join(20)
    return outcome.get("result")


def wait_for_nothing(m: Any, address: str, wait_ms: int = 10_000) -> dict[str, Any]:
    """Wait on the reply queue; the reason and how long it took, ms."""
    manager = connect(m, address)
    replies, _ = _reply_queue(m, manager, "MQVITALS.REPLY")
    began = time.monotonic()
    options = m.GMO(Options=_GET, WaitInterval=wait_ms, MatchOptions=2, Version=2)
    reason = reason_of(m, lambda: replies.get(100, m.MD(CorrelId=b"never".ljust(24, b"\0")), options))
    took = round((time.monotonic() - began) * 1000)
    reason_of(m, manager.disconnect)
    return {"reason": reason, "ms": took}


def drain(m: Any, address: str) -> int:
    """Get everything that is on the reply queue without waiting; how many messages."""
    manager = connect(m, address)
    replies, _ = _reply_queue(m, manager, "MQVITALS.REPLY")
    count = 0
    while not reason_of(m, lambda: replies.get(16_384, m.MD(), m.GMO(Options=4 | 8192))):
        count += 1
    manager.disconnect()
    return count


def use_unit_of_work(m: Any, address: str) -> None:
    """Put and get without saying NO_SYNCPOINT, put with MQPUT1, commit."""
    manager = connect(m, address)
    queue = m.Queue(manager, "MQVITALS.REPLY", 2 | 16)
    queue.put(b"x", m.MD(), m.PMO(Options=0))
    queue.get(100, m.MD(), m.GMO(Options=0))
    manager.put1("MQVITALS.REPLY", b"y", m.MD(), m.PMO(Options=4))
    manager.commit()
    manager.disconnect()


def many_handles(m: Any, address: str, count: int) -> list[int]:
    """Open the reply queue so often, then close it as often: different handles, and reasons that were not 0."""
    manager = connect(m, address)
    queues = [m.Queue(manager, "MQVITALS.REPLY", 2) for _ in range(count)]
    different = len({queue.get_handle() for queue in queues})
    bad = sum(bool(reason_of(m, queue.close)) for queue in queues)
    manager.disconnect()
    return [different, bad]


def reconnect_often(m: Any, address: str, count: int) -> dict[str, int]:
    """Connect, open and disconnect so often, a tenth without closing: memory (KB) and descriptors before and after."""
    import resource

    def now() -> tuple[int, int]:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, len(list(Path("/proc/self/fd").iterdir()))

    for place in range(count + 50):
        if place == 50:
            before = now()
        manager = connect(m, address)
        queue = m.Queue(manager, "MQVITALS.REPLY", 2)
        if place % 10:
            queue.close()
        manager.disconnect()
    after = now()
    return {"kb": after[0] - before[0], "descriptors": after[1] - before[1]}


def replies_of_rounds(m: Any, address: str, rounds: int) -> list[int]:
    """How many replies MQGET of the binding's C module brings to each of several requests, one asked after the other."""
    low = m.ibmmqc if m.__name__ == "ibmmq" else m.pymqe
    manager = connect(m, address)
    requests = m.Queue(manager, _COMMAND_QUEUE, 16)
    replies, name = _reply_queue(m, manager, "MQVITALS.REPLY")
    connection, queue = manager.get_handle(), replies.get_handle()
    counts = []
    for _ in range(rounds):
        count = 0
        md = put_request(m, requests, name)
        wanted = m.MD(CorrelId=md.MsgId).pack()
        options = m.GMO(Options=_GET, WaitInterval=3_000, MatchOptions=2, Version=2).pack()
        while True:
            got = low.MQGET(connection, queue, wanted, options, 16_384)
            if got[-1]:
                raise AssertionError(got[-1])
            count += 1
            if got[0][20:24] == b"\0\0\0\1":
                break
        counts.append(count)
    manager.disconnect()
    return counts


def replies_with_own_correl_id(m: Any, address: str) -> dict[str, Any]:
    """Ask with MQRO_PASS_CORREL_ID; the CorrelId and expiry of the first reply."""
    manager = connect(m, address)
    requests = m.Queue(manager, _COMMAND_QUEUE, 16)
    replies, name = _reply_queue(m, manager, "MQVITALS.REPLY")
    own = b"mine".ljust(24, b"\0")
    put_request(m, requests, name, Report=64, CorrelId=own)
    got = m.MD(CorrelId=own)
    replies.get(16_384, got, m.GMO(Options=_GET, WaitInterval=3_000, MatchOptions=2, Version=2))
    manager.disconnect()
    return {"correl_id": got.CorrelId.hex(), "expiry": got.Expiry}

"""What the made-up group answers: the values of one object in one cycle, each made from its place and the cycle's number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

QUEUE_MANAGERS = ("QM01", "QM02", "QM03", "QM04")
GROUP = "GROUP"
PRIVATE, SHARED = 2_400, 400
"""Queues of each queue manager, and of the group: 10,000."""
SENDERS, RECEIVERS, SERVERS = 400, 50, 50
"""Channels of each queue manager: 2,000 in all. Every sender has its own transmission queue, one of the first private ones."""
POOLS, PAGE_SETS, STRUCTURES = 16, 32, 9
BEGIN, INTERVAL_MS = 1_795_000_000_000, 10_000
DEFINITIONS_EVERY = 90
"""Cycles from one answer with all definitions to the next: 15 minutes."""
HOUR_MS = 3_600_000
_ON_PAGE_SETS = 2
"""Page set 0 holds definitions, page set 1 the system's messages."""


def unsaid(kind: str, command: str) -> dict[str, Reported]:
    """Every metric that an answer fills, not in the answer so far."""
    return {metric.name: Absence.NOT_RETURNED for metric in KINDS[kind].metrics if metric.command == command}


def queues_of(owner: str) -> int:
    """How many queues there are."""
    return SHARED if owner == GROUP else PRIVATE


def queue_name(owner: str, place: int) -> str:
    """The name of a queue."""
    if owner == GROUP:
        return f"SHARED.QUEUE.{place:04d}"
    if place < SENDERS:
        return f"PARTNER.{place:04d}"
    return f"SYSTEM.QUEUE.{place:04d}" if place % 100 == 50 else f"APPL.QUEUE.{place:04d}"


def structure(place: int) -> ObjectName:
    """A structure of the group; the first is the administration structure."""
    return ObjectName(GROUP, "cf_structure", f"APPL{place}" if place else "CSQ_ADMIN")


def queue_first(place: int) -> dict[str, Reported]:
    """What of a queue's status never changes."""
    values = unsaid("queue", "INQUIRE_Q_STATUS")
    values |= {"input_handles": 0 if place % 97 == 5 else place % 3 + 1, "output_handles": place % 5, "uncommitted": 0}
    values |= {"monq": 33, "dead_letter": int(place == 1_000), "last_put_ts": "2026-11-18 09.00.00"}
    values |= {"last_get_ts": "2026-11-18 09.00.00", "qtime_us_short": 2_000 + place, "qtime_us_long": 1_900 + place}
    values |= {"last_get_age_s": Absence.TIME_ZONE_UNKNOWN if place % 7 == 0 else place % 50}
    values |= {"last_put_age_s": Absence.TIME_ZONE_UNKNOWN if place % 7 == 0 else place % 31}
    return values


def queue_now(base: Mapping[str, Reported], name: ObjectName, cycle: int) -> dict[str, Reported]:
    """A queue's status."""
    place = int(name.name[-4:])
    values = dict(base)
    if place % 97 == 5:  # no program reads it
        values["depth"] = 10 + cycle
    elif place % 101 == 7:  # readers do not keep up
        values["depth"] = 2_000 + 3 * cycle
    elif place % 211 == 3:  # nearly full
        values["depth"] = 4_990 + cycle % 3
    else:
        values["depth"] = (place * 7 + cycle * 3) % 97 if place % 10 == 0 else (place + cycle) % 6
    values["oldest_msg_age_s"] = Absence.NOTHING_TO_TELL if values["depth"] == 0 else (place * 3 + cycle) % 400
    if place % 503 == 11:  # its queue manager could not say
        values["depth"] = Absence.NOT_RETURNED
    return values


def queue_defined(owner: str, place: int) -> dict[str, Reported]:
    """A queue's definition."""
    values = unsaid("queue", "INQUIRE_Q") | {"type": 1, "definition_type": 1, "max_depth": 5_000}
    values |= {"max_msg_length": 4_194_304, "max_msg_pages": 1_037, "def_persistence": place % 2}
    values |= {
        "index_type": (place % 4 == 1) * 2,
        "index_entries": (place % 4 == 1) * place,
        "trigger": int(place % 6 == 0),
    }
    values |= {"trigger_type": 1 + place % 3, "trigger_priority": place % 2}
    if owner == GROUP:
        structure_name = structure(1 + place % (STRUCTURES - 1)).name
        return values | {
            "max_msg_length": 32_768 if place % 50 else 4_194_304,
            "qsg_disp": 2,
            "usage": 0,
            "cf_structure": structure_name,
        }
    page_set = 1 if place % 100 == 50 else _ON_PAGE_SETS + place % (PAGE_SETS - _ON_PAGE_SETS)
    values |= {"qsg_disp": 0, "usage": int(place < SENDERS), "cf_structure": "", "storage_class": f"CLASS{page_set}"}
    return values | {"page_set": page_set, "buffer_pool": page_set % POOLS}


def channel_first(place: int) -> dict[str, Reported]:
    """What of a channel's status never changes."""
    values = unsaid("channel", "INQUIRE_CHANNEL_STATUS")
    values |= {
        "status": 3,
        "substate": 1600,
        "stop_requested": 0,
        "disposition": 4,
        "monchl": 33,
        "conname": "10.1.1.1(1414)",
    }
    values |= {
        "instances": 1,
        "tls_instances": place % 2,
        "starts": 0,
        "tls_starts": 0,
        "broken_starts": 0,
        "indoubt": 0,
    }
    values |= {"ssl_cipher": "TLS_AES_256_GCM_SHA384" if place % 2 else "", "batch_ends": 0, "hbint_s": 300}
    if place >= SENDERS + RECEIVERS:
        return values | {"type": 7, "indoubt": Absence.NOT_RETURNED}
    values |= {"batchsz": 1 if place % 50 == 9 else 50, "short_left": 10, "long_left": 999_999}
    if place >= SENDERS:
        return values | {"type": 3, "status": 8 if place % 20 == 3 else 3}
    values |= {"type": 1, "xmitq": f"PARTNER.{place:04d}", "xqtime_us_long": 800, "exittime_us_short": 0}
    values |= {"xbatchsz_short": 49 if place % 40 == 2 else 11, "xbatchsz_long": 1 if place % 40 == 3 else 12}
    values |= {"nettime_us_short": 140, "nettime_us_long": 142, "xqtime_us_short": 700}
    if place % 60 == 4:
        values |= {"nettime_us_short": 90_000, "nettime_us_long": 10_000}
    if place % 80 == 5:
        values |= {"xqtime_us_short": 80_000}
    if place % 70 == 6:
        values |= {"status": 5}
    if place % 90 == 7:
        values |= {"indoubt": 1}
    if place % 110 == 8:
        values |= {"xbatchsz_short": Absence.NOT_COLLECTED, "xbatchsz_long": Absence.NOT_COLLECTED}
    return values


def channel_now(base: Mapping[str, Reported], cycle: int) -> dict[str, Reported]:
    """A channel's status."""
    values = dict(base)
    if cycle == 0:
        first = dict.fromkeys(("msgs", "batches", "bytes_sent", "bytes_rcvd", "carried_bytes"), Absence.FIRST_READING)
        return values | first
    sent = (cycle * 7) % 60 + 20
    values["msgs"] = sent
    values["batches"] = values["batch_ends"] = 3 if values["type"] == 1 else 0
    values["bytes_sent"] = went = sent * (2_000_000 if values["batchsz"] == 1 else 2_000)
    values["bytes_rcvd"] = 300
    values["carried_bytes"] = went + 300
    values["broken_starts"] = int(values["status"] == 5 and cycle % 20 == 0)
    return values


def channel_defined(place: int) -> dict[str, Reported]:
    """A channel's definition."""
    values = unsaid("channel", "INQUIRE_CHANNEL") | {"qsg_disp": 0, "default_disposition": 4, "protocol": 2}
    values |= {"batchsz_defined": 50, "batchlim_kb": 0 if place % 3 else 5_000, "max_msg_length_defined": 4_194_304}
    values |= {
        "splprot": (place % 40 == 1) + 2 * (place % 40 == 2),
        "exits": place % 2,
        "discint_s": 0,
        "ssl_cipher_defined": "",
    }
    return values


def of_queue_manager(owner: str, cycle: int) -> Iterator[tuple[ObjectName, str, dict[str, Reported]]]:
    """What else a queue manager reports in a cycle: (object, probe, values)."""
    values = {"reachable": 1, "reason": 0, "hung_calls": 0, "hanging_calls": 0}
    yield ObjectName(owner, "queue_manager"), "CONNECTION", values  # type: ignore[misc]
    initiator = unsaid("channel_initiator", "INQUIRE_CHANNEL_INIT") | {
        "status": 2,
        "listeners": 1,
        "listeners_down": 0,
        "listeners_running": 1,
        "tcp_listeners_running": 1,
        "listeners_lost": 0,
    }
    for task in ("adapters", "dispatchers", "ssltasks"):
        initiator |= {f"{task}_started": 8, f"{task}_max": 8}
    initiator |= {
        "current": 510,
        "current_max": 520 if owner == "QM03" else 3_000,
        "active": 500,
        "active_max": 3_000,
        "paused": 0,
    }
    yield ObjectName(owner, "channel_initiator"), "INQUIRE_CHANNEL_INIT", initiator
    log = unsaid("log", "INQUIRE_LOG") | {
        "full_logs": 7 if owner == "QM02" else 0,
        "total_logs": 8,
        "used_pct": 40 + cycle % 50,
    }
    log |= {
        "offload_status": 32,
        "suspend": 0,
        "complog": 0,
        "written_bytes": 40_000_000 if cycle else Absence.FIRST_READING,
    }
    yield ObjectName(owner, "log"), "INQUIRE_LOG", log
    if cycle % 2:
        return
    for place in range(POOLS):
        free = 3 if place == 7 else 12 if place == 8 else 60 + (place + cycle) % 20
        pool = unsaid("buffer_pool", "INQUIRE_USAGE") | {"total": 50_000, "free": 500 * free, "free_pct": free}
        yield (
            ObjectName(owner, "buffer_pool", str(place)),
            "INQUIRE_USAGE",
            pool | {"worst_free_pct": free, "location": 1},
        )
    for place in range(PAGE_SETS):
        used = 90 if place == 9 else 71 + cycle / 200 if place == 10 else 20 + (place + cycle) % 10
        pages = unsaid("page_set", "INQUIRE_USAGE") | {"total_pages": 1_000_000, "used_pct": used, "status": 0}
        pages |= {"unused_pages": int(10_000 * (100 - used)), "expand_type": 3 if place == 11 else 1}
        pages |= {"buffer_pool": place % POOLS, "expand_count": (place == 12) * 1 if cycle else Absence.FIRST_READING}
        yield ObjectName(owner, "page_set", str(place)), "INQUIRE_USAGE", pages


def of_group(cycle: int) -> Iterator[tuple[ObjectName, str, dict[str, Reported]]]:
    """What else is reported of the group in a cycle."""
    if cycle % 2:
        return
    qsg = {"name": "GRP", "qmgr_count": 4, "members_active": 4, "members_failed": 0, "lowest_command_level": 940}
    yield ObjectName(GROUP, "qsg"), "INQUIRE_QSG", qsg  # type: ignore[misc]
    for place in range(STRUCTURES):
        used = 95 if place == 3 else 20 + cycle % 7
        values = unsaid("cf_structure", "INQUIRE_CF_STRUC_STATUS") | {
            "status": 4 if place == 5 else 1,
            "type": int(place == 0),
        }
        values |= {
            "size_max_kb": 20_480 * (place + 1),
            "size_used_pct": used,
            "entries_max": 9_000,
            "entries_used": 90 * used,
        }
        yield structure(place), "INQUIRE_CF_STRUC_STATUS", values | {"entries_pct": used, "backup_made": 1}


def records(owner: str, cycle: int) -> Sequence[tuple[ObjectName, dict[str, Reported]]]:
    """What SMF records hold of pools, page sets, log and channel initiator."""
    found: list[tuple[ObjectName, dict[str, Reported]]] = []
    for kind, names in (
        ("buffer_pool", map(str, range(POOLS))),
        ("page_set", map(str, range(PAGE_SETS))),
        ("log", ("",)),
        ("channel_initiator", ("",)),
    ):
        metrics = [metric for metric in KINDS[kind].metrics if metric.needs_smf and metric.in_history]
        for place, name in enumerate(names):
            values: dict[str, Reported] = {metric.name: (place == 6) * 3 for metric in metrics}
            if kind == "buffer_pool":
                values |= {"low_pct": 0 if place == 6 else 40, "getp": 100_000 * place + cycle, "getn": 0}
            found.append((ObjectName(owner, kind, name), values))
    return found

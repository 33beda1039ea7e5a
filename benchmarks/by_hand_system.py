"""The conditions about logs, channel initiators, structures and whole queue managers, by hand. There are few of these objects."""

from __future__ import annotations

from by_hand import Said, Site, Thing, added, both, either, number, over, reach, same, some, times

YES = 1
_POLLS_5M, _POLLS_6M, _QUARTER_HOUR, _POLLS_1H, _STRUCTURE_6H = 30, 18, 90, 360, 1_080
KEPT = {
    "log": {"written_bytes": 4 * _POLLS_1H, "checkpoints": 1},
    "cf_structure": {"entries_used": _POLLS_6M, "entries_max": _STRUCTURE_6H, "size_max_kb": _STRUCTURE_6H},
}


def log(site: Site, it: Thing) -> Said:  # noqa: ARG001
    """What somebody should act on."""
    get = it.values.get
    often = times(3_600, it.past["checkpoints"].rate(1, 3_600))  # a record of an hour
    longest, count, spent = number(get("io_max_us")), number(get("io_count")), number(get("io_time_us"))
    outlier = None if longest is None or count is None else reach(longest * count, times(10, spent))
    full, total, offload = number(get("full_logs")), number(get("total_logs")), number(get("offload_status"))
    filling = both(reach(full, times(0.5, total)), None if offload is None else offload != 32)
    said: Said = [
        ("LOG-02", either(over(number(get("wtb")), 0), over(number(get("pagein")), 0))),
        ("LOG-03", over(number(get("serial_writes")), times(0.05, number(get("write_reqs"))))),
        ("LOG-04", reach(number(get("write_mb_s")), times(0.8, number(get("capacity_mb_s"))))),
        ("LOG-05", both(reach(longest, 10_000), outlier, over(count, 0))),
        ("LOG-06", both(over(often, 10), None)),  # there are no weeks before
        ("LOG-08", either(reach(full, None if total is None else total - 1), filling)),
        ("LOG-16", None),
    ]
    return [each for each in said if each[1] is not False]


def structure(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    kind, used, most = number(get("type")), number(get("entries_used")), number(get("entries_max"))
    filled, size = number(get("entries_pct")), number(get("size_used_pct"))
    limit = number(get("full_threshold_pct"))
    members = number(site.one(it.name.owner, "qsg").get("qmgr_count"))
    ahead = it.past["entries_used"].eta(_POLLS_6M, 2 * site.seconds, most) if filled is None or filled >= 60 else None
    larger = it.past["entries_max"].covered(_STRUCTURE_6H)
    wider = it.past["size_max_kb"].covered(_STRUCTURE_6H)
    shrunk = either(
        over(times(0.99, max(larger)) if larger else None, most),
        over(max(wider) if wider else None, number(get("size_max_kb"))),
    )
    status = number(get("status"))
    said: Said = [
        (
            "CF-02",
            both(
                same(kind, 1), over(most, 0), either(reach(used, times(0.8, most)), over(used, times(1_000, members)))
            ),
        ),
        ("CF-03", both(same(kind, 0), either(reach(filled, limit), reach(size, limit)))),
        ("CF-04", either(both(over(most, 0), reach(used, most)), over(number(get("full_count")), 0))),
        ("CF-05", both(reach(filled, 60), over(300, ahead))),
        ("CF-06", both(over(most, 0), shrunk)),
        ("CF-15", either(None, both(over(number(get("redrives")), 10), None))),  # there are no weeks before
        ("CF-19", None if status is None else status in (4, 2, 3)),
    ]
    recovers = both(same(kind, 0), same(number(get("recover")), YES))
    if recovers is not False:
        said += [("CF-16", both(recovers, _long_behind(site, it))), ("CF-17", both(recovers, _long_recovery(site, it)))]
    return [each for each in said if each[1] is not False]


def _long_behind(site: Site, it: Thing) -> bool | None:
    """What was logged since the backup takes too long to read, as fast as the busiest queue manager logs."""
    age, target = number(it.values.get("backup_age_s")), number(it.values.get("recovery_target_s"))
    if not any(number(log.values.get("written_bytes")) is not None for log in _logs(site)):
        return over(age, target)
    rates = [log.past["written_bytes"].rate(_POLLS_1H, site.seconds) for log in _logs(site)]
    known = [rate for rate in rates if rate is not None]
    if age is None or target is None or 5 * len(known) < 4 * len(rates):
        return None
    return age * max(known) > (target - 60) * 3 * 1_048_576


def _long_recovery(site: Site, it: Thing) -> bool | None:
    """The same, by what was really logged."""
    age, target = number(it.values.get("backup_age_s")), number(it.values.get("recovery_target_s"))
    found = []
    for seconds, polls in ((900, _QUARTER_HOUR), (3_600, _POLLS_1H), (14_400, 4 * _POLLS_1H)):
        logged = [log.past["written_bytes"].increase(polls) for log in _logs(site)]
        known = [each for each in logged if each is not None]
        enough = known and 5 * len(known) >= 4 * len(logged)
        found.append(both(reach(age, seconds), over(max(known) / 3 / 1_048_576 + 60, target) if enough else None))
    return either(*found)


def _logs(site: Site) -> list[Thing]:
    return [log for logs in site.by_kind["log"].values() for log in logs]


def initiator(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    owner = it.name.owner
    status = number(get("status"))
    tasks = [
        over(number(get(f"{task}_max")), number(get(f"{task}_started")))
        for task in ("adapters", "dispatchers", "ssltasks")
    ]
    busiest, idlest = number(get("dispatcher_busiest_pct")), number(get("dispatcher_idlest_pct"))
    requests, spent = number(get("adapter_requests")), number(get("adapter_avg_elapsed_us"))
    paused = number(get("paused"))
    near = []
    for each in ("current", "active"):
        most = times(0.9, number(get(f"{each}_max")))
        near.append(reach(number(get(each)), None if most is None else max(1, most)))
    twice = times(2, number(get("adapter_avg_cpu_us")))
    waits = reach(spent, None if twice is None else max(1, twice))
    private = times(0.8, number(get("extended_private_kb")))
    protected = site.total("channel", owner, _protected, "tls")
    begun = site.total("channel", owner, _begun, "begun")
    said: Said = [
        ("AGENT-04", either(None if status is None else status != 2, over(number(get("listeners_down")), 0), *tasks)),
        ("CHIN-01", over(1, number(get("adapters_unused")))),
        ("CHIN-02", both(reach(requests, 1_000), over(spent, 0), reach(spent, twice))),
        ("CHIN-05", both(over(busiest, 80), over(20, idlest))),
        ("CHIN-07", over(idlest, 80)),
        ("CHL-18", either(*near, paused is not None and paused > 0)),
        ("CHL-22", reach(begun, 100)),
    ]
    storage, message = number(get("storage31_kb")), number(get("tls_msg_kb"))
    some_kb = [reach(times(210, protected), private)]
    if message is not None:
        some_kb.append(both(message > 32, reach(times(210 + message, protected), private)))
    if storage is not None:
        some_kb.append(reach(storage, private))
    said.append(("CHL-20", either(*some_kb)))
    manager = site.one(owner, "queue_manager")
    slow = both(over(1, number(get("ssltasks_unused"))), over(number(get("ssl_longest_us")), 1_000_000))
    checking = number(manager.get("crl_checking"))
    useless = both(over(number(get("ssltasks_started")), 8), checking is None or checking != YES)
    said += [("CHIN-08", either(slow, useless))]
    said += [
        ("CHIN-03", _busy_elsewhere(site, it, waits)),
        ("AMS-09", _slowed_by_protection(site, it)),
    ]
    return [each for each in said if each[1] is not False]


def _busy_elsewhere(site: Site, it: Thing, waits: bool | None) -> bool | None:  # noqa: FBT001
    """Adapters wait, and for nothing that is seen."""
    manager, owner = site.one(it.name.owner, "queue_manager"), it.name.owner
    if waits is False:
        return False
    protecting = over(site.total("channel", owner, _protects, "protecting"), 0)
    persistent = number(it.values.get("persistent_pct"))
    if persistent is None:
        kept = times(100, site.total("channel", owner, _persistent, "persistent"))
        few = over(times(10, site.total("channel", owner, _carried, "carried msgs")), kept)
    else:
        few = persistent < 10
    writes = some(site.all("buffer_pool", owner), lambda each: over(number(each.values.get("imw")), 0))
    crypto = number(manager.get("crypto_busy_pct"))
    calm = both(None if writes is None else not writes, crypto is None or crypto <= 70)
    level, cpu = number(manager.get("command_level")), number(manager.get("cpu_busy_pct"))
    return both(waits, reach(level, 913), protecting, few, calm, over(85, cpu))


def _protects(channel: Thing) -> bool | None:
    kind, protection = number(channel.values.get("type")), number(channel.values.get("splprot"))
    runs = same(number(channel.values.get("status")), 3)
    able = None if kind is None else kind in (1, 2, 3, 4)
    return both(runs, able, None if protection is None else protection != 0)


def _persistent(channel: Thing) -> float | None:
    return number(channel.values.get("persistent_msgs"))


def _carried(channel: Thing) -> float | None:
    return number(channel.values.get("interval_msgs"))


def _slowed_by_protection(site: Site, it: Thing) -> bool | None:
    manager, get = site.one(it.name.owner, "queue_manager"), it.values.get
    supported = same(number(manager.get("message_protection")), 1)
    slow = reach(number(get("adapter_avg_elapsed_us")), times(2, number(get("adapter_avg_cpu_us"))))
    protecting = any(number(each.values.get("splprot")) in (1, 2) for each in site.all("channel", it.name.owner))
    crypto = number(manager.get("crypto_busy_pct"))
    busy = crypto is not None and crypto > 70
    if supported is False or slow is False or not protecting:
        return busy
    return either(both(supported, slow, some(site.all("queue", it.name.owner), _costly)), busy)


def _costly(queue: Thing) -> bool | None:
    policy = number(queue.values.get("ams_policy"))
    if policy is None or policy in (1, 2):
        return None if policy is None else True
    return policy == 3 and reach(1, number(queue.values.get("ams_key_reuse")))


def _protected(channel: Thing) -> float | None:
    return number(channel.values.get("tls_instances"))


def _begun(channel: Thing) -> float | None:
    return channel.past["tls_starts"].increase(_POLLS_5M)


def queue_manager(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    level = number(get("command_level"))
    entries = site.total("queue", it.name.owner, _indexed, "indexed")
    mb = None if entries is None else 272 * entries / 1_048_576
    budgets = [number(get(each)) for each in ("memlimit_mb", "storage_budget_mb")]
    over_budget = [reach(mb, times(0.8, budget)) for budget in budgets if budget is not None]
    said: Said = [
        ("AGENT-01", same(number(get("reachable")), 0)),
        ("AGENT-06", either(over(number(get("hung_calls")), 0), over(number(get("hanging_calls")), 0))),
        ("CFG-06", None),
        ("DB2-01", None),  # there are no weeks before
        ("Q-06", both(reach(level, 701), either(reach(mb, 1_024), *over_budget))),
    ]
    return [each for each in said if each[1] is not False]


def _indexed(queue: Thing) -> float | None:
    return number(queue.values.get("index_entries"))


def group(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    structures = site.all("cf_structure", it.name.owner)
    messages = added(structures, lambda each: number(each.values.get("entries_used")))
    said: Said = [
        ("CF-12", both(over(12, number(get("cfcc_level"))), reach(messages, 0.9 * 8_000_000))),
        ("CF-14", over(number(get("cf_busy_pct")), 50)),
    ]
    return [each for each in said if each[1] is not False]

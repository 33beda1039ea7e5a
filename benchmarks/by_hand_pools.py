"""The conditions about buffer pools and page sets, by hand."""

from __future__ import annotations

from by_hand import Said, Site, Thing, added, both, either, number, over, reach, same, some, times

_POLLS_30M, _USAGE_6H = 90, 1_080
KEPT = {"used_pct": _USAGE_6H}
"""Of a page set."""
_SHORT, _LONG, _APPLICATION = (0, 1, 3, 4, 5, 8, 9), (2, 6, 7), (4, 5, 6, 7, 8, 9)


def _in(value: float | None, several: tuple[int, ...]) -> bool | None:
    return None if value is None else value in several


def pool(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    short = _in(number(get("purpose")), _SHORT)
    worst, low = number(get("worst_free_pct")), number(get("low_pct"))
    waited, reads = number(get("dmc")), number(get("rio"))
    uptime = number(site.one(it.name.owner, "queue_manager").get("uptime_s"))
    said: Said = [
        ("BP-01", both(short, over(worst, 15), reach(20, worst))),
        ("BP-02", both(short, over(worst, 5), reach(15, worst))),
        ("BP-03", reach(5, worst)),
        ("BP-04", both(short, over(number(get("dwt")), 0))),
        ("BP-05", over(waited, 0)),
        ("BP-06", over(number(get("sos")), 0)),
        ("BP-07", both(reach(0, low), over(number(get("free_pct")), 5))),
        ("BP-08", both(over(waited, 0), reach(0, low), over(reads, 0), over(number(get("wio")), 0))),
        ("BP-09", both(short, over(reads, 0), uptime is None or uptime > 3_600)),
        ("BP-10", over(number(get("stla")), 0)),
        ("BP-11", None),
    ]
    return [each for each in said if each[1] is not False]


def _pages(it: Thing) -> float | None:
    one, other = number(it.values.get("getp")), number(it.values.get("getn"))
    return None if one is None or other is None else one + other


def pool_review(site: Site, it: Thing) -> Said:
    """What somebody should know."""
    get = it.values.get
    owner = it.name.owner
    purpose, total, free = number(get("purpose")), number(get("total")), number(get("free"))
    pools, queues = site.all("buffer_pool", owner), site.members.get(it.name, [])
    ours = _in(purpose, _APPLICATION)
    pages, all_pages = _pages(it), site.total("buffer_pool", owner, _pages, "pages")

    def idle(other: Thing) -> bool | None:
        if other is it:
            return False
        meant = _in(number(other.values.get("purpose")), _APPLICATION)
        return both(meant, over(number(other.values.get("worst_free_pct")), 95))

    busy = both(over(pages, 0), reach(pages, times(0.8, all_pages)))
    written, starts = number(get("tpw")), number(get("dwt"))
    burst = None if total is None or starts is None else over(written, 0.25 * total * starts)
    said: Said = [
        ("BP-12", False if ours is False or busy is False else both(ours, busy, some(pools, idle))),
        ("BP-13", both(some(queues, lambda each: _long_lived(each, total)), some(queues, _short_lived))),
        ("BP-15", both(some(queues, _batch), some(queues, _online))),
        ("BP-16", _system_mixed(site, it, queues)),
        ("BP-17", _foreign(purpose, queues)),
        ("BP-20", both(_in(purpose, _LONG), over(starts, 0), burst)),
    ]
    rate = added(queues, _put_pages)
    room = None if total is None or free is None else 0.85 * total - (total - free)
    said.append(("BP-21", both(_in(purpose, _SHORT), over(rate, 0), over(times(600, rate), room))))
    filled = both(over(number(get("wio")), 0), same(starts, 0), same(number(get("dmc")), 0))
    said.append(("BP-22", filled))
    return [each for each in said if each[1] is not False]


def _batch(queue: Thing) -> bool | None:
    return same(number(queue.values.get("workload")), 1)


def _online(queue: Thing) -> bool | None:
    return same(number(queue.values.get("workload")), 0)


def _put_pages(queue: Thing) -> float | None:
    return number(queue.values.get("put_page_rate"))


def _long_lived(queue: Thing, total: float | None) -> bool | None:
    depth, age = number(queue.values.get("depth")), number(queue.values.get("oldest_msg_age_s"))
    if depth == 0:
        return False
    old = either(number(queue.values.get("lifetime")) == 1, over(age, 3_600))
    if old is False:
        return False
    pages = number(queue.values.get("avg_msg_pages"))
    much = over(depth, times(0.01, total))
    if pages is not None:
        much = either(much, over(times(pages, depth), times(0.01, total)))
    return both(over(depth, 0), old, much)


def _short_lived(queue: Thing) -> bool | None:
    get = queue.values.get
    brief = either(number(get("lifetime")) == 0, over(60_000_000, number(get("qtime_us_long"))))
    if brief is False:
        return False
    return both(brief, either(same(number(get("depth")), 0), reach(3_600, number(get("oldest_msg_age_s")))))


def _ordinary(queue: Thing) -> bool:
    return not queue.name.name.startswith("SYSTEM.")


def _system_mixed(site: Site, it: Thing, queues: list[Thing]) -> bool | None:
    if it.name.name == "0":
        sets = site.all("page_set", it.name.owner)
        others = [each for each in sets if number(each.values.get("buffer_pool")) == 0 and each.name.name != "0"]
        return bool(others) or any(map(_ordinary, queues))
    ordinary = [each for each in queues if _ordinary(each)]
    return some(ordinary, lambda each: same(number(each.values.get("page_set")), 0))


def _foreign(purpose: float | None, queues: list[Thing]) -> bool | None:
    system = [each for each in queues if each.name.name.startswith("SYSTEM.")]
    misplaced = any(
        not each.name.name.startswith("SYSTEM.CLUSTER.TRANSMIT.") and each.name.name != "SYSTEM.DEFAULT.LOCAL.QUEUE"
        for each in system
    )
    mixed = both(_in(purpose, (1, 2)), len(system) < len(queues))
    return either(mixed, both(_in(purpose, _APPLICATION), misplaced))


def page_set(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    used, total = number(get("used_pct")), number(get("total_pages"))
    status = number(get("status"))
    opened = None if status is None else status != 1
    ahead = None
    if used is None or 50 <= used < 85:
        ahead = it.past["used_pct"].eta(_POLLS_30M, 2 * site.seconds, 85)
    said: Said = [
        ("PS-01", both(reach(used, 85), opened)),
        ("PS-02", either(reach(used, 99.5), over(number(get("full_count")), 0))),
        ("PS-03", over(number(get("expand_count")), 0)),
        ("PS-05", both(reach(total, times(0.9 * 262_144, number(get("limit_gb")))), reach(used, 70))),
        ("PS-07", both(reach(used, 50), over(85, used), over(ahead, 0), over(1_800, ahead))),
    ]
    return [each for each in said if each[1] is not False]


def page_set_review(site: Site, it: Thing) -> Said:
    """What somebody should know."""
    get = it.values.get
    queues = site.members.get(it.name, [])
    used, total = number(get("used_pct")), number(get("total_pages"))
    said: Said = [("PS-04", same(number(get("expand_type")), 3))]
    filled = over(added(queues, _space), total)
    if filled is not False:
        critical = some(queues, lambda each: same(number(each.values.get("importance")), 1))
        lately = it.past["used_pct"].covered(_USAGE_6H)
        said.append(("PS-06", both(filled, either(critical, over(used, 10), max(lately) > 10 if lately else None))))
    busy = over(added(queues, _is_busy), 2)
    cpu = number(site.one(it.name.owner, "queue_manager").get("cpu_busy_pct"))
    said.append(("Q-12", both(busy, cpu is None or cpu < 90)))
    return [each for each in said if each[1] is not False]


def _space(queue: Thing) -> float | None:
    most, pages = number(queue.values.get("max_depth")), number(queue.values.get("max_msg_pages"))
    return None if most is None or pages is None else most * pages


def _is_busy(queue: Thing) -> bool | None:
    usage = number(queue.values.get("usage"))
    return both(reach(number(queue.values.get("put_rate")), 5_000), None if usage is None else usage != 1)

"""The conditions about queues, by hand: there are thousands of them, and this is where the time goes."""

from __future__ import annotations

from by_hand import Said, Site, Thing, both, either, number, over, reach, same, some, times
from mqvitals_rules.snapshot import ObjectName

NO, YES = 0, 1
_POLLS_3M, _POLLS_1H = 18, 360
KEPT = {"depth": _POLLS_1H}


def queue(site: Site, it: Thing) -> Said:  # noqa: ARG001 - as the others
    """What somebody should act on."""
    get = it.values.get
    said: Said = []
    depth, most, handles = number(get("depth")), number(get("max_depth")), number(get("input_handles"))
    usage, lifetime = number(get("usage")), number(get("lifetime"))
    name = it.name.name
    dead = number(get("dead_letter"))
    if dead != NO:
        said.append(("AGENT-05", both(same(dead, YES), over(depth, 0))))
    if name != "SYSTEM.PROTECTION.POLICY.QUEUE":
        said.append(("APP-04", None))  # no console is followed
    said.append(("Q-10", None))
    if depth is None or most is None:
        said.append(("Q-01", None if most is None or most > 0 else False))
    elif most > 0 and depth >= 0.8 * most:
        said.append(("Q-01", True))
    ordinary = usage != 1 and not name.startswith("SYSTEM.")
    if depth is None or depth > 0:
        if (
            handles != 0
            and usage != 1
            and get("role") != 5
            and (depth is None or most is None or depth > 1_000 or depth > 0.1 * most)
        ):
            deep = either(over(depth, 1_000), over(depth, times(0.1, most)))
            said.append(("Q-02", both(over(handles, 0), deep, same(usage, 0), it.past["depth"].rising(5))))
        if ordinary and (handles is None or handles == 0) and get("role") != 5 and dead != YES:
            said.append(("Q-03", both(same(handles, 0), over(depth, 0), same(usage, 0), it.past["depth"].rising(3))))
        if ordinary and (depth is None or depth > 100) and (handles is None or handles == 1):
            said.append(("Q-04", both(over(depth, 100), same(handles, 1), same(usage, 0))))
    if lifetime is None or lifetime == 0:
        said.append(("Q-05", both(same(lifetime, 0), over(number(get("oldest_msg_age_s")), 300))))
    indexed = number(get("index_type"))
    if indexed != 0 and (depth is None or depth > 100_000):
        got = number(get("get_rate"))
        used = either(got is not None and got > 0, reach(60, number(get("last_get_age_s"))))
        said.append(("Q-13", both(None if indexed is None else True, over(depth, 100_000), used)))
    return [each for each in said if each[1] is not False]


def queue_review(site: Site, it: Thing) -> Said:
    """What somebody should know."""
    get = it.values.get
    said: Said = []
    owner, _, name = it.name
    if get("role") == 1:
        busy = reach(number(get("put_rate")), 100)
        other = site.things.get(ObjectName(owner, "queue", str(get("pair"))))
        for rule, holder in (("BP-14", "buffer_pool"), ("PS-08", "page_set")):
            mine, its = number(get(holder)), None if other is None else number(other.values.get(holder))
            said.append((rule, both(None if mine is None or its is None else mine == its, busy)))
    if name.startswith("SYSTEM.CLUSTER.TRANSMIT."):
        channels = [each for each in site.all("channel", owner) if each.values.get("xmitq") == name]
        sends = some(channels, lambda each: same(number(each.values.get("type")), 9))
        pool = number(get("buffer_pool"))
        others = [
            each for each in site.all("queue", owner) if not each.name.name.startswith("SYSTEM.CLUSTER.TRANSMIT.")
        ]
        mixed = some(others, lambda each: None if pool is None else same(number(each.values.get("buffer_pool")), pool))
        said.append(("BP-18", both(sends, mixed)))
    instances = number(get("flow_instances"))
    if instances is None or instances > 0:
        waits = it.past["depth"].covered(_POLLS_3M)
        waiting = min(waits) > 0 if waits else None
        more = over(instances, 0)
        said.append(("MB-01", both(more, reach(1, number(get("input_handles"))), waiting)))
        busy_pct = number(site.one(owner, "queue_manager").get("cpu_busy_pct"))
        piled = min(waits) > 100 if waits else None
        said.append(("MB-02", both(over(number(get("depth")), 100), more, over(50, busy_pct), piled)))
    usage, handles = number(get("usage")), number(get("input_handles"))
    few = reach(1, number(get("depth")))
    if few is not False and usage != 1 and not name.startswith("SYSTEM.") and (handles is None or handles > 1):
        lately = it.past["depth"].covered(_POLLS_1H)
        said.append(("MB-03", both(few, same(usage, 0), over(handles, 1), max(lately) <= 1 if lately else None)))
    said.append(("MB-04", over(number(get("last_put_age_s")), number(get("flow_idle_close_s")))))
    disposition = number(get("qsg_disp"))
    if disposition is None or disposition == 2:
        structure = site.things.get(ObjectName(owner, "cf_structure", str(get("cf_structure"))))
        offload = None if structure is None else number(structure.values.get("offload"))
        largest = number(get("largest_msg_bytes"))
        long = not name.startswith("SYSTEM.") and over(number(get("max_msg_length")), 64_512)
        large = either(long, largest is not None and largest > 64_512)
        said.append(("CF-13", both(same(disposition, 2), None if offload is None else offload != 1, large)))
        trigger, when = number(get("trigger")), number(get("trigger_type"))
        lone = both(same(when, 1), over(number(get("trigger_priority")), 0))
        often = reach(number(get("open_rate")), 10)
        said.append(("Q-11", both(same(disposition, 2), same(trigger, 1), either(same(when, 3), lone), often)))
    policy = number(get("ams_policy"))
    supported = same(number(site.one(owner, "queue_manager").get("message_protection")), 1)
    if policy is None or policy == 0:
        feeding = site.things.get(ObjectName(owner, "channel", str(get("fed_by"))))
        protection = None if feeding is None else same(number(feeding.values.get("splprot")), 2)
        said.append(("AMS-02", both(supported, protection, same(policy, 0))))
    if policy != 0:
        said.append(("AMS-07", both(supported, None if policy is None else True, _too_long(site, it))))
    return [each for each in said if each[1] is not False]


def _too_long(site: Site, it: Thing) -> bool | None:
    get = it.values.get
    largest, limit = number(get("largest_msg_bytes")), times(0.9, number(get("max_msg_length")))
    if largest is None:
        return None  # nothing tells how long the messages of applications are
    through = False
    if "fed_by" in it.values:
        feeding = site.things.get(ObjectName(it.name.owner, "channel", str(get("fed_by"))))
        most = None if feeding is None else number(feeding.values.get("max_msg_length_defined"))
        through = over(largest, times(0.9, most))  # type: ignore[assignment]
    return either(over(largest, limit), through)

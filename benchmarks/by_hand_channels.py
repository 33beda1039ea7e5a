"""The conditions about channels, by hand."""

from __future__ import annotations

from by_hand import Said, Site, Thing, both, either, number, over, reach, same, times
from mqvitals_rules.snapshot import ObjectName

NO, YES = 0, 1
_POLLS_5M, _POLLS_10M, _POLLS_1H = 30, 60, 360
KEPT = {
    "msgs": _POLLS_1H,
    "batches": _POLLS_5M,
    "bytes_sent": _POLLS_1H,
    "carried_bytes": _POLLS_5M,
    "indoubt": _POLLS_5M,
    "broken_starts": _POLLS_1H,
    "tls_starts": _POLLS_5M,
    "nettime_us_short": _POLLS_1H,
}
SENDING, RECEIVING = (1, 2, 9), (3, 4, 8)


def channel(site: Site, it: Thing) -> Said:
    """What somebody should act on."""
    get = it.values.get
    said: Said = []
    status, kind, batch = number(get("status")), number(get("type")), number(get("batchsz"))
    past = it.past
    sending = None if kind is None else kind in SENDING
    running = same(status, 3)
    if sending is not False:
        if running is not False:
            _running(site, it, said, holds=both(running, sending))
        per_batch, batches = number(get("msgs_per_batch")), number(get("interval_batches"))
        limit = number(get("batchlim_kb"))
        if limit is None or limit > 0:
            nearly = reach(number(get("bytes_per_batch")), times(0.9 * 1024, limit))
            few = over(times(0.9, batch), per_batch)
            said.append(("CHL-03", both(sending, over(limit, 0), over(batches, 0), nearly, few)))
        if batch is None or batch > 1:
            full = reach(number(get("full_batches")), times(0.5, batches))
            never_empty = reach(0, number(get("xmitq_empty_count")))
            busy = either(reach(number(get("full_batches")), batches), both(full, never_empty))
            said.append(("CHL-14", both(sending, over(batches, 0), over(batch, 1), busy)))
        longest = number(get("nettime_max_us"))
        outlier = both(reach(longest, times(10, number(get("nettime_avg_us")))), reach(longest, 5_000))
        said.append(("CHL-07", both(outlier, sending)))
    doubt = number(get("indoubt"))
    if status == 5:
        said.append(("CHL-16", True))
    elif status != 0 and doubt != NO:
        stuck = past["indoubt"].covered(_POLLS_5M)
        waits = both(None if status is None else True, same(doubt, YES), min(stuck) == YES if stuck else None)
        said.append(("CHL-16", either(None if status is None else False, waits)))
    if kind is None or kind in RECEIVING:
        retries = number(get("put_retries"))
        blocked = either(same(status, 8), retries is not None and retries > 0)
        tries, pause = number(get("mr_count")), number(get("mr_interval_ms"))
        waited = tries is None or pause is None or tries * pause > 0
        said.append(("CHL-17", both(None if kind is None else True, blocked, waited)))
    rate = past["carried_bytes"].rate(_POLLS_5M, site.seconds)
    if rate is None or rate >= 102_400:
        own = past["carried_bytes"].increase(_POLLS_5M)
        total = site.total("channel", it.name.owner, _carried, "carried")
        part = None if own is None or total is None or total <= 0 else own / total
        said.append(("CHL-13", both(reach(rate, 102_400), over(part, 0.5))))
    said.append(("CHL-15", reach(past["broken_starts"].increase(_POLLS_1H), 3)))
    partner = number(get("partner_ams"))
    if partner != NO:
        before = number(get("xqtime_before_us"))
        filling = both(running, _soon_full(site, _transmission(site, it))) if running is not False else False
        slower = either(_slower(site, it), filling)
        if before is not None:
            slower = either(over(number(get("xqtime_us_short")), 2 * before), slower)
        said.append(("AMS-05", both(same(partner, YES), slower)))
    return [each for each in said if each[1] is not False]


def _carried(it: Thing) -> float | None:
    return it.past["carried_bytes"].increase(_POLLS_5M)


def _running(site: Site, it: Thing, said: Said, *, holds: bool | None) -> None:
    """Of a channel that sends and runs."""
    get, past = it.values.get, it.past
    batch, filled = number(get("batchsz")), number(get("xbatchsz_short"))
    if batch is None or batch > 1:
        per_batch = number(get("msgs_per_batch"))
        if filled is None and per_batch is not None:
            full = reach(per_batch, times(0.9, batch))
        elif filled is None or batch is None or filled >= 0.9 * batch:
            full = both(reach(filled, times(0.9, batch)), over(past["msgs"].rate(_POLLS_5M, site.seconds), 0))
        else:
            full = False
        often = 0 if number(get("broken_starts")) is None else past["broken_starts"].increase(_POLLS_1H)
        reliable = None if often is None else often < 3
        said.append(("CHL-01", both(holds, over(batch, 1), full, reliable)))
    short, long = number(get("nettime_us_short")), number(get("nettime_us_long"))
    more = None if short is None or long is None else short > 2 * long and short - long > 1_000
    ping = number(get("ping_us"))
    if ping is not None:
        more = either(more, over(short, 2 * ping))
    if more is not False:
        said.append(("CHL-06", both(holds, more, over(past["batches"].increase(_POLLS_5M), 0))))
    transmission = _transmission(site, it)
    ahead = None if transmission is None else transmission.past["depth"].rising(2)
    if ahead is not False:
        ahead = both(ahead, _soon_full(site, transmission))
    said.append(("CHL-23", both(holds, either(_slower(site, it), ahead))))


def _soon_full(site: Site, transmission: Thing | None) -> bool | None:
    if transmission is None:
        return None
    limit = number(transmission.values.get("max_depth"))
    return over(900, transmission.past["depth"].eta(_POLLS_10M, site.seconds, limit))


def _transmission(site: Site, it: Thing) -> Thing | None:
    name = it.values.get("xmitq")
    return site.things.get(ObjectName(it.name.owner, "queue", name)) if isinstance(name, str) else None


def _slower(site: Site, it: Thing) -> bool | None:
    """Messages wait ever longer on the transmission queue, and it fills."""
    longer = over(number(it.values.get("xqtime_us_short")), times(2, number(it.values.get("xqtime_us_long"))))
    if longer is False:
        return False
    transmission = _transmission(site, it)
    return both(longer, None if transmission is None else transmission.past["depth"].rising(3))


def channel_review(site: Site, it: Thing) -> Said:
    """What somebody should know."""
    get, past = it.values.get, it.past
    said: Said = []
    kind, batch = number(get("type")), number(get("batchsz"))
    sending = None if kind is None else kind in SENDING
    running = same(number(get("status")), 3)
    if sending is not False:
        _sending_review(site, it, said, sending=sending, running=running)
    peak, long = number(get("peak_msgs_per_s")), number(get("nettime_us_long"))
    if peak is None or batch is None or long is None:
        said.append(("CHL-24", None))
    else:
        said.append(("CHL-24", 1_000_000 * batch < 1.2 * peak * (batch * 10 + 1_000 + 1_000 + long)))
    protected = number(get("tls_instances"))
    if running is not False and (protected is None or protected > 0):
        cipher = get("ssl_cipher")
        null = None
        if isinstance(cipher, str):
            null = cipher.startswith("NULL_") or cipher.endswith(("NULL_SHA256", "NULL_SHA"))
        hardware = number(site.one(it.name.owner, "queue_manager").get("crypto_hardware"))
        busy = over(past["carried_bytes"].rate(_POLLS_5M, site.seconds), 102_400)
        strong = None if null is None else not null
        said.append(("CHL-21", both(running, over(protected, 0), busy, strong, same(hardware, NO))))
    _protection_review(site, it, said)
    return [each for each in said if each[1] is not False]


def _sending_review(site: Site, it: Thing, said: Said, *, sending: bool | None, running: bool | None) -> None:
    get, past = it.values.get, it.past
    batch = number(get("batchsz"))
    if running is not False and (batch is None or batch == 1):
        busy = reach(past["msgs"].rate(_POLLS_5M, site.seconds), 30)
        said.append(("CHL-02", both(running, sending, same(batch, 1), busy)))
    msgs, sent = past["msgs"].increase(_POLLS_1H), past["bytes_sent"].increase(_POLLS_1H)
    limit = number(get("batchlim_kb"))
    large = over(sent, times(1_048_576, msgs))
    much = None if batch is None or sent is None or msgs is None else batch * sent > 10_240 * 1024 * msgs
    unlimited = None if limit is None else limit == 0 or limit > 10_240
    said.append(("CHL-04", both(sending, over(msgs, 0), large, much, unlimited)))
    if running is not False and (batch is None or batch > 1):
        filled, per_batch = number(get("xbatchsz_long")), number(get("msgs_per_batch"))
        if filled is None and per_batch is not None:
            near = both(over(1.5, per_batch), over(number(get("interval_msgs")), 0))
        else:
            near = both(over(1.5, filled), over(past["msgs"].rate(_POLLS_5M, site.seconds), 0))
        said.append(("CHL-05", both(running, sending, over(batch, 1), near)))
    dynamic = number(site.one(it.name.owner, "queue_manager").get("tcp_dynamic_buffers"))
    if dynamic != YES:
        shortest, ping = number(get("nettime_min_us")), number(get("ping_us"))
        if shortest is not None:
            far: bool | None = shortest >= 5_000
        elif ping is not None:
            far = ping >= 5_000
        else:
            least = past["nettime_us_short"].covered(_POLLS_1H)
            status = number(get("status"))
            far = both(None if status is None else status != 0, min(least) >= 5_000 if least else None)
        said.append(("CHL-08", both(sending, far)))


def _protection_review(site: Site, it: Thing, said: Said) -> None:
    get, past = it.values.get, it.past
    protection, partner = number(get("splprot")), number(get("partner_ams"))
    transmission = _transmission(site, it)
    if protection is None or protection == 1:
        policy = None if transmission is None else number(transmission.values.get("ams_policy"))
        said.append(("AMS-01", both(same(protection, 1), same(policy, 0))))
        cipher = get("ssl_cipher_defined")
        said.append(("AMS-03", both(same(protection, 1), cipher == "" if isinstance(cipher, str) else None)))
    rate = past["msgs"].rate(_POLLS_5M, site.seconds)
    if (rate is None or rate >= 1_000) and protection != 0:
        said.append(("AMS-04", None))  # the policies of the queues that it fills are not declared
    if partner != NO:
        running = same(number(get("status")), 3)
        filling = both(running, _soon_full(site, transmission)) if running is not False else False
        full = None
        if transmission is not None:
            most = times(0.8, number(transmission.values.get("max_depth")))
            full = reach(number(transmission.values.get("depth")), most)
        said.append(("AMS-06", both(same(partner, YES), either(full, _slower(site, it), filling))))
        if protection != 0:
            said.append(("AMS-12", both(None if protection is None else True, same(partner, YES))))
    if protection != 0 or partner != NO:
        expiry = times(1_000_000, number(get("msg_expiry_s")))
        waits = over(times(3, number(get("xqtime_us_short"))), expiry)
        added_or_taken = True if protection == 1 else same(partner, YES)
        said.append(("AMS-08", None if protection is None or protection == 2 else both(added_or_taken, waits)))
    if protection != 0:
        told = number(site.one(it.name.owner, "queue_manager").get("chinit_ams"))
        said.append(("AMS-11", both(None if protection is None else True, same(told, NO))))

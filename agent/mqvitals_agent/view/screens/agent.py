"""The agent screen: outcomes and cost of the commands to each queue manager, the store, the receivers of alerts, and engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, day, number, number_of, quantity, size
from mqvitals_agent.text.severity import WIDEST, Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, labelled, line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, fit, safe
from mqvitals_agent.view.figures.table import REPLY_CPU_US, Item, a_minute
from mqvitals_agent.view.figures.values import figure_of, number_in
from mqvitals_agent.view.history.console import failing_words
from mqvitals_agent.view.status import interval_words, refused_words, unstored_words, without_answer
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.agent import REMOTE_WRITE_KIND, SERVER_KIND
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
    from mqvitals_agent.view.frame import Frame

_AHEAD = metric("store", "limit_ahead").values["YES"]
_ANEW = metric("store", "begun_anew").values["YES"]
_FAR_S = 366 * 86_400
_ASSUMPTION = (
    f"CPU is an estimate: {REPLY_CPU_US} us in the queue manager (MSTR) for each reply are assumed, not measured;"
    " polling.intervals makes a command rarer"
)
_WELL = (Outcome.OK.value, Outcome.NOT_FOUND.value)


def agent_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """A line for the store, each queue manager and receiver; the table below them has ``columns("agent")`` over
    ``frame.items``.

    Receivers with failures come first, as alerts wait for them, then a store with an alert. The others come last.
    """
    if not frame.status.queue_managers:
        return (line("No queue manager has been polled yet", Tone.UNKNOWN),)
    owners: dict[str, list[Item]] = {}
    for item in frame.items:
        owners.setdefault(item.name.owner, []).append(item)
    intervals = {member.name: member.interval_ms for member in frame.data.members}
    name_width = min(max(cells(safe(member.name)) for member in frame.status.queue_managers), 20)
    lines = []
    for member in frame.status.queue_managers:
        items = owners.get(member.name, [])
        key = f"{member.name}/queue_manager"
        reach = {True: "connected", False: "not reachable", None: "never reached"}[member.reachable]
        health = worst(
            [item.health for item in items] + [Health.OK if member.reachable and not member.stale else Health.UNKNOWN]
        )
        words = (
            f"{'stale' if member.stale else reach}, seen {age(member.age_ms)} ago, a snapshot every "
            f"{interval_words(intervals[member.name])}; {_counted(items)}"
        )
        name = fit(safe(member.name), name_width)
        lines += _signed(health, words, width, Tone.STALE if member.stale else Tone.PLAIN, key, name=name)
    stale = all(member.stale for member in frame.status.queue_managers)
    wrong = [each for each in frame.receivers if _health(each) in {Health.WARNING, Health.INFO}]
    fine = [each for each in frame.receivers if each not in wrong]
    store = store_lines(frame.store, frame.now, width)
    alarmed = frame.store is not None and frame.store.health > Health.UNKNOWN
    lacking = without_answer(frame.status.unknown)
    estimated = any(a_minute(item, "replies") is not None for item in frame.items)
    engines = [shown for each in frame.engines for shown in engine_lines(each, width)]
    return (
        *_settings(frame, width),
        *(shown for path, why in frame.consoles for shown in _warned(failing_words(path, why), width)),
        *(shown for words in frame.event_queues for shown in _warned(words, width)),
        *(shown for each in wrong for shown in receiver_lines(each, frame.now, width, stale=stale)),
        *(store if alarmed else ()),
        *lines,
        *(() if alarmed else store),
        *(shown for each in fine for shown in receiver_lines(each, frame.now, width, stale=stale)),
        *(() if frame.server is None else server_lines(frame.server, width)),
        *engines,
        *(wrapped(_ASSUMPTION, width, Tone.FAINT) if estimated else ()),
        *(wrapped(lacking, width, Tone.FAINT) if lacking else ()),
    )


def store_lines(store: Item | None, now: int, width: int) -> tuple[Line, ...]:
    """How large the store is, how long it keeps, and when its limit or the disk is reached, as measured before
    ``now`` (ms UTC)."""
    if store is None:
        return ()
    measured = store.values.get("used_bytes")
    when = "never measured" if measured is None or measured.ts is None else f"measured {age(now - measured.ts)} ago"
    words = "; ".join((_held(store), _growth(store, now), _disk(store), when))
    text = f"store: {'stale, ' if store.stale else ''}{words}"
    lines = _signed(store.health, text, width, Tone.STALE if store.stale else Tone.PLAIN, str(store.name))
    incident = store.values.get("incident")
    lost = _value(store, "begun_anew") == _ANEW and incident is not None and isinstance(incident.value, str)
    return (*lines, *(_warned(f"store: {safe(str(incident.value))}", width) if incident is not None and lost else ()))


def _held(store: Item) -> str:
    used, limit, part = (_figure(store, name) for name in ("used_bytes", "limit_bytes", "limit_used_pct"))
    held, keep = _figure(store, "held_s"), _figure(store, "keep_s")
    kept = "everything is kept" if _value(store, "keep_s") is None else f"{keep} are to be kept"
    most = "no limit" if _value(store, "limit_bytes") is None else f"{part} of its limit of {limit}"
    waits = store.values.get("deletion_waits")
    why = f"; {safe(waits.value)}" if waits is not None and isinstance(waits.value, str) else ""
    return f"{used}, {most}; the oldest sample is {held} old, {kept}{why}"


def _growth(store: Item, now: int) -> str:
    grows = _value(store, "growth_bytes_per_h")
    if grows is None:
        return f"growth: {_figure(store, 'growth_bytes_per_h')}"
    if grows <= 0:
        return "does not grow"
    ahead = _value(store, "limit_ahead")
    left = _value(store, "limit_reached_s")
    reached = ""
    if ahead == _AHEAD and left is not None:
        on = day(now + int(left * 1000)) if left < _FAR_S else "a day far ahead"
        reached = f", limit reached in {_figure(store, 'limit_reached_s')}, on {on}: then the oldest samples go"
    return f"grows {_figure(store, 'growth_bytes_per_h')}{reached}"


def _disk(store: Item) -> str:
    free, part = _figure(store, "disk_free_bytes"), _figure(store, "disk_free_pct")
    if _value(store, "disk_free_bytes") is None:
        return f"disk: {free}"
    full = "" if _value(store, "disk_full_s") is None else f", full in {_figure(store, 'disk_full_s')}"
    return f"disk: {free} free ({part}){full}"


def _figure(store: Item, name: str) -> str:
    return figure_of(store.values, "store", name)


def _settings(frame: Frame, width: int) -> Iterator[Line]:
    for words in (unstored_words(frame.data), refused_words(frame.data)):
        if words:
            yield from _warned(words, width)


def _warned(words: str, width: int) -> list[Line]:
    return _signed(Health.WARNING, words, width)


def _signed(
    health: Health, words: str, width: int, tone: Tone = Tone.PLAIN, key: str = "", *, name: str = ""
) -> list[Line]:
    """Words behind the glyph and word of a health, and behind a name that is padded already."""
    label = Span(fit(str(health), WIDEST), tone_of(health))
    gap = f"  {name}  " if name else "  "
    return labelled(label, words, width, tone, gap=gap, indent=WIDEST + 2, key=key)


def receiver_lines(receiver: ReceiverRow, now: int, width: int, *, stale: bool = False) -> tuple[Line, ...]:
    """The deliveries to a receiver as of ``now`` (ms UTC); ``stale``: none are made, as the agent is silent."""
    health = Health.UNKNOWN if stale else _health(receiver)
    words = [_deliveries(receiver, now), _waiting(receiver, now)]
    if receiver.refused or receiver.given_up:
        words.append(_refused(receiver))
    name = f"receiver {safe(receiver.name)}: {'stale, ' if stale else ''}"
    return tuple(_signed(health, f"{name}{'; '.join(words)}", width, Tone.STALE if stale else Tone.PLAIN))


def server_lines(server: Item, width: int) -> tuple[Line, ...]:
    """Where the agent's small server listens, or why it does not, and how much it serves, as last measured."""

    def said(name: str) -> str:
        known = server.values.get(name)
        return safe(known.value) if known is not None and isinstance(known.value, str) else ""

    words = []
    if _value(server, "failing_s") or said("trouble"):
        words.append(f"{said('trouble')}, for {figure_of(server.values, SERVER_KIND.name, 'failing_s')}")
    elif said("address"):
        words.append(f"at {said('address')}")
    for name, what in (("series", "series"), ("series_left_out", "series left out"), ("refused", "requests refused")):
        if _value(server, name):
            words.append(f"{figure_of(server.values, SERVER_KIND.name, name)} {what}")
    text = f"server: {'stale, ' if server.stale else ''}{'; '.join(words)}"
    health = max(server.health, Health.WARNING) if said("trouble") and not server.stale else server.health
    return tuple(_signed(health, text, width, Tone.STALE if server.stale else Tone.PLAIN, str(server.name)))


def engine_lines(engine: Item, width: int) -> tuple[Line, ...]:
    """How it goes with an engine that samples are sent to, as last measured."""

    def figure(name: str) -> str:
        return figure_of(engine.values, REMOTE_WRITE_KIND.name, name)

    words = []
    if _value(engine, "failing_s"):
        trouble = engine.values.get("trouble")
        why = f", {safe(trouble.value)}" if trouble is not None and isinstance(trouble.value, str) else ""
        words.append(f"failing for {figure('failing_s')}{why}")
    never = _value(engine, "accepted_ago_s") is None
    words.append("nothing taken yet" if never else f"last taken {figure('accepted_ago_s')} ago")
    if _value(engine, "pending"):
        words.append(f"{figure('pending')} samples pending, the oldest of {figure('oldest_pending_s')}")
    else:
        words.append("nothing pending")
    for name, said in (("samples_missed", "deleted before they were sent"), ("samples_refused", "refused")):
        if _value(engine, name):
            words.append(f"{figure(name)} samples {said}")
    text = f"remote write {safe(engine.name.name)}: {'stale, ' if engine.stale else ''}{'; '.join(words)}"
    health = max(engine.health, Health.WARNING) if _value(engine, "failing_s") and not engine.stale else engine.health
    return tuple(_signed(health, text, width, Tone.STALE if engine.stale else Tone.PLAIN, str(engine.name)))


def _health(receiver: ReceiverRow) -> Health:
    if receiver.failing is not None or receiver.refused or receiver.error:
        return Health.WARNING
    if receiver.given_up:
        return Health.INFO
    # Before its first accepted notification it is not known whether it accepts any.
    return Health.UNKNOWN if receiver.accepted is None else Health.OK


def _deliveries(receiver: ReceiverRow, now: int) -> str:
    accepted = (
        "no notification accepted yet"
        if receiver.accepted is None
        else f"last accepted {age(now - receiver.accepted)} ago"
    )
    if receiver.failing is None:
        # A member of its cluster fails.
        return f"{safe(receiver.error)}; {accepted}" if receiver.error else accepted
    return f"failing for {age(now - receiver.failing)}, {safe(receiver.error)}; {accepted}"


def _waiting(receiver: ReceiverRow, now: int) -> str:
    if not receiver.waiting or receiver.oldest is None:
        return "nothing pending"
    return f"{number_of(receiver.waiting, 'notification')} {'wait' if receiver.waiting > 1 else 'waits'}, the oldest for {age(now - receiver.oldest)}"


def _refused(receiver: ReceiverRow) -> str:
    counts = []
    if receiver.refused:
        counts.append(f"{number_of(receiver.refused, 'notification')} refused so far")
    if receiver.given_up:
        counts.append(f"{number_of(receiver.given_up, 'notification')} refused for good")
    return f"{', '.join(counts)}: {safe(receiver.refusal)}"


def _counted(items: Iterable[Item]) -> str:
    items = list(items)
    if not items:
        return "no command sent yet"
    failed = sum(_value(item, "outcome") not in _WELL for item in items)
    fine = "all answered" if not failed else f"{number(failed)} failed"
    replies, data, took = (
        sum(_value(item, name) or 0 for item in items) for name in ("replies", "bytes", "elapsed_ms")
    )
    return (
        f"{number_of(len(items), 'command')}, {fine}; "
        f"last replies: {number_of(round(replies), 'message')}, {size(data)}, {number(took / 1000)} s{_cost(items)}"
    )


def _cost(items: Iterable[Item]) -> str:
    """What the commands cost a minute at the intervals in force; nothing where these are not known, as in a replay."""
    known = [
        (a_minute(item, "commands") or 0, replies, a_minute(item, "bytes") or 0)
        for item in items
        if (replies := a_minute(item, "replies")) is not None
    ]
    if not known:
        return ""
    commands, replies, data = (sum(figures) for figures in zip(*known, strict=True))
    return (
        f"; a minute: {number_of(round(commands), 'command')}, {number_of(round(replies), 'reply', 'replies')}, {size(round(data))},"
        f" about {quantity(replies * REPLY_CPU_US, 'us')} of CPU"
    )


def _value(item: Item, name: str) -> float | None:
    return number_in(item.values.get(name))

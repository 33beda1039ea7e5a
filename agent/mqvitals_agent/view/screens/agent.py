"""The agent screen: what became of the commands that were sent to each queue manager, what they cost, who is told of alerts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, figure, number, size
from mqvitals_agent.text.severity import WIDEST, Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, fit, safe, wrap
from mqvitals_agent.view.console import failing_words
from mqvitals_agent.view.status import refused_words, unstored_words, without_answer
from mqvitals_agent.view.table import Item
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.store.notifications import ReceiverRow
    from mqvitals_agent.view.frame import Frame

_AHEAD = metric("store", "limit_ahead").values["YES"]
_WELL = (Outcome.OK.value, Outcome.NOT_FOUND.value)


def agent_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """A line for the store, each queue manager and receiver; the table below them has ``columns("agent")`` over ``frame.items``.

    Receivers that are not told as they should be come first, as alerts wait for them, then a store with an alert. The others come last.
    """
    if not frame.status.queue_managers:
        return (line("No queue manager has been asked yet", Tone.UNKNOWN),)
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
        head = f"{fit(str(health), WIDEST)}  {fit(safe(member.name), name_width)}"
        words = (
            f"{'stale' if member.stale else reach}, seen {age(member.age_ms)} ago, a snapshot every "
            f"{age(intervals[member.name])}; {_counted(items)}"
        )
        first, *rest = wrap(words, width, first=f"{head}  ", rest=" " * (WIDEST + 2))
        tone = Tone.STALE if member.stale else Tone.PLAIN
        lines.append(Line((Span(first[:WIDEST], tone_of(health)), Span(first[WIDEST:], tone)), key))
        lines += [line(each, tone, key) for each in rest]
    stale = all(member.stale for member in frame.status.queue_managers)
    wrong = [each for each in frame.receivers if _health(each) in {Health.WARNING, Health.INFO}]
    fine = [each for each in frame.receivers if each not in wrong]
    store = store_lines(frame.store, frame.now, width)
    alarmed = frame.store is not None and frame.store.health > Health.UNKNOWN
    return (
        *_settings(frame, width),
        *(shown for path, why in frame.consoles for shown in _warned(failing_words(path, why), width)),
        *(shown for each in wrong for shown in receiver_lines(each, frame.now, width, stale=stale)),
        *(store if alarmed else ()),
        *lines,
        *(() if alarmed else store),
        *(shown for each in fine for shown in receiver_lines(each, frame.now, width, stale=stale)),
        *(line(each, Tone.FAINT) for each in wrap(without_answer(frame.status.unknown), width) if each),
    )


def store_lines(store: Item | None, now: int, width: int) -> tuple[Line, ...]:
    """How large the store is, how long it keeps, and when its limit or the disk is reached, as measured before ``now`` (ms UTC)."""
    if store is None:
        return ()
    head = f"{fit(str(store.health), WIDEST)}  "
    measured = store.values.get("used_bytes")
    when = "never measured" if measured is None or measured.ts is None else f"measured {age(now - measured.ts)} ago"
    words = "; ".join((_held(store), _growth(store), _disk(store), when))
    first, *rest = wrap(f"store: {'stale, ' if store.stale else ''}{words}", width, first=head, rest=" " * len(head))
    tone = Tone.STALE if store.stale else Tone.PLAIN
    key = str(store.name)
    return (
        Line((Span(first[:WIDEST], tone_of(store.health)), Span(first[WIDEST:], tone)), key),
        *(line(each, tone, key) for each in rest),
    )


def _held(store: Item) -> str:
    used, limit, part = (_told(store, name) for name in ("used_bytes", "limit_bytes", "limit_used_pct"))
    held, keep = _told(store, "held_s"), _told(store, "keep_s")
    kept = "everything is kept" if _value(store, "keep_s") is None else f"{keep} are to be kept"
    most = "no limit" if _value(store, "limit_bytes") is None else f"{part} of its limit of {limit}"
    waits = store.values.get("deletion_waits")
    why = f"; {safe(waits.value)}" if waits is not None and isinstance(waits.value, str) else ""
    return f"{used}, {most}; the oldest sample is {held} old, {kept}{why}"


def _growth(store: Item) -> str:
    grows = _value(store, "growth_bytes_per_h")
    if grows is None:
        return f"growth: {_told(store, 'growth_bytes_per_h')}"
    if grows <= 0:
        return "does not grow"
    ahead = _value(store, "limit_ahead")
    reached = f", limit reached in {_told(store, 'limit_reached_s')}" if ahead == _AHEAD else ""
    return f"grows {_told(store, 'growth_bytes_per_h')}{reached}"


def _disk(store: Item) -> str:
    free, part = _told(store, "disk_free_bytes"), _told(store, "disk_free_pct")
    if _value(store, "disk_free_bytes") is None:
        return f"disk: {free}"
    full = "" if _value(store, "disk_full_s") is None else f", full in {_told(store, 'disk_full_s')}"
    return f"disk: {free} free ({part}){full}"


def _told(store: Item, name: str) -> str:
    """A figure with its unit, or why there is none."""
    told = store.values.get(name)
    return Absence.NOT_ASKED.value if told is None else figure(told.value, metric("store", name))


def _settings(frame: Frame, width: int) -> Iterator[Line]:
    for words in (unstored_words(frame.data), refused_words(frame.data)):
        if words:
            yield from _warned(words, width)


def _warned(words: str, width: int) -> Iterator[Line]:
    head = f"{fit(str(Health.WARNING), WIDEST)}  "
    first, *rest = wrap(words, width, first=head, rest=" " * (WIDEST + 2))
    yield Line((Span(first[:WIDEST], tone_of(Health.WARNING)), Span(first[WIDEST:], Tone.PLAIN)))
    yield from (line(each, Tone.PLAIN) for each in rest)


def receiver_lines(receiver: ReceiverRow, now: int, width: int, *, stale: bool = False) -> tuple[Line, ...]:
    """How telling a receiver goes, at the moment ``now`` (ms UTC); ``stale``: nobody has told it since the agent fell silent."""
    health = Health.UNKNOWN if stale else _health(receiver)
    words = [_telling(receiver, now), _waiting(receiver, now)]
    if receiver.refused or receiver.given_up:
        words.append(_refused(receiver))
    head = f"{fit(str(health), WIDEST)}  "
    name = f"receiver {safe(receiver.name)}: {'stale, ' if stale else ''}"
    first, *rest = wrap(f"{name}{'; '.join(words)}", width, first=head, rest=" " * (WIDEST + 2))
    tone = Tone.STALE if stale else Tone.PLAIN
    return (
        Line((Span(first[:WIDEST], tone_of(health)), Span(first[WIDEST:], tone))),
        *(line(each, tone) for each in rest),
    )


def _health(receiver: ReceiverRow) -> Health:
    if receiver.failing is not None or receiver.refused:
        return Health.WARNING
    if receiver.given_up:
        return Health.INFO
    # Before it has taken anything nobody knows whether it would.
    return Health.UNKNOWN if receiver.accepted is None else Health.OK


def _telling(receiver: ReceiverRow, now: int) -> str:
    told = (
        "has never been told anything" if receiver.accepted is None else f"last told {age(now - receiver.accepted)} ago"
    )
    if receiver.failing is None:
        return told
    return f"failing for {age(now - receiver.failing)}, {safe(receiver.error)}; {told}"


def _waiting(receiver: ReceiverRow, now: int) -> str:
    if not receiver.waiting or receiver.oldest is None:
        return "nothing waits"
    return f"{_notices(receiver.waiting)} {'wait' if receiver.waiting > 1 else 'waits'}, the oldest for {age(now - receiver.oldest)}"


def _refused(receiver: ReceiverRow) -> str:
    counts = []
    if receiver.refused:
        counts.append(f"{_notices(receiver.refused)} refused so far")
    if receiver.given_up:
        counts.append(f"{_notices(receiver.given_up)} refused for good")
    return f"{', '.join(counts)}: {safe(receiver.refusal)}"


def _notices(count: int) -> str:
    return f"{number(count)} notice{'' if count == 1 else 's'}"


def _counted(items: Iterable[Item]) -> str:
    items = list(items)
    if not items:
        return "nothing has been asked of it"
    failed = sum(_value(item, "outcome") not in _WELL for item in items)
    fine = "all answered" if not failed else f"{number(failed)} not answered as they should be"
    replies, data, took = (
        sum(_value(item, name) or 0 for item in items) for name in ("replies", "bytes", "elapsed_ms")
    )
    return (
        f"{number(len(items))} command{'' if len(items) == 1 else 's'}, {fine}; "
        f"when last asked: {number(replies)} messages, {size(data)}, {number(took / 1000)} s"
    )


def _value(item: Item, name: str) -> float | None:
    told = item.values.get(name)
    return None if told is None or isinstance(told.value, Absence | str) else told.value

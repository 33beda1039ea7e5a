"""The console messages behind an alert, for its text: which came, how often, first and last, and what they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.functions import EVER
from mqvitals_rules.expression.node import AnyMember, Latest, MemberTally, Node, Not, Open, Seen, Times, children
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.timestamps import DAY_MS

_LONGEST_INSERT = 100


class MessageUse(NamedTuple):
    """Messages that a condition waits for: those of a window, or (``window_ms`` 0) those since the newest of ``ends``.

    Without a window and ends it is the newest message alone.
    """

    ids: frozenset[str]
    window_ms: int = 0
    ends: frozenset[str] = frozenset()
    quiet: bool = False
    """Those written while their queue manager started or stopped do not count."""


def awaited(node: Node) -> Iterator[MessageUse]:
    """The messages that can make a condition true. Those after ``not``, and those about members, cannot."""
    match node:
        case Seen() | Times():
            yield MessageUse(frozenset(node.messages), node.window_ms, quiet=node.quiet)
        case Open():
            yield MessageUse(frozenset((node.begin,)), ends=frozenset(node.ends), quiet=node.quiet)
        case Latest():
            yield MessageUse(frozenset((node.message,)))
        case Not() | AnyMember() | MemberTally():
            return
        case _:
            for child in children(node):
                yield from awaited(child)


class CameMessages:
    """The messages of some uses that came about the object that ``context`` looks at, as of ``context.now``."""

    def __init__(self, context: Context, uses: Sequence[MessageUse]) -> None:
        self._now = context.now
        found = {each for use in uses for each in _came(context, use)}
        self._found = sorted(found, key=lambda each: (each.ts, each.id))

    def insert(self, code: str, insert: str) -> str | None:
        """What the newest of them with an id names; None: there is none, or it does not name it."""
        text = next((each.insert(insert) for each in reversed(self._found) if each.id == code), None)
        return None if text is None else text[:_LONGEST_INSERT]

    def words(self) -> str:
        """How often each came, the first time and the last: ``CSQX489E 4 times, first 09:12:30, last 09:20:01 UTC``.

        Empty when none came.
        """
        if not self._found:
            return ""
        times: Counter[str] = Counter()
        for each in self._found:
            times[each.id] += each.times
        first, last = self._found[0].ts, self._found[-1].ts
        if times.total() == 1:
            return f"{self._found[0].id} at {self._clock(first)} UTC"
        counts = ", ".join(f"{code} {'once' if count == 1 else f'{count:,} times'}" for code, count in times.items())
        return f"{counts}, first {self._clock(first)}, last {self._clock(last)} UTC"

    def _clock(self, ts: int) -> str:
        """The time of day; of another day (UTC) with its date."""
        form = "%H:%M:%S" if ts // DAY_MS == self._now // DAY_MS else "%Y-%m-%d %H:%M"
        return datetime.fromtimestamp(ts // 1000, UTC).strftime(form)


def end_words(ts: int | None, now: int) -> str:
    """When a record ended that was read before ``now`` (both ms UTC): ``12:00 UTC``; empty for none."""
    if ts is None:
        return ""
    form = "%H:%M" if now - ts < DAY_MS else "%Y-%m-%d %H:%M"
    return f"{datetime.fromtimestamp(ts // 1000, UTC):{form}} UTC"


def _came(context: Context, use: MessageUse) -> Sequence[ObjectMessage]:
    if use.window_ms:
        return context.messages(use.ids, context.now - use.window_ms, quiet=use.quiet) or ()
    found = context.messages(use.ids, EVER, quiet=use.quiet) or ()
    if not use.ends:
        return found[-1:]
    ended = context.messages(use.ends, EVER)
    return [each for each in found if each.ts > ended[-1].ts] if ended else found

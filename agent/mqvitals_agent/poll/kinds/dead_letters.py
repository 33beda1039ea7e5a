"""Dead letters: headers browsed on a dead-letter queue, counted by reason and destination.

No command is answered: nothing is taken from the queue, and of each message only the header is read. What stands behind
a reason is data, ``dead_letter_reasons.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, MOST_DEAD_LETTERS, Exchange
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.dead_letter import DeadLetterHeader, read_dead_letter_header
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.pcf.names import reason_name
from mqvitals_agent.poll.columns import MetricValues
from mqvitals_agent.poll.probe import probe_part
from mqvitals_config.decoding.decoder import decode
from mqvitals_rules.snapshot import is_object_name
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTER_KIND, DEAD_LETTERS
from mqvitals_rules.vocabulary.metric import Absence

PART: Final = probe_part(DEAD_LETTER_KIND, DEAD_LETTERS)
REQUEST: Final = encoder.request(BROWSE_DEAD_LETTERS, ())
"""What stands as the request in the exchange of a look at the dead-letter queue."""
_NOWHERE: Final = "-"
"""Stands for a destination that is not named, or by no name that a queue can have."""
_FILE: Final = "dead_letter_reasons.yaml"


@dataclass(frozen=True, slots=True)
class DeadLetterReason:
    """What is known of a reason, or of all from ``first`` to ``last``."""

    first: int
    name: str
    usually: str
    send_to: str
    last: int = 0

    def fits(self, reason: int) -> bool:
        """Whether it is about this reason."""
        return self.first <= reason <= max(self.first, self.last)


@dataclass(frozen=True, slots=True)
class _KnownReasons:
    reasons: tuple[DeadLetterReason, ...]


@cache
def _known_reasons() -> tuple[DeadLetterReason, ...]:
    text = files("mqvitals_agent.poll.kinds").joinpath(_FILE).read_text("utf-8")
    return decode(_FILE, text, _KnownReasons).reasons


@cache
def dead_letter_reason(reason: int) -> DeadLetterReason:
    """What is known of a reason; of any other number its name as a reason code, where it has one."""
    known = next((each for each in _known_reasons() if each.fits(reason)), None)
    return known or DeadLetterReason(reason, reason_name(reason) or "unknown reason", "", "the MQ team")


class DeadLetters(NamedTuple):
    """The metrics of what was found, by name; ``whole``: these are all messages on the queue."""

    found: dict[str, MetricValues]
    whole: bool


@dataclass(slots=True)
class _Group:
    """The messages with one reason for one destination."""

    reason: int
    queue: str
    headers: list[DeadLetterHeader] = field(default_factory=list)
    messages: int = 0


def read(exchange: Exchange) -> DeadLetters:
    """Count the headers in an exchange. A message without one counts as such. Never raises for what they hold."""
    groups: dict[tuple[int, str], _Group] = {}
    for reply in exchange.replies:
        try:
            header = read_dead_letter_header(reply.data, reply.encoding, reply.ccsid)
        except PcfError:
            key = 0, _NOWHERE
        else:
            key = header.reason, header.queue if is_object_name(header.queue) else _NOWHERE
        group = groups.setdefault(key, _Group(*key))
        group.messages += 1
        if key[0]:
            group.headers.append(header)
    found = {f"{group.reason}/{group.queue}": _metrics(group, exchange.at) for group in groups.values()}
    return DeadLetters(found, len(exchange.replies) < MOST_DEAD_LETTERS)


def _metrics(group: _Group, now: int) -> MetricValues:
    known = dead_letter_reason(group.reason)
    times = _times(group.headers)
    first, last = (min(times), max(times)) if times else (None, None)
    newest = max(group.headers, key=lambda each: each.put or 0, default=None)
    return {
        "messages": group.messages,
        "reason": group.reason,
        "reason_name": known.name,
        "destination": group.queue,
        "usually": known.usually,
        "send_to": known.send_to,
        "put_by": Absence.NOTHING_TO_TELL if newest is None else newest.application,
        "first_ts": _text(first),
        "first_age_s": _age(first, now),
        "last_ts": _text(last),
        "last_age_s": _age(last, now),
    }


def _times(headers: Iterable[DeadLetterHeader]) -> list[int]:
    return [each.put for each in headers if each.put is not None]


def _text(moment: int | None) -> str | Absence:
    if moment is None:
        return Absence.NOTHING_TO_TELL
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _age(moment: int | None, now: int) -> int | Absence:
    return Absence.NOTHING_TO_TELL if moment is None else max(0, now - moment) // 1000

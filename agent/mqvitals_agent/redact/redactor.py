"""Exchanges and headers without the names of a site: what ``mqvitals record --redact`` and ``mqvitals redact`` write.

Everything that replay looks at stays: numbers, times, the kind, length and order of messages, and which things have the
same name. What a person must know of a redacted recording, ``told`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mqvitals_agent import __version__
from mqvitals_agent.connection.exchange import Exchange, Reply
from mqvitals_agent.connection.header import Header
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.message import Filter
from mqvitals_agent.redact.parameter import SAFE
from mqvitals_agent.redact.pseudonym import generic_lengths
from mqvitals_agent.redact.structure import rewritten
from mqvitals_agent.redact.text import Texts

_TEXTS = frozenset({mq.MQCFT_STRING, mq.MQCFT_STRING_FILTER})


class Redactor:
    """Redacts one recording, header and exchanges. One serves one thread.

    ``salt`` is random and secret: whoever has it can find out names by guessing. ``lengths`` are those of all generic names
    that the requests hold (``generic_lengths``).
    """

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self.texts = Texts(salt, lengths)
        self._decoder = Decoder()
        self._loose: set[str] = set()
        self._damaged = 0

    def header(self, header: Header) -> Header:
        """A first line without names; what is written in words goes."""
        return replace(
            header,
            source=f"mqvitals {__version__}, redacted",
            name=self.texts.name(header.name),
            queue_managers=tuple(map(self.texts.name, header.queue_managers)),
            comment="",
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        """An exchange without names, every message as long as before."""
        request = exchange.request
        if request is not None:
            self._loose.update(
                name
                for name in generic_names(request, self._decoder)
                if generic_lengths([name]) - self.texts.names.lengths
            )
            request = self._message(request, REQUEST_CCSID)
        return replace(
            exchange,
            queue_manager=self.texts.name(exchange.queue_manager),
            request=request,
            replies=tuple(map(self._reply, exchange.replies)),
        )

    def told(self) -> Iterator[str]:
        """What was done, and what still stands in the recording: sentences for whoever gives it away."""
        texts = self.texts
        yield (
            f"replaced {_count(len(texts.names.replaced), 'name')}, {_count(len(texts.addresses.replaced), 'IP address')} and "
            f"{_count(len(texts.free), 'other text')}; {_count(len(texts.names.left), 'name')} of IBM's (SYSTEM.*, CSQ*) left"
        )
        if self._damaged:
            them = "it is" if self._damaged == 1 else "they are"
            yield f"{_count(self._damaged, 'message')} could not be decoded and might hold names: {them} zeros now"
        if texts.unreadable:
            yield f"{_count(texts.unreadable, 'text')} in an unknown character set replaced by zeros"
        if self._loose:
            yield (
                f"{_count(len(self._loose), 'generic name')} became known too late: replay may take objects that are gone "
                "for unknown ones, or unknown ones for gone"
            )
        yield (
            "what stays: numbers, times, ports, versions, how many objects there are, and of each name its length and where its "
            "dots stand"
        )

    def _reply(self, reply: Reply) -> Reply:
        return replace(reply, data=self._message(reply.data, reply.ccsid))

    def _message(self, data: bytes, ccsid: int) -> bytes:
        found = rewritten(data, ccsid, self.texts, self._decoder)
        if found is None:
            self._damaged += 1
            return bytes(len(data))
        return found


def generic_names(request: bytes, decoder: Decoder) -> Iterator[str]:
    """The generic names by which a request selects; none when it cannot be decoded."""
    try:
        message = decoder.decode(request, REQUEST_CCSID)
    except PcfError:
        return
    for parameter in message.parameters:
        value = parameter.value.value if isinstance(parameter.value, Filter) else parameter.value
        if parameter.type in _TEXTS and isinstance(value, str) and value.endswith("*") and parameter.id not in SAFE:
            yield value


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('s') else 's'}"

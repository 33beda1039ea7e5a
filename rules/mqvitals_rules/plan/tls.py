"""Channels with SSL or TLS: how many, and what a message costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from mqvitals_rules.plan.answer import Outcome, Row
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.question import Input

HIGHLIGHTS = "Performance highlights - WebSphere MQ for z/OS V5.3 & V5.3.1"
CHANNEL_KB = 210
FREE_MESSAGE_KB = 32
"""Up to this a channel's 210 KB hold its message too."""
MOST_MESSAGE_KB = 102_400


@formula(
    "ssl-channels",
    number="F-06",
    title="Most SSL channels of a channel initiator",
    inputs=(
        Input("max_msg_kb", "KB", "the longest message of these channels", 0, MOST_MESSAGE_KB, fraction=True),
        Input("epvt_kb", "KB", "extended private region of the channel initiator", 1, 2_097_152, default=1_600_000),
    ),
    measured_on="V5.3; the machine is not named",
    caveat=(
        "An old release: replace it by what the channel initiator says of its storage. All channels are taken to move the longest message at"
        " the same time."
    ),
    source=f"{HIGHLIGHTS} · 5.3 What is the maximum number of SSL channels?",
    example={"epvt_kb": 1_600_000, "max_msg_kb": 4000},
)
def ssl_channels(max_msg_kb: float, epvt_kb: int) -> Outcome:
    """Whole channels; the catalogue's F-06."""
    message_kb = max_msg_kb if max_msg_kb > FREE_MESSAGE_KB else 0
    each_kb = CHANNEL_KB + message_kb
    exact = epvt_kb / each_kb
    why = f"{max_msg_kb:,} KB of message" if message_kb else f"nothing for messages of at most {FREE_MESSAGE_KB} KB"
    steps = [
        f"a channel takes {CHANNEL_KB} KB and {why}: {each_kb:,} KB",
        f"{epvt_kb:,} KB / {each_kb:,} KB = {exact:,.1f} channels",
    ]
    if not message_kb:
        steps.append("the document says around 7500 for 1.6 GB: 1,600,000 KB give 7,619, and 1,677,721 KB give 7,989")
    return Outcome(floor(exact), "channels", tuple(steps), exact=exact)


@dataclass(frozen=True, slots=True)
class _End:
    """CPU of a message at one end, in ms."""

    constant: float
    per_kb: float

    def cost(self, msg_kb: float) -> float:
        return round(self.constant + self.per_kb * msg_kb, 9)


@dataclass(frozen=True, slots=True)
class _Cipher:
    """``ccf``: whether it is for machines with the Cryptographic Coprocessor Feature; ``any`` where that makes no difference."""

    name: str
    ccf: str
    sender: _End
    receiver: _End
    printed: _End | None = None


_CIPHERS = (
    _Cipher("NULL_MD5", "any", _End(0.15, 0.045), _End(0.12, 0.049), printed=_End(0.12, 0.49)),
    _Cipher("RC4_MD5_EXPORT", "any", _End(0.15, 0.1), _End(0.2, 0.105)),
    _Cipher("TRIPLE_DES_SHA_US", "yes", _End(0.2, 0.14), _End(0.2, 0.144)),
    _Cipher("TRIPLE_DES_SHA_US", "no", _End(0.5, 0.89), _End(0.5, 0.9)),
)


def _row(cipher: _Cipher, msg_kb: float) -> Row:
    printed = cipher.printed
    return {
        "cipherspec": cipher.name,
        "ccf": cipher.ccf,
        "sender_constant_ms": cipher.sender.constant,
        "sender_ms_per_kb": cipher.sender.per_kb,
        "receiver_constant_ms": cipher.receiver.constant,
        "receiver_ms_per_kb": cipher.receiver.per_kb,
        "document_receiver_ms_per_kb": printed.per_kb if printed else None,
        "sender_ms": cipher.sender.cost(msg_kb),
        "receiver_ms": cipher.receiver.cost(msg_kb),
        "document_receiver_ms": printed.cost(msg_kb) if printed else None,
    }


@formula(
    "ssl-cpu",
    number="F-07",
    title="CPU that SSL adds to a message",
    inputs=(
        Input("msg_kb", "KB", "length of the message", 0, MOST_MESSAGE_KB, fraction=True),
        Input("cipherspec", "", "SSLCIPH", words=("NULL_MD5", "RC4_MD5_EXPORT", "TRIPLE_DES_SHA_US")),
        Input(
            "ccf",
            "",
            "Cryptographic Coprocessor Feature; it matters for triple DES alone",
            words=("yes", "no"),
            default="yes",
        ),
        Input(
            "end",
            "",
            "sender: put and send; receiver: receive and get; both: their sum",
            words=("both", "sender", "receiver"),
            default="both",
        ),
    ),
    measured_on="V5.3; the machine is not named; FRW1 cryptographic coprocessor where there is one",
    caveat="Historical: these cipherspecs and machines are obsolete. What still holds is that algorithm, hardware and length decide.",
    source=f"{HIGHLIGHTS} · 5.2 Moving Messages",
    example={"msg_kb": 5, "cipherspec": "RC4_MD5_EXPORT", "end": "sender"},
)
def ssl_cpu(msg_kb: float, cipherspec: str, ccf: str, end: str) -> Outcome:
    """CPU milliseconds for a message; the catalogue's F-07."""
    cipher = next(each for each in _CIPHERS if each.name == cipherspec and each.ccf in {"any", ccf})
    ends = [
        (name, side)
        for name, side in (("sender", cipher.sender), ("receiver", cipher.receiver))
        if end in {name, "both"}
    ]
    steps = [
        f"{name}: {side.constant} ms + {side.per_kb} ms/KB x {msg_kb:,} KB = {side.cost(msg_kb):,.6g} CPU ms"
        for name, side in ends
    ]
    value = round(sum(side.cost(msg_kb) for _, side in ends), 9)
    if len(ends) > 1:
        steps.append(f"both ends: {value:,.6g} CPU ms")
    caveat = ""
    if cipher.printed and end != "sender":
        caveat = (
            f"The document prints {cipher.printed.per_kb} ms/KB for the receiver, ten times the sender's: {cipher.printed.cost(msg_kb):,.6g} CPU ms"
            f" there. {cipher.receiver.per_kb} is what is suspected."
        )
    return Outcome(value, "CPU ms", tuple(steps), rows=tuple(_row(each, msg_kb) for each in _CIPHERS), caveat=caveat)

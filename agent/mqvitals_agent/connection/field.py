"""Texts for the fields of the MQI's structures: each has its length, and what does not fit is refused instead of cut."""

from __future__ import annotations

from mqvitals_agent.connection.link import RouteError


def ascii_field(text: str, length: int, what: str) -> bytes:
    """The bytes of a name or keyword, at most ``length`` of them. Raises RouteError, which tells ``what`` it was."""
    if not text.isascii():
        raise RouteError(f"{what} has characters that are not ASCII")
    return _fitting(text.encode("ascii"), length, what)


def text_field(text: str, length: int, what: str) -> bytes:
    """The bytes of a path, a label or a password, in UTF-8, at most ``length`` of them. Raises RouteError.

    The error tells ``what`` it was and nothing of the text: it may be a secret.
    """
    # What came from the environment as no UTF-8 goes on as the bytes that it was.
    return _fitting(text.encode("utf-8", "surrogateescape"), length, what)


def _fitting(data: bytes, length: int, what: str) -> bytes:
    if len(data) > length:
        raise RouteError(f"{what} is {len(data)} bytes long, and MQ takes {length}")
    if b"\0" in data:
        raise RouteError(f"{what} has a zero byte in it")
    return data

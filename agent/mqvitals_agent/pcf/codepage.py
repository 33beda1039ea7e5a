"""Character sets by their CCSID: bytes to text and back.

Python lacks most of the EBCDIC pages that queue managers use, 1047 first of all, so they are built here, each as its
differences from 037. Byte X'15', the line end of z/OS, is a newline in all of them, as Java has it.
"""

from __future__ import annotations

import codecs
from functools import cache
from typing import Final

from mqvitals_agent.pcf.error import PcfError

# Differences from 037: the byte in hexadecimal, then its character.
_EBCDIC: Final = {
    37: "",
    273: "43{ 4aÄ 4f! 59~ 5aÜ 5f^ 63[ 6aö 7c§ a1ß b0¢ b5@ ba¬ bb| c0ä cc¦ d0ü dc} e0Ö ec\\ fc]",
    277: "47} 4a# 4f! 5a¤ 5bÅ 5f^ 67$ 6aø 70¦ 7bÆ 7cØ 80@ 9c{ 9e[ 9f] a1ü b0¢ ba¬ bb| c0æ d0å dc~",
    278: "43{ 47} 4a§ 4f! 51` 5a¤ 5bÅ 5f^ 63# 67$ 6aö 71\\ 79é 7bÄ 7cÖ 9f] a1ü b0¢ b5[ ba¬ bb| c0ä cc¦ d0å dc~ e0É ec@",
    280: "44{ 48\\ 4a° 4f! 51] 54} 58~ 5aé 5f^ 6aò 79ù 7b£ 7c§ 90[ a1ì b0¢ b1# b5@ ba¬ bb| c0à cd¦ d0è dd` e0ç",
    284: "49¦ 4a[ 5a] 69# 6añ 7bÑ a1¨ b0¢ ba^ bb! bd~",
    285: "4a$ 5b£ a1¯ b0¢ b1[ ba^ bc~",
    297: "44@ 48\\ 4a° 4f! 51{ 54} 5a§ 5f^ 6aù 79µ 7b£ 7cà 90[ a0` a1¨ b0¢ b1# b5] ba¬ bb| bd~ c0é d0è dd¦ e0ç",
    500: "4a[ 4f! 5a] 5f^ b0¢ ba¬ bb|",
    871: "4aÞ 4f! 5aÆ 5fÖ 79ð 7cÐ 8c` 8e{ 9c} 9e] a1ö ac@ ae[ b0¢ ba¬ bb| be\\ c0þ cc~ d0æ e0´ ec^",
    1047: "25\x85 5f^ ad[ b0¬ baÝ bb¨ bd]",
}
# The same pages with the euro in place of the currency sign.
_EURO: Final = {
    1140: 37,
    1141: 273,
    1142: 277,
    1143: 278,
    1144: 280,
    1145: 284,
    1146: 285,
    1147: 297,
    1148: 500,
    1149: 871,
}
# What Python has.
_PYTHON: Final = {
    367: "ascii", 437: "cp437", 813: "iso8859_7", 819: "latin_1", 850: "cp850", 852: "cp852", 855: "cp855",
    857: "cp857", 858: "cp858", 866: "cp866", 878: "koi8_r", 912: "iso8859_2", 915: "iso8859_5", 916: "iso8859_8",
    920: "iso8859_9", 923: "iso8859_15", 1089: "iso8859_6", 1208: "utf_8", 1250: "cp1250", 1251: "cp1251",
    1252: "cp1252", 1253: "cp1253", 1254: "cp1254", 1255: "cp1255", 1256: "cp1256", 1257: "cp1257", 1258: "cp1258",
    5348: "cp1252",
}  # fmt: skip
_PADDING: Final = " \0"


class CodePage:
    """One character set. Nothing fails in it: what cannot be decoded becomes U+FFFD, what cannot be encoded "?"."""

    __slots__ = ("_decoding", "_encoding", "ccsid")

    def __init__(self, ccsid: int, table: str) -> None:
        self.ccsid = ccsid
        self._decoding = table
        self._encoding = {ord(character): byte for byte, character in reversed(tuple(enumerate(table)))}

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs."""
        return codecs.charmap_decode(data, "replace", self._decoding)[0].rstrip(_PADDING)

    def encode(self, text: str) -> bytes:
        """The bytes of all of the text, trailing blanks included."""
        return codecs.charmap_encode(text, "replace", self._encoding)[0]


class PythonCodePage(CodePage):
    """A character set that Python knows by a name of its own."""

    __slots__ = ("_name",)

    def __init__(self, ccsid: int, name: str) -> None:
        super().__init__(ccsid, "")
        self._name = name

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs."""
        return data.decode(self._name, "replace").rstrip(_PADDING)

    def encode(self, text: str) -> bytes:
        """The bytes of all of the text, trailing blanks included."""
        return text.encode(self._name, "replace")


@cache
def _known(ccsid: int) -> CodePage | None:
    if ccsid in _PYTHON:
        return PythonCodePage(ccsid, _PYTHON[ccsid])
    if ccsid in _EBCDIC:
        return CodePage(ccsid, _table(_EBCDIC[ccsid]))
    if ccsid in _EURO:
        return CodePage(ccsid, _table(_EBCDIC[_EURO[ccsid]]).replace("¤", "€"))
    return None


def _table(differences: str) -> str:
    table = list(bytes(range(256)).decode("cp037"))
    table[0x15] = "\n"
    for difference in differences.split(" ") if differences else ():
        table[int(difference[:2], 16)] = difference[2]
    return "".join(table)


def codec(ccsid: int, offset: int = 0) -> CodePage:
    """The character set of that number; PcfError, at ``offset``, when it is not known."""
    page = _known(ccsid) if ccsid in _PYTHON or ccsid in _EBCDIC or ccsid in _EURO else None
    if page is None:
        raise PcfError(offset, f"a known character set, not CCSID {ccsid}")
    return page


def known_ccsids() -> tuple[int, ...]:
    """The numbers of all known character sets, ascending."""
    return tuple(sorted({*_PYTHON, *_EBCDIC, *_EURO}))

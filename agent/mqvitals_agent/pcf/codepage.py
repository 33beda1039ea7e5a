"""Character sets by their CCSID: bytes to text and back.

The tables are Python's own and those of the package ``ebcdic``. Byte X'15', the line end of z/OS, is a newline in every
EBCDIC page, as in Java. A mixed page (single and double bytes) is decoded for its single-byte part; each double byte
becomes U+FFFD. Names of MQ objects consist of characters that every EBCDIC page has at the same place, so they survive.
"""

from __future__ import annotations

import codecs
from functools import cache
from typing import Final

from mqvitals_agent.pcf.message import PcfError

# CCSID of an EBCDIC page -> name of its codec, in Python or in the package ebcdic.
_EBCDIC: Final = {
    37: "cp037", 273: "cp273", 277: "cp277", 278: "cp278", 280: "cp280", 284: "cp284", 285: "cp285", 290: "cp290",
    297: "cp297", 420: "cp420", 424: "cp424", 500: "cp500", 833: "cp833", 838: "cp838", 870: "cp870", 871: "cp871",
    875: "cp875", 1025: "cp1025", 1026: "cp1026", 1047: "cp1047", 1097: "cp1097", 1112: "cp1112", 1122: "cp1122",
    1123: "cp1123", 1140: "cp1140", 1141: "cp1141", 1142: "cp1142", 1143: "cp1143", 1144: "cp1144", 1145: "cp1145",
    1146: "cp1146", 1147: "cp1147", 1148: "cp1148", 1149: "cp1149", 9030: "cp838",
}  # fmt: skip
# CCSID -> the page that it equals but for the euro, and the euro's byte (IBM's CDRA tables).
_EURO: Final = {
    1153: (870, 0x9F), 1154: (1025, 0xE1), 1155: (1026, 0x9F), 1156: (1112, 0x9F), 1157: (1122, 0x5A),
    1158: (1123, 0xE1), 1160: (838, 0xFE), 4971: (875, 0xFC), 5123: (1027, 0xE1), 8482: (290, 0xE1),
    12712: (424, 0x9C), 16804: (420, 0xFA),
}  # fmt: skip
# CCSID of a mixed EBCDIC page -> its single-byte page.
_MIXED: Final = {
    930: 290, 1390: 8482, 5026: 290, 931: 37, 933: 833, 1364: 833, 935: 836, 1388: 836, 937: 37, 1371: 1140,
    939: 1027, 1399: 5123, 5035: 1027,
}  # fmt: skip
# Pages of which only the invariant characters are known here.
_INVARIANT_ONLY: Final = frozenset({836, 1027})
# CCSID of a page of the ASCII family, or of Unicode -> Python's codec.
_OTHERS: Final = {
    367: "ascii", 437: "cp437", 720: "cp720", 737: "cp737", 775: "cp775", 813: "iso8859_7", 819: "latin_1",
    850: "cp850", 852: "cp852", 855: "cp855", 856: "cp856", 857: "cp857", 858: "cp858", 860: "cp860", 861: "cp861",
    862: "cp862", 863: "cp863", 865: "cp865", 866: "cp866", 869: "cp869", 874: "cp874", 878: "koi8_r",
    912: "iso8859_2", 913: "iso8859_3", 914: "iso8859_4", 915: "iso8859_5", 916: "iso8859_8", 919: "iso8859_10",
    920: "iso8859_9", 921: "iso8859_13", 923: "iso8859_15", 932: "cp932", 936: "gbk", 943: "cp932", 949: "cp949",
    950: "cp950", 954: "euc_jp", 970: "euc_kr", 1051: "hp_roman8", 1089: "iso8859_6", 1168: "koi8_u",
    1200: "utf_16_be", 1202: "utf_16_le", 1208: "utf_8", 1250: "cp1250", 1251: "cp1251", 1252: "cp1252",
    1253: "cp1253", 1254: "cp1254", 1255: "cp1255", 1256: "cp1256", 1257: "cp1257", 1258: "cp1258", 1363: "cp949",
    1381: "gb2312", 1386: "gbk", 1392: "gb18030", 5348: "cp1252", 5488: "gb18030", 13488: "utf_16_be",
    17584: "utf_16_be", 33722: "euc_jp",
}  # fmt: skip

INVARIANT: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 %&'()*+,-./:;<=>?_\0\n\r\t"
)
"""The characters that have the same byte in every EBCDIC page but the Katakana ones (IBM's syntactic character set)."""

_PADDING: Final = " \0"
_LOST: Final = "\ufffd"
_SHIFT_OUT, _SHIFT_IN = b"\x0e", b"\x0f"


class CodePage:
    """One character set. Nothing fails in it: what cannot be decoded becomes U+FFFD, what cannot be encoded "?"."""

    __slots__ = ("_decoding", "_encoding", "ccsid")

    def __init__(self, ccsid: int, table: str) -> None:
        self.ccsid = ccsid
        self._decoding = table
        self._encoding = {
            ord(character): byte for byte, character in reversed(tuple(enumerate(table))) if character != _LOST
        }

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs."""
        return codecs.charmap_decode(data, "replace", self._decoding)[0].rstrip(_PADDING)

    def encode(self, text: str) -> bytes:
        """The bytes of all of the text, trailing blanks included."""
        return codecs.charmap_encode(text, "replace", self._encoding)[0]


class MixedCodePage(CodePage):
    """An EBCDIC page of single and double bytes: shift-out and shift-in enclose the double bytes."""

    __slots__ = ()

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs; U+FFFD for each double byte."""
        if _SHIFT_OUT not in data:
            return super().decode(data)
        single, *parts = data.split(_SHIFT_OUT)
        text = [codecs.charmap_decode(single, "replace", self._decoding)[0]]
        for part in parts:
            double, _, single = part.partition(_SHIFT_IN)
            text += (_LOST * ((len(double) + 1) // 2), codecs.charmap_decode(single, "replace", self._decoding)[0])
        return "".join(text).rstrip(_PADDING)


class PythonCodePage(CodePage):
    """A character set of the ASCII family, or of Unicode, that Python has a codec for."""

    __slots__ = ("_name",)

    def __init__(self, ccsid: int, name: str) -> None:
        super().__init__(ccsid, "")
        self._name = name

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs."""
        return data.decode(self._name, "replace").rstrip(_PADDING)

    def encode(self, text: str) -> bytes:
        """The bytes of all of the text, trailing blanks included."""
        # A lone surrogate has no bytes in UTF-16, and "?" is what stands for it there too.
        return text.encode("utf-8", "replace").decode().encode(self._name, "replace")


class UnknownCodePage(CodePage):
    """A character set that is not known: the characters that are alike in all EBCDIC, or in all ASCII pages.

    Each text is taken for EBCDIC or ASCII, whichever gives more letters and digits.
    """

    __slots__ = ()

    def __init__(self, ccsid: int) -> None:
        super().__init__(ccsid, _invariant())

    def decode(self, data: bytes) -> str:
        """The text without trailing blanks and NULs; U+FFFD for what is not sure."""
        as_ebcdic = super().decode(data)
        as_ascii = data.decode("ascii", "replace").rstrip(_PADDING)
        return as_ascii if _letters(as_ascii) > _letters(as_ebcdic) else as_ebcdic


def _letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


@cache
def _known(ccsid: int) -> CodePage:
    if ccsid in _OTHERS:
        return PythonCodePage(ccsid, _OTHERS[ccsid])
    if ccsid in _MIXED:
        return MixedCodePage(ccsid, _table(_MIXED[ccsid]))
    return CodePage(ccsid, _table(ccsid))


def _table(ccsid: int) -> str:
    """The 256 characters of an EBCDIC page."""
    if ccsid in _INVARIANT_ONLY:
        return _invariant()
    page, euro = _EURO.get(ccsid, (ccsid, 0))
    table = list(_invariant() if page in _INVARIANT_ONLY else _python_table(_EBCDIC[page]))
    if euro:
        table[euro] = "€"
    table[0x15] = "\n"
    return "".join(table)


def _python_table(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        import ebcdic  # noqa: F401 - registers its codecs, and those that Python has stay Python's

    return bytes(range(256)).decode(name, "replace")


@cache
def _invariant() -> str:
    table = bytearray(range(256)).decode("cp500")
    return "".join(
        "\n" if byte == 0x15 else character if character in INVARIANT else _LOST for byte, character in enumerate(table)
    )


def is_known_ccsid(ccsid: int) -> bool:
    """Whether the character set of that number is known."""
    return ccsid in _EBCDIC or ccsid in _OTHERS or ccsid in _MIXED or ccsid in _EURO or ccsid in _INVARIANT_ONLY


def codec(ccsid: int, offset: int = 0) -> CodePage:
    """The character set of that number; PcfError, at ``offset``, when it is not known."""
    if not is_known_ccsid(ccsid):
        raise PcfError(offset, f"a known character set, not CCSID {ccsid}")
    return _known(ccsid)


def known_ccsids() -> tuple[int, ...]:
    """The numbers of all known character sets, ascending."""
    return tuple(sorted({*_OTHERS, *_EBCDIC, *_EURO, *_MIXED, *_INVARIANT_ONLY}))


MOST_TEXTS: Final = 60_000
"""How many texts a pool remembers, shared evenly by its character sets: at most about 50 MB, usually a quarter."""
LONGEST_TEXT: Final = 300
"""Longer texts are decoded each time: names and addresses are shorter, and a long one is hardly ever the same again."""

_UNKNOWN: Final = 1 << 40
"""Stands for every unknown character set: no text can state this number."""


class DecodedTexts(dict[bytes, str]):
    """The texts of one character set: ``texts[data]`` is the text of those bytes."""

    __slots__ = ("_pool", "decode")

    def __init__(self, page: CodePage, pool: TextPool) -> None:
        super().__init__()
        self.decode = page.decode
        self._pool = pool

    def __missing__(self, data: bytes) -> str:
        if len(data) > LONGEST_TEXT:
            return self.decode(data)
        # Past the bound everything is forgotten and learnt anew, which costs little: most texts come at every poll.
        if len(self) >= self._pool.share:
            self.clear()
        text = self[data] = self.decode(data)
        return text


class TextPool:
    """The texts of all character sets of one decoder, with a bound on their number.

    ``lenient``: an unknown character set is decoded for its invariant characters and noted in ``unknown``; all of them
    share one set of texts, so that a garbled CCSID in every message costs nothing.
    """

    __slots__ = ("_lenient", "_sets", "share", "unknown")

    def __init__(self, *, lenient: bool = False) -> None:
        self._sets: dict[int, DecodedTexts] = {}
        self._lenient = lenient
        self.share = MOST_TEXTS
        self.unknown = 0
        """The CCSID of the last character set that was looked up and is not known; 0: none since it was last cleared."""

    def of(self, ccsid: int, offset: int) -> DecodedTexts:
        """The texts of a character set; PcfError, at ``offset``, when it is not known and the pool is not lenient."""
        texts = self._sets.get(ccsid)
        if texts is None and self._lenient and not is_known_ccsid(ccsid):
            self.unknown, ccsid = ccsid, _UNKNOWN
            texts = self._sets.get(_UNKNOWN)
        if texts is None:
            page = UnknownCodePage(ccsid) if ccsid == _UNKNOWN else codec(ccsid, offset)
            texts = self._sets[ccsid] = DecodedTexts(page, self)
            self.share = MOST_TEXTS // len(self._sets)
            for others in self._sets.values():
                if len(others) > self.share:
                    others.clear()
        return texts

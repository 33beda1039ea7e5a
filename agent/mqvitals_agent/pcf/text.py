"""Texts already seen: the same names come back with every poll, so their bytes are decoded once."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.pcf.codepage import CodePage, UnknownCodePage, codec, known

MOST: Final = 60_000
"""How many texts a pool remembers, shared evenly by its character sets: at most about 50 MB, usually a quarter."""
LONGEST: Final = 300
"""Longer texts are decoded each time: names and addresses are shorter, and a long one is hardly ever the same again."""

_UNKNOWN: Final = 1 << 40
"""Stands for every unknown character set: no text can state this number."""


class Texts(dict[bytes, str]):
    """The texts of one character set: ``texts[data]`` is the text of those bytes."""

    __slots__ = ("_pool", "decode")

    def __init__(self, page: CodePage, pool: TextPool) -> None:
        super().__init__()
        self.decode = page.decode
        self._pool = pool

    def __missing__(self, data: bytes) -> str:
        if len(data) > LONGEST:
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
        self._sets: dict[int, Texts] = {}
        self._lenient = lenient
        self.share = MOST
        self.unknown = 0
        """The CCSID of the last character set that was looked up and is not known; 0: none since it was last cleared."""

    def of(self, ccsid: int, offset: int) -> Texts:
        """The texts of a character set; PcfError, at ``offset``, when it is not known and the pool is not lenient."""
        texts = self._sets.get(ccsid)
        if texts is None and self._lenient and not known(ccsid):
            self.unknown, ccsid = ccsid, _UNKNOWN
            texts = self._sets.get(_UNKNOWN)
        if texts is None:
            page = UnknownCodePage(ccsid) if ccsid == _UNKNOWN else codec(ccsid, offset)
            texts = self._sets[ccsid] = Texts(page, self)
            self.share = MOST // len(self._sets)
            for others in self._sets.values():
                if len(others) > self.share:
                    others.clear()
        return texts

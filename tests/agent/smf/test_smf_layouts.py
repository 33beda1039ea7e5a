"""Where the fields of each section lie, against places that IBM's mapping macros give, and how sections of any length are read."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.smf.section import LAYOUTS

PLACES = {
    "QPST": "pool@8:4 cbs@20:4 rio@32:4 imw@48:4 stl@60:4 flags@72:4",
    "QJST": "wrw@8:4 llcp@64:4 decreq@144:4 iomaxsusl.3@544:8x iomaxsusl.0@328:8x hlscif@624:4 hle@716:4",
    "QMST": "open@8:4 calh@44:4 nbp@96:8 oscs@168:8 otso@248:8 obcd@320:8",
    "QIST": "mget@8:4 dcre@20:4 dget@32:4 lomm@48:4 raio@60:4 getb@72:4",
    "QLST": "getl@8:4 hldl@12:4 rell@16:4",
    "Q5ST": "numtask@8:4 sskdel@84:4 writtcuw@232:8 scsdscuw@376:8 lmsstcuw@512:8 lmslsmxw@664:8",
    "QEST": "str.63@4040:12x str.0@8:12x csec.63@4056:4 csec.0@24:4 sstc.63@4064:8 sstc.0@32:8 rsec.63@4080:4 rsec.0@48:4 sful.63@4088:4 sful.0@56:4 mlus.63@4096:4 mlus.0@64:4",
    "QTST": "stot@8:4 shig.2@24:4 sexp@40:4 ptot.1@56:4 plow@68:4 etto@88:8",
    "QESD": "str@8:12x smrp@72:4 bfbw@124:4 bfwb@180:4 ioft@240:8 flag@328:4",
    "QIS1": "psno@8:4 ppg@24:4 dwpp@44:4 imwt@64:8 expn@92:2 flag@100:4",
    "QSST": "gplf@8:4 expf@20:4 fplv@32:4 conv@44:4 rcnz@56:4 abnd@68:4",
    "QSPH": "stor@8:4 ostor@12:4 xstor@16:4 bsize@20:2 bcnt@22:2 count@24:4 dspnm@28:8x name@36:48x flags@84:1",
    "QSGM": "lvtot@8:4 lvnew@12:4 lvmax@16:4 lvmin@20:4 count@24:4 scls@28:1 csect@32:8x offset@40:4",
    "QSRS": "phbgf@8:4 limit@44:4 esiza@76:4 memlim@112:8 crit@160:4 gmbl@224:8",
    "QQST": "qnam@8:48x put1@136:8 msma@272:8 flbr@408:8 expr@528:8 osfs@664:8",
    "QCCT": "jobn@8:8x nocc@20:4 noac@28:4 mxtp@36:4 stus@44:4 slim@56:8",
    "QCTDSP": "tskn@0:4 reqn@4:4 cptm@8:8 eltm@16:8 wttm@24:8 chln@32:4",
    "QCTADP": "tskn@0:4 reqn@4:4 cptm@8:8 eltm@16:8 wttm@24:8",
    "QCTSSL": "tskn@0:4 reqn@4:4 cptm@8:8 wttm@24:8 lstm@32:8 lsdu@40:8",
    "QCTDNS": "tskn@0:4 reqn@4:4 cptm@8:8 wttm@24:8 lgtm@32:8 lgdu@40:8",
    "QCST": "cltm@8:8 ludt@96:8 cscv@140:4 etmx@188:4 slcn@280:16x rver@328:8x",
    "QMAC": "cput@8:8 putb@20:4 putc@24:4 geta@32:4 getb@36:4 getd@44:4",
    "WTID": "atyp@8:4 opid@20:8x cori@44:12x acct@80:22x chlc@122:48x tran@186:8x",
    "WTAS": "strt@8:8 ban@508:4 rsec@612:4 dbgt@712:8 stct@832:8 lmax.31@2336:8 lmax.0@2088:8",
    "WQST": "ver@8:4 getjwet@248:8 put1suset@392:8 maxlatnt@540:8 put1igq@664:4 streamedn@2792:4",
}
"""By section: ``name@offset:length`` of fields from its first to its last, with an x behind those that are no numbers."""


@pytest.mark.parametrize("name", LAYOUTS)
def test_fields_lie_where_the_macros_put_them(name: str) -> None:
    """A byte pattern at a field's place is that field's value, and of no other field of those."""
    places = re.findall(r"(\S+)@(\d+):(\d+)(x?)", PLACES[name])
    assert places
    end = max(int(offset) + int(length) for _, offset, length, _ in places)
    for field, offset, length, text in places:
        data = bytearray(end)
        pattern = bytes(range(0xC1, 0xC1 + int(length))) if text and int(length) < 9 else b"\xc1" * int(length)
        data[int(offset) : int(offset) + int(length)] = pattern
        values = LAYOUTS[name].shape(end).fields(bytes(data), 0)
        if text:
            assert values[field] in (pattern.hex(), pattern.decode("cp037"), pattern.decode("cp500")), field
        else:
            assert values[field] == int.from_bytes(pattern, "big"), field
        zero = LAYOUTS[name].shape(end).fields(bytes(end), 0)
        changed = {each for each, *_ in places if values[each] != zero[each]}
        assert changed == {field}, field


@pytest.mark.parametrize("name", LAYOUTS)
@COSTLY
@given(data=st.data())
def test_a_section_of_any_length(name: str, data: st.DataObject) -> None:
    """What lies within it is told, with the same values as in a longer one; what does not is left out."""
    layout = LAYOUTS[name]
    whole = max(field.offset + field.length + (field.times - 1) * field.step for field in layout.fields)
    raw = random.Random(data.draw(st.integers(0, 1 << 32))).randbytes(whole)
    length = data.draw(st.integers(0, whole))
    longer, shorter = layout.shape(whole).fields(raw, 0), layout.shape(length).fields(raw[:length], 0)
    assert shorter.items() <= longer.items()
    ends = {cell.name: cell.offset + cell.field.length for cell in layout.shape(whole).elements}
    assert shorter.keys() == {name for name, end in ends.items() if end <= length}

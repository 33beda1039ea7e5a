"""The records of MQ in SMF data, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.frame import frames
from mqvitals_agent.smf.record import ACCOUNTING, STATISTICS, Record, parse
from mqvitals_agent.smf.section import SECTIONS, tables
from mqvitals_agent.smf.tally import Tally


def records(stream: BinaryIO, tally: Tally) -> Iterator[Record]:
    """The records of MQ that have sections of ours; all others are counted.

    Damage costs the record and is noted in ``tally``. Raises OSError, and SmfError when these are no SMF data at all.
    """
    try:
        for offset, kind, data in frames(stream, tally.damaged):
            if kind not in (STATISTICS, ACCOUNTING):
                tally.skipped[kind] += 1
                continue
            try:
                record = parse(data, offset)
            except SmfError as error:
                tally.damaged(error)
                continue
            key = record.type, record.subtype
            tally.records[key] += 1
            if key not in SECTIONS:
                tally.unknown[key] += 1
                continue
            for layout, triplet in tables(record):
                tally.sections[layout.name] += triplet.instances
            yield record
    except SmfError as error:
        if error.offset is None:
            raise
        tally.damaged(error)

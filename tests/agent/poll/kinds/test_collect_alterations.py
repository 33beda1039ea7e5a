"""What definitions tell beside what is defined: when the group's were altered, what is indexed, whether there is a backup."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

DEFINITION, STRUCTURE = mq.MQCMD_INQUIRE_Q, mq.MQCMD_INQUIRE_CF_STRUC
SHARED, GROUP = mq.MQQSGD_SHARED, mq.MQQSGD_GROUP
HOUR_MS = 3_600_000


def definition(name: str, day: str, time: str, disposition: int = SHARED) -> dict[int, Any]:
    """An item of INQUIRE_Q with the local time of its last alteration."""
    return {
        mq.MQCA_Q_NAME: name,
        mq.MQIA_Q_TYPE: mq.MQQT_LOCAL,
        mq.MQIA_QSG_DISP: disposition,
        mq.MQCA_ALTERATION_DATE: day,
        mq.MQCA_ALTERATION_TIME: time,
    }


def zoned(talk: Talk, zone: timezone | None) -> None:
    """From now on the queue managers live there."""
    talk.collector = Collector("PRDQSG", ["QM01", "QM02"], lambda _: zone)


def test_definitions_of_the_group_that_were_altered_within_a_day(talk: Talk) -> None:
    """Shared queues, queues for all members and structures; not private ones, and each once whoever tells."""
    zoned(talk, timezone(timedelta(hours=1)))
    items = [
        definition("YOUNG", "2026-11-19", "13.00.01"),
        definition("OLD", "2026-11-19", "13.00.00"),
        definition("TEMPLATE", "2026-11-20", "08.00.00", GROUP),
        definition("PRIVATE", "2026-11-20", "08.00.00", 0),
    ]
    talk.ask(DEFINITION, items)
    talk.ask(DEFINITION, items, queue_manager="QM02")
    structure = {
        mq.MQCA_CF_STRUC_NAME: "YOUNG",
        mq.MQCA_ALTERATION_DATE: "2026-11-20",
        mq.MQCA_ALTERATION_TIME: "12.00.00",
    }
    talk.ask(STRUCTURE, [structure])
    told = talk.end()
    assert told.value("PRDQSG/qsg", "altered_1d") == 3


def test_alterations_are_forgotten_after_a_day(talk: Talk) -> None:
    """Counted anew with each answer about definitions; a deleted definition stays counted until its day is over."""
    zoned(talk, UTC)
    talk.ask(DEFINITION, [definition("A", "2026-11-20", "11.00.00"), definition("B", "2026-11-20", "11.59.00")])
    assert talk.end().value("PRDQSG/qsg", "altered_1d") == 2
    talk.at += 23 * HOUR_MS + HOUR_MS // 2
    talk.ask(DEFINITION, [definition("B", "2026-11-20", "11.59.00")])
    assert talk.end().value("PRDQSG/qsg", "altered_1d") == 1
    talk.at += HOUR_MS
    talk.ask(DEFINITION, [definition("B", "2026-11-20", "11.59.00")])
    assert talk.end().value("PRDQSG/qsg", "altered_1d") == 0


def test_alterations_need_the_zone_when_they_are_young(talk: Talk) -> None:
    """What is older than a day in every time zone needs none."""
    zoned(talk, None)
    talk.ask(DEFINITION, [definition("A", "2025-01-01", "00.00.00")])
    assert talk.end().value("PRDQSG/qsg", "altered_1d") == 0
    talk.ask(DEFINITION, [definition("A", "2026-11-20", "11.00.00")])
    assert talk.end().value("PRDQSG/qsg", "altered_1d") is Absence.TIME_ZONE_UNKNOWN


def test_no_group_no_alterations(talk: Talk) -> None:
    """A queue manager without a group tells of none."""
    zoned(talk, UTC)
    talk.ask(DEFINITION, [definition("A", "2026-11-20", "11.00.00", 0)])
    assert talk.end().readings("PRDQSG/qsg") == []


@pytest.mark.parametrize(
    ("index", "depth", "disposition", "entries"),
    [
        (mq.MQIT_MSG_ID, 1200, 0, 1200),
        (mq.MQIT_NONE, 1200, 0, 0),
        (mq.MQIT_MSG_ID, 1200, SHARED, Absence.NOTHING_TO_TELL),
        (None, 1200, 0, Absence.NOT_RETURNED),
        (mq.MQIT_MSG_ID, None, 0, Absence.NOT_RETURNED),
    ],
)
def test_the_index_of_a_private_queue(
    talk: Talk, index: int | None, depth: int | None, disposition: int, entries: object
) -> None:
    """All messages of an indexed private queue are in its index; a shared queue's is in the coupling facility."""
    item = definition("A", "2021-01-01", "00.00.00", disposition)
    if index is not None:
        item[mq.MQIA_INDEX_TYPE] = index
    if depth is not None:
        item[mq.MQIA_CURRENT_Q_DEPTH] = depth
    talk.ask(DEFINITION, [item])
    owner = "PRDQSG" if disposition == SHARED else "QM01"
    assert talk.end().value(f"{owner}/queue/A", "index_entries") == entries


def test_the_priority_that_triggers(talk: Talk) -> None:
    """TRIGMPRI stands in the definition."""
    talk.ask(DEFINITION, [{**definition("A", "2021-01-01", "00.00.00", 0), mq.MQIA_TRIGGER_MSG_PRIORITY: 4}])
    assert talk.end().value("QM01/queue/A", "trigger_priority") == 4


@pytest.mark.parametrize(("day", "made"), [("2026-11-20", 1), ("", 0), (None, Absence.NOT_RETURNED)])
def test_whether_there_is_a_backup(talk: Talk, day: str | None, made: object) -> None:
    """A blank date says that there is none; an answer without it says nothing."""
    item: dict[int, Any] = {
        mq.MQCA_CF_STRUC_NAME: "APPL1",
        mq.MQIACF_CF_STATUS_TYPE: mq.MQIACF_CF_STATUS_BACKUP,
        mq.MQCACF_BACKUP_TIME: "12.43.00" if day else "",
    }
    if day is not None:
        item[mq.MQCACF_BACKUP_DATE] = day
    talk.ask(mq.MQCMD_INQUIRE_CF_STRUC_STATUS, [item], question=QueryOptions(part=mq.MQIACF_CF_STATUS_BACKUP))
    assert talk.end().value("PRDQSG/cf_structure/APPL1", "backup_made") == made

"""The lists: their columns, their order, and what is typed to find something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.terminal import cells, fit
from mqvitals_agent.view.figures.table import Column, Item, cell_spans, short_absence
from mqvitals_agent.view.figures.values import natural_order, natural_places
from mqvitals_agent.view.frame import FrameRequest, read_frame
from mqvitals_agent.view.lists.columns import COLUMNS, GAP, fitted, metrics_of
from mqvitals_agent.view.lists.items import matching, ordered, read_items
from mqvitals_agent.view.status import status_of
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

NOW = 1795176590000
LISTS = tuple(COLUMNS)


def queue(name: str, health: Health = Health.OK, *, stale: bool = False, **values: Reported) -> Item:
    told = {key: CurrentValue(value, NOW - 2000, "P", NOW, None) for key, value in values.items()}
    return Item(ObjectName("QM01", "queue", name), health, told, stale)


def column(kind: str, name: str) -> Column:
    return next(each for each in COLUMNS[kind] if each.id == name)


def drawn(items: Sequence[Item], kind: str, width: int) -> list[Line]:
    """A table as lines, as a widget would draw it."""
    shown = fitted(COLUMNS[kind], width)
    gap = " " * GAP
    titles = gap.join(fit(each.title, each.width, right=each.right) for each in shown)
    rows = [
        gap.join("".join(span.text for span in cell_spans(each.cell(item, NOW), each)) for each in shown)
        for item in items
    ]
    return [line(titles), *(line(row, key=item.key) for row, item in zip(rows, items, strict=True))]


@pytest.mark.parametrize("kind", ["channel", "queue", "storage"])
def test_stored_lists(
    stored: StoreReader, judging: RuleConfig, golden: Callable[[str, Callable[[int], Sequence[Line]]], None], kind: str
) -> None:
    """What a store holds, worst first; hostile names are harmless and keep the columns in place."""
    items = read_frame(stored, 0, FrameRequest("list", kind), judging).items

    def lines(width: int) -> list[Line]:
        made = drawn(items, kind, width)
        assert {cells(each.text) for each in made} == {cells(made[0].text)}
        return made

    golden(f"list-{kind}", lines)


@pytest.mark.parametrize("kind", ["channel", "queue", "storage"])
def test_a_list_that_is_stale_keeps_its_order(stored: StoreReader, group: Any, judging: RuleConfig, kind: str) -> None:
    """Where all is stale, all is unknown: those that were worst when last seen still stand first."""
    data = read_frame(stored, 0, FrameRequest("list", kind), judging).data
    last = read_items(stored, status_of(data), kind)[-1].name
    ill = replace(data, past=False, alerts=(group.alert("T-01", last, Severity.CRITICAL),))
    fresh, stale = (read_items(stored, status_of(replace(ill, now=data.now + later)), kind) for later in (0, 900_000))
    assert fresh[0].name == last
    assert {item.health for item in stale} == {Health.UNKNOWN}
    assert [item.name for item in stale] == [item.name for item in fresh]


@pytest.mark.parametrize("kind", LISTS)
def test_every_list_fits_its_width(kind: str) -> None:
    """From 60 cells on no list is wider than its screen, and the name is always there."""
    for width in (60, 80, 120, 200):
        shown = fitted(COLUMNS[kind], width)
        assert sum(each.width for each in shown) + GAP * (len(shown) - 1) <= width
        assert [each.id for each in shown][:2] == ["health", "name"]
        assert all(cells(each.title) <= each.width for each in shown)


@pytest.mark.parametrize("kind", LISTS)
def test_an_item_without_values_is_absent_everywhere(kind: str) -> None:
    """No column takes what was never told for zero or for good."""
    item_kind = "page_set" if kind == "storage" else kind
    item = Item(ObjectName("QM01", item_kind, "4"), Health.UNKNOWN, {})
    for each in COLUMNS[kind]:
        shown = each.cell(item, NOW)
        assert shown.tone is not Tone.OK
        if each.id not in ("health", "name", "owner"):
            assert shown.tone is Tone.ABSENT or not shown.text
            assert each.order(item) is None


def test_absent_stale_and_unreachable_look_different() -> None:
    """Three reasons not to trust a cell, three tones."""
    depth = column("queue", "depth")
    tones = [
        depth.cell(queue("A", depth=5), NOW).tone,
        depth.cell(queue("A", depth=Absence.NOT_COLLECTED), NOW).tone,
        depth.cell(queue("A", depth=Absence.UNREACHABLE), NOW).tone,
        depth.cell(queue("A", depth=5, stale=True), NOW).tone,
        depth.cell(queue("A", Health.CRITICAL, depth=5), NOW).tone,
    ]
    assert tones == [Tone.PLAIN, Tone.ABSENT, Tone.UNKNOWN, Tone.STALE, Tone.CRITICAL]


def test_a_figure_that_was_not_answered_again_is_stale() -> None:
    """The last known value, with a question since that nobody answered."""
    told = CurrentValue(5, NOW - 60_000, "P", NOW, Absence.NO_ANSWER)
    item = Item(ObjectName("QM01", "queue", "A"), Health.OK, {"depth": told})
    assert column("queue", "depth").cell(item, NOW).tone is Tone.STALE
    assert column("queue", "age").cell(item, NOW).text == "1m00s"


def test_a_transmission_queue_shows_its_channels(tmp_path: Path, judging: RuleConfig) -> None:
    """With their status; a shared one those of each queue manager; one that none serves says so, other queues nothing."""
    usage, status = (metric_of(kind, name).values for kind, name in (("queue", "usage"), ("channel", "status")))
    objects: dict[str, dict[str, Reported]] = {
        "QM01/queue/QM09.XMIT": {"depth": 7, "usage": usage["XMITQ"]},
        "QM01/queue/QM08.XMIT": {"depth": 0, "usage": usage["XMITQ"]},
        "QM01/queue/APP": {"depth": 1, "usage": usage["NORMAL"]},
        "QM01/channel/TO.QM09": {"status": status["STOPPED"], "xmitq": "QM09.XMIT"},
        "QM01/channel/TO.S": {"status": status["INACTIVE"], "xmitq": "SHARED.XMIT"},
        "QM01/channel/FROM": {"status": status["RUNNING"], "xmitq": Absence.NOT_RETURNED},
        "QM02/channel/TO.S": {"status": status["RUNNING"], "xmitq": "SHARED.XMIT"},
        "PRDQ/queue/SHARED.XMIT": {"depth": 3, "usage": usage["XMITQ"]},
    }
    path = tmp_path / "queues.db"
    with Store.open(path, group="PRDQ") as store:
        for owner in ("QM01", "QM02", "PRDQ"):
            readings = tuple(
                Reading(name, KINDS[name.kind].poll, NOW, values, 10_000)
                for name, values in ((ObjectName.parse(word), values) for word, values in objects.items())
                if name.owner == owner
            )
            Ingest(store, judging).take([Snapshot(owner, owner == "PRDQ", 1, NOW, readings)])
    with StoreReader.open(path) as reader:
        items = read_frame(reader, NOW, FrameRequest("list", "queue"), judging).items
    shown = {item.name.name: column("queue", "channels").cell(item, NOW).text for item in items}
    assert shown == {
        "QM09.XMIT": "TO.QM09 STOPPED",
        "QM08.XMIT": "no channel",
        "APP": "",
        "SHARED.XMIT": "TO.S of QM01 INACTIVE, TO.S of QM02 RUNNING",
    }


def test_every_absence_has_a_short_word() -> None:
    """No reason is wider than a narrow column."""
    assert all(0 < len(short_absence(absence)) <= 11 for absence in Absence)


def test_columns_sort_by_number_and_absent_comes_last() -> None:
    """43 k after 9, and whatever is absent at the end either way."""
    items = [
        queue("A", depth=43_000),
        queue("B", depth=Absence.NOT_COLLECTED),
        queue("C", depth=9),
        queue("D", depth=0),
    ]
    by_depth = column("queue", "depth")
    assert [item.name.name for item in ordered(items, by_depth)] == ["D", "C", "A", "B"]
    assert [item.name.name for item in ordered(items, by_depth, reverse=True)] == ["A", "C", "D", "B"]


def test_numbered_objects_sort_by_their_number() -> None:
    """Buffer pool 10 stands after 9."""
    pools = [Item(ObjectName("QM01", "buffer_pool", number), Health.OK, {}) for number in ("10", "9", "0")]
    found = ordered(pools, column("storage", "name"))
    assert [item.name.name for item in found] == ["0", "9", "10"]


def test_matching() -> None:
    """Every word counts, in any case of letters; fields select by health, status and other figures."""
    items = [
        queue("APPL.IN", Health.CRITICAL, depth=5, usage=0),
        queue("APPL.OUT", depth=0, usage=1),
        queue("SYSTEM.DEAD", depth=0, usage=0),
    ]

    def names(text: str) -> list[str]:
        return [item.name.name for item in matching(items, text)]

    assert names("appl") == ["APPL.IN", "APPL.OUT"]
    assert names("appl out") == ["APPL.OUT"]
    assert names("qm01/queue/sys") == ["SYSTEM.DEAD"]
    assert names("severity:crit") == ["APPL.IN"]
    assert names("usage:xmitq") == ["APPL.OUT"]
    assert names("depth:0") == ["APPL.OUT", "SYSTEM.DEAD"]
    assert names("nothing:at") == []
    assert names("") == ["APPL.IN", "APPL.OUT", "SYSTEM.DEAD"]
    status = CurrentValue(5, NOW, "P", NOW, None)
    channel = Item(ObjectName("QM01", "channel", "TO.X"), Health.WARNING, {"status": status})
    assert matching([channel], "state:retrying") == (channel,)
    assert matching([channel], "state:running") == ()


def test_ten_thousand_items_are_sorted_and_searched() -> None:
    """All of them, in order; how long it takes the benchmarks tell."""
    items = [queue(f"APPL.{number * 7919 % 10_000:05}", depth=number * 31 % 977) for number in range(10_000)]
    deepest = ordered(items, column("queue", "depth"), reverse=True)
    assert len(deepest) == 10_000
    assert [item.values["depth"].value for item in deepest] == sorted(
        (number * 31 % 977 for number in range(10_000)), reverse=True
    )
    assert [item.name.name for item in matching(items, "appl.0042")] == [
        item.name.name for item in items if item.name.name.startswith("APPL.0042")
    ]


def test_lists_read_only_what_their_columns_show(stored: StoreReader, judging: RuleConfig) -> None:
    """Ten thousand queues with all their metrics take a second to read."""
    for item in read_frame(stored, 0, FrameRequest("list", "queue"), judging).items:
        assert set(item.values) <= set(metrics_of("queue"))


def test_the_worst_stands_first(stored: StoreReader, judging: RuleConfig) -> None:
    """By default a list begins with what is wrong."""
    items = read_frame(stored, 0, FrameRequest("list", "storage"), judging).items
    assert items[0].name == ObjectName("QM01", "buffer_pool", "3")
    assert items[0].health is Health.CRITICAL


def test_columns_say_what_people_say(stored: StoreReader, judging: RuleConfig) -> None:
    """Pools are told by what is free, page sets by what is used; a limit stands in full, and instances of how many."""
    titles = [each.title for each in fitted(COLUMNS["storage"], 78)]
    assert titles[2:6] == ["Queue mgr", "Free", "Used", "Age"]
    depth = column("queue", "max_depth")
    for most, words in ((999_999_998, "999,999,998"), (999_999_999, "no limit")):
        told = CurrentValue(most, 1, "PROBE", 1, None)
        item = Item(ObjectName("QM01", "queue", "X"), Health.OK, {"max_depth": told})
        assert depth.cell(item, 1).text == words
    for waiting, words in ((998, "998"), (999, "999 or more")):
        cell = column("channel", "xmitq_msgs").cell(
            Item(ObjectName("QM01", "channel", "X"), Health.OK, {"xmitq_msgs": told._replace(value=waiting)}), 1
        )
        assert cell.text == words
    current = next(each for each in COLUMNS["channel_initiator"] if each.title == "Instances")
    figures = {name: told._replace(value=value) for name, value in (("current", 10), ("current_max", 3000))}
    assert current.cell(Item(ObjectName("QM01", "channel_initiator"), Health.OK, figures), 1).text == "10 of 3 k"


def test_what_a_receiver_cannot_have() -> None:
    """A receiver has no transmission queue: that is no figure that was not told."""
    column = next(column for column in COLUMNS["channel"] if column.id == "xmitq_msgs")
    told = CurrentValue(Absence.NOT_RETURNED, 1, "PROBE", 1, None)
    for word, text in (("RCVR", "n/a"), ("SVRCONN", "n/a"), ("SDR", "missing")):
        values = {"xmitq_msgs": told, "type": told._replace(value=CHANNEL_TYPE[word])}
        assert column.cell(Item(ObjectName("QM01", "channel", "X"), Health.OK, values), 1).text == text


def test_a_list_stands_in_its_natural_order() -> None:
    """Numbers by size, other names as texts, and the same name by its owner; a name that occurs twice stays where it was."""
    names = tuple(
        ObjectName(owner, "buffer_pool", rest)
        for owner in ("QM02", "QM01")
        for rest in ("10", "9", "A", "9", "A.B", "0")
    )
    places = natural_places(names)
    assert sorted(places) == list(range(len(names)))
    assert [names[place] for place in places] == sorted(names, key=natural_order)
    assert natural_places(tuple(names)) is places

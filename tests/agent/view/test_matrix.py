"""Matrices: each object in its row and column, and opened from there; nothing is lost at any width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import LIST, Frame, FrameRequest, StorePosition
from mqvitals_agent.view.lists.columns import STORAGE, STRUCTURES
from mqvitals_agent.view.screens.matrix import storage_matrix, structure_matrix, task_matrix
from mqvitals_agent.view.status import OwnerData, StatusData, status_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

NOW = 1795176590000
ACTIVE = metric("cf_structure", "status").values["ACTIVE"]

Make = Callable[[Frame, int, str], tuple[Line, ...]]


def item(owner: str, kind: str, name: str, health: Health = Health.OK, **values: Reported) -> Item:
    told = {key: CurrentValue(value, NOW, "P", NOW, None) for key, value in values.items()}
    return Item(ObjectName(owner, kind, name), health, told)


def frame_of(kind: str, items: list[Item], owners: int = 4, tasks: tuple[Item, ...] = ()) -> Frame:
    members = [OwnerData(f"QM{n:02}", False, NOW - 3_600_000, NOW) for n in range(1, owners + 1)]
    members.append(OwnerData("PRDQSG", True, NOW - 3_600_000, NOW))
    data = StatusData(NOW, False, "", "PRDQSG", tuple(members))
    request = FrameRequest(LIST, kind)
    return Frame(request, StorePosition(NOW, 1), NOW, NOW, data, status_of(data), items=tuple(items), tasks=tasks)


def storage(owners: int) -> list[Item]:
    found = []
    for n in range(1, owners + 1):
        found += [item(f"QM{n:02}", "buffer_pool", str(pool), free_pct=90.0 - pool) for pool in range(4)]
        found += [item(f"QM{n:02}", "page_set", str(number), used_pct=10.0 * number) for number in range(5)]
    return found


def opened(lines: tuple[Line, ...]) -> list[str]:
    return [part.key for line in lines for part in line.parts]


@given(st.integers(40, 300), st.integers(1, 14))
def test_every_object_is_in_one_cell(width: int, owners: int) -> None:
    """At every width, with any number of queue managers: what does not fit beside follows below."""
    items = storage(owners)
    lines = storage_matrix(frame_of(STORAGE, items, owners), width)
    assert sorted(opened(lines)) == sorted(str(each.name) for each in items)
    assert max(cells(line.text) for line in lines) <= width
    for line in lines:
        ends = [0, *(edge for part in line.parts for edge in (part.begin, part.end))]
        assert ends == sorted(ends)
        assert all(part.end <= cells(line.text) for part in line.parts)


def test_a_cell_is_in_the_row_and_column_of_its_object() -> None:
    """The queue manager is the one above it; the figure is its own."""
    items = [
        item("QM01", "buffer_pool", "3", Health.CRITICAL, free_pct=4.0),
        item("QM02", "buffer_pool", "3", free_pct=61.0),
        item("QM02", "page_set", "12", Health.UNKNOWN, used_pct=Absence.NO_ANSWER),
    ]
    head, title, pools, _, sets = storage_matrix(frame_of(STORAGE, items), 100)
    assert title.text.startswith("Buffer pools, free")
    for part, name, figure in zip(pools.parts, ("QM01", "QM02"), ("4 %", "61 %"), strict=True):
        assert name in head.text[part.begin : part.end]
        assert pools.text[part.begin : part.end].endswith(figure)
    assert "●" in pools.text[pools.parts[0].begin : pools.parts[0].end]
    assert "●" not in pools.text[pools.parts[1].begin : pools.parts[1].end]
    (only,) = sets.parts
    assert sets.text[only.begin : only.end].split() == ["?", "no", "answer"]
    assert pools.spans[0].tone is Tone.CRITICAL


@pytest.mark.parametrize(
    ("make", "kind"),
    [(storage_matrix, STORAGE), (structure_matrix, STRUCTURES), (task_matrix, "channel_initiator")],
)
def test_nothing_to_show(make: Make, kind: str) -> None:
    """An empty matrix says so, and tells an unknown one from a filter that nothing matches."""
    assert make(frame_of(kind, []), 80, "")[0].text == "None is known"
    found = make(frame_of(STORAGE, storage(2)), 80, "no-such-name") if kind == STORAGE else None
    assert found is None or found[0].text == "Nothing matches the filter"


def test_a_filter_keeps_what_matches() -> None:
    """As in the list."""
    keys = opened(storage_matrix(frame_of(STORAGE, storage(4)), 120, "qm02 page_set"))
    assert keys == [f"QM02/page_set/{number}" for number in range(5)]


def test_structures_by_connection() -> None:
    """Each member's connection, entries as a meter, data sets in the column of their queue manager, and who has them open."""
    items = [
        item(
            *("PRDQSG", "cf_structure", "APPL1", Health.WARNING),
            entries_pct=93.0,
            status=ACTIVE,
            connections="QM01 ACTIVE, QM02 FAILED-PERSISTENT",
        ),
        item("PRDQSG", "cf_structure", "APPL2", entries_pct=1.0, status=ACTIVE, connections=Absence.NOT_RETURNED),
        item("PRDQSG", "smds", "APPL1/QM02", used_pct=40.0),
        item("QM02", "smds_connection", "APPL1/QM02", status=3),
    ]
    for width in (80, 160):
        head, _, one, other, _, sets, _, connections, *_ = structure_matrix(frame_of(STRUCTURES, items, 2), width)
        by_name = {name: head.text.index(name) for name in ("entries", "QM01", "QM02")}
        assert list(by_name) == sorted(by_name, key=lambda name: by_name[name])
        assert "FAILED-PERS" in one.text[by_name["QM02"] - 2 :]
        assert "93 %" in one.text[: by_name["QM01"]]
        assert [span.tone for span in one.spans if "FAILED" in span.text] == [Tone.STRONG]
        assert one.text.count("▲") == 1
        assert len(other.parts) == 1
        assert "40 %" in sets.text[by_name["QM02"] - 2 :]
        assert "OPEN" in connections.text[by_name["QM02"] - 2 :]


@given(st.integers(40, 300), st.integers(1, 6))
def test_what_structures_hold(width: int, count: int) -> None:
    """Below the matrix a line for each, which opens it, under the titles of its figures; as many as there is room for."""
    items = [
        item(
            *("PRDQSG", "cf_structure", f"APPL{n}"),
            entries_pct=2.0,
            status=ACTIVE,
            size_used_pct=10.0 * n,
            entries_used=70 + n,
            connections="QM01 ACTIVE",
        )
        for n in range(count)
    ]
    lines = structure_matrix(frame_of(STRUCTURES, items, 2), width)
    *_, title, heads = lines[: len(lines) - count]
    assert title.text.startswith("Structures, contents and recovery")
    table = lines[-count:]
    assert [each.key for each in table] == [str(each.name) for each in items]
    assert max(cells(each.text) for each in (heads, *table)) <= width
    for n, each in enumerate(table):
        assert f" APPL{n} " in f"{each.text} "
        assert "Entries used" not in heads.text or f" {70 + n} " in f"{each.text} "
    assert width < 80 or "Size used" in heads.text


def test_tasks_by_queue_manager() -> None:
    """What is started of what is configured; with records how busy each task was."""
    values: dict[str, Reported] = {
        "status": 2,
        "adapters_started": 7,
        "adapters_max": 8,
        "current": 10,
        "current_max": 200,
    }
    items = [item(f"QM{n:02}", "channel_initiator", "", Health.OK, **values) for n in (1, 2)]
    tasks = (item("QM02", "dispatcher", "0", Health.WARNING, busy_pct=97.0),)
    text = "\n".join(line.text for line in task_matrix(frame_of("channel_initiator", items, 2, tasks), 100))
    assert "7/8" in text
    assert "dispatchers, busy" in text
    assert "97 %" in text
    assert f"▲ {'▕'}" in text

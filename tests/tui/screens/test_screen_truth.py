"""What the screens say of a simulated group is what the group is: figure for figure, and unknown where nobody can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import Scenario
from mqvitals_agent.simulator.state import GroupState
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import AGENT, LIST, OVERVIEW, Frame, FrameRequest, read_frame
from mqvitals_agent.view.lists.columns import COLUMNS, STORAGE, fitted
from mqvitals_agent.view.screens.overview.page import overview_lines
from mqvitals_rules.vocabulary.tables import metric
from mqvitals_tui.tabs import TABS

Lives = Callable[[str], Any]


def frame_of(life: Any, request: FrameRequest) -> Frame:
    with StoreReader.open(life.store) as reader:
        return read_frame(reader, life.now, request, life.judging)


def truths(group: GroupState, item: Item) -> Mapping[str, object]:
    """What the simulation knows of an object, by metric."""
    owner, kind, name = item.name
    member = group.members.get(owner)
    if kind == "queue":
        queue = group.shared_queues[name] if member is None else member.queues[name]
        told: dict[str, object] = {"depth": queue.depth}
        return told if member is None else {**told, "input_handles": queue.input_handles}
    if kind == "cf_structure":
        structure = group.structures[name]
        return {"entries_used": structure.entries_used, "entries_max": structure.entries_max}
    assert member is not None
    if kind == "buffer_pool":
        pool = member.pools[int(name)]
        return {"free": pool.free, "total": pool.buffers, "free_pct": 100 * pool.free // pool.buffers}
    if kind == "page_set":
        page_set = member.page_sets[int(name)]
        unused = page_set.total - page_set.persistent - page_set.nonpersistent
        return {"total_pages": page_set.total, "unused_pages": unused, "buffer_pool": page_set.pool}
    channel = member.channels[name]
    return {"conname": channel.instances[0].connection_name} if len(channel.instances) == 1 else {}


@pytest.mark.parametrize("state", ["quiet", "incident"])
def test_figures_are_those_of_the_group(
    lives: Lives, begin: int, scenarios: Mapping[str, Scenario], state: str
) -> None:
    """Depths, buffers, pages, entries and addresses on the lists are those of the group when it was asked."""
    life = lives(state)
    items = [
        (told.ts, item, name)
        for kind in ("queue", STORAGE, "cf_structure", "channel")
        for item in frame_of(life, FrameRequest(LIST, kind)).items
        for name, told in item.values.items()
        if told.ts is not None
    ]
    world = SimulatedGroup(scenarios[state], begin, seed=1)
    compared = 0
    for ts, item, name in sorted(items, key=lambda each: each[0]):
        known = truths(world.advance(ts), item)
        if name in known:
            assert item.values[name].value == known[name], (str(item.name), name)
            compared += 1
    assert compared > 100


def test_states_are_those_of_the_group(lives: Lives) -> None:
    """In the incident the channels to those who are away retry, and all others run."""
    status = metric("channel", "status").values
    items = {str(item.name): item for item in frame_of(lives("incident"), FrameRequest(LIST, "channel")).items}
    away = {"QM03/channel/TO.PARTNER", *(f"QM0{number}/channel/TO.QM04" for number in (1, 2, 3))}
    for name, item in items.items():
        if not name.startswith("QM04/"):
            assert item.values["status"].value == status["RETRYING" if name in away else "RUNNING"], name


def test_who_cannot_be_reached_is_unknown(lives: Lives) -> None:
    """Of the queue manager that went away nothing is fine, and its figures are those from before, and look so."""
    life = lives("incident")
    for request in (*(tab.request for tab in TABS if tab.request.kind in COLUMNS), FrameRequest(AGENT)):
        kind = request.kind or "agent"
        items = [item for item in frame_of(life, request).items if item.name.owner == "QM04"]
        assert items or kind in ("cf_structure", "smds", "qsg", "dead_letter")  # of the group, or none there
        for item in items:
            assert item.health >= Health.UNKNOWN, item.key
            tones = {each.cell(item, life.now).tone for each in COLUMNS[kind] if each.id not in ("health", "name")}
            assert Tone.OK not in tones
    rates = [item for item in frame_of(life, FrameRequest(LIST, "channel")).items if item.key == "QM04/channel/TO.QM01"]
    shown = next(each for each in COLUMNS["channel"] if each.title == "Msgs/s").cell(rates[0], life.now)
    assert shown.tone is Tone.STALE
    assert 100 < float(shown.text) < 500
    row = next(
        line.text
        for line in overview_lines(frame_of(life, FrameRequest(OVERVIEW)), 119)
        if line.key.startswith("QM04/")
    )
    assert "not asked" not in row


@pytest.mark.parametrize("state", ["quiet", "incident", "stale"])
def test_every_list_shows_ages_in_80_columns(lives: Lives, state: str) -> None:
    """However narrow the terminal, each line of a list says how bad it is and how old that is."""
    life = lives(state)
    for tab in TABS:
        if tab.columns:
            shown = fitted(COLUMNS[tab.columns], 78)
            assert [each.id for each in shown[:2]] == ["health", "name"]
            assert "age" in [each.id for each in shown]
            for item in frame_of(life, tab.request).items:
                for each in shown:
                    text = each.cell(item, life.now).text
                    assert each.id == "name" or cells(text) <= each.width, (item.key, each.id, text)


def test_nothing_stale_looks_well(lives: Lives) -> None:
    """Long after the last sample no line is OK, no figure has the tone of one of now, and the header is stale as well."""
    life = lives("stale")
    for tab in TABS:
        frame = frame_of(life, tab.request)
        assert all(item.health is Health.UNKNOWN for item in frame.items)
        assert all(member.health is Health.UNKNOWN for member in frame.status.queue_managers)
    lines = overview_lines(frame_of(life, FrameRequest(OVERVIEW)), 119)
    assert Tone.OK not in {span.tone for line in lines for span in line.spans}
    assert "as they were then" in "".join(line.text for line in lines)

"""An object's page: what stands in sight without a key, what a few keys bring, and the ways from one object to the next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.figure_screens import LETTERS, ChoiceScreen, labels_for
from mqvitals_tui.widgets.lines_view import LinesView

Lives = Callable[[str], Any]
Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]
Settled = Callable[[Pilot[None]], Awaitable[str]]

GOLDENS = Path(__file__).parents[1] / "goldens"
SIZES = ((80, 24), (200, 60))
"""The smallest terminal that is supported in full, and a large one; ``test_screen_goldens`` has the size between."""
PAGES = {
    "pool": ObjectName("QM01", "buffer_pool", "3"),
    "queue": ObjectName("QM02", "queue", "PAYMENTS.IN"),
    "channel": ObjectName("QM03", "channel", "TO.PARTNER"),
    "structure": ObjectName("PRDQSG", "cf_structure", "APPL1"),
    "qmgr": ObjectName("QM04", "queue_manager"),
}


def view_of(app: Any) -> LinesView:
    found = app.screen.query_one("#lines", LinesView)
    assert isinstance(found, LinesView)
    return found


async def opened(app: Any, pilot: Pilot[None], shown: Shown, name: ObjectName) -> DetailScreen:
    app.go_to("overview")
    app.open_object(name)
    await shown(pilot)
    screen = app.screen
    assert isinstance(screen, DetailScreen)
    return screen


def put_on(view: LinesView, **wanted: str) -> None:
    """The cursor on the first line with these properties."""
    view._move(next(row for row, line in enumerate(view.lines) if wanted.items() <= line._asdict().items()))


@pytest.mark.parametrize("size", SIZES)
async def test_pages(
    lives: Lives, shown: Shown, settled: Settled, golden: Callable[[Path, str], str], size: tuple[int, int]
) -> None:
    """The pages of objects in trouble look as agreed on a small and on a large terminal."""
    app = lives("incident").app()
    differing = []
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for name, each in PAGES.items():
            await opened(app, pilot, shown, each)
            text = await settled(pilot)
            differing.append(golden(GOLDENS / f"page-{name}-{size[0]}x{size[1]}.txt", f"{text}\n"))
    assert not any(differing), "\n".join(filter(None, differing))


async def test_card_and_first_advice_need_no_key(lives: Lives, shown: Shown, settled: Settled) -> None:
    """At 80x24 all figures of the card and the beginning of what to do are in sight, for every kind in the store."""
    life = lives("incident")
    app = life.app()
    with StoreReader.open(life.store) as reader:
        names = [row.name for row in reader.objects()]
        alerted = {each.alert.scope for each in reader.alerts()} | {each.alert.key.object for each in reader.alerts()}
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        advised = 0
        for kind in KINDS:
            of_kind = [name for name in names if name.kind == kind]
            of_kind.sort(key=lambda name: name not in alerted)
            for name in of_kind[:1]:
                await opened(app, pilot, shown, name)
                await settled(pilot)
                view = view_of(app)
                assert view.scroll_offset.y == 0
                seen = view.lines[: view.size.height]
                card = app.screen.frame.detail.card
                begin = next(row for row, line in enumerate(seen) if line.section == "card")
                assert [line.figure for line in seen[begin + 1 :]][: len(card)] == [each.metric.name for each in card]
                if any(line.section == "to do" for line in view.lines):
                    advised += 1
                    place = next(row for row, line in enumerate(seen) if line.section == "to do")
                    assert place + 1 < len(seen), name
        assert advised >= 8


async def test_any_figure_is_charted_by_three_keys(lives: Lives, shown: Shown, until: Until) -> None:
    """f and the letters beside it, whatever the figure; at most two letters for the kind with the most."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        for name in (PAGES["channel"], PAGES["structure"]):
            screen = await opened(app, pilot, shown, name)
            assert screen.frame is not None
            assert screen.frame.detail is not None
            chartable = screen.frame.detail.chartable
            for metric in (chartable[-1], chartable[len(chartable) // 2], chartable[0]):
                await pilot.press("f")
                await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
                labels = {figure: label for label, (figure, _, _) in app.screen._figures.items()}
                assert set(labels) == set(chartable)
                assert max(map(len, labels.values())) <= 2
                await pilot.press(*labels[metric])
                await until(pilot, lambda: isinstance(app.screen, DetailScreen))
                await until(pilot, lambda metric=metric: app.screen.request.metric == metric)  # type: ignore[misc]
                await shown(pilot)
                assert screen.frame.detail.metric == metric


@given(count=st.integers(0, len(LETTERS) ** 2))
def test_labels_differ_from_the_first_letters_on(count: int) -> None:
    """As many as asked for, none the beginning of another, of at most two letters."""
    labels = labels_for(count)
    assert len(set(labels)) == count
    assert {len(each) for each in labels} <= ({1} if count <= len(LETTERS) else {2})


def test_two_letters_are_enough_for_every_kind() -> None:
    """The kind with the most figures has a label for each; more cannot be told apart."""
    most = max(sum(metric.in_history for metric in kind.metrics) for kind in KINDS.values())
    assert len(labels_for(most)) == most
    with pytest.raises(ValueError, match="do not tell"):
        labels_for(len(LETTERS) ** 2 + 1)


@pytest.mark.parametrize(
    ("begin", "ends"),
    [
        (
            "QM01/channel/TO.QM02",
            ("QM02/channel/TO.QM02", "QM01/queue/QM02", "QM02/queue_manager", "QM01/channel_initiator"),
        ),
        ("QM02/channel/TO.QM02", ("QM01/channel/TO.QM02", "QM03/channel/TO.QM02")),
        ("QM01/queue/QM02", ("QM01/channel/TO.QM02", "QM02/queue_manager")),
    ],
)
async def test_ends_are_one_enter_apart(
    lives: Lives, shown: Shown, until: Until, begin: str, ends: tuple[str, ...]
) -> None:
    """From each end of a channel to the other, to its transmission queue and its target, and from that queue too."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        for end in ends:
            await opened(app, pilot, shown, ObjectName.parse(begin))
            put_on(view_of(app), key=end)
            await pilot.press("enter")
            await until(pilot, lambda end=end: str(getattr(app.screen, "object_name", "")) == end)  # type: ignore[misc]


async def test_what_is_folded_stays_so_for_its_kind(lives: Lives, shown: Shown, until: Until) -> None:
    """Enter on a heading folds; another object of the kind is folded too, one of another kind is not; Enter opens."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        await opened(app, pilot, shown, PAGES["queue"])
        whole = view_of(app).row_count
        put_on(view_of(app), section="figures")
        await pilot.press("enter")
        await until(pilot, lambda: view_of(app).row_count < whole)
        line = view_of(app).cursor_line
        assert line is not None
        assert line.section == "figures"
        assert line.text.startswith("▸ ")
        await opened(app, pilot, shown, ObjectName("QM01", "queue", "PAYMENTS.IN"))
        assert any(each.text.startswith("▸ Figures") for each in view_of(app).lines)
        await opened(app, pilot, shown, PAGES["pool"])
        assert any(each.text.startswith("▾ Figures") for each in view_of(app).lines)
        await opened(app, pilot, shown, PAGES["queue"])
        put_on(view_of(app), section="figures")
        await pilot.press("enter")
        await until(pilot, lambda: view_of(app).row_count == whole)


async def test_fine_and_unknown_rules_open(lives: Lives, shown: Shown, until: Until) -> None:
    """Each reason has one line; Enter shows its rules in full below."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        await opened(app, pilot, shown, PAGES["queue"])
        lines = view_of(app).lines
        reasons = [line.section for line in lines if line.section.startswith("rules ")]
        assert "rules fine" in reasons
        assert len(set(reasons)) == len(reasons) > 1
        before = view_of(app).row_count
        put_on(view_of(app), section="rules fine")
        await pilot.press("enter")
        await until(pilot, lambda: view_of(app).row_count > before)


async def test_the_command_under_the_cursor_is_copied(lives: Lives, shown: Shown, until: Until) -> None:
    """y on the MQSC line copies the whole command, also where it takes several lines."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        await opened(app, pilot, shown, PAGES["queue"])
        command = next(line.copies for line in view_of(app).lines if line.copies)
        put_on(view_of(app), copies=command)
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == command)


async def test_enter_charts_the_chosen_line(lives: Lives, shown: Shown, until: Until) -> None:
    """In the list of figures, too, the cursor goes down and Enter takes; Esc takes nothing."""
    app = lives("incident").app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot)
        screen = await opened(app, pilot, shown, PAGES["structure"])
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert not screen.request.metric
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("down")
        under = view_of(app).cursor_line
        assert under is not None
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and screen.request.metric == under.figure)


async def test_a_related_object_joins_the_chart(lives: Lives, shown: Shown, until: Until) -> None:
    """v on another pool's line charts what is charted of this one, in the same chart."""
    app = lives("incident").app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        screen = await opened(app, pilot, shown, ObjectName("QM01", "channel", "TO.QM02"))
        await pilot.press("f", "a", "d")
        await until(pilot, lambda: screen.request.metric != "")
        await shown(pilot)
        put_on(view_of(app), key="QM02/channel/TO.QM02")
        await pilot.press("v")
        await until(pilot, lambda: bool(screen.request.board))
        await shown(pilot)
        (added,) = screen.request.board
        assert (str(added.object), added.metric) == ("QM02/channel/TO.QM02", screen.request.metric)

"""Whatever MQ and the settings call things: nothing of it steers the terminal, is markup, breaks a line or moves a column."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import App
from textual.command import CommandPalette
from textual.pilot import Pilot

from mqsamples.once import Once
from mqsamples.pairs import alone
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.terminal import cells, fit, safe
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_tui.app import MqvitalsApp
from mqvitals_tui.screens.detail_screen import DetailScreen
from mqvitals_tui.screens.main_screen import MainScreen
from mqvitals_tui.tabs import TABS_BY_ID
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.virtual_table import VirtualTable

Shown = Callable[[Pilot[None]], Awaitable[None]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]

EVERY_MS = 2_000
CYCLES = 6
SIZES = ((80, 24), (120, 40))

NAMES: Mapping[str, str] = {
    "closing tag": "[/x]",
    "bold": "[bold]X[/bold]",
    "link": "[link=https://x.example]L[/link]",
    "action": "[@click=app.quit]Q[/]",
    "variable": "$error{0}%s\\[",
    "colour": "\x1b[31mRED\x1b[0m",
    "clear": "\x1b[2J\x1b[H",
    "hyperlink": "\x1b]8;;https://x.example\x1b\\L\x1b]8;;\x1b\\",
    "title": "\x1b]0;TITLE\x07",
    "C1": "\x9b31mC1\x9d0;T\x9c",
    "wide": "漢" * 48,
    "marks": "z" + "\u0301" * 40,
    "mark first": "\u0301A",
    "right to left": "\u202eTXT.ELIF\u2066",
    "Arabic": "\u0645\u0631\u062d\u0628\u0627",
    "lines": "A\r\nB\tC\x0bD\u2028E",
    "NUL": "N\x00L",
    "backspace": "SAFE\b\b\b\bEVIL\x7f",
    "family": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "heart": "\u2764\ufe0f",
    "skin": "\U0001f44b\U0001f3fd",
    "syllable": "\u1100\u1161\u11a8",
    "zero width": "ZE\u200b\ufeffRO",
    "private": "P\ue000Q",
    "lower": "lower.case/queue%1",
    "upper": "LOWER.CASE/QUEUE%1",
    "longest": "A" * 48,
    "empty": "",
    "blank": "   ",
}
"""Names by what is wrong with them; MQ cannot have most of them, the store can hold them all."""

OWNERS = ("QM01", "[b]\x1b[1m漢\u202e")

NUMBERED = frozenset({"buffer_pool", "page_set"})
SINGLE = frozenset(kind for kind, each in KINDS.items() if each.single)


def value(metric: Metric, text: str, cycle: int) -> Reported:
    """Something of the metric's type; texts are ``text``, and every fourth number is absent."""
    if metric.type is MetricType.TEXT:
        return text
    if metric.type is MetricType.STATE:
        return next(iter(metric.values.values()), 0)
    if metric.name in ("input_handles", "free_pct", "worst_free_pct"):
        return 0
    if metric.name in ("depth", "used_pct", "entries_pct"):
        return 60 + cycle
    return Absence.NOT_COLLECTED if sum(map(ord, metric.name)) % 4 == 0 else 7 + cycle


def readings(owner: str, cycle: int, ts: int, *, of_group: bool) -> Iterator[Reading]:
    """Each kind under each name, each with every text it can have."""
    for kind, table in KINDS.items():
        if table.of_group is not of_group and kind != "queue":
            continue
        for text in [""] if kind in SINGLE else NAMES.values():
            metrics = [metric for metric in table.metrics if not metric.needs_smf and not metric.declared]
            told = {metric.name: value(metric, text or "[/x]\x1b[31m", cycle) for metric in metrics}
            if kind == "queue_manager":
                told["reachable"] = 1
            name = ObjectName(owner, kind, text)
            yield Reading(name, table.poll, ts, told, EVERY_MS if cycle else None)


def instances(owner: str) -> Iterator[Instance]:
    """Channels of which several run at once."""
    for text in NAMES.values():
        for number in range(2):
            yield Instance(ObjectName(owner, "channel", text), f"{text}{number}", {"conname": text, "status": 3})


@pytest.fixture(scope="session")
def hostile(built_once: Once, tmp_path_factory: pytest.TempPathFactory, judging: RuleConfig, begin: int) -> Path:
    """A store full of such names: of the site, the queue managers, the group, of every kind of object, and in every text."""
    path = built_once.built("hostile.db", lambda path: write(path, judging, begin))
    return Path(shutil.copy(path, tmp_path_factory.mktemp("hostile") / "store.db"))


def write(path: Path, judging: RuleConfig, begin: int) -> None:
    with Store.open(path, source="\x1b[31m[/x]", group="S[bold]\x1b]0;T\x07") as store:
        intake = Ingest(store, judging)
        for cycle in range(CYCLES):
            ts = begin + cycle * EVERY_MS
            told = [
                Snapshot(
                    owner, False, cycle + 1, ts, tuple(readings(owner, cycle, ts, of_group=False)), (*instances(owner),)
                )
                for owner in OWNERS
            ]
            group = tuple(readings("G[x]\x1b", cycle, ts, of_group=True))
            intake.take([*told, Snapshot("G[x]\x1b", True, cycle + 1, ts, group)])


@pytest.fixture
def app(hostile: Path, judging: RuleConfig, begin: int) -> MqvitalsApp:
    """The interface over them."""
    return MqvitalsApp(hostile, judging, lambda: begin + CYCLES * EVERY_MS)


def painted(app: App[Any]) -> list[list[Segment]]:
    # The toolkit has no public way to the painted cells.
    return [list(strip) for strip in app.screen._compositor.render_strips()]


def text_of(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments)


STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
INVISIBLE = frozenset({"Co", "Cn"})


def assert_harmless(
    app: App[Any], size: tuple[int, int], where: str, bad: frozenset[str] = STEERING | INVISIBLE
) -> None:
    """No byte that steers, no link, no line longer than the terminal by the toolkit's measure or by ours."""
    lines = painted(app)
    assert len(lines) == size[1], where
    for segments in lines:
        text = text_of(segments)
        steering = [char for char in text if category(char) in bad]
        assert not steering, (where, text)
        assert cell_len(text) == size[0], (where, text)
        assert bad is STEERING or cells(text) <= size[0], (where, text)
        for segment in segments:
            assert not segment.control, where
            assert segment.style is None or segment.style.link is None, (where, text)
            assert segment.style is None or "@click" not in segment.style.meta, (where, text)


def from_cell(text: str, cell: int) -> str:
    """The text from a cell on; the cell must not be the second half of a wide character."""
    ends = [0, *accumulate(map(cell_len, text))]
    return text[ends.index(cell) :]


def assert_aligned(app: App[Any], where: str) -> None:
    """In every line of the table the owner stands where the title says, behind a blank."""
    table = app.screen.query_one("#table", VirtualTable)
    top = table.region.y
    lines = [text_of(segments) for segments in painted(app)[top : top + table.region.height]]
    owners = [safe(name)[:5] for name in (*OWNERS, "G[x]\x1b")]
    title = "Queue manager"
    if title not in lines[0]:
        return
    at = cell_len(lines[0][: lines[0].index(title)])
    for line in lines[1:]:
        if line.strip() and line[0] in "●▲◆✓?":
            held = from_cell(line, at)
            assert any(held.startswith(owner) for owner in owners), (where, line)


def view(app: App[Any], selector: str) -> CursorView:
    found = app.screen.query_one(selector)
    assert isinstance(found, CursorView)
    return found


@pytest.mark.parametrize("size", alone(*SIZES), ids=lambda size: f"{size[0]}x{size[1]}")
async def test_places(app: MqvitalsApp, shown: Shown, size: tuple[int, int]) -> None:
    """Overview, lists, alerts and agent: harmless, aligned, and shown to the end."""
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for tab in TABS_BY_ID.values():
            app.go_to(tab.id)
            await shown(pilot)
            for page in range(4):
                where = f"{tab.id}, page {page}"
                assert_harmless(app, size, where)
                if tab.columns:
                    assert_aligned(app, where)
                view(app, "#table" if tab.columns else "#lines").action_page_down()
                await pilot.pause(0)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_widths_agree(name: str) -> None:
    """What the toolkit believes a name to take is what the view models believe, or columns would part."""
    shown = safe(name)
    assert cell_len(shown) == cells(shown)
    for width in (1, 7, 20, 60):
        assert cell_len(fit(shown, width)) == width


async def test_names_are_shown_as_they_are(app: MqvitalsApp, shown: Shown) -> None:
    """What looks like markup is not interpreted, and what cannot be shown has a sign in its place."""
    async with app.run_test(size=(120, 100)) as pilot:
        await shown(pilot)
        app.go_to("queues")
        await shown(pilot)
        text = "\n".join(map(text_of, painted(app)))
        for name in ("closing tag", "bold", "link", "action", "variable", "lower", "upper", "longest"):
            assert f" {NAMES[name][:24]}" in text, name
        for sign in ("␛[31mRED␛[0m", "␛[2J␛[H", "\\u009b31mC1", "漢漢漢", "\\u202eTXT", "A␍␊B␉C␋D\\u2028E", "N␀L"):
            assert sign in text


@pytest.mark.parametrize(("kind", "size"), [("queue", SIZES[0]), ("channel", SIZES[1]), ("cf_structure", SIZES[0])])
async def test_details(app: MqvitalsApp, shown: Shown, soak: bool, kind: str, size: tuple[int, int]) -> None:
    """The screen of an object of each name, from its breadcrumb to its last line; what is copied is harmless too.

    Each kind has a third of the names; all of them in ``make soak``.
    """
    first = ("queue", "channel", "cf_structure").index(kind)
    owner = "G[x]\x1b" if kind == "cf_structure" else OWNERS[1]
    async with app.run_test(size=size, notifications=True) as pilot:
        await shown(pilot)
        for count, (what, name) in enumerate(list(NAMES.items())[slice(None) if soak else slice(first, None, 3)]):
            if count % 4 == 0:
                app.go_to("overview")
            app.open_object(ObjectName(owner, kind, name))
            await shown(pilot)
            assert isinstance(app.screen, DetailScreen)
            assert app.screen.frame is not None
            assert app.screen.frame.detail is not None
            assert app.screen.frame.detail.known, what
            assert_harmless(app, size, f"{kind} {what}")
            app.screen.action_copy()
            view(app, "#lines").action_end()
            await pilot.pause(0)
            assert_harmless(app, size, f"{kind} {what}, its end")
            assert app.clipboard.isprintable()


async def test_single_objects(app: MqvitalsApp, shown: Shown) -> None:
    """A queue manager, its log, its channel initiator, a pool and a page set, opened from each other."""
    size = SIZES[0]
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for owner in OWNERS:
            for kind in ("queue_manager", "log", "channel_initiator", "buffer_pool", "page_set"):
                app.open_object(ObjectName(owner, kind, NAMES["wide"] if kind in NUMBERED else ""))
                await shown(pilot)
                assert_harmless(app, size, f"{owner} {kind}")
            app.go_to("overview")


async def test_palette(app: MqvitalsApp, shown: Shown, until: Until, soak: bool) -> None:
    """What is found is shown as it is, whatever is typed, and opens."""
    size = SIZES[0]
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for typed in ("[", "31m", "漢", "x]", "title", "lower")[: None if soak else 3]:
            await pilot.press("colon")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            await pilot.press(*typed)
            await until(pilot, lambda: bool(app.screen.query("CommandList").first().option_count))  # type: ignore[attr-defined]
            assert_harmless(app, size, f"palette {typed}")
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_filter(app: MqvitalsApp, shown: Shown, until: Until, soak: bool) -> None:
    """What is pasted into the filter, in ``make soak`` every name, neither steers nor breaks anything."""
    size = SIZES[0]
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        every = list(NAMES.values())[:: 1 if soak else 2]
        for tab, texts in (("queues", every), ("alerts", (NAMES["bold"], NAMES["wide"], NAMES["colour"]))):
            app.go_to(tab)
            await shown(pilot)
            for text in texts:
                main(app).action_filter()
                assert app.screen.focused is not None
                app.screen.focused.post_message(events.Paste(text))
                await pilot.pause(0)
                # What the user typed is the user's, and only what steers is kept from it.
                assert_harmless(app, size, f"{tab} filtered by {text!r}", STEERING)
                await main(app).action_back()
                await until(pilot, lambda: not main(app).filter_text)


def main(app: App[Any]) -> MainScreen:
    screen = app.screen
    assert isinstance(screen, MainScreen)
    return screen


async def test_enter_opens_what_is_under_the_cursor(app: MqvitalsApp, shown: Shown, soak: bool) -> None:
    """Lines of the list, in ``make soak`` more of them, lead to the object they name, however it is called."""
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("queues")
        await shown(pilot)
        table = app.screen.query_one("#table", VirtualTable)
        for item in table.items[:: max(len(table.items) // (15 if soak else 5), 1)]:
            assert table.go_to(item.key)
            await pilot.press("enter")
            assert isinstance(app.screen, DetailScreen)
            assert app.screen.object_name == item.name
            await pilot.press("escape")
            assert table.cursor_key == item.key

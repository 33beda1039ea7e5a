"""All key bindings but those of the tabs: each has an id, so that a site can change it, and a help text.

Bindings have priority: the app acts on them one by one as they come, before it looks at the next one. Otherwise a key
goes to the widget that has the focus when it arrives, and typing ``/`` and ``q`` faster than the filter opens would
leave the program. A filter that is open still gets what is typed, because an input takes such keys for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.binding import Binding

from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_agent.text.terminal import cells


def key(keys: str, action: str, words: str, tooltip: str, *, name: str = "") -> Binding:
    """A binding; its id is ``name``, or the action's own name."""
    return Binding(
        keys, action, words, show=False, tooltip=tooltip, id=name or action.rpartition(".")[2], priority=True
    )


TIME = (
    key("left_square_bracket,f10", "app.step('cycle', False)", "cycle back", "Go back by a cycle", name="cycle_back"),
    key("right_square_bracket,f11", "app.step('cycle', True)", "cycle on", "Go on by a cycle", name="cycle_on"),
    key(
        "left_curly_bracket",
        "app.step('transition', False)",
        "alert back",
        "Go back to when an alert last began, changed or ended",
        name="alert_back",
    ),
    key(
        "right_curly_bracket",
        "app.step('transition', True)",
        "alert on",
        "Go on to when an alert next began, changed or ended",
        name="alert_on",
    ),
    key(
        "g",
        "app.go_to_time",
        "go to a time",
        "Go to a time such as 03:12 or -40m, to the start of an alert, or to an entry of the journal",
    ),
    key("l", "app.live", "now", "Return to now"),
    key("space", "app.play", "play", "Play the past from here, or stop"),
    key("x", "app.speed", "speed", "Play 1, 10 or 60 times as fast as it was"),
    key("M", "app.mark", "mark", "Mark this moment, to compare others with it"),
    key(
        "equals_sign",
        "app.compare",
        "compare",
        "Compare with another moment: the mark, the same time yesterday, now, an hour before, the same time last week",
    ),
)
"""Keys that lead through the past, on every screen over the store."""

APP = (key("ctrl+c", "quit", "quit", "Quit mqvitals, also while typing", name="leave"),)
"""Keys that work even over the palette."""

QUIT = key("q", "app.quit", "quit", "Quit mqvitals")
THEME = key("T", "app.next_theme", "theme", "Next theme: dark, light, high contrast, colour-blind")
ZONE = key("Z", "app.next_zone", "zone", "Show times in the next zone: your own, UTC, the queue managers'")

COMMON = (
    key("colon,ctrl+p", "app.command_palette", "find", "Find a screen or an object by its name", name="find"),
    key("question_mark,f1", "app.keys", "help", "Show the keys of this screen", name="keys"),
    key("F", "app.fleet", "fleet", "Show all groups of the fleet, the worst first; again: back to this one"),
    ZONE,
    THEME,
    QUIT,
)
"""Keys of every screen over the store, beside those of the tabs."""

MAIN = (
    key("slash", "filter", "filter", "Show only matches: words of the name, severity:critical, state:retrying"),
    key("greater_than_sign,full_stop", "sort(1)", "sort", "Sort by the next column", name="sort_next"),
    key("less_than_sign,comma", "sort(-1)", "sort", "Sort by the previous column", name="sort_previous"),
    key("r", "reverse", "reverse", "Reverse the order"),
    key(
        "d",
        "data_sets",
        "other list",
        "To the next list behind the same digit: channels, clients, clusters (2); queues, dead letters (3); storage as a"
        " matrix and as a list (4), also structures, and shared message data sets (5), and channel initiators (6); the"
        " agent, unknown verdicts (0); the digit does the same",
    ),
    key(
        "escape,f3,f12",
        "back",
        "back",
        "Remove the filter; without one, go to the overview. F3 exits and F12 cancels on a 3270, so both go back here",
        name="main_back",
    ),
    key("tab", "part(1)", "next part", "Go to the next part of the screen", name="focus_next"),
    key("shift+tab", "part(-1)", "part before", "Go to the previous part of the screen", name="focus_previous"),
)
"""Keys of the main screen."""

DETAIL = (
    key(
        "escape,f3,f12",
        "back",
        "back",
        "Go back to the previous screen. F3 exits and F12 cancels on a 3270, so both go back here",
        name="detail_back",
    ),
    key(
        "tab",
        "part(1)",
        "next part",
        "Go to the next part of the page; Enter on its heading folds it",
        name="part_next",
    ),
    key("shift+tab", "part(-1)", "part before", "Go to the previous part of the page", name="part_previous"),
    key("question_mark", "explain", "explain", "Explain the figure under the cursor; elsewhere show the keys"),
    key(
        "v",
        "add_chart",
        "add chart",
        "Chart the figure or object under the cursor beside what is charted; again: no more",
    ),
    key("f", "choose_chart", "chart", "Choose what to chart: each figure has one or two letters"),
    key("greater_than_sign", "metric(1)", "metric", "Chart the next metric", name="metric_next"),
    key("less_than_sign", "metric(-1)", "metric", "Chart the previous metric", name="metric_previous"),
    key("plus", "span(1)", "longer", "Show a longer time in the chart", name="span_longer"),
    key("minus", "span(-1)", "shorter", "Show a shorter time in the chart", name="span_shorter"),
    key("z", "zoom", "zoom", "Draw the charts from the least to the greatest value, and back"),
    key(
        "right", "cursor(1)", "later", "Move the cursor of the charts, which reads time and values", name="cursor_later"
    ),
    key("left", "cursor(-1)", "earlier", "Move the cursor of the charts back", name="cursor_earlier"),
    key("y,c", "copy", "copy", "Copy the MQSC command under the cursor to the clipboard, elsewhere that of what to do"),
)
"""Keys of the detail of an object."""

WHO = key("w", "who", "who has it open", "Ask the queue managers now which applications have the queue open")
"""The key of screens that show a queue."""

UNITS = key("w", "who", "units of work", "Ask the queue manager now for its units of work, the oldest first")
"""The same key on screens that show a queue manager or its log."""


def asking_key(kind: str) -> Binding | None:
    """The key that asks about an object of a kind; None: there is nothing to ask."""
    return {"queue": WHO, "queue_manager": UNITS, "log": UNITS}.get(kind)


SILENCE = key("s", "silence", "silence", "Silence alerts for a while; the form begins with the alert under the cursor")
MAINTENANCE = key("m", "maintenance", "maintenance", "Plan a maintenance window: a silence that begins later")
UNDO = key("u", "undo", "undo", "Take back what you did last, which the form names; on a silence: end it now")

ACTIONS = (
    key("a", "acknowledge", "acknowledge", "Say that you have the alert under the cursor, with a note if you like"),
    SILENCE,
    MAINTENANCE,
    key("n", "note", "note", "Keep a note about the alert under the cursor"),
    key("o", "take_over", "take over", "Acknowledge in your name what somebody else has acknowledged"),
    UNDO,
)
"""What a person does about alerts: keys of the overview, the alerts and an object."""

BEFORE = key("b", "before", "before it", "Show what changed in the minutes before the alert under the cursor began")
"""A key of every screen with alerts."""

COMPARISON = (
    key("equals_sign", "compare_next", "compare with", "Compare with the next moment", name="compare_next"),
    key(
        "escape,f3,f12",
        "back",
        "back",
        "Go back to where it was compared. F3 exits and F12 cancels on a 3270, so both go back here",
        name="comparison_back",
    ),
)
"""Keys of a comparison."""

SEEN = key(
    "A",
    "seen",
    "all seen",
    "On advice about several objects: acknowledge all of it. Elsewhere: mark all listed alerts as seen that ended before anybody"
    " acknowledged them",
)
"""A key of the alerts."""

EXTEND = key("e", "extend", "extend", "Let the silence under the cursor end later")

SILENCES = (UNDO, EXTEND, SILENCE, MAINTENANCE)
"""Keys of the silences."""

FORM = (
    key("enter", "submit", "do it", "Do what the form says", name="form_submit"),
    key("escape,f3,f12", "leave", "leave it", "Close the form without doing anything", name="form_leave"),
    key("tab,down", "field(1)", "next field", "Go to the next field", name="form_next"),
    key("shift+tab,up", "field(-1)", "field before", "Go to the previous field", name="form_previous"),
)
"""Keys of forms."""

HOLDERS = (
    key("r", "ask_again", "ask again", "Ask the queue managers again"),
    key(
        "escape,f3,f12",
        "back",
        "back",
        "Go back to where it was asked. F3 exits and F12 cancels on a 3270, so both go back here",
        name="holders_back",
    ),
)
"""Keys of the screen of handles."""

_BACK = "escape,f3,f12"

FLEET_COMMON = (
    key("question_mark,f1", "app.keys", "help", "Show the keys of this screen", name="fleet_keys"),
    ZONE,
    THEME,
    QUIT,
)
"""Keys of the screens of the fleet, which have no store of their own."""

FLEET = (
    key(
        f"{_BACK},F",
        "back",
        "back",
        "Go back to the group that was shown before. F3 exits and F12 cancels on a 3270, so both go back here",
        name="fleet_back",
    ),
)
"""Keys of the screen of the fleet."""

FLEET_GROUP = (
    key(
        f"{_BACK},F",
        "back",
        "back",
        "Go back to the fleet. F3 exits and F12 cancels on a 3270, so both go back here",
        name="fleet_group_back",
    ),
)
"""Keys of the page of a group that an agent elsewhere watches."""

EXPLANATION = (key(f"{_BACK},question_mark,f1,q", "dismiss", "back", "Close the explanation", name="explanation_back"),)
"""Keys of the explanation of a figure."""

CHOICE = (
    key(_BACK, "leave", "back", "Close the list without charting anything", name="choice_leave"),
    key("enter", "choose", "chart", "Chart the figure under the cursor", name="choice_take"),
)
"""Keys of the list of figures to chart, beside their letters."""

BEFORE_SCREEN = (
    key(
        _BACK,
        "back",
        "back",
        "Go back to the alert. F3 exits and F12 cancels on a 3270, so both go back here",
        name="before_back",
    ),
)
"""Keys of the screen of what came before an alert."""

HELP = (key("escape,f3,f12,question_mark,f1,q", "dismiss", "back", "Close the help", name="help_back"),)
"""Keys of the help."""

OPEN = key("enter", "open", "open", "Open the object under the cursor; a double click does the same")

MOVES = (
    key("up,k", "up", "up", "Go to the line before"),
    key("down,j", "down", "down", "Go to the next line"),
    key("pageup,f7", "page_up", "page up", "Go a page back. F7 and F8 turn pages on a 3270"),
    key("pagedown,f8", "page_down", "page down", "Go a page on"),
    key("home", "home", "first", "Go to the first line"),
    key("end", "end", "last", "Go to the last line"),
    OPEN,
)
"""Keys of every list and text."""

ACROSS = (
    key("left", "left", "left", "Go to the cell, panel or moment before; move a wide table"),
    key("right", "right", "right", "Go to the next cell, panel or moment; move a wide table"),
)
"""Keys of tables, and of texts whose lines have parts."""

_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "full_stop": ".",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "escape": "Esc",
    "pageup": "Page up",
    "pagedown": "Page down",
    "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl+P",
    "ctrl+c": "Ctrl+C",
}


def _shown(name: str) -> str:
    return _KEY_NAMES.get(name, name if len(name) == 1 else name.capitalize())


def key_names(binding: Binding) -> str:
    """The keys of a binding as printed on a keyboard."""
    return " ".join(_shown(each) for each in binding.key.split(","))


class Hint(NamedTuple):
    """A part of the last line: a key, its action, and its priority for omission where there is no room (0: never)."""

    key: str
    words: str
    spare: int = 0


_SPARE = {
    "before": 3,
    "acknowledge": 1,
    "silence": 2,
    "undo": 6,
    "maintenance": 6,
    "note": 6,
    "take_over": 7,
    "seen": 4,
}


_ONLY_NOW = (*ACTIONS, SEEN, EXTEND, WHO, UNITS)
"""Keys that are refused in the past."""


def own_hints(bindings: Sequence[Binding], *, past: bool = False) -> tuple[Hint, ...]:
    """Hints for the keys that belong to one screen alone; in the ``past`` without those that work only now."""
    if past:
        bindings = [each for each in bindings if each not in _ONLY_NOW]
    if bindings == SILENCES:
        return tuple(Hint(key_names(each), "end it" if each is UNDO else each.description, 1) for each in bindings)
    known = (*ACTIONS, SEEN, BEFORE)
    return tuple(
        Hint(key_names(each), each.description, _SPARE.get(each.id or "", 1) if each in known else 1)
        for each in bindings
    )


def hint_line(hints: Sequence[Hint], width: int, first: str = "") -> Line:
    """The last line in ``width`` cells, ``first`` before the keys.

    Hints with the highest ``spare`` are omitted first.
    """
    kept = list(hints)
    while _size(kept, first) > width and any(hint.spare for hint in kept):
        kept.remove(max(kept, key=lambda hint: hint.spare))
    return Line(tuple(_spans(kept, first)))


def _size(hints: Sequence[Hint], first: str) -> int:
    return sum(cells(span.text) for span in _spans(hints, first))


def _spans(hints: Sequence[Hint], first: str) -> Iterator[Span]:
    """Each key strong, its action faint."""
    lead = " "
    if first:
        yield Span(f"{lead}{first}", Tone.INFO)
        lead = "  "
    for hint in hints:
        yield Span(lead)
        yield Span(hint.key, Tone.STRONG)
        yield Span(f" {hint.words}", Tone.FAINT)
        lead = "  "

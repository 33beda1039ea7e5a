"""All keys in one place: each has an id, so that a site can change it, and a sentence for the help."""

from __future__ import annotations

from textual.binding import Binding

from mqvitals_tui.places import PLACES


def key(keys: str, action: str, words: str, tooltip: str, *, name: str = "") -> Binding:
    """A binding; its id is ``name``, or the action's own name."""
    return Binding(keys, action, words, show=False, tooltip=tooltip, id=name or action.rpartition(".")[2])


EVERYWHERE = (
    *(
        key(place.key, f"place('{place.id}')", place.title, f"Go to the screen {place.title}", name=f"place_{place.id}")
        for place in PLACES
    ),
    key("colon,ctrl+p", "command_palette", "find", "Find a screen or an object by its name"),
    key("question_mark,f1", "keys", "help", "Show all keys"),
    key("T", "next_theme", "theme", "Next theme: dark, light, high contrast"),
    key("q,ctrl+c", "quit", "quit", "Leave mqvitals"),
)
"""Keys of the app."""

MAIN = (
    key("slash", "filter", "filter", "Show only what matches: words of the name, severity:critical, state:retrying"),
    key("greater_than_sign,full_stop", "sort(1)", "sort", "Sort by the next column", name="sort_next"),
    key("less_than_sign,comma", "sort(-1)", "sort", "Sort by the column before", name="sort_previous"),
    key("r", "reverse", "reverse", "Turn the order round"),
    key("escape,f3,f12", "back", "back", "Take the filter away; without one, go to the overview", name="main_back"),
    key("tab", "app.focus_next", "next part", "Go to the next part of the screen"),
    key("shift+tab", "app.focus_previous", "part before", "Go to the part of the screen before"),
)
"""Keys of the main screen."""

DETAIL = (
    key("escape,f3,f12", "back", "back", "Go back to where you came from", name="detail_back"),
    key("plus,equals_sign", "span(1)", "longer", "Show a longer time in the chart", name="span_longer"),
    key("minus", "span(-1)", "shorter", "Show a shorter time in the chart", name="span_shorter"),
    key("m", "metric(1)", "metric", "Chart the next metric", name="metric_next"),
    key("M", "metric(-1)", "metric", "Chart the metric before", name="metric_previous"),
    key("c", "copy", "copy", "Copy the MQSC command to the clipboard"),
)
"""Keys of the detail of an object."""

HELP = (key("escape,f3,f12,question_mark,f1,q", "dismiss", "back", "Close the help", name="help_back"),)
"""Keys of the help."""

MOVES = (
    ("Up k", "Go to the line before"),
    ("Down j", "Go to the next line"),
    ("Page up F7", "Go a page back"),
    ("Page down F8 Space", "Go a page on"),
    ("Home End", "Go to the first or the last line"),
    ("Left Right", "Move a wide table sideways"),
    ("Enter", "Open the object under the cursor; a double click does the same"),
)
"""Keys of the lists and texts themselves, and what they do."""

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "full_stop": ".",
    "comma": ",",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "ctrl+p": "Ctrl+P",
    "ctrl+c": "Ctrl+C",
}


def shown(binding: Binding) -> str:
    """The keys of a binding as they stand on a keyboard."""
    keys = binding.key.split(",")
    return " ".join(_NAMES.get(each, each.upper() if each.startswith("f") and len(each) > 1 else each) for each in keys)

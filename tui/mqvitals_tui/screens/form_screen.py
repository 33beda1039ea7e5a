"""A form: a few fields, and what they would do. In most a person acts on alerts: the action itself runs in a thread."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.action_client import LONGEST_TEXT, ActionClient
from mqvitals_agent.text.figure import times_in
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.terminal import safe, wrap
from mqvitals_agent.view.alerts.silencing import FieldError
from mqvitals_tui.keys import FORM, Hint, hint_line
from mqvitals_tui.screens.frame_screen import ScreenContext
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.painting import Banner, StatusBar
from mqvitals_tui.widgets.text_line import TextLine

Action = Callable[[ActionClient], str]
"""Acts on the store; returns what it did, in a sentence. Raises StoreError."""


class FormField(NamedTuple):
    """A line to write on; ``value`` is what it holds at first, ``placeholder`` what an empty one means."""

    id: str
    label: str
    value: str = ""
    placeholder: str = ""


class FormScreen(Screen[None], inherit_bindings=False):
    """Enter acts, Esc leaves. Where the action is refused, the reason is shown and what was typed stays.

    ``title`` says what the form does, ``verb`` what Enter does.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(FORM)
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    FormScreen { background: $background; }
    FormScreen Horizontal { height: 1; background: $background; }
    FormScreen .label { width: 11; background: $background; padding: 0 1; }
    FormScreen Input { width: 1fr; border: none; padding: 0 1; background: $panel; }
    FormScreen Input:focus { background: $primary-muted; }
    FormScreen #about, FormScreen #problem { background: $background; padding: 0 1; }
    FormScreen #lines { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, context: ScreenContext, store: Path, title: str, verb: str, fields: Sequence[FormField]) -> None:
        super().__init__()
        self.context = context
        self.store = store
        self._title = title
        self._verb = verb
        self._fields = tuple(fields)
        self._problem = ""
        self._busy = False

    # -- what each form says -------------------------------------------------------------------------------------------

    def about(self, width: int) -> Sequence[Line]:  # noqa: ARG002
        """What the form is about, above its fields."""
        return ()

    def preview(self, values: Mapping[str, str], width: int) -> Sequence[Line]:  # noqa: ARG002
        """What the action would do, below the fields."""
        return ()

    @abstractmethod
    def submit(self, values: Mapping[str, str]) -> None:
        """Do what was typed. Raises FieldError."""

    # -- the screen ----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Title, what it is about, fields, problem, preview, keys."""
        yield Banner(id="title")
        yield Banner(id="about")
        for field in self._fields:
            yield Horizontal(
                Banner(classes="label", id=f"label-{field.id}"),
                TextLine(field.value, placeholder=field.placeholder, id=field.id, max_length=LONGEST_TEXT),
            )
        yield Banner(id="problem")
        yield LinesView(id="lines")
        yield StatusBar(id="keys")

    def on_mount(self) -> None:
        """The cursor is in the first field that is empty, else in the first one."""
        for field in self._fields:
            self.query_one(f"#label-{field.id}", Banner).show((line(field.label, Tone.FAINT),))
        if self._fields:
            first = next((each for each in self._fields if not each.value), self._fields[0])
            self.set_focus(self.query_one(f"#{first.id}", TextLine))
        self.query_one("#lines", LinesView).can_focus = not self._fields

    @property
    def values(self) -> dict[str, str]:
        """What stands in the fields."""
        return {field.id: self.query_one(f"#{field.id}", TextLine).value for field in self._fields}

    @property
    def problem(self) -> str:
        """Why the last attempt was refused; empty: it was not."""
        return self._problem

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width."""
        self.call_after_refresh(self.repaint)

    def on_input_changed(self, _: Input.Changed) -> None:
        """The preview follows what is typed."""
        self.repaint()

    def repaint(self) -> None:
        """Show everything again."""
        with times_in(self.context.zones.zone):
            self._repaint()

    def _repaint(self) -> None:
        if not self.is_mounted or not self.size.width:
            return
        width = self.size.width
        room = max(width - 3, 20)
        self.query_one("#title", Banner).show((line(f"mqvitals  {self._title}", Tone.STRONG),))
        self.query_one("#about", Banner).show((*self.about(room), line()))
        problem = [line(each, Tone.CRITICAL) for each in wrap(safe(self._problem), room, rest="  ")]
        busy = [line("writing it to the store", Tone.FAINT)] if self._busy else []
        self.query_one("#problem", Banner).show((line(), *(busy or (problem if self._problem else []))))
        self.query_one("#lines", LinesView).show(self.preview(self.values, room))
        hints = (
            Hint("Enter", self._verb),
            Hint("Esc", "leave it"),
            *((Hint("Tab", "next field", 1),) if len(self._fields) > 1 else ()),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    # -- keys ----------------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        """Close the form without acting."""
        if not self._busy:
            self.dismiss()

    def action_field(self, step: int) -> None:
        """To the next or previous field, or to scroll where there is none."""
        if self._fields:
            ids = [field.id for field in self._fields]
            here = ids.index(self.focused.id or "") if self.focused is not None and self.focused.id in ids else 0
            self.set_focus(self.query_one(f"#{ids[(here + step) % len(ids)]}", TextLine))

    async def action_submit(self) -> None:
        """Act, unless what was typed is wrong; then the cursor goes to that field."""
        if self._busy:
            return
        if isinstance(self.focused, TextLine):
            await self.focused.finish()
        try:
            with times_in(self.context.zones.zone):
                self.submit(self.values)
        except FieldError as error:
            self._problem = str(error)
            if error.field in self.values:
                self.set_focus(self.query_one(f"#{error.field}", TextLine))
            self.repaint()


class ActionForm(FormScreen):
    """A form whose action is written to the store."""

    class Done(Message):
        """The action is done: ``text`` says what; or ``problem`` why not."""

        def __init__(self, text: str, problem: str = "") -> None:
            super().__init__()
            self.text = text
            self.problem = problem

    @abstractmethod
    def action_of(self, values: Mapping[str, str]) -> Action:
        """The action for what was typed. Raises FieldError."""

    def submit(self, values: Mapping[str, str]) -> None:
        """Begin the action."""
        action = self.action_of(values)
        self._busy, self._problem = True, ""
        self.repaint()
        self.run_worker(lambda: self._act(action), name="action", thread=True)

    def _act(self, action: Action) -> None:
        """Runs in the worker's thread."""
        try:
            with times_in(self.context.zones.zone), ActionClient.open(self.store, self.context.author) as client:
                done = self.Done(action(client))
        except StoreError as error:
            done = self.Done("", f"Nothing is done: {error}")
        self.post_message(done)

    def on_action_form_done(self, message: Done) -> None:
        """Close the form, or show why nothing was done."""
        self._busy, self._problem = False, message.problem
        if message.problem:
            self.repaint()
            return
        self.dismiss()
        self.app.notify(safe(message.text), markup=False)

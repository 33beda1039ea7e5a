"""Forms about alerts: acknowledge one or a group, take it over, note something, mark several as seen, take an action back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from mqvitals_agent.alerting.action import Acknowledgement, Silence, last_own_action, made_together
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.action_client import ActionClient, author_name
from mqvitals_agent.text.figure import counted, object_words
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.actions import Handling, acknowledged_words, handling_texts
from mqvitals_agent.view.alerts.silencing import parse_end
from mqvitals_agent.view.alerts.words import open_summary, short_summary, shown_severity, since_words
from mqvitals_config.sections.matcher import matchers_text
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_tui.screens.form_screen import Action, ActionForm, FormField
from mqvitals_tui.screens.frame_screen import ScreenContext

NOTE, UNTIL = "note", "until"
_NAMED = 5
"""Objects of a group that are named before it is acknowledged."""


@dataclass(frozen=True, slots=True)
class ChosenAlert:
    """An alert that a person acts on, its number in the store, and what people did about it."""

    alert: Alert
    number: int
    handling: Handling | None

    @property
    def words(self) -> str:
        """``BP-03 QM01 buffer pool 3``."""
        return f"{safe(self.alert.key.rule)} {object_words(self.alert.key.object)}"

    def lines(self, now: int, width: int) -> list[Line]:
        """The alert, and what people did about it; ``now`` is the machine's time, ms UTC."""
        health = health_of(shown_severity(self.alert))
        lines = [Line((Span(str(health), tone_of(health)), Span(f"  {self.words}", Tone.STRONG)))]
        lines += wrapped(safe(open_summary(self.alert)), width, first="  ", rest="  ")
        if self.alert.ended is not None:
            lines.append(line("  it has ended: this marks it as seen", Tone.FAINT))
        for text in () if self.handling is None else handling_texts(self.handling, now):
            lines += wrapped(text, width, Tone.INFO, first="  ", rest="  ")
        return lines


class AcknowledgeForm(ActionForm):
    """Says that the author has an alert; with ``take_over`` in place of those who have it."""

    def __init__(self, context: ScreenContext, store: Path, chosen: ChosenAlert, *, take_over: bool = False) -> None:
        self._chosen = chosen
        self._take_over = take_over
        title, verb = ("take over", "take it over") if take_over else ("acknowledge", "acknowledge it")
        super().__init__(context, store, title, verb, _fields(context))

    def about(self, width: int) -> Sequence[Line]:
        """The alert."""
        return self._chosen.lines(self.context.machine(), width)

    def action_of(self, values: Mapping[str, str]) -> Action:
        """Acknowledge it."""
        chosen, now = self._chosen, self.context.machine()
        until = _until(values, now)

        def act(client: ActionClient) -> str:
            found = client.acknowledge(chosen.number, now, note=values[NOTE], until=until, take_over=self._take_over)
            if chosen.alert.ended is not None:
                return f"{chosen.words}: marked as seen"
            kept = ""
            if found.by is not None and found.by.author != client.author:
                kept = "; your note is kept" if values[NOTE].strip() else "; your acknowledgement is kept beside it"
            return f"{chosen.words}: {acknowledged_words(found, now)}{kept}"

        return act


class AcknowledgeGroupForm(ActionForm):
    """Says that the author has several alerts of one rule: those ``asking``, of all that the line stands for."""

    def __init__(
        self, context: ScreenContext, store: Path, alerts: Sequence[Alert], asking: Mapping[int, Alert]
    ) -> None:
        self._alerts = tuple(alerts)
        self._asking = asking
        super().__init__(context, store, "acknowledge", "acknowledge them", _fields(context))

    @property
    def _words(self) -> str:
        return f"{counted(len(self._asking), 'alert')} of {safe(self._alerts[0].key.rule)}"

    def about(self, width: int) -> Sequence[Line]:
        """How many, and of which objects."""
        known = len(self._alerts) - len(self._asking)
        lines = wrapped(self._words, width, Tone.STRONG)
        lines += wrapped(safe(short_summary(self._alerts[0])), width, first="  ", rest="  ")
        names = [object_words(alert.key.object) for alert in self._asking.values()]
        more = f" and {counted(len(names) - _NAMED, 'other')}" if len(names) > _NAMED else ""
        lines += wrapped(f"{', '.join(names[:_NAMED])}{more}", width, Tone.FAINT, first="  ", rest="  ")
        if known:
            lines.append(line(f"  {counted(known, 'other')} acknowledged already", Tone.INFO))
        return lines

    def action_of(self, values: Mapping[str, str]) -> Action:
        """Acknowledge all of them."""
        now = self.context.machine()
        until = _until(values, now)

        def act(client: ActionClient) -> str:
            client.acknowledge_all(self._asking, now, note=values[NOTE], until=until)
            return f"{self._words}: {client.author} has them; u takes that back"

        return act


def _fields(context: ScreenContext) -> tuple[FormField, ...]:
    return (
        FormField(NOTE, "Note", "", "optional: what you know or do"),
        FormField(UNTIL, "Until", "", f"optional: 2h, 06:00 ({context.zone_name}); else until it ends"),
    )


def _until(values: Mapping[str, str], now: int) -> int | None:
    return parse_end(values[UNTIL], now, UNTIL) if values[UNTIL].strip() else None


class NoteForm(ActionForm):
    """Keeps a note about an alert."""

    def __init__(self, context: ScreenContext, store: Path, chosen: ChosenAlert) -> None:
        self._chosen = chosen
        super().__init__(context, store, "note", "keep the note", (FormField(NOTE, "Note", "", "what you know or do"),))

    def about(self, width: int) -> Sequence[Line]:
        """The alert."""
        return self._chosen.lines(self.context.machine(), width)

    def action_of(self, values: Mapping[str, str]) -> Action:
        """Keep the note."""
        chosen, now = self._chosen, self.context.machine()

        def act(client: ActionClient) -> str:
            client.add_note(chosen.number, values[NOTE], now)
            return f"{chosen.words}: the note is kept"

        return act


class SeenForm(ActionForm):
    """Marks alerts that have ended as seen."""

    def __init__(self, context: ScreenContext, store: Path, numbers: Sequence[int]) -> None:
        self._numbers = tuple(numbers)
        super().__init__(context, store, "mark as seen", "mark them as seen", ())

    def about(self, width: int) -> Sequence[Line]:
        """How many."""
        words = f"{counted(len(self._numbers), 'alert')} that ended before anybody acknowledged them"
        return wrapped(words, width, Tone.STRONG)

    def action_of(self, _: Mapping[str, str]) -> Action:
        """Mark them as seen."""
        now = self.context.machine()

        def act(client: ActionClient) -> str:
            client.acknowledge_all(self._numbers, now)
            return f"{counted(len(self._numbers), 'alert')} marked as seen"

        return act


class UndoForm(ActionForm):
    """Takes back what the author did last, or ends a ``silence``, and says which before it does."""

    class Found(Message):
        """What can be taken back, in words; None: nothing, or ``problem`` why that is not known."""

        def __init__(self, target: Sequence[Acknowledgement] | Silence | None, words: str) -> None:
            super().__init__()
            self.target = target
            self.words = words

    def __init__(self, context: ScreenContext, store: Path, silence: int = 0) -> None:
        self._silence = silence
        self._found: UndoForm.Found | None = None
        title, verb = ("end a silence", "end it now") if silence else ("undo", "take it back")
        super().__init__(context, store, title, verb, ())

    def on_mount(self) -> None:
        """Look for it in the store."""
        super().on_mount()
        self.run_worker(self._look, name="undo", thread=True)

    def _look(self) -> None:
        """Runs in the worker's thread."""
        now = self.context.machine()
        try:
            with StoreReader.open(self.store) as reader:
                self.post_message(self._target(reader, now))
        except StoreError as error:
            self.post_message(self.Found(None, str(error)))

    def _target(self, reader: StoreReader, now: int) -> Found:
        actions = reader.actions()
        target: Acknowledgement | Silence | None
        if self._silence:
            target = next((each for each in actions.silences if each.id == self._silence), None)
        else:
            made = [each for some in actions.acknowledgements.values() for each in some]
            ended = {each.alert for each in made} - {stored.id for stored in reader.alerts()}
            author = self.context.author or author_name()
            target = last_own_action(author, made, actions.silences, ended, now)
        if isinstance(target, Silence):
            words = f"silence {target.id} of {target.author}, made {since_words(target.made, now)}"
            return self.Found(target, f"{words}: {matchers_text(target.matchers)} ({target.reason})")
        if target is not None:
            together = made_together(target, made, ended)
            note = f": {target.note}" if target.note else ""
            when = since_words(target.made, now)
            if len(together) > 1:
                words = f"your acknowledgements of {counted(len(together), 'alert')}, made at once {when}{note}"
                return self.Found(together, words)
            stored = reader.alert(target.alert)
            name = "" if stored is None else f" {stored.alert.key.rule} {object_words(stored.alert.key.object)}"
            return self.Found(together, f"your acknowledgement of{name}, made {when}{note}")
        return self.Found(None, "there is nothing of yours to take back: notes stay, and what has ended is over")

    def on_undo_form_found(self, message: Found) -> None:
        """Show it."""
        self._found = message
        self.repaint()

    def about(self, width: int) -> Sequence[Line]:
        """What would be taken back."""
        if self._found is None:
            return (line("looking for it", Tone.FAINT),)
        return wrapped(safe(self._found.words), width, Tone.STRONG if self._found.target else Tone.UNKNOWN, rest="  ")

    def action_of(self, _: Mapping[str, str]) -> Action:
        """Take it back."""
        found, now = self._found, self.context.machine()

        def act(client: ActionClient) -> str:
            if found is None or found.target is None:
                raise StoreError("there is nothing to take back")
            if isinstance(found.target, Silence):
                client.end_silence(found.target.id, now)
                return f"Ended: {found.words}"
            undone, *others = client.undo_acknowledgements([each.alert for each in found.target], now)
            if others:
                return f"Taken back: {found.words}"
            left = "nobody has it now" if undone.left.state.asks else acknowledged_words(undone.left, now)
            return f"Taken back: {found.words}; {left}"

        return act

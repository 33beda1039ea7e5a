"""What a person does about alerts from a screen that shows some: it finds the alert meant and opens the form."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, cast

from mqvitals_agent.text.figure import counted
from mqvitals_agent.text.styled import Line
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.maintenance import maintenance_spans
from mqvitals_agent.view.alerts.silencing import LabelledAlert, narrowest_matchers, owner_matchers, rule_matchers
from mqvitals_agent.view.frame import Frame
from mqvitals_agent.view.screens.alerts import GROUP_KEY, matching_alerts
from mqvitals_config.sections.matcher import Matcher
from mqvitals_tui.screens.alert_forms import (
    AcknowledgeForm,
    AcknowledgeGroupForm,
    ChosenAlert,
    NoteForm,
    SeenForm,
    UndoForm,
)
from mqvitals_tui.screens.frame_screen import FrameScreen
from mqvitals_tui.screens.silence_forms import ExtendForm, SilenceForm
from mqvitals_tui.time_machine import refusal

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp

_NO_ALERT = "Put the cursor on an alert: they are on Overview (1), Alerts (8) and the screen of an object"
_PAST = "This store holds the past: nobody acts on its alerts"


class ActingScreen(FrameScreen):
    """A screen with alerts on which a person acts."""

    @property
    @abstractmethod
    def chosen_line(self) -> Line | None:
        """The line that the keys are about; None: this screen has no alerts."""

    @property
    @abstractmethod
    def chosen_owner(self) -> str:
        """The queue manager or group under the cursor; empty: none."""

    def _frame_to_act_on(self) -> Frame | None:
        frame = self.frame
        if frame is not None and frame.data.as_of is not None:
            self.notify(refusal("people act on alerts", frame.data.as_of, self.context.zones.zone), markup=False)
            return None
        if frame is not None and frame.data.past:
            self.notify(_PAST, markup=False)
            return None
        return frame

    @property
    def chosen_moment(self) -> int | None:
        """The moment that the line under the cursor tells of, else when its alert began to fire."""
        line, frame = self.chosen_line, self.frame
        if line is not None and line.at:
            return line.at
        alert = None if frame is None or line is None or not line.alert else frame.alert_numbered(line.alert)
        return None if alert is None else alert.started

    def _chosen(self) -> ChosenAlert | None:
        """The alert under the cursor; without one a notification says where alerts are."""
        frame, line = self._frame_to_act_on(), self.chosen_line
        if frame is None:
            return None
        alert = None if line is None or not line.alert else frame.alert_numbered(line.alert)
        if line is None or alert is None:
            self._refuse()
            return None
        return ChosenAlert(alert, line.alert, frame.handled.of(alert))

    @property
    def _group(self) -> str:
        """The filter of the several alerts that the line under the cursor stands for; empty: it does not."""
        line = self.chosen_line
        return line.key if line is not None and line.key.startswith(GROUP_KEY) else ""

    def _refuse(self) -> None:
        """Say why there is not one alert to act on."""
        frame, group = self.frame, self._group
        found = [] if frame is None or not group else matching_alerts(frame.alerts, group)
        if not found:
            self.notify(_NO_ALERT, markup=False)
            return
        words = f"{counted(len(found), 'alert')} of {safe(found[0].key.rule)}"
        self.notify(
            f"This line stands for {words}: Enter lists them one by one, A acknowledges all of them, s silences"
            " their rule",
            markup=False,
        )

    def _vitals(self) -> MqvitalsApp:
        return cast("MqvitalsApp", self.app)

    def action_before(self) -> None:
        """Show what came before the alert under the cursor."""
        chosen = None if self.held_words else self.chosen_line
        if chosen is None or not chosen.alert:
            self._refuse()
        else:
            self._vitals().open_before(chosen.alert)

    def action_acknowledge(self) -> None:
        """Acknowledge the alert under the cursor."""
        if chosen := self._chosen():
            self.app.push_screen(AcknowledgeForm(self.context, self._vitals().store, chosen))

    def action_take_over(self) -> None:
        """Acknowledge it in place of those who have it."""
        if chosen := self._chosen():
            self.app.push_screen(AcknowledgeForm(self.context, self._vitals().store, chosen, take_over=True))

    def action_note(self) -> None:
        """Keep a note about it."""
        if chosen := self._chosen():
            self.app.push_screen(NoteForm(self.context, self._vitals().store, chosen))

    def action_silence(self) -> None:
        """Silence alerts like the one under the cursor."""
        frame, line = self._frame_to_act_on(), self.chosen_line
        if frame is None:
            return
        alert = None if line is None or not line.alert else frame.alert_numbered(line.alert)
        matchers: tuple[Matcher, ...] = ()
        if alert is not None:
            matchers = narrowest_matchers(frame.labeller.labels_of(alert))
        elif self._group:
            matchers = rule_matchers(self._group.removeprefix(GROUP_KEY).partition(" ")[0])
        elif self.chosen_owner:
            matchers = _of_owner(frame, self.chosen_owner)
        self.app.push_screen(SilenceForm(self.context, self._vitals().store, matchers, _firing(frame)))

    def action_maintenance(self) -> None:
        """Plan a maintenance window: a silence of a queue manager that begins later."""
        frame = self._frame_to_act_on()
        if frame is None:
            return
        owner = self.chosen_owner
        matchers = _of_owner(frame, owner) if owner else ()
        store = self._vitals().store
        known = maintenance_spans(frame.site.calendar, frame.now)
        form = SilenceForm(self.context, store, matchers, _firing(frame), planned=True, known=known)
        self.app.push_screen(form)

    def action_undo(self) -> None:
        """Take back what the author did last; on a silence end that one."""
        if self._frame_to_act_on() is None:
            return
        line = self.chosen_line
        silence = 0 if line is None else line.silence
        self.app.push_screen(UndoForm(self.context, self._vitals().store, silence))

    def action_extend(self) -> None:
        """Let the silence under the cursor end later."""
        frame, line = self._frame_to_act_on(), self.chosen_line
        if frame is None:
            return
        number = 0 if line is None else line.silence
        found = next((each for each in frame.silences if each[0].id == number), None)
        if found is None:
            self.notify("Put the cursor on a silence: they are behind 8, after the alerts", markup=False)
        else:
            self.app.push_screen(ExtendForm(self.context, self._vitals().store, *found))

    def action_seen(self) -> None:
        """Acknowledge the alerts that the line under the cursor stands for; on another line mark the alerts that ended and
        that nobody acknowledged as seen.
        """
        frame = self._frame_to_act_on()
        if frame is None:
            return
        handled = frame.handled
        if self._group:
            found = matching_alerts(frame.alerts, self._group)
            asking = {handled.number(each): each for each in found if not handled.is_acknowledged(each)}
            if asking:
                store = self._vitals().store
                self.app.push_screen(AcknowledgeGroupForm(self.context, store, found, asking))
            else:
                self.notify("All of these are acknowledged; Enter lists who has them", markup=False)
            return
        ended = [each for each in frame.alerts if each.ended is not None and handled.asks(each)]
        if ended:
            numbers = [handled.number(each) for each in ended]
            self.app.push_screen(SeenForm(self.context, self._vitals().store, numbers))
        else:
            self.notify("No alert ended that somebody has yet to see", markup=False)


def _firing(frame: Frame) -> list[LabelledAlert]:
    return [LabelledAlert(each, frame.labeller.labels_of(each)) for each in frame.data.alerts]


def _of_owner(frame: Frame, owner: str) -> tuple[Matcher, ...]:
    return owner_matchers(owner, is_group=owner in {each.name for each in frame.status.groups})

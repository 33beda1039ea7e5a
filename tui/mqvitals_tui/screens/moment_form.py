"""The form that asks for a past moment: a time, how long ago, or the number of an alert."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from mqvitals_agent.commandline.as_of import PAST_FORMS, past_moment
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.figure import age, moment, shown_zone, times_in, zone_name
from mqvitals_agent.text.styled import Line, Tone, line, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.silencing import FieldError
from mqvitals_tui.screens.form_screen import FormField, FormScreen
from mqvitals_tui.screens.frame_screen import ScreenContext
from mqvitals_tui.time_machine import Way, to_alert, to_moment

TIME: Final = "time"
_NUMBER: Final = re.compile(r"\s*#?\s*([0-9]{1,15})\s*")
"""The number of an alert; a time has a colon, a length of time a unit."""


class MomentForm(FormScreen):
    """Goes to a past moment; ``offered`` stands in the field at first, ms UTC. ``travel`` takes the way there."""

    def __init__(
        self, context: ScreenContext, store: Path, offered: int | None, travel: Callable[[Way], object]
    ) -> None:
        self._travel = travel
        with times_in(context.zones.zone):
            value = "" if offered is None else moment(offered)
        field = FormField(TIME, "Time", value, "03:12, yesterday 03:12, -40m, 2026-11-20 03:12, or an alert's number")
        super().__init__(context, store, "go to a time", "go there", (field,))

    @property
    def _now(self) -> int:
        """The clock, ms UTC, or when a replay ended."""
        ended = self.context.news.ended
        return self.context.now() if ended is None else ended

    def _moment(self, text: str) -> int:
        """What was typed, ms UTC. Raises FieldError."""
        try:
            return past_moment("time", text, shown_zone, self._now)
        except Failure as failure:
            raise FieldError(TIME, f"{failure.message}: write {PAST_FORMS}") from None
        except (ValueError, OverflowError):
            raise FieldError(TIME, f"{text!r} is no time: write {PAST_FORMS}") from None

    def preview(self, values: Mapping[str, str], width: int) -> Sequence[Line]:
        """Which moment that is."""
        text = values[TIME]
        if not text.strip():
            words = f"{PAST_FORMS}, in {zone_name(self._now)} where no zone is written; or the number of an alert, such as 12: its start"
            return wrapped(words, width, Tone.FAINT)
        if number := _NUMBER.fullmatch(text):
            return (line(f"the start of alert {int(number[1])}"),)
        try:
            at = self._moment(text)
        except FieldError as error:
            return wrapped(safe(str(error)), width, Tone.UNKNOWN)
        return (line(f"{moment(at)} {zone_name(at)}, {age(self._now - at)} ago"),)

    def submit(self, values: Mapping[str, str]) -> None:
        """Go there."""
        text = values[TIME]
        number = _NUMBER.fullmatch(text)
        self._travel(to_alert(int(number[1])) if number else to_moment(self._moment(text), shown_zone()))
        self.dismiss()

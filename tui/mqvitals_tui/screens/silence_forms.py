"""Forms about silences: silence alerts, plan a maintenance window (a silence that begins later), let one end later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mqvitals_agent.alerting.action import Silence
from mqvitals_agent.alerting.maintenance import MaintenanceSpan
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.text.figure import moment, zone_name
from mqvitals_agent.text.styled import Line, line, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.alerts.actions import silence_lines
from mqvitals_agent.view.alerts.silencing import (
    BEGINS,
    ENDS,
    MATCHERS,
    REASON,
    FieldError,
    LabelledAlert,
    known_maintenance,
    parse_end,
    parse_silence,
    preview_lines,
)
from mqvitals_agent.view.alerts.words import since_words
from mqvitals_config.sections.matcher import Matcher, matchers_text
from mqvitals_tui.screens.form_screen import Action, ActionForm, FormField
from mqvitals_tui.screens.frame_screen import ScreenContext

USUAL = "2h"
"""How long a silence lasts unless one writes something else."""


class SilenceForm(ActionForm):
    """Silences alerts from now on, or with ``planned`` from a later time; ``matchers`` are those to begin with.

    ``firing`` are the alerts that fire now, for the preview; ``known`` is the maintenance that is planned already.
    """

    def __init__(
        self,
        context: ScreenContext,
        store: Path,
        matchers: Sequence[Matcher],
        firing: Sequence[LabelledAlert],
        *,
        planned: bool = False,
        known: Sequence[MaintenanceSpan] = (),
    ) -> None:
        self._firing = firing
        self._known = tuple(known)
        self._planned = planned
        zone = context.zone_name
        fields = (
            FormField(MATCHERS, "Matchers", matchers_text(matchers), "rule=BP-03 queue_manager=QM01"),
            FormField(
                BEGINS, "Begins", "" if planned else "now", f"22:00, tomorrow 06:00, 2026-11-23 06:00 ({zone}), or now"
            ),
            FormField(ENDS, "Ends", USUAL, f"2h after it begins, or 06:00 ({zone})"),
            FormField(REASON, "Reason", "", "why; people and the audit see it"),
        )
        title, verb = ("plan maintenance", "plan it") if planned else ("silence", "silence them")
        super().__init__(context, store, title, verb, fields)

    def _begins(self, values: Mapping[str, str]) -> str:
        """When it begins; what is planned does not begin at once because somebody left the field empty."""
        return values[BEGINS] if values[BEGINS].strip() or not self._planned else "?"

    def about(self, width: int) -> Sequence[Line]:
        """Maintenance that is known already."""
        return known_maintenance(self._known, self.context.now(), width)

    def preview(self, values: Mapping[str, str], width: int) -> Sequence[Line]:
        """What it would silence."""
        now, begins = self.context.machine(), self._begins(values)
        return preview_lines(values[MATCHERS], begins, values[ENDS], self._firing, now, width)

    def action_of(self, values: Mapping[str, str]) -> Action:
        """Make the silence."""
        now = self.context.machine()
        wish = parse_silence(values[MATCHERS], self._begins(values), values[ENDS], values[REASON], now)

        def act(client: ActionClient) -> str:
            made = client.add_silence(wish.matchers, wish.reason, wish.starts, wish.ends, now)
            begin = "" if made.starts <= now else f"from {since_words(made.starts, now)} "
            return f"Silence {made.id} {begin}until {since_words(made.ends, now)}: {matchers_text(made.matchers)}"

        return act


class ExtendForm(ActionForm):
    """Lets a silence end later."""

    def __init__(self, context: ScreenContext, store: Path, silence: Silence, matching: int) -> None:
        self._silence = silence
        self._matching = matching
        fields = (FormField(ENDS, "Ends", USUAL, f"2h later than now planned, or 06:00 ({context.zone_name})"),)
        super().__init__(context, store, "extend a silence", "let it end later", fields)

    def about(self, width: int) -> Sequence[Line]:
        """The silence."""
        return silence_lines(self._silence, self.context.machine(), width, self._matching)

    def preview(self, values: Mapping[str, str], width: int) -> Sequence[Line]:
        """The new end."""
        try:
            ends = parse_end(values[ENDS], self._silence.ends)
        except FieldError as error:
            return wrapped(safe(str(error)), width)
        return (line(f"until {moment(ends)} {zone_name(ends)}"),)

    def action_of(self, values: Mapping[str, str]) -> Action:
        """Extend it."""
        now, ends = self.context.machine(), parse_end(values[ENDS], self._silence.ends)

        def act(client: ActionClient) -> str:
            made = client.extend_silence(self._silence.id, ends, now)
            return f"Silence {made.id} ends {since_words(made.ends, now)}"

        return act

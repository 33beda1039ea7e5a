"""What becomes of alerts on their way to receivers, read from a store: for ``alerts list --why`` and the screens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mqvitals_agent.alerting.disposition import Disposition, StageResult
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.store.error import UnknownNameError
from mqvitals_agent.text.styled import Line, line, wrapped
from mqvitals_agent.text.terminal import safe

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
    from mqvitals_rules.snapshot import ObjectName


def read_dispositions(
    reader: StoreReader, pipeline: Pipeline, alerts: Sequence[StoredAlert], now: int, people: int | None = None
) -> list[Disposition]:
    """What the agent decides at ``now`` (ms UTC) about alerts of a store, as far as the store shows. Raises StoreError.

    ``people`` is the machine's time, by which people act; None: ``now`` is that.
    """
    actions = reader.actions()
    _, unmuted = reader.mutes()
    state = PipelineState(
        reader.last_notifications([each.id for each in alerts]),
        actions.acknowledgements,
        actions.silences,
        reader.alert_groups(),
        unmuted,
        partial(value_in, reader),
    )
    firing = [each.alert for each in reader.alerts()]
    return pipeline.dispositions([(each.id, each.alert) for each in alerts], firing, state, now, people)


def value_in(reader: StoreReader, about: ObjectName, metric: str) -> object:
    """The value of a metric now; None where the store has none."""
    try:
        found = reader.current(about).get(metric)
    except UnknownNameError:
        return None
    return None if found is None else found.value


def disposition_json(found: Disposition) -> dict[str, object]:
    """The stages of an alert and of each receiver, with words that stay the same."""
    alert = found.alert
    return {
        "number": found.number,
        "rule": alert.key.rule,
        "object": str(alert.key.object),
        "severity": alert.severity.name.lower(),
        "state": alert.state.value,
        "labels": dict(found.labels),
        "excluded": None if found.excluded is None else found.excluded.name.lower(),
        "stages": _stages_json(found.results),
        "receivers": [
            {
                "receiver": each.receiver,
                "route": each.route.path,
                "group": each.key,
                "reason": each.reason.name.lower(),
                "text": each.reason.value,
                "sends": each.is_news or each.reason.notifies,
                "stages": _stages_json(each.results),
            }
            for each in found.deliveries
        ],
    }


def _stages_json(results: Iterable[StageResult]) -> list[Mapping[str, object]]:
    return [{"stage": each.stage.value, "passes": each.passes, "text": each.text} for each in results]


def disposition_lines(found: Disposition, width: int) -> list[Line]:
    """The stages of an alert, then those of each receiver, with the last word about it."""
    alert = found.alert
    head = f"#{found.number} {alert.key.rule} {alert.severity.name} {safe(str(alert.key.object))}"
    lines = [line(head)]
    lines += _stage_lines(found.results, width)
    if found.excluded is not None and not found.results:
        lines += wrapped(found.excluded.value, width, first="  ", rest="  ")
    for each in found.deliveries:
        sends = "to be sent" if each.is_news or each.reason.notifies else "not sent"
        lines += wrapped(f"{each.receiver}: {sends}, {each.reason.value}", width, first="  ", rest="    ")
        lines += _stage_lines(each.results, width)
    return lines


def _stage_lines(results: Iterable[StageResult], width: int) -> list[Line]:
    found: list[Line] = []
    for each in results:
        mark = "passes" if each.passes else "stops "
        found += wrapped(safe(each.text), width, first=f"    {each.stage.value:<13}{mark}  ", rest=" " * 25)
    return found

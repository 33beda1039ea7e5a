"""Asks the engine of ``history`` whether it answers queries, and has samples of this group: for ``mqvitals doctor``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mqvitals_agent.clock import Clock
from mqvitals_agent.doctor.finding import CheckResult, DoctorFinding
from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.client import QueryClient
from mqvitals_agent.engine_history.engine_samples import Asks
from mqvitals_agent.engine_history.series_names import SeriesNames, series_of_metric
from mqvitals_agent.text.terminal import safe
from mqvitals_config.sections.history import PROMETHEUS, HistorySettings
from mqvitals_config.settings import Settings
from mqvitals_rules.vocabulary.tables import KINDS

_OF_EACH: Final = ("queue_manager", "reachable")
"""What there is of every queue manager, at each poll."""
_ABOUT: Final = "history"

MakeClient = Callable[[HistorySettings], Asks]


def probe_history(settings: Settings, clock: Clock, make: MakeClient = QueryClient) -> list[DoctorFinding]:
    """The findings about the engine of ``history``; none where the store is all that is read. It waits for the engine."""
    history = settings.history
    if history.backend != PROMETHEUS or history.url is None:
        return []
    kind, metric = _OF_EACH
    series = series_of_metric(KINDS[kind], metric)
    assert series is not None, "it has been exported since the first version"
    labels = history.labels(settings.remote_write)
    selector = SeriesNames(labels).selector_of_kind(kind, series)
    client = make(history)
    began = clock.steady_s()
    try:
        found = client.ask(f"count(last_over_time({selector}[1d]))", clock.now())
    except EngineError as error:
        text = tuple(f"{safe(each)}." for each in (error.message, error.hint) if each)
        return [DoctorFinding(_ABOUT, "answers queries", CheckResult.NO_ANSWER, text=text)]
    finally:
        client.close()
    took = round((clock.steady_s() - began) * 1000)
    answers = DoctorFinding(_ABOUT, "answers queries", CheckResult.WORKS, elapsed_ms=took)
    check = "has samples of the last day"
    if any(each.values and each.values[-1] > 0 for each in found):
        return [answers, DoctorFinding(_ABOUT, check, CheckResult.WORKS)]
    chosen = ", ".join(f"{label}={value}" for label, value in sorted(labels.items()))
    text = (
        f"{client.engine} has no {series.polled} with {f'the labels {safe(chosen)}' if chosen else 'no labels of the site'}.",
        "Where samples have been sent to it, compare history.external_labels with those of remote_write.",
    )
    return [answers, DoctorFinding(_ABOUT, check, CheckResult.ADVISED, text=text)]

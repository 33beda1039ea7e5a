"""Settings of reports that the agent sends at set times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean, listing, repeated, shown
from mqvitals_config.decoding.scalars import display_name
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.receivers.receiver import ReceiverSettings, ReceiverType
from mqvitals_config.sections.maintenance import cron_text
from mqvitals_config.sections.time_intervals import TimeZone

TIME_FORM: Final = 'a time of day such as "06:00", or five fields of cron such as "0 6 * * 1-5"'
REPORT_RECEIVERS: Final[frozenset[ReceiverType]] = frozenset({"webhook", "slack", "teams", "email"})
"""The types of receivers that can take a report: those whose messages people read, and webhooks."""

_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_LONGEST_MS: Final = 7 * 86_400_000


def cron_of(text: LocatedText) -> str:
    """The five fields of cron that a time of a report stands for. Raises ValueError with a sentence that names the form."""
    found = _CLOCK.fullmatch(text.strip())
    if found:
        return f"{int(found[2])} {int(found[1])} * * *"
    if len(text.split()) < 2:
        raise ValueError(f"expected {TIME_FORM}")
    return " ".join(cron_text(text).split())


def report_time(text: LocatedText) -> LocatedText:
    """``text`` itself when it is the time of a report; raises ValueError."""
    cron_of(text)
    return text


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """A report that is sent at set times."""

    name: Annotated[
        Annotated[LocatedText, Convert(display_name)],
        Doc("Its name. What has been sent is remembered under it."),
    ]
    at: Annotated[
        Annotated[LocatedText, Convert(report_time, TIME_FORM)],
        Doc(
            'When it is sent: a time of day such as `"06:00"` (in quotes), or five fields of cron such as `"0 6,18 * * 1-5"`.'
        ),
    ]
    receivers: Annotated[
        tuple[LocatedText, ...],
        Doc(f"The names of the receivers that get it. Their type is {listing(sorted(REPORT_RECEIVERS))}."),
    ]
    last: Annotated[
        Annotated[int, duration_within(60_000, _LONGEST_MS, "must be from 1m to 7d")],
        Doc("The time up to that moment that it is about.", default="12h"),
    ] = 12 * 3_600_000
    time_zone: Annotated[
        TimeZone | None,
        Doc(
            "The zone of `at`, and of the times in the report. A time that is left out when clocks go forward is the next one"
            " after it; one that comes twice is the first.",
            default="the group's `time_zone`, else UTC",
        ),
    ] = None

    def __post_init__(self) -> None:
        if not self.receivers:
            raise ValueError("there is no receiver in receivers")


def report_contradictions(
    reports: Sequence[ReportSettings], receivers: Sequence[ReceiverSettings]
) -> Iterator[Problem]:
    """What is wrong with reports that are each well-formed."""
    types = {str(each.name): each.type for each in receivers}
    for index, name, first in repeated(each.name for each in reports):
        yield Problem(name.place, f"reports[{index}].name", f"{name} occurs twice, first on line {first.place.line}")
    for index, report in enumerate(reports):
        key = f"reports[{index}].receivers"
        for place, name, first in repeated(report.receivers):
            yield Problem(name.place, f"{key}[{place}]", f"{name} occurs twice, first on line {first.place.line}")
        for place, name in enumerate(report.receivers):
            known = types.get(name)
            if known is None:
                message = f"there is no receiver {shown(name)}{did_you_mean(name, types)}"
                yield Problem(name.place, f"{key}[{place}]", message)
            elif known not in REPORT_RECEIVERS:
                can = listing(sorted(REPORT_RECEIVERS))
                message = f"{name} is of the type {known}, which takes no report; those of {can} do"
                yield Problem(name.place, f"{key}[{place}]", message)

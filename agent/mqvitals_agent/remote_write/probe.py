"""Asks engines, by a throw-away series, whether they take samples, and late ones too: for ``mqvitals doctor``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from mqvitals_agent.clock import Clock
from mqvitals_agent.doctor.finding import CheckResult, DoctorFinding
from mqvitals_agent.remote_write.client import Meaning, PostOutcome, RemoteWriteClient
from mqvitals_agent.remote_write.protocol import compress, encode_labels, encode_sample, encode_stale, series_of
from mqvitals_agent.remote_write.sender import Poster
from mqvitals_config.sections.remote_write import RemoteWriteSettings

SERIES: Final = "mqvitals_doctor_probe"
"""The name of the throw-away series."""
LATE_MS: Final = 90 * 60_000
"""How late a sample is that an engine should still take: an outage of that length is nothing unusual."""

_LATE: Final = (
    "It refuses samples that are older than others of the same series: what is repeated after a lost answer, and, once others have"
    " written, a backlog."
)
_WINDOW: Final = (
    "Prometheus takes them with storage.tsdb.out_of_order_time_window in its configuration file (not a flag), at least as long as"
    " the longest outage to be bridged: storage: {tsdb: {out_of_order_time_window: 12h}}. VictoriaMetrics takes them as it is."
)

MakePoster = Callable[[RemoteWriteSettings, Callable[[], int]], Poster]


async def probe_engines(
    engines: Sequence[RemoteWriteSettings], clock: Clock, token: str, make: MakePoster = RemoteWriteClient
) -> list[DoctorFinding]:
    """Two findings for each engine, all asked at once; ``token`` makes the series another one than those of before."""
    found = await asyncio.gather(*(_probe(each, clock, token, make) for each in engines))
    return [finding for each in found for finding in each]


async def _probe(settings: RemoteWriteSettings, clock: Clock, token: str, make: MakePoster) -> list[DoctorFinding]:
    labels = {**settings.external_labels, "__name__": SERIES, "probe": token}
    encoded = encode_labels(sorted(labels.items()))
    poster = make(settings, clock.now)
    now = clock.now()

    async def post(sample: bytes) -> tuple[PostOutcome, int]:
        began = clock.steady_s()
        answer = await poster.post(compress([series_of(encoded, sample)]))
        return answer, round((clock.steady_s() - began) * 1000)

    about = f"remote write {settings.name}"
    try:
        answer, took = await post(encode_sample(now, 1))
        if answer.meaning is not Meaning.TAKEN:
            result = CheckResult.FAILED if answer.meaning is not Meaning.AGAIN else CheckResult.NO_ANSWER
            return [DoctorFinding(about, "takes samples", result, text=(f"{answer.text}.",), elapsed_ms=took)]
        found = [DoctorFinding(about, "takes samples", CheckResult.WORKS, elapsed_ms=took)]
        late, took = await post(encode_sample(now - LATE_MS, 1))
        await post(encode_stale(now + 1))
    finally:
        await poster.aclose()
    check = "takes samples that are 90 minutes late"
    if late.meaning is Meaning.TAKEN:
        found.append(DoctorFinding(about, check, CheckResult.WORKS, elapsed_ms=took))
    elif late.meaning is Meaning.REFUSED:
        text = (_LATE, _WINDOW, f"{late.text}.")
        found.append(DoctorFinding(about, check, CheckResult.ADVISED, text=text, elapsed_ms=took))
    else:
        found.append(DoctorFinding(about, check, CheckResult.NO_ANSWER, text=(f"{late.text}.",), elapsed_ms=took))
    return found

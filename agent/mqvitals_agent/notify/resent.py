"""What is sent again and again to receivers that take for ended what they do not hear of any more, as Alertmanager does.

Pure functions. Such a receiver tells alerts apart by their labels alone. So when a label changes, as the severity does, the
alert with the labels of before ends there and the one with the new labels begins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from mqvitals_agent.alerting.decision import DecisionReason
from mqvitals_agent.alerting.disposition import Disposition
from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.notify.notification import NotifiedAlert, kept_alert, notified_alert_of
from mqvitals_agent.store.rows.alerts.resent import ResentAlert, ResentChanges
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_rules.lifecycle.alert import AlertState, Severity

KEEP_MS: Final = 900_000
"""How long after its end an alert is sent, as Prometheus does: the receiver may have been away."""
MOST_SENT: Final = 250
"""Alerts in one request."""
MOST_BYTES: Final = 1_000_000
"""Bytes of what is kept of the alerts in one request, unless one alone is larger."""

Render = Callable[[Disposition, str], ResentAlert]
"""(what becomes of a firing alert, name of the receiver) -> the alert as the receiver gets it."""
RenderEnd = Callable[[Disposition], Mapping[str, str]]
"""What becomes of an ended alert -> its annotations."""


def identity_of(labels: Labels) -> str:
    """One for each set of labels."""
    return blake2b(json.dumps(sorted(labels.items())).encode(), digest_size=12).hexdigest()


def resent_alert(notified: NotifiedAlert, receiver: ReceiverSettings, number: int, severity: Severity) -> ResentAlert:
    """Alert ``number`` as a receiver gets it."""
    told = notified.with_labels(receiver.labels)
    return ResentAlert(
        number, str(receiver.name), identity_of(told.labels), severity, told.ends, json.dumps(kept_alert(told))
    )


def told_by(row: ResentAlert) -> NotifiedAlert | None:
    """The alert that a row keeps; None when it cannot be read."""
    try:
        return notified_alert_of(json.loads(row.payload), row.identity)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def resent_changes(
    known: Iterable[ResentAlert],
    dispositions: Mapping[int, Disposition],
    render: Render,
    render_end: RenderEnd,
    now: int,
    *,
    relabelled: bool = False,
) -> ResentChanges:
    """How what a receiver has differs from what is. ``dispositions`` are by the number of the alert; ``now`` is ms UTC.

    ``relabelled``: the labels of an alert may be others than before, though nothing has happened to it.
    """
    written: dict[tuple[str, str], ResentAlert] = {}
    dropped: list[tuple[str, str]] = []
    firing: dict[tuple[str, int], ResentAlert] = {}
    for row in known:
        if row.ends is not None:
            if not 0 <= now - row.ends < KEEP_MS:
                dropped.append(row.key)
            continue
        found = dispositions.get(row.alert_id)
        if found is None:
            written[row.key] = with_annotations(row, None, now)
        elif found.alert.state is AlertState.RESOLVED:
            alert = found.alert
            ends = alert.updated if alert.ended is None else alert.ended
            written[row.key] = with_annotations(row, render_end(found), ends)
        else:
            firing[row.receiver, row.alert_id] = row
    for each in dispositions.values():
        for delivery in each.deliveries:
            if not delivery.resent or not delivery.reason.notifies or each.alert.state is not AlertState.FIRING:
                continue
            before = firing.get((delivery.receiver, each.number))
            if before is not None and delivery.reason is DecisionReason.REPEATED and not relabelled:
                continue
            made = render(each, delivery.receiver)
            if before is not None:
                if before.identity == made.identity:
                    continue
                written[before.key] = with_annotations(before, None, now)
            written[made.key] = made
    return ResentChanges(tuple(written.values()), tuple(key for key in dropped if key not in written))


def with_annotations(row: ResentAlert, annotations: Mapping[str, str] | None, ends: int | None) -> ResentAlert:
    """An alert with other annotations (None: the same), and an end (ms UTC) unless it still fires."""
    told = told_by(row)
    if told is None:
        return replace(row, ends=ends)
    ends = None if ends is None else max(ends, told.starts)
    told = replace(told, annotations=told.annotations if annotations is None else annotations, ends=ends)
    return replace(row, ends=ends, payload=json.dumps(kept_alert(told)))


@dataclass(frozen=True, slots=True)
class SentAlert:
    """What a member of a cluster has last taken about an alert, at ``ts`` (ms UTC)."""

    row: ResentAlert
    ts: int


def due_alerts(
    rows: Iterable[ResentAlert], sent: Mapping[str, SentAlert], now: int, resend_ms: int
) -> list[ResentAlert]:
    """What a member is to be sent at ``now`` (ms UTC): beginnings and ends that it does not know, and what it was last sent
    long ago. Other texts alone wait for that.

    When something is sent again, then everything that would be before long.
    """
    known = {each.identity: sent.get(each.identity) for each in rows}
    news, again, soon = [], [], []
    for each in rows:
        before = known[each.identity]
        if before is None or before.row.alert_id != each.alert_id or before.row.ends != each.ends or before.ts > now:
            news.append(each)
        elif now - before.ts >= resend_ms:
            again.append(each)
        elif 2 * (now - before.ts) >= resend_ms:
            soon.append(each)
    return [*news, *again, *soon] if again else news


def next_due(sent: Mapping[str, SentAlert], resend_ms: int) -> int | None:
    """When something is to be sent again, ms UTC; None: nothing is."""
    first = min((each.ts for each in sent.values()), default=None)
    return None if first is None else first + resend_ms


def batches(rows: Sequence[ResentAlert]) -> Iterator[list[ResentAlert]]:
    """The alerts of each request."""
    batch: list[ResentAlert] = []
    size = 0
    for each in rows:
        if batch and (len(batch) == MOST_SENT or size + len(each.payload) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each.payload)
    if batch:
        yield batch

"""Writes the dashboards for Grafana beside this file: names from the vocabulary, thresholds from the rules.

``<kind.metric>`` in a query stands for the samples of a metric, of the chosen queue managers or queue-sharing groups.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mqvitals_agent.openmetrics.names import family_of, owner_label
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.vocabulary.metric import NO_LIMIT
from mqvitals_rules.vocabulary.tables import KINDS

HERE = Path(__file__).parent
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS, WIDTH, HEIGHT = 24, 8, 8
SEVERAL = {
    "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
    "tooltip": {"mode": "multi", "sort": "desc"},
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "timeseries": SEVERAL,
    "state-timeline": {**SEVERAL, "showValue": "auto", "rowHeight": 0.9, "mergeValues": True},
    "stat": {
        "colorMode": "value",
        "graphMode": "none",
        "justifyMode": "auto",
        "orientation": "auto",
        "percentChangeColorMode": "standard",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "showPercentChange": False,
        "textMode": "auto",
        "wideLayout": True,
    },
}
"""By type of panel what Grafana's schema wants of each."""


@dataclass(frozen=True)
class Limit:
    """A parameter of a rule as a threshold: from ``value`` on, or with ``low`` up to it, a panel has ``colour``."""

    rule: str
    parameter: str
    colour: str = "orange"
    factor: float = 1.0
    """What one of the parameter's unit is in that of the panel."""
    low: bool = False

    @property
    def value(self) -> float:
        """Its shipped value in the unit of the panel. A parameter of 0 allows none: the threshold is just above."""
        shipped = _parameters()[self.rule, self.parameter] * self.factor
        return round(shipped, 9) if shipped or self.low else 1e-9


@dataclass(frozen=True)
class Panel:
    """A panel: its queries are PromQL -> legend, its thresholds those of rules, or ``steps`` where a rule has no figure."""

    title: str
    about: str
    unit: str
    queries: Mapping[str, str]
    limits: tuple[Limit, ...] = ()
    steps: tuple[tuple[float | None, str], ...] = ()
    type: str = "timeseries"
    values: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """Number -> word and colour, of states."""


PERCENT = 0.01
"""What a percent is in panels that show ratios."""
QMGR = "{{qmgr}}"

OVERVIEW = (
    Panel(
        "Queue managers",
        "Whether the agent is connected to each queue manager (rule AGENT-01).",
        "none",
        {"<queue_manager.reachable>": QMGR},
        steps=((None, "red"), (2, "green")),
        type="stat",
        values={0: ("unreachable", "red"), 2: ("running", "green")},
    ),
    Panel(
        "Firing alerts",
        "Alerts of the agent that fire, by severity, in the words of its own rules.",
        "none",
        {'sum by (severity) (mqvitals_alerts{alertstate="firing",qmgr=~"|$qmgr"})': "{{severity}}"},
        steps=((None, "green"), (1, "orange")),
        type="stat",
    ),
    Panel(
        "Fullest queues",
        "Depth as a share of the maximum depth, of the 20 fullest queues (rule Q-01).",
        "percentunit",
        {"topk(20, <queue.depth> / (<queue.max_depth> > 0))": "{{qmgr}} {{queue}}"},
        (Limit("Q-01", "near_ratio", "red"),),
    ),
    Panel(
        "Oldest messages",
        "Age of the oldest message, of the 20 queues with the oldest ones (rule Q-05).",
        "s",
        {"topk(20, <queue.oldest_msg_age_s>)": "{{qmgr}} {{queue}}"},
        (Limit("Q-05", "old_s"),),
    ),
    Panel(
        "Full active logs",
        "Share of the active logs that are full and not archived yet (rule LOG-08).",
        "percentunit",
        {"<log.full_logs> / <log.total_logs>": QMGR},
        (Limit("LOG-08", "filling_share", "red"),),
    ),
    Panel(
        "Log range used",
        "Share of the log RBA range that is used (rule OPS-131).",
        "percentunit",
        {"<log.rba_used_pct>": QMGR},
        (Limit("OPS-131", "used_limit_pct", factor=PERCENT), Limit("OPS-131", "critical_pct", "red", factor=PERCENT)),
    ),
    Panel(
        "Channels in use",
        "Current channels as a share of the most that are allowed (rule CHL-18).",
        "percentunit",
        {"<channel_initiator.current> / <channel_initiator.current_max>": QMGR},
        (Limit("CHL-18", "near_ratio"),),
    ),
    Panel(
        "Coupling facility structures: entries",
        "Entries in use, of the queue-sharing groups (rule CF-03).",
        "percentunit",
        {"<cf_structure.entries_pct>": "{{qsg}} {{structure}}"},
        (Limit("CF-03", "critical_pct", "red", factor=PERCENT),),
    ),
    Panel(
        "Coupling facility structures: size",
        "Storage in use, of the queue-sharing groups (rule CF-03).",
        "percentunit",
        {"<cf_structure.size_used_pct>": "{{qsg}} {{structure}}"},
        (Limit("CF-03", "critical_pct", "red", factor=PERCENT),),
    ),
)

STORAGE = (
    Panel(
        "Free buffers",
        "Free buffers of each buffer pool. Below the deferred write threshold pages are written early, below the synchronous one"
        " each put waits for its write (rules BP-01 to BP-03).",
        "percent",
        {"<buffer_pool.free_pct>": "{{qmgr}} {{bufferpool}}"},
        (
            Limit("BP-03", "synchronous_write_pct", "red", low=True),
            Limit("BP-01", "deferred_write_pct", low=True),
            Limit("BP-01", "stress_pct", "yellow", low=True),
        ),
    ),
    Panel(
        "Least free buffers, from records",
        "The least share of free buffers in each interval of SMF records, or as polled (rules BP-01 to BP-03).",
        "percentunit",
        {"<buffer_pool.worst_free_pct>": "{{qmgr}} {{bufferpool}}"},
        (
            Limit("BP-03", "synchronous_write_pct", "red", low=True, factor=PERCENT),
            Limit("BP-01", "deferred_write_pct", low=True, factor=PERCENT),
            Limit("BP-01", "stress_pct", "yellow", low=True, factor=PERCENT),
        ),
    ),
    Panel(
        "Synchronous writes begun",
        "How often a buffer pool reached the synchronous write threshold, in an hour; from SMF records (rule BP-05).",
        "none",
        {"increase(<buffer_pool.dmc>[1h])": "{{qmgr}} {{bufferpool}}"},
        (Limit("BP-05", "hits_allowed", "red"),),
    ),
    Panel(
        "Short on storage",
        "How often a buffer pool had no buffer left, in an hour; from SMF records (rule BP-06).",
        "none",
        {"increase(<buffer_pool.sos>[1h])": "{{qmgr}} {{bufferpool}}"},
        (Limit("BP-06", "times_allowed", "red"),),
    ),
    Panel(
        "Pages read from page sets",
        "Reads a second of buffer pools; messages that live shortly need none; from SMF records (rule BP-09).",
        "iops",
        {"rate(<buffer_pool.rio>[1h])": "{{qmgr}} {{bufferpool}}"},
        (Limit("BP-09", "reads_allowed"),),
    ),
    Panel(
        "Page sets used",
        "Share of the pages of each page set that are used (rules PS-01 and PS-02).",
        "percentunit",
        {"<page_set.used_pct>": "{{qmgr}} {{pageset}}"},
        (Limit("PS-01", "used_limit_pct", factor=PERCENT), Limit("PS-01", "critical_pct", "red", factor=PERCENT)),
    ),
    Panel(
        "Page sets expanded",
        "How often a page set was expanded, in an hour (rule PS-03).",
        "none",
        {"increase(<page_set.expand_count>[1h])": "{{qmgr}} {{pageset}}"},
        (Limit("PS-03", "expansions_allowed"),),
    ),
)

_CHANNEL = "{{qmgr}} {{channel}}"
CHANNELS = (
    Panel(
        "Channels by state",
        "The state of each channel: stopped or inactive, under way, or running (rules CHL-16 and OPS-104).",
        "none",
        {'max by (qmgr, channel) (ibmmq_channel_status_squash{qmgr=~"$qmgr"})': _CHANNEL},
        steps=((None, "text"), (1, "orange"), (2, "green")),
        type="state-timeline",
        values={0: ("not running", "text"), 1: ("under way", "orange"), 2: ("running", "green")},
    ),
    Panel(
        "Data",
        "Bytes a second, of the 20 busiest channels (rule CHL-13).",
        "Bps",
        {
            "topk(20, rate(<channel.bytes_sent>[$__rate_interval]) + rate(<channel.bytes_rcvd>[$__rate_interval]))": _CHANNEL
        },
        (Limit("CHL-13", "least_bytes_s", "blue"),),
    ),
    Panel(
        "Network time, short term",
        "Time of a flow over the network and back (rule CHL-06).",
        "µs",
        {"<channel.nettime_us_short>": _CHANNEL},
        (Limit("CHL-06", "least_us"),),
    ),
    Panel(
        "Instances of client channels",
        "Instances as a share of MAXINST, where it limits (rule OPS-151).",
        "percentunit",
        {f"<channel.instances> / (<channel.maxinst> > 0 < {NO_LIMIT})": _CHANNEL},
        (Limit("OPS-151", "near_share", "red"),),
    ),
    Panel(
        "Starts that broke",
        "How often a channel began anew, in an hour (rule CHL-15).",
        "none",
        {"increase(<channel.broken_starts>[1h])": _CHANNEL},
        (Limit("CHL-15", "restarts"),),
    ),
    Panel(
        "Messages on transmission queues",
        "Messages that wait on each transmission queue (rule OPS-101).",
        "short",
        {"<queue.depth> and <queue.usage> == 1": "{{qmgr}} {{queue}}"},
        (Limit("OPS-101", "least"),),
    ),
    Panel(
        "Busy dispatchers",
        "Share of time that each dispatcher is busy; from SMF records (rule CHIN-04).",
        "percentunit",
        {"<dispatcher.busy_pct>": "{{qmgr}} {{task}}"},
        (Limit("CHIN-04", "hot_pct", factor=PERCENT),),
    ),
)

DASHBOARDS = {
    "group-overview": ("MQ for z/OS: groups", OVERVIEW),
    "buffer-pools-and-page-sets": ("MQ for z/OS: buffer pools and page sets", STORAGE),
    "channels": ("MQ for z/OS: channels", CHANNELS),
}


@cache
def _parameters() -> Mapping[tuple[str, str], float]:
    """The shipped values of all parameters by rule and name."""
    return {(str(rule.id), each.name): each.value for rule in load_rules(KINDS) for each in rule.parameters.values()}


def query(text: str) -> str:
    """A query with the names of samples. Raises KeyError for a metric that is not in the vocabulary."""

    def selector(match: re.Match[str]) -> str:
        kind = KINDS[match[1]]
        metric = kind.metric(match[2])
        family = None if metric is None else family_of(kind, metric)
        if family is None:
            raise KeyError(match[0])
        owner = owner_label(kind.name)
        return f'{family.sample}{{{owner}=~"${owner}"}}'

    return re.sub(r"<(\w+)\.(\w+)>", selector, text)


def _steps(panel: Panel) -> list[dict[str, Any]]:
    if panel.steps:
        return [{"value": value, "color": colour} for value, colour in panel.steps]
    ordered = sorted(panel.limits, key=lambda limit: limit.value)
    if not ordered[0].low:
        return [{"value": None, "color": "green"}, *({"value": each.value, "color": each.colour} for each in ordered)]
    # A colour holds from its step up to the next: of limits that are fallen below each colours what is beneath it.
    values = [None, *(limit.value for limit in ordered)]
    return [
        {"value": value, "color": colour}
        for value, colour in zip(values, [*(limit.colour for limit in ordered), "green"], strict=True)
    ]


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    per_row = COLUMNS // WIDTH
    mappings = {str(value): {"text": word, "color": colour} for value, (word, colour) in panel.values.items()}
    line = panel.type == "timeseries"
    return {
        "id": number + 1,
        "type": panel.type,
        "title": panel.title,
        "description": panel.about,
        "datasource": DATASOURCE,
        "gridPos": {"x": number % per_row * WIDTH, "y": number // per_row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "color": {"mode": "palette-classic" if line else "thresholds"},
                "thresholds": {"mode": "absolute", "steps": _steps(panel)},
                "mappings": [{"type": "value", "options": mappings}] if mappings else [],
                "custom": {"thresholdsStyle": {"mode": "line"}} if line else {},
            },
            "overrides": [],
        },
        "options": OPTIONS[panel.type],
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": DATASOURCE, "expr": query(text), "legendFormat": legend}
            for place, (text, legend) in enumerate(panel.queries.items())
        ],
    }


def _variable(label: str, words: str, sample: str) -> dict[str, Any]:
    return {
        "name": label,
        "label": words,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": f"label_values({sample}, {label})", "refId": label},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def dashboard(name: str) -> dict[str, Any]:
    """A dashboard as Grafana reads it."""
    title, panels = DASHBOARDS[name]
    queue_managers = query("<queue_manager.reachable>").partition("{")[0]
    structures = query("<cf_structure.status>").partition("{")[0]
    return {
        "uid": f"mqvitals-{name}",
        "title": title,
        "tags": ["mqvitals", "mq", "zos"],
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "annotations": {"list": []},
        "templating": {
            "list": [
                {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
                _variable("qmgr", "Queue manager", queue_managers),
                _variable("qsg", "Queue-sharing group", structures),
            ]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(panels)],
    }


def text_of(name: str) -> str:
    """A dashboard's file."""
    return json.dumps(dashboard(name), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in DASHBOARDS:
        (HERE / f"{each}.json").write_text(text_of(each), encoding="utf-8")

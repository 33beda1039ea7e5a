"""The dashboards, and queries of IBM's for z/OS, before a real Prometheus that scrapes a simulated group. Opt-in: ``make tools``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mqsamples.patience import awaited
from mqsamples.prometheus import prometheus
from mqsamples.serving import serving_agent
from mqsamples.tools import needed
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source

SOURCES = Path(__file__).resolve().parents[2] / "dashboards"
FOLDER = SOURCES if SOURCES.is_dir() else Path(sys.prefix) / "share/mqvitals/dashboards"
FROM_RECORDS = "from SMF records"
"""Panels that say so are empty here: the simulated group has no such records."""

OF_IBM = (
    '100 * ibmmq_queue_depth{platform="ZOS"} / ibmmq_queue_attribute_max_depth',
    'ibmmq_queue_oldest_message_age{platform="ZOS"}',
    'ibmmq_queue_time_since_get{platform="ZOS"}',
    'ibmmq_queue_time_since_put{platform="ZOS"}',
    'ibmmq_channel_status{platform="ZOS"} + 0',
    'ibmmq_channel_status_squash{platform="ZOS"} + 0',
    'ibmmq_channel_messages{platform="ZOS",type!="SVRCONN"}',
    'sum(ibmmq_channel_messages{platform="ZOS",channel=~".+"})',
    "100 * (ibmmq_pageset_pages_total - ibmmq_pageset_pages_unused) / ibmmq_pageset_pages_total",
    "100 - ibmmq_bufferpool_buffers_free_percent",
)
"""What IBM's dashboard for z/OS asks, with the names of any site's queues and channels."""
OF_IBM_FROM_RECORDS = (
    'ibmmq_queue_hi_depth{platform="ZOS",queue=~"APP.*"}',
    'ibmmq_queue_mqget_count{platform="ZOS",queue=~"APP.*"}',
    'ibmmq_queue_mqput_mqput1_count{platform="ZOS",queue=~"APP.*"}',
)
"""What it asks that the agent has from SMF records alone."""


def queries() -> Iterator[str]:
    """The queries of our dashboards with all queue managers and groups chosen."""
    for path in sorted(FOLDER.glob("*.json")):
        for panel in json.loads(path.read_text("utf-8"))["panels"]:
            if FROM_RECORDS not in panel["description"]:
                for target in panel["targets"]:
                    yield re.sub(r"\$(?:qmgr|qsg)", ".*", target["expr"].replace("$__rate_interval", "1m"))


def test_every_query_answers(tmp_path: Path) -> None:
    """Those of our dashboards and IBM's, over the samples that one agent's page gives, of more queue managers than scenarios name."""
    needed("prometheus")
    with serving_agent(tmp_path, members=6) as address:
        scrape = f"""
scrape_configs:
  - job_name: mqvitals
    scrape_interval: 1s
    static_configs: [{{targets: ["{address.removeprefix("http://")}"]}}]
"""
        with prometheus(tmp_path, scrape, tmp_path / "data") as query:
            ours = tuple(queries())
            assert len(ours) > 15
            open_ones = [*ours, *OF_IBM]

            def all_answer() -> bool:
                open_ones[:] = [expression for expression in open_ones if not query(expression)]
                return not open_ones

            with suppress(AssertionError):
                awaited(all_answer)
            assert open_ones == [], "\n".join(open_ones)


def test_queries_of_records_answer(mqvitals: Callable[..., Any], tmp_path: Path) -> None:
    """Over the past of a store that has SMF records of a queue."""
    needed("prometheus")
    promtool = needed("promtool")
    store, past, data = tmp_path / "store.db", tmp_path / "past.om", tmp_path / "data"
    queue, minute = ObjectName("QM01", "queue", "APP.ORDERS"), 60_000
    begin = 1_700_000_000_000
    with Store.open(store) as writer:
        for number in range(1, 6):
            ts = begin + number * minute
            values = {"depth_max": 7 * number, "puts": 30, "gets": 20}
            record = Reading(queue, "SMF", ts, values, minute, poll=False, source=Source.SMF)
            writer.write(Snapshot("QM01", False, number, ts, (record,)), Evaluation((), ()))
    span = ["--from", "2023-11-14 20:00", "--to", "2023-11-15 00:00", "--tz", "UTC"]
    mqvitals("export", "--openmetrics", "--store", store, *span, "--out", past, "--quiet", "*/queue/*")
    command = [str(promtool), "tsdb", "create-blocks-from", "openmetrics", str(past), str(data)]
    subprocess.run(command, check=True, capture_output=True)
    with prometheus(tmp_path, "scrape_configs: []\n", data) as query:
        found = []
        for expression in OF_IBM_FROM_RECORDS:
            selector = f"{expression} @ {(begin + 5 * minute) / 1000}"
            found += [float(each["value"][1]) for each in query(selector)]
        assert found == [35, 100, 150]

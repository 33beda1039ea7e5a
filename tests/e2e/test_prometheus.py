"""An agent under the eyes of Prometheus: its page before promtool, a real server that scrapes it, a past that fills one. Opt-in.

They need promtool and prometheus: ``make tools``, or a package of Debian. Without them the pages are judged by the parsers of
prometheus_client, and names by the rules of promtool's lint, in ``tests/agent/openmetrics``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mqsamples.patience import awaited
from mqsamples.prometheus import prometheus
from mqsamples.serving import asked, serving_agent
from mqsamples.tools import needed


def test_promtool_finds_nothing_but_three_inherited_names(tmp_path: Path) -> None:
    """With a whole simulated group on the page."""
    promtool = needed("promtool")
    with serving_agent(tmp_path) as address:
        # A counter needs two polls.
        awaited(lambda: "ibmmq_pageset_expansion_count" in asked(f"{address}/metrics").body)
        page = asked(f"{address}/metrics").body
    found = subprocess.run([str(promtool), "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    lines = (found.stdout + found.stderr).splitlines()
    assert sorted(line.split()[0] for line in lines if line) == [
        "ibmmq_bufferpool_buffers_total",
        "ibmmq_pageset_expansion_count",
        "ibmmq_pageset_pages_total",
    ]


def test_prometheus_scrapes_the_agent_and_shows_it_up(tmp_path: Path) -> None:
    """With the token, over its own negotiation of format and coding."""
    needed("prometheus")
    (tmp_path / "token").write_text("swordfish", encoding="utf-8")
    with serving_agent(tmp_path, "serve: {token_file: token}") as address:
        scrape = f"""
scrape_configs:
  - job_name: mqvitals
    scrape_interval: 1s
    authorization: {{credentials_file: {tmp_path / "token"}}}
    static_configs: [{{targets: ["{address.removeprefix("http://")}"]}}]
"""
        with prometheus(tmp_path, scrape, tmp_path / "data") as query:
            awaited(lambda: [each for each in query("up") if each["value"][1] == "1"])
            assert awaited(lambda: query('ibmmq_queue_depth{platform="ZOS"}'))
            assert awaited(lambda: query("rate(ibmmq_channel_messages[10s]) > 0"))
            assert awaited(
                lambda: query("100*((ibmmq_pageset_pages_total-ibmmq_pageset_pages_unused)/ibmmq_pageset_pages_total)")
            )
            assert query('mqvitals_alerts{alertstate="firing"}')


def test_an_engine_is_filled_with_the_past(mqvitals: Callable[..., Any], incident: Path, tmp_path: Path) -> None:
    """What is exported is found again by its time."""
    needed("prometheus")
    promtool = needed("promtool")
    past = tmp_path / "past.om"
    mqvitals("export", "--openmetrics", "--store", incident, "--last", "30d", "--out", past, "--quiet", "*/queue/*")
    lines = past.read_text(encoding="utf-8").splitlines()
    samples = [line for line in lines if line.startswith("ibmmq_queue_depth{")]
    data = tmp_path / "data"
    subprocess.run(
        [str(promtool), "tsdb", "create-blocks-from", "openmetrics", str(past), str(data)],
        check=True,
        capture_output=True,
    )
    begin, end = (float(line.rpartition(" ")[2]) for line in (min(samples, key=_time), max(samples, key=_time)))
    with prometheus(tmp_path, "scrape_configs: []\n", data) as query:
        counted = query(f"sum(count_over_time(ibmmq_queue_depth[{round(end - begin) + 60}s] @ {end + 1}))")
        assert int(counted[0]["value"][1]) == len(samples)


def _time(line: str) -> float:
    return float(line.rpartition(" ")[2])

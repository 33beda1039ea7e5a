"""An agent under the eyes of Prometheus: its page before promtool, a real server that scrapes it, a past that fills one. Opt-in.

They need promtool and prometheus: ``make tools``, or a package of Debian. Without them the pages are judged by the parsers of
prometheus_client, and names by the rules of promtool's lint, in ``tests/agent/openmetrics``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote

import pytest

from mqsamples.serving import asked, awaited, serving_agent

TOOLS = Path(__file__).resolve().parents[2] / ".tools"


def program(name: str) -> Path | None:
    """Where a program is: as the environment says, as ``make tools`` put it, or as a package did."""
    named = os.environ.get(f"MQVITALS_{name.upper()}") or next(
        filter(None, (path if (path := str(TOOLS / name)) and Path(path).is_file() else None, shutil.which(name))), None
    )
    return Path(named) if named and Path(named).is_file() else None


PROMTOOL, PROMETHEUS = program("promtool"), program("prometheus")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not there: make tools")
needs_prometheus = pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not there: make tools")


@needs_promtool
def test_promtool_finds_nothing_but_three_inherited_names(tmp_path: Path) -> None:
    """With a whole simulated group on the page."""
    with serving_agent(tmp_path) as address:
        # A counter needs two polls.
        page = awaited(lambda: "ibmmq_pageset_expansion_count" in (text := asked(f"{address}/metrics").body) and text)
    found = subprocess.run([str(PROMTOOL), "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    lines = (found.stdout + found.stderr).splitlines()
    assert sorted(line.split()[0] for line in lines if line) == [
        "ibmmq_bufferpool_buffers_total",
        "ibmmq_pageset_expansion_count",
        "ibmmq_pageset_pages_total",
    ]


@contextmanager
def prometheus(folder: Path, scrape: str, data: Path) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """Ask a Prometheus with this scrape configuration; an expression gives the result of an instant query."""
    config = folder / "prometheus.yml"
    config.write_text(scrape, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(PROMETHEUS),
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        "--storage.tsdb.retention.time=10y",
    ]
    with (
        (folder / "prometheus.log").open("w") as log,
        subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log) as server,
    ):
        try:

            def query(expression: str) -> list[dict[str, Any]]:
                with suppress(URLError, ConnectionError):
                    body = asked(f"http://127.0.0.1:{port}/api/v1/query?query={quote(expression)}").body
                    if body.startswith("{"):
                        found: list[dict[str, Any]] = json.loads(body).get("data", {}).get("result", [])
                        return found
                return []

            awaited(lambda: query("vector(1)"), server)
            yield query
        finally:
            server.terminate()
            server.wait(60)


@needs_prometheus
def test_prometheus_scrapes_the_agent_and_shows_it_up(tmp_path: Path) -> None:
    """With the token, over its own negotiation of format and coding."""
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


@needs_prometheus
@needs_promtool
def test_an_engine_is_filled_with_the_past(mqvitals: Callable[..., Any], incident: Path, tmp_path: Path) -> None:
    """What is exported is found again by its time."""
    past = tmp_path / "past.om"
    mqvitals("export", "--openmetrics", "--store", incident, "--last", "30d", "--out", past, "--quiet", "*/queue/*")
    lines = past.read_text(encoding="utf-8").splitlines()
    samples = [line for line in lines if line.startswith("ibmmq_queue_depth{")]
    data = tmp_path / "data"
    subprocess.run(
        [str(PROMTOOL), "tsdb", "create-blocks-from", "openmetrics", str(past), str(data)],
        check=True,
        capture_output=True,
    )
    begin, end = (float(line.rpartition(" ")[2]) for line in (min(samples, key=_time), max(samples, key=_time)))
    with prometheus(tmp_path, "scrape_configs: []\n", data) as query:
        counted = query(f"sum(count_over_time(ibmmq_queue_depth[{round(end - begin) + 60}s] @ {end + 1}))")
        assert int(counted[0]["value"][1]) == len(samples)


def _time(line: str) -> float:
    return float(line.rpartition(" ")[2])

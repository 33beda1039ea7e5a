"""What a running agent serves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from mqsamples.patience import awaited
from mqsamples.serving import asked, serving_agent
from mqvitals_agent.openmetrics.exposition import Format


def test_an_agent_serves_its_metrics_and_its_status(mqvitals: Callable[..., Any], tmp_path: Path) -> None:
    """The page is OpenMetrics of the group, the status that of the command; counters grow."""
    with serving_agent(tmp_path) as address:

        def samples() -> dict[str, float]:
            text = asked(f"{address}/metrics", {"Accept": Format.OPENMETRICS.value}).body
            families = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
            return {f"{each.name}{sorted(each.labels.items())}": each.value for one in families for each in one.samples}

        def first_full() -> dict[str, float] | None:
            """The first cycle of a busy machine may have no answers about queues yet."""
            found = samples()
            return found if wanted <= {key.partition("[")[0] for key in found} else None

        wanted = {
            "ibmmq_queue_depth",
            "ibmmq_qmgr_status",
            "mqvitals_agent_cycles_total",
            "mqvitals_agent_replies",
        }
        first = awaited(first_full)
        assert first is not None
        cycles = "mqvitals_agent_cycles_total[]"
        awaited(lambda: samples()[cycles] > first[cycles])
        status = json.loads(asked(f"{address}/api/v1/status").body)
        told = json.loads(mqvitals("status", "--json", "--store", tmp_path / "store.db", code=None).stdout)
        assert status.keys() == told.keys()
        assert status["group"] == told["group"] == "PRDQSG"
        assert [each["name"] for each in status["queue_managers"]] == [each["name"] for each in told["queue_managers"]]


def test_only_who_has_the_token_is_answered(tmp_path: Path) -> None:
    """As the settings say."""
    (tmp_path / "token").write_text("swordfish\n", encoding="utf-8")
    with serving_agent(tmp_path, "serve: {token_file: token, limit: 100}") as address:
        assert asked(f"{address}/metrics").status == 401
        assert asked(f"{address}/api/v1/status").status == 401
        text = asked(f"{address}/metrics", {"Authorization": "Bearer swordfish"}).body
        left_out = next(line for line in text.splitlines() if line.startswith("mqvitals_agent_series_left_out "))
        assert float(left_out.split()[1]) > 1000
    assert "serve.series_left_out" in (tmp_path / "log").read_text(encoding="utf-8")

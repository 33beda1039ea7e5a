"""An agent, a real Alertmanager and a real Prometheus: alerts come and end, and both programs are up for Prometheus. Needs ``make tools``.

For ``make soak``: the simulated group takes two minutes of real time until an alert has come and gone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mqsamples.patience import awaited
from mqsamples.prometheus import alertmanager, prometheus
from mqsamples.serving import asked, serving_agent
from mqsamples.tools import needed

COMES_AND_GOES, STAYS = "BP-03", "CHL-16"


@pytest.mark.soak
def test_alerts_come_and_end_and_both_are_up(tmp_path: Path) -> None:
    """What the agent sends is in Alertmanager as long as it fires, and Prometheus counts the same alerts at both."""
    needed("alertmanager")
    needed("prometheus")
    with alertmanager(tmp_path) as address:
        settings = f"receivers: [{{name: am, type: alertmanager, addresses: [{address}], resend: 5s}}]\n"
        with serving_agent(tmp_path, settings) as agent:
            scrape = "scrape_configs:\n" + "".join(
                f"  - {{job_name: {job}, scrape_interval: 1s, static_configs: [{{targets: ['{url.removeprefix('http://')}']}}]}}\n"
                for job, url in (("mqvitals", agent), ("alertmanager", address))
            )

            def active() -> dict[str, Any]:
                return {each["labels"]["rule"]: each for each in json.loads(asked(f"{address}/api/v2/alerts").body)}

            with prometheus(tmp_path, scrape, tmp_path / "data") as query:
                awaited(lambda: len(query("up == 1")) == 2)
                awaited(lambda: COMES_AND_GOES in active())
                came = active()[COMES_AND_GOES]
                assert came["labels"]["object"] == "QM01/buffer_pool/3"
                assert came["labels"]["severity"] == "critical"
                assert came["status"]["state"] == "active"
                awaited(lambda: query(f'mqvitals_alerts{{rule="{COMES_AND_GOES}",alertstate="firing"}}'))
                awaited(lambda: STAYS in active())
                awaited(lambda: COMES_AND_GOES not in active())
                # It ended because the agent said so, not because nothing was heard of it.
                assert STAYS in active()
                awaited(lambda: query('alertmanager_alerts_received_total{status="resolved"} > 0'))
                awaited(lambda: not query(f'mqvitals_alerts{{rule="{COMES_AND_GOES}",alertstate="firing"}}'))
                assert {each["metric"]["job"] for each in query("up == 1")} == {"mqvitals", "alertmanager"}

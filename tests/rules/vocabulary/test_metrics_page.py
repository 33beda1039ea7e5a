"""The reference page of all metrics."""

from __future__ import annotations

import re
from pathlib import Path

from mqvitals_agent.openmetrics.names import sample_names
from mqvitals_rules.vocabulary.markdown import metrics_page
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"


def test_the_page_in_the_documentation_is_up_to_date() -> None:
    """docs/metrics.md is what the tables say today."""
    assert PAGE.read_text(encoding="utf-8") == metrics_page(KINDS.values(), sample_names), "write it again: make docs"


def test_every_metric_has_a_row_with_five_cells() -> None:
    """Each metric of each kind stands in its kind's table, and no text breaks the table; only Prometheus has not all."""
    text = metrics_page(KINDS.values(), sample_names)
    for kind in KINDS.values():
        section = text.split(f"\n## {kind.name}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \|([^|\n]+)\|([^|\n]+)\|([^|\n]+)\|[^|\n]*\|$", section, flags=re.MULTILINE)
        assert [row[0] for row in rows] == [metric.name for metric in kind.metrics]
        assert all(cell.strip() for row in rows for cell in row)


def test_numbers_have_their_name_in_prometheus_and_texts_have_none() -> None:
    """The last column has the names of samples."""
    text = metrics_page(KINDS.values(), sample_names)
    assert re.search(r"^\| `depth` \|.*\| `ibmmq_queue_depth` \|$", text, flags=re.MULTILINE)
    assert re.search(
        r"^\| `status` \|.*\| `ibmmq_channel_status`, `ibmmq_channel_status_squash` \|$", text, re.MULTILINE
    )
    assert re.search(r"^\| `conname` \|.*\|  \|$", text, flags=re.MULTILINE)


def test_every_state_s_values_are_told() -> None:
    """Names and numbers of the states stand below the metrics, once for states that share them."""
    text = metrics_page(KINDS.values(), sample_names)
    assert "RETRYING 5" in text
    assert "| `comphdr`, `comphdr_last`, `compmsg`, `compmsg_last` | NONE 0, RLE 1," in text


def test_every_reason_of_absence_is_explained() -> None:
    """Whatever reason is shown instead of a value, the page says what it means."""
    text = metrics_page((), sample_names)
    assert all(f"| {reason.value} | " in text for reason in Absence)


def test_special_numbers_defaults_and_platforms_are_told() -> None:
    """A reported number that means absence, a default and a platform stand with the metric."""
    text = metrics_page(KINDS.values(), sample_names)
    assert "-1 reported: absent, not collected." in text
    assert "declared in the configuration, unclassified unless it is" in text
    assert "declared in the configuration, 80 unless it is" in text
    assert "Not on z/OS." in text
    assert "From command level 913." in text

"""``mqvitals metrics``."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.openmetrics.names import sample_names
from mqvitals_rules.vocabulary.markdown import metrics_page
from mqvitals_rules.vocabulary.tables import KINDS

KEYS = ["kind", "name", "unit", "type", "pcf", "smf", "mqsc", "meaning", "prometheus"]


def test_json_lists_every_metric_with_the_same_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """--json is a list of all metrics of all kinds, each with nine keys of texts."""
    assert main(["metrics", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["kind"], row["name"]) for row in rows] == [
        (kind.name, metric.name) for kind in KINDS.values() for metric in kind.metrics
    ]
    assert all(list(row) == KEYS for row in rows)
    assert all(isinstance(value, str) for row in rows for value in row.values())
    depth = next(row for row in rows if (row["kind"], row["name"]) == ("queue", "depth"))
    assert depth["unit"] == "messages"
    assert depth["type"] == "gauge"
    assert depth["pcf"] == "MQIA_CURRENT_Q_DEPTH"
    assert depth["mqsc"] == "CURDEPTH"
    assert depth["smf"] == "QQSTDPTH"
    assert depth["prometheus"] == "ibmmq_queue_depth"


def test_text_fits_eighty_columns_and_names_every_metric(capsys: pytest.CaptureFixture[str]) -> None:
    """The table is grouped by kind, readable at 80 columns, and complete."""
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for kind in KINDS.values():
        section = out[out.index(f"{kind.name}: ") :].split("\n\n")[0]
        assert all(f"\n  {metric.name} " in section for metric in kind.metrics)
    assert "\N{NO-BREAK SPACE}" not in out


def test_one_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """--kind leaves out all other kinds, in text and JSON."""
    assert main(["metrics", "--kind", "page_set", "--json"]) == 0
    assert {row["kind"] for row in json.loads(capsys.readouterr().out)} == {"page_set"}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("channel.xbatch", {"channel.xbatchsz_short", "channel.xbatchsz_long"}),
        ("XBATCHSZ", {"channel.xbatchsz_short", "channel.xbatchsz_long"}),
        ("MQIA_CURRENT_Q_DEPTH", {"queue.depth", "queue.index_entries"}),
        ("mqiach_network_time_indicator", {"channel.nettime_us_short", "channel.nettime_us_long"}),
        ("QPSTDWT", {"buffer_pool.dwt"}),
        ("QESTMSTC", {"cf_structure.avg_call_us"}),
        ("LPUTTIME", {"queue.last_put_ts", "queue.last_put_age_s"}),
        ("queue.*_age_s", {"queue.oldest_msg_age_s", "queue.last_put_age_s", "queue.last_get_age_s"}),
        ("low?pct", {"buffer_pool.low_pct"}),
    ],
)
def test_patterns(pattern: str, found: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A metric is found by part of its name, by a name with * and ?, and by what MQ or SMF call it, whatever the case."""
    assert main(["metrics", pattern, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert found <= {f"{row['kind']}.{row['name']}" for row in rows}
    for row in rows:
        called = (f"{row['kind']}.{row['name']}", row["pcf"], row["smf"], row["mqsc"])
        assert any(fnmatchcase(each.upper(), f"*{pattern.upper()}*") for each in called), row


def test_a_single_metric_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """When one metric matches, its values, sources and special numbers are printed."""
    assert main(["metrics", "queue.qtime_us_short"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("queue.qtime_us_short\n")
    assert "not collected when -1 is reported" in out
    assert "MQIACF_Q_TIME_INDICATOR[0]" in out
    assert main(["metrics", "channel.status"]) == 0
    out = capsys.readouterr().out
    assert "RETRYING 5," in out
    assert max(map(len, out.splitlines())) <= 80


def test_markdown_is_the_reference_page(capsys: pytest.CaptureFixture[str]) -> None:
    """--markdown writes docs/metrics.md, byte for byte."""
    assert main(["metrics", "--markdown"]) == 0
    assert capsys.readouterr().out == metrics_page(KINDS.values(), sample_names)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["channel.statuss"], "no metric matches 'channel.statuss'", "channel.status"),
        (["nettime_us_shrt"], "no metric matches", "nettime_us_short"),
        (["\x1b[2J"], r"no metric matches '\x1b[2J'", "lists all"),
        (["--kind", "chinit"], "there is no kind 'chinit'", "channel_initiator"),
        (["depth", "--kind", "log"], "no metric of kind log matches 'depth'", "depth"),
    ],
)
def test_nothing_found(arguments: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that does not exist is a sentence with a hint on stderr and exit code 2, never a traceback."""
    assert main(["metrics", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert hint in captured.err.split("hint: ")[1]
    assert "\x1b" not in captured.err


def test_json_and_markdown_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Two output forms at once are an error of the command line."""
    with pytest.raises(SystemExit) as caught:
        main(["metrics", "--json", "--markdown"])
    assert caught.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["ibmmq_channel_status_squash", "IBMMQ_CHANNEL_STATUS"])
def test_a_metric_is_found_by_its_name_in_prometheus(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever sees a series in a dashboard finds what it is."""
    assert main(["metrics", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("channel.status\n")
    assert "exported  ibmmq_channel_status, ibmmq_channel_status_squash" in out

"""Records with a known fault: the report names it with its figures, advice and source, and what is right as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str]]
Make = Callable[..., Any]


def flat(text: str) -> str:
    """Text without the ends of its lines."""
    return " ".join(text.split())


def test_synchronous_writes_are_a_finding(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Of four intervals one had writes for which tasks waited: which one, how many of how many, advice, source, exit code 1."""
    records = [pools(number, smf.pool(low=30_000, free=40_000, at56=7 * (number == 2))) for number in range(4)]
    code, text = report(file(*records))
    assert code == 1
    words = flat(text)
    assert "BP-05:" in words
    assert "2026-03-01 13:00:00 to 2026-03-01 13:30:00 UTC; in 1 of 4 evaluated intervals" in words
    assert "dmc [7]" in words
    assert "What to do: " in words
    assert "Source: Performance" in words
    assert "MQ01 buffer pool 3" in words


def test_the_worst_interval_is_the_one_that_is_told(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """The pool was short of free buffers three times; the words are those of the time when it was worst."""
    lows = (1_500, 500, 1_000, 40_000)
    records = [pools(number, smf.pool(low=low, free=45_000)) for number, low in enumerate(lows)]
    code, text = report(file(*records))
    words = flat(text)
    assert code == 1
    assert "BP-03:" in words
    assert (
        "Worst in the interval 2026-03-01 12:30:00 to 2026-03-01 13:00:00 UTC; in 3 of 4 evaluated intervals" in words
    )
    assert "from 2026-03-01 12:30:00 to 2026-03-01 13:30:00" in words


def test_stages_of_one_trouble_are_one_finding(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """A pool that went past two thresholds is named under the worse one, and the other is told beside it."""
    records = [pools(number, smf.pool(low=low, free=45_000)) for number, low in enumerate((9_000, 1_000))]
    _, text = report(file(*records))
    words = flat(text)
    assert "BP-03: " in words
    assert "; BP-01 (Short-lived pool at or below 20 % free) in 1 interval." in words
    assert "WARNING BP-01: " not in words
    assert "INFO BP-01: " not in words


def test_what_was_judged_and_good_is_listed(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """A healthy pool: exit code 0, and the rules that were tried, with how many pools and intervals; no word of the log."""
    code, text = report(file(*(pools(number, smf.pool(low=45_000, free=46_000)) for number in range(3))))
    assert code == 0
    words = flat(text)
    assert "No fault was found by the checks that could be evaluated" in words
    assert "BP-06 Pool short on storage (SOS) 1 3" in words
    assert "0 critical, 0 warning, 0 info" in words
    good = words.split("What is OK")[1].split("Buffer pools")[0]
    assert "LOG-" not in good
    assert "CHIN-" not in good


def test_waits_for_log_buffers(report: Run, file: Make, smf: Any) -> None:
    """The finding has the number of waits; the log's rate is all control intervals over the interval's seconds."""
    log = smf.section(720, {20: (4, 12), 84: (4, 1_000), 88: (4, 460_800), 268: (4, 230_400), 412: (4, 230_400)})
    code, text = report(file(smf.record(115, 1, {11: [log]})))
    words = flat(text)
    assert code == 1
    assert "LOG-02:" in words
    assert "wtb [12]" in words
    assert "all copies 1 1 03-01 12:30" in words
    assert "one copy 0.5 0.5 03-01 12:30" in words
    assert "waits for a free log buffer (should be 0) 12" in words


def test_no_adapter_was_left(report: Run, file: Make, smf: Any, task: Make, initiator: Make) -> None:
    """All adapters had work in two intervals in a row; the table has requests, shares and times of a request."""
    records = []
    for number in range(2):
        sections = {
            1: [initiator()],
            2: [task(0, 10, size=40)],
            3: [task(each, 1_000, 18_000_000, 90_000_000) for each in range(2)],
        }
        start = smf.NOON_US + number * 1_800_000_000
        records.append(smf.record(115, 231, sections, number=6, start_us=start))
    code, text = report(file(*records))
    words = flat(text)
    assert code == 1
    assert "CHIN-01: No unused adapter task" in words
    assert "adapters_unused [0]" in words
    assert "Most active channels 18 of 200, most current channels 20 of 200" in words
    assert "2 tasks, unused in the whole period: 0." in words
    assert "1 2,000 5 % 5 % 03-01 12:30 1 % 18 ms 90 ms" in words


def test_a_condition_that_holds_too_briefly_is_told_apart(
    report: Run, file: Make, smf: Any, task: Make, initiator: Make
) -> None:
    """One interval without a spare adapter is seen but is no finding, as the rule demands two."""
    sections = {1: [initiator()], 2: [task(0, 10, size=40)], 3: [task(0, 1_000)]}
    code, text = report(file(smf.record(115, 231, sections, number=6)))
    words = flat(text)
    assert "Seen, but not for long enough to count" in words
    assert "CHIN-01 MQ01 channel initiator" in words
    assert "WARNING CHIN-01" not in words
    assert code == 0


def test_an_outlier_of_the_network(report: Run, file: Make, smf: Any, channel: Make) -> None:
    """A round trip far above the average is a finding; the table has messages a second, batches and NETTIME."""
    fields = {
        112: (4, 50),
        116: (4, 18_000),
        124: (4, 900),
        128: (4, 90),
        204: (4, 400),
        208: (4, 300),
        212: (4, 90_000),
    }
    code, text = report(file(smf.record(116, 10, {1: [channel("MQ01.TO.MQ02", fields)]})))
    words = flat(text)
    assert code == 1
    assert "CHL-07:" in words
    assert "nettime_max_us [90000]" in words
    assert "MQ01.TO.MQ02 18,000 10 20 50 10 %" in words
    assert "MQ01.TO.MQ02 300 us 400 us 90 ms 03-01 12:30" in words


def test_the_worst_intervals_of_pools(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Those under stress, short on storage first, then synchronous writes, then the fewest free; others are not told."""
    records = [
        pools(0, smf.pool(low=45_000, free=46_000)),
        pools(1, smf.pool(low=9_000, free=46_000)),
        pools(2, smf.pool(low=500, free=46_000, at52=4)),
        pools(3, smf.pool(low=600, free=46_000, at56=2, at68=1)),
    ]
    part = flat(report(file(*records))[1]).split("the worst first:")[1]
    lines = ("3 2026-03-01 14:00:00 1.2 % 0 2 1", "3 2026-03-01 13:30:00 1 % 4 0 0", "3 2026-03-01 13:00:00 18 % 0 0 0")
    assert " ".join(lines) in part
    assert "12:30:00 90 %" not in part


def test_page_sets(report: Run, file: Make, smf: Any) -> None:
    """The table has the pages, the highest use and how often a page set was made larger in the time."""
    records = []
    for number, (unused, expanded) in enumerate(((400, 3), (600, 5))):
        section = smf.section(96, {8: (4, 4), 12: (4, 2), 16: (4, 1_000), 20: (4, unused), 92: (2, expanded)})
        start = smf.NOON_US + number * 1_800_000_000
        records.append(smf.record(115, 201, {1: [section]}, start_us=start))
    words = flat(report(file(*records))[1])
    assert "4 2 1,000 40 % 60 % 03-01 12:30 8 0 0" in words


@pytest.mark.parametrize("width", [80, 120])
def test_many_objects_are_told_in_part(
    report: Run, file: Make, pools: Make, smf: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Of thirty bad pools ten are told one by one, the worst first, and the others by name."""
    monkeypatch.setenv("COLUMNS", str(width))
    bad = [smf.pool(number=number, low=10 * number, at68=30 - number) for number in range(30)]
    _, text = report(file(pools(0, *bad)))
    words = flat(text)
    part = words.split("BP-06:")[1].split("What to do:")[0]
    assert part.count("Worst in the interval") == 10
    assert part.index("MQ01 buffer pool 0)") < part.index("MQ01 buffer pool 9)")
    assert "And 20 more: 10, 11," in part
    assert all(len(line) <= width for line in text.splitlines())


ABOUT_MEMBERS = """\
rules:
  - id: OUR-01
    title: A pool is half empty
    tier: S
    kind: data_quality
    scope: queue_manager
    when: any(buffer_pool, low_pct > 50)
    severity: info
    summary: "queue manager {owner}: a pool of it is half empty"
    advice: Nothing to do.
    caveat: None.
    source: {document: Operations handbook, section: Pools}
"""


def test_a_rule_about_members_is_a_finding(
    report: Run, file: Make, pools: Make, smf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that looks at nothing of the object itself fires at its record: it is told as a finding, with the records it held in."""
    (tmp_path / "ours.yaml").write_text(ABOUT_MEMBERS, "utf-8")
    (tmp_path / "mqvitals.yaml").write_text("rules:\n  files: [ours.yaml]\n", "utf-8")
    monkeypatch.setenv("MQVITALS_CONFIG", str(tmp_path / "mqvitals.yaml"))
    calls = smf.record(115, 2, {5: [smf.section(672)]}, number=9, start_us=smf.NOON_US + 1)
    code, text = report(file(pools(0, smf.pool(low=45_000, free=46_000)), calls))
    words = flat(text)
    assert code == 1
    assert "INFO OUR-01: A pool is half empty" in words
    assert "in 1 of 1 evaluated interval" in words
    assert "But: None." not in words


def test_everything_unknown_has_a_reason(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """No rule stands under what could not be judged without a word why."""
    records = [smf.record(115, 2, {5: [smf.section(672)], 8: [smf.section(336)]}, number=9), pools(0, smf.pool())]
    _, text = report("--markdown", file(*records))
    table = text.split("What could not be evaluated")[1].split("\n\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert rows
    assert all(row[3] for row in rows)

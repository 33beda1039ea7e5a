"""``mqvitals plan``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.plan.report import rows_table
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.plan.catalogue import FORMULAS
from mqvitals_rules.plan.formula import Formula, TableRow

KEYS = ["formula", "inputs", "value", "unit", "exact", "measured_on", "caveat", "source", "steps"]
CHANNEL = "QM01/channel/TO.QM02"


def given(formula: Formula) -> list[str]:
    return [word for name, value in formula.example.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["plan", *arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    shown: dict[str, Any] = json.loads(out)
    return shown


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["plan", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 2
    return captured.err


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_every_example(formula: Formula, capsys: pytest.CaptureFixture[str]) -> None:
    """Each formula answers its own example, as JSON with exactly its keys, and as text that holds all of it."""
    shown = answered(capsys, formula.name, *given(formula))
    answer = formula(**formula.example)
    assert list(shown) == [*KEYS, *(["rows"] if answer.rows else [])]
    assert (shown["formula"], shown["value"], shown["unit"]) == (formula.name, answer.value, answer.unit)
    assert shown["inputs"] == dict(answer.inputs)
    assert shown["steps"] == list(answer.steps)
    assert main(["plan", formula.name, *given(formula)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in (formula.title, answer.unit, answer.caveat, answer.source, *answer.steps):
        assert " ".join(part.split()) in text


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_every_help(formula: Formula, capsys: pytest.CaptureFixture[str]) -> None:
    """A formula's help names every input with its unit and bounds, an example, and its source."""
    with pytest.raises(SystemExit) as caught:
        main(["plan", formula.name, "--help"])
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for each in formula.inputs:
        assert f"--{each.option} " in text
        assert each.allowed in text.replace("- ", "-") or each.allowed in text
    assert f"mqvitals plan {formula.name}" in text
    assert " ".join(formula.source.split()) in text


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Every formula is listed with its title, at 80 columns; as JSON with its inputs."""
    assert main(["plan", "list"]) == 0
    out = capsys.readouterr().out
    assert max(map(cells, out.splitlines())) <= 80
    assert all(f"{name} " in out for name in FORMULAS)
    assert main(["plan"]) == 0
    assert capsys.readouterr().out == out
    assert main(["plan", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["formula"] for row in rows] == list(FORMULAS)


def test_suffixes(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes count in 1024s, messages in 1000s."""
    shown = answered(capsys, "cf-structure-size", "--msg-bytes", "1.5KB", "--max-msgs", "275K")
    assert shown["inputs"] == {"msg_bytes": 1536, "max_msgs": 275_000}
    assert shown["value"] == 515_625


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cf-structure-siz"], "there is no formula 'cf-structure-siz'\nhint: did you mean 'cf-structure-size'?"),
        (["cf-structure-size"], "msg-bytes must be given: "),
        (["cf-structure-size", "--msg-bytes", "0"], "msg-bytes must be 1 to 64,836 bytes, not 0"),
        (["cf-structure-size", "--msg-bytes", "1", "--max-msgs", "many"], "max-msgs: 'many' is no number"),
        (["cf-structure-size", "--msg-bytes", "1", "--max-msgs", "5KB"], "is a number of bytes, not of messages"),
        (["cf-structure-size", "--msg-bytes"], "msg-bytes: expected one argument"),
        (
            ["cf-structure-size", "--depth", "1"],
            "cf-structure-size has no option --depth; it has --msg-bytes, --max-msgs",
        ),
        (["list", "--json", "--markdown"], "not allowed with"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is one sentence with what is allowed, and exit code 2."""
    assert message in refused(capsys, *arguments)


def test_hostile_words_are_shown_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    """What was written is quoted without steering the terminal."""
    for arguments in (["\x1b[2J"], ["cf-structure-size", "--msg-bytes", "\x1b[2J"], ["cf-structure-size", "--\x1b[2J"]):
        assert "\x1b" not in refused(capsys, *arguments)


def test_from_a_store(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What was not given is taken from what was seen; what was given stays."""
    assert main(["plan", "channel-ceiling", "--from", store, CHANNEL, "--batch-msgs", "100", "--json"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    assert list(shown) == KEYS
    assert (shown["inputs"]["batch_msgs"], shown["inputs"]["wait_us"]) == (100, 81_000)
    assert f"wait-us 81,000 from nettime_us_short + 1000 for the partner of {CHANNEL}, 0s old" in captured.err
    assert "batch-msgs" not in captured.err


def test_counters_over_the_last_hour(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Increases of counters are added up, and a rate is divided by the time in which they were."""
    moved = answered(capsys, "batch-transfer-time", "--from", store, CHANNEL)
    assert (moved["inputs"]["messages"], moved["inputs"]["batch_msgs"]) == (1500, 50)
    assert (
        answered(capsys, "batch-bytes", "--from", store, CHANNEL, "--batch-limit-kb", "0")["inputs"]["avg_bytes"]
        == 2000
    )
    rate = answered(capsys, "receive-timeout-cost", "--from", store, CHANNEL)
    assert (rate["inputs"]["msgs_per_s"], rate["inputs"]["achieved_batch_msgs"]) == (25, 10)


def test_the_average_length_of_what_lies_on_a_page_set(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The queues on the page set tell it together; those of others do not count."""
    shown = answered(capsys, "page-set-capacity", "--from", store, "QM01/page_set/4")
    assert (shown["inputs"]["msg_bytes"], shown["inputs"]["pages"], shown["value"]) == (5000, 100_000, 50_000)
    assert "the store has seen no QM01/page_set/9" in refused(
        capsys, "page-set-capacity", "--from", store, "QM01/page_set/9"
    )


def test_text_says_where_inputs_are_from(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The text names the metric, its age, and what keeps its default and why."""
    assert main(["plan", "page-set-capacity", "--from", store, "QM01/page_set/4", "--msg-bytes", "3000"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "pages 100,000 from total_pages of QM01/page_set/4, 0s old" in text
    assert "layout not taken (queue_manager.maxshortmsgs: not declared): shipped is the default" in text
    assert "100,000 messages" in text


def test_declared_facts(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What only the configuration tells is taken from it, and missing without it."""
    arguments = ["chiadaps", "--from", store, "QM01/channel_initiator"]
    assert "queue_manager.processors: not declared" in refused(capsys, *arguments)
    config = tmp_path / "facts.yaml"
    config.write_text("facts:\n  queue_managers:\n    - objects: QM01/queue_manager\n      processors: 8\n", "utf-8")
    shown = answered(capsys, *arguments, "--config", str(config))
    assert (shown["inputs"]["processors"], shown["value"]) == (8, 62)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["channel-ceiling", "--from", "STORE", "QM01/channel/TO.QM20"], "the store has seen no QM01/channel/TO.QM20"),
        (["channel-ceiling", "--from", "STORE", "QM01"], "an object is written owner/kind/name"),
        (
            ["channel-ceiling", "--from", "STORE", "QM01/page_set/4"],
            "has no input from a page_set\nhint: it takes from a channel",
        ),
        (
            ["channel-ceiling", "--from", "STORE", "QM01/channel/QUIET"],
            "does not have batch-msgs (batchsz: inactive; it is 1 to 9,999",
        ),
        (["mqput1-break-even", "--from", "STORE", CHANNEL], "has no input that the agent measures"),
        (["channel-ceiling", "--from", "/nowhere/group.db", CHANNEL], "/nowhere/group.db"),
        (["channel-ceiling", "--from", "STORE"], "from: expected 2 arguments"),
    ],
)
def test_mistakes_with_a_store(
    arguments: list[str], message: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be taken is a sentence that says why."""
    err = refused(capsys, *(store if word == "STORE" else word for word in arguments))
    assert message in err
    assert "hint: " in err


def test_columns_of_a_table() -> None:
    """Names of columns are broken at their words, numbers stand to the right, absent cells are dashes."""
    lines = rows_table([{"size_of_batch": 1, "word": "a"}, {"size_of_batch": 1234.5, "word": None}], 80)
    assert lines == ["  size of", "    batch  word", "  ───────  ────", "        1  a", "  1,234.5  -"]


def test_a_wide_table_goes_on_below() -> None:
    """The columns that tell rows apart are there again, and no line is wider than the screen."""
    rows: list[TableRow] = [
        {"key": number // 2, "word": "ab"[number % 2], "first": 10**9, "second": 10**9} for number in range(4)
    ]
    lines = rows_table(rows, 32)
    assert max(map(cells, lines)) <= 32
    assert lines[0] == "  key  word          first"
    assert lines[7] == "  key  word         second"
    assert lines[6] == ""
    assert lines[-1] == "    1  b     1,000,000,000"


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_no_table_is_wider_than_the_screen(formula: Formula) -> None:
    """Whatever a formula tells in rows, it fits 80 columns."""
    rows = formula(**formula.example).rows
    assert not rows or max(map(cells, rows_table(rows, 80))) <= 80


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_help_and_list_are_light(arguments: list[str]) -> None:
    """Neither loads YAML, SQLite, asyncio or the vocabulary; help not even a formula."""
    code = (
        "import sys\nfrom mqvitals_tui.main import main\n"
        f"try:\n    main({['plan', *arguments]!r})\nexcept SystemExit:\n    pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines())
    heavy = {"yaml", "sqlite3", "sqlite_utils", "asyncio", "textual", "mqvitals_config", "mqvitals_rules.vocabulary"}
    assert not loaded & (heavy | ({"mqvitals_rules"} if arguments == ["--help"] else set()))

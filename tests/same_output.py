"""Compare what two commits print and store: commands, JSON, stores of simulated runs, replays and SMF imports.

    python tests/same_output.py BEFORE [AFTER]

BEFORE and AFTER are commits; AFTER is by default HEAD. Each is checked out into a temporary git worktree and run with this
interpreter. Both get the same inputs, made by BEFORE, and the same frozen wall clock, so that equal code gives equal bytes. The
script prints one line a comparison: same, or how many lines or rows differ, with the first of them; a difference in JSON or in a
store is a difference of behaviour (exit code 1), one in text is listed for a reader (exit code 0). Use it after a change of
structure that must keep behaviour.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

NOW_S = 1_795_176_007.123
PACKAGES = ("tui", "agent", "rules", "config")
FROZEN = f"""
import os, sys, time
time.time = lambda: {NOW_S}
time.time_ns = lambda: {int(NOW_S * 1000)} * 1_000_000
import mqvitals_tui
from mqvitals_tui.main import main
assert mqvitals_tui.__file__.startswith(os.environ["TREE"] + os.sep), mqvitals_tui.__file__
sys.exit(main(sys.argv[1:]))
"""
SCENARIOS = ("quiet", "busy-morning", "structure-filling")
OBJECTS = (
    ("Q-01", "QM01/queue/ORDERS.REQUEST"),
    ("BP-03", "QM01/buffer_pool/3"),
    ("CHL-16", "QM03/channel/TO.PARTNER"),
    ("CF-01", "PRDQSG/cf_structure/APPL1"),
)
_SHOWN = 3
_TIMEOUT_S = 1800


class Tree(NamedTuple):
    """One of the two commits: its folder, and a folder for what it writes."""

    code: Path
    work: Path


class Ran(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str


class Case(NamedTuple):
    """A command to compare. ``exact``: its output is an interface (JSON, CSV), not words for people."""

    words: tuple[str, ...]
    exact: bool = False


def run(tree: Tree, words: Sequence[str]) -> Ran:
    """Run ``mqvitals`` of a tree in its work folder, with a frozen clock and a fixed environment."""
    path = os.pathsep.join(str(tree.code / package) for package in PACKAGES)
    keep = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    environment = keep | {
        "PYTHONPATH": path,
        "TREE": str(tree.code),
        "COLUMNS": "120",
        "LINES": "60",
        "PYTHONHASHSEED": "0",
    }
    command = [sys.executable, "-P", "-c", FROZEN, *words]
    done = subprocess.run(command, cwd=tree.work, env=environment, capture_output=True, timeout=_TIMEOUT_S, check=False)
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"))


@contextmanager
def checked_out(commits: Sequence[str], folder: Path) -> Iterator[list[Tree]]:
    """A worktree and a work folder for each commit; the worktrees are removed at the end."""
    trees = []
    try:
        for number, commit in enumerate(commits):
            tree = Tree(folder / f"code{number}", folder / f"work{number}")
            tree.work.mkdir()
            subprocess.run(["git", "worktree", "add", "-q", "--detach", str(tree.code), commit], check=True)
            trees.append(tree)
        yield trees
    finally:
        for tree in trees:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree.code)], check=False)


def make_inputs(tree: Tree, inputs: Path) -> None:
    """Recordings and SMF files, written by the first commit."""
    inputs.mkdir()
    for scenario in SCENARIOS:
        run(tree, ("record", str(inputs / f"{scenario}.mqrec"), *_simulated(scenario, "10m", "20s")))
        smf = ("--smf", str(inputs / f"smf-{scenario}"), "--smf-interval", "1m")
        run(tree, ("agent", *_simulated(scenario, "30m", "1m"), *smf, "--store", str(tree.work / "input.db")))
        for file in tree.work.glob("input.db*"):
            file.unlink()


def _simulated(scenario: str, length: str, interval: str) -> tuple[str, ...]:
    return ("--scenario", scenario, "--for", length, "--interval", interval, "--speed", "max")


def smf_files(inputs: Path, scenario: str) -> list[str]:
    """The SMF files that the simulation of a scenario wrote."""
    return [str(file) for file in sorted((inputs / f"smf-{scenario}").rglob("*")) if file.is_file()]


def store_cases(store: str) -> Iterator[Case]:
    """What is asked of a store."""
    at = ("--store", store)
    for words in ("status", "alerts list", "alerts list --all-kinds --all", "review", "messages"):
        yield Case((*words.split(), *at))
        yield Case((*words.split(), *at, "--json"), exact=True)
    yield Case(("alerts", "list", "--all-kinds", "--all", "--json", "--full", *at), exact=True)
    yield Case(("status", "--full", *at))
    yield Case(("review", "--markdown", *at))
    yield Case(("review", "--ascii", *at))
    for rule, name in OBJECTS:
        yield Case(("rules", "explain", rule, name, *at))
    for metric, name in (("free_pct", "QM01/buffer_pool/3"), ("depth", "QM01/queue/ORDERS.REQUEST")):
        yield Case(("trend", metric, name, *at))
        yield Case(("trend", metric, name, *at, "--json"), exact=True)
        yield Case(("trend", metric, name, *at, "--csv"), exact=True)


def fixed_cases(inputs: Path) -> Iterator[Case]:
    """Commands that need no store."""
    for words in ("--help", "help", "plan", "config show", "metrics", "rules list", "completion bash"):
        yield Case(tuple(words.split()))
    for words in ("config show --json", "config schema", "metrics --json", "rules list --json"):
        yield Case(tuple(words.split()), exact=True)
    yield Case(("rules", "list", "--counts", "--json"), exact=True)
    yield Case(("rules", "list", "--markdown"))
    yield Case(("metrics", "--markdown"))
    for rule, _ in OBJECTS:
        yield Case(("rules", "explain", rule))
    for scenario in SCENARIOS:
        files = smf_files(inputs, scenario)
        yield Case(("smf", "dump", *files), exact=True)
        yield Case(("smf", "dump", "--summary", *files))
        yield Case(("smf", "report", *files))
        yield Case(("smf", "report", "--markdown", *files))
        yield Case(("pcf", "decode", "--names", str(inputs / f"{scenario}.mqrec")), exact=True)


def stored(store: Path) -> dict[str, list[str]]:
    """All rows of a store by table. What an agent measures of itself and of its disk is this machine's, and is left out."""
    if not store.exists():
        return {}
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        kept = [
            name
            for name in tables
            if not name.endswith(("_store", "_agent")) and not name.startswith(("sqlite_", "_sqlite_"))
        ]
        rows = {name: sorted(map(repr, db.execute(f'SELECT {_columns(db, name)} FROM "{name}"'))) for name in kept}
        rows["(schema)"] = sorted(str(sql) for (sql,) in db.execute("SELECT sql FROM sqlite_master"))
        return rows


def _columns(db: sqlite3.Connection, table: str) -> str:
    """The columns of a table but for the times of files on this machine."""
    return ", ".join(f'"{row[1]}"' for row in db.execute(f'PRAGMA table_info("{table}")') if row[1] != "changed_ns")


def made_stores(tree: Tree, inputs: Path) -> list[str]:
    """Stores of simulated runs, of replays and of SMF imports, written by a tree into its work folder."""
    names = []
    for scenario in SCENARIOS:
        for name, words in (
            (f"run-{scenario}.db", ("agent", *_simulated(scenario, "1h", "1m"), "--smf", f"smf-{scenario}", "--store")),
            (f"replay-{scenario}.db", ("replay", str(inputs / f"{scenario}.mqrec"), "--speed", "max", "--store")),
        ):
            run(tree, (*words, name))
            names.append(name)
        run(tree, ("smf", "import", *smf_files(inputs, scenario), "--store", f"smf-{scenario}.db"))
        names.append(f"smf-{scenario}.db")
        run(tree, ("redact", str(inputs / f"{scenario}.mqrec"), f"redacted-{scenario}.mqrec"))
    return names


def difference(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The lines that differ, as of a unified diff without context."""
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    return [line for line in lines if line[:2] not in ("--", "++", "@@") and line[:1] in "+-"]


def report(what: str, changed: Sequence[str], size: int = 0) -> bool:
    """Print a comparison of ``size`` lines or rows; returns whether something differs."""
    print(f"{'same     ' if not changed else f'{len(changed):5} diff'} {size:8}  {what}", flush=True)
    for line in changed[:_SHOWN]:
        print(f"              {line[:160]}")
    return bool(changed)


def _line_lengths(file: Path) -> list[str]:
    return [str(len(line)) for line in file.read_bytes().splitlines()]


def sorted_json(text: str) -> list[str]:
    """A JSON text, or lines of JSON, in a form whose lines can be compared; a text that is none as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, sort_keys=True).splitlines()
    except ValueError:
        return text.splitlines()


def compared(trees: Sequence[Tree], case: Case) -> bool:
    """Compare a command; returns whether an interface differs."""
    results = [run(tree, case.words) for tree in trees]
    folders = [tree.code.parent for tree in trees]
    texts = [re.sub(re.escape(str(folder)), "", result.out) for folder, result in zip(folders, results, strict=True)]
    lines = [sorted_json(text) if case.exact else text.splitlines() for text in texts]
    words = " ".join(Path(word).name if word.startswith("/") else word for word in case.words)
    codes = [result.code for result in results]
    changed_code = [f"- exit code {codes[0]}, + {codes[1]}"] if codes[0] != codes[1] else []
    differs = report(f"[{codes[0]}] {words[:100]}", [*difference(*lines), *changed_code], len(lines[0]))
    return differs and (case.exact or codes[0] != codes[1])


def main() -> int:
    """Compare the two commits; returns 1 where JSON, exit codes or stores differ."""
    parser = argparse.ArgumentParser(description="Compare what two commits print and store.")
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name, checked_out((arguments.before, arguments.after), Path(name)) as trees:
        inputs = Path(name) / "inputs"
        make_inputs(trees[0], inputs)
        for case in fixed_cases(inputs):
            wrong += compared(trees, case)
        stores, _ = (made_stores(tree, inputs) for tree in trees)
        for store in stores:
            before, after = (stored(tree.work / store) for tree in trees)
            for table in sorted(before.keys() | after.keys()):
                changed = difference(before.get(table, []), after.get(table, []))
                if changed:
                    wrong += report(f"{store}: table {table}", changed)
            report(f"{store}: rows of {len(before)} tables", [], sum(map(len, before.values())))
            for case in store_cases(store):
                wrong += compared(trees, case)
        for scenario in SCENARIOS:
            # Pseudonyms are drawn anew in each run; the exchanges and their sizes are not.
            lengths = [_line_lengths(tree.work / f"redacted-{scenario}.mqrec") for tree in trees]
            wrong += report(f"redacted-{scenario}.mqrec: lengths of lines", difference(*lengths), len(lengths[0]))
    print(f"{wrong} interfaces differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

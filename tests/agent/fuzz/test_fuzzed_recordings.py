"""Mutated messages and lines through replay, store and every command that looks into it: no traceback, bounded cost."""

from __future__ import annotations

import random
import resource
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName, is_object_name, is_owner_name
from mqvitals_rules.vocabulary.metric import LARGEST
from mqvitals_rules.vocabulary.tables import KINDS

LONGEST_S = 60.0
"""Processor time of one command."""
MOST_MEMORY_KB = 400_000
"""By which all batches together may make the process larger."""


def _mutation() -> Any:
    spec = spec_from_file_location("mutated_recordings", Path(__file__).with_name("mutation.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A recording of the simulated group: its header and a few cycles."""
    file = tmp_path_factory.mktemp("recorded") / "r.jsonl"
    words = ["record", str(file), "--scenario", "busy-morning", "--for", "40s", "--interval", "20s", "--speed", "20"]
    assert main(words) == ExitCode.DONE
    return file.read_text("utf-8").splitlines()


class Batch:
    """One mutated recording, and the store that came of it."""

    def __init__(self, folder: Path, lines: list[str], seed: int, messages: int) -> None:
        folder.mkdir()
        self.seed = seed
        self.chance = random.Random(seed)
        self.recording, self.store, self.folder = folder / "r.jsonl", folder / "s.db", folder
        self.recording.write_bytes(_mutation().Mutator(seed).recording(lines, messages))

    def call(self, *words: str) -> None:
        """Run a command: it says what it says, but is no mistake of ours, and takes no longer than it may."""
        began = time.process_time()
        try:
            code = main(words)
        except SystemExit as error:
            code = int(error.code or 0)
        assert code in (0, 1, 2, 3), (self.seed, words, code)
        assert time.process_time() - began < LONGEST_S, (self.seed, words)

    def play(self) -> None:
        """What reads the recording."""
        self.call("replay", str(self.recording), "--store", str(self.store), "--speed", "max")
        self.call("pcf", "decode", "--names", str(self.recording))
        self.call("redact", str(self.recording), str(self.folder / "redacted.jsonl"))

    def look(self) -> None:
        """What reads the store, some of it each time, always about objects with odd names where there are any."""
        every = [
            ("status", *self.chance.choice(((), ("--json",), ("--full",)))),
            ("alerts", "list", "--all", *self.chance.choice(((), ("--json",)))),
            ("review", *self.chance.choice((("--text",), ("--json",), ("--markdown",)))),
            ("messages",),
        ]
        with StoreReader.open(self.store) as reader:
            names = [row.name for row in reader.objects("*")]
            alerts = reader.alerts(include_ended=True)
        odd = [name for name in names if not name.name.replace(".", "").isalnum()]
        for name in (*self.chance.sample(odd, min(3, len(odd))), *self.chance.sample(names, min(2, len(names)))):
            metric = self.chance.choice(KINDS[name.kind].metrics).name
            every.append(
                ("trend", metric, "--since", "1h", *self.chance.choice(((), ("--csv",), ("--json",))), "--", str(name))
            )
        every += [
            ("rules", "explain", each.alert.key.rule, str(each.alert.key.object))
            for each in self.chance.sample(alerts, min(2, len(alerts)))
        ]
        for words in every:
            place = len(words) if "--" not in words else words.index("--")
            self.call(*words[:place], "--store", str(self.store), *words[place:])

    def check(self) -> None:
        """Names can be written and read again; numbers fit."""
        with StoreReader.open(self.store) as reader:
            for row in reader.objects("*"):
                name = row.name
                assert is_owner_name(name.owner), (self.seed, name)
                assert is_object_name(name.name) if name.name else KINDS[name.kind].single, (self.seed, name)
                assert ObjectName.parse(str(name)) == name
                for told in reader.current(name).values():
                    assert type(told.value) is not int or -2 * LARGEST <= told.value <= 2 * LARGEST, (self.seed, name)


@pytest.mark.timeout(3600)
def test_nothing_is_a_mistake_of_ours(
    lines: list[str], tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few hundred messages (a hundred thousand in ``make soak``), a fresh store for each batch."""
    soak = request.config.getoption("--hypothesis-profile") == "soak"
    batches, messages = (100, 1000) if soak else (2, 150)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(batches):
        batch = Batch(tmp_path / str(seed), lines, seed, messages)
        batch.play()
        batch.look()
        batch.check()
        capsys.readouterr()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY_KB

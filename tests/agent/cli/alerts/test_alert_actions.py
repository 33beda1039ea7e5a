"""``mqvitals alerts ack``, ``unack``, ``note``, ``silence``, ``unsilence``, ``silences``, ``audit``: their words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main

MakeStore = Callable[..., Path]
POOL = "alert 1 (BP-03 QM01/buffer_pool/3)"
NOW = 1795176070000  # 2026-11-20 12:01:10 UTC


class People:
    """Those who work with a store, each under a name of their own."""

    def __init__(self, store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = store
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.now = NOW
        clock = SimpleNamespace(time_ns=lambda: self.now * 1_000_000)
        monkeypatch.setattr("mqvitals_agent.commandline.time_arguments.time", clock)
        self.be("anna")

    def be(self, name: str, later_s: int = 0) -> None:
        """Who acts from now on, so much later."""
        self.now += later_s * 1000
        self._monkeypatch.setattr("mqvitals_agent.store.rows.alerts.action_client.author_name", lambda: name)

    def do(self, *words: str, code: int = 0) -> list[str]:
        """The lines that a command prints, those of standard error last."""
        assert main(["alerts", *words, "--store", str(self.store)]) == code
        printed = self._capsys.readouterr()
        return [*printed.out.splitlines(), *printed.err.splitlines()]

    def json(self, *words: str) -> Any:
        return json.loads("\n".join(self.do(*words, "--json")))


@pytest.fixture
def people(make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> People:
    """A store in which six alerts have fired: BP-03 is number 1, Q-03 number 2, the ended PS-01 number 5."""
    return People(make_store(replay=False), capsys, monkeypatch)


def test_a_night(people: People) -> None:
    """What two operators do and read."""
    do = people.do
    assert do("ack", "BP-03", "--note", "looking at it", "--until", "14:00") == [
        f"{POOL}: anna has it since 12:01:10, until 14:00:00 UTC"
    ]
    people.be("ben", 60)
    assert do("ack", "1", "--note", "so am I") == [
        f"{POOL}: anna has it since 12:01:10, until 14:00:00 UTC; your note is kept"
    ]
    assert do("ack", "1") == [
        f"{POOL}: anna has it since 12:01:10, until 14:00:00 UTC; your acknowledgement is kept beside it"
    ]
    assert do("note", "1", "the pool", "is too small") == [f"{POOL}: the note is kept"]
    listed = do("list")
    at = next(i for i, line in enumerate(listed) if "BP-03" in line)
    assert listed[at].startswith("● CRITICAL  0 s   since 12:00:50  #1  BP-03 ")
    assert listed[at + 2 : at + 6] == [
        "    anna has it since 12:01:10, until 14:00:00",
        "    anna 12:01:10: looking at it",
        "    ben 12:02:10: so am I",
        "    ben 12:02:10: the pool is too small",
    ]
    assert do("unack", "1") == [
        f"{POOL}: the acknowledgement of ben is taken back; anna has it since 12:01:10, until 14:00:00 UTC"
    ]
    assert do("ack", "1", "--take-over") == [f"{POOL}: ben has it since 12:02:10 UTC"]
    people.be("cy", 60)
    assert do("unack", "1") == [f"{POOL}: the acknowledgement of ben is taken back; nobody has it now"]
    assert do("unack", "1", code=2) == ["mqvitals: alert 1 is not acknowledged: the acknowledgement was taken back"]
    assert do("audit")[-4:] == [
        "2026-11-20 12:02:10  ben: take over, alert 1: BP-03 QM01/buffer_pool/3; from",
        "                     anna",
        "2026-11-20 12:03:10  cy: undo acknowledgement, alert 1: BP-03",
        "                     QM01/buffer_pool/3; of ben",
    ]
    assert [(each["author"], each["action"]) for each in people.json("audit", "--since", "90s")] == [
        ("ben", "acknowledge"),
        ("ben", "acknowledge"),
        ("ben", "note"),
        ("ben", "undo acknowledgement"),
        ("ben", "take over"),
        ("cy", "undo acknowledgement"),
    ]
    assert do("audit", "--limit", "1", "--json")[2] == '  "id": 7,'


def test_json(people: People) -> None:
    people.do("ack", "1", "--note", "mine")
    people.do("silence", "rule=Q-03", "--for", "1h", "--reason", "batch")
    found = {each["id"]: each for each in people.json("list", "--all")}
    assert {name: found[1][name] for name in ("acknowledged", "silence", "notes")} == {
        "acknowledged": {"by": "anna", "at": "2026-11-20T12:01:10.000Z", "until": None},
        "silence": None,
        "notes": [{"at": "2026-11-20T12:01:10.000Z", "by": "anna", "text": "mine"}],
    }
    assert (found[2]["acknowledged"], found[2]["silence"], found[2]["notes"]) == (None, 1, [])
    assert people.json("silences") == [
        {
            "id": 1,
            "state": "active",
            "matchers": ["rule=Q-03"],
            "author": "anna",
            "reason": "batch",
            "made": "2026-11-20T12:01:10.000Z",
            "starts": "2026-11-20T12:01:10.000Z",
            "ends": "2026-11-20T13:01:10.000Z",
            "alerts": [2],
        }
    ]


def test_which_alert_is_meant(people: People) -> None:
    """Its number, or its rule, its object or both where that is one alert; one that has ended where none is open."""
    do = people.do
    for words in (("Q-03",), ("q-03", "qm01/QUEUE/\x1b[2J[/x]"), ("QM01/queue/\x1b[2J[/x]",)):
        (line,) = do("ack", *words)
        assert line.startswith("alert 2 (Q-03 QM01/queue/␛[2J[/x]): anna has it")
    assert do("ack", "PS-01", "--until", "2h") == [
        "alert 5 (PS-01 QM01/page_set/4): it has ended, and is marked as seen by anna"
    ]
    assert [line.partition(" (")[0] for line in do("ack", "3", "4", "3")] == ["alert 3", "alert 4"]
    ambiguous, hint = do("ack", "AGENT-03", code=2)
    assert ambiguous == "mqvitals: 2 alerts fire that are named so"
    assert hint == (
        "hint: write the number of one: alert 3 (AGENT-03 QM01/queue_manager); alert 4 (AGENT-03 QM01/queue_manager)"
    )
    (line,) = do("ack", "AGENT-03 QM01/queue_manager INQUIRE_LOG")
    assert line.startswith("alert 4 ")
    for words, sentence in (
        (("XX-01",), "no alert is named 'XX-01'"),
        (("CHL-16",), "no alert is named 'CHL-16'"),
        (("99",), "there is no alert 99"),
        (("9" * 30,), f"there is no alert {'9' * 30}"),
        (("7",), "alert 7 is still pending: nobody was notified of it"),
    ):
        assert do("ack", *words, code=2)[0] == f"mqvitals: {sentence}"


def test_silences(people: People) -> None:
    do = people.do
    chosen = ("queue_manager=QM01", "severity!=critical")
    assert do("silence", *chosen, "--preview")[0] == "would silence these 3 alerts:"
    assert do("silences") == ["no silence is active or pending"]
    made = do("silence", *chosen, "--until", "tomorrow 06:00", "--reason", "storage is moved")
    assert made[:2] == [
        "silence 1 until 2026-11-21 06:00 UTC: queue_manager=QM01 severity!=critical",
        "it silences these 3 alerts:",
    ]
    assert sum(line.startswith("▲ WARNING") for line in made) == 3
    assert made[-1] == "and 1 of the advice that 'alerts list --review' lists"
    planned = do("silence", "rule=XX-01", "--from", "22:00", "--for", "8h", "--reason", "IPL")
    assert planned == [
        "silence 2 from 22:00:00 until 2026-11-21 06:00 UTC: rule=XX-01",
        "when it begins, it silences no alert that fires now",
    ]
    assert "    silenced until 2026-11-21 06:00 by anna (silence 1): storage is moved" in do("list")
    people.be("ben", 60)
    assert do("silence", "--extend", "2", "--for", "1h30m") == [
        "silence 2 from 22:00:00 until 2026-11-21 07:30 UTC: rule=XX-01"
    ]
    assert do("unsilence", "1") == ["silence 1 (queue_manager=QM01 severity!=critical) has ended"]
    assert do("silences", "--all") == [
        "  2  pending  from 22:00:00 until 2026-11-21 07:30, by anna",
        "     rule=XX-01",
        "     IPL",
        "  1  expired  ended 12:02:10, by anna",
        "     queue_manager=QM01 severity!=critical",
        "     storage is moved",
    ]
    assert do("silences") == do("silences", "--all")[:3]
    assert do("silence", "--extend", "1", "--for", "1h", code=2)[0].startswith("mqvitals: silence 1 has ended at 2026")


def test_times_are_read_and_shown_in_the_zone_of_the_site(people: People, tmp_path: Path) -> None:
    """Whoever writes 14:00 reads 14:00."""
    config = tmp_path / "own.yaml"
    config.write_text("queue_managers: [{name: QM01}]\ntime_zone: Europe/Berlin\n")
    at = ("--until", "14:00", "--config", str(config))
    assert people.do("ack", "1", *at) == [f"{POOL}: anna has it since 13:01:10, until 14:00:00 CET"]
    assert people.do("silence", "rule=X", *at, "--reason", "x")[0] == "silence 1 until 14:00:00 CET: rule=X"
    assert people.json("silences")[0]["ends"] == "2026-11-20T13:00:00.000Z"
    assert people.do("ack", "1", "--until", "14:00", "--tz", "UTC")[0].startswith(f"{POOL}: anna has it since 12:01:10")


def test_labels_of_the_site(people: People, tmp_path: Path) -> None:
    """They silence too; a label that no alert can have is named, as it is most likely a slip."""
    config = tmp_path / "own.yaml"
    config.write_text('queue_managers: [{name: QM01}]\nlabels: [{objects: "*/buffer_pool/*", set: {team: storage}}]\n')
    asked = ("silence", "team=storage", "--preview", "--config", str(config))
    assert people.do(*asked)[0] == "would silence this 1 alert:"
    assert people.do("silence", "severty=critical", "--preview") == [
        "would silence no alert that fires now",
        "mqvitals: no alert has the label severty: did you mean 'severity'?",
    ]


MISTAKES = [
    (("silence", "--for", "1h", "--reason", "x"), "no matcher is named"),
    (("silence", "rule", "--for", "1h", "--reason", "x"), "'rule' is no matcher"),
    (("silence", "rule=~(", "--for", "1h", "--reason", "x"), "'(' is no regular expression"),
    (("silence", "team!=x", "--for", "1h", "--reason", "x"), "team!=x matches alerts that have none of these"),
    (("silence", "rule=Q-03", "--reason", "x"), "a silence needs an end"),
    (("silence", "rule=Q-03", "--for", "1h"), "a silence needs a reason"),
    (("silence", "rule=Q-03", "--for", "1h", "--reason", "\x1b"), "the reason holds the character U+001B"),
    (("silence", "rule=Q-03", "--for", "2", "--reason", "x"), "--for '2': a duration needs a unit"),
    (("silence", "rule=Q-03", "--until", "never", "--reason", "x"), "--until 'never' is not a time"),
    (("silence", "rule=Q-03", "--until", "2026-11-19", "--reason", "x"), "the silence would end at 2026-11-19T00"),
    (("silence", "--extend", "7", "--for", "1h"), "there is no silence 7"),
    (("silence", "rule=Q-03", "--extend", "7", "--for", "1h"), "--extend changes the end of a silence alone"),
    (("unsilence", "7"), "there is no silence 7"),
    (("ack", "1", "--until", "yesterday"), "--until 'yesterday' is not a time"),
    (("ack", "1", "--note", "x" * 1001), "the note has 1,001 characters"),
    (("note", "1", " "), "the note is empty"),
]


def test_mistakes(people: People) -> None:
    """One sentence, exit code 2, and nothing is changed."""
    for words, sentence in MISTAKES:
        found = people.do(*words, code=2)
        assert any(line.startswith(f"mqvitals: {sentence}") for line in found), found
    assert people.json("audit") == []


def test_a_replay_takes_no_action(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lists are there, and empty."""
    people = People(make_store(replay=True), capsys, monkeypatch)
    for words in (("ack", "1"), ("note", "1", "x"), ("silence", "rule=Q-03", "--for", "1h", "--reason", "x")):
        assert "holds a replay: its alerts are past, and nobody acts on them" in people.do(*words, code=2)[-2]
    assert people.do("silence", "rule=Q-03", "--preview")[0] == "would silence this 1 alert:"
    assert people.do("silences", "--all") == ["no silences"]
    assert people.do("audit") == ["nobody did anything in this time"]

"""A slice of history as a table holds what was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import parse_iso
from mqvitals_rules.vocabulary.metric import Absence, Reported

HOUR = 3_600_000
BEGAN = 20_000 * 24 * HOUR - HOUR
"""An hour before a midnight, UTC."""
METRICS = ("depth", "input_handles", "oldest_msg_age_s")
NAMES = ("APPL.IN", "APPL.OUT")
NUMBERS = st.one_of(
    st.integers(-(1 << 62), 1 << 62), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 100)
)
VALUES: st.SearchStrategy[Reported] = st.one_of(NUMBERS, NUMBERS, st.just(Absence.NO_ANSWER))
POLLS = st.dictionaries(
    st.integers(0, 3 * 360 - 1).map(lambda number: BEGAN + number * 10_000 + number % 7),
    st.dictionaries(st.sampled_from(NAMES), st.fixed_dictionaries(dict.fromkeys(METRICS, VALUES)), min_size=1),
    min_size=1,
    max_size=30,
)
"""By time (ms UTC) and name of the queue: the values of a poll."""
Polls = Mapping[int, Mapping[str, Mapping[str, Reported]]]


def write(store: Store, polls: Polls) -> None:
    for cycle, (ts, queues) in enumerate(sorted(polls.items()), 1):
        readings = tuple(
            Reading(ObjectName("QM01", "queue", name), "INQUIRE_Q_STATUS", ts, values, 10_000)
            for name, values in queues.items()
        )
        store.write(Snapshot("QM01", False, cycle, ts, readings), Evaluation((), ()))


def exported(path: Path, *arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    with redirect_stdout(out):
        assert main(["export", *arguments, "--format", "jsonl", "--store", str(path)]) == 0
    return [json.loads(line) for line in out.getvalue().splitlines()]


@COSTLY
@given(POLLS, st.integers(0, 4))
def test_what_was_written_comes_out(polls: Polls, sealed: int) -> None:
    """Every poll of every object is a row, with its values to the last digit, whether its hour is sealed or not."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with Store.open(path, replay=True, source="", group="", created=BEGAN) as store:
            write(store, polls)
        rows = exported(path, "--kind", "queue", "--metrics", ",".join(METRICS), "--last", "4h")
    expected = {
        (ts, name): [None if isinstance(values[each], Absence) else values[each] for each in METRICS]
        for ts, queues in polls.items()
        for name, values in queues.items()
    }
    assert len(rows) == len(expected)
    assert {(parse_iso(row["at"]), row["name"]): [row[each] for each in METRICS] for row in rows} == expected
    assert all(type(row[each]) in {int, float, type(None)} for row in rows for each in METRICS)


def test_parts_of_records_that_are_longer_than_them(tmp_path: Path) -> None:
    """A record of half a day tells of each of its hours, also where it ends on the day after: as a trend has it."""
    path = tmp_path / "store.db"
    name = ObjectName("QM01", "queue", "APPL.IN")
    with Store.open(path, replay=True, source="", group="", created=BEGAN) as store:
        write(store, {BEGAN + hour * HOUR: {"APPL.IN": dict.fromkeys(METRICS, hour)} for hour in range(49)})
        for number in range(4):
            ts = BEGAN + (6 + 12 * number) * HOUR
            record = Reading(name, "SMF 116", ts, {"puts": 3_600 * 12 * number}, 12 * HOUR, source=Source.SMF)
            store.write(Snapshot("QM01", False, 0, ts, (record,)), Evaluation((), ()))
    span = ["--last", "48h", "--every", "1h"]
    rows = exported(path, str(name), "--metrics", "puts", *span)
    out = StringIO()
    with redirect_stdout(out):
        assert main(["trend", "puts", str(name), *span, "--json", "--store", str(path)]) == 0
    points = json.loads(out.getvalue())["points"]
    assert [[row["at"], row["puts"]] for row in rows] == points
    assert {rate for _, rate in points} == {None, 0, 1, 2, 3}
    assert len(points) == 49

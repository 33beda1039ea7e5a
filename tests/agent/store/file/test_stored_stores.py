"""Stores as earlier versions wrote them, kept as files: every later version opens them, and nothing in them is lost.

``tests/samples/stores/structure-N.db.xz`` is ten minutes of a simulated group with an incident, records of SMF and what
people did, as the agent of structure N stored them; ``structure-N.json`` is what was in it. A version with a new structure
may add a pair, and changes none.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.backup import back_up
from mqvitals_agent.store.file.check import check
from mqvitals_agent.store.file.migration import STRUCTURE
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName

STORES = sorted((Path(__file__).parents[3] / "samples" / "stores").glob("structure-*.db.xz"))
LATER_MS = 4_000_000_000_000
"""2096: everything in a stored store is before it."""


def structure_of(packed: Path) -> int:
    return int(packed.name.split("-")[1].split(".")[0])


def contents(path: Path) -> dict[str, Any]:
    """What a store says through its reader."""
    with StoreReader.open(path) as reader:
        names = [row.name for row in reader.objects(gone=True)]
        polled = [name for name in names if name.kind in ("queue", "channel", "buffer_pool")]
        series = {
            f"{name} {metric}": [[ts, value] for ts, value in reader.trend(name, metric).points]
            for name in polled
            for metric in {"queue": ("depth",), "channel": ("status", "msgs"), "buffer_pool": ("free_pct",)}[name.kind]
        }
        actions = reader.actions()
        return {
            "owners": [[owner.name, owner.is_group, owner.first_ts, owner.last_ts] for owner in reader.owners()],
            "objects": sorted(map(str, names)),
            "series": {name: points for name, points in sorted(series.items()) if points},
            "current": {
                name: reader.current(ObjectName.parse(name))[metric].value
                for name, metric in (("QM01/buffer_pool/3", "free_pct"), ("QM02/queue_manager", "reachable"))
            },
            "alerts": [
                [
                    each.id,
                    str(each.alert.key.rule),
                    str(each.alert.key.object),
                    each.alert.state.value,
                    each.alert.started,
                ]
                for each in reader.alerts(include_ended=True, include_pending=True)
            ],
            "transitions": [len(reader.transitions(number)) for number in (130, 139)],
            "silences": [[each.id, each.author, each.reason, each.ends] for each in actions.silences],
            "audit": [[each.action, each.author, each.about] for each in reader.audit(limit=100)],
            "kept_from": reader.meta().kept_from,
        }


@pytest.mark.parametrize("packed", STORES, ids=structure_of)
def test_stored_store_is_opened_and_keeps_all(packed: Path, path: Path, tmp_path: Path) -> None:
    """The writer brings it up to date; its contents, SMF records too, are those that were stored with it."""
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    stored = json.loads(packed.with_name(f"structure-{structure_of(packed)}.json").read_text())
    before = back_up(path, tmp_path / "before.db")
    if structure_of(packed) < STRUCTURE:
        with pytest.raises(StoreError, match="older structure"):
            StoreReader.open(path)
    with Store.open(path) as store:
        assert store.repaired == {}
        assert {name: each.ts for name, each in store.progress().items()} == {
            owner[0]: owner[3] for owner in stored["owners"]
        }
    found = json.loads(json.dumps(contents(path)))
    assert found.keys() == stored.keys()
    for what, was in stored.items():
        assert found[what] == was, what
    assert check(path, LATER_MS).good
    # The copy from before the change can be put in its place again.
    path.unlink()
    before.path.rename(path)
    Store.open(path).close()
    assert json.loads(json.dumps(contents(path))) == found


def test_stored_stores_are_there() -> None:
    """A file that is not found would be tested by nothing."""
    assert 20 in map(structure_of, STORES)
    assert max(map(structure_of, STORES)) <= STRUCTURE

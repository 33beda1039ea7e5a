"""Finding objects by their names: the likeliest first, and fast among very many."""

from __future__ import annotations

import time

from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.names import found, prepared

KNOWN = prepared(
    ObjectName(owner, kind, name)
    for owner, kind, name in (
        ("QM01", "queue", "ALL.ORDERS.REPLY"),
        ("QM01", "queue", "ORDERS"),
        ("QM01", "queue", "ORDERS.REPLY"),
        ("QM02", "queue", "ORDERS"),
        ("QM01", "channel", "TO.ORDERS"),
        ("QM01", "buffer_pool", "3"),
        ("QM01", "queue_manager", ""),
    )
)


def keys(query: str, most: int = 50) -> list[str]:
    return [str(name) for name in found(KNOWN, query, most)]


def test_rank() -> None:
    """What is called so comes first, then what begins so, then what has it somewhere."""
    assert keys("orders") == [
        "QM01/queue/ORDERS",
        "QM02/queue/ORDERS",
        "QM01/queue/ORDERS.REPLY",
        "QM01/channel/TO.ORDERS",
        "QM01/queue/ALL.ORDERS.REPLY",
    ]
    assert keys("orders", most=2) == ["QM01/queue/ORDERS", "QM02/queue/ORDERS"]


def test_every_word_must_occur() -> None:
    """Words may stand in the whole name or in its words, in any order, in capitals or not."""
    assert keys("REPLY qm01/") == ["QM01/queue/ORDERS.REPLY", "QM01/queue/ALL.ORDERS.REPLY"]
    assert keys("pool 3") == ["QM01/buffer_pool/3"]
    assert keys("nothing of the kind") == []
    assert keys("  ") == []


def test_twenty_thousand_objects() -> None:
    """A keystroke takes a part of the 50 ms that a person notices."""
    many = prepared(ObjectName(f"QM{n % 4:02d}", "queue", f"APP{n % 7}.ORDERS.{n:05d}") for n in range(20_000))
    for query in ("o", "orders", "qm01 orders.00", "nothing"):
        times = []
        for _ in range(3):
            begin = time.process_time()
            assert len(found(many, query, 50)) <= 50
            times.append(time.process_time() - begin)
        assert min(times) < 0.05

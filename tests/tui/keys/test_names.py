"""Finding objects by their names: the likeliest first, and fast among very many."""

from __future__ import annotations

import time
from collections.abc import Callable

from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.palette import find_names, index_names

KNOWN = index_names(
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
    return [str(name) for name in find_names(KNOWN, query, most)]


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
    """A keystroke costs no more than some plain passes over all names, of which each takes about 10 ms."""
    objects = [ObjectName(f"QM{n % 4:02d}", "queue", f"APP{n % 7}.ORDERS.{n:05d}") for n in range(20_000)]
    many, names = index_names(objects), [str(each) for each in objects]

    def cpu_s(search: Callable[[str], object], query: str) -> float:
        times = []
        for _ in range(5):
            begin = time.process_time()
            search(query)
            times.append(time.process_time() - begin)
        return min(times)

    for query in ("o", "orders", "qm01 orders.00", "nothing"):
        assert len(find_names(many, query, 50)) <= 50
        plain = cpu_s(lambda words: sorted(n for n in names if all(w in n.casefold() for w in words.split())), query)
        assert cpu_s(lambda words: find_names(many, words, 50), query) < 5 * plain, query

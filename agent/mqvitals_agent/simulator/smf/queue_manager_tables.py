"""The sections of a queue manager's statistics that the simulated group fills, with the values it fills (115/1, 2, 201, 215)."""

from __future__ import annotations

from mqvitals_agent.simulator.smf.table import Table

QPST = Table(
    0xD70F,
    "QPST",
    {0: 104},
    {
        "pool": (8, "I"),
        "buffers": (12, "I"),
        "lowest": (16, "I"),
        "free": (20, "I"),
        "old_pages": (24, "I"),
        "new_pages": (28, "I"),
        "reads": (32, "I"),
        "updates": (36, "I"),
        "pages_written": (40, "I"),
        "writes": (44, "I"),
        "synchronous_pages": (48, "I"),
        "deferred_starts": (52, "I"),
        "synchronous_hits": (56, "I"),
        "steals": (60, "I"),
        "changed_steals": (64, "I"),
        "waits": (68, "I"),
        "flags": (72, "I"),
    },
)
QIS1 = Table(
    0xC927,
    "QIS1",
    {0: 104},
    {
        "page_set": (8, "I"),
        "pool": (12, "I"),
        "total": (16, "I"),
        "unused": (20, "I"),
        "persistent": (24, "I"),
        "nonpersistent": (28, "I"),
        "full": (32, "I"),
        "deferred_writes": (40, "I"),
        "deferred_pages": (44, "I"),
        "deferred_time": (48, "Q"),
        "synchronous_writes": (56, "I"),
        "synchronous_pages": (60, "I"),
        "synchronous_time": (64, "Q"),
        "reads": (72, "I"),
        "pages_read": (76, "I"),
        "read_time": (80, "Q"),
        "expansions": (92, "H"),
        "stripes": (94, "B"),
        "expand_type": (95, "B"),
    },
)
_IO = {
    "count": (264, "I"),
    "intervals": (268, "I"),
    "time": (272, "Q"),
    "suspended": (280, "Q"),
    "longest": (288, "Q"),
    "longest_at": (296, "Q"),
    "longest_log": (304, "8s"),
}
QJST = Table(
    0x0093,
    "QJST",
    {0: 576, 912: 592, 914: 596, 940: 720},
    {
        "not_waited": (12, "I"),
        "forced": (16, "I"),
        "buffer_waits": (20, "I"),
        "bootstrap": (40, "I"),
        "intervals_made": (44, "I"),
        "write_calls": (48, "I"),
        "archives_written": (56, "I"),
        "intervals_offloaded": (60, "I"),
        "checkpoints": (64, "I"),
        "suspends": (80, "I"),
        "writes": (84, "I"),
        "intervals_written": (88, "I"),
        "serial_writes": (92, "I"),
        **{f"{name}_{group}": (at + 72 * group, code) for group in range(4) for name, (at, code) in _IO.items()},
        "idle_us": (552, "Q"),
        "squares_high": (560, "Q"),
        "squares": (568, "Q"),
        "new_logs_1": (576, "I"),
        "new_logs_2": (580, "I"),
    },
)
QSST = Table(0x003C, "QSST", {0: 80}, {"getmains": (48, "I"), "freemains": (52, "I")})
QMST = Table(
    0xD40F,
    "QMST",
    {0: 72, 903: 104},
    {
        "gets": (16, "I"),
        "puts": (20, "I"),
        "persistent": (72, "Q"),
        "nonpersistent": (80, "Q"),
        "persistent_bytes": (88, "Q"),
        "nonpersistent_bytes": (96, "Q"),
    },
)
QIST = Table(
    0xC90F,
    "QIST",
    {0: 80},
    {"gets": (8, "I"), "puts": (12, "I"), "gets_from_disk": (68, "I"), "gets_from_pool": (72, "I")},
)
QLST = Table(0xD30F, "QLST", {0: 32}, {"locks": (8, "I"), "releases": (16, "I")})
Q5ST = Table(0xF50F, "Q5ST", {0: 672}, {"tasks": (8, "I"), "active_tasks": (12, "I")})
QTST = Table(0xA302, "QTST", {0: 100}, {})
SLOTS, SLOT_BYTES = 64, 64
_SLOT = {
    "single": (24, "I"),
    "multiple": (28, "I"),
    "single_time": (32, "Q"),
    "multiple_time": (40, "Q"),
    "full": (56, "I"),
    "entries": (60, "I"),
    "elements": (64, "I"),
}
_NAME = {"name": (0, "12s"), "number": (12, "I")}
QEST = Table(
    0xC513,
    "QEST",
    {0: 4104},
    {f"{name}_{slot}": (at + SLOT_BYTES * slot, code) for slot in range(SLOTS) for name, (at, code) in _SLOT.items()},
)
"""All but the names: a slot without a structure has none, and zeros in their place."""
QEST_NAME = Table(0, "", {0: 16}, _NAME)
"""What opens a slot that is in use."""
QESD = Table(
    0xC523,
    "QESD",
    {0: 328, 914: 336},
    {
        "structure": (8, "12s"),
        "number": (20, "I"),
        "blocks": (24, "I"),
        "data_blocks": (32, "I"),
        "blocks_used": (36, "I"),
        "blocks_free": (40, "I"),
        "messages": (44, "I"),
        "allocations": (48, "I"),
        "releases": (52, "I"),
        "most_messages": (84, "I"),
        "most_used": (88, "I"),
        "fewest_free": (92, "I"),
        "buffer_bytes": (96, "I"),
        "buffers": (100, "I"),
        "buffers_used": (104, "I"),
        "buffers_saved": (112, "I"),
        "buffers_empty": (116, "I"),
        "reads_asked": (152, "I"),
        "reads_saved": (156, "I"),
        "writes_asked": (164, "I"),
        "most_buffers": (200, "I"),
        "fewest_buffers": (204, "I"),
        "interval_bytes": (224, "I"),
    },
)

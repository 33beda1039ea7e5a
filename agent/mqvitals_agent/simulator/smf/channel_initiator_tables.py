"""The sections of a channel initiator that the simulated group fills, with the values it fills (115/231, 116/10)."""

from __future__ import annotations

from mqvitals_agent.simulator.smf.table import Table

QCCT = Table(
    0xE741,
    "QCCT",
    {0: 48, 935: 64},
    {
        "job": (8, "8s"),
        "group": (16, "4s"),
        "channels": (20, "I"),
        "most_channels": (24, "I"),
        "active": (28, "I"),
        "most_active": (32, "I"),
        "most_tcp": (36, "I"),
        "most_lu62": (40, "I"),
        "storage_31": (44, "I"),
        "storage_64": (48, "Q"),
        "limit_64": (56, "Q"),
    },
)
_TASK = {"task": (0, "I"), "requests": (4, "I"), "cpu": (8, "Q"), "elapsed": (16, "Q"), "wait": (24, "Q")}
QCTDSP = Table(0, "", {0: 36}, {**_TASK, "channels": (32, "I")})
QCTADP = Table(0, "", {0: 32}, _TASK)
QCTSSL = Table(0, "", {0: 48}, {**_TASK, "longest_at": (32, "Q"), "longest": (40, "Q")})
QCTDNS = Table(0, "", {0: 48}, {**_TASK, "longest_at": (32, "Q"), "longest": (40, "Q")})
QCST = Table(
    0xE74A,
    "QCST",
    {0: 324, 1000: 340},
    {
        "collected": (8, "Q"),
        "channel": (16, "20s"),
        "disposition": (36, "B"),
        "type": (37, "B"),
        "status": (38, "B"),
        "statistics": (39, "B"),
        "connection": (40, "48s"),
        "started": (88, "Q"),
        "stopped": (96, "Q"),
        "last_message": (104, "Q"),
        "batch_size": (112, "I"),
        "messages": (116, "I"),
        "persistent": (120, "I"),
        "batches": (124, "I"),
        "full_batches": (128, "I"),
        "buffers_sent": (132, "I"),
        "buffers_received": (136, "I"),
        "conversations": (140, "I"),
        "message_bytes": (144, "Q"),
        "persistent_bytes": (152, "Q"),
        "bytes_sent": (160, "Q"),
        "bytes_received": (168, "Q"),
        "exit_shortest": (184, "I"),
        "network_average": (204, "I"),
        "network_shortest": (208, "I"),
        "network_longest": (212, "I"),
        "network_longest_at": (216, "Q"),
        "partner": (224, "48s"),
        "certificate": (280, "16s"),
        "queue_empty": (304, "I"),
        "batch_interval": (308, "I"),
        "data_limit": (312, "I"),
        "dispatcher": (316, "H"),
        "product": (324, "4s"),
        "version": (328, "8s"),
    },
)

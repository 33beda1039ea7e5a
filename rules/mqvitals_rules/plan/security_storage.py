"""Storage of the security manager for the users it remembers."""

from __future__ import annotations

from math import ceil

from mqvitals_rules.plan.answer import Outcome
from mqvitals_rules.plan.formula import formula
from mqvitals_rules.plan.page_layout import MP1G
from mqvitals_rules.plan.question import Input

MB = 2**20
TENTHS_OF_BYTES_PER_USER = 90_112
"""8.80 KB, the first resource with it; in tenths of bytes, so that the sum stays whole."""
BYTES_PER_RESOURCE = 405
REAL_PCT = 53
ABOVE_BAR = "64-bit"
REAL = "real"


@formula(
    "security-storage",
    number="F-12",
    title="Storage of the security manager for so many users",
    inputs=(
        Input("users", "users", "user ids that use MQ within the security timeout", 0, 1e9),
        Input("resources", "resources", "queues and other checked resources each of them uses", 1, 1e6, default=1),
        Input(
            "storage",
            "",
            "virtual storage above the bar, or the real storage behind it",
            default=ABOVE_BAR,
            words=(ABOVE_BAR, REAL),
        ),
    ),
    measured_on="WebSphere MQ V7.0.1, z10 EC64; CICS sign-ons, each with a put and a get",
    caveat=(
        "Averages. After the security timeout it goes back to a pool, not to z/OS; using it again took some 10 % less CPU (50,000 users with"
        " 10 resources). The share of real storage was seen with one resource a user, and z/OS may take pages away."
    ),
    source=f"{MP1G} · Security Manager",
    example={"users": 100_000, "resources": 1},
)
def security_storage(users: int, resources: int, storage: str) -> Outcome:
    """MB: of 64-bit storage whole blocks of 1 MB, of real storage not rounded; the catalogue's F-12."""
    size_bytes = users * (TENTHS_OF_BYTES_PER_USER + 10 * BYTES_PER_RESOURCE * (resources - 1)) / 10
    exact_mb = size_bytes / MB
    real_mb = exact_mb * REAL_PCT / 100
    virtual = (
        f"{users:,} users x (8.80 KB + {BYTES_PER_RESOURCE} bytes x {resources - 1:,} further resources)"
        f" = {size_bytes:,.0f} bytes = {exact_mb:,.1f} MB of 64-bit storage"
    )
    steps = (
        virtual,
        f"got in blocks of 1 MB: {ceil(exact_mb):,} MB",
        f"{REAL_PCT} % of {exact_mb:,.1f} MB = {real_mb:,.1f} MB of real storage",
    )
    if storage == REAL:
        return Outcome(real_mb, "MB", steps)
    return Outcome(ceil(exact_mb), "MB", steps, exact=exact_mb)

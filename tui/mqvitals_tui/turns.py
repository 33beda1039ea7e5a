"""How long one thread may work before another one has its turn: shorter than Python's own, while somebody looks.

The thread that reads the store makes objects of ten thousand rows in Python, without a pause of its own. A key that comes
meanwhile waits until the interpreter takes the turn away from that thread, after 5 ms by default, and so does every further
part of the work that the key brings. The collector of garbage (``mqvitals_agent.garbage``) is another matter: it halts all
threads, however short their turns are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

TURN_S = 0.0005
"""Python's own: 0.005."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Within, threads of this process take turns of ``TURN_S``."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)

"""How many examples property tests have whose examples are expensive: a store, a command, a whole simulated group each."""

from __future__ import annotations

from hypothesis import settings

COSTLY = settings(max_examples=max(settings().max_examples // 4, 5))
"""A decorator: a quarter of what others have, in ``make soak`` too."""
VERY_COSTLY = settings(max_examples=max(settings().max_examples // 10, 3))
"""A decorator: a tenth of them."""

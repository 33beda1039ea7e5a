"""``python -m mqvitals_config docs/configuration.md`` renews the table of settings in each page it names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mqvitals_config.decoding.schema import with_settings_table
from mqvitals_config.settings import Settings


def main(paths: Sequence[str]) -> int:
    """Rewrite the table of settings in each page."""
    for name in paths:
        page = Path(name)
        page.write_text(with_settings_table(page.read_text("utf-8"), Settings), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Prints the manual page, made from the arguments of all commands: ``make docs``."""

from __future__ import annotations

import os
import re
import sys

from argparse_manpage.manpage import MANPAGE_DATA_ATTRS, Manpage  # type: ignore[import-untyped]

from mqvitals_tui.main import PROGRAM, whole


def manual_page() -> str:
    """The page in troff, without a date."""
    data = dict.fromkeys(MANPAGE_DATA_ATTRS) | {
        "project_name": PROGRAM,
        "description": "the vital signs of IBM MQ on z/OS",
        "manual_section": "1",
        "manual_title": "User Commands",
        "version": "",
    }
    title, _, rest = str(Manpage(whole(), _data=data)).partition("\n")
    title = re.sub(r'"\d{4}[^"]*"', '""', title)
    # A line that begins with an apostrophe would be a request to troff, and not be shown.
    return f"{title}\n" + re.sub(r"^(?=')", r"\\&", rest, flags=re.MULTILINE)


if __name__ == "__main__":
    # The lines of a usage are as long as the terminal is wide.
    os.environ["COLUMNS"] = "80"
    sys.stdout.write(manual_page())

"""SMF records, which hold what no command tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from mqvitals_config.doc import Doc
from mqvitals_config.file_path import beside
from mqvitals_config.problem import LocatedText
from mqvitals_config.shape import Convert


@dataclass(frozen=True, slots=True)
class SmfSettings:
    """SMF records 115 and 116 of z/OS, and how they come to the agent."""

    watch: Annotated[
        Annotated[LocatedText, Convert(beside, "the path of a folder")] | None,
        Doc(
            "A folder in which the agent looks for files of SMF data every 10 seconds. A file is read once its size and time"
            " have not changed from one look to the next; it is neither changed nor deleted. Names that begin with a dot are"
            " left alone. A relative path is beside this file.",
            "MQVITALS_SMF_WATCH",
            "--smf",
            default="none is watched",
        ),
    ] = None

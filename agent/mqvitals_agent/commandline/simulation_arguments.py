"""Options of a simulated group: its scenario and size, its speed, how long it runs, its SMF records."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.time_arguments import duration
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Callable


FASTEST = 1_000_000


def speed(text: str) -> float | None:
    """The factor to real time; None for ``max``, without waiting. Raises ArgumentTypeError."""
    if text == "max":
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= FASTEST:
        raise argparse.ArgumentTypeError(f"the speed is a number above 0 or max, not {text!r}; at most {FASTEST}")
    return number


def speed_word(speed: float | None) -> str:
    """The argument that gives this speed."""
    return "max" if speed is None else f"{speed:.17g}"


MOST_QUEUES, MOST_CHANNELS = 10_000, 2000
MOST_MEMBERS = 32
"""A queue-sharing group has no more."""
_USUAL_NAMES = {"members": 4, "qsg": "PRDQ", "prefix": "QM"}

SMF_INTERVAL_MS = 60_000

_SECOND_MS = 1000


def add_simulation_arguments(parser: argparse.ArgumentParser, *, limited: bool) -> None:
    """Declare the options of a simulated group, of a run's length (required when ``limited``) and of its interval."""
    add_scenario_arguments(parser)
    parser.add_argument(
        "--for", dest="for_ms", metavar="10m", type=duration, required=limited, help="end after this time"
    )


def add_scenario_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a simulated group, of its pace and of the interval."""
    parser.add_argument("--scenario", metavar="S", help="simulate the group of this scenario")
    add_group_arguments(parser)
    parser.add_argument(
        "--seed",
        metavar="N",
        type=_up_to(999_999_999),
        default=1,
        help="seed of the scenario's random numbers (default: 1)",
    )
    parser.add_argument(
        "--queues", metavar="N", type=_up_to(MOST_QUEUES), default=0, help="number of additional queues"
    )
    parser.add_argument(
        "--channels", metavar="N", type=_up_to(MOST_CHANNELS), default=0, help="number of additional channels"
    )
    parser.add_argument(
        "--speed",
        metavar="N",
        type=speed,
        default=1.0,
        help="N times real time (default: 1); max: without waiting. Never beyond now: a faster run starts in the"
        " past, so that --for ends now, or a day ago, and continues in real time when it reaches now",
    )
    parser.add_argument("--interval", metavar="2s", help="the time from one cycle to the next (polling.interval)")


def add_group_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the members of a simulated group, and of its names."""
    parser.add_argument(
        "--members",
        metavar="N",
        type=_members,
        default=_USUAL_NAMES["members"],
        help="number of queue managers of the simulated group, 1 to 32 (default: 4). Incidents are about the first four; what"
        " is about one that is not there is left out",
    )
    parser.add_argument(
        "--qsg",
        metavar="NAME",
        type=_name_of(4),
        default=_USUAL_NAMES["qsg"],
        help="name of the simulated queue-sharing group, up to four characters (default: PRDQ)",
    )
    parser.add_argument(
        "--prefix",
        metavar="XX",
        type=_name_of(2),
        default=_USUAL_NAMES["prefix"],
        help="what the names of its queue managers begin with, up to two characters (default: QM, for QM01, QM02, ...)",
    )


def add_group_folder_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option of a simulated group that several agents monitor."""
    parser.add_argument(
        "--group-folder",
        metavar="FOLDER",
        help="every agent with this folder simulates the same group; in it one at a time has a reply queue open, for trying"
        " two agents (standby)",
    )


def add_smf_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the folder of SMF records, and of those that a simulated group writes into it."""
    parser.add_argument(
        "--smf",
        metavar="FOLDER",
        help="read the files of SMF records that come into this folder (smf.watch); a simulated group writes its own"
        " there",
    )
    parser.add_argument(
        "--smf-interval",
        metavar="1m",
        type=_whole_seconds,
        default=SMF_INTERVAL_MS,
        help="the statistics interval of a simulated group (default: 1m)",
    )


def refuse_simulation_options(arguments: argparse.Namespace) -> None:
    """Raises Failure for options that only a simulated group has."""
    usual_of = {
        "seed": 1,
        "queues": 0,
        "channels": 0,
        "speed": 1.0,
        "smf_interval": SMF_INTERVAL_MS,
        "group_folder": None,
        **_USUAL_NAMES,
    }
    for option, usual in usual_of.items():
        if getattr(arguments, option, usual) != usual:
            raise Failure(
                f"--{option.replace('_', '-')} is for a simulated group", hint="name a --scenario, or leave it out"
            )


def _whole_seconds(text: str) -> int:
    """A length of time on the command line that is one of whole seconds, ms. Raises ArgumentTypeError."""
    length = duration(text)
    if length % _SECOND_MS:
        raise argparse.ArgumentTypeError("must be of whole seconds")
    return length


def _up_to(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > most:
            raise argparse.ArgumentTypeError(f"expected a whole number up to {most}, not {text!r}")
        return int(text)

    return number


def _members(text: str) -> int:
    number = _up_to(MOST_MEMBERS)(text)
    if not number:
        raise argparse.ArgumentTypeError("a group has one queue manager at least")
    return number


def _name_of(most: int) -> Callable[[str], str]:
    form = re.compile(f"[A-Z@#$][A-Z0-9@#$]{{0,{most - 1}}}")

    def name(text: str) -> str:
        if not form.fullmatch(text):
            raise argparse.ArgumentTypeError(
                f"expected up to {most} of the characters A-Z, 0-9, @, # and $, not a digit first; not {text!r}"
            )
        return text

    return name

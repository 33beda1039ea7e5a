"""Files that a person asks for: whole or not there at all, and over another one only where that is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mqvitals_agent.errors import Failure


def refuse_existing(target: Path) -> None:
    """Raises Failure where there is a file of this name, of whatever type."""
    if os.path.lexists(target):
        raise _there_already(target)


@contextmanager
def new_file(target: Path, *, replace: bool, binary: bool = False) -> Iterator[IO[Any]]:
    """A stream to the file ``target``, which comes to be when the block ends and not before; text is UTF-8.

    Whatever is raised within leaves no file. Raises Failure: the file is there already and is not to be ``replace``d, or
    cannot be written.
    """
    if not replace:
        refuse_existing(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with beside.open("xb") if binary else beside.open("x", encoding="utf-8", newline="") as stream:
            yield stream
        if replace:
            beside.replace(target)
        else:
            _give_new_name(beside, target)
    except OSError as error:
        raise Failure(
            f"{target} cannot be written: {error.strerror}",
            hint="name a file in a folder that exists, has space, and that you may write to",
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_whole(target: Path, text: str, *, replace: bool) -> None:
    """Write a file of text; a reader never sees half of it. Raises Failure as ``new_file``."""
    with new_file(target, replace=replace) as stream:
        stream.write(text)


def give_name(beside: Path, target: Path) -> None:
    """Give a file its name in the same folder; one that has come there meanwhile stays. Raises OSError; of that one FileExistsError."""
    try:
        target.hardlink_to(beside)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links, it seems; else the other way fails as well.
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        beside.rename(target)


def _give_new_name(beside: Path, target: Path) -> None:
    try:
        give_name(beside, target)
    except FileExistsError as error:
        raise _there_already(target) from error


def _there_already(target: Path) -> Failure:
    return Failure(f"{target} is there already", hint="name a new file, or replace it with --force")

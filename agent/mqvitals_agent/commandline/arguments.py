"""Arguments that several commands have: the store, its queue managers and objects, numbers, addresses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.settings import loaded_settings
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_config.decoding.secret import Secret
    from mqvitals_rules.snapshot import ObjectName


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` and ``--config``."""
    add_store_argument(parser)
    add_config_argument(parser)


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--store`` for a command that reads one."""
    parser.add_argument("--store", metavar="FILE", help="the store (else MQVITALS_STORE, else store.path)")


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--config``."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration file (else MQVITALS_CONFIG, else one of those in 'mqvitals help configuration')",
    )


def open_store(arguments: argparse.Namespace, *, limit_s: float | None = None) -> StoreReader:
    """The store that flag, environment or file name; a query ends after ``limit_s`` (None: as usual).

    Raises Failure, and StoreError when it cannot be read.
    """
    from mqvitals_agent.store.reader import QUERY_LIMIT_S, StoreReader

    if arguments.store is not None and arguments.config is None:
        # The flag beats everything else; an invalid file must not keep a store from being read.
        path: str | None = arguments.store
    else:
        path = loaded_settings(arguments).settings.store.path
    if not path:
        raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path")
    reader = StoreReader.open(path, limit_s=QUERY_LIMIT_S if limit_s is None else limit_s)
    _report_skipped_rows(reader, path)
    return reader


def _report_skipped_rows(reader: StoreReader, path: str) -> None:
    """Report on standard error rows that are not read. Raises StoreError."""
    import shlex

    from mqvitals_agent.commandline.output import complain
    from mqvitals_agent.text.terminal import safe

    rows = reader.passed_over()
    if rows:
        named = ", ".join(f"{table} {count:,}" for table, count in rows.items())
        complain(
            f"mqvitals: rows dated outside any calendar are skipped ({named}); the agent drops them when it starts,"
            f" and so does 'mqvitals store check --repair {safe(shlex.quote(path))}'"
        )


def refuse_empty(reader: StoreReader, *, watched: bool = False) -> None:
    """Raises Failure for a store without a queue manager (with ``watched`` of those that the agent watches), and
    StoreError."""
    if not any(not (watched and owner.unwatched) for owner in reader.owners()):
        raise Failure("the store holds nothing yet", hint="the first cycle of an agent fills it")


def check_owners(reader: StoreReader, names: Sequence[str]) -> None:
    """Raises Failure for a name that is no queue manager or group of the store, and StoreError."""
    from mqvitals_config.decoding.problem import suggestion

    known = [owner.name for owner in reader.owners() if not owner.unwatched]
    for name in names:
        if name not in known:
            meant = suggestion(name, known)
            raise Failure(f"the store has no queue manager {name!r}", hint=meant or f"it has {', '.join(known)}")


def add_queue_managers_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the names of queue managers, of which ``queue_managers_of`` makes objects."""
    parser.add_argument(
        "queue_managers", metavar="QUEUE_MANAGER", nargs="*", help="only of these (default: all in the store)"
    )


def queue_managers_of(reader: StoreReader, wanted: Sequence[str]) -> tuple[ObjectName, ...]:
    """The queue managers that are meant. Raises Failure where one is not in the store, StoreError."""
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_rules.snapshot import ObjectName

    known = sorted(owner.name for owner in reader.owners() if not owner.is_group)
    for name in wanted:
        if name not in known:
            hint = suggestion(name, known) or f"there is {', '.join(known) or 'none yet: is the agent running?'}"
            raise Failure(f"the store {reader.path} holds no queue manager {name}", hint=hint)
    if not known:
        raise Failure(f"the store {reader.path} holds no queue manager", hint="is the agent running?")
    return tuple(ObjectName(name, "queue_manager") for name in dict.fromkeys(wanted or known))


def add_pattern_argument(parser: argparse.ArgumentParser, such_as: str, pattern: str) -> None:
    """Declare ``--object``: a name such as ``such_as``, or a pattern such as ``pattern``."""
    parser.add_argument(
        "--object",
        metavar="PATTERN",
        help=f"only of these objects: a name such as {such_as}, or with * and ? ({pattern})",
    )


def object_name(text: str) -> ObjectName:
    """The object that ``text`` names. Raises Failure for another form, and for an unknown kind."""
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        name = ObjectName.parse(text)
    except ValueError as error:
        raise Failure(str(error), hint="'mqvitals metrics' lists the kinds") from error
    if name.kind not in KINDS:
        meant = suggestion(name.kind, KINDS)
        raise Failure(f"there is no kind of object {name.kind!r}", hint=meant or f"the kinds are {', '.join(KINDS)}")
    return name


def add_quiet_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--quiet`` for a command that may take long."""
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def add_limit_argument(parser: argparse.ArgumentParser, most: int, words: str) -> None:
    """Declare ``--limit``; ``words`` say what it limits."""
    parser.add_argument("--limit", metavar="N", type=int, default=most, help=f"{words} (default: %(default)s)")


def limit_argument(arguments: argparse.Namespace) -> int:
    """The number of ``--limit``. Raises Failure for one below 1."""
    limit: int = arguments.limit
    if limit < 1:
        raise Failure("--limit must be 1 at least")
    return limit


def refuse_past(reader: StoreReader) -> None:
    """Raises Failure for a store whose queue managers nobody can ask, and StoreError."""
    meta = reader.meta()
    if meta.past:
        raise Failure(
            f"the store {reader.path} holds {meta.holds}: there is no queue manager to ask",
            hint="name the store of a running agent",
        )


def webhook_address(text: str) -> str:
    """A receiver's address. Raises ArgumentTypeError, whose text does not hold the address."""
    from mqvitals_config.decoding.secret import checked_address

    try:
        return checked_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def webhook_file(text: str) -> Secret:
    """The file that holds a receiver's address. Raises ArgumentTypeError for what is no path."""
    from mqvitals_config.decoding.problem import LocatedText, Place
    from mqvitals_config.decoding.secret import Secret

    try:
        return Secret.in_file(LocatedText(text, Place("--webhook-file")))
    except ValueError as error:
        # The message must not repeat an address given in place of a path.
        raise argparse.ArgumentTypeError(str(error)) from error

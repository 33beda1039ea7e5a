"""``mqvitals pcf decode``: what a PCF message says, as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.pcf.message import Message, Parameter

_RAW_CCSID = 1208
MOST_RAW = 64 << 20
MOST_PASSED_OVER = 10_000
_LOOK = 4096  # bytes that decide the kind of input

_DECODE = """\
Prints one JSON object a message:

  {"type","command","seq","control","compCode","reason","params":[[id,type,value],...]}

A value is a number, a text without trailing blanks, a list of either, or lower-case
hex of a byte string; of a filter it is what it compares with. A group (type 20) has a
list of parameters as its value.

FILE, or - for standard input, is recognised by its content:
  a recording (.jsonl, .jsonl.gz)   the replies in order; each object begins with
                                    "line" in the file and "reply" in that line, from 0
  lines of ENCODING CCSID HEX       one message a line. The byte order comes from the
                                    message itself, ENCODING only has to be a number
  raw messages (.dat)               one after another

With --names every parameter is [id,type,value,name], a filter [id,type,value,name,
operator] and a group [id,20,[...],name]; a message also has "commandName" and
"reasonName". Names that are not known are null or left out.

What cannot be decoded is printed as {"error": ...} in its place and the rest goes on;
the exit code is then 1.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``pcf decode``."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    decode = subparsers.add_parser(
        "decode",
        help="print PCF messages as JSON",
        description=_DECODE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    decode.add_argument("file", metavar="FILE", help="a recording, lines of hex, or raw messages; - is standard input")
    decode.add_argument(
        "--ccsid",
        type=int,
        default=_RAW_CCSID,
        help="character set of raw messages whose texts name none (default: %(default)s)",
    )
    decode.add_argument("--names", action="store_true", help="add the names of parameters, commands and reasons")


def run(arguments: argparse.Namespace) -> int:
    """Decode and print; 1 when something could not be decoded."""
    encode = json.JSONEncoder(default=_plain, separators=(",", ":")).encode
    show = _named if arguments.names else _bare
    code = ExitCode.DONE
    with _input(arguments.file) as source:
        for place, message in _messages(source, arguments.file, arguments.ccsid):
            if isinstance(message, str):
                code = ExitCode.FOUND
                line = encode({**place, "error": message})
            else:
                line = encode({**place, **show(message)})
            sys.stdout.write(line + "\n")
    return code


_Found = tuple[dict[str, int], "Message | str"]
"""Where a message was found, as keys of its JSON object, and the message, or a sentence on why there is none."""


def _input(name: str) -> AbstractContextManager[BufferedReader]:
    if name == "-":
        return nullcontext(cast("BufferedReader", sys.stdin.buffer))
    try:
        return Path(name).open("rb")
    except FileNotFoundError:
        raise Failure(f"there is no file {name}", hint="use - to read from standard input") from None
    except OSError as error:
        raise Failure(f"{name} cannot be read: {error.strerror}") from None


def _messages(source: BufferedReader, name: str, ccsid: int) -> Iterator[_Found]:
    try:
        head = source.peek(_LOOK)[:_LOOK]
        if head.startswith(b"\x1f\x8b") or head.lstrip().startswith(b"{"):
            yield from _from_recording(source, name)
        elif b"\0" in head:
            yield from _from_raw(source, name, ccsid)
        else:
            yield from _from_lines(source)
    except OSError as error:
        raise Failure(f"{name} cannot be read: {error.strerror}") from None


def _from_recording(source: BufferedReader, name: str) -> Iterator[_Found]:
    from mqvitals_agent.connection.recording import Recording
    from mqvitals_agent.pcf.decoder import Decoder
    from mqvitals_agent.pcf.message import PcfError

    decoder = Decoder()
    # What has been looked at is still in the buffer.
    recording = Recording(Path(name), source)
    reported = 0
    for exchange in recording:
        for warning in recording.warnings[reported:]:
            yield {}, warning
        reported = len(recording.warnings)
        for number, reply in enumerate(exchange.replies):
            place = {"line": exchange.line, "reply": number}
            try:
                yield place, decoder.decode(reply.data, reply.ccsid)
            except PcfError as error:
                yield place, str(error)
    for warning in recording.warnings[reported:]:
        yield {}, warning


def _from_raw(source: BufferedReader, name: str, ccsid: int) -> Iterator[_Found]:
    from mqvitals_agent.pcf.decoder import Decoder
    from mqvitals_agent.pcf.message import PcfError

    data = source.read(MOST_RAW + 1)
    if len(data) > MOST_RAW:
        raise Failure(f"{name} is larger than {MOST_RAW >> 20} MiB of raw messages")
    for message in Decoder().decode_all(data, ccsid):
        yield {}, str(message) if isinstance(message, PcfError) else message


def _from_lines(source: BufferedReader) -> Iterator[_Found]:
    from mqvitals_agent.connection.lines import read_lines
    from mqvitals_agent.pcf.decoder import Decoder
    from mqvitals_agent.pcf.message import PcfError

    decoder = Decoder()
    warnings: list[str] = []
    passed_over = 0
    for number, (line, _) in enumerate(read_lines(source, warnings.append), 1):
        if passed_over >= MOST_PASSED_OVER:
            warnings.append(f"{MOST_PASSED_OVER:,} lines hold no message: the rest is not read")
            break
        words = line.split(maxsplit=3)
        if not words:
            passed_over += 1
            continue
        try:
            _, ccsid, data = _words(words)
            yield {}, decoder.decode(data, ccsid)
        except (PcfError, ValueError) as error:
            passed_over += 1
            yield {}, f"line {number}: {error}"
    for warning in warnings:
        yield {}, warning


def _words(words: list[bytes]) -> tuple[int, int, bytes]:
    if len(words) != 3:
        raise ValueError(f"expected ENCODING CCSID HEX, not {len(words)} word{'s' * (len(words) > 1)}")
    try:
        encoding, ccsid = int(words[0]), int(words[1])
    except ValueError:
        raise ValueError("expected ENCODING and CCSID as numbers before the hex") from None
    try:
        return encoding, ccsid, bytes.fromhex(words[2].decode("ascii"))
    except ValueError:
        raise ValueError("the message is not hex, two digits a byte") from None


def _bare(message: Message) -> dict[str, Any]:
    return {
        "type": message.type,
        "command": message.command,
        "seq": message.sequence,
        "control": message.control,
        "compCode": message.comp_code,
        "reason": message.reason,
        "params": message.parameters,
    }


def _named(message: Message) -> dict[str, Any]:
    from mqvitals_agent.pcf.names import command_name, reason_name

    names = {"commandName": command_name(message.command), "reasonName": reason_name(message.reason)}
    return {
        **_bare(message),
        **{key: name for key, name in names.items() if name is not None},
        "params": [_named_parameter(parameter) for parameter in message.parameters],
    }


def _named_parameter(parameter: Parameter) -> list[Any]:
    from mqvitals_agent.pcf.constants import MQCFT_GROUP
    from mqvitals_agent.pcf.message import FilterValue
    from mqvitals_agent.pcf.names import operator_name, parameter_name

    number, kind, value = parameter
    name = parameter_name(number, kind)
    if isinstance(value, FilterValue):
        return [number, kind, value.value, name, operator_name(value.operator) or value.operator]
    if kind == MQCFT_GROUP and isinstance(value, tuple):
        from mqvitals_agent.pcf.message import Parameter

        return [number, kind, [_named_parameter(member) for member in value if isinstance(member, Parameter)], name]
    return [number, kind, value, name]


def _plain(value: object) -> object:
    """What JSON has no form for: bytes are hex, a filter is what it compares with."""
    if isinstance(value, bytes):
        return value.hex()
    from mqvitals_agent.pcf.message import FilterValue

    if isinstance(value, FilterValue):
        return value.value
    raise TypeError(f"no JSON for {value!r}")

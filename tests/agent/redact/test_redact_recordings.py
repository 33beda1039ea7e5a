"""Redacted recordings: the same alerts and numbers, and no name of the site in any form."""

from __future__ import annotations

import gzip
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqsamples.pairs import alone
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.connection.connection import Exchange, Reply
from mqvitals_agent.connection.recording import RecordingWriter, open_recording
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import group, integer, request, string, string_filter, strings
from mqvitals_agent.pcf.message import FilterValue, Parameter
from mqvitals_agent.redact.pseudonym import generic_lengths
from mqvitals_agent.redact.redactor import SAFE, Redactor, generic_names

SALT = bytes(range(32))


def redactor_for(path: Path) -> Redactor:
    """A redactor that knows the recording's generic names."""
    decoder = Decoder()
    with open_recording(path) as recording:
        generic = {name for each in recording if each.request for name in generic_names(each.request, decoder)}
    return Redactor(SALT, generic_lengths(generic))


def redacted(path: Path, to: Path) -> Redactor:
    """Write the recording redacted; what redacted it."""
    redactor = redactor_for(path)
    with open_recording(path) as recording, RecordingWriter(to, redactor.header(recording.header)) as writer:
        for exchange in recording:
            writer.write(redactor.exchange(exchange))
    return redactor


def alerts(store: Path) -> list[tuple[Any, ...]]:
    """Every operational alert that a replay gave: what it is of, severity, state, times and polls.

    When advice is given depends on names: it is spread over the objects by them.
    """
    columns = (
        "rule, kind, instance, state, severity, worst, since, updated, started, ended, true_polls, good_polls, "
        "unknown_polls, owner, name"
    )
    with closing(sqlite3.connect(store)) as database, database:
        return database.execute(f"SELECT {columns} FROM alert WHERE kind_of_rule = 'operational'").fetchall()


def texts_of(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Every text that is not safe."""
    for parameter in parameters:
        value = parameter.value.value if isinstance(parameter.value, FilterValue) else parameter.value
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Parameter):
                yield from texts_of((each,))
            elif isinstance(each, str) and parameter.id not in SAFE:
                yield each


def secrets_of(path: Path) -> set[str]:
    """The names and other texts of the site, and their longer words."""
    decoder = Decoder()
    found: set[str] = set()
    with open_recording(path) as recording:
        found |= {recording.header.name, recording.header.comment, *recording.header.queue_managers}
        for exchange in recording:
            for data, ccsid in (
                (exchange.request or b"", 1208),
                *((each.data, each.ccsid) for each in exchange.replies),
            ):
                if data:
                    found.update(texts_of(decoder.decode(data, ccsid).parameters))
    # What stays by intention: IBM's names, and addresses that were documentation's before.
    found = {text for text in found if not text.startswith(("SYSTEM", "CSQ_ADMIN", "CSQSYSAPPL", "192.0.2."))}
    words = {word for text in found for word in re.split(r"[^A-Za-z0-9]+", text) if re.search("[A-Za-z]", word)}
    return {text for text in found | words if len(text) >= 4}


@pytest.mark.parametrize("recording", alone("incident", "quiet"), indirect=True)
def test_same_alerts(recording: Path, tmp_path: Path, replayed: Callable[[str], Path]) -> None:
    """Rule, severity, all times and counts of each alert are those of the original, and its object is the redacted one."""
    other, store = tmp_path / "redacted.jsonl.gz", tmp_path / "after.db"
    original = tmp_path / "before.db"
    shutil.copy(replayed("quiet" if "quiet" in recording.name else "incident"), original)
    redactor = redacted(recording, other)
    names = redactor.texts.names.replaced

    def mapped(row: tuple[Any, ...]) -> tuple[Any, ...]:
        *rest, owner, name = row
        rest[2] = names.get(rest[2], rest[2])
        return (*rest, names[owner], names.get(name, name))

    assert main(["replay", str(other), "--speed", "max", "--store", str(store)]) == 0
    before = [mapped(row) for row in alerts(original)]
    assert sorted(map(repr, before)) == sorted(map(repr, alerts(store)))
    assert before or "quiet" in recording.name


def test_same_exchanges(recording: Path, tmp_path: Path) -> None:
    """Times, commands, errors, numbers of messages, their lengths and character sets are those of the original."""
    other = tmp_path / "redacted.jsonl"
    redacted(recording, other)

    def shown(path: Path) -> list[object]:
        with open_recording(path) as found:
            return [
                (
                    *(each.at, each.elapsed_ms, each.command, each.error, len(each.request or b"")),
                    *((reply.encoding, reply.ccsid, reply.put, len(reply.data)) for reply in each.replies),
                )
                for each in found
            ]

    assert shown(recording) == shown(other)


def test_no_name_is_left(recording: Path, tmp_path: Path) -> None:
    """No text of the original stands in the file: as it is, as hex, in ASCII or EBCDIC."""
    other = tmp_path / "redacted.jsonl"
    left = " ".join(redacted(recording, other).texts.names.left)
    written = other.read_bytes()
    hexes = [bytes.fromhex(found.decode()) for found in re.findall(rb'"([0-9a-f]{20,})"', written)]
    raw = b"\n".join(hexes)
    lines = re.sub(rb'"[0-9a-f]{20,}"|"[a-z_]+":', b"", written)
    # A word of a name that stays is no secret.
    secrets = {secret for secret in secrets_of(recording) if secret not in left}
    assert len(secrets) > 30
    for secret in secrets:
        assert secret.encode() not in lines, secret
        for ccsid in (500, 1047, 1208):
            assert codec(ccsid).encode(secret) not in raw, secret


def test_damaged_messages_become_zeros() -> None:
    """What cannot be decoded is as long as before and holds nothing; so is a text in an unknown character set. Both are told."""
    redactor = Redactor(SALT)
    unknown = bytearray(request(42, [string(mq.MQCA_Q_DESC, "SECRET.QUEUE")]))
    unknown[36 + 12 : 36 + 16] = (12345).to_bytes(4, "big")
    exchange = Exchange(
        1, 0, 5, "QM01", 42, b"QM01 in ruins", (Reply(785, 500, b"SECRET"), Reply(785, 500, bytes(unknown)))
    )
    made = redactor.exchange(exchange)
    assert made.request == bytes(13)
    assert made.replies[0].data == bytes(6)
    assert b"SECRET" not in made.replies[1].data
    told = "\n".join(redactor.summary())
    assert "2 messages could not be decoded" in told
    assert "1 text in an unknown character set" in told


def test_groups_lists_filters_and_leftovers() -> None:
    """Names are found in groups, lists and filters; bytes after a text that a sender left there, and unknown structures, are cleared."""
    redactor = Redactor(SALT, generic_lengths(["PAY*"]))
    left = bytearray(string_bytes := request(42, [string(mq.MQCA_Q_NAME, "PAYME")]))
    left[-3:] = b"ENT"
    odd = bytearray(request(42, [integer(mq.MQIA_Q_TYPE, 1)]))
    odd[36:52] = (99).to_bytes(4, "big") + (16).to_bytes(4, "big") + b"PAYMENTS"
    nested = request(
        42,
        [
            group(8001, [strings(mq.MQCACF_CF_STRUC_LOG_Q_MGRS, ["QM01", "QM02"]), string(mq.MQCA_VERSION, "0904")]),
            string_filter(mq.MQCA_Q_NAME, mq.MQCFOP_LIKE, "PAY*"),
        ],
    )
    replies = tuple(Reply(273, 1208, bytes(data)) for data in (left, odd, nested))
    made = redactor.exchange(Exchange(1, 0, 5, "QM01", 42, None, replies)).replies
    names = redactor.texts.names
    assert made[0].data == request(42, [string(mq.MQCA_Q_NAME, names.of("PAYME"))])[:-3] + bytes(3)
    assert len(made[0].data) == len(string_bytes)
    assert made[1].data == bytes(odd[:44]) + bytes(8)
    message = Decoder().decode(made[2].data, 1208)
    assert list(texts_of(message.parameters)) == [names.of("QM01"), names.of("QM02"), names.of("PAY*")]
    assert names.of("PAYMENTS").startswith(names.of("PAY*")[:-1])


def test_generic_name_that_came_late() -> None:
    """A generic name that was not known beforehand, and ends within a word, is told of; one that ends with a dot does no harm."""
    redactor = Redactor(SALT)
    for name in ("PAY.*", "PAY*"):
        redactor.exchange(Exchange(1, 0, 5, "QM01", 42, request(42, [string(mq.MQCA_Q_NAME, name)])))
    assert [line for line in redactor.summary() if "generic" in line] == [
        "1 generic name became known too late: replay may take objects that are gone for unknown ones, or unknown ones for gone"
    ]


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`record --redact` and `redact` write recordings of different names, say what they did, and refuse a file that exists."""
    plain, live, after = (str(tmp_path / name) for name in ("plain.jsonl", "live.jsonl.gz", "after.jsonl.gz"))
    run = ("--scenario", "busy-morning", "--for", "60s", "--speed", "200", "--interval", "20s")
    assert main(["record", plain, *run]) == 0
    assert main(["record", live, "--redact", *run]) == 0
    assert "replaced" in capsys.readouterr().err
    assert main(["redact", plain, after]) == 0
    told = capsys.readouterr().err
    assert "replaced" in told
    assert "what stays: numbers" in told
    assert main(["redact", plain, after]) == 2
    heads = [gzip.decompress(Path(name).read_bytes()).splitlines()[0] for name in (live, after)]
    assert heads[0] != heads[1]
    for head in heads:
        assert b"QM0" not in head
    with open_recording(plain) as before, open_recording(after) as then:
        assert len(list(before)) == len(list(then))
    assert main(["redact", str(tmp_path / "none"), str(tmp_path / "x")]) == 2

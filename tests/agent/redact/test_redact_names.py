"""Pseudonyms: one for one, of the same form, and generic names select what they selected."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from mqvitals_agent.redact.pseudonym import Addresses, Pseudonyms, generic_lengths, permuted
from mqvitals_agent.redact.redactor import TextRedactor

SALT = bytes(range(32))
CHARACTERS = "ABSYTEM19az._/%."
NAMES = st.text(CHARACTERS, min_size=1, max_size=20) | st.builds(
    "{}{}".format,
    st.sampled_from(["SYSTEM.", "SYSTEM", "SYS", "CSQ_ADMIN", "SYSTEM.CLUSTER.TRANSMIT.", "MODEL.QUEUE"]),
    st.text(CHARACTERS, max_size=5),
)


@given(st.sets(NAMES, max_size=30), st.sets(st.integers(1, 12), max_size=4))
def test_one_for_one(names: set[str], lengths: set[int]) -> None:
    """Different names become different ones, of the same length, with the same dots, whatever the lengths they are cut at."""
    pseudonyms = Pseudonyms(SALT, frozenset(lengths))
    made = {name: pseudonyms.of(name) for name in names}
    assert len(set(made.values())) == len(names)
    for name, pseudonym in made.items():
        assert re.sub("[A-Z0-9]", "A", re.sub("[a-z]", "a", name)) == re.sub(
            "[A-Z0-9]", "A", re.sub("[a-z]", "a", pseudonym)
        )


@given(st.integers(1, 2), st.sampled_from(["ABC", "A1", "a", "9"]))
def test_all_short_words(length: int, form: str) -> None:
    """The words of one or two letters or digits, all of them, are a permutation of themselves."""
    first = {"A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a": "abcdefghijklmnopqrstuvwxyz", "9": "0123456789"}[form[0]]
    rest = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" if form[0] in "A9" else first
    words = list(first) if length == 1 else [a + b for a in first for b in rest]
    pseudonyms = Pseudonyms(SALT, frozenset({1}))
    assert sorted(map(pseudonyms.of, words)) == sorted(words)


@given(st.sets(NAMES, max_size=20), st.lists(st.text(CHARACTERS, max_size=8), max_size=4), st.data())
def test_generic_names_select_the_same(names: set[str], begins: list[str], data: st.DataObject) -> None:
    """A redacted generic name selects exactly the redacted names of those that it selected; some begin as a name does."""
    of_names = [name[: data.draw(st.integers(0, len(name)))] for name in sorted(names)[:3]]
    patterns = [f"{begin}*" for begin in (*begins, *of_names)]
    pseudonyms = Pseudonyms(SALT, generic_lengths(patterns))
    for pattern in patterns:
        redacted = pseudonyms.of(pattern)
        assert redacted.endswith("*")
        for name in names:
            assert pseudonyms.of(name).startswith(redacted[:-1]) == name.startswith(pattern[:-1]), (pattern, name)


def test_what_stays() -> None:
    """Names of IBM's stay; the channel in the name of its cluster transmission queue has its own pseudonym."""
    pseudonyms = Pseudonyms(SALT)
    for name in ("SYSTEM.COMMAND.INPUT", "SYSTEM", "CSQ_ADMIN", "CSQSYSAPPL", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", "", "*"):
        assert pseudonyms.of(name) == name
    assert pseudonyms.of("SYSTEM.CLUSTER.TRANSMIT.TO.BANK") == f"SYSTEM.CLUSTER.TRANSMIT.{pseudonyms.of('TO.BANK')}"
    assert pseudonyms.of("TO.BANK") not in {"TO.BANK", "CSQ_ADMIN"}


def test_salts_and_order() -> None:
    """The same salt gives the same pseudonyms in any order of names; another salt gives others."""
    names = ["PAYMENTS.IN", "QM01", "ORDERS.REPLY"]
    one, again, other = Pseudonyms(SALT), Pseudonyms(SALT), Pseudonyms(SALT[::-1])
    made = [one.of(name) for name in names]
    assert made == [again.of(name) for name in reversed(names)][::-1]
    assert not set(made) & {other.of(name) for name in names}


@given(st.sets(st.ip_addresses(v=4).map(str), max_size=60))
def test_addresses(addresses: set[str]) -> None:
    """Each address becomes another one of its length, that no host has; ports and lists stay as they are."""
    assume(not addresses & {"0.0.0.0", "127.0.0.1"})
    found = Addresses(SALT, str)
    made = {address: found.of(f"{address}(1414)") for address in addresses}
    assert len(set(made.values())) == len(addresses)
    for address, pseudonym in made.items():
        assert pseudonym is not None
        assert len(pseudonym) == len(address) + 6
        assert pseudonym.endswith("(1414)")
        assert re.match(r"192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|0\.|2[45][0-9]\.", pseudonym)


def test_forms_of_connection_names() -> None:
    """Hosts get the pseudonym of a name, addresses are the same with and without port, other texts are none of these."""
    texts = TextRedactor(SALT)
    host, first, second = "mq.partner.example", "10.1.2.3", "fe80::1:2"
    assert texts.name(f"{host}(1414),{first}") == f"{texts.name(host)}(1414),{texts.name(first)}"
    assert texts.name(second) != second
    assert texts.name(second).count(":") == 3
    assert texts.name("127.0.0.1(1414)") == "127.0.0.1(1414)"
    assert Addresses(SALT, str).of("ORDERS.IN") is None


@given(st.lists(st.integers(0, 255), min_size=1, max_size=40), st.binary(max_size=8))
def test_permutations_differ_by_context(digits: list[int], context: bytes) -> None:
    """A permutation stays within its radices and is the same each time."""
    radices = [256] * len(digits)
    made = permuted(SALT, context, digits, radices)
    assert made == permuted(SALT, context, digits, radices)
    assert all(0 <= each < 256 for each in made)


@given(st.sets(st.binary(min_size=1, max_size=2), max_size=200))
def test_byte_strings(found: set[bytes]) -> None:
    """Byte strings of one length stay different and of their length, and zeros alone stay zeros."""
    texts = TextRedactor(SALT)
    made = {data: texts.octets(data) for data in found}
    assert len(set(made.values())) == len(found)
    assert all(len(data) == len(new) and any(data) == any(new) for data, new in made.items())


@given(st.integers(1, 4000), st.binary(max_size=60), st.sampled_from([500, 1047, 1208, 819, 37, 850, 12345]))
def test_texts_keep_their_length(number: int, data: bytes, ccsid: int) -> None:
    """Whatever the bytes of a text and its character set, as many come out."""
    assert len(TextRedactor(SALT).text(number, data, ccsid)) == len(data)

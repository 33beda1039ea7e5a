"""Amounts as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import Input, PlanError, format_number, parse_amount, parse_input

BYTES = Input("msg_bytes", "bytes", "length", 1, 104_857_600)
MESSAGES = Input("msgs", "messages", "how many", 1, 1e10)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1536", "bytes", 1536),
        ("1,536", "bytes", 1536),
        ("1.5K", "bytes", 1536),
        ("1kb", "bytes", 1024),
        ("100MB", "bytes", 104_857_600),
        ("100 MB", "bytes", 104_857_600),
        ("7B", "bytes", 7),
        ("512K", "KB", 512),
        ("512", "KB", 512),
        ("4G", "KB", 4_194_304),
        ("4GB", "MB", 4096),
        ("512KB", "MB", 0.5),
        ("3M", "MB/s", 3),
        ("2048B", "KB", 2),
        ("275K", "messages", 275_000),
        ("1.5M", "messages", 1_500_000),
        ("8G", "", 8_000_000_000),
        (".5", "s", 0.5),
        ("-3", "s", -3),
    ],
)
def test_amounts(text: str, unit: str, value: float) -> None:
    assert parse_amount(text, unit) == value


@pytest.mark.parametrize("text", ["", "many", "1e5", "nan", "inf", "1,53", "5T", "5KK", "0x10", "1.", "٣", "5 K B"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match=r"is no number; write it as|must be"):
        parse_amount(text, "bytes")


def test_bytes_are_no_messages() -> None:
    with pytest.raises(
        PlanError, match=r"^msgs: '5KB' is a number of bytes, not of messages; it is 1 to 10,000,000,000"
    ):
        parse_input(MESSAGES, "5KB")


def test_an_error_names_the_option_and_what_is_allowed() -> None:
    with pytest.raises(PlanError, match=r"^msg-bytes must be 1 to 104,857,600 bytes, not 0$"):
        parse_input(BYTES, "0")
    with pytest.raises(PlanError, match=r"^msg-bytes: 'long' is no number.*; it is 1 to 104,857,600 bytes$"):
        parse_input(BYTES, "long")
    with pytest.raises(PlanError, match=r"^msg-bytes is a whole number, 1 to 104,857,600 bytes, not 1\.5"):
        parse_input(BYTES, "1.5")


def test_words_in_any_case() -> None:
    kind = Input("kind", "", "of message", words=("persistent", "non-persistent"))
    assert parse_input(kind, "Persistent") == "persistent"
    with pytest.raises(PlanError, match="kind must be persistent or non-persistent, not 'both'"):
        parse_input(kind, "both")


def test_shown() -> None:
    assert [format_number(each) for each in (515_625, 0.4750004, 1234.5, 891_234.56, None, "word", 12.0)] == [
        "515,625",
        "0.475",
        "1,234.5",
        "891,234.6",
        "-",
        "word",
        "12",
    ]


@drawn(st.integers(0, 10**20), st.sampled_from(["bytes", "KB", "MB", "GB", "messages", "s", ""]))
def test_a_number_alone_is_in_the_unit_itself(number: int, unit: str) -> None:
    assert parse_amount(str(number), unit) == parse_amount(f"{number:,}", unit) == number


@drawn(st.integers(0, 10**9), st.sampled_from("KMG"))
def test_steps_of_1024_for_bytes_and_of_1000_for_what_is_counted(number: int, power: str) -> None:
    times = "KMG".index(power) + 1
    assert (
        parse_amount(f"{number}{power}", "bytes") == parse_amount(f"{number}{power}B", "bytes") == number * 1024**times
    )
    assert parse_amount(f"{number}{power}", "messages") == number * 1000**times


@drawn(st.integers(0, 10**6), st.sampled_from("KMG"), st.sampled_from(["bytes", "KB", "MB", "GB"]))
def test_the_same_bytes_whatever_the_unit(number: int, power: str, unit: str) -> None:
    step = 1024 ** ["bytes", "KB", "MB", "GB"].index(unit)
    assert parse_amount(f"{number}{power}", unit) * step == number * 1024 ** ("KMG".index(power) + 1)


@drawn(st.text())
def test_any_text_is_a_number_or_a_plan_error(text: str) -> None:
    try:
        value = parse_amount(text, "bytes")
    except PlanError:
        return
    assert isinstance(value, (int, float))

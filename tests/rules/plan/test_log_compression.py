"""Log compression: the sample report and the tables of the document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.logs import (
    log_compression_data,
    log_compression_pieces,
    log_compression_saved,
    log_compression_throughput,
)

BYTES = st.integers(1, 10**18)


def test_compression_of_the_sample_report() -> None:
    answer = log_compression_saved(before_bytes=19_788_652_806, after_bytes=10_272_387_011)
    assert answer.value == pytest.approx(48.09, abs=0.005)
    assert answer.unit == "%"
    assert answer.value == pytest.approx(48, abs=1)
    assert 100 - (answer.value or 0) == pytest.approx(51.9, abs=0.05)


def test_decompression_of_the_sample_report() -> None:
    answer = log_compression_saved(before_bytes=487, after_bytes=878, direction="decompression")
    assert answer.value == pytest.approx(44.53, abs=0.005)
    assert answer.value == pytest.approx(44, abs=1)


@pytest.mark.parametrize("direction", ["compression", "decompression"])
def test_an_unused_section_saves_nothing_known(direction: str) -> None:
    assert log_compression_saved(before_bytes=0, after_bytes=0, direction=direction).value is None
    with pytest.raises(PlanError, match="before-bytes cannot be 0 alone"):
        log_compression_saved(before_bytes=0, after_bytes=1, direction=direction)
    with pytest.raises(PlanError, match="after-bytes cannot be 0 alone"):
        log_compression_saved(before_bytes=1, after_bytes=0, direction=direction)


@given(BYTES, BYTES, BYTES)
def test_the_smaller_it_gets_the_more_is_saved(before: int, one: int, other: int) -> None:
    small, large = (log_compression_saved(before_bytes=before, after_bytes=each).value for each in sorted((one, other)))
    assert small is not None
    assert large is not None
    assert 100 >= small >= large
    assert (large > 0) <= (max(one, other) < before)


@given(BYTES, BYTES)
def test_both_directions_agree(plain: int, packed: int) -> None:
    there = log_compression_saved(before_bytes=plain, after_bytes=packed).value
    back = log_compression_saved(before_bytes=packed, after_bytes=plain, direction="decompression").value
    assert there == back


@pytest.mark.parametrize(("msg_bytes", "pieces"), [(1, 1), (4096, 1), (4097, 2), (102_400, 25), (104_857_600, 25_600)])
def test_pieces_of_4_kb(msg_bytes: int, pieces: int) -> None:
    assert log_compression_pieces(msg_bytes=msg_bytes).value == pieces


@given(st.integers(1, 104_857_600))
def test_pieces_hold_the_message_and_no_piece_is_empty(msg_bytes: int) -> None:
    pieces = log_compression_pieces(msg_bytes=msg_bytes).value
    assert pieces is not None
    assert (pieces - 1) * 4096 < msg_bytes <= pieces * 4096


def test_a_message_of_no_bytes_is_refused() -> None:
    with pytest.raises(PlanError, match="msg-bytes must be 1 to 104,857,600 bytes, not 0"):
        log_compression_pieces(msg_bytes=0)


THROUGHPUT = [("0", 479, -2.44, -2.4), ("10", 541, 10.18, 10.2), ("50", 844, 71.89, 71.9), ("90", 1550, 215.68, 315.6)]


@pytest.mark.parametrize(("compressible", "per_s", "change", "printed"), THROUGHPUT)
def test_throughput_by_compressibility(compressible: str, per_s: int, change: float, printed: float) -> None:
    answer = log_compression_throughput(compressible_pct=compressible)
    assert answer.value == pytest.approx(change, abs=0.005)
    assert answer.unit == "%"
    assert {
        "compressible_pct": int(compressible),
        "transactions_per_s": per_s,
        "change_pct": answer.value,
        "document_change_pct": printed,
    } in answer.rows
    if compressible != "90":
        assert answer.value == pytest.approx(printed, abs=0.05)


def test_the_documents_315_6_percent_is_a_ratio() -> None:
    steps = log_compression_throughput(compressible_pct="90").steps
    assert "= 3.157 times" in steps[0]
    assert steps[-1] == "the document prints 315.6 %: that is the ratio, not the change"
    assert not any("document" in each for each in log_compression_throughput(compressible_pct="50").steps)


def test_the_table_begins_without_compression() -> None:
    first, *others = log_compression_throughput().rows
    assert (first["compressible_pct"], first["transactions_per_s"], first["change_pct"]) == ("not attempted", 491, None)
    changes = [each["change_pct"] for each in others]
    assert changes == sorted(changes)  # type: ignore[type-var]


LOGGED = [("0", 2.15, 0), ("50", 1.14, 46.98), ("90", 0.33, 84.65)]


@pytest.mark.parametrize(("compressible", "logged_mb", "saved"), LOGGED)
def test_log_data_of_a_transaction(compressible: str, logged_mb: float, saved: float) -> None:
    answer = log_compression_data(compressible_pct=compressible)
    assert (answer.value, answer.unit) == (logged_mb, "MB/transaction")
    assert {
        "compressible_pct": int(compressible),
        "log_mb_per_transaction": logged_mb,
        "saved_pct": pytest.approx(saved, abs=0.005),
    } in answer.rows
    assert len(answer.rows) == len(LOGGED)


def test_headers_are_saved_in_any_case() -> None:
    assert "0.33 KB a transaction" in log_compression_data().caveat


def test_only_what_was_measured() -> None:
    with pytest.raises(PlanError, match="compressible-pct must be 0, 10, 50 or 90, not '70'"):
        log_compression_throughput(compressible_pct="70")
    with pytest.raises(PlanError, match="compressible-pct must be 0, 50 or 90, not '10'"):
        log_compression_data(compressible_pct="10")

"""SSL channels: the worked examples, every row of the table, and what must hold for every length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.channel_initiator import ssl_channels, ssl_cpu
from mqvitals_rules.plan.formula import PlanError

KB = st.floats(0, 50_000)
CIPHERS = st.sampled_from(("NULL_MD5", "RC4_MD5_EXPORT", "TRIPLE_DES_SHA_US"))


@pytest.mark.parametrize(
    ("epvt_kb", "max_msg_kb", "channels"),
    [
        (1_600_000, 4000, 380),
        (1_600_000, 102_400, 15),
        (1_600_000, 0, 7619),
        (1_600_000, 32, 7619),
        (1_600_000, 33, 6584),
        (1_677_721, 1, 7989),
        (209, 1, 0),
    ],
)
def test_the_most_channels(epvt_kb: int, max_msg_kb: int, channels: int) -> None:
    answer = ssl_channels(epvt_kb=epvt_kb, max_msg_kb=max_msg_kb)
    assert (answer.value, answer.unit) == (channels, "channels")


def test_the_document_rounds_the_most_of_small_messages() -> None:
    answer = ssl_channels(max_msg_kb=1)
    assert answer.value == pytest.approx(7500, rel=0.02)
    assert "around 7500" in answer.steps[-1]


@given(epvt_kb=st.integers(1, 2_097_151), max_msg_kb=KB)
def test_more_storage_never_holds_fewer_channels_and_longer_messages_never_more(
    epvt_kb: int, max_msg_kb: float
) -> None:
    channels = ssl_channels(epvt_kb=epvt_kb, max_msg_kb=max_msg_kb).value
    roomier = ssl_channels(epvt_kb=epvt_kb + 1, max_msg_kb=max_msg_kb).value
    longer = ssl_channels(epvt_kb=epvt_kb, max_msg_kb=max_msg_kb + 1).value
    assert channels is not None
    assert roomier is not None
    assert longer is not None
    assert 0 <= longer <= channels <= roomier
    assert channels * 210 <= epvt_kb


@pytest.mark.parametrize(
    ("cipherspec", "ccf", "sender", "receiver", "printed"),
    [
        ("NULL_MD5", "any", (0.15, 0.045), (0.12, 0.049), 0.49),
        ("RC4_MD5_EXPORT", "any", (0.15, 0.1), (0.2, 0.105), None),
        ("TRIPLE_DES_SHA_US", "yes", (0.2, 0.14), (0.2, 0.144), None),
        ("TRIPLE_DES_SHA_US", "no", (0.5, 0.89), (0.5, 0.9), None),
    ],
)
def test_every_row_of_the_table(
    cipherspec: str, ccf: str, sender: tuple[float, float], receiver: tuple[float, float], printed: float | None
) -> None:
    given_ccf = "yes" if ccf == "any" else ccf
    answer = ssl_cpu(msg_kb=10, cipherspec=cipherspec, ccf=given_ccf)
    [row] = [each for each in answer.rows if (each["cipherspec"], each["ccf"]) == (cipherspec, ccf)]
    assert (row["sender_constant_ms"], row["sender_ms_per_kb"]) == sender
    assert (row["receiver_constant_ms"], row["receiver_ms_per_kb"]) == receiver
    assert row["document_receiver_ms_per_kb"] == printed
    assert row["sender_ms"] == pytest.approx(sender[0] + 10 * sender[1])
    assert row["receiver_ms"] == pytest.approx(receiver[0] + 10 * receiver[1])
    assert row["document_receiver_ms"] == (None if printed is None else pytest.approx(receiver[0] + 10 * printed))
    one = {
        end: ssl_cpu(msg_kb=10, cipherspec=cipherspec, ccf=given_ccf, end=end).value for end in ("sender", "receiver")
    }
    assert one == {"sender": row["sender_ms"], "receiver": row["receiver_ms"]}
    assert answer.value == pytest.approx(sum(value or 0 for value in one.values()))
    assert len(answer.rows) == 4


@pytest.mark.parametrize(("end", "cpu_ms"), [("sender", 0.65), ("receiver", 0.725), ("both", 1.375)])
def test_five_kb_of_rc4(end: str, cpu_ms: float) -> None:
    answer = ssl_cpu(msg_kb=5, cipherspec="RC4_MD5_EXPORT", end=end)
    assert (answer.value, answer.unit) == (cpu_ms, "CPU ms")


@pytest.mark.parametrize(("end", "told"), [("sender", False), ("receiver", True), ("both", True)])
def test_the_doubtful_coefficient_is_told_where_it_counts(end: str, told: bool) -> None:
    answer = ssl_cpu(msg_kb=5, cipherspec="NULL_MD5", end=end)
    assert ("0.49 ms/KB" in answer.caveat) is told
    assert ("2.57 CPU ms there" in answer.caveat) is told


@given(msg_kb=KB, cipherspec=CIPHERS, end=st.sampled_from(("sender", "receiver", "both")))
def test_longer_messages_cost_more_and_hardware_never_costs(msg_kb: float, cipherspec: str, end: str) -> None:
    cost = ssl_cpu(msg_kb=msg_kb, cipherspec=cipherspec, end=end).value
    longer = ssl_cpu(msg_kb=msg_kb + 1, cipherspec=cipherspec, end=end).value
    without = ssl_cpu(msg_kb=msg_kb, cipherspec=cipherspec, end=end, ccf="no").value
    assert cost is not None
    assert longer is not None
    assert without is not None
    assert 0 < cost < longer
    assert cost <= without
    assert (cost < without) is (cipherspec == "TRIPLE_DES_SHA_US")


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="max-msg-kb must be 0 to 102,400 KB, not -1"):
        ssl_channels(max_msg_kb=-1)
    with pytest.raises(PlanError, match="epvt-kb must be 1 to 2,097,152 KB, not 0"):
        ssl_channels(max_msg_kb=1, epvt_kb=0)
    with pytest.raises(
        PlanError, match="cipherspec must be NULL_MD5, RC4_MD5_EXPORT or TRIPLE_DES_SHA_US, not 'ROT13'"
    ):
        ssl_cpu(msg_kb=1, cipherspec="ROT13")
    with pytest.raises(PlanError, match="msg-kb must be"):
        ssl_cpu(msg_kb=102_401, cipherspec="NULL_MD5")

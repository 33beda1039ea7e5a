"""What receivers have in common: several addresses of which some accept, and texts without secrets."""

from __future__ import annotations

from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import PATIENCE_MS, Addressees, accepted, again, excerpt, refused

ACCEPTED, REFUSED, AGAIN = DeliveryStatus.ACCEPTED, DeliveryStatus.REFUSED, DeliveryStatus.AGAIN
YES, NO, LATER = accepted("yes"), refused("no"), again("later")


def test_one_address_decides() -> None:
    """Its answer is that of the notification."""
    for answer in (YES, NO, LATER):
        addressees = Addressees(["a"])
        assert addressees.ahead("1") == ["a"]
        assert addressees.settle({"a": answer}, 0).status is answer.status


def test_some_accept() -> None:
    """Who has it is left out of the next attempt, until the next notification."""
    addressees = Addressees(["a", "b", "c"])
    addressees.ahead("1")
    outcome = addressees.settle({"a": YES, "b": LATER, "c": NO}, 0)
    assert outcome == DeliveryOutcome(AGAIN, "accepted for 1 of 3; b: later; c: no")
    assert addressees.ahead("1") == ["b", "c"]
    assert addressees.settle({"b": YES, "c": NO}, 1) == DeliveryOutcome(ACCEPTED, "accepted for 2 of 3; c: no")
    assert addressees.ahead("2") == ["a", "b", "c"]


def test_all_refuse() -> None:
    """Only then it is refused; while one may still accept it is tried again, however long that takes."""
    addressees = Addressees(["a", "b"])
    addressees.ahead("1")
    assert addressees.settle({"a": NO, "b": NO}, 0).status is REFUSED
    for now in (0, PATIENCE_MS, 10 * PATIENCE_MS):
        assert addressees.settle({"a": NO, "b": LATER}, now).status is AGAIN


def test_one_that_accepts_nothing_for_long() -> None:
    """It holds up the others for a while, once; when it has accepted something, it is waited for again."""
    addressees = Addressees(["a", "b"])
    addressees.ahead("1")
    assert addressees.settle({"a": YES, "b": LATER}, 0).status is AGAIN
    assert addressees.settle({"b": LATER}, PATIENCE_MS - 1).status is AGAIN
    assert addressees.settle({"b": LATER}, PATIENCE_MS).status is ACCEPTED
    addressees.ahead("2")
    assert addressees.settle({"a": YES, "b": LATER}, PATIENCE_MS + 1).status is ACCEPTED
    addressees.ahead("3")
    assert addressees.settle({"a": YES, "b": YES}, PATIENCE_MS + 2).status is ACCEPTED
    addressees.ahead("4")
    assert addressees.settle({"a": YES, "b": LATER}, PATIENCE_MS + 3).status is AGAIN


def test_many_that_do_not_accept() -> None:
    """Some are named, the others counted."""
    names = [f"a{number}" for number in range(6)]
    outcome = Addressees(names).settle(dict.fromkeys(names, LATER), 0)
    assert outcome.text == "accepted for 0 of 6; a0: later; a1: later; a2: later; and 3 more"


def test_what_another_program_says() -> None:
    """On one line, without secrets, cut."""
    assert excerpt(b"\xff no\n\tsuch  Tsecret\x1b[2J", ["Tsecret", ""]) == "\ufffd no such (hidden)␛[2J"
    assert len(excerpt("x" * 1000, ())) == 160

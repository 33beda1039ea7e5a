"""What the store keeps of the rules' verdict on a snapshot, as far as it must know its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mqvitals_rules.lifecycle.alert import Transition
from mqvitals_rules.vocabulary.metric import Absence


class Unknown(Protocol):
    """How many objects of the snapshot's owner a rule could not judge, and for want of what."""

    @property
    def rule(self) -> str:
        """The rule's id."""

    @property
    def reason(self) -> Absence:
        """Why the value is absent."""

    @property
    def count(self) -> int:
        """The number of objects."""


class Verdict(Protocol):
    """What the rules made of a snapshot: ``mqvitals_rules.engine.Evaluation`` is one."""

    @property
    def transitions(self) -> Sequence[Transition]:
        """The alerts about which something changed."""

    @property
    def unknown(self) -> Sequence[Unknown]:
        """What could not be judged; stands for the owner until its next snapshot."""

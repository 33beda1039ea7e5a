"""What is typed into the form of a silence is understood or refused in its field, and the preview says what it matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.action import Acknowledgement, Silence, last_own_action, made_together
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.alerts.silencing import (
    BEGINS,
    ENDS,
    MATCHERS,
    REASON,
    FieldError,
    narrowest_matchers,
    owner_matchers,
    parse_matchers,
    parse_silence,
    preview_lines,
)
from mqvitals_config.sections.matcher import Matcher, Operator, matchers_text
from mqvitals_rules.lifecycle.alert import Severity

NOW = 1_795_176_590_000  # 2026-11-20 12:09:50 UTC
HOUR = 3_600_000
LABELS = {"rule": "Q-03", "severity": "warning", "object": "QM01/queue/PAY IN", "queue_manager": "QM01"}


def test_narrowest_matchers() -> None:
    """Rule, object and instance: they match the alert itself, and can be typed again as they are shown."""
    found = narrowest_matchers({**LABELS, "instance": "INQUIRE_LOG"})
    assert matchers_text(found) == 'rule=Q-03 object="QM01/queue/PAY IN" instance=INQUIRE_LOG'
    assert parse_matchers(matchers_text(found)) == found
    assert [each.label for each in owner_matchers("PRDQSG", is_group=True)] == ["owner"]


VALUES = st.text(st.characters(codec="utf-8"), max_size=30).filter(bool)
ONE = st.builds(Matcher, st.sampled_from(list(LABELS)), st.sampled_from([Operator.EQUAL]), VALUES)


@given(st.lists(ONE, min_size=1, max_size=4))
def test_what_is_shown_can_be_typed(matchers: list[Matcher]) -> None:
    """Whatever names hold."""
    assert list(parse_matchers(matchers_text(matchers))) == matchers


@given(st.text(max_size=60))
def test_anything_typed_is_understood_or_refused(text: str) -> None:
    """Never another error, and the preview fits."""
    for typed in ((text, "", "2h", "x"), ("rule=A", text, "2h", "x"), ("rule=A", "", text, "x")):
        try:
            parse_silence(*typed, NOW)
        except FieldError as error:
            assert error.field in (MATCHERS, BEGINS, ENDS)  # noqa: PT017
        assert all(cells(line.text) <= 60 for line in preview_lines(*typed[:3], [], NOW, 60))


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        (("", "", "2h", "x"), MATCHERS, "write a matcher"),
        (("rule", "", "2h", "x"), MATCHERS, "is no matcher"),
        (("rule!=X", "", "2h", "x"), MATCHERS, "must ask for a value"),
        (("rule=X", "soon", "2h", "x"), BEGINS, "is no time"),
        (("rule=X", "?", "2h", "x"), BEGINS, "^write 22:00"),
        (("rule=X", "2026-11-19 06:00", "2h", "x"), BEGINS, "is over"),
        (("rule=X", "", "", "x"), ENDS, "how long"),
        (("rule=X", "22:00", "2026-11-20 20:00", "x"), ENDS, "before it begins"),
        (("rule=X", "", "2h", " "), REASON, "write why"),
    ],
)
def test_refused(typed: tuple[str, str, str, str], field: str, said: str) -> None:
    """The first mistake, in the field that has it."""
    with pytest.raises(FieldError, match=said) as caught:
        parse_silence(*typed, NOW)
    assert caught.value.field == field


def test_times() -> None:
    """An end is a length after the beginning, or a time after it; an empty beginning is now."""
    assert parse_silence("rule=X", "", "2h", "x", NOW).ends == NOW + 2 * HOUR
    wish = parse_silence("rule=X", "22:00", "06:00", "x", NOW)
    assert wish.starts < wish.ends == wish.starts + 8 * HOUR


def test_last_own_action() -> None:
    """The author's newest that is in force: neither taken back, nor of an alert that has ended, nor somebody else's."""
    acks = [
        Acknowledgement(1, 11, "anna", NOW - 5, Severity.WARNING),
        Acknowledgement(2, 12, "anna", NOW - 4, Severity.WARNING, undone=NOW - 1),
        Acknowledgement(3, 13, "anna", NOW - 3, Severity.WARNING),
        Acknowledgement(4, 14, "ben", NOW - 2, Severity.WARNING),
    ]
    silence = Silence(1, (), "anna", "x", NOW - 6, NOW - 6, NOW + 1)
    assert last_own_action("anna", acks, [silence], {13}, NOW) == acks[0]
    assert last_own_action("anna", acks, [silence], {11, 13}, NOW) == silence
    assert last_own_action("anna", acks, [silence], {11, 13}, NOW + 1) is None


def test_what_was_made_together() -> None:
    """At one moment by one author, as far as it is in force, once for each alert."""
    last = Acknowledgement(5, 15, "anna", NOW, Severity.WARNING)
    acks = [
        Acknowledgement(1, 11, "anna", NOW - 1, Severity.WARNING),
        Acknowledgement(2, 12, "anna", NOW, Severity.WARNING, undone=NOW + 1),
        Acknowledgement(3, 13, "anna", NOW, Severity.WARNING),
        Acknowledgement(4, 14, "ben", NOW, Severity.WARNING),
        last,
        Acknowledgement(6, 10, "anna", NOW, Severity.WARNING),
    ]
    assert [each.alert for each in made_together(last, acks, {13})] == [10, 15]
    assert [each.alert for each in made_together(last, acks, ())] == [10, 13, 15]

"""Which group stands first and why, how a group ages, and when two agents are one group."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqsamples.fleet import ABSENT, NOW, STATUSES, Sent, active, data, document, sources, standby
from mqvitals_agent.fleet.decode import summary_of
from mqvitals_agent.fleet.lines import fleet_table
from mqvitals_agent.fleet.page import group_brief, group_page
from mqvitals_agent.fleet.ranking import NONE_ACTIVE, TWO_ACTIVE, merged, ranked
from mqvitals_agent.fleet.sources import read_fleet, read_group, unread
from mqvitals_agent.fleet.summary import GroupSummary
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone

FIRST, SECOND = "https://mon1.example.com:9157", "https://mon2.example.com:9157"


async def group_of(answer: Any, key: str = "https://mq.example.com:9157", name: str = "") -> GroupSummary:
    """The group that a source with this answer gives."""
    source = Sent(key, answer, name)
    return await read_group(source, unread(source), lambda: NOW)


async def test_the_worst_group_stands_first_and_says_why() -> None:
    """By health, then by what is new and by numbers; one that cannot be read is unknown, and never OK."""
    groups = ranked(await read_fleet(sources(), lambda: NOW))
    assert [(each.group.name, each.group.health.word, each.reason) for each in groups] == [
        ("PRDA", "critical", "1 critical alert, not acknowledged"),
        ("PRDB", "critical", "1 critical alert, not acknowledged"),
        ("PRDD", "warning", "2 warning alerts"),
        ("PRDC", "warning", "1 warning alert"),
        ("PRDE", "unknown", "6 of 6 queue managers unknown"),
        ("PRDF", "unknown", "1 of 6 queue managers unknown"),
        ("PRDJ", "unknown", "it cannot be read"),
        ("PRDG", "ok", "nothing is wrong"),
        ("PRDH", "ok", "nothing is wrong"),
        ("PRDI", "ok", "nothing is wrong"),
    ]
    assert sum(len(each.group.queue_managers) for each in groups) == 60


async def test_what_was_critical_when_it_went_silent_stands_first_of_the_unknown() -> None:
    """Its last state is told with its age, and nothing of it looks as if it were now."""
    key = "https://mqa.example.com:9157"
    source = Sent(key, document(STATUSES[key]()))
    before = await read_group(source, unread(source), lambda: NOW)
    source.answer = f"{key} did not answer within 5s"
    after = (await read_group(source, before, lambda: NOW + 20_000)).as_of(NOW + 60_000)
    again = (await read_group(source, after, lambda: NOW + 70_000)).as_of(NOW + 120_000)
    quiet = await group_of("there is no store", "/a.db", "AAAA")
    first, second = ranked([quiet, again])
    assert (first.group.name, first.reason) == ("PRDA", "it cannot be read; it was CRITICAL")
    assert (second.group.name, second.reason) == ("AAAA", "it cannot be read")
    assert first.group.age_ms == 124_000
    table = fleet_table([first, second], NOW + 120_000, 120)
    assert "did not answer within 5s" in table[1].text
    assert "?????? 6" in table[1].text
    tones = {span.tone for line in group_brief(first, NOW + 120_000, 120, 20, more="Enter") for span in line.spans}
    assert not tones & {Tone.OK, Tone.CRITICAL, Tone.WARNING}
    assert "to do:" in " ".join(line.text for line in group_brief(first, NOW + 120_000, 120, 20, more="Enter"))
    # Once it answers again, it is as it says.
    source.answer = document(STATUSES[key]())
    assert (await read_group(source, again, lambda: NOW)).health is Health.CRITICAL


@given(st.sampled_from(sorted(STATUSES)), st.lists(st.integers(0, 400_000), min_size=1, max_size=5).map(sorted))
def test_a_group_of_which_nothing_new_comes_never_gets_better(key: str, moments: list[int]) -> None:
    """Time alone makes no figure younger and nothing OK; after three intervals nothing of it is green."""
    group = summary_of(document(STATUSES[key]()), key=key, name="", source=key, read_at=NOW)
    before = group
    for moment in moments:
        after = group.as_of(NOW + moment)
        assert (after.age_ms or 0) >= (before.age_ms or 0)
        assert before.health > Health.INFO or after.health in (before.health, Health.UNKNOWN)
        assert before.health <= Health.INFO or after.health > Health.INFO
        if moment > 30_000:
            assert after.stale
            assert after.health is Health.UNKNOWN
            lines = [
                *fleet_table(ranked([after]), NOW + moment, 120),
                *group_page(ranked([after])[0], NOW + moment, 120),
            ]
            assert all(span.tone is not Tone.OK for line in lines for span in line.spans)
        before = after


async def test_two_agents_of_a_group_are_one_line_that_names_both() -> None:
    """The active one says how the group is, whichever was asked first."""
    one, other = await group_of(document(active()), FIRST), await group_of(document(standby()), SECOND)
    for order in ((one, other), (other, one)):
        (found,) = ranked(order)
        assert found.group.health is Health.OK
        assert [(each.source, each.role) for each in found.group.agents] == [
            (FIRST, "active"),
            (SECOND, "standby"),
        ]
        assert "mon1 active, mon2 standby" in fleet_table([found], NOW, 79)[1].text
        assert "mon1.example.com:9157 (active), mon2.exam" in fleet_table([found], NOW, 200)[1].text


async def test_when_one_of_two_agents_is_missing_the_group_is_not_ok() -> None:
    """What watches it is not as it should be. When the active one is missing too long, nothing is polled."""
    one = await group_of(document(active()), "https://a:1", "PRDH")
    silent = await group_of("https://b:1 cannot be reached (No route to host)", "https://b:1", "PRDH")
    (found,) = ranked([silent, one])
    assert (found.group.health, found.reason) == (Health.UNKNOWN, "one of its agents cannot be read")
    assert found.group.source == "https://a:1"
    assert "b:1 cannot be reached" in " ".join(line.text for line in group_page(found, NOW, 120))
    lost = one.unreadable("https://a:1 did not answer within 5s")
    waiting = await group_of(document(standby()), "https://b:1")
    (found,) = ranked([lost, waiting])
    assert found.group.health is Health.UNKNOWN
    assert NONE_ACTIVE in found.group.notes


async def test_two_active_agents_are_told() -> None:
    """For a moment at a takeover, or because they share no queue: it is not OK."""
    one, other = await group_of(document(active()), "https://a:1"), await group_of(document(active()), "https://b:1")
    (found,) = ranked([one, other])
    assert found.group.health is Health.UNKNOWN
    assert TWO_ACTIVE in found.group.notes


async def test_groups_of_one_name_without_two_agents_stay_apart() -> None:
    """They happen to have one name; each line says where it is read."""
    one = await group_of(document(data("PRDQ", 2)), "https://a:1")
    other = await group_of(document(data("PRDQ", 3)), "/var/lib/mqvitals/test.db")
    assert len(merged([one, other])) == 2
    assert [each.group.name for each in ranked([one, other])] == ["PRDQ a:1", "PRDQ test.db"]
    assert one.name == "PRDQ"


async def test_a_group_that_was_not_read_yet_is_unknown() -> None:
    """It is asked; that is neither a failure nor OK."""
    (found,) = ranked([unread(Sent(ABSENT, "", "PRDJ"))])
    assert (found.group.health, found.reason) == (Health.UNKNOWN, "it was not read yet")
    assert "asking" in fleet_table([found], NOW, 80)[1].text
    assert found.group.as_of(NOW + 3_600_000) == found.group

"""Storage of the security manager: the worked example of the document."""

from __future__ import annotations

from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.security import security_storage


def test_100000_users_of_one_queue() -> None:
    answer = security_storage(users=100_000, resources=1)
    assert (answer.value, answer.unit) == (860, "MB")
    assert answer.exact == 880_000 / 1024
    assert floor(answer.exact) == 859
    assert answer.inputs["storage"] == "64-bit"


def test_their_real_storage() -> None:
    answer = security_storage(users=100_000, storage="real")
    assert answer.value == pytest.approx(455.5, abs=0.05)
    assert floor(answer.value or 0) == 455


def test_a_user_takes_4_66_kb_of_real_storage() -> None:
    one = security_storage(users=1, storage="real").exact
    assert one is not None
    assert one * 1024 == pytest.approx(4.66, abs=0.005)
    assert one * 1024 / 4 == pytest.approx(1.17, abs=0.005)


@pytest.mark.parametrize(("resources", "size_bytes"), [(1, 9011.2), (10, 9011.2 + 9 * 405), (50, 9011.2 + 49 * 405)])
def test_each_further_resource_takes_405_bytes(resources: int, size_bytes: float) -> None:
    assert security_storage(users=50_000, resources=resources).exact == pytest.approx(50_000 * size_bytes / 2**20)


def test_nonsense_is_refused() -> None:
    with pytest.raises(PlanError, match="users must be 0 to"):
        security_storage(users=-1)
    with pytest.raises(PlanError, match="resources must be 1 to"):
        security_storage(users=1, resources=0)


_USERS = st.integers(0, 10_000_000)
_RESOURCES = st.integers(1, 1000)


@given(_USERS, _USERS, _RESOURCES, _RESOURCES, st.sampled_from(["64-bit", "real"]))
def test_more_users_or_resources_never_need_less(a: int, b: int, c: int, d: int, storage: str) -> None:
    (few, many), (little, much) = sorted((a, b)), sorted((c, d))
    least, middle, most = (
        security_storage(users=users, resources=resources, storage=storage).value or 0
        for users, resources in ((few, little), (few, much), (many, much))
    )
    assert 0 <= least <= middle <= most


@given(_USERS, _RESOURCES)
def test_whole_blocks_of_64_bit_storage_behind_which_real_storage_is_less(users: int, resources: int) -> None:
    virtual = security_storage(users=users, resources=resources)
    real = security_storage(users=users, resources=resources, storage="real")
    assert virtual.value is not None
    assert virtual.exact is not None
    assert 0 <= virtual.value - virtual.exact < 1
    assert (real.value or 0) <= virtual.exact

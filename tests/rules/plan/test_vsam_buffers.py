"""BUFFERSPACE: the settings of the document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.plan.formula import PlanError
from mqvitals_rules.plan.page_sets import vsam_bufferspace

MEASURED = [(37_376, 2, 1), (38_400, 2, 3), (39_424, 2, 5), (76_288, 4, 5)]


@pytest.mark.parametrize(("bufferspace", "data_cis", "index_cis"), MEASURED)
def test_every_setting_that_was_measured(bufferspace: int, data_cis: int, index_cis: int) -> None:
    answer = vsam_bufferspace(data_cis=data_cis, index_cis=index_cis)
    assert (answer.value, answer.exact, answer.unit) == (bufferspace, bufferspace, "bytes")
    assert {"bufferspace_bytes": bufferspace, "data_cis": data_cis, "index_cis": index_cis} in answer.rows


def test_without_inputs_it_is_what_the_data_set_had() -> None:
    assert vsam_bufferspace().value == 37_376


def test_the_megabyte_tried_has_no_stated_make_up() -> None:
    rows = vsam_bufferspace().rows
    assert len(rows) == len(MEASURED) + 1
    assert rows[-1] == {"bufferspace_bytes": 1_048_576, "data_cis": None, "index_cis": None}


def test_other_control_intervals() -> None:
    assert vsam_bufferspace(data_cisize_bytes=4096, index_cisize_bytes=1024).value == 2 * 4096 + 1024


@pytest.mark.parametrize(
    "nonsense", [{"data_cis": 1}, {"index_cis": 0}, {"data_cisize_bytes": 511}, {"index_cisize_bytes": 32_769}]
)
def test_nonsense_is_refused(nonsense: dict[str, int]) -> None:
    with pytest.raises(PlanError):
        vsam_bufferspace(**nonsense)


@given(st.integers(2, 9999), st.integers(1, 9999), st.integers(512, 32_768), st.integers(512, 32_768))
def test_more_buffers_take_more(data_cis: int, index_cis: int, data_bytes: int, index_bytes: int) -> None:
    def size(data: int, index: int) -> float:
        answer = vsam_bufferspace(
            data_cis=data, index_cis=index, data_cisize_bytes=data_bytes, index_cisize_bytes=index_bytes
        )
        return answer.value or 0

    assert size(data_cis + 1, index_cis) - size(data_cis, index_cis) == data_bytes
    assert size(data_cis, index_cis + 1) - size(data_cis, index_cis) == index_bytes

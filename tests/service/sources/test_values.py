"""How the fields of upstreams are read: exactly, in UTC, and with suspicion."""

import os
import time
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidInput
from service.sources.hardware import hardware
from service.sources.shapes import evaluated
from service.sources.values import Fields, Unit

NOW = "2026-09-01T00:00:00.000Z"


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield os.environ["TZ"]
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize(
    ("published", "instant"),
    [
        ("2026-08-14T05:38:25.741204", "2026-08-14T05:38:25.741Z"),
        ("2026-08-14T05:38:25.999999", "2026-08-14T05:38:25.999Z"),
        ("2022-12-07 16:47", "2022-12-07T16:47:00.000Z"),
        ("2024-09-03 15:31:39", "2024-09-03T15:31:39.000Z"),
        ("2025-06-27T12:45:00Z", "2025-06-27T12:45:00.000Z"),
        ("2025-06-27T01:45:00.5+05:30", "2025-06-26T20:15:00.500Z"),
    ],
)
def test_a_time_without_a_zone_is_utc_and_is_cut_to_milliseconds(published: str, instant: str) -> None:
    """Whatever zone the machine is in."""
    assert Fields({"at": published}).instant("at", NOW) == instant


@pytest.mark.parametrize("published", ["2031-01-01T00:00:00Z", "2026-09-01T00:00:00.001", "2026-02-30T00:00", "soon"])
def test_times_to_come_and_times_that_are_none_are_refused_at_their_field(published: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Fields({"at": published}, "rows[3]").instant("at", NOW)
    assert caught.value.problems[0].path == "rows[3].at"
    assert caught.value.problems[0].remedy


@pytest.mark.parametrize(
    ("published", "unit", "nanoseconds"),
    [
        ("0.35337", "ms", 353370),
        ("0.00819", "ms", 8190),
        ("0.015898", "ms", 15898),
        ("1.018001", "ms", 1018001),
        ("0.0000005", "ms", None),
        ("0.0000015", "ms", 2),
        ("0.0000025", "ms", 2),
        ("0.0000025000000000000000000000000000001", "ms", 3),
        ("79544.11", "ns", 79544),
        ("77716.5", "ns", 77717),
        ("0.5320000052452087", "ms", 532000),
        ("1.5e-9", "s", 2),
    ],
)
def test_durations_become_whole_nanoseconds(published: str, unit: Unit, nanoseconds: int | None) -> None:
    """Half even, and half up of fractions of nanoseconds. A float would make 8119999.999999999 of 8.12 million."""
    field = Fields({"took": Decimal(published)})
    if nanoseconds is None:
        with pytest.raises(InvalidInput, match="no measured time"):
            field.nanoseconds("took", unit)
    else:
        assert field.nanoseconds("took", unit) == nanoseconds


@given(st.integers(1, 2**53 - 1))
def test_nanoseconds_written_in_any_unit_are_read_back(nanoseconds: int) -> None:
    units: tuple[tuple[Unit, int], ...] = (("ns", 0), ("us", 3), ("ms", 6), ("s", 9))
    for unit, decimals in units:
        assert Fields({"took": str(Decimal(nanoseconds).scaleb(-decimals))}).nanoseconds("took", unit) == nanoseconds


@pytest.mark.parametrize("nothing", [0, Decimal("0.0"), "-1", Decimal("NaN"), "1e999", None, True, "", [], "0x10"])
def test_what_is_no_positive_number_is_no_measured_time(nothing: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        Fields({"took": nothing}).nanoseconds("took", "ms")
    assert caught.value.problems[0].path == "took"


def test_hardware_that_no_table_knows_is_kept_as_published() -> None:
    assert hardware("Quux 9000 (engineering sample)") == ("Quux 9000 (engineering sample)", "unknown", "unknown", False)
    assert hardware("NVIDIA H900") == ("NVIDIA H900", "nvidia", "unknown", False)
    assert hardware("MI300").product == "AMD Instinct MI300X"


@pytest.mark.parametrize(
    ("expression", "value"),
    [("k // 128", 56), ("(m + n) * 2", 6), ("-m % 5", 4), ("k ** 9", None), ("m // 0", None), ("q", None), ("m.real", None),
     ("__import__('os')", None), ("1.5", None), ("(", None)],
)  # fmt: skip
def test_derived_axes_are_arithmetic_over_others_and_nothing_else(expression: str, value: int | None) -> None:
    assert evaluated(expression, {"k": 7168, "m": 1, "n": 2}) == value

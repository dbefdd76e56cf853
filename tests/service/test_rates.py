"""Rates: exact at the boundary, even refilling, one voice whatever its keys, memory that stays flat."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import ErrorCode
from domain.principals import Principal
from service.auth import Caller
from service.errors_out import Refused, status_of
from service.rates import Buckets, Rate, Rates, Standing, rate_headers
from service.settings import Settings
from tests.examples import START
from tests.service.clocks import Hands

SIXTY = Rate("requests", 60)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def buckets(clock: Hands) -> Buckets:
    return Buckets(now=clock)


class TestABucket:
    def test_gives_its_limit_at_once_and_not_one_more(self, buckets: Buckets) -> None:
        standings = [buckets.take(SIXTY, "a") for _ in range(61)]
        assert [one.remaining for one in standings] == [*range(59, -1, -1), 0]
        assert [one.wait_s for one in standings] == [0] * 60 + [1]

    def test_gives_one_after_the_time_that_it_says_and_not_a_microsecond_earlier(
        self, buckets: Buckets, clock: Hands
    ) -> None:
        rate = Rate("requests", 7)
        for _ in range(7):
            buckets.take(rate, "a")
        wait = buckets.take(rate, "a").wait_us
        assert wait == -(-60_000_000 // 7)
        clock.forward(microseconds=wait - 1)
        assert buckets.take(rate, "a").wait_us == 1
        clock.forward(microseconds=1)
        assert buckets.take(rate, "a").wait_us == 0

    def test_takes_nothing_from_who_is_refused(self, buckets: Buckets, clock: Hands) -> None:
        """Else who asks on and on would never be let in again."""
        for _ in range(200):
            buckets.take(SIXTY, "a")
        clock.forward(seconds=1)
        assert not buckets.take(SIXTY, "a").wait_us

    def test_is_full_again_when_it_says(self, buckets: Buckets, clock: Hands) -> None:
        standings = [buckets.take(SIXTY, "a") for _ in range(15)]
        assert standings[-1].reset_at == START.replace(second=15)
        clock.forward(seconds=14.5)
        assert buckets.look(SIXTY, "a").remaining == 59
        clock.forward(seconds=0.5)
        assert buckets.look(SIXTY, "a").remaining == 60

    def test_never_holds_more_than_its_limit(self, buckets: Buckets, clock: Hands) -> None:
        buckets.take(SIXTY, "a")
        clock.forward(days=30)
        assert [buckets.take(SIXTY, "a").wait_us > 0 for _ in range(61)] == [False] * 60 + [True]

    def test_belongs_to_one_voice_and_one_rate(self, buckets: Buckets) -> None:
        one = Rate("writes", 1)
        buckets.take(one, "a")
        assert buckets.take(one, "a").wait_us
        assert not buckets.take(one, "b").wait_us
        assert not buckets.take(SIXTY, "a").wait_us

    def test_shuts_nobody_out_for_longer_where_the_clock_is_set_back(self, buckets: Buckets, clock: Hands) -> None:
        for _ in range(60):
            buckets.take(SIXTY, "a")
        clock.forward(days=-365)
        assert buckets.take(SIXTY, "a").wait_s == 1

    def test_looking_takes_nothing_and_keeps_nothing(self, buckets: Buckets) -> None:
        assert buckets.look(SIXTY, "a").remaining == 60
        assert len(buckets) == 0

    @settings(deadline=None)
    @given(
        limit=st.integers(1, 1_000),
        steps=st.lists(st.tuples(st.integers(0, 40_000_000), st.integers(1, 50)), max_size=40),
    )
    def test_lets_through_what_an_exact_token_bucket_would(self, limit: int, steps: list[tuple[int, int]]) -> None:
        """The law, in fractions: at most ``limit`` tokens, refilled by ``limit`` a minute, a whole one for each."""
        clock = Hands()
        buckets, rate = Buckets(now=clock), Rate("requests", limit)
        tokens = Fraction(limit)
        for pause, asked in steps:
            clock.forward(microseconds=pause)
            tokens = min(Fraction(limit), tokens + Fraction(pause * limit, 60_000_000))
            for _ in range(asked):
                standing = buckets.take(rate, "a")
                assert (standing.wait_us == 0) is (tokens >= 1)
                tokens -= tokens >= 1
                assert standing.remaining == int(tokens)


def test_memory_is_bounded_and_who_asked_last_is_remembered(clock: Hands) -> None:
    buckets, one = Buckets(now=clock, most=100), Rate("requests", 1)
    for number in range(1_000):
        buckets.take(one, f"address/{number}")
        buckets.take(one, "address/0")
    assert len(buckets) == 100
    assert buckets.take(one, "address/999").wait_us
    assert not buckets.take(one, "address/500").wait_us


class TestRates:
    @pytest.fixture
    def rates(self, clock: Hands) -> Rates:
        given: dict[str, Any] = {"requests_per_minute": 2, "requests_per_minute_with_key": 3, "writes_per_minute": 1}
        return Rates(Settings(**given), now=clock)

    def test_without_a_key_the_address_counts(self, rates: Rates) -> None:
        for _ in range(2):
            rates.admit(Caller(address="192.0.2.1"))
        with pytest.raises(Refused):
            rates.admit(Caller(address="192.0.2.1"))
        assert rates.standing(Caller(address="192.0.2.2")).remaining == 2

    def test_a_principal_counts_once_from_wherever_it_asks(self, rates: Rates) -> None:
        for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
            rates.admit(Caller(principal=Principal("heron"), address=address))
        with pytest.raises(Refused):
            rates.admit(Caller(principal=Principal("heron"), address="192.0.2.4"))
        assert rates.standing(Caller(address="192.0.2.1")).remaining == 2

    def test_a_principal_that_is_named_as_an_address_is_another_voice(self, rates: Rates) -> None:
        for _ in range(2):
            rates.admit(Caller(address="192.0.2.1"))
        rates.admit(Caller(principal=Principal("192.0.2.1")))

    def test_all_addresses_of_an_ipv6_network_are_one(self, rates: Rates) -> None:
        rates.admit(Caller(address="2001:db8:1:2::1"))
        rates.admit(Caller(address="2001:db8:1:2:ffff::9"))
        with pytest.raises(Refused):
            rates.admit(Caller(address="2001:db8:1:2:3:4:5:6"))
        rates.admit(Caller(address="2001:db8:1:3::1"))

    def test_an_ipv4_address_is_the_same_in_either_spelling(self) -> None:
        assert Caller(address="::ffff:192.0.2.1").voice == Caller(address="192.0.2.1").voice

    def test_writes_have_a_rate_of_their_own(self, rates: Rates) -> None:
        caller = Caller(principal=Principal("heron"))
        rates.admit_write(caller)
        with pytest.raises(Refused, match="more than 1 writes"):
            rates.admit_write(caller)
        rates.admit(caller)

    def test_a_refusal_says_what_to_do(self, rates: Rates) -> None:
        for _ in range(2):
            rates.admit(Caller())
        with pytest.raises(Refused) as raised:
            rates.admit(Caller())
        assert status_of(raised.value) == 429
        (problem,) = raised.value.problems
        assert problem.code is ErrorCode.RATE_LIMITED
        assert "wait 30 seconds" in problem.remedy
        assert "with a key" in problem.remedy
        assert raised.value.headers == {
            "Retry-After": "30",
            "RateLimit-Policy": '"requests";q=2;w=60',
            "RateLimit": '"requests";r=0;t=60',
        }


def test_headers_list_every_policy_with_whole_seconds_rounded_up() -> None:
    requests = Standing(Rate("requests", 600), START, 598, 200_000)
    writes = Standing(Rate("writes", 120), START, 119, 500_001)
    headers = rate_headers(requests, writes)
    assert headers == {
        "RateLimit-Policy": '"requests";q=600;w=60, "writes";q=120;w=60',
        "RateLimit": '"requests";r=598;t=1, "writes";r=119;t=1',
    }
    assert all(re.fullmatch(r'("\w+"(;[a-z]=\d+)+(, )?)+', text) for text in headers.values())

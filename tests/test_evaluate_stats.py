"""Intervals and p-values against published values, and against drawing lots."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.evaluate_stats import effective, interval, mcnemar, wilson

# Newcombe 1998, table I (https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E): Wilson, 95 %.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("right", "count", "low", "high"), NEWCOMBE)
def test_wilson_is_what_the_literature_prints(right, count, low, high):
    assert wilson(right / count, count) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_at_the_ends_and_without_anything():
    assert wilson(0.0, 10)[0] == 0 and wilson(1.0, 10)[1] == 1
    assert wilson(1.0, 10)[0] == pytest.approx(1 - wilson(0.0, 10)[1])
    assert wilson(0.0, 0) == interval([]) == interval([[], []]) == (0.0, 1.0)
    assert wilson(0.5, 100, confidence=0.99)[0] < wilson(0.5, 100)[0]


@given(st.integers(1, 500).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))))
def test_wilson_holds_the_share_inside_0_and_1(trial):
    right, count = trial
    low, high = wilson(right / count, count)
    assert 0 <= low <= right / count <= high <= 1


def coverage(count, share):
    """How often the interval of so many trials holds the true share: exactly, over all that may come out."""

    def holds(right):
        low, high = wilson(right / count, count)
        return low <= share <= high

    return sum(math.comb(count, right) * share**right * (1 - share) ** (count - right) for right in filter(holds, range(count + 1)))


@pytest.mark.parametrize("count", [5, 12, 30])
def test_wilson_covers_the_true_share_about_as_often_as_it_says(count):
    covered = [coverage(count, k / 200) for k in range(10, 191)]
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.02) and min(covered) > 0.8


def test_one_round_is_plain_wilson():
    assert interval([[True]] * 25 + [[False]] * 5) == wilson(25 / 30, 30)


def test_rounds_that_are_all_the_same_tell_nothing_more():
    assert interval([[True] * 4] * 25 + [[False] * 4] * 5) == wilson(25 / 30, 30)
    assert interval([[True] * 9] * 7) == wilson(1.0, 7)
    assert interval([[False, True, True]]) == wilson(2 / 3, 1)


def test_rounds_that_are_independent_tell_as_much_as_tasks():
    draw = random.Random(5)
    rounds = [[draw.random() < 0.6 for _ in range(10)] for _ in range(60)]
    share = sum(map(sum, rounds)) / 600
    assert effective(rounds, share, 600) > 400
    assert interval([[True, False]] * 20) == wilson(0.5, 40)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=12))
def test_the_effective_number_is_between_tasks_and_runs(rounds):
    runs = sum(map(len, rounds))
    share = sum(map(sum, rounds)) / runs
    assert len(rounds) <= effective(rounds, share, runs) <= runs
    low, high = interval(rounds)
    assert low <= share <= high


# By hand: twice the tail of the binomial distribution with p = 1/2.
MCNEMAR = [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (6, 0, 2 / 64), (8, 2, 0.109375), (2, 8, 0.109375), (3, 3, 1.0), (4, 3, 1.0), (12, 2, 0.012939453125)]


@pytest.mark.parametrize(("fixed", "broken", "p"), MCNEMAR)
def test_mcnemar_by_hand(fixed, broken, p):
    assert mcnemar(fixed, broken) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(("fixed", "broken"), [(a, b) for a in range(6) for b in range(6) if a + b <= 9])
def test_mcnemar_is_the_share_of_all_coin_tosses_that_are_as_uneven(fixed, broken):
    tosses = list(itertools.product((0, 1), repeat=fixed + broken))
    uneven = [toss for toss in tosses if abs(2 * sum(toss) - len(toss)) >= abs(fixed - broken)]
    assert mcnemar(fixed, broken) == pytest.approx(len(uneven) / len(tosses))


def test_mcnemar_of_thousands():
    assert mcnemar(5000, 5000) == 1.0 and 0 < mcnemar(3000, 2500) < 1e-10

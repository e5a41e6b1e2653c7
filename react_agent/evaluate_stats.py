"""How sure a share of right answers is, and whether two evaluations differ by more than chance."""

import math
from collections.abc import Sequence
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson(share: float, count: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The Wilson score interval of a share among `count` independent trials; (0, 1) without any.

    Unlike share ± z·error it stays inside 0 and 1 and is right for few trials and for shares near the ends
    (Wilson 1927, https://doi.org/10.2307/2276774).
    """
    if count <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    scale = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / scale
    return round(max(0.0, middle - half), 12), round(min(1.0, middle + half), 12)


def interval(rounds: Sequence[Sequence[bool]], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The confidence interval of the share that is right. rounds: of each task, whether it was right in each of its rounds.

    Rounds of one task are not independent (at temperature 0 they are all the same), so the Wilson interval is taken at the effective
    number of trials: that of the tasks' own scatter, never below the number of tasks nor above the number of runs.
    """
    rounds = [own for own in rounds if own]
    runs = sum(map(len, rounds))
    if not runs:
        return wilson(0.0, 0)
    share = sum(map(sum, rounds)) / runs
    return wilson(share, effective(rounds, share, runs), confidence)


def effective(rounds: Sequence[Sequence[bool]], share: float, runs: int) -> float:
    """How many independent trials tell as much as these runs: the variance of one trial over that of the mean, tasks being clusters."""
    tasks = len(rounds)
    scatter = sum((sum(own) - share * len(own)) ** 2 for own in rounds)
    if tasks < 2 or share in (0, 1):
        return tasks
    if not scatter:
        return runs
    variance = scatter / runs**2 * tasks / (tasks - 1)
    return min(max(share * (1 - share) / variance, tasks), runs)


def mcnemar(fixed: int, broken: int) -> float:
    """The two-sided p-value of the exact McNemar test: how likely so uneven a split is when fixing and breaking are equally likely.

    (McNemar 1947, https://doi.org/10.1007/BF02295996; exact: the sign test on the pairs that differ.)
    """
    pairs = fixed + broken
    tail = sum(math.comb(pairs, k) for k in range(min(fixed, broken) + 1))
    return min(1.0, 2 * tail / (1 << pairs))

"""Rules of two classes that draw: any point below each group's hull of thresholds, and the best of them for a metric.

A rule that draws reaches every pair of rates between the diagonal and the hull of a group's thresholds, which thresholds do not:
equal rates for groups whose curves differ, say (Hardt, Price and Srebro 2016). A point is given by the sum and the difference of
both rates, since these are bounded by one concave curve per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ._rules import Draws, Floats, Groups

#: Sums of rates at which all groups are tried alike at the start.
_GRID = 41
#: How far the search goes at first, and where it ends.
_STEPS = (0.3, 1e-5)


class Hull:
    """The thresholds of one group that no mixture of others beats."""

    def __init__(self, scores: Floats, positive: Floats, negative: Floats) -> None:
        order = np.argsort(-scores, kind="stable")
        ends = np.flatnonzero(np.diff(scores[order], append=-np.inf))
        hit = np.concatenate([[0.0], np.cumsum(positive[order])[ends]]) / positive.sum()
        alarm = np.concatenate([[0.0], np.cumsum(negative[order])[ends]]) / negative.sum()
        # Between neighbouring scores, so that rows of other samples are not on the edge.
        at = scores[order][ends]
        cuts = np.concatenate([[np.inf], (at + np.append(at[1:], 0.0)) / 2.0])
        cuts[-1] = -np.inf
        kept = _upper(alarm, hit)
        self.cuts, self.hit, self.alarm = cuts[kept], hit[kept], alarm[kept]
        self.sum = self.hit + self.alarm

    def most(self, sums: Floats) -> Floats:
        """The largest difference of both rates for a sum of them."""
        return np.asarray(np.interp(sums, self.sum, self.hit - self.alarm))

    def steps(self, total: float, difference: float) -> tuple[list[float], list[float]]:
        """The rule that reaches a point: two thresholds, drawn, and now and then the toss of a coin."""
        n = int(np.clip(np.searchsorted(self.sum, total, side="right") - 1, 0, len(self.sum) - 2))
        between = (total - self.sum[n]) / (self.sum[n + 1] - self.sum[n])
        most = float(self.most(np.array(total)))
        coin = 1.0 - difference / most if most > 0.0 else 1.0
        chance = coin * total / 2.0
        chances = [chance, chance + (1.0 - coin) * between, chance + (1.0 - coin)]
        return [float(self.cuts[n + 1]), float(self.cuts[n])], chances

    def total_at(self, threshold: float) -> float:
        """The sum of rates at the hull's threshold that is nearest to another."""
        return float(self.sum[np.clip(np.searchsorted(-self.cuts, -threshold), 0, len(self.sum) - 1)])


def _upper(x: Floats, y: Floats) -> list[int]:
    """The places of the points of an increasing curve that are on its upper hull."""
    kept: list[int] = []
    for n in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (x[b] - x[a]) * (y[n] - y[a]) < (y[b] - y[a]) * (x[n] - x[a]):
                break
            kept.pop()
        if kept and x[n] == x[kept[-1]] and y[n] == y[kept[-1]]:
            continue
        kept.append(n)
    return kept


def hulls(truth: Floats, scores: Floats, groups: Groups | None, count: int, weights: Floats | None) -> list[Hull]:
    """The hulls of all groups; ``truth`` is 1 for the positive class."""
    mass = np.ones(len(truth)) if weights is None else weights
    made = []
    for group in range(max(count, 1)):
        rows = np.ones(len(truth), dtype=bool) if groups is None else groups == group
        positive, negative = mass[rows] * (truth[rows] == 1), mass[rows] * (truth[rows] == 0)
        if positive.sum() <= 0.0 or negative.sum() <= 0.0:
            raise ValueError(f"group {group} has rows of one class only, expected both classes in every group")
        made.append(Hull(scores[rows], positive, negative))
    return made


def rule(found: Sequence[Hull], point: Floats, seed: int | None) -> Draws:
    """The rule that reaches a point: sums and differences of rates, by group."""
    return Draws([hull.steps(float(total), float(difference)) for hull, (total, difference) in zip(found, point)], seed)


def rates(point: Floats) -> tuple[Floats, Floats]:
    """The rates of hits and of false alarms at points."""
    return (point[..., 0] + point[..., 1]) / 2.0, (point[..., 0] - point[..., 1]) / 2.0


def best(found: Sequence[Hull], values: Callable[[Floats], Floats], most: int, batch: int, seed: int = 0) -> tuple[Floats, float]:
    """The best point by at most so many values, asked for in batches, and its value; larger is better.

    It begins with thresholds that all groups share in their sum of rates, and with equal rates for all groups; from the best of
    these, groups move alone, in step, and along their hulls, less and less far.
    """
    random = np.random.default_rng(seed)
    m = len(found)

    def inside(points: Floats) -> Floats:
        total = points[..., 0].clip(0.0, 2.0)
        top = np.stack([hull.most(total[..., g]) for g, hull in enumerate(found)], axis=-1)
        return np.stack([total, points[..., 1].clip(0.0, top)], axis=-1)

    grid = np.linspace(0.0, 2.0, min(_GRID, max(3, most // 4)))
    along = np.stack([np.stack([grid, hull.most(grid)], axis=-1) for hull in found], axis=1)
    alike = np.stack([grid, along[:, :, 1].min(axis=1)], axis=-1)[:, np.newaxis].repeat(m, axis=1)
    starts = along if m == 1 else np.concatenate([along, alike])
    asked = values(starts[:most])
    place, value = starts[int(asked.argmax())], float(asked.max())
    left = most - len(asked)
    step, last = _STEPS
    shrink = (last / step) ** (1.0 / max(left // batch, 1))
    while left > 0:
        count = min(batch, left)
        moves = random.normal(0.0, 1.0, (count, m, 2))
        kind = random.integers(0, 4, count)
        moves[kind == 1] = moves[kind == 1][:, :1]  # in step: what groups differ in stays
        only = random.integers(0, m, count)
        moves[(kind == 2)[:, None] & (np.arange(m) != only[:, None])] = 0.0  # one group alone
        points = place + step * moves
        points[kind == 3, :, 1] = 2.0  # to the hull
        equal = random.random(count) < 0.2  # all groups alike
        points[equal] = points[equal].min(axis=1, keepdims=True)
        points = inside(points)
        points[equal, :, 1] = points[equal, :, 1].min(axis=1, keepdims=True)
        asked = values(points)
        left -= count
        if asked.max() > value:
            place, value = points[int(asked.argmax())], float(asked.max())
        else:
            step *= shrink
    return place, value

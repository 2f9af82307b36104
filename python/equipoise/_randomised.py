"""Rules of two classes that draw: any point below each group's hull of thresholds, and the best of them for a metric.

A rule that draws reaches every pair of rates between the diagonal and the hull of a group's thresholds, which thresholds do not:
equal rates for groups whose curves differ, say (Hardt, Price and Srebro 2016). A point is given by the sum and the difference of
both rates, since these are bounded by one concave curve per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._rules import Draws, Floats, Groups

#: Sums of rates at which all groups are tried alike at the start.
_GRID = 41
#: Steps of the golden section along the line where the best of these is.
_ALONG = 16
#: How far the search goes at first, and where it ends.
_STEPS = (0.3, 1e-5)
#: Steps of Newton's method for the rule of least variance, far more than it takes away from the hull.
_ROUNDS = 60


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
        # How many rows of weight 1 tell as much of a rate as the rows of each class do.
        self.sizes = tuple(float(mass.sum() ** 2 / (mass**2).sum()) for mass in (positive, negative))

    def most(self, sums: Floats) -> Floats:
        """The largest difference of both rates for a sum of them."""
        return np.asarray(np.interp(sums, self.sum, self.hit - self.alarm))

    def steps(self, total: float, difference: float) -> tuple[list[float], list[float]]:
        """The rule that reaches a point, with cuts in order and chances between them.

        Below the hull many rules do. That with the least variance of both rates is taken, since what the rates of other rows are
        off by is what a gap between groups comes from; on the hull there is one only.
        """
        most = float(self.most(np.array(total)))
        if most - difference > 1e-6:
            calm = self._calmest((total + difference) / 2.0, (total - difference) / 2.0)
            if calm is not None:
                return calm
        n = int(np.clip(np.searchsorted(self.sum, total, side="right") - 1, 0, len(self.sum) - 2))
        between = (total - self.sum[n]) / (self.sum[n + 1] - self.sum[n])
        coin = 1.0 - difference / most if most > 0.0 else 1.0
        chance = coin * total / 2.0
        chances = [chance, chance + (1.0 - coin) * between, chance + (1.0 - coin)]
        return [float(self.cuts[n + 1]), float(self.cuts[n])], chances

    def _calmest(self, hit: float, alarm: float) -> tuple[list[float], list[float]] | None:
        r"""The rule with both rates and the least variance of them, unless it is too near the hull to be computed.

        With shares $a_j$, $b_j$ of the rows of both classes in part $j$ of the hull, of which there are $n$ and $m$, chances $f_j$
        minimise $\sum_j w_j f_j^2$, $w_j = a_j / n + b_j / m$, where $\sum_j a_j f_j$ and $\sum_j b_j f_j$ are the rates. So
        $f_j = (\lambda a_j + \mu b_j) / w_j$, cut to $[0, 1]$; $\lambda$ and $\mu$ by Newton's method.
        """
        shares = np.stack([np.diff(self.hit), np.diff(self.alarm)])
        weights = shares[0] / self.sizes[0] + shares[1] / self.sizes[1]
        wanted = np.array([hit, alarm])
        directions = shares / weights
        price = wanted / self.sizes  # a coin's, if both rates are the same
        value, missed, free = self._dual(shares, weights, directions, wanted, price)
        for _ in range(_ROUNDS):
            if np.abs(missed).max() < 1e-12:
                chances = np.clip(price @ directions, 0.0, 1.0)
                changes = np.flatnonzero(np.diff(chances))
                return self.cuts[changes + 1][::-1].tolist(), chances[np.append(changes, len(chances) - 1)][::-1].tolist()
            bend = (shares[:, free] / weights[free]) @ shares[:, free].T
            # Where hardly any chance is free, the bend is no guide.
            move = np.linalg.solve(bend + 1e-12 * (np.trace(bend) + 1e-300) * np.eye(2), missed)
            step = 1.0
            while step > 1e-10:
                tried = self._dual(shares, weights, directions, wanted, price + step * move)
                if tried[0] >= value + 1e-4 * step * float(missed @ move):
                    break
                step /= 2.0
            else:
                return None
            price = price + step * move
            value, missed, free = tried
        return None

    @staticmethod
    def _dual(
        shares: Floats, weights: Floats, directions: Floats, wanted: Floats, price: Floats
    ) -> tuple[float, Floats, NDArray[np.bool_]]:
        """The dual value, its gradient (by how much the rates are missed), and which chances are neither 0 nor 1."""
        raw = price @ directions
        chances = np.clip(raw, 0.0, 1.0)
        value = float((weights * chances * (0.5 * chances - raw)).sum() + price @ wanted)
        return value, wanted - shares @ chances, (raw > 0.0) & (raw < 1.0)

    def total_at(self, threshold: float) -> float:
        """The sum of rates at the hull's threshold that is nearest to another."""
        return float(self.sum[np.clip(np.searchsorted(-self.cuts, -threshold), 0, len(self.sum) - 1)])


def _near(sums: Floats, total: float, step: float) -> Floats:
    """How likely each vertex is moved to: the nearer the likelier, and less far with smaller steps."""
    distance = np.abs(sums - total) / (2.0 * step + 0.02)
    likely = np.exp(-0.5 * (distance - distance.min()) ** 2)
    return np.asarray(likely / likely.sum())


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

    It begins with thresholds that all groups share, with those that have the same sum of rates, and with equal rates; from the best
    along these lines, groups move alone, in step, and along their hulls, less and less far.
    """
    random = np.random.default_rng(seed)
    m = len(found)

    def inside(points: Floats) -> Floats:
        total = points[..., 0].clip(0.0, 2.0)
        top = np.stack([hull.most(total[..., g]) for g, hull in enumerate(found)], axis=-1)
        return np.stack([total, points[..., 1].clip(0.0, top)], axis=-1)

    cuts = np.sort(np.concatenate([hull.cuts[1:-1] for hull in found] + [np.array([0.0, 1.0])]))

    def on(line: int, places: Floats) -> Floats:
        """Points of all groups at places from 0 to 1: at the same threshold, at the same sum on their hulls, or alike."""
        if line == 0:
            threshold = np.interp(places, np.linspace(1.0, 0.0, len(cuts)), cuts)
            totals = np.stack([[hull.total_at(float(cut)) for cut in threshold] for hull in found], axis=-1)
        else:
            totals = (2.0 * places)[:, np.newaxis].repeat(m, axis=1)
        tops = np.stack([hull.most(totals[:, g]) for g, hull in enumerate(found)], axis=-1)
        if line == 2:
            tops = tops.min(axis=-1, keepdims=True).repeat(m, axis=-1)
        return np.stack([totals, tops], axis=-1)

    lines = [1] if m == 1 else [0, 1, 2]
    grid = np.linspace(0.0, 1.0, min(_GRID, max(3, most // (4 * len(lines)))))
    starts = np.concatenate([on(line, grid) for line in lines])
    asked = values(starts[:most])
    first = int(asked.argmax())
    place, value = starts[first], float(asked.max())
    left = most - len(asked)
    # Along its line the best one is looked for between its neighbours, where a metric rises and falls once.
    line, at = lines[first // len(grid)], first % len(grid)
    low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, len(grid) - 1)])
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    known: dict[float, float] = {}
    for _ in range(min(_ALONG, left // 2)):
        # Rounded, so that the one of them that was asked before is known again.
        inner = [round(high - golden * (high - low), 9), round(low + golden * (high - low), 9)]
        fresh = [total for total in inner if total not in known][:left]
        if not fresh:
            break
        points = on(line, np.array(fresh))
        found_values = values(points)
        left -= len(fresh)
        known.update(zip(fresh, found_values.tolist()))
        if found_values.max() > value:
            place, value = points[int(found_values.argmax())], float(found_values.max())
        if known.get(inner[0], -np.inf) >= known.get(inner[1], -np.inf):
            high = inner[1]
        else:
            low = inner[0]
    step, last = _STEPS
    shrink = (last / step) ** (1.0 / max(left // batch, 1))
    while left > 0:
        count = min(batch, left)
        moves = random.normal(0.0, 1.0, (count, m, 2))
        kind = random.integers(0, 5, count)
        moves[kind == 1] = moves[kind == 1][:, :1]  # in step: what groups differ in stays
        only = random.integers(0, m, count)
        moves[(kind == 2)[:, None] & (np.arange(m) != only[:, None])] = 0.0  # one group alone
        points = place + step * moves
        points[kind == 3, :, 1] = 2.0  # to the hull
        for n in np.flatnonzero(kind == 4):  # one group alone to a threshold of its own, where metrics linear in rates are best
            vertices = found[only[n]].sum
            points[n] = place
            points[n, only[n]] = random.choice(vertices, p=_near(vertices, place[only[n], 0], step)), 2.0
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

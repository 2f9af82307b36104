"""Models in the order of a metric, and how sure that order is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _core, _inputs, _names
from .metric import Metric
from .scoring import named_labels


@dataclass(frozen=True)
class Standing:
    """One model in a ranking."""

    name: str
    value: float
    interval: tuple[float, float] | None
    probability_best: float
    expected_rank: float
    expected_regret: float


@dataclass(frozen=True)
class Ranking:
    """Models, best first."""

    standings: list[Standing]
    #: Who leads and whether that is settled, in a sentence.
    statement: str
    #: Models that may be better than the leader.
    not_separable: list[str]
    #: How rows were drawn again, where that is not done with the rows themselves.
    drawn: str | None = None

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    def __str__(self) -> str:
        width = max(len(s.name) for s in self.standings)
        lines = [self.statement]
        for s in self.standings:
            between = "" if s.interval is None else f"  [{s.interval[0]:.4f}, {s.interval[1]:.4f}]"
            lines.append(f"{s.name:<{width}}  {s.value:.4f}{between}  best with probability {s.probability_best:.2f}")
        return "\n".join([*lines, self.drawn] if self.drawn else lines)

    def _repr_html_(self) -> str:
        from ._html import grid, page

        rows = [
            [
                s.name,
                f"{s.value:.4f}",
                "" if s.interval is None else f"{s.interval[0]:.4f} to {s.interval[1]:.4f}",
                f"{s.probability_best:.2f}",
            ]
            for s in self.standings
        ]
        told = [("intervals", self.drawn)] if self.drawn else []
        return page(self.statement, told, grid(["model", "value", "interval", "best with probability"], rows))


def rank_models(
    y_true: Any,
    predictions: Mapping[str, Any],
    *,
    metric: Metric | str,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    level: float = 0.95,
    draws: int = 1000,
    random_state: int = 0,
) -> Ranking:
    """Ranks models by their predictions on the same rows.

    Both uncertainties count: which rows were sampled (a paired bootstrap), and what the metric is (its posterior).

    Parameters
    ----------
    y_true : column of labels
    predictions : mapping from the name of a model to its predicted labels
    metric : Metric or str
        The metric, or its name (see :meth:`Metric.named`).
    level : float
        The probability of intervals and of the claim that the leader is best.
    draws : int
        Bootstrap and posterior draws.

    Examples
    --------
    >>> from equipoise import Metric, rank_models
    >>> truth = [0, 1] * 50
    >>> ranking = rank_models(truth, {"good": truth, "bad": [0] * 100}, metric=Metric.named("accuracy"))
    >>> ranking.statement
    'good is best with probability 1.00.'
    """
    draws, seed = _checks.whole(draws, "draws"), _checks.whole(random_state, "random_state")
    level = _checks.level(level)
    predictions = {str(name): column for name, column in _checks.mapping(predictions, "predictions").items()}
    if not predictions:
        raise ValueError("predictions are empty, expected at least one model")
    columns = {"y_true": y_true, **{f"predictions[{name!r}]": column for name, column in predictions.items()}}
    names, group_names = _names.of(metric)
    if names is not None:
        labels, pos_label = named_labels(names, columns, labels, pos_label), None
    (truth, *estimates), numbers, _ = _inputs.coded(columns, labels, pos_label)
    rows = len(truth)
    codes, groups = _inputs.groups(sensitive_features, rows, group_names)
    weights = _inputs.weights(sample_weight, rows)
    group_count = max(len(groups), 1)
    measured = [_core.confusion_counts(truth, e, numbers, weights, codes, group_count) for e in estimates]
    # Rows that agree in everything are one cell, so a bootstrap of the rows is a multinomial draw of the cells.
    resampled = _resample(truth, estimates, numbers, weights, codes, group_count, draws, seed)
    return ranked(list(predictions), measured, resampled, metric, draws, seed, level)


def ranked(
    names: list[str],
    measured: list[NDArray[Any]],
    resampled: list[list[NDArray[Any]]],
    metric: Metric | str,
    draws: int,
    seed: int,
    level: float,
    drawn: str | None = None,
) -> Ranking:
    """Ranks models by their counts, and by what these are in draws of the rows."""
    meant = Metric._meant(metric, measured[0].sum(axis=2).tolist())
    if meant.kind in ("linear_fractional", "macro_f", "kappa", "mcc", "demographic_parity"):
        resampled = [[_with_sizes(counts, measured[0]) for counts in draw] for draw in resampled]
    models = [(name, [measured[n], *[draw[n] for draw in resampled]]) for n, name in enumerate(names)]
    document = json.loads(_core.rank_models(models, meant._core, draws, seed, level))
    standings = [_standing(s) for s in document["standings"]]
    return Ranking(standings, document["statement"], document["not_separable"], drawn)


def _resample(
    truth: NDArray[Any],
    estimates: Sequence[NDArray[Any]],
    numbers: list[int],
    weights: NDArray[Any] | None,
    codes: NDArray[Any] | None,
    group_count: int,
    draws: int,
    seed: int,
) -> list[list[NDArray[Any]]]:
    k = len(numbers)
    known = np.asarray(numbers)
    order = np.argsort(known)
    columns = [order[np.searchsorted(known[order], column)] for column in (truth, *estimates)]
    if codes is not None:
        columns.append(codes.astype(np.int64))
    # One column after the other, so that numbers of cells stay below those of rows.
    inverse = np.zeros(len(truth), dtype=np.int64)
    for column in columns:
        inverse = np.unique(inverse * (column.max(initial=0) + 1) + column, return_inverse=True)[1].reshape(-1)
    first = np.unique(inverse, return_index=True)[1]
    cells = np.stack([column[first] for column in columns])
    rows = len(truth)
    share = np.bincount(inverse, minlength=cells.shape[1]) / rows
    mean_weight = np.ones(cells.shape[1])
    if weights is not None:
        mean_weight = np.bincount(inverse, weights=weights, minlength=cells.shape[1]) / (share * rows)
    group = cells[-1] if codes is not None else np.zeros(cells.shape[1], dtype=np.int64)
    return drawn_cells(cells[: 1 + len(estimates)], group, share, rows, mean_weight, (group_count, k, k), draws, seed)


def drawn_cells(
    cells: NDArray[Any],
    group: NDArray[Any],
    share: NDArray[Any],
    rows: int,
    weight: NDArray[Any],
    shape: tuple[int, int, int],
    draws: int,
    seed: int,
) -> list[list[NDArray[Any]]]:
    """The counts of every model in draws of as many rows: class and labels of each cell, its share of the rows and mean weight."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(draws):
        amounts = random.multinomial(rows, share) * weight
        draw = []
        for n in range(1, len(cells)):
            counts = np.zeros(shape)
            np.add.at(counts, (group, cells[0], cells[n]), amounts)
            draw.append(counts)
        made.append(draw)
    return made


def drawn_rates(measured: Sequence[NDArray[Any]], draws: int, seed: int) -> list[list[NDArray[Any]]]:
    """Draws of counts from what is known of each model by itself: how often a class is taken for each has a Dirichlet posterior."""
    random = np.random.default_rng(seed)

    def draw(counts: NDArray[Any]) -> NDArray[Any]:
        parts = random.standard_gamma(counts + 0.5)
        drawn: NDArray[Any] = parts / parts.sum(axis=2, keepdims=True) * counts.sum(axis=2, keepdims=True)
        return drawn

    return [[draw(counts) for counts in measured] for _ in range(draws)]


def _with_sizes(counts: NDArray[Any], measured: NDArray[Any]) -> NDArray[Any]:
    """A draw with the class sizes that were measured, which a fraction such as F2 has among its constants."""
    sizes, wanted = counts.sum(axis=2, keepdims=True), measured.sum(axis=2, keepdims=True)
    held: NDArray[Any] = counts * np.divide(wanted, sizes, out=np.ones_like(sizes), where=sizes > 0)
    return held


def _standing(found: dict[str, Any]) -> Standing:
    score = found["score"]
    interval = score["interval"]
    return Standing(
        name=found["name"],
        value=score["value"],
        interval=None if interval is None else (interval["low"], interval["high"]),
        probability_best=found["probability_best"],
        expected_rank=found["expected_rank"],
        expected_regret=found["expected_regret"],
    )


def nearest_named_metric(metric: Metric | str, confusions: Sequence[Any]) -> list[dict[str, Any]]:
    """The metrics with names, by how well they order a pool of confusion matrices like ``metric``; best first.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import Metric, nearest_named_metric
    >>> random = np.random.default_rng(0)
    >>> pool = [[[60 - f, f], [m, 40 - m]] for f, m in random.integers(1, 30, size=(40, 2))]
    >>> nearest_named_metric(Metric.named("7:1"), pool)[0]["words"]
    'a 7:1 cost'
    """
    pool = [_checks.numbers(counts, "confusions") for counts in _checks.listed(confusions, "confusions")]
    pool = [counts if counts.ndim == 3 else counts[np.newaxis] for counts in pool]
    if any(counts.ndim != 3 or counts.shape[1] != counts.shape[2] for counts in pool):
        raise ValueError("confusions has something that is no confusion matrix, expected (k, k) or (groups, k, k)")
    if isinstance(metric, str) and not pool:
        raise ValueError("confusions are empty, expected at least one")
    meant = Metric._meant(metric, pool[0].sum(axis=2).tolist()) if isinstance(metric, str) else metric
    found: list[dict[str, Any]] = json.loads(_core.nearest_named(_checks.instance(meant, Metric, "metric")._of_errors()._core, pool))
    return found


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of scores; None where one of them has ties only."""
    return _core.kendall_tau(_scores(first, "first"), _scores(second, "second"))


def _scores(values: Any, name: str) -> list[float]:
    array = _checks.numbers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}, expected a list of scores")
    scores: list[float] = array.tolist()
    return scores


def ndcg(truth: Sequence[float], found: Sequence[float]) -> float:
    """The normalised discounted cumulative gain of ``found``, with exponential gain."""
    return _core.ndcg(_scores(truth, "truth"), _scores(found, "found"))
